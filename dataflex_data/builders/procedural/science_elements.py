"""Periodic table and atoms."""

from __future__ import annotations

from dataflex_data.builders.procedural.choices import named
from dataflex_data.builders.procedural.elements import (
    Element,
    elements,
)
from dataflex_data.builders.procedural.family import Draw, Families, Problem

FAMILIES = Families()


def _up_to(level: int) -> tuple[Element, ...]:
    """Return the elements of a level: the first 20, later the whole table."""
    return elements()[: (20, 36, 54, 86, 103)[level - 1]]


@FAMILIES.add("periodic table")
def element_facts(d: Draw, level: int) -> Problem | None:
    """Name, symbol, atomic number, period, group, valence electrons."""
    table = _up_to(level)
    element = d.pick(table)
    kinds = ("symbol", "name", "number", "element", "period", "group", "valence")
    asked = d.pick(kinds[: 5 if level == 1 else 7])
    if asked in ("group", "valence") and not element.is_main_group:
        return None
    if asked == "valence" and element.symbol == "He":
        return None
    near = [other for other in table if other is not element]
    near.sort(key=lambda other: abs(other.number - element.number))
    neighbors = d.sample(near[:8], 5)
    number = element.number
    if asked == "symbol":
        alike = [e.symbol for e in table if e.symbol[0] == element.symbol[0] and e is not element]
        wrong = [*d.sample(alike, min(2, len(alike))), *(e.symbol for e in neighbors)]
        question = d.pick(
            (
                f"What is the chemical symbol of {element.name}?",
                f"Which symbol stands for the element {element.name} in the periodic table?",
                f"How is {element.name} abbreviated in chemical formulas?",
            )
        )
        right = element.symbol
    elif asked == "name":
        alike = [e.name for e in table if e.symbol[0] == element.symbol[0] and e is not element]
        wrong = [*d.sample(alike, min(2, len(alike))), *(e.name for e in neighbors)]
        question = d.pick(
            (
                f"Which element has the chemical symbol {element.symbol}?",
                f"The symbol {element.symbol} in the periodic table stands for which element?",
                f"What is the name of the element that is written {element.symbol} in formulas?",
            )
        )
        right = element.name
    elif asked == "number":
        wrong = [str(value) for value in d.sample(_around(number), 3)]
        question = d.pick(
            (
                f"What is the atomic number of {element.name}?",
                f"How many protons are in the nucleus of every {element.name} atom?",
                f"At which atomic number does {element.name} stand in the periodic table?",
            )
        )
        right = str(number)
    elif asked == "element":
        wrong = [e.name for e in neighbors]
        question = d.pick(
            (
                f"Which element has the atomic number {number}?",
                f"An atom with exactly {number} proton{'s' if number > 1 else ''} belongs to which "
                "element?",
                f"Which element is number {number} in the periodic table?",
            )
        )
        right = element.name
    elif asked == "period":
        wrong = [str(row) for row in d.sample([p for p in range(1, 8) if p != element.period], 3)]
        question = d.pick(
            (
                f"In which period (row) of the periodic table is {element.name}?",
                f"What is the number of the period to which {element.name} belongs?",
                f"In how many electron shells does a neutral {element.name} atom in its ground "
                "state have electrons?",
            )
        )
        if element.symbol == "Pd" and "shells" in question:
            return None  # [Kr] 4d10: the fifth shell is empty
        right = str(element.period)
    elif asked == "group":
        groups = [g for g in (1, 2, 13, 14, 15, 16, 17, 18) if g != element.group]
        wrong = [str(group) for group in d.sample(groups, 3)]
        question = d.pick(
            (
                f"To which group of the periodic table (1 to 18) does {element.name} belong?",
                f"In which of the 18 columns (groups) of the periodic table is {element.name}?",
                f"What is the group number of {element.name} in the periodic table with 18 groups?",
            )
        )
        right = str(element.group)
    else:
        others = [n for n in range(1, 9) if n != element.valence_electrons]
        wrong = [str(value) for value in d.sample(others, 3)]
        question = d.pick(
            (
                f"How many valence electrons does a neutral atom of {element.name} have?",
                f"How many electrons are in the outermost shell of a neutral {element.name} atom?",
                f"What is the number of outer-shell electrons of {element.name} (neutral atom)?",
            )
        )
        right = str(element.valence_electrons)
    return named(question, right, wrong, {"element": element.symbol, "asked": asked})


def _around(number: int) -> list[int]:
    """Return plausible wrong numbers near one."""
    return [n for n in range(max(1, number - 5), number + 6) if n != number]


@FAMILIES.add("periodic table")
def same_group(d: Draw, level: int) -> Problem | None:
    """Which of four elements shares the group or the period of another."""
    table = [element for element in _up_to(min(5, level + 1)) if element.is_main_group]
    element = d.pick(table)
    asked = d.pick(("group", "period"))

    def shares(other: Element) -> bool:
        if asked == "group":
            return other.group == element.group
        return other.period == element.period

    right = d.pick(
        [other for other in table if shares(other) and other is not element] or [element]
    )
    if (
        right is element
        or "H" in (element.symbol, right.symbol)
        or 2 in (element.number, right.number)
    ):
        return None
    wrong = d.sample([other for other in table if not shares(other) and other.number > 2], 3)
    place = "group (column)" if asked == "group" else "period (row)"
    question = d.pick(
        (
            f"Which of these elements is in the same {place} of the periodic table as "
            f"{element.name}?",
            f"{element.name.capitalize()} shares its {place} of the periodic table with which of "
            "these elements?",
            f"Which element belongs to the same {place} as {element.name}?",
        )
    )
    pair = tuple(sorted((element.symbol, right.symbol)))
    return named(question, right.name, [e.name for e in wrong], {"pair": pair, "asked": asked})


_CHARGES = {1: 1, 2: 2, 16: -2, 17: -1}


@FAMILIES.add("atoms")
def subatomic_particles(d: Draw, level: int) -> Problem | None:
    """Protons, neutrons and electrons of natural isotopes and common ions."""
    element = d.pick([e for e in _up_to(level) if e.isotopes])
    mass = d.pick(element.isotopes)
    charge = 0
    if level >= 2 and element.number > 2:
        charge = _CHARGES.get(element.group, 0)
    asked = d.pick(("neutrons", "electrons") if charge or level == 1 else ("neutrons",))
    protons, neutrons, electrons = element.number, mass - element.number, element.number - charge
    right = neutrons if asked == "neutrons" else electrons
    if right == 0:
        return None
    wrong = [protons, mass, neutrons, electrons, element.number + charge, mass - charge]
    wrong += [right + 1, right - 1, right + 2, right + 3]
    sign = {0: "", 1: "+", 2: "2+", -1: "-", -2: "2-"}[charge]
    kind = f"ion {element.symbol}{'^' if sign else ''}{sign}" if sign else "neutral atom"
    label = f"{element.name}-{mass}"
    question = d.pick(
        (
            f"How many {asked} does one {kind} of the isotope {label} have?",
            f"Consider one {kind} of {label} (mass number {mass}). What is its number of {asked}?",
            f"The isotope {label} has the atomic number {protons}. How many {asked} are there in "
            f"one {kind}?",
        )
    )
    different = [str(value) for value in wrong if value > 0 and value != right]
    parameters = {"isotope": (element.symbol, mass), "charge": charge, "asked": asked}
    return named(question, str(right), list(dict.fromkeys(different)), parameters)
