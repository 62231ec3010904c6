"""What holds for every puzzle: round trips, renaming, rewording, uniqueness, difficulty."""

from __future__ import annotations

import itertools
import random

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dataflex_data.builders.knights.canonical import canonical_forms
from dataflex_data.builders.knights.difficulty import branchings
from dataflex_data.builders.knights.exclude import forms_of
from dataflex_data.builders.knights.generate import PuzzlePlan, generate, share_out
from dataflex_data.builders.knights.grammar import Claim, Kind, Leaf, Op, Puzzle, statement
from dataflex_data.builders.knights.parse import holds, parse_quiz, solve_by_joining
from dataflex_data.builders.knights.render import Renderer, gold_text
from dataflex_data.builders.knights.solver import batch_of, solutions


def claims(people: int) -> st.SearchStrategy[Claim]:
    leaves: st.SearchStrategy[Claim] = st.builds(Leaf, st.integers(0, people - 1), st.booleans())

    def wider(inner: st.SearchStrategy[Claim]) -> st.SearchStrategy[Claim]:
        kinds: st.SearchStrategy[Kind] = st.sampled_from(["and", "or"])
        pairs: st.SearchStrategy[Kind] = st.sampled_from(["if", "iff"])
        return st.one_of(
            st.builds(lambda part: Op("not", (part,)), inner),
            st.builds(lambda kind, parts: Op(kind, tuple(parts)), kinds,
                      st.lists(inner, min_size=2, max_size=3)),
            st.builds(lambda kind, a, b: Op(kind, (a, b)), pairs, inner, inner),
        )  # fmt: skip

    return st.recursive(leaves, wider, max_leaves=5)


@st.composite
def puzzles(draw: st.DrawFn, least: int = 2, most: int = 7) -> Puzzle:
    people = draw(st.integers(least, most))
    return Puzzle(tuple(statement(draw(claims(people))) for _ in range(people)))


def with_people(claim: Claim, people: tuple[int, ...]) -> Claim:
    if isinstance(claim, Leaf):
        return Leaf(people[claim.slot], claim.knight)
    return Op(claim.kind, tuple(with_people(part, people) for part in claim.parts))


def renamed(puzzle: Puzzle, new: list[int]) -> Puzzle:
    said = [
        statement(with_people(s.claim, tuple(new[p] for p in s.people))) for s in puzzle.statements
    ]
    return Puzzle(tuple(said[new.index(place)] for place in range(len(new))))


def reworded(claim: Claim, rng: random.Random) -> Claim:
    """Return an equivalent claim: other orders, double negations, De Morgan, contraposition."""
    if isinstance(claim, Leaf):
        opposite = Op("not", (Leaf(claim.slot, not claim.knight),))
        plain: list[Claim] = [claim, opposite, Op("not", (Op("not", (claim,)),))]
        return rng.choice(plain)
    parts = [reworded(part, rng) for part in claim.parts]
    negated = [Op("not", (part,)) for part in parts]
    if claim.kind == "if":
        turned = Op("if", (negated[1], negated[0]))
        return rng.choice([Op("if", tuple(parts)), turned, Op("or", (parts[1], negated[0]))])
    if claim.kind in {"and", "or"}:
        rng.shuffle(parts)
        other: Kind = "or" if claim.kind == "and" else "and"
        return rng.choice([Op(claim.kind, tuple(parts)), Op("not", (Op(other, tuple(negated)),))])
    if claim.kind == "iff":
        return rng.choice([Op("iff", (parts[1], parts[0])), Op("iff", tuple(negated))])
    return Op("not", tuple(parts))


def brute_force(puzzle: Puzzle) -> list[int]:
    people = len(puzzle.statements)
    found = []
    for number in range(1 << people):
        roles = [bool(number >> p & 1) for p in range(people)]
        if all(
            holds(s.claim, [roles[p] for p in s.people]) == roles[speaker]
            for speaker, s in enumerate(puzzle.statements)
        ):
            found.append(number)
    return found


@settings(max_examples=50, deadline=None)
@given(puzzles())
def test_both_solvers_agree_with_trying_everything(puzzle: Puzzle) -> None:
    expected = brute_force(puzzle)
    counts, numbers = solutions(batch_of([puzzle]))
    assert solve_by_joining(puzzle) == expected
    assert counts[0] == min(2, len(expected))
    assert numbers[0] == (expected[0] if len(expected) == 1 else -1)


@settings(max_examples=50, deadline=None)
@given(puzzles(), st.integers(0, 2**64 - 1))
def test_what_is_put_into_words_is_read_back(puzzle: Puzzle, key: int) -> None:
    people = len(puzzle.statements)
    renderer = Renderer([said.claim for said in puzzle.statements])
    slots = max(len(said.people) for said in puzzle.statements)
    placed = [[*said.people, *[people] * (slots - len(said.people))] for said in puzzle.statements]
    ((names, text),) = renderer.render(
        np.arange(people)[None], np.array([placed]), np.array([key], dtype=np.uint64)
    )
    read = parse_quiz(text)
    assert list(read.names) == names
    assert read.puzzle == puzzle


@settings(max_examples=50, deadline=None)
@given(puzzles(), st.randoms(use_true_random=False))
def test_form_is_blind_to_names_and_wording(puzzle: Puzzle, rng: random.Random) -> None:
    new = rng.sample(range(len(puzzle.statements)), len(puzzle.statements))
    other = renamed(puzzle, new)
    other = Puzzle(
        tuple(statement(with_people(reworded(s.claim, rng), s.people)) for s in other.statements)
    )
    # Alone and in one batch, so that a batch's largest statement plays no part.
    assert forms_of([puzzle]) == forms_of([other])
    assert len(set(forms_of([puzzle, other]))) == 1


@settings(max_examples=30, deadline=None)
@given(puzzles(most=4), puzzles(most=4))
def test_equal_forms_are_the_same_puzzle(first: Puzzle, second: Puzzle) -> None:
    def truths(puzzle: Puzzle) -> list[list[bool]]:
        people = len(puzzle.statements)
        return [
            [holds(s.claim, [bool(a >> p & 1) for p in s.people]) for a in range(1 << people)]
            for s in puzzle.statements
        ]

    people = len(first.statements)
    same = len(second.statements) == people and any(
        truths(renamed(first, list(new))) == truths(second)
        for new in itertools.permutations(range(people))
    )
    assert (forms_of([first]) == forms_of([second])) == same


def reference_branchings(puzzle: Puzzle, order: list[int]) -> int:
    """Return the difficulty by the definition's words, with sets of assignments."""
    people = len(puzzle.statements)
    fits = []
    for speaker, said in enumerate(puzzle.statements):
        involved = sorted({speaker, *said.people})
        fits.append(
            [
                roles
                for values in itertools.product((False, True), repeat=len(involved))
                for roles in [dict(zip(involved, values, strict=True))]
                if holds(said.claim, [roles[p] for p in said.people]) == roles[speaker]
            ]
        )

    def think(known: dict[int, bool]) -> dict[int, bool] | None:
        known = dict(known)
        while True:
            noted: dict[int, bool] = {}
            for cases in fits:
                left = [c for c in cases if all(known.get(p, r) == r for p, r in c.items())]
                if not left:
                    return None
                for person in left[0]:
                    roles = {case[person] for case in left}
                    if len(roles) == 1 and person not in known:
                        role = roles.pop()
                        if noted.setdefault(person, role) != role:
                            return None
            if not noted:
                return known
            known |= noted

    def count(known: dict[int, bool]) -> int:
        if len(known) == people:
            return 0
        options = []
        for place, person in enumerate(order):
            if person not in known:
                cases = [think({**known, person: role}) for role in (True, False)]
                left = sum(people - len(case) for case in cases if case is not None)
                options.append((left, place, cases))
        best = min(options, key=lambda option: option[:2])[2]
        return 1 + sum(count(case) for case in best if case is not None)

    start = think({})
    assert start is not None
    return count(start)


@pytest.mark.parametrize(("people", "depth", "width"), [(3, 2, 2), (6, 2, 2), (8, 2, 2), (5, 3, 3)])
def test_difficulty_is_what_its_definition_says(people: int, depth: int, width: int) -> None:
    plan = PuzzlePlan(people, {people: 1}, depth=depth, width=width)
    for row in generate(plan, {"train": 40}).candidates_by_split["train"]:
        puzzle = parse_quiz(row.question).puzzle
        order = canonical_forms(batch_of([puzzle])).orders[0].tolist()
        assert row.difficulty == reference_branchings(puzzle, order)


@settings(max_examples=30, deadline=None)
@given(puzzles(), st.randoms(use_true_random=False))
def test_difficulty_is_blind_to_names(puzzle: Puzzle, rng: random.Random) -> None:
    if len(brute_force(puzzle)) != 1:
        return
    new = rng.sample(range(len(puzzle.statements)), len(puzzle.statements))
    batches = [batch_of([puzzle]), batch_of([renamed(puzzle, new)])]
    first, second = (int(branchings(b, canonical_forms(b).orders)[0]) for b in batches)
    assert first == second


@settings(max_examples=12, deadline=None)
@given(
    st.integers(0, 2**32),
    st.dictionaries(st.integers(2, 9), st.integers(1, 5), min_size=1, max_size=3),
    st.sampled_from([(2, 2), (2, 3)]),
)
def test_generated_rows_have_one_solution_and_nobody_idle(
    seed: int, people: dict[int, int], shape: tuple[int, int]
) -> None:
    plan = PuzzlePlan(seed, {n: float(w) for n, w in people.items()}, *shape)
    made = generate(plan, {"train": 12, "validation": 1})
    rows = [row for split in made.candidates_by_split.values() for row in split]
    assert len({row.canonical for row in rows}) == len(rows) == 13
    for row in rows:
        read = parse_quiz(row.question)
        (solution,) = brute_force(read.puzzle)
        assert row.gold == gold_text(read.names, solution)
        assert forms_of([read.puzzle]) == [row.canonical]
        for person in range(row.n_people):
            assert any(
                person in said.people
                for speaker, said in enumerate(read.puzzle.statements)
                if speaker != person
            )
        for speaker, said in enumerate(read.puzzle.statements):
            assert said.people != (speaker,)
            truths = {
                holds(said.claim, values)
                for values in itertools.product((False, True), repeat=len(said.people))
            }
            assert truths == {False, True}


@given(
    st.integers(0, 10_000), st.dictionaries(st.integers(2, 16), st.floats(0.01, 100), min_size=1)
)
def test_shares_add_up_and_stay_within_one(total: int, weights: dict[int, float]) -> None:
    shares = share_out(total, weights)
    assert sum(shares.values()) == total
    whole = sum(weights.values())
    for key, weight in weights.items():
        assert abs(shares[key] - total * weight / whole) < 1.0001
