"""Proportions by the calendar: piecewise constant, or annealed from one point to the next."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar, Literal

import numpy as np
import numpy.typing as npt
from pydantic import ConfigDict, Field

from dataflex_data.core.config import Config
from dataflex_data.core.errors import InputDataError
from dataflex_data.core.simplex import FloatArray, normalised
from dataflex_data.samplers.domain_tracker import DomainStats
from dataflex_data.samplers.mixer import MIXERS, Mixer, MixerParams, Varies, domain_values
from dataflex_data.samplers.signals import Signal


class SchedulePoint(Config):
    """Weights from a step on.

    Attributes:
        step: Ordinal of the first batch they hold for.
        weights: A number for every domain, or ``equal``.
    """

    model_config = ConfigDict(allow_inf_nan=False)

    step: int = Field(ge=0)
    weights: dict[str, float] | Literal["equal"]


class ScheduleParams(MixerParams):
    """Parameters of `Schedule`.

    Attributes:
        points: In ascending order of step; the first at step 0.
        between: ``hold`` keeps each point until the next; ``linear`` moves evenly between them.
            After the last point its weights hold.
    """

    points: tuple[SchedulePoint, ...] = Field(min_length=1)
    between: Literal["hold", "linear"] = "hold"


@MIXERS.register("schedule")
class Schedule(Mixer):
    """Proportions as a function of the step alone."""

    name: ClassVar[str] = "schedule"
    Params: ClassVar[type[MixerParams]] = ScheduleParams
    signal: ClassVar[Signal] = "none"
    cold_start: ClassVar[str] = "none needed"
    varies: ClassVar[Varies] = "by_step"
    params: ScheduleParams

    def __init__(self, params: ScheduleParams, domains: Sequence[str], seed: int = 0) -> None:
        super().__init__(params, domains, seed)
        self._steps = [point.step for point in params.points]
        if self._steps[0] != 0 or sorted(set(self._steps)) != self._steps:
            raise InputDataError(
                "mixer schedule: the points must begin at step 0 and ascend without repeats, got "
                f"steps {self._steps}"
            )
        self._weights: list[FloatArray] = [
            np.full(self.n_domains, 1 / self.n_domains)
            if point.weights == "equal"
            else normalised(
                domain_values(
                    point.weights, self.domains, f"mixer schedule: weights from step {point.step}"
                ),
                domains,
            )
            for point in params.points
        ]

    def raw_proportions(self, stats: DomainStats) -> npt.ArrayLike:
        """Return the point's weights, or those between two points."""
        after = int(np.searchsorted(self._steps, stats.step, side="right"))
        here = self._weights[after - 1]
        if self.params.between == "hold" or after == len(self._steps):
            return here
        start, end = self._steps[after - 1], self._steps[after]
        way = (stats.step - start) / (end - start)
        return (1 - way) * here + way * self._weights[after]
