"""The learner and the replay by hand, and the command from end to end."""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from dataflex_data.core.errors import InputDataError
from dataflex_data.core.ledger import read_ledger
from dataflex_data.samplers.learner import DEFAULT_DOMAINS, DomainModel, Learner
from dataflex_data.samplers.log import read_log
from dataflex_data.samplers.simulation import (
    MixerSpec,
    SimulationSettings,
    Trajectory,
    best_fixed_mixture,
    replay,
    simulate,
)
from dataflex_data.samplers.simulation_report import summary_rows
from dataflex_data.samplers.steering import SteeringRules
from tests.conftest import Cli


def settings(**changes: Any) -> SimulationSettings:
    values = {
        "steps": 40,
        "batch_size": 64,
        "group_size": 5,
        "seed": 1,
        "repeats": 1,
        "rules": SteeringRules(),
    }
    return SimulationSettings(**{**values, **changes})


def spec(name: str, **params: Any) -> MixerSpec:
    return MixerSpec(label=name, name=name, params=params)


def test_one_step_by_hand() -> None:
    # spread 0, ability 0: every answer is a coin. G = 2: the variance of a mixed pair is the
    # largest there is, so u is the share of mixed pairs among the batch; ability gains .5 u.
    models = {"a": DomainModel(rows=9, ability=0.0, spread=0.0, learning_rate=0.5, forgetting=0.0)}
    learner = Learner(models, ["a"], 2, seed=3)
    assert learner.solve_rate_D.tolist() == pytest.approx([0.5])
    lesson = learner.answer(0, np.arange(8), np.zeros(8, dtype=np.int64))
    pairs = np.asarray(lesson.signals.rewards).reshape(8, 2)
    mixed = int((pairs.sum(axis=1) == 1).sum())
    assert 0 < mixed < 8
    assert learner.ability_D[0] == pytest.approx(0.5 * mixed / 8)
    # mixed pairs have advantages +-(1/2) / (sqrt(1/2) + 1e-4), others none
    size = 0.5 / (math.sqrt(0.5) + 1e-4)
    advantages = np.abs(np.asarray(lesson.signals.advantages))
    assert advantages.sum() == pytest.approx(2 * mixed * size)
    assert lesson.reward_by_domain["a"] == pairs.mean()


def test_a_domain_that_is_not_trained_falls_back() -> None:
    models = {
        name: DomainModel(rows=9, ability=0.0, spread=0.0, forgetting=0.1) for name in ("a", "b")
    }
    learner = Learner(models, ["a", "b"], 2, seed=3)
    learner.ability_D = np.array([1.0, 1.0])
    learner.answer(0, np.arange(8), np.zeros(8, dtype=np.int64))
    assert learner.ability_D[1] == pytest.approx(0.9)
    assert learner.ability_D[0] > 0.9


def test_the_expected_end_is_where_large_batches_end() -> None:
    names = sorted(DEFAULT_DOMAINS)
    learner = Learner(DEFAULT_DOMAINS, names, 5, seed=0)
    p = [0.5, 0.3, 0.2]
    expected = float(learner.expected_final([p], 60)[0])
    weights = dict(zip(names, p, strict=True))
    (run,) = simulate(
        DEFAULT_DOMAINS,
        [spec("static", weights=weights)],
        settings(steps=60, batch_size=512),
        None,
    )
    assert run.finals[0] == pytest.approx(expected, abs=0.01)


def test_the_best_fixed_mixture_is_no_worse_than_what_it_was_chosen_from() -> None:
    names = sorted(DEFAULT_DOMAINS)
    learner = Learner(DEFAULT_DOMAINS, names, 5, seed=1)
    best = best_fixed_mixture(DEFAULT_DOMAINS, settings(steps=300))
    assert sum(best.values()) == pytest.approx(1)
    found = learner.expected_final([list(best.values())], 300)[0]
    for other in ([1 / 3] * 3, [1, 0, 0], [0, 1, 0], [0, 0, 1], [0.6, 0.3, 0.1], [0.4, 0.4, 0.2]):
        assert found >= learner.expected_final([other], 300)[0] - 1e-3


def test_of_two_like_domains_the_one_that_learns_takes_all() -> None:
    models = {
        "learns": DomainModel(rows=99, ability=0.0, learning_rate=0.2, forgetting=0.0),
        "stuck": DomainModel(rows=99, ability=0.0, learning_rate=0.0, forgetting=0.0),
    }
    assert best_fixed_mixture(models, settings())["learns"] == pytest.approx(1, abs=0.01)


def test_regret_is_against_the_best_fixed_mixture_of_the_same_seeds() -> None:
    def ended(label: str, finals: tuple[float, ...]) -> Trajectory:
        nothing = np.empty((0, 1))
        return Trajectory(label, label, nothing, nothing, nothing, finals, finals)

    rows = summary_rows(
        [ended("a", (0.5, 0.7)), ended("b", (0.9,))], ended("best fixed", (0.8, 0.8))
    )
    assert [row[0] for row in rows] == ["a", "b", "best fixed"]
    assert [row[4] for row in rows] == pytest.approx([0.2, -0.1, 0.0])
    assert rows[0][2] == pytest.approx(math.sqrt(0.02))  # deviations of .1, ddof 1
    assert rows[1][2] is None


def test_equal_settings_give_equal_runs() -> None:
    one, two = (
        simulate(DEFAULT_DOMAINS, [spec("dump_ucb"), spec("thompson")], settings(), None)
        for _ in range(2)
    )
    for a, b in zip(one, two, strict=True):
        assert np.array_equal(a.proportions_SD, b.proportions_SD)
        assert a.finals == b.finals


@pytest.mark.parametrize("name", ["exp3", "odm", "sec", "dads", "vcrl", "doremi", "plr", "tscl"])
def test_the_learner_gives_every_mixer_its_signal(name: str) -> None:
    params: dict[str, Any] = {"inner": {"name": "reward_gap"}} if name == "plr" else {}
    (run,) = simulate(DEFAULT_DOMAINS, [spec(name, **params)], settings(steps=25), None)
    assert np.ptp(run.proportions_SD, axis=0).max() > 1e-4


def table(path: Path, rows: list[dict[str, Any]]) -> Path:
    pq.write_table(pa.Table.from_pylist(rows), path)
    return path


LOG: list[dict[str, Any]] = [
    {"step": step, "domain": domain, "reward": reward}
    for step in (10, 20, 30)
    for domain, reward in (("a", 0.9), ("b", 0.5), ("c", 0.1))
]


def test_a_replay_by_hand(tmp_path: Path) -> None:
    log, names = read_log(table(tmp_path / "log.parquet", LOG))
    assert (len(log), names) == (3, ["a", "b", "c"])
    (run,) = replay(log, names, [spec("reward_gap", temperature=0.5)], settings(), tmp_path)
    # step 0 is the warm-up; then section 7's reward_gap
    assert run.proportions_SD[0].tolist() == pytest.approx([1 / 3] * 3)
    assert run.proportions_SD[2].tolist() == pytest.approx(
        [0.122270713589, 0.272118477449, 0.605610808962], abs=1e-9
    )
    assert run.reward_SD[1].tolist() == [0.9, 0.5, 0.1]
    held = read_ledger(tmp_path / "reward_gap.jsonl")
    assert held.steps.tolist() == [0, 1, 2]
    assert sum(held.rows[2]["quota"].values()) == 64


@pytest.mark.parametrize("suffix", ["csv", "jsonl"])
def test_logs_in_other_formats(tmp_path: Path, suffix: str) -> None:
    path = tmp_path / f"log.{suffix}"
    if suffix == "csv":
        lines = ["step,domain,reward", *(f"{r['step']},{r['domain']},{r['reward']}" for r in LOG)]
    else:
        lines = [json.dumps(row) for row in LOG]
    path.write_text("\n".join(lines) + "\n")
    log, names = read_log(path)
    assert (len(log), names) == (3, ["a", "b", "c"])
    assert log[0].rewards == [0.9, 0.5, 0.1]


@pytest.mark.parametrize(
    ("rows", "message"),
    [
        ([{"step": 1, "domian": "a", "reward": 1.0}], "no column domain; did you mean 'domian'"),
        ([{"step": 1, "domain": "a", "reward": None}], "column reward is empty in row 1"),
        ([{"step": 1.5, "domain": "a", "reward": 1.0}], "step 1.5 of row 1 is no whole number"),
        ([{"step": 1, "domain": "a", "reward": "x"}], "reward 'x' of row 1 is no number"),
        ([{"step": 1, "domain": "a", "reward": math.nan}], "reward nan of row 1 is no finite"),
        ([{"step": True, "domain": "a", "reward": 1.0}], "step True of row 1 is no whole number"),
        ([{"step": 1, "domain": " ", "reward": 1.0}], "row 1 has no domain"),
    ],
)
def test_logs_that_cannot_be_used(tmp_path: Path, rows: list[dict[str, Any]], message: str) -> None:
    with pytest.raises(InputDataError, match=message):
        read_log(table(tmp_path / "log.parquet", rows))


def test_a_log_without_the_mixer_s_signal(tmp_path: Path) -> None:
    log, names = read_log(table(tmp_path / "log.parquet", LOG))
    with pytest.raises(InputDataError, match=r"dump_ucb: needs the signal .* no `advantages`"):
        replay(log, names, [spec("dump_ucb")], settings(), None)


def test_the_command(cli: Cli, tmp_path: Path) -> None:
    out = tmp_path / "sim"
    arguments = ["--steps", "20", "--repeats", "2", "--batch-size", "16", "--out", str(out)]
    mixers = ["--mixer", "static", "--mixer", "tscl: {variant: online}", "--mixer", "tscl"]
    result = cli("simulate", *mixers, *arguments)
    assert result.code == 0, result.err
    assert "tscl_2" in result.out
    assert "regret at the end" in result.out
    assert (out / "trajectory.png").read_bytes().startswith(b"\x89PNG")
    page = (out / "report.html").read_text()
    assert "data:image/png;base64," in page
    assert "http" not in page.replace("http-equiv", "")
    summary = json.loads((out / "summary.json").read_text())
    assert [m["label"] for m in summary["mixers"]] == ["static", "tscl", "tscl_2", "best fixed"]
    assert read_ledger(out / "tscl.jsonl").run["params"] == {"variant": "online"}
    assert read_ledger(out / "tscl.jsonl").steps.tolist() == list(range(20))
    again = cli("simulate", *arguments)
    assert again.code == 2
    assert "--force" in again.err
    told = cli("simulate", *arguments, "--force", "--no-plot", "--json")
    assert told.code == 0
    rows = json.loads(told.out)["summary"]
    best = next(row for row in rows if row["mixer"] == "best fixed")
    for row in rows:
        assert row["regret_end"] == pytest.approx(best["solve_rate_end"] - row["solve_rate_end"])
    assert not (out / "trajectory.png").exists()


def test_the_command_on_a_log(cli: Cli, tmp_path: Path) -> None:
    path = table(tmp_path / "log.parquet", LOG)
    out = tmp_path / "sim"
    result = cli("simulate", "--log", str(path), "--mixer", "reward_gap", "--out", str(out))
    assert result.code == 0, result.err
    assert "regret" not in result.out
    assert json.loads((out / "summary.json").read_text())["settings"]["steps"] == 3


def test_the_command_on_domains_of_one_s_own(cli: Cli, tmp_path: Path) -> None:
    path = tmp_path / "domains.yaml"
    path.write_text("easy: {rows: 50, ability: 2.0}\nhard: {rows: 50, ability: -2.0}\n")
    arguments = ["--domains", str(path), "--steps", "5", "--batch-size", "8", "--repeats", "1"]
    result = cli("simulate", *arguments, "--json", "--no-plot", "--out", str(tmp_path / "sim"))
    assert result.code == 0, result.err
    assert list(json.loads(result.out)["proportions"]["static"]) == ["easy", "hard"]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--mixer", "reward_gapp"], "did you mean 'reward_gap'"),
        (["--mixer", "reward_gap: {temprature: 1}"], "did you mean 'temperature'"),
        (["--mixer", "reward_gap: 3"], "one name with a mapping"),
        (["--mixer", "adarft"], "key `difficulty` is missing"),
        (["--batch-size", "99999999"], "larger than the data"),
        (["--log", "nowhere.parquet"], "no such file"),
        (["--log", "x.parquet", "--domains", "x.yaml"], "drop --domains"),
        (["--domains", "nowhere.yaml"], "no such file"),
        (["--steps", "0"], "steps"),
        (["--mixer", "reward_gap: {target: .nan}"], "`target`: input should be a finite number"),
        (["--mixer", "static: {weights: {logic: .inf, math: 1, science: 1}}"], "a finite number"),
        (["--mixer", "reward_gap", "--warmup-steps", "9", "--steps", "9"], "none of the 9 steps"),
        (["--log", "x.parquet", "--group-size", "4"], "drop --group-size"),
        (["--log", "x.parquet", "--repeats", "4"], "drop --repeats"),
    ],
)
def test_bad_arguments_write_nothing(
    cli: Cli, tmp_path: Path, arguments: list[str], message: str
) -> None:
    once = [] if "--log" in arguments else ["--repeats", "1"]
    result = cli("simulate", *arguments, *once, "--out", str(tmp_path / "sim"))
    assert result.code == 2
    assert message in result.err
    assert "mixer reward_gap: mixer" not in result.err
    assert list(tmp_path.iterdir()) == []


def test_logs_with_a_column_twice_or_that_are_folders(tmp_path: Path) -> None:
    path = tmp_path / "log.csv"
    path.write_text("step,domain,reward,reward\n1,a,1,0\n")
    with pytest.raises(InputDataError, match="the column reward stands there more than once"):
        read_log(path)
    with pytest.raises(InputDataError, match="is a folder"):
        read_log(tmp_path)


def test_a_log_is_replayed_to_its_end_and_can_be_cut_but_not_prolonged(
    cli: Cli, tmp_path: Path
) -> None:
    rows = [{"step": s, "domain": d, "reward": 0.5} for s in range(301) for d in ("a", "b")]
    path = table(tmp_path / "log.parquet", rows)
    arguments = ["simulate", "--log", str(path), "--mixer", "reward_gap", "--no-plot"]
    whole = cli(*arguments, "--out", str(tmp_path / "whole"))
    assert whole.code == 0, whole.err
    assert "warning: mixer reward_gap: its proportions never moved in this run" in whole.err
    assert read_ledger(tmp_path / "whole" / "reward_gap.jsonl").steps.tolist() == list(range(301))
    summary = json.loads((tmp_path / "whole" / "summary.json").read_text())
    assert summary["mixers"][0]["moved"] is False
    assert cli(*arguments, "--steps", "7", "--out", str(tmp_path / "cut")).code == 0
    assert read_ledger(tmp_path / "cut" / "reward_gap.jsonl").steps.tolist() == list(range(7))
    longer = cli(*arguments, "--steps", "302", "--out", str(tmp_path / "longer"))
    assert longer.code == 2
    assert "--steps is 302, the log has 301 steps" in longer.err


def test_what_is_warned_of_is_said_in_one_line(cli: Cli, tmp_path: Path) -> None:
    path = tmp_path / "domains.yaml"
    path.write_text("easy: {rows: 50, ability: 900.0}\nsure: {rows: 50, ability: 900.0}\n")
    arguments = ["--domains", str(path), "--steps", "15", "--batch-size", "8", "--repeats", "2"]
    result = cli("simulate", "--mixer", "reward_gap", *arguments, "--out", str(tmp_path / "sim"))
    assert result.code == 0, result.err
    warned = [line for line in result.err.splitlines() if line.startswith("warning: ")]
    assert len(warned) == 2
    assert "has not moved for 10 updates" in warned[0]
    assert "never moved in this run" in warned[1]


def test_domains_with_faults_are_all_named(cli: Cli, tmp_path: Path) -> None:
    path = tmp_path / "domains.yaml"
    path.write_text("a: {rows: 0, ability: 1.0}\nb: {ability: 1.0, raws: 3}\n")
    result = cli("simulate", "--domains", str(path), "--out", str(tmp_path / "sim"))
    assert result.code == 2
    for part in ("domains.a.rows", "domains.b.rows", "did you mean 'rows'"):
        assert part in result.err
