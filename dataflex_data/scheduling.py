"""A whole ``dataflex`` block, mixer and policies together, checked before training.

Mixers and policies are peers that know nothing of each other. Here, above both, a block's mixer is
looked at as well: its name, parameters, domains, and whether it gets the signal that it reads.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from typing import Any

from dataflex_data.core.config import parse_config
from dataflex_data.core.errors import ConfigError, InputDataError, UnknownNameError
from dataflex_data.policies import catalogue
from dataflex_data.policies.catalogue import Entry
from dataflex_data.policies.checks import Host, mix_problems
from dataflex_data.policies.component import SCORERS, build
from dataflex_data.policies.config import PoliciesConfig, PolicySpec
from dataflex_data.policies.engine import Policies
from dataflex_data.samplers.mixer import MIXERS, build_mixer
from dataflex_data.samplers.signals import NEEDS

# Where the domains are not known yet: the fewest that there is anything to mix of.
_SOME_DOMAINS = ("domain 1", "domain 2")


class Mixers:
    """What `Policies` asks about a mixer."""

    @property
    def names(self) -> Collection[str]:
        """Names of all mixers."""
        return MIXERS.names()

    def problems(self, spec: PolicySpec, host: Host, domains: Collection[str]) -> Iterator[str]:
        """Yield why the mixer cannot work in this run."""
        absent = {
            signal: field
            for signal, field in NEEDS.items()
            if host.fields is not None and field not in host.fields
        }
        yield from mixer_problems(spec, domains, absent)


def load_policies(
    data: Mapping[str, Any] | PoliciesConfig,
    host: Host | None = None,
    loss_agg_mode: str = "token-mean",
    where: str = "dataflex",
) -> Policies:
    """Return the policies of a ``dataflex`` block, its mixer looked at like the rest.

    Args:
        data: The block as a plain mapping, or read already.
        host: What is known of the run; what is known is checked.
        loss_agg_mode: How verl averages the loss.
        where: What the block is, for messages.

    Raises:
        ConfigError: Keys, names, parameters or combinations are wrong; all at once.
    """
    read = data if isinstance(data, PoliciesConfig) else parse_config(PoliciesConfig, data, where)
    return Policies(read, host, loss_agg_mode, where, Mixers())


def mixer_problems(
    spec: PolicySpec, domains: Collection[str] = (), absent: Mapping[str, str] | None = None
) -> Iterator[str]:
    """Yield why a mixer cannot work as it is written.

    Args:
        spec: A policy that mixes.
        domains: Those of the run, where they are known.
        absent: Signals that the run has not, and what they would be made of.
    """
    scorer, written = spec.scorer, spec.actuator
    params = dict(written.params)
    if spec.window is not None and params.setdefault("window", spec.window) != spec.window:
        yield f"window is {spec.window}, and actuator.params.window {params['window']}; keep one"
        return
    try:
        if scorer is not None:
            build(SCORERS, scorer.name, scorer.params)
        kind = MIXERS.get(written.name)
        if len(domains) == 1 and kind.varies != "never":
            yield (
                f"mixer {written.name} moves proportions between domains, and there is but one, "
                f"{next(iter(domains))!r}"
            )
            return
        parsed = parse_config(kind.Params, params, f"mixer {written.name}")
        names = tuple(domains) or _domains_named(parsed.model_dump()) or _SOME_DOMAINS
        signal = build_mixer(written.name, params, names).wanted_signal
    except ConfigError as error:
        yield from (f"{error.where}: {problem}" for problem in error.problems)
    except (InputDataError, UnknownNameError) as error:
        yield str(error)
    else:
        needs = (absent or {}).get(signal)
        yield from mix_problems(
            written.name, signal, None if scorer is None else scorer.name, needs, ()
        )


def _domains_named(params: Any) -> tuple[str, ...]:  # noqa: ANN401 - parameters as plain values
    """Return the keys of the first mapping of names to numbers: the domains that it speaks of."""
    inner: tuple[Any, ...] = ()
    if isinstance(params, Mapping):
        if params and all(isinstance(value, int | float) for value in params.values()):
            return tuple(params)
        inner = tuple(params.values())
    elif isinstance(params, list | tuple):
        inner = tuple(params)
    return next((names for names in map(_domains_named, inner) if names), ())


def entries() -> Iterator[Entry]:
    """Yield all that a block can name: scorers, selectors, reweighters and mixers."""
    yield from catalogue.entries()
    for name, kind in MIXERS.items():
        yield catalogue.entry(
            "mixer", name, kind, (kind.signal,), needs_groups=False, timing="pre_rollout"
        )
