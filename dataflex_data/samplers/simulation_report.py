"""What a simulation leaves behind: a picture, one self-contained page, ledgers and a summary."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from html import escape
from pathlib import Path
from typing import Any

import numpy as np

from dataflex_data.core.parquet import MANIFEST_NAME, folder_digests, write_json
from dataflex_data.core.simplex import FloatArray
from dataflex_data.reporting import plots
from dataflex_data.reporting.html import Section, html_table, render_page
from dataflex_data.samplers.simulation import Trajectory

_SMOOTH = 15
SUMMARY_COLUMNS = (
    "mixer",
    "solve rate at the end",
    "± over runs",
    "mean over steps",
    "regret at the end",
)
SUMMARY_KEYS = ("mixer", "solve_rate_end", "solve_rate_sd", "solve_rate_mean", "regret_end")
"""The same for programs."""


def summary_rows(
    trajectories: Sequence[Trajectory], best: Trajectory | None
) -> list[tuple[str, float, float | None, float, float | None]]:
    """Return one row per mixer: final solve rate with its spread, mean, and regret.

    Regret is how much lower the mixer ends than the best fixed mixture on the same seeds; negative
    where it ends higher.
    """
    rows = []
    for trajectory in [*trajectories, *([best] if best is not None else [])]:
        final = float(np.mean(trajectory.finals))
        several = len(trajectory.finals) > 1
        rows.append(
            (
                trajectory.label,
                final,
                float(np.std(trajectory.finals, ddof=1)) if several else None,
                float(np.mean(trajectory.averages)),
                None if best is None else float(np.mean(best.finals)) - final,
            )
        )
    return rows


def trajectory_rows(trajectory: Trajectory, points: int = 6) -> list[tuple[object, ...]]:
    """Return the proportions at a few steps, first and last among them, for a terminal."""
    steps = len(trajectory.proportions_SD)
    shown = sorted({round(i * (steps - 1) / (points - 1)) for i in range(points)})
    return [
        (trajectory.label, step, *(round(float(p), 4) for p in trajectory.proportions_SD[step]))
        for step in shown
    ]


def draw(trajectories: Sequence[Trajectory], domains: Sequence[str]) -> bytes:
    """Return a PNG: a row per mixer, its proportions beside its domains' solve rates.

    Of a log, whose rewards are the same for every mixer, these come once, below.
    """
    learner = bool(trajectories[0].solve_rate_SD.size)
    n, steps = len(trajectories), len(trajectories[0].proportions_SD)
    with plots.style():
        figure = plots.new_figure(9.5, 0.7 + 1.9 * (n if learner else n + 1))
        if learner:
            axes = figure.subplots(n, 2, sharex=True, squeeze=False)
            pairs = list(axes)
        else:
            axes = figure.subplots(n + 1, 1, sharex=True, squeeze=False)
            pairs = [(axes[row, 0], axes[n, 0]) for row in range(n)]
        for (left, right), trajectory in zip(pairs, trajectories, strict=True):
            is_new = learner or trajectory is trajectories[0]
            outcome = trajectory.solve_rate_SD if learner else trajectory.reward_SD
            smooth = _running_mean(trajectory.proportions_SD)
            for d, name in enumerate(domains):
                color = plots.PALETTE[d % len(plots.PALETTE)]
                dashes = "-" if d < len(plots.PALETTE) else "--"
                # Earlier lines are wider, so that equal ones show through each other.
                width = 1.3 + 1.2 * (len(domains) - 1 - d) / max(1, len(domains) - 1)
                left.plot(trajectory.proportions_SD[:, d], color=color, alpha=0.2, lw=0.6)
                left.plot(smooth[:, d], dashes, color=color, label=name, lw=width)
                if is_new:
                    right.plot(outcome[:, d], dashes, color=color, lw=width)
            if learner:
                right.plot(outcome.mean(axis=1), ":", color=plots.INK, lw=1.6, label="mean")
            left.set_title(
                f"{trajectory.label}: proportions (bold: mean of {min(_SMOOTH, steps)} steps)"
            )
            right.set_title(f"{trajectory.label}: solve rate" if learner else "logged mean reward")
            left.set_ylim(-0.03, 1.03)
            right.set_ylim(*((-0.03, 1.03) if learner else (None, None)))
        for axis in axes[-1]:
            axis.set_xlabel("step")
        handles, labels = axes[0][0].get_legend_handles_labels()
        if learner:
            more_handles, more_labels = axes[0][1].get_legend_handles_labels()
            handles, labels = [*handles, *more_handles], [*labels, *more_labels]
        figure.legend(handles, labels, loc="outside upper center", ncols=min(len(labels), 8))
        return plots.figure_png(figure)


def _running_mean(values_SD: FloatArray) -> FloatArray:
    """Return the mean of each step and those before it, `_SMOOTH` in all."""
    sums = np.cumsum(values_SD, axis=0)
    sums[_SMOOTH:] -= sums[:-_SMOOTH].copy()
    return np.asarray(sums / np.minimum(np.arange(1, len(sums) + 1), _SMOOTH)[:, None])


def write_report(
    folder: Path,
    trajectories: Sequence[Trajectory],
    best: Trajectory | None,
    domains: Sequence[str],
    *,
    png: bytes | None,
    settings: Mapping[str, Any],
) -> None:
    """Write ``summary.json``, the picture, ``report.html`` and the manifest into ``folder``.

    Args:
        folder: Holds the ledgers already.
        trajectories: One per mixer.
        best: The best fixed mixture's; ``None`` for a log.
        domains: Names, in the order of the arrays.
        png: From `draw`; without it the page has none.
        settings: What the simulation was run with, shown and kept.
    """
    learner = best is not None
    summary = {
        "settings": dict(settings),
        "domains": list(domains),
        "mixers": [
            {
                "label": t.label,
                "mixer": t.mixer,
                "moved": t.moved,
                "final_proportions": dict(zip(domains, t.proportions_SD[-1].tolist(), strict=True)),
                "finals": list(t.finals),
                "averages": list(t.averages),
            }
            for t in [*trajectories, *([best] if best is not None else [])]
        ],
    }
    write_json(summary, folder / "summary.json")
    sections = []
    if learner:
        sections.append(
            Section(
                "Outcome",
                html_table(SUMMARY_COLUMNS, summary_rows(trajectories, best))
                + "<p>Solve rate is the mean over domains, each weighing the same, of the "
                "learner's expected solve rate. Regret is how much lower a mixer ends than the "
                "best fixed mixture, found by search in the learner's mean and then run with the "
                "same seeds; it is negative where the mixer ends higher.</p>",
            )
        )
    if png is not None:
        (folder / "trajectory.png").write_bytes(png)
        sections.append(
            Section(
                "Trajectories",
                f'<img alt="Proportions and outcome by step" src="{plots.png_data_uri(png)}" '
                'style="max-width:100%">'
                f"<p>Thin lines are the proportions themselves; bold ones the mean of the last "
                f"{_SMOOTH} steps (or as many as there are), in which a mixer that switches "
                "between domains, such as adarft, seems to be between them.</p>",
            )
        )
    rows = [row for t in trajectories for row in trajectory_rows(t, 13)]
    sections.append(Section("Proportions", html_table(("mixer", "step", *domains), rows)))
    listed = "".join(f"<li>{escape(str(k))}: {escape(str(v))}</li>" for k, v in settings.items())
    model = (
        "The learner: a prompt is solved with the probability sigmoid(ability − spread × its "
        "difficulty); groups that are neither all right nor all wrong raise the domain's ability; "
        "what was gained is forgotten little by little. No transfer between domains, no "
        "memorising, no noise of optimisation. It shows how a mixer behaves, not what a model "
        "will score."
        if learner
        else "A replay: every mixer sees what was logged, whatever it would have drawn. It shows "
        "where a mixer would have gone, not what would have come of it."
    )
    sections.append(Section("What was run", f"<p>{model}</p><ul>{listed}</ul>"))
    page = render_page("Mixture simulation", sections)
    (folder / "report.html").write_text(page, encoding="utf-8")
    write_json(
        {"kind": "dataflex_data/simulation", "version": 1, "files": folder_digests(folder)},
        folder / MANIFEST_NAME,
    )
