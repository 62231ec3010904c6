"""Number theory, modular arithmetic and sequences."""

from __future__ import annotations

from fractions import Fraction
from math import gcd, lcm

from dataflex_data.builders.procedural.family import Draw, Families, Problem, listed, plural
from dataflex_data.builders.procedural.wording import NAMES, latex

FAMILIES = Families()
_PRIMES = (2, 3, 5, 7, 11, 13, 17, 19, 23)


@FAMILIES.add("number theory")
def common_divisor(d: Draw, level: int) -> Problem | None:
    """Greatest common divisor in abstract and in words."""
    count = 3 if level >= 4 else 2
    common = d.integer(2, 6 + 8 * level)
    numbers = [common * d.integer(2, 6 + 6 * level) for _ in range(count)]
    if len(set(numbers)) < count:
        return None
    name = d.pick(NAMES)
    question = d.pick(
        (
            f"What is the greatest common divisor of {listed(numbers)}?",
            f"Find the largest integer that divides each of {listed(numbers)} without remainder.",
            f"{name} has ropes of {listed(f'{n} cm' for n in numbers)} and wants to cut them, with "
            "nothing left over, into pieces that are all equally long and as long as possible. "
            "How many centimeters long is each piece?",
        )
    )
    return Problem(question, Fraction(gcd(*numbers)), {"numbers": tuple(sorted(numbers))})


@FAMILIES.add("number theory")
def common_multiple(d: Draw, level: int) -> Problem | None:
    """Least common multiple in abstract and in words."""
    count = 3 if level >= 3 else 2
    numbers = [d.integer(4, 10 + 8 * level) for _ in range(count)]
    if len(set(numbers)) < count:
        return None
    question = d.pick(
        (
            f"What is the least common multiple of {listed(numbers)}?",
            f"Find the smallest positive integer that is divisible by each of {listed(numbers)}.",
            f"{'Two' if count == 2 else 'Three'} lighthouses flash every {listed(numbers)} "
            "seconds. "
            "They have just flashed at the same moment. After how many seconds will they next all "
            "flash together?",
        )
    )
    return Problem(question, Fraction(lcm(*numbers)), {"numbers": tuple(sorted(numbers))})


def _factorised(d: Draw, level: int) -> tuple[int, list[tuple[int, int]]]:
    primes = sorted(d.sample(_PRIMES[: 4 + level], 2 if level <= 2 else 3))
    powers = [(p, d.integer(1, 3 if p > 3 else 4)) for p in primes]
    number = 1
    for p, exponent in powers:
        number *= p**exponent
    return number, powers


@FAMILIES.add("number theory")
def divisor_function(d: Draw, level: int) -> Problem | None:
    """Number or sum of divisors, of all or of the odd ones."""
    number, powers = _factorised(d, level)
    if not 20 <= number <= (2_000, 2_000, 5_000, 30_000, 200_000)[level - 1]:
        return None
    asked = d.pick(("number", "sum", "odd", "even")[: (1, 2, 3, 4, 4)[level - 1]])
    if asked in ("odd", "even") and number % 2:
        return None
    count, total, odd = 1, 1, 1
    for p, exponent in powers:
        count *= exponent + 1
        total *= (p ** (exponent + 1) - 1) // (p - 1)
        odd *= exponent + 1 if p > 2 else 1
    answer = {"number": count, "sum": total, "odd": odd, "even": count - odd}[asked]
    kind = {"number": "positive", "odd": "positive odd", "even": "positive even"}.get(asked, "")
    if asked == "sum":
        question = d.pick(
            (
                f"What is the sum of all positive divisors of {number}, including 1 and {number}?",
                f"Add up every positive integer that divides {number} (1 and {number} included). "
                "What total do you get?",
                f"Find the sum of the positive divisors of {number}, counting the number itself.",
            )
        )
    else:
        question = d.pick(
            (
                f"How many {kind} divisors does {number} have?",
                f"Find the number of {kind} divisors of {number}.",
                f"How many {kind} integers divide {number} without remainder?",
            )
        )
    return Problem(question, Fraction(answer), {"number": number, "asked": asked})


@FAMILIES.add("number theory")
def trailing_zeros(d: Draw, level: int) -> Problem | None:
    """Zeros at the end of a factorial, or the power of a prime in it."""
    n = d.integer(12 * level, 100 * level)
    if level <= 2:
        base, prime = 10, 5
    else:
        prime = d.pick(_PRIMES[: 2 + level])
        base = prime
    exponent, power = 0, prime
    while power <= n:
        exponent += n // power
        power *= prime
    if base == 10:
        question = d.pick(
            (
                f"How many zeros does ${n}!$ end with when it is written out in base ten?",
                f"What is the number of trailing zeros of ${n}!$ in decimal notation?",
                f"What is the largest integer $k$ for which $10^k$ divides ${n}!$?",
            )
        )
    else:
        question = d.pick(
            (
                f"What is the largest integer $k$ for which ${prime}^k$ divides ${n}!$?",
                f"Find the exponent of {prime} in the prime factorisation of ${n}!$.",
                f"How many times in a row can ${n}!$ be divided by {prime} without a remainder?",
            )
        )
    return Problem(question, Fraction(exponent), {"n": n, "base": base})


@FAMILIES.add("number theory")
def digit_bases(d: Draw, level: int) -> Problem | None:
    """Converting to base ten, and sums of numerals in another base, given in base ten."""
    base = d.pick((2, 3, 5) if level == 1 else (2, 3, 4, 5, 6, 7, 8, 9))
    top = (60, 300, 600, 2_000, 6_000)[level - 1]
    first, second = d.integer(12, top), d.integer(12, top)
    left, right = in_base(first, base), in_base(second, base)
    if level <= 2:
        numerals: tuple[str, ...] = (left,)
        value = first
        question = d.pick(
            (
                f"Write the base-{base} number ${left}_{{{base}}}$ in base ten.",
                f"What is the value of ${left}_{{{base}}}$ (a numeral in base {base}) in ordinary "
                "decimal notation?",
                f"Convert ${left}$ from base {base} to base 10.",
            )
        )
        sign = ""
    else:
        sign = d.pick("+-" if level == 3 else "+*")
        value = {"+": first + second, "-": first - second, "*": first * second}[sign]
        numerals = (left, right) if sign == "-" else tuple(sorted((left, right)))
        shown = {"+": "+", "-": "-", "*": "\\times"}[sign]
        text = f"{left}_{{{base}}} {shown} {right}_{{{base}}}"
        question = d.pick(
            (
                f"Compute ${text}$, where both numerals are in base {base}. Give the result in "
                "base ten.",
                f"Both numbers in ${text}$ are written in base {base}. What is the result in "
                "decimal notation?",
                f"Evaluate ${text}$ and write the answer in base 10.",
            )
        )
    return Problem(question, Fraction(value), {"base": base, "numerals": numerals, "sign": sign})


def in_base(number: int, base: int) -> str:
    """Return the digits of a positive number in a base up to ten."""
    digits = ""
    while number:
        number, digit = divmod(number, base)
        digits = f"{digit}{digits}"
    return digits


@FAMILIES.add("modular arithmetic")
def power_remainder(d: Draw, level: int) -> Problem | None:
    """The remainder of a large power, or of a sum of two."""
    base, exponent = d.integer(2, 9 + 4 * level), d.integer(5 + 5 * level, 20 + 60 * level)
    modulus = d.integer(5, 8 + 8 * level)
    second, power = d.integer(2, 9), d.integer(5, 40)
    if gcd(base, modulus) > 1 or base % modulus == 1:
        return None
    text, value = f"{base}^{{{exponent}}}", pow(base, exponent, modulus)
    terms: tuple[tuple[int, int], ...] = ((base, exponent),)
    if level >= 4:
        text += f" + {second}^{{{power}}}"
        value = (value + pow(second, power, modulus)) % modulus
        terms = tuple(sorted(((base, exponent), (second, power))))
    question = d.pick(
        (
            f"What is the remainder when ${text}$ is divided by {modulus}?",
            f"Find the least non-negative integer congruent to ${text}$ modulo {modulus}.",
            f"Compute $\\left({text}\\right) \\bmod {modulus}$.",
        )
    )
    return Problem(question, Fraction(value), {"terms": terms, "modulus": modulus})


@FAMILIES.add("modular arithmetic")
def linear_congruence(d: Draw, level: int) -> Problem | None:
    """The least non-negative solution of ax + b = c modulo m."""
    modulus = d.integer(7 + 4 * level, 20 + 25 * level)
    a, c = d.integer(2, modulus - 1), d.integer(0, modulus - 1)
    b = d.integer(1, modulus - 1) if level >= 2 else 0
    if gcd(a, modulus) > 1:
        return None
    value = (c - b) * pow(a, -1, modulus) % modulus
    left = f"{a}x + {b}" if b else f"{a}x"
    question = d.pick(
        (
            f"Find the smallest non-negative integer $x$ with ${left} \\equiv {c} "
            f"\\pmod{{{modulus}}}$.",
            f"Which integer $x$ with $0 \\le x < {modulus}$ satisfies "
            f"${left} \\equiv {c} \\pmod{{{modulus}}}$?",
            f"Solve ${left} \\equiv {c}$ modulo {modulus}, giving $x$ between 0 and {modulus - 1}.",
        )
    )
    return Problem(question, Fraction(value), {"a": a, "b": b, "c": c, "modulus": modulus})


@FAMILIES.add("modular arithmetic")
def chinese_remainders(d: Draw, level: int) -> Problem | None:
    """The smallest number with given remainders."""
    count = 2 if level <= 3 else 3
    top = (9, 13, 20, 11, 16)[level - 1]
    moduli = sorted(d.integer(3, top) for _ in range(count))
    if any(gcd(a, b) > 1 for i, a in enumerate(moduli) for b in moduli[:i]):
        return None
    remainders = [d.integer(0 if level > 1 else 1, m - 1) for m in moduli]
    value, step = 0, 1
    for remainder, modulus in zip(remainders, moduli, strict=True):
        while value % modulus != remainder:
            value += step
        step *= modulus
    if value < max(moduli):
        return None
    conditions = listed(
        f"{remainder} when divided by {modulus}"
        for remainder, modulus in zip(remainders, moduli, strict=True)
    )
    groups = listed(
        f"in rows of {modulus}, {remainder or 'none'} {'is' if remainder == 1 else 'are'} left over"
        for remainder, modulus in zip(remainders, moduli, strict=True)
    )
    question = d.pick(
        (
            f"What is the smallest positive integer that leaves remainder {conditions}?",
            f"A baker arranges rolls in complete rows: {groups}. What is the smallest possible "
            "number of rolls?",
            f"Find the least positive integer whose remainders are {conditions}.",
        )
    )
    pairs = tuple(zip(moduli, remainders, strict=True))
    return Problem(question, Fraction(value), {"conditions": pairs})


@FAMILIES.add("modular arithmetic")
def clock_shift(d: Draw, level: int) -> Problem | None:
    """The hour on a 24-hour clock so many hours, or days and hours, away."""
    now = d.below(24)
    backwards = bool(level >= 2 and d.below(2))
    hours = d.integer(25, 60 * level * level + 60)
    weeks = d.integer(1, 9) if level >= 4 else 0
    if hours % 24 == 0:
        return None
    hour = (now + (-hours if backwards else hours)) % 24
    span = f"{plural(weeks, 'week')} and {hours} hours" if weeks else f"{hours} hours"
    then = "ago" if backwards else "from now"
    question = d.pick(
        (
            f"A 24-hour clock (hours 0 to 23) shows {now}:00. Which hour "
            f"{'did it show' if backwards else 'will it show'} {span} {then}?",
            f"It is {now}:00 on a 24-hour clock. What is the number of the hour, from 0 to 23, "
            f"{span} {'earlier' if backwards else 'later'}?",
            f"Hours are counted from 0 to 23. If it is {now}:00, at which full hour "
            f"{'did something happen' if backwards else 'will something happen'} that "
            f"{'took place' if backwards else 'takes place'} exactly {span} {then}?",
        )
    ) + " (There is no change to or from summer time.)" * (level >= 3)
    parameters = {"now": now, "hours": -hours if backwards else hours, "weeks": weeks}
    return Problem(question, Fraction(hour), parameters)


@FAMILIES.add("sequences")
def arithmetic_sequence(d: Draw, level: int) -> Problem | None:
    """A term or a sum of an arithmetic sequence, from two of its terms at higher levels."""
    first, step = d.integer(-5 * level, 20), d.nonzero(2 + 2 * level)
    n = d.integer(8, 15 + 12 * level)
    asked = d.pick(("term", "sum")[: 1 if level == 1 else 2])
    value = first + (n - 1) * step if asked == "term" else n * (2 * first + (n - 1) * step) // 2
    wanted = f"the {ordinal(n)} term" if asked == "term" else f"the sum of the first {n} terms"
    if level <= 2:
        shown = ", ".join(str(first + k * step) for k in range(3 + d.below(2)))
        question = d.pick(
            (
                f"What is {wanted} of the arithmetic sequence ${shown}, \\ldots$?",
                f"In the arithmetic sequence ${shown}, \\ldots$, find {wanted}.",
                f"The sequence ${shown}, \\ldots$ has a constant difference. Compute {wanted}.",
            )
        )
        places: tuple[int, ...] = (1, 2)
    else:
        i, j = sorted(d.sample(range(2, 12), 2))
        u, v = first + (i - 1) * step, first + (j - 1) * step
        question = d.pick(
            (
                f"The {ordinal(i)} term of an arithmetic sequence is {u} and the {ordinal(j)} term "
                f"is {v}. What is {wanted}?",
                f"An arithmetic sequence has {u} as its {ordinal(i)} term and {v} as its "
                f"{ordinal(j)} term. Find {wanted}.",
                f"In an arithmetic sequence $a_{{{i}}} = {u}$ and $a_{{{j}}} = {v}$ (the first "
                "term "
                f"is $a_1$). Compute {wanted}.",
            )
        )
        places = (i, j)
        if n in places:
            return None
    parameters = {"first": first, "step": step, "n": n, "asked": asked, "known": places}
    return Problem(question, Fraction(value), parameters)


def ordinal(n: int) -> str:
    """Return ``1st``, ``22nd``, ``13th``."""
    ending = "th" if n % 100 in (11, 12, 13) else {1: "st", 2: "nd", 3: "rd"}.get(n % 10, "th")
    return f"{n}{ending}"


@FAMILIES.add("sequences")
def geometric_sequence(d: Draw, level: int) -> Problem | None:
    """A term, a finite sum or an infinite sum of a geometric sequence."""
    infinite = level >= 4 and bool(d.below(2))
    first = d.nonzero(6 + 6 * level)
    top = 3 + (level >= 2) + (level >= 4)
    ratio = Fraction(d.nonzero(top), d.integer(1, 1 if level <= 2 else 5))
    if abs(ratio) == 1 or (infinite and abs(ratio) > 1) or (level == 1 and ratio < 0):
        return None
    terms = [first * ratio**k for k in range(3)]
    if level <= 3 and any(term.denominator > 9 for term in terms):
        return None
    shown = f"${', '.join(map(latex, terms))}, \\ldots$"
    n = d.integer(4, 6 + level // 2)
    if infinite:
        asked, value = "infinite sum", first / (1 - ratio)
        wanted = "the sum of its infinitely many terms"
    elif level >= 2 and d.below(2):
        asked, value = "sum", first * (1 - ratio**n) / (1 - ratio)
        wanted = f"the sum of its first {n} terms"
    else:
        asked, value = "term", first * ratio ** (n - 1)
        wanted = f"its {ordinal(n)} term"
    question = d.pick(
        (
            f"A geometric sequence begins {shown}. What is {wanted}?",
            f"Consider the geometric sequence {shown}. Find {wanted}.",
            f"Each term of {shown} is the previous one multiplied by a constant. "
            f"Compute {wanted.replace('its', 'the')}.",
        )
    )
    parameters = {"first": first, "ratio": ratio, "asked": asked, "n": 0 if infinite else n}
    return Problem(question, value, parameters)


@FAMILIES.add("sequences")
def recurrence(d: Draw, level: int) -> Problem | None:
    """A term of a sequence defined by a recurrence of order one or two."""
    second_order = level >= 3
    a0, a1 = d.integer(-2 if level > 2 else 1, 6), d.integer(1, 6)
    p, q = d.integer(2, 3 + level // 2), d.nonzero(3 + level)
    if second_order:
        p, q = d.nonzero(1 + level // 2), d.nonzero(level - 1)
    n = d.integer(4, 5 + level)
    terms = [a0, a1] if second_order else [a0]
    while len(terms) < n:
        terms.append(p * terms[-1] + (q * terms[-2] if second_order else q))
    head = "" if p == 1 else "-" if p == -1 else str(p)
    tail = f"{'' if abs(q) == 1 else abs(q)}a_{{n-2}}" if second_order else str(abs(q))
    rule = f"a_n = {head}a_{{n-1}} {'+' if q > 0 else '-'} {tail}"
    start = f"$a_1 = {a0}$" + (f" and $a_2 = {a1}$" if second_order else "")
    since = 3 if second_order else 2
    question = d.pick(
        (
            f"A sequence has {start}, and ${rule}$ for $n \\ge {since}$. What is $a_{{{n}}}$?",
            f"Let {start}. For $n \\ge {since}$ define ${rule}$. Compute $a_{{{n}}}$.",
            f"The terms of a sequence obey ${rule}$ for all $n \\ge {since}$, where {start}. "
            f"Find $a_{{{n}}}$.",
        )
    )
    start_values = (a0, a1) if second_order else (a0,)
    return Problem(question, Fraction(terms[-1]), {"start": start_values, "rule": (p, q), "n": n})
