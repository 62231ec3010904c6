"""The dashboard's section of an evaluation: verdicts, a forest, sensitivity and costs."""

from __future__ import annotations

import math
from collections.abc import Sequence
from html import escape

import numpy as np

from dataflex_data.reporting.dashboard.models import Comparison, EvaluationResults
from dataflex_data.reporting.dashboard.parts import details, known, note
from dataflex_data.reporting.html import Html, html_table
from dataflex_data.reporting.svg import interval
from dataflex_data.reporting.words import MINUS, effect_decimals, plural

_PRIMARY = "primary"


def evaluation_html(results: EvaluationResults) -> str:
    """Return an evaluation: verdicts, effects, sensitivity, costs, remarks."""
    told = ", ".join(
        f"{count} {verdict}" for verdict, count in sorted(results.summary.verdicts.items())
    )
    locked = results.status == "locked"
    state = "" if locked else " warn"
    parts = [
        f'<p class="headline{state}">{plural(results.summary.comparisons, "comparison")} under '
        f"contract {escape(results.contract.name)}: {escape(told or 'none')}.</p>"
    ]
    if not locked:
        parts.append(f'<div class="banner">{escape(results.status)}</div>')
    open_ = [
        effect
        for one in results.comparisons
        if one.verdict == "inconclusive"
        and one.tests
        and (effect := known(one.tests.minimal_detectable_effect)) is not None
    ]
    if open_:
        parts.append(
            "<p>Inconclusive does not mean without effect: the median inconclusive comparison "
            "could have shown, with the contract's power, a difference of "
            f"{_points(results, float(np.median(open_)))} or more; the effect that matters was "
            f"set at {results.meaningful_effect:g}.</p>"
        )
    parts += [_forest(results), _sensitivity(results)]
    if results.process:
        parts.append(
            "<h3>What it cost</h3>"
            + html_table(
                ["group", "method", "metric", "runs", "mean", "ratio to baseline"],
                [
                    [_group(p.group), p.method, p.metric, p.runs, known(p.mean), known(p.ratio)]
                    for p in results.process
                ],
            )
        )
    if results.flags:
        parts.append(
            details(
                plural(len(results.flags), "remark") + " on the runs",
                html_table(
                    ["kind", "group", "method", "seed", "what"],
                    [[f.kind, _group(f.group), f.method, f.seed, f.detail] for f in results.flags],
                ),
            )
        )
    return "".join(parts)


def _points(results: EvaluationResults, value: float, *, sign: str = "") -> str:
    decimals = effect_decimals(results.scale, results.meaningful_effect)
    return f"{value:{sign}.{decimals}f}".replace("-", MINUS)


def _group(group: Sequence[str]) -> str:
    return " · ".join(part for part in group if part) or "all"


def _forest(results: EvaluationResults) -> str:
    comparisons = [*results.comparisons, *results.a_a]
    ends = [
        abs(end)
        for one in comparisons
        for end in (one.effects[_PRIMARY].t_interval or ())
        if _PRIMARY in one.effects and math.isfinite(end)
    ]
    # The widest intervals come from few seeds; nine in ten fit, the others are cut at the edge.
    ends.sort()
    reach = max(ends[int(0.9 * (len(ends) - 1))] if ends else 1.0, 2 * results.meaningful_effect)
    domains = [name for name in results.scores if name != _PRIMARY]
    columns = [
        *("method", "effect", "verdict", "difference", "interval", "baseline", "pairs"),
        *("detectable", *domains),
    ]
    tables = [
        f"<h4>{escape(_group(group))}</h4>"
        + html_table(
            columns,
            [
                _forest_row(one, results, reach, domains)
                for one in comparisons
                if one.group == group
            ],
        )
        for group in sorted({one.group for one in comparisons})
    ]
    return (
        "<h3>Effects</h3>"
        + note(
            f"Each line from −{reach:.3g} to {reach:.3g} {results.scale} points, cut at its ends; "
            f"the point is the paired difference of the primary score with its t interval, the "
            f"shaded band is within ±{results.meaningful_effect:g}, the grey line is no "
            "difference. The last columns are differences of other scores, descriptive and "
            "uncorrected."
        )
        + "".join(tables)
    )


def _forest_row(
    one: Comparison, results: EvaluationResults, reach: float, domains: Sequence[str]
) -> list[object]:
    effect = one.effects.get(_PRIMARY)
    mean = known(effect.mean) if effect else None
    ends = effect.t_interval if effect else None
    picture: object = None
    shown: str | None = None
    if ends is not None and all(math.isfinite(end) for end in ends):
        shown = f"[{_points(results, ends[0])}, {_points(results, ends[1])}]"
    if mean is not None:
        told = f"{_points(results, mean, sign='+')} {shown or ''}"
        drawn = ends if shown else None
        picture = Html(interval(mean, drawn, reach, results.meaningful_effect, told), mean)
    tests = one.tests
    others = (one.effects[name].mean if name in one.effects else None for name in domains)
    return [
        *(one.method, picture, one.verdict, mean, shown, one.baseline, one.n),
        known(tests.minimal_detectable_effect) if tests else None,
        *map(known, others),
    ]


def _sensitivity(results: EvaluationResults) -> str:
    scores = [name for name in results.scores if name != _PRIMARY]
    held = {(one.group, one.score): one for one in results.sensitivity}
    groups = list(dict.fromkeys(one.group for one in results.sensitivity))
    if not groups or not scores:
        return ""
    rows: list[list[object]] = []
    for group in groups:
        cells: list[object] = [_group(group)]
        for score in scores:
            one = held.get((group, score))
            value = known(one.spearman) if one else None
            cells.append(None if value is None else Html(_heat(value), value))
        rows.append(cells)
    return (
        "<h3>Sensitivity to the aggregate</h3>"
        + note(
            "Spearman correlation of the methods' order under each score with that under the "
            "primary one: blue agrees, orange turns it round."
        )
        + html_table(["group", *scores], rows)
    )


def _heat(value: float) -> str:
    color = "0 114 178" if value >= 0 else "213 94 0"
    text = f"{value:+.2f}".replace("-", "−")
    shade = f"rgb({color} / {abs(value) * 0.5:.2f})"
    return f'<span class="heat" style="background: {shade}">{text}</span>'
