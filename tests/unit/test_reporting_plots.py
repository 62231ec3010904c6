"""Plots: same bytes from same data, no global state, and the named refusal without matplotlib."""

from __future__ import annotations

import base64
import importlib.util
import subprocess
import sys
from importlib.machinery import ModuleSpec

import pytest

from dataflex_data.core.errors import MissingExtraError
from dataflex_data.reporting import plots


def _png(height: float) -> bytes:
    with plots.style():
        figure = plots.new_figure(3, 2)
        axes = figure.subplots()
        axes.plot([0, 1], [0, height], color=plots.PALETTE[0])
        axes.set_title("costs $5 and $6")
        return plots.figure_png(figure)


def test_same_data_same_bytes_other_data_other_bytes() -> None:
    first = _png(1.0)
    assert first.startswith(b"\x89PNG")
    assert first == _png(1.0)
    assert first != _png(2.0)
    assert b"matplotlib" not in first.lower()


def test_style_leaves_the_users_settings_alone() -> None:
    import matplotlib as mpl

    before = dict(mpl.rcParams)
    _png(1.0)
    assert dict(mpl.rcParams) == before


def test_data_uri_holds_the_bytes() -> None:
    uri = plots.png_data_uri(b"\x89PNG")
    assert uri.startswith("data:image/png;base64,")
    assert base64.b64decode(uri.split(",", 1)[1]) == b"\x89PNG"


def test_without_matplotlib_the_extra_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    real = importlib.util.find_spec

    def absent(name: str, package: str | None = None) -> ModuleSpec | None:
        return None if name == "matplotlib" else real(name, package)

    monkeypatch.setattr(importlib.util, "find_spec", absent)
    with pytest.raises(MissingExtraError, match=r"forest.*'matplotlib'.*dataflex-data\[plot\]"):
        plots.require_matplotlib("the forest plot")
    with pytest.raises(MissingExtraError):
        plots.new_figure(1, 1)


def test_import_does_not_load_matplotlib() -> None:
    code = "import sys, dataflex_data.reporting.plots; print('matplotlib' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "False"
