"""Self-evolving curriculum: a running mean of |advantage| per domain, then a softmax."""

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


class SecParams(MixerParams):
    """Parameters of `Sec`.

    Attributes:
        alpha: Step size of the running mean; unverified.
        tau: Temperature of the softmax; unverified.
    """

    alpha: Fraction = 0.5
    tau: PositiveFloat = 1.0


@MIXERS.register("sec")
class Sec(Mixer):
    """``Q = alpha r + (1 - alpha) Q`` where drawn, r the mean ``|advantage|``; Q from 0.

    Source: arXiv 2505.14970. The values of ``alpha`` and ``tau`` could not be checked there.
    """

    name: ClassVar[str] = "sec"
    Params: ClassVar[type[MixerParams]] = SecParams
    signal: ClassVar[Signal] = "mean_abs_advantage"
    cold_start: ClassVar[str] = EQUAL_SHARE
    stateful: ClassVar[bool] = True
    params: SecParams

    def __init__(self, params: SecParams, domains: Sequence[str], seed: int = 0) -> None:
        super().__init__(params, domains, seed)
        self._q_D = np.full(self.n_domains, np.nan)

    def observe(self, stats: DomainStats) -> None:
        """Move Q of the domains drawn."""
        seen, alpha = ~np.isnan(stats.latest_D), self.params.alpha
        self._q_D[seen] = alpha * stats.latest_D[seen] + (1 - alpha) * np.nan_to_num(
            self._q_D[seen]
        )

    def raw_proportions(self, stats: DomainStats) -> npt.ArrayLike:
        """Return the softmax of Q."""
        del stats
        return softmax_among_seen(np.nan_to_num(self._q_D), ~np.isnan(self._q_D), self.params.tau)

    def state_dict(self) -> dict[str, Any]:
        """Return Q."""
        return {"q": self.by_domain(self._q_D)}

    def load_state_dict(self, state: Mapping[str, Any]) -> None:
        """Take over Q."""
        self._q_D = self.from_domains(state["q"], self._q_D)
