"""Hand-worked numbers of floors, shares and quotas (design: POLICIES.md sections 2, 6 and 7)."""

from __future__ import annotations

import math

import numpy as np
import pytest

from dataflex_data.core.errors import InputDataError
from dataflex_data.core.simplex import (
    UNIT,
    check_floor,
    fixed_shares,
    floored,
    normalised,
    plan_quota,
    softmax,
)


def quotas(proportions: list[list[float]], batch_size: int) -> list[list[int]]:
    deficit = [0] * len(proportions[0])
    counts = []
    for p in proportions:
        quota = plan_quota(deficit, fixed_shares(p).tolist(), batch_size)
        deficit = quota.deficit
        counts.append(quota.counts)
    return counts


def test_mix_floor() -> None:
    # .1 + (1 - .3) p: .1 + .007, .1 + .203, .1 + .49
    assert floored([0.01, 0.29, 0.70], 0.1).tolist() == pytest.approx([0.107, 0.303, 0.59])


def test_waterfill_floor() -> None:
    # .9 is left for .29 and .70 in proportion: .9 x 29/99 and .9 x 70/99
    assert floored([0.01, 0.29, 0.70], 0.1, "waterfill").tolist() == pytest.approx(
        [0.1, 0.263636363636, 0.636363636364], abs=1e-9
    )


def test_waterfill_lifts_in_rounds() -> None:
    # .11 is above the floor of .1 at first; after .0 is lifted it is .11 x .9 = .099: lifted too.
    assert floored([0.0, 0.11, 0.89], 0.1, "waterfill").tolist() == pytest.approx([0.1, 0.1, 0.8])


def test_renormalising_after_a_floor_would_break_it() -> None:
    # The reference gives .05 / 1.08 = .0463 here.
    for rule in ("mix", "waterfill"):
        assert floored([0.98, 0.01, 0.01], 0.05, rule).min() >= 0.05


def test_a_floor_of_one_over_d_is_uniform() -> None:
    for rule in ("mix", "waterfill"):
        result = floored([0.7, 0.2, 0.1], 1 / 3, rule)
        assert result.tolist() == pytest.approx([1 / 3] * 3)


@pytest.mark.parametrize("floor", [0.34, -0.1, math.nan, math.inf])
def test_a_floor_that_cannot_hold_is_refused(floor: float) -> None:
    with pytest.raises(InputDataError, match=r"floor"):
        check_floor(floor, 3)


def test_the_refusal_gives_the_numbers() -> None:
    with pytest.raises(InputDataError, match=r"3 x 0\.4 = 1\.2 is more than 1.*0\.333333"):
        floored([0.2, 0.3, 0.5], 0.4)


@pytest.mark.parametrize("bad", [math.nan, math.inf, -1e-9])
def test_proportions_that_are_none(bad: float) -> None:
    with pytest.raises(InputDataError, match=r"logic = "):
        normalised([0.5, bad], ["math", "logic"])


def test_all_zero_and_wrong_length() -> None:
    with pytest.raises(InputDataError, match="zero for all 2 domains"):
        normalised([0, 0], ["math", "logic"])
    with pytest.raises(InputDataError, match="one number per domain"):
        normalised([1.0], ["math", "logic"])


def test_huge_weights_do_not_overflow() -> None:
    assert normalised([1e308, 1e308], ["a", "b"]).tolist() == [0.5, 0.5]
    assert softmax([1e6, 0.0]).tolist() == [1.0, 0.0]


def test_carry_serves_the_small_domain() -> None:
    assert quotas([[0.33, 0.33, 0.33, 0.01]] * 4, 16) == [
        [6, 5, 5, 0],
        [5, 6, 5, 0],
        [5, 5, 6, 0],
        [5, 5, 5, 1],
    ]


def test_twenty_equal_domains_are_level_after_five_batches() -> None:
    assert np.sum(quotas([[0.05] * 20] * 5, 16), axis=0).tolist() == [4] * 20


def test_floors_above_the_batch_are_taken_back() -> None:
    # After two batches the last two are owed 1/4 + 1/4 each; with 1/2 more both are owed a whole
    # prompt, and the batch has one.
    counts = quotas([[0.25] * 4, [0.25] * 4, [0.0, 0.0, 0.5, 0.5]], 1)
    assert [sum(row) for row in counts] == [1, 1, 1]
    assert sum(counts[2][2:]) == 1


def test_a_weight_of_a_millionth_is_served_once_in_a_million() -> None:
    # Megatron-LM#705. Owed 512e-6 a batch: due within 1 / 512e-6 = 1953.1 batches.
    counts = np.array(quotas([[1 - 1e-6, 1e-6]] * 1954, 512))
    assert counts[:, 1].sum() == 1


def test_a_weight_of_zero_is_never_served() -> None:
    assert np.array(quotas([[1.0, 0.0]] * 100, 512))[:, 1].sum() == 0


def test_largest_remainders_alone_would_fall_a_whole_prompt_behind() -> None:
    # Found by search: with plain largest remainders this mixture reaches a deficit of 1.0488.
    rng = np.random.default_rng(0)
    for _ in range(964):
        n_domains = int(rng.integers(2, 12))
        batch_size = int(rng.integers(1, 20))
        p = rng.dirichlet(np.full(n_domains, rng.choice([0.05, 0.2, 1, 5])))
    assert (n_domains, batch_size) == (10, 1)
    deficit, shares = [0] * n_domains, fixed_shares(p).tolist()
    for _ in range(300):
        deficit = plan_quota(deficit, shares, batch_size).deficit
        assert max(map(abs, deficit)) < UNIT


def test_shares_sum_to_the_unit() -> None:
    for p in ([1 / 3] * 3, [1 / 7] * 7, [1e-20, 1.0], [0.1] * 10):
        assert int(fixed_shares(p).sum()) == UNIT
