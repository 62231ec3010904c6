"""Group DRO over domains: more of those with the largest loss above a reference model's."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt

from dataflex_data.core.simplex import normalised
from dataflex_data.samplers.domain_tracker import DomainStats
from dataflex_data.samplers.mixer import (
    MIXERS,
    Fraction,
    Mixer,
    MixerParams,
    PositiveFloat,
    domain_values,
)
from dataflex_data.samplers.signals import Signal


class DoremiParams(MixerParams):
    """Parameters of `Doremi`.

    Attributes:
        eta: Step size; unverified.
        c: Share of the uniform mixed in; unverified.
        initial: Proportions to begin with, for every domain; uniform where not given.
    """

    eta: PositiveFloat = 1.0
    c: Fraction = 1e-3
    initial: dict[str, float] | None = None


@MIXERS.register("doremi")
class Doremi(Mixer):
    """``a' = a exp(eta max(0, excess))``, ``a = (1 - c) a' / sum(a') + c / D``.

    Source: DoReMi, arXiv 2305.10429, algorithm 1. The values of ``eta`` and ``c`` could not be
    checked there.
    """

    name: ClassVar[str] = "doremi"
    Params: ClassVar[type[MixerParams]] = DoremiParams
    signal: ClassVar[Signal] = "excess_loss"
    cold_start: ClassVar[str] = "the initial proportions; an unseen domain counts as excess 0"
    stateful: ClassVar[bool] = True
    params: DoremiParams

    def __init__(self, params: DoremiParams, domains: Sequence[str], seed: int = 0) -> None:
        super().__init__(params, domains, seed)
        self._alpha_D = (
            np.full(self.n_domains, 1 / self.n_domains)
            if params.initial is None
            else normalised(
                domain_values(params.initial, self.domains, "mixer doremi: initial"), domains
            )
        )

    def initial(self, stats: DomainStats) -> npt.ArrayLike:
        """Return the initial proportions."""
        del stats
        return self._alpha_D

    def observe(self, stats: DomainStats) -> None:
        """Multiply by the excess and mix with the uniform."""
        excess = np.maximum(0.0, np.nan_to_num(stats.latest_D, nan=0.0))
        # Shifting the exponent changes nothing after the division, and cannot overflow.
        raised = self._alpha_D * np.exp(self.params.eta * (excess - excess.max()))
        c = self.params.c
        self._alpha_D = (1 - c) * raised / raised.sum() + c / self.n_domains

    def raw_proportions(self, stats: DomainStats) -> npt.ArrayLike:
        """Return the proportions as they stand."""
        del stats
        return self._alpha_D

    def state_dict(self) -> dict[str, Any]:
        """Return the proportions as they stand."""
        return {"alpha": self.by_domain(self._alpha_D)}

    def load_state_dict(self, state: Mapping[str, Any]) -> None:
        """Take over the proportions."""
        self._alpha_D = self.from_domains(state["alpha"], self._alpha_D)
