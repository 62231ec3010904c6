"""More of the domains with large advantages, and of those seldom drawn."""

from __future__ import annotations

from typing import ClassVar, Literal

import numpy as np
import numpy.typing as npt
from pydantic import Field

from dataflex_data.core.simplex import softmax
from dataflex_data.samplers.domain_tracker import DomainStats
from dataflex_data.samplers.mixer import MIXERS, Mixer, MixerParams, PositiveFloat
from dataflex_data.samplers.signals import Signal


class DumpUcbParams(MixerParams):
    """Parameters of `DumpUcb`.

    Attributes:
        temperature: Of the softmax.
        c: Factor of the exploration bonus; 1 in the source.
        window_rollouts: Rollouts of a domain that its mean goes back.
        window: Steps instead of rollouts, where given.
    """

    temperature: PositiveFloat = 0.1
    c: float = Field(default=1.0, ge=0)
    window_rollouts: int = Field(default=300, ge=1)
    window: int | None = Field(default=None, ge=1)

    def idle(self) -> dict[str, str]:
        """Return the number of rollouts where one of steps is given."""
        if self.window is None:
            return super().idle()
        return {**super().idle(), "window_rollouts": "beside window, which counts steps"}


@MIXERS.register("dump_ucb")
class DumpUcb(Mixer):
    """``softmax((mu + c sqrt(2 ln(N + 1) / (n + 1))) / temperature)``.

    mu is the mean ``|advantage|`` in the window, n the domain's rollouts so far and N their sum.

    Source: DUMP, arXiv 2504.09710, and its code. ``c`` is ours.
    """

    name: ClassVar[str] = "dump_ucb"
    Params: ClassVar[type[MixerParams]] = DumpUcbParams
    signal: ClassVar[Signal] = "mean_abs_advantage"
    cold_start: ClassVar[str] = (
        "an unseen domain has mean 0 and the bonus of n = 0, the largest there is"
    )
    params: DumpUcbParams

    @property
    def window(self) -> int:
        """Rollouts, or steps where given."""
        return self.params.window or self.params.window_rollouts

    @property
    def window_unit(self) -> Literal["steps", "rollouts"]:
        """Rollouts, as in the source, unless a number of steps is given."""
        return "rollouts" if self.params.window is None else "steps"

    def raw_proportions(self, stats: DomainStats) -> npt.ArrayLike:
        """Return the softmax of the upper confidence bounds."""
        total = stats.rollouts_D.sum()
        if total == 0:
            return np.ones(self.n_domains)
        bonus = np.sqrt(2 * np.log(total + 1) / (stats.rollouts_D + 1))
        bounds = np.nan_to_num(stats.mean_D, nan=0.0) + self.params.c * bonus
        return softmax(bounds, self.params.temperature)
