"""Domain-aware dynamic sampling: more of the domains whose smoothed reward is low."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt

from dataflex_data.samplers.domain_tracker import DomainStats, Signal
from dataflex_data.samplers.mixer import (
    EQUAL_SHARE,
    MIXERS,
    Fraction,
    Mixer,
    MixerParams,
    PositiveFloat,
    softmax_among_seen,
)


class DadsParams(MixerParams):
    """Parameters of `Dads`.

    Attributes:
        alpha: Weight of the newest reward.
        tau: Temperature of the softmax.
        target: Reward at which a domain needs no more.
    """

    alpha: Fraction = 0.5
    tau: PositiveFloat = 0.3
    target: float = 1.0


@MIXERS.register("dads")
class Dads(Mixer):
    """``softmax(max(0, target - rbar) / tau)``, rbar an exponential mean that begins at its first.

    Source: RuleReasoner, arXiv 2506.08672. A mean of 0.0 is a value, and a domain not in the batch
    keeps its mean.
    """

    name: ClassVar[str] = "dads"
    Params: ClassVar[type[MixerParams]] = DadsParams
    signal: ClassVar[Signal] = "mean_reward"
    cold_start: ClassVar[str] = EQUAL_SHARE
    stateful: ClassVar[bool] = True
    params: DadsParams

    def __init__(self, params: DadsParams, domains: Sequence[str], seed: int = 0) -> None:
        super().__init__(params, domains, seed)
        self._mean_D = np.full(self.n_domains, np.nan)

    def observe(self, stats: DomainStats) -> None:
        """Move the means of the domains in the batch."""
        latest, alpha = stats.latest_D, self.params.alpha
        before = np.where(np.isnan(self._mean_D), latest, self._mean_D)
        moved = alpha * latest + (1 - alpha) * before
        self._mean_D = np.where(np.isnan(latest), self._mean_D, moved)

    def raw_proportions(self, stats: DomainStats) -> npt.ArrayLike:
        """Return the softmax of what is missing."""
        del stats
        gaps = np.maximum(0.0, self.params.target - self._mean_D)
        return softmax_among_seen(gaps, ~np.isnan(self._mean_D), self.params.tau)

    def state_dict(self) -> dict[str, Any]:
        """Return the means."""
        return {"mean": self.by_domain(self._mean_D)}

    def load_state_dict(self, state: Mapping[str, Any]) -> None:
        """Take over the means."""
        self._mean_D = self.from_domains(state["mean"], self._mean_D)
