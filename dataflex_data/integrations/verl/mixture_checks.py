"""What of a run does not go with a mixture, whichever of the two ways asks for one."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any

from dataflex_data.core.errors import ConfigError, DataflexError, did_you_mean
from dataflex_data.integrations.verl.datafiles import (
    FILE_KEYS,
    domains_of,
    local_files,
    rows_by_domain,
)
from dataflex_data.integrations.verl.settings import (
    MixSettings,
    RunSettings,
    get,
    sampler_settings,
)
from dataflex_data.policies.config import PolicySpec
from dataflex_data.scheduling import mixer_problems

OURS = "dataflex_data.integrations.verl.sampler"
CLASS_NAME = "DataFlexSampler"
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
    yield from told(columns, config, mix.domain_key)
    yield from told(_filled, config, mix.domain_key)
    yield from told(_max_epochs, config, mix)


def data_sampler(config: Mapping[str, Any]) -> Iterator[str]:
    """Yield what is wrong with a mixture that ``data.sampler`` asks for, if it does."""
    keys = get(config, "data.sampler") or {}
    path, name = str(keys.get("class_path") or ""), str(keys.get("class_name") or "")
    whole = f"+data.sampler.class_path=pkg://{OURS} +data.sampler.class_name={CLASS_NAME}"
    if bool(path) != bool(name):
        given, lacking = ("class_path", "class_name") if path else ("class_name", "class_path")
        yield (
            f"data.sampler.{given}={path or name} without data.sampler.{lacking} names no sampler; "
            f"ours is {whole}"
        )
        return
    module = path.removeprefix("pkg://")
    if module == OURS and name == CLASS_NAME:
        yield from told(_of_data_sampler, config, keys, key="data.sampler")
    elif module == OURS or module.split(".")[0] == "dataflex_data":
        yield f"data.sampler: there is no sampler {name} in {path}; ours is {whole}"


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
    yield from columns(config, mix.domain_key, key="data.sampler.domain_key")
    yield from _filled(config, mix.domain_key)
    yield from _max_epochs(config, mix)


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


def _max_epochs(config: Mapping[str, Any], mix: MixSettings) -> Iterator[str]:
    """Yield why ``max_epochs`` cannot be kept, or leaves too few rows for the steps asked for."""
    limit = mix.max_epochs
    rows = rows_by_domain(config, mix.domain_key)
    domains = sorted(rows or mix.domains or ())
    if limit is None or not domains:
        return
    unknown = [name for name in limit if name not in domains] if isinstance(limit, dict) else []
    for name in unknown:
        yield (
            f"max_epochs names {name!r}, which is no domain{did_you_mean(name, domains)} "
            f"(domains: {', '.join(domains)})"
        )
    caps = {name: limit.get(name) if isinstance(limit, dict) else limit for name in rows}
    batch, steps = get(config, "data.train_batch_size"), get(config, "trainer.total_training_steps")
    asked = f"trainer.total_training_steps={steps}"
    if steps is None:
        epochs = get(config, "trainer.total_epochs")
        whole = bool(batch) and isinstance(epochs, int)
        steps = sum(rows.values()) // batch * epochs if whole else None
        asked = f"trainer.total_epochs={epochs}"
    if unknown or not rows or not batch or not isinstance(steps, int):
        return
    if None in caps.values() or get(config, "trainer.val_only"):
        return
    drawn = sum(rows[name] * (cap or 0) for name, cap in caps.items())
    if drawn // batch < steps:
        listed = ", ".join(f"{name} {rows[name]:,} x {caps[name]}" for name in domains)
        yield (
            f"max_epochs allows {drawn:,} rows ({listed}), which are {drawn // batch:,} batches of "
            f"{batch}, and the run is to make {steps:,} steps ({asked}). Raise max_epochs, or set "
            f"trainer.total_training_steps={drawn // batch}"
        )


def columns(
    config: Mapping[str, Any],
    domain_key: str,
    purpose: str = "to mix by",
    key: str = "dataflex.domain_key",
) -> Iterator[str]:
    """Yield which training files have no such column, and by which key to name another."""
    column, *inner = domain_key.split(".")
    for file in local_files(config, FILE_KEYS[0]):
        if column not in file.columns:
            yield (
                f"{file.path} has no column {column!r} {purpose}"
                f"{did_you_mean(column, file.columns)} (columns: {', '.join(file.columns)}). "
                "Build the data with `dfdata build`, or name the column: "
                f"+{key}=COLUMN"
            )
        elif inner and not file.counts(domain_key):
            yield f"{file.path}: column {column!r} has no field {'.'.join(inner)!r} {purpose}"


def _filled(config: Mapping[str, Any], domain_key: str) -> Iterator[str]:
    """Yield which training files have rows without a domain."""
    for file in local_files(config, FILE_KEYS[0]):
        counts = file.counts(domain_key)
        if None in counts:
            yield (
                f"{file.path}: {counts[None]} of {file.rows} rows have no {domain_key!r}; "
                "every row needs a domain"
            )
