"""MinHash with locality-sensitive hashing (datasketch) as an engine of its own, always verified.

It answers the question that papers ask, Jaccard similarity above a threshold, on whole texts; its
candidates are confirmed on text like those of the exact index. It finds less: copies inside longer
prompts have a low Jaccard similarity, and short texts have no n-grams at all.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa

from dataflex_data.audits import hashing
from dataflex_data.audits.ngram_index import (
    Candidates,
    NgramIndex,
    cached_word_hash,
    decoded,
    run_hashes,
)
from dataflex_data.core.errors import StateError
from dataflex_data.core.text import NORMALISER_VERSION, words

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
        self._lsh = new_lsh()
        for doc, document in enumerate(index.documents):
            grams = run_hashes([int(value) for value in document.hashes], index.n)
            if grams:
                self._lsh.insert(doc, signature(sorted(set(grams))))

    def scan(self, texts: pa.Array) -> Candidates:
        """Return the candidates among ``texts``."""
        rows, docs, seen, invalid = [], [], 0, 0
        for row, raw in enumerate(texts.cast(pa.large_binary()).to_pylist()):
            text, valid = decoded(raw or b"")
            invalid += not valid
            seen += len(words(text))
            for form in {tuple(words(text)), tuple(hashing.latex_words(text))}:
                grams = run_hashes([cached_word_hash(word) for word in form], self._index.n)
                if grams:
                    hits = self._lsh.query(signature(sorted(set(grams))))
                    rows += [row] * len(hits)
                    docs += hits
        count = len(self._index.documents)
        return Candidates(
            rows=np.array(rows, dtype=np.int32),
            docs=np.array(docs, dtype=np.int32),
            best=np.zeros(count, dtype=np.int32),
            best_row=np.full(count, -1, dtype=np.int64),
            words=seen,
            slow_rows=len(texts),
            invalid_rows=invalid,
        )


def minhash_finder(auditor: Auditor) -> MinHashFinder:
    """Return a finder over the documents of an auditor."""
    return MinHashFinder(auditor.index)


def _low_bits(value: int) -> int:
    # Our n-gram hashes are mixed already; datasketch permutes 32-bit values.
    return hashing.mix(value) & 0xFFFFFFFF
