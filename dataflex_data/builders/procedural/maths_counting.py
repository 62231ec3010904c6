"""Combinatorics and probability."""

from __future__ import annotations

from collections import Counter
from fractions import Fraction
from itertools import product
from math import comb, factorial, prod

from dataflex_data.builders.procedural.family import Draw, Families, Problem, listed, plural
from dataflex_data.builders.procedural.wording import NAMES

FAMILIES = Families()
_COLORS = ("red", "blue", "green", "yellow", "white", "black")
_WORDS = (
    "LEVEL", "BANANA", "PAPAYA", "COFFEE", "TATTOO", "SISTER", "LETTER", "POTATO", "RABBIT",
    "SUMMER", "WINTER", "GARDEN", "PLANET", "ORANGE", "TOMATO", "PEPPER", "BUTTER", "CARROT",
    "TUNNEL", "KITTEN", "MIRROR", "ARROW", "APPLE", "HELLO", "QUEEN", "TEETH", "GEESE", "SEVEN",
    "ERASER", "BALLOON", "ADDRESS", "SUCCESS", "SIXTEEN", "HAPPILY", "ALFALFA", "PEPPERS",
    "TEETERS", "SCISSOR", "BUBBLES", "COCONUT", "ALABAMA", "ARKANSAS", "COMMITTEE", "TENNESSEE",
    "PARALLEL", "NINETEEN", "SEASONAL", "TATTOOED", "REFERRED", "CINNAMON", "STATISTIC", "BASEBALL",
    "MISSISSIPPI", "CALCULUS", "ELEMENTS", "POSSESS", "ASSESSES", "BOOKKEEPER", "CANADA", "PANAMA",
)  # fmt: skip


@FAMILIES.add("combinatorics")
def committees(d: Draw, level: int) -> Problem | None:
    """Selections from one or two groups, with a condition from level 3."""
    women, men = d.integer(4, 9 + 2 * level), d.integer(4, 9 + 2 * level)
    w, m = d.integer(1, 4), d.integer(1, 3)
    total, size = women + men, w + m
    if w >= women or m >= men:
        return None
    if level == 1:
        asked, value = "any", comb(total, size)
        condition = ""
    elif level == 2:
        asked, value = "exactly", comb(women, w) * comb(men, m)
        condition = f" with exactly {plural(w, 'woman', 'women')} and {plural(m, 'man', 'men')}"
    elif level == 3:
        asked = "some"
        value = comb(total, size) - comb(men, size)
        condition = " with at least one woman"
    elif level == 4:
        asked = "least"
        value = sum(comb(women, k) * comb(men, size - k) for k in range(w, size + 1))
        condition = f" with at least {plural(w, 'woman', 'women')}"
    else:
        asked, value = "chair", size * (comb(total, size) - comb(men, size) - comb(women, size))
        condition = ""
    people = f"{women} women and {men} men"
    if asked == "chair":
        formed = (
            f"a committee of {size} people with at least one woman and at least one man is formed, "
            "and one of its members becomes its chair"
        )
        question = d.pick(
            (
                f"From {people}, {formed}. In how many ways can this be done?",
                f"A club has {people}. In it {formed}. How many possibilities are there?",
                f"In a group of {people}, {formed}. Count the possible outcomes.",
            )
        )
    else:
        question = d.pick(
            (
                f"In how many ways can a committee of {size} people{condition} be chosen from "
                f"{people}?",
                f"A club has {people}. How many different committees of {size} people{condition} "
                "are possible?",
                f"From {people}, a committee of {size} people{condition} is to be formed. "
                "How many choices are there?",
            )
        )
    groups = (women, men) if asked != "any" else (total,)
    parameters = {
        "groups": groups,
        "size": size,
        "asked": asked,
        "women": w if level in (2, 4) else 0,
    }
    return Problem(question, Fraction(value), parameters)


@FAMILIES.add("combinatorics")
def word_arrangements(d: Draw, level: int) -> Problem | None:
    """Arrangements of the letters of a word, with a condition from level 3."""
    word = d.pick(_WORDS)
    if len(word) > 6 + level:
        return None
    counts = Counter(word)
    value = factorial(len(word)) // prod(factorial(count) for count in counts.values())
    asked, condition, letter = "any", "", ""
    if level >= 2:
        kinds = ("together", "ends", "apart", "starts")
        asked = d.pick(kinds)
        letter = d.pick(sorted(counts))
        count, size = counts[letter], len(word)
        others = prod(factorial(c) for other, c in counts.items() if other != letter)
        rest = factorial(size - count) // others
        if asked in ("together", "apart"):
            if count < 2:
                return None
            together = factorial(size - count + 1) // others
            gaps = comb(size - count + 1, count) * rest
            value = together if asked == "together" else gaps
            condition = (
                f" if all {count} letters {letter} must stand next to each other"
                if asked == "together"
                else f" if no two of the {count} letters {letter} may stand next to each other"
            )
        else:
            fewer = {**counts, letter: count - 1}
            value = factorial(size - 1) // prod(factorial(c) for c in fewer.values())
            condition = (
                f" if the last letter is {letter}"
                if asked == "ends"
                else f" if the first letter is {letter}"
            )
        if value <= 1:
            return None
    question = d.pick(
        (
            f"How many different arrangements of the letters of the word {word} are there"
            f"{condition}?",
            f"In how many distinguishable ways can all the letters of {word} be "
            f"ordered{condition}?",
            f"All the letters of {word} are written in a row. How many different rows are possible"
            f"{condition}?",
        )
    )
    return Problem(question, Fraction(value), {"word": word, "asked": asked, "letter": letter})


@FAMILIES.add("combinatorics")
def lattice_paths(d: Draw, level: int) -> Problem | None:
    """Shortest walks on a grid, through a point or around one at higher levels."""
    right, up = d.integer(2, 9 + 2 * level), d.integer(2, 9 + 2 * level)
    total = comb(right + up, up)
    x, y = d.integer(0, right), d.integer(0, up)
    if level <= 2:
        asked, value = "all", total
        point: tuple[int, ...] = ()
    else:
        if (x, y) in ((0, 0), (right, up)):
            return None
        through = comb(x + y, y) * comb(right - x + up - y, up - y)
        asked = d.pick(("through", "avoid"))
        value, point = (through if asked == "through" else total - through), (x, y)
    if value == 0:
        return None
    verb = {
        "all": "are there",
        "through": f"pass through $({x}, {y})$",
        "avoid": f"do not pass through $({x}, {y})$",
    }[asked]
    that = "" if asked == "all" else f" that {verb}"
    question = d.pick(
        (
            f"How many paths from $(0, 0)$ to $({right}, {up})$ that consist of steps of one unit "
            f"right or one unit up {verb}?",
            f"A robot on a grid moves from $(0, 0)$ to $({right}, {up})$ in steps of one unit to "
            f"the right or one unit up. Count its possible routes{that}.",
            f"Using only unit steps to the right and unit steps up, how many routes lead from "
            f"$(0, 0)$ to $({right}, {up})${that.replace(' that', ' and', 1)}?",
        )
    )
    end: tuple[int, ...] = (right, up) if point else tuple(sorted((right, up)))
    return Problem(question, Fraction(value), {"end": end, "point": point, "asked": asked})


@FAMILIES.add("combinatorics")
def counting_numbers(d: Draw, level: int) -> Problem | None:
    """Numerals with conditions on their digits."""
    length = d.integer(2, 2 + (level + 1) // 2)
    digits = sorted(d.sample(range(0 if level >= 2 else 1, 10), d.integer(4, 5 + level // 2)))
    repeats = bool(d.below(2))
    parity = d.pick(("any", "even", "odd")) if level >= 3 else "any"
    below = sum(
        1
        for choice in product(digits, repeat=length)
        if choice[0] != 0
        and (repeats or len(set(choice)) == length)
        and (parity == "any" or choice[-1] % 2 == (parity == "odd"))
    )
    if below == 0:
        return None
    kind = "" if parity == "any" else f"{parity} "
    rule = "digits may be repeated" if repeats else "no digit is used more than once"
    question = d.pick(
        (
            f"How many {length}-digit {kind}numbers can be formed from the digits {listed(digits)} "
            f"if {rule}? (A number does not begin with 0.)",
            f"Using only the digits {listed(digits)}, how many {kind}integers with exactly "
            f"{length} "
            f"digits can be written, if {rule} and the first digit is not 0?",
            f"Count the {kind}positive integers of {length} digits (without leading zeros) whose "
            f"digits all belong to the set $\\{{{', '.join(map(str, digits))}\\}}$, where {rule}.",
        )
    )
    parameters = {
        "digits": tuple(digits),
        "length": length,
        "repeats": str(repeats),
        "parity": parity,
    }
    return Problem(question, Fraction(below), parameters)


@FAMILIES.add("probability")
def urn_draws(d: Draw, level: int) -> Problem | None:
    """Balls drawn with or without putting them back."""
    kinds = 2 if level <= 3 else 3
    colors = d.sample(_COLORS, kinds)
    counts = [d.integer(2, 7 + 2 * level) for _ in range(kinds)]
    total = sum(counts)
    number = 2 if level <= 3 else 3
    replaced = bool(d.below(2)) if level >= 2 else True
    ways = total**number if replaced else prod(total - k for k in range(number))
    asked = d.pick(("first", "same", "different")[: 1 if level == 1 else 2 if level < 4 else 3])

    def same(count: int) -> int:
        return count**number if replaced else prod(max(0, count - k) for k in range(number))

    if asked == "first":
        favorable, event = same(counts[0]), f"all three are {colors[0]}"
        event = f"both are {colors[0]}" if number == 2 else event
    elif asked == "same":
        favorable = sum(map(same, counts))
        event = "both have the same color" if number == 2 else "all have the same color"
    else:
        favorable = factorial(number) * prod(counts)
        event = "all three have different colors"
    bag = listed(f"{count} {color}" for count, color in zip(counts, colors, strict=True))
    how = (
        f"{'Two' if number == 2 else 'Three'} balls are drawn at random, one after another; each "
        "ball is put back before the next draw."
        if replaced
        else f"{'Two' if number == 2 else 'Three'} balls are drawn at random without putting any "
        "back."
    )
    question = d.pick(
        (
            f"A bag holds {bag} balls. {how} What is the probability that {event}?",
            f"An urn contains {bag} balls that differ in nothing but color. {how} "
            f"Find the probability that {event}, as a reduced fraction.",
            f"There are {bag} balls in a box. {how} How likely is it that {event}? "
            "Give an exact fraction.",
        )
    )
    order: tuple[int, ...] = (
        tuple(counts) if asked == "first" and kinds == 2 else tuple(sorted(counts))
    )
    if asked == "first":
        order = (counts[0], *sorted(counts[1:]))
    parameters = {"counts": order, "draws": number, "asked": asked, "replaced": str(replaced)}
    return Problem(question, Fraction(favorable, ways), parameters)


@FAMILIES.add("probability")
def dice_events(d: Draw, level: int) -> Problem | None:
    """Two or three fair dice, some with other numbers of faces."""
    number = 2 if level <= 3 else 3
    faces = [d.pick((4, 6, 8, 10, 12)) for _ in range(number)]
    if level == 1:
        faces = [faces[0]] * number
    faces.sort()
    most = sum(faces)
    asked = d.pick(("sum", "at least", "at most", "highest", "product")[: 2 + level])
    target = d.integer(number + 1, most - 1)
    if asked == "highest":
        target = d.integer(2, min(faces))
    if asked == "product":
        target = d.pick((3, 4, 5, 6))
    tests = {
        "sum": lambda roll: sum(roll) == target,
        "at least": lambda roll: sum(roll) >= target,
        "at most": lambda roll: sum(roll) <= target,
        "highest": lambda roll: max(roll) == target,
        "product": lambda roll: prod(roll) % target == 0,
    }
    rolls = list(product(*(range(1, face + 1) for face in faces)))
    favorable = sum(map(tests[asked], rolls))
    event = {
        "sum": f"the sum of the numbers rolled is {target}",
        "at least": f"the sum of the numbers rolled is at least {target}",
        "at most": f"the sum of the numbers rolled is at most {target}",
        "highest": f"the highest number rolled is exactly {target}",
        "product": f"the product of the numbers rolled is divisible by {target}",
    }[asked]
    groups = Counter(faces)
    dice = listed(
        f"{ {1: 'one', 2: 'two', 3: 'three'}[count] } fair {face}-sided "
        f"{'die' if count == 1 else 'dice'}"
        for face, count in sorted(groups.items())
    )
    question = d.pick(
        (
            f"{d.pick(NAMES)} rolls {dice} (faces numbered from 1). What is the probability that "
            f"{event}?",
            f"You throw {dice}, numbered from 1 upwards. Find the exact probability that {event}.",
            f"With {dice}, whose faces are numbered from 1, how likely is it that {event}? "
            "Answer with a reduced fraction.",
        )
    )
    parameters = {"faces": tuple(faces), "asked": asked, "target": target}
    return Problem(question, Fraction(favorable, len(rolls)), parameters)


@FAMILIES.add("probability")
def bayes_rule(d: Draw, level: int) -> Problem | None:
    """Which machine, which urn: conditional probability with whole-number percentages."""
    count = 2 if level <= 2 else 3
    step = 10 if level <= 3 else 5
    shares = [d.integer(1, 100 // step - count) * step for _ in range(count - 1)]
    last = 100 - sum(shares)
    if last <= 0:
        return None
    shares.append(last)
    rates = [d.integer(1, 4 + 4 * level) for _ in range(count)]
    if len(set(rates)) == 1:
        return None
    asked = d.below(count)
    total = sum(share * rate for share, rate in zip(shares, rates, strict=True))
    letters = "ABC"[:count]
    parts = listed(
        f"machine {letter} makes {share}%" for letter, share in zip(letters, shares, strict=True)
    )
    faults = listed(f"{rate}%" for rate in rates)
    overall = level >= 2 and d.below(3) == 0
    name = letters[asked]
    if overall:
        value = Fraction(total, 10_000)
        wanted = "What is the probability that a randomly chosen part is faulty?"
    else:
        value = Fraction(shares[asked] * rates[asked], total)
        wanted = (
            "A randomly chosen part is faulty. "
            f"What is the probability that machine {name} made it?"
        )
    question = d.pick(
        (
            f"In a factory {parts} of all parts. Of the parts made by {listed(letters)}, "
            f"respectively, {faults} are faulty. {wanted} Give an exact fraction.",
            f"Among the parts of a workshop, {parts}; the shares of faulty parts are {faults}, in "
            f"the same order. {wanted} Answer with a reduced fraction.",
            f"Of a firm's production, {parts}. Faulty parts make up {faults} of what "
            f"{listed(letters)} produce, in this order. {wanted} Write it as a fraction in lowest "
            "terms.",
        )
    )
    pairs = list(zip(shares, rates, strict=True))
    chosen = () if overall else pairs[asked]
    return Problem(question, value, {"machines": tuple(sorted(pairs)), "asked": tuple(chosen)})


@FAMILIES.add("probability")
def expected_value(d: Draw, level: int) -> Problem | None:
    """The expected gain of a game with a few outcomes."""
    count = 2 + (level + 1) // 2
    sectors = [d.integer(1, 3 + level) for _ in range(count)]
    prizes = d.sample(range(0 if level > 1 else 1, 10 * level + 10), count)
    stake = d.integer(1, 5 * level) if level >= 3 else 0
    total = sum(sectors)
    value = Fraction(sum(s * p for s, p in zip(sectors, prizes, strict=True)), total) - stake
    parts = listed(
        f"{plural(sector, 'sector')} {'pays' if sector == 1 else 'pay'} {plural(prize, 'euro')}"
        for sector, prize in zip(sectors, prizes, strict=True)
    )
    cost = f" A turn costs {plural(stake, 'euro')}." if stake else ""
    wanted = "expected net gain per turn" if stake else "expected prize per turn"
    question = d.pick(
        (
            f"A wheel of fortune has {total} equally likely sectors: {parts}.{cost} "
            f"What is the {wanted}, in euros?",
            f"On a wheel with {total} equal sectors, {parts}.{cost} Find the {wanted} in euros, "
            "as an exact fraction or integer.",
            f"A fair wheel is divided into {total} sectors of equal size; {parts}.{cost} "
            f"Calculate the {wanted} (in euros, exactly).",
        )
    )
    outcomes = tuple(sorted(zip(sectors, prizes, strict=True)))
    return Problem(question, value, {"outcomes": outcomes, "stake": stake})
