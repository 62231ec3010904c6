"""More of the domains that are furthest below a target reward."""

from __future__ import annotations

from typing import ClassVar

import numpy as np
import numpy.typing as npt

from dataflex_data.samplers.domain_tracker import DomainStats
from dataflex_data.samplers.mixer import (
    EQUAL_SHARE,
    MIXERS,
    Mixer,
    MixerParams,
    PositiveFloat,
    WindowParams,
    softmax_among_seen,
)
from dataflex_data.samplers.signals import Signal


class RewardGapParams(WindowParams):
    """Parameters of `RewardGap`.

    Attributes:
        target: Mean reward at which a domain has no gap.
        temperature: Of the softmax; lower is sharper.
    """

    target: float = 1.0
    temperature: PositiveFloat = 1.0


@MIXERS.register("reward_gap")
class RewardGap(Mixer):
    """``softmax(max(0, target - r) / temperature)``, r the windowed mean over groups.

    Source: the mixer of that name in the DataFlex-RL plugin (f4d305b), on groups and steps instead
    of rollouts.
    """

    name: ClassVar[str] = "reward_gap"
    Params: ClassVar[type[MixerParams]] = RewardGapParams
    signal: ClassVar[Signal] = "mean_reward"
    cold_start: ClassVar[str] = EQUAL_SHARE
    params: RewardGapParams

    def raw_proportions(self, stats: DomainStats) -> npt.ArrayLike:
        """Return the softmax of the gaps."""
        gaps = np.maximum(0.0, self.params.target - stats.mean_D)
        return softmax_among_seen(gaps, ~np.isnan(stats.mean_D), self.params.temperature)
