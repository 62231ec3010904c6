"""Keep the part of a batch, or of each group, that scores highest."""

from __future__ import annotations

from typing import ClassVar, Literal

import numpy as np
from pydantic import Field, model_validator
from typing_extensions import Self

from dataflex_data.core.config import Config
from dataflex_data.core.rollout import BoolArray, RolloutBatch
from dataflex_data.policies.component import (
    Scorer,
    Scores,
    Selector,
    Turn,
    Unit,
    register_selector,
)
from dataflex_data.policies.ranking import ranked_members, rounded_share, top_k


class TopkFractionParams(Config):
    """Parameters of `TopkFraction`.

    Attributes:
        fraction: Share kept; of n, ``max(1, round(fraction n))`` with half to even.
        largest: Keep the highest scores; else the lowest.
        per: Choose among the whole batch, as the public plugin does, or inside each group.
        recompute: With ``per: group``, make the advantages of those kept anew among themselves.
    """

    fraction: float = Field(default=0.5, gt=0, le=1)
    largest: bool = True
    per: Literal["batch", "group"] = "batch"
    recompute: bool = True

    @model_validator(mode="after")
    def _recomputes_in_groups(self) -> Self:
        if self.per == "batch" and "recompute" in self.model_fields_set:
            raise ValueError("recompute has no effect with `per: batch`, which keeps advantages")
        return self


@register_selector("topk_fraction")
class TopkFraction(Selector):
    """Keep the ``fraction`` with the highest scores; NaN comes last, ties are broken by key.

    Scores of groups choose whole groups; scores of responses choose responses.

    Source: the public plugin's selector of that name (DataFlex-RL f4d305b), whose ties fall by
    place in the batch.
    """

    Params: ClassVar[type[Config]] = TopkFractionParams
    params: TopkFractionParams

    @property
    def unit(self) -> Unit:
        """A member of a group, or any response."""
        return "member" if self.params.per == "group" else "response"

    @property
    def recomputes(self) -> bool:
        """As the parameter says, inside groups."""
        return self.params.per == "group" and self.params.recompute

    @property
    def accepts(self) -> tuple[str, ...]:
        """A group's score cannot choose among its members."""
        return ("response",) if self.params.per == "group" else ("group", "response")

    def idle(self, scorer: Scorer | None, group_size: int | None) -> str | None:
        """Nothing is dropped where the share is rounded to the whole."""
        del scorer
        fraction = self.params.fraction
        if fraction == 1:
            return "`fraction: 1` keeps everything; set it below 1"
        if self.params.per == "batch" or group_size is None or group_size < 2:
            return None
        if self._share(np.array([group_size]))[0] < group_size:
            return None
        return f"`fraction: {fraction:g}` of {group_size} responses is rounded to all; set it lower"

    def keep(self, scores: Scores, batch: RolloutBatch, turn: Turn) -> BoolArray:
        """Return the highest."""
        values = scores.values if self.params.largest else -scores.values
        turn.notes["unscored"] = float(np.isnan(values).sum())
        names = ("topk_fraction", turn.seed, turn.place, turn.step)
        if scores.granularity == "group":
            heads = batch.groups.heads_P
            k = self._share(np.array([heads.size]))[0]
            kept_P = top_k(values[heads], int(k), lambda: batch.draw_keys_P(*names))
            return kept_P[batch.groups.of_B]
        if self.params.per == "batch":
            k = self._share(np.array([len(batch)]))[0]
            return top_k(values, int(k), lambda: batch.draw_keys_B(*names))
        kept = np.zeros(len(batch), dtype=bool)
        descending = np.where(np.isnan(values), np.inf, -values)
        for _, rows in ranked_members(batch.groups, [descending, batch.draw_keys_B(*names)]):
            k = self._share(np.array([rows.shape[1]]))[0]
            kept[rows[:, :k]] = True
        return kept

    def _share(self, sizes: np.ndarray[tuple[int], np.dtype[np.int64]]) -> list[int]:
        share = np.maximum(rounded_share(self.params.fraction, sizes), 1)
        return np.minimum(share, sizes).tolist()  # type: ignore[no-any-return]
