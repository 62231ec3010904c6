"""The Unicode side of the kernels: what each code point folds to, as bytes in a table.

`core.text.words` folds with Python's own Unicode data. To agree with it on every interpreter the
table is not shipped but filled from that data, block by block, when a text first needs it. Code
points that may merge with or move across their neighbours under NFKC (combining marks, some jamo),
or that vanish between them (invisible ones), cannot be folded one by one: a row that holds one goes
through Python instead.
"""

from __future__ import annotations

import threading
import unicodedata
from functools import lru_cache

import numpy as np
import numpy.typing as npt

from dataflex_data.core.text import INVISIBLE, fold, words

UNKNOWN, UNSAFE, SEPARATOR = 0, 1, 2
_BLOCK = 256
_CODE_POINTS = 0x110000
_NEVER_WORDS = {"Cn", "Co", "Cs"}  # unassigned, private, surrogates: no letters, no foldings
_BYTES_RESERVED = 4_000_000  # all of Unicode 16 needs about 0.8 MB


class FoldTable:
    """Folded forms of code points, filled on demand; safe to share between threads.

    Attributes:
        ascii: Folded byte of each ASCII byte; 0 for those that separate words.
        index: Per code point `UNKNOWN`, `UNSAFE`, `SEPARATOR`, or a position in `data`, where one
            byte tells how many bytes follow; a 0 among those separates words.
        data: The folded bytes.
    """

    def __init__(self) -> None:
        self.ascii: npt.NDArray[np.uint8] = np.zeros(128, dtype=np.uint8)
        for code in range(128):
            folded = words(chr(code))
            if folded:
                self.ascii[code] = ord(folded[0])
        self.index: npt.NDArray[np.int32] = np.zeros(_CODE_POINTS, dtype=np.int32)
        self.data: npt.NDArray[np.uint8] = np.zeros(_BYTES_RESERVED, dtype=np.uint8)
        self._used = SEPARATOR + 1
        self._lock = threading.Lock()

    def learn(self, code: int) -> None:
        """Fill the block of 256 code points that holds ``code``."""
        with self._lock:
            first = code - code % _BLOCK
            for other in range(max(first, 128), first + _BLOCK):
                if self.index[other] == UNKNOWN:
                    self.index[other] = self._entry(other)

    def _entry(self, code: int) -> int:
        text = chr(code)
        if unicodedata.category(text) in _NEVER_WORDS:
            return SEPARATOR
        folded = fold(text)
        if INVISIBLE.match(text):
            return UNSAFE  # it vanishes, so that its neighbours touch each other
        if not all(_stands_alone(part) for part in (text, _casefolded(text))) or "\\" in folded:
            return UNSAFE
        data = b"".join(char.encode() if char.isalnum() else b"\0" for char in folded)
        if not data.strip(b"\0"):
            return SEPARATOR
        position = self._used
        self.data[position] = len(data)
        self.data[position + 1 : position + 1 + len(data)] = np.frombuffer(data, dtype=np.uint8)
        self._used += 1 + len(data)
        return position


@lru_cache(maxsize=1)
def shared_fold_table() -> FoldTable:
    """Return the table that all indexes of this process fill together."""
    return FoldTable()


def _casefolded(text: str) -> str:
    return unicodedata.normalize("NFKC", text).casefold()


def _stands_alone(text: str) -> bool:
    """Return whether nothing before ``text`` can merge with it or be reordered around it."""
    first = unicodedata.normalize("NFKD", text)[:1]
    return unicodedata.combining(first) == 0 and first not in _second_halves()


@lru_cache(maxsize=1)
def _second_halves() -> frozenset[str]:
    """Return the code points that merge with one before them under canonical composition."""
    found = {chr(code) for code in (*range(0x1161, 0x1176), *range(0x11A8, 0x11C3))}
    # Ideographs and Hangul syllables, which have no such decomposition, are most of the space.
    for code in (*range(0xA0, 0x3400), *range(0xA000, 0xAC00), *range(0xF900, 0x20000)):
        parts = unicodedata.decomposition(chr(code)).split()
        if len(parts) == 2 and not parts[0].startswith("<"):
            found.add(chr(int(parts[1], 16)))
    return frozenset(found)
