"""More of the domains whose reward is changing: teacher-student curriculum learning."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, ClassVar, Literal

import numpy as np
import numpy.typing as npt
from pydantic import Field

from dataflex_data.core.seeding import keyed_hash
from dataflex_data.core.simplex import FloatArray
from dataflex_data.samplers.domain_tracker import DomainStats
from dataflex_data.samplers.mixer import (
    EQUAL_SHARE,
    MIXERS,
    Fraction,
    Mixer,
    MixerParams,
    PositiveFloat,
    WindowParams,
    share_among_seen,
    softmax_among_seen,
)
from dataflex_data.samplers.signals import Signal


class TsclParams(WindowParams):
    """Parameters of `Tscl`.

    Attributes:
        variant: How a domain's learning progress Q is had from its rewards.
        policy: How progress becomes proportions.
        lr: Step size of ``online`` and ``naive``.
        epsilon: Share that ``egreedy`` spreads over all.
        temperature: Of ``boltzmann``. Rewards change by hundredths a step: at 1 it is near uniform.
        abs: Take the size of Q, so that a domain being forgotten is drawn too; the paper's advice.
        window: Observations that slopes and samples go back.
    """

    variant: Literal["online", "naive", "window", "sampling"] = "window"
    policy: Literal["egreedy", "boltzmann"] = "egreedy"
    lr: Fraction = 0.1
    epsilon: Fraction = 0.1
    temperature: PositiveFloat = 1.0
    abs: bool = True
    window: int = Field(default=10, ge=2, le=1_000_000)

    def idle(self) -> dict[str, str]:
        """Return those of other variants and policies than the ones chosen."""
        idle = super().idle()
        if self.variant in {"window", "sampling"}:
            idle["lr"] = f"with variant {self.variant}"
        if self.variant == "online":
            idle["window"] = "with variant online, which keeps a running value"
        other = "epsilon" if self.policy == "boltzmann" else "temperature"
        return {**idle, other: f"with policy {self.policy}"}


@MIXERS.register("tscl")
class Tscl(Mixer):
    """Progress per domain, then epsilon-greedy or Boltzmann.

    - ``online``: ``Q += lr ((x - x_prev) - Q)``, x_prev the last reward of the same domain, 0 at
      first; a step without the domain changes nothing.
    - ``naive``: ``Q += lr (slope - Q)``, the slope over the number of the observation.
    - ``window``: Q is the slope over the step.
    - ``sampling``: Q is one of the recent changes, drawn by (seed, step, domain).

    Source: Matiisen et al., arXiv 1707.00183, algorithms 1 to 4, and their code. The default
    temperature is unverified.
    """

    name: ClassVar[str] = "tscl"
    Params: ClassVar[type[MixerParams]] = TsclParams
    signal: ClassVar[Signal] = "reward_slope"
    cold_start: ClassVar[str] = f"{EQUAL_SHARE}; seen means twice (online: once)"
    stateful: ClassVar[bool] = True
    params: TsclParams

    def __init__(self, params: TsclParams, domains: Sequence[str], seed: int = 0) -> None:
        super().__init__(params, domains, seed)
        self._progress_D = np.full(self.n_domains, np.nan)
        self._previous_D = np.zeros(self.n_domains)

    def observe(self, stats: DomainStats) -> None:
        """Move Q for the variants that keep it."""
        lr = self.params.lr
        for d in np.flatnonzero(~np.isnan(stats.latest_D)).tolist():
            q = 0.0 if np.isnan(self._progress_D[d]) else self._progress_D[d]
            if self.params.variant == "online":
                change = stats.latest_D[d] - self._previous_D[d]
                self._previous_D[d] = stats.latest_D[d]
                self._progress_D[d] = q + lr * (change - q)
            elif self.params.variant == "naive" and stats.windows[d].values.size > 1:
                values = stats.windows[d].values
                self._progress_D[d] = q + lr * (slope(np.arange(values.size), values) - q)

    def raw_proportions(self, stats: DomainStats) -> npt.ArrayLike:
        """Return the policy's proportions for the progress."""
        progress = self.progress(stats)
        seen = ~np.isnan(progress)
        size = np.abs(progress) if self.params.abs else progress
        if self.params.policy == "boltzmann":
            return softmax_among_seen(np.nan_to_num(size), seen, self.params.temperature)
        best = seen & (size == np.max(size[seen], initial=-np.inf))
        greedy = (1 - self.params.epsilon) * best / max(1, int(best.sum()))
        return share_among_seen(greedy + self.params.epsilon / max(1, int(seen.sum())), seen)

    def progress(self, stats: DomainStats) -> FloatArray:
        """Return Q per domain; NaN where too little has been seen."""
        if self.params.variant in {"online", "naive"}:
            return self._progress_D
        progress = np.full(self.n_domains, np.nan)
        for d, window in enumerate(stats.windows):
            if window.values.size < 2:
                continue
            if self.params.variant == "window":
                progress[d] = slope(window.steps, window.values)
            else:
                changes = np.diff(window.values)
                key = keyed_hash("tscl", self.seed, stats.step, self.domains[d])
                progress[d] = changes[key % changes.size]
        return progress

    def state_dict(self) -> dict[str, Any]:
        """Return Q and the last rewards, for the variants that keep them."""
        if self.params.variant not in {"online", "naive"}:
            return {}
        return {
            "progress": self.by_domain(self._progress_D),
            "previous": self.by_domain(self._previous_D),
        }

    def load_state_dict(self, state: Mapping[str, Any]) -> None:
        """Take over Q and the last rewards."""
        self._progress_D = self.from_domains(state.get("progress", {}), self._progress_D)
        self._previous_D = self.from_domains(state.get("previous", {}), self._previous_D)


def slope(places: npt.ArrayLike, values: npt.ArrayLike) -> float:
    """Return the least-squares slope; 0 where all places are one."""
    x = np.asarray(places, dtype=np.float64)
    y = np.asarray(values, dtype=np.float64)
    x = x - x.mean()
    spread = float(x @ x)
    return float(x @ (y - y.mean())) / spread if spread > 0 else 0.0
