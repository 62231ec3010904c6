"""What cannot work is refused before a GPU is asked for, with the line to write instead.

Everything here reads a configuration (and, where they are local, the columns of its files); nothing
needs Ray, torch or verl. The same checks run in `dfdata doctor`, at the start of ``main_ppo``, and
when the trainer is built.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from dataflex_data.core.errors import ConfigError, DataflexError, did_you_mean
from dataflex_data.integrations.verl.settings import (
    TRAINER_MODES,
    RunSettings,
    plain,
    run_settings,
)
from dataflex_data.policies.checks import Host
from dataflex_data.policies.engine import Policies

REWARD_LINES = (
    "reward.custom_reward_function.path=pkg://dataflex_data.integrations.verl.reward "
    "reward.custom_reward_function.name=compute_score"
)
ASYNC_MODES = ("colocate_async", "separate_async")
ENGINES = ("fsdp", "fsdp2")


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
    mode = str(get(config, "trainer.v1.trainer_mode") or "")
    block = config.get("dataflex")
    yield from _old_keys(config)
    if mode not in TRAINER_MODES:
        yield from _not_ours(config, mode, block)
        yield from _reward(config)
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
    try:
        settings = run_settings(block)
    except ConfigError as error:
        yield from (f"dataflex: {problem}" for problem in error.problems)
        return
    except DataflexError as error:
        yield f"dataflex: {error}"
        return
    yield from _mixture(config, settings)
    yield from _policies(config, settings)
    yield from _columns(config, settings)
    yield from _reward(config)


def get(config: Mapping[str, Any], path: str) -> Any:  # noqa: ANN401 - a configuration's value
    """Return the value at a dotted path, ``None`` where there is none."""
    value: Any = config
    for key in path.split("."):
        if not isinstance(value, Mapping) or key not in value:
            return None
        value = value[key]
    return value


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
                f"trainer.v1.trainer_mode={mode} ignores the `dataflex` keys"
                f"{did_you_mean(mode, TRAINER_MODES)}. "
                "Set trainer.v1.trainer_mode=dataflex_sync"
            )
    sampler = get(config, "data.sampler") or {}
    if "dataflex_data" in str(sampler.get("class_path") or ""):
        from dataflex_data.integrations.verl.settings import sampler_settings
        from dataflex_data.samplers.mixer import MIXERS

        try:
            mixer = MIXERS.get(sampler_settings(sampler).actuator.name)
        except DataflexError as error:
            yield f"data.sampler: {error}"
            return
        if mixer.varies == "by_result":
            yield (
                f"data.sampler with the adaptive mixer {mixer.name!r}: verl's trainer never tells "
                "a sampler about rewards, so it would never move. Set instead: "
                "trainer.v1.trainer_mode=dataflex_sync +dataflex.mechanism=mix "
                f"+dataflex.actuator.name={mixer.name}"
            )


def _old_keys(config: Mapping[str, Any]) -> Iterator[str]:
    custom = get(config, "trainer.v1.sampler.custom_sampler") or {}
    if "dataflex" in str(custom.get("path") or ""):
        yield (
            f"trainer.v1.sampler.custom_sampler.path={custom['path']} belongs to the public "
            "DataFlex plugin and is not needed: prompts are drawn by quota before they are "
            "generated. Remove it and custom_sampler.name; write "
            "trainer.v1.trainer_mode=dataflex_sync +dataflex.mechanism=mix"
        )


def _mixture(config: Mapping[str, Any], settings: RunSettings) -> Iterator[str]:
    mix = settings.mix
    if mix is None:
        return
    from dataflex_data.samplers.mixer import MIXERS

    try:
        mixer = MIXERS.get(mix.actuator.name)
    except DataflexError as error:
        yield f"dataflex.actuator.name: {error}"
        return
    workers = get(config, "data.dataloader_num_workers")
    if workers and mixer.varies == "by_result":
        yield (
            f"data.dataloader_num_workers={workers}: workers would draw {2 * workers + 2} batches "
            f"before the mixer {mixer.name!r} knows the first result. "
            "Set data.dataloader_num_workers=0"
        )
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
    if (get(config, "trainer.v1.sync.parameter_sync_step") or 1) != 1:
        yield "trainer.v1.sync.parameter_sync_step must be 1 with a mixture: one report per batch"
    if get(config, "skip.rollout_tq.enable"):
        yield "skip.rollout_tq.enable=True replays stored rollouts, whatever is drawn; unset it"
    sampler = get(config, "data.sampler") or {}
    if sampler.get("class_path"):
        yield "data.sampler and dataflex.mechanism=mix both choose the sampler; remove data.sampler"


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
    import pyarrow as pa

    fields = {"rewards", "uid", "domain", "lengths", "advantages", "old_log_probs"}
    if not get(config, "algorithm.rollout_correction.bypass_mode"):
        fields.add("entropy")
    schemas = [schema for _, schema in _schemas(config, "data.train_files")]
    if not schemas:
        return None
    for schema in schemas:
        if "extra_info" in schema.names and pa.types.is_struct(schema.field("extra_info").type):
            fields |= {
                inner.name
                for inner in schema.field("extra_info").type
                if pa.types.is_floating(inner.type) or pa.types.is_integer(inner.type)
            }
    return fields


def _policies(config: Mapping[str, Any], settings: RunSettings) -> Iterator[str]:
    actor = get(config, "actor_rollout_ref.actor") or {}
    loss_agg_mode = str(actor.get("loss_agg_mode") or "token-mean")
    try:
        policies = Policies(settings, host_of(config), loss_agg_mode)
    except ConfigError as error:
        yield from (f"dataflex: {problem}" for problem in error.problems)
        return
    except DataflexError as error:
        yield f"dataflex: {error}"
        return
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
    if settings.mix is not None:
        yield (
            f"selector {name!r} beside a mixture is not supported inside verl: it draws more "
            "prompts than the quota has. Use dapo_dynamic, which acts after the rollout"
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


def _columns(config: Mapping[str, Any], settings: RunSettings) -> Iterator[str]:
    if settings.mix is None:
        return
    column = settings.domain_key.split(".")[0]
    for path, schema in _schemas(config, "data.train_files"):
        if column not in schema.names:
            yield (
                f"{path} has no column {column!r} to mix by{did_you_mean(column, schema.names)} "
                f"(columns: {', '.join(schema.names)}). Build the data with `dfdata build`, or "
                "name the column: +dataflex.domain_key=COLUMN"
            )


def _reward(config: Mapping[str, Any]) -> Iterator[str]:
    """Yield a problem where rows carry our routes and nothing configured knows them."""
    if get(config, "reward.custom_reward_function.path") or get(
        config, "custom_reward_function.path"
    ):
        return
    if get(config, "reward.reward_model.enable"):
        return
    import pyarrow.parquet as pq

    for key in ("data.train_files", "data.val_files"):
        for path, schema in _schemas(config, key):
            if "data_source" not in schema.names:
                continue
            table = pq.read_table(path, columns=["data_source"])
            ours = sorted(
                {str(v) for v in table.column(0).unique().to_pylist() if v} & _routes_of_ours()
            )
            if ours:
                yield (
                    f"{path}: verl has no reward function for data_source {', '.join(ours[:4])}. "
                    f"Add: {REWARD_LINES}"
                )
                return


def _routes_of_ours() -> set[str]:
    from dataflex_data.verifiers.routes import ROUTES

    return {name for name in ROUTES.names() if name.startswith("dataflex/")}


def _schemas(config: Mapping[str, Any], key: str) -> Iterator[tuple[Path, Any]]:
    """Yield the local parquet files that ``key`` names, with their schemas."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    files = get(config, key) or []
    for file in [files] if isinstance(files, str) else files:
        path = Path(str(file)).expanduser()
        if path.suffix != ".parquet" or not path.is_file():
            continue  # remote, or for verl to complain about
        try:
            yield path, pq.read_schema(path)
        except (pa.ArrowException, OSError) as error:
            raise ConfigError(key, [f"{path} cannot be read as parquet: {error}"]) from None
