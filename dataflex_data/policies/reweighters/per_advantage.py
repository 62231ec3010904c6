"""Weight by a power of the advantage's size."""

from __future__ import annotations

from typing import ClassVar

import numpy as np
import numpy.typing as npt
from pydantic import Field

from dataflex_data.core.config import Config
from dataflex_data.core.rollout import RolloutBatch
from dataflex_data.policies.component import (
    Reweighter,
    Scorer,
    Scores,
    Turn,
    register_reweighter,
)
from dataflex_data.policies.weight_params import WeightParams


class PerAdvantageParams(WeightParams):
    """Parameters of `PerAdvantage`.

    Attributes:
        alpha: Power; 0 makes all weights equal.
    """

    alpha: float = Field(default=0.5, ge=0, allow_inf_nan=False)


@register_reweighter("per_advantage")
class PerAdvantage(Reweighter):
    """``|score|^alpha``; where every score is 0, all weigh 1.

    Source: the public plugin's reweighter of that name (DataFlex-RL f4d305b). It takes from PER
    (arXiv 1511.05952) the priority alone, without sampling or its correction: see `per`.
    """

    Params: ClassVar[type[Config]] = PerAdvantageParams
    granularities: ClassVar[tuple[str, ...]] = ("group", "response", "token")
    params: PerAdvantageParams

    def idle(self, scorer: Scorer | None, group_size: int | None) -> str | None:
        """To the power of 0 all weigh 1."""
        if self.params.alpha == 0:
            return "`alpha: 0` makes all weigh the same; set it above 0"
        return super().idle(scorer, group_size)

    def weights(self, scores: Scores, batch: RolloutBatch, turn: Turn) -> npt.ArrayLike:
        """Return the power."""
        del batch, turn
        return np.abs(scores.values) ** self.params.alpha
