"""Options of science questions: values at stated significant figures, wrong ones from mistakes.

No two options of a question are equal, or nearly so, in value. The position of the right value
among the four in size is drawn first, since formula mistakes alone would leave it in the middle
or at an end more often than chance.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from fractions import Fraction
from math import floor, isqrt

from dataflex_data.builders.procedural.family import Draw, Problem

GRAVITY = Fraction("9.81")
GIVEN_GRAVITY = "(Take g = 9.81 m/s².)"
_APART = Fraction(105, 100)
_SLIPS = (Fraction(10), Fraction(2), Fraction(100), Fraction(4), Fraction(1000), Fraction(3, 2))
_FIGURES = {2: "two", 3: "three", 4: "four"}


def numeric(
    d: Draw,
    question: str,
    right: Fraction,
    unit: str,
    mistakes: Iterable[Fraction],
    parameters: Mapping[str, object],
    figures: int = 3,
    most: Fraction | None = None,
) -> Problem | None:
    """Return the question with four values as options, ``None`` where they do not suit.

    Args:
        d: Draws the place of the right value in size, and which mistakes are shown.
        question: Text that ends with the question; the significant figures are added.
        right: The exact right value, positive.
        unit: Written after every value; ``""`` for none.
        mistakes: Exact values that typical mistakes give; slips of a factor fill what is missing.
        parameters: See `Problem`.
        figures: Significant figures of all options.
        most: No option is above it: a share has no more than the whole.
    """
    if right <= 0 or _is_tie(right, figures):
        return None
    shown = rounded(right, figures)
    below: list[Fraction] = []
    above: list[Fraction] = []
    slips = [shown * slip for slip in _SLIPS] + [shown / slip for slip in _SLIPS]
    if most is not None:
        slips += [shown + (most - shown) * part / 4 for part in range(1, 4)]
        slips += [shown * part / 4 for part in range(1, 4)]
    wanted_below = d.below(4)
    room = {False: 3 - wanted_below, True: wanted_below}
    possible = [rounded(value, figures) for value in [*mistakes, *slips] if value > 0]
    if most is not None:
        possible = [value for value in possible if value <= most]
    # One option far away would force all of them into powers of ten: it comes last.
    possible.sort(key=lambda value: _is_plain(shown) and not _is_plain(value))
    for value in possible:
        side = below if value < shown else above
        is_full = len(side) >= room[value < shown]
        if not is_full and all(_differ(value, other) for other in (shown, *below, *above)):
            side.append(value)
    if len(below) + len(above) < 3:
        return None
    values = [shown, *below, *above]
    scientific = not all(map(_is_plain, values))
    texts = [
        _written(value, figures, scientific) + (f" {unit}" if unit else "") for value in values
    ]
    note = f" (Values are rounded to {_FIGURES[figures]} significant figures.)"
    return Problem(question + note, texts[0], parameters, tuple(texts[1:]))


def tenths(d: Draw, low: int, high: int) -> Fraction:
    """Return a value with one decimal between two whole numbers."""
    return Fraction(d.integer(10 * low, 10 * high), 10)


def named(
    question: str,
    right: str,
    wrong: Sequence[str],
    parameters: Mapping[str, object],
) -> Problem | None:
    """Return a question whose options are words; ``None`` with fewer than three other ones."""
    different = [text for text in dict.fromkeys(wrong) if text != right]
    if len(different) < 3:
        return None
    return Problem(question, right, parameters, tuple(different[:3]))


def rounded(value: Fraction, figures: int) -> Fraction:
    """Return a positive value at so many significant figures, half up."""
    unit = Fraction(10) ** (magnitude(value) - figures + 1)
    return floor(value / unit + Fraction(1, 2)) * unit


def magnitude(value: Fraction) -> int:
    """Return the exponent of ten of the first digit: 0 for 1 to 9.99..."""
    exponent = len(str(value.numerator)) - len(str(value.denominator))
    return exponent if Fraction(10) ** exponent <= value else exponent - 1


def root(value: Fraction) -> Fraction:
    """Return the square root of a positive value, to better than 20 significant figures."""
    scale = 10 ** (2 * (24 + max(0, -magnitude(value))))
    return Fraction(isqrt(value.numerator * scale // value.denominator), isqrt(scale))


def power_of_ten(value: Fraction, figures: int = 3) -> str:
    """Return ``6.63 × 10^-34``."""
    return _written(rounded(value, figures), figures, True)


def _is_plain(value: Fraction) -> bool:
    return Fraction(1, 1000) <= value < 100_000


def _is_tie(value: Fraction, figures: int) -> bool:
    unit = Fraction(10) ** (magnitude(value) - figures + 1)
    return (value / unit * 2).denominator == 1 and (value / unit).denominator == 2


def _differ(a: Fraction, b: Fraction) -> bool:
    return max(a, b) > _APART * min(a, b)


def _written(value: Fraction, figures: int, scientific: bool) -> str:
    exponent = magnitude(value)
    if scientific:
        digits = str(int(value / Fraction(10) ** (exponent - figures + 1)))
        return f"{digits[0]}.{digits[1:]} × 10^{exponent}"
    places = max(0, figures - 1 - exponent)
    digits = str(int(value * 10**places)).rjust(places + 1, "0")
    return digits if not places else f"{digits[:-places]}.{digits[-places:]}"
