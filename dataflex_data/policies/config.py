"""Configuration of data policies: the public plugin's one mechanism, or several in one run.

The plugin's form is read as it stands: ``mechanism``, ``scorer``, ``actuator``, ``warmup_step``,
``update_step``, ``domains``, ``domain_key``, ``window``. The composed form lists such policies
under ``policies``. Mixers live in another part of the package: here they are a name and parameters.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any, Literal, TypeAlias

from pydantic import AfterValidator, Field, model_validator
from typing_extensions import Self

from dataflex_data.core.config import Config
from dataflex_data.core.plugins import import_component_file

Mechanism: TypeAlias = Literal["mix", "select", "reweight"]
OnEmpty: TypeAlias = Literal["skip_step", "keep_all", "error"]
OnInvalid: TypeAlias = Literal["drop", "error"]

_SAMPLER_KEY = "trainer.v1.sampler.custom_sampler"
_OLD_KEYS: Mapping[str, str] = {
    f"{_SAMPLER_KEY}.path": "remove it: the sampler is set up by `dataflex.mechanism=mix` alone",
    f"{_SAMPLER_KEY}.name": "remove it: the sampler is set up by `dataflex.mechanism=mix` alone",
}
# What the generators of numpy, and so rollout engines, take.
SEED_LIMIT = 2**32
Seed: TypeAlias = Annotated[int, Field(ge=0, lt=SEED_LIMIT)]


def _imported(name: str) -> str:
    import_component_file(name)
    return name


class ComponentSpec(Config):
    """A registered component and its parameters."""

    name: str
    params: dict[str, Any] = Field(default_factory=dict)


class PolicySpec(Config):
    """One policy.

    Attributes:
        mechanism: ``mix`` proportions, ``select`` responses, ``reweight`` them.
        scorer: What the actuator reads; a mixer has its own signal and may leave it out.
        actuator: Mixer, selector or reweighter.
        warmup_step: First training step at which it acts.
        update_step: Steps between updates of a mixer's proportions.
        window: Steps that a mixer's statistics go back.
    """

    mechanism: Mechanism
    scorer: ComponentSpec | None = None
    actuator: ComponentSpec
    warmup_step: int = Field(default=0, ge=0)
    update_step: int = Field(default=1, ge=1)
    window: int | None = Field(default=None, ge=1)


class PoliciesConfig(Config):
    """The whole ``dataflex`` block.

    Attributes:
        mechanism: As in `PolicySpec`; ``none`` for the baseline. With ``policies`` left out.
        scorer: See `PolicySpec`.
        actuator: See `PolicySpec`.
        warmup_step: See `PolicySpec`.
        update_step: See `PolicySpec`.
        window: See `PolicySpec`.
        policies: Several policies. Mixing comes first, then what acts before the rollout, then
            selectors in the order given, each on what the one before kept, then reweighters, whose
            weights are multiplied.
        domains: Names of the domains, in order; by default those of the data.
        domain_key: Column that holds them.
        imports: Modules (``pkg.module``) or files (``path/to/file.py``) that register components of
            your own, imported as the block is read.
        seed: Of all draws.
        on_empty: Where the selectors keep nothing: leave the update out, keep everything, or stop.
        on_invalid: Where rewards, advantages or log-probs are not finite: drop those responses, or
            stop.
    """

    mechanism: Literal["mix", "select", "reweight", "none"] | None = None
    scorer: ComponentSpec | None = None
    actuator: ComponentSpec | None = None
    warmup_step: int | None = Field(default=None, ge=0)
    update_step: int | None = Field(default=None, ge=1)
    window: int | None = Field(default=None, ge=1)
    policies: tuple[PolicySpec, ...] = ()
    domains: tuple[str, ...] = ()
    domain_key: str = "domain"
    imports: tuple[Annotated[str, AfterValidator(_imported)], ...] = ()
    seed: Seed = 0
    on_empty: OnEmpty = "skip_step"
    on_invalid: OnInvalid = "drop"

    @model_validator(mode="after")
    def _one_form(self) -> Self:
        single = ("mechanism", "scorer", "actuator", "warmup_step", "update_step", "window")
        written = [name for name in single if getattr(self, name) is not None]
        if self.policies and written:
            raise ValueError(
                f"`policies` is given beside {', '.join(f'`{name}`' for name in written)}; "
                "write each policy's keys inside `policies`"
            )
        if self.mechanism is None and written:
            raise ValueError("key `mechanism` is missing (mix, select, reweight or none)")
        if self.mechanism is None and not self.policies:
            given = (
                "`policies` lists none"
                if "policies" in self.model_fields_set
                else ("neither `mechanism` nor `policies` is given")
            )
            raise ValueError(f"{given}: nothing would act; write `mechanism: none` for a baseline")
        if self.mechanism == "none" and len(written) > 1:
            raise ValueError(f"mechanism none takes no {', '.join(written[1:])}")
        if self.mechanism in ("mix", "select", "reweight") and self.actuator is None:
            raise ValueError(f"mechanism {self.mechanism} needs the key `actuator`")
        if len(set(self.domains)) < len(self.domains):
            raise ValueError(f"`domains` names one twice: {', '.join(self.domains)}")
        return self

    @property
    def specs(self) -> tuple[PolicySpec, ...]:
        """The policies, whichever form they were written in."""
        if self.mechanism in (None, "none") or self.actuator is None:
            return self.policies
        given = {
            name: getattr(self, name)
            for name in ("mechanism", "scorer", "actuator", "warmup_step", "update_step", "window")
            if getattr(self, name) is not None
        }
        return (PolicySpec(**given),)


def old_key_answer(key: str, value: object = None) -> str | None:
    """Return what to write instead of a key of the public plugin that has no counterpart here.

    Args:
        key: Dotted, as on verl's command line, with or without a leading ``+``.
        value: Its value.

    Returns:
        A sentence that names the key, or ``None`` where the key is not such a one.
    """
    plain = key.lstrip("+")
    is_plugins = "dataflex_verl" in str(value)
    answer = _OLD_KEYS.get(plain) if is_plugins or value is None else None
    return None if answer is None else f"`{plain}={value}` is of the public plugin; {answer}"
