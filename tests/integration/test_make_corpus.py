"""The script of `make corpus`: build, verify, audit where there are benchmarks, one page."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

PROJECT = Path(__file__).resolve().parents[2]
RECIPE = """
recipe: 1
name: small
seed: 2
validation: 4
domains:
  logic:
    count: 20
    sources: [{source: knights_and_knaves, fraction: 1.0, params: {people: [5, 7]}}]
  math:
    count: 20
    sources: [{source: procedural_math, fraction: 1.0}]
"""

if not (Path(sys.prefix) / "bin" / "dfdata").is_file():
    pytest.skip("dfdata is not installed beside this interpreter", allow_module_level=True)


def corpus(tmp_path: Path, **variables: object) -> subprocess.CompletedProcess[str]:
    """Run the script as ``make corpus`` does, without the network."""
    return subprocess.run(
        [str(PROJECT / "scripts" / "corpus")],
        env={
            **{name: os.environ[name] for name in ("PATH", "HOME") if name in os.environ},
            "HF_HUB_OFFLINE": "1",
            "HF_HOME": str(tmp_path / "hub"),
            "VENV": sys.prefix,
            "COLUMNS": "120",
            **{name: str(value) for name, value in variables.items()},
        },
        capture_output=True,
        text=True,
        check=False,
    )


@pytest.fixture
def recipe(tmp_path: Path) -> Path:
    path = tmp_path / "small.yaml"
    path.write_text(RECIPE)
    return path


def test_without_benchmarks_forms_are_compared_and_it_is_said(tmp_path: Path, recipe: Path) -> None:
    out = tmp_path / "out" / "small"
    done = corpus(tmp_path, RECIPE=recipe, OUT=out)
    assert done.returncode == 0, done.stderr
    assert "no canonical form twice, splits apart" in done.stdout
    assert "Audit:         own validation and the K&K test: see Verification" in done.stdout
    record = json.loads((tmp_path / "out/small_verified/verification.json").read_text())
    assert record["ok"] is True
    for page in ("small_verified/report.html", "small_dashboard.html"):
        assert (tmp_path / "out" / page).is_file()
        assert str(tmp_path / "out" / page) in done.stdout


def test_benchmarks_that_are_given_are_audited_against(tmp_path: Path, recipe: Path) -> None:
    items = tmp_path / "benchmarks" / "gsm8k" / "test.jsonl"
    items.parent.mkdir(parents=True)
    items.write_text(
        "".join(
            json.dumps(
                {
                    "question": f"Rosa packs {n} crates of {n + 3} pears into a van and sells half "
                    "of them at the market before noon. How many pears are left?",
                    "answer": f"#### {n * (n + 3) // 2}",
                }
            )
            + "\n"
            for n in range(2, 12)
        )
    )
    out = tmp_path / "out" / "small"
    done = corpus(tmp_path, RECIPE=recipe, OUT=out, BENCHMARKS_DIR=items.parents[1])
    assert done.returncode == 0, done.stderr
    assert "No row of 48 is flagged against 1 benchmark." in done.stdout
    assert (tmp_path / "out" / "small_audit" / "report.html").is_file()
    assert "<h2>Audit small_audit</h2>" in (tmp_path / "out/small_dashboard.html").read_text()


def test_sources_that_cannot_be_had_are_the_error_of_the_build(tmp_path: Path) -> None:
    done = corpus(tmp_path, RECIPE="three_domain_15k", OUT=tmp_path / "out" / "full")
    assert done.returncode == 2
    assert "--sources-dir DIR" in done.stderr
    assert not (tmp_path / "out" / "full").exists()


def test_the_default_is_the_offline_recipe_and_make_hands_everything_on() -> None:
    told = subprocess.run(
        ["make", "-n", "corpus", "SOURCES=S", "BENCHMARKS_DIR=B", "OUT=O", "VENV=V"],
        cwd=PROJECT,
        capture_output=True,
        text=True,
        check=True,
    ).stdout.replace("\\\n", " ")
    for part in ('RECIPE="three_domain_offline"', 'SOURCES="S"', 'BENCHMARKS_DIR="B"', 'OUT="O"'):
        assert part in told
    assert "V/bin/python -m pip install" in told


@pytest.mark.parametrize("variable", ["SOURCES", "BENCHMARKS_DIR"])
def test_a_folder_that_is_not_there_is_told_by_its_name_before_anything_is_built(
    tmp_path: Path, recipe: Path, variable: str
) -> None:
    out = tmp_path / "out" / "small"
    done = corpus(tmp_path, RECIPE=recipe, OUT=out, **{variable: tmp_path / "nope"})
    assert done.returncode == 2
    assert f"make corpus: {variable}={tmp_path}/nope: there is no such folder" in done.stderr
    assert done.stdout == ""
    assert not out.exists()


def test_sources_for_a_generated_recipe_are_refused(tmp_path: Path, recipe: Path) -> None:
    out = tmp_path / "out" / "small"
    done = corpus(tmp_path, RECIPE=recipe, OUT=out, SOURCES=tmp_path)
    assert done.returncode == 2
    assert "all sources of the recipe are generated" in done.stderr
    assert not out.exists()
