"""Families of `procedural_math`: every gold by a second route, texts, forms, quotas, refusals."""

from __future__ import annotations

import re
from fractions import Fraction
from typing import Any

import pytest

from dataflex_data.builders.procedural.family import LEVELS, Draw, Problem, gold_text, identity
from dataflex_data.builders.procedural.maths import FAMILIES
from dataflex_data.verifiers import math
from tests.procedural_oracles.maths import ROUTES

PER_LEVEL = 6


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


def test_there_are_at_least_twenty_families_and_each_has_a_second_route() -> None:
    assert len(FAMILIES.names()) >= 20
    assert set(FAMILIES.names()) == set(ROUTES)


@pytest.mark.parametrize("level", LEVELS)
@pytest.mark.parametrize("name", FAMILIES.names())
def test_every_gold_is_found_by_a_second_route(name: str, level: int) -> None:
    for problem in problems(name, level):
        gold = Fraction(gold_text(problem.answer))
        assert ROUTES[name](problem.parameters, problem.question, gold), problem
        # A route that could not fail would prove nothing.
        assert not ROUTES[name](problem.parameters, problem.question, gold + 1), problem


@pytest.mark.parametrize("name", FAMILIES.names())
def test_golds_are_rational_and_the_verifier_reads_them(name: str) -> None:
    for level in LEVELS:
        for problem in problems(name, level, 4):
            gold = gold_text(problem.answer)
            assert math.problem_of(gold) is None
            assert math.equivalent(gold, str(Fraction(gold)))


@pytest.mark.parametrize("name", FAMILIES.names())
def test_texts_are_clean_and_worded_in_several_ways(name: str) -> None:
    shapes = set()
    for level in LEVELS:
        for problem in problems(name, level, 25):
            text = problem.question
            assert text == text.strip()
            assert not re.search(r"  |\+ -|- -|\bNone\b|\bFraction\b|\{\{|\}\}\}\}| 1x\b", text), (
                text
            )
            assert text.count("$") % 2 == 0, text
            assert text[0].isupper() or text[0].isdigit() or text[0] == "$", text
            assert text[-1] in ".?)$", text
            shapes.add(re.sub(r"\$[^$]*\$|\d+|\b[A-Z][a-z]+\b", "", text)[:25])
    assert len(shapes) >= 2


def test_the_order_of_terms_and_the_wording_do_not_change_a_form() -> None:
    forms: dict[str, set[str]] = {}
    for attempt in range(3_000):
        problem = FAMILIES.get("common_divisor").make(Draw("forms", attempt), 1)
        if problem is not None:
            form = identity("procedural_math", "common_divisor", problem.parameters)
            forms.setdefault(form, set()).add(problem.question)
    assert max(map(len, forms.values())) >= 3
    form, questions = max(forms.items(), key=lambda pair: len(pair[1]))
    numbers = {tuple(sorted(map(int, re.findall(r"\d+", text)))) for text in questions}
    assert len(numbers) == 1
    assert form.startswith("procedural_math/common_divisor: numbers=(")


def test_similar_figures_can_be_drawn() -> None:
    """A triangle's perimeter exceeds twice any side; no area or volume needs a needle."""
    for level in LEVELS:
        for problem in problems("similar_figures", level, 60):
            p: Any = problem.parameters
            a, power, known = p["sides"][0], p["power"], p["known"]
            bounds = (2 * a, 5 * a) if power == 1 else (a**power // 4 - 1, 4 * a**power)
            assert bounds[0] < known <= bounds[1], problem.question


def test_interest_comes_in_whole_cents() -> None:
    for level in LEVELS:
        for problem in problems("interest", level, 60):
            assert (Fraction(gold_text(problem.answer)) * 100).denominator == 1, problem
