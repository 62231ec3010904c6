"""Find which puzzles have exactly one solution: truth tables as machine words, in batches.

An assignment of roles to n people is a number below ``2**n`` (bit p set: person p is a knight), and
a statement's truth table over all of them is ``2**n`` bits in 64-bit words. Who says f is a knight
exactly where f is true, so a puzzle's solutions are the AND over its people of ``XNOR(x_i, f_i)``:
one batch of puzzles costs a few bit operations on whole arrays.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import TypeAlias

import numpy as np
import numpy.typing as npt

from dataflex_data.builders.knights.grammar import Puzzle, U8Array, essential, table_row
from dataflex_data.core.seeding import U64Array

IntArray: TypeAlias = npt.NDArray[np.int64]

_CHUNK_WORDS = 1 << 17  # words held per operation: fits the second-level cache


@dataclass(frozen=True, slots=True)
class Batch:
    """``B`` puzzles of ``n`` people, each statement as a truth table over its own people.

    Attributes:
        people: Who stands in each of a statement's ``K`` slots, all different, ``n`` in unused
            slots (the last ones); shape ``(B, n, K)``.
        tables: Truth per assignment of the slots, 0 or 1, zero where an unused slot is set;
            shape ``(B, n, 2**K)``.
    """

    people: IntArray
    tables: U8Array

    def __len__(self) -> int:
        return len(self.people)

    @property
    def n_people(self) -> int:
        """People per puzzle."""
        return int(self.people.shape[1])

    @property
    def slots(self) -> int:
        """Slots per statement, ``K``."""
        return int(self.people.shape[2])

    def take(self, rows: IntArray | npt.NDArray[np.bool_]) -> Batch:
        """Return the puzzles at ``rows``."""
        return Batch(self.people[rows], self.tables[rows])


def batch_of(puzzles: Sequence[Puzzle]) -> Batch:
    """Return puzzles of one number of people as a batch; mentions without bearing are left out."""
    n = len(puzzles[0].statements)
    parts = [[essential(s.claim) for s in puzzle.statements] for puzzle in puzzles]
    slots = max(1, max(len(kept) for row in parts for kept, _ in row))
    people = np.full((len(puzzles), n, slots), n, dtype=np.int64)
    tables = np.zeros((len(puzzles), n, 1 << slots), dtype=np.uint8)
    for b, (puzzle, row) in enumerate(zip(puzzles, parts, strict=True)):
        for i, (said, (kept, table)) in enumerate(zip(puzzle.statements, row, strict=True)):
            people[b, i, : len(kept)] = [said.people[slot] for slot in kept]
            tables[b, i, : 1 << len(kept)] = table_row(table, len(kept))
    return Batch(people, tables)


@lru_cache(maxsize=32)
def variable_masks(n: int) -> U64Array:
    """Return the truth tables of n variables and, in a last row, of "false"; ``(n + 1, words)``."""
    assignments = np.arange(max(64, 1 << n), dtype=np.uint64).reshape(-1, 64)
    place = np.uint64(1) << np.arange(64, dtype=np.uint64)
    masks = np.zeros((n + 1, len(assignments)), dtype=np.uint64)
    for p in range(n):
        masks[p] = ((assignments >> np.uint64(p) & np.uint64(1)) * place).sum(axis=1)
    return masks


@lru_cache(maxsize=32)
def everything_mask(n: int) -> np.uint64:
    """Return the word with a bit for each assignment of n variables (all 64 where n >= 6)."""
    mask: np.uint64 = np.uint64((1 << min(64, 1 << n)) - 1)
    return mask


def solutions(batch: Batch) -> tuple[U8Array, IntArray]:
    """Return how many solutions each puzzle has (0, 1, or 2 for more), and the only one's number.

    The number is -1 where the solution is not unique.
    """
    n = batch.n_people
    words = variable_masks(n).shape[1]
    step = max(1, _CHUNK_WORDS // (n * words))
    counts = np.empty(len(batch), dtype=np.uint8)
    numbers = np.empty(len(batch), dtype=np.int64)
    for start in range(0, len(batch), step):
        rows = slice(start, start + step)
        fits = _fitting(batch.people[rows], batch.tables[rows])
        joined = np.bitwise_or.reduce(fits, axis=1)
        filled = (fits != 0).sum(axis=1)
        is_single = (filled == 1) & (joined & (joined - np.uint64(1)) == 0)
        counts[rows] = np.where(is_single, 1, np.minimum(filled, 1) * 2)
        # frexp of a power of two is exact: the exponent is the bit's place.
        bit = np.frexp(np.where(is_single, joined, 1).astype(np.float64))[1] - 1
        numbers[rows] = np.where(is_single, np.argmax(fits != 0, axis=1) * 64 + bit, -1)
    return counts, numbers


def _fitting(people: IntArray, tables: U8Array) -> U64Array:
    """Return the assignments that fit each puzzle, ``(B, words)``."""
    n, slots = people.shape[1:]
    masks = variable_masks(n)
    # 0 or 1 becomes no bit or all bits.
    values = [
        (np.uint64(0) - tables[:, :, a].astype(np.uint64))[..., None] for a in range(1 << slots)
    ]
    for slot in range(slots):
        chosen = masks[people[:, :, slot]]
        values = [
            low ^ (chosen & (low ^ high))
            for low, high in zip(values[::2], values[1::2], strict=True)
        ]
    agrees = ~(values[0] ^ masks[None, :n])
    fits: U64Array = np.bitwise_and.reduce(agrees, axis=1) & everything_mask(n)
    return fits
