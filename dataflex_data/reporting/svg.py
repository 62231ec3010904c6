"""Small charts as inline SVG: they follow the reader's light or dark setting and need no extra.

Each chart is as wide as a column of the page's grid of charts, so that on a phone one fills the
screen with letters of readable size. Colours are classes (`CHART_STYLE`); more series than colours
get dashes.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from html import escape
from itertools import pairwise

import numpy as np
import numpy.typing as npt

from dataflex_data.reporting.plots import PALETTE

Series = npt.NDArray[np.float64]

_WIDTH, _HEIGHT = 360, 210
_LEFT, _RIGHT, _TOP, _BOTTOM = 46, 10, 10, 26
_MOST_POINTS = 240
_DASHES = ("", "6 3", "2 3", "8 3 2 3")

CHART_STYLE = (
    """
.charts { display: grid; gap: 1rem; grid-template-columns: repeat(auto-fill, minmax(17rem, 1fr)); }
.charts figure {
  margin: 0; overflow: visible; display: flex; flex-direction: column; justify-content: end;
}
.charts svg, .interval { display: block; }
.charts svg { width: 100%; height: auto; }
.charts h4 { margin: 0 0 .2rem; font-size: .92rem; }
svg text { font: 11px system-ui, sans-serif; fill: var(--faint); }
svg .grid { stroke: var(--line); stroke-width: 1; }
svg .axis { stroke: var(--faint); stroke-width: 1; }
svg .line { fill: none; stroke: var(--chart); stroke-width: 1.6; stroke-linejoin: round; }
svg .thin { stroke-width: 1; opacity: .75; }
svg .dot, svg .bar { fill: var(--chart); }
svg .band { fill: var(--chart); opacity: .16; }
svg .span { stroke: var(--ink); stroke-width: 2; }
svg .point { fill: var(--ink); }
.legend { display: flex; flex-wrap: wrap; gap: .2rem 1rem; list-style: none; padding: 0; }
.legend svg { width: 30px; height: 10px; vertical-align: middle; margin-right: .3rem; }
"""
    + "".join(f".c{n} {{ --chart: {color}; }}\n" for n, color in enumerate(PALETTE))
    + """
@media (prefers-color-scheme: dark) { .c0 { --chart: #4aa8e0; } .c2 { --chart: #2fc497; } }
"""
)


@dataclass(frozen=True, slots=True)
class Line:
    """One series of a chart.

    Attributes:
        name: What the pointer shows.
        x: Places, ascending.
        y: Values; NaN leaves a gap.
        style: Number of its colour and dashes, the same for one run in all charts.
        thin: Draw it as what accompanies another line.
    """

    name: str
    x: Series
    y: Series
    style: int
    thin: bool = False


def line_chart(title: str, lines: Sequence[Line], x_name: str = "step") -> str:
    """Return a chart of the lines over a common scale; lines of many points are thinned by means.

    Returns:
        A ``<figure>``; ``""`` where no line has a finite value.
    """
    shown = [line for line in lines if np.isfinite(line.y).any()]
    if not shown:
        return ""
    every = np.concatenate([line.y[np.isfinite(line.y)] for line in shown])
    low, high = _widened(float(every.min()), float(every.max()))
    ticks = nice_ticks(low, high)
    low, high = min(low, ticks[0]), max(high, ticks[-1])
    first = min(float(line.x[0]) for line in shown)
    last = max(float(line.x[-1]) for line in shown)
    across = (_WIDTH - _LEFT - _RIGHT) / ((last - first) or 1)
    up = (_HEIGHT - _TOP - _BOTTOM) / (high - low)

    def at(x: float, y: float) -> tuple[float, float]:
        return _LEFT + (x - first) * across, _HEIGHT - _BOTTOM - (y - low) * up

    parts = [_frame(ticks, lambda tick: at(first, tick)[1])]
    parts.append(
        f'<text x="{_LEFT}" y="{_HEIGHT - 8}">{short(first)}</text>'
        f'<text x="{_WIDTH - _RIGHT}" y="{_HEIGHT - 8}" text-anchor="end">'
        f"{escape(x_name)} {short(last)}</text>"
    )
    parts += [_path(line, at) for line in shown]
    return _figure(title, "".join(parts))


def bar_chart(title: str, bars: Sequence[tuple[str, float]], style: int = 0) -> str:
    """Return a chart of bars that start at 0, named below; ``""`` where there is none."""
    if not bars:
        return ""
    ticks = nice_ticks(0.0, max((value for _, value in bars), default=0.0) or 1.0)
    scale = (_HEIGHT - _TOP - _BOTTOM) / ticks[-1]
    base = _HEIGHT - _BOTTOM
    step = (_WIDTH - _LEFT - _RIGHT) / len(bars)
    parts = [_frame(ticks, lambda tick: base - tick * scale)]
    every = max(1, math.ceil(max(len(name) for name, _ in bars) * 6.5 / step))
    for number, (name, value) in enumerate(bars):
        x, height = _LEFT + number * step, value * scale
        parts.append(
            f'<rect class="bar c{style % len(PALETTE)}" x="{x + step * 0.1:.1f}" '
            f'y="{base - height:.1f}" width="{step * 0.8:.1f}" height="{height:.1f}">'
            f"<title>{escape(name)}: {value:,.10g}</title></rect>"
        )
        if number % every == 0:
            parts.append(
                f'<text x="{x + step / 2:.1f}" y="{_HEIGHT - 8}" text-anchor="middle">'
                f"{escape(name)}</text>"
            )
    return _figure(title, "".join(parts))


def interval(
    mean: float, ends: tuple[float, float] | None, reach: float, band: float, told: str
) -> str:
    """Return one line of a forest: point, interval, zero and the band that does not matter.

    Args:
        mean: The point.
        ends: The interval, or ``None``.
        reach: The axis goes from ``-reach`` to ``reach``; what is outside is cut at the edge.
        band: Half the width of the shaded band.
        told: What a reader without eyes is told.
    """
    width, height = 200, 18

    def at(value: float) -> float:
        return width / 2 + max(-1.0, min(1.0, value / reach)) * (width / 2 - 4)

    parts = (
        f'<rect class="band c0" x="{at(-band):.1f}" y="0" width="{at(band) - at(-band):.1f}" '
        f'height="{height}"/><line class="axis" x1="{at(0):.1f}" x2="{at(0):.1f}" y1="0" '
        f'y2="{height}"/>'
    )
    if ends is not None:
        parts += (
            f'<line class="span" x1="{at(ends[0]):.1f}" x2="{at(ends[1]):.1f}" y1="{height / 2}" '
            f'y2="{height / 2}"/>'
        )
    parts += f'<circle class="point" cx="{at(mean):.1f}" cy="{height / 2}" r="3.5"/>'
    return (
        f'<svg class="interval" width="{width}" height="{height}" viewBox="0 0 {width} {height}" '
        f'role="img" aria-label="{escape(told)}">{parts}</svg>'
    )


def legend(names: Sequence[str]) -> str:
    """Return the names with their lines, numbered as the styles of `Line`."""
    items = "".join(
        f'<li><svg viewBox="0 0 30 10" aria-hidden="true"><line class="line c{n % len(PALETTE)}" '
        f'x1="0" x2="30" y1="5" y2="5"{_dash(n)}/></svg>{escape(name)}</li>'
        for n, name in enumerate(names)
    )
    return f'<ul class="legend">{items}</ul>'


def nice_ticks(low: float, high: float, about: int = 4) -> list[float]:
    """Return round values from at or below ``low`` to at or above ``high``, ``about`` steps."""
    rough = (high - low) / about
    power = 10.0 ** math.floor(math.log10(rough))
    step = next(power * factor for factor in (1, 2, 2.5, 5, 10) if power * factor >= rough * 0.999)
    first, last = math.floor(low / step + 1e-9), math.ceil(high / step - 1e-9)
    return [round(number * step, 12) for number in range(first, last + 1)]


def short(value: float) -> str:
    """Return a number as an axis has it: ``1.5k``, ``2M``, ``0.25``."""
    for size, letter in ((1e9, "G"), (1e6, "M"), (1e3, "k")):
        if abs(value) >= size:
            return f"{value / size:.3g}{letter}".replace("-", "−")
    return f"{value:.3g}".replace("-", "−")


def _widened(low: float, high: float) -> tuple[float, float]:
    if high - low > 1e-9 * max(abs(low), abs(high)):
        return low, high
    return low - (abs(low) * 0.1 or 1.0), high + (abs(high) * 0.1 or 1.0)


def _dash(style: int) -> str:
    dashes = _DASHES[style // len(PALETTE) % len(_DASHES)]
    return f' stroke-dasharray="{dashes}"' if dashes else ""


def _path(line: Line, at: Callable[[float, float], tuple[float, float]]) -> str:
    x, y = _thinned(line.x, line.y)
    runs: list[list[str]] = [[]]
    for one_x, one_y in zip(x.tolist(), y.tolist(), strict=True):
        if math.isfinite(one_y):
            place = at(one_x, one_y)
            runs[-1].append(f"{place[0]:.1f},{place[1]:.1f}")
        elif runs[-1]:
            runs.append([])
    color = f"c{line.style % len(PALETTE)}"
    thin = " thin" if line.thin else ""
    drawn = []
    for points in runs:
        if len(points) == 1:
            cx, cy = points[0].split(",")
            drawn.append(f'<circle class="dot {color}" cx="{cx}" cy="{cy}" r="2.5"/>')
        elif points:
            dash = ' stroke-dasharray="1 3"' if line.thin else _dash(line.style)
            drawn.append(
                f'<polyline class="line{thin} {color}" points="{" ".join(points)}"{dash}/>'
            )
    return f"<g><title>{escape(line.name)}</title>{''.join(drawn)}</g>"


def _thinned(x: Series, y: Series) -> tuple[Series, Series]:
    if y.size <= _MOST_POINTS:
        return x, y
    edges = np.linspace(0, y.size, _MOST_POINTS + 1).astype(int)
    thin_x = np.array([x[a:b].mean() for a, b in pairwise(edges)])
    parts = [y[a:b][np.isfinite(y[a:b])] for a, b in pairwise(edges)]
    return thin_x, np.array([part.mean() if part.size else np.nan for part in parts])


def _frame(ticks: Sequence[float], height_of: Callable[[float], float]) -> str:
    return "".join(
        f'<line class="grid" x1="{_LEFT}" x2="{_WIDTH - _RIGHT}" y1="{height_of(tick):.1f}" '
        f'y2="{height_of(tick):.1f}"/><text x="{_LEFT - 5}" y="{height_of(tick) + 4:.1f}" '
        f'text-anchor="end">{short(tick)}</text>'
        for tick in ticks
    )


def _figure(title: str, body: str) -> str:
    return (
        f'<figure><h4>{escape(title)}</h4><svg viewBox="0 0 {_WIDTH} {_HEIGHT}" role="img" '
        f'aria-label="{escape(title)}">{body}</svg></figure>'
    )
