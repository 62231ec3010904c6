"""Staleness as a layer over any mixer: domains long not drawn get a share of their own."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, ClassVar, Literal

import numpy as np
import numpy.typing as npt
from pydantic import Field

from dataflex_data.core.config import Config
from dataflex_data.core.errors import InputDataError
from dataflex_data.core.simplex import FloatArray
from dataflex_data.samplers.domain_tracker import DomainStats
from dataflex_data.samplers.mixer import (
    MIXERS,
    Fraction,
    Mixer,
    MixerParams,
    PositiveFloat,
    build_mixer,
)
from dataflex_data.samplers.signals import Signal


class InnerMixer(Config):
    """The mixer below: its name and parameters."""

    name: str
    params: dict[str, Any] = Field(default_factory=dict)


class PlrParams(MixerParams):
    """Parameters of `Plr`.

    Attributes:
        inner: The mixer whose proportions are the scores.
        rho: Share of staleness; unverified.
        beta: Temperature of the ranks; unverified.
        prioritise: ``rank`` as in the source, or ``inner``: the inner proportions as they are, so
            that staleness is all that is added.
    """

    inner: InnerMixer
    rho: Fraction = 0.1
    beta: PositiveFloat = 0.1
    prioritise: Literal["rank", "inner"] = "rank"

    def idle(self) -> dict[str, str]:
        """Return the temperature of ranks where there are none."""
        if self.prioritise == "rank":
            return super().idle()
        return {**super().idle(), "beta": "with prioritise inner"}


@MIXERS.register("plr")
class Plr(Mixer):
    """``(1 - rho) P_S + rho C / sum(C)``, C the steps since each domain was last reported.

    ``P_S`` is ``rank^(-1 / beta)`` over its sum, rank 1 for the highest score; equal scores have
    their mean rank. Where no domain is stale, ``P_S`` alone.

    Source: Jiang et al., arXiv 2010.03934, section 3. The values of ``beta`` and ``rho`` could not
    be checked there.
    """

    name: ClassVar[str] = "plr"
    Params: ClassVar[type[MixerParams]] = PlrParams
    signal: ClassVar[Signal] = "none"
    cold_start: ClassVar[str] = "that of the inner mixer; an unseen domain is the stalest"
    stateful: ClassVar[bool] = True
    params: PlrParams

    def __init__(self, params: PlrParams, domains: Sequence[str], seed: int = 0) -> None:
        super().__init__(params, domains, seed)
        if params.inner.name == self.name:
            raise InputDataError("mixer plr: inner must be another mixer than plr")
        self.inner = build_mixer(params.inner.name, params.inner.params, domains, seed)

    @property
    def wanted_signal(self) -> Signal:
        """That of the inner mixer."""
        return self.inner.wanted_signal

    @property
    def window(self) -> int:
        """That of the inner mixer."""
        return self.inner.window

    @property
    def window_unit(self) -> Literal["steps", "rollouts"]:
        """That of the inner mixer."""
        return self.inner.window_unit

    @property
    def solve_threshold(self) -> float:
        """That of the inner mixer."""
        return self.inner.solve_threshold

    def initial(self, stats: DomainStats) -> npt.ArrayLike:
        """Return those of the inner mixer."""
        return self.inner.initial(stats)

    def observe(self, stats: DomainStats) -> None:
        """Hand the report on."""
        self.inner.observe(stats)

    def raw_proportions(self, stats: DomainStats) -> npt.ArrayLike:
        """Return scores and staleness mixed."""
        scores = self.inner.proportions(stats)
        if self.params.prioritise == "rank":
            scores = rank_shares(scores, self.params.beta)
        stale = stats.staleness_D.astype(np.float64)
        if stale.sum() == 0:
            return scores
        rho = self.params.rho
        return np.asarray((1 - rho) * scores + rho * stale / stale.sum())

    def state_dict(self) -> dict[str, Any]:
        """Return the inner mixer's state."""
        return {"inner": self.inner.state_dict()}

    def load_state_dict(self, state: Mapping[str, Any]) -> None:
        """Take over the inner mixer's state."""
        self.inner.load_state_dict(state["inner"])


def rank_shares(scores_D: npt.ArrayLike, beta: float) -> FloatArray:
    """Return ``rank^(-1 / beta)`` over its sum; equal scores have their mean rank."""
    scores = np.asarray(scores_D, dtype=np.float64)
    above = (scores[None, :] > scores[:, None]).sum(axis=1)
    equal = (scores[None, :] == scores[:, None]).sum(axis=1)
    rank = above + (equal + 1) / 2
    weights = np.exp(-np.log(rank / rank.min()) / beta)
    return np.asarray(weights / weights.sum())
