"""Options that several verbs share."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

import typer

from dataflex_data.core.errors import ConfigError

Json = Annotated[bool, typer.Option("--json", help="Print JSON for machines instead of tables.")]
Force = Annotated[bool, typer.Option("--force", help="Replace an existing file.")]


def parse_pairs(option: str, values: Sequence[str]) -> dict[str, Path]:
    """Return ``NAME=PATH`` values as a mapping.

    Raises:
        ConfigError: A value has no ``=``, an empty side, or a name stands twice.
    """
    found: dict[str, Path] = {}
    problems: list[str] = []
    for value in values:
        name, equals, path = value.partition("=")
        if not equals or not name.strip() or not path.strip():
            problems.append(f"{value!r} must have the form NAME=PATH")
        elif name.strip() in found:
            problems.append(f"{name.strip()!r} is given twice")
        else:
            found[name.strip()] = Path(path.strip())
    if problems:
        raise ConfigError(option, problems)
    return found
