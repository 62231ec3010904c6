"""Keyed hashes and named random streams from one seed; no global random state anywhere.

Every random choice is a function of (seed, names), never of the order in which things happen, so
that changing one source, row or worker count moves nothing else. The functions are our own and
pinned by golden tests: Python's ``hash`` changes with PYTHONHASHSEED, polars' with its version.
"""

from __future__ import annotations

import hashlib
from typing import TypeAlias

import numpy as np
import numpy.typing as npt

Key: TypeAlias = str | int | bytes
U64Array: TypeAlias = npt.NDArray[np.uint64]

_SEPARATOR = b"\x1f"


def digest(*parts: Key) -> bytes:
    """Return the 32-byte SHA-256 of the parts, each preceded by its type and length.

    The framing keeps ``("ab", "c")`` and ``("a", "bc")``, or ``1`` and ``"1"``, apart.
    """
    sha = hashlib.sha256()
    for part in parts:
        if isinstance(part, bytes):
            tag, data = b"b", part
        elif isinstance(part, str):
            # surrogatepass: a lone surrogate must hash, not raise; the schema refuses it later.
            tag, data = b"s", part.encode("utf-8", "surrogatepass")
        else:
            tag, data = b"i", str(int(part)).encode()
        sha.update(tag + str(len(data)).encode() + _SEPARATOR)
        sha.update(data)
    return sha.digest()


def keyed_hash(*parts: Key) -> int:
    """Return an integer in ``[0, 2**64)`` determined by the parts alone."""
    return int.from_bytes(digest(*parts)[:8], "big")


def hex_id(*parts: Key, length: int = 32) -> str:
    """Return ``length`` lower-case hex digits determined by the parts (at most 64)."""
    return digest(*parts).hex()[:length]


def stream(seed: int, *names: Key) -> np.random.Generator:
    """Return a random generator that belongs to ``(seed, *names)`` alone.

    Philox is counter-based: its output is specified, and the same on every platform.
    """
    key = np.frombuffer(digest(seed, *names)[:16], dtype=">u8").astype(np.uint64)
    return np.random.Generator(np.random.Philox(key=key))


def splitmix64(values: U64Array) -> U64Array:
    """Return a bijective mix of unsigned 64-bit integers, element by element.

    Source: Steele, Lea and Flood, "Fast splittable pseudorandom number generators" (OOPSLA 2014),
    the finaliser with the published constants, preceded by one step of the golden-ratio counter.
    """
    with np.errstate(over="ignore"):
        z = values.astype(np.uint64, copy=True)
        z += np.uint64(0x9E3779B97F4A7C15)
        z ^= z >> np.uint64(30)
        z *= np.uint64(0xBF58476D1CE4E5B9)
        z ^= z >> np.uint64(27)
        z *= np.uint64(0x94D049BB133111EB)
        z ^= z >> np.uint64(31)
    return z
