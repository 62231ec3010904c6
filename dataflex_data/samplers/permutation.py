"""The order inside a domain: a permutation that is a function of a key, computed where needed.

Small domains are sorted by keyed hashes: every order is possible. Above `SORTED_UP_TO` rows a
Feistel network takes over, which gives any stretch of the order without an array as long as the
domain; a network over so few rows would be too regular, an array over so many too large.

The order is part of the state's contract: a change here makes every saved state mean something
else. The golden tests pin it; `ORDER_VERSION` must change with it.
"""

from __future__ import annotations

from typing import Any, Protocol, TypeAlias

import numpy as np
import numpy.typing as npt

from dataflex_data.core.errors import InputDataError
from dataflex_data.core.seeding import keyed_hash, splitmix64

Words: TypeAlias = npt.NDArray[np.uint32]
Places: TypeAlias = npt.NDArray[np.unsignedinteger[Any]]
ORDER_VERSION = 1
SORTED_UP_TO = 1 << 16
_ROUNDS = 10
_MAX_ROWS = 1 << 31
_GOLDEN = np.uint64(0x9E3779B97F4A7C15)
_SHIFT, _HALF = np.uint16(7), np.uint32(16)
_CHUNK = 1 << 15  # measured: half of it costs a third more per row, in calls
_NOTHING: Words = np.empty(0, dtype=np.uint32)


class Permutation(Protocol):
    """A permutation of ``range(size)``."""

    def take(self, start: int, stop: int) -> Places:
        """Return the elements at places ``start`` to ``stop``; not to be written to."""


def keyed_permutation(size: int, seed: int, domain: str, epoch: int) -> Permutation:
    """Return the order of a domain's rows in one epoch.

    Args:
        size: Rows of the domain, at most 2**31.
        seed: Seed of the sampler.
        domain: Its name; the order does not depend on which other domains there are.
        epoch: Counted from 0.

    Raises:
        InputDataError: The domain is empty or too large.
    """
    if not 0 < size <= _MAX_ROWS:
        raise InputDataError(f"domain {domain!r} has {size} rows; it needs 1 to {_MAX_ROWS}")
    key = keyed_hash("dataflex/order", ORDER_VERSION, seed, domain, epoch)
    return _Sorted(size, key) if size <= SORTED_UP_TO else _Feistel(size, key)


class _Sorted:
    """Rows in the order of their keyed hashes."""

    def __init__(self, size: int, key: int) -> None:
        # Sorting (hash, row) packed into one word is several times faster than an argsort. At
        # least 48 bits of hash are left: 65,536 rows have a tie once in 130,000 epochs, and a tie
        # falls back to the row's number.
        bits = np.uint64((size - 1).bit_length())
        rows = np.arange(size, dtype=np.uint64)
        with np.errstate(over="ignore"):
            packed = splitmix64(rows * _GOLDEN + np.uint64(key))
        packed <<= bits
        packed |= rows
        packed.sort()
        packed &= (np.uint64(1) << bits) - np.uint64(1)
        self._order = packed.astype(np.uint16)

    def take(self, start: int, stop: int) -> Places:
        return self._order[start:stop]


class _Feistel:
    """A row number as two digits, each at most 16 bits; each round adds a hash of one to the other.

    The low digit is whole bits, the high one has a radix of its own, so that hardly any place falls
    outside the domain; those that do are walked on along their cycle until they are inside. Work in
    16 bits is twice as fast as in 32. Chunks are kept as they are computed, since a domain is read
    a few rows at a time and strictly onwards.

    Source: Black and Rogaway, "Ciphers with arbitrary finite domains" (CT-RSA 2002), the
    generalised Feistel construction and cycle walking; the round function is our own.
    """

    def __init__(self, size: int, key: int) -> None:
        self._size = size
        low_bits = (size - 1).bit_length() // 2 + 1
        high = ((size - 1) >> low_bits) + 1
        self._low_bits, self._low_mask = np.uint32(low_bits), np.uint16((1 << low_bits) - 1)
        self._high, self._wide_high = np.uint16(high), np.uint32(high)
        self._low_shift = np.uint16(16 - low_bits)
        with np.errstate(over="ignore"):
            keys = splitmix64(np.arange(_ROUNDS, dtype=np.uint64) * _GOLDEN + np.uint64(key))
        words = keys.astype("<u8").view("<u2").astype(np.uint16).reshape(_ROUNDS, 4)[:, :3]
        self._keys = words | np.array([0, 1, 1], dtype=np.uint16)  # odd factors lose nothing
        self._chunk_rows = min(_CHUNK, size >> 3)
        self._chunk_number = -1
        self._chunk: Words = np.empty(0, dtype=np.uint32)

    def take(self, start: int, stop: int) -> Places:
        parts = []
        for number in range(start // self._chunk_rows, -(-stop // self._chunk_rows)):
            if number != self._chunk_number:
                self._chunk, self._chunk_number = self._compute(number), number
            offset = number * self._chunk_rows
            parts.append(self._chunk[max(start - offset, 0) : stop - offset])
        return parts[0] if len(parts) == 1 else np.concatenate([*parts, _NOTHING])

    def _compute(self, number: int) -> Words:
        start = number * self._chunk_rows
        places = np.arange(start, min(start + self._chunk_rows, self._size), dtype=np.uint32)
        rows = self._encrypt(places)
        outside = np.flatnonzero(rows >= self._size)
        while outside.size:
            rows[outside] = self._encrypt(rows[outside])
            outside = outside[rows[outside] >= self._size]
        return rows

    def _encrypt(self, places: Words) -> Words:
        high = (places >> self._low_bits).astype(np.uint16)
        low = places.astype(np.uint16) & self._low_mask
        hashed, scratch = np.empty_like(low), np.empty_like(low)
        wide = np.empty(low.size, dtype=np.uint32)
        for number, (plus, first, second) in enumerate(self._keys):
            np.add(low if number % 2 == 0 else high, plus, out=hashed)
            np.multiply(hashed, first, out=hashed)
            np.right_shift(hashed, _SHIFT, out=scratch)
            np.bitwise_xor(hashed, scratch, out=hashed)
            np.multiply(hashed, second, out=hashed)
            if number % 2:
                np.right_shift(hashed, self._low_shift, out=hashed)
                np.bitwise_xor(low, hashed, out=low)
            else:
                # The hash scaled to the radix, at most 2**15; taking some of its bits instead
                # would leave the largest digits rare.
                np.multiply(hashed, self._wide_high, out=wide)
                np.right_shift(wide, _HALF, out=wide)
                np.copyto(hashed, wide, casting="unsafe")  # faster than to add words unlike
                # Modulo the radix: below it, high - radix wraps round to a large number.
                np.add(high, hashed, out=high)
                np.subtract(high, self._high, out=hashed)
                np.minimum(high, hashed, out=high)
        np.left_shift(high, self._low_bits, out=wide)
        wide |= low
        return wide
