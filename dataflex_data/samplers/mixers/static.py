"""Fixed proportions."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar, Literal

import numpy as np
import numpy.typing as npt

from dataflex_data.core.simplex import normalised
from dataflex_data.samplers.domain_tracker import DomainStats
from dataflex_data.samplers.mixer import MIXERS, Mixer, MixerParams, Varies, domain_values
from dataflex_data.samplers.signals import Signal


class StaticParams(MixerParams):
    """Parameters of `Static`.

    Attributes:
        weights: A number for every domain, or ``equal``, or ``size`` (by number of rows).
    """

    weights: dict[str, float] | Literal["equal", "size"] = "equal"


@MIXERS.register("static")
class Static(Mixer):
    """The weights over their sum, at every step."""

    name: ClassVar[str] = "static"
    Params: ClassVar[type[MixerParams]] = StaticParams
    signal: ClassVar[Signal] = "none"
    cold_start: ClassVar[str] = "none needed"
    varies: ClassVar[Varies] = "never"
    params: StaticParams

    def __init__(self, params: StaticParams, domains: Sequence[str], seed: int = 0) -> None:
        super().__init__(params, domains, seed)
        if isinstance(params.weights, dict):
            normalised(
                domain_values(params.weights, self.domains, "mixer static: weights"), domains
            )

    def raw_proportions(self, stats: DomainStats) -> npt.ArrayLike:
        """Return the weights."""
        if self.params.weights == "equal":
            return np.ones(self.n_domains)
        if self.params.weights == "size":
            return stats.sizes_D
        return domain_values(self.params.weights, self.domains, "mixer static: weights")
