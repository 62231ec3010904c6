"""The shape of an update with fewer rows: which rows go where, and the numbers verl divides by.

Dropping a row is exact only where everything that verl derives from the number of rows follows:
mini-batches, micro-batches, their division among data-parallel ranks, and the denominators of the
loss. All of that is decided here, as a plain function that needs neither torch nor verl.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from dataflex_data.policies.loss import update_shape


@dataclass(frozen=True, slots=True)
class UpdatePlan:
    """An update over the kept rows.

    Attributes:
        order: Rows in the order to send: rank after rank, mini-batch after mini-batch.
        fill: The dropped rows among them, which only make the numbers divide; their masks must be
            zero during the update.
        n_mini: Optimiser steps.
        mini_batch_size: Rows of one, over all ranks, fill included.
        micro_batch_size: Rows per rank and forward pass.
        mean_kept: Kept rows of one optimiser step: the denominator of verl's ``seq-mean`` losses.
            Where they do not divide evenly it is their mean, since verl takes one number.
    """

    order: tuple[int, ...]
    fill: tuple[int, ...]
    n_mini: int
    mini_batch_size: int
    micro_batch_size: int
    mean_kept: float


def plan_update(
    kept: Sequence[int],
    dropped: Sequence[int],
    lengths: Sequence[int],
    *,
    ranks: int,
    mini_batch_rows: int,
    micro_batch_size: int | None,
) -> UpdatePlan:
    """Return how to send the kept rows.

    Kept rows are dealt by falling length, back and forth, over all cells (a mini-batch on a rank):
    cells differ by one row at most, and carry about the same number of tokens.

    Args:
        kept: Rows that are kept, at least one.
        dropped: All other rows; fill is taken from the shortest.
        lengths: Tokens of every row.
        ranks: Data-parallel ranks.
        mini_batch_rows: Rows of one optimiser step of the whole batch.
        micro_batch_size: Rows per rank and forward pass; ``None`` where verl packs by tokens.
    """
    shape = update_shape(len(kept), mini_batch_rows, ranks)
    n_mini = shape.n_mini_batches
    cells = ranks * n_mini
    rows_per_cell = shape.rows_per_mini_batch // ranks
    # One row per pass more or less, rather than passes of one row where the number is prime.
    micro_batch_size = micro_batch_size or rows_per_cell
    passes = -(-rows_per_cell // micro_batch_size)
    micro = -(-rows_per_cell // passes)
    rows_per_cell = passes * micro
    held: list[list[int]] = [[] for _ in range(cells)]
    # Cell c is mini-batch c % n_mini: neighbours in the deal are different optimiser steps, so
    # that a short deal leaves none of them without a kept row.
    for place, row in enumerate(sorted(kept, key=lambda row: (-lengths[row], row))):
        turn, cell = divmod(place, cells)
        held[cell if turn % 2 == 0 else cells - 1 - cell].append(row)
    spare = iter(sorted(dropped, key=lambda row: (lengths[row], row)))
    fill: list[int] = []
    for rows in held:
        while len(rows) < rows_per_cell:
            fill.append(next(spare))
            rows.append(fill[-1])
    order = [
        row for rank in range(ranks) for mini in range(n_mini) for row in held[rank * n_mini + mini]
    ]
    return UpdatePlan(
        order=tuple(order),
        fill=tuple(fill),
        n_mini=n_mini,
        mini_batch_size=ranks * rows_per_cell,
        micro_batch_size=micro,
        mean_kept=len(kept) / n_mini,
    )
