"""Keep what lies within a band of scores: difficulty filtering."""

from __future__ import annotations

import re
from fractions import Fraction
from math import isfinite
from typing import Annotated, ClassVar, Literal, TypeAlias

import numpy as np
from pydantic import BeforeValidator, model_validator
from typing_extensions import Self

from dataflex_data.core.config import Config
from dataflex_data.core.rollout import BoolArray, RolloutBatch
from dataflex_data.policies.bands import Band
from dataflex_data.policies.component import (
    Scorer,
    Scores,
    Selector,
    Turn,
    Unit,
    register_selector,
)

_SHARE = re.compile(r"\s*\d+\s*/\s*0*[1-9]\d*\s*")


def _bound(value: object) -> object:
    written = isinstance(value, str) and _SHARE.fullmatch(value)
    number = isinstance(value, int | float) and not isinstance(value, bool) and isfinite(value)
    if not written and not number:
        raise ValueError('must be a finite number such as 0.2, or a share written "1/5"')
    return value if written else float(value)  # type: ignore[arg-type]


# A number, or a share that no float is exactly.
Bound: TypeAlias = Annotated[float | str, BeforeValidator(_bound)]
_EXACT_LIMIT = 10**9  # numerators and denominators up to here stay within 63 bits


class ThresholdBandParams(Config):
    """Parameters of `ThresholdBand`.

    Attributes:
        low: Lower bound: a number, or a share written ``"1/3"``, which no decimal is exactly.
        high: Upper bound, written in the same way.
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
        if _exact(self.low) > _exact(self.high):
            raise ValueError(f"`low` {self.low} is above `high` {self.high}")
        if self.band.empty:
            raise ValueError(
                f"nothing lies in {self.band.words}: `low` and `high` are equal, and "
                f"`inclusive: {self.inclusive}` leaves one of them out; `both` keeps that score"
            )
        return self

    @property
    def band(self) -> Band:
        """The band as exact numbers."""
        return Band(
            _exact(self.low),
            _exact(self.high),
            left=self.inclusive in ("left", "both"),
            right=self.inclusive in ("right", "both"),
        )


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

    def idle(self, scorer: Scorer | None, group_size: int | None) -> str | None:
        """A band that holds none of the scores, or all of them, selects nothing."""
        if scorer is None:
            return None
        band = self.params.band
        empty = band.emptiness(scorer, group_size)
        if empty is not None:
            return f"{empty}: nothing would ever be kept"
        full = band.fullness(scorer, group_size)
        return None if full is None else f"{full}: everything would always be kept"

    def keep(self, scores: Scores, batch: RolloutBatch, turn: Turn) -> BoolArray:
        """Return where the score is within the band."""
        del batch
        turn.notes["unscored"] = float(np.isnan(scores.values).sum())
        left, right = self.params.band.left, self.params.band.right
        above = _compare(scores, self.params.low)
        below = _compare(scores, self.params.high)
        inside = ((above > 0) | (left & (above == 0))) & ((below < 0) | (right & (below == 0)))
        return np.asarray(inside)


def _compare(scores: Scores, bound: float | str) -> np.ndarray[tuple[int], np.dtype[np.float64]]:
    """Return the sign of score minus bound, NaN where there is no score."""
    share = _exact(bound)
    exact = max(abs(share.numerator), share.denominator) <= _EXACT_LIMIT
    if scores.hits_B is not None and scores.sizes_B is not None and exact:
        difference = scores.hits_B * share.denominator - share.numerator * scores.sizes_B
        return np.where(scores.sizes_B > 0, np.sign(difference), np.nan)
    # The division is rounded correctly, so that equal numbers of few digits compare equal.
    return np.sign(scores.values.astype(np.float64) - float(share))


def _exact(bound: float | str) -> Fraction:
    """Return the number as it was written: 0.2 is a fifth, not the float beside it."""
    return Fraction("".join(bound.split()) if isinstance(bound, str) else str(bound))
