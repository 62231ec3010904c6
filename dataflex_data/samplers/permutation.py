"""The order inside a domain: a permutation that is a function of a key, computed where needed.

Small domains are sorted by keyed hashes: every order is possible. Above `SORTED_UP_TO` rows a
Feistel network takes over, which gives any stretch of the order without an array as long as the
domain; a network over so few rows would be too regular, an array over so many too large.

The order is part of the state's contract: a change here makes every saved state mean something
else. The golden tests pin it; `ORDER_VERSION` must change with it.
"""

from __future__ import annotations

from typing import Protocol

import numpy as np

from dataflex_data.core.errors import InputDataError
from dataflex_data.core.seeding import keyed_hash, splitmix64
from dataflex_data.core.simplex import IntArray

ORDER_VERSION = 1
SORTED_UP_TO = 1 << 16
_ROUNDS = 12
_MAX_ROWS = 1 << 32
_GOLDEN = np.uint64(0x9E3779B97F4A7C15)
_SHIFT, _HALF = np.uint32(15), np.uint32(16)
_CHUNK = 1 << 14  # 64 KiB per work array: stays in the second-level cache
_NOTHING: IntArray = np.empty(0, dtype=np.int64)


class Permutation(Protocol):
    """A permutation of ``range(size)``."""

    def take(self, start: int, stop: int) -> IntArray:
        """Return the elements at places ``start`` to ``stop``."""


def keyed_permutation(size: int, seed: int, domain: str, epoch: int) -> Permutation:
    """Return the order of a domain's rows in one epoch.

    Args:
        size: Rows of the domain, at most 2**32.
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

    def take(self, start: int, stop: int) -> IntArray:
        return self._order[start:stop].astype(np.int64)


class _Feistel:
    """A row number as two digits of mixed radix; each round adds a hash of one to the other.

    The radices are about the square root of the size, so that hardly any place falls outside; those
    that do are walked on along their cycle until they are inside. Chunks are kept as they are
    computed, since a domain is read a few rows at a time and strictly onwards.

    Source: Black and Rogaway, "Ciphers with arbitrary finite domains" (CT-RSA 2002), the
    generalised Feistel construction and cycle walking; the round function is our own.
    """

    def __init__(self, size: int, key: int) -> None:
        self._size = size
        low = int(np.ceil(np.sqrt(size)))
        self._low, self._high = np.uint32(low), np.uint32(-(-size // low))
        with np.errstate(over="ignore"):
            keys = splitmix64(np.arange(2 * _ROUNDS, dtype=np.uint64) * _GOLDEN + np.uint64(key))
        # Odd multipliers, so that multiplying loses nothing.
        self._keys = ((keys >> np.uint64(32)).astype(np.uint32) | np.uint32(1)).reshape(_ROUNDS, 2)
        self._chunk_rows = min(_CHUNK, size >> 4)
        self._chunk_number = -1
        self._chunk: IntArray = np.empty(0, dtype=np.int64)

    def take(self, start: int, stop: int) -> IntArray:
        parts = []
        for number in range(start // self._chunk_rows, -(-stop // self._chunk_rows)):
            if number != self._chunk_number:
                self._chunk, self._chunk_number = self._compute(number), number
            offset = number * self._chunk_rows
            parts.append(self._chunk[max(start - offset, 0) : stop - offset])
        return parts[0] if len(parts) == 1 else np.concatenate([*parts, _NOTHING])

    def _compute(self, number: int) -> IntArray:
        start = number * self._chunk_rows
        places = np.arange(start, min(start + self._chunk_rows, self._size), dtype=np.int64)
        rows = self._encrypt(places)
        outside = np.flatnonzero(rows >= self._size)
        while outside.size:
            rows[outside] = self._encrypt(rows[outside])
            outside = outside[rows[outside] >= self._size]
        return rows

    def _encrypt(self, places: IntArray) -> IntArray:
        high, low = (part.astype(np.uint32) for part in np.divmod(places, int(self._low)))
        hashed, scratch = np.empty_like(low), np.empty_like(low)
        for number, (first, second) in enumerate(self._keys):
            digit, other, radix = (
                (high, low, self._high) if number % 2 == 0 else (low, high, self._low)
            )
            # A hash of `other` in [0, radix). The radix is at most 2**16, so that the product of
            # it and 16 bits fits into 32.
            np.add(other, second, out=hashed)
            np.multiply(hashed, first, out=hashed)
            np.right_shift(hashed, _SHIFT, out=scratch)
            np.bitwise_xor(hashed, scratch, out=hashed)
            np.multiply(hashed, second, out=hashed)
            np.right_shift(hashed, _HALF, out=hashed)
            np.multiply(hashed, radix, out=hashed)
            np.right_shift(hashed, _HALF, out=hashed)
            # Modulo radix: below it, digit - radix wraps round to a large number.
            np.add(digit, hashed, out=digit)
            np.subtract(digit, radix, out=hashed)
            np.minimum(digit, hashed, out=digit)
        return high.astype(np.int64) * int(self._low) + low
