"""Arithmetic: order of operations, fractions, powers, averages, ratios."""

from __future__ import annotations

from fractions import Fraction
from math import gcd

from dataflex_data.builders.procedural.family import Draw, Families, Problem, listed
from dataflex_data.builders.procedural.wording import NAMES, latex

FAMILIES = Families()


@FAMILIES.add("arithmetic")
def order_of_operations(d: Draw, level: int) -> Problem | None:
    """A sum, a product and brackets; more terms and larger numbers with the level."""
    size = (12, 20, 40, 60, 99)[level - 1]
    a, b, c, e, f = (d.integer(2, size) for _ in range(5))
    shape = d.below(4)
    forms = (
        (f"{a} + {b} \\times {c} - {e}", a + b * c - e),
        (f"{a} \\times ({b} + {c}) - {e}", a * (b + c) - e),
        (f"({a} - {b}) \\times ({c} + {e}) + {f}", (a - b) * (c + e) + f),
        (f"{a} \\times {b} - {c} \\times ({e} - {f})", a * b - c * (e - f)),
    )
    text, value = forms[shape]
    if level >= 4:
        power = d.integer(2, 3)
        base = d.integer(2, 9)
        text, value = f"{text} + {base}^{power}", value + base**power
    question = d.pick(
        (
            f"Compute ${text}$.",
            f"What is the value of ${text}$?",
            f"Evaluate the expression ${text}$, following the usual order of operations.",
        )
    )
    return Problem(question, Fraction(value), {"expression": text})


@FAMILIES.add("arithmetic")
def fraction_sum(d: Draw, level: int) -> Problem | None:
    """A sum of signed fractions, as a fraction in lowest terms."""
    count = (2, 2, 3, 3, 4)[level - 1]
    largest = (6, 12, 12, 20, 24)[level - 1]
    parts: list[Fraction] = []
    while len(parts) < count:
        below = d.integer(2, largest)
        above = d.integer(1, below + 3)
        if gcd(above, below) == 1 and below > 1:
            parts.append(Fraction(above, below) * (1 if not parts or d.below(2) else -1))
    text = latex(parts[0]) + "".join(
        f" {'+' if part > 0 else '-'} {latex(abs(part))}" for part in parts[1:]
    )
    question = d.pick(
        (
            f"Compute ${text}$. Give the answer as a fraction in lowest terms or as an integer.",
            f"What is ${text}$? Write the result as a reduced fraction or an integer.",
            f"Simplify ${text}$ to a single fraction in lowest terms (or an integer).",
        )
    )
    # The order of the terms is wording: the same sum in another order is the same problem.
    terms = tuple(sorted(parts))
    return Problem(question, sum(parts, Fraction(0)), {"terms": terms})


@FAMILIES.add("arithmetic")
def fraction_product(d: Draw, level: int) -> Problem | None:
    """Products and quotients of fractions."""
    count = (2, 2, 3, 3, 4)[level - 1]
    largest = (7, 12, 12, 18, 24)[level - 1]
    value = Fraction(1)
    text = ""
    parameters: list[tuple[str, Fraction]] = []
    for position in range(count):
        part = Fraction(d.integer(1, largest), d.integer(2, largest))
        if part.denominator == 1:
            return None
        divides = position > 0 and bool(d.below(2))
        value = value / part if divides else value * part
        sign = "\\div" if divides else "\\times"
        text += f" {sign} {latex(part)}" if position else latex(part)
        parameters.append(("/" if divides else "*", part))
    question = d.pick(
        (
            f"Compute ${text}$ as a fraction in lowest terms or an integer.",
            f"Evaluate ${text}$, working from left to right. Give a reduced fraction or an "
            "integer.",
            f"What is ${text}$ in lowest terms?",
        )
    )
    return Problem(question, value, {"factors": tuple(sorted(parameters))})


@FAMILIES.add("arithmetic")
def exponent_rules(d: Draw, level: int) -> Problem | None:
    """A quotient of powers of one base, with negative exponents from level 3."""
    base = d.integer(2, (5, 7, 9, 10, 12)[level - 1])
    low = 2 if level < 3 else -6
    m, n = d.integer(low, 9), d.integer(low, 9)
    outer = d.integer(2, 3) if level >= 4 else 1
    k = d.integer(2, 9 + 6 * (level >= 2) + 4 * level)
    exponent = outer * (m + n) - k
    if not -4 <= exponent <= 5 or {0, 1} & {m, n}:
        return None
    inner = f"{base}^{{{m}}} \\cdot {base}^{{{n}}}"
    above = inner if outer == 1 else f"\\left({inner}\\right)^{{{outer}}}"
    text = f"\\frac{{{above}}}{{{base}^{{{k}}}}}"
    question = d.pick(
        (
            f"Simplify ${text}$ to a single number (an integer or a fraction in lowest terms).",
            f"What is the exact value of ${text}$?",
            f"Evaluate ${text}$ without rounding.",
        )
    )
    parameters = {"base": base, "exponents": tuple(sorted((m, n))), "outer": outer, "below": k}
    return Problem(question, Fraction(base) ** exponent, parameters)


@FAMILIES.add("arithmetic")
def missing_average(d: Draw, level: int) -> Problem | None:
    """The value that brings an average to a target."""
    count = level + 2
    values = [d.integer(40, 60 + 8 * level) for _ in range(count)]
    target = d.integer(50, 58 + 8 * level)
    needed = target * (count + 1) - sum(values)
    if not 0 <= needed <= 100:
        return None
    name = d.pick(NAMES)
    question = d.pick(
        (
            f"{name} scored {listed(values)} points in {count} tests. How many points are needed "
            f"in the next test for an average of exactly {target} points over all {count + 1}?",
            f"The mean of {count + 1} numbers is {target}. All but one of them are "
            f"{listed(values)}. "
            "What is the remaining number?",
            f"A gardener weighs {count + 1} pumpkins and finds a mean of {target} kg. "
            f"Of these, {count} weigh {listed(values)} kg. How many kilograms does the other one "
            "weigh?",
        )
    )
    return Problem(question, Fraction(needed), {"values": tuple(sorted(values)), "mean": target})


@FAMILIES.add("arithmetic")
def ratio_sharing(d: Draw, level: int) -> Problem | None:
    """An amount shared in a ratio; from level 3 known by a difference, from level 4 in three."""
    parts = [d.integer(1, 4 + 2 * level) for _ in range(3 if level >= 4 else 2)]
    if gcd(*parts) > 1 or len(set(parts)) < len(parts):
        return None
    unit = d.integer(3, 10 + 15 * level)
    first, second, *others = d.sample(NAMES, len(parts))
    names = [first, second, *others]
    ratio = ":".join(map(str, parts))
    if level >= 3:
        if parts[0] < parts[1]:
            return None
        given = (parts[0] - parts[1]) * unit
        question = d.pick(
            (
                f"{listed(names)} share a prize in the ratio {ratio} (in this order). "
                f"{first} receives {given} euros more than {second}. "
                "How many euros is the whole prize worth?",
                f"Beads are divided among {listed(names)} in the ratio {ratio}, in this order. "
                f"{first} has {given} beads more than {second}. How many beads are there in all?",
                f"The savings of {listed(names)} are in the ratio {ratio}, respectively, and "
                f"{first} has saved {given} dollars more than {second}. "
                "How many dollars have they saved together?",
            )
        )
        answer, asked = sum(parts) * unit, "total"
    else:
        given, answer, asked = sum(parts) * unit, parts[0] * unit, "first"
        question = d.pick(
            (
                f"{listed(names)} share {given} euros in the ratio {ratio}, in this order. "
                f"How many euros does {first} receive?",
                f"A ribbon of {given} cm is cut into {len(parts)} pieces whose lengths are in the "
                f"ratio {ratio}. How long, in centimeters, is the piece named first in the ratio?",
                f"{given} marbles are divided between {first} and {second} in the ratio {ratio}. "
                f"How many marbles does {first} get?",
            )
        )
    return Problem(
        question, Fraction(answer), {"asked": asked, "given": given, "ratio": tuple(parts)}
    )
