"""The adversarial bandit Exp3 over domains."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, ClassVar, Literal

import numpy as np
import numpy.typing as npt
from pydantic import Field

from dataflex_data.core.errors import InputDataError
from dataflex_data.core.simplex import softmax
from dataflex_data.samplers.domain_tracker import DomainStats
from dataflex_data.samplers.mixer import MIXERS, Mixer, MixerParams
from dataflex_data.samplers.signals import Signal


class Exp3Params(MixerParams):
    """Parameters of `Exp3`.

    Attributes:
        gamma: Share of exploration, and step size.
        reward: Signal taken as the bandit's reward; it must lie in [0, 1]. Mean reward favours what
            is solved already; ``group_variance`` what can be learnt from.
    """

    gamma: float = Field(default=0.1, gt=0, le=1)
    reward: Literal["mean_reward", "group_variance", "mean_abs_advantage"] = "mean_reward"


@MIXERS.register("exp3")
class Exp3(Mixer):
    """``w *= exp(gamma rhat / D)``, ``p = (1 - gamma) w / sum(w) + gamma / D``.

    rhat is the reward over the probability it was drawn with. A batch is many draws: their
    estimates are averaged, so that a domain with the share s of the batch has ``rhat = r s / p``.

    Source: Auer, Cesa-Bianchi, Freund and Schapire, "The nonstochastic multiarmed bandit problem"
    (2002). The average over a batch is ours.
    """

    name: ClassVar[str] = "exp3"
    Params: ClassVar[type[MixerParams]] = Exp3Params
    signal: ClassVar[Signal] = "mean_reward"
    cold_start: ClassVar[str] = "weights begin equal; an unseen domain keeps its weight"
    stateful: ClassVar[bool] = True
    params: Exp3Params

    def __init__(self, params: Exp3Params, domains: Sequence[str], seed: int = 0) -> None:
        super().__init__(params, domains, seed)
        self._log_weight_D = np.zeros(self.n_domains)

    @property
    def wanted_signal(self) -> Signal:
        """The signal chosen as reward."""
        return self.params.reward

    def observe(self, stats: DomainStats) -> None:
        """Multiply the weights.

        Raises:
            InputDataError: A reward is outside [0, 1].
        """
        seen = ~np.isnan(stats.latest_D)
        rewards = stats.latest_D[seen]
        if rewards.size and (rewards.min() < 0 or rewards.max() > 1):
            raise InputDataError(
                f"mixer exp3 needs rewards in [0, 1], got {rewards.min():g} to {rewards.max():g} "
                f"({self.params.reward} of batch {stats.latest_step})"
            )
        self._log_weight_D[seen] += (self.params.gamma / self.n_domains) * per_draw(stats, seen)
        self._log_weight_D -= self._log_weight_D.max()

    def raw_proportions(self, stats: DomainStats) -> npt.ArrayLike:
        """Return the weights mixed with the uniform."""
        del stats
        gamma = self.params.gamma
        return (1 - gamma) * softmax(self._log_weight_D) + gamma / self.n_domains

    def state_dict(self) -> dict[str, Any]:
        """Return the log weights."""
        return {"log_weight": self.by_domain(self._log_weight_D)}

    def load_state_dict(self, state: Mapping[str, Any]) -> None:
        """Take over the log weights."""
        self._log_weight_D = self.from_domains(state["log_weight"], self._log_weight_D)


def per_draw(stats: DomainStats, seen_D: npt.NDArray[np.bool_]) -> npt.NDArray[np.float64]:
    """Return the seen domains' signal over its probability, averaged over the draws."""
    share = stats.latest_groups_D[seen_D] / stats.latest_groups_D.sum()
    weighted = stats.latest_D[seen_D] * share / stats.latest_proportions_D[seen_D]
    return np.asarray(weighted, dtype=np.float64)
