"""Exact values of the trigonometric functions at multiples of a twelfth of pi.

Every other argument stays a function that the ladder only compares with itself.
"""

from __future__ import annotations

from fractions import Fraction

from dataflex_data.verifiers.exact import (
    Quotient,
    Unreadable,
    Value,
    add,
    divide,
    is_zero,
    multiply,
    negate,
    root,
    symbol,
)

TRIGONOMETRIC = frozenset({"sin", "cos", "tan", "cot", "sec", "csc"})
_TURN = 24  # twelfths of pi in a whole turn
_QUARTER = 6


def at_angle(name: str, argument: Value) -> Value | None:
    """Return a function's value at ``argument`` radians, ``None`` where it has no short form here.

    Raises:
        Unreadable: The function has a pole there.
    """
    ratio = argument if argument == 0 else divide(argument, symbol("π"))
    if isinstance(ratio, Quotient):
        return None
    steps = Fraction(ratio) * (_TURN // 2)
    if steps.denominator != 1:
        return None
    sine, cosine = _sine(int(steps)), _sine(int(steps) + _QUARTER)
    top, bottom = {
        "sin": (sine, 1), "cos": (cosine, 1), "tan": (sine, cosine), "cot": (cosine, sine),
        "sec": (1, cosine), "csc": (1, sine),
    }[name]  # fmt: skip
    if is_zero(bottom):
        raise Unreadable("division_by_zero", f"{name} has no value there")
    return divide(top, bottom)


def _sine(steps: int) -> Value:
    """Return the sine of ``steps`` twelfths of pi."""
    steps %= _TURN
    if steps >= _TURN // 2:
        return negate(_sine(steps - _TURN // 2))
    steps = min(steps, _TURN // 2 - steps)
    quarter = Fraction(1, 4)
    six, two = root(6, 2), root(2, 2)
    return (
        0,
        multiply(quarter, add(six, negate(two))),
        Fraction(1, 2),
        divide(two, 2),
        divide(root(3, 2), 2),
        multiply(quarter, add(six, two)),
        1,
    )[steps]
