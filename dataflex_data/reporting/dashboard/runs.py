"""The dashboard's section of runs: their ledgers laid over each other."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from html import escape

import numpy as np

from dataflex_data.core.ledger import columns
from dataflex_data.reporting.dashboard.parts import details, note
from dataflex_data.reporting.html import html_table
from dataflex_data.reporting.ledger_report import Run, series_of, summary
from dataflex_data.reporting.svg import Line, Series, legend, line_chart

MOST_RUNS = 12

# Heading and the columns of the ledger below it.
_CHARTS: tuple[tuple[str, tuple[str, ...]], ...] = (
    ("Reward", ("reward_mean", "reward")),
    ("Responses kept", ("kept_fraction", "kept_responses")),
    ("Tokens", ("generated_tokens", "kept_tokens", "updated_tokens")),
    ("Weights and controls", ("weight_ess_fraction", "control_target", "control_realised")),
    ("Response length", ("length_mean",)),
)


def runs_html(runs: Sequence[Run]) -> str:
    """Return all runs in a table, and the first `MOST_RUNS` of them in charts."""
    totals = [summary(run) for run in runs]
    heads = [name for name in totals[0] if any(row[name] is not None for row in totals)]
    parts = [
        html_table(
            [head.replace("_", " ") for head in heads],
            [[row[head] for head in heads] for row in totals],
        )
    ]
    drawn = list(runs[:MOST_RUNS])
    if len(drawn) < len(runs):
        parts.append(note(f"Charts show the first {MOST_RUNS} of {len(runs)} runs, by path."))
    parts.append(legend([run.label for run in drawn]))
    held = [series_of(run.ledger) for run in drawn]
    meanings = {column.name: column.meaning for column in columns()}
    parts.append(_proportions(drawn, held))
    for heading, names in _CHARTS:
        panels = sorted(
            {key for series in held for key in series if key.split("[")[0] in names},
            key=lambda key: (names.index(key.split("[")[0]), key),
        )
        charts = "".join(_chart(panel, drawn, held, meanings) for panel in panels)
        if charts:
            parts.append(f'<h3>{escape(heading)}</h3><div class="charts">{charts}</div>')
    described = [
        [run.label, key, str(value)] for run in runs for key, value in run.ledger.run.items()
    ]
    if described:
        parts.append(
            details("What runs they are", html_table(["run", "what it is", "value"], described))
        )
    return "".join(parts)


def _chart(
    panel: str,
    runs: Sequence[Run],
    held: Sequence[dict[str, Series]],
    meanings: dict[str, str],
) -> str:
    name = panel.split("[")[0]
    title = f"{panel}: {meanings[name]}" if name in meanings else panel
    return line_chart(
        title,
        [
            Line(run.label, run.ledger.steps.astype(float), series[panel], number)
            for number, (run, series) in enumerate(zip(runs, held, strict=True))
            if panel in series
        ],
    )


def _proportions(runs: Sequence[Run], held: Sequence[dict[str, Series]]) -> str:
    """Return, per domain, the proportion asked for and the share of prompts that was drawn."""
    domains = sorted(
        {key[len("proportion[") : -1] for s in held for key in s if key.startswith("proportion[")}
    )
    charts = []
    for domain in domains:
        lines = []
        for number, (run, series) in enumerate(zip(runs, held, strict=True)):
            steps = run.ledger.steps.astype(float)
            if f"proportion[{domain}]" in series:
                asked = series[f"proportion[{domain}]"]
                lines.append(Line(f"{run.label}, asked for", steps, asked, number))
            drawn = _quota_share(series, domain)
            if drawn is not None:
                lines.append(Line(f"{run.label}, drawn", steps, drawn, number, thin=True))
        charts.append(line_chart(domain, lines))
    if not charts:
        return ""
    return (
        "<h3>Proportions asked for, and shares drawn</h3>"
        + note("Solid: the mixer's proportion. Dotted: the domain's share of the prompts drawn.")
        + f'<div class="charts">{"".join(charts)}</div>'
    )


def _quota_share(series: Mapping[str, Series], domain: str) -> Series | None:
    """Return a domain's share of the prompts drawn at each step, ``None`` where not recorded."""
    if f"quota[{domain}]" not in series:
        return None
    total = np.nansum([v for k, v in series.items() if k.startswith("quota[")], axis=0)
    drawn = series[f"quota[{domain}]"]
    share: Series = np.divide(drawn, total, out=np.full(drawn.shape, np.nan), where=total > 0)
    return share
