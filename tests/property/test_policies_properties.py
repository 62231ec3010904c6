"""Properties of selectors and weights on arbitrary groups, against plain searches."""

from __future__ import annotations

from itertools import combinations
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dataflex_data.core.rollout import RolloutBatch
from dataflex_data.policies.advantages import recomputed
from dataflex_data.policies.engine import load_policies
from dataflex_data.policies.loss import LOSS_AGG_MODES, LossAggMode, update_shape
from dataflex_data.policies.ranking import top_k
from dataflex_data.policies.selectors.matched_update_token import walk
from dataflex_data.policies.weighting import normalised, unit_masses

MODEST = settings(max_examples=60, deadline=None)
REWARDS = st.lists(st.sampled_from([0.0, 0.1, 0.25, 0.5, 0.9, 1.0, -1.0]), min_size=2, max_size=7)
GROUPS = st.lists(REWARDS, min_size=1, max_size=5)


def batch_of_groups(rewards: list[list[float]], seed: int = 0) -> RolloutBatch:
    rng = np.random.default_rng(seed)
    flat = [reward for group in rewards for reward in group]
    names = [f"u{g}" for g, group in enumerate(rewards) for _ in group]
    order = rng.permutation(len(flat))
    return RolloutBatch(
        rewards=np.array(flat)[order],
        uids=[names[i] for i in order],
        lengths=rng.integers(1, 20, len(flat)),
        advantages=rng.normal(size=len(flat)),
    )


def select(name: str, scorer: str = "reward_difficulty", **params: Any) -> Any:
    return load_policies(
        {
            "mechanism": "select",
            "scorer": {"name": scorer},
            "actuator": {"name": name, "params": params},
        }
    )


@MODEST
@given(GROUPS, st.integers(2, 6))
def test_max_variance_is_the_best_of_all_subsets(rewards: list[list[float]], n: int) -> None:
    batch = batch_of_groups(rewards)
    kept_B = select("max_variance", n=n).apply(batch, 0).kept_B
    for group in range(len(batch.groups)):
        members = np.flatnonzero(batch.groups.of_B == group)
        kept = members[kept_B[members]]
        values = batch.rewards_B[members]
        if values.min() == values.max():
            assert kept.size == 0
            continue
        size = min(n, members.size)
        assert kept.size == size
        best = max(float(np.var(batch.rewards_B[list(c)])) for c in combinations(members, size))
        assert np.var(batch.rewards_B[kept]) == pytest.approx(best, abs=1e-12)


@MODEST
@given(GROUPS, st.integers(1, 6), st.sampled_from(["short", "efficiency"]))
def test_gfpo_keeps_none_worse_than_one_it_drops(
    rewards: list[list[float]], k: int, metric: str
) -> None:
    batch = batch_of_groups(rewards)
    kept_B = select("gfpo", k=k, metric=metric).apply(batch, 0).kept_B
    merit = -batch.lengths_B if metric == "short" else batch.rewards_B / batch.lengths_B
    for group in range(len(batch.groups)):
        members = batch.groups.of_B == group
        assert (kept_B & members).sum() == min(k, members.sum())
        if (members & ~kept_B).any():
            assert merit[members & kept_B].min() >= merit[members & ~kept_B].max()


@MODEST
@given(GROUPS)
def test_new_advantages_have_mean_zero_and_keep_the_order(rewards: list[list[float]]) -> None:
    batch = batch_of_groups(rewards)
    kept_B = np.random.default_rng(1).random(len(batch)) < 0.7
    found = recomputed(batch, kept_B)
    assert np.isnan(found[~kept_B]).all()
    for group in range(len(batch.groups)):
        members = (batch.groups.of_B == group) & kept_B
        if members.any():
            assert found[members].mean() == pytest.approx(0, abs=1e-9)
            values = batch.rewards_B[members]
            if values.size > 1:
                spread = values.std(ddof=1) + 1e-4
                assert found[members] == pytest.approx((values - values.mean()) / spread, abs=1e-9)


@MODEST
@given(
    st.lists(st.floats(-5, 5) | st.just(float("nan")), min_size=1, max_size=30),
    st.integers(0, 30),
)
def test_top_k_is_k_and_none_beats_it(values: list[float], k: int) -> None:
    array = np.array(values)
    chosen = top_k(array, k, lambda: np.arange(array.size, dtype=np.uint64))
    assert chosen.sum() == min(k, array.size)
    ranked = np.where(np.isnan(array), -np.inf, array)
    if chosen.any() and not chosen.all():
        assert ranked[chosen].min() >= ranked[~chosen].max()


@MODEST
@given(
    st.lists(st.integers(0, 50), min_size=1, max_size=20),
    st.integers(0, 400),
)
def test_walk_is_the_plain_loop(lengths: list[int], target: int) -> None:
    order = np.random.default_rng(0).permutation(len(lengths))
    expected, total = set(), 0
    for index in order.tolist():
        if abs(total + lengths[index] - target) >= abs(total - target):
            break
        total += lengths[index]
        expected.add(index)
    assert set(np.flatnonzero(walk(np.array(lengths), order, target)).tolist()) == expected


@MODEST
@given(
    st.lists(st.tuples(st.floats(0, 100), st.integers(0, 40)), min_size=1, max_size=20),
    st.sampled_from(LOSS_AGG_MODES),
    st.none() | st.floats(1, 5),
)
def test_weights_have_mean_one_and_respect_the_cap(
    pairs: list[tuple[float, int]], mode: LossAggMode, cap: float | None
) -> None:
    raw = np.array([weight for weight, _ in pairs])
    lengths = np.array([length for _, length in pairs])
    masses = unit_masses(False, lengths, mode)
    found = normalised(raw, masses, cap)
    assert np.isfinite(found).all()
    assert found.min() >= 0
    if masses.sum() == 0:
        return
    mean = float((found * masses).sum() / masses.sum())
    live = float(masses[raw > 0].sum())
    if cap is None or live == 0 or cap * live >= masses.sum() * (1 + 1e-9):
        assert mean == pytest.approx(1, abs=1e-6)
    if cap is not None:
        assert found.max() <= cap * (1 + 1e-9)


@MODEST
@given(st.integers(0, 500), st.integers(1, 16), st.integers(1, 8))
def test_update_shapes_lose_nothing(kept: int, per_rank: int, dp: int) -> None:
    mini = per_rank * dp
    shape = update_shape(kept, mini, dp)
    assert shape.rows_per_mini_batch * shape.n_mini_batches == kept + shape.filler
    assert shape.rows_per_mini_batch <= mini
    assert shape.rows_per_mini_batch % dp == 0
    assert shape.n_mini_batches == -(-kept // mini)
