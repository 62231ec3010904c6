"""A target difficulty that follows the reward; domains are bins of difficulty."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt
from pydantic import model_validator
from typing_extensions import Self

from dataflex_data.samplers.domain_tracker import DomainStats
from dataflex_data.samplers.mixer import MIXERS, Mixer, MixerParams, PositiveFloat, domain_values
from dataflex_data.samplers.signals import Signal


class AdarftParams(MixerParams):
    """Parameters of `Adarft`.

    Attributes:
        difficulty: Difficulty of every domain, on the scale of ``low`` to ``high``.
        start: Target difficulty at first.
        target_reward: Mean reward at which the target stands still.
        step_size: Furthest move of the target in one step.
        sensitivity: How soon a reward off the target is answered by the furthest move.
        low: Least target.
        high: Largest target.
    """

    difficulty: dict[str, float]
    start: float = 0.0
    target_reward: float = 0.5
    step_size: PositiveFloat = 50.0
    sensitivity: PositiveFloat = 2.0
    low: float = 0.0
    high: float = 100.0

    @model_validator(mode="after")
    def _in_range(self) -> Self:
        """Refuse a range without room, and a start outside it."""
        if not self.low < self.high:
            raise ValueError(f"low ({self.low:g}) must be below high ({self.high:g})")
        if not self.low <= self.start <= self.high:
            raise ValueError(
                f"start ({self.start:g}) must lie between low ({self.low:g}) and high "
                f"({self.high:g})"
            )
        return self


@MIXERS.register("adarft")
class Adarft(Mixer):
    """``T = clip(T + 50 tanh(2 (R - .5)), 0, 100)``, R the batch's mean reward over its groups.

    The batch is filled from the bin nearest to T with its unused rows, then from the next nearest;
    where all unused rows together are too few, the nearest bin gives the rest.

    Source: AdaRFT, arXiv 2504.05520, which picks single prompts by their difficulty; bins are ours.
    """

    name: ClassVar[str] = "adarft"
    Params: ClassVar[type[MixerParams]] = AdarftParams
    signal: ClassVar[Signal] = "mean_reward"
    cold_start: ClassVar[str] = "none needed: the target begins at `start`"
    stateful: ClassVar[bool] = True
    params: AdarftParams

    def __init__(self, params: AdarftParams, domains: Sequence[str], seed: int = 0) -> None:
        super().__init__(params, domains, seed)
        self._difficulty_D = np.array(
            domain_values(params.difficulty, self.domains, "mixer adarft: difficulty")
        )
        self._target = params.start

    @property
    def target(self) -> float:
        """Target difficulty as it stands."""
        return self._target

    def initial(self, stats: DomainStats) -> npt.ArrayLike:
        """Return a batch filled from the bins nearest to the start."""
        return self.raw_proportions(stats)

    def observe(self, stats: DomainStats) -> None:
        """Move the target by the batch's mean reward."""
        counts = stats.latest_counts_D
        if counts.sum() == 0:
            return
        p = self.params
        reward = float(np.nan_to_num(stats.latest_D) @ counts / counts.sum())
        moved = self._target + p.step_size * np.tanh(p.sensitivity * (reward - p.target_reward))
        self._target = float(np.clip(moved, p.low, p.high))

    def raw_proportions(self, stats: DomainStats) -> npt.ArrayLike:
        """Return the shares of a batch filled from the nearest bins."""
        order = np.argsort(np.abs(self._difficulty_D - self._target), kind="stable")
        wanted = stats.batch_size
        taken = np.zeros(self.n_domains)
        for d in order.tolist():
            taken[d] = min(wanted, int(stats.unused_D[d]))
            wanted -= int(taken[d])
        taken[order[0]] += wanted
        return taken

    def state_dict(self) -> dict[str, Any]:
        """Return the target."""
        return {"target": self._target}

    def load_state_dict(self, state: Mapping[str, Any]) -> None:
        """Take over the target."""
        self._target = float(state["target"])
