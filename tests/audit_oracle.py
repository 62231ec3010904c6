"""The audit in plain Python, sets of word tuples and nested loops: slow, and easy to believe."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from dataflex_data.audits.hashing import latex_words
from dataflex_data.core.text import normalise, words


def shingles(all_words: Sequence[str], n: int) -> frozenset[tuple[str, ...]]:
    return frozenset(tuple(all_words[i : i + n]) for i in range(len(all_words) - n + 1))


@dataclass(frozen=True)
class Expected:
    flagged: bool
    jaccard: float
    containment: float


class Oracle:
    """Judges a text without options against items without options."""

    def __init__(
        self, items: Sequence[str], n: int, containment: float, jaccard: float, common: int
    ) -> None:
        self.items, self.n = list(items), n
        self.containment, self.jaccard, self.common = containment, jaccard, common

    def _many(self, gram: tuple[str, ...]) -> bool:
        holders = {
            normalise(item)
            for item in self.items
            if gram in shingles(words(item), self.n) or gram in shingles(latex_words(item), self.n)
        }
        return len(holders) >= self.common

    def _overlap(self, row: Sequence[str], item: Sequence[str]) -> tuple[float, float]:
        a, b = shingles(row, self.n), shingles(item, self.n)
        own = {gram for gram in b if not self._many(gram)}
        jaccard = len(a & b) / len(a | b) if a & b else 0.0
        return jaccard, len(a & own) / len(own) if own else 0.0

    def judge(self, row: str, item: str) -> Expected:
        forms = [(words(row), words(item)), (latex_words(row), latex_words(item))]
        overlaps = [self._overlap(r, i) for r, i in forms]
        reached = any(
            c >= self.containment or j > self.jaccard or j == self.jaccard == 1.0
            for j, c in overlaps
        )
        same = any(r == i and bool(r) for r, i in forms) or (
            not words(row)
            and not words(item)
            and bool(row.strip())
            and normalise(row) == normalise(item)
        )
        run = any(
            5 <= len(i) < self.n and any(r[k : k + len(i)] == i for k in range(len(r)))
            for r, i in forms
        )
        jaccard, containment = overlaps[0]
        return Expected(reached or same or run, jaccard, containment)
