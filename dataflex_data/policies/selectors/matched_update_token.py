"""Keep as many tokens as another policy updates on, at random."""

from __future__ import annotations

from typing import ClassVar, Literal

import numpy as np

from dataflex_data.core.config import Config
from dataflex_data.core.rollout import BoolArray, IntArray, RolloutBatch
from dataflex_data.policies.component import (
    Scorer,
    Scores,
    Selector,
    Turn,
    Unit,
    register_selector,
)
from dataflex_data.policies.controls import ControlParams, Match


class UpdateTokenParams(ControlParams):
    """Parameters of `MatchedUpdateToken`.

    Attributes:
        unit: What is drawn as a whole, whatever the pair keeps as a whole.
    """

    unit: Literal["response", "group"] = "response"


@register_selector("matched_update_token")
class MatchedUpdateToken(Selector):
    """Walk a keyed permutation, adding while the sum comes closer to the target; stop when not.

    The target is the number of tokens that the paired policy keeps in the step. What was reached of
    it is recorded. It matches tokens and nothing else: not groups or domains, and advantages stay
    as they are, even where the pair makes them anew (`matched_random` does as the pair does).

    Source: the control named in the DataFlex-RL paper, missing from its code (f4d305b).
    """

    Params: ClassVar[type[Config]] = UpdateTokenParams
    params: UpdateTokenParams

    def __init__(self, params: UpdateTokenParams, **unknown: object) -> None:
        super().__init__(params, **unknown)
        self.match = Match(params)

    @property
    def unit(self) -> Unit:
        """As the parameter says."""
        return self.params.unit

    @property
    def accepts(self) -> tuple[str, ...]:
        """As the pair does."""
        return self.match.accepts

    @property
    def reads_scorer(self) -> bool:
        """As the pair does; a ledger needs none."""
        return self.match.reads_scorer

    def idle(self, scorer: Scorer | None, group_size: int | None) -> str | None:
        """A control of what changes nothing changes nothing."""
        return self.match.idle(scorer, group_size)

    def keep(self, scores: Scores, batch: RolloutBatch, turn: Turn) -> BoolArray:
        """Return the drawn responses."""
        target = self.match.target(scores, batch, turn).tokens
        names = ("matched_update_token", turn.seed, turn.place, turn.step)
        if self.params.unit == "group":
            lengths = batch.groups.sum(batch.lengths_B)
            order = np.argsort(batch.draw_keys_P(*names), kind="stable")
            kept = walk(lengths, order, target)[batch.groups.of_B]
        else:
            order = np.argsort(batch.draw_keys_B(*names), kind="stable")
            kept = walk(batch.lengths_B, order, target)
        turn.notes["control_target"] = float(target)
        turn.notes["control_realised"] = float(batch.lengths_B[kept].sum())
        return kept


def walk(lengths: IntArray, order: IntArray, target: int) -> BoolArray:
    """Return those met before the first that does not bring the sum closer to the target."""
    sums = np.concatenate([[0], np.cumsum(lengths[order])])
    closer = np.abs(sums[1:] - target) < np.abs(sums[:-1] - target)
    stop = closer.size if closer.all() else int(np.argmin(closer))
    mask = np.zeros(lengths.size, dtype=bool)
    mask[order[:stop]] = True
    return mask
