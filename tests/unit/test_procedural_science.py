"""Families of `procedural_science`: golds by a second route, options, facts, reactions, balance."""

from __future__ import annotations

import re
from collections import Counter
from fractions import Fraction
from itertools import pairwise

import pytest

from dataflex_data.builders.procedural import elements as table
from dataflex_data.builders.procedural.choices import magnitude, rounded
from dataflex_data.builders.procedural.family import LEVELS, Draw, Problem
from dataflex_data.builders.procedural.maths import FAMILIES as MATH_FAMILIES
from dataflex_data.builders.procedural.science import FAMILIES
from dataflex_data.builders.procedural.science_forces import LAWS
from tests.procedural_oracles import science as oracle

PER_LEVEL = 12
BAD = re.compile(r"  |\bNone\b|\bFraction\b|[{}]|(?<![.\d])1 (?!counts)[a-z]+s\b")


def problems(name: str, level: int, wanted: int = PER_LEVEL) -> list[Problem]:
    """Return the first problems of a family at a level."""
    found: list[Problem] = []
    for attempt in range(4_000):
        problem = FAMILIES.get(name).make(Draw("test", name, level, attempt), level)
        if problem is not None:
            found.append(problem)
        if len(found) == wanted:
            return found
    raise AssertionError(f"{name} level {level} gives {len(found)} problems only")


def value_of(option: str) -> float:
    """Return the number that an option begins with."""
    match = re.match(r"(-?[\d.]+(?:/\d+)?)(?: × 10\^(-?\d+))?", option)
    assert match, option
    return float(Fraction(match[1]) * Fraction(10) ** int(match[2] or 0))


def test_there_are_twenty_families_and_each_has_a_second_route() -> None:
    assert len(FAMILIES.names()) >= 20
    assert set(FAMILIES.names()) == set(oracle.ROUTES)


@pytest.mark.parametrize("level", LEVELS)
@pytest.mark.parametrize("name", FAMILIES.names())
def test_every_gold_is_found_by_a_second_route_and_no_wrong_option_is(
    name: str, level: int
) -> None:
    for problem in problems(name, level):
        right = oracle.ROUTES[name](problem.parameters, problem.question)
        options = [str(problem.answer), *problem.wrong]
        if isinstance(right, str):
            fits = [option == right for option in options]
        elif isinstance(right, set):
            fits = [option in right for option in options]
        else:
            # Three significant figures: half a unit of the third, and a little for floats.
            slack = 0.5 * 10.0 ** (magnitude(Fraction(right).limit_denominator(10**40)) - 2)
            fits = [abs(value_of(option) - right) <= slack * 1.001 for option in options]
        assert fits == [True, False, False, False], (problem, right)


@pytest.mark.parametrize("name", FAMILIES.names())
def test_the_four_options_differ_in_text_and_value_and_share_their_form(name: str) -> None:
    for level in LEVELS:
        for problem in problems(name, level):
            options = [str(problem.answer), *problem.wrong]
            assert len(set(options)) == 4
            if not options[0][0].isdigit():
                continue
            values = sorted(map(value_of, options))
            assert all(b > a * 1.001 for a, b in pairwise(values)), options
            units = {re.sub(r"^-?[\d.]+(/\d+)?( × 10\^-?\d+)?", "", option) for option in options}
            assert len(units) == 1, options
            assert len({"×" in option for option in options}) == 1, options


@pytest.mark.parametrize("name", FAMILIES.names())
def test_texts_are_clean_and_worded_in_several_ways(name: str) -> None:
    shapes = set()
    for level in LEVELS:
        for problem in problems(name, level):
            text = problem.question
            assert text == text.strip()
            assert not BAD.search(text), text
            assert text[0].isupper() or text[0].isdigit(), text
            assert text[-1] in ".?)", text
            shapes.add(text[:12])
    assert len(shapes) >= 2


def test_numbers_in_size_have_no_favourite_place() -> None:
    """Always choosing the k-th value in size must win about one time in four."""
    ranks: Counter[int] = Counter()
    for name in FAMILIES.names():
        for level in LEVELS:
            for problem in problems(name, level):
                if "significant figures" in problem.question:
                    right = value_of(str(problem.answer))
                    ranks[sum(value_of(option) < right for option in problem.wrong)] += 1
    total = sum(ranks.values())
    assert total > 1_500
    # Four standard deviations of a binomial share of 1/4 at 1,500 are 0.045.
    assert all(abs(ranks[rank] / total - 0.25) < 0.05 for rank in range(4)), ranks


def test_elements_agree_with_another_table() -> None:
    import molmass

    spelling = {"aluminium": "aluminum", "caesium": "cesium", "sulphur": "sulfur"}
    for element in table.elements():
        other = molmass.ELEMENTS[element.number]
        assert element.symbol == other.symbol
        assert element.name == spelling.get(other.name.lower(), other.name.lower())
        assert element.period == other.period
        if element.group:
            assert element.group == other.group
    # The masses that questions state, two decimals; unstable elements have none agreed upon.
    used = {
        symbol for formula in [*table.COMPOUNDS.values()] for symbol in table.composition(formula)
    } | {
        symbol
        for reaction in table.REACTIONS
        for side in table.sides(reaction)
        for _, formula in side
        for symbol in table.composition(formula)
    }
    for symbol in used:
        assert float(table.by_symbol()[symbol].mass) == pytest.approx(
            round(molmass.ELEMENTS[symbol].mass, 2), abs=0.011
        ), symbol


def test_natural_isotopes_agree_with_another_table() -> None:
    import molmass

    for element in table.elements():
        if element.isotopes:
            other = molmass.ELEMENTS[element.symbol].isotopes
            found = {number for number, isotope in other.items() if isotope.abundance > 0}
            # Thorium-230, of which nature has traces, has a share since IUPAC 2013.
            found |= {230} if element.symbol == "Th" else set()
            assert set(element.isotopes) == found, element.symbol


@pytest.mark.parametrize("formula", [*table.COMPOUNDS.values(), "Al2(SO4)3", "(NH4)2Cr2O7"])
def test_formulas_are_read_as_others_read_them(formula: str) -> None:
    assert dict(table.composition(formula)) == oracle.atoms(formula)


@pytest.mark.parametrize("reaction", table.REACTIONS)
def test_reactions_are_balanced_in_the_only_way(reaction: str) -> None:
    left, right = table.sides(reaction)
    ours = {formula: count for count, formula in (*left, *right)}
    assert ours == oracle.coefficients(reaction)


def test_rounding_to_significant_figures() -> None:
    # By hand: 1234.5 to three figures is 1230, 0.0996500 is 0.0997 (half goes up), 9.996 is 10.0.
    assert rounded(Fraction("1234.5"), 3) == 1230
    assert rounded(Fraction("0.09965"), 3) == Fraction("0.0997")
    assert rounded(Fraction("9.996"), 3) == 10
    assert [magnitude(Fraction(x)) for x in ("9.99", "10", "0.01", "0.0099")] == [0, 1, -2, -3]


def test_laws_say_what_is_held_fixed_and_offer_no_answer_of_another_convention() -> None:
    """A resistor's power is divided by R at a fixed voltage, multiplied by R at a fixed current."""
    names = {law.name for law in LAWS}
    seen: set[tuple[str, str]] = set()
    for level in LEVELS:
        for problem in problems("proportional_changes", level, 60):
            law = next(law for law in LAWS if law.name == problem.parameters["law"])
            changes = dict(problem.parameters["changes"])  # type: ignore[call-overload]
            fixed = [name for name, _ in law.factors if name not in changes] + [*law.constants]
            assert "all else" not in problem.question
            told = re.search(r"(?:while|and) (the [^,.:]*?) stays? the same", problem.question)
            assert bool(told) == bool(fixed), problem.question
            for name in fixed:
                assert told is not None
                assert f"the {name}" in told[1], problem.question
            if len(changes) == 1:
                assert str(1 / Fraction(str(problem.answer))) not in problem.wrong, problem
            seen.update((law.name, name) for name in changes)
    assert {name for name, _ in seen} == names
    assert len(seen) == sum(len(law.factors) for law in LAWS)


def test_every_question_of_one_quantity_against_another_is_in_a_family_of_laws() -> None:
    """Elsewhere a factor is asked of a picture's size only, which two lengths decide."""
    asking = re.compile(r"by what factor|how many times|all else|stays? the same", re.IGNORECASE)
    families = {
        name
        for name in FAMILIES.names()
        for level in LEVELS
        for problem in problems(name, level)
        if asking.search(problem.question)
    }
    assert families == {"proportional_changes", "thin_lens"}


def test_shares_are_at_most_the_whole() -> None:
    for level in LEVELS:
        for problem in problems("mass_percentage", level, 60):
            sample = problem.parameters.get("sample", Fraction(100))
            for option in (str(problem.answer), *problem.wrong):
                assert value_of(option) <= float(Fraction(str(sample))), problem


def test_bends_are_those_that_tires_hold() -> None:
    for level in LEVELS:
        for problem in problems("circular_motion", level, 60):
            p = problem.parameters
            if "v" in p:
                # A dry road holds about 0.8 g.
                assert Fraction(str(p["v"])) ** 2 / Fraction(str(p["r"])) <= 8, problem.question


def test_light_crosses_pieces_of_clear_material_not_houses() -> None:
    for level in LEVELS:
        for problem in problems("refractive_index", level, 60):
            assert not re.search(r"[\d.]+ m (?:of|through)", problem.question), problem.question
            deep = re.search(r"([\d.]+) cm below", problem.question)
            if deep and not re.search("water|ice|ethanol", problem.question):
                assert float(deep[1]) <= 40, problem.question


def test_texts_have_american_spelling() -> None:
    british = re.compile(
        r"colour|litre|metre|centre|alumini|caesi|sulph|vaporis|dioptre|favour|tyre|towards",
        re.IGNORECASE,
    )
    for families in (FAMILIES, MATH_FAMILIES):
        for name in families.names():
            for level in LEVELS:
                for attempt in range(40):
                    made = families.get(name).make(Draw("spelling", name, level, attempt), level)
                    if made is not None:
                        texts = " ".join((made.question, str(made.answer), *made.wrong))
                        assert not british.search(texts), texts
