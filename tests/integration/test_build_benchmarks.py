"""`dfdata build` and the evaluation sets: kept out of a corpus, or written as one."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path

import pytest

from dataflex_data.builders.corpus import read_split
from dataflex_data.core.text import normalise
from tests.conftest import Cli
from tests.factories import gsm8k_records, write_jsonl

SMOKE = ("build", "--recipe", "three_domain_smoke")


@pytest.fixture
def leaked(tmp_path: Path) -> Path:
    """Give an evaluation set of ten items that stand in the made-up GSM8K too."""
    items = [
        {"id": f"item-{n}", "question": record["question"].upper(), "answer": "1"}
        for n, record in enumerate(gsm8k_records(400)[::40])
    ]
    return write_jsonl(tmp_path / "mine.jsonl", items)


def test_evaluation_items_are_dropped_before_quotas_and_named(
    made_sources: Path, leaked: Path, tmp_path: Path, cli: Cli
) -> None:
    dropped = tmp_path / "dropped.jsonl"
    result = cli(
        *(*SMOKE, "--sources-dir", made_sources, "--out", tmp_path / "out"),
        *("--decontaminate", "mine", "--benchmark-file", f"mine={leaked}"),
        *("--keep-dropped", dropped, "--json"),
    )
    assert result.code == 0, result.err
    manifest = json.loads(result.out)["manifest"]
    assert manifest["rows"]["train"]["total"] == 90
    assert manifest["sources"]["gsm8k"]["dropped"]["contaminated"] == 10
    assert manifest["decontamination"]["benchmarks"]["mine"]["rows_flagged"] == 10
    assert manifest["decontamination"]["benchmarks"]["mine"]["items_hit"] == 10
    rows = [json.loads(line) for line in dropped.read_text().splitlines()]
    (first, *_) = [row for row in rows if row["reason"] == "contaminated"]
    assert first["detail"].startswith("mine item-")
    texts = {normalise(json.loads(line)["question"]) for line in leaked.read_text().splitlines()}
    for split in ("train", "validation"):
        for row in read_split(tmp_path / "out", split).to_pylist():
            assert normalise(row["extra_info"]["raw_question"]) not in texts
    assert "| mine | 10 | 10 | 10 |" in (tmp_path / "out" / "README.md").read_text()


def test_a_missing_benchmark_is_named_or_refused(
    made_sources: Path, leaked: Path, tmp_path: Path, cli: Cli
) -> None:
    files = ("--benchmark-file", f"mine={leaked}", "--decontaminate", "gpqa_diamond")
    build = (*SMOKE, "--sources-dir", made_sources, *files)
    refused = cli(*build, "--out", tmp_path / "a")
    assert refused.code == 2
    assert "gpqa_diamond" in refused.err
    assert not (tmp_path / "a").exists()
    named = cli(*build, "--out", tmp_path / "b", "--allow-missing")
    assert named.code == 0, named.err
    assert "benchmark gpqa_diamond is MISSING" in named.err
    assert "MISSING" in named.out
    assert "**Not checked against gpqa_diamond**" in (tmp_path / "b" / "README.md").read_text()
    both = cli(*build, "--out", tmp_path / "c", "--allow-missing", "--require-benchmarks")
    assert both.code == 2
    assert "exclude each other" in both.err


def test_the_check_can_be_switched_off_and_the_card_says_so(
    made_sources: Path, tmp_path: Path, cli: Cli
) -> None:
    result = cli(
        *(*SMOKE, "--sources-dir", made_sources, "--out", tmp_path / "out"),
        *("--decontaminate", "none"),
    )
    assert result.code == 0, result.err
    assert (
        "was not checked against any evaluation set" in (tmp_path / "out" / "README.md").read_text()
    )


def test_benchmarks_for_a_recipe_without_use_for_them_are_refused(
    leaked: Path, tmp_path: Path, cli: Cli
) -> None:
    result = cli(
        *("build", "--recipe", "logic_offline", "--out", tmp_path / "out"),
        *("--benchmark-file", f"mine={leaked}"),
    )
    assert result.code == 2
    assert "the recipe has no `decontaminate`" in result.err


def test_puzzles_of_an_evaluation_set_do_not_come_back_under_other_names(
    tmp_path: Path, cli: Cli
) -> None:
    # Every 2-person puzzle that the seed would give is an evaluation item, with other people in it.
    recipe = tmp_path / "two.yaml"
    recipe.write_text(
        "recipe: 1\nname: two\nseed: 1\ndomains:\n  logic:\n    count: 8\n    sources:\n"
        "      - {source: knights_and_knaves, fraction: 1.0, params: {people: [2]}}\n"
    )
    assert cli("build", "--recipe", recipe, "--out", tmp_path / "first").code == 0
    rows = read_split(tmp_path / "first", "train").to_pylist()
    quizzes = {row["extra_info"]["raw_question"] for row in rows}
    items = []
    for row in rows:
        said = row["reward_model"]["ground_truth"].removesuffix(".").split(", and ")
        items.append(
            {
                "quiz": row["extra_info"]["raw_question"],
                "names": [part.split()[0] for part in said],
                "solution": [part.endswith("knight") for part in said],
                "index": row["extra_info"]["index"],
            }
        )
    folder = tmp_path / "benchmarks" / "knights_and_knaves" / "test"
    for people in (7, 8):
        write_jsonl(folder / f"people{people}_num100.jsonl", items)
    result = cli(
        *("build", "--recipe", recipe, "--out", tmp_path / "second"),
        *("--decontaminate", "kk_hard", "--benchmarks-dir", tmp_path / "benchmarks"),
    )
    assert result.code == 0, result.err
    again = {
        row["extra_info"]["raw_question"]
        for row in read_split(tmp_path / "second", "train").to_pylist()
    }
    assert len(again) == 8
    assert not again & quizzes


@pytest.mark.shared
def test_the_twelve_benchmarks_are_written_whole(
    shared_dir: Path, tmp_path: Path, cli: Cli
) -> None:
    build = ("build", "--recipe", "db12_eval", "--benchmarks-dir", shared_dir / "data")
    refused = cli(*build, "--out", tmp_path / "a")
    assert refused.code == 2, "GPQA-Diamond comes only from a file of the user's"
    assert "gpqa_diamond" in refused.err
    result = cli(*build, "--out", tmp_path / "db12", "--allow-missing")
    assert result.code == 0, result.err
    # Items as counted in the README of the copies; ZebraLogic in its multiple-choice form.
    assert Counter(
        row["data_source"].removeprefix("dataflex/")
        for row in read_split(tmp_path / "db12", "validation").to_pylist()
    ) == {
        "math500": 500,
        "aime_2024": 30,
        "olympiadbench": 675,
        "minerva_math": 272,
        "gsm8k": 1319,
        "kk_hard": 200,
        "bbh_logical_deduction": 750,
        "bbh_tracking": 750,
        "zebra_logic": 3000,
        "mmlu_pro_chemistry": 1132,
        "mmlu_pro_physics": 1299,
    }
    assert not (tmp_path / "db12" / "train.parquet").exists()
    assert cli("verify", tmp_path / "db12").code == 0
    assert cli("show", tmp_path / "db12").code == 2, "it has no train rows"
    assert cli("show", tmp_path / "db12", "--split", "validation").code == 0


def test_missing_benchmarks_are_told_together_with_a_remedy(
    made_sources: Path, tmp_path: Path, cli: Cli
) -> None:
    more = ("--decontaminate", "math500,gsm8k", "--allow-missing", "--offline")
    done = cli(*SMOKE, "--sources-dir", made_sources, *more, "--out", tmp_path / "a")
    assert done.code == 0, done.err
    told = [line for line in done.err.splitlines() if "MISSING" in line]
    assert len(told) == 1
    assert "benchmarks math500, gsm8k are MISSING" in told[0]
    assert "give --benchmarks-dir DIR" in told[0]
