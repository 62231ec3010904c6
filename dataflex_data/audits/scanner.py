"""The scan of texts against an `NgramIndex`: which pairs may satisfy its thresholds.

It misses no pair that does; a caller confirms each on its text (`comparison`).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pyarrow as pa

from dataflex_data.audits.ngram_index import NgramIndex
from dataflex_data.audits.word_streams import Array, Reading, Streams, TextHasher


@dataclass(frozen=True, slots=True)
class Candidates:
    """What a scan of one batch found; positions are within the batch.

    Attributes:
        rows: Text positions, with repeats.
        docs: The documents they may match.
        best: Per document, the most own n-grams that one text of the batch shares with it (1 for
            a document without any that stands in a text); None where the finder does not look.
        reading: Counts of words and of odd texts.
    """

    rows: Array
    docs: Array
    best: Array | None
    reading: Reading


class Scanner:
    """The scratch memory of one thread that scans texts against an index."""

    def __init__(self, index: NgramIndex) -> None:
        self.index = index
        self._arguments = index.kernel_arguments()
        self._hasher = TextHasher()
        count = len(index.documents)
        self._best = np.zeros(count, dtype=np.int32)
        self._marks = np.zeros(1, dtype=np.int64)
        self._state = (
            (np.zeros(index.n_posted, dtype=np.int64), np.zeros(count, dtype=np.int64)),
            (np.zeros(count, dtype=np.int32), np.zeros(count, dtype=np.int32)),
            np.zeros(count, dtype=np.int32),
            self._best,
            self._marks,
        )
        self._sums = np.empty(1 << 12, dtype=np.uint64)
        self._out_row = np.empty(1 << 12, dtype=np.int32)
        self._out_doc = np.empty(1 << 12, dtype=np.int32)

    def scan(self, texts: pa.Array) -> Candidates:
        """Return the candidates among ``texts``, an Arrow array of text or bytes; nulls are empty.

        Raises:
            TypeError: The array holds something else.
        """
        self._best[:] = 0
        told = Reading()
        found = 0
        for streams in self._hasher.read(texts, told):
            found = self._match(streams, found)
        for position, text in told.wordless:
            for doc in self.index.wordless(text):
                if found == len(self._out_row):
                    self._grow()
                self._out_row[found], self._out_doc[found] = position, doc
                self._best[doc] = 1
                found += 1
        return Candidates(
            rows=self._out_row[:found].copy(),
            docs=self._out_doc[:found].copy(),
            best=self._best.copy(),
            reading=told,
        )

    def _match(self, streams: Streams, found: int) -> int:
        from dataflex_data.audits import kernels

        longest = int(np.diff(streams.starts[: streams.count + 1]).max())
        if longest >= len(self._sums):
            self._sums = np.empty(longest + 1, dtype=np.uint64)
        at = 0
        while True:
            at, found = kernels.match(
                streams.hashes,
                streams.starts,
                streams.rows,
                at,
                streams.count,
                self._arguments,
                self._state,
                self._sums,
                self._out_row,
                self._out_doc,
                found,
            )
            if at == streams.count:
                return int(found)
            self._grow()

    def _grow(self) -> None:
        self._out_row = np.concatenate([self._out_row, np.zeros_like(self._out_row)])
        self._out_doc = np.concatenate([self._out_doc, np.zeros_like(self._out_doc)])
