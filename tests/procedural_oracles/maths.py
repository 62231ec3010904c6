"""Answers to the families of `procedural_math` by brute force, substitution or another theorem.

Each route reads the question's own text where it can, so that it checks the wording too; it returns
whether the gold is right.
"""

# The parameters of each family have their own types.
# mypy: disable-error-code="no-any-return"
from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Mapping
from datetime import datetime, timedelta
from fractions import Fraction
from functools import cache
from itertools import permutations, product
from math import factorial, isqrt, pi, prod
from typing import Any

Params = Mapping[str, Any]
Route = Callable[[Params, str, Fraction], bool]
ROUTES: dict[str, Route] = {}


def route(check: Route) -> Route:
    """Enter a function as the route of the family of its name."""
    ROUTES[check.__name__] = check
    return check


def formulas(question: str) -> list[str]:
    """Return the texts between dollar signs."""
    return re.findall(r"\$([^$]*)\$", question)


def evaluate(text: str, **values: Fraction | int) -> Fraction:
    """Return the value of a LaTeX formula with rational numbers."""
    text = text.replace("\\left", "").replace("\\right", "").replace("\\cdot", "*")
    text = text.replace("\\times", "*").replace("\\div", "/")
    while "\\frac" in text:
        start = text.rindex("\\frac")
        top, end = _braces(text, start + 5)
        bottom, end = _braces(text, end)
        text = f"{text[:start]}(({top})/({bottom})){text[end:]}"
    text = re.sub(r"\^\{(-?\d+)\}", r"**(\1)", text).replace("^", "**")
    text = re.sub(r"\|([^|]*)\|", r"abs(\1)", text)
    for name, value in values.items():
        text = re.sub(rf"(?<![a-z]){name}(?![a-z])", f"(V('{value}'))", text)
    text = re.sub(r"(?<=[\d)])\s*(?=\(|abs)", "*", text)
    text = re.sub(r"(?<![\w'/*-])(\d+)(?![\d'])", r"V(\1)", text)
    found = eval(text, {"V": Fraction, "abs": abs})
    return Fraction(found)


def _braces(text: str, at: int) -> tuple[str, int]:
    depth = 0
    for end in range(at, len(text)):
        depth += {"{": 1, "}": -1}.get(text[end], 0)
        if depth == 0:
            return text[at + 1 : end], end + 1
    raise AssertionError(text)


def equation(question: str, letter: str, value: Fraction) -> bool:
    """Return whether the first equation of a question holds for a value."""
    text = next(formula for formula in formulas(question) if "=" in formula)
    left, right = text.split("=")
    return evaluate(left, **{letter: value}) == evaluate(right, **{letter: value})


def unknown(question: str) -> str:
    """Return the letter of the first equation."""
    text = next(formula for formula in formulas(question) if "=" in formula)
    return re.findall(r"(?<!\\)\b\d*([a-z])\b", re.sub(r"\\[a-z]+", " ", text))[0]


@route
def order_of_operations(p: Params, q: str, gold: Fraction) -> bool:
    return evaluate(formulas(q)[0]) == gold


@route
def fraction_sum(p: Params, q: str, gold: Fraction) -> bool:
    return evaluate(formulas(q)[0]) == gold


@route
def fraction_product(p: Params, q: str, gold: Fraction) -> bool:
    return evaluate(formulas(q)[0]) == gold


@route
def exponent_rules(p: Params, q: str, gold: Fraction) -> bool:
    return evaluate(formulas(q)[0]) == gold


@route
def missing_average(p: Params, q: str, gold: Fraction) -> bool:
    fits = [x for x in range(101) if sum(p["values"]) + x == p["mean"] * (len(p["values"]) + 1)]
    return fits == [gold]


@route
def ratio_sharing(p: Params, q: str, gold: Fraction) -> bool:
    for unit in range(1, 2_000):
        shares = [unit * part for part in p["ratio"]]
        known = sum(shares) if p["asked"] == "first" else shares[0] - shares[1]
        if known == p["given"]:
            return gold == (shares[0] if p["asked"] == "first" else sum(shares))
    return False


@route
def linear_equation(p: Params, q: str, gold: Fraction) -> bool:
    letter = unknown(q)
    return equation(q, letter, gold) and not equation(q, letter, gold + 1)


@route
def linear_system(p: Params, q: str, gold: Fraction) -> bool:
    import sympy

    rows = sympy.Matrix([row[:-1] for row in p["equations"]])
    totals = sympy.Matrix([row[-1] for row in p["equations"]])
    found = rows.LUsolve(totals)["xyz".index(p["asked"])]
    return Fraction(int(found.p), int(found.q)) == gold


@route
def quadratic_roots(p: Params, q: str, gold: Fraction) -> bool:
    a, b, _ = p["coefficients"]
    slope = 2 * a * gold + b  # an upward parabola rises at its larger root
    return equation(q, "x", gold) and (slope > 0) == (p["asked"] == "larger") and a > 0


@route
def vieta_expressions(p: Params, q: str, gold: Fraction) -> bool:
    a, b, c = p["coefficients"]
    root = complex(b * b - 4 * a * c) ** 0.5
    r, s = (-b + root.real) / (2 * a), (-b - root.real) / (2 * a)
    value = {
        "r + s": r + s,
        "r^2 + s^2": r * r + s * s,
        "\\frac{1}{r} + \\frac{1}{s}": 1 / r + 1 / s,
        "r^3 + s^3": r**3 + s**3,
        "(r - s)^2": (r - s) ** 2,
        "(r + 1)(s + 1)": (r + 1) * (s + 1),
    }[p["asked"]]
    return abs(value - gold) <= 1e-9 * max(1.0, abs(r), abs(s)) ** 3


@route
def function_composition(p: Params, q: str, gold: Fraction) -> bool:
    rules = {text[0]: text.split("=")[1] for text in formulas(q) if "=" in text}
    value = Fraction(p["x"])
    for name in reversed(re.findall("[fg]", p["asked"])):
        value = evaluate(rules[name], x=value)
    return value == gold


@route
def polynomial_expansion(p: Params, q: str, gold: Fraction) -> bool:
    import sympy

    text = next(text for text in formulas(q) if "(" in text)
    code = re.sub(r"(?<=\d)x", "*x", text.replace("^", "**")).replace(")(", ")*(")
    x = sympy.Symbol("x")
    poly = sympy.Poly(sympy.expand(sympy.sympify(code)), x)
    return int(poly.coeff_monomial(x ** p["power"])) == gold


@route
def inequality_count(p: Params, q: str, gold: Fraction) -> bool:
    text = next(text for text in formulas(q) if "<" in text or "\\le" in text)
    letter = re.findall(r"[a-z]", text.replace("\\le", ""))[0]

    def holds(n: int) -> bool:
        if "\\le" in text:
            low, middle, high = (evaluate(part, **{letter: n}) for part in text.split("\\le"))
            return low <= middle <= high
        return evaluate(text.split("<")[0], **{letter: n}) < 0

    return sum(map(holds, range(-80, 81))) == gold


@route
def age_puzzle(p: Params, q: str, gold: Fraction) -> bool:
    k, m, years = p["now"], p["then"], p["years"]
    fits = [y for y in range(1, 100) if k * y + years == m * (y + years)]
    return len(fits) == 1 and gold == (fits[0] if p["asked"] == "young" else k * fits[0])


@route
def line_geometry(p: Params, q: str, gold: Fraction) -> bool:
    (x1, y1), (x2, y2) = p["points"]
    if p["asked"] == "slope":
        return y1 + gold * (x2 - x1) == y2
    third = {
        "y-intercept": (0, gold),
        "x-intercept": (gold, 0),
        "value": (p["x"], gold),
    }[p["asked"]]
    return (x2 - x1) * (third[1] - y1) == (y2 - y1) * (third[0] - x1)


@route
def rational_equation(p: Params, q: str, gold: Fraction) -> bool:
    try:
        return equation(q, "x", gold)
    except ZeroDivisionError:
        return False


class _Starred:
    """A number whose ``@`` is the operation of the question."""

    rule = ""

    def __init__(self, value: Fraction | int) -> None:
        self.value = Fraction(value)

    def __matmul__(self, other: _Starred) -> _Starred:
        rule = self.rule.replace("ab", "a*b")
        return _Starred(evaluate(rule, a=self.value, b=other.value))

    def __neg__(self) -> _Starred:
        return _Starred(-self.value)


@route
def operation_puzzle(p: Params, q: str, gold: Fraction) -> bool:
    found = formulas(q)
    rule = next(text for text in found if re.search(r"[ab]", text) and len(text) > 1 and (
        "=" in text or not re.search(r"\\", text)))  # fmt: skip
    _Starred.rule = rule.split("=")[-1]
    asked = re.sub(r"\\(star|diamond|odot|triangle)", "@", found[-1])
    made = eval(re.sub(r"(\d+)", r"S(\1)", asked), {"S": _Starred})
    return bool(made.value == gold)


@route
def absolute_value(p: Params, q: str, gold: Fraction) -> bool:
    a, b = p["inside"]
    center, half = Fraction(-b, a), Fraction(p["right"], a)
    roots = (center - half, center + half)
    if not all(equation(q, "x", root) for root in roots):
        return False
    total = {"sum": sum(roots), "product": prod(roots), "larger": max(roots), "smaller": min(roots)}
    return total[p["asked"]] == gold


@route
def common_divisor(p: Params, q: str, gold: Fraction) -> bool:
    numbers = p["numbers"]
    return max(n for n in range(1, min(numbers) + 1) if all(m % n == 0 for m in numbers)) == gold


@route
def common_multiple(p: Params, q: str, gold: Fraction) -> bool:
    numbers, value = p["numbers"], max(p["numbers"])
    while any(value % n for n in numbers):
        value += max(numbers)
    return bool(value == gold)


@route
def divisor_function(p: Params, q: str, gold: Fraction) -> bool:
    number = p["number"]
    found = [n for n in range(1, number + 1) if number % n == 0]
    kept = {"number": found, "sum": found, "odd": [n for n in found if n % 2],
            "even": [n for n in found if n % 2 == 0]}[p["asked"]]  # fmt: skip
    return (sum(kept) if p["asked"] == "sum" else len(kept)) == gold


@route
def trailing_zeros(p: Params, q: str, gold: Fraction) -> bool:
    value, times = factorial(p["n"]), 0
    while value % p["base"] == 0:
        value //= p["base"]
        times += 1
    return times == gold


@route
def digit_bases(p: Params, q: str, gold: Fraction) -> bool:
    shown = re.findall(r"(\d+)_", q) or re.findall(r"\$(\d+)\$", q)
    values = [int(text, p["base"]) for text in shown]
    if not p["sign"]:
        return values == [gold]
    sign = p["sign"]
    a, b = values
    return {"+": a + b, "-": a - b, "*": a * b}[sign] == gold


@route
def power_remainder(p: Params, q: str, gold: Fraction) -> bool:
    total: int = sum(base**exponent for base, exponent in p["terms"])
    return total % p["modulus"] == gold


@route
def linear_congruence(p: Params, q: str, gold: Fraction) -> bool:
    m = p["modulus"]
    return [x for x in range(m) if (p["a"] * x + p["b"] - p["c"]) % m == 0] == [gold]


@route
def chinese_remainders(p: Params, q: str, gold: Fraction) -> bool:
    fits = (n for n in range(1, 10**5) if all(n % m == r for m, r in p["conditions"]))
    return next(fits) == gold


@route
def clock_shift(p: Params, q: str, gold: Fraction) -> bool:
    weeks = p["weeks"] if p["hours"] > 0 else -p["weeks"]
    start = datetime(2021, 6, 1, p["now"])
    return (start + timedelta(hours=p["hours"], weeks=weeks)).hour == gold


@route
def arithmetic_sequence(p: Params, q: str, gold: Fraction) -> bool:
    terms = [p["first"]]
    while len(terms) < max(p["n"], *p["known"]):
        terms.append(terms[-1] + p["step"])
    shown = {str(terms[place - 1]) for place in p["known"]}
    return shown <= set(re.findall(r"-?\d+", q)) and gold == (
        terms[p["n"] - 1] if p["asked"] == "term" else sum(terms[: p["n"]])
    )


@route
def geometric_sequence(p: Params, q: str, gold: Fraction) -> bool:
    shown = next(text for text in formulas(q) if "ldots" in text).split(",")[:3]
    first, second, third = map(evaluate, shown)
    assert second / first == third / second
    terms = [first]
    while len(terms) < (p["n"] or 400):
        terms.append(terms[-1] * second / first)
    if p["asked"] == "infinite sum":
        return abs(float(sum(map(float, terms)) - gold)) < 1e-9 * max(1.0, float(abs(gold)))
    return gold == (terms[-1] if p["asked"] == "term" else sum(terms))


@route
def recurrence(p: Params, q: str, gold: Fraction) -> bool:
    text = next(text for text in formulas(q) if text.startswith("a_n ="))
    rule = text.split("=")[1].replace("a_{n-1}", "(u)").replace("a_{n-2}", "(v)")
    known = {int(i): Fraction(value) for i, value in re.findall(r"a_(\d) = (-?\d+)", q)}
    for n in range(len(known) + 1, p["n"] + 1):
        code = re.sub(r"(?<=\d)\(", "*(", rule)
        code = code.replace("(u)", f"({known[n - 1]})").replace("(v)", f"({known.get(n - 2, 0)})")
        known[n] = Fraction(eval(code))
    return known[p["n"]] == gold


@route
def committees(p: Params, q: str, gold: Fraction) -> bool:
    pairs = [tuple(map(int, pair)) for pair in re.findall(r"(\d+) women and (\d+) men", q)]
    women, men = next(pair for pair in pairs if p["groups"] in (pair, (sum(pair),)))
    size, asked, total = p["size"], p["asked"], 0
    for w in range(size + 1):
        m = size - w
        fits = {"any": True, "exactly": w == p["women"], "some": w >= 1, "least": w >= p["women"],
                "chair": w >= 1 and m >= 1}[asked]  # fmt: skip
        total += fits * _pascal(women, w) * _pascal(men, m)
    return total * (size if asked == "chair" else 1) == gold


@cache
def _pascal(n: int, k: int) -> int:
    if k < 0 or k > n:
        return 0
    return 1 if k in (0, n) else _pascal(n - 1, k - 1) + _pascal(n - 1, k)


@route
def word_arrangements(p: Params, q: str, gold: Fraction) -> bool:
    word, asked, letter = p["word"], p["asked"], p["letter"]
    assert word in q

    @cache
    def count(left: str, last: str, is_closed: bool) -> int:
        if not left:
            return int(asked != "ends" or last == letter)
        total = 0
        for nxt in set(left):
            if asked == "starts" and len(left) == len(word) and nxt != letter:
                continue
            if asked == "apart" and nxt == last == letter:
                continue
            if asked == "together" and nxt == letter and is_closed:
                continue
            closed = is_closed or (last == letter and nxt != letter)
            total += count(left.replace(nxt, "", 1), nxt, closed)
        return total

    return count(word, "", False) == gold


@route
def lattice_paths(p: Params, q: str, gold: Fraction) -> bool:
    right, up = map(int, re.search(r"to \$\((\d+), (\d+)\)", q).groups())  # type: ignore[union-attr]
    point = p["point"]

    @cache
    def count(x: int, y: int, passed: bool) -> int:
        passed = passed or (x, y) == point
        if x > right or y > up or (p["asked"] == "avoid" and passed):
            return 0
        if (x, y) == (right, up):
            return int(passed or p["asked"] != "through")
        return count(x + 1, y, passed) + count(x, y + 1, passed)

    return count(0, 0, False) == gold


@route
def counting_numbers(p: Params, q: str, gold: Fraction) -> bool:
    allowed = set(map(str, p["digits"]))
    total = 0
    for n in range(10 ** (p["length"] - 1), 10 ** p["length"]):
        text = str(n)
        fits = set(text) <= allowed and (p["repeats"] == "True" or len(set(text)) == len(text))
        total += fits and {"any": True, "even": n % 2 == 0, "odd": n % 2 == 1}[p["parity"]]
    return total == gold


@route
def urn_draws(p: Params, q: str, gold: Fraction) -> bool:
    balls = [kind for kind, count in enumerate(p["counts"]) for _ in range(count)]
    if p["replaced"] == "True":
        draws = list(product(balls, repeat=p["draws"]))
    else:
        draws = list(permutations(balls, p["draws"]))
    asked = p["asked"]
    good = sum(
        set(draw) == {0} if asked == "first" else
        len(set(draw)) == 1 if asked == "same" else len(set(draw)) == p["draws"]
        for draw in draws
    )  # fmt: skip
    return Fraction(good, len(draws)) == gold


@route
def dice_events(p: Params, q: str, gold: Fraction) -> bool:
    chances: Counter[tuple[int, int, int]] = Counter({(0, 0, 1): 1})
    for faces in p["faces"]:
        nxt: Counter[tuple[int, int, int]] = Counter()
        for (total, top, times), ways in chances.items():
            for face in range(1, faces + 1):
                nxt[total + face, max(top, face), times * face] += ways
        chances = nxt
    t = p["target"]
    good = sum(
        ways
        for (total, top, times), ways in chances.items()
        if {"sum": total == t, "at least": total >= t, "at most": total <= t, "highest": top == t,
            "product": times % t == 0}[p["asked"]]
    )  # fmt: skip
    return Fraction(good, sum(chances.values())) == gold


@route
def bayes_rule(p: Params, q: str, gold: Fraction) -> bool:
    parts = 1_000_000
    faulty = [parts * share // 100 * rate // 100 for share, rate in p["machines"]]
    if not p["asked"]:
        return Fraction(sum(faulty), parts) == gold
    mine = parts * p["asked"][0] // 100 * p["asked"][1] // 100
    return Fraction(mine, sum(faulty)) == gold


@route
def expected_value(p: Params, q: str, gold: Fraction) -> bool:
    sectors = [prize for count, prize in p["outcomes"] for _ in range(count)]
    return sum(prize - gold - p["stake"] for prize in sectors) == 0


@route
def right_triangle(p: Params, q: str, gold: Fraction) -> bool:
    first, second = p["sides"]
    if "legs of" in q:
        a, b, c = first, second, isqrt(first**2 + second**2)
    else:
        a, c = first, second
        b = isqrt(c * c - a * a)
    assert a * a + b * b == c * c
    half = Fraction(a + b + c, 2)
    square = half * (half - a) * (half - b) * (half - c)  # Heron
    area = Fraction(isqrt(int(square)))
    assert area**2 == square
    return {"hypotenuse": Fraction(c), "leg": Fraction(b), "area": area, "perimeter": 2 * half,
            "height": 2 * area / c}[p["asked"]] == gold  # fmt: skip


@route
def polygon_area(p: Params, q: str, gold: Fraction) -> bool:
    """Pick's theorem: area = interior points + boundary points / 2 - 1."""
    corners = [tuple(map(int, pair)) for pair in re.findall(r"\((-?\d+), (-?\d+)\)", q)]
    edges = list(zip(corners, [*corners[1:], corners[0]], strict=True))
    xs, ys = [x for x, _ in corners], [y for _, y in corners]
    inside = boundary = 0
    for x in range(min(xs), max(xs) + 1):
        for y in range(min(ys), max(ys) + 1):
            sides = [(bx - ax) * (y - ay) - (by - ay) * (x - ax) for (ax, ay), (bx, by) in edges]
            if all(side > 0 for side in sides) or all(side < 0 for side in sides):
                inside += 1
            elif all(side >= 0 for side in sides) or all(side <= 0 for side in sides):
                boundary += 1
    return inside + Fraction(boundary, 2) - 1 == gold


@route
def polygon_angles(p: Params, q: str, gold: Fraction) -> bool:
    if "ratio" in p:
        part = gold / (max(p["ratio"]) if p["asked"] == "largest" else min(p["ratio"]))
        return part * sum(p["ratio"]) == 180
    n, asked = p["sides"], p["asked"]
    if asked == "missing":  # the exterior angles of a convex polygon add up to 360
        return 180 - gold + sum(180 - angle for angle in p["known"]) == 360
    outer = Fraction(360, n)
    if asked == "sides":
        return int(re.search(r"(\d+)°", q).group(1)) == 180 - Fraction(360, gold)  # type: ignore[union-attr]
    return {"exterior": outer, "interior": 180 - outer, "sum": n * (180 - outer)}[asked] == gold


@route
def circle_in_pi(p: Params, q: str, gold: Fraction) -> bool:
    """Areas and lengths of polygons with many sides."""
    from math import sin, tan

    r, n = p["radius"], 10**5
    turn = 2 * pi * (p["angle"] / 360 if p["angle"] else 1)
    length = n * 2 * r * sin(turn / n / 2)
    area = n * r * r * tan(turn / n / 2)
    inner = n * p["inner"] ** 2 * tan(turn / n / 2)
    value = length if p["asked"] in ("circumference", "arc") else area - inner
    return abs(value / pi - gold) < 1e-6 * float(gold)


@route
def similar_figures(p: Params, q: str, gold: Fraction) -> bool:
    a, b = p["sides"]
    return gold * a ** p["power"] == p["known"] * b ** p["power"]


@route
def solid_measures(p: Params, q: str, gold: Fraction) -> bool:
    asked = p["asked"]
    if asked == "volume":
        x, y, z = p["edges"]
        return sum(x * y for _ in range(z)) == gold
    if asked == "surface":
        x, y, z = (Fraction(e) for e in p["edges"])  # cut off a layer of thickness e: d(volume)
        e = Fraction(1, 10**9)
        grown = (x + 2 * e) * (y + 2 * e) * (z + 2 * e) - x * y * z
        return abs(grown / e - gold) < 1e-3
    if asked == "edge":
        x, y = p["base"]
        fits = [h for h in range(1, 200) if 2 * x * y + 2 * (x + y) * h == p["surface"]]
        return fits == [gold]
    x, y = p["base"]
    if asked == "pyramid":  # Simpson's rule is exact for cross sections that are quadratic
        return Fraction(p["height"], 6) * (x * y + 4 * Fraction(x, 2) * Fraction(y, 2)) == gold
    return bool(gold * x * y == p["cube"] ** 3)


@route
def rectangle_puzzle(p: Params, q: str, gold: Fraction) -> bool:
    known = dict(zip(p["known"][::2], p["known"][1::2], strict=True))
    answers = set()
    for a in range(1, 1500):
        b = known["perimeter"] // 2 - a
        if not 0 < b < a or b + a != known["perimeter"] / 2:
            continue
        facts = {"difference": a - b, "area": a * b, "perimeter": 2 * (a + b)}
        if "diagonal" in known and a * a + b * b != known["diagonal"] ** 2:
            continue
        if any(facts[name] != value for name, value in known.items() if name != "diagonal"):
            continue
        answers.add({"area": a * b, "longer": a, "shorter": b,
                     "diagonal squared": a * a + b * b}[p["asked"]])  # fmt: skip
    return answers == {gold}


@route
def scale_drawing(p: Params, q: str, gold: Fraction) -> bool:
    metre_per_cm = Fraction(p["scale"], 100)
    if p["asked"] == "real":
        return gold / metre_per_cm == p["known"]
    if p["asked"] == "drawn":
        return gold * metre_per_cm == p["known"]
    return gold / metre_per_cm / metre_per_cm == p["known"]


@route
def percent_change(p: Params, q: str, gold: Fraction) -> bool:
    start, end = (gold, p["known"]) if p["direction"] == "back" else (p["known"], gold)
    price = Fraction(start)
    for change in p["changes"]:
        price += price * change / 100
    shown = sorted(map(int, re.findall(r"by (\d+)%", q)))
    return price == end and shown == sorted(abs(c) for c in p["changes"] if c)


@route
def percent_of(p: Params, q: str, gold: Fraction) -> bool:
    whole, part = (gold, p["part"]) if "part" in p else (p["total"], gold)
    value = Fraction(whole)
    for percent in p["percent"]:
        value -= value * (100 - percent) / 100
    return value == part


@route
def interest(p: Params, q: str, gold: Fraction) -> bool:
    balance = Fraction(p["capital"])
    for _ in range(p["years"]):
        base = balance if p["kind"] == "compound" else Fraction(p["capital"])
        balance += base * p["rate"] / 100
    return gold == (balance if p["asked"] == "balance" else balance - p["capital"])


@route
def mixture(p: Params, q: str, gold: Fraction) -> bool:
    if "have" in p:
        a, strength = p["have"]
        return a * strength + gold * p["add"] == (a + gold) * p["want"]
    (a, x), (b, y) = p["parts"]
    return a * (gold - x) == b * (y - gold)  # what one gains the other loses


@route
def work_together(p: Params, q: str, gold: Fraction) -> bool:
    a, b = p["hours"]
    done = gold / a + gold / b
    if p["case"][0] == "drain":
        done -= gold / p["case"][1]
    if p["case"][0] == "late":
        done += Fraction(p["case"][1], a)
    return done == 1


@route
def motion(p: Params, q: str, gold: Fraction) -> bool:
    if "asked" in p:
        shown = list(map(int, re.findall(r"\d+", q)))
        if p["asked"] == "distance":
            return gold == sum(p["speed"] for _ in range(int(p["hours"])))
        return gold * p["speed"] in shown
    low, high = p["speeds"]
    if p["case"] == "meet":
        return low * gold + high * gold == p["distance"]
    if p["case"] == "overtake":
        return low * (gold + p["lead"]) == high * gold
    if p["case"] == "mean":
        way = Fraction(low * high)  # any length will do
        return 2 * way / (way / low + way / high) == gold
    there = Fraction(p["distance"], high + low)
    return (high - low) * (gold - there) == p["distance"]


_SI = {"mm": "1e-3", "cm": "1e-2", "m": "1", "km": "1e3", "mg": "1e-6", "g": "1e-3", "kg": "1",
       "t": "1e3", "seconds": "1", "minutes": "60", "hours": "3600", "days": "86400", "cm²": "1e-4",
       "dm²": "1e-2", "m²": "1", "ha": "1e4", "km²": "1e6", "mL": "1e-6", "cm³": "1e-6",
       "L": "1e-3", "dm³": "1e-3", "m³": "1", "m/s": "1", "km/h": "10/36", "m/min": "1/60",
       "cm/s": "1e-2"}  # fmt: skip


@route
def unit_conversion(p: Params, q: str, gold: Fraction) -> bool:
    return gold * Fraction(_SI[p["to"]]) == p["amount"] * Fraction(_SI[p["from"]])


@route
def shopping_system(p: Params, q: str, gold: Fraction) -> bool:
    (a, b, first), (c, e, second) = p["purchases"]
    # From each purchase follows the other item's price; both must agree.
    return (first - a * gold) / b == (second - c * gold) / e
