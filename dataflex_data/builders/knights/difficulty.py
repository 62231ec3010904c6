"""How hard a puzzle is: the branchings of a solver that thinks each statement through on its own.

The solver holds what it knows of each person. It takes one statement together with its speaker at a
time, lists the roles of the people involved that fit what it knows, and notes everyone who has the
same role in all of them; it repeats this over all statements until nothing new comes. If someone is
still unknown it branches: it supposes a person to be a knight, then a knave, and goes on in both
cases in the same way, a case being closed when a statement cannot be met. It branches on the person
whose two cases, thought through, leave the fewest people unknown (a closed case leaves none; of
equals, the first in the puzzle's canonical order). The difficulty is the number of branchings until
every case is closed or complete: 0 means that the puzzle falls to plain reasoning.

It is a function of the canonical form: names, order and wording do not change it.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from dataflex_data.builders.knights.solver import Batch, IntArray, variable_masks
from dataflex_data.core.seeding import U64Array

BoolArray = npt.NDArray[np.bool_]

_CHUNK_WORDS = 1 << 21


@dataclass(frozen=True, slots=True)
class _Cases:
    """Partial assignments, one bit per person; the last bit stands for "no one" and is known."""

    puzzle: IntArray
    known: IntArray
    knights: IntArray


def branchings(batch: Batch, orders: IntArray) -> IntArray:
    """Return the number of branchings of each puzzle.

    Args:
        batch: Puzzles with exactly one solution each.
        orders: The people in canonical order, shape ``(B, n)``.
    """
    places = np.argsort(orders, axis=1)
    step = max(1, _CHUNK_WORDS // _Statements.words_per_puzzle(batch))
    counts = [
        _branchings(
            batch.take(np.arange(start, min(start + step, len(batch)))), places[start:][:step]
        )
        for start in range(0, len(batch), step)
    ]
    return np.concatenate(counts) if counts else np.zeros(0, dtype=np.int64)


def _branchings(batch: Batch, places: IntArray) -> IntArray:
    n = batch.n_people
    statements = _Statements(batch)
    counts = np.zeros(len(batch), dtype=np.int64)
    start = np.zeros(len(batch), dtype=np.int64)
    cases, _ = statements.think(_Cases(np.arange(len(batch)), start | 1 << n, start))
    while True:
        unknown = _unknown(cases, n)
        open_ones = np.flatnonzero(unknown)
        if not len(open_ones):
            return counts
        cases = _taken(cases, open_ones)
        np.add.at(counts, cases.puzzle, 1)
        cases = _best_branches(statements, cases, places, n)


def _best_branches(statements: _Statements, cases: _Cases, places: IntArray, n: int) -> _Cases:
    """Return the open children of each case, branched on its best person."""
    at, person = np.nonzero(_unknown(cases, n)[:, None] >> np.arange(n) & 1)
    bit = 1 << person
    parents = _taken(cases, at)
    known = parents.known | bit
    children, closed = statements.think(
        _Cases(
            np.concatenate([parents.puzzle, parents.puzzle]),
            np.concatenate([known, known]),
            np.concatenate([parents.knights | bit, parents.knights]),
        )
    )
    left = np.where(closed, 0, _bit_count(_unknown(children, n), n))
    half = len(at)
    score = np.full((len(cases.puzzle), n), np.iinfo(np.int64).max)
    score[at, person] = (left[:half] + left[half:]) * n + places[parents.puzzle, person]
    best = np.flatnonzero(np.argmin(score, axis=1)[at] == person)
    chosen = np.concatenate([best, best + half])
    return _taken(children, chosen[~closed[chosen]])


def _unknown(cases: _Cases, n: int) -> IntArray:
    return ~cases.known & (1 << n) - 1


def _taken(cases: _Cases, rows: IntArray) -> _Cases:
    return _Cases(cases.puzzle[rows], cases.known[rows], cases.knights[rows])


def _bit_count(values: IntArray, n: int) -> IntArray:
    total: IntArray = (values[:, None] >> np.arange(n) & 1).sum(axis=1)
    return total


class _Statements:
    """Each statement with its speaker as the set of role assignments (bits of words) that fit."""

    def __init__(self, batch: Batch) -> None:
        rows, n, slots = batch.people.shape
        speaker = np.broadcast_to(np.arange(n)[None, :, None], (rows, n, 1))
        # The speaker gets a slot of their own, the lowest; where they also speak of themself that
        # other slot goes to "no one", after its half of the table was merged in.
        self._people = np.concatenate([speaker, batch.people], axis=2)
        says = np.stack([1 - batch.tables, batch.tables], axis=3)
        cases = np.arange(1 << slots)
        for slot in range(slots):
            is_own = self._people[:, :, slot + 1] == speaker[:, :, 0]
            role = cases >> slot & 1
            kept = np.stack([role == 0, role == 1], axis=1)
            merged = says * kept
            moved = merged + np.take(merged, cases ^ 1 << slot, axis=2)
            says = np.where(is_own[:, :, None, None], moved, says)
            self._people[:, :, slot + 1][is_own] = n
        # Whatever the table holds where "no one" is a knight is never looked at.
        bits = says.reshape(rows, n, -1).astype(np.uint64)
        self._masks = variable_masks(slots + 1)[:-1]
        padded = np.zeros((rows, n, max(64, bits.shape[2])), dtype=np.uint64)
        padded[:, :, : bits.shape[2]] = bits
        self._fits: U64Array = (
            padded.reshape(rows, n, -1, 64) << np.arange(64, dtype=np.uint64)
        ).sum(axis=3)
        self._no_one = 1 << n

    @staticmethod
    def words_per_puzzle(batch: Batch) -> int:
        """Return the words that one puzzle's first branching works on."""
        local = max(64, 2 << batch.slots)
        return 2 * batch.n_people * batch.n_people * local // 64

    def think(self, cases: _Cases) -> tuple[_Cases, BoolArray]:
        """Return the cases with everything noted that single statements force, and which closed."""
        known, knights = cases.known.copy(), cases.knights.copy()
        closed = np.zeros(len(known), dtype=np.bool_)
        active = np.arange(len(known))
        while len(active):
            puzzle = cases.puzzle[active]
            forced_knight, forced_knave, fails = self._forced(
                puzzle, known[active], knights[active]
            )
            fails |= (forced_knight & forced_knave) != 0
            fresh = (forced_knight | forced_knave) & ~known[active]
            known[active] |= fresh
            knights[active] |= forced_knight & fresh
            closed[active] = fails
            active = active[(fresh != 0) & ~fails]
        return _Cases(cases.puzzle, known, knights), closed

    def _forced(
        self, puzzle: IntArray, known: IntArray, knights: IntArray
    ) -> tuple[IntArray, IntArray, BoolArray]:
        people, fits = self._people[puzzle], self._fits[puzzle]
        for slot in range(people.shape[2]):
            person = people[:, :, slot]
            is_known = known[:, None] >> person & 1
            is_knight = knights[:, None] >> person & 1
            mask = self._masks[slot]
            # all ones where the slot's role is open; else the half of the table that fits it
            allowed = np.where(
                is_known[:, :, None] == 1,
                np.where(is_knight[:, :, None] == 1, mask, ~mask),
                ~np.uint64(0),
            )
            fits = fits & allowed
        fails = ~(fits != 0).any(axis=2).all(axis=1)
        forced_knight = np.zeros(len(puzzle), dtype=np.int64)
        forced_knave = np.zeros(len(puzzle), dtype=np.int64)
        for slot in range(people.shape[2]):
            bit = np.int64(1) << people[:, :, slot]
            may_be_knight = (fits & self._masks[slot]).any(axis=2)
            may_be_knave = (fits & ~self._masks[slot]).any(axis=2)
            forced_knight |= np.bitwise_or.reduce(np.where(may_be_knave, 0, bit), axis=1)
            forced_knave |= np.bitwise_or.reduce(np.where(may_be_knight, 0, bit), axis=1)
        hidden = ~np.int64(self._no_one)
        return forced_knight & hidden, forced_knave & hidden, fails
