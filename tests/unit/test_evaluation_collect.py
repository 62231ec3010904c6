"""The runs table from verl's logs and from scores, through to a verdict."""

from __future__ import annotations

import csv
import json
from pathlib import Path
from typing import Any

import pytest

from dataflex_data.core.errors import ConfigError, InputDataError
from dataflex_data.evaluation.collect import CollectRequest, collect, write_runs
from tests.conftest import Cli


def _log(path: Path, steps: dict[int, dict[str, float]]) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    lines = [json.dumps({"step": step, "data": data}) + "\n" for step, data in steps.items()]
    path.write_text("".join(lines))
    return path


def _validated(alg: float, sci: float) -> dict[str, float]:
    """Return metrics as verl 0.9.1 names them, with the ones that must not be taken."""
    return {
        "val-core/org/alg/acc/mean@4": alg,
        "val-core/org/alg/acc/best@4/mean": 0.99,
        "val-core/org/alg/acc/maj@4/mean": 0.98,
        "val-aux/org/alg/acc/std@4": 0.97,
        "val-aux/org/alg/reward/mean@4": 0.96,
        "val-core/sci/acc/mean@1": sci,
        "val-aux/num_turns/mean": 2.0,
        "actor/loss": -0.1,
    }


@pytest.fixture
def logs(tmp_path: Path) -> Path:
    for method, lift in (("baseline", 0.0), ("topk", 0.1)):
        for seed in (1, 2, 3):
            _log(
                tmp_path / f"logs/{method}/seed{seed}.jsonl",
                {
                    0: _validated(0.1, 0.1),
                    1: {"perf/total_num_tokens": 100, "response_length/mean": 7.0},
                    2: {"perf/total_num_tokens": 50, "response_length/mean": 9.0}
                    | _validated(0.4 + lift + seed / 100, 0.3 + seed / 1000),
                },
            )
    return tmp_path / "logs"


PATTERN = "{method}/seed{seed}.jsonl"


def test_verl_logs(logs: Path) -> None:
    columns, rows = collect(
        CollectRequest(
            logs,
            PATTERN,
            constants={"model": "m"},
            benchmarks={"algebra": "org/alg", "science": "sci"},
            process={
                "rollout_tokens": ("perf/total_num_tokens", "sum"),
                "response_length": ("response_length/mean", "mean"),
            },
        )
    )
    assert columns == [
        *("model", "method", "seed", "algebra", "science"),
        *("rollout_tokens", "response_length"),
    ]
    assert len(rows) == 6
    [row] = [r for r in rows if r[1:3] == ["topk", "3"]]
    assert row[3:5] == pytest.approx([53.0, 30.3])
    assert row[5:] == [150, 8.0]


def test_a_named_step_and_fractions(logs: Path) -> None:
    _, rows = collect(CollectRequest(logs, PATTERN, step=0, percent=False))
    assert all(row[2:] == [0.1, 0.1] for row in rows)


def test_the_path_from_training_to_a_verdict(logs: Path, tmp_path: Path, cli: Cli) -> None:
    contract = tmp_path / "contract.yaml"
    contract.write_text(
        "contract: 1\nname: t\ndata: {id_columns: [model]}\n"
        "scores: {domains: {math: [algebra], science: [science]}, "
        "primary: {kind: domain_balanced}}\n"
        "scale: percent\nmethods: {select: {baseline: baseline, methods: [topk]}}\n"
        "seeds: {list: [1, 2, 3], minimum_pairs: 3}\nmeaningful_effect: 1.0\n"
    )
    assert cli("contract", "lock", contract).code == 0
    made = cli(
        *("runs", "collect", logs, "--pattern", PATTERN, "--out", tmp_path / "runs.csv"),
        *("--benchmark", "algebra=org/alg", "--benchmark", "science=sci", "--set", "model=m"),
    )
    assert made.code == 0, made.err
    found = cli(
        *("evaluate", tmp_path / "runs.csv", "--contract", contract, "--out", tmp_path / "out"),
        *("--no-plots", "--json"),
    )
    assert found.code == 0, found.err
    assert json.loads(found.out)["comparisons"] == 1
    results = json.loads((tmp_path / "out/results.json").read_text())
    [one] = results["comparisons"]
    # algebra rises by 10 points in every seed, science by none: (10 + 0) / 2
    assert one["effects"]["primary"]["mean"] == pytest.approx(5.0)


def _score(path: Path, **groups: tuple[int, int]) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    told: dict[str, Any] = {"unjoined": 0, "ambiguous": 0}
    told["groups"] = [
        {"domain": f"d{at}", "source": name.split("__")[0], "correct": c, "responses": n}
        for at, (name, (c, n)) in enumerate(groups.items())
    ]
    path.write_text(json.dumps(told))


def test_scores_of_several_files_and_domains_make_one_run(tmp_path: Path) -> None:
    _score(tmp_path / "topk/1/math.json", alg__a=(1, 2), alg__b=(2, 8))
    _score(tmp_path / "topk/1/sci.json", sci=(3, 4))
    columns, rows = collect(CollectRequest(tmp_path, "{method}/{seed}/*.json"))
    assert columns == ["method", "seed", "alg", "sci"]
    assert rows == [["topk", "1", 30.0, 75.0]]  # 3 of 10, not the mean of 1/2 and 1/4
    write_runs(columns, rows, tmp_path / "runs.csv")
    with (tmp_path / "runs.csv").open(newline="") as handle:
        assert list(csv.reader(handle))[1] == ["topk", "1", "30.0", "75.0"]


def test_what_cannot_be_collected(logs: Path, tmp_path: Path) -> None:
    def told(**changes: Any) -> str:
        request = {"folder": logs, "pattern": PATTERN, **changes}
        with pytest.raises((InputDataError, ConfigError)) as caught:
            collect(CollectRequest(**request))
        return str(caught.value)

    assert "validated at: 0, 2" in told(step=1)
    assert "it has acc, reward (--variable)" in told(variable="score")
    assert "did you mean 'org/alg'" in told(benchmarks={"a": "org/alq"})
    assert "has no metric 'x'" in told(process={"y": ("x", "sum")})
    assert "'method' stands in --pattern too" in told(constants={"method": "x"})
    assert "is no folder" in told(folder=tmp_path / "nowhere")
    _log(logs / "topk/seed3.jsonl", {0: _validated(0.1, 0.1)})
    assert "different steps (step 0: 1 runs" in told()
    _log(logs / "topk/seed3.jsonl", {2: {"val-core/sci/acc/mean@1": 0.5}})
    assert "'org/alg' (column 'org/alg'): absent from 1 of 6 runs" in told()
    _log(logs / "topk/seed3.jsonl", {2: _validated(30.0, 0.5)})
    assert "is 30.0, not a rate from 0 to 1" in told()
    (logs / "topk/seed3.jsonl").write_text('{"loss": 1}\n')
    assert "no line of verl's file logger" in told()


def test_incomplete_or_contradicting_scores_are_refused(tmp_path: Path) -> None:
    request = CollectRequest(tmp_path, "{method}/{seed}/*.json")
    _score(tmp_path / "topk/1/a.json", alg=(1, 2))
    _score(tmp_path / "topk/1/b.json", alg=(2, 2))
    with pytest.raises(InputDataError, match="another file of the same run"):
        collect(request)
    (tmp_path / "topk/1/b.json").write_text('{"groups": [], "unjoined": 3}')
    with pytest.raises(InputDataError, match="3 responses belong to no row"):
        collect(request)
