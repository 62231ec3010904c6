# ruff: noqa: N802, N815 - shape suffixes on properties and attributes
"""Ids as numbers: which responses belong together, and a hash of each id.

Sorting a million string ids costs seconds; here they are compared, encoded by Arrow, or hashed over
their bytes.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from dataflex_data.core.seeding import U64Array, splitmix64

IntArray: TypeAlias = npt.NDArray[np.int64]
BoolArray: TypeAlias = npt.NDArray[np.bool_]

_NARROW = 48  # bytes of an id that is hashed at once: a UUID and more
_FEW = 4096  # ids for which a dictionary is as fast as anything; neighbours that tell the order


@dataclass(frozen=True, slots=True)
class Groups:
    """Which responses belong together.

    Attributes:
        of_B: Number of each response's group, counted by first appearance.
        order_B: Responses sorted by group, each group's in their order in the batch.
        starts_P: Where each group begins in ``order_B``.
        sizes_P: Responses per group.
    """

    of_B: IntArray
    order_B: IntArray
    starts_P: IntArray
    sizes_P: IntArray

    def __len__(self) -> int:
        return self.sizes_P.size

    @property
    def heads_P(self) -> IntArray:
        """First response of each group."""
        return self.order_B[self.starts_P]

    @property
    def ordinal_B(self) -> IntArray:
        """Each response's place in its group, from 0."""
        ordinal = np.empty(self.of_B.size, dtype=np.int64)
        ordinal[self.order_B] = np.arange(self.of_B.size) - np.repeat(self.starts_P, self.sizes_P)
        return ordinal

    def sum(self, values_B: npt.NDArray[Any]) -> npt.NDArray[Any]:
        """Return the sum per group; in float64, or int64 for integers and booleans."""
        kind = np.float64 if values_B.dtype.kind == "f" else np.int64
        if not len(self):
            return np.zeros(0, dtype=kind)
        return np.asarray(np.add.reduceat(values_B[self.order_B], self.starts_P, dtype=kind))

    def any(self, mask_B: BoolArray) -> BoolArray:
        """Return whether the mask holds for any response of each group."""
        return self.sum(mask_B) > 0

    def by_size(self) -> Iterator[tuple[IntArray, IntArray]]:
        """Yield, per group size, the numbers of those groups and their responses as a matrix.

        What sorts inside groups works on one matrix per size, without a loop over groups.
        """
        sizes = np.unique(self.sizes_P)
        for size in sizes:
            if sizes.size == 1:
                groups = np.arange(len(self), dtype=np.int64)
                yield groups, self.order_B.reshape(-1, int(size))
                return
            groups = np.flatnonzero(self.sizes_P == size)
            yield groups, self.order_B[self.starts_P[groups, None] + np.arange(size)]


def factorised(values: npt.NDArray[Any]) -> tuple[IntArray, bool]:
    """Return each value's number, by first appearance, and whether equal ones stand together.

    Where that is false, they may stand together all the same: it is not looked for in mixed order.
    Equal neighbours are found by comparison; strings in mixed order by Arrow's dictionary
    encoding, which visits each string object once; whatever else there is by a dictionary.
    """
    n = values.size
    if not n:
        return np.zeros(0, dtype=np.int64), True
    if n > _FEW and np.count_nonzero(values[1:_FEW] == values[: _FEW - 1]) < _FEW // 2:
        found = _encoded(values)
        if found is not None:
            return found, False
    new = np.empty(n, dtype=bool)
    new[0] = True
    new[1:] = values[1:] != values[:-1]
    heads = values[new].tolist()
    numbers = dict.fromkeys(heads, 0)
    run_B = np.cumsum(new, dtype=np.int64) - 1
    if len(numbers) == len(heads):
        return run_B, True
    for number, name in enumerate(numbers):
        numbers[name] = number
    runs = np.fromiter(map(numbers.__getitem__, heads), dtype=np.int64, count=len(heads))
    return runs[run_B], False


def _encoded(values: npt.NDArray[Any]) -> IntArray | None:
    """Return each string's number by first appearance, ``None`` where not all are strings."""
    if values.dtype.kind not in "OU":
        return None
    import pyarrow as pa

    try:
        # As objects: of numpy's own strings Arrow takes what stands before the first zero.
        texts = pa.array(values.astype(object, copy=False))
    except (pa.ArrowException, UnicodeError):
        return None  # mixed types, or a lone surrogate
    if not isinstance(texts, pa.StringArray) or texts.null_count:
        return None  # no strings, or so many that Arrow cuts them into chunks
    return np.asarray(texts.dictionary_encode().indices.to_numpy(), dtype=np.int64)


def stable_order(numbers: IntArray, n_numbers: int) -> IntArray:
    """Return the stable ascending order of numbers in ``[0, n_numbers)``.

    numpy sorts 16-bit integers by radix, several times faster than wider ones: two such passes.
    """
    if n_numbers > 1 << 32:
        return np.argsort(numbers, kind="stable").astype(np.int64, copy=False)
    order = np.argsort((numbers & 0xFFFF).astype(np.uint16), kind="stable")
    if n_numbers > 1 << 16:
        order = order[np.argsort((numbers[order] >> 16).astype(np.uint16), kind="stable")]
    return order.astype(np.int64, copy=False)


def hashes(values: npt.NDArray[Any]) -> U64Array:
    """Return a 64-bit hash per string or integer, the same in every process and on every platform.

    Of a string: each eight bytes of its UTF-8 form are mixed together with their place, and summed.
    """
    if values.dtype.kind in "iu":
        return splitmix64(values.astype(np.uint64))
    words = _narrow_words(values)
    if words is None:
        texts = [str(value).encode("utf-8", "surrogatepass") for value in values.tolist()]
        width = -(-max(map(len, texts), default=1) // 8) * 8
        words = np.array(texts, dtype=f"S{width}").view("<u8").reshape(len(texts), -1)
    total = np.zeros(values.size, dtype=np.uint64)
    places = splitmix64(np.arange(words.shape[1], dtype=np.uint64))
    for w in range(words.shape[1]):
        column = words[:, w].astype(np.uint64)
        total += np.where(column == 0, np.uint64(0), splitmix64(column ^ places[w]))
    return splitmix64(total)


def _narrow_words(values: npt.NDArray[Any]) -> U64Array | None:
    """Return short ASCII strings as rows of 64-bit words, ``None`` where they are not such."""
    try:
        texts = values.astype(f"S{_NARROW}")
    except UnicodeEncodeError:
        return None
    words = texts.view("<u8").reshape(values.size, _NARROW // 8)
    cut_off = bool((words[:, -1] >> np.uint64(56)).any())
    return None if cut_off else words
