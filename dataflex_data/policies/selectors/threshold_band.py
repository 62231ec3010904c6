"""Keep what lies within a band of scores: difficulty filtering."""

from __future__ import annotations

from fractions import Fraction
from typing import Annotated, ClassVar, Literal, TypeAlias

import numpy as np
from pydantic import Field, model_validator
from typing_extensions import Self

from dataflex_data.core.config import Config
from dataflex_data.core.rollout import BoolArray, RolloutBatch
from dataflex_data.policies.component import Scores, Selector, Turn, Unit, register_selector

Bound: TypeAlias = (
    Annotated[float, Field(allow_inf_nan=False)]
    | Annotated[str, Field(pattern=r"^\s*\d+\s*/\s*[1-9]\d*\s*$")]
)
_EXACT_LIMIT = 10**9  # numerators and denominators up to here stay within 63 bits


class ThresholdBandParams(Config):
    """Parameters of `ThresholdBand`.

    Attributes:
        low: Lower bound: a number, or a share written ``"1/3"``.
        high: Upper bound.
        inclusive: Which bounds belong to the band; ``neither`` as in the public plugin.
        unit: ``group`` keeps and drops whole groups and needs a group's score; ``response`` looks
            at each response alone, as the public plugin does with a response's score.
    """

    low: Bound = 0.0
    high: Bound = 1.0
    inclusive: Literal["neither", "both", "left", "right"] = "neither"
    unit: Literal["group", "response"] = "group"

    @model_validator(mode="after")
    def _ordered(self) -> Self:
        if Fraction(self.low) > Fraction(self.high):
            raise ValueError(f"`low` {self.low} is above `high` {self.high}")
        return self


@register_selector("threshold_band")
class ThresholdBand(Selector):
    """Keep where ``low < score < high``; a score that is NaN is in no band.

    A share of a group is compared as the exact fraction that it is, so that 1/5 is the bound 0.2
    and nothing beside it.

    Source: DAPO, arXiv 2503.14476, section 3.2 (0 < solve rate < 1); online difficulty filtering,
    arXiv 2504.03380, with ``low: 0.2, high: 0.8, inclusive: both``.
    """

    Params: ClassVar[type[Config]] = ThresholdBandParams
    needs_groups: ClassVar[bool] = False
    params: ThresholdBandParams

    @property
    def unit(self) -> Unit:
        """As the parameter says."""
        return self.params.unit

    @property
    def accepts(self) -> tuple[str, ...]:
        """Scores of groups; with ``unit: response`` those of responses too."""
        return ("group",) if self.params.unit == "group" else ("group", "response")

    def keep(self, scores: Scores, batch: RolloutBatch, turn: Turn) -> BoolArray:
        """Return where the score is within the band."""
        del batch
        turn.notes["unscored"] = float(np.isnan(scores.values).sum())
        left = self.params.inclusive in ("left", "both")
        right = self.params.inclusive in ("right", "both")
        above = _compare(scores, self.params.low)
        below = _compare(scores, self.params.high)
        inside = ((above > 0) | (left & (above == 0))) & ((below < 0) | (right & (below == 0)))
        return np.asarray(inside)


def _compare(scores: Scores, bound: float | str) -> np.ndarray[tuple[int], np.dtype[np.float64]]:
    """Return the sign of score minus bound, NaN where there is no score."""
    share = Fraction(bound) if isinstance(bound, str) else Fraction(str(bound))
    exact = max(abs(share.numerator), share.denominator) <= _EXACT_LIMIT
    if scores.hits_B is not None and scores.sizes_B is not None and exact:
        difference = scores.hits_B * share.denominator - share.numerator * scores.sizes_B
        return np.where(scores.sizes_B > 0, np.sign(difference), np.nan)
    # The division is rounded correctly, so that equal numbers of few digits compare equal.
    return np.sign(scores.values.astype(np.float64) - float(share))
