"""The flagship recipe on the real copies: every promise of the README, counted by another route."""

from __future__ import annotations

import gzip
import json
import re
from collections import Counter
from pathlib import Path
from typing import Any

import polars as pl
import pytest

from dataflex_data.builders.corpus import read_split
from dataflex_data.builders.sources.math_dapo import PREFIX, SUFFIX
from dataflex_data.builders.verification import verify_corpus
from dataflex_data.core.text import normalise
from dataflex_data.pipeline import build

pytestmark = [pytest.mark.shared, pytest.mark.slow]


@pytest.fixture(scope="module")
def sources(shared_dir: Path) -> dict[str, Path]:
    data = shared_dir / "data"
    return {
        "gsm8k": data / "gsm8k/train.jsonl",
        "math_dapo": data / "dapo_math_17k/derived_canonical/dapo-math-17k.parquet",
        "deepscaler": data / "deepscaler/train.jsonl.gz",
        "sciq": data / "sciq/derived_distractors/data/train-00000-of-00001.parquet",
    }


@pytest.fixture(scope="module")
def corpus(sources: dict[str, Path], tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("real") / "three"
    build("three_domain_15k", out, sources=sources)
    return out


@pytest.fixture(scope="module")
def train(corpus: Path) -> list[dict[str, Any]]:
    rows: list[dict[str, Any]] = read_split(corpus, "train").to_pylist()
    return rows


def test_15000_rows_5000_per_domain_with_the_stated_shares(train: list[dict[str, Any]]) -> None:
    assert Counter(row["domain"] for row in train) == {"math": 5000, "logic": 5000, "science": 5000}
    assert Counter(row["data_source"] for row in train) == {
        "dataflex/math_dapo": 2000,
        "dataflex/deepscaler": 2000,
        "dataflex/gsm8k": 1000,
        "dataflex/knights_and_knaves": 5000,
        "dataflex/sciq": 5000,
    }


def test_no_two_prompts_equal_and_none_in_validation(
    corpus: Path, train: list[dict[str, Any]]
) -> None:
    mine = {normalise(row["prompt"][0]["content"]) for row in train}
    held = read_split(corpus, "validation").to_pylist()
    theirs = {normalise(row["prompt"][0]["content"]) for row in held}
    assert len(mine) == 15_000
    assert Counter(row["domain"] for row in held) == {"math": 100, "logic": 100, "science": 100}
    assert len(theirs) == 300
    assert not mine & theirs


def test_the_corpus_verifies_to_the_last_row(corpus: Path) -> None:
    assert [check.name for check in verify_corpus(corpus).checks if check.problems] == []


def test_maths_prompts_are_prose_not_printed_lists(train: list[dict[str, Any]]) -> None:
    # The public builder's were the printed form of a message list, or asked for two formats.
    for row in train:
        content = row["prompt"][0]["content"]
        assert "'role'" not in content
        assert "array([" not in content
        assert "<<" not in content or row["data_source"] != "dataflex/gsm8k"
        assert not content.startswith(PREFIX[:30])
        assert SUFFIX.strip() not in content
        if row["domain"] == "math":
            assert content.count("\\boxed{}") == 1
            assert not re.search("[\x00-\x08\x0b\x0c\x0e-\x1f]", content)


def test_gsm8k_golds_equal_the_sources_own(
    sources: dict[str, Path], train: list[dict[str, Any]]
) -> None:
    golds = {}
    for line in sources["gsm8k"].read_text(encoding="utf-8").strip().split("\n"):
        record = json.loads(line)
        golds[record["question"]] = record["answer"].rsplit("####", 1)[1].strip().replace(",", "")
    rows = [row for row in train if row["data_source"] == "dataflex/gsm8k"]
    for row in rows:
        assert row["reward_model"]["ground_truth"] == golds[row["extra_info"]["raw_question"]]


def test_dapo_copies_and_golds_by_another_route(
    corpus: Path, sources: dict[str, Path], train: list[dict[str, Any]]
) -> None:
    frame = pl.read_parquet(sources["math_dapo"]).select(
        text=pl.col("prompt").list.first().struct.field("content"),
        gold=pl.col("reward_model").struct.field("ground_truth"),
    )
    manifest = json.loads((corpus / "manifest.json").read_text())
    entry = manifest["sources"]["math_dapo"]
    assert entry["raw"] == frame.height == 15_315
    assert entry["dropped"]["exact_duplicate"] == frame.height - frame.unique().height
    golds = dict(frame.iter_rows())
    for row in train:
        if row["data_source"] == "dataflex/math_dapo":
            wrapped = PREFIX + row["extra_info"]["raw_question"] + SUFFIX
            assert row["reward_model"]["ground_truth"] == golds[wrapped]


def test_deepscaler_counts_by_another_route(corpus: Path, sources: dict[str, Path]) -> None:
    with gzip.open(sources["deepscaler"], "rt", encoding="utf-8") as handle:
        pairs = [(record["problem"], record["answer"]) for record in map(json.loads, handle)]
    entry = json.loads((corpus / "manifest.json").read_text())["sources"]["deepscaler"]
    assert entry["raw"] == len(pairs) == 34_244
    # Copies of records that leave at parsing are counted under that reason, hence "at most".
    assert 0 < entry["dropped"]["exact_duplicate"] <= len(pairs) - len(set(pairs))
    assert sum(entry["dropped"].values()) + sum(entry["eligible"].values()) == entry["raw"]


def test_letters_are_balanced_and_every_licence_is_named(
    corpus: Path, train: list[dict[str, Any]]
) -> None:
    letters = Counter(
        row["reward_model"]["ground_truth"] for row in train if row["ability"] == "science"
    )
    # 5,000 fair draws of four: each count has mean 1,250 and sd 30.6; six sd never happen by luck.
    assert set(letters) == set("ABCD")
    assert all(abs(count - 1250) < 6 * 30.6 for count in letters.values())
    assert {row["extra_info"]["license"] for row in train} == {"MIT", "Apache-2.0", "CC-BY-NC-3.0"}


def test_people_have_their_quotas_or_a_named_shortfall(
    corpus: Path, train: list[dict[str, Any]]
) -> None:
    people = Counter(row["extra_info"]["n_people"] for row in train if row["domain"] == "logic")
    assert set(people) == set(range(2, 9))
    assert max(people[n] for n in range(3, 9)) - min(people[n] for n in range(3, 9)) <= 1
    notes = json.loads((corpus / "manifest.json").read_text())["notes"]
    assert any(note.startswith("2 people: ") for note in notes)
    assert people[2] < 205, "more than the grammar has up to renaming"


def test_the_found_form_of_dapo_needs_the_recipes_word(shared_dir: Path, tmp_path: Path) -> None:
    bare = shared_dir / "data/dapo_math_17k/svs_dapo_math_17k.parquet"
    recipe = {
        "recipe": 1,
        "name": "bare",
        "seed": 1,
        "domains": {
            "math": {
                "count": 100,
                "sources": [
                    {
                        "source": "math_dapo",
                        "fraction": 1.0,
                        "params": {"already_stripped": True},
                    }
                ],
            }
        },
    }
    result = build(recipe, tmp_path / "out", sources={"math_dapo": bare})
    assert result.manifest["rows"]["train"]["total"] == 100
    assert "wrapper_missing" not in result.manifest["sources"]["math_dapo"]["dropped"]
