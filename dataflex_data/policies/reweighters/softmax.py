"""Weight by the softmax of the scores over the batch."""

from __future__ import annotations

from typing import ClassVar

import numpy.typing as npt
from pydantic import Field

from dataflex_data.core.config import Config
from dataflex_data.core.rollout import RolloutBatch
from dataflex_data.core.simplex import softmax
from dataflex_data.policies.component import Reweighter, Scores, Turn, register_reweighter
from dataflex_data.policies.weight_params import WeightParams


class SoftmaxParams(WeightParams):
    """Parameters of `Softmax`.

    Attributes:
        temperature: Lower is sharper.
    """

    temperature: float = Field(default=1.0, gt=0, allow_inf_nan=False)


@register_reweighter("softmax")
class Softmax(Reweighter):
    """``exp(score / temperature)``, then mean 1 in the unit of the loss.

    Source: the public plugin's reweighter of that name (DataFlex-RL f4d305b), whose mean is taken
    over rows, padding among them.
    """

    Params: ClassVar[type[Config]] = SoftmaxParams
    params: SoftmaxParams

    def weights(self, scores: Scores, batch: RolloutBatch, turn: Turn) -> npt.ArrayLike:
        """Return the softmax; only ratios matter."""
        del batch, turn
        return softmax(scores.values, self.params.temperature)
