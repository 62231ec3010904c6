"""Loading the real verl into a test's process, on the CPU."""

from __future__ import annotations

import importlib
import os
from collections.abc import Iterator
from contextlib import contextmanager

from tests.verl_cpu.runs import environment


@contextmanager
def loaded_verl() -> Iterator[None]:
    """Import verl with the CPU doubles and our plugin; the environment is put back after."""
    before = dict(os.environ)
    os.environ.update(environment())
    try:
        importlib.import_module("verl")
        importlib.import_module("tests.verl_cpu.autoload")
        importlib.import_module("dataflex_data.integrations.verl.plugin").activate()
        yield
    finally:
        os.environ.clear()
        os.environ.update(before)
