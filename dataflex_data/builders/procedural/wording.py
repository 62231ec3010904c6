"""How numbers, fractions and polynomials are written in questions, and names for people."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

NAMES = (
    "Amara", "Ben", "Chloe", "Daniel", "Elif", "Farid", "Grace", "Hana", "Ivan", "Jonas", "Keiko",
    "Lena", "Marco", "Nadia", "Omar", "Priya", "Quinn", "Rosa", "Samir", "Tara", "Viktor", "Yuki",
)  # fmt: skip


def latex(value: Fraction | int) -> str:
    r"""Return ``7``, ``-7`` or ``-\frac{7}{3}``."""
    value = Fraction(value)
    sign = "-" if value < 0 else ""
    if value.denominator == 1:
        return str(value.numerator)
    return f"{sign}\\frac{{{abs(value.numerator)}}}{{{value.denominator}}}"


def polynomial(coefficients: Sequence[int], variable: str = "x") -> str:
    """Return ``2x^2 - x + 3`` from ``[2, -1, 3]``; all zero gives ``0``."""
    degree = len(coefficients) - 1
    text = ""
    for position, coefficient in enumerate(coefficients):
        if coefficient == 0:
            continue
        power = degree - position
        size = abs(coefficient)
        letter = "" if power == 0 else variable if power == 1 else f"{variable}^{power}"
        body = letter if size == 1 and letter else f"{size}{letter}"
        if not text:
            text = body if coefficient > 0 else f"-{body}"
        else:
            text += f" {'+' if coefficient > 0 else '-'} {body}"
    return text or "0"


def linear(a: int, first: str, b: int, second: str) -> str:
    """Return ``2x - 3y``."""
    left = {1: first, -1: f"-{first}"}.get(a, f"{a}{first}")
    size = "" if abs(b) == 1 else str(abs(b))
    return f"{left} {'+' if b > 0 else '-'} {size}{second}"


def times(factor: int) -> str:
    """Return ``twice``, ``three times``, ..., ``12 times``."""
    words = {2: "twice", 3: "three times", 4: "four times", 5: "five times", 6: "six times"}
    return words.get(factor, f"{factor} times")


def article(number: int) -> str:
    """Return ``a`` or ``an``, as the number is spoken: an 8, an 11, a 70."""
    text = str(number)
    return "an" if text[0] == "8" or text in ("11", "18") else "a"


def money(value: Fraction) -> str:
    """Return an exact amount: ``12``, ``12.50``, or all its digits where cents do not do."""
    text = decimal(value)
    return f"{text}0" if "." in text and len(text.split(".")[1]) == 1 else text


def decimal(value: Fraction) -> str:
    """Return a terminating decimal exactly, without trailing zeros.

    Raises:
        ValueError: The value does not terminate.
    """
    value = Fraction(value)
    for places in range(13):
        scaled = value * 10**places
        if scaled.denominator == 1:
            digits = str(abs(scaled.numerator)).rjust(places + 1, "0")
            whole, rest = digits[: len(digits) - places], digits[len(digits) - places :]
            return ("-" if value < 0 else "") + whole + (f".{rest}" if rest else "")
    raise ValueError(f"{value} has no short decimal form")
