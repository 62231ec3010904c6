"""The verbs contract, evaluate and power: exit codes, stamps, whole and self-contained outputs."""

from __future__ import annotations

import csv
import importlib.util
import json
import os
import re
import subprocess
import sys
from importlib.machinery import ModuleSpec
from pathlib import Path

import pytest

from tests.conftest import Cli
from tests.evaluation_factory import contract_with, made_runs, write_contract, write_runs

TABLES = {"comparisons.csv", "flags.csv", "runs.csv", "sensitivity.csv"}
PLAIN = {*TABLES, "results.json", "report.md", "report.html", "manifest.json"}
PICTURES = {"forest.png", "forest.html", "sensitivity.png", "rank_shift.png"}


@pytest.fixture
def locked(tmp_path: Path, cli: Cli) -> Path:
    path = write_contract(tmp_path / "contract.yaml")
    assert cli("contract", "lock", path).code == 0
    return path


@pytest.fixture
def runs(tmp_path: Path) -> Path:
    rows = made_runs()
    for row in rows:
        row["update_tokens"] = 1000 if row["method"] == "baseline" else 700 + row["seed"]
    return write_runs(tmp_path / "runs.csv", rows)


def test_init_check_lock(tmp_path: Path, cli: Cli) -> None:
    path = tmp_path / "contract.yaml"
    assert cli("contract", "init", path).code == 0
    assert cli("contract", "init", path).code == 2
    checked = cli("contract", "check", path)
    assert checked.code == 0
    assert "8 methods against baseline; 3 methods against static" in checked.out
    assert "not locked" in checked.out
    assert cli("contract", "lock", path).code == 0
    told = json.loads(cli("contract", "check", path, "--json").out)
    assert told["status"] == "locked"
    # EXPECTED.md, definition 11: z(12) = 0.8887 at sd 1
    [row] = [row for row in told["detectable"] if row["sd"] == 1.0]
    assert row["12 pairs"] == pytest.approx(0.8887, abs=1e-4)


def test_a_rule_that_cannot_fire_stops_check_lock_and_evaluate(
    tmp_path: Path, runs: Path, cli: Cli
) -> None:
    path = write_contract(tmp_path / "c.yaml", contract_with(inference={"test": "sign_flip"}))
    for verb in (
        ("contract", "check", path),
        ("contract", "lock", path),
        ("evaluate", runs, "--contract", path, "--out", tmp_path / "out", "--exploratory"),
    ):
        result = cli(*verb)
        assert result.code == 2
        assert "can never fire" in result.err
    assert not (tmp_path / "out").exists()
    assert not (tmp_path / "c.yaml.lock").exists()


def test_evaluate_writes_everything(tmp_path: Path, locked: Path, runs: Path, cli: Cli) -> None:
    out = tmp_path / "out"
    result = cli("evaluate", runs, "--contract", locked, "--out", out)
    assert result.code == 0, result.err
    assert "better" in result.out
    assert {path.name for path in out.iterdir()} == PLAIN | PICTURES | {"pareto.png", "process.csv"}
    for name in ("report.html", "forest.html"):
        page = (out / name).read_text(encoding="utf-8")
        assert not re.search(r"""(src|href)=["'](?!#|data:)""", page)
        assert "http" not in page.replace("http-equiv", "")
        assert page.count("data:image/png") >= 2
    for name in PICTURES | {"pareto.png"}:
        if name.endswith(".png"):
            assert (out / name).read_bytes().startswith(b"\x89PNG")
    report = (out / "report.md").read_text(encoding="utf-8")
    assert "exploratory" not in report
    for picture in re.findall(r"\]\((\w+\.png)\)", report):
        assert (out / picture).exists()
    results = json.loads((out / "results.json").read_text())
    manifest = json.loads((out / "manifest.json").read_text())
    lock = json.loads(locked.with_name("contract.yaml.lock").read_text())
    assert results["contract"]["sha256"] == manifest["contract_sha256"] == lock["sha256"]
    assert results["data_sha256"] in report
    assert results["tool"].startswith("dataflex-data ")
    with (out / "comparisons.csv").open(newline="") as handle:
        rows = list(csv.DictReader(handle))
    assert len(rows) == 6 + 2
    assert {row["verdict"] for row in rows if row["method"] == "keep_few"} == {"better"}


def test_an_unlocked_contract_needs_exploratory_and_stamps_all(
    tmp_path: Path, runs: Path, cli: Cli
) -> None:
    path = write_contract(tmp_path / "c.yaml")
    out = tmp_path / "out"
    refused = cli("evaluate", runs, "--contract", path, "--out", out, "--no-plots")
    assert refused.code == 2
    assert "is not locked" in refused.err
    assert not out.exists()
    done = cli("evaluate", runs, "--contract", path, "--out", out, "--no-plots", "--exploratory")
    assert done.code == 0
    assert {path.name for path in out.iterdir()} == PLAIN | {"process.csv"}
    stamp = "exploratory: contract not locked"
    assert done.out.count(f"({stamp})") == 2  # the table of each group
    assert f"\n{stamp}\n" in done.out
    for name in PLAIN - {"flags.csv"} | {"process.csv"}:
        assert stamp in (out / name).read_text(encoding="utf-8"), name
    assert (out / "flags.csv").read_text().splitlines()[0].endswith(",status")


def test_a_changed_contract_is_named(tmp_path: Path, locked: Path, runs: Path, cli: Cli) -> None:
    write_contract(locked, contract_with(meaningful_effect=0.25))
    refused = cli("evaluate", runs, "--contract", locked, "--out", tmp_path / "out", "--no-plots")
    assert refused.code == 2
    assert "changed after it was locked: meaningful_effect" in refused.err
    assert cli("contract", "lock", locked).code == 2


def test_bad_runs_leave_the_old_report_whole(
    tmp_path: Path, locked: Path, runs: Path, cli: Cli
) -> None:
    out = tmp_path / "out"
    arguments = ("evaluate", runs, "--contract", locked, "--out", out, "--no-plots")
    assert cli(*arguments).code == 0
    assert cli(*arguments).code == 2  # exists
    before = {path.name: path.read_bytes() for path in out.iterdir()}
    write_runs(runs, [{**row, "alg": "?"} for row in made_runs()])
    failed = cli(*arguments, "--force")
    assert failed.code == 2
    assert "'?' is not a number" in failed.err
    assert "Traceback" not in failed.err
    assert {path.name: path.read_bytes() for path in out.iterdir()} == before
    assert not [path for path in tmp_path.iterdir() if "partial" in path.name]


def test_without_matplotlib_plots_are_refused_by_name(
    tmp_path: Path, locked: Path, runs: Path, cli: Cli, monkeypatch: pytest.MonkeyPatch
) -> None:
    real = importlib.util.find_spec

    def absent(name: str, package: str | None = None) -> ModuleSpec | None:
        return None if name == "matplotlib" else real(name, package)

    monkeypatch.setattr(importlib.util, "find_spec", absent)
    out = tmp_path / "out"
    refused = cli("evaluate", runs, "--contract", locked, "--out", out)
    assert refused.code == 2
    assert "--no-plots" in refused.err
    assert 'pip install "dataflex-data[plot]"' in refused.err
    assert cli("evaluate", runs, "--contract", locked, "--out", out, "--no-plots").code == 0
    assert cli("power", "--sd", "1", "--plot", tmp_path / "c.png").code == 2


def test_same_bytes_in_another_process_and_order(tmp_path: Path, locked: Path, runs: Path) -> None:
    rows = runs.read_text().splitlines()
    other = tmp_path / "other.csv"
    other.write_text("\n".join([rows[0], *reversed(rows[1:])]) + "\n")
    made = []
    for at, (path, hash_seed) in enumerate(((runs, "1"), (other, "2"))):
        out = tmp_path / f"out{at}"
        command = [sys.executable, "-m", "dataflex_data", "evaluate", str(path)]
        subprocess.run(
            [*command, "--contract", str(locked), "--out", str(out)],
            env={**os.environ, "PYTHONHASHSEED": hash_seed},
            check=True,
            capture_output=True,
        )
        made.append({p.name: p.read_bytes() for p in out.iterdir() if p.name != "manifest.json"})
    assert made[0] == made[1]


def test_power(tmp_path: Path, locked: Path, runs: Path, cli: Cli) -> None:
    told = json.loads(cli("power", "--sd", "3.5060", "--methods", "1", "--json").out)
    # EXPECTED.md, row `ar`: sd 3.5060 needs 388 seeds for 0.5 and 99 for 1.0
    assert [need["seeds"] for need in told["needs"]] == [388, 99]
    many = json.loads(cli("power", "--sd", "2", "--margin", "1", "--json").out)["needs"]
    assert [need["sign_flip_seeds"] for need in many] == [6, 7, 9]
    seeds = [need["seeds"] for need in many]
    assert seeds == sorted(set(seeds))
    curve = tmp_path / "curve.png"
    done = cli("power", runs, "--contract", locked, "--plot", curve)
    assert done.code == 0, done.err
    assert "keep_some" in done.out
    assert curve.read_bytes().startswith(b"\x89PNG")
    assert "alpha 0.05, power 0.8, margins 0.5 and 1, methods 1, 2 (correction holm)" in done.out
    for wrong in (
        (),
        ("--sd", "1", "--pattern", "{seed}.json"),
        ("--sd", "0"),
        ("--sd", "1", "--margin", "0"),
        ("--sd", "1", "--alpha", "0.7"),
        ("--sd", "1", "--methods", "0"),
        (runs,),
        ("--sd", "1", "--plot", "curve.pdf"),
    ):
        assert cli("power", *wrong).code == 2, wrong


def test_power_takes_its_rules_from_the_contract(tmp_path: Path, cli: Cli) -> None:
    rules = {"alpha": 0.01, "correction": "benjamini_hochberg"}
    contract = write_contract(
        tmp_path / "c.yaml", contract_with(inference=rules, power=0.9, meaningful_effect=3.0)
    )
    told = json.loads(cli("power", "--sd", "2", "--contract", contract, "--json").out)
    assert (told["alpha"], told["power"]) == (0.01, 0.9)
    asked = [(need["margin"], need["methods"], need["alpha"]) for need in told["needs"]]
    assert asked == [(1.5, 1, 0.01), (1.5, 2, 0.005), (3.0, 1, 0.01), (3.0, 2, 0.005)]
    assert len(told["from_contract"]) == 4
    own = ("--alpha", "0.05", "--margin", "1", "--methods", "3", "--power", "0.8")
    told = json.loads(cli("power", "--sd", "2", "--contract", contract, *own, "--json").out)
    assert told["from_contract"] == []
    assert told == json.loads(cli("power", "--sd", "2", *own, "--json").out)


def test_a_pilot_may_have_other_seeds_than_the_study(tmp_path: Path, cli: Cli) -> None:
    rows = [{**row, "seed": row["seed"] + 100} for row in made_runs(models=["m"], seeds=3)]
    runs = write_runs(tmp_path / "pilot.csv", rows)
    contract = write_contract(tmp_path / "c.yaml")
    done = cli("power", runs, "--contract", contract)
    assert done.code == 0, done.err
    assert re.search(r"keep_few +3 ", done.out)


def test_help_loads_nothing_heavy() -> None:
    code = (
        "import sys; from dataflex_data.cli import contract, evaluate, power, runs; "
        "print(sorted({'scipy', 'matplotlib', 'numpy'} & set(sys.modules)))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
