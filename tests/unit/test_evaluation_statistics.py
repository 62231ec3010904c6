"""Statistics against scipy and statsmodels as an independent route, and hand-worked cases."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from scipy import stats
from statsmodels.stats.multitest import multipletests
from statsmodels.stats.power import TTestPower
from statsmodels.stats.weightstats import ttost_paired

from dataflex_data.evaluation import statistics as st


def _differences(n: int, columns: int = 6, seed: int = 0) -> st.F64:
    rng = np.random.default_rng(seed)
    return np.asarray(rng.normal(rng.normal(size=columns), 1.5, size=(n, columns)))


@pytest.mark.parametrize("n", [2, 3, 5, 12, 30])
def test_t_test_and_interval_against_scipy(n: int) -> None:
    differences = _differences(n)
    summary = st.summarise(differences)
    low, high = st.t_interval(summary, 0.05)
    theirs = stats.ttest_1samp(differences, 0.0)
    interval = theirs.confidence_interval(0.95)
    np.testing.assert_allclose(st.t_test(summary), theirs.pvalue, rtol=1e-9)
    np.testing.assert_allclose(low, interval.low, rtol=1e-9)
    np.testing.assert_allclose(high, interval.high, rtol=1e-9)
    np.testing.assert_allclose(
        st.effect_size(summary), differences.mean(0) / differences.std(0, ddof=1)
    )


@pytest.mark.parametrize("margin", [0.5, 1.0, 3.0])
def test_tost_against_statsmodels(margin: float) -> None:
    differences = _differences(7)
    theirs = [ttost_paired(d, np.zeros(7), -margin, margin)[0] for d in differences.T]
    np.testing.assert_allclose(st.tost(st.summarise(differences), margin), theirs, rtol=1e-9)


def test_tost_below_alpha_means_the_90_percent_interval_lies_inside() -> None:
    differences = _differences(6, columns=200, seed=3) * 0.5
    summary = st.summarise(differences)
    low, high = st.t_interval(summary, 0.10)
    inside = (low > -1) & (high < 1)
    assert 20 < inside.sum() < 180
    np.testing.assert_array_equal(st.tost(summary, 1.0) < 0.05, inside)


@pytest.mark.parametrize("n", [2, 3, 5, 8])
def test_sign_flip_against_all_patterns_by_hand(n: int) -> None:
    differences = _differences(n, seed=n)
    p, exact = st.sign_flip_test(differences, seed=0)
    assert exact
    for column, d in enumerate(differences.T):
        means = [abs(np.mean(np.array(s) * d)) for s in itertools.product((-1, 1), repeat=n)]
        expected = np.mean(np.array(means) >= abs(d.mean()) - 1e-12)
        assert p[column] == pytest.approx(expected, abs=1e-12)


def test_sign_flip_against_scipy_permutation_test() -> None:
    differences = _differences(9, columns=3, seed=2)
    p, _ = st.sign_flip_test(differences, seed=0)
    for column, d in enumerate(differences.T):
        theirs = stats.permutation_test(
            (d,), np.mean, permutation_type="samples", n_resamples=np.inf
        )
        assert p[column] == pytest.approx(theirs.pvalue, abs=1e-12)


@pytest.mark.parametrize(
    ("n", "least"), [(3, 0.25), (6, 0.03125), (9, 0.00390625), (12, 0.00048828125)]
)
def test_smallest_sign_flip_p(n: int, least: float) -> None:
    p, _ = st.sign_flip_test(np.arange(1.0, n + 1)[:, None], seed=0)
    assert p[0] == least
    assert st.smallest_adjusted_p(n, 1, "holm") == least


def test_sign_flip_counts_ties_and_zero_means() -> None:
    # d = (1, 1, -1): sums of patterns are 3 (once), 1 (3x), -1 (3x), -3 (once); all |sum| >= 1
    p, _ = st.sign_flip_test(np.array([[1.0, 0.1], [1.0, 0.2], [-1.0, -0.3]]), seed=0)
    np.testing.assert_array_equal(p, [1.0, 1.0])


def test_sign_flip_beyond_the_exact_bound_is_near_the_truth_and_says_so() -> None:
    differences = _differences(25, columns=4, seed=8) * 0.6
    p, exact = st.sign_flip_test(differences, seed=0)
    again, _ = st.sign_flip_test(differences, seed=0)
    assert not exact
    np.testing.assert_array_equal(p, again)
    # with 25 pairs the randomisation distribution of the mean is normal with variance sum d^2 / n^2
    z = np.abs(differences.sum(0)) / np.sqrt((differences**2).sum(0))
    np.testing.assert_allclose(p, 2 * stats.norm.sf(z), atol=0.02)
    assert (p > 0).all()


def test_percentile_bootstrap_of_three_is_least_and_greatest() -> None:
    differences = _differences(3)
    means = st.bootstrap_means(differences, 9999, seed=0)
    low, high = st.percentile_interval(means, 0.05)
    np.testing.assert_allclose(low, differences.min(0), atol=1e-12)
    np.testing.assert_allclose(high, differences.max(0), atol=1e-12)


@pytest.mark.parametrize("method", ["percentile", "BCa"])
def test_bootstrap_against_scipy(method: str) -> None:
    differences = _differences(12, columns=3, seed=5)
    differences[:, 0] = np.exp(differences[:, 0])  # skewed, so that BCa differs from percentile
    means = st.bootstrap_means(differences, 40_000, seed=1)
    if method == "BCa":
        low, high = st.bca_interval(differences, means, 0.05)
    else:
        low, high = st.percentile_interval(means, 0.05)
    for column, d in enumerate(differences.T):
        theirs = stats.bootstrap(
            (d,), np.mean, n_resamples=40_000, method=method, rng=np.random.default_rng(0)
        ).confidence_interval
        scale = d.std()
        assert low[column] == pytest.approx(theirs.low, abs=0.02 * scale)
        assert high[column] == pytest.approx(theirs.high, abs=0.03 * scale)


@pytest.mark.parametrize(("ours", "theirs"), [("holm", "holm"), ("benjamini_hochberg", "fdr_bh")])
def test_corrections_against_statsmodels(ours: str, theirs: str) -> None:
    for seed in range(20):
        p = np.random.default_rng(seed).uniform(size=7) ** 3
        p[1] = p[4]  # a tie
        np.testing.assert_allclose(st.adjust(p, ours), multipletests(p, method=theirs)[1])
        # methods that are declared and absent count as tests with p = 1
        longer = multipletests(np.concatenate([p, [1.0, 1.0]]), method=theirs)[1][:7]
        np.testing.assert_allclose(st.adjust(p, ours, 9), longer)


@pytest.mark.parametrize(
    ("n", "z"), [(3, 3.2640), (5, 1.6820), (8, 1.1560), (12, 0.8887), (20, 0.6604)]
)
def test_detectable_effect(n: int, z: float) -> None:
    """EXPECTED.md, definition 11; and statsmodels' own solver."""
    found = st.detectable_effect(n, 0.05, 0.80)
    assert found == pytest.approx(z, abs=1e-4)
    assert found == pytest.approx(TTestPower().solve_power(None, n, 0.05, 0.80), abs=1e-6)


def test_power_against_statsmodels() -> None:
    for effect, n in [*itertools.product((0.1, 0.5, 1.0), (2, 3, 10, 40)), (3.0, 2), (3.0, 5)]:
        ours = st.t_power(np.array([effect]), np.array([float(n)]), 0.05)[0]
        assert ours == pytest.approx(TTestPower().power(effect, n, 0.05), abs=1e-9)


@pytest.mark.parametrize("effect", [0.02, 0.1426, 0.2852, 0.5, 1.1, 2.0, 5.0, 40.0, 1e6])
def test_seeds_needed_is_the_least_with_enough_power(effect: float) -> None:
    [n] = st.seeds_needed(np.array([effect]), 0.05, 0.8)
    power = TTestPower()
    assert n >= 2
    if effect < 10:  # beyond, statsmodels gives nan
        assert power.power(effect, int(n), 0.05) >= 0.8
    if n > 2:
        assert power.power(effect, int(n) - 1, 0.05) < 0.8


def test_power_is_one_where_the_noncentral_t_runs_out_of_digits() -> None:
    """Statsmodels gives nan there: the lower tail underflows, so that it counts as 0."""
    assert np.isnan(TTestPower().power(3.0, 100, 0.05))
    found = st.t_power(np.array([3.0, 40.0]), np.array([100.0, 2.0]), 0.05)
    np.testing.assert_allclose(found, [1.0, 1.0], atol=1e-4)


def test_seeds_needed_for_nothing_has_no_end() -> None:
    found = st.seeds_needed(np.array([0.0, np.nan, np.inf]), 0.05, 0.8)
    assert found.tolist() == [st.MOST_SEEDS, st.MOST_SEEDS, 2]


def test_no_spread() -> None:
    differences = np.array([[0.0, 2.0], [0.0, 2.0], [0.0, 2.0]])
    summary = st.summarise(differences)
    np.testing.assert_array_equal(st.t_test(summary), [1.0, 0.0])
    np.testing.assert_array_equal(st.tost(summary, 1.0), [0.0, 1.0])
    assert np.isnan(st.effect_size(summary)).all()
    means = st.bootstrap_means(differences, 999, 0)
    assert np.isnan(st.bca_interval(differences, means, 0.05)).all()


def test_rank_correlations_against_scipy() -> None:
    rng = np.random.default_rng(4)
    for _ in range(20):
        a, b = rng.integers(0, 6, size=(2, 9)).astype(float)  # with ties
        assert st.spearman(a, b) == pytest.approx(stats.spearmanr(a, b).statistic)
        assert st.kendall(a, b) == pytest.approx(stats.kendalltau(a, b).statistic)
        np.testing.assert_allclose(st.average_ranks(a), stats.rankdata(-a))
    assert st.spearman(np.ones(3), np.arange(3.0)) is None
    assert st.kendall(np.ones(3), np.arange(3.0)) is None


def test_coverage_t_keeps_95_percent_and_the_bootstrap_of_three_does_not() -> None:
    """4,000 normal samples of 3: t covers 95 %; [min, max] covers 1 - 2 / 2^3 = 75 %.

    The interval [min, max] misses 0 exactly where all three signs agree, which for a symmetric
    distribution has probability 1/4. Bounds are four binomial standard errors wide.
    """
    trials = 4000
    differences = np.random.default_rng(11).normal(size=(3, trials))
    summary = st.summarise(differences)
    t_low, t_high = st.t_interval(summary, 0.05)
    b_low, b_high = st.percentile_interval(st.bootstrap_means(differences, 999, 0), 0.05)
    t_cover = np.mean((t_low <= 0) & (t_high >= 0))
    b_cover = np.mean((b_low <= 0) & (b_high >= 0))
    assert t_cover == pytest.approx(0.95, abs=4 * np.sqrt(0.95 * 0.05 / trials))
    assert b_cover == pytest.approx(0.75, abs=4 * np.sqrt(0.75 * 0.25 / trials))


def test_eight_null_methods_on_one_baseline_of_three_seeds_win_often_by_bootstrap() -> None:
    """EVALUATION.md: P(at least one bootstrap "win") = 0.81; Holm on t keeps 5 %."""
    trials = 2000
    rng = np.random.default_rng(12)
    methods, baseline = rng.normal(size=(3, trials, 8)), rng.normal(size=(3, trials, 1))
    differences = methods - baseline
    same_sign = (differences.min(axis=0) > 0) | (differences.max(axis=0) < 0)
    assert same_sign.max(axis=1).mean() == pytest.approx(0.81, abs=0.035)
    p = st.t_test(st.summarise(differences.reshape(3, -1))).reshape(trials, 8)
    wins = [st.holm(row).min() < 0.05 for row in p]
    assert np.mean(wins) < 0.05 + 4 * np.sqrt(0.05 * 0.95 / trials)
