"""Measured numbers: the table is made of the results, and the README says none that it lacks.

A measured number is one with a unit of time, memory or speed, or a ratio in per cent or "times",
outside code blocks. Where one of these is no measurement, it stands in `NOT_MEASURED` with the
reason.
"""

from __future__ import annotations

import copy
import json
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from benchmarks import table

PROJECT = Path(__file__).resolve().parents[2]
NOT_MEASURED: dict[str, str] = {}

_UNITS = (
    r"CPU s|CPU seconds|seconds|minutes|ms|s by the clock|s|min|GB|MB|times|%"
    r"|million a (?:minute|second|CPU s)"
)
_MEASURED = re.compile(rf"(?<![\w.,])(\d[\d,]*(?:\.\d+)?)[ \u00a0]?({_UNITS})(?!\w)")
_SAME_UNIT = {"CPU seconds": "CPU s", "seconds": "s", "s by the clock": "s"}
_CODE = re.compile(r"^```.*?^```|^(?: {4}.*\n?)+", re.MULTILINE | re.DOTALL)


def measured(text: str) -> Iterator[str]:
    """Yield the measured numbers of a Markdown text in one spelling."""
    for number, unit in _MEASURED.findall(_CODE.sub("", text)):
        if unit == "minutes":
            number, unit = f"{float(number) * 60:g}", "s"
        yield f"{number} {_SAME_UNIT.get(unit, unit)}"


def test_the_table_is_made_of_the_results() -> None:
    assert table.README.read_text("utf-8") == table.page()


def test_every_measured_number_of_the_readme_stands_in_the_table() -> None:
    held = set(measured(table.README.read_text("utf-8")))
    told = list(measured((PROJECT / "README.md").read_text("utf-8")))
    assert [number for number in told if number not in held and number not in NOT_MEASURED] == []


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("builds in 21 s of CPU", ["21 s"]),
        ("in 1.4 CPU seconds, 398 MB", ["1.4 CPU s", "398 MB"]),
        ("154 times as fast, 5%", ["154 times", "5 %"]),
        ("under 5 minutes", ["300 s"]),
        ("4.9 million a minute", ["4.9 million a minute"]),
        ("16,157 ms", ["16,157 ms"]),
        ("15,000 rows, Python 3.11, 5,000 science questions, version 0.1 s3", []),
        ("```console\ntook 99 s\n```\n", []),
        ("    took 99 s\n", []),
    ],
)
def test_what_counts_as_measured(text: str, found: list[str]) -> None:
    assert list(measured(text)) == found


def test_a_number_of_nowhere_would_be_found() -> None:
    held = set(measured(table.README.read_text("utf-8")))
    assert "123.4 CPU s" not in held
    assert next(measured("It takes 123.4 CPU seconds.")) not in held


def test_each_script_has_a_claim_and_dated_results_with_the_machine() -> None:
    scripts = {path.stem.removeprefix("bench_") for path in table.HERE.glob("bench_*.py")}
    assert {claim.name for claim in table.CLAIMS} == scripts
    assert {path.stem for path in (table.HERE / "results").glob("*.json")} == scripts
    for name in scripts:
        _, date = table.load(name)
        assert re.fullmatch(r"\d{4}-\d\d-\d\d", date)
        record = json.loads((table.HERE / "results" / f"{name}.json").read_text())
        assert record["machine"]


def test_a_claim_without_its_figures_is_named(tmp_path: Path) -> None:
    for path in (table.HERE / "results").glob("*.json"):
        (tmp_path / path.name).write_text(path.read_text())
    assert table.table(tmp_path) == table.table()
    record = json.loads((tmp_path / "build.json").read_text())
    changed = copy.deepcopy(record)
    del changed["results"]["three_domain_15k from local files"]
    (tmp_path / "build.json").write_text(json.dumps(changed))
    with pytest.raises(SystemExit, match=r"three_domain_15k.*run bench_build\.py"):
        table.table(tmp_path)


def test_an_unknown_benchmark_is_refused() -> None:
    done = subprocess.run(
        [sys.executable, str(table.HERE / "run_all.py"), "nosuch"],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 2
    assert "no such benchmark: nosuch (there are audit, build, cli" in done.stdout
