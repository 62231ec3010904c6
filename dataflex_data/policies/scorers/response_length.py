"""How long a response is."""

from __future__ import annotations

from typing import ClassVar

import numpy as np

from dataflex_data.core.config import Config
from dataflex_data.core.rollout import RolloutBatch
from dataflex_data.policies.component import NoParams, Scorer, Scores, register_scorer


@register_scorer("response_length")
class ResponseLength(Scorer):
    """Tokens of the response that the loss counts.

    Source: none needed.
    """

    Params: ClassVar[type[Config]] = NoParams
    requires: ClassVar[tuple[str, ...]] = ("lengths",)
    timing: ClassVar[str] = "post_reward"
    granularity = "response"
    bounds: ClassVar[tuple[float, float]] = (0.0, float("inf"))

    def score(self, batch: RolloutBatch, step_id: int, **ctx: object) -> Scores:
        """Return the lengths."""
        del step_id, ctx
        return Scores(batch.lengths_B.astype(np.float64), "response")
