"""Keep the part of each group whose rewards differ most."""

from __future__ import annotations

from typing import ClassVar, Literal

import numpy as np
from pydantic import Field, model_validator
from typing_extensions import Self

from dataflex_data.core.config import Config
from dataflex_data.core.rollout import BoolArray, FloatArray, IntArray, RolloutBatch
from dataflex_data.policies.component import (
    MemberParams,
    MemberSelector,
    Scorer,
    Scores,
    Turn,
    register_selector,
)
from dataflex_data.policies.ranking import ranked_members, rounded_share

_TIE = 1e-9  # variances closer than this part of the largest are one


class MaxVarianceParams(MemberParams):
    """Parameters of `MaxVariance`.

    Attributes:
        keep_fraction: Share of each group that is kept.
        n: Number kept of each group, instead of a share.
        rounding: Of the share: ``half_even`` as in the public plugin (half of 5 is 2), or ``ceil``.
    """

    keep_fraction: float = Field(default=0.5, gt=0, le=1)
    n: int | None = Field(default=None, ge=2)
    rounding: Literal["half_even", "ceil"] = "half_even"

    @model_validator(mode="after")
    def _one_size(self) -> Self:
        unused = [name for name in ("keep_fraction", "rounding") if name in self.model_fields_set]
        if self.n is not None and unused:
            raise ValueError(f"{' and '.join(unused)} has no effect beside `n: {self.n}`; keep one")
        return self


@register_selector("max_variance")
class MaxVariance(MemberSelector):
    """Keep the n responses of each group whose scores have the largest variance.

    They are the i lowest and the n - i highest for some i; among equal variances the largest i.
    Equal scores are told apart by key. A group whose scores are all equal has no such part: it is
    counted and none of it is kept. At least two are kept of a group, one having no variance; a
    group that is not larger than n is kept whole.

    Source: PODS, arXiv 2504.13818, section 3.2 and algorithm 2.
    """

    Params: ClassVar[type[Config]] = MaxVarianceParams
    params: MaxVarianceParams

    def idle(self, scorer: Scorer | None, group_size: int | None) -> str | None:
        """Groups that are kept whole have not been chosen from."""
        del scorer
        written = "keep_fraction" if self.params.n is None else "n"
        value = getattr(self.params, written)
        whole = (
            value == 1
            if group_size is None
            else group_size > 1 and self._n(group_size) == group_size
        )
        if not whole:
            return None
        size = "every group" if group_size is None else f"a group of {group_size}"
        return (
            f"`{written}: {value}` keeps {size} whole, and drops none but those whose scores are "
            "equal; to do only that use threshold_band or dapo_dynamic, else keep fewer"
        )

    def keep(self, scores: Scores, batch: RolloutBatch, turn: Turn) -> BoolArray:
        """Return the extremes of each group that differs."""
        kept = np.zeros(len(batch), dtype=bool)
        keys = batch.draw_keys_B("max_variance", turn.seed, turn.place, turn.step)
        values = scores.values.astype(np.float64)
        constant = 0
        for _, rows in ranked_members(batch.groups, [values, keys]):
            sorted_PG = values[rows]
            # NaN is sorted last: such a group has no variance.
            differs = sorted_PG[:, 0] < sorted_PG[:, -1]
            constant += int((~differs).sum())
            rows, sorted_PG = rows[differs], sorted_PG[differs]
            n = self._n(rows.shape[1])
            if n == rows.shape[1]:
                kept[rows] = True
                continue
            lows = most_varied(sorted_PG, n)
            place = np.arange(rows.shape[1])
            kept[rows[(place < lows[:, None]) | (place >= rows.shape[1] - n + lows[:, None])]] = (
                True
            )
        turn.notes["constant_groups"] = float(constant)
        turn.notes["unscored"] = float(np.isnan(values).sum())
        return kept

    def _n(self, size: int) -> int:
        if self.params.n is not None:
            return min(self.params.n, size)
        up = self.params.rounding == "ceil"
        share = int(rounded_share(self.params.keep_fraction, np.array([size]), up=up)[0])
        return min(max(share, 2), size)


def most_varied(sorted_PG: FloatArray, n: int) -> IntArray:
    """Return how many of the ``n`` to take from the low end of each sorted row.

    Sums are of distances from the row's mean, so that large rewards with small differences do not
    cancel.
    """
    centred = sorted_PG - sorted_PG.mean(axis=1, keepdims=True)
    size = sorted_PG.shape[1]

    def sums(values: FloatArray) -> FloatArray:
        """Return, per row and i in 0..n, the sum over the i lowest and the n - i highest."""
        before = np.zeros((len(values), size + 1))
        np.cumsum(values, axis=1, out=before[:, 1:])
        low = before[:, : n + 1]
        high = before[:, -1:] - before[:, size - n : size + 1]
        return np.asarray(low + high)

    variance = sums(centred**2) / n - (sums(centred) / n) ** 2
    good = variance >= variance.max(axis=1, keepdims=True) * (1 - _TIE)
    return np.asarray(n - np.argmax(good[:, ::-1], axis=1), dtype=np.int64)
