"""Online data mixing: an Exp3 whose exploration falls with the steps."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, ClassVar, Literal

import numpy as np
import numpy.typing as npt

from dataflex_data.core.simplex import normalised, softmax
from dataflex_data.samplers.domain_tracker import DomainStats
from dataflex_data.samplers.mixer import (
    MIXERS,
    Mixer,
    MixerParams,
    PositiveFloat,
    domain_values,
)
from dataflex_data.samplers.mixers.exp3 import per_draw
from dataflex_data.samplers.signals import Signal


class OdmParams(MixerParams):
    """Parameters of `Odm`.

    Attributes:
        initial: Proportions before the first report, for every domain; uniform where not given.
        scale: What rewards are divided by; 10 in the source, for losses of language models.
        reward: Signal taken as the bandit's reward; the training loss in the source.
    """

    initial: dict[str, float] | None = None
    scale: PositiveFloat = 10.0
    reward: Literal["loss", "mean_abs_advantage", "group_variance", "mean_reward"] = "loss"


@MIXERS.register("odm")
class Odm(Mixer):
    """``R += (reward / scale) / p``, ``p = (1 - D eps_t) softmax(eps_prev R) + eps_t``.

    ``eps_t = min(1/D, sqrt(ln D / (D t)))``, t the training step from 1; eps_prev is that of the
    previous update, 1/D at first. A batch is many draws, averaged as in `exp3`.

    Source: Albalak et al., arXiv 2312.02406, algorithm 1.
    """

    name: ClassVar[str] = "odm"
    Params: ClassVar[type[MixerParams]] = OdmParams
    signal: ClassVar[Signal] = "loss"
    cold_start: ClassVar[str] = "the initial proportions; an unseen domain keeps its R of 0"
    stateful: ClassVar[bool] = True
    params: OdmParams

    def __init__(self, params: OdmParams, domains: Sequence[str], seed: int = 0) -> None:
        super().__init__(params, domains, seed)
        self._reward_D = np.zeros(self.n_domains)
        self._epsilon = self._previous_epsilon = 1 / self.n_domains
        self._initial = (
            np.full(self.n_domains, 1 / self.n_domains)
            if params.initial is None
            else normalised(
                domain_values(params.initial, self.domains, "mixer odm: initial"), domains
            )
        )

    @property
    def wanted_signal(self) -> Signal:
        """The signal chosen as reward."""
        return self.params.reward

    def initial(self, stats: DomainStats) -> npt.ArrayLike:
        """Return the initial proportions."""
        del stats
        return self._initial

    def observe(self, stats: DomainStats) -> None:
        """Add the rewards and move epsilon on."""
        seen = ~np.isnan(stats.latest_D)
        if not seen.any():
            return
        self._reward_D[seen] += per_draw(stats, seen) / self.params.scale
        n, t = self.n_domains, stats.latest_step + 1
        self._previous_epsilon = self._epsilon
        self._epsilon = min(1 / n, float(np.sqrt(np.log(n) / (n * t))))

    def raw_proportions(self, stats: DomainStats) -> npt.ArrayLike:
        """Return the softmax mixed with the uniform."""
        del stats
        shares = softmax(self._previous_epsilon * self._reward_D)
        return max(0.0, 1 - self.n_domains * self._epsilon) * shares + self._epsilon

    def state_dict(self) -> dict[str, Any]:
        """Return the sums of rewards and both epsilons."""
        return {
            "reward": self.by_domain(self._reward_D),
            "epsilon": [self._previous_epsilon, self._epsilon],
        }

    def load_state_dict(self, state: Mapping[str, Any]) -> None:
        """Take over the sums of rewards and both epsilons."""
        self._reward_D = self.from_domains(state["reward"], self._reward_D)
        self._previous_epsilon, self._epsilon = state["epsilon"]
