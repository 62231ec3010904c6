"""An exact inverted index over the benchmarks' hashed word runs.

Benchmarks are small and training corpora are not, so the index holds the benchmark side and the
corpus streams past it in Arrow buffers (`scanner`).

Three ways lead to a candidate: enough shared n-grams; a short document (too few words for one
n-gram) standing in a text word by word; and equality of all words.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from dataflex_data.audits import hashing
from dataflex_data.audits.word_streams import Array, byte_array, hashed, word_streams
from dataflex_data.core.text import normalise

NEVER = np.iinfo(np.int32).max
FEWEST_WORDS = 5  # of a document that is looked for as a run; shorter ones by equality


@dataclass(frozen=True, slots=True)
class Document:
    """One form of one benchmark item that texts are compared with.

    Attributes:
        item: Position of the item it belongs to.
        text: Its text.
        hashes: Its word hashes, of the plain or of the LaTeX canonical form.
    """

    item: int
    text: str
    hashes: Array


@dataclass(frozen=True, slots=True)
class Thresholds:
    """What makes a pair a candidate, all in (0, 1].

    Attributes:
        own: Least share of a document's own (not boilerplate) n-grams.
        jaccard: Least Jaccard similarity of all n-grams, template ones included.
    """

    own: float
    jaccard: float


class NgramIndex:
    """Index of documents; build once, share between threads and processes (it pickles).

    Args:
        texts: Texts of the items, each with the position of its item, its full text first; one
            that is spelled otherwise in LaTeX canonical form gives two documents.
        n: Words of a shingle.
        boilerplate_items: An n-gram found in so many different items is template text.
        thresholds: What makes a pair a candidate.

    Attributes:
        documents: All documents; their positions are the ``docs`` of `Candidates`.
        n_grams: Distinct n-grams by document.
        n_own: Those of them that are not template text.
    """

    def __init__(
        self,
        texts: Sequence[tuple[int, str]],
        *,
        n: int,
        boilerplate_items: int,
        thresholds: Thresholds,
    ) -> None:
        from dataflex_data.audits import kernels

        self.n = n
        self.documents = _documents(texts)
        lengths = np.array([len(one.hashes) for one in self.documents], dtype=np.int64)
        starts = np.concatenate([[0], np.cumsum(lengths)])
        stream = np.concatenate([one.hashes for one in self.documents])
        runs = int(np.maximum(lengths - n + 1, 0).sum())
        hashes, owner = np.empty(runs, dtype=np.uint64), np.empty(runs, dtype=np.int32)
        wholes = np.empty(len(lengths), dtype=np.uint64)
        kernels.run_hashes(stream, starts, n, np.uint64(_power(n)), hashes, owner, wholes)
        grams, gram, doc = _distinct_pairs(hashes, owner)

        # Items with the same words count once: stored many times, an item is no template yet.
        numbers: dict[bytes, int] = {}
        number_of_item: dict[int, int] = {}
        for one in self.documents:
            if one.item not in number_of_item:
                words_of_item = one.hashes.tobytes()
                number_of_item[one.item] = numbers.setdefault(words_of_item, len(numbers))
        identity = np.array([number_of_item[one.item] for one in self.documents], dtype=np.int64)
        held = np.sort((gram << 32) | identity[doc])
        held = held[np.diff(held, prepend=-1) != 0]
        self._all_grams = grams
        self._items_of_gram: Array = np.bincount(held >> 32, minlength=len(grams))
        common = self._items_of_gram >= boilerplate_items
        self.n_grams: Array = np.bincount(doc, minlength=len(lengths)).astype(np.int32)
        self.n_own: Array = np.bincount(doc[~common[gram]], minlength=len(lengths)).astype(np.int32)
        self._lay_out(grams, gram, doc, common, thresholds)
        self._pieces = self._lay_out_pieces(stream, starts)
        self._lay_out_short(lengths)
        self._lay_out_wholes(wholes, lengths)

    def _lay_out(
        self, grams: Array, gram: Array, doc: Array, common: Array, thresholds: Thresholds
    ) -> None:
        own, total = self.n_own, self.n_grams
        shared_for_jaccard = _at_least(thresholds.jaccard, total)
        # Reaching the Jaccard threshold takes at least so many own n-grams, however many template
        # ones are shared. Where that is none, the template n-grams must be posted too.
        own_for_jaccard = shared_for_jaccard - (total - own)
        mostly_template = (total > 0) & (own_for_jaccard <= 0)
        own_needed = _at_least(thresholds.own, own)
        either = np.maximum(1, np.minimum(own_needed, own_for_jaccard))
        need_own = np.where(mostly_template, own_needed, either)
        self._needs = (
            np.where(own > 0, need_own, NEVER).astype(np.int32),
            np.where(mostly_template, shared_for_jaccard, NEVER).astype(np.int32),
            own,
        )
        posted = mostly_template[doc] | ~common[gram]
        gram, doc = gram[posted], doc[posted]
        kept, counts = np.unique(gram, return_counts=True)
        self._grams = _table(grams[kept])
        self._postings = (_starts(counts), doc.astype(np.int32), common[kept])

    def _lay_out_pieces(self, stream: Array, starts: Array) -> tuple[Any, ...]:
        """Return the filter over the shorter runs that the posted n-grams consist of."""
        from dataflex_data.audits import kernels

        piece = max(1, self.n // 2)
        room = self.n_posted + (self.n - piece) * len(self.documents)
        bits, shift = _filter(room)
        pieces = (
            *(bits, shift),
            *(self.n, np.uint64(_power(self.n))),
            *(piece, np.uint64(_power(piece))),
        )
        kernels.insert_pieces(stream, starts, self._grams, pieces)
        return pieces

    def _lay_out_short(self, lengths: Array) -> None:
        """Anchor each short document at its rarest word, by how many documents hold it."""
        short = ((lengths >= FEWEST_WORDS) & (lengths < self.n)).nonzero()[0].tolist()
        values = {doc: [int(word) for word in self.documents[doc].hashes] for doc in short}
        stream, counts = np.unique(
            np.concatenate([np.unique(one.hashes) for one in self.documents]), return_counts=True
        )
        by_anchor: dict[int, list[tuple[int, int]]] = {}
        for doc, found in values.items():
            held = counts[np.searchsorted(stream, self.documents[doc].hashes)].tolist()
            at = min(range(len(found)), key=lambda at: (held[at], at))
            by_anchor.setdefault(found[at], []).append((doc, at))
        anchors = sorted(by_anchor)
        entries = [entry for anchor in anchors for entry in by_anchor[anchor]]
        self._anchors = _table(np.array(anchors, dtype=np.uint64), mixed=True)
        self._runs = (
            _starts([len(by_anchor[anchor]) for anchor in anchors]),
            np.array([doc for doc, _ in entries], dtype=np.int32),
            np.array([at for _, at in entries], dtype=np.int32),
            np.array([len(values[doc]) for doc, _ in entries], dtype=np.int32),
            np.array([_power(len(values[doc])) for doc, _ in entries], dtype=np.uint64),
            np.array([_polynomial(values[doc]) for doc, _ in entries], dtype=np.uint64),
        )

    def _lay_out_wholes(self, wholes: Array, lengths: Array) -> None:
        worded = (lengths > 0).nonzero()[0]
        order = np.argsort(wholes[worded], kind="stable")
        hashes, counts = np.unique(wholes[worded], return_counts=True)
        self._wholes = (*_table(hashes), _starts(counts), worded[order].astype(np.int32))
        self._wordless: dict[str, list[int]] = {}
        for doc in (lengths == 0).nonzero()[0].tolist():
            text = self.documents[doc].text
            if text.strip():
                self._wordless.setdefault(normalise(text), []).append(doc)

    def __setstate__(self, state: dict[str, Any]) -> None:
        # Arrays that come out of a shared store are read-only, for which the kernels would be
        # compiled once more; the copy is cheaper.
        self.__dict__.update(
            {name: _writable(value) for name, value in state.items() if name != "documents"}
        )
        self.documents = state["documents"]

    @property
    def n_posted(self) -> int:
        """Number of n-grams that a scan counts."""
        return len(self._postings[2])

    @property
    def nbytes(self) -> int:
        """Bytes of the tables."""
        parts = (
            *self._grams,
            self._pieces[0],
            *self._postings,
            *self._anchors,
            *self._runs,
            *self._wholes,
        )
        return sum(part.nbytes for part in parts)

    def kernel_arguments(self) -> tuple[Any, ...]:
        """Return the tables as `kernels.match` takes them."""
        return (
            self._grams,
            self._pieces,
            self._postings,
            self._anchors,
            self._runs,
            self._wholes,
            self._needs,
        )

    def items_of(self, all_words: Sequence[str]) -> list[int]:
        """Return, for each n-gram of a text in order, in how many different items it stands."""
        from dataflex_data.audits import kernels

        count = len(all_words) - self.n + 1
        if count <= 0:
            return []
        stream = hashed(all_words)
        starts = np.array([0, len(stream)], dtype=np.int64)
        hashes, owner = np.empty(count, dtype=np.uint64), np.empty(count, dtype=np.int32)
        whole = np.empty(1, dtype=np.uint64)
        power = np.uint64(_power(self.n))
        kernels.run_hashes(stream, starts, self.n, power, hashes, owner, whole)
        at = np.minimum(np.searchsorted(self._all_grams, hashes), len(self._all_grams) - 1)
        found = self._all_grams[at] == hashes
        return [int(value) for value in np.where(found, self._items_of_gram[at], 0)]

    def wordless(self, text: str) -> list[int]:
        """Return the documents without a word that equal ``text``, which has none either."""
        return self._wordless.get(normalise(text), [])


def _table(hashes: Array, *, mixed: bool = False) -> tuple[Array, Array, Array, Any, Any]:
    """Return keys, positions, filter and the two shifts of a table over distinct hashes.

    ``mixed``: they are word hashes, whose bits are spread already, and are looked up as they are.
    """
    from dataflex_data.audits import kernels

    key_bits = max(4, int(2 * max(1, len(hashes)) - 1).bit_length())
    keys = np.zeros(1 << key_bits, dtype=np.uint64)
    values = np.zeros(1 << key_bits, dtype=np.int32)
    bits, shift_bits = _filter(len(hashes))
    shift_keys = np.uint64(64 - key_bits)
    kernels.insert_keys(hashes, keys, values, bits, shift_bits, shift_keys, mixed)
    return keys, values, bits, shift_bits, shift_keys


def _filter(count: int) -> tuple[Array, Any]:
    """Return an empty filter for so many keys, and the shift that gives a key's place in it."""
    word_bits = min(18, max(3, int(2 * max(1, count) - 1).bit_length() - 3))  # at most 2 MB
    return np.zeros(1 << word_bits, dtype=np.uint64), np.uint64(64 - word_bits)


def _documents(texts: Sequence[tuple[int, str]]) -> tuple[Document, ...]:
    """Return each text's documents: its plain form, and its LaTeX form where that differs."""
    encoded = byte_array([text.encode("utf-8", "surrogatepass") for _, text in texts])
    documents: list[Document] = []
    streams = word_streams(encoded)
    for (item, text), (plain, latex) in zip(texts, streams, strict=True):
        documents.append(Document(item, text, plain))
        if len(latex):
            documents.append(Document(item, text, latex))
    return tuple(documents)


def _distinct_pairs(hashes: Array, owner: Array) -> tuple[Array, Array, Array]:
    """Return the distinct hashes, sorted, and the distinct (hash position, owner) pairs.

    ``owner`` must ascend; it then ascends within each hash.
    """
    order = np.argsort(hashes, kind="stable")
    hashes, owner = hashes[order], owner[order]
    new_hash = np.ones(len(hashes), dtype=np.bool_)
    new_hash[1:] = hashes[1:] != hashes[:-1]
    new_pair = new_hash.copy()
    new_pair[1:] |= owner[1:] != owner[:-1]
    position = np.cumsum(new_hash) - 1
    return hashes[new_hash], position[new_pair], owner[new_pair]


def _writable(value: Any) -> Any:  # noqa: ANN401 - any attribute of an index
    if isinstance(value, tuple):
        return tuple(_writable(part) for part in value)
    return value.copy() if isinstance(value, np.ndarray) else value


def run_hashes(hashes: Sequence[int], n: int) -> list[int]:
    """Return the hash of each run of ``n`` words, given the words' hashes."""
    return [_polynomial(hashes[at : at + n]) for at in range(len(hashes) - n + 1)]


def _polynomial(hashes: Sequence[int]) -> int:
    value = 0
    for word in hashes:
        value = (value * hashing.BASE + word) & hashing.MASK
    return value


def _starts(counts: Sequence[int] | Array) -> Array:
    return np.concatenate([[0], np.cumsum(counts)]).astype(np.int64)


def _power(exponent: int) -> int:
    return pow(hashing.BASE, exponent, 2**64)


def _at_least(share: float, counts: Array) -> Array:
    """Return the least whole numbers that are at least ``share`` of ``counts`` (safe in floats)."""
    return np.ceil(share * counts - 1e-9).astype(np.int64)
