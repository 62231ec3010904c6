"""The ``dataflex`` keys of a verl command line, as typed values."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal, TypeAlias

from pydantic import Field

from dataflex_data.core.config import Config, parse_config
from dataflex_data.core.errors import ConfigError
from dataflex_data.policies.config import ComponentSpec, PoliciesConfig, PolicySpec
from dataflex_data.policies.presets import preset

TRAINER_MODES = ("dataflex_sync", "dataflex_mix_sync")
SelectMode: TypeAlias = Literal["drop", "mask", "weights"]


class RunSettings(PoliciesConfig):
    """The whole ``dataflex`` block: the policies, and how they act inside verl.

    Attributes:
        mode: How a selection acts: rows are not sent to the update (``drop``); their masks are
            zero; or the kept ones are weighted up.
        max_epochs: How often a domain's rows may be drawn.
        on_inert: ``warn`` or ``error`` where the signal cannot move the mixture.
        on_change: ``error`` or ``adapt`` where a checkpoint is of other data.
        ledger: File that records every step; ``ledger.jsonl`` among the checkpoints by default,
            ``none`` for no record.
        poll_interval_s: How often verl looks for finished prompts; verl's 2 s by default.
    """

    mode: SelectMode = "drop"
    max_epochs: int | dict[str, int] | None = None
    on_inert: Literal["warn", "error"] = "warn"
    on_change: Literal["error", "adapt"] = "error"
    ledger: str | None = None
    poll_interval_s: float | None = Field(default=None, gt=0)

    @property
    def mix(self) -> MixSettings | None:
        """The mixture, if there is one."""
        spec = next((spec for spec in self.specs if spec.mechanism == "mix"), None)
        if spec is None:
            return None
        return MixSettings(
            actuator=with_window(spec),
            warmup_step=spec.warmup_step,
            update_step=spec.update_step,
            domains=self.domains or None,
            domain_key=self.domain_key,
            max_epochs=self.max_epochs,
            on_inert=self.on_inert,
            on_change=self.on_change,
        )

    @property
    def acting(self) -> tuple[PolicySpec, ...]:
        """The policies that select and reweight."""
        return tuple(spec for spec in self.specs if spec.mechanism != "mix")


class MixSettings(Config):
    """A mixture.

    Attributes:
        actuator: The mixer.
        warmup_step: Batches by the mixer's initial proportions before it acts.
        update_step: Batches between two changes of the proportions.
        domains: The domains there must be; all that are found by default.
        domain_key: Column that holds the domain; dots lead into structs.
        max_epochs: How often a domain's rows may be drawn.
        seed: Of the order; ``data.seed`` by default.
        on_inert: ``warn`` or ``error`` where the signal cannot move the mixture.
        on_change: ``error`` or ``adapt`` where a checkpoint is of other data.
    """

    actuator: ComponentSpec = ComponentSpec(name="static")
    warmup_step: int = Field(default=1, ge=0)
    update_step: int = Field(default=1, ge=1)
    domains: tuple[str, ...] | None = None
    domain_key: str = "domain"
    max_epochs: int | dict[str, int] | None = None
    seed: int | None = Field(default=None, ge=0)
    on_inert: Literal["warn", "error"] = "warn"
    on_change: Literal["error", "adapt"] = "error"


class _SamplerKeys(MixSettings):
    class_path: str | None = None
    class_name: str | None = None


def with_window(spec: PolicySpec) -> ComponentSpec:
    """Return the mixer with the policy's window as its parameter.

    Raises:
        ConfigError: The parameters name another.
    """
    if spec.window is None:
        return spec.actuator
    held = spec.actuator.params.get("window", spec.window)
    if held != spec.window:
        raise ConfigError(
            "dataflex", [f"window is {spec.window}, and actuator.params.window {held}; keep one"]
        )
    return ComponentSpec(
        name=spec.actuator.name, params={**spec.actuator.params, "window": spec.window}
    )


def get(config: Mapping[str, Any], path: str) -> Any:  # noqa: ANN401 - a configuration's value
    """Return the value at a dotted path, ``None`` where there is none."""
    value: Any = config
    for key in path.split("."):
        if not isinstance(value, Mapping) or key not in value:
            return None
        value = value[key]
    return value


def plain(config: Any) -> Any:  # noqa: ANN401 - OmegaConf's containers are of any type
    """Return OmegaConf's mapping or list as plain values; plain values as they are."""
    try:
        from omegaconf import DictConfig, ListConfig, OmegaConf
    except ImportError:
        return config
    if isinstance(config, DictConfig | ListConfig):
        return OmegaConf.to_container(config, resolve=True)
    return config


def sampler_settings(keys: Mapping[str, Any]) -> MixSettings:
    """Return what verl's ``data.sampler`` says.

    Raises:
        ConfigError: A key is unknown or ill-typed; all at once.
    """
    return parse_config(_SamplerKeys, keys, "data.sampler")


def run_settings(keys: Mapping[str, Any] | None) -> RunSettings:
    """Return the ``dataflex`` block; ``preset`` stands for the keys of a preset.

    Raises:
        ConfigError: A key is unknown, missing or ill-typed; all at once.
        UnknownNameError: There is no such preset.
    """
    if not isinstance(keys, Mapping):
        return parse_config(RunSettings, {} if keys is None else keys, "dataflex")
    given = dict(keys)
    name = given.pop("preset", None)
    if name is not None:
        block = preset(str(name)).config
        twice = sorted(set(block) & set(given))
        if twice:
            raise ConfigError(
                "dataflex", [f"preset {name} sets {key} already; drop one" for key in twice]
            )
        given = {**block, **given}
    return parse_config(RunSettings, given, "dataflex")
