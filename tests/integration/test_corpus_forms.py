"""`dfdata verify` by canonical form: what is planted is found, and what cannot be told is said."""

from __future__ import annotations

import copy
import json
import re
from pathlib import Path
from typing import Any

import pytest

from dataflex_data.builders import forms
from dataflex_data.builders.corpus import corpus_manifest, read_split
from dataflex_data.builders.forms import FormReport, form_report
from dataflex_data.builders.knights.exclude import excluded_forms, forms_of
from dataflex_data.builders.knights.parse import parse_quiz
from dataflex_data.builders.knights.published import form_digest, published_test
from dataflex_data.pipeline import build
from tests.conftest import Cli

RECIPE: dict[str, Any] = {
    "recipe": 1,
    "name": "three_small",
    "seed": 3,
    "validation": 8,
    "domains": {
        # Not in alphabetical order: JSON sorts keys, and the order of making must survive it.
        "science": {"count": 40, "sources": [{"source": "procedural_science", "fraction": 1.0}]},
        "math": {
            "count": 40,
            "sources": [
                {"source": "procedural_math", "name": "first", "fraction": 0.5},
                {"source": "procedural_math", "name": "again", "fraction": 0.5},
            ],
        },
        "logic": {
            "count": 40,
            "sources": [
                {"source": "knights_and_knaves", "fraction": 1.0, "params": {"people": [4, 7]}}
            ],
        },
    },
}
Records = dict[str, list[dict[str, Any]]]


@pytest.fixture(scope="module")
def corpus(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("forms") / "small"
    build(RECIPE, folder)
    return folder


@pytest.fixture
def records(corpus: Path) -> Records:
    return {split: read_split(corpus, split).to_pylist() for split in ("train", "validation")}


def report_of(corpus: Path, records: Records) -> FormReport:
    return form_report(corpus_manifest(corpus), records)


def first(records: Records, domain: str) -> dict[str, Any]:
    return next(row for row in records["train"] if row["domain"] == domain)


def test_every_row_has_a_form_of_its_own(corpus: Path, records: Records) -> None:
    report = report_of(corpus, records)
    assert {name: dict(rows) for name, rows in report.rows.items()} == {
        "dataflex-data/knights_and_knaves": {"train": 40, "validation": 8},
        "dataflex-data/procedural_math": {"train": 40, "validation": 8},
        "dataflex-data/procedural_science": {"train": 40, "validation": 8},
    }
    assert not report.shared
    assert not report.unreadable
    assert not report.unchecked
    assert report.puzzles == 48


def test_a_puzzle_under_other_names_is_found(corpus: Path, records: Records) -> None:
    row = copy.deepcopy(first(records, "logic"))
    names = parse_quiz(row["extra_info"]["raw_question"]).names
    others = dict(
        zip(
            names,
            ("Quentin", "Rowena", "Siegfried", "Tabitha", "Ulrich", "Viola", "Wim"),
            strict=False,
        )
    )
    renamed = re.sub(
        r"\w+", lambda word: others.get(word[0], word[0]), row["extra_info"]["raw_question"]
    )
    assert renamed != row["extra_info"]["raw_question"]
    row["extra_info"]["raw_question"] = renamed
    records["validation"].append(row)
    (found,) = report_of(corpus, records).shared
    assert found.startswith("validation row 24: is the problem of train row ")


@pytest.mark.parametrize("domain", ["math", "science"])
def test_a_computed_problem_in_both_splits_is_found(
    corpus: Path, records: Records, domain: str
) -> None:
    # The words differ; the id made of the row's raw content is what the source is asked for.
    row = copy.deepcopy(first(records, domain))
    row["prompt"][0]["content"] = "Said otherwise."
    records["validation"].append(row)
    (found,) = report_of(corpus, records).shared
    assert f"procedural_{domain}/" in found


def test_a_row_that_its_source_does_not_make_is_found(corpus: Path, records: Records) -> None:
    first(records, "math")["extra_info"]["source_id"] = "0" * 16
    (found,) = report_of(corpus, records).unreadable
    assert "dataflex-data/procedural_math does not make this row" in found


def test_a_garbled_puzzle_is_found(corpus: Path, records: Records) -> None:
    first(records, "logic")["extra_info"]["raw_question"] = "Who is who?"
    (found,) = report_of(corpus, records).unreadable
    assert "has no list of people" in found


def test_rows_of_another_generator_are_not_checked_and_it_is_said(
    corpus: Path, records: Records
) -> None:
    for row in records["train"]:
        if row["domain"] == "math":
            row["extra_info"]["source_revision"] = "generator-0"
    report = report_of(corpus, records)
    assert report.unchecked == {
        "dataflex-data/procedural_math": "made by generator-0, this release has generator-2"
    }
    assert "dataflex-data/procedural_math" not in report.rows


def test_a_puzzle_of_the_published_test_is_a_problem(
    corpus: Path, records: Records, cli: Cli, monkeypatch: pytest.MonkeyPatch
) -> None:
    quizzes = [
        parse_quiz(row["extra_info"]["raw_question"]).puzzle
        for row in records["train"]
        if row["domain"] == "logic"
    ]
    by_people = {
        people: next(puzzle for puzzle in quizzes if len(puzzle.statements) == people)
        for people in (4, 7)
    }
    planted = {
        people: frozenset(map(form_digest, forms_of([puzzle])))
        for people, puzzle in by_people.items()
    }
    monkeypatch.setattr(forms, "published_test", lambda: planted)
    report = report_of(corpus, records)
    assert report.test_overlap == {4: 1, 7: 1}
    (found,) = report.hard_test
    assert found.endswith("is a puzzle of the published test of 7 people")
    result = cli("verify", corpus)
    assert result.code == 1
    assert "no puzzle of the published K&K test (7, 8)   1 problem " in result.out


def test_the_outcome_is_written_and_repeats_itself(corpus: Path, tmp_path: Path, cli: Cli) -> None:
    for name in ("one", "two"):
        result = cli("verify", corpus, "--out", tmp_path / name)
        assert result.code == 0
        assert str(tmp_path / name / "report.html") in result.out
    record = json.loads((tmp_path / "one" / "verification.json").read_text())
    assert record["ok"] is True
    assert record["corpus"]["corpus_sha256"] == corpus_manifest(corpus)["corpus_sha256"]
    assert record["forms"]["rows"]["dataflex-data/procedural_math"] == {
        "train": 40,
        "validation": 8,
    }
    for name in ("verification.json", "report.html", "manifest.json"):
        assert (tmp_path / "one" / name).read_bytes() == (tmp_path / "two" / name).read_bytes()
    assert cli("verify", corpus, "--out", tmp_path / "one").code == 2
    assert cli("verify", corpus, "--out", tmp_path / "one", "--force").code == 0


@pytest.mark.shared
def test_the_digests_are_those_of_the_published_files(shared_dir: Path) -> None:
    folder = shared_dir / "data" / "knights_and_knaves" / "test"
    for people in range(2, 9):
        found = excluded_forms(folder / f"people{people}_num100.jsonl")
        assert published_test()[people] == frozenset(map(form_digest, found))
