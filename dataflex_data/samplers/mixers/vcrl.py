"""More of the domains whose groups are neither all right nor all wrong."""

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
    share_among_seen,
    softmax_among_seen,
)
from dataflex_data.samplers.signals import Signal


class VcrlParams(WindowParams):
    """Parameters of `Vcrl`.

    Attributes:
        temperature: Of a softmax; without it proportions are as the variances.
    """

    temperature: PositiveFloat | None = None


@MIXERS.register("vcrl")
class Vcrl(Mixer):
    """Proportional to the windowed mean of each group's variance over the largest possible.

    Where every seen domain's variance is 0 the seen ones share alike.

    Source: VCRL, arXiv 2509.19803, which scores prompts so; taking the mean per domain as its
    proportion is ours.
    """

    name: ClassVar[str] = "vcrl"
    Params: ClassVar[type[MixerParams]] = VcrlParams
    signal: ClassVar[Signal] = "group_variance"
    cold_start: ClassVar[str] = EQUAL_SHARE
    params: VcrlParams

    def raw_proportions(self, stats: DomainStats) -> npt.ArrayLike:
        """Return the variances, or their softmax."""
        seen = ~np.isnan(stats.mean_D)
        if self.params.temperature is None:
            return share_among_seen(np.nan_to_num(stats.mean_D), seen)
        return softmax_among_seen(np.nan_to_num(stats.mean_D), seen, self.params.temperature)
