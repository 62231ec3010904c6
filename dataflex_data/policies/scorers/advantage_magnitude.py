"""How large a response's advantage is."""

from __future__ import annotations

from typing import ClassVar, Literal

import numpy as np

from dataflex_data.core.config import Config
from dataflex_data.core.rollout import RolloutBatch
from dataflex_data.policies.component import Scorer, Scores, register_scorer


class AdvantageMagnitudeParams(Config):
    """Parameters of `AdvantageMagnitude`.

    Attributes:
        agg: Over the response's tokens.
    """

    agg: Literal["mean", "sum", "max"] = "mean"


@register_scorer("advantage_magnitude")
class AdvantageMagnitude(Scorer):
    """The absolute advantage, over the response's tokens.

    Source: the public plugin's scorer of that name (DataFlex-RL f4d305b).
    """

    Params: ClassVar[type[Config]] = AdvantageMagnitudeParams
    requires: ClassVar[tuple[str, ...]] = ("advantages",)
    timing: ClassVar[str] = "post_advantage"
    granularity = "response"
    bounds: ClassVar[tuple[float, float]] = (0.0, float("inf"))
    params: AdvantageMagnitudeParams

    def score(self, batch: RolloutBatch, step_id: int, **ctx: object) -> Scores:
        """Return the magnitude."""
        del step_id, ctx
        agg = self.params.agg
        if agg == "mean":
            return Scores(batch.abs_advantages_B, "response")
        if batch.advantage_unit == "response":
            tokens_B = batch.lengths_B.astype(np.float64)
            factor_B = tokens_B if agg == "sum" else np.minimum(tokens_B, 1.0)
            return Scores(np.abs(batch.advantages_B) * factor_B, "response")
        return Scores(batch.per_response(np.abs(batch.tokens("advantages")), agg), "response")
