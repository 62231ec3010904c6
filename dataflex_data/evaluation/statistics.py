"""The arithmetic of paired comparisons over few seeds; nothing here knows what a method is.

Differences come as ``differences_nC``: n paired seeds in rows, C comparisons in columns, finite.
Functions return one value per column. The sample standard deviation (n - 1) is meant everywhere.

Source: definitions 4 to 11 of the project's evaluation notes; Holm 1979; Benjamini and Hochberg
1995; Schuirmann 1987 (TOST); Efron 1987 (BCa).
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from dataflex_data.core.seeding import stream

F64: TypeAlias = NDArray[np.float64]

EXACT_SIGN_FLIP_PAIRS = 20
SIGN_FLIP_DRAWS = 99_999
MOST_SEEDS = 1_000_000
_TIE = 1e-12
# Differences are of numbers up to 100: a spread below this is rounding, not variation.
_NO_SPREAD = 1e-10


@dataclass(frozen=True, slots=True)
class Summary:
    """Moments of paired differences.

    Attributes:
        n: Number of pairs.
        mean: Mean difference.
        sd: Sample standard deviation; 0 where all differences are equal up to rounding.
    """

    n: int
    mean: F64
    sd: F64

    @property
    def se(self) -> F64:
        """Standard error of the mean."""
        return np.asarray(self.sd / np.sqrt(self.n))


def summarise(differences_nC: F64) -> Summary:
    """Return mean and standard deviation per column; needs at least two rows."""
    sd = differences_nC.std(axis=0, ddof=1)
    return Summary(
        len(differences_nC), differences_nC.mean(axis=0), np.where(sd < _NO_SPREAD, 0.0, sd)
    )


def t_interval(summary: Summary, alpha: float) -> tuple[F64, F64]:
    """Return the two-sided 1 - alpha interval of the mean."""
    from scipy.special import stdtrit

    half = float(stdtrit(summary.n - 1, 1 - alpha / 2)) * summary.se
    return summary.mean - half, summary.mean + half


def t_test(summary: Summary) -> F64:
    """Return two-sided p of the paired t-test; without spread 1 where the mean is 0, else 0."""
    from scipy.special import stdtr

    return np.asarray(2 * stdtr(summary.n - 1, -np.abs(_ratio(summary.mean, summary.se))))


def tost(summary: Summary, margin: float) -> F64:
    """Return p of equivalence within ±margin: the larger of two one-sided paired t-tests."""
    from scipy.special import stdtr

    above = stdtr(summary.n - 1, -_ratio(summary.mean + margin, summary.se))
    below = stdtr(summary.n - 1, _ratio(summary.mean - margin, summary.se))
    return np.asarray(np.maximum(above, below))


def effect_size(summary: Summary) -> F64:
    """Return d_z, the mean over the standard deviation; nan where there is no spread."""
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.where(summary.sd > 0, summary.mean / summary.sd, np.nan)


def _ratio(numerator_C: F64, se_C: F64) -> F64:
    with np.errstate(divide="ignore", invalid="ignore"):
        limit = np.where(np.abs(numerator_C) < _NO_SPREAD, 0.0, np.sign(numerator_C) * np.inf)
        return np.where(se_C > 0, numerator_C / se_C, limit)


def sign_flip_test(differences_nC: F64, seed: int) -> tuple[F64, bool]:
    """Return two-sided p of the sign-flip test, and whether all 2^n patterns were counted.

    Exact up to `EXACT_SIGN_FLIP_PAIRS` pairs, by splitting the pairs in halves: the sums of one
    half are sorted, and each sum of the other half finds its place among them, so that 2^20
    patterns cost 2 * 2^10 sums. Beyond, `SIGN_FLIP_DRAWS` random patterns; p then counts the
    observed pattern too, so that it is never 0. Ties within 1e-12 of the mean count as extreme.
    """
    n, columns = differences_nC.shape
    observed = np.abs(differences_nC.sum(axis=0)) - _TIE * n
    if n > EXACT_SIGN_FLIP_PAIRS:
        signs = stream(seed, "sign_flip", n).integers(0, 2, size=(SIGN_FLIP_DRAWS, n)) * 2.0 - 1.0
        p = np.empty(columns)
        for at in range(0, columns, 64):
            part = slice(at, at + 64)
            extreme = np.abs(signs @ differences_nC[:, part]) >= observed[part]
            p[part] = (1 + extreme.sum(axis=0)) / (1 + SIGN_FLIP_DRAWS)
        return p, False
    first, second = _signs(n // 2), _signs(n - n // 2)
    counts = np.empty(columns)
    for column in range(columns):
        left = np.sort(first @ differences_nC[: n // 2, column])
        right = second @ differences_nC[n // 2 :, column]
        high = len(left) - np.searchsorted(left, observed[column] - right, side="left")
        low = np.searchsorted(left, -observed[column] - right, side="right")
        counts[column] = (high + low).sum()
    return np.minimum(counts / 2.0**n, 1.0), True


@lru_cache(maxsize=32)
def _signs(n: int) -> F64:
    patterns = np.arange(2**n)[:, None] >> np.arange(n)[None, :]
    return np.asarray((patterns & 1) * 2.0 - 1.0)


def bootstrap_means(differences_nC: F64, resamples: int, seed: int) -> F64:
    """Return ``means_RC`` of ``resamples`` draws of the pairs; all columns share the draws."""
    return np.asarray(_resample_counts(len(differences_nC), resamples, seed) @ differences_nC)


@lru_cache(maxsize=4)
def _resample_counts(n: int, resamples: int, seed: int) -> F64:
    drawn = stream(seed, "bootstrap", n).integers(0, n, size=(resamples, n))
    flat = np.bincount((drawn + n * np.arange(resamples)[:, None]).ravel(), minlength=n * resamples)
    return flat.reshape(resamples, n) / n


def percentile_interval(means_RC: F64, alpha: float) -> tuple[F64, F64]:
    """Return the percentile interval; at n = 3 and alpha 0.05 exactly the least and greatest."""
    low, high = np.quantile(means_RC, [alpha / 2, 1 - alpha / 2], axis=0)
    return low, high


def bca_interval(differences_nC: F64, means_RC: F64, alpha: float) -> tuple[F64, F64]:
    """Return the bias-corrected and accelerated interval; nan where it is undefined.

    It is undefined where all differences are equal, and where the mean lies outside all resamples.
    """
    from scipy.special import ndtr, ndtri

    n, columns = differences_nC.shape
    mean = differences_nC.mean(axis=0)
    below = (means_RC < mean - _TIE).mean(axis=0)
    ties = (np.abs(means_RC - mean) <= _TIE).mean(axis=0)
    jackknife = (differences_nC.sum(axis=0) - differences_nC) / (n - 1)
    spread = jackknife.mean(axis=0) - jackknife
    low, high = np.full(columns, np.nan), np.full(columns, np.nan)
    with np.errstate(divide="ignore", invalid="ignore"):
        bias = ndtri(below + ties / 2)
        acceleration = (spread**3).sum(axis=0) / (6 * (spread**2).sum(axis=0) ** 1.5)
        for target, tail in ((low, alpha / 2), (high, 1 - alpha / 2)):
            shifted = bias + ndtri(tail)
            level = ndtr(bias + shifted / (1 - acceleration * shifted))
            for column in np.flatnonzero(np.isfinite(level)):
                if differences_nC[:, column].std() > _NO_SPREAD:
                    target[column] = np.quantile(means_RC[:, column], level[column])
    return low, high


def holm(p_C: F64, count: int | None = None) -> F64:
    """Return Holm-adjusted p; ``count`` counts tests that are absent as well, with p = 1."""
    total, order = count or len(p_C), np.argsort(p_C, kind="stable")
    scaled = np.maximum.accumulate(p_C[order] * (total - np.arange(len(p_C))))
    adjusted = np.empty_like(p_C)
    adjusted[order] = np.minimum(scaled, 1.0)
    return adjusted


def benjamini_hochberg(p_C: F64, count: int | None = None) -> F64:
    """Return Benjamini-Hochberg adjusted p; ``count`` as in `holm`."""
    total, order = count or len(p_C), np.argsort(p_C, kind="stable")
    scaled = p_C[order] * total / (1 + np.arange(len(p_C)))
    adjusted = np.empty_like(p_C)
    adjusted[order] = np.minimum(np.minimum.accumulate(scaled[::-1])[::-1], 1.0)
    return adjusted


def adjust(p_C: F64, correction: str, count: int | None = None) -> F64:
    """Return p adjusted by ``holm``, ``benjamini_hochberg`` or ``none``."""
    if correction == "none":
        return p_C
    return (holm if correction == "holm" else benjamini_hochberg)(p_C, count)


def smallest_adjusted_p(pairs: int, methods: int, correction: str) -> float:
    """Return the smallest adjusted p the exact sign-flip test can give (2 patterns of 2^n)."""
    return float(min(1.0, 2.0 ** (1 - pairs) * (methods if correction == "holm" else 1)))


def t_power(effect_C: F64, n_C: F64, alpha: float) -> F64:
    """Return the power of the two-sided paired t-test at standardised effect ``effect_C``."""
    from scipy.special import nctdtr, stdtrit

    df = n_C - 1
    critical = stdtrit(df, 1 - alpha / 2)
    shift = np.abs(effect_C) * np.sqrt(n_C)
    # The noncentral t is nan far in its tail; the probability there is 0 to all digits.
    upper = 1 - np.nan_to_num(nctdtr(df, shift, critical))
    return np.asarray(upper + np.nan_to_num(nctdtr(df, shift, -critical)))


@lru_cache(maxsize=1024)
def detectable_effect(n: int, alpha: float, power: float) -> float:
    """Return z(n), the d_z at which n pairs reach ``power``; the MDE is z(n) times the sd."""
    from scipy.optimize import brentq

    def gap(effect: float) -> float:
        return float(t_power(np.array([effect]), np.array([float(n)]), alpha)[0]) - power

    high = 1.0
    while gap(high) < 0:
        high *= 2
    return float(brentq(gap, 0.0, high, xtol=1e-12))


def seeds_needed(effect_C: F64, alpha: float, power: float) -> NDArray[np.int64]:
    """Return the least n >= 2 whose power is reached at each d_z.

    `MOST_SEEDS` stands for "that many or more", and for an effect of 0 or nan.
    """
    effect = np.abs(np.nan_to_num(np.asarray(effect_C, dtype=float), posinf=1e6))
    low = np.full(effect.shape, 1, dtype=np.int64)  # power not reached at low
    high = np.full(effect.shape, 2, dtype=np.int64)
    short = t_power(effect, high.astype(float), alpha) < power
    while short.any() and high.max() < MOST_SEEDS:
        low[short], high[short] = high[short], np.minimum(high[short] * 2, MOST_SEEDS)
        short = (t_power(effect, high.astype(float), alpha) < power) & (high < MOST_SEEDS)
    while (high - low > 1).any():
        middle = np.maximum((low + high) // 2, 2)
        enough = t_power(effect, middle.astype(float), alpha) >= power
        open_ = high - low > 1
        high = np.where(open_ & enough, middle, high)
        low = np.where(open_ & ~enough, middle, low)
    return high


def correlation(first: F64, second: F64) -> float | None:
    """Return Pearson's r, or ``None`` where one side does not vary."""
    a, b = first - first.mean(), second - second.mean()
    scale = float(np.sqrt((a @ a) * (b @ b)))
    return float(a @ b) / scale if scale > _NO_SPREAD**2 else None


def average_ranks(values: F64) -> F64:
    """Return ranks from 1 (highest value); values equal to 1e-9 share their mean rank."""
    _, inverse, counts = np.unique(-np.round(values, 9), return_inverse=True, return_counts=True)
    last = np.cumsum(counts)
    return np.asarray((last - (counts - 1) / 2)[inverse])


def spearman(first: F64, second: F64) -> float | None:
    """Return Spearman's rank correlation (of average ranks), or ``None`` where undefined."""
    if len(first) < 2:
        return None
    return correlation(average_ranks(first), average_ranks(second))


def kendall(first: F64, second: F64) -> float | None:
    """Return Kendall's tau-b, or ``None`` where undefined."""
    if len(first) < 2:
        return None
    pairs = np.triu_indices(len(first), 1)
    a = np.sign(first[:, None] - first[None, :])[pairs]
    b = np.sign(second[:, None] - second[None, :])[pairs]
    scale = float(np.sqrt((a @ a) * (b @ b)))
    return float(a @ b) / scale if scale else None
