"""Ledgers of one or several runs as terminal tables with sparklines, and as one HTML page.

What a column means was said where it was declared (`dataflex_data.core.ledger`); here it is only
shown. Runs are laid over each other, so that a policy is seen beside its control.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from html import escape
from itertools import pairwise
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np
import numpy.typing as npt

from dataflex_data.core.errors import InputDataError, did_you_mean
from dataflex_data.core.ledger import LedgerRows, columns
from dataflex_data.reporting.html import Section, html_table, render_page

if TYPE_CHECKING:
    from matplotlib.axes import Axes

Series: TypeAlias = npt.NDArray[np.float64]
Figures: TypeAlias = "list[float | None]"

BLOCKS = "▁▂▃▄▅▆▇█"
ASCII_BLOCKS = "_.-:=+*#"  # for terminals without the others
SPARK_WIDTH = 24
_TOTALS = ("generated_tokens", "kept_tokens", "updated_tokens")


@dataclass(frozen=True, slots=True)
class Run:
    """A ledger with the name it has in a report."""

    label: str
    ledger: LedgerRows


def labelled(ledgers: Sequence[LedgerRows]) -> list[Run]:
    """Return the ledgers with labels that tell them apart: file names, with folders where needed.

    Raises:
        InputDataError: One is given twice, or one has no step.
    """
    paths = [ledger.path.resolve() for ledger in ledgers]
    for path, ledger in zip(paths, ledgers, strict=True):
        if paths.count(path) > 1:
            raise InputDataError(f"{ledger.path}: is given twice")
        if not ledger.rows:
            raise InputDataError(f"{ledger.path}: has no step yet")
    for depth in range(1, max((len(path.parts) for path in paths), default=1) + 1):
        labels = ["/".join((*path.parts[-depth:-1], path.stem)) for path in paths]
        if len(set(labels)) == len(labels):
            break
    return [Run(label, ledger) for label, ledger in zip(labels, ledgers, strict=True)]


def series_of(ledger: LedgerRows) -> dict[str, Series]:
    """Return every numeric column, one number per step.

    Those by domain stand as ``name[domain]``, lists as ``name[0]``, ``name[1]``, ...; texts are
    left out (`text_columns`).
    """
    found: dict[str, Series] = {}
    for name in ledger.names:
        values = [row.get(name) for row in ledger.rows]
        held = [value for value in values if value is not None]
        if held and all(isinstance(value, int | float) for value in held):
            found[name] = ledger.numbers(name)
        elif held and all(isinstance(value, Mapping) for value in held):
            for part, numbers in ledger.by_domain(name).items():
                found[f"{name}[{part}]"] = numbers
        elif held and all(isinstance(value, list) for value in held):
            for place in range(max(map(len, held))):
                found[f"{name}[{place}]"] = np.array(
                    [value[place] if value and place < len(value) else np.nan for value in values],
                    dtype=np.float64,
                )
    return found


def text_columns(ledger: LedgerRows) -> dict[str, dict[str, int]]:
    """Return every column of texts: how many steps have each."""
    found: dict[str, dict[str, int]] = {}
    for name in ledger.names:
        held = [row[name] for row in ledger.rows if row.get(name) is not None]
        if held and all(isinstance(value, str) for value in held):
            found[name] = dict(Counter(held).most_common())
    return found


def sparkline(values: Series, width: int = SPARK_WIDTH, blocks: str = BLOCKS) -> str:
    """Return the values as a line of blocks, means of equal stretches; a gap is a space."""
    if values.size > width:
        edges = np.linspace(0, values.size, width + 1).astype(int)
        values = np.array([_mean(values[a:b]) for a, b in pairwise(edges)])
    good = np.isfinite(values)
    if not good.any():
        return " " * values.size
    low, high = values[good].min(), values[good].max()
    # Differences of the size of rounding are none.
    span = high - low if high - low > 1e-9 * max(abs(low), abs(high)) else 0.0
    return "".join(
        " "
        if not np.isfinite(value)
        else blocks[int((value - low) / span * (len(blocks) - 1) + 0.5) if span > 0 else 0]
        for value in values
    )


def summary(run: Run) -> dict[str, Any]:
    """Return the totals of a run; ``None`` for what it did not record."""
    series, rows = series_of(run.ledger), run.ledger.rows
    totals = {name: int(np.nansum(series[name])) if name in series else None for name in _TOTALS}
    fates = [row.get("update") for row in rows]
    recorded = any(fate is not None for fate in fates)
    target, realised = series.get("control_target"), series.get("control_realised")
    ratio = None
    if target is not None and realised is not None and np.nansum(target) > 0:
        ratio = float(np.nansum(realised) / np.nansum(target))
    return {
        "run": run.label,
        "steps": len(rows),
        "first_step": int(run.ledger.steps[0]),
        "last_step": int(run.ledger.steps[-1]),
        **totals,
        "kept_fraction": _mean_or_none(series.get("kept_fraction")),
        "skipped_updates": fates.count("skipped") if recorded else None,
        "empty_selections": (
            int(np.nansum(series["empty_selection"])) if "empty_selection" in series else None
        ),
        "control_realised_over_target": ratio,
        "cut_bytes": run.ledger.cut_bytes,
    }


def column_rows(run: Run, wanted: Sequence[str] = ()) -> list[tuple[str, Series, Figures]]:
    """Return the run's columns: name, values, and first, last, mean, least and most of them.

    Args:
        run: The run.
        wanted: Columns to show, as ``name`` with all its domains or ``name[domain]``; all columns
            by default.

    Raises:
        InputDataError: The ledger has no such column.
    """
    held = series_of(run.ledger)
    shown: dict[str, Series] = {}
    asked: Sequence[str | None] = wanted or [None]
    for name in asked:
        part = {
            key: values
            for key, values in held.items()
            if name is None or name in (key, key.split("[")[0])
        }
        if not part and name is not None:
            texts = text_columns(run.ledger)
            known = sorted({key.split("[")[0] for key in held})
            raise InputDataError(
                f"{run.ledger.path}: column {name!r} holds texts, which are shown without --column"
                if name in texts
                else f"{run.ledger.path}: has no column {name!r}"
                f"{did_you_mean(name, [*known, *held])} (columns: {', '.join(known)})"
            )
        shown |= part
    return [(name, values, _figures(values)) for name, values in shown.items()]


def render_report(runs: Sequence[Run], title: str) -> str:
    """Return the page of one or several runs.

    Raises:
        MissingExtraError: matplotlib is not installed.
    """
    sections = [Section("Runs", _summary_html(runs))]
    held = [series_of(run.ledger) for run in runs]
    for heading, note, names in _PLOTS:
        picture = _plot(runs, held, names)
        if picture:
            sections.append(Section(heading, f'<p class="note">{escape(note)}</p>{picture}'))
    meanings = {column.name: column.meaning for column in columns()}
    for run in runs:
        rows = [
            [name, meanings.get(name.split("[")[0], ""), *figures]
            for name, _, figures in column_rows(run)
        ]
        sections.append(
            Section(
                f"All numbers of {run.label}",
                html_table(["column", "meaning", "first", "last", "mean", "least", "most"], rows),
            )
        )
    steps = sum(len(run.ledger.rows) for run in runs)
    return render_page(title, sections, subtitle=f"{len(runs)} runs, {steps} steps")


# Heading, what to look for, and the columns; by-domain ones get a panel per domain.
_PLOTS: tuple[tuple[str, str, tuple[str, ...]], ...] = (
    (
        "Reward",
        "Mean reward of valid responses.",
        ("reward_mean",),
    ),
    (
        "Reward by domain over time",
        "A curve that falls while others rise is a domain being forgotten.",
        ("reward",),
    ),
    (
        "Tokens generated, kept and updated on",
        "The rollout of what is dropped was paid for.",
        ("generated_tokens", "kept_tokens", "updated_tokens"),
    ),
    ("Kept fraction", "Kept responses over generated ones.", ("kept_fraction",)),
    ("Kept responses by domain", "What the selection leaves of each domain.", ("kept_responses",)),
    ("Proportions by domain", "What the mixer asked for.", ("proportion",)),
    ("Quotas by domain", "Prompts drawn.", ("quota",)),
    (
        "Weights",
        "The effective share of weights, and the largest.",
        ("weight_ess_fraction", "weight_std", "weight_max"),
    ),
    (
        "Control: realised and target",
        "A matched control is one only where the two agree; each in its own unit: groups, "
        "responses or tokens.",
        ("control_target", "control_realised"),
    ),
    ("Response length", "Mean, in tokens.", ("length_mean",)),
    ("Faults", "Responses and groups left out or short, by reason.", ("faults",)),
    ("Seconds by phase", "Time in each phase of the step.", ("seconds",)),
)


def _summary_html(runs: Sequence[Run]) -> str:
    rows = [summary(run) for run in runs]
    heads = [name for name in rows[0] if any(row[name] is not None for row in rows)]
    table = html_table(
        [head.replace("_", " ") for head in heads], [[row[head] for head in heads] for row in rows]
    )
    described = [
        [run.label, key, str(value)] for run in runs for key, value in run.ledger.run.items()
    ]
    return table + (html_table(["run", "what it is", "value"], described) if described else "")


def _plot(runs: Sequence[Run], held: Sequence[Mapping[str, Series]], names: Sequence[str]) -> str:
    """Return the panels of these columns as an image, ``""`` where no run has any of them."""
    from dataflex_data.reporting.plots import figure_png, new_figure, png_data_uri, style

    panels = sorted(
        {
            key
            for series in held
            for key, values in series.items()
            if key.split("[")[0] in names and np.isfinite(values).any()
        },
        key=lambda key: (names.index(key.split("[")[0]), key),
    )
    if "faults" in names:
        panels = [panel for panel in panels if any(np.nansum(s.get(panel, 0)) for s in held)]
    if not panels:
        return ""
    across = min(3, len(panels))
    down = -(-len(panels) // across)
    with style():
        figure = new_figure(3.6 * across + 0.4, 2.4 * down + 0.4)
        grid = figure.subplots(down, across, squeeze=False)
        for axes in grid.flat[len(panels) :]:
            axes.set_visible(False)
        for axes, panel in zip(grid.flat, panels, strict=False):
            _draw(axes, panel, runs, held)
        if len(runs) > 1:
            handles, labels = _legend(grid.flat)
            figure.legend(handles, labels, loc="outside lower center", ncols=min(4, len(runs)))
        png = figure_png(figure)
    alternative = escape(", ".join(panels))
    return f'<figure><img src="{png_data_uri(png)}" alt="{alternative} by step"></figure>'


def _draw(
    axes: Axes, panel: str, runs: Sequence[Run], held: Sequence[Mapping[str, Series]]
) -> None:
    from dataflex_data.reporting.plots import PALETTE

    for number, (run, series) in enumerate(zip(runs, held, strict=True)):
        if panel in series:
            axes.plot(
                run.ledger.steps,
                series[panel],
                color=PALETTE[number % len(PALETTE)],
                linestyle=("-", "--", ":", "-.")[number // len(PALETTE) % 4],
                marker="." if len(run.ledger.rows) < 12 else "",
                linewidth=1.2,
                label=run.label,
            )
    axes.set_title(panel)
    axes.set_xlabel("step")


def _legend(grid: Iterator[Any]) -> tuple[list[Any], list[str]]:
    found: dict[str, Any] = {}
    for axes in grid:
        for handle, label in zip(*axes.get_legend_handles_labels(), strict=True):
            found.setdefault(label, handle)
    return list(found.values()), list(found)


def _figures(values: Series) -> Figures:
    good = values[np.isfinite(values)]
    if not good.size:
        return [None] * 5
    figures: list[Callable[[Series], Any]] = [np.mean, np.min, np.max]
    return [float(good[0]), float(good[-1]), *(float(figure(good)) for figure in figures)]


def _mean(values: Series) -> float:
    good = values[np.isfinite(values)]
    return float(good.mean()) if good.size else float("nan")


def _mean_or_none(values: Series | None) -> float | None:
    mean = float("nan") if values is None else _mean(values)
    return None if np.isnan(mean) else mean
