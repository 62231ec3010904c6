"""MinHash with locality-sensitive hashing (datasketch) as an engine of its own, always verified.

It answers the question that papers ask, Jaccard similarity above a threshold, on whole texts; its
candidates are confirmed on text like those of the exact index. It finds less: copies inside longer
prompts have a low Jaccard similarity, and short texts have no n-grams at all. Nor does it know what
an item shares with the rows that are no candidates, so that its reports have no distribution.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa

from dataflex_data.audits import hashing
from dataflex_data.audits.ngram_index import NgramIndex, run_hashes
from dataflex_data.audits.scanner import Candidates
from dataflex_data.audits.word_streams import Reading, TextHasher
from dataflex_data.core.errors import StateError
from dataflex_data.core.text import NORMALISER_VERSION

if TYPE_CHECKING:
    from collections.abc import Sequence

    from datasketch import MinHash

    from dataflex_data.audits.contamination import Auditor

BANDS, ROWS = 42, 3
SEED = 1


def band_recall(jaccard: float, bands: int = BANDS, rows: int = ROWS) -> float:
    """Return the chance that a pair of this similarity shares at least one band."""
    return 1.0 - (1.0 - jaccard**rows) ** bands


def scheme(n: int) -> dict[str, Any]:
    """Return everything that two signatures must have in common to be compared."""
    return {
        "num_perm": BANDS * ROWS,
        "seed": SEED,
        "n": n,
        "normaliser_version": NORMALISER_VERSION,
        "hash_version": hashing.HASH_VERSION,
    }


def check_scheme(mine: dict[str, Any], theirs: dict[str, Any]) -> None:
    """Check that signatures of two schemes may be compared.

    Raises:
        StateError: Names what differs.
    """
    differing = [key for key in mine if mine[key] != theirs.get(key)]
    if differing:
        listed = ", ".join(f"{key} {theirs.get(key)!r} against {mine[key]!r}" for key in differing)
        raise StateError(f"MinHash signatures of different schemes cannot be compared: {listed}")


def signature(hashes: Sequence[int]) -> MinHash:
    """Return the MinHash of hashed n-grams (which must not be empty)."""
    from datasketch import MinHash

    found = MinHash(num_perm=BANDS * ROWS, seed=SEED, hashfunc=_low_bits)
    found.update_batch(hashes)
    return found


def new_lsh() -> Any:  # noqa: ANN401 - datasketch has no types
    """Return an empty index with our bands."""
    from datasketch import MinHashLSH

    return MinHashLSH(num_perm=BANDS * ROWS, params=(BANDS, ROWS))


class MinHashFinder:
    """Proposes pairs whose signatures share a band; made per thread by `minhash_finder`."""

    def __init__(self, index: NgramIndex) -> None:
        self._index = index
        self._hasher = TextHasher()
        self._lsh = new_lsh()
        for doc, document in enumerate(index.documents):
            grams = run_hashes([int(value) for value in document.hashes], index.n)
            if grams:
                self._lsh.insert(doc, signature(sorted(set(grams))))

    def scan(self, texts: pa.Array) -> Candidates:
        """Return the candidates among ``texts``."""
        told = Reading()
        pairs: list[tuple[int, int]] = []
        for streams in self._hasher.read(texts, told):
            for at in range(streams.count):
                run = streams.hashes[streams.starts[at] : streams.starts[at + 1]].tolist()
                grams = run_hashes(run, self._index.n)
                if grams:
                    row = int(streams.rows[at])
                    pairs += [(row, doc) for doc in self._lsh.query(signature(sorted(set(grams))))]
        found = np.array(pairs, dtype=np.int32).reshape(-1, 2)
        return Candidates(found[:, 0], found[:, 1], best=None, reading=told)


def minhash_finder(auditor: Auditor) -> MinHashFinder:
    """Return a finder over the documents of an auditor."""
    return MinHashFinder(auditor.index)


def _low_bits(value: int) -> int:
    # Our n-gram hashes are mixed already; datasketch permutes 32-bit values.
    return hashing.mix(value) & 0xFFFFFFFF
