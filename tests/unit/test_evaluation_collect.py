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
    columns, rows, notes = collect(
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
    assert notes == [
        "validated at step 2",
        "org/alg: mean@4 in every run",
        "sci: mean@1 in every run",
        "rollout_tokens: sum of perf/total_num_tokens over steps 1 to 2",
        "response_length: mean of response_length/mean over steps 1 to 2",
    ]


def test_a_named_step_and_fractions(logs: Path) -> None:
    _, rows, _ = collect(CollectRequest(logs, PATTERN, step=0, percent=False))
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
    columns, rows, _ = collect(CollectRequest(tmp_path, "{method}/{seed}/*.json"))
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
    assert "it has acc/mean@1, acc/mean@4, reward/mean@4 (--variable)" in told(variable="score")
    assert "did you mean 'org/alg'" in told(benchmarks={"a": "org/alq"})
    assert "has no metric 'x'" in told(process={"y": ("x", "sum")})
    assert "'method' stands in --pattern too" in told(constants={"method": "x"})
    assert "is no folder" in told(folder=tmp_path / "nowhere")
    _log(logs / "topk/seed3.jsonl", {0: _validated(0.1, 0.1)})
    assert "different steps (step 0: 1 run," in told()
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


REAL = Path(__file__).parents[1] / "golden/evaluation_verl_run"


@pytest.mark.parametrize("file", ["metrics.jsonl", "console.log", "*.*l*"])
def test_a_real_run_of_verl(tmp_path: Path, file: str) -> None:
    """An excerpt of verl 0.9.1: 8 problems a source, 2 responses each, 4 steps.

    Its validation dump of step 4 has 4 right responses, all to science: 4 / 16 = 25 %. Tokens per
    step: 3365 + 2623 + 3549 + 2741 = 12278.
    """
    folder = tmp_path / "baseline_1"
    folder.mkdir()
    for name in ("metrics.jsonl", "console.log"):
        (folder / name).write_bytes((REAL / name).read_bytes())
    columns, rows, notes = collect(
        CollectRequest(
            tmp_path,
            "{method}_{seed}/" + file,
            process={"tokens": ("perf/total_num_tokens", "sum")},
        )
    )
    assert columns == [
        *("method", "seed"),
        *(
            f"dataflex/{name}"
            for name in ("knights_and_knaves", "procedural_math", "procedural_science")
        ),
        "tokens",
    ]
    assert rows == [["baseline", "1", 0.0, 0.0, 25.0, 12278]]
    assert notes[0] == "validated at step 4"
    assert notes[-1].endswith("over steps 1 to 4")
    at_2 = collect(CollectRequest(tmp_path, "{method}_{seed}/" + file, step=2)).rows
    assert at_2 == [["baseline", "1", 0.0, 0.0, 43.75]]


def test_console_lines(tmp_path: Path) -> None:
    path = tmp_path / "topk" / "1.log"
    path.parent.mkdir()
    whole = (
        "\x1b[36m(TaskRunner pid=7)\x1b[0m Training: 3%|# |\r"
        "step:1 - val-core/a/acc/mean@1:np.float64(0.53) - perf/x:1e-05 - note:nonsense\n"
        "global_step:9 - val-core/a/acc/mean@1:0.99\n"
    )
    path.write_text(whole)
    request = CollectRequest(tmp_path, "{method}/{seed}.log", process={"x": ("perf/x", "sum")})
    assert collect(request).rows == [["topk", "1", 53.0, 1e-05]]
    path.write_text(whole + "step:2 - val-core/a/acc/mean@1:0.5")  # 0.54, cut off?
    with pytest.raises(InputDataError, match="line 3: step 2 is not ended by a line feed"):
        collect(request)
    path.write_text("nothing\n")
    with pytest.raises(InputDataError, match="no line of it is one of verl's console logger"):
        collect(request)


def _tokens(steps: range, *, value: float = 1.0, at: int) -> dict[int, dict[str, float]]:
    return {
        step: {"tokens": value} | (_validated(0.5, 0.5) if step == at else {}) for step in steps
    }


def test_process_metrics_cover_the_same_steps_without_gaps(tmp_path: Path) -> None:
    request = CollectRequest(tmp_path, "{method}/{seed}*.jsonl", process={"t": ("tokens", "sum")})
    _log(tmp_path / "a/1.jsonl", _tokens(range(1, 31), at=30))
    _log(tmp_path / "b/1.jsonl", _tokens(range(15, 31), at=30))
    with pytest.raises(InputDataError, match=r"steps 1 to 30 .*steps 15 to 30 \(16 logged\)"):
        collect(request)
    # The file of the run before it was resumed: steps 15 to 17 are in both, the later counts.
    _log(tmp_path / "b/1x.jsonl", _tokens(range(1, 18), value=10.0, at=30))
    both = CollectRequest(
        tmp_path, "{method}/1*.jsonl", constants={"seed": "1"}, process=request.process
    )
    assert {row[1]: row[-1] for row in collect(both).rows} == {"a": 30, "b": 14 * 10 + 16}
    _log(tmp_path / "b/1x.jsonl", _tokens(range(1, 13), value=10.0, at=30))
    with pytest.raises(InputDataError, match=r"steps 13 to 14 of steps 1 to 30 are absent"):
        collect(both)
    _log(tmp_path / "b/1x.jsonl", _tokens(range(15, 31), value=2.0, at=30))
    with pytest.raises(InputDataError, match="neither continues the other"):
        collect(both)


def test_other_numbers_of_responses_are_another_benchmark(tmp_path: Path) -> None:
    def only(count: int, rate: float) -> dict[str, float]:
        return {f"val-core/a/acc/mean@{count}": rate}

    _log(tmp_path / "a/1.jsonl", {2: only(8, 0.5) | only(1, 0.25)})
    _log(tmp_path / "b/1.jsonl", {2: only(1, 0.75)})
    request = CollectRequest(tmp_path, "{method}/{seed}.jsonl")
    with pytest.raises(InputDataError, match=r"mean@8: 1 run, .*mean@1: 1 run"):
        collect(request)
    rows = collect(CollectRequest(tmp_path, request.pattern, variable="acc/mean@1")).rows
    assert [row[-1] for row in rows] == [25.0, 75.0]
    with pytest.raises(InputDataError, match="mean@4; it has acc/mean@1"):
        collect(CollectRequest(tmp_path, request.pattern, variable="acc/mean@4"))


def _verdicts(path: Path, solved: list[bool]) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    lines = [
        {"row_id": f"r{at // 2}", "data_source": "dataflex/x", "sample": at % 2, "score": float(s)}
        for at, s in enumerate(solved)
    ]
    path.write_text("".join(json.dumps(line) + "\n" for line in lines))


def test_verdicts_and_other_items(tmp_path: Path) -> None:
    """Solve rates of what `dfdata score --out` wrote; scores name the same source otherwise."""
    import pyarrow.json
    import pyarrow.parquet

    request = CollectRequest(tmp_path, "{method}/{seed}.*")
    _verdicts(tmp_path / "a/1.jsonl", [True, False, True, True])  # 3 of 4, 2 rows
    _verdicts(tmp_path / "b/1.jsonl", [True, False, False, False])
    table = pyarrow.json.read_json(tmp_path / "b/1.jsonl")
    pyarrow.parquet.write_table(table, tmp_path / "b/1.parquet")
    (tmp_path / "b/1.jsonl").unlink()
    told = {"domain": "d", "source": "dataflex-data/x", "correct": 2, "responses": 4, "rows": 2}
    (tmp_path / "c").mkdir()
    score = tmp_path / "c/1.json"
    score.write_text(json.dumps({"groups": [told]}))
    columns, rows, notes = collect(request)
    assert columns == ["method", "seed", "dataflex/x"]
    assert [row[2] for row in rows] == [75.0, 25.0, 50.0]
    assert notes == ["dataflex/x: 4 responses to 2 rows in every run"]
    named = CollectRequest(tmp_path, request.pattern, benchmarks={"x": "dataflex-data/x"})
    assert collect(named).columns[2] == "x"
    score.write_text(json.dumps({"groups": [{**told, "rows": 1}]}))
    with pytest.raises(InputDataError, match=r"4 responses to 1 row: 1 run, .*1\.json"):
        collect(request)


def test_rates_are_rounded_to_what_was_counted(tmp_path: Path) -> None:
    _score(tmp_path / "a/1.json", x=(201, 400))
    assert collect(CollectRequest(tmp_path, "{method}/{seed}.json")).rows == [["a", "1", 50.25]]


def test_options_without_effect_and_foreign_files_are_refused(tmp_path: Path) -> None:
    _score(tmp_path / "a/1.json", x=(1, 2))
    for changes, option in (
        ({"step": 999}, "--step"),
        ({"variable": "nonsense"}, "--variable"),
        ({"process": {"x": ("y", "sum")}}, "--process"),
    ):
        with pytest.raises(ConfigError, match=f"{option} is about verl's logs"):
            collect(CollectRequest(tmp_path, "{method}/{seed}.json", **changes))
    _log(tmp_path / "b/1.jsonl", {1: {"val-core/x/acc/mean@1": 0.5, "y": 1.0}})
    with pytest.raises(InputDataError, match=r"a/1\.json: no log of verl"):
        collect(CollectRequest(tmp_path, "{method}/{seed}.*", process={"x": ("y", "sum")}))
    for text, told in (
        (REAL.joinpath("ledger.jsonl").read_text(), "is a ledger"),
        ('{"input": "q", "output": "a", "step": 1}\n', "first record has input, output, step"),
    ):
        (tmp_path / "b/1.jsonl").write_text(text)
        with pytest.raises(InputDataError, match=told):
            collect(CollectRequest(tmp_path, "b/{seed}.jsonl"))
    (tmp_path / "b/1.json").write_text('{"results": {}}')
    with pytest.raises(InputDataError, match="lm-evaluation-harness are read by"):
        collect(CollectRequest(tmp_path, "b/{seed}.json"))
