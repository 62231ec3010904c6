"""The numbers that the papers, or sums done by hand, give for each method."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

from dataflex_data.core.errors import InputDataError
from dataflex_data.core.rollout import RolloutBatch
from dataflex_data.policies import REWEIGHTERS, SCORERS, SELECTORS, Scores, Turn
from dataflex_data.policies.advantages import recomputed
from dataflex_data.policies.component import build
from dataflex_data.policies.loss import LossAggMode, aggregate, compensation
from dataflex_data.policies.weighting import normalised, unit_masses, weight_stats


def one_group(rewards: list[float], lengths: list[int] | None = None, **more: Any) -> RolloutBatch:
    return RolloutBatch(
        rewards=rewards, uids=["u"] * len(rewards), lengths=lengths or [10] * len(rewards), **more
    )


def kept(name: str, params: dict[str, Any], scorer: str, batch: RolloutBatch) -> set[int]:
    scores = build(SCORERS, scorer).run(batch, 0)
    mask = build(SELECTORS, name, params).keep(scores, batch, Turn(step=0))
    return set(np.flatnonzero(mask).tolist())


def weights(
    name: str,
    params: dict[str, Any],
    values: list[float],
    lengths: list[int] | None = None,
    mode: LossAggMode = "seq-mean-token-sum",
    granularity: Any = "response",
) -> npt.NDArray[np.floating]:
    batch = one_group([0.0] * len(values), lengths)
    kind = build(REWEIGHTERS, name, params)
    raw = np.asarray(kind.weights(Scores(np.array(values), granularity), batch, Turn(step=0)))
    if not kind.normalises:
        return raw
    return normalised(raw, unit_masses(granularity == "token", batch.lengths_B, mode), kind.cap)


def test_max_variance_keeps_the_extremes_more_from_the_low_end() -> None:
    # {0, .1, 1}: mean 11/30, squares 1.01/3 - 121/900 = 182/900 = 91/450; {0, .9, 1} is equal.
    batch = one_group([0, 0.1, 0.2, 0.9, 1, 0.5])
    found = kept("max_variance", {"n": 3}, "reward_difficulty", batch)
    assert found == {0, 1, 4}
    assert np.var(batch.rewards_B[sorted(found)]) == pytest.approx(91 / 450, abs=1e-12)


def test_max_variance_does_not_cancel_for_large_rewards() -> None:
    batch = one_group([1e6, 1e6 + 0.001, 1e6 + 0.002, 1e6 + 0.003])
    assert kept("max_variance", {"n": 2}, "reward_difficulty", batch) == {0, 3}


def test_max_variance_takes_half_of_five_as_two_and_with_ceil_as_three() -> None:
    batch = one_group([1, 0, 0, 0, 0])
    assert len(kept("max_variance", {}, "reward_difficulty", batch)) == 2
    assert len(kept("max_variance", {"rounding": "ceil"}, "reward_difficulty", batch)) == 3


def test_advantages_of_a_kept_pair() -> None:
    # (1 - .5) / (sqrt(.5) + 1e-4)
    batch = one_group([1, 0, 1, 0])
    advantages = recomputed(batch, np.array([True, True, False, False]))
    assert advantages[:2] == pytest.approx([0.707006795327, -0.707006795327], abs=1e-9)
    assert np.isnan(advantages[2:]).all()


def test_gfpo_short() -> None:
    batch = one_group([1, 1, 0, 1, 0], [400, 120, 90, 300, 500])
    found = kept("gfpo", {"k": 3, "metric": "short"}, "reward_difficulty", batch)
    assert found == {1, 2, 3}
    mask = np.isin(np.arange(5), list(found))
    expected = [0.577250286507, -1.15450057301, 0.577250286507]
    assert recomputed(batch, mask)[mask] == pytest.approx(expected, abs=1e-9)


def test_gfpo_efficiency_prefers_positive_then_zero_then_negative_and_shorter_among_equals() -> (
    None
):
    # per token: .01, 0, 0, -.02, -.01; the two zeros: 50 tokens before 80
    batch = one_group([1, 0, 0, -1, -1], [100, 80, 50, 50, 100])
    for k, expected in ((1, {0}), (2, {0, 2}), (3, {0, 1, 2}), (4, {0, 1, 2, 4})):
        assert kept("gfpo", {"k": k}, "reward_difficulty", batch) == expected


@pytest.mark.parametrize(
    ("inclusive", "solved_of_five"), [("neither", {2, 3}), ("both", {1, 2, 3, 4})]
)
def test_band_at_five_responses_keeps_two_rates_or_four(
    inclusive: str, solved_of_five: set[int]
) -> None:
    rewards = [float(place < solved) for solved in range(6) for place in range(5)]
    batch = RolloutBatch(rewards=rewards, uids=np.repeat(np.arange(6), 5), lengths=[1] * 30)
    params = {"low": 0.2, "high": 0.8, "inclusive": inclusive}
    found = kept("threshold_band", params, "group_solve_rate", batch)
    assert found == {solved * 5 + place for solved in solved_of_five for place in range(5)}


@pytest.mark.parametrize("size", [3, 7, 10, 49, 1000])
def test_band_bounds_are_exact_shares(size: int) -> None:
    # k/size against the bound k/size, in words of a fraction: equal, so out of an open band.
    for hits in range(1, size, max(1, size // 7)):
        batch = one_group([1.0] * hits + [0.0] * (size - hits))
        bound = f"{hits}/{size}"
        assert not kept("threshold_band", {"low": bound}, "group_solve_rate", batch)
        both = {"low": bound, "inclusive": "both"}
        assert len(kept("threshold_band", both, "group_solve_rate", batch)) == size


def test_topk_takes_the_share_and_at_least_one() -> None:
    batch = one_group([0] * 5, advantages=[0.1, -0.9, 0.5, float("nan"), 0.2])
    assert kept("topk_fraction", {"fraction": 0.4}, "advantage_magnitude", batch) == {1, 2}
    assert kept("topk_fraction", {"fraction": 0.01}, "advantage_magnitude", batch) == {1}
    assert kept("topk_fraction", {"fraction": 0.8}, "advantage_magnitude", batch) == {0, 1, 2, 4}


def test_softmax() -> None:
    expected = [0.270091719511, 0.734185413164, 1.99572286732]
    assert weights("softmax", {}, [1, 2, 3]) == pytest.approx(expected, abs=1e-9)
    expected = [0.186953690659, 0.508192820082, 1.38141130818]
    assert weights("softmax", {}, [1, 2, 3], [100, 300, 600], "token-mean") == pytest.approx(
        expected, abs=1e-9
    )


def test_per_advantage() -> None:
    expected = [1.69059892324, 0.845299461621, 0, 1.46410161514]
    assert weights("per_advantage", {}, [2, 0.5, 0, 1.5]) == pytest.approx(expected, abs=1e-9)
    assert weights("per_advantage", {}, [0, 0, 0]).tolist() == [1, 1, 1]


def test_advantage_reweight_is_not_scaled() -> None:
    found = weights("advantage_reweight", {"alpha": 0.3}, [0.1, 0.9], [1, 1], granularity="token")
    assert found == pytest.approx([0.73, 0.97], abs=1e-12)


def test_advantage_reweight_refuses_what_is_no_probability() -> None:
    with pytest.raises(InputDataError, match="token_prob"):
        weights("advantage_reweight", {}, [0.1, 1.9], [1, 1], granularity="token")


def test_per_expected_draws_times_importance() -> None:
    # P ~ p^alpha with alpha 1: [.25, .75], n = 2: draws [.5, 1.5], importance (nP)^-1/2:
    # [.5^.5, 1.5^.5], over their mean (.70711 + 1.22474) / 2 = .965926.
    found = weights("per", {"alpha": 1.0, "beta": 0.5}, [1, 3])
    assert found == pytest.approx([0.732050807569, 1.26794919243], abs=1e-5)
    assert weights("per", {"beta": 1.0}, [1, 3, 9]) == pytest.approx([1, 1, 1], abs=1e-12)


def test_per_sample_draws_as_often_as_there_are_responses() -> None:
    # beta 0 leaves the number of draws: whole, summing to n, within one of what is expected.
    found = weights("per", {"alpha": 1.0, "beta": 0.0, "draw": "sample"}, [1, 1, 2, 4])
    assert found.sum() == pytest.approx(4)
    assert np.all(np.abs(found - np.array([0.5, 0.5, 1, 2])) < 1)
    assert np.array_equal(found, np.rint(found))


def test_difficulty_band_by_value_and_by_quantile() -> None:
    # By value: .2 and .8 outside, .5 inside: [1, 2, 1] over 4/3.
    found = weights("difficulty_band", {}, [0.2, 0.5, 0.8], granularity="group")
    assert found == pytest.approx([0.75, 1.5, 0.75], abs=1e-12)
    # Quantiles .25 and .75 of 0..4 are 1 and 3: [1, 2, 2, 2, 1] over 8/5.
    found = weights("difficulty_band", {"by": "quantile"}, [0, 1, 2, 3, 4])
    assert found == pytest.approx([0.625, 1.25, 1.25, 1.25, 0.625], abs=1e-12)


def test_selected_loss_by_compensation() -> None:
    # keep {0, 3} of per-token losses 1..4, 10 tokens each: (10 + 40) / 20 and (10 + 40) / 2.
    losses = np.repeat([1.0, 2, 3, 4], 10)
    lengths = np.full(4, 10)
    kept_B = np.array([True, False, False, True])
    expected: dict[LossAggMode, float] = {
        "token-mean": 2.5,
        "token-sum": 50,
        "seq-mean-token-sum": 25,
        "seq-mean-token-sum-norm": 2.5,
        "seq-mean-token-mean": 2.5,
    }
    for mode, value in expected.items():
        factor = compensation(kept_B, lengths, mode)
        assert aggregate(losses, lengths, mode, kept_B * factor) == pytest.approx(value, abs=1e-12)


def test_compensation_of_unequal_lengths() -> None:
    # 100 and 300 tokens of 600 kept in token-mean: 600 / 400; two of three sequences: 3 / 2.
    lengths = np.array([100, 200, 300])
    kept_B = np.array([True, False, True])
    assert compensation(kept_B, lengths, "token-mean") == pytest.approx(1.5)
    assert compensation(kept_B, lengths, "seq-mean-token-sum") == pytest.approx(1.5)
    assert compensation(kept_B, lengths, "token-sum") == 1
    assert compensation(kept_B, lengths, "seq-mean-token-mean", n_sequences=8) == 4


def test_weight_statistics() -> None:
    # (1 + 3)^2 / (1 + 9) = 1.6; entropy of [1/4, 3/4] = .5623351446
    stats = weight_stats(np.array([1.0, 3.0, 7.0]), np.array([1.0, 1.0, 0.0]))
    assert (stats.mean, stats.std, stats.largest) == (2, 1, 3)
    assert stats.ess == pytest.approx(1.6)
    assert stats.ess_fraction == pytest.approx(0.8)
    assert stats.entropy == pytest.approx(0.562335144619)


def test_cap_gives_what_it_takes_to_the_others() -> None:
    # Mean 1 of [1, 1, 8] is [.3, .3, 2.4]; capped at 2 the others share 1: [.5, .5, 2].
    found = normalised(np.array([1.0, 1, 8]), np.ones(3), cap=2)
    assert found == pytest.approx([0.5, 0.5, 2], abs=1e-12)
    # Only one is above 0: it cannot make up a mean of 1.
    assert normalised(np.array([0.0, 0, 8]), np.ones(3), cap=2).tolist() == [0, 0, 2]
