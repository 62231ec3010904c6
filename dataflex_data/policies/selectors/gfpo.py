"""Keep the short, or the reward-efficient, responses of each group."""

from __future__ import annotations

from typing import ClassVar, Literal

import numpy as np
import numpy.typing as npt
from pydantic import Field

from dataflex_data.core.config import Config
from dataflex_data.core.rollout import BoolArray, RolloutBatch
from dataflex_data.policies.component import (
    MemberParams,
    MemberSelector,
    Scorer,
    Scores,
    Turn,
    register_selector,
)
from dataflex_data.policies.ranking import ranked_members


class GfpoParams(MemberParams):
    """Parameters of `Gfpo`.

    Attributes:
        k: Number kept of each group, fewer than are generated; a smaller group is kept whole.
        metric: ``short`` keeps the shortest, whatever their score; ``efficiency`` those with most
            score per token.
    """

    k: int = Field(default=8, ge=1)
    metric: Literal["short", "efficiency"] = "efficiency"


@register_selector("gfpo")
class Gfpo(MemberSelector):
    """Keep ``k`` of each group: the shortest, or those with the highest score per token.

    By efficiency a positive score comes before zero, zero before a negative one, and of equals the
    shorter first; what is still equal is told apart by key.

    Source: GFPO, arXiv 2508.09726, algorithm 1: the metrics, and advantages from the mean and
    standard deviation of those retained.
    """

    Params: ClassVar[type[Config]] = GfpoParams
    params: GfpoParams

    @property
    def reads_scorer(self) -> bool:
        """By length alone no score is read."""
        return self.params.metric == "efficiency"

    def idle(self, scorer: Scorer | None, group_size: int | None) -> str | None:
        """Nothing is dropped where a group has no more than ``k``."""
        del scorer
        if group_size is None or self.params.k < group_size:
            return None
        return (
            f"`k: {self.params.k}` keeps all {group_size} responses of a group; "
            f"set k below {group_size}, or generate more"
        )

    def keep(self, scores: Scores, batch: RolloutBatch, turn: Turn) -> BoolArray:
        """Return the first ``k`` of each group."""
        kept = np.zeros(len(batch), dtype=bool)
        turn.notes["unscored"] = float(np.isnan(scores.values).sum())
        columns: list[npt.NDArray[np.generic]] = [
            batch.lengths_B,
            batch.draw_keys_B("gfpo", turn.seed, turn.place, turn.step),
        ]
        if self.params.metric == "efficiency":
            columns.insert(0, -scores.values / np.maximum(batch.lengths_B, 1))
        for _, rows in ranked_members(batch.groups, columns):
            kept[rows[:, : self.params.k]] = True
        return kept
