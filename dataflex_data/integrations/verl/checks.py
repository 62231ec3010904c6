"""What cannot work is refused before a GPU is asked for, with the line to write instead.

Everything here reads a configuration (and, where they are local, the columns of its files); nothing
needs Ray, torch or verl. The same checks run in `dfdata doctor`, at the start of ``main_ppo``, and
when the trainer is built.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from dataflex_data.core.errors import ConfigError, did_you_mean
from dataflex_data.integrations.verl.datafiles import (
    FILE_KEYS,
    local_files,
    numeric_extra_fields,
)
from dataflex_data.integrations.verl.mixture_checks import columns, data_sampler, mixture, told
from dataflex_data.integrations.verl.record import ledger_problems
from dataflex_data.integrations.verl.settings import (
    DOMAIN_KEY,
    TRAINER_MODES,
    RunSettings,
    get,
    plain,
    run_settings,
)
from dataflex_data.policies.checks import Host
from dataflex_data.policies.config import old_key_answer
from dataflex_data.policies.engine import Policies

REWARD_MODULE = "dataflex_data.integrations.verl.reward"
REWARD_LINES = (
    f"reward.custom_reward_function.path=pkg://{REWARD_MODULE} "
    "reward.custom_reward_function.name=compute_score"
)
ASYNC_MODES = ("colocate_async", "separate_async")
ENGINES = ("fsdp", "fsdp2")
_SECTIONS = ("trainer", "trainer.v1", "algorithm", "data", "actor_rollout_ref")
_COUNTS = (
    "data.train_batch_size",
    "data.gen_batch_size",
    "data.dataloader_num_workers",
    "actor_rollout_ref.rollout.n",
    "actor_rollout_ref.actor.ppo_mini_batch_size",
)


def require_possible(config: Any) -> None:  # noqa: ANN401 - verl's
    """Refuse a configuration that verl or we could not carry out as written.

    Raises:
        ConfigError: Lists all that is wrong.
    """
    found = list(problems(plain(config)))
    if found:
        raise ConfigError("verl configuration", found)


def problems(config: Mapping[str, Any]) -> Iterator[str]:
    """Yield what is wrong with verl's configuration, in words, each with its remedy."""
    ill_typed = list(_ill_typed(config))
    if ill_typed:
        yield from ill_typed
        return
    mode = str(get(config, "trainer.v1.trainer_mode") or "")
    block = config.get("dataflex")
    yield from _old_keys(config)
    if mode not in TRAINER_MODES:
        yield from _not_ours(config, mode, block)
        yield from told(_reward, config)
        return
    if get(config, "trainer.use_v1") is False:
        yield (
            "trainer.use_v1=False starts verl's legacy trainer, which knows no trainer_mode; "
            "remove it"
        )
    if not block:
        yield (
            f"trainer.v1.trainer_mode={mode} without any `dataflex` key would train like "
            "trainer_mode=sync. Say what to do, for example +dataflex.mechanism=select, or "
            "+dataflex.mechanism=none for a baseline"
        )
        return
    yield from told(_of_settings, config, block)
    yield from told(_reward, config)


def remarks(config: Mapping[str, Any]) -> list[str]:
    """Return what of our block has no effect, of a configuration without problems."""
    block = config.get("dataflex")
    if not block or get(config, "trainer.v1.trainer_mode") not in TRAINER_MODES:
        return []
    return Policies(run_settings(block), host_of(config), _loss_agg_mode(config)).remarks


def _loss_agg_mode(config: Mapping[str, Any]) -> str:
    return str(get(config, "actor_rollout_ref.actor.loss_agg_mode") or "token-mean")


def _of_settings(config: Mapping[str, Any], block: Mapping[str, Any]) -> Iterator[str]:
    settings = run_settings(block)
    if settings.mix is not None:
        yield from mixture(config, settings)
    else:
        yield from data_sampler(config)
        if settings.domain_key != DOMAIN_KEY:
            yield from told(columns, config, settings.domain_key, "to report by (`domain_key`)")
    yield from told(_policies, config, settings)
    yield from ledger_problems(config, settings)


def _ill_typed(config: Mapping[str, Any]) -> Iterator[str]:
    """Yield values of another type than verl's own configuration has there."""
    for path in _SECTIONS:
        held = get(config, path)
        if held is not None and not isinstance(held, Mapping):
            yield f"{path} must be a mapping of keys to values, got {held!r}"
    for path in _COUNTS:
        held = get(config, path)
        if held is not None and (isinstance(held, bool) or not isinstance(held, int)):
            yield f"{path} must be a whole number, got {held!r}"
    for path in ("actor_rollout_ref.actor", "actor_rollout_ref.rollout", "data.sampler"):
        held = get(config, path)
        if held is not None and not isinstance(held, Mapping):
            yield f"{path} must be a mapping of keys to values, got {held!r}"
    for path in FILE_KEYS:
        held = get(config, path)
        if held is not None and not isinstance(held, str | list | tuple):
            yield f"{path} must be a path or a list of paths, got {held!r}"


def _not_ours(config: Mapping[str, Any], mode: str, block: object) -> Iterator[str]:
    if block:
        if mode in ASYNC_MODES:
            yield (
                f"trainer.v1.trainer_mode={mode}: data policies are not supported under verl's "
                "asynchronous trainers, which draw prompts before earlier results are known. "
                "Set trainer.v1.trainer_mode=dataflex_sync"
            )
        else:
            yield (
                f"trainer.v1.trainer_mode={mode or 'None'} ignores the `dataflex` keys"
                f"{did_you_mean(mode, TRAINER_MODES) or '.'} "
                "Set trainer.v1.trainer_mode=dataflex_sync"
            )
    yield from data_sampler(config)


def _old_keys(config: Mapping[str, Any]) -> Iterator[str]:
    custom = "trainer.v1.sampler.custom_sampler"
    for key in (f"{custom}.path", f"{custom}.name"):
        value = get(config, key)
        answer = None if value is None else old_key_answer(key, value)
        if answer is not None:
            yield answer


def host_of(config: Mapping[str, Any]) -> Host:
    """Return what is known of the run, for the policies to check themselves against."""
    size = get(config, "actor_rollout_ref.rollout.n")
    return Host(
        adv_estimator=str(get(config, "algorithm.adv_estimator") or "gae"),
        group_size=int(size) if size else None,
        fields=_fields(config),
        norm_adv_by_std=get(config, "algorithm.norm_adv_by_std_in_grpo") is not False,
    )


def _fields(config: Mapping[str, Any]) -> set[str] | None:
    """Return the fields that batches will have; ``None`` where the data cannot be looked at."""
    columns = numeric_extra_fields(config)
    if columns is None:
        return None
    fields = {"rewards", "uid", "domain", "lengths", "advantages", "old_log_probs"}
    if not get(config, "algorithm.rollout_correction.bypass_mode"):
        fields.add("entropy")
    return fields | columns


def _policies(config: Mapping[str, Any], settings: RunSettings) -> Iterator[str]:
    actor = get(config, "actor_rollout_ref.actor") or {}
    loss_agg_mode = _loss_agg_mode(config)
    policies = Policies(settings, host_of(config), loss_agg_mode)
    if policies.pre_rollout is not None:
        yield from _pre_rollout(config, settings, policies.pre_rollout.name)
    mechanisms = {spec.mechanism for spec in settings.acting}
    if not mechanisms:
        return
    if get(config, "distillation.enabled"):
        yield "distillation.enabled=True has a loss of its own, which policies do not reach"
    selects = "select" in mechanisms
    mode = settings.mode if selects else None
    if "reweight" in mechanisms or mode == "weights":
        yield from _weights(config, actor)
    strategy = str(actor.get("strategy") or "fsdp")
    if mode == "drop" and strategy not in ENGINES:
        yield (
            f"actor_rollout_ref.actor.strategy={strategy}: dropping rows is supported on "
            f"{' and '.join(ENGINES)} only, whose loss denominators are known; use one of them"
        )
    if mode in ("mask", "weights"):
        yield from _one_mini_batch(config, actor, mode)
    if mode == "mask" and loss_agg_mode not in ("token-mean", "token-sum"):
        yield (
            f"mode=mask with loss_agg_mode={loss_agg_mode}: verl divides by the number of rows of "
            "the whole batch, masked or not. Use mode=drop, which is exact in every mode"
        )
    if mode == "weights":
        for key, what in (("use_kl_loss", "KL loss"), ("entropy_coeff", "entropy term")):
            if actor.get(key):
                yield (
                    f"mode=weights with actor.{key}={actor[key]}: weights do not reach the {what}, "
                    "which dropped rows would still pay. Use mode=drop"
                )


def _pre_rollout(config: Mapping[str, Any], settings: RunSettings, name: str) -> Iterator[str]:
    sampler = get(config, "data.sampler") or {}
    if settings.mix is None and "dataflex_data" in str(sampler.get("class_path") or ""):
        yield (
            f"selector {name!r} beside data.sampler: what it passes over is replaced by the next "
            "of the order, whatever its domain. Remove data.sampler and set "
            "policies=[{mechanism: mix, ...}, {mechanism: select, actuator: {name: greso}}], which "
            "refills from the same domain"
        )
    if get(config, "data.gen_batch_size") != 1:
        yield (
            f"selector {name!r} decides prompt by prompt, so that a resume loses none: "
            "set data.gen_batch_size=1"
        )
    if get(config, "algorithm.filter_groups.enable"):
        yield f"selector {name!r} and algorithm.filter_groups.enable=True both refill; use one"


def _weights(config: Mapping[str, Any], actor: Mapping[str, Any]) -> Iterator[str]:
    if get(config, "algorithm.rollout_correction.bypass_mode"):
        yield (
            "algorithm.rollout_correction.bypass_mode=True computes its own weights in the worker "
            "and ignores those given; set it to False, or select instead of reweighting"
        )
    loss = str(get(actor, "policy_loss.loss_mode") or "vanilla")
    if loss in ("geo_mean", "bypass_mode"):
        yield (
            f"actor.policy_loss.loss_mode={loss} does not multiply the loss by weights "
            "(geo_mean takes their logarithm); use another, such as vanilla"
        )


def _one_mini_batch(
    config: Mapping[str, Any], actor: Mapping[str, Any], mode: str
) -> Iterator[str]:
    whole, mini = get(config, "data.train_batch_size"), actor.get("ppo_mini_batch_size")
    if whole != mini:
        yield (
            f"mode={mode} is exact only with one optimiser step per batch, but "
            f"ppo_mini_batch_size is {mini} of {whole} prompts; use mode=drop"
        )


def _reward(config: Mapping[str, Any]) -> Iterator[str]:
    """Yield a problem where rows carry routes that the reward function configured does not know."""
    own = str(
        get(config, "reward.custom_reward_function.path")
        or get(config, "custom_reward_function.path")
        or ""
    )
    if get(config, "reward.reward_model.enable"):
        return
    is_ours = own.removeprefix("pkg://") == REWARD_MODULE
    if own and not is_ours:
        return  # what it knows cannot be told from here
    from dataflex_data.verifiers.routes import ROUTES

    for key in FILE_KEYS:
        for file in local_files(config, key):
            named = sorted(name for name in file.counts("data_source") if name)
            ours = [name for name in named if name in ROUTES]
            unknown = [name for name in named if name not in ROUTES]
            if is_ours and unknown:
                yield (
                    f"{file.path}: our reward function has no verifier for data_source "
                    f"{', '.join(unknown[:4])}{did_you_mean(unknown[0], ROUTES.names()) or '.'} "
                    "See `dfdata routes`, or set reward.custom_reward_function to one that knows it"
                )
                return
            ours = [name for name in ours if name.startswith("dataflex/")]
            if ours and not is_ours:
                yield (
                    f"{file.path}: verl has no reward function for data_source "
                    f"{', '.join(ours[:4])}. Add: {REWARD_LINES}"
                )
                return
