"""Combinations that cannot work, refused before training, each with its reason."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass
from typing import Any, Protocol

from dataflex_data.core.errors import ConfigError, did_you_mean
from dataflex_data.policies.component import Reweighter, Scorer, Selector
from dataflex_data.policies.config import PoliciesConfig, PolicySpec

# All that verl 0.9.1 has; it takes others that are registered with it.
ESTIMATORS = (
    "gae",
    "gdpo",
    "gpg",
    "grpo",
    "grpo_passk",
    "grpo_vectorized",
    "opo",
    "optimal_token_baseline",
    "reinforce_plus_plus",
    "reinforce_plus_plus_baseline",
    "remax",
    "rloo",
    "rloo_vectorized",
    "tir_optimal_token_baseline",
)
CUSTOM = "custom:"
# Estimators of verl 0.9.1 whose baseline is not the other responses to the same prompt.
UNGROUPED_ESTIMATORS = frozenset({"gae", "reinforce_plus_plus", "remax"})
# Those that a group's rewards alone determine as (r - mean) / std, or r - mean.
RECOMPUTABLE_ESTIMATORS = frozenset({"grpo", "grpo_vectorized"})

_WANTS = {
    "group": "one number per group",
    "response": "one number per response",
    "token": "one number per token",
}
# Keys of the block that only one mechanism has a use for; some are of the run inside verl.
_ONLY_FOR = {
    "mix": ("mixes", ("domains", "max_epochs", "on_inert", "on_change")),
    "select": ("selects", ("mode", "on_empty")),
}
# What a scorer named beside a mixer would be asked to measure.
_SCORER_SIGNALS = {
    "reward_difficulty": {"mean_reward", "reward_slope"},
    "group_solve_rate": {"solve_counts"},
    "advantage_magnitude": {"mean_abs_advantage"},
    "group_variance": {"group_variance"},
}


@dataclass(frozen=True, slots=True)
class Host:
    """What is known of the run before it starts; ``None`` where it is not.

    Attributes:
        adv_estimator: verl's ``algorithm.adv_estimator``.
        group_size: Responses per prompt.
        fields: Fields that a batch will have.
        norm_adv_by_std: verl's ``algorithm.norm_adv_by_std_in_grpo``.
    """

    adv_estimator: str | None = None
    group_size: int | None = None
    fields: Collection[str] | None = None
    norm_adv_by_std: bool = True


class MixerCheck(Protocol):
    """Looks at a mixer, which the policies themselves know by name alone."""

    @property
    def names(self) -> Collection[str]:
        """Names of all mixers."""

    def problems(self, spec: PolicySpec, host: Host, domains: Collection[str]) -> Iterable[str]:
        """Yield why the mixer cannot work in this run."""


def estimator_named(text: str | None) -> str | None:
    """Return the estimator that a user names; one of their own is written ``custom:NAME``.

    Raises:
        ConfigError: It is neither verl's nor said to be custom.
    """
    if text is None or text in ESTIMATORS:
        return text
    name = text.removeprefix(CUSTOM)
    if text.startswith(CUSTOM) and name:
        return name
    raise ConfigError(
        "adv_estimator",
        [
            f"{text!r} is none of verl 0.9.1's{did_you_mean(text, ESTIMATORS)} "
            f"(verl's: {', '.join(ESTIMATORS)}); one that you register yourself is written "
            f"{CUSTOM}{name or 'NAME'}"
        ],
    )


def host_remarks(host: Host) -> Iterator[str]:
    """Yield what could not be checked about the run."""
    name = host.adv_estimator
    if name is not None and name not in ESTIMATORS:
        yield (
            f"adv_estimator {name!r} is none of verl 0.9.1's"
            f"{did_you_mean(name, ESTIMATORS) or '.'} "
            "If it is your own, whether it has groups could not be checked"
        )


def idle_key_problems(config: PoliciesConfig) -> Iterator[str]:
    """Yield the keys that are written and have no effect, for want of what they are about."""
    mechanisms = {spec.mechanism for spec in config.specs}
    for mechanism, (acts, keys) in _ONLY_FOR.items():
        idle = [
            f"`{key}`"
            for key in keys
            if key in config.model_fields_set and getattr(config, key) not in (None, ())
        ]
        if idle and mechanism not in mechanisms:
            verb = "has" if len(idle) == 1 else "have"
            yield f"{' and '.join(idle)} {verb} no effect: nothing here {acts}"


def scorer_problems(scorer: Scorer, host: Host) -> Iterator[str]:
    """Yield why the scorer cannot work in this run."""
    name = f"scorer {scorer.name!r}"
    if scorer.needs_groups:
        yield from _group_problems(name, host)
    if host.fields is not None:
        lacking = [field for field in scorer.reads if field not in host.fields]
        if lacking:
            yield (
                f"{name} reads {', '.join(lacking)}, which the batch will not have "
                f"(it has: {', '.join(sorted(host.fields))})"
            )


def pairing_problems(
    actuator: Selector | Reweighter, scorer: Scorer | None, host: Host
) -> Iterator[str]:
    """Yield why the actuator cannot work with this scorer, or in this run."""
    kind = "selector" if isinstance(actuator, Selector) else "reweighter"
    name = f"{kind} {actuator.name!r}"
    needs_scorer = not isinstance(actuator, Selector) or actuator.needs_scorer
    if scorer is None and needs_scorer and _reads_scorer(actuator):
        yield f"{name} needs the key `scorer`"
    if scorer is not None and not needs_scorer:
        yield f"{name} reads no scorer; leave the key `scorer` out"
    if scorer is not None and needs_scorer and _reads_scorer(actuator):
        given = scorer.score_granularity
        if given not in actuator.accepts:
            accepted = " or ".join(_WANTS[granularity] for granularity in actuator.accepts)
            yield (
                f"{name} needs {accepted}; scorer {scorer.name!r} gives {_WANTS[given]}"
                + _remedy(actuator, scorer)
            )
    if isinstance(actuator, Selector):
        needs = (
            actuator.needs_groups
            or getattr(getattr(actuator, "match", None), "needs_groups", False)
            or actuator.unit == "member"
        )
        if needs:
            yield from _group_problems(name, host)
        estimator = host.adv_estimator
        if (
            actuator.recomputes
            and estimator is not None
            and estimator not in RECOMPUTABLE_ESTIMATORS
            and estimator not in UNGROUPED_ESTIMATORS
        ):
            yield (
                f"{name} makes advantages anew as (r - mean) / std, which adv_estimator "
                f"{estimator!r} does not do; set its parameter `recompute: false`"
            )
    # One response per prompt is refused above, where groups are needed.
    size = host.group_size if (host.group_size or 0) > 1 else None
    idle = actuator.idle(scorer, size)
    if idle is not None:
        yield f"{name}: {idle}"


def pairing_remarks(actuator: Selector | Reweighter, scorer: Scorer | None) -> Iterator[str]:
    """Yield what is written without effect, and may stand all the same."""
    if scorer is not None and not _reads_scorer(actuator):
        yield (
            f"selector {actuator.name!r} with these parameters reads no scorer: "
            f"{scorer.name!r} has no effect"
        )


def _reads_scorer(actuator: Selector | Reweighter) -> bool:
    return not isinstance(actuator, Selector) or actuator.reads_scorer


def mix_problems(
    mixer: str, signal: str, scorer: str | None, needs: str | None, fields: Collection[str] | None
) -> list[str]:
    """Return why a mixer would not get its signal.

    Args:
        mixer: Its name.
        signal: The signal that it declares, ``"none"`` for none.
        scorer: The scorer written beside it, if any.
        needs: The field that the signal is made of, if any.
        fields: Fields that a batch will have, where known.
    """
    problems = []
    measured = None if scorer is None else _SCORER_SIGNALS.get(scorer)
    if scorer is not None and signal != "none" and (measured is None or signal not in measured):
        fitting = [name for name, signals in _SCORER_SIGNALS.items() if signal in signals]
        instead = f"write scorer {fitting[0]!r} or leave it out" if fitting else "leave it out"
        problems.append(
            f"mixer {mixer!r} reads the signal {signal}, which scorer {scorer!r} does not measure; "
            f"{instead}"
        )
    if needs is not None and fields is not None and needs not in fields:
        problems.append(
            f"mixer {mixer!r} reads {needs} for its signal {signal}, which the batch will not have"
        )
    return problems


def _group_problems(name: str, host: Host) -> Iterator[str]:
    if host.adv_estimator in UNGROUPED_ESTIMATORS:
        yield (
            f"{name} compares the responses to one prompt, but adv_estimator "
            f"{host.adv_estimator!r} has no groups; use grpo, rloo or another group estimator"
        )
    if host.group_size is not None and host.group_size < 2:
        yield (
            f"{name} compares the responses to one prompt, but rollout.n is {host.group_size}; "
            "set it to at least 2"
        )


def _remedy(actuator: Any, scorer: Scorer) -> str:  # noqa: ANN401 - any actuator
    if scorer.score_granularity == "token" and "response" in actuator.accepts:
        return "; set the scorer's parameter `agg: mean`"
    if actuator.name == "threshold_band" and scorer.score_granularity == "token":
        return (
            "; use group_solve_rate, or set `unit: response` to look at each response alone and "
            "the scorer's parameter `agg: mean`"
        )
    if actuator.name == "threshold_band":
        return "; use group_solve_rate, or set `unit: response` to look at each response alone"
    if actuator.name == "difficulty_band":
        return "; use group_solve_rate, or set `by: quantile`"
    return ""
