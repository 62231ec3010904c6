"""Texts in Arrow buffers as streams of word hashes, without a Python string per text.

Each text gives the hashes of its words, and where LaTeX canonical form differs a second stream of
those. Few texts go through Python instead: those with combining marks or with bytes that are not
UTF-8. Benchmarks, corpora and near-duplicates all read their texts here.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from dataflex_data.audits import hashing
from dataflex_data.audits.folding import shared_fold_table
from dataflex_data.core.text import words

Array = npt.NDArray[Any]

_ROOM = 1 << 19  # word hashes handed on at once: 4 MB


@dataclass(frozen=True, slots=True)
class Streams:
    """Some streams: ``hashes[starts[s]:starts[s + 1]]`` is one of text ``rows[s]``.

    A text's plain words come first; its LaTeX form follows where it differs.
    """

    hashes: Array
    starts: Array
    rows: Array
    count: int


@dataclass(slots=True)
class Reading:
    """What was met on the way.

    Attributes:
        words: Words of all plain streams.
        empty: Texts without any byte.
        slow: Texts that went through Python.
        invalid: Texts whose bytes are not UTF-8; odd bytes separate words.
        wordless: Position and text of those with characters but no word.
    """

    words: int = 0
    empty: int = 0
    slow: int = 0
    invalid: int = 0
    wordless: list[tuple[int, str]] = field(default_factory=list)


class TextHasher:
    """Turns texts into streams; holds the scratch memory of one thread."""

    def __init__(self) -> None:
        self._fold = shared_fold_table()
        self._commands = command_table()
        self._make_room(1 << 16)

    def _make_room(self, longest: int) -> None:
        from dataflex_data.audits import kernels

        room = longest // 2 + 8
        self._longest = longest
        self._scratch = (
            np.empty(kernels.COMMAND_BUFFER, dtype=np.uint8),
            np.empty(room, dtype=np.uint64),
        )
        self._out = np.empty(max(_ROOM, 2 * room), dtype=np.uint64)

    def read(self, texts: pa.Array, told: Reading) -> Iterator[Streams]:
        """Yield the streams of ``texts``, a few at a time; each is good until the next is asked.

        Args:
            texts: Arrow array of text or bytes; nulls are empty.
            told: Gets the counts.

        Raises:
            TypeError: The array holds something else.
        """
        from dataflex_data.audits import kernels

        data, offsets = text_buffers(texts)
        lengths = np.diff(offsets)
        told.empty += int(np.count_nonzero(lengths == 0))
        longest = int(lengths.max(initial=0))
        if longest > self._longest:
            self._make_room(longest)
        starts = np.empty(2 * len(texts) + 1, dtype=np.int64)
        rows = np.empty(2 * len(texts), dtype=np.int32)
        slow = np.empty(len(texts), dtype=np.int32)
        row, n_slow = 0, 0
        while True:
            why, row, code, count, n_slow, seen = kernels.hash_texts(
                data,
                offsets,
                row,
                (self._fold.ascii, self._fold.index, self._fold.data),
                self._commands,
                self._scratch,
                self._out,
                starts,
                rows,
                slow,
                n_slow,
            )
            told.words += seen
            if count:
                yield Streams(self._out, starts, rows, count)
            if why == kernels.DONE:
                break
            if why == kernels.LEARN:
                self._fold.learn(code)
        told.slow += n_slow
        for position in slow[:n_slow].tolist():
            raw = data[offsets[position] : offsets[position + 1]].tobytes()
            text, valid = decoded(raw)
            told.invalid += not valid
            plain = words(text)
            if plain:
                yield _python_streams(position, plain, hashing.latex_words(text))
            elif text.strip():
                told.wordless.append((position, text))


def word_streams(texts: pa.Array) -> list[tuple[Array, Array]]:
    """Return each text's word hashes, plain and in LaTeX form; the latter empty where the same."""
    none = np.zeros(0, dtype=np.uint64)
    plain, latex = [none] * len(texts), [none] * len(texts)
    seen: set[int] = set()
    for found in TextHasher().read(texts, Reading()):
        for stream in range(found.count):
            row = int(found.rows[stream])
            held = found.hashes[found.starts[stream] : found.starts[stream + 1]].copy()
            (latex if row in seen else plain)[row] = held
            seen.add(row)
    return [
        (first, second if not np.array_equal(first, second) else none)
        for first, second in zip(plain, latex, strict=True)
    ]


def _python_streams(position: int, plain: Sequence[str], latex: Sequence[str]) -> Streams:
    forms = [plain] if plain == latex else [plain, latex]
    hashes = [hashed(form) for form in forms]
    starts = np.cumsum([0, *map(len, hashes)], dtype=np.int64)
    rows = np.full(len(forms), position, dtype=np.int32)
    return Streams(np.concatenate(hashes), starts, rows, len(forms))


def hashed(all_words: Sequence[str]) -> Array:
    """Return the hashes of folded words."""
    from dataflex_data.audits import kernels

    joined = " ".join(all_words).encode("utf-8", "surrogatepass")
    out = np.empty(len(all_words), dtype=np.uint64)
    kernels.hash_folded(np.frombuffer(joined, dtype=np.uint8), out)
    return out


def decoded(raw: bytes) -> tuple[str, bool]:
    """Return bytes as text and whether they were UTF-8; others become U+FFFD."""
    try:
        return raw.decode("utf-8"), True
    except UnicodeDecodeError:
        return raw.decode("utf-8", "replace"), False


def byte_array(raws: Sequence[bytes]) -> pa.Array:
    """Return bytes as an Arrow array.

    `pyarrow.array` does the same, but it imports pandas for any Python list, which costs more than
    a small audit.
    """
    offsets = np.cumsum([0, *map(len, raws)], dtype=np.int64)
    return pa.LargeBinaryArray.from_buffers(
        pa.large_binary(), len(raws), [None, pa.py_buffer(offsets), pa.py_buffer(b"".join(raws))]
    )


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
    # Read-only like Arrow's memory: the kernels are compiled for that.
    data = np.frombuffer(b"" if data_buffer is None else data_buffer, dtype=np.uint8)
    if not len(texts) or offset_buffer is None:
        return data, np.zeros(len(texts) + 1, dtype=np.int64)
    offsets = np.frombuffer(
        offset_buffer, dtype=width, count=len(texts) + 1, offset=texts.offset * width.itemsize
    ).astype(np.int64)
    return data, offsets


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
