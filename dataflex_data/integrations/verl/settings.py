"""The ``dataflex`` keys of a verl command line, as typed values."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Mapping
from typing import Annotated, Any, Literal, TypeAlias

from pydantic import AfterValidator, Field

from dataflex_data.core.config import Config, parse_config
from dataflex_data.core.errors import ConfigError
from dataflex_data.policies.config import ComponentSpec, PoliciesConfig, PolicySpec, Seed
from dataflex_data.policies.presets import preset

DOMAIN_KEY = "domain"
TRAINER_MODES = ("dataflex_sync", "dataflex_mix_sync")
SelectMode: TypeAlias = Literal["drop", "mask", "weights"]
# What the variables of examples/configs are.
_VARIABLES = {
    "DATAFLEX_DATA": "FOLDER, which holds train.parquet and validation.parquet",
    "DATAFLEX_MODEL": "MODEL, a folder or a name on the Hugging Face Hub",
}
_VARIABLE = re.compile(r"\$\{oc\.env:\s*(\w+)\s*\}")


def _at_least_one(value: int | dict[str, int]) -> int | dict[str, int]:
    if any(cap < 1 for cap in (value.values() if isinstance(value, dict) else (value,))):
        raise ValueError("must be a whole number of at least 1, for all domains or by name")
    return value


MaxEpochs: TypeAlias = Annotated[int | dict[str, int], AfterValidator(_at_least_one)]


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
    max_epochs: MaxEpochs | None = None
    on_inert: Literal["warn", "error"] = "warn"
    on_change: Literal["error", "adapt"] = "error"
    ledger: str | None = None
    poll_interval_s: float | None = Field(default=None, gt=0, allow_inf_nan=False)

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
    domain_key: str = DOMAIN_KEY
    max_epochs: MaxEpochs | None = None
    seed: Seed | None = None
    on_inert: Literal["warn", "error"] = "warn"
    on_change: Literal["error", "adapt"] = "error"


class _Block(RunSettings):
    # For the list of known keys: a preset is written out before the block is read.
    preset: None = None


class _StaticUnlessNamed(ComponentSpec):
    name: str = "static"


class _SamplerKeys(MixSettings):
    actuator: _StaticUnlessNamed = _StaticUnlessNamed()
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
    if not isinstance(config, DictConfig | ListConfig):
        return config
    require_variables(OmegaConf.to_container(config, resolve=False))
    return OmegaConf.to_container(config, resolve=True)


def require_variables(written: Any) -> None:  # noqa: ANN401 - a configuration's value
    """Refuse a configuration that reads environment variables which are not set.

    Raises:
        ConfigError: Names them all, and the keys that read them.
    """
    keys_by_name: dict[str, list[str]] = {}
    for key, text in _texts(written):
        for name in _VARIABLE.findall(text):
            if name not in os.environ:
                keys_by_name.setdefault(name, []).append(key)
    if keys_by_name:
        problems = [
            f"{', '.join(keys)} {'reads' if len(keys) == 1 else 'read'} the environment variable "
            f"{name}, which is not set. First: export {name}={_VARIABLES.get(name, 'VALUE')}"
            for name, keys in sorted(keys_by_name.items())
        ]
        raise ConfigError("verl configuration", problems)


def _texts(value: Any, path: str = "") -> Iterator[tuple[str, str]]:  # noqa: ANN401
    if isinstance(value, Mapping):
        for key, item in value.items():
            yield from _texts(item, f"{path}.{key}" if path else str(key))
    elif isinstance(value, list):
        for item in value:
            yield from _texts(item, path)
    elif isinstance(value, str):
        yield path, value


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
        given = {**_written_out(name, given), **given}
    return parse_config(_Block, given, "dataflex")


def _written_out(name: object, beside: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return a preset's keys, where what stands beside it does not speak of the same."""
    if not isinstance(name, str):
        raise ConfigError(
            "dataflex",
            [f"preset is one name, got {name!r}; several policies are written under `policies`"],
        )
    block = preset(name).config
    instead = f"`dfdata policies show {name}` prints its keys: write those"
    if "policies" in beside:
        raise ConfigError(
            "dataflex",
            [f"preset {name} is a policy by itself, beside `policies`. {instead} as one of them"],
        )
    twice = [key for key in block if key in beside]
    if twice:
        raise ConfigError(
            "dataflex",
            [
                f"preset {name} sets {', '.join(twice)} already. To change a value: {instead} in "
                f"place of preset={name}"
            ],
        )
    return block
