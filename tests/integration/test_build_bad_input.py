"""Bad input to `dfdata build`: one paragraph with file, row and remedy; exit 2; nothing written."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

from dataflex_data.builders.corpus import read_split
from tests.conftest import Cli
from tests.factories import dapo_records, gsm8k_records, sciq_records, write_jsonl, write_parquet
from tests.tokenizer import write_tokenizer

SMOKE = ("build", "--recipe", "three_domain_smoke", "--decontaminate", "none")


def _text(text: str | bytes) -> Callable[[Path], Path]:
    def write(folder: Path) -> Path:
        path = folder / "gsm8k.jsonl"
        path.write_bytes(text if isinstance(text, bytes) else text.encode())
        return path

    return write


def _parquet(records: list[dict[str, Any]]) -> Callable[[Path], Path]:
    return lambda folder: write_parquet(folder / "x.parquet", records)


def _empty_folder(folder: Path) -> Path:
    (folder / "empty").mkdir()
    return folder / "empty"


GOOD_LINE = json.dumps(gsm8k_records(1)[0])


@pytest.mark.parametrize(
    ("source", "write", "parts"),
    [
        # verl#758: a raw hub file without reward_model.
        (
            "math_dapo",
            _parquet([{"prompt": "x", "solution": "y"}]),
            ("x.parquet", "`reward_model`", "prompt, solution"),
        ),
        ("gsm8k", _text('{"Question": "x", "answer": "#### 1"}\n'), ("`question`", "Question")),
        ("gsm8k", _text(f'{GOOD_LINE}\n{{"question": "x", \n'), ("gsm8k.jsonl", "line 2")),
        (
            "gsm8k",
            _text(f"{GOOD_LINE}\n".encode() + b'{"question": "\xff"}\n'),
            ("line 2", "UTF-8"),
        ),
        ("gsm8k", _text(f"{GOOD_LINE}\n[1, 2]\n"), ("line 2", "object")),
        ("gsm8k", _text(""), ("gsm8k.jsonl",)),
        ("gsm8k", _text("<html>404</html>"), ("gsm8k.jsonl", "web page")),
        ("gsm8k", _empty_folder, ("empty", "train")),
        ("gsm8k", lambda folder: folder / "none.jsonl", ("none.jsonl",)),
    ],
)
def test_a_file_that_cannot_be_used_is_named(
    made_sources: Path,
    tmp_path: Path,
    cli: Cli,
    source: str,
    write: Callable[[Path], Path],
    parts: tuple[str, ...],
) -> None:
    path = write(tmp_path)
    result = cli(
        *(*SMOKE, "--sources-dir", made_sources, "--out", tmp_path / "out"),
        *("--source", f"{source}={path}"),
    )
    assert result.code == 2
    assert result.err.startswith("dfdata: error: ")
    for part in parts:
        assert part in result.err
    assert "Traceback" not in result.err
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize(
    ("bad", "reason"),
    [
        ({"question": "How much is a \ud800 worth?", "answer": "#### 1"}, "lone_surrogate"),
        ({"question": "How much is it?", "answer": None}, "empty_gold"),
        ({"question": None, "answer": "#### 1"}, "empty_question"),
        ({"question": "How much is\x00 it?", "answer": "#### 1"}, "nul_character"),
    ],
)
def test_a_bad_row_is_dropped_by_name_and_the_rest_is_built(
    made_sources: Path, tmp_path: Path, cli: Cli, bad: dict[str, Any], reason: str
) -> None:
    path = write_jsonl(tmp_path / "g.jsonl", [*gsm8k_records(400), bad])
    dropped = tmp_path / "dropped.jsonl"
    result = cli(
        *(*SMOKE, "--sources-dir", made_sources, "--out", tmp_path / "out"),
        *("--source", f"gsm8k={path}", "--keep-dropped", dropped),
    )
    assert result.code == 0, result.err
    (row,) = [json.loads(line) for line in dropped.read_text().splitlines()]
    assert (row["reason"], row["file"], row["row"]) == (reason, "g.jsonl", 401)


def test_kept_dropped_rows_never_cost_another_file(
    made_sources: Path, tmp_path: Path, cli: Cli
) -> None:
    source = write_jsonl(tmp_path / "g.jsonl", gsm8k_records(400))
    before = source.read_bytes()
    build = (*SMOKE, "--sources-dir", made_sources, "--source", f"gsm8k={source}")
    out = tmp_path / "out"
    for place, part in (
        (source, "is read by this very command"),
        (out / "dropped.jsonl", "lies in the corpus folder"),
        (tmp_path, "is a folder"),
        (Path("/dev/null"), "is a device"),
    ):
        result = cli(*build, "--out", out, "--keep-dropped", place, "--force")
        assert result.code == 2, place
        assert part in result.err
        assert not out.exists()
    assert source.read_bytes() == before
    assert cli(*build, "--out", out, "--keep-dropped", tmp_path / "d.jsonl").code == 0
    again = cli(*build, "--out", tmp_path / "b", "--keep-dropped", tmp_path / "d.jsonl")
    assert again.code == 2
    assert "exists already" in again.err


@pytest.mark.parametrize("seed", ["-1", "99999999999999999999999"])
def test_a_seed_out_of_range_is_refused(tmp_path: Path, cli: Cli, seed: str) -> None:
    result = cli("build", "--recipe", "logic_offline", "--seed", seed, "--out", tmp_path / "out")
    assert result.code == 2
    assert "--seed must be at least 0" in result.err


def test_relative_paths_start_at_the_recipes_folder(
    tmp_path: Path, cli: Cli, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "recipes").mkdir()
    write_jsonl(tmp_path / "recipes" / "mine.jsonl", gsm8k_records(60))
    recipe = tmp_path / "recipes" / "mine.yaml"
    recipe.write_text(
        "recipe: 1\nname: mine\nseed: 1\ndomains:\n  math:\n    count: 20\n    sources:\n"
        "      - source: jsonl\n        fraction: 1.0\n        params:\n"
        "          {path: mine.jsonl, verifier: math, license: MIT,"
        " columns: {question: question, gold: n}}\n"
    )
    records = [{**record, "n": number} for number, record in enumerate(gsm8k_records(60))]
    write_jsonl(tmp_path / "recipes" / "mine.jsonl", records)
    monkeypatch.chdir("/")
    result = cli("build", "--recipe", recipe, "--out", tmp_path / "out")
    assert result.code == 0, result.err


def test_prompts_written_by_pandas_are_read_as_messages(
    made_sources: Path, tmp_path: Path, cli: Cli
) -> None:
    # slime#68, and the public builder: pandas hands prompts back as arrays, which then get printed.
    frame = pd.DataFrame(dapo_records(400))
    frame.to_parquet(tmp_path / "pandas.parquet")
    again = pd.read_parquet(tmp_path / "pandas.parquet")
    assert not isinstance(again["prompt"][0], list), "the trap is there"
    again.to_parquet(tmp_path / "twice.parquet")
    result = cli(
        *(*SMOKE, "--sources-dir", made_sources, "--out", tmp_path / "out"),
        *("--source", f"math_dapo={tmp_path / 'twice.parquet'}"),
    )
    assert result.code == 0, result.err
    for row in read_split(tmp_path / "out", "train").to_pylist():
        if row["data_source"] == "dataflex/math_dapo":
            assert row["prompt"][0]["content"].startswith("Let $n$ be the remainder")


def test_prompts_as_printed_text_are_dropped_with_a_reason(
    made_sources: Path, tmp_path: Path, cli: Cli
) -> None:
    records = [{**record, "prompt": str(record["prompt"])} for record in dapo_records(400)]
    path = write_parquet(tmp_path / "x.parquet", records)
    result = cli(
        *(*SMOKE, "--sources-dir", made_sources, "--out", tmp_path / "out"),
        *("--source", f"math_dapo={path}"),
    )
    assert result.code == 2
    assert "prompt_not_one_message 400" in result.err


def test_a_shortfall_says_what_can_be_done(made_sources: Path, tmp_path: Path, cli: Cli) -> None:
    from dataflex_data.builders.sources.math_dapo import PREFIX, SUFFIX

    bare = [
        {
            **record,
            "prompt": [
                {
                    "role": "user",
                    "content": record["prompt"][0]["content"]
                    .removeprefix(PREFIX)
                    .removesuffix(SUFFIX),
                }
            ],
        }
        for record in dapo_records(400)
    ]
    path = write_parquet(tmp_path / "x.parquet", bare)
    result = cli(
        *(*SMOKE, "--sources-dir", made_sources, "--out", tmp_path / "out"),
        *("--source", f"math_dapo={path}"),
    )
    assert result.code == 2
    assert "wrapper_missing 400" in result.err
    assert "set `already_stripped: true`" in result.err


def test_two_equal_options_leave_under_their_name(
    made_sources: Path, tmp_path: Path, cli: Cli
) -> None:
    records = sciq_records(400)
    records[7]["distractor1"] = records[7]["correct_answer"].upper()
    path = write_parquet(tmp_path / "x.parquet", records)
    result = cli(
        *(*SMOKE, "--sources-dir", made_sources, "--out", tmp_path / "out"),
        *("--source", f"sciq={path}", "--json"),
    )
    dropped = json.loads(result.out)["manifest"]["sources"]["sciq"]["dropped"]
    assert dropped == {"duplicate_options": 1}


def test_a_tokenizer_fills_token_counts_and_applies_the_limit(
    made_sources: Path, tmp_path: Path, cli: Cli
) -> None:
    tokenizer = write_tokenizer(tmp_path / "tokenizer", chat=False)
    recipe = tmp_path / "r.yaml"
    recipe.write_text(
        "recipe: 1\nname: short\nseed: 1\nfilters: {max_prompt_tokens: 160}\ndomains:\n  math:\n"
        "    count: 30\n    sources:\n      - {source: gsm8k, fraction: 1.0}\n"
    )
    long = {"question": "How many are there? " + "very " * 40 + "many?", "answer": "#### 1"}
    path = write_jsonl(tmp_path / "g.jsonl", [*gsm8k_records(400), long])
    result = cli(
        *("build", "--recipe", recipe, "--source", f"gsm8k={path}", "--out", tmp_path / "out"),
        *("--tokenizer", tokenizer, "--json"),
    )
    assert result.code == 0, result.err
    assert "has no chat template" in result.err
    dropped = json.loads(result.out)["manifest"]["sources"]["gsm8k"]["dropped"]
    assert dropped["prompt_too_long"] >= 1
    for row in read_split(tmp_path / "out", "train").to_pylist():
        # One token per byte: see tests/tokenizer.py.
        tokens = row["extra_info"]["prompt_tokens"]
        assert tokens == len(row["prompt"][0]["content"].encode()) <= 160


def test_without_a_tokenizer_the_limit_is_a_plain_count_and_says_so(
    made_sources: Path, tmp_path: Path, cli: Cli
) -> None:
    result = cli(*SMOKE, "--sources-dir", made_sources, "--out", tmp_path / "out")
    assert "plain count of words and symbols" in result.err
    rows = read_split(tmp_path / "out", "train").to_pylist()
    assert {row["extra_info"]["prompt_tokens"] for row in rows} == {-1}
