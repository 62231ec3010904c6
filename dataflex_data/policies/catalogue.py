"""What there is to choose from, as plain values: for ``dfdata policies`` and for documentation."""

from __future__ import annotations

import inspect
from collections.abc import Collection, Iterator
from dataclasses import dataclass
from typing import Any

from dataflex_data.core.errors import UnknownNameError, did_you_mean
from dataflex_data.core.parameters import Parameter, parameters_of, type_name
from dataflex_data.policies.component import REWEIGHTERS, SCORERS, SELECTORS


@dataclass(frozen=True, slots=True)
class Entry:
    """One registered component.

    Attributes:
        kind: ``scorer``, ``selector``, ``reweighter`` or ``mixer``.
        name: Registry name.
        summary: First line of its docstring.
        text: The whole docstring.
        reads: Fields, granularities of scores, or the signal, that it reads.
        parameters: In the order in which they are told.
        needs_groups: Whether it needs several responses per prompt.
        timing: When it acts.
    """

    kind: str
    name: str
    summary: str
    text: str
    reads: tuple[str, ...]
    parameters: tuple[Parameter, ...]
    needs_groups: bool
    timing: str


def entries() -> Iterator[Entry]:
    """Yield all registered scorers, selectors and reweighters."""
    for registry in (SCORERS, SELECTORS, REWEIGHTERS):
        registry_: Any = registry
        for name, kind in registry_.items():
            reads = kind.requires if registry_ is SCORERS else kind.granularities
            yield entry(
                registry_.kind,
                name,
                kind,
                tuple(reads),
                needs_groups=kind.needs_groups,
                timing=getattr(kind, "timing", "post_advantage"),
            )


def entry(
    kind: str,
    name: str,
    component: type[Any],
    reads: tuple[str, ...],
    *,
    needs_groups: bool,
    timing: str,
) -> Entry:
    """Return what is told of a component's class."""
    # A class without a docstring of its own would be told of by its base's.
    text = inspect.cleandoc(component.__dict__.get("__doc__") or "")
    return Entry(
        kind=kind,
        name=name,
        summary=text.splitlines()[0] if text else "",
        text=text,
        reads=reads,
        parameters=tuple(_parameters(component)),
        needs_groups=needs_groups,
        timing=timing,
    )


def find(name: str, among: Collection[Entry], presets: Collection[str] = ()) -> list[Entry]:
    """Return the components of that name: one of each kind at most, none for a preset's alone.

    Raises:
        UnknownNameError: The name is neither a component's nor one of ``presets``.
    """
    found = [entry for entry in among if entry.name == name]
    if not found and name not in presets:
        known = sorted({entry.name for entry in among} | set(presets))
        raise UnknownNameError(
            f"{name!r} is neither a preset nor a component{did_you_mean(name, known)} "
            "(list: dfdata policies)"
        )
    return found


def _parameters(component: type[Any]) -> Iterator[Parameter]:
    if component.Params is not None:
        yield from parameters_of(component.Params)
        return
    try:
        signature = inspect.signature(component.__init__, eval_str=True)
    except NameError:  # annotations that are imported for type checkers only
        signature = inspect.signature(component.__init__)
    for parameter in signature.parameters.values():
        if parameter.kind not in (parameter.POSITIONAL_OR_KEYWORD, parameter.KEYWORD_ONLY):
            continue
        if parameter.name in ("self", "params", "scorer"):
            continue
        required = parameter.default is parameter.empty
        annotation = parameter.annotation
        if annotation is parameter.empty:
            annotation = Any if required or parameter.default is None else type(parameter.default)
        yield Parameter(
            parameter.name,
            type_name(annotation),
            required,
            None if required else parameter.default,
            "",
        )
