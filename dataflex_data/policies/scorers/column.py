"""Any numeric column of the data as a score: constraint count, document difficulty, age."""

from __future__ import annotations

from typing import ClassVar, Literal

from dataflex_data.core.config import Config
from dataflex_data.core.rollout import RolloutBatch
from dataflex_data.policies.component import Granularity, Scorer, Scores, register_scorer


class ColumnParams(Config):
    """Parameters of `Column`.

    Attributes:
        column: Name of the numeric ``extra_info`` field.
        granularity: ``group`` where it is a property of the prompt; checked at every step.
    """

    column: str
    granularity: Literal["group", "response"] = "group"


@register_scorer("column")
class Column(Scorer):
    """The column's value; a missing one (NaN) is never kept by a selector and weighs 1.

    Source: none; the value is the user's.
    """

    Params: ClassVar[type[Config]] = ColumnParams
    requires: ClassVar[tuple[str, ...]] = ()
    timing: ClassVar[str] = "post_reward"
    granularity = "group"
    params: ColumnParams

    @property
    def reads(self) -> tuple[str, ...]:
        """The column, and the groups where it belongs to them."""
        return (self.params.column, *(("uid",) if self.params.granularity == "group" else ()))

    @property
    def score_granularity(self) -> Granularity:
        """As the parameter says."""
        return self.params.granularity

    def score(self, batch: RolloutBatch, step_id: int, **ctx: object) -> Scores:
        """Return the column."""
        del step_id, ctx
        return Scores(batch.column(self.params.column), self.params.granularity)
