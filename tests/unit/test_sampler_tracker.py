"""Signals from raw rewards: real rows only, groups counted as groups, nothing silently zero."""

from __future__ import annotations

import json
import math
from typing import Any

import numpy as np
import pytest

from dataflex_data.core.errors import InputDataError, StateError
from dataflex_data.samplers.domain_tracker import DomainTracker
from dataflex_data.samplers.signals import Signal, StepSignals

P = np.array([0.5, 0.5])


def tracked(signal: Signal, *reports: dict[str, Any], **options: Any) -> DomainTracker:
    tracker = DomainTracker(["logic", "math"], signal, **options)
    for step, report in enumerate(reports):
        tracker.add(tracker.read(StepSignals.of(report)), step, P)
    return tracker


def means(tracker: DomainTracker) -> list[float]:
    sizes = np.array([10, 10])
    return [float(x) for x in tracker.stats(1, 4, sizes, sizes).mean_D]


TWO_GROUPS: dict[str, Any] = {
    "domains": ["math"] * 4 + ["math"] * 2 + ["logic"],
    "uids": ["a"] * 4 + ["b"] * 2 + ["c"],
    "rewards": [1.0, 1.0, 1.0, 1.0, 0.0, 0.0, 0.25],
}


def test_mean_reward_is_over_groups_not_rollouts() -> None:
    # groups of 4 and 2 with means 1 and 0: .5, where the mean over rollouts is 4/6
    assert means(tracked("mean_reward", TWO_GROUPS)) == [0.25, 0.5]


def test_mean_absolute_advantage_is_over_rollouts() -> None:
    report = {**TWO_GROUPS, "advantages": [3.0, -3.0, 0.0, 0.0, 0.0, 0.0, -2.0]}
    assert means(tracked("mean_abs_advantage", report)) == [2.0, 1.0]


def test_group_variance_of_groups_alone_and_of_one() -> None:
    # (1, 0, 0, 0): 3/4 / 3 = .25 of the largest 1/3: .75; (1, 1): 0; a group of one says nothing
    report = {
        "domains": ["math"] * 6 + ["logic"],
        "uids": ["a"] * 4 + ["b"] * 2 + ["c"],
        "rewards": [1.0, 0.0, 0.0, 0.0, 1.0, 1.0, 1.0],
    }
    tracker = tracked("group_variance", report)
    result = means(tracker)
    assert math.isnan(result[0])
    assert result[1] == pytest.approx(0.375)


def test_a_constant_group_of_continuous_rewards_has_no_variance() -> None:
    # OpenRLHF#1272: a mean within the band is not a mixed group.
    report = {"domains": ["math"] * 3, "uids": ["a"] * 3, "rewards": [0.1 + 0.2] * 3}
    assert means(tracked("group_variance", report))[1] == pytest.approx(0, abs=1e-30)


def test_group_variance_refuses_rewards_outside_its_range() -> None:
    report = {"domains": ["math"] * 2, "uids": ["a"] * 2, "rewards": [0.0, 2.0]}
    with pytest.raises(InputDataError, match="got rewards from 0 to 2"):
        tracked("group_variance", report)


def test_solve_counts_at_the_threshold() -> None:
    report = {"domains": ["math"] * 3, "rewards": [0.5, 0.49, 1.0]}
    tracker = tracked("solve_counts", report, solve_threshold=0.5)
    assert (tracker.latest_D[1] * tracker.latest_counts_D[1], tracker.latest_counts_D[1]) == (2, 3)


def test_padding_never_gets_in() -> None:
    report = {
        **TWO_GROUPS,
        "real": [True, True, True, True, True, True, False],
        "rewards": [*TWO_GROUPS["rewards"][:6], math.nan],
    }
    tracker = tracked("mean_reward", report)
    assert math.isnan(means(tracker)[0])
    assert tracker.rollouts_D.tolist() == [0, 6]


def test_groups_rollouts_and_tokens_are_counted_apart() -> None:
    tracker = tracked("mean_reward", {**TWO_GROUPS, "lengths": [1, 2, 3, 4, 5, 6, 7]})
    assert tracker.groups_D.tolist() == [1, 2]
    assert tracker.rollouts_D.tolist() == [1, 6]
    assert tracker.tokens_D.tolist() == [7, 21]


def test_the_window_counts_steps_not_rollouts() -> None:
    # The reference's window of 50 rollouts is less than half a step of 320.
    reports = [{"domains": ["math"] * 100, "rewards": [float(step)] * 100} for step in range(5)]
    assert means(tracked("mean_reward", *reports, window=2))[1] == pytest.approx(3.5)


def test_the_window_weighs_steps_by_their_groups() -> None:
    reports = [
        {"domains": ["math"] * 3, "rewards": [1.0] * 3},
        {"domains": ["math"], "rewards": [0.0]},
    ]
    assert means(tracked("mean_reward", *reports))[1] == 0.75


def test_a_window_of_rollouts_keeps_the_last_of_them() -> None:
    report = {"domains": ["math"] * 4, "advantages": [8.0, 1.0, -2.0, 3.0]}
    tracker = tracked("mean_abs_advantage", report, window=3, window_unit="rollouts")
    assert means(tracker)[1] == 2.0
    assert tracker.rollouts_D[1] == 4


def test_an_absent_domain_keeps_its_window_and_grows_stale() -> None:
    tracker = tracked(
        "mean_reward",
        {"domains": ["math", "logic"], "rewards": [0.5, 0.25]},
        {"domains": ["math"], "rewards": [1.0]},
        {"domains": ["math"], "rewards": [1.0]},
    )
    sizes = np.array([10, 10])
    stats = tracker.stats(3, 4, sizes, sizes)
    assert stats.mean_D[0] == 0.25
    assert stats.staleness_D.tolist() == [2, 0]


def test_unseen_is_not_a_number() -> None:
    assert math.isnan(means(DomainTracker(["logic", "math"], "mean_reward"))[0])


@pytest.mark.parametrize("bad", [math.nan, math.inf, -math.inf])
def test_rewards_that_are_not_finite_are_named(bad: float) -> None:
    # NeMo-RL#4161
    report = {**TWO_GROUPS, "rewards": [1.0, 1.0, bad, 1.0, 0.0, 0.0, 0.0]}
    tracker = DomainTracker(["logic", "math"], "mean_reward")
    with pytest.raises(InputDataError, match="of response 2 in domain 'math'"):
        tracker.read(StepSignals.of(report))


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"rewards": [1.0]}, r"`rewards` has shape \(1,\)"),
        ({"uids": ["a"]}, "`uids` has 1 entries for 7 responses"),
        ({"real": [True]}, r"`real` has shape \(1,\)"),
        ({"real": [False] * 7}, "no real response"),
        ({"domains": ["maths"] * 7}, "domain 'maths'.*did you mean 'math'"),
        ({"uids": ["a"] * 7}, "one group is in two domains"),
        ({"domains": None}, "names neither `domains` nor `rows`"),
    ],
)
def test_malformed_reports(change: dict[str, Any], message: str) -> None:
    tracker = DomainTracker(["logic", "math"], "mean_reward")
    before = tracker.state_dict()
    with pytest.raises(InputDataError, match=message):
        tracker.read(StepSignals.of({**TWO_GROUPS, **change}))
    assert tracker.state_dict() == before


def test_a_mistyped_signal_does_not_vanish() -> None:
    with pytest.raises(InputDataError, match="'reward' is not known; did you mean 'rewards'"):
        StepSignals.of({"domains": ["math"], "reward": [1.0]})


def test_state_goes_through_json_bit_for_bit() -> None:
    reports = [{"domains": ["math"] * 3, "rewards": [0.1 * i, 1 / 3, 0.7]} for i in range(8)]
    tracker = tracked("mean_reward", *reports, window=5)
    other = DomainTracker(["logic", "math"], "mean_reward", window=5)
    other.load_state_dict(json.loads(json.dumps(tracker.state_dict())))
    assert other.state_dict() == tracker.state_dict()
    assert means(other)[1] == means(tracker)[1]


def test_state_costs_at_most_25_bytes_per_entry_and_domain() -> None:
    reports = [
        {"domains": ["math", "logic"], "rewards": [1 / 3 + i, 1 / 7 - i]} for i in range(200)
    ]
    sizes = {}
    for window in (100, 200):
        state = tracked("mean_reward", *reports, window=window).state_dict()
        sizes[window] = len(json.dumps(state, separators=(",", ":")))
    assert sizes[200] - sizes[100] <= 25 * 100 * 2


def test_state_of_another_signal_or_window_is_refused() -> None:
    state = tracked("mean_reward", TWO_GROUPS).state_dict()
    with pytest.raises(StateError, match="signal 'mean_reward', the mixer asks 'loss'"):
        DomainTracker(["logic", "math"], "loss").load_state_dict(state)
    with pytest.raises(StateError, match="window"):
        DomainTracker(["logic", "math"], "mean_reward", window=7).load_state_dict(state)
    with pytest.raises(StateError, match="version 2"):
        DomainTracker(["logic", "math"], "mean_reward").load_state_dict({**state, "version": 2})
