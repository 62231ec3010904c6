"""What people may say: trees over "X is a knight" and "X is a knave", and pools to draw them from.

A claim is kept apart from the people it is about: its leaves hold *slots*, numbered by first
mention, and a `Statement` says who stands in each slot. So one claim serves all names and all
numbers of people. Depth counts as in the published grammar: a leaf has depth 1, an operator one
more than its deepest part; at depth 2 and width 2 that is a leaf, its negation, or two different
leaves joined by and, or, if-then, or if-and-only-if.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Literal, TypeAlias

import numpy as np
import numpy.typing as npt

from dataflex_data.core.seeding import stream

Kind: TypeAlias = Literal["not", "and", "or", "if", "iff"]
U8Array: TypeAlias = npt.NDArray[np.uint8]

LARGEST_DEPTH = 4
LARGEST_WIDTH = 4
# Nobody follows a claim about more people; it also bounds the truth tables at 64 bits.
LARGEST_ARITY = 6
# A pool is the whole grammar where that is small (28 claims at depth 2 and width 2), else a draw
# from it: puzzles combine claims, so a few thousand of them give far more puzzles than anyone asks.
_WHOLE_GRAMMAR_LIMIT = 20_000
_DRAWN_POOL_SIZE = 2_048
_LOOKUP_SIZE = 1 << 16


@dataclass(frozen=True, slots=True)
class Leaf:
    """The claim that the person in this slot is a knight, or a knave."""

    slot: int
    knight: bool


@dataclass(frozen=True, slots=True)
class Op:
    """A negation (one part), conjunction, disjunction, implication or equivalence of parts."""

    kind: Kind
    parts: tuple[Claim, ...]


Claim: TypeAlias = Leaf | Op


@dataclass(frozen=True, slots=True)
class Statement:
    """A claim with people (numbers in the puzzle's order) in its slots."""

    claim: Claim
    people: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Puzzle:
    """One statement per person, in the order of the people."""

    statements: tuple[Statement, ...]

    @property
    def depth(self) -> int:
        """Depth of the deepest statement."""
        return max(depth(statement.claim) for statement in self.statements)


def leaves(claim: Claim) -> Iterator[Leaf]:
    """Yield the leaves from left to right."""
    if isinstance(claim, Leaf):
        yield claim
    else:
        for part in claim.parts:
            yield from leaves(part)


def depth(claim: Claim) -> int:
    """Return the nesting depth: 1 for a leaf."""
    return 1 if isinstance(claim, Leaf) else 1 + max(depth(part) for part in claim.parts)


def arity(claim: Claim) -> int:
    """Return the number of slots."""
    return 1 + max(leaf.slot for leaf in leaves(claim))


def statement(claim: Claim) -> Statement:
    """Return a claim whose slots hold people's numbers as a statement, slots by first mention."""
    people = tuple(dict.fromkeys(leaf.slot for leaf in leaves(claim)))
    return Statement(
        _renumbered(claim, {person: slot for slot, person in enumerate(people)}), people
    )


def _renumbered(claim: Claim, slots: dict[int, int]) -> Claim:
    if isinstance(claim, Leaf):
        return Leaf(slots[claim.slot], claim.knight)
    return Op(claim.kind, tuple(_renumbered(part, slots) for part in claim.parts))


@lru_cache(maxsize=1 << 16)
def truth_table(claim: Claim) -> int:
    """Return the claim's truth table; bit ``a`` is its truth where bit ``s`` of ``a`` is slot s."""
    slots = arity(claim)
    everything = (1 << (1 << slots)) - 1

    def bits(node: Claim) -> int:
        if isinstance(node, Leaf):
            column = sum(1 << a for a in range(1 << slots) if a >> node.slot & 1)
            return column if node.knight else everything ^ column
        values = [bits(part) for part in node.parts]
        if node.kind == "not":
            return everything ^ values[0]
        if node.kind == "if":
            return (everything ^ values[0]) | values[1]
        if node.kind == "iff":
            return everything ^ values[0] ^ values[1]
        joined = values[0]
        for value in values[1:]:
            joined = joined & value if node.kind == "and" else joined | value
        return joined

    return bits(claim)


@lru_cache(maxsize=1 << 16)
def essential(claim: Claim) -> tuple[tuple[int, ...], int]:
    """Return the slots on which the claim's truth depends, and its table over these alone."""
    slots, table = arity(claim), truth_table(claim)
    kept = tuple(
        slot
        for slot in range(slots)
        if any((table >> a ^ table >> (a ^ 1 << slot)) & 1 for a in range(1 << slots))
    )
    reduced = 0
    for a in range(1 << len(kept)):
        full = sum((a >> j & 1) << slot for j, slot in enumerate(kept))
        reduced |= (table >> full & 1) << a
    return kept, reduced


@dataclass(frozen=True, slots=True)
class Pool:
    """Claims to draw from, for puzzles of one number of people.

    Every claim depends on each person it mentions, so none is a tautology or a contradiction.

    Attributes:
        claims: ``C`` claims.
        arities: Slots per claim, shape ``(C,)``.
        tables: Truth tables, one byte per bit, shape ``(C, 2**K)`` with ``K`` the largest arity;
            zero beyond ``2**arity``.
        knave_slots: Bit set of the slots that some leaf calls a knave, shape ``(C,)``.
        depths: Shape ``(C,)``.
        lookup: ``2**16`` claim numbers, each as often as its weight asks.
        is_whole: Whether it holds all claims of the grammar.
    """

    claims: tuple[Claim, ...]
    arities: U8Array
    tables: U8Array
    knave_slots: npt.NDArray[np.uint32]
    depths: npt.NDArray[np.int64]
    lookup: npt.NDArray[np.uint16]
    is_whole: bool

    @property
    def slots(self) -> int:
        """The largest arity, ``K``."""
        return int(self.tables.shape[1]).bit_length() - 1


@lru_cache(maxsize=64)
def pool(n_people: int, max_depth: int, width: int) -> Pool:
    """Return the claims of the grammar over at most ``n_people`` people.

    The six kinds (knight or knave, not, and, or, if, iff) are equally likely, as in the published
    generator; within a kind, all placements of people are.
    """
    whole = _whole_grammar(n_people, max_depth, width)
    found = (
        whole
        if whole is not None
        else _drawn_grammar(min(n_people, LARGEST_ARITY), max_depth, width)
    )
    usable = {
        claim: weight for claim, weight in found.items() if len(essential(claim)[0]) == arity(claim)
    }
    claims = tuple(usable)
    arities = np.array([arity(claim) for claim in claims], dtype=np.uint8)
    slots = int(arities.max())
    return Pool(
        claims=claims,
        arities=arities,
        tables=np.stack([table_row(truth_table(claim), slots) for claim in claims]),
        knave_slots=np.array(
            [
                sum(1 << slot for slot in {leaf.slot for leaf in leaves(c) if not leaf.knight})
                for c in claims
            ],
            dtype=np.uint32,
        ),
        depths=np.array([depth(claim) for claim in claims]),
        lookup=_lookup(np.array(list(usable.values()), dtype=np.float64)),
        is_whole=whole is not None,
    )


def table_row(table: int, slots: int) -> U8Array:
    """Return a truth table as ``2**slots`` bytes of 0 or 1."""
    return np.array([table >> a & 1 for a in range(1 << slots)], dtype=np.uint8)


def _whole_grammar(n_people: int, max_depth: int, width: int) -> dict[Claim, float] | None:
    """Return all claims with their weights, or ``None`` where there are too many."""
    most_leaves = 1 if max_depth == 1 else max(2, width) ** (max_depth - 1)
    people = min(n_people, most_leaves)
    if _count(people, max_depth, width) > _WHOLE_GRAMMAR_LIMIT:
        return None
    by_kind: dict[str, dict[Claim, float]] = {}
    for tree in _all_trees(people, max_depth, width):
        claim = statement(tree).claim
        placements = 1.0
        for taken in range(arity(claim)):
            placements *= n_people - taken
        kind = "leaf" if isinstance(claim, Leaf) else claim.kind
        by_kind.setdefault(kind, {})[claim] = placements
    return {
        claim: weight / sum(weights.values())
        for weights in by_kind.values()
        for claim, weight in weights.items()
    }


def _count(people: int, max_depth: int, width: int) -> int:
    total = 2 * people
    for _ in range(max_depth - 1):
        ordered = [total]
        for more in range(1, max(2, width)):
            ordered.append(ordered[-1] * max(total - more, 0))
        total = 2 * people + total + 2 * ordered[1] + 2 * sum(ordered[1:])
    return total


def _all_trees(people: int, max_depth: int, width: int) -> list[Claim]:
    trees: list[Claim] = [Leaf(slot, knight) for slot in range(people) for knight in (True, False)]
    level = list(trees)
    for _ in range(max_depth - 1):
        above: list[Claim] = [Op("not", (part,)) for part in level]
        for size in range(2, max(2, width) + 1):
            for parts in itertools.permutations(level, size):
                above += [Op("and", parts), Op("or", parts)]
                if size == 2:
                    above += [Op("if", parts), Op("iff", parts)]
        level = trees + above
    return level


@lru_cache(maxsize=64)
def _drawn_grammar(n_people: int, max_depth: int, width: int) -> dict[Claim, float]:
    rng = stream(0, "knights/pool", n_people, max_depth, width)
    drawn: dict[Claim, float] = {}
    while len(drawn) < _DRAWN_POOL_SIZE:
        claim = statement(_drawn_tree(rng, n_people, max_depth, width)).claim
        if arity(claim) <= LARGEST_ARITY and len(essential(claim)[0]) == arity(claim):
            drawn[claim] = drawn.get(claim, 0.0) + 1.0
    return drawn


def _drawn_tree(rng: np.random.Generator, n_people: int, max_depth: int, width: int) -> Claim:
    die = 0 if max_depth == 1 else int(rng.integers(6))
    if die == 0:
        return Leaf(int(rng.integers(n_people)), bool(rng.integers(2)))
    if die == 1:
        return Op("not", (_drawn_tree(rng, n_people, max_depth - 1, width),))
    kinds: Sequence[Kind] = ("and", "or", "if", "iff")
    kind = kinds[die - 2]
    size = int(rng.integers(2, max(2, width) + 1)) if kind in {"and", "or"} else 2
    parts: list[Claim] = []
    while len(parts) < size:
        part = _drawn_tree(rng, n_people, max_depth - 1, width)
        if part not in parts:
            parts.append(part)
    return Op(kind, tuple(parts))


def _lookup(weights: npt.NDArray[np.float64]) -> npt.NDArray[np.uint16]:
    edges = np.rint(np.cumsum(weights) / weights.sum() * _LOOKUP_SIZE).astype(np.int64)
    return np.searchsorted(edges, np.arange(_LOOKUP_SIZE), side="right").astype(np.uint16)
