"""How much the rewards of a group differ."""

from __future__ import annotations

from typing import ClassVar

import numpy as np

from dataflex_data.core.config import Config
from dataflex_data.core.rollout import RolloutBatch
from dataflex_data.policies.component import NoParams, Scorer, Scores, register_scorer


@register_scorer("group_variance")
class GroupVariance(Scorer):
    """The variance (divided by the size) of the raw rewards of a group's valid responses.

    Rewards are taken from the group's first before squaring, so that a constant group has exactly
    0 whatever the size of its rewards. A group without a valid response has none (NaN).

    Source: VCRL, arXiv 2509.19803, section 3, without its division by the largest possible.
    """

    Params: ClassVar[type[Config]] = NoParams
    requires: ClassVar[tuple[str, ...]] = ("rewards", "uid")
    timing: ClassVar[str] = "post_reward"
    granularity = "group"
    needs_groups: ClassVar[bool] = True
    bounds: ClassVar[tuple[float, float]] = (0.0, float("inf"))

    def score(self, batch: RolloutBatch, step_id: int, **ctx: object) -> Scores:
        """Return the variance."""
        del step_id, ctx
        groups, valid_B = batch.groups, batch.valid_B
        sizes_P = groups.sum(valid_B)
        divisor_P = np.maximum(sizes_P, 1)
        anchor_P = _first_valid(batch)
        shifted_B = np.where(valid_B, batch.rewards_B - anchor_P[groups.of_B], 0.0)
        mean_P = groups.sum(shifted_B) / divisor_P
        squares_B = np.where(valid_B, (shifted_B - mean_P[groups.of_B]) ** 2, 0.0)
        variance_P = np.where(sizes_P > 0, groups.sum(squares_B) / divisor_P, np.nan)
        return Scores(variance_P[groups.of_B], "group")


def _first_valid(batch: RolloutBatch) -> np.ndarray[tuple[int], np.dtype[np.float64]]:
    first_P = np.zeros(len(batch.groups))
    rows = np.flatnonzero(batch.valid_B)[::-1]
    first_P[batch.groups.of_B[rows]] = batch.rewards_B[rows]
    return first_P
