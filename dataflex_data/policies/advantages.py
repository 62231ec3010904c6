"""Advantages made anew among the responses of a group that are kept.

Dropping members shifts the group's baseline: with the old advantages of a part of the group, their
mean is no longer zero and the update pushes all of it up or down.
"""

from __future__ import annotations

import numpy as np

from dataflex_data.core.rollout import BoolArray, FloatArray, RolloutBatch

EPSILON = 1e-4


def recomputed(batch: RolloutBatch, kept_B: BoolArray, *, by_std: bool = True) -> FloatArray:
    """Return ``(r - mean) / (std + 1e-4)`` among the kept responses of each group.

    The standard deviation has ``ddof 1``. One response left alone has the advantage 0: there is
    nothing to compare it with. Equal rewards have exactly 0, and differences of the size of
    rounding stay far below 1. Responses that are not kept have NaN.

    Args:
        batch: The step's responses.
        kept_B: Those kept; their rewards are finite.
        by_std: Divide by the standard deviation; False for Dr. GRPO.

    Source: verl 0.9.1, ``compute_grpo_outcome_advantage`` with epsilon as in GFPO's and PODS's
    code; raw rewards.
    """
    result = np.full(len(batch), np.nan)
    part = batch.take(kept_B)
    groups = part.groups
    if not len(groups):
        return result
    of_B, sizes_P = groups.of_B, groups.sizes_P
    shifted = part.rewards_B - part.rewards_B[groups.heads_P][of_B]
    centred = shifted - (groups.sum(shifted) / sizes_P)[of_B]
    if by_std:
        variance = groups.sum(centred**2) / np.maximum(sizes_P - 1, 1)
        centred = centred / (np.sqrt(variance) + EPSILON)[of_B]
    result[kept_B] = centred
    return result
