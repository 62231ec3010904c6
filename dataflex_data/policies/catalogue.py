"""What there is to choose from, as plain values: for ``dfdata policies`` and for documentation."""

from __future__ import annotations

import inspect
from collections.abc import Collection, Iterator
from dataclasses import dataclass
from typing import Any

from pydantic_core import PydanticUndefined

from dataflex_data.core.errors import UnknownNameError, did_you_mean
from dataflex_data.policies.component import REWEIGHTERS, SCORERS, SELECTORS


@dataclass(frozen=True, slots=True)
class Entry:
    """One registered component.

    Attributes:
        kind: ``scorer``, ``selector`` or ``reweighter``.
        name: Registry name.
        summary: First line of its docstring.
        text: The whole docstring.
        reads: Fields, or granularities of scores, that it reads.
        parameters: Default by name, `REQUIRED` where there is none.
        needs_groups: Whether it needs several responses per prompt.
        timing: When it acts.
    """

    kind: str
    name: str
    summary: str
    text: str
    reads: tuple[str, ...]
    parameters: dict[str, Any]
    needs_groups: bool
    timing: str


REQUIRED = "(required)"


def entries() -> Iterator[Entry]:
    """Yield all registered components, scorers first."""
    for registry in (SCORERS, SELECTORS, REWEIGHTERS):
        registry_: Any = registry
        for name, kind in registry_.items():
            text = inspect.cleandoc(kind.__doc__ or "")
            reads = kind.requires if registry_ is SCORERS else kind.granularities
            yield Entry(
                kind=registry_.kind,
                name=name,
                summary=text.splitlines()[0] if text else "",
                text=text,
                reads=tuple(reads),
                parameters=_parameters(kind),
                needs_groups=kind.needs_groups,
                timing=getattr(kind, "timing", "post_advantage"),
            )


def find(name: str, presets: Collection[str] = ()) -> list[Entry]:
    """Return the components of that name: one of each kind at most, none for a preset's alone.

    Raises:
        UnknownNameError: The name is neither a component's nor one of ``presets``.
    """
    all_entries = list(entries())
    found = [entry for entry in all_entries if entry.name == name]
    if not found and name not in presets:
        known = sorted({entry.name for entry in all_entries} | set(presets))
        raise UnknownNameError(
            f"{name!r} is neither a preset nor a component{did_you_mean(name, known)} "
            "(list: dfdata policies)"
        )
    return found


def _parameters(kind: Any) -> dict[str, Any]:  # noqa: ANN401 - any component class
    if kind.Params is not None:
        return {
            name: REQUIRED
            if field.default is PydanticUndefined and field.default_factory is None
            else field.get_default(call_default_factory=True)
            for name, field in kind.Params.model_fields.items()
        }
    return {
        parameter.name: REQUIRED if parameter.default is parameter.empty else parameter.default
        for parameter in inspect.signature(kind.__init__).parameters.values()
        if parameter.kind in (parameter.POSITIONAL_OR_KEYWORD, parameter.KEYWORD_ONLY)
        and parameter.name not in ("self", "params", "scorer")
    }
