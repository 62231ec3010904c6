"""Self-evolving curriculum: a running mean of |advantage| per domain, then a softmax."""

from __future__ import annotations

from typing import ClassVar

from dataflex_data.core.simplex import FloatArray
from dataflex_data.samplers.mixer import MIXERS, MixerParams
from dataflex_data.samplers.running_mean import RunningMeanMixer, RunningMeanParams
from dataflex_data.samplers.signals import Signal


class SecParams(RunningMeanParams):
    """Parameters of `Sec`.

    Attributes:
        alpha: Step size of the running mean; unverified.
        tau: Temperature of the softmax; unverified.
    """


@MIXERS.register("sec")
class Sec(RunningMeanMixer):
    """``softmax(Q / tau)``, ``Q = alpha r + (1 - alpha) Q`` from 0, r the mean ``|advantage|``.

    Source: arXiv 2505.14970. The values of ``alpha`` and ``tau`` could not be checked there.
    """

    name: ClassVar[str] = "sec"
    Params: ClassVar[type[MixerParams]] = SecParams
    signal: ClassVar[Signal] = "mean_abs_advantage"
    state_key: ClassVar[str] = "q"
    begins_at_zero: ClassVar[bool] = True

    def urgency(self, mean_D: FloatArray) -> FloatArray:
        """Return Q itself."""
        return mean_D
