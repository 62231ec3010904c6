"""Units of measure as dimension and factor, so that 5 cm is not 5 m and 100 cm is 1 m."""

from __future__ import annotations

import re
from fractions import Fraction

_TABLE = """
length 1: m meter meters metre metres
length 1/100: cm centimeter centimeters centimetre centimetres
length 1/1000: mm millimeter millimeters millimetre millimetres
length 1000: km kilometer kilometers kilometre kilometres
length 127/5000: in inch inches
length 381/1250: ft foot feet
length 1143/1250: yd yard yards
length 201168/125: mi mile miles
mass 1: g gram grams
mass 1000: kg kilogram kilograms
mass 1/1000: mg milligram milligrams
mass 45359237/100000: lb lbs pound pounds
mass 45359237/1600000: oz ounce ounces
time 1: s sec secs second seconds
time 60: min mins minute minutes
time 3600: h hr hrs hour hours
time 86400: day days
time 604800: week weeks
time_month 1: month months
time_month 12: year years yr yrs
volume 1: l liter liters litre litres
volume 1/1000: ml milliliter milliliters millilitre millilitres
usd 1: dollar dollars usd
usd 1/100: cent cents
eur 1: euro euros eur
gbp 1: gbp
cny 1: yuan rmb cny
temperature_c 1: °c celsius
temperature_f 1: °f fahrenheit
speed 1: m/s mps
speed 5/18: km/h kmh kph
speed 1397/3125: mph
radians 1: rad radian radians
"""
_UNITS: dict[str, tuple[str, Fraction]] = {}
for _line in _TABLE.strip().splitlines():
    _head, _aliases = _line.split(":")
    _parts = _head.split()
    for _alias in _aliases.split():
        _UNITS[_alias] = (_parts[0], Fraction(_parts[-1]))

MULTIPLIERS = {
    "dozen": 12, "hundred": 100, "thousand": 1_000, "million": 10**6, "billion": 10**9,
    "trillion": 10**12,
}  # fmt: skip
_PERCENT = {"percent", "per cent", "pct"}
_DEGREES = {"degree", "degrees", "deg"}
_POWERS = {"square": 2, "sq": 2, "squared": 2, "cubic": 3, "cubed": 3, "cu": 3}
_WORDS = re.compile(r"[^\W\d_]+(?:[/'-][^\W\d_]+)*")
# Words that make what stands before them something other than a measured number.
_NOT_UNITS = {
    "or", "and", "not", "if", "is", "are", "was", "no", "wrong", "maybe", "perhaps", "times",
    "more", "less", "least", "most", "about", "than", "but", "plus", "minus", "over", "half",
    "third", "quarter", "otherwise", "when", "where", "for", "either", "except", "base", "to",
    "mod", "modulo", "factorial", "choose", "root", "pi", "divided", "multiplied", "by", "versus",
    "vs", "sqrt", "unless", "possibly", "even", "odd", "infinity", "infinite", "thirds", "fourths",
    "fifths", "tenths", "hundredths", "halves", "quarters", "thousandths", "lakh", "crore", "score",
    "incorrect", "doubtful", "unsure", "unlikely", "then", "instead", "rather", "twice",
    "approximately", "nearly", "almost", "sin", "cos", "tan", "log", "ln", "negative", "positive",
}  # fmt: skip
# The same in Chinese: or, and, to, about, numerals, not, wrong, more or less.
_NOT_UNITS_CHINESE = re.compile(
    "[或和与及到至约万亿倍半不非无错十余多]|左右|以[上下内外]|千(?![克米瓦卡伏])|百|分之|大于|小于"
)


def unit_of(words: str, exponent: int = 1) -> str | None:
    """Return the name of a unit written as ``words``, ``None`` where they are not a unit.

    ``"%"`` and ``"°"`` for percent and degrees; a known measure as an alias with its exponent;
    other words (``"apples"``) as ``"?"`` followed by them.
    """
    plain = " ".join(words.lower().replace(".", " ").split())
    if plain in _PERCENT:
        return "%"
    if plain in _DEGREES:
        return "°"
    found = plain.split()
    if not found or len(found) > 6:
        return None
    if found[0] in _POWERS or found[-1] in _POWERS:
        exponent = _POWERS.get(found[0], _POWERS.get(found[-1], 1))
        found = [word for word in found if word not in _POWERS]
    if len(found) == 1 and found[0] in _UNITS:
        return f"{found[0]}^{exponent}"
    if any(word in _NOT_UNITS or not _WORDS.fullmatch(word) for word in found):
        return None
    if not plain.isascii() and _NOT_UNITS_CHINESE.search(plain):
        return None
    return "?" + " ".join(found)


def is_known(unit: str) -> bool:
    """Return whether a unit from `unit_of` is a known measure, percent or degree."""
    return bool(unit) and not unit.startswith("?")


def same_dimension(a: str, b: str) -> Fraction | None:
    """Return how many of ``b`` one of ``a`` is, ``None`` where they measure different things."""
    name_a, _, power_a = a.partition("^")
    name_b, _, power_b = b.partition("^")
    if name_a not in _UNITS or name_b not in _UNITS or power_a != power_b:
        return None
    dimension_a, factor_a = _UNITS[name_a]
    dimension_b, factor_b = _UNITS[name_b]
    return (factor_a / factor_b) ** int(power_a) if dimension_a == dimension_b else None
