"""The reward itself, as the public plugin's most used score."""

from __future__ import annotations

from typing import ClassVar

from dataflex_data.core.config import Config
from dataflex_data.core.rollout import RolloutBatch
from dataflex_data.policies.component import NoParams, Scorer, Scores, register_scorer


@register_scorer("reward_difficulty")
class RewardDifficulty(Scorer):
    """The raw reward of each response: high means easy.

    Source: the public plugin's scorer of that name (DataFlex-RL f4d305b).
    """

    Params: ClassVar[type[Config]] = NoParams
    requires: ClassVar[tuple[str, ...]] = ("rewards",)
    timing: ClassVar[str] = "post_reward"
    granularity = "response"

    def score(self, batch: RolloutBatch, step_id: int, **ctx: object) -> Scores:
        """Return the rewards."""
        del step_id, ctx
        return Scores(batch.rewards_B, "response")
