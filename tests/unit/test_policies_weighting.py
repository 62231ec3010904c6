"""Statistics of weights over more values than are worked on at a time."""

from __future__ import annotations

from math import log, sqrt
from typing import Any

import numpy as np
import pytest

from dataflex_data.core.errors import InputDataError
from dataflex_data.core.rollout import RolloutBatch
from dataflex_data.policies.engine import load_policies
from dataflex_data.policies.weighting import (
    check_weights,
    normalised,
    unit_masses,
    weight_stats,
)

MANY = 30_000


@pytest.mark.parametrize("kind", [np.float32, np.float64])
@pytest.mark.parametrize("uniform", [True, False])
def test_half_ones_and_half_threes(kind: Any, uniform: bool) -> None:
    weights = np.tile(np.array([1, 3], dtype=kind), MANY // 2)
    alike = unit_masses(True, np.array([MANY]), "token-mean")
    masses = alike if uniform else np.ones(MANY)
    stats = weight_stats(weights, masses)
    # Sum 2n, squares (1 + 9)/2 n; entropy = ln(sum) - (sum of w ln w)/sum.
    assert stats.mean == pytest.approx(2.0, rel=1e-12)
    assert stats.std == pytest.approx(1.0, rel=1e-12)
    assert stats.ess_fraction == pytest.approx(4 / 5, rel=1e-12)
    assert stats.ess == pytest.approx(4 / 5 * MANY, rel=1e-12)
    assert stats.entropy == pytest.approx(log(2 * MANY) - 3 * log(3) / 4, rel=1e-6)
    assert stats.largest == 3


def test_deviation_is_that_of_all_blocks_together() -> None:
    # Each block is constant: all of the deviation lies between blocks. Ranks 0..n-1 of blocks of
    # equal size have the variance (n^2 - 1)/12.
    weights = np.repeat(np.arange(10, dtype=np.float64), 8192)
    stats = weight_stats(weights, unit_masses(True, np.array([weights.size]), "token-mean"))
    assert stats.std == pytest.approx(sqrt((10**2 - 1) / 12), rel=1e-12)
    assert stats.mean == pytest.approx(4.5, rel=1e-12)


def test_equal_weights_are_even_to_the_last_digit() -> None:
    stats = weight_stats(np.full(MANY, 0.7, dtype=np.float32), np.ones(MANY))
    assert stats.std == 0
    assert stats.ess_fraction == pytest.approx(1.0, rel=1e-12)
    assert stats.entropy == pytest.approx(log(MANY), rel=1e-6)


def test_weights_of_zero_and_one_have_the_entropy_of_the_ones() -> None:
    weights = np.zeros(MANY)
    weights[::3] = 1.0
    stats = weight_stats(weights, np.ones(MANY))
    assert stats.entropy == pytest.approx(log(MANY / 3), rel=1e-12)
    assert stats.ess == pytest.approx(MANY / 3, rel=1e-12)


def test_masses_decide_the_mean_and_what_carries_none_is_left_out() -> None:
    weights = np.tile(np.array([1.0, 5.0, 99.0]), MANY // 3)
    masses = np.tile(np.array([3.0, 1.0, 0.0]), MANY // 3)
    stats = weight_stats(weights, masses)
    assert stats.mean == pytest.approx((3 * 1 + 5) / 4, rel=1e-12)
    assert stats.std == pytest.approx(2.0, rel=1e-12)  # of 1 and 5, whatever they carry
    assert stats.largest == 5


def test_one_weight_has_no_entropy() -> None:
    assert weight_stats(np.array([0.3]), np.ones(1)).entropy == 0


def test_nothing_has_no_statistics() -> None:
    assert weight_stats(np.zeros(0), np.zeros(0)).ess == 0
    assert weight_stats(np.array([1.0]), np.array([0.0])).ess == 0


@pytest.mark.parametrize("bad", [-1e-3, np.nan, np.inf, -np.inf])
def test_what_cannot_be_a_weight_is_named(bad: float) -> None:
    weights = np.ones(MANY)
    weights[20_000] = bad
    with pytest.raises(InputDataError, match="1 are not, the first is number 20000"):
        check_weights(weights)


def test_single_precision_stays_single_and_has_mean_one() -> None:
    weights = np.linspace(0.1, 0.9, MANY, dtype=np.float32)
    found = normalised(weights, unit_masses(True, np.array([MANY]), "token-mean"))
    assert found.dtype == np.float32
    assert float(found.mean(dtype=np.float64)) == pytest.approx(1.0, rel=1e-6)
    assert weights[0] == np.float32(0.1)  # what was given is left as it was


def test_token_weights_beside_a_selection_are_zero_where_rows_were_dropped() -> None:
    policies = load_policies(
        {
            "policies": [
                {
                    "mechanism": "select",
                    "scorer": {"name": "group_solve_rate"},
                    "actuator": {"name": "dapo_dynamic"},
                },
                {
                    "mechanism": "reweight",
                    "scorer": {"name": "token_prob"},
                    "actuator": {"name": "advantage_reweight", "params": {"alpha": 0.5}},
                },
            ]
        }
    )
    probabilities = np.array([0.2, 0.4, 0.6, 0.8, 1.0, 0.2])
    batch = RolloutBatch(
        rewards=[1.0, 0.0, 1.0, 1.0],
        uids=["a", "a", "b", "b"],
        lengths=[2, 1, 2, 1],
        old_log_probs=np.log(probabilities).astype(np.float32),
    )
    decision = policies.apply(batch, 0)
    assert decision.kept_B.tolist() == [True, True, False, False]
    # alpha pi + 1 - alpha: (.2, .4 | .6) give .6, .7 | .8; group b is solved throughout.
    assert decision.token_weights() == pytest.approx([0.6, 0.7, 0.8, 0, 0, 0], rel=1e-6)
    assert decision.weight_stats is not None
    assert decision.weight_stats.mean == pytest.approx(0.7, rel=1e-6)
    assert decision.weight_stats.ess == pytest.approx(2.1**2 / (0.36 + 0.49 + 0.64), rel=1e-6)
