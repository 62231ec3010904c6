"""Choosing some of many by a number, with ties broken by key and never by place in the batch."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

import numpy as np
import numpy.typing as npt

from dataflex_data.core.groups import BoolArray, Groups, IntArray
from dataflex_data.core.seeding import U64Array


def top_k(values: npt.NDArray[np.floating], k: int, keys: Callable[[], U64Array]) -> BoolArray:
    """Return a mask of the ``k`` largest values; NaN comes after every number.

    Args:
        values: Numbers.
        k: At most their number.
        keys: Gives one number per value; called only where the k-th value stands more than once.
    """
    chosen = np.zeros(values.size, dtype=bool)
    if k >= values.size:
        return ~chosen
    if k <= 0:
        return chosen
    ranked = np.where(np.isnan(values), -np.inf, values)
    least = np.partition(ranked, values.size - k)[values.size - k]
    chosen[ranked > least] = True
    tied = np.flatnonzero(ranked == least)
    missing = k - int(chosen.sum())
    if missing < tied.size:
        # A NaN must not win against a number of minus infinity.
        order = np.lexsort((keys()[tied], np.isnan(values[tied])))
        tied = tied[order[:missing]]
    chosen[tied] = True
    return chosen


def ranked_members(
    groups: Groups, columns: Sequence[npt.NDArray[np.generic]]
) -> Iterator[tuple[IntArray, IntArray]]:
    """Yield, per group size, group numbers and their responses as a matrix, sorted along its rows.

    Args:
        groups: The groups.
        columns: One number per response each; the first decides, the others break its ties.
    """
    for numbers, rows in groups.by_size():
        ordered = rows
        for column in reversed(columns):
            place = np.argsort(column[ordered], axis=1, kind="stable")
            ordered = np.take_along_axis(ordered, place, axis=1)
        yield numbers, ordered


def rounded_share(fraction: float, sizes: IntArray, *, up: bool = False) -> IntArray:
    """Return ``fraction`` of each size as a whole number: half to even, or upwards."""
    exact = np.round(fraction * sizes.astype(np.float64), 9)  # .7 * 10 is 7.000000000000001
    return (np.ceil(exact) if up else np.rint(exact)).astype(np.int64)
