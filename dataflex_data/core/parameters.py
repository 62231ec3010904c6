"""What a model of parameters says of itself: names, allowed values, defaults, meanings.

Read from the model and the ``Attributes:`` of its docstring, so that no list of them is kept twice.
"""

from __future__ import annotations

import inspect
import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, get_args, get_origin

from pydantic import BaseModel
from pydantic.fields import FieldInfo
from pydantic_core import PydanticUndefined

_WORDS = {
    "str": "text",
    "float": "number",
    "int": "whole number",
    "bool": "true, false",
    "Any": "anything",
}
_LIMITS = (("gt", "above"), ("ge", "at least"), ("lt", "below"), ("le", "at most"))


@dataclass(frozen=True, slots=True)
class Parameter:
    """One parameter.

    Attributes:
        name: Key, dotted where it belongs to a block.
        values: What it may be, in words.
        required: Whether it must be given.
        default: Its value where it is not given.
        meaning: What it does.
    """

    name: str
    values: str
    required: bool
    default: Any
    meaning: str


def parameters_of(model: type[BaseModel] | None, prefix: str = "") -> Iterator[Parameter]:
    """Yield the parameters of a model, those of its own first, and of the blocks inside it."""
    if model is None:
        return
    told = meanings(model)
    # A block's keys that its model does not tell are told by what the block is.
    otherwise = inspect.cleandoc(model.__doc__ or "").partition("\n")[0] if prefix else ""
    own = [name for name in model.model_fields if name in model.__annotations__]
    for name in [*own, *(name for name in model.model_fields if name not in own)]:
        field = model.model_fields[name]
        required = field.default is PydanticUndefined and field.default_factory is None
        default = None if required else field.get_default(call_default_factory=True)
        yield Parameter(
            f"{prefix}{name}", values_of(field), required, default, told.get(name, otherwise)
        )
        for block in _blocks(field.annotation):
            yield from parameters_of(block, f"{prefix}{name}.")


def meanings(model: type[Any]) -> dict[str, str]:
    """Return what the docstrings of a model and its bases say of each attribute."""
    told: dict[str, str] = {}
    for kind in reversed(model.__mro__):
        section = inspect.cleandoc(kind.__dict__.get("__doc__") or "").partition("Attributes:\n")[2]
        for name, text in re.findall(r"^    (\w+): ((?:.+\n?(?:        .+\n?)*))", section, re.M):
            told[name] = re.sub(r"``([^`]+)``", r"`\1`", " ".join(text.split()))
    return told


def values_of(field: FieldInfo) -> str:
    """Return what a field may hold: its type in words, and its limits."""
    limits = [
        f"{word} {bound:g}" if isinstance(bound, int | float) else f"{word} {bound}"
        for attribute, word in _LIMITS
        for bound in _limits(field, attribute)
    ]
    name = type_name(field.annotation)
    kind, null = (name.removesuffix(", null"), ", null") if name.endswith(", null") else (name, "")
    return f"{' '.join([kind, ' and '.join(limits)]).strip()}{null}"


def type_name(annotation: Any) -> str:  # noqa: ANN401 - any annotation
    """Return an annotation as a reader of a configuration would say it."""
    if annotation is type(None):
        return "null"
    if isinstance(annotation, str):
        return repr(annotation).replace("'", "")
    origin = get_origin(annotation)
    parts = [type_name(part) for part in get_args(annotation) if part is not Ellipsis]
    if origin is None:
        name = getattr(annotation, "__name__", str(annotation))
        return _WORDS.get(name, "block" if hasattr(annotation, "model_fields") else name)
    if origin in (tuple, list):
        return "list of " + " or ".join(dict.fromkeys(parts))
    if "dict" in str(origin).lower() or "mapping" in str(origin).lower():
        return f"{parts[0]}: {parts[-1]}"
    if "Annotated" in str(origin) or hasattr(annotation, "__metadata__"):
        return parts[0]
    return ", ".join(dict.fromkeys(parts))


def _limits(field: FieldInfo, attribute: str) -> Iterator[Any]:
    for held in field.metadata:
        bound = getattr(held, attribute, None)
        if bound is not None:
            yield bound


def _blocks(annotation: Any) -> Iterator[type[BaseModel]]:  # noqa: ANN401 - any annotation
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        yield annotation
    for part in get_args(annotation):
        yield from _blocks(part)
