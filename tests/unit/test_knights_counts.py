"""What the grammar has, counted by brute force here and by the package."""

from __future__ import annotations

import itertools
from collections.abc import Iterator

from dataflex_data.builders.knights.canonical import canonical_forms
from dataflex_data.builders.knights.generate import MOST_AT_TWO_PEOPLE
from dataflex_data.builders.knights.grammar import (
    Claim,
    Leaf,
    Op,
    Puzzle,
    Statement,
    essential,
    statement,
)
from dataflex_data.builders.knights.solver import batch_of, solutions
from dataflex_data.builders.knights.stream import PuzzleStream


def published_statements(speaker: int, people: int) -> Iterator[Claim]:
    """Yield every statement of the published grammar at depth 2 and width 2.

    Leaves are "X is a knight" and "X is a knave", nobody calling themself a knave; then "not" of a
    leaf, and the four connectives over two different leaves, in order.
    """
    leaves = [
        Leaf(person, knight)
        for person in range(people)
        for knight in (True, False)
        if knight or person != speaker
    ]
    yield from leaves
    for leaf in leaves:
        yield Op("not", (leaf,))
    for pair in itertools.permutations(leaves, 2):
        yield Op("and", pair)
        yield Op("or", pair)
        yield Op("if", pair)
        yield Op("iff", pair)


def sorted_parts(claim: Claim) -> Claim:
    if isinstance(claim, Leaf):
        return claim
    parts = tuple(sorted_parts(part) for part in claim.parts)
    return Op(claim.kind, parts if claim.kind == "if" else tuple(sorted(parts, key=repr)))


def test_two_people_have_399_puzzles_and_77_or_41_different_ones() -> None:
    # 3 leaves, 3 negations and 4 connectives times 3 * 2 ordered pairs: 30 statements per speaker.
    trees = [list(published_statements(speaker, 2)) for speaker in (0, 1)]
    assert [len(said) for said in trees] == [30, 30]
    pairs = list(itertools.product(*trees))
    puzzles = [Puzzle(tuple(statement(tree) for tree in pair)) for pair in pairs]
    batch = batch_of(puzzles)
    counts, _ = solutions(batch)
    unique = [row for row in range(len(puzzles)) if counts[row] == 1]
    assert len(unique) == 399  # design/BUILDERS.md, section 3

    swap = {0: 1, 1: 0}

    def syntactic(row: int, *, commuting: bool) -> str:
        def key(first: Claim, second: Claim) -> str:
            return repr([sorted_parts(t) if commuting else t for t in (first, second)])

        def swapped(tree: Claim) -> Claim:
            if isinstance(tree, Leaf):
                return Leaf(swap[tree.slot], tree.knight)
            return Op(tree.kind, tuple(swapped(part) for part in tree.parts))

        first, second = pairs[row]
        return min(key(first, second), key(swapped(second), swapped(first)))

    assert len({syntactic(row, commuting=False) for row in unique}) == 205  # same section
    # 94 of these are in the 300 published ones (the data's README); there is one more.
    assert len({syntactic(row, commuting=True) for row in unique}) == 95

    def truths(row: int) -> str:
        said = puzzles[row].statements
        return repr([(table_over_both(s), i) for i, s in enumerate(said)])

    def table_over_both(said: Statement) -> tuple[bool, ...]:
        kept, table = essential(said.claim)
        people = [said.people[slot] for slot in kept]
        return tuple(
            bool(table >> sum((a >> person & 1) << j for j, person in enumerate(people)) & 1)
            for a in range(4)
        )

    assert len({truths(row) for row in unique}) == 77  # "up to trivial rewriting", same section
    forms = canonical_forms(batch)
    # Swapping the two people maps 5 of the 77 pairs of truth tables to themselves (each says the
    # mirror image of what the other says) and pairs the other 72: 36 + 5 = 41.
    firsts = {truths(row): puzzles[row] for row in unique}
    fixed = [
        p
        for p in firsts.values()
        if table_over_both(mirrored(p)) == table_over_both(p.statements[1])
    ]
    assert len(fixed) == 5
    assert len({forms.texts[row] for row in unique}) == 41


def mirrored(puzzle: Puzzle) -> Statement:
    """Return the first person's statement with the two people swapped."""
    first = puzzle.statements[0]
    return Statement(first.claim, tuple(1 - person for person in first.people))


def dependent(table: int, person: int, people: int) -> bool:
    return any((table >> a ^ table >> (a ^ 1 << person)) & 1 for a in range(1 << people))


def renamed_table(table: int, new: tuple[int, ...]) -> int:
    people = len(new)
    return sum(
        (table >> a & 1) << sum((a >> person & 1) << new[person] for person in range(people))
        for a in range(1 << people)
    )


def counts_by_brute_force(functions: list[list[int]], people: int) -> tuple[int, int, int, int]:
    """Count the puzzles with one solution, given the truth tables each speaker may use.

    Returns:
        All; up to renaming; of these without constant statements and statements about the speaker
        alone; of these with everyone spoken of by someone else.
    """
    everything = (1 << (1 << people)) - 1
    columns = [sum(1 << a for a in range(1 << people) if a >> p & 1) for p in range(people)]
    orders = list(itertools.permutations(range(people)))
    tables = set(itertools.chain(*functions))
    renamings = {table: [renamed_table(table, new) for new in orders] for table in tables}
    mentions = {
        table: {p for p in range(people) if dependent(table, p, people)} for table in tables
    }
    unique = 0
    forms: set[tuple[int, ...]] = set()
    serious: set[tuple[int, ...]] = set()
    good: set[tuple[int, ...]] = set()
    for said in itertools.product(*functions):
        fits = everything
        for p, table in enumerate(said):
            fits &= everything ^ columns[p] ^ table
        if not fits or fits & (fits - 1):
            continue
        unique += 1
        form = min(
            tuple(
                table for _, table in sorted((new[p], renamings[t][k]) for p, t in enumerate(said))
            )
            for k, new in enumerate(orders)
        )
        forms.add(form)
        others = [mentions[table] - {p} for p, table in enumerate(said)]
        if all(others):
            serious.add(form)
            if set().union(*others) == set(range(people)):
                good.add(form)
    return unique, len(forms), len(serious), len(good)


def published_functions(people: int) -> list[list[int]]:
    def table(tree: Claim, a: int) -> bool:
        if isinstance(tree, Leaf):
            return bool(a >> tree.slot & 1) == tree.knight
        parts = [table(part, a) for part in tree.parts]
        return {
            "not": not parts[0],
            "and": all(parts),
            "or": any(parts),
            "if": not parts[0] or parts[-1],
            "iff": parts[0] == parts[-1],
        }[tree.kind]

    return [
        sorted(
            {
                sum(table(tree, a) << a for a in range(1 << people))
                for tree in published_statements(speaker, people)
            }
        )
        for speaker in range(people)
    ]


def test_the_stream_gives_every_puzzle_of_two_and_three_people_once() -> None:
    # The table of docs/knights_and_knaves.md.
    expected = {2: (77, 41, 26, 26), 3: (14_262, 2_430, 1_868, 1_321)}
    for people in (2, 3):
        stream = PuzzleStream(seed=5, n_people=people, max_depth=2, width=2)
        forms = [form for lot in stream for form in lot.forms]
        counts = counts_by_brute_force(published_functions(people), people)
        assert stream.is_exact
        assert len(set(forms)) == len(forms) == counts[-1]
        assert counts == expected[people]


def test_two_people_have_38_puzzles_at_any_depth() -> None:
    counts = counts_by_brute_force([list(range(16))] * 2, 2)
    assert counts[-1] == MOST_AT_TWO_PEOPLE
    deep = PuzzleStream(seed=5, n_people=2, max_depth=3, width=2)
    assert sum(len(lot.forms) for lot in deep) == MOST_AT_TWO_PEOPLE
