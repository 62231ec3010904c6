"""One look and one way to bytes for all plots; matplotlib is loaded when one is drawn, not before.

Figures are made without pyplot, which keeps global state, and are saved without date or version,
so that equal data give equal bytes on one machine.
"""

from __future__ import annotations

import base64
import importlib.util
import io
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from dataflex_data.core.errors import MissingExtraError

if TYPE_CHECKING:
    from matplotlib.figure import Figure

INK = "#1b1f24"
FAINT = "#6b7580"
GRID = "#e3e6ea"
BAND = "#dfe8f3"

# Okabe and Ito's palette: told apart with every common form of colour blindness.
PALETTE = ("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#56b4e9", "#e69f00", "#8c6d1f", "#7a7a7a")

# matplotlib leaves out what is None; its stubs want text.
NO_METADATA: dict[str, Any] = {"Software": None}

_RC: dict[str, object] = {
    "axes.axisbelow": True,
    "axes.edgecolor": FAINT,
    "axes.grid": True,
    "axes.labelcolor": INK,
    "axes.spines.right": False,
    "axes.spines.top": False,
    "axes.titlelocation": "left",
    "axes.titlesize": 11,
    "axes.titleweight": "bold",
    "figure.dpi": 110,
    "figure.facecolor": "white",
    "font.family": "DejaVu Sans",  # shipped with matplotlib: the same on every machine
    "font.size": 9,
    "grid.color": GRID,
    "legend.frameon": False,
    "text.color": INK,
    "text.parse_math": False,  # names from data may hold a dollar sign
    "xtick.color": INK,
    "ytick.color": INK,
}


def require_matplotlib(purpose: str = "drawing plots") -> None:
    """Return if matplotlib can be imported; loads nothing.

    Raises:
        MissingExtraError: It is not installed; the message names the extra.
    """
    if importlib.util.find_spec("matplotlib") is None:
        raise MissingExtraError("matplotlib", "plot", purpose)


@contextmanager
def style() -> Iterator[None]:
    """Hold the common style while figures are made *and* saved; outside it nothing changes."""
    require_matplotlib()
    import matplotlib as mpl

    with mpl.rc_context(_RC):  # type: ignore[arg-type]
        yield


def new_figure(width: float, height: float) -> Figure:
    """Return an empty figure of so many inches that lays itself out; use inside `style`."""
    require_matplotlib()
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    figure = Figure(figsize=(width, height), layout="constrained")
    FigureCanvasAgg(figure)
    return figure


def figure_png(figure: Figure) -> bytes:
    """Return the figure as PNG; equal figures give equal bytes (no date, no version inside)."""
    target = io.BytesIO()
    figure.savefig(target, format="png", metadata=NO_METADATA)
    return target.getvalue()


def png_data_uri(png: bytes) -> str:
    """Return a PNG as the ``src`` of an ``<img>``."""
    return "data:image/png;base64," + base64.b64encode(png).decode("ascii")
