"""Algebra: equations, systems, polynomials, functions, inequalities."""

from __future__ import annotations

from fractions import Fraction
from math import ceil, floor, gcd

from dataflex_data.builders.procedural.family import Draw, Families, Problem
from dataflex_data.builders.procedural.wording import NAMES, linear, polynomial, times

FAMILIES = Families()


@FAMILIES.add("algebra")
def linear_equation(d: Draw, level: int) -> Problem | None:
    """One unknown; on both sides from level 2, in brackets from 3, a fraction as root from 4."""
    size = (9, 12, 12, 20, 30)[level - 1]
    letter = d.pick("xyztn")
    a, b, e = d.nonzero(size), d.nonzero(3 * size), d.nonzero(4 * size)
    c = d.nonzero(size) if level >= 2 else 0
    k = d.integer(2, 5) if level >= 3 else 1
    if k * a == c:
        return None
    root = Fraction(e - k * b, k * a - c)
    if (level < 4) != (root.denominator == 1) or root.denominator > 30:
        return None
    left = polynomial([a, b], letter)
    left = f"{k}({left})" if k > 1 else left
    right = polynomial([c, e], letter)
    question = d.pick(
        (
            f"Solve ${left} = {right}$ for ${letter}$.",
            f"What value of ${letter}$ satisfies ${left} = {right}$?",
            f"The equation ${left} = {right}$ has exactly one solution. Find it.",
        )
    )
    return Problem(question, root, {"factor": k, "left": (a, b), "right": (c, e)})


@FAMILIES.add("algebra")
def linear_system(d: Draw, level: int) -> Problem | None:
    """Two equations in two unknowns, three in three at level 5."""
    size = (4, 6, 9, 9, 4)[level - 1]
    count = 3 if level == 5 else 2
    letters = "xyz"[:count]
    solution = [d.integer(-3 * size, 3 * size) for _ in range(count)]
    rows = [[d.nonzero(size) for _ in range(count)] for _ in range(count)]
    if determinant(rows) == 0:
        return None
    denominator = d.integer(2, 6) if level == 4 else 1
    exact = [Fraction(value, denominator) for value in solution]
    totals = [sum(a * x for a, x in zip(row, exact, strict=True)) for row in rows]
    if any(total.denominator > 1 for total in map(Fraction, totals)):
        return None
    asked = d.below(count)
    equations = " \\quad ".join(
        f"{_terms(row, letters)} = {total}," for row, total in zip(rows, totals, strict=True)
    ).rstrip(",")
    letter = letters[asked]
    question = d.pick(
        (
            f"Solve the system ${equations}$. What is ${letter}$?",
            f"The numbers ${', '.join(letters)}$ satisfy ${equations}$. Find ${letter}$.",
            f"Given that ${equations}$, determine the value of ${letter}$.",
        )
    )
    system = tuple(sorted((*row, int(total)) for row, total in zip(rows, totals, strict=True)))
    return Problem(question, exact[asked], {"asked": letter, "equations": system})


def _terms(row: list[int], letters: str) -> str:
    text = linear(row[0], letters[0], row[1], letters[1])
    for a, letter in zip(row[2:], letters[2:], strict=True):
        text += f" {'+' if a > 0 else '-'} {'' if abs(a) == 1 else abs(a)}{letter}"
    return text


def determinant(rows: list[list[int]]) -> int:
    """Return the determinant by expansion along the first row."""
    if len(rows) == 1:
        return rows[0][0]
    return sum(
        (-1) ** column * value * determinant([row[:column] + row[column + 1 :] for row in rows[1:]])
        for column, value in enumerate(rows[0])
    )


@FAMILIES.add("algebra")
def quadratic_roots(d: Draw, level: int) -> Problem | None:
    """The larger or smaller root of a quadratic with rational roots."""
    size = (6, 9, 12, 9, 12)[level - 1]
    a = 1 if level <= 2 else d.integer(2, 3 + level)
    p, q = Fraction(d.nonzero(size), d.integer(1, a)), Fraction(d.nonzero(size), d.integer(1, a))
    if p == q or (a * (p + q)).denominator > 1 or (a * p * q).denominator > 1:
        return None
    if level >= 4 and p.denominator == 1 and q.denominator == 1:
        return None
    b, c = int(-a * (p + q)), int(a * p * q)
    if gcd(a, b, c) > 1:
        return None
    which = d.pick(("larger", "smaller"))
    shift = d.nonzero(9) if level >= 2 else 0
    text = f"{polynomial([a, b, c + shift])} = {shift}"
    question = d.pick(
        (
            f"What is the {which} root of ${text}$?",
            f"The equation ${text}$ has two real solutions. Find the {which} one.",
            f"Solve ${text}$ and give the {which} of the two solutions.",
        )
    )
    answer = max(p, q) if which == "larger" else min(p, q)
    return Problem(question, answer, {"coefficients": (a, b, c), "asked": which, "shift": shift})


@FAMILIES.add("algebra")
def vieta_expressions(d: Draw, level: int) -> Problem | None:
    """A symmetric expression in the roots of a quadratic, whose roots may be irrational."""
    size = 4 + 3 * level
    a = 1 if level <= 2 else d.integer(2, 5)
    b, c = d.nonzero(size), d.nonzero(size)
    if b * b - 4 * a * c <= 0 or gcd(a, b, c) > 1:
        return None
    total, product = Fraction(-b, a), Fraction(c, a)
    kinds = (
        ("r + s", total),
        ("r^2 + s^2", total**2 - 2 * product),
        ("\\frac{1}{r} + \\frac{1}{s}", total / product),
        ("r^3 + s^3", total**3 - 3 * total * product),
        ("(r - s)^2", total**2 - 4 * product),
        ("(r + 1)(s + 1)", product + total + 1),
    )
    expression, value = kinds[d.below(min(len(kinds), 2 + level))]
    equation = f"{polynomial([a, b, c])} = 0"
    question = d.pick(
        (
            f"Let $r$ and $s$ be the roots of ${equation}$. Find ${expression}$.",
            f"The solutions of ${equation}$ are $r$ and $s$. What is the value of ${expression}$?",
            f"If $r$ and $s$ are the two solutions of ${equation}$, compute ${expression}$ "
            "exactly.",
        )
    )
    return Problem(question, value, {"coefficients": (a, b, c), "asked": expression})


@FAMILIES.add("algebra")
def function_composition(d: Draw, level: int) -> Problem | None:
    """The value of composed functions at a point."""
    size = 3 + 2 * level
    a, b = d.nonzero(size), d.nonzero(2 * size)
    outer = [d.nonzero(size), d.nonzero(2 * size)]
    if level >= 2:
        outer = [d.nonzero(3), *outer]
    x = d.integer(-4, 4 + level)
    inner_value = a * x + b
    if level >= 4:
        inner_value = a * inner_value + b
    value = 0
    for coefficient in outer:
        value = value * inner_value + coefficient
    asked = f"g(f(f({x})))" if level >= 4 else f"g(f({x}))"
    f_text, g_text = f"f(x) = {polynomial([a, b])}", f"g(x) = {polynomial(outer)}"
    question = d.pick(
        (
            f"Let ${f_text}$ and ${g_text}$. What is ${asked}$?",
            f"For the functions ${f_text}$ and ${g_text}$, compute ${asked}$.",
            f"Given ${f_text}$ and ${g_text}$, evaluate ${asked}$.",
        )
    )
    parameters = {"inner": (a, b), "outer": tuple(outer), "x": x, "asked": asked}
    return Problem(question, Fraction(value), parameters)


@FAMILIES.add("algebra")
def polynomial_expansion(d: Draw, level: int) -> Problem | None:
    """One coefficient of a product of polynomials."""
    size = 3 + level
    lengths = ((2, 2), (2, 3), (3, 3), (3, 3, 2), (3, 3, 3))[level - 1]
    factors = [[d.nonzero(size) for _ in range(length)] for length in lengths]
    product = [1]
    for factor in factors:
        product = multiply(product, factor)
    power = d.integer(1, len(product) - 2)
    text = "".join(f"({polynomial(factor)})" for factor in factors)
    term = "x" if power == 1 else f"x^{power}"
    question = d.pick(
        (
            f"What is the coefficient of ${term}$ in the expansion of ${text}$?",
            f"Expand ${text}$ and collect like terms. What number multiplies ${term}$?",
            f"Find the coefficient of ${term}$ when ${text}$ is written as a polynomial in $x$.",
        )
    )
    value = product[len(product) - 1 - power]
    parameters = {"factors": tuple(sorted(map(tuple, factors))), "power": power}
    return Problem(question, Fraction(value), parameters)


def multiply(first: list[int], second: list[int]) -> list[int]:
    """Return the coefficients of a product, highest power first."""
    product = [0] * (len(first) + len(second) - 1)
    for i, a in enumerate(first):
        for j, b in enumerate(second):
            product[i + j] += a * b
    return product


@FAMILIES.add("algebra")
def inequality_count(d: Draw, level: int) -> Problem | None:
    """How many integers satisfy a double or quadratic inequality."""
    letter = d.pick("xnm")
    if level <= 3:
        a = d.integer(2, 4 + level) * (1 if level == 1 or d.below(2) else -1)
        b, low = d.nonzero(5 * level + 5), d.integer(-20, 10)
        high = low + d.integer(8, 30 + 20 * level)
        ends = sorted((Fraction(low - b, a), Fraction(high - b, a)))
        count = floor(ends[1]) - ceil(ends[0]) + 1
        text = f"{low} \\le {polynomial([a, b], letter)} \\le {high}"
        form: tuple[int, ...] = (a, b, low, high)
    else:
        low, high = sorted(d.sample(range(-12 - level, 13 + level), 2))
        a = d.integer(1, level - 2)
        text = f"{polynomial([a, -a * (low + high), a * low * high], letter)} < 0"
        count, form = high - low - 1, (a, low, high)
    if count < 1:
        return None
    question = d.pick(
        (
            f"How many integers ${letter}$ satisfy ${text}$?",
            f"Find the number of integer solutions of ${text}$.",
            f"Determine how many whole numbers ${letter}$ (positive, negative or zero) fulfil "
            f"${text}$.",
        )
    )
    return Problem(question, Fraction(count), {"inequality": form})


@FAMILIES.add("algebra")
def age_puzzle(d: Draw, level: int) -> Problem | None:
    """Ages now and at another time, as a linear equation in words."""
    k, m = d.integer(3, 6 + level), d.integer(2, 4 + level)
    years = d.integer(2, 14 + 3 * level)
    if m >= k or (years * (m - 1)) % (k - m):
        return None
    young = years * (m - 1) // (k - m)
    if not 1 <= young <= 35 or not 2 <= k * young <= 95:
        return None
    first, second = d.sample(NAMES, 2)
    asks_old = level >= 3 and bool(d.below(2))
    asked = first if asks_old else second
    question = d.pick(
        (
            f"{first} is {times(k)} as old as {second}. In {years} years, {first} will be "
            f"{times(m)} as old as {second}. How many years old is {asked} now?",
            f"Today {first}'s age is {times(k)} {second}'s age; {years} years from now it will be "
            f"{times(m)} {second}'s age. What is {asked}'s age today?",
            f"In {years} years {first} will be {times(m)} as old as {second}, but now {first} is "
            f"{times(k)} as old. How old, in years, is {asked} at present?",
        )
    )
    answer = k * young if asks_old else young
    parameters = {"now": k, "then": m, "years": years, "asked": "old" if asks_old else "young"}
    return Problem(question, Fraction(answer), parameters)


@FAMILIES.add("algebra")
def line_geometry(d: Draw, level: int) -> Problem | None:
    """Slope, intercept or crossing of lines through given points."""
    size = 3 + 2 * level
    x1, y1, x2, y2 = (d.integer(-size, size) for _ in range(4))
    if x1 == x2 or y1 == y2:
        return None
    slope = Fraction(y2 - y1, x2 - x1)
    asked = d.pick(("slope", "y-intercept", "x-intercept", "value")[: 1 + min(level, 3)])
    x = d.integer(-size, 2 * size)
    if asked == "value" and x in (x1, x2):
        return None
    points = f"$({x1}, {y1})$ and $({x2}, {y2})$"
    value = {
        "slope": slope,
        "y-intercept": y1 - slope * x1,
        "x-intercept": x1 - y1 / slope,
        "value": y1 + slope * (x - x1),
    }[asked]
    if level <= 2 and value.denominator > 1:
        return None
    wanted = {
        "slope": "its slope",
        "y-intercept": "the $y$-coordinate of the point where it crosses the $y$-axis",
        "x-intercept": "the $x$-coordinate of the point where it crosses the $x$-axis",
        "value": f"the $y$-coordinate of its point with $x = {x}$",
    }[asked]
    question = d.pick(
        (
            f"A line passes through {points}. What is {wanted}?",
            f"Consider the straight line through the points {points}. Find {wanted}.",
            f"The points {points} determine a line. Calculate {wanted}.",
        )
    )
    ends = tuple(sorted(((x1, y1), (x2, y2))))
    parameters = {"points": ends, "asked": asked, "x": x if asked == "value" else ""}
    return Problem(question, value, parameters)


@FAMILIES.add("algebra")
def rational_equation(d: Draw, level: int) -> Problem | None:
    """One unknown below a fraction bar."""
    size = 4 + 3 * level
    a, c = d.nonzero(size), d.nonzero(size)
    b, e = d.nonzero(size), d.nonzero(size)
    k = 1 if level <= 2 else d.integer(2, 4)
    # a / (kx + b) = c / (x + e) has the root below, unless it makes a denominator zero.
    if a == k * c or b == k * e:
        return None
    root = Fraction(c * b - a * e, a - k * c)
    if k * root + b == 0 or root + e == 0 or root.denominator > (1, 3, 6, 12, 30)[level - 1]:
        return None
    left = f"\\frac{{{a}}}{{{polynomial([k, b])}}}".replace("\\frac{-", "-\\frac{")
    right = f"\\frac{{{c}}}{{{polynomial([1, e])}}}".replace("\\frac{-", "-\\frac{")
    question = d.pick(
        (
            f"Solve ${left} = {right}$ for $x$.",
            f"For which value of $x$ does ${left} = {right}$ hold?",
            f"Find the only solution of the equation ${left} = {right}$.",
        )
    )
    return Problem(question, root, {"left": (a, k, b), "right": (c, 1, e)})


@FAMILIES.add("algebra")
def operation_puzzle(d: Draw, level: int) -> Problem | None:
    """A newly defined operation, nested from level 3."""
    p, q, r = d.nonzero(2 + level), d.nonzero(2 + level), d.nonzero(3 * level)
    a, b, c = (d.integer(-3 if level > 1 else 1, 4 + level) for _ in range(3))
    mixed = bool(level >= 2 and d.below(2))

    def apply(x: int, y: int) -> int:
        return p * x + q * y + (x * y if mixed else r)

    rule = linear(p, "a", q, "b") + (" + ab" if mixed else f" {'+' if r > 0 else '-'} {abs(r)}")
    sign = d.pick(("\\star", "\\diamond", "\\odot", "\\triangle"))
    if level >= 3:
        inner_first = bool(d.below(2))
        value = apply(apply(a, b), c) if inner_first else apply(a, apply(b, c))
        texts = [f"({x})" if x < 0 else str(x) for x in (a, b, c)]
        left = f"({texts[0]} {sign} {texts[1]}) {sign} {texts[2]}"
        right = f"{texts[0]} {sign} ({texts[1]} {sign} {texts[2]})"
        asked, form = (left, "left") if inner_first else (right, "right")
        values: tuple[int, ...] = (a, b, c)
    else:
        value, values, form = apply(a, b), (a, b), "once"
        asked = f"{f'({a})' if a < 0 else a} {sign} {f'({b})' if b < 0 else b}"
    question = d.pick(
        (
            f"An operation on numbers is defined by $a {sign} b = {rule}$. What is ${asked}$?",
            f"For all numbers $a$ and $b$ let $a {sign} b = {rule}$. Compute ${asked}$.",
            f"Suppose $a {sign} b$ means ${rule}$. Find the value of ${asked}$.",
        )
    )
    parameters = {"rule": (p, q, "ab" if mixed else r), "values": values, "form": form}
    return Problem(question, Fraction(value), parameters)


@FAMILIES.add("algebra")
def absolute_value(d: Draw, level: int) -> Problem | None:
    """Sum, product or one of the solutions of k|ax + b| + s = c."""
    a = d.integer(1, 1 + level)
    b, c = d.nonzero(4 * level + 4), d.integer(1, 6 * level + 5)
    roots = sorted((Fraction(c - b, a), Fraction(-c - b, a)))
    if level <= 3 and any(root.denominator > 1 for root in roots):
        return None
    asked = d.pick(("larger", "smaller", "product", "sum")[: 2 if level < 3 else 4])
    value = {
        "larger": roots[1],
        "smaller": roots[0],
        "product": roots[0] * roots[1],
        "sum": roots[0] + roots[1],
    }[asked]
    k = d.integer(2, 4) if level >= 2 else 1
    shift = d.nonzero(9) if level >= 2 else 0
    left = f"{'' if k == 1 else k}|{polynomial([a, b])}|"
    left += f" {'+' if shift > 0 else '-'} {abs(shift)}" if shift else ""
    text = f"{left} = {k * c + shift}"
    wanted = f"{asked} of the two solutions"
    question = d.pick(
        (
            f"Solve ${text}$. What is the {wanted}?",
            f"The equation ${text}$ has two real solutions. Find the {wanted}.",
            f"What is the {wanted} of ${text}$?",
        )
    )
    parameters = {"inside": (a, b), "factor": k, "shift": shift, "right": c, "asked": asked}
    return Problem(question, value, parameters)
