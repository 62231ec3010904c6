"""A user's own file of components, imported by the name that a configuration or option gives."""

from __future__ import annotations

import importlib
import importlib.util
import sys
from pathlib import Path

from dataflex_data.core.errors import InputDataError
from dataflex_data.core.seeding import hex_id


def import_component_file(name: str) -> None:
    """Import a module or a Python file, so that what it registers is known; once per process.

    Args:
        name: Dotted name of a module on the path, or the path of a ``.py`` file.

    Raises:
        InputDataError: There is no such module or file, or it fails when it is run.
    """
    if name.endswith(".py"):
        path = Path(name).expanduser().resolve()
        if not path.is_file():
            raise InputDataError(f"import {name!r}: there is no file {path}")
        module_name = f"dataflex_imported_{hex_id(str(path), length=16)}"
        if module_name in sys.modules:
            return
        spec = importlib.util.spec_from_file_location(module_name, path)
        if spec is None or spec.loader is None:
            raise InputDataError(f"import {name!r}: {path} is no Python file")
        module = importlib.util.module_from_spec(spec)
        sys.modules[module_name] = module
        try:
            spec.loader.exec_module(module)
        except Exception as error:
            del sys.modules[module_name]
            raise InputDataError(f"import {name!r}: {_failure(error)}") from error
        return
    try:
        importlib.import_module(name)
    except Exception as error:
        hint = (
            "; it must be on the path (PYTHONPATH), or be given as a file ending in .py"
            if isinstance(error, ModuleNotFoundError) and str(error.name) in name
            else ""
        )
        raise InputDataError(f"import {name!r}: {_failure(error)}{hint}") from error


def _failure(error: Exception) -> str:
    return f"failed with {type(error).__name__}: {error}"
