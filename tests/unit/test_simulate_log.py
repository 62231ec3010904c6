"""Logs for a replay as tools write them: steps as floats, rewards as truth, faults by their row."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from typer.testing import CliRunner

from dataflex_data.cli.main import app
from dataflex_data.core.errors import InputDataError
from dataflex_data.samplers.log import read_log


def written(folder: Path, kind: str, columns: dict[str, list[Any]]) -> Path:
    path = folder / f"log.{kind}"
    names, rows = list(columns), list(zip(*columns.values(), strict=True))
    if kind == "parquet":
        pq.write_table(pa.table(columns), path)
    elif kind == "csv":
        lines = [",".join(map(str, row)) for row in rows]
        path.write_text("\n".join([",".join(names), *lines]) + "\n")
    else:
        path.write_text("".join(json.dumps(dict(zip(names, r, strict=True))) + "\n" for r in rows))
    return path


KINDS = ["parquet", "csv", "jsonl"]


@pytest.mark.parametrize("kind", KINDS)
def test_steps_as_floats_and_rewards_as_truth(tmp_path: Path, kind: str) -> None:
    path = written(
        tmp_path,
        kind,
        {"step": [100.0, 101.0, 105.0], "domain": ["a", "b", "a"], "reward": [True, False, True]},
    )
    log, domains = read_log(path)
    assert domains == ["a", "b"]
    assert [signals.step for signals in log] == [0, 1, 2]
    assert [list(signals.rewards) for signals in log] == [[1.0], [0.0], [1.0]]  # type: ignore[arg-type]


@pytest.mark.parametrize("kind", KINDS)
def test_the_row_that_is_wrong_is_named(tmp_path: Path, kind: str) -> None:
    good: dict[str, list[Any]] = {
        "step": [0.0, 1.0, 2.0],
        "domain": ["a", "b", "a"],
        "reward": [0.5, 1.0, 0.0],
    }
    with pytest.raises(InputDataError, match=r"step 1\.5 of row 2 is no whole number"):
        read_log(written(tmp_path, kind, {**good, "step": [0.0, 1.5, 2.0]}))
    if kind != "jsonl":
        with pytest.raises(InputDataError, match="reward nan of row 3 is no finite number"):
            read_log(written(tmp_path, kind, {**good, "reward": [0.5, 1.0, float("nan")]}))
    with pytest.raises(InputDataError, match="reward 'x' of row 2 is no number"):
        read_log(written(tmp_path, kind, {**good, "reward": ["0.5", "x", "0.0"]}))


def test_text_that_looks_like_numbers(tmp_path: Path) -> None:
    path = written(
        tmp_path, "parquet", {"step": [0, 1], "domain": ["a", "b"], "reward": ["0.5", "1"]}
    )
    with pytest.raises(InputDataError, match="column reward holds text; write it as numbers"):
        read_log(path)


def test_rules_without_effect_are_refused(tmp_path: Path) -> None:
    arguments = ["simulate", "--mixer", "static", "--warmup-steps", "3", "--update-every", "50"]
    done = CliRunner().invoke(app, [*arguments, "--out", str(tmp_path / "out")])
    assert done.exit_code != 0
    told = done.output + str(done.exception)
    assert "--warmup-steps has no effect" in told
    assert "--update-every has no effect" in told


def test_a_replay_prints_no_summary_of_what_it_has_not(tmp_path: Path) -> None:
    path = written(
        tmp_path, "csv", {"step": [0, 0, 1, 1], "domain": list("abab"), "reward": [0.0, 1.0] * 2}
    )
    done = CliRunner().invoke(
        app,
        ["simulate", "--log", str(path), "--mixer", "dads", "--out", str(tmp_path / "o"), "--json"],
    )
    assert done.exit_code == 0, done.output
    told = json.loads(done.stdout)
    assert set(told) == {"out", "proportions"}
    assert (tmp_path / "o" / "trajectory.png").stat().st_size > 1000
