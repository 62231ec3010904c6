"""An exact inverted index over the benchmarks' hashed word runs, and the scan of texts against it.

Benchmarks are small and training corpora are not, so the index holds the benchmark side and the
corpus streams past it in Arrow buffers. The scan answers with candidates, pairs that may satisfy
the thresholds; it misses none that does, and a caller confirms each on its text (`comparison`).

Three ways lead to a candidate: enough shared n-grams; a short document (too few words for one
n-gram) standing in a text word by word; and equality of all words.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from dataflex_data.audits import hashing
from dataflex_data.audits.folding import shared_fold_table
from dataflex_data.core.text import normalise, words

Array = npt.NDArray[Any]

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


@dataclass(frozen=True, slots=True)
class Candidates:
    """What a scan of one batch found; positions are within the batch.

    Attributes:
        rows: Text positions, with repeats.
        docs: The documents they may match.
        best: Per document, the most own n-grams that one text of the batch shares with it (1 for
            a short document that stands in a text).
        best_row: The first text that shares so many; -1 where none shares any.
        words: Words seen.
        slow_rows: Texts that went through Python, for their combining marks or odd bytes.
        invalid_rows: Texts whose bytes are not UTF-8; odd bytes counted as separators.
    """

    rows: Array
    docs: Array
    best: Array
    best_row: Array
    words: int
    slow_rows: int
    invalid_rows: int


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
    def nbytes(self) -> int:
        """Bytes of the tables."""
        parts = (*self._grams, *self._postings, *self._anchors, *self._runs, *self._wholes)
        return sum(part.nbytes for part in parts)

    def kernel_arguments(self) -> tuple[Any, ...]:
        """Return the tables as `kernels.scan` takes them."""
        sizes = (self.n, np.uint64(_power(self.n)))
        return (
            self._grams,
            self._postings,
            self._anchors,
            self._runs,
            self._wholes,
            self._needs,
            sizes,
        )

    def items_of(self, all_words: Sequence[str]) -> list[int]:
        """Return, for each n-gram of a text in order, in how many different items it stands."""
        from dataflex_data.audits import kernels

        count = len(all_words) - self.n + 1
        if count <= 0:
            return []
        stream = _hashed(all_words)
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


class Scanner:
    """The scratch memory of one thread that scans texts against an index."""

    def __init__(self, index: NgramIndex) -> None:
        self.index = index
        self._arguments = index.kernel_arguments()
        self._fold = shared_fold_table()
        count = len(index.documents)
        gram_count = len(index.kernel_arguments()[1][2])
        self._best = np.zeros(count, dtype=np.int32)
        self._best_row = np.full(count, -1, dtype=np.int64)
        self._state = (
            np.zeros(gram_count, dtype=np.int64),
            np.zeros(count, dtype=np.int64),
            np.zeros(count, dtype=np.int32),
            np.zeros(count, dtype=np.int32),
            np.zeros(count, dtype=np.int32),
            self._best,
            self._best_row,
            np.zeros(1, dtype=np.int64),
        )
        self._scratch = _scratch(1 << 16)
        self._out_row = np.zeros(1 << 12, dtype=np.int32)
        self._out_doc = np.zeros(1 << 12, dtype=np.int32)

    def scan(self, texts: pa.Array) -> Candidates:
        """Return the candidates among ``texts``, an Arrow array of text or bytes; nulls are empty.

        Raises:
            TypeError: The array holds something else.
        """
        from dataflex_data.audits import kernels

        data, offsets = text_buffers(texts)
        longest = int(np.diff(offsets).max(initial=0))
        if longest // 2 + 8 > len(self._scratch[1]):
            self._scratch = _scratch(longest)
        self._best[:] = 0
        self._best_row[:] = -1
        folding = (self._fold.ascii, self._fold.index, self._fold.data)
        slow = np.zeros(len(texts), dtype=np.int32)
        row, n_out, n_slow, n_words = 0, 0, 0, 0
        while True:
            why, row, code, n_out, n_slow, seen = kernels.scan(
                data,
                offsets,
                row,
                len(texts),
                folding,
                command_table(),
                self._arguments,
                self._state,
                self._scratch,
                self._out_row,
                self._out_doc,
                n_out,
                slow,
                n_slow,
            )
            n_words += seen
            if why == kernels.DONE:
                break
            if why == kernels.LEARN:
                self._fold.learn(code)
            else:
                self._grow()
        invalid = 0
        for position in slow[:n_slow].tolist():
            raw = data[offsets[position] : offsets[position + 1]].tobytes()
            text, valid = decoded(raw)
            invalid += not valid
            n_out = self._scan_in_python(text, position, n_out)
        return Candidates(
            rows=self._out_row[:n_out].copy(),
            docs=self._out_doc[:n_out].copy(),
            best=self._best.copy(),
            best_row=self._best_row.copy(),
            words=n_words,
            slow_rows=n_slow,
            invalid_rows=invalid,
        )

    def _scan_in_python(self, text: str, position: int, n_out: int) -> int:
        from dataflex_data.audits import kernels

        plain, latex = words(text), hashing.latex_words(text)
        if plain:
            streams = [
                np.frombuffer(" ".join(stream).encode("utf-8", "surrogatepass"), dtype=np.uint8)
                for stream in (plain, latex)
            ]
            while True:
                found = kernels.scan_folded(
                    streams[0],
                    streams[1],
                    position,
                    self._arguments,
                    self._state,
                    self._out_row,
                    self._out_doc,
                    n_out,
                )
                if found >= 0:
                    return int(found)
                self._grow()
        for doc in self.index.wordless(text):
            if n_out == len(self._out_row):
                self._grow()
            self._out_row[n_out], self._out_doc[n_out] = position, doc
            self._best[doc] = 1
            if not 0 <= self._best_row[doc] < position:
                self._best_row[doc] = position
            n_out += 1
        return n_out

    def _grow(self) -> None:
        self._out_row = np.concatenate([self._out_row, np.zeros_like(self._out_row)])
        self._out_doc = np.concatenate([self._out_doc, np.zeros_like(self._out_doc)])


def decoded(raw: bytes) -> tuple[str, bool]:
    """Return bytes as text and whether they were UTF-8; others become U+FFFD."""
    try:
        return raw.decode("utf-8"), True
    except UnicodeDecodeError:
        return raw.decode("utf-8", "replace"), False


def text_buffers(texts: pa.Array) -> tuple[Array, Array]:
    """Return the UTF-8 bytes of an Arrow text array and its ``len + 1`` offsets into them.

    Raises:
        TypeError: The array holds something else than text or bytes.
    """
    kind = texts.type
    if pa.types.is_dictionary(kind):
        return text_buffers(texts.dictionary_decode())
    if pa.types.is_string_view(kind) or pa.types.is_binary_view(kind):
        return text_buffers(texts.cast(pa.large_binary()))
    if pa.types.is_large_string(kind) or pa.types.is_large_binary(kind):
        width: np.dtype[Any] = np.dtype(np.int64)
    elif pa.types.is_string(kind) or pa.types.is_binary(kind):
        width = np.dtype(np.int32)
    else:
        raise TypeError(f"texts must be an Arrow array of strings, got {kind}")
    if texts.null_count:
        return text_buffers(texts.fill_null("" if "string" in str(kind) else b""))
    _, offset_buffer, data_buffer = texts.buffers()
    if not len(texts) or offset_buffer is None:
        return np.zeros(0, dtype=np.uint8), np.zeros(len(texts) + 1, dtype=np.int64)
    offsets = np.frombuffer(
        offset_buffer, dtype=width, count=len(texts) + 1, offset=texts.offset * width.itemsize
    ).astype(np.int64)
    if data_buffer is None:
        return np.zeros(0, dtype=np.uint8), offsets
    return np.frombuffer(data_buffer, dtype=np.uint8), offsets


@lru_cache(maxsize=1)
def command_table() -> tuple[Array, Array, Array]:
    """Return `hashing.LATEX_COMMANDS` as an open-addressing table for the kernels."""
    size = 512
    keys, spelled = np.zeros(size, dtype=np.uint64), np.zeros(size, dtype=np.uint64)
    arguments = np.zeros(size, dtype=np.int64)
    for command, (spelling, arity) in hashing.LATEX_COMMANDS.items():
        name = hashing.word_hash(command)
        slot = name % size
        while keys[slot]:
            slot = (slot + 1) % size
        keys[slot] = name
        spelled[slot] = hashing.word_hash(spelling) if spelling is not None else 0
        arguments[slot] = arity
    return keys, spelled, arguments


def _scratch(longest: int) -> tuple[Array, Array, Array, Array]:
    from dataflex_data.audits import kernels

    room = longest // 2 + 8
    return (
        np.empty(kernels.COMMAND_BUFFER, dtype=np.uint8),
        np.empty(room, dtype=np.uint64),
        np.empty(room, dtype=np.uint64),
        np.empty(room + 1, dtype=np.uint64),
    )


def _table(hashes: Array, *, mixed: bool = False) -> tuple[Array, Array, Array, Any, Any]:
    """Return keys, positions, filter and the two shifts of a table over distinct hashes.

    ``mixed``: they are word hashes, whose bits are spread already, and are looked up as they are.
    """
    from dataflex_data.audits import kernels

    key_bits = max(4, int(2 * max(1, len(hashes)) - 1).bit_length())
    word_bits = min(18, max(3, key_bits - 3))  # at most 2 MB
    keys = np.zeros(1 << key_bits, dtype=np.uint64)
    values = np.zeros(1 << key_bits, dtype=np.int32)
    bits = np.zeros(1 << word_bits, dtype=np.uint64)
    shift_bits, shift_keys = np.uint64(64 - word_bits), np.uint64(64 - key_bits)
    kernels.insert_keys(hashes, keys, values, bits, shift_bits, shift_keys, mixed)
    return keys, values, bits, shift_bits, shift_keys


@lru_cache(maxsize=1 << 20)
def cached_word_hash(word: str) -> int:
    """Return `hashing.word_hash`, remembered."""
    return hashing.word_hash(word)


def _documents(texts: Sequence[tuple[int, str]]) -> tuple[Document, ...]:
    """Return each text's documents: its plain form, and its LaTeX form where that differs."""
    encoded = [text.encode("utf-8", "surrogatepass") for _, text in texts]
    documents: list[Document] = []
    streams = word_streams(pa.array(encoded, type=pa.large_binary()))
    for (item, text), (plain, latex) in zip(texts, streams, strict=True):
        documents.append(Document(item, text, plain))
        if len(latex):
            documents.append(Document(item, text, latex))
    return tuple(documents)


def word_streams(texts: pa.Array) -> list[tuple[Array, Array]]:
    """Return each text's word hashes, plain and in LaTeX form; the latter empty where the same."""
    from dataflex_data.audits import kernels

    data, offsets = text_buffers(texts)
    scratch = _scratch(int(np.diff(offsets).max(initial=0)))
    out = np.empty(2 * int(offsets[-1] - offsets[0]) + 16, dtype=np.uint64)
    lengths = np.zeros((len(texts), 2), dtype=np.int64)
    slow = np.zeros(len(texts), dtype=np.bool_)
    table, row, used = shared_fold_table(), 0, 0
    while True:
        why, row, code, written = kernels.hash_texts(
            data,
            offsets,
            row,
            (table.ascii, table.index, table.data),
            command_table(),
            scratch,
            out[used:],
            lengths,
            slow,
        )
        used += written
        if why == kernels.DONE:
            break
        table.learn(code)
    streams: list[tuple[Array, Array]] = []
    at = 0
    for number in range(len(texts)):
        if slow[number]:
            text, _ = decoded(data[offsets[number] : offsets[number + 1]].tobytes())
            plain, latex = _hashed(words(text)), _hashed(hashing.latex_words(text))
        else:
            middle, end = at + int(lengths[number, 0]), at + int(lengths[number].sum())
            plain, latex = out[at:middle].copy(), out[middle:end].copy()
            at = end
        streams.append((plain, latex if not np.array_equal(plain, latex) else latex[:0]))
    return streams


def _hashed(all_words: Sequence[str]) -> Array:
    return np.array([cached_word_hash(word) for word in all_words], dtype=np.uint64)


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
