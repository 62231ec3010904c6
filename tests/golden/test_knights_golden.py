"""Forms, splits and rows as they were: a change here is a new data version (see CHANGELOG, *Data*).

To renew the rows after an intended change: ``DFDATA_RENEW_GOLDEN=1 pytest tests/golden -k knights``
and read what changed.
"""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from dataflex_data.builders.knights.canonical import FORM_VERSION
from dataflex_data.builders.knights.exclude import forms_of
from dataflex_data.builders.knights.grammar import Leaf, Op, Puzzle, statement
from dataflex_data.builders.source import GenerationRequest
from dataflex_data.builders.sources.knights_and_knaves import KnightsAndKnaves, KnightsParams
from dataflex_data.core.splits import split_of

ROWS = Path(__file__).with_name("knights_rows.txt")


def test_form_of_a_known_puzzle() -> None:
    # 0: "1 and 2 are knights", 1: "0 is a knave", 2: "1 is a knave". The text lists, per person in
    # canonical order, people and truth table: "not x" is 1 (true at 0 only), "x and y" is 8 (true
    # at 3 only). So the parts are one with two people and 8, and two with one person and 1; the
    # order of the people is what this test pins.
    both = Op("and", (Leaf(1, True), Leaf(2, True)))
    puzzle = Puzzle(tuple(statement(c) for c in (both, Leaf(0, False), Leaf(1, False))))
    assert FORM_VERSION == "kk1"
    assert forms_of([puzzle]) == ["kk1:1,2=8/2=1/0=1"]


def test_split_of_known_identities() -> None:
    assert [n for n in range(60) if split_of(f"item {n}") == "validation"] == [22, 37]


def test_first_rows_of_a_seed() -> None:
    params = KnightsParams(people=(2, 3, 5, 8))
    made = KnightsAndKnaves(params).generate(GenerationRequest(1, {"train": 8, "validation": 4}))
    text = "".join(
        f"{split} | {row.n_people} people | depth {row.statement_depth} | branchings "
        f"{row.difficulty:g} | {row.canonical}\n{row.question}\n{row.gold}\n\n"
        for split, rows in made.candidates_by_split.items()
        for row in rows
    )
    if os.environ.get("DFDATA_RENEW_GOLDEN"):
        ROWS.write_text(text, encoding="utf-8")
        pytest.skip(f"renewed {ROWS}")
    assert text == ROWS.read_text(encoding="utf-8")
