"""Molar masses, amounts, stoichiometry and solutions."""

from __future__ import annotations

from fractions import Fraction
from math import gcd

from dataflex_data.builders.procedural.choices import named, numeric
from dataflex_data.builders.procedural.elements import (
    COMPOUNDS,
    REACTIONS,
    by_symbol,
    composition,
    given_masses,
    molar_mass,
    sides,
)
from dataflex_data.builders.procedural.family import Draw, Families, Problem
from dataflex_data.builders.procedural.wording import decimal

FAMILIES = Families()


def _compound(d: Draw, level: int) -> tuple[str, str]:
    """Return (name, formula): at higher levels from further down the list."""
    names = tuple(COMPOUNDS)
    name = d.pick(names[: 24 if level == 1 else 37 if level == 2 else len(names)])
    return name, COMPOUNDS[name]


@FAMILIES.add("amounts")
def mass_and_moles(d: Draw, level: int) -> Problem | None:
    """Amounts by n = m / M both ways, and numbers of particles from level 3."""
    name, formula = _compound(d, level)
    molar = molar_mass(formula)
    amount = Fraction(d.integer(5, 400), 100)
    mass = Fraction(d.integer(12, 999), 10)
    asked = d.pick(("mass", "moles", "molecules")[: 2 if level <= 2 else 3])
    if asked == "molecules" and name not in _MOLECULES:
        return None
    masses = given_masses(formula)
    avogadro = Fraction("6.022e23")
    atoms = sum(composition(formula).values())
    if asked == "mass":
        question = d.pick(
            (
                f"What is the mass of {decimal(amount)} mol of {name}, {formula}? {masses}",
                f"How many grams do {decimal(amount)} mol of {name} ({formula}) weigh? {masses}",
            )
        )
        mistakes = [molar / amount, amount / molar * 1000, molar, amount * molar / 2]
        return numeric(
            d,
            question,
            amount * molar,
            "g",
            mistakes,
            {"formula": formula, "asked": asked, "amount": amount},
        )
    if asked == "moles":
        question = d.pick(
            (
                f"How many moles are {decimal(mass)} g of {name}, {formula}? {masses}",
                f"What amount of substance is contained in {decimal(mass)} g of {name} "
                f"({formula})? "
                f"{masses}",
            )
        )
        mistakes = [molar / mass, mass * molar, mass / molar * 2, mass / (molar * atoms)]
        return numeric(
            d,
            question,
            mass / molar,
            "mol",
            mistakes,
            {"formula": formula, "asked": asked, "mass": mass},
        )
    question = d.pick(
        (
            f"How many molecules are there in {decimal(mass)} g of {name}, {formula}? "
            f"(Avogadro constant: 6.022 × 10^23 per mol) {masses}",
            f"A sample contains {decimal(mass)} g of {name} ({formula}). How many molecules is "
            f"that? Use 6.022 × 10^23 per mol for the Avogadro constant. {masses}",
        )
    )
    right = mass / molar * avogadro
    mistakes = [mass * avogadro, molar / mass * avogadro, right * atoms, mass * molar * avogadro]
    return numeric(
        d, question, right, "", mistakes, {"formula": formula, "asked": asked, "mass": mass}
    )


_MOLECULES = frozenset(
    {
        "water",
        "carbon dioxide",
        "ammonia",
        "methane",
        "carbon monoxide",
        "sulfur dioxide",
        "hydrogen peroxide",
        "nitrogen dioxide",
        "dinitrogen oxide",
        "propane",
        "butane",
        "benzene",
        "octane",
        "glucose",
        "ethanol",
        "acetic acid",
        "urea",
        "sucrose",
    }
)


@FAMILIES.add("amounts")
def mass_percentage(d: Draw, level: int) -> Problem | None:
    """The share of one element in a compound by mass, or its mass in a sample."""
    name, formula = _compound(d, level + 1)
    atoms = composition(formula)
    symbol = d.pick(tuple(atoms))
    table = by_symbol()
    element, molar = table[symbol], molar_mass(formula)
    share = element.mass * atoms[symbol] / molar
    single = element.mass / molar
    by_count = Fraction(atoms[symbol], sum(atoms.values()))
    masses = given_masses(formula)
    if level <= 2:
        question = d.pick(
            (
                f"What percentage by mass of {name}, {formula}, is {element.name}? {masses}",
                f"Calculate the mass percentage of {element.name} in {name} ({formula}). {masses}",
            )
        )
        mistakes = [by_count * 100, single * 100, 100 - share * 100, share * 50]
        parameters = {"formula": formula, "element": symbol}
        return numeric(d, question, share * 100, "%", mistakes, parameters, most=Fraction(99))
    sample = Fraction(d.integer(15, 990), d.pick((1, 2, 10)))
    question = d.pick(
        (
            f"How many grams of {element.name} are contained in {decimal(sample)} g of {name}, "
            f"{formula}? {masses}",
            f"A sample of {decimal(sample)} g of pure {name} ({formula}) contains what mass of "
            f"{element.name}? {masses}",
        )
    )
    mistakes = [sample * by_count, sample * single, sample * (1 - share), sample * share / 2]
    return numeric(
        d,
        question,
        sample * share,
        "g",
        mistakes,
        {"formula": formula, "element": symbol, "sample": sample},
        most=sample,
    )


@FAMILIES.add("stoichiometry")
def reaction_masses(d: Draw, level: int) -> Problem | None:
    """The mass of one substance of a balanced reaction from that of another, with a yield at 5."""
    reaction = d.pick(REACTIONS[: (8, 16, 32, 48, len(REACTIONS))[level - 1]])
    left, right_side = sides(reaction)
    (a, source), (b, target) = d.pick(left), d.pick(right_side)
    if level >= 4 and d.below(2):
        (a, source), (b, target) = (b, target), (a, source)
    mass = Fraction(d.integer(20, 950), 10)
    percent = d.integer(55, 95, 5) if level == 5 and (b, target) in right_side else 100
    source_mass, target_mass = molar_mass(source), molar_mass(target)
    right = mass / source_mass * Fraction(b, a) * target_mass * percent / 100
    masses = given_masses(source, target)
    known = "reacts completely" if (a, source) in left else "is to be formed"
    verb = "is formed" if (b, target) in right_side else "is needed"
    loss = f" The yield is {percent}% of the theoretical value." if percent < 100 else ""
    question = d.pick(
        (
            f"In the reaction {reaction}, {decimal(mass)} g of {source} {known}.{loss} What mass "
            "of "
            f"{target} {verb}? {masses}",
            f"Consider {reaction}. What mass of {target} {verb} if {decimal(mass)} g of {source} "
            f"{known}?{loss} {masses}",
        )
    )
    mistakes = [
        mass / source_mass * target_mass * percent / 100,
        mass / source_mass * Fraction(a, b) * target_mass * percent / 100,
        mass * Fraction(b, a),
        mass / target_mass * Fraction(b, a) * source_mass,
        right * 100 / percent,
    ]
    parameters = {
        "reaction": reaction,
        "known": source,
        "asked": target,
        "mass": mass,
        "yield": percent,
    }
    return numeric(d, question, right, "g", mistakes, parameters)


@FAMILIES.add("stoichiometry")
def limiting_reactant(d: Draw, level: int) -> Problem | None:
    """The amount of product when one of two reactants runs out."""
    reaction = d.pick([r for r in REACTIONS if len(sides(r)[0]) == 2][: 8 * level])
    ((a, first), (b, second)), products = sides(reaction)
    c, product = d.pick(products)
    x, y = Fraction(d.integer(5, 90), 10), Fraction(d.integer(5, 90), 10)
    by_first, by_second = x / a * c, y / b * c
    if by_first == by_second:
        return None
    right, wrong = sorted((by_first, by_second))
    question = d.pick(
        (
            f"{decimal(x)} mol of {first} and {decimal(y)} mol of {second} react according to "
            f"{reaction} until one of them is used up. How many moles of {product} are formed?",
            f"For the reaction {reaction}, {decimal(x)} mol of {first} are mixed with {decimal(y)} "
            f"mol of {second}. What is the greatest amount of {product} that can form?",
            f"What amount of {product} results from {decimal(x)} mol of {first} and {decimal(y)} "
            "mol "
            f"of {second} if {reaction} runs until one reactant is used up?",
        )
    )
    mistakes = [wrong, min(x, y), (x + y) * c / (a + b), right * a / c, x + y]
    parameters = {"reaction": reaction, "product": product, "amounts": (x, y)}
    return numeric(d, question, right, "mol", mistakes, parameters)


@FAMILIES.add("solutions")
def solution_dilution(d: Draw, level: int) -> Problem | None:
    """Concentrations, and the volumes and concentrations of dilutions."""
    solute, formula = d.pick(
        (
            ("sodium chloride", "NaCl"),
            ("sodium hydroxide", "NaOH"),
            ("glucose", "C6H12O6"),
            ("potassium hydroxide", "KOH"),
            ("calcium chloride", "CaCl2"),
            ("silver nitrate", "AgNO3"),
        )
    )
    volume = Fraction(d.integer(2, 100) * 5)
    if level <= 2:
        mass, molar = Fraction(d.integer(10, 600), 10), molar_mass(formula)
        right = mass / molar / (volume / 1000)
        if not Fraction(1, 100) < right < 5:
            return None
        masses = given_masses(formula)
        question = d.pick(
            (
                f"{decimal(mass)} g of {solute}, {formula}, are dissolved in water to give "
                f"{decimal(volume)} mL of solution. What is its concentration? {masses}",
                f"Find the molar concentration of a solution of {decimal(volume)} mL that contains "
                f"{decimal(mass)} g of {solute} ({formula}). {masses}",
            )
        )
        mistakes = [
            mass / volume * 1000,
            mass / molar * volume / 1000,
            mass / molar / volume,
            molar / mass / volume * 1000,
        ]
        return numeric(
            d,
            question,
            right,
            "mol/L",
            mistakes,
            {"formula": formula, "mass": mass, "volume": volume},
        )
    strong = Fraction(d.integer(20, 120), 10)
    final = Fraction(d.integer(4, 100) * 25)
    if level == 3 or d.below(2):
        if final <= volume:
            return None
        question = d.pick(
            (
                f"{decimal(volume)} mL of a {decimal(strong)} mol/L solution of {solute} are "
                "diluted "
                f"with water to {decimal(final)} mL. What is the new concentration?",
                f"Water is added to {decimal(volume)} mL of {solute} solution with a concentration "
                f"of {decimal(strong)} mol/L until the volume is {decimal(final)} mL. "
                "Find the concentration after dilution.",
            )
        )
        right = strong * volume / final
        mistakes = [
            strong * final / volume,
            strong * volume / (volume + final),
            strong * (final - volume) / final,
            strong * volume / (final - volume),
        ]
        return numeric(
            d,
            question,
            right,
            "mol/L",
            mistakes,
            {"strong": strong, "volume": volume, "final": final},
        )
    weak = Fraction(d.integer(2, 19), 10)
    if weak >= strong:
        return None
    right = weak * final / strong
    question = d.pick(
        (
            f"What volume of a {decimal(strong)} mol/L stock solution of {solute} is needed to "
            f"prepare {decimal(final)} mL of a {decimal(weak)} mol/L solution?",
            f"To make {decimal(final)} mL of {decimal(weak)} mol/L {solute} solution from a "
            f"{decimal(strong)} mol/L stock, how much of the stock must be diluted?",
        )
    )
    mistakes = [
        final - right,
        strong * final / weak,
        weak * strong * final / 100,
        final * weak / (strong + weak),
    ]
    return numeric(
        d, question, right, "mL", mistakes, {"strong": strong, "weak": weak, "final": final}
    )


@FAMILIES.add("stoichiometry")
def balancing(d: Draw, level: int) -> Problem | None:
    """A coefficient, or the sum of all, of an equation to be balanced."""
    reaction = d.pick(REACTIONS[: 16 + 9 * level])
    left, right_side = sides(reaction)
    terms = [*left, *right_side]
    if gcd(*(count for count, _ in terms)) > 1 or all(count == 1 for count, _ in terms):
        return None
    bare = (
        " + ".join(formula for _, formula in left)
        + " → "
        + " + ".join(formula for _, formula in right_side)
    )
    asked = d.pick([formula for _, formula in terms] + ["sum"])
    total = sum(count for count, _ in terms)
    right = total if asked == "sum" else next(count for count, f in terms if f == asked)
    wanted = "the sum of all coefficients" if asked == "sum" else f"the coefficient of {asked}"
    whole = "with the smallest possible whole numbers"
    question = d.pick(
        (
            f"The equation {bare} is balanced {whole}. What is {wanted}?",
            f"Balance {bare} {whole}. What is {wanted} (a coefficient of 1 counts as 1)?",
            f"When {bare} is balanced {whole}, what is {wanted}?",
        )
    )
    others = [count for count, _ in terms] + [total, len(terms), right + 1, right - 1, right + 2]
    others += [2 * right, right + 3]
    wrong = [str(value) for value in dict.fromkeys(others) if value > 0 and value != right]
    return named(question, str(right), wrong, {"reaction": bare, "asked": asked})
