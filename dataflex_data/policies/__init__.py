"""Data policies: which responses an update is made of, how much each counts, with fair controls."""

from __future__ import annotations

from dataflex_data.core.rollout import RolloutBatch
from dataflex_data.policies.component import (
    REWEIGHTERS,
    SCORERS,
    SELECTORS,
    Reweighter,
    Scorer,
    Scores,
    Selector,
    Turn,
    register_reweighter,
    register_scorer,
    register_selector,
)

__all__ = [
    "REWEIGHTERS",
    "SCORERS",
    "SELECTORS",
    "Reweighter",
    "RolloutBatch",
    "Scorer",
    "Scores",
    "Selector",
    "Turn",
    "register_reweighter",
    "register_scorer",
    "register_selector",
]
