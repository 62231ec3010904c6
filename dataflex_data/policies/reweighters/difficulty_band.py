"""More weight for what is neither easy nor hard."""

from __future__ import annotations

from fractions import Fraction
from typing import ClassVar, Literal

import numpy as np
import numpy.typing as npt
from pydantic import Field, model_validator
from typing_extensions import Self

from dataflex_data.core.config import Config
from dataflex_data.core.rollout import RolloutBatch
from dataflex_data.policies.bands import Band
from dataflex_data.policies.component import (
    Reweighter,
    Scorer,
    Scores,
    Turn,
    register_reweighter,
)
from dataflex_data.policies.weight_params import WeightParams


class DifficultyBandParams(WeightParams):
    """Parameters of `DifficultyBand`.

    Attributes:
        by: ``value`` puts the band on a group's score itself; ``quantile`` on the batch's quantiles
            of a score, as in the public plugin.
        low: Lower bound of the band, by value.
        high: Upper bound, by value. Both bounds belong to the band.
        low_q: Lower bound, by quantile.
        high_q: Upper bound, by quantile.
        focus_weight: Weight inside the band, against 1 outside, before scaling.
    """

    by: Literal["value", "quantile"] = "value"
    low: float = Field(default=0.25, allow_inf_nan=False)
    high: float = Field(default=0.75, allow_inf_nan=False)
    low_q: float = Field(default=0.25, ge=0, le=1)
    high_q: float = Field(default=0.75, ge=0, le=1)
    focus_weight: float = Field(default=2.0, ge=0, allow_inf_nan=False)

    @model_validator(mode="after")
    def _fits(self) -> Self:
        unused = {"value": ("low_q", "high_q"), "quantile": ("low", "high")}[self.by]
        written = [name for name in unused if name in self.model_fields_set]
        if written:
            raise ValueError(f"{' and '.join(written)} has no effect with `by: {self.by}`")
        if self.low > self.high or self.low_q > self.high_q:
            raise ValueError("the band's lower bound is above its upper")
        return self


@register_reweighter("difficulty_band")
class DifficultyBand(Reweighter):
    """``focus_weight`` inside the band, 1 outside.

    With rewards of 0 and 1 the quantiles are 0 and 1 most of the time, and every response is in
    the band: by value is the default, on the group's solve rate.

    Source: the public plugin's reweighter of that name (DataFlex-RL f4d305b) for ``quantile``.
    """

    Params: ClassVar[type[Config]] = DifficultyBandParams
    params: DifficultyBandParams

    @property
    def accepts(self) -> tuple[str, ...]:
        """By value the band is one of group scores."""
        return ("group",) if self.params.by == "value" else ("group", "response")

    def idle(self, scorer: Scorer | None, group_size: int | None) -> str | None:
        """A band of all scores, or of none, sets nothing apart."""
        if self.params.focus_weight == 1:
            return "`focus_weight: 1` is the weight outside the band too; set another"
        apart = None
        if self.params.by == "quantile" and (self.params.low_q, self.params.high_q) == (0, 1):
            apart = "all scores lie between the quantiles 0 and 1"
        elif self.params.by == "value" and scorer is not None:
            band = Band(Fraction(str(self.params.low)), Fraction(str(self.params.high)))
            apart = band.emptiness(scorer, group_size) or band.fullness(scorer, group_size)
        if apart is not None:
            return f"{apart}: all would weigh the same"
        return super().idle(scorer, group_size)

    def weights(self, scores: Scores, batch: RolloutBatch, turn: Turn) -> npt.ArrayLike:
        """Return the two weights."""
        del batch
        values = scores.values.astype(np.float64)
        low, high = self.params.low, self.params.high
        if self.params.by == "quantile":
            low, high = np.quantile(values, [self.params.low_q, self.params.high_q])
        inside = (values >= low) & (values <= high)
        turn.notes["in_band_fraction"] = float(inside.mean()) if inside.size else 0.0
        return np.where(inside, self.params.focus_weight, 1.0)
