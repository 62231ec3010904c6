"""Prioritised experience replay within the batch: draw by priority, correct by importance."""

from __future__ import annotations

from typing import ClassVar, Literal

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


class PerParams(WeightParams):
    """Parameters of `Per`.

    Attributes:
        alpha: Power of the priority; 0 is uniform.
        beta: How far drawing by priority is corrected; 1 corrects it fully, so that all weigh 1.
        epsilon: Added to every priority, so that none is 0.
        draw: ``expected`` takes the number of draws that each response has on average; ``sample``
            draws as often as there are responses, with replacement, by (seed, step).
    """

    alpha: float = Field(default=0.6, ge=0, allow_inf_nan=False)
    beta: float = Field(default=0.4, ge=0, le=1)
    epsilon: float = Field(default=1e-6, gt=0, allow_inf_nan=False)
    draw: Literal["expected", "sample"] = "expected"


@register_reweighter("per")
class Per(Reweighter):
    """Draws times importance weight: ``m_i (n P_i)^-beta``.

    ``P_i`` is ``(|score| + epsilon)^alpha`` over its sum, m_i how often response i is drawn and n
    the number of responses. Weights are then scaled to mean 1; PER
    divides by the largest instead.

    Source: Schaul et al., arXiv 1511.05952, equations 1 and 2, sections 3.3 and 3.4.
    """

    Params: ClassVar[type[Config]] = PerParams
    params: PerParams

    def idle(self, scorer: Scorer | None, group_size: int | None) -> str | None:
        """Uniform draws, or draws corrected in full, make all weigh 1."""
        if self.params.alpha == 0:
            return "`alpha: 0` draws all alike, so that all weigh the same; set it above 0"
        if self.params.beta == 1 and self.params.draw == "expected":
            return (
                "`beta: 1` takes back what `draw: expected` gives, so that all weigh the same; "
                "set beta below 1, or `draw: sample`"
            )
        return super().idle(scorer, group_size)

    def weights(self, scores: Scores, batch: RolloutBatch, turn: Turn) -> npt.ArrayLike:
        """Return draws times importance."""
        priority = (np.abs(scores.values.astype(np.float64)) + self.params.epsilon) ** (
            self.params.alpha
        )
        often = priority * (priority.size / priority.sum())
        draws = often if self.params.draw == "expected" else self._drawn(often, batch, turn)
        return np.asarray(draws * often**-self.params.beta)

    def _drawn(
        self, often: npt.NDArray[np.float64], batch: RolloutBatch, turn: Turn
    ) -> npt.NDArray[np.float64]:
        """Return how often each is drawn, by systematic sampling in the order of its key.

        n equally spaced points from one random start: each response is drawn its expected number
        of times, rounded down or up.
        """
        keys = batch.draw_keys_B("per", turn.seed, turn.place, turn.step)
        order = np.argsort(keys, kind="stable")
        start = float(keys[order[0]] >> np.uint64(11)) / 2**53 if keys.size else 0.0
        marks = np.floor(np.cumsum(often[order]) + start)
        draws = np.empty(often.size)
        draws[order] = np.diff(marks, prepend=np.floor(start))
        return draws
