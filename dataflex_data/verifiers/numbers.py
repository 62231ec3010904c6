"""Plain numbers: integers, decimals, fractions and mixed numbers, with or without separators."""

from __future__ import annotations

import re
from fractions import Fraction

from dataflex_data.verifiers.exact import Unreadable
from dataflex_data.verifiers.expressions import read_number
from dataflex_data.verifiers.extraction import MAX_ANSWER

_PLAIN = re.compile(
    r"([-+]?)\s*(?:(\d+)|((?:\d+\.\d*|\.\d+)(?:[eE][-+]?\d+)?|\d+[eE][-+]?\d+)"
    r"|(\d*)\s*\\[dtc]?frac\s*\{\s*(-?\d+)\s*\}\s*\{\s*(-?\d+)\s*\}"
    r"|(?:(\d+)\s+)?(\d+)\s*/\s*(\d+))\.?",
    re.ASCII,
)
_INTEGER, _DECIMAL, _FRACTION = 2, 3, 6  # the last group of each alternative
_GROUPED = re.compile(
    r"([-+]?)\s*([1-9]\d{0,2}(\{,\}|,\\!|\\[, ]|[, ])\d{3}(?:\3\d{3})*)", re.ASCII
)
THOUSANDS = re.compile(r"[-+]?\s*[1-9]\d{0,2}(?:,\d{3})+(?:\.\d+)?")
SPACED_THOUSANDS = re.compile(r"[-+]?\s*[1-9]\d{0,2}(?: \d{3})+(?:\.\d+)?")
INNER_THOUSANDS = re.compile(r"(?<![\d.,])([1-9]\d{0,2}(?:,\d{3})+)(?![\d,])")


def plain_number(text: str) -> int | Fraction | None:
    """Return the value of an integer, decimal, fraction or mixed number; ``None`` for others."""
    ratio = plain_ratio(text)
    if ratio is None:
        return None
    top, bottom = ratio
    return top if bottom == 1 else Fraction(top, bottom)


def plain_ratio(text: str) -> tuple[int, int] | None:
    """Return what `plain_number` reads as top and bottom, not in lowest terms."""
    if len(text) > MAX_ANSWER:
        return None
    if text.isdigit() and text.isascii():
        return int(text), 1
    match = _PLAIN.fullmatch(text)
    if match is None:
        return None
    form, bottom = match.lastindex, 1
    if form == _INTEGER:
        top = int(match[_INTEGER])
    elif form == _DECIMAL:
        whole, _, decimals = match[_DECIMAL].partition(".")
        if (whole + decimals).isdigit():
            top, bottom = int(whole + decimals), 10 ** len(decimals)
        else:
            try:
                value = read_number(match[_DECIMAL])
            except Unreadable:
                return None
            top, bottom = value.numerator, value.denominator
    else:
        whole, above, below = match.group(4, 5, 6) if form == _FRACTION else match.group(7, 8, 9)
        top, bottom = int(above), int(below)
        if bottom == 0:
            return None
        if whole and int(whole):
            if not 0 < top < bottom:
                return None  # a whole number before an improper fraction reads two ways
            top += int(whole) * bottom
    return (-top, bottom) if match[1] == "-" else (top, bottom)


def written_ratio(text: str) -> tuple[int, int] | None:
    """Return what `plain_ratio` does, for integers with separators as well."""
    if not text.isascii():
        text = text.replace("−", "-")
    ratio = plain_ratio(text)
    if ratio is None and (grouped := _GROUPED.fullmatch(text)) and len(text) <= MAX_ANSWER:
        size = int(grouped[2].replace(grouped[3], ""))
        return (-size, 1) if grouped[1] == "-" else (size, 1)
    return ratio


def read_signed(text: str) -> int | Fraction:
    """Return the value of a decimal with a sign.

    Raises:
        Unreadable: It is none.
    """
    value = plain_number(text.strip())
    if value is None:
        raise Unreadable("not_a_number", f"{text[:30]!r} is not a number")
    return value
