"""Weights on the scale of the loss: mean 1 in its unit, capped, and described.

Weights that are normalised per row under a loss that is averaged per token change the size of the
step with the length of what they favour. Here the unit is the loss's own.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from math import log, sqrt

import numpy as np

from dataflex_data.core.errors import InputDataError
from dataflex_data.core.rollout import FloatArray, IntArray
from dataflex_data.policies.loss import LossAggMode, check_mode

_ROUNDS = 200
# Values worked on at a time: a block and its temporaries stay in the cache, where whole arrays of a
# step's tokens would each be fetched from memory; and BLAS keeps to one thread.
_BLOCK = 8192


@dataclass(frozen=True, slots=True)
class WeightStats:
    """How uneven weights are.

    Attributes:
        mean: In the unit of the loss.
        std: Over responses or tokens, whichever carry the weights.
        entropy: Of the weights as shares, in nats; its largest value is the logarithm of their
            number.
        ess: Effective number ``(sum w)^2 / sum w^2``.
        ess_fraction: That over their number.
        largest: The largest.
    """

    mean: float
    std: float
    entropy: float
    ess: float
    ess_fraction: float
    largest: float


def unit_masses(per_token: bool, lengths_B: IntArray, mode: LossAggMode) -> FloatArray:
    """Return how much of the loss's unit each weight carries.

    - Token weights: each token carries 1, in ``seq-mean-token-mean`` its part of the response.
    - Response weights: each carries its tokens in the token modes, 1 in the sequence modes.
      A response without tokens carries 0.

    Raises:
        InputDataError: verl has no such mode.
    """
    check_mode(mode)
    if per_token:
        if mode == "seq-mean-token-mean":
            filled = lengths_B[lengths_B > 0]
            return np.repeat(1.0 / filled, filled)
        return np.broadcast_to(1.0, int(lengths_B.sum()))
    if mode in ("token-mean", "token-sum"):
        return lengths_B.astype(np.float64)
    return (lengths_B > 0).astype(np.float64)


def normalised(weights: FloatArray, masses: FloatArray, cap: float | None = None) -> FloatArray:
    """Return the weights scaled so that their mean over the masses is 1; all 1 where all are 0.

    Args:
        weights: Finite and at least 0.
        masses: From `unit_masses`.
        cap: Largest weight allowed; what it takes is given to the others in proportion, so that
            the mean stays 1 unless too few are above 0 for that.

    Raises:
        InputDataError: A weight is negative or not finite, or the cap is below 1.
    """
    check_weights(weights)
    if cap is not None and not cap >= 1:
        raise InputDataError(f"cap must be at least 1, the mean of the weights; got {cap!r}")
    total = float(masses.sum())
    if _peak(weights, masses) <= 0:
        return np.ones_like(weights)
    scaled = _scaled(weights, masses, total)
    if cap is None or scaled.max(initial=0.0) <= cap:
        return scaled
    full = scaled > cap
    for _ in range(_ROUNDS):
        free = ~full
        left = total - cap * float(masses[full].sum())
        if float(weights[free & (masses > 0)].max(initial=0.0)) <= 0 or left <= 0:
            break
        scaled = np.where(full, cap, _scaled(np.where(full, 0.0, weights), masses, left))
        over = free & (scaled > cap)
        if not over.any():
            return np.asarray(scaled)
        full |= over
    return np.minimum(np.where(full, cap, scaled), cap)


def _scaled(weights: FloatArray, masses: FloatArray, total: float) -> FloatArray:
    """Return the weights times what makes their mass ``total``; some weight with mass is positive.

    Divided by their largest first: the sum of weights near the ends of the float range would
    vanish or overflow. A weight without mass is never above the largest one with mass.
    """
    peak = _peak(weights, masses)
    relative = np.minimum(weights, peak)
    relative /= peak
    carried = relative if _uniform(masses) else relative * masses
    relative *= total / float(carried.sum(dtype=np.float64))
    return relative


def _peak(weights: FloatArray, masses: FloatArray) -> float:
    """Return the largest weight that carries anything; 0 where none does."""
    if not _uniform(masses):
        weights = weights[masses > 0]
    return float(weights.max(initial=0.0))


def check_weights(weights: FloatArray, whose: str = "") -> None:
    """Check that weights can be weights; ``whose`` begins the message where they cannot.

    Raises:
        InputDataError: One is negative or not finite.
    """
    if not weights.size or (weights.min() >= 0 and weights.max() < np.inf):
        return
    bad = np.flatnonzero(~np.isfinite(weights) | (weights < 0))
    raise InputDataError(
        f"{whose}weights must be finite and not negative: {bad.size} are not, "
        f"the first is number {bad[0]} with {float(weights[bad[0]])}"
    )


def weight_stats(weights: FloatArray, masses: FloatArray) -> WeightStats:
    """Return the statistics of weights; those that carry nothing are left out."""
    uniform = _uniform(masses)
    if not uniform:
        carried = masses > 0
        if not carried.all():
            weights, masses = weights[carried], masses[carried]
    if not weights.size:
        return WeightStats(0.0, 0.0, 0.0, 0.0, 0.0, 0.0)
    tiny = np.finfo(weights.dtype).tiny
    n, total, squares, logs, weighted, mass = 0, 0.0, 0.0, 0.0, 0.0, 0.0
    mean, deviations = 0.0, 0.0
    for block in _blocks(weights.size):
        some = weights[block].astype(np.float64)
        # Where a weight is 0, so is its product with whatever stands for the logarithm.
        logs += float(some @ np.log(np.maximum(weights[block], tiny)).astype(np.float64))
        squares += float(some @ some)
        sum_here = float(some.sum())
        total += sum_here
        if not uniform:
            weighted += float(some @ masses[block])
            mass += float(masses[block].sum())
        # Two sets' means and squared deviations joined, without the cancellation of
        # squares - n * mean**2, so that equal weights have the deviation 0.
        away = sum_here / some.size - mean
        some -= sum_here / some.size
        deviations += float(some @ some) + away**2 * n * some.size / (n + some.size)
        n += some.size
        mean += away * some.size / n
    ess = total**2 / squares if squares > 0 else 0.0
    return WeightStats(
        mean=total / n if uniform else weighted / mass,
        std=sqrt(deviations / n),
        entropy=max(log(total) - logs / total, 0.0) if total > 0 else 0.0,
        ess=ess,
        ess_fraction=ess / n,
        largest=float(weights.max()),
    )


def _uniform(masses: FloatArray) -> bool:
    """Return whether each weight carries 1, by way of one number that stands for all."""
    return masses.strides == (0,)


def _blocks(size: int) -> Iterator[slice]:
    return (slice(start, start + _BLOCK) for start in range(0, size, _BLOCK))
