"""Proportions: softmax, exact floors, and proportions into whole quotas with carry.

The one place where a vector is made to sum to one, so that no mixer can floor and then renormalise
itself back below the floor. Quotas are planned in whole numbers: a proportion becomes a share of
`UNIT` and a domain's deficit is counted in `UNIT`-ths of a prompt. Sums are therefore exact after
any number of steps, ties are real ties, and a saved deficit is the deficit.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, TypeAlias

import numpy as np
import numpy.typing as npt

from dataflex_data.core.errors import InputDataError

FloatArray: TypeAlias = npt.NDArray[np.float64]
IntArray: TypeAlias = npt.NDArray[np.int64]
FloorRule: TypeAlias = Literal["mix", "waterfill"]

# About 2**45. Proportions of up to seven decimals, and thirds, sevenths, ninths, elevenths and so
# on, are whole shares of it: their quotas come round in a cycle instead of drifting by rounding.
UNIT = 2**14 * 3**3 * 5**7 * 7 * 11 * 13
MAX_BATCH = 1 << 17  # what is owed stays below 2**63
_TIE_BITS = 14  # remainders closer than about 2**-31 of a prompt are a tie
_NARROW = 12  # up to this many domains plain Python beats numpy's call overhead
_LOOKAHEAD = 64  # batches
_FLOOR_SLACK = 1e-12


def softmax(scores_D: npt.ArrayLike, temperature: float = 1.0) -> FloatArray:
    """Return ``exp(score / temperature)`` over its sum, without overflow.

    Raises:
        InputDataError: A score is not finite, or the temperature is not above zero.
    """
    scores = np.asarray(scores_D, dtype=np.float64)
    if not np.isfinite(temperature) or temperature <= 0:
        raise InputDataError(f"temperature must be a finite number above 0, got {temperature!r}")
    if not np.all(np.isfinite(scores)):
        raise InputDataError(f"softmax needs finite scores, got {scores.tolist()}")
    raised = np.exp((scores - scores.max()) / temperature)
    return np.asarray(raised / raised.sum())


def normalised(weights_D: npt.ArrayLike, domains: Sequence[str]) -> FloatArray:
    """Return the weights over their sum, after checking that they can be proportions.

    Raises:
        InputDataError: Not one number per domain, or one is negative, NaN or infinite, or all are
            zero. The message names the domains.
    """
    weights = np.asarray(weights_D, dtype=np.float64)
    if weights.shape != (len(domains),):
        raise InputDataError(
            f"proportions need one number per domain: got shape {weights.shape} "
            f"for {len(domains)} domains ({', '.join(map(str, domains[:8]))})"
        )
    bad = [
        f"{name} = {value!r}"
        for name, value in zip(domains, weights.tolist(), strict=True)
        if not np.isfinite(value) or value < 0
    ]
    if bad:
        raise InputDataError(f"proportions must be finite and not negative: {', '.join(bad)}")
    largest = weights.max(initial=0.0)
    if largest == 0:
        raise InputDataError(
            f"proportions are zero for all {len(domains)} domains; at least one must be above 0"
        )
    scaled = weights / largest  # keeps the sum finite for weights near the largest float
    return np.asarray(scaled / scaled.sum())


def check_floor(floor: float, n_domains: int) -> None:
    """Check that every one of ``n_domains`` can have the proportion ``floor``.

    Raises:
        InputDataError: The floor is negative, not finite, or the floors sum to more than one.
    """
    if not np.isfinite(floor) or floor < 0:
        raise InputDataError(f"floor must be a finite number of at least 0, got {floor!r}")
    if n_domains * floor > 1 + _FLOOR_SLACK:
        raise InputDataError(
            f"floor {floor:g} cannot hold for {n_domains} domains: {n_domains} x {floor:g} = "
            f"{n_domains * floor:g} is more than 1; the largest that can is {1 / n_domains:g}"
        )


def floored(proportions_D: npt.ArrayLike, floor: float, rule: FloorRule = "mix") -> FloatArray:
    """Return proportions none of which is below ``floor``; they still sum to one.

    Args:
        proportions_D: Sum to one.
        floor: Least proportion of any domain.
        rule: ``"mix"`` gives ``floor + (1 - D floor) p`` and keeps every difference in proportion;
            ``"waterfill"`` lifts only those below the floor and rescales the others until all hold.

    Raises:
        InputDataError: See `check_floor`.
    """
    p = np.asarray(proportions_D, dtype=np.float64)
    check_floor(floor, p.size)
    if floor == 0:
        return p
    if rule == "mix":
        return np.asarray(floor + max(0.0, 1 - p.size * floor) * p)
    lifted = p < floor
    while True:
        free = p[~lifted].sum()
        if free <= 0 or lifted.all():
            return np.full(p.size, 1 / p.size)
        result = np.where(lifted, floor, p * ((1 - floor * lifted.sum()) / free))
        below = ~lifted & (result < floor - _FLOOR_SLACK)
        if not below.any():
            return np.maximum(result, floor)
        lifted |= below


def fixed_shares(proportions_D: npt.ArrayLike) -> IntArray:
    """Return proportions as whole shares that sum to `UNIT` exactly.

    The rounding difference, at most half a share per domain, goes to the largest proportion.
    """
    p = np.asarray(proportions_D, dtype=np.float64)
    shares = np.rint(p * UNIT).astype(np.int64)
    shares[int(np.argmax(p))] += UNIT - int(shares.sum())
    return shares


@dataclass(frozen=True, slots=True)
class Quota:
    """Whole prompts per domain in one batch, and what is owed afterwards.

    Attributes:
        counts: Per domain; sum to the batch size.
        deficit: Per domain, in `UNIT`-ths of a prompt; positive where owed. Sums to zero.
    """

    counts: list[int]
    deficit: list[int]


def plan_quota(
    deficit_D: Sequence[int],
    shares_D: Sequence[int],
    batch_size: int,
    tie_rank_D: Sequence[int] | None = None,
) -> Quota:
    """Return how many of the next ``batch_size`` prompts each domain gets.

    Each domain is owed its deficit plus its share of the batch. It gets the whole part of that;
    the prompts left over go to the largest remainders. Where the whole parts already exceed the
    batch, as they can when proportions move, prompts are taken back from the smallest remainders.

    With constant proportions what a domain got differs from what it was due by less than one
    prompt; with changing ones by at most ``1 + ln D``. Largest remainders alone do not give the
    first (ten domains and a batch of one reach 1.05), so their choice is looked ahead from: where
    more domains would come due than later batches can serve, the earliest due are served instead.

    Source: for changing proportions the bound of emptying the fullest cup, sum of 1/k up to D; for
    constant ones Tijdeman, "The chairman assignment problem" (1980), earliest due first.

    Args:
        deficit_D: As returned the last time; zeros at first.
        shares_D: From `fixed_shares`.
        batch_size: Prompts to give out, at most `MAX_BATCH`.
        tie_rank_D: Who comes first among equal remainders, lowest first; their order by default.
    """
    ranks = range(len(shares_D)) if tie_rank_D is None else tie_rank_D
    plan = _plan_narrow if len(shares_D) <= _NARROW else _plan_wide
    quota = plan(deficit_D, shares_D, batch_size, ranks)
    ahead = [d for d, s in zip(quota.deficit, shares_D, strict=True) if d + batch_size * s < 0]
    if not ahead:
        return quota  # nobody is ahead by more than one batch mends: nobody can come due too late
    if max(deficit_D) >= UNIT or _stays_within_one(quota.deficit, shares_D, batch_size):
        return quota
    return _plan_earliest_due(deficit_D, shares_D, batch_size, ranks) or quota


def _stays_within_one(deficit_D: Sequence[int], shares_D: Sequence[int], batch_size: int) -> bool:
    """Return whether coming batches can serve all who come due, if proportions stay as they are."""
    # Shares are rounded up to 31 bits, so that no product leaves 63.
    deficit = np.asarray(deficit_D, dtype=np.int64)[None, :] >> _TIE_BITS
    shares = -(-np.asarray(shares_D, dtype=np.int64) >> _TIE_BITS)[None, :]
    prompts = batch_size * np.arange(1, _LOOKAHEAD + 1)[:, None]
    due = np.maximum(deficit + prompts * shares, 0) // (UNIT >> _TIE_BITS)
    return bool(np.all(due.sum(axis=1) <= prompts[:, 0]))


def _plan_earliest_due(
    deficit_D: Sequence[int], shares_D: Sequence[int], batch_size: int, tie_rank_D: Sequence[int]
) -> Quota | None:
    """Return the quota that serves those first who would be owed a whole prompt first."""
    owed = [d + batch_size * s for d, s in zip(deficit_D, shares_D, strict=True)]
    counts = [max(o, 0) // UNIT for o in owed]
    rest = [o - c * UNIT for o, c in zip(owed, counts, strict=True)]
    left = batch_size - sum(counts)
    waiting = sorted(
        (-((r - UNIT) // (batch_size * share)), -r, rank, d)
        for d, (r, share, rank) in enumerate(zip(rest, shares_D, tie_rank_D, strict=True))
        if r > 0 and share > 0
    )
    if not 0 <= left <= len(waiting):
        return None
    for _, _, _, d in waiting[:left]:
        counts[d] += 1
        rest[d] -= UNIT
    return Quota(counts, rest)


def _plan_narrow(
    deficit_D: Sequence[int], shares_D: Sequence[int], batch_size: int, tie_rank_D: Sequence[int]
) -> Quota:
    # Plain lists, since this is the cost of every batch whose proportions are no round numbers.
    owed = [d + batch_size * s for d, s in zip(deficit_D, shares_D, strict=True)]
    counts = [o // UNIT if o > 0 else 0 for o in owed]
    rest = [o - c * UNIT for o, c in zip(owed, counts, strict=True)]
    left = batch_size - sum(counts)
    if left > 0:
        keys = [(-(r >> _TIE_BITS), rank) for r, rank in zip(rest, tie_rank_D, strict=True)]
        for d in sorted(range(len(keys)), key=keys.__getitem__)[:left]:
            counts[d] += 1
            rest[d] -= UNIT
    for _ in range(-left):
        _, _, d = min(
            (r >> _TIE_BITS, rank, d)
            for d, (r, rank) in enumerate(zip(rest, tie_rank_D, strict=True))
            if counts[d] > 0
        )
        counts[d] -= 1
        rest[d] += UNIT
    return Quota(counts, rest)


def _plan_wide(
    deficit_D: Sequence[int], shares_D: Sequence[int], batch_size: int, tie_rank_D: Sequence[int]
) -> Quota:
    owed = np.asarray(deficit_D, dtype=np.int64) + batch_size * np.asarray(shares_D, dtype=np.int64)
    ranks = np.asarray(tie_rank_D)
    counts = np.maximum(owed, 0) // UNIT
    rest = owed - counts * UNIT
    left = batch_size - int(counts.sum())
    if left > 0:
        chosen = np.lexsort((ranks, -(rest >> _TIE_BITS)))[:left]
        counts[chosen] += 1
        rest[chosen] -= UNIT
    for _ in range(-left):
        able = np.flatnonzero(counts > 0)
        d = able[np.lexsort((ranks[able], rest[able] >> _TIE_BITS))[0]]
        counts[d] -= 1
        rest[d] += UNIT
    return Quota(counts.tolist(), rest.tolist())
