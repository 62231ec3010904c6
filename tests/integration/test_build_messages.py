"""What a command is given has an effect or is refused, and a shortfall says what is short."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.conftest import Cli

GENERATED = """
recipe: 1
name: small
seed: 2
validation: 0
domains:
  math:
    count: 20
    sources: [{source: procedural_math, fraction: 1.0}]
  logic:
    count: 20
    sources: [{source: knights_and_knaves, fraction: 1.0, params: {people: [5, 6]}}]
"""
OWN = """
recipe: 1
name: own
seed: 2
validation: 1
domains:
  math:
    count: 6
    sources:
      - source: jsonl
        name: mine
        fraction: 1.0
        params: {path: rows.jsonl, columns: {question: q, gold: a}, verifier: math, license: MIT}
"""


@pytest.fixture
def generated(tmp_path: Path) -> Path:
    path = tmp_path / "small.yaml"
    path.write_text(GENERATED)
    return path


def test_a_sources_folder_that_nothing_would_read_is_refused(
    generated: Path, tmp_path: Path, cli: Cli
) -> None:
    empty = tmp_path / "empty"
    empty.mkdir()
    out = tmp_path / "out"
    result = cli("build", "--recipe", generated, "--out", out, "--sources-dir", empty)
    assert result.code == 2
    told = " ".join(result.err.split())
    assert f"--sources-dir {empty}: all sources of the recipe are generated" in told
    assert "(procedural_math, knights_and_knaves) and read no files; leave it out" in told
    assert not out.exists()


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("sciq", "the recipe has no such source; all sources of the recipe are generated"),
        ("procedural_math", "procedural_math is generated and reads no files; leave it out"),
    ],
)
def test_files_for_a_generated_source_are_refused(
    generated: Path, tmp_path: Path, cli: Cli, name: str, words: str
) -> None:
    given = f"{name}={tmp_path}"
    result = cli("build", "--recipe", generated, "--out", tmp_path / "out", "--source", given)
    assert result.code == 2
    assert words in " ".join(result.err.split())
    assert "(its sources: )" not in result.err


def test_sources_of_a_recipe_of_evaluation_sets_are_refused(tmp_path: Path, cli: Cli) -> None:
    recipe = tmp_path / "sets.yaml"
    recipe.write_text("recipe: 1\nname: sets\nseed: 1\nevaluation: {benchmarks: [gsm8k]}\n")
    result = cli(
        *("build", "--recipe", recipe, "--out", tmp_path / "out", "--sources-dir", tmp_path)
    )
    assert result.code == 2
    assert "the recipe writes evaluation sets and has no sources" in " ".join(result.err.split())


def test_a_shortfall_says_how_many_rows_fall_in_the_split(tmp_path: Path, cli: Cli) -> None:
    from dataflex_data.core.splits import split_of
    from dataflex_data.core.text import normalise

    # Six questions, none of which falls in validation: about nineteen of twenty do not.
    texts = [f"What is {n} plus {n * n}, if all goes well?" for n in range(2, 400)]
    train = [
        (text, n + n * n) for n, text in enumerate(texts, 2) if split_of(normalise(text)) == "train"
    ][:6]
    rows = "".join(f'{{"q": "{text}", "a": "{gold}"}}\n' for text, gold in train)
    (tmp_path / "rows.jsonl").write_text(rows)
    recipe = tmp_path / "own.yaml"
    recipe.write_text(OWN)
    result = cli("build", "--recipe", recipe, "--out", tmp_path / "out")
    assert result.code == 2
    told = " ".join(result.err.split())
    assert "mine/validation: wanted 1, got 0, missing 1 (raw 6; dropped none; " in told
    assert "of the 6 left, 0 fall in validation: their content decides the split)" in told


def test_a_value_that_is_nearly_one_is_refused_with_it(
    generated: Path, tmp_path: Path, cli: Cli
) -> None:
    out = tmp_path / "out"
    assert cli("build", "--recipe", generated, "--out", out).code == 0
    result = cli("show", out, "--where", "domain=logc")
    assert result.code == 2
    assert "no row has domain 'logc'; did you mean 'logic'?" in " ".join(result.err.split())
    assert cli("show", out, "--where", "domain=logic").code == 0
    # A value near none is a question with an empty answer.
    result = cli("show", out, "--where", "domain=zoology")
    assert result.code == 0
    assert "domain is one of: logic, math" in result.out


def test_the_nearest_option_is_offered(cli: Cli) -> None:
    result = cli("build", "--recpe", "x")
    assert result.code == 2
    assert "--recipe" in result.err
    assert "--force" not in result.err


@pytest.mark.parametrize("verb", ["policies", "recipes"])
def test_help_says_that_the_bare_verb_lists(cli: Cli, verb: str) -> None:
    told = " ".join(cli(verb, "--help").out.split())
    assert f"`dfdata {verb}` alone lists them" in told.replace("│", "")
    assert "List, show" not in told


@pytest.mark.parametrize("buffered", ["", "1"])
def test_notes_stand_where_they_are_said_with_and_without_buffering(
    tmp_path: Path, buffered: str
) -> None:
    """With PYTHONUNBUFFERED all errors came after all output, since our buffer held them."""
    (tmp_path / "foreign.jsonl").write_text("hm\n")
    (tmp_path / "small.yaml").write_text(GENERATED)
    build = [sys.executable, "-m", "dataflex_data.cli.main", "build", "--recipe", "small.yaml"]
    environment = {**os.environ, "PYTHONUNBUFFERED": buffered}
    subprocess.run(
        build, cwd=tmp_path, env=environment, check=True, stdout=subprocess.PIPE, timeout=120
    )
    done = subprocess.run(
        [*build[:3], "dashboard", "out", ".", "--out", "page.html"],
        cwd=tmp_path,
        env=environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        check=True,
        timeout=120,
    ).stdout
    first, *_, last = done.strip().splitlines()
    assert "foreign.jsonl" in done.split("page.html")[0]
    assert first.startswith("note: not shown:")
    assert last.startswith("note: no verifications")
