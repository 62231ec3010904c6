"""What the policies of a run say about one step's batch."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from dataflex_data.core.rollout import BoolArray, FloatArray, IntArray, RolloutBatch
from dataflex_data.policies.component import Unit
from dataflex_data.policies.loss import LossAggMode, check_mode, compensation
from dataflex_data.policies.weighting import WeightStats


@dataclass(frozen=True, slots=True)
class Decision:
    """What the policies say about one batch.

    Attributes:
        step: Training step.
        batch: The batch it is about.
        kept_B: Responses that the update is made of; none where it is left out.
        skip_update: No update is to be made of this batch.
        empty: The selectors kept nothing, whatever was done about it.
        advantages_B: New advantages of the kept responses, NaN elsewhere; ``None`` keeps the old.
        weights: Factors on the loss of kept responses or tokens, one per response or token of the
            batch, 0 where nothing is kept; ``None`` where no reweighter acts.
        per_token: Whether ``weights`` are per token (flat).
        weight_stats: Of the kept ones' weights; ``None`` without weights.
        selection_unit: What was kept as a whole; ``None`` where no selector acted.
        notes: What the components reported.
        applied: Names of the actuators that acted.
        seconds: Time spent by phase.
    """

    step: int
    batch: RolloutBatch
    kept_B: BoolArray  # noqa: N815 - shape suffix
    skip_update: bool
    empty: bool
    advantages_B: FloatArray | None  # noqa: N815
    weights: FloatArray | None
    per_token: bool
    weight_stats: WeightStats | None
    selection_unit: Unit | None
    notes: Mapping[str, float]
    applied: tuple[str, ...]
    seconds: Mapping[str, float]

    @property
    def kept_rows(self) -> IntArray:
        """Positions of the kept responses in the host's batch."""
        return self.batch.rows_B[self.kept_B]

    @property
    def fate(self) -> str:
        """What becomes of the update: ``update``, ``skipped``, or ``kept_all`` for want of any."""
        if self.skip_update:
            return "skipped"
        return "kept_all" if self.empty else "update"

    def token_weights(self) -> FloatArray:
        """Return the weights per token (flat), 1 for kept responses without a reweighter."""
        lengths_B = self.batch.lengths_B
        if self.weights is None:
            return np.repeat(self.kept_B.astype(np.float64), lengths_B)
        return self.weights if self.per_token else np.repeat(self.weights, lengths_B)

    def compensated_weights(self, mode: LossAggMode, n_sequences: int | None = None) -> FloatArray:
        """Return weights per token that give the selected loss with every row left in the batch.

        Args:
            mode: How the loss is averaged.
            n_sequences: See `compensation`.

        Raises:
            InputDataError: verl has no such mode.
        """
        check_mode(mode)
        if self.skip_update:
            return np.zeros(self.batch.n_tokens)
        factor = compensation(self.kept_B, self.batch.lengths_B, mode, n_sequences)
        return self.token_weights() * factor
