"""What is left out is told: absent methods, other items, ledgers without runs, seals replaced."""

from __future__ import annotations

import csv
import json
from pathlib import Path
from typing import Any

import pytest

from dataflex_data.core.errors import ConfigError, InputDataError
from dataflex_data.core.ledger import LEDGER_KIND, LEDGER_VERSION
from dataflex_data.evaluation.contract import parse_contract
from dataflex_data.evaluation.evaluate import Evaluation, evaluate_table
from dataflex_data.evaluation.ledgers import with_ledgers
from dataflex_data.evaluation.report import headline, remarks
from dataflex_data.evaluation.tables import read_table
from tests.conftest import Cli
from tests.evaluation_factory import contract_with, made_runs, write_contract, write_runs

NAMES = ("alg", "geo", "log", "sci")


def _evaluate(path: Path, rows: list[dict[str, Any]], **changes: Any) -> Evaluation:
    contract = parse_contract(contract_with(**changes), "contract.yaml")
    return evaluate_table(read_table(write_runs(path, rows), contract), contract)


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / "runs.csv"


def _paired(differences: dict[str, list[float]]) -> list[dict[str, Any]]:
    rows = []
    for method, values in {"baseline": [0.0] * 5, **differences}.items():
        for seed, value in enumerate(values, start=1):
            scores = dict.fromkeys(NAMES, 50.0 + value)
            rows.append({"model": "m", "steps": 1, "method": method, "seed": seed, **scores})
    return rows


# t = 3 / (2 / sqrt 5) = 3.354, so two-sided p on 4 degrees of freedom is 0.0285: below 0.05 alone,
# above it doubled. Mean 3, sd 2: (5, 1, 5, 1, 3), squares 4 + 4 + 4 + 4 + 0 = 16 = 4 * 2^2.
EFFECT = [5.0, 1.0, 5.0, 1.0, 3.0]
NONE = [1.0, -1.0, 2.0, -2.0, 0.5]


@pytest.mark.parametrize("family", ["per_baseline", "declared"])
def test_a_method_left_out_is_told_with_what_it_changes(file: Path, family: str) -> None:
    rule = {"inference": {"family": family}}
    both = _evaluate(file, _paired({"keep_few": EFFECT, "keep_some": NONE}), **rule)
    assert {one.method: one.verdict for one in both.comparisons}["keep_few"] == "inconclusive"
    assert not [flag for flag in both.flags if flag.kind == "absent_methods"]
    alone = _evaluate(file, _paired({"keep_few": EFFECT}), **rule)
    [one] = alone.comparisons
    assert one.verdict == ("better" if family == "per_baseline" else "inconclusive")
    assert one.verdict_all_declared == "inconclusive"
    [flag] = [flag for flag in alone.flags if flag.kind == "absent_methods"]
    assert (flag.group, flag.method) == (("m", "1"), "keep_some")
    counts = "1 of 2" if family == "per_baseline" else "all 2"
    assert f"the correction counts {counts} declared methods" in flag.detail
    told = " ".join(remarks(alone))
    assert "keep_some: no run, though declared against baseline" in told
    changed = "Counting all declared methods, keep_few (m · 1) would be inconclusive, not better."
    assert (changed in told) == (family == "per_baseline")


def test_a_method_with_too_few_pairs_still_counts(file: Path) -> None:
    """It is present; dropping its seeds must not make the correction milder."""
    found = _evaluate(
        file, _paired({"keep_few": EFFECT, "keep_some": NONE[:1]}), seeds__missing="drop_pair"
    )
    assert [one.verdict for one in found.comparisons] == ["too few pairs", "inconclusive"]
    tests = found.comparisons[1].tests
    assert tests is not None
    assert tests.p_holm["t"] == pytest.approx(2 * tests.p["t"])
    assert headline(found).endswith("1 comparison has fewer pairs than the contract asks for and "
                                    "gets no verdict.")  # fmt: skip


def test_absent_mechanisms(file: Path) -> None:
    rows = [row for row in made_runs() if row["method"] not in ("static", "adaptive")]
    found = _evaluate(file, rows)
    assert [f.group for f in found.flags if f.kind == "absent_mechanism"] == [()]
    assert "no run of mechanism 'mix'" in " ".join(remarks(found))
    rows += [
        r for r in made_runs() if r["model"] == "small" and r["method"] in ("static", "adaptive")
    ]
    found = _evaluate(file, rows)
    assert [f.group for f in found.flags if f.kind == "absent_mechanism"] == [("large", "300")]
    assert remarks(found) == []  # a group without a family is fine


def test_absence_stands_in_every_output(tmp_path: Path, file: Path, cli: Cli) -> None:
    contract = write_contract(tmp_path / "c.yaml")
    cli("contract", "lock", contract)
    write_runs(file, [row for row in made_runs() if row["method"] != "keep_some"])
    out = tmp_path / "out"
    done = cli("evaluate", file, "--contract", contract, "--out", out, "--no-plots")
    assert done.code == 0
    told = "keep_some: no run, though declared against baseline"
    assert told in done.out
    assert told in (out / "report.md").read_text(encoding="utf-8").partition("## Comparisons")[0]
    with (out / "flags.csv").open(newline="") as handle:
        assert [row["kind"] for row in csv.DictReader(handle)].count("absent_methods") == 2


def _lm_eval(folder: Path, effective: dict[str, int], limit: float | None = None) -> Path:
    for row in _paired({"keep_few": EFFECT}):
        count = effective.get(f"{row['method']}{row['seed']}", effective[""])
        path = folder / f"{row['method']}/{row['seed']}.json"
        path.parent.mkdir(parents=True, exist_ok=True)
        record = {
            "results": {name: {"acc,none": row[name] / 100} for name in NAMES},
            "n-samples": {name: {"original": 500, "effective": count} for name in NAMES},
            "config": {"limit": limit},
        }
        path.write_text(json.dumps(record))
    return folder


def test_items_that_were_judged(tmp_path: Path) -> None:
    lm_eval = {name: f"{name}/acc,none" for name in NAMES}
    changes = {"data": {"id_columns": [], "lm_eval": lm_eval}, "same_configuration": []}
    raw = contract_with(**changes)
    del raw["scores"]["items"]
    raw["scores"]["sensitivity"] = []
    contract = parse_contract(raw, "x")

    def judged(folder: Path) -> Evaluation:
        return evaluate_table(read_table(folder, contract, "{method}/{seed}.json"), contract)

    mixed = _lm_eval(tmp_path / "a", {"": 500, "keep_few2": 10})
    with pytest.raises(InputDataError, match=r"10 of 500 items in 1 of 10 runs.*keep_few.2\.json"):
        judged(mixed)
    found = judged(_lm_eval(tmp_path / "b", {"": 10}, limit=10.0))
    flags = [flag for flag in found.flags if flag.kind == "item_count"]
    assert [flag.benchmark for flag in flags] == list(NAMES)
    assert any("10 of 500 items (limit 10)" in sentence for sentence in remarks(found))
    full = judged(_lm_eval(tmp_path / "c", {"": 500}))
    assert not [flag for flag in full.flags if flag.kind == "item_count"]
    with pytest.raises(InputDataError, match=r"read from paths by --pattern"):
        evaluate_table(read_table(tmp_path / "c", contract), contract)
    for name in ("1", "2"):
        path = tmp_path / f"c/baseline/{name}.json"
        record = json.loads(path.read_text())
        del record["results"]["geo"], record["results"]["sci"]
        path.write_text(json.dumps(record))
    with pytest.raises(InputDataError) as caught:
        judged(tmp_path / "c")
    assert str(caught.value).count("has no task") == 4
    for name in ("1", "2"):
        (tmp_path / f"c/baseline/{name}.json").write_text("{")
    with pytest.raises(InputDataError) as caught:
        judged(tmp_path / "c")
    assert str(caught.value).count("cannot be read as JSON") == 2


def _ledger(path: Path, steps: range) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    lines: list[dict[str, Any]] = [{"kind": LEDGER_KIND, "version": LEDGER_VERSION, "run": {}}]
    lines += [{"step": step, "updated_tokens": 10} for step in steps]
    path.write_text("".join(json.dumps(line) + "\n" for line in lines))


def test_ledgers_of_other_runs_and_other_steps(tmp_path: Path, file: Path) -> None:
    rows = _paired({"keep_few": EFFECT})
    pattern = f"{tmp_path}/logs/{{method}}/seed{{seed}}/ledger.jsonl"
    for name in ("baseline/seed01", "keep_few/seed2", "ghost/seed1"):
        _ledger(tmp_path / f"logs/{name}/ledger.jsonl", range(1, 5))

    def joined(**changes: Any) -> Evaluation:
        contract = parse_contract(contract_with(**changes), "x")
        table = read_table(write_runs(file, rows), contract)
        return evaluate_table(with_ledgers(table, contract, pattern), contract)

    with pytest.raises(InputDataError, match="table has no run of method ghost, seed 1"):
        joined()
    found = joined(seeds__missing="drop_pair")
    kinds = [(flag.kind, flag.method) for flag in found.flags]
    assert ("unused_ledger", "ghost") in kinds
    assert kinds.count(("incomplete_process", "baseline")) == 1
    [flag] = [f for f in found.flags if f.kind == "incomplete_process" and f.method == "keep_few"]
    assert flag.detail == "update_tokens is reported by 1 of 5 runs"
    assert {p.method: p.mean for p in found.process} == {"baseline": 40.0, "keep_few": 40.0}
    assert any(s.endswith("further flags: incomplete process, unused ledger; see Flags.")
               for s in remarks(found))  # fmt: skip
    with pytest.raises(ConfigError, match="names no process_metrics"):
        joined(process_metrics=[])
    with pytest.raises(InputDataError, match="no ledger has any of the contract's process_metrics"):
        joined(process_metrics=["weight_entropy"], seeds__missing="drop_pair")
    _ledger(tmp_path / "logs/keep_few/seed2/ledger.jsonl", range(3, 5))
    with pytest.raises(InputDataError, match=r"steps 1 to 4: 1 ledger.*steps 3 to 4: 1 ledger"):
        joined(seeds__missing="drop_pair")
    path = tmp_path / "logs/keep_few/seed2/ledger.jsonl"
    _ledger(path, range(1, 5))
    lines = path.read_text().splitlines(keepends=True)
    path.write_text("".join([*lines[:2], *lines[3:]]))
    with pytest.raises(InputDataError, match="step 2 of steps 1 to 4 is absent"):
        joined(seeds__missing="drop_pair")


def test_a_contract_sealed_anew_says_so(tmp_path: Path, file: Path, cli: Cli) -> None:
    path = write_contract(tmp_path / "c.yaml")
    lock = tmp_path / "c.yaml.lock"
    write_runs(file, made_runs())
    assert cli("contract", "lock", path).code == 0
    first = json.loads(lock.read_text())
    assert cli("contract", "lock", path, "--force").out.startswith("kept")
    assert json.loads(lock.read_text()) == first
    for effect in (2.0, 3.0):
        write_contract(path, contract_with(meaningful_effect=effect))
        assert cli("contract", "lock", path).code == 2
        assert "count as exploratory" in cli("contract", "lock", path, "--force").err
    record = json.loads(lock.read_text())
    assert record["earlier"][0]["sha256"] == first["sha256"]
    assert [one["changed"] for one in record["earlier"]] == [["meaningful_effect"]] * 2
    assert "locked (2 earlier seals in the lock)" in cli("contract", "check", path).out
    out = tmp_path / "out"
    done = cli("evaluate", file, "--contract", path, "--out", out, "--no-plots")
    assert done.code == 0
    told = "locked anew 2 times (changed: meaningful_effect)"
    assert told in done.out
    for name in ("report.md", "report.html", "results.json", "manifest.json"):
        assert told in (out / name).read_text(encoding="utf-8"), name
    assert first["time"] in (out / "report.md").read_text(encoding="utf-8")
    lock.write_text("{")
    assert cli("contract", "lock", path).code == 2
    assert cli("contract", "lock", path, "--force").code == 0
    [earlier] = json.loads(lock.read_text())["earlier"]
    assert earlier["sha256"] == ""
    assert "could not be read" in earlier["changed"][0]
