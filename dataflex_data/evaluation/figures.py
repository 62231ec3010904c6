"""The four pictures of an evaluation. Each says in itself what was left out of it.

Forest: per method the primary interval, the meaningful-effect band, and the domains beside it, so
that no trade-off hides in a mean. Heat map: how each aggregate agrees with the primary score. Rank
shift: who moves when the aggregate changes. Pareto: score against tokens optimised.
"""

from __future__ import annotations

import io
import math
import textwrap
import warnings
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Literal

import numpy as np

from dataflex_data.evaluation.aggregate import PRIMARY
from dataflex_data.evaluation.compare import Comparison, Effect
from dataflex_data.evaluation.evaluate import Evaluation
from dataflex_data.evaluation.flags import Group
from dataflex_data.evaluation.process import OPTIMISED
from dataflex_data.evaluation.runs import group_label
from dataflex_data.evaluation.words import points
from dataflex_data.reporting import plots

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure
    from matplotlib.text import Annotation
    from matplotlib.transforms import Bbox

MOST_ROWS = 40
MOST_LINES = 16
_WIDTH = 9.0
_STAMP_LETTERS_PER_INCH = 14
_STAMP_LINE_INCHES = 0.14
_DOMAIN_MARKERS = "osD^vPX*"
_UNIT = {"percent": "percentage points", "fraction": "fractions of 1"}


def forests(evaluation: Evaluation) -> dict[Group, bytes]:
    """Return one forest plot per group that has comparisons, all of one width."""
    with _drawing():
        found = {}
        for group in evaluation.groups:
            comparisons = evaluation.of_group(group)
            if comparisons:
                found[group] = plots.figure_png(_forest(evaluation, group, comparisons))
        return found


def stacked(pictures: Sequence[bytes]) -> bytes:
    """Return pictures of equal width as one, below each other."""
    from matplotlib.image import imread, imsave

    arrays = [imread(io.BytesIO(picture), format="png") for picture in pictures]
    target = io.BytesIO()
    imsave(target, np.concatenate(arrays), format="png", metadata=plots.NO_METADATA)
    return target.getvalue()


@contextmanager
def _drawing() -> Iterator[None]:
    """Hold the common style; characters that its font lacks are told by `not_in_font` instead."""
    with plots.style(), warnings.catch_warnings():
        warnings.filterwarnings("ignore", message=r"Glyph \d+ .* missing from font")
        yield


def not_in_font(evaluation: Evaluation) -> list[str]:
    """Return the names with characters that the pictures' font cannot draw."""
    from matplotlib.font_manager import findfont, get_font

    known = get_font(findfont("DejaVu Sans")).get_charmap()
    contract = evaluation.contract
    names = [
        *contract.all_methods,
        *evaluation.scores.names,
        *(group_label(group, contract.data.id_columns) for group in evaluation.groups),
    ]
    return [
        name
        for name in dict.fromkeys(names)
        if any(ord(character) not in known for character in name)
    ]


def _stamp(evaluation: Evaluation, figure: Figure) -> None:
    """Write the status below everything else, in room kept for it, where it is not plain locked."""
    if evaluation.status == "locked":
        return
    from matplotlib.layout_engine import ConstrainedLayoutEngine

    width, height = figure.get_size_inches()
    lines = textwrap.wrap(evaluation.status, int(width * _STAMP_LETTERS_PER_INCH))
    share = (0.06 + _STAMP_LINE_INCHES * len(lines)) / height
    figure.set_layout_engine(ConstrainedLayoutEngine(rect=(0, share, 1, 1 - share)))
    figure.text(
        *(0.99, 0.03 / height, "\n".join(lines)),
        ha="right",
        va="bottom",
        color="#b3261e",
        size=8,
    )


def _forest(evaluation: Evaluation, group: Group, comparisons: Sequence[Comparison]) -> Figure:
    shown, note = _shortened(comparisons)
    domains = evaluation.scores.domains
    row = 0.34 + 0.13 * len(domains)
    figure = plots.new_figure(_WIDTH, 1.35 + row * len(shown))
    axes = figure.subplots()
    margin = evaluation.contract.meaningful_effect
    axes.axvspan(-margin, margin, color=plots.BAND, zorder=0, label=f"within ±{margin:g}")
    axes.axvline(0, color=plots.FAINT, linewidth=1, zorder=1)
    step = 0.72 / (len(domains) + 1)
    for at, one in enumerate(shown):
        _bar(axes, at - 0.3, one.primary, plots.INK, "s", 6.5, 2.4, PRIMARY if at == 0 else None)
        for place, name in enumerate(domains):
            _bar(
                axes,
                at - 0.3 + step * (place + 1),
                one.effects[name],
                plots.PALETTE[place % len(plots.PALETTE)],
                _DOMAIN_MARKERS[place % len(_DOMAIN_MARKERS)],
                4,
                0.9,
                name if at == 0 else None,
            )
            told = points(evaluation.contract, one.effects[name].mean, signed=True)
            _told(axes, at - 0.3 + step * (place + 1), told, plots.PALETTE[place % 8])
        mean = points(evaluation.contract, one.primary.mean, signed=True)
        _told(axes, at - 0.3, f"{mean}  {one.verdict}", plots.INK)
        if at:
            axes.axhline(at - 0.5, color=plots.GRID, linewidth=0.8, zorder=0)
    axes.set_yticks(
        range(len(shown)), [f"{one.method}\nvs {one.baseline} (n={one.n})" for one in shown]
    )
    axes.set_ylim(len(shown) - 0.5, -0.55)
    axes.grid(visible=False, axis="y")
    level = 1 - evaluation.contract.inference.alpha
    axes.set_xlabel(
        f"difference to the baseline ({_UNIT[evaluation.contract.scale]}), {level:.0%} t interval "
        "(domains: descriptive, uncorrected)"
    )
    axes.set_title(group_label(group, evaluation.contract.data.id_columns) + note)
    figure.legend(*axes.get_legend_handles_labels(), loc="outside upper left", ncols=6, fontsize=8)
    _stamp(evaluation, figure)
    return figure


def _told(axes: Axes, y: float, text: str, color: str) -> None:
    """Write what stands at ``y`` to the right of the axes."""
    axes.text(
        1.01,
        y,
        text.replace(", below", ",\nbelow"),
        transform=axes.get_yaxis_transform(),
        va="center",
        fontsize=7.5,
        color=color,
    )


def _shortened(comparisons: Sequence[Comparison]) -> tuple[list[Comparison], str]:
    """Return at most `MOST_ROWS` comparisons, the extremes by mean, and a note on what is left."""
    shown = list(comparisons)  # by effect already
    if len(shown) <= MOST_ROWS:
        return shown, ""
    half = MOST_ROWS // 2
    kept = [*shown[:half], *shown[-half:]]
    return kept, f"\nthe {half} highest and {half} lowest of {len(shown)}; all are in the table"


def _bar(
    axes: Axes,
    y: float,
    effect: Effect,
    color: str,
    marker: str,
    size: float,
    width: float,
    label: str | None,
) -> None:
    if not math.isfinite(effect.mean):
        return
    if effect.interval is not None:
        axes.plot(effect.interval, (y, y), color=color, linewidth=width, solid_capstyle="butt")
    axes.plot(effect.mean, y, marker, color=color, markersize=size, label=label, zorder=3)


def heat_map(evaluation: Evaluation) -> bytes:
    """Return the rank correlation of each score with the primary one, by group."""
    names = [*evaluation.scores.domains, *evaluation.scores.sensitivity]
    groups = evaluation.groups[:MOST_ROWS]
    value_of = {(one.group, one.score): one.spearman for one in evaluation.agreements}
    matrix = np.array(
        [[_or_nan(value_of[group, name]) for name in names] for group in groups], dtype=float
    )
    with _drawing():
        import matplotlib as mpl

        figure = plots.new_figure(_WIDTH, 1.7 + 0.36 * len(groups))
        axes = figure.subplots()
        colors = mpl.colormaps["PuOr"].with_extremes(bad="#d0d4d9")
        image = axes.imshow(matrix, cmap=colors, vmin=-1, vmax=1, aspect="auto")
        for (y, x), value in np.ndenumerate(matrix):
            text = "–" if np.isnan(value) else f"{value:+.2f}".replace("-", "−")
            ink = "white" if abs(value) > 0.55 else plots.INK
            axes.text(x, y, text, ha="center", va="center", color=ink, fontsize=8.5)
        axes.set_xticks(range(len(names)), names, rotation=18, ha="right")
        columns = evaluation.contract.data.id_columns
        axes.set_yticks(range(len(groups)), [group_label(group, columns) for group in groups])
        axes.grid(visible=False)
        left = len(evaluation.groups) - len(groups)
        more = f" (first {len(groups)} of {len(evaluation.groups)} groups)" if left else ""
        figure.suptitle(
            f"Spearman correlation of method means with the primary score{more}",
            x=0.01,
            ha="left",
            fontsize=11,
            fontweight="bold",
        )
        axes.axvline(len(evaluation.scores.domains) - 0.5, color="white", linewidth=3)
        figure.colorbar(image, ax=axes, pad=0.01, fraction=0.03)
        _stamp(evaluation, figure)
        return plots.figure_png(figure)


def _or_nan(value: float | None) -> float:
    return math.nan if value is None else value


def rank_shift(evaluation: Evaluation) -> bytes:
    """Return how the methods of each group change places between aggregates."""
    names = [PRIMARY, *evaluation.scores.sensitivity]
    ranks = {(one.group, one.score): one.ranks for one in evaluation.agreements}
    groups = evaluation.groups[:MOST_ROWS]
    columns = min(2, len(groups))
    lines = math.ceil(len(groups) / columns)
    tallest = max(min(len(ranks[group, PRIMARY]), MOST_LINES) for group in groups)
    with _drawing():
        figure = plots.new_figure(_WIDTH * 1.2, 0.6 + lines * (0.85 + 0.2 * max(tallest, 4)))
        grid = figure.subplots(lines, columns, squeeze=False)
        for axes, group in zip(grid.flat, groups, strict=False):
            _rank_panel(evaluation, axes, group, [ranks[group, name] for name in names], names)
        for axes in list(grid.flat)[len(groups) :]:
            axes.set_axis_off()
        left = len(evaluation.groups) - len(groups)
        more = f", first {len(groups)} of {len(evaluation.groups)} groups" if left else ""
        figure.suptitle(
            f"Rank of each method under each aggregate (1 = highest mean{more})",
            x=0.01,
            ha="left",
            fontsize=11,
            fontweight="bold",
        )
        _stamp(evaluation, figure)
        return plots.figure_png(figure)


def _rank_panel(
    evaluation: Evaluation,
    axes: Axes,
    group: Group,
    ranks: Sequence[Mapping[str, float]],
    names: Sequence[str],
) -> None:
    methods = sorted(ranks[0], key=lambda method: (ranks[0][method], method))
    half = MOST_LINES // 2
    shown = methods if len(methods) <= MOST_LINES else [*methods[:half], *methods[-half:]]
    baselines = {family.baseline for family in evaluation.contract.methods.values()}
    order = [name for name in evaluation.contract.all_methods if name not in baselines]
    styles = ("-", "--", ":")
    for method in shown:
        at = order.index(method) if method in order else 0
        size = len(plots.PALETTE)
        color = plots.INK if method in baselines else plots.PALETTE[at % size]
        line = styles[at // size % len(styles)]
        width = 2.4 if method in baselines else 1.4
        values = [rank[method] for rank in ranks]
        axes.plot(values, line, marker="o", markersize=4, color=color, linewidth=width)
        axes.text(len(names) - 0.92, values[-1], method, va="center", fontsize=8, color=color)
    axes.set_xticks(range(len(names)), [name.replace("_", "\n") for name in names], fontsize=7.5)
    axes.set_xlim(-0.15, len(names) - 1 + 0.75)
    lowest = len(methods)
    axes.set_yticks(range(1, lowest + 1, max(1, lowest // 10)))
    axes.set_ylim(lowest + 0.4, 0.6)
    axes.grid(visible=False, axis="x")
    left = f" ({len(shown)} of {len(methods)} methods)" if len(shown) < len(methods) else ""
    axes.set_title(group_label(group, evaluation.contract.data.id_columns) + left, fontsize=8.5)


def pareto(evaluation: Evaluation) -> bytes | None:
    """Return score against tokens optimised, or ``None`` where no run reports them."""
    tokens = {
        (row.group, row.method): row.mean for row in evaluation.process if row.metric == OPTIMISED
    }
    if not tokens:
        return None
    means = {one.group: one.means for one in evaluation.agreements if one.score == PRIMARY}
    groups = sorted({group for group, _ in tokens})[:MOST_ROWS]
    columns = min(2, len(groups))
    lines = math.ceil(len(groups) / columns)
    with _drawing():
        labels: list[tuple[Axes, list[Annotation]]] = []
        figure = plots.new_figure(_WIDTH, 0.5 + 3.1 * lines)
        grid = figure.subplots(lines, columns, squeeze=False)
        for axes, group in zip(grid.flat, groups, strict=False):
            shown = {
                method: (tokens[group, method], mean)
                for method, mean in means[group].items()
                if (group, method) in tokens
            }
            labels.append((axes, _pareto_panel(evaluation, axes, group, shown)))
        for axes in list(grid.flat)[len(groups) :]:
            axes.set_axis_off()
        _stamp(evaluation, figure)
        figure.draw_without_rendering()  # lays the panels out: labels are placed by pixels
        for axes, texts in labels:
            _place(axes, texts)
        return plots.figure_png(figure)


def _pareto_panel(
    evaluation: Evaluation, axes: Axes, group: Group, shown: Mapping[str, tuple[float, float]]
) -> list[Annotation]:
    """Draw one panel and return the labels of its points, to be placed."""
    from matplotlib.ticker import EngFormatter

    front = pareto_front(shown)
    baselines = {family.baseline for family in evaluation.contract.methods.values()}
    axes.plot(
        *zip(*(shown[name] for name in front), strict=True),
        color=plots.FAINT,
        linewidth=1,
        linestyle="--",
        zorder=1,
    )
    named = set(shown) if len(shown) <= MOST_LINES else {*front, *baselines}
    labels = []
    for method, (x, y) in shown.items():
        color = plots.INK if method in baselines else plots.PALETTE[0 if method in front else 7]
        axes.plot(x, y, "s" if method in baselines else "o", color=color, markersize=5)
        if method in named:
            labels.append(
                axes.annotate(
                    *(method, (x, y)),
                    xytext=(0, 0),
                    textcoords="offset points",
                    va="center",
                    fontsize=7.5,
                )
            )
    axes.margins(0.14)
    axes.set_xlabel("tokens optimised per run (mean)")
    axes.set_ylabel("primary score (mean)")
    axes.xaxis.set_major_formatter(EngFormatter(sep=""))
    label = group_label(group, evaluation.contract.data.id_columns)
    axes.set_title("\n".join(textwrap.wrap(label, 44)), fontsize=8.5)
    return labels


# Where a label may stand, in points from its mark: the side and the line above or below.
_PLACES: list[tuple[Literal["left", "right"], float]] = [
    *(("left", 0.0), ("right", 0.0)),
    *(("left", 8.0), ("right", 8.0), ("left", -8.0), ("right", -8.0)),
    *(("left", 16.0), ("right", 16.0), ("left", -16.0), ("right", -16.0)),
    *(("left", 24.0), ("right", 24.0), ("left", -24.0), ("right", -24.0)),
]


def _place(axes: Axes, labels: Sequence[Annotation]) -> None:
    """Put each label where it runs over no other, no mark and no edge, if there is such a place."""
    from matplotlib.transforms import Bbox as Box

    frame = axes.get_window_extent()
    marks = [axes.transData.transform(label.xy) for label in labels]
    taken = [Box.from_bounds(x - 4, y - 4, 8, 8) for x, y in marks]
    for label in sorted(labels, key=lambda one: (one.xy[1], one.xy[0])):
        best: tuple[float, tuple[Literal["left", "right"], float], Bbox] | None = None
        for at, (side, line) in enumerate(_PLACES):
            label.set_horizontalalignment(side)
            label.set_position((5 if side == "left" else -5, line))
            box = label.get_window_extent()
            over = sum(_overlap(box, other) for other in taken)
            outside = max(0.0, frame.x0 - box.x0) + max(0.0, box.x1 - frame.x1)
            cost = over + outside * box.height + at
            if best is None or cost < best[0]:
                best = (cost, (side, line), box)
        if best is not None:
            side, line = best[1]
            label.set_horizontalalignment(side)
            label.set_position((5 if side == "left" else -5, line))
            taken.append(best[2])


def _overlap(first: Bbox, second: Bbox) -> float:
    width = min(first.x1, second.x1) - max(first.x0, second.x0)
    height = min(first.y1, second.y1) - max(first.y0, second.y0)
    return float(width * height) if width > 0 and height > 0 else 0.0


def pareto_front(points: Mapping[str, tuple[float, float]]) -> list[str]:
    """Return the names that no other beats in fewer tokens and higher score, by tokens."""
    front: list[str] = []
    best = -math.inf
    for name, (_, score) in sorted(points.items(), key=lambda item: (item[1][0], -item[1][1])):
        if score > best:
            front.append(name)
            best = score
    return front
