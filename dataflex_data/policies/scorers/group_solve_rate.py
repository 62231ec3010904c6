"""How many of a group's responses are solved."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from typing import ClassVar

import numpy as np
from pydantic import Field

from dataflex_data.core.config import Config
from dataflex_data.core.rollout import RolloutBatch
from dataflex_data.policies.component import Scorer, Scores, register_scorer


class GroupSolveRateParams(Config):
    """Parameters of `GroupSolveRate`.

    Attributes:
        success_threshold: Reward from which a response counts as solved.
    """

    success_threshold: float = Field(default=0.5, allow_inf_nan=False)


@register_scorer("group_solve_rate")
class GroupSolveRate(Scorer):
    """The share of a group's valid responses whose raw reward is at least the threshold.

    The share is kept as the exact pair (solved, size). A group without a valid response has none
    (NaN).

    Source: DAPO, arXiv 2503.14476, section 3.2. The public plugin counts rewards *above* its
    threshold; with rewards of 0 and 1 the two agree.
    """

    Params: ClassVar[type[Config]] = GroupSolveRateParams
    requires: ClassVar[tuple[str, ...]] = ("rewards", "uid")
    timing: ClassVar[str] = "post_reward"
    granularity = "group"
    needs_groups: ClassVar[bool] = True
    bounds: ClassVar[tuple[float, float]] = (0.0, 1.0)
    params: GroupSolveRateParams

    def attainable(self, group_size: int) -> Sequence[Fraction]:
        """Return 0/G to G/G."""
        return [Fraction(solved, group_size) for solved in range(group_size + 1)]

    def score(self, batch: RolloutBatch, step_id: int, **ctx: object) -> Scores:
        """Return solved / size."""
        del step_id, ctx
        solved_B = batch.valid_B & (batch.rewards_B >= self.params.success_threshold)
        hits_P = batch.groups.sum(solved_B)
        sizes_P = batch.groups.sum(batch.valid_B)
        rate_P = np.full(sizes_P.size, np.nan)
        np.divide(hits_P, sizes_P, out=rate_P, where=sizes_P > 0)
        of_B = batch.groups.of_B
        return Scores(rate_P[of_B], "group", hits_P[of_B], sizes_P[of_B])
