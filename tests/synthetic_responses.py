"""Responses with known truth, in mixed form, for tests and benchmarks of the verifiers.

Truth comes from how a response is made, never from the code under test: a right answer is the gold
value written in another form, a wrong one another value (made different by construction), a hedged
one names two values, a malformed one is right in substance but not given as asked, so that it must
lose.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from fractions import Fraction

LETTERS = "ABCDEFGHIJ"
NAMES = ["Emma", "Liam", "Jack", "Jackson", "Ella", "Isabella", "Noah", "Zoë", "Mia", "Owen"]
_FILLER = [
    "Let us look at what is given and write it down carefully.",
    "We set $x = 4$ for a moment, and note that $2 + 2 = 4$ holds.",
    "This does not lead anywhere, since the sum of 17 and 25 is 42.",
    "Recall that $\\frac{a}{b}$ is defined for $b \\ne 0$ and that {braces} are only notation.",
    "A similar question came up before; there one took A first and then B.",
    "Checking the second case: 3 < 5, and 5 < 7, so the order holds.",
    "It follows that the total is the sum of its parts, 12 + 30 = 42, or so it seems.",
    "Note that $\\sqrt{2} \\approx 1.414$, while $\\pi \\approx 3.14159$.",
]


@dataclass(frozen=True, slots=True)
class Case:
    """One response with its gold answer and whether it is right; ``form`` says how it was made."""

    route: str
    response: str
    gold: str
    right: bool
    form: str
    options: tuple[str, ...] = ()


def cases(
    domain: str, count: int, seed: int = 0, length: int = 1_000, group: int = 1
) -> Iterator[Case]:
    """Yield ``count`` responses of one domain, about ``length`` characters each.

    Args:
        domain: ``math``, ``science`` or ``logic``.
        count: Number of responses.
        seed: Same seed, same responses.
        length: Characters of reasoning before the answer.
        group: Responses in a row that share one gold answer, as in a group of rollouts.
    """
    rng = random.Random(f"{domain} {seed}")
    make: Callable[[random.Random, random.Random, int], Case] = {
        "math": _math_case,
        "science": _choice_case,
        "logic": _logic_case,
    }[domain]
    for number in range(count):
        draw = random.Random(f"{domain} {seed} {number // group}")
        yield make(draw, rng, length)


def reasoning(rng: random.Random, length: int) -> str:
    """Return filler that looks like reasoning, at least ``length`` characters."""
    parts: list[str] = []
    size = 0
    while size < length:
        parts.append(rng.choice(_FILLER))
        size += len(parts[-1]) + 1
    return " ".join(parts)


# --- maths ------------------------------------------------------------------------------------


def _written(value: Fraction, rng: random.Random) -> str:
    """Return one of the ways in which people write a rational number."""
    top, bottom = value.numerator, value.denominator
    sign, size = ("-" if top < 0 else ""), abs(top)
    if bottom == 1:
        ways = [f"{top}", f"{top}", f"{sign}{size}.0", f"{sign}{2 * size}/2", f"{top}."]
        if size >= 1000:
            grouped = f"{size:,}"
            ways += [f"{sign}{grouped}", sign + grouped.replace(",", "{,}")]
            ways += [sign + grouped.replace(",", "\\,"), sign + grouped.replace(",", ",\\!")]
        if sign:
            ways += [f"−{size}", f"- {size}"]
        return rng.choice(ways)
    factor = rng.randint(2, 9)
    ways = [
        f"{sign}\\frac{{{size}}}{{{bottom}}}",
        f"\\frac{{{top}}}{{{bottom}}}",
        f"{sign}\\dfrac{{{size}}}{{{bottom}}}",
        f"{top}/{bottom}",
        f"{sign}\\frac{{{size * factor}}}{{{bottom * factor}}}",
        f"{sign} \\tfrac {{{size}}} {{{bottom}}}",
    ]
    if size > bottom:
        whole, rest = divmod(size, bottom)
        ways += [f"{sign}{whole}\\frac{{{rest}}}{{{bottom}}}", f"{sign}{whole} {rest}/{bottom}"]
    if 10**6 % bottom == 0:
        digits = f"{size * 10**6 // bottom:07d}"
        ways.append(f"{sign}{digits[:-6]}.{digits[-6:]}".rstrip("0"))
    return rng.choice(ways)


def _rational(rng: random.Random) -> Fraction:
    kind = rng.random()
    if kind < 0.5:
        return Fraction(rng.choice([rng.randint(-99, 999), rng.randint(1_000, 10**8)]))
    return Fraction(rng.randint(-99, 400), rng.choice([2, 3, 4, 5, 6, 7, 8, 9, 10, 12, 16, 25, 49]))


def _surd(a: int, b: int, n: int, rng: random.Random) -> str:
    """Return ``a + b * sqrt(n)`` written in one of several ways; b > 0, n without squares."""
    root = rng.choice([f"\\sqrt{{{n}}}", f"\\sqrt {{{n}}}", f"\\sqrt{{{n}}}"])
    term = f"{b}{root}" if b > 1 else root
    if rng.random() < 0.3:
        term = f"\\sqrt{{{b * b * n}}}"
    if a == 0:
        return term
    return rng.choice([f"{a}+{term}", f"{term} + {a}" if a > 0 else f"{term} - {-a}"])


def _values(draw: random.Random, rng: random.Random) -> tuple[str, str, str, str]:
    """Return ``(form, gold, the same value, another value)``."""
    others = ["unit", "tuple", "set", "interval", "surd", "surd", "poly", "word"]
    kind = "number" if draw.random() < 0.75 else draw.choice(others)
    if kind == "number":
        value = _rational(draw)
        other = value + rng.choice([Fraction(1), Fraction(-1), Fraction(1, 2), Fraction(10)])
        if rng.random() < 0.2:
            other = -value if value else Fraction(1)
        return kind, _written(value, draw), _written(value, rng), _written(other, rng)
    if kind == "unit":
        value = Fraction(draw.randint(2, 900))
        mark = rng.choice(
            ["\\text{ cm}", "\\%", "^\\circ", "\\text{ dollars}", "\\ \\text{apples}"]
        )
        plain = str(value)
        return kind, plain, plain + mark, str(value + 1) + mark
    if kind == "tuple":
        first, second = _rational(draw), _rational(draw)
        return (
            kind,
            f"({first}, {second})",
            f"\\left({_written(first, rng)}, {_written(second, rng)}\\right)".replace(".,", ","),
            f"({second + 1}, {first})",
        )
    if kind == "set":
        a, b, c = sorted(draw.sample(range(-20, 100), 3))
        gold = draw.choice([f"\\{{{a}, {b}, {c}\\}}", f"{a}, {b}, {c}"])
        right = rng.choice(
            [f"\\{{{c},{a},{b}\\}}", f"{b}, {c}, {a}", f"{a}, {b} \\text{{ and }} {c}"]
        )
        wrong = rng.choice([f"{a}, {b}", f"\\{{{a},{b},{c + 1}\\}}", f"{a}, {b}, {c}, {c + 5}"])
        return kind, gold, right, wrong
    if kind == "interval":
        a = draw.randint(-30, 30)
        b = a + draw.randint(1, 40)
        right = rng.choice([f"[{a},{b})", f"x \\in [{a}, {b})", f"{a} \\le x < {b}"])
        return (
            kind,
            f"[{a}, {b})",
            right,
            rng.choice([f"({a},{b})", f"[{a},{b}]", f"[{a},{b + 1})"]),
        )
    if kind == "surd":
        a, b, n = draw.randint(-9, 9), draw.randint(1, 9), draw.choice([2, 3, 5, 6, 7, 10, 11, 13])
        return kind, _surd(a, b, n, draw), _surd(a, b, n, rng), _surd(a, b + 1, n, rng)
    if kind == "poly":
        a, b = draw.randint(1, 9), draw.randint(1, 9)
        gold = f"x^2 + {a + b}x + {a * b}"
        return kind, gold, f"(x+{a})(x+{b})", f"(x+{a})(x-{b})"
    day, other_day = draw.sample(["Tuesday", "Friday", "Sunday", "Monday"], 2)
    return kind, f"\\text{{{day}}}", day.lower(), other_day


def _math_case(draw: random.Random, rng: random.Random, length: int) -> Case:
    form, gold, same, other = _values(draw, rng)
    text = reasoning(rng, length)
    route = "dataflex/math"
    roll = rng.random()
    if roll < 0.45:
        if rng.random() < 0.15:
            text += f" First I get \\boxed{{{other}}}. Wait, that is wrong."
        if rng.random() < 0.15:
            text = f"<think>{text} \\boxed{{{other}}}</think> So"
        ending = rng.choice(
            [
                f" The answer is $\\boxed{{{same}}}$.",
                f"\n\\[\\boxed{{ {same} }}\\]",
                f" **Final answer**: \\boxed{{{same}}}",
                f" Hence \\boxed{{{same}}} is the answer.",
            ]
        )
        return Case(route, text + ending, gold, True, f"right {form}")
    if roll < 0.75:
        if rng.random() < 0.3:
            text += f" First I get \\boxed{{{same}}}. Wait, that is wrong."
        return Case(route, f"{text} So \\boxed{{{other}}}.", gold, False, f"wrong {form}")
    if roll < 0.9:
        pair = [same, other]
        rng.shuffle(pair)
        ending = rng.choice(
            [
                f"\\boxed{{{pair[0]} \\text{{ or }} {pair[1]}}}",
                f"\\boxed{{{pair[0]}}} or \\boxed{{{pair[1]}}}",
                f"$\\boxed{{{pair[0]}}}$ and $\\boxed{{{pair[1]}}}$",
                f"\\boxed{{{pair[0]}}} / \\boxed{{{pair[1]}}}",
            ]
        )
        return Case(route, f"{text} {ending}", gold, False, f"hedged {form}")
    broken = rng.choice(
        [
            f"{text} The answer is {same}.",
            f"{text} \\boxed{{{same}",
            f"<think>{text} \\boxed{{{same}}}",
            f"<think>{text} \\boxed{{{same}}}</think> I do not know.",
            f"{text} I should use \\boxed{{}}. The answer is {same}",
            f"{text} \\boxed{{}}",
        ]
    )
    return Case(route, broken, gold, False, f"malformed {form}")


# --- multiple choice --------------------------------------------------------------------------


def _choice_case(draw: random.Random, rng: random.Random, length: int) -> Case:
    count = draw.choice([4, 4, 4, 5, 10])
    words = draw.sample(
        ["mitochondria", "vitamin C", "gravity", "ionic bonds", "the nucleus", "hydrogen gas",
         "plate tectonics", "photosynthesis", "a catalyst", "osmosis", "the ozone layer"], count
    )  # fmt: skip
    options = tuple(words)
    letters = LETTERS[:count]
    gold = draw.choice(letters)
    other = rng.choice(letters.replace(gold, ""))
    text = reasoning(rng, length)
    route = "dataflex/sciq"
    option, other_option = options[letters.index(gold)], options[letters.index(other)]
    roll = rng.random()
    if roll < 0.75:
        right = roll < 0.45
        said, unsaid = (gold, other) if right else (other, gold)
        said_text = option if right else other_option
        ending = rng.choice(
            [
                f" The answer is \\boxed{{{said}}}.",
                f" $\\boxed{{\\text{{{said}}}}}$",
                f" \\boxed{{({said})}}",
                f" \\boxed{{{said_text}}}",
                f" \\boxed{{{said}. {said_text}}}",
                f"\n\nAnswer: {said}",
                f"\n**Answer: {said}**",
                f" The answer is {said}, not {unsaid}.",
                f" The answer is {said}. A common mistake is {unsaid}.",
                f"\nAnswer: {said} ({unsaid} is tempting)",
                f" The correct answer is ({said}) {said_text}.",
                f" Therefore the answer is option {said}.",
                f" So the correct option is {said} because the rest is wrong.",
                f" I choose {said}.",
            ]
        )
        if rng.random() < 0.15:
            text = f"<think>{text} The answer is {unsaid}.</think>"
        return Case(route, text + ending, gold, right, "right" if right else "wrong", options)
    if roll < 0.9:
        pair = [gold, other]
        rng.shuffle(pair)
        first, second = pair
        ending = rng.choice(
            [
                f"Answer: {first} or {second}",
                f"The answer is {first}/{second}.",
                f"\\boxed{{{first}}} or \\boxed{{{second}}}",
                f"\\boxed{{{first}, {second}}}",
                f"The answer is either {first} or {second}.",
                f"Answer: {', '.join(letters)}",
                f"The answer is {first} and {second}.",
            ]
        )
        return Case(route, f"{text} {ending}", gold, False, "hedged", options)
    ending = rng.choice(
        [
            f"{text} I like {gold}.",
            f"<think>{text} Answer: {gold}",
            f"{text} The answer is not {gold}.",
            f"{text} \\boxed{{{letters.index(gold) + 1}}}",
            f"{text} \\boxed{{{gold}",
            f"<think>{text} Answer: {gold}</think> I am not sure.",
        ]
    )
    return Case(route, ending, gold, False, "malformed", options)


# --- knights and knaves -----------------------------------------------------------------------


def _said(people: list[tuple[str, bool]], rng: random.Random) -> str:
    """Return an assignment as somebody would write it."""
    role = {True: "knight", False: "knave"}
    style = rng.randrange(8)
    if style == 0:
        return ", ".join(f"{name} is a {role[knight]}" for name, knight in people) + "."
    if style == 1:
        return "\n".join(f"- **{name}**: {role[knight].title()}" for name, knight in people)
    if style == 2:
        return "\n".join(
            f"{at}. {name} is a {role[knight]}" for at, (name, knight) in enumerate(people, 1)
        )
    if style == 3:
        return "".join(
            f"{name} is not a {role[not knight]}. "
            if rng.random() < 0.5
            else f"{name} is a {role[knight]}. "
            for name, knight in people
        )
    if style == 4:
        return "; ".join(f"{name} → {role[knight]}" for name, knight in people)
    if style == 5:
        knights = [name for name, knight in people if knight]
        knaves = [name for name, knight in people if not knight]
        lines = [
            f"Knights: {', '.join(knights) or 'none'}",
            f"Knaves: {', '.join(knaves) or 'none'}",
        ]
        return "\n".join(lines)
    if style == 6:
        body = ", ".join(f"{name} is a {role[knight]}" for name, knight in people[:-1])
        name, knight = people[-1]
        return (
            f"{body}, and {name} is the {role[knight]}." if body else f"{name} is a {role[knight]}."
        )
    return "\n".join(f"| {name} | {role[knight]} |" for name, knight in people)


def _logic_case(draw: random.Random, rng: random.Random, length: int) -> Case:
    people = [(name, draw.random() < 0.5) for name in draw.sample(NAMES, draw.randint(2, 6))]
    role = {True: "knight", False: "knave"}
    clauses = [f"{name} is a {role[knight]}" for name, knight in people]
    gold = ", ".join(clauses[:-1]) + f", and {clauses[-1]}."
    other = [(name, knight) for name, knight in people]
    flipped = rng.randrange(len(other))
    other[flipped] = (other[flipped][0], not other[flipped][1])
    text = reasoning(rng, length - 120)
    text += (
        f" {people[0][0]} said that {people[1][0]} is a knave. Suppose it is so. If not, we stop."
    )
    route = "dataflex/knights_and_knaves"
    markers = [
        "\n\nFinal answer: {}",
        "\n\n**Final Answer:**\n{}",
        "\n\n<answer>{}</answer>",
        "\n\n{}",
    ]
    roll = rng.random()
    if roll < 0.75:
        right = roll < 0.45
        marker = rng.choice(markers)
        if rng.random() < 0.15:
            text = (
                f"<think>{text}\n\nFinal answer: {_said(other if right else people, rng)}</think>"
            )
        body = _said(people if right else other, rng)
        form = "right" if right else "wrong"
        return Case(route, text + marker.format(body), gold, right, form)
    name, knight = people[flipped]
    if roll < 0.9:
        ending = rng.choice(
            [
                f"Final answer: {_said(people, rng)} or {name} is a {role[not knight]}",
                f"Final answer: If {clauses[0]} then {', '.join(clauses[1:])}.",
                f"{', '.join(clauses)}. {name} is a {role[not knight]}.",
                f"Final answer: {', '.join(clauses)}?",
                f"Final answer: {', '.join(clauses)}, Bob is a knave.",
                f"Maybe {', '.join(clauses)}.",
            ]
        )
        return Case(route, f"{text}\n\n{ending}", gold, False, "hedged")
    ending = rng.choice(
        [
            f"<think>{text}\n\nFinal answer: {_said(people, rng)}",
            f"{text}\n\nFinal answer: {', '.join(clauses[:-1])}.",
            f"{text}\n\nFinal answer: I do not know.",
            f"{text}\n\n{people[0][0]} claims that {', '.join(clauses)}.",
        ]
    )
    return Case(route, ending, gold, False, "malformed")
