"""A stream of different puzzles with one solution each, for one number of people.

The stream belongs to (seed, people, depth, width) alone: asking for more continues it, and nothing
asked for another number of people moves it. Where the grammar has few enough combinations of
statements (2 and 3 people at depth 2) all of them are solved, so that "there are no more" is a
count; elsewhere combinations are drawn until too few of them are new.

A combination is thrown away when someone speaks of themself alone, calls themself a knave, or is
spoken of by nobody else, and when it has no solution or several.
"""

from __future__ import annotations

import itertools
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from dataflex_data.builders.knights.canonical import canonical_forms
from dataflex_data.builders.knights.grammar import Pool, essential, pool
from dataflex_data.builders.knights.solver import Batch, IntArray, solutions
from dataflex_data.core.seeding import stream

GENERATOR_VERSION = "1"

AnyInts: TypeAlias = npt.NDArray[np.integer[Any]]
BoolArray: TypeAlias = npt.NDArray[np.bool_]

_MOST_COMBINATIONS = 100_000
_MOST_PEOPLE_LISTED = 3
_DRAWN_AT_ONCE = 1 << 14  # statements, not puzzles; part of what a seed means
# Give up when of so many puzzles with one solution fewer than a hundredth were new, or when so many
# combinations had none with one solution.
_SOLVED_BEFORE_JUDGING = 20_000
_DRAWN_WITHOUT_ANY = 2_000_000


@dataclass(frozen=True, slots=True)
class Puzzles:
    """Some puzzles of one number of people, each with one solution and a form not seen before.

    Attributes:
        claims: Claim numbers of the pool, shape ``(B, n)``.
        people: People per slot, shape ``(B, n, K)``; ``n`` in unused slots.
        solutions: Bit p set where person p is a knight, shape ``(B,)``.
        forms: Canonical forms.
        orders: People in canonical order, shape ``(B, n)``.
    """

    claims: IntArray
    people: IntArray
    solutions: IntArray
    forms: list[str]
    orders: IntArray

    def take(self, rows: IntArray) -> Puzzles:
        """Return the puzzles at ``rows``."""
        return Puzzles(
            self.claims[rows],
            self.people[rows],
            self.solutions[rows],
            [self.forms[row] for row in rows.tolist()],
            self.orders[rows],
        )


class PuzzleStream:
    """Different puzzles of one number of people.

    Args:
        seed: Seed of the recipe.
        n_people: At least 2.
        max_depth: Largest depth of a statement.
        width: Largest number of parts of an "and" or "or".
    """

    def __init__(self, seed: int, n_people: int, max_depth: int, width: int) -> None:
        self.n_people = n_people
        self.pool: Pool = pool(n_people, max_depth, width)
        self.thrown_away: Counter[str] = Counter()
        self._rng = stream(seed, "knights", GENERATOR_VERSION, n_people, max_depth, width)
        self._bits = np.append(1 << np.arange(n_people), 0).astype(np.uint32)
        self._seen: set[str] = set()
        listed = self._listed_statements()
        self.is_exact = listed is not None
        self._source = self._all(listed) if listed is not None else self._drawn()

    def __iter__(self) -> Iterator[Puzzles]:
        """Yield puzzles in lots; ends where there are no more, or too few new ones are found."""
        return self._source

    def batch(self, puzzles: Puzzles) -> Batch:
        """Return the puzzles as `solver` and `difficulty` take them."""
        return Batch(puzzles.people, self.pool.tables[puzzles.claims])

    def _listed_statements(self) -> list[list[tuple[int, tuple[int, ...]]]] | None:
        """Return per speaker the statements allowed, one for each truth table, chosen by the seed.

        ``None`` where the pool is not the whole grammar or there are too many combinations.
        """
        n, claims = self.n_people, self.pool
        if not claims.is_whole or n > _MOST_PEOPLE_LISTED:
            return None
        listed = []
        for speaker in range(n):
            by_table: dict[object, list[tuple[int, tuple[int, ...]]]] = {}
            for number, claim in enumerate(claims.claims):
                _, table = essential(claim)
                for placed in itertools.permutations(range(n), int(claims.arities[number])):
                    knaves = int(claims.knave_slots[number])
                    called = [p for slot, p in enumerate(placed) if knaves >> slot & 1]
                    if placed == (speaker,) or speaker in called:
                        continue
                    key = _table_key(placed, table)
                    by_table.setdefault(key, []).append((number, placed))
            listed.append(by_table)
        combinations = 1
        for by_table in listed:
            combinations *= len(by_table)
        if combinations > _MOST_COMBINATIONS:
            return None
        return [
            [wordings[int(self._rng.integers(len(wordings)))] for wordings in by_table.values()]
            for by_table in listed
        ]

    def _all(self, listed: list[list[tuple[int, tuple[int, ...]]]]) -> Iterator[Puzzles]:
        n, slots = self.n_people, self.pool.slots
        grid = np.indices([len(statements) for statements in listed]).reshape(n, -1).T
        grid = self._rng.permutation(grid, axis=0)
        claims = np.empty(grid.shape, dtype=np.int64)
        people = np.full((*grid.shape, slots), n, dtype=np.int64)
        for speaker, statements in enumerate(listed):
            claims[:, speaker] = np.array([number for number, _ in statements])[grid[:, speaker]]
            padded = np.array([[*placed, *[n] * (slots - len(placed))] for _, placed in statements])
            people[:, speaker] = padded[grid[:, speaker]]
        for start in range(0, len(grid), _DRAWN_AT_ONCE // n):
            rows = slice(start, start + _DRAWN_AT_ONCE // n)
            found = self._new_ones(claims[rows], people[rows])
            if found is not None:
                yield found

    def _drawn(self) -> Iterator[Puzzles]:
        rows = _DRAWN_AT_ONCE // self.n_people
        drawn = solved = new = 0
        while drawn < _DRAWN_WITHOUT_ANY or solved:
            if solved >= _SOLVED_BEFORE_JUDGING:
                if new * 100 < solved:
                    return
                drawn = solved = new = 0
            repeats = self.thrown_away["same_form"]
            found = self._new_ones(*self._draw(rows))
            added = 0 if found is None else len(found.forms)
            drawn += rows
            new += added
            solved += added + self.thrown_away["same_form"] - repeats
            if found is not None:
                yield found

    def _draw(self, rows: int) -> tuple[AnyInts, AnyInts]:
        """Return claims and people of ``rows`` puzzles; statements nobody may make are redrawn."""
        n, slots = self.n_people, self.pool.slots
        claims, people = self._draw_statements(rows * n)
        speakers = np.tile(np.arange(n, dtype=np.uint8), rows)
        wrong = np.arange(rows * n)
        while len(
            wrong := wrong[self._is_about_self(claims[wrong], people[wrong], speakers[wrong])]
        ):
            self.thrown_away["self_reference"] += len(wrong)
            claims[wrong], people[wrong] = self._draw_statements(len(wrong))
        return claims.reshape(rows, n), people.reshape(rows, n, slots)

    def _draw_statements(self, count: int) -> tuple[AnyInts, AnyInts]:
        n, slots = self.n_people, self.pool.slots
        claims = self.pool.lookup[self._rng.integers(1 << 16, size=count, dtype=np.uint16)]
        people = np.empty((slots, count), dtype=np.uint8)
        for slot in range(slots):
            # A rank among the people not placed yet; step over those that are.
            person = self._rng.integers(n - slot, size=count, dtype=np.uint8)
            for taken in np.sort(people[:slot], axis=0):
                person += person >= taken
            people[slot] = person
        arities = self.pool.arities[claims]
        for slot in range(1, slots):
            people[slot, arities <= slot] = n
        return claims, people.T

    def _is_about_self(self, claims: AnyInts, people: AnyInts, speakers: AnyInts) -> BoolArray:
        knaves = self.pool.knave_slots[claims]
        found: BoolArray = (people[:, 0] == speakers) & (self.pool.arities[claims] == 1)
        for slot in range(self.pool.slots):
            found |= (people[:, slot] == speakers) & (knaves >> slot & 1 == 1)
        return found

    def _new_ones(self, claims: AnyInts, people: AnyInts) -> Puzzles | None:
        """Return the combinations that are good puzzles with a form not seen before."""
        n = self.n_people
        mentioned = np.zeros(len(claims), dtype=np.uint32)
        for speaker in range(n):
            others = self._bits.copy()
            others[speaker] = 0
            for slot in range(self.pool.slots):
                mentioned |= others[people[:, speaker, slot]]
        spoken_of = mentioned == (1 << n) - 1
        self.thrown_away["unconstrained_person"] += int(len(claims) - spoken_of.sum())
        if not spoken_of.any():
            return None
        found = self._solved(claims[spoken_of].astype(np.int64), people[spoken_of].astype(np.int64))
        new = []
        for row, form in enumerate(found.forms):
            if form not in self._seen:
                self._seen.add(form)
                new.append(row)
        self.thrown_away["same_form"] += len(found.forms) - len(new)
        return found.take(np.array(new)) if new else None

    def _solved(self, claims: IntArray, people: IntArray) -> Puzzles:
        """Return the combinations with exactly one solution."""
        counts, numbers = solutions(Batch(people, self.pool.tables[claims]))
        self.thrown_away["no_solution"] += int((counts == 0).sum())
        self.thrown_away["several_solutions"] += int((counts == 2).sum())
        unique = counts == 1
        claims, people = claims[unique], people[unique]
        forms = canonical_forms(Batch(people, self.pool.tables[claims]))
        return Puzzles(claims, people, numbers[unique], forms.texts, forms.orders)


def _table_key(placed: tuple[int, ...], table: int) -> tuple[tuple[int, ...], int]:
    """Return a key that statements share where they are true in the same cases."""
    order = sorted(range(len(placed)), key=placed.__getitem__)
    sorted_table = 0
    for a in range(1 << len(placed)):
        source = sum((a >> j & 1) << slot for j, slot in enumerate(order))
        sorted_table |= (table >> source & 1) << a
    return tuple(sorted(placed)), sorted_table
