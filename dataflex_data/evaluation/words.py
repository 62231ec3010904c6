"""Numbers in words and at one number of decimals: on the terminal, in reports and in plots."""

from __future__ import annotations

import math
from decimal import Decimal

from dataflex_data.evaluation.contract import Contract

MINUS = "−"


def plural(count: int, noun: str) -> str:
    """Return ``1 run``, ``2 runs``."""
    return f"{count:,} {noun}{'' if count == 1 else 's'}"


def decimals(contract: Contract) -> int:
    """Return the decimals at which a hundredth of the meaningful effect can be told.

    At least two in percent and four in fractions, so that a hundredth of a point can be seen.
    """
    least = 2 if contract.scale == "percent" else 4
    return max(least, 2 - math.floor(math.log10(contract.meaningful_effect)))


def points(contract: Contract, value: float, *, signed: bool = False) -> str:
    """Return a score or difference as text, with a true minus sign; an en dash for nan."""
    if not math.isfinite(value):
        return "–"
    sign = "+" if signed else ""
    return f"{value:{sign}.{decimals(contract)}f}".replace("-", MINUS)


def interval_text(
    contract: Contract, interval: tuple[float, float] | None, *, signed: bool = False
) -> str | None:
    """Return ``[low, high]``, or ``None`` where there is none."""
    if interval is None:
        return None
    low, high = (points(contract, end, signed=signed) for end in interval)
    return f"[{low}, {high}]"


def cell(contract: Contract, value: float | None) -> Decimal | None:
    """Return a score or difference for a table: a number that keeps its trailing zeros."""
    if value is None or not math.isfinite(value):
        return None
    return Decimal(f"{value:.{decimals(contract)}f}")
