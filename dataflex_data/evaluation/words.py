"""Numbers in words and at one number of decimals: on the terminal, in reports and in plots."""

from __future__ import annotations

import math
from decimal import Decimal

from dataflex_data.evaluation.contract import Contract
from dataflex_data.reporting.words import MINUS, effect_decimals


def decimals(contract: Contract) -> int:
    """Return the decimals of scores and differences under the contract."""
    return effect_decimals(contract.scale, contract.meaningful_effect)


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
