"""Our parser, solvers and forms on the copies of the published set."""

from __future__ import annotations

import ast
import gzip
import itertools
import json
from pathlib import Path
from typing import Any

import pytest

from dataflex_data.builders.knights.exclude import excluded_forms, forms_of
from dataflex_data.builders.knights.generate import PuzzlePlan, generate
from dataflex_data.builders.knights.grammar import Claim, Leaf, Op, Puzzle, statement
from dataflex_data.builders.knights.parse import parse_quiz, solve_by_joining
from dataflex_data.builders.knights.render import gold_text
from dataflex_data.builders.knights.solver import batch_of, solutions
from dataflex_data.builders.source import Candidate
from dataflex_data.builders.sources.knights_and_knaves import (
    PublishedKnightsAndKnaves,
    PublishedParams,
)

pytestmark = pytest.mark.shared

_KINDS: dict[str, Any] = {"not": "not", "and": "and", "or": "or", "->": "if", "<=>": "iff"}


def read(path: Path) -> list[dict[str, Any]]:
    data = path.read_bytes()
    text = gzip.decompress(data) if path.suffix == ".gz" else data
    return [json.loads(line) for line in text.splitlines()]


@pytest.fixture(scope="module")
def folder(shared_dir: Path) -> Path:
    return shared_dir / "data" / "knights_and_knaves"


@pytest.fixture(scope="module")
def rows(folder: Path) -> dict[tuple[str, int], list[dict[str, Any]]]:
    found: dict[tuple[str, int], list[dict[str, Any]]] = {}
    for path in sorted([*folder.glob("test/*"), *folder.glob("train/*")]):
        records = read(path)
        found[path.parent.name, len(records[0]["names"])] = records
    return found


def published_tree(node: Any) -> Claim:
    if node[0] in {"telling-truth", "lying"}:
        return Leaf(node[1], node[0] == "telling-truth")
    return Op(_KINDS[node[0]], tuple(published_tree(part) for part in node[1:]))


def published_puzzle(record: dict[str, Any]) -> Puzzle:
    trees = ast.literal_eval(record["statements"])
    return Puzzle(tuple(statement(published_tree(tree)) for tree in trees))


def test_every_text_is_read_and_solved(rows: dict[tuple[str, int], list[dict[str, Any]]]) -> None:
    assert sum(map(len, rows.values())) == 5_936  # 700 test rows whole, 5,236 of train (README)
    for records in rows.values():
        puzzles = [parse_quiz(record["quiz"]) for record in records]
        batch = batch_of([read.puzzle for read in puzzles])
        counts, numbers = solutions(batch)
        assert (counts == 1).all()
        for record, found, number in zip(records, puzzles, numbers.tolist(), strict=True):
            assert list(found.names) == record["names"]
            assert found.puzzle == published_puzzle(record)
            assert solve_by_joining(found.puzzle) == [number]
            assert [bool(number >> p & 1) for p in range(len(found.names))] == record["solution"]
            assert gold_text(found.names, number) == record["solution_text"]


def commuting_form(record: dict[str, Any]) -> tuple[str, ...]:
    """Return the least of all renamings, parts of and, or, iff sorted: syntax, no truth tables."""
    trees = ast.literal_eval(record["statements"])
    people = len(trees)

    def text(node: Any, new: tuple[int, ...]) -> str:
        if isinstance(node[1], int):
            return f"{node[0]} {new[node[1]]}"
        parts = [text(part, new) for part in node[1:]]
        return f"{node[0]}({', '.join(parts if node[0] == '->' else sorted(parts))})"

    return min(
        tuple(text(trees[new.index(place)], new) for place in range(people))
        for new in itertools.permutations(range(people))
    )


@pytest.mark.parametrize(
    ("people", "syntactic_train_rows", "same_test_rows"),
    # README of the copies: 115 of 200 train rows at 2 people, 11 of 1,000 at 3, equal a test row
    # up to names (and the order of parts). The copies hold 170 and 845 of these rows, so about
    # 97.75 and 9.3 are to be expected: 96 and 11 are found. BUILDERS.md section 3: 93 and 24 of
    # 100 test rows are rewritings of train rows when 200 and 1,000 are there.
    [(2, 96, 93), (3, 11, 24)],
)
def test_overlap_of_the_published_splits(
    rows: dict[tuple[str, int], list[dict[str, Any]]],
    people: int,
    syntactic_train_rows: int,
    same_test_rows: int,
) -> None:
    train, test = rows["train", people], rows["test", people]
    syntactic = [[commuting_form(record) for record in part] for part in (train, test)]
    in_test = set(syntactic[1])
    assert sum(form in in_test for form in syntactic[0]) == syntactic_train_rows
    forms = [forms_of([parse_quiz(r["quiz"]).puzzle for r in part]) for part in (train, test)]
    in_train = set(forms[0])
    found = sum(form in in_train for form in forms[1])
    # Our form merges all that is true in the same cases, under renaming as well, so it finds no
    # fewer than the syntactic one.
    syntactic_train = set(syntactic[0])
    assert found >= sum(form in syntactic_train for form in syntactic[1])
    assert found >= same_test_rows


def test_nothing_generated_occurs_in_the_published_test_files(folder: Path) -> None:
    files = sorted(folder.glob("test/*.jsonl"))
    excluded = frozenset().union(*map(excluded_forms, files))
    plan = PuzzlePlan(1, {2: 1, 3: 4, 4: 4}, excluded=excluded)
    made = generate(plan, {"train": 900})
    assert not excluded & {row.canonical for row in made.candidates_by_split["train"]}
    assert made.dropped["excluded_form"] > 0
    assert len(excluded_forms(folder / "logic_rl_verl_sample_500.parquet")) > 490


def test_published_source_takes_every_row(
    rows: dict[tuple[str, int], list[dict[str, Any]]],
) -> None:
    source = PublishedKnightsAndKnaves(PublishedParams())
    for (_, people), records in rows.items():
        for record in records[:60]:
            row = source.parse({key: record[key] for key in source.columns})
            assert isinstance(row, Candidate)
            assert row.gold == record["solution_text"]
            assert row.n_people == people
            assert row.statement_depth <= 2
