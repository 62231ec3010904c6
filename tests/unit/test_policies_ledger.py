"""The policies' rows in a ledger, controls that replay one, and the two verbs that show them."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from dataflex_data.core.errors import ConfigError, InputDataError
from dataflex_data.core.ledger import Ledger, read_ledger
from dataflex_data.core.rollout import RolloutBatch
from dataflex_data.policies.engine import Policies, load_policies
from dataflex_data.policies.presets import PRESETS
from dataflex_data.policies.record import ledger_row, metrics
from dataflex_data.reporting.ledger_report import sparkline
from tests.conftest import Cli
from tests.policies_batch import batch_of, columns


def run(policies: Policies, path: Path, steps: int = 6, first: int = 0, seed: int = 0) -> None:
    with Ledger(path, {"policy": path.stem}, first_step=first) as ledger:
        for step in range(first, steps):
            batch = batch_of(columns(n_groups=20, seed=100 * seed + step), group_size=5)
            ledger.append(step, **ledger_row(policies.apply(batch, step)))


def control(name: str, ledger: Path, **params: Any) -> Policies:
    return load_policies(
        {
            "mechanism": "select",
            "actuator": {"name": name, "params": {"ledger": str(ledger), **params}},
        }
    )


@pytest.fixture
def difffilter(tmp_path: Path) -> Path:
    path = tmp_path / "difffilter.jsonl"
    run(load_policies(PRESETS["difffilter"].config), path)
    return path


def test_a_row_says_what_happened(tmp_path: Path) -> None:
    policies = load_policies(
        {"policies": [PRESETS["difffilter"].config, PRESETS["softmax"].config]}
    )
    batch = batch_of(columns(n_groups=20), group_size=5, n_padding=3)
    decision = policies.apply(batch, 0)
    row = ledger_row(decision)
    kept_B = decision.kept_B
    for column, mask_B in (("generated_responses", kept_B | True), ("kept_responses", kept_B)):
        assert row[column] == {
            name: int((batch.domain_B[mask_B] == d).sum())
            for d, name in enumerate(("logic", "math", "science"))
        }
    assert row["generated_tokens"] == batch.lengths_B.sum()
    assert row["kept_tokens"] == row["updated_tokens"] == batch.lengths_B[kept_B].sum()
    assert row["kept_fraction"] == pytest.approx(kept_B.mean())
    assert row["weight_mean"] == pytest.approx(1)
    assert 0 < row["weight_ess_fraction"] < 1
    assert row["faults"]["padding"] == 3
    assert (row["selection_unit"], row["update"]) == ("group", "update")
    assert row["actuators"] == "threshold_band softmax"
    flat = metrics(row)
    assert flat["dataflex/kept_frac"] == row["kept_fraction"]
    assert flat["dataflex/reward_math"] == row["reward"]["math"]
    assert all(isinstance(value, float) for value in flat.values())
    with Ledger(tmp_path / "one.jsonl", {}) as ledger:
        ledger.append(0, **row)
    (held,) = read_ledger(tmp_path / "one.jsonl").rows
    assert held["kept_responses"] == row["kept_responses"]


def test_a_killed_run_resumes_without_a_step_twice(difffilter: Path) -> None:
    whole = read_ledger(difffilter).rows
    with difffilter.open("ab") as file:
        file.write(b'{"step":6,"kept_')
    run(load_policies(PRESETS["difffilter"].config), difffilter, first=4)
    again = read_ledger(difffilter).rows
    assert [row["step"] for row in again] == [0, 1, 2, 3, 4, 5]
    assert [row["kept_tokens"] for row in again] == [row["kept_tokens"] for row in whole]


def test_matched_random_replays_a_ledger(difffilter: Path, tmp_path: Path) -> None:
    run(control("matched_random", difffilter), tmp_path / "random.jsonl")
    ours, theirs = read_ledger(tmp_path / "random.jsonl"), read_ledger(difffilter)
    for mine, paired in zip(ours.rows, theirs.rows, strict=True):
        assert mine["kept_groups"] == paired["kept_groups"]
        assert mine["control_realised"] == mine["control_target"]
    different = [
        mine["kept_tokens"] != paired["kept_tokens"]
        for mine, paired in zip(ours.rows, theirs.rows, strict=True)
    ]
    assert any(different)


def test_matched_random_of_a_ledger_with_members(tmp_path: Path) -> None:
    run(load_policies(PRESETS["maxvar"].config), tmp_path / "maxvar.jsonl")
    run(control("matched_random", tmp_path / "maxvar.jsonl"), tmp_path / "random.jsonl")
    ours = read_ledger(tmp_path / "random.jsonl").rows
    theirs = read_ledger(tmp_path / "maxvar.jsonl").rows
    for mine, paired in zip(ours, theirs, strict=True):
        assert mine["kept_responses"] == paired["kept_responses"]


def test_a_control_of_other_domains_is_refused(difffilter: Path) -> None:
    policies = control("matched_random", difffilter)
    fields = columns(n_groups=6)
    named = np.char.capitalize(fields["domains"].astype(str)).astype(object)
    for domains, words in (
        (named, "this run has Logic, Math, Science"),
        (None, "this run has no domains"),
    ):
        only = set() if domains is None else {"domain"}
        batch = batch_of({**fields, "domains": domains}, only=only)
        with pytest.raises(InputDataError, match="has the domains logic, math, science") as caught:
            policies.apply(batch, 0)
        assert words in str(caught.value)


def test_a_control_with_too_few_groups_keeps_all_and_says_so(tmp_path: Path) -> None:
    """The pair keeps the three groups that differ, two of maths and one of logic."""

    def step(solved: list[int], domains: list[str]) -> RolloutBatch:
        return RolloutBatch(
            rewards=[float(place < k) for k in solved for place in range(4)],
            uids=np.repeat(np.arange(len(solved)), 4),
            lengths=[5] * (4 * len(solved)),
            domains=np.repeat(domains, 4),
            advantages=[1.0] * (4 * len(solved)),
        )

    path = tmp_path / "pair.jsonl"
    pair = {
        "mechanism": "select",
        "scorer": {"name": "group_solve_rate"},
        "actuator": {"name": "dapo_dynamic"},
    }
    with Ledger(path, {}) as ledger:
        whole = step([1, 2, 3, 4], ["math", "math", "logic", "logic"])
        ledger.append(0, **ledger_row(load_policies(pair).apply(whole, 0)))
    # One of the two of maths, the one of logic: 2 of 3.
    decision = control("matched_random", path).apply(step([0, 0], ["math", "logic"]), 0)
    row = ledger_row(decision)
    assert row["kept_groups"] == {"logic": 1, "math": 1}
    assert (row["control_target"], row["control_realised"]) == (3, 2)
    assert row["notes"]["control_short"] == 1
    # A batch without maths is one of the same run: 1 of 3, and no error.
    row = ledger_row(control("matched_random", path).apply(step([0, 0], ["logic"] * 2), 0))
    assert row["notes"]["control_short"] == 2


@pytest.mark.parametrize("name", ["matched_random", "matched_update_token"])
def test_a_ledger_without_a_selection_is_no_control(name: str, tmp_path: Path) -> None:
    run(load_policies({"mechanism": "none"}), tmp_path / "baseline.jsonl", steps=2)
    with pytest.raises(ConfigError, match=r"records no selection \(no policy acted\)"):
        control(name, tmp_path / "baseline.jsonl")
    run(load_policies(PRESETS["softmax"].config), tmp_path / "softmax.jsonl", steps=2)
    with pytest.raises(ConfigError, match=r"records no selection \(only softmax acted\)"):
        control(name, tmp_path / "softmax.jsonl")


def test_a_control_of_a_run_that_warmed_up_keeps_all_until_then(tmp_path: Path) -> None:
    warm = {**PRESETS["difffilter"].config, "warmup_step": 2}
    run(load_policies(warm), tmp_path / "warm.jsonl", steps=4)
    run(control("matched_random", tmp_path / "warm.jsonl"), tmp_path / "control.jsonl", steps=4)
    pairs = zip(
        read_ledger(tmp_path / "warm.jsonl").rows,
        read_ledger(tmp_path / "control.jsonl").rows,
        strict=True,
    )
    for paired, mine in pairs:
        assert mine["kept_groups"] == paired["kept_groups"]
        assert (mine["kept_fraction"] == 1) == (mine["step"] < 2)


def test_matched_tokens_replay_a_ledger(difffilter: Path, tmp_path: Path) -> None:
    run(control("matched_update_token", difffilter), tmp_path / "tokens.jsonl", seed=1)
    for mine, paired in zip(
        read_ledger(tmp_path / "tokens.jsonl").rows, read_ledger(difffilter).rows, strict=True
    ):
        assert mine["control_target"] == paired["kept_tokens"]
        assert mine["control_realised"] == mine["kept_tokens"]
        assert abs(mine["kept_tokens"] - paired["kept_tokens"]) < 30  # the longest response has 29


def test_a_target_that_cannot_be_reached_is_recorded(difffilter: Path) -> None:
    batch = batch_of(columns(n_groups=3), group_size=5)
    row = ledger_row(control("matched_random", difffilter).apply(batch, 0))
    assert row["control_realised"] < row["control_target"]


def test_a_step_the_ledger_lacks_is_an_error(difffilter: Path) -> None:
    batch = batch_of(columns(n_groups=3), group_size=5)
    with pytest.raises(InputDataError, match="no selection of step 99 to match"):
        control("matched_random", difffilter).apply(batch, 99)


def test_a_ledger_without_selection_is_refused(tmp_path: Path) -> None:
    with Ledger(tmp_path / "mix.jsonl", {}) as ledger:
        ledger.append(0, proportion={"a": 1.0})
    with pytest.raises(ConfigError, match="records no selection"):
        control("matched_random", tmp_path / "mix.jsonl")


def test_sparkline() -> None:
    assert sparkline(np.array([0.0, 7.0, np.nan, 3.5])) == "▁█ ▅"
    assert sparkline(np.array([2.0, 2.0])) == "▁▁"
    assert sparkline(np.array([0.3, 0.1 + 0.2])) == "▁▁"
    # A hundred values in ten stretches of ten, whose means are 4.5, 14.5, ...
    assert sparkline(np.arange(100.0), 8) == "▁▂▃▄▅▆▇█"


def test_show(difffilter: Path, tmp_path: Path, cli: Cli) -> None:
    run(control("matched_random", difffilter), tmp_path / "random.jsonl")
    shown = cli("ledger", "show", difffilter, tmp_path / "random.jsonl")
    assert shown.code == 0
    assert "kept_fraction" in shown.out
    assert "reward[math]" in shown.out
    data = json.loads(cli("ledger", "show", difffilter, "--json").out)
    held = read_ledger(difffilter)
    assert data[0]["kept_tokens"] == int(held.numbers("kept_tokens").sum())
    assert data[0]["columns"]["kept_fraction"]["last"] == held.numbers("kept_fraction")[-1]
    one = cli("ledger", "show", difffilter, "--column", "kept_tokens").out
    assert "kept_fraction" not in one.split("Columns of")[1]


def test_what_cannot_be_shown(difffilter: Path, tmp_path: Path, cli: Cli) -> None:
    missing = cli("ledger", "show", tmp_path / "none.jsonl")
    assert (missing.code, "no such file" in missing.err) == (2, True)
    column = cli("ledger", "show", difffilter, "--column", "kept_token")
    assert (column.code, "kept_tokens" in column.err) == (2, True)
    twice = cli("ledger", "show", difffilter, difffilter)
    assert (twice.code, "given twice" in twice.err) == (2, True)
    Ledger(tmp_path / "empty.jsonl", {}).close()
    empty = cli("ledger", "report", tmp_path / "empty.jsonl", "--out", tmp_path / "page.html")
    assert (empty.code, "no step" in empty.err) == (2, True)
    assert not (tmp_path / "page.html").exists()


def test_report_is_one_page_of_all_runs(difffilter: Path, tmp_path: Path, cli: Cli) -> None:
    pytest.importorskip("matplotlib")
    other = tmp_path / "<b>.jsonl"
    run(control("matched_random", difffilter), other)
    page = tmp_path / "page.html"
    assert cli("ledger", "report", difffilter, other, "--out", page).code == 0
    text = page.read_text()
    for heading in (
        "Reward by domain over time",
        "Tokens generated, kept and updated on",
        "Control: realised and target",
        "All numbers of difffilter",
    ):
        assert heading in text
    assert "<b>" not in text
    assert text.count("data:image/png;base64,") >= 6
    assert "http://" not in text.split("</style>")[1]
    assert "https://" not in text.split("</style>")[1]


def test_runs_of_one_name_are_told_apart(tmp_path: Path, cli: Cli) -> None:
    for folder in ("a", "b"):
        run(load_policies({"mechanism": "none"}), tmp_path / folder / "ledger.jsonl", steps=2)
    shown = cli("ledger", "show", tmp_path / "a/ledger.jsonl", tmp_path / "b/ledger.jsonl").out
    assert "a/ledger" in shown
    assert "b/ledger" in shown
