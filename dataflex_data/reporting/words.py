"""Counts and effects in words: one plural, one minus sign, one number of decimals."""

from __future__ import annotations

import math

MINUS = "−"


def plural(count: int, noun: str) -> str:
    """Return ``1 run``, ``2 runs``."""
    return f"{count:,} {noun}{'' if count == 1 else 's'}"


def effect_decimals(scale: str, meaningful_effect: float) -> int:
    """Return the decimals at which a hundredth of the meaningful effect can be told.

    At least two in ``percent`` and four in fractions, so that a hundredth of a point can be seen.
    """
    least = 2 if scale == "percent" else 4
    return max(least, 2 - math.floor(math.log10(meaningful_effect)))
