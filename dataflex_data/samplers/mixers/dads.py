"""Domain-aware dynamic sampling: more of the domains whose smoothed reward is low."""

from __future__ import annotations

from typing import ClassVar

import numpy as np

from dataflex_data.core.simplex import FloatArray
from dataflex_data.samplers.mixer import MIXERS, MixerParams, PositiveFloat
from dataflex_data.samplers.running_mean import RunningMeanMixer, RunningMeanParams
from dataflex_data.samplers.signals import Signal


class DadsParams(RunningMeanParams):
    """Parameters of `Dads`.

    Attributes:
        alpha: Weight of the newest reward.
        tau: Temperature of the softmax.
        target: Reward at which a domain needs no more.
    """

    tau: PositiveFloat = 0.3
    target: float = 1.0


@MIXERS.register("dads")
class Dads(RunningMeanMixer):
    """``softmax(max(0, target - rbar) / tau)``, rbar an exponential mean that begins at its first.

    Source: RuleReasoner, arXiv 2506.08672. A mean of 0.0 is a value, and a domain not in the batch
    keeps its mean.
    """

    name: ClassVar[str] = "dads"
    Params: ClassVar[type[MixerParams]] = DadsParams
    signal: ClassVar[Signal] = "mean_reward"
    state_key: ClassVar[str] = "mean"
    begins_at_zero: ClassVar[bool] = False
    params: DadsParams

    def urgency(self, mean_D: FloatArray) -> FloatArray:
        """Return what is missing to the target."""
        return np.asarray(np.maximum(0.0, self.params.target - mean_D))
