"""What holds for all proportions: sums, floors, and how far a quota may be from its due."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dataflex_data.core import simplex
from dataflex_data.core.simplex import UNIT, fixed_shares, floored, normalised, plan_quota, softmax

WEIGHTS = st.lists(
    st.one_of(st.floats(0, 1), st.integers(0, 20).map(float)), min_size=1, max_size=20
).filter(lambda w: sum(w) > 0)


def names(n: int) -> list[str]:
    return [f"d{i}" for i in range(n)]


@given(WEIGHTS, st.floats(0, 1), st.sampled_from(["mix", "waterfill"]))
@settings(max_examples=200, deadline=None)
def test_floors_hold_and_sum_to_one(weights: list[float], tightness: float, rule: str) -> None:
    p = normalised(weights, names(len(weights)))
    floor = tightness / len(weights)
    result = floored(p, floor, rule)  # type: ignore[arg-type]
    assert result.sum() == pytest.approx(1, abs=1e-9)
    assert result.min() >= floor - 1e-12
    order = np.argsort(p, kind="stable")
    assert np.all(np.diff(result[order]) >= -1e-12)  # no floor reverses an order


@given(st.lists(st.floats(-1e6, 1e6), min_size=1, max_size=20), st.floats(1e-3, 1e3))
@settings(max_examples=100, deadline=None)
def test_softmax_is_a_distribution(scores: list[float], temperature: float) -> None:
    p = softmax(scores, temperature)
    assert p.sum() == pytest.approx(1)
    assert np.all(p >= 0)


@given(WEIGHTS, st.integers(1, 40))
@settings(max_examples=60, deadline=None)
def test_constant_proportions_stay_within_one_prompt(weights: list[float], batch: int) -> None:
    p = normalised(weights, names(len(weights)))
    shares, deficit = fixed_shares(p).tolist(), [0] * len(p)
    given_D = np.zeros(len(p))
    for step in range(1, 80):
        quota = plan_quota(deficit, shares, batch)
        deficit = quota.deficit
        assert sum(quota.counts) == batch
        assert min(quota.counts) >= 0
        assert sum(deficit) == 0
        given_D += quota.counts
        assert np.all(np.abs(given_D - step * batch * p) < 1 + 1e-9)
        assert max(map(abs, deficit)) < UNIT


@given(st.integers(2, 60), st.integers(1, 8), st.integers(0, 2**32))
@settings(max_examples=30, deadline=None)
def test_changing_proportions_stay_within_one_plus_ln_d(n: int, batch: int, seed: int) -> None:
    # The adversary pours onto those who are owed most, over fewer and fewer of them.
    rng = np.random.default_rng(seed)
    deficit, bound = [0] * n, (1 + math.log(n)) * UNIT
    for _ in range(3):
        for alive in range(n, 0, -1):
            fullest = np.argsort(deficit, kind="stable")[::-1][:alive]
            p = np.zeros(n)
            p[fullest] = rng.random(alive) + 1e-3
            quota = plan_quota(deficit, fixed_shares(p / p.sum()).tolist(), batch)
            deficit = quota.deficit
            assert sum(quota.counts) == batch
            assert max(deficit) <= bound


@given(WEIGHTS, st.integers(1, 30), st.integers(0, 2**32))
@settings(max_examples=60, deadline=None)
def test_both_ways_of_planning_agree(weights: list[float], batch: int, seed: int) -> None:
    rng = np.random.default_rng(seed)
    ranks = rng.permutation(len(weights)).tolist()
    deficit = [0] * len(weights)
    for _ in range(10):
        p = normalised(rng.permutation(weights), names(len(weights)))
        shares = fixed_shares(p).tolist()
        narrow = simplex._plan_narrow(deficit, shares, batch, ranks)
        assert simplex._plan_wide(deficit, shares, batch, ranks) == narrow
        deficit = narrow.deficit
