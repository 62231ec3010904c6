"""Less weight for tokens the policy found improbable."""

from __future__ import annotations

from typing import ClassVar

import numpy as np
import numpy.typing as npt
from pydantic import Field

from dataflex_data.core.config import Config
from dataflex_data.core.errors import InputDataError
from dataflex_data.core.rollout import RolloutBatch
from dataflex_data.policies.component import (
    Reweighter,
    Scorer,
    Scores,
    Turn,
    register_reweighter,
)
from dataflex_data.policies.weight_params import WeightParams


class AdvantageReweightParams(WeightParams):
    """Parameters of `AdvantageReweight`.

    Attributes:
        alpha: How far weights follow the probability; 0 makes all of them 1.
        normalize: Off, as in the source: the weights make the step smaller.
    """

    alpha: float = Field(default=0.2, ge=0, le=1)
    normalize: bool = False


@register_reweighter("advantage_reweight")
class AdvantageReweight(Reweighter):
    """``alpha pi_old + (1 - alpha)`` for each token, pi_old its probability.

    Source: arXiv 2505.12929, equation 8.
    """

    Params: ClassVar[type[Config]] = AdvantageReweightParams
    granularities: ClassVar[tuple[str, ...]] = ("token",)
    params: AdvantageReweightParams

    def idle(self, scorer: Scorer | None, group_size: int | None) -> str | None:
        """Without a part of the probability all weigh 1."""
        if self.params.alpha == 0:
            return "`alpha: 0` makes all weigh the same; set it above 0"
        return super().idle(scorer, group_size)

    def weights(self, scores: Scores, batch: RolloutBatch, turn: Turn) -> npt.ArrayLike:
        """Return the weights.

        Raises:
            InputDataError: A score is no probability.
        """
        del batch, turn
        pi = scores.values
        if pi.size and (pi.min() < 0 or pi.max() > 1):
            raise InputDataError(
                f"advantage_reweight needs probabilities, got scores from {pi.min():g} to "
                f"{pi.max():g}; use the scorer token_prob"
            )
        weights = np.asarray(self.params.alpha * pi)
        weights += 1 - self.params.alpha
        return weights
