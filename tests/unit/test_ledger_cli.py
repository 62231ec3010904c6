"""``dfdata ledger`` on a terminal of any width and kind, and what it refuses to write over."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

import dataflex_data.policies.record  # noqa: F401 - declares the columns
from dataflex_data.core.errors import OutputError
from dataflex_data.core.ledger import Ledger
from dataflex_data.core.parquet import check_output_file
from dataflex_data.reporting.html import PAGE_MARK
from dataflex_data.reporting.terminal import cell_text, narrowest
from tests.conftest import Cli


@pytest.fixture
def ledger(tmp_path: Path) -> Path:
    path = tmp_path / "runs" / "mine.jsonl"
    for first, last in ((0, 30), (20, 30)):  # resumed at 20: rows are moved aside
        with Ledger(path, {"seed": 1}, first_step=first) as record:
            for step in range(first, last):
                record.append(
                    step,
                    kept_tokens=12_345 + step,
                    kept_fraction=0.5,
                    reward={"math": step / 30, "logic": 0.25},
                    reward_quantiles=[0.0, 0.5, 1.0],
                    update="update" if step else "skipped",
                )
    return path


def test_a_glob_finds_the_resumed_run_alone(ledger: Path, tmp_path: Path, cli: Cli) -> None:
    pytest.importorskip("matplotlib")
    assert sorted(path.name for path in ledger.parent.iterdir()) == [
        "mine.jsonl",
        "mine.jsonl.superseded",
    ]
    page = tmp_path / "page.html"
    assert cli("ledger", "report", *ledger.parent.glob("*.jsonl"), "--out", page).code == 0
    assert PAGE_MARK in page.read_text()[:512]


def test_a_report_replaces_nothing_but_a_report(ledger: Path, tmp_path: Path, cli: Cli) -> None:
    pytest.importorskip("matplotlib")
    before = ledger.read_bytes()
    (tmp_path / "d").mkdir()
    for out in (ledger, tmp_path / "d" / ".." / "runs" / "mine.jsonl"):
        for force in ((), ("--force",)):
            refused = cli("ledger", "report", ledger, "--out", out, *force)
            assert (refused.code, "read by this very command" in refused.err) == (2, True)
    assert ledger.read_bytes() == before
    notes = tmp_path / "notes.txt"
    notes.write_text("mine")
    refused = cli("ledger", "report", ledger, "--out", notes)
    assert (refused.code, "exists already" in refused.err) == (2, True)
    assert notes.read_text() == "mine"
    assert cli("ledger", "report", ledger, "--out", notes, "--force").code == 0
    assert cli("ledger", "report", ledger, "--out", notes).code == 0  # it is a page of ours now


def test_columns_as_they_are_shown_can_be_asked_for(ledger: Path, cli: Cli) -> None:
    shown = cli("ledger", "show", ledger).out
    assert "reward_quantiles[2]" in shown
    assert "update: update (29 steps), skipped (1 step)" in shown
    one = cli("ledger", "show", ledger, "--column", "reward[math]").out.split("Columns of")[1]
    assert "reward[math]" in one
    assert "logic" not in one
    data = json.loads(cli("ledger", "show", ledger, "--json").out)[0]
    assert data["texts"] == {"update": {"update": 29, "skipped": 1}}
    assert data["columns"]["reward_quantiles[1]"]["mean"] == 0.5
    near = cli("ledger", "show", ledger, "--column", "kept_tokns")
    assert (near.code, "did you mean 'kept_tokens'" in near.err) == (2, True)
    text = cli("ledger", "show", ledger, "--column", "update")
    assert (text.code, "holds texts" in text.err) == (2, True)


@pytest.mark.parametrize("columns", ["40", "60", "80", "120"])
def test_no_number_is_broken_on_a_narrow_terminal(
    ledger: Path, cli: Cli, monkeypatch: pytest.MonkeyPatch, columns: str
) -> None:
    monkeypatch.setenv("COLUMNS", columns)
    shown = cli("ledger", "show", ledger, "--column", "kept_tokens").out
    assert "12,374" in shown  # the last value
    assert max(map(len, shown.splitlines())) <= int(columns)


def test_a_terminal_without_blocks_gets_plain_signs(ledger: Path) -> None:
    shown = subprocess.run(
        [sys.executable, "-m", "dataflex_data", "ledger", "show", str(ledger)],
        env={**os.environ, "LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"},
        capture_output=True,
        check=True,
    )
    assert b"_.-:=+*#"[1:2] in shown.stdout
    assert shown.stdout.isascii()


def test_the_narrowest_table_keeps_words_and_first_cells() -> None:
    # Gaps of three after each column; a first cell is kept whole, other cells break at spaces.
    assert narrowest(["name", "what"], [["a b c", "word by word"]]) == (5 + 3) + (4 + 3)


@pytest.mark.parametrize(
    ("value", "shown"),
    [
        (17_731.4, "17,731"),
        (0.12345678, "0.1235"),
        (1234.5, "1,234"),
        (None, "-"),
        (12345, "12,345"),
    ],
)
def test_cells(value: object, shown: str) -> None:
    assert cell_text(value) == shown


def test_files_inside_a_folder_that_is_read_are_inputs(tmp_path: Path) -> None:
    (tmp_path / "corpus").mkdir()
    (tmp_path / "corpus" / "train.parquet").write_text("")
    with pytest.raises(OutputError, match="is read by this very command"):
        check_output_file(
            tmp_path / "corpus" / "train.parquet", force=True, inputs=[tmp_path / "corpus"]
        )
