"""YAML or a mapping into a frozen pydantic model; every fault is reported, in one error.

Unknown keys are errors with near matches: a mistyped parameter must never vanish.
"""

from __future__ import annotations

import re
import types
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, TypeVar, Union, get_args, get_origin

import yaml
from pydantic import BaseModel, ConfigDict, ValidationError
from pydantic_core import ErrorDetails

from dataflex_data.core.errors import ConfigError, InputDataError, did_you_mean

M = TypeVar("M", bound=BaseModel)

_TOO_DEEP = "is nested too deeply, or a part of it refers to itself"
_INSTANCE = re.compile(r" or instance of \w+")
# pydantic speaks of Python's types, a YAML file has others.
_WORDS = (("valid tuple", "list"), ("valid dictionary", "mapping"), ("Tuple", "List"))


class Config(BaseModel):
    """Base of all configuration models: frozen, strict about types, closed to unknown keys."""

    model_config = ConfigDict(extra="forbid", frozen=True, strict=True)


def parse_config(model: type[M], data: Mapping[str, Any], where: str) -> M:
    """Return ``data`` as a validated ``model``.

    Args:
        model: The pydantic model to build.
        data: Plain mapping, as read from YAML or JSON.
        where: What ``data`` is, for the message: a path, or ``"source math_dapo"``.

    Raises:
        ConfigError: Lists every unknown, missing and ill-typed key together.
    """
    if not isinstance(data, Mapping):
        raise ConfigError(
            where, [f"must be a mapping of keys to values, got {type(data).__name__}"]
        )
    try:
        return model.model_validate(_lists_to_tuples(data))
    except RecursionError:
        raise ConfigError(where, [_TOO_DEEP]) from None
    except ValidationError as error:
        details = error.errors()
        raise ConfigError(
            where,
            [_sentence(model, detail) for detail in details if not _is_echo(detail, details)],
        ) from None


def load_yaml(path: Path) -> dict[str, Any]:
    """Return the mapping in a YAML file; keys written twice are refused.

    Raises:
        InputDataError: The file is missing, not UTF-8, not YAML, or not a mapping.
        ConfigError: A key stands twice in one mapping.
    """
    path = Path(path).expanduser()
    try:
        text = path.read_text(encoding="utf-8")
    except FileNotFoundError:
        raise InputDataError(f"{path}: no such file") from None
    except (OSError, UnicodeDecodeError) as error:
        raise InputDataError(f"{path}: cannot be read as UTF-8 text: {error}") from None
    return parse_yaml(text, str(path))


def parse_yaml(text: str, where: str) -> dict[str, Any]:
    """Return the mapping written in ``text``; see `load_yaml`."""
    loader = _UniqueKeyLoader(text)
    try:
        data = loader.get_single_data()
    except yaml.YAMLError as error:
        raise InputDataError(f"{where}: is not valid YAML: {error}") from None
    except RecursionError:
        raise InputDataError(f"{where}: {_TOO_DEEP}") from None
    finally:
        loader.dispose()
    if loader.duplicates:
        raise ConfigError(where, loader.duplicates)
    if not isinstance(data, dict):
        raise InputDataError(f"{where}: must hold a mapping of keys to values at the top level")
    return data


class _UniqueKeyLoader(yaml.SafeLoader):
    """SafeLoader that notes keys written twice (YAML itself keeps the last one in silence)."""

    def __init__(self, text: str) -> None:
        super().__init__(text)
        self.duplicates: list[str] = []

    def construct_mapping(self, node: yaml.MappingNode, deep: bool = False) -> dict[Any, Any]:
        seen: dict[Any, int] = {}
        for key_node, _ in node.value:
            if isinstance(key_node, yaml.ScalarNode):
                line = key_node.start_mark.line + 1
                if key_node.value in seen:
                    self.duplicates.append(
                        f"key {key_node.value!r} is written twice, "
                        f"on lines {seen[key_node.value]} and {line}; keep one"
                    )
                seen.setdefault(key_node.value, line)
        return super().construct_mapping(node, deep=deep)


def _lists_to_tuples(value: Any) -> Any:  # noqa: ANN401 - YAML values are of any plain type
    if isinstance(value, Mapping):
        return {key: _lists_to_tuples(item) for key, item in value.items()}
    if isinstance(value, list):
        return tuple(_lists_to_tuples(item) for item in value)
    return value


def _tuples_to_lists(value: Any) -> Any:  # noqa: ANN401 - YAML values are of any plain type
    """Return a value as it was written: a file has lists, not Python's tuples."""
    if isinstance(value, Mapping):
        return {key: _tuples_to_lists(item) for key, item in value.items()}
    if isinstance(value, tuple):
        return [_tuples_to_lists(item) for item in value]
    return value


def _sentence(model: type[BaseModel], detail: ErrorDetails) -> str:
    location = tuple(part for part in detail["loc"] if not _is_union_tag(part))
    key = ".".join(str(part) for part in location)
    kind = detail["type"]
    if kind == "extra_forbidden":
        known = _fields_at(model, location[:-1])
        listed = f" (known keys: {', '.join(known)})" if known else ""
        return f"key `{key}` is not known{did_you_mean(str(location[-1]), known)}{listed}"
    if kind == "missing":
        return f"key `{key}` is missing"
    message = detail["msg"].removeprefix("Value error, ")
    for theirs, ours in _WORDS:
        message = message.replace(theirs, ours)
    message = _INSTANCE.sub("", message)
    if not location:
        return message
    shown = repr(_tuples_to_lists(detail["input"]))
    shown = shown if len(shown) <= 80 else shown[:77] + "..."
    hint = ""
    if kind == "literal_error" and isinstance(detail["input"], str):
        allowed = re.findall("'([^']*)'", str(detail.get("ctx", {}).get("expected")))
        hint = did_you_mean(detail["input"], allowed)
    return f"key `{key}`: {message[0].lower() + message[1:]} (got {shown}){hint}"


def _is_echo(detail: ErrorDetails, details: Sequence[ErrorDetails]) -> bool:
    """Return whether a fault only repeats that items within are faulty themselves.

    So a list is called too short, and a mapping none of the texts that could stand in its place.
    """
    location = detail["loc"]
    if detail["type"] == "literal_error" and isinstance(detail["input"], Mapping):
        location = location[:-1]
    elif detail["type"] != "too_short":
        return False
    return any(
        other["loc"][: len(location)] == location and len(other["loc"]) > len(detail["loc"])
        for other in details
    )


def _is_union_tag(part: str | int) -> bool:
    # pydantic adds the branch's type name of a union to the location: "int", "function-after[...]".
    return isinstance(part, str) and (part in {"int", "float", "str", "bool"} or "[" in part)


def _fields_at(model: type[BaseModel], location: Sequence[str | int]) -> list[str]:
    """Return the field names of the model that ``location`` leads to, or ``[]``."""
    current: Any = model
    for part in location:
        if isinstance(current, type) and issubclass(current, BaseModel):
            field = current.model_fields.get(str(part))
            current = field.annotation if field is not None else None
        else:
            arguments = [arg for arg in get_args(current) if arg is not Ellipsis]
            current = arguments[-1] if arguments else None
        if get_origin(current) in (Union, types.UnionType):
            models = [arg for arg in get_args(current) if arg is not type(None)]
            current = models[0] if len(models) == 1 else None
    if isinstance(current, type) and issubclass(current, BaseModel):
        return sorted(current.model_fields)
    return []
