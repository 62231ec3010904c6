"""The forms a maths answer can have, and when two of them are the same answer.

`answers` reads text into these forms; nothing here looks at text.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import Literal

from dataflex_data.verifiers import exact
from dataflex_data.verifiers.exact import Quotient, Value
from dataflex_data.verifiers.units import same_dimension


@dataclass(frozen=True, slots=True, eq=False)
class Number:
    """One value, with what was written around it.

    Attributes:
        value: The exact value, without unit or percent sign.
        unit: ``"%"``, ``"°"``, a measure such as ``"cm"``, other words, or ``""``.
        name: What it is said to be the value of (``x`` in ``x=5``), or ``""``.
        base: 10 where the numeral names it (``1300_{10}``), else 0.
    """

    value: Value
    unit: str = ""
    name: str = ""
    base: int = 0


@dataclass(frozen=True, slots=True, eq=False)
class Group:
    """Several answers: ``kind`` is the pair of brackets, or ``list`` where there are none."""

    kind: str
    items: tuple[Answer, ...]


@dataclass(frozen=True, slots=True, eq=False)
class Matrix:
    """Rows of values."""

    rows: tuple[tuple[Value, ...], ...]


@dataclass(frozen=True, slots=True, eq=False)
class Relation:
    """An equation or inequality: ``left - right`` compared with zero."""

    sign: Literal["=", "<", "<=", "≠"]
    difference: Value


@dataclass(frozen=True, slots=True, eq=False)
class Ratio:
    """Parts of a ratio such as ``1:2``; ``is_clock`` where it is a time such as 10:30.

    A ratio is given in lowest terms; what looks like a time and is not in lowest terms is a time.
    """

    parts: tuple[Value, ...]
    is_clock: bool = False


@dataclass(frozen=True, slots=True, eq=False)
class Words:
    """Words, compared without case."""

    text: str


@dataclass(frozen=True, slots=True, eq=False)
class Thousands:
    """Digits in groups of three, ``100,200``: a number, or a list as others may write it."""

    number: Number
    parts: tuple[int | Fraction, ...]

    @property
    def listed(self) -> Group:
        """The reading as a list."""
        return Group("list", tuple(map(Number, self.parts)))


@dataclass(frozen=True, slots=True, eq=False)
class Either:
    """A text with two readings; equal where one of them is."""

    readings: tuple[Answer, ...]


@dataclass(frozen=True, slots=True, eq=False)
class Numeral:
    """Digits in a base other than ten."""

    digits: str
    base: int


Answer = Number | Thousands | Group | Matrix | Relation | Ratio | Words | Either | Numeral


def same_answer(a: Answer, b: Answer) -> bool:
    """Return whether two forms are the same answer. Symmetric."""
    if isinstance(a, Number) and isinstance(b, Number):
        return _same_number(a, b)
    if isinstance(a, Thousands):
        return same_answer(a.number, b) or (isinstance(b, Group) and same_answer(a.listed, b))
    if isinstance(b, Thousands):
        return same_answer(a, b.number) or (isinstance(a, Group) and same_answer(a, b.listed))
    if isinstance(a, Either):
        return any(same_answer(reading, b) for reading in a.readings)
    if isinstance(b, Either):
        return any(same_answer(a, reading) for reading in b.readings)
    if isinstance(a, Group) and isinstance(b, Group):
        return _same_group(a, b)
    if isinstance(a, Words) and isinstance(b, Words):
        return a.text == b.text
    if isinstance(a, Matrix) and isinstance(b, Matrix):
        return len(a.rows) == len(b.rows) and all(
            len(row) == len(other) and all(map(exact.equal, row, other))
            for row, other in zip(a.rows, b.rows, strict=True)
        )
    for one, other in ((a, b), (b, a)):
        if isinstance(one, Matrix) and isinstance(other, Group) and other.kind == "()":
            return _same_vector(one, other)
        if isinstance(one, Numeral) and isinstance(other, Number):
            return not (other.unit or other.base) and exact.key(other.value) == one.digits.lstrip(
                "0"
            )
        if isinstance(one, Ratio) and isinstance(other, Number):
            return _ratio_is(one, other)
        if isinstance(one, Relation) and isinstance(other, Number) and other.name:
            return _same_relation(one, _as_relation(other))
    if isinstance(a, Numeral) and isinstance(b, Numeral):
        return int(a.digits, a.base) == int(b.digits, b.base)
    if isinstance(a, Ratio) and isinstance(b, Ratio):
        return _same_ratio(a, b)
    if isinstance(a, Relation) and isinstance(b, Relation):
        return _same_relation(a, b)
    return False


def _same_number(a: Number, b: Number) -> bool:
    if a.name and b.name and a.name != b.name:
        return _same_relation(_as_relation(a), _as_relation(b))
    if a.unit == b.unit or not a.unit or not b.unit or _is_loose(a.unit, b.unit):
        if exact.equal(a.value, b.value):
            return True
        if a.unit == b.unit:
            return False
    else:
        factor = same_dimension(a.unit, b.unit)
        return factor is not None and exact.equal(exact.multiply(a.value, factor), b.value)
    for one, other in ((a, b), (b, a)):
        if other.unit in {"", "?"} and one.unit == "%":
            return exact.equal(exact.divide(one.value, 100), other.value)
        if one.unit == "°" and other.unit in {"", "radians^1"}:
            radians = exact.divide(exact.multiply(one.value, exact.symbol("π")), 180)
            return exact.equal(radians, other.value)
    return False


def _is_loose(a: str, b: str) -> bool:
    """Return whether two units leave the question open: one is mere words, and neither a rate."""
    return "?" in a[:1] + b[:1] and not any("/" in unit or " per " in unit for unit in (a, b))


def _same_group(a: Group, b: Group) -> bool:
    loose = {"list", "{}"}
    if a.kind != b.kind and not (a.kind in loose and b.kind in loose):
        return False
    if a.kind not in loose and a.kind != "union":
        return len(a.items) == len(b.items) and all(map(same_answer, a.items, b.items))
    names_a, names_b = _names(a), _names(b)
    if len(a.items) == len(b.items) and (
        (len(names_a) > 1 and not names_b) or (len(names_b) > 1 and not names_a)
    ):
        return all(map(same_answer, a.items, b.items))
    items_a = distinct(a.items) if a.kind == "{}" else a.items
    items_b = distinct(b.items) if b.kind == "{}" else b.items
    if len(items_a) != len(items_b):
        return False
    left = list(items_b)
    for item in items_a:
        for at, other in enumerate(left):
            if same_answer(item, other):
                del left[at]
                break
        else:
            return False
    return True


def _names(group: Group) -> set[str]:
    return {item.name for item in group.items if isinstance(item, Number) and item.name}


def distinct(items: tuple[Answer, ...]) -> tuple[Answer, ...]:
    """Return the items without those that equal an earlier one."""
    kept: list[Answer] = []
    for item in items:
        if not any(same_answer(item, other) for other in kept):
            kept.append(item)
    return tuple(kept)


def _same_vector(matrix: Matrix, group: Group) -> bool:
    flat = [value for row in matrix.rows for value in row]
    if min(len(matrix.rows), len(matrix.rows[0]) if matrix.rows else 0) != 1:
        return False
    return len(flat) == len(group.items) and all(
        isinstance(item, Number) and not item.unit and exact.equal(value, item.value)
        for value, item in zip(flat, group.items, strict=True)
    )


def _ratio_is(ratio: Ratio, number: Number) -> bool:
    if len(ratio.parts) != 2 or ratio.is_clock or number.unit or exact.is_zero(ratio.parts[1]):
        return False
    return exact.equal(exact.divide(ratio.parts[0], ratio.parts[1]), number.value)


def _same_ratio(a: Ratio, b: Ratio) -> bool:
    if len(a.parts) != len(b.parts):
        return False
    if a.is_clock or b.is_clock:
        return a.parts == b.parts
    return all(
        exact.equal(exact.multiply(a.parts[0], part_b), exact.multiply(b.parts[0], part_a))
        for part_a, part_b in zip(a.parts, b.parts, strict=True)
    ) and all(exact.is_zero(x) == exact.is_zero(y) for x, y in zip(a.parts, b.parts, strict=True))


def _as_relation(number: Number) -> Relation:
    return Relation("=", exact.add(exact.symbol(number.name), exact.negate(number.value)))


def _same_relation(a: Relation, b: Relation) -> bool:
    if a.sign != b.sign:
        return False
    scale = _scale(a.difference, b.difference)
    if scale is None or (a.sign in {"<", "<="} and scale < 0):
        return False
    return exact.equal(a.difference, exact.multiply(b.difference, scale))


def _scale(a: Value, b: Value) -> Fraction | None:
    """Return the rational by which ``b`` must be multiplied to be ``a``, if there may be one."""
    if not isinstance(a, Quotient) or not isinstance(b, Quotient):
        return None
    for monomial, factor in a.top.items():
        other = b.top.get(monomial)
        return None if other is None else Fraction(factor) / other
    return None
