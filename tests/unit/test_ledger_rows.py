"""The ledger: whole after a kill, no step twice after a resume, no column by accident."""

from __future__ import annotations

import json
import math
import os
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from dataflex_data.core.errors import ConfigError, InputDataError, OutputError, StateError
from dataflex_data.core.ledger import Column, Ledger, columns, declare, read_ledger

RUN = {"seed": 1, "mixer": "static"}


def filled(path: Path, steps: int) -> None:
    with Ledger(path, RUN) as ledger:
        for step in range(steps):
            ledger.append(step, proportion={"a": 0.25, "b": 0.75}, inert=step / 2)


def test_rows_come_back(tmp_path: Path) -> None:
    path = tmp_path / "new" / "ledger.jsonl"
    filled(path, 3)
    held = read_ledger(path)
    assert held.run == RUN
    assert held.steps.tolist() == [0, 1, 2]
    assert held.numbers("inert").tolist() == [0.0, 0.5, 1.0]
    assert held.by_domain("proportion")["b"].tolist() == [0.75] * 3
    assert held.names == ("inert", "proportion")
    assert held.cut_bytes == 0


def test_numpy_values_and_gaps(tmp_path: Path) -> None:
    path = tmp_path / "ledger.jsonl"
    with Ledger(path, RUN) as ledger:
        ledger.append(0, quota={"a": np.int64(3)}, reward={"a": None}, inert=np.float64(0.1))
        ledger.append(4, quota={"b": 2})
    held = read_ledger(path)
    assert held.rows[0] == {"step": 0, "quota": {"a": 3}, "reward": {"a": None}, "inert": 0.1}
    assert held.by_domain("quota")["a"][0] == 3
    assert math.isnan(held.by_domain("quota")["a"][1])
    assert math.isnan(held.numbers("inert")[1])


@pytest.mark.parametrize("cut", range(1, 30, 4))
def test_a_broken_end_is_cut_off_and_said(tmp_path: Path, cut: int) -> None:
    path = tmp_path / "ledger.jsonl"
    filled(path, 3)
    path.write_bytes(path.read_bytes()[:-cut])
    assert read_ledger(path).steps.tolist() == [0, 1]
    with Ledger(path, RUN, first_step=2) as ledger:
        assert ledger.cut_bytes > 0
        ledger.append(2, inert=7)
    assert read_ledger(path).numbers("inert").tolist() == [0.0, 0.5, 7.0]


def test_a_kill_at_any_moment_leaves_a_whole_ledger(tmp_path: Path) -> None:
    path = tmp_path / "ledger.jsonl"
    code = (
        "from pathlib import Path\nfrom dataflex_data.core.ledger import Ledger\n"
        f"ledger = Ledger(Path({str(path)!r}), {RUN!r})\n"
        "for step in range(10**9):\n"
        "    ledger.append(step, inert=step, proportion={'a': 0.5, 'b': 0.5})\n"
        "    if step == 200: print('ready', flush=True)\n"
    )
    child = subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE)
    assert child.stdout is not None
    assert child.stdout.readline() == b"ready\n"
    os.kill(child.pid, signal.SIGKILL)
    child.wait()
    child.stdout.close()
    held = read_ledger(path)
    assert held.steps.tolist() == list(range(len(held.rows)))
    assert len(held.rows) > 200
    with Ledger(path, RUN, first_step=len(held.rows)) as ledger:
        ledger.append(len(held.rows), inert=0)
    assert len(read_ledger(path).rows) == len(held.rows) + 1


def test_a_resume_has_no_step_twice_and_loses_nothing(tmp_path: Path) -> None:
    path = tmp_path / "ledger.jsonl"
    filled(path, 58)
    with Ledger(path, RUN, first_step=50) as ledger:
        assert (ledger.next_step, ledger.superseded) == (50, 8)
        ledger.append(50, inert=-1)
    held = read_ledger(path)
    assert held.steps.tolist() == list(range(51))
    assert held.numbers("inert")[50] == -1
    beside = (tmp_path / "ledger.jsonl.superseded").read_text().splitlines()
    assert [json.loads(line)["step"] for line in beside] == list(range(50, 58))


@pytest.mark.parametrize(
    ("values", "message"),
    [
        ({"proportions": {"a": 1.0}}, "'proportions' is not declared; did you mean 'proportion'"),
        ({"inert": math.nan}, "inert must be a finite number, got nan"),
        ({"inert": True}, "inert must be a finite number, got True"),
        ({"mixer": 3}, "mixer must be text, got 3"),
        ({"quota": 3}, "quota must be a mapping of domain to number, got 3"),
        ({"quota": {"a": math.inf}}, "quota of 'a' must be a finite number, got inf"),
    ],
)
def test_values_that_do_not_fit(tmp_path: Path, values: dict[str, Any], message: str) -> None:
    path = tmp_path / "ledger.jsonl"
    with Ledger(path, RUN) as ledger:
        before = path.read_bytes()
        with pytest.raises(InputDataError, match=message):
            ledger.append(0, **values)
        assert path.read_bytes() == before
        ledger.append(0)


def test_a_step_comes_once_and_in_order(tmp_path: Path) -> None:
    with Ledger(tmp_path / "ledger.jsonl", RUN) as ledger:
        ledger.append(3)
        for step in (3, 2):
            with pytest.raises(InputDataError, match=f"step {step} is not after step 3"):
                ledger.append(step)


def test_a_step_may_be_of_numpy_and_must_be_whole(tmp_path: Path) -> None:
    with Ledger(tmp_path / "ledger.jsonl", RUN) as ledger:
        ledger.append(0)
        ledger.append(np.int64(1))
        for step in ("7", 7.5, True, None):
            with pytest.raises(InputDataError, match="the step must be a whole number"):
                ledger.append(step)  # type: ignore[arg-type]
    assert read_ledger(tmp_path / "ledger.jsonl").steps.tolist() == [0, 1]


def test_one_process_writes_at_a_time(tmp_path: Path) -> None:
    path = tmp_path / "ledger.jsonl"
    filled(path, 3)
    with Ledger(path, RUN, first_step=2) as ledger:  # replaces the file: the lock moves with it
        for first in (0, 3):
            with pytest.raises(StateError, match="another run is writing to it"):
                Ledger(path, RUN, first_step=first)
        ledger.append(2)
    with Ledger(path, RUN, first_step=3) as ledger:
        ledger.append(3)
    assert read_ledger(path).steps.tolist() == [0, 1, 2, 3]


def test_a_file_that_grew_by_another_hand_is_noticed(tmp_path: Path) -> None:
    path = tmp_path / "ledger.jsonl"
    with Ledger(path, RUN) as ledger:
        ledger.append(0)
        with path.open("a") as other:
            other.write('{"step":1}\n')
        with pytest.raises(StateError, match="another process has written to it"):
            ledger.append(1)
    assert read_ledger(path).steps.tolist() == [0, 1]


@pytest.mark.parametrize("value", [math.nan, object(), {1, 2}])
def test_what_the_run_is_must_be_plain(tmp_path: Path, value: object) -> None:
    path = tmp_path / "new" / "ledger.jsonl"
    with pytest.raises(InputDataError, match="must be names and plain finite values"):
        Ledger(path, {"a": value})
    assert not path.parent.exists()


def test_files_that_are_no_ledger_or_another_s(tmp_path: Path) -> None:
    path = tmp_path / "ledger.jsonl"
    filled(path, 2)
    with pytest.raises(StateError, match="is the ledger of another run"):
        Ledger(path, {"seed": 2})
    with pytest.raises(InputDataError, match="no such file"):
        read_ledger(tmp_path / "none.jsonl")
    for text, message in (
        ("{}\n", "is no ledger"),
        ("", "is no ledger"),
        ('{"kind": "dataflex_data/ledger", "version": 2, "run": {}}\n', "version 2.*upgrade"),
    ):
        path.write_text(text)
        with pytest.raises(StateError, match=message):
            read_ledger(path)


def test_damage_in_the_middle_is_named_by_its_line(tmp_path: Path) -> None:
    path = tmp_path / "ledger.jsonl"
    filled(path, 4)
    lines = path.read_text().splitlines(keepends=True)
    for damaged, message in (
        ([*lines[:2], "{broken\n", *lines[3:]], "line 3: is not JSON"),
        ([*lines[:2], "[1]\n", *lines[3:]], "line 3: is not a mapping"),
        ([*lines[:3], lines[1], *lines[4:]], "line 4: step 0 does not follow 1.*lines from 4 on"),
        ([*lines[:2], '{"step":1,"inert":"x"}\n'], "line 3: inert must be a finite number"),
        (['{"kind":"dataflex_data/ledger","version":1}\n'], "line 1: does not say what run"),
    ):
        path.write_text("".join(damaged))
        with pytest.raises(InputDataError, match=message):
            read_ledger(path)


def test_columns_that_are_not_there_or_of_another_shape(tmp_path: Path) -> None:
    path = tmp_path / "ledger.jsonl"
    filled(path, 1)
    held = read_ledger(path)
    with pytest.raises(InputDataError, match="no column 'innert'; did you mean 'inert'"):
        held.numbers("innert")
    with pytest.raises(InputDataError, match="is by_domain, not number"):
        held.numbers("proportion")


def test_others_declare_their_columns(tmp_path: Path) -> None:
    column = Column("test_only_column", "list", "quantiles")
    declare(column)
    declare(column)
    assert column in columns()
    path = tmp_path / "ledger.jsonl"
    with Ledger(path, RUN) as ledger:
        ledger.append(0, test_only_column=[0.5, np.float64(1.5)])
        with pytest.raises(InputDataError, match="list of finite numbers"):
            ledger.append(1, test_only_column=[math.nan])
        with pytest.raises(InputDataError, match="list of finite numbers"):
            ledger.append(1, test_only_column=1.0)
    assert read_ledger(path).rows[0]["test_only_column"] == [0.5, 1.5]
    with pytest.raises(ConfigError) as error:
        declare(
            Column("test_only_column", "number", "other"),
            Column("Bad Name", "number", "x"),
            Column("step", "number", "x"),
        )
    assert len(error.value.problems) == 3


def test_a_path_that_cannot_be_written(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(OutputError, match="cannot be written"):
        Ledger(tmp_path / "file" / "ledger.jsonl", RUN)
