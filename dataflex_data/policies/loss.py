"""What selection and weights do to the loss, in each of verl's ways of averaging it.

Dropping rows and keeping them with compensating weights must give one and the same gradient; and
weights must leave the size of the step as it was. Both depend on what the loss divides by.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Literal, TypeAlias, get_args

import numpy as np

from dataflex_data.core.errors import InputDataError, did_you_mean
from dataflex_data.core.rollout import BoolArray, FloatArray, IntArray

LossAggMode: TypeAlias = Literal[
    "token-mean",
    "token-sum",
    "seq-mean-token-sum",
    "seq-mean-token-sum-norm",
    "seq-mean-token-mean",
]
LOSS_AGG_MODES: tuple[str, ...] = get_args(LossAggMode)


def check_mode(mode: str) -> LossAggMode:
    """Return the mode.

    Raises:
        InputDataError: verl has no such mode.
    """
    if mode not in LOSS_AGG_MODES:
        raise InputDataError(
            f"loss_agg_mode {mode!r} is not known{did_you_mean(str(mode), LOSS_AGG_MODES)} "
            f"(known: {', '.join(LOSS_AGG_MODES)})"
        )
    return mode  # type: ignore[return-value]


def compensation(
    kept_B: BoolArray, lengths_B: IntArray, mode: LossAggMode, n_sequences: int | None = None
) -> float:
    """Return the weight of kept responses that gives the loss of the kept ones alone.

    Dropped responses weigh 0 and stay in the batch, whose denominator counts them still: tokens in
    ``token-mean``, sequences in the ``seq-mean`` modes; ``token-sum`` has none.

    Args:
        kept_B: At least one response with a token is kept.
        lengths_B: Tokens per response.
        mode: How the loss is averaged.
        n_sequences: What a ``seq-mean`` mode divides by, where it is a constant of the host
            (``ppo_mini_batch_size * n``); by default the responses that have a token.

    Raises:
        InputDataError: Nothing is kept, or verl has no such mode.
    """
    check_mode(mode)
    filled_B = lengths_B > 0
    n_kept = int((kept_B & filled_B).sum())
    if not n_kept:
        raise InputDataError("no response with a token is kept: there is no loss to compensate")
    if mode == "token-sum":
        return 1.0
    if mode == "token-mean":
        return float(lengths_B.sum() / lengths_B[kept_B].sum())
    return float((n_sequences or int(filled_B.sum())) / n_kept)


def aggregate(
    losses_T: FloatArray,
    lengths_B: IntArray,
    mode: LossAggMode,
    weights_B: FloatArray | None = None,
    *,
    n_sequences: int | None = None,
    horizon: int | None = None,
) -> float:
    """Return the loss of flat token losses, as verl 0.9.1 averages it.

    Args:
        losses_T: Flat, one per token.
        lengths_B: Tokens per response.
        mode: How it is averaged.
        weights_B: One per response.
        n_sequences: As in `compensation`.
        horizon: Constant that ``seq-mean-token-sum-norm`` divides by; default the longest response.

    Raises:
        InputDataError: verl has no such mode.

    Source: verl 0.9.1, trainer/ppo/core_algos.py, ``agg_loss``.
    """
    check_mode(mode)
    weighted = losses_T if weights_B is None else losses_T * np.repeat(weights_B, lengths_B)
    if mode in ("token-mean", "token-sum"):
        total = float(weighted.sum())
        return total if mode == "token-sum" else total / int(lengths_B.sum())
    filled_B = lengths_B > 0
    starts = (np.cumsum(lengths_B) - lengths_B)[filled_B]
    sums = np.add.reduceat(weighted, starts, dtype=np.float64)
    if mode == "seq-mean-token-mean":
        sums = sums / lengths_B[filled_B]
    mean = float(sums.sum()) / (n_sequences or int(filled_B.sum()))
    return mean / (horizon or int(lengths_B.max())) if mode == "seq-mean-token-sum-norm" else mean


@dataclass(frozen=True, slots=True)
class UpdateShape:
    """How kept rows are laid out in mini-batches of one size.

    Attributes:
        rows_per_mini_batch: A multiple of the number of data-parallel ranks.
        n_mini_batches: 0 where nothing is kept.
        filler: Rows with an all-zero mask to add, so that the division is without remainder.
    """

    rows_per_mini_batch: int
    n_mini_batches: int
    filler: int


def update_shape(n_kept: int, mini_batch_rows: int, dp_size: int = 1) -> UpdateShape:
    """Return mini-batches that hold every kept row, none lost and none waited for.

    A rest that fills no mini-batch is trained on all the same; rows are spread evenly, so that no
    mini-batch consists of filler.

    Raises:
        InputDataError: A size is not above 0, or mini-batches cannot be split over the ranks.
    """
    if mini_batch_rows < 1 or dp_size < 1 or n_kept < 0:
        raise InputDataError(
            f"cannot lay out {n_kept} rows in mini-batches of {mini_batch_rows} "
            f"over {dp_size} ranks"
        )
    if mini_batch_rows % dp_size:
        raise InputDataError(
            f"mini-batches of {mini_batch_rows} rows cannot be split over {dp_size} ranks"
        )
    if n_kept == 0:
        return UpdateShape(0, 0, 0)
    n_mini = math.ceil(n_kept / mini_batch_rows)
    rows = math.ceil(math.ceil(n_kept / n_mini) / dp_size) * dp_size
    return UpdateShape(rows, n_mini, rows * n_mini - n_kept)
