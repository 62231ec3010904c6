"""Exact values: rationals, and sums of products of radicals, constants and variables.

What the arithmetic ladder computes with instead of floats. A value is an ``int`` or ``Fraction``
where it is rational, else a quotient of two sums. A sum maps monomials to rational coefficients; a
monomial is a product of bases with rational exponents. Prime bases carry exponents in (0, 1) only
(what is whole moves into the coefficient), which makes a sum of radicals of integers unique, since
such radicals are linearly independent over the rationals (Besicovitch 1940); two quotients are
equal when their cross products are the same sum.

Not done: identities between functions, and radicals of sums (kept whole as one base). There a
value may fail to equal another form of itself; it never equals a different value.

Every operation is bounded and raises `Unreadable` beyond its bound.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache

MAX_EXPONENT = 10_000
_MAX_BITS = 1 << 16
_MAX_TERMS = 120
_MAX_TRIAL = 20_000
_SMALL = 1 << 64

Base = int | str
Rational = int | Fraction  # whole numbers stay int where they can: ten times as fast
Monomial = tuple[tuple[Base, Rational], ...]
Sum = dict[Monomial, Rational]
_ONE: Sum = {(): 1}


class Unreadable(ValueError):  # noqa: N818 - says what the answer is, and is caught in this package
    """An answer that the ladder does not read; ``kind`` is a short name for counting."""

    def __init__(self, kind: str, detail: str) -> None:
        self.kind, self.detail = kind, detail
        super().__init__(detail)


@dataclass(frozen=True, slots=True, eq=False)
class Quotient:
    """A value that is not rational: one sum divided by another."""

    top: Sum
    bottom: Sum


Value = int | Fraction | Quotient


def equal(a: Value, b: Value) -> bool:
    """Return whether two values are the same; ``False`` where a bound stops the comparison."""
    if not isinstance(a, Quotient) and not isinstance(b, Quotient):
        return a == b
    a, b = _quotient(a), _quotient(b)
    if a.bottom == b.bottom:
        return a.top == b.top
    try:
        return _times(a.top, b.bottom) == _times(b.top, a.bottom)
    except Unreadable:
        return False


def add(a: Value, b: Value) -> Value:
    """Return ``a + b``."""
    if not isinstance(a, Quotient) and not isinstance(b, Quotient):
        return _bounded(a + b)
    a, b = _quotient(a), _quotient(b)
    if a.bottom == b.bottom:
        return _reduced(_plus(a.top, b.top), a.bottom)
    top = _plus(_times(a.top, b.bottom), _times(b.top, a.bottom))
    return _reduced(top, _times(a.bottom, b.bottom))


def negate(a: Value) -> Value:
    """Return ``-a``."""
    if isinstance(a, Quotient):
        return Quotient({key: -factor for key, factor in a.top.items()}, a.bottom)
    return -a


def multiply(a: Value, b: Value) -> Value:
    """Return ``a * b``."""
    if not isinstance(a, Quotient) and not isinstance(b, Quotient):
        return _bounded(a * b)
    a, b = _quotient(a), _quotient(b)
    return _reduced(_times(a.top, b.top), _times(a.bottom, b.bottom))


def divide(a: Value, b: Value) -> Value:
    """Return ``a / b``.

    Raises:
        Unreadable: ``b`` is zero.
    """
    if is_zero(b):
        raise Unreadable("division_by_zero", "it divides by zero")
    if not isinstance(a, Quotient) and not isinstance(b, Quotient):
        if isinstance(a, int) and isinstance(b, int):
            return _bounded(Fraction(a, b))
        return _bounded(Fraction(a) / b)
    a, b = _quotient(a), _quotient(b)
    return _reduced(_times(a.top, b.bottom), _times(a.bottom, b.top))


def power(base: Value, exponent: Value) -> Value:
    """Return ``base ** exponent``.

    Raises:
        Unreadable: The exponent is too large, or the power has no exact form here.
    """
    if isinstance(exponent, Quotient):
        return symbol(f"({key(base)})^({key(exponent)})")
    if not -MAX_EXPONENT <= exponent <= MAX_EXPONENT or exponent.denominator > 60:
        raise Unreadable("tower", f"an exponent is above {MAX_EXPONENT:,}")
    if exponent.denominator != 1:
        if isinstance(base, Quotient) and key(base) == "e^1":
            return Quotient({(("e", exponent),): 1}, _ONE)
        base = root(base, exponent.denominator)
    times = exponent.numerator
    if times < 0:
        return divide(1, power(base, -times))
    if not isinstance(base, Quotient):
        size = max(abs(base.numerator), base.denominator).bit_length()
        if abs(base) not in (0, 1) and size * times > _MAX_BITS:
            raise Unreadable("tower", "a power has too many digits")
        return _bounded(base**times)
    if len(base.top) == 1 and len(base.bottom) == 1:
        ((monomial, factor),) = base.top.items()
        raised = tuple((part, exp * times) for part, exp in monomial)
        start = Quotient(_normal([(raised, power(factor, times))]), _ONE)  # type: ignore[list-item]
        return (
            _reduced(start.top, _ONE)
            if base.bottom == _ONE
            else divide(_reduced(start.top, _ONE), power(_reduced(base.bottom, _ONE), times))
        )
    if times > 40:
        raise Unreadable("tower", "a sum is raised to a large power")
    result: Value = 1
    for _ in range(times):
        result = multiply(result, base)
    return result


def root(base: Value, degree: int) -> Value:
    """Return the real ``degree``-th root of ``base``.

    Raises:
        Unreadable: An even root of a negative number, or a degree that is not small and positive.
    """
    if not 2 <= degree <= 60:
        raise Unreadable("root", f"a root of degree {degree}")
    if not isinstance(base, Quotient):
        return _root_of_rational(base, degree)
    if len(base.top) == 1 and base.bottom == _ONE:
        ((monomial, factor),) = base.top.items()
        # Only positive bases split: the root of x^2 is not x.
        if factor > 0 and all(isinstance(part, int) or part in ("π", "e") for part, _ in monomial):
            outer = _root_of_rational(factor, degree)
            inner = tuple((part, _whole(Fraction(exp) / degree)) for part, exp in monomial)
            return multiply(outer, _reduced(_normal([(inner, 1)]), _ONE))
    return symbol(f"root{degree}({key(base)})")


@lru_cache(maxsize=4096)
def symbol(name: str) -> Quotient:
    """Return the variable or whole expression ``name`` as a value."""
    return Quotient({((name, 1),): 1}, _ONE)


def logarithm(base: Value) -> Value:
    """Return the natural logarithm; of a positive rational as a sum over its primes."""
    if isinstance(base, Quotient):
        if key(base) == "e^1":
            return 1
        return symbol(f"ln({key(base)})")
    if base <= 0:
        raise Unreadable("logarithm", "a logarithm of a number that is not positive")
    total: Value = 0
    for sign, number in ((1, base.numerator), (-1, base.denominator)):
        for prime, times in _factors(number):
            total = add(total, multiply(sign * times, symbol(f"ln{prime}")))
    return total


def is_zero(a: Value) -> bool:
    """Return whether the value is exactly zero."""
    return not a.top if isinstance(a, Quotient) else a == 0


def symbols(a: Value) -> set[str]:
    """Return the names in a value that are not constants."""
    if not isinstance(a, Quotient):
        return set()
    return {
        part
        for side in (a.top, a.bottom)
        for monomial in side
        for part, _ in monomial
        if isinstance(part, str) and part not in ("π", "e")
    }


def key(a: Value) -> str:
    """Return a text that equal sums share, for use inside larger symbols."""
    if not isinstance(a, Quotient):
        return _digits(a)
    top, bottom = _spelled(a.top), _spelled(a.bottom)
    return top if a.bottom == _ONE else f"({top})/({bottom})"


def _spelled(side: Sum) -> str:
    parts = []
    for monomial, factor in side.items():
        product = "*".join(f"{part}^{exp}" for part, exp in monomial)
        parts.append(product if factor == 1 and product else f"{_digits(factor)}*{product}")
    return "+".join(sorted(parts))


def _digits(a: int | Fraction) -> str:
    # Python refuses to write integers of more than 4,300 digits in decimal.
    top, bottom = (
        hex(part) if part.bit_length() > 10_000 else str(part)
        for part in (a.numerator, a.denominator)
    )
    return top if bottom == "1" else f"{top}/{bottom}"


def _quotient(a: Value) -> Quotient:
    if isinstance(a, Quotient):
        return a
    return Quotient({(): _whole(a)} if a else {}, _ONE)


def _reduced(top: Sum, bottom: Sum) -> Value:
    """Return top / bottom, with a one-term bottom divided out and rationals made plain."""
    if len(bottom) == 1 and bottom != _ONE:
        ((monomial, factor),) = bottom.items()
        inverse = tuple((part, -exp) for part, exp in monomial)
        top = _times(top, _normal([(inverse, _whole(Fraction(1) / factor))]))
        bottom = _ONE
    if not top:
        return 0
    if bottom == _ONE and len(top) == 1 and () in top:
        return _bounded(Fraction(top[()]))
    return Quotient(top, bottom)


def _plus(a: Sum, b: Sum) -> Sum:
    total = dict(a)
    for monomial, factor in b.items():
        together = total.get(monomial, 0) + factor
        if together:
            total[monomial] = together
        else:
            del total[monomial]
    if len(total) > _MAX_TERMS:
        raise Unreadable("too_many_terms", "it has too many terms")
    return total


def _times(a: Sum, b: Sum) -> Sum:
    if len(a) * len(b) > _MAX_TERMS * 8:
        raise Unreadable("too_many_terms", "it has too many terms")
    if a == _ONE:
        return b
    if b == _ONE:
        return a
    return _normal((m + n, f * g) for m, f in a.items() for n, g in b.items())


def _normal(terms: Iterable[tuple[Monomial, Rational]]) -> Sum:
    """Return terms as a sum of distinct monomials."""
    total: Sum = {}
    for parts, factor in terms:
        monomial, whole = _monomial(parts) if parts else (parts, 1)
        if whole != 1:
            factor = _whole(factor * whole)
        _bounded(factor)
        together = total.get(monomial, 0) + factor
        if together:
            total[monomial] = together
        else:
            total.pop(monomial, None)
    if len(total) > _MAX_TERMS:
        raise Unreadable("too_many_terms", "it has too many terms")
    return total


@lru_cache(maxsize=16384)
def _monomial(parts: Monomial) -> tuple[Monomial, Rational]:
    """Return parts in order, exponents of equal bases added, and their whole prime powers."""
    exponents: dict[Base, Rational] = {}
    for part, exp in parts:
        exponents[part] = exponents.get(part, 0) + exp
    factor: Rational = 1
    kept = []
    for part, exp in exponents.items():
        if isinstance(part, int):
            whole = math.floor(exp)
            if abs(whole) * part.bit_length() > _MAX_BITS:
                raise Unreadable("tower", "a power has too many digits")
            factor *= part**whole if whole >= 0 else Fraction(part) ** whole
            exp -= whole
        if exp:
            kept.append((part, _whole(exp)))
    if len(kept) > 1:
        kept.sort(key=lambda pair: (isinstance(pair[0], str), str(pair[0])))
    return tuple(kept), factor


def _whole(a: Rational) -> Rational:
    """Return an integer as ``int``."""
    return a.numerator if a.denominator == 1 else a


def _bounded(a: int | Fraction) -> int | Fraction:
    if type(a) is int and -_SMALL < a < _SMALL:
        return a
    if a.numerator.bit_length() + a.denominator.bit_length() > 2 * _MAX_BITS:
        raise Unreadable("tower", "a number has too many digits")
    return a


@lru_cache(maxsize=4096)
def _root_of_rational(base: Rational, degree: int) -> Value:
    if base == 0:
        return 0
    if base < 0:
        if degree % 2 == 0:
            raise Unreadable("root", "an even root of a negative number")
        return negate(_root_of_rational(-base, degree))
    parts = [(prime, Fraction(times, degree)) for prime, times in _factors(base.numerator)]
    parts += [(prime, Fraction(-times, degree)) for prime, times in _factors(base.denominator)]
    return _reduced(_normal([(tuple(parts), 1)]), _ONE)


@lru_cache(maxsize=4096)
def _factors(number: int) -> tuple[tuple[int, int], ...]:
    """Return ``((prime, exponent), ...)``; a large cofactor stays whole unless a perfect power.

    Raises:
        Unreadable: The number is beyond 200 bits.
    """
    if number.bit_length() > 200:
        raise Unreadable("large_radicand", "a root or logarithm of a very large number")
    found: list[tuple[int, int]] = []
    divisor = 2
    while divisor * divisor <= number and divisor <= _MAX_TRIAL:
        times = 0
        while number % divisor == 0:
            number //= divisor
            times += 1
        if times:
            found.append((divisor, times))
        divisor += 1 if divisor == 2 else 2
    if number > 1:
        times = 1
        while (whole := math.isqrt(number)) ** 2 == number:
            number, times = whole, 2 * times
        found.append((number, times))
    return tuple(found)
