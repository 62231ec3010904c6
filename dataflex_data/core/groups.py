# ruff: noqa: N802, N815 - shape suffixes on properties and attributes
"""Ids as numbers: which responses belong together, and a hash of each id.

Sorting a million string ids costs seconds; everything here is vectorised over their bytes and
checked against the ids themselves.
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
_FEW = 4096  # ids for which a dictionary is as fast as anything


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

    Sorting strings costs seconds per million. Equal neighbours are found by comparison; values in
    mixed order by sorting hashes of their bytes, checked against the values themselves.
    """
    n = values.size
    if not n:
        return np.zeros(0, dtype=np.int64), True
    new = np.empty(n, dtype=bool)
    new[0] = True
    new[1:] = values[1:] != values[:-1]
    heads = values[new]
    numbers: dict[Any, int] = {}
    if heads.size <= max(_FEW, n // 2):
        numbers = dict.fromkeys(heads.tolist(), 0)
        if len(numbers) == heads.size:
            return np.cumsum(new, dtype=np.int64) - 1, True
    elif values.dtype.kind in "OU":
        found = _by_hash(values)
        if found is not None:
            return found, False
    numbers = numbers or dict.fromkeys(heads.tolist(), 0)
    for number, name in enumerate(numbers):
        numbers[name] = number
    runs = np.fromiter(map(numbers.__getitem__, heads.tolist()), dtype=np.int64, count=heads.size)
    return runs[np.cumsum(new) - 1], False


def _by_hash(values: npt.NDArray[Any]) -> IntArray | None:
    """Return each string's number by first appearance, or ``None`` where hashes cannot tell."""
    found = _narrow_words(values)
    if found is None:
        return None
    words, exact = found
    mixed = np.full(values.size, 0x9E3779B97F4A7C15, dtype=np.uint64)
    for w in range(words.shape[1]):
        mixed ^= words[:, w]
        mixed *= np.uint64(0xBF58476D1CE4E5B9)
        mixed ^= mixed >> np.uint64(29)
    order = np.argsort(mixed, kind="stable")
    ordered = mixed[order]
    first = np.ones(values.size, dtype=bool)
    first[1:] = ordered[1:] != ordered[:-1]
    heads = order[first]
    rank = np.empty(heads.size, dtype=np.int64)
    rank[np.argsort(heads)] = np.arange(heads.size)
    run = np.cumsum(first) - 1
    head_B = np.empty(values.size, dtype=np.int64)
    head_B[order] = heads[run]
    if np.any(words != words[head_B] if exact else values != values[head_B]):
        return None  # two texts with one hash
    of_B = np.empty(values.size, dtype=np.int64)
    of_B[order] = rank[run]
    return of_B


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
    found = _narrow_words(values)
    if found is not None:
        words, _ = found
    else:
        texts = [str(value).encode("utf-8", "surrogatepass") for value in values.tolist()]
        width = -(-max(map(len, texts), default=1) // 8) * 8
        words = np.array(texts, dtype=f"S{width}").view("<u8").reshape(len(texts), -1)
    total = np.zeros(values.size, dtype=np.uint64)
    places = splitmix64(np.arange(words.shape[1], dtype=np.uint64))
    for w in range(words.shape[1]):
        column = words[:, w].astype(np.uint64)
        total += np.where(column == 0, np.uint64(0), splitmix64(column ^ places[w]))
    return splitmix64(total)


def _narrow_words(values: npt.NDArray[Any]) -> tuple[U64Array, bool] | None:
    """Return short ASCII strings as rows of 64-bit words, and whether equal rows are equal strings.

    Rows have zeros on the right, so strings that end in zero characters may share one. ``None``
    where the values are not short ASCII strings.
    """
    equally_wide = _words_of_one_width(values)
    if equally_wide is not None:
        return equally_wide, True
    try:
        texts = values.astype(f"S{_NARROW}")
    except UnicodeEncodeError:
        return None
    words = texts.view("<u8").reshape(values.size, _NARROW // 8)
    cut_off = bool((words[:, -1] >> np.uint64(56)).any())
    return None if cut_off else (words, False)


def _words_of_one_width(values: npt.NDArray[Any]) -> U64Array | None:
    """Return the words of short ASCII strings that are all of one length, such as UUIDs.

    One joined string is turned to bytes several times faster than each string alone.
    """
    texts = values.tolist()
    if not texts or not isinstance(texts[0], str) or not 0 < len(texts[0]) < _NARROW:
        return None
    width = len(texts[0])
    try:
        joined = "".join(texts)
    except TypeError:
        return None  # not all are strings
    if not joined.isascii() or set(map(len, texts)) != {width}:
        return None
    padded = np.zeros((len(texts), -(-width // 8) * 8), dtype=np.uint8)
    padded[:, :width] = np.frombuffer(joined.encode(), dtype=np.uint8).reshape(-1, width)
    return padded.view("<u8")
