"""A learner simple enough to be followed by hand, to try a mixer on before renting GPUs.

Each domain has an ability a, on the logit scale. A prompt of difficulty z is solved with the
probability ``sigmoid(a - spread z)``, z standard normal and belonging to the row. A step of B
prompts with G responses each changes abilities by

    a += learning_rate * u - forgetting * (a - a_start)

where u is the domain's sum over its groups of the group's variance over its maximum, divided by B:
groups that are all right or all wrong teach nothing, as in GRPO, and a domain that is not trained
falls back. There is no transfer between domains, no memorising of rows, and no limit to ability but
that solved groups stop teaching. It says how a mixer behaves, not what a model will score.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import numpy.typing as npt
from pydantic import ConfigDict, Field

from dataflex_data.core.config import Config, load_yaml, parse_config
from dataflex_data.core.seeding import splitmix64, stream
from dataflex_data.core.simplex import FloatArray, IntArray
from dataflex_data.samplers.signals import StepSignals, relative_variance

_NODES, _WEIGHTS = np.polynomial.hermite_e.hermegauss(15)
_WEIGHTS = _WEIGHTS / _WEIGHTS.sum()
_REFERENCE_GAIN = 2.0  # what the reference of `excess_losses` is ahead of the start, in logits


class DomainModel(Config):
    """One domain of the learner.

    Attributes:
        rows: Rows that it has.
        ability: Logit of solving a prompt of middling difficulty, at first.
        spread: Logits between prompts one standard deviation of difficulty apart.
        learning_rate: Logits gained in a step in which all of the batch teaches as much as can be.
        forgetting: Share of what was gained that is lost in each step.
    """

    model_config = ConfigDict(allow_inf_nan=False)

    rows: int = Field(ge=1)
    ability: float
    spread: float = Field(default=1.5, ge=0)
    learning_rate: float = Field(default=0.15, ge=0)
    forgetting: float = Field(default=0.01, ge=0, le=1)


DEFAULT_DOMAINS: Mapping[str, DomainModel] = {
    "science": DomainModel(rows=10_000, ability=1.0, learning_rate=0.08, forgetting=0.004),
    "math": DomainModel(rows=15_000, ability=-0.8, learning_rate=0.12, forgetting=0.004),
    "logic": DomainModel(rows=6_000, ability=-3.0, learning_rate=0.2, forgetting=0.012),
}


class _Domains(Config):
    domains: dict[str, DomainModel] = Field(min_length=1)


def read_domains(path: Path) -> dict[str, DomainModel]:
    """Return the learner's domains as a YAML file gives them, a mapping by name.

    Raises:
        InputDataError: The file cannot be read.
        ConfigError: All faults of all domains at once.
    """
    return parse_config(_Domains, {"domains": load_yaml(path)}, str(path)).domains


@dataclass(frozen=True, slots=True)
class Lesson:
    """What the learner made of a batch: the report for a sampler, and the mean reward by domain."""

    signals: StepSignals
    reward_by_domain: dict[str, float]


class Learner:
    """The learner's abilities and its answers.

    Args:
        models: By domain.
        domains: Names, in the order of all arrays.
        group_size: Responses per prompt.
        seed: Of its chance; the same batch at the same step is answered alike.
    """

    def __init__(
        self, models: Mapping[str, DomainModel], domains: Sequence[str], group_size: int, seed: int
    ) -> None:
        self.domains = tuple(domains)
        self._group_size, self._seed = group_size, seed
        chosen = [models[name] for name in self.domains]
        self._start_D = np.array([model.ability for model in chosen])
        self._spread_D = np.array([model.spread for model in chosen])
        self._rate_D = np.array([model.learning_rate for model in chosen])
        self._forgetting_D = np.array([model.forgetting for model in chosen])
        self.ability_D = self._start_D.copy()

    @property
    def solve_rate_D(self) -> FloatArray:  # noqa: N802 - shape suffix
        """Expected solve rate of each domain over all difficulties."""
        return self._expect(self.ability_D[None, :], _identity).ravel()

    def answer(self, step: int, rows: IntArray, domain_P: IntArray) -> Lesson:
        """Return the learner's answers to a batch, and learn from them."""
        G = self._group_size
        logit_P = self.ability_D[domain_P] - self._spread_D[domain_P] * _difficulty(rows)
        solve_P = _sigmoid(logit_P)
        draws_PG = stream(self._seed, "learner", step).random((rows.size, G))
        rewards_PG = (draws_PG < solve_P[:, None]).astype(np.float64)
        means_P = rewards_PG.mean(axis=1)
        squares_P = ((rewards_PG - means_P[:, None]) ** 2).sum(axis=1)
        spread_P = np.sqrt(squares_P / (G - 1))
        advantages_PG = (rewards_PG - means_P[:, None]) / (spread_P[:, None] + 1e-4)
        reference_P = _sigmoid(
            self._start_D[domain_P] + _REFERENCE_GAIN - self._spread_D[domain_P] * _difficulty(rows)
        )
        loss_P = -np.log(solve_P)
        signals = StepSignals(
            domains=[self.domains[d] for d in np.repeat(domain_P, G).tolist()],
            uids=np.repeat(np.arange(rows.size), G),
            rewards=rewards_PG.ravel(),
            advantages=advantages_PG.ravel(),
            losses=np.repeat(loss_P, G),
            excess_losses=np.repeat(loss_P + np.log(reference_P), G),
            step=step,
        )
        lesson_P = relative_variance(squares_P, np.full(rows.size, G))
        gained_D = np.bincount(domain_P, weights=lesson_P, minlength=len(self.domains)) / rows.size
        self._learn(gained_D)
        counts_D = np.bincount(domain_P, minlength=len(self.domains))
        sums_D = np.bincount(domain_P, weights=means_P, minlength=len(self.domains))
        rewards = {
            name: float(sums_D[d] / counts_D[d])
            for d, name in enumerate(self.domains)
            if counts_D[d]
        }
        return Lesson(signals, rewards)

    def _learn(self, gained_D: FloatArray) -> None:
        self.ability_D = (
            self.ability_D
            + self._rate_D * gained_D
            - self._forgetting_D * (self.ability_D - self._start_D)
        )

    def expected_final(self, proportions_MD: npt.ArrayLike, steps: int) -> FloatArray:
        """Return the mean solve rate over domains that each of M fixed mixtures should end at.

        Chance is replaced by its mean at every step, which is what large batches come near to.
        """
        p = np.asarray(proportions_MD, dtype=np.float64)
        G = self._group_size
        # The expected variance of G answers is x (1 - x); its maximum as in `relative_variance`.
        largest = G / (4 * (G - 1)) if G % 2 == 0 else (G + 1) / (4 * G)
        ability = np.tile(self._start_D, (p.shape[0], 1))
        for _ in range(steps):
            lesson = self._expect(ability, _variance) / largest
            ability = (
                ability + self._rate_D * p * lesson - self._forgetting_D * (ability - self._start_D)
            )
        return np.asarray(self._expect(ability, _identity).mean(axis=1))

    def best_fixed(self, steps: int) -> FloatArray:
        """Return the fixed mixture with the highest `expected_final`, by search.

        Corners, the uniform and 400 random mixtures, then four rounds of 100 ever closer to the
        best so far.
        """
        n = len(self.domains)
        rng = stream(self._seed, "best fixed")
        tried = np.concatenate(
            [np.eye(n), np.full((1, n), 1 / n), rng.dirichlet(np.ones(n), size=400)]
        )
        best: FloatArray = tried[int(np.argmax(self.expected_final(tried, steps)))]
        for closeness in (0.2, 0.08, 0.03, 0.01):
            near = (1 - closeness) * best + closeness * rng.dirichlet(np.ones(n), size=100)
            tried = np.concatenate([best[None, :], near])
            best = tried[int(np.argmax(self.expected_final(tried, steps)))]
        return best

    def _expect(self, ability_MD: FloatArray, of: Callable[[FloatArray], FloatArray]) -> FloatArray:
        """Return the mean over difficulties of a function of the solve rate."""
        logits = ability_MD[:, :, None] - self._spread_D[None, :, None] * _NODES
        return np.asarray(of(_sigmoid(logits)) @ _WEIGHTS)


def _identity(rate: FloatArray) -> FloatArray:
    return rate


def _variance(rate: FloatArray) -> FloatArray:
    return rate * (1 - rate)


def _sigmoid(logits: FloatArray) -> FloatArray:
    return np.asarray(0.5 * (1 + np.tanh(0.5 * logits)))


def _difficulty(rows: IntArray) -> FloatArray:
    """Return a standard normal number that belongs to the row (Box and Muller, from its hashes)."""
    first = splitmix64(rows.astype(np.uint64))
    second = splitmix64(first)
    radius = np.sqrt(-2 * np.log((first.astype(np.float64) + 1) / 2.0**64))
    return np.asarray(radius * np.cos(2 * np.pi * second.astype(np.float64) / 2.0**64))
