"""Thompson sampling on solved and unsolved rollouts."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, ClassVar, Literal

import numpy as np
import numpy.typing as npt

from dataflex_data.core.seeding import stream
from dataflex_data.samplers.domain_tracker import DomainStats
from dataflex_data.samplers.mixer import MIXERS, Fraction, Mixer, MixerParams, PositiveFloat
from dataflex_data.samplers.signals import Signal


class ThompsonParams(MixerParams):
    """Parameters of `Thompson`.

    Attributes:
        a: Prior solved rollouts.
        b: Prior unsolved rollouts.
        discount: What is left of the counts after each report; 1 forgets nothing.
        sample: Draw the solve rate; False takes its mean.
        favour: ``success`` is proportional to the solve rate x, ``failure`` to 1 - x, ``learnable``
            to x (1 - x).
        threshold: A rollout is solved when its reward is at least this.
    """

    a: PositiveFloat = 1.0
    b: PositiveFloat = 1.0
    discount: Fraction = 0.99
    sample: bool = True
    favour: Literal["success", "failure", "learnable"] = "success"
    threshold: float = 1.0


@MIXERS.register("thompson")
class Thompson(Mixer):
    """Each domain's solve rate drawn from ``Beta(a + s, b + f)``; proportions by the draws.

    The draw is keyed by (seed, step, domain), so that a resume draws the same.

    Source: Thompson (1933) with a discount as in Raj and Kalyani, arXiv 1707.09727; turning the
    draws into proportions instead of one winner is ours, since a batch is many draws.
    """

    name: ClassVar[str] = "thompson"
    Params: ClassVar[type[MixerParams]] = ThompsonParams
    signal: ClassVar[Signal] = "solve_counts"
    cold_start: ClassVar[str] = "an unseen domain is drawn from the prior"
    stateful: ClassVar[bool] = True
    params: ThompsonParams

    def __init__(self, params: ThompsonParams, domains: Sequence[str], seed: int = 0) -> None:
        super().__init__(params, domains, seed)
        self._solved_D = np.zeros(self.n_domains)
        self._failed_D = np.zeros(self.n_domains)

    @property
    def solve_threshold(self) -> float:
        """Reward from which a rollout is solved."""
        return self.params.threshold

    def observe(self, stats: DomainStats) -> None:
        """Discount the counts and add the new ones."""
        counts = stats.latest_counts_D
        solved = np.nan_to_num(stats.latest_D) * counts
        self._solved_D = self.params.discount * self._solved_D + solved
        self._failed_D = self.params.discount * self._failed_D + (counts - solved)

    def raw_proportions(self, stats: DomainStats) -> npt.ArrayLike:
        """Return what the drawn, or mean, solve rates are worth."""
        a, b = self.params.a + self._solved_D, self.params.b + self._failed_D
        if self.params.sample:
            rate = np.array(
                [
                    stream(self.seed, "thompson", stats.step, name).beta(a[d], b[d])
                    for d, name in enumerate(self.domains)
                ]
            )
        else:
            rate = a / (a + b)
        if self.params.favour == "success":
            return rate
        return 1 - rate if self.params.favour == "failure" else rate * (1 - rate)

    def state_dict(self) -> dict[str, Any]:
        """Return the discounted counts."""
        return {
            "solved": self.by_domain(self._solved_D),
            "failed": self.by_domain(self._failed_D),
        }

    def load_state_dict(self, state: Mapping[str, Any]) -> None:
        """Take over the discounted counts."""
        self._solved_D = self.from_domains(state["solved"], self._solved_D)
        self._failed_D = self.from_domains(state["failed"], self._failed_D)
