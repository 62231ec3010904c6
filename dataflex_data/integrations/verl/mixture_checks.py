"""What of a run does not go with a mixture, whichever of the two ways asks for one."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any

from dataflex_data.core.errors import ConfigError, DataflexError, did_you_mean
from dataflex_data.integrations.verl.datafiles import FILE_KEYS, domains_of, local_files
from dataflex_data.integrations.verl.settings import (
    MixSettings,
    RunSettings,
    get,
    sampler_settings,
)
from dataflex_data.policies.config import PolicySpec
from dataflex_data.scheduling import mixer_problems

OURS = "dataflex_data.integrations.verl.sampler"
# Signals that a step of verl does not hold, and what they would be made of.
_NOT_IN_VERL = {"loss": "losses", "excess_loss": "losses of a reference model"}


def told(
    check: Callable[..., Iterable[str]], *given: object, key: str = "dataflex"
) -> Iterator[str]:
    """Yield what a check says, and what it raises in our own words, with the key it is about."""
    try:
        yield from check(*given)
    except ConfigError as error:
        names_key = error.where == key or error.where.startswith("data.")
        where = error.where if names_key else f"{key}: {error.where}"
        yield from (f"{where}: {problem}" for problem in error.problems)
    except DataflexError as error:
        yield f"{key}: {error}"


def mixture(config: Mapping[str, Any], settings: RunSettings) -> Iterator[str]:
    """Yield what is wrong with a mixture under our trainer."""
    mix = settings.mix
    if mix is None:
        return
    spec = next(spec for spec in settings.specs if spec.mechanism == "mix")
    yield from told(_mixer, config, spec, mix, "dataflex")
    yield from _run(config, mix)
    yield from told(_columns, config, mix.domain_key)


def data_sampler(config: Mapping[str, Any]) -> Iterator[str]:
    """Yield what is wrong with a mixture that ``data.sampler`` asks for, if it does."""
    keys = get(config, "data.sampler") or {}
    if str(keys.get("class_path") or "").removeprefix("pkg://") == OURS:
        yield from told(_of_data_sampler, config, keys, key="data.sampler")


def _of_data_sampler(config: Mapping[str, Any], keys: Mapping[str, Any]) -> Iterator[str]:
    from dataflex_data.samplers.mixer import MIXERS

    mix = sampler_settings(keys)
    mixer = MIXERS.get(mix.actuator.name)
    if mixer.varies == "by_result":
        yield (
            f"data.sampler with the adaptive mixer {mixer.name!r}: verl's trainer never tells "
            "a sampler about rewards, so it would never move. Set instead: "
            "trainer.v1.trainer_mode=dataflex_sync +dataflex.mechanism=mix "
            f"+dataflex.actuator.name={mixer.name}"
        )
        return
    spec = PolicySpec(mechanism="mix", actuator=mix.actuator)
    yield from told(_mixer, config, spec, mix, "data.sampler", key="data.sampler")
    yield from _refills(config)
    yield from _columns(config, mix.domain_key)


def _mixer(
    config: Mapping[str, Any], spec: PolicySpec, mix: MixSettings, key: str
) -> Iterator[str]:
    """Yield why the mixer cannot work, as far as the domains are known."""
    domains, found = mix.domains, domains_of(config, mix.domain_key)
    if domains is not None and found and set(domains) != set(found):
        yield (
            f"domains are to be {', '.join(domains)}, and the training data have {', '.join(found)}"
        )
    for problem in mixer_problems(spec, domains or found or (), _NOT_IN_VERL):
        yield f"{key}: {problem}"


def _run(config: Mapping[str, Any], mix: MixSettings) -> Iterator[str]:
    """Yield what of verl's own keys does not go with a mixture."""
    from dataflex_data.samplers.mixer import MIXERS

    name = mix.actuator.name
    workers = get(config, "data.dataloader_num_workers")
    if workers and name in MIXERS and MIXERS.get(name).varies == "by_result":
        yield (
            f"data.dataloader_num_workers={workers}: workers would draw {2 * workers + 2} batches "
            f"before the mixer {name!r} knows the first result. "
            "Set data.dataloader_num_workers=0"
        )
    yield from _refills(config)
    if (get(config, "trainer.v1.sync.parameter_sync_step") or 1) != 1:
        yield "trainer.v1.sync.parameter_sync_step must be 1 with a mixture: one report per batch"
    if get(config, "skip.rollout_tq.enable"):
        yield "skip.rollout_tq.enable=True replays stored rollouts, whatever is drawn; unset it"
    sampler = get(config, "data.sampler") or {}
    if sampler.get("class_path"):
        yield "data.sampler and dataflex.mechanism=mix both choose the sampler; remove data.sampler"


def _refills(config: Mapping[str, Any]) -> Iterator[str]:
    if get(config, "algorithm.filter_groups.enable"):
        yield (
            "algorithm.filter_groups.enable=True replaces filtered groups by others, so that the "
            "realised mixture would not be its quota. Set it to False, and filter with a policy "
            "instead: policies=[{mechanism: mix, ...}, {mechanism: select, "
            "actuator: {name: dapo_dynamic}}]"
        )
    if get(config, "trainer.v1.sampler.sync_refill_failed_groups"):
        yield (
            "trainer.v1.sampler.sync_refill_failed_groups=True draws more prompts than the quota "
            "has; set it to False"
        )


def _columns(config: Mapping[str, Any], domain_key: str) -> Iterator[str]:
    column, *inner = domain_key.split(".")
    for file in local_files(config, FILE_KEYS[0]):
        if column not in file.columns:
            yield (
                f"{file.path} has no column {column!r} to mix by"
                f"{did_you_mean(column, file.columns)} (columns: {', '.join(file.columns)}). "
                "Build the data with `dfdata build`, or name the column: "
                "+dataflex.domain_key=COLUMN"
            )
            continue
        counts = file.counts(domain_key)
        if inner and not counts:
            yield f"{file.path}: column {column!r} has no field {'.'.join(inner)!r} to mix by"
        if None in counts:
            yield (
                f"{file.path}: {counts[None]} of {file.rows} rows have no {domain_key!r}; "
                "every row needs a domain"
            )
