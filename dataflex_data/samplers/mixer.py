"""What a mixer is: from per-domain statistics to proportions, with its signal and rules declared.

A mixer is one file of ``samplers/mixers/``, or a class that another package registers through the
entry point group ``dataflex_data.mixers``. It gives raw numbers; checking, cold start and floor are
done here, the same for all, so that no mixer can get them wrong by itself.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from typing import Annotated, Any, ClassVar, Literal, TypeAlias

import numpy as np
import numpy.typing as npt
from pydantic import ConfigDict, Field, model_validator
from typing_extensions import Self

from dataflex_data.core.config import Config, parse_config
from dataflex_data.core.errors import InputDataError, StateError, did_you_mean
from dataflex_data.core.registry import Registry
from dataflex_data.core.simplex import (
    FloatArray,
    FloorRule,
    check_floor,
    floored,
    normalised,
    softmax,
)
from dataflex_data.samplers.domain_tracker import DomainStats
from dataflex_data.samplers.signals import Signal


class MixerParams(Config):
    """Parameters that every mixer has.

    Attributes:
        floor: Least proportion of any domain.
        floor_rule: ``mix`` or ``waterfill``; see `dataflex_data.core.simplex.floored`.
    """

    model_config = ConfigDict(allow_inf_nan=False)

    floor: float = Field(default=0.0, ge=0, le=1)
    floor_rule: FloorRule = "mix"

    @model_validator(mode="after")
    def _has_effect(self) -> Self:
        """Refuse parameters that others leave without effect, all of them at once."""
        idle = [name for name in self.idle() if getattr(self, name) != self._default(name)]
        if idle:
            raise ValueError(
                "; ".join(f"{name} is without effect {self.idle()[name]}" for name in idle)
            )
        return self

    def idle(self) -> dict[str, str]:
        """Return the parameters that have no effect beside the others, and why."""
        return {} if self.floor else {"floor_rule": "where floor is 0"}

    @classmethod
    def _default(cls, name: str) -> object:
        return cls.model_fields[name].get_default()


class WindowParams(MixerParams):
    """Parameters of mixers that look at a window of steps.

    Attributes:
        window: Steps in which a domain was seen that its statistics go back.
    """

    window: int = Field(default=50, ge=1, le=1_000_000)


class Mixer(ABC):
    """Common ground of all mixers.

    Class attributes:
        Params: Frozen parameters; `WindowParams` where there is a window.
        signal: What the tracker must deliver.
        cold_start: In words, what happens to domains of which nothing is known yet.
        varies: What proportions depend on: ``by_result``, ``by_step`` or ``never``. All but the
            first may be drawn ahead of training.
        stateful: Whether it keeps more than the tracker does.

    Args:
        params: Parameters.
        domains: Domain names, in the order of all arrays.
        seed: For mixers that draw; every draw is keyed by (seed, step, domain).

    Raises:
        InputDataError: The floor cannot hold for that many domains.
    """

    name: ClassVar[str]
    Params: ClassVar[type[MixerParams]] = MixerParams
    signal: ClassVar[Signal]
    cold_start: ClassVar[str]
    varies: ClassVar[Varies] = "by_result"
    stateful: ClassVar[bool] = False

    def __init__(self, params: MixerParams, domains: Sequence[str], seed: int = 0) -> None:
        self.params = params
        self.domains = tuple(domains)
        self.seed = seed
        check_floor(params.floor, len(self.domains))

    @property
    def adaptive(self) -> bool:
        """Whether proportions depend on results, so that nothing may be drawn ahead of them."""
        return self.varies == "by_result"

    @property
    def n_domains(self) -> int:
        """Number of domains."""
        return len(self.domains)

    @property
    def window(self) -> int:
        """Observations that the tracker keeps per domain."""
        return self.params.window if isinstance(self.params, WindowParams) else 1

    @property
    def window_unit(self) -> Literal["steps", "rollouts"]:
        """What the window counts."""
        return "steps"

    @property
    def wanted_signal(self) -> Signal:
        """The signal asked of the tracker; mixers that leave the choice to a parameter say it."""
        return self.signal

    @property
    def solve_threshold(self) -> float:
        """Reward from which a rollout counts as solved, for the signal ``solve_counts``."""
        return 1.0

    def initial(self, stats: DomainStats) -> npt.ArrayLike:
        """Return the numbers before anything is known; uniform where not overridden."""
        del stats
        return np.ones(self.n_domains)

    def observe(self, stats: DomainStats) -> None:  # noqa: B027 - most mixers keep nothing
        """Take in the report that has just come; called once per reported batch."""

    @abstractmethod
    def raw_proportions(self, stats: DomainStats) -> npt.ArrayLike:
        """Return one number of at least 0 per domain; they need not sum to one."""

    def proportions(self, stats: DomainStats) -> FloatArray:
        """Return the proportions for the batch being planned: checked, summing to one, floored.

        Raises:
            InputDataError: The mixer's numbers are no proportions.
        """
        return self._finished(self.raw_proportions(stats))

    def initial_proportions(self, stats: DomainStats) -> FloatArray:
        """Return the proportions before anything is known, checked and floored alike."""
        return self._finished(self.initial(stats))

    def _finished(self, raw_D: npt.ArrayLike) -> FloatArray:
        p = normalised(raw_D, self.domains)
        return floored(p, self.params.floor, self.params.floor_rule)

    def state_dict(self) -> dict[str, Any]:
        """Return what the mixer keeps beyond the tracker, as plain values."""
        return {}

    def load_state_dict(self, state: Mapping[str, Any]) -> None:
        """Take over a state; domains that it lacks keep their cold start.

        Raises:
            StateError: It holds what this mixer does not keep.
        """
        if state:
            raise StateError(f"mixer {self.name!r} keeps no state, but was given {sorted(state)}")

    def by_domain(self, values_D: npt.ArrayLike) -> dict[str, float | None]:
        """Return an array as a plain mapping by domain name; NaN becomes ``None``."""
        return {
            name: None if np.isnan(value) else float(value)
            for name, value in zip(self.domains, np.asarray(values_D, float), strict=True)
        }

    def from_domains(
        self, values: Mapping[str, float | None], otherwise_D: npt.ArrayLike
    ) -> FloatArray:
        """Return a mapping by domain name as an array; absent domains keep ``otherwise_D``."""
        result = np.array(otherwise_D, dtype=np.float64)
        for d, name in enumerate(self.domains):
            if name in values:
                value = values[name]
                result[d] = np.nan if value is None else value
        return result


EQUAL_SHARE = "an unseen domain has the proportion 1/D; the seen ones share the rest"
Varies: TypeAlias = Literal["by_result", "by_step", "never"]
PositiveFloat: TypeAlias = Annotated[float, Field(gt=0)]
Fraction: TypeAlias = Annotated[float, Field(ge=0, le=1)]

MIXERS: Registry[type[Mixer]] = Registry(
    "mixer", package="dataflex_data.samplers.mixers", entry_point_group="dataflex_data.mixers"
)


def build_mixer(
    name: str, params: Mapping[str, Any] | None, domains: Sequence[str], seed: int = 0
) -> Mixer:
    """Return the mixer registered as ``name``, built for these domains.

    Raises:
        UnknownNameError: No mixer has that name.
        ConfigError: Parameters are unknown, missing or ill-typed; all at once.
        InputDataError: The parameters do not fit the domains.
    """
    kind = MIXERS.get(name)
    params = _plain(params)
    return kind(parse_config(kind.Params, params or {}, f"mixer {name}"), domains, seed)


def _plain(value: Any) -> Any:  # noqa: ANN401 - parameters of any kind
    """Return parameters with numpy's and torch's single numbers as Python's."""
    if isinstance(value, Mapping):
        return {key: _plain(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return type(value)(map(_plain, value))
    return value.item() if hasattr(value, "item") and np.ndim(value) == 0 else value


def share_among_seen(values_D: npt.ArrayLike, seen_D: npt.NDArray[np.bool_]) -> FloatArray:
    """Return proportions in which each unseen domain has 1/D and the seen ones share the rest.

    Args:
        values_D: Numbers of at least 0; those of unseen domains are not looked at. Where those of
            the seen ones are all 0, they share alike.
        seen_D: Which domains have been observed.
    """
    values = np.where(seen_D, np.asarray(values_D, dtype=np.float64), 0.0)
    n = values.size
    total = values.sum()
    among = values / total if total > 0 else seen_D / max(1, int(seen_D.sum()))
    return np.where(seen_D, among * (seen_D.sum() / n), 1 / n)


def softmax_among_seen(
    scores_D: npt.ArrayLike, seen_D: npt.NDArray[np.bool_], temperature: float
) -> FloatArray:
    """Return the softmax of the seen domains' scores, in the share that `share_among_seen` gives.

    Args:
        scores_D: Finite where seen.
        seen_D: Which domains have been observed.
        temperature: Above 0.
    """
    values = np.zeros(seen_D.size)
    if seen_D.any():
        values[seen_D] = softmax(np.asarray(scores_D, dtype=np.float64)[seen_D], temperature)
    return share_among_seen(values, seen_D)


def domain_values(
    value_by_domain: Mapping[str, float], domains: Sequence[str], where: str
) -> list[float]:
    """Return the values in the order of ``domains``.

    Raises:
        InputDataError: A domain has none, or a name is no domain.
    """
    unknown = [name for name in value_by_domain if name not in domains]
    missing = [name for name in domains if name not in value_by_domain]
    problems = [f"{name!r} is not a domain{did_you_mean(name, domains)}" for name in unknown]
    if missing:
        problems.append(f"nothing is given for {', '.join(map(repr, missing))}")
    if problems:
        raise InputDataError(f"{where}: {'; '.join(problems)} (domains: {', '.join(domains)})")
    return [value_by_domain[name] for name in domains]
