"""What mixers share that act on an exponential mean of each domain's signal."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping, Sequence
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt

from dataflex_data.core.simplex import FloatArray
from dataflex_data.samplers.domain_tracker import DomainStats
from dataflex_data.samplers.mixer import (
    EQUAL_SHARE,
    Fraction,
    Mixer,
    MixerParams,
    PositiveFloat,
    softmax_among_seen,
)


class RunningMeanParams(MixerParams):
    """Parameters of `RunningMeanMixer`.

    Attributes:
        alpha: Weight of the newest observation in the mean.
        tau: Temperature of the softmax.
    """

    alpha: Fraction = 0.5
    tau: PositiveFloat = 1.0


class RunningMeanMixer(Mixer):
    """The softmax, over domains seen, of what a running mean of the signal makes urgent.

    A domain that is not in a batch keeps its mean.

    Class attributes:
        state_key: Name of the means in the state.
        begins_at_zero: Whether the first observation moves a mean of 0; else it is the mean.
    """

    Params: ClassVar[type[MixerParams]] = RunningMeanParams
    cold_start: ClassVar[str] = EQUAL_SHARE
    stateful: ClassVar[bool] = True
    state_key: ClassVar[str]
    begins_at_zero: ClassVar[bool]
    params: RunningMeanParams

    def __init__(self, params: MixerParams, domains: Sequence[str], seed: int = 0) -> None:
        super().__init__(params, domains, seed)
        self.mean_D = np.full(self.n_domains, np.nan)

    @abstractmethod
    def urgency(self, mean_D: FloatArray) -> FloatArray:
        """Return the score of each domain, given its mean."""

    def observe(self, stats: DomainStats) -> None:
        """Move the means of the domains in the batch."""
        latest, alpha = stats.latest_D, self.params.alpha
        first = 0.0 if self.begins_at_zero else latest
        before = np.where(np.isnan(self.mean_D), first, self.mean_D)
        moved = alpha * latest + (1 - alpha) * before
        self.mean_D = np.where(np.isnan(latest), self.mean_D, moved)

    def raw_proportions(self, stats: DomainStats) -> npt.ArrayLike:
        """Return the softmax of the urgencies."""
        del stats
        seen = ~np.isnan(self.mean_D)
        return softmax_among_seen(self.urgency(self.mean_D), seen, self.params.tau)

    def state_dict(self) -> dict[str, Any]:
        """Return the means."""
        return {self.state_key: self.by_domain(self.mean_D)}

    def load_state_dict(self, state: Mapping[str, Any]) -> None:
        """Take over the means."""
        self.mean_D = self.from_domains(state[self.state_key], self.mean_D)
