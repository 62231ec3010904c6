"""What a policy did to training, beside what it did to the score.

An efficiency claim needs three counts apart: tokens generated in rollouts, responses retained, and
tokens optimised. Selection after the rollout saves the last only.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from dataflex_data.evaluation.compare import Comparison, rows_by_seed
from dataflex_data.evaluation.flags import Flag, Group
from dataflex_data.evaluation.runs import Runs
from dataflex_data.reporting.words import plural

GENERATED, RETAINED, OPTIMISED = "rollout_tokens", "kept_fraction", "update_tokens"


@dataclass(frozen=True, slots=True)
class ProcessRow:
    """A process metric of one method.

    Attributes:
        runs: Runs that report it; the others are not guessed (`process_flags` names them).
        mean: Mean over these runs, whether or not they have a pair.
        baseline_mean: The baseline's mean, ``None`` for baselines and where it reports none.
        ratio: Mean over the baseline's mean; ``None`` where that is 0 or absent.
    """

    group: Group
    method: str
    metric: str
    runs: int
    mean: float
    baseline_mean: float | None
    ratio: float | None


def process_rows(runs: Runs, comparisons: list[Comparison]) -> list[ProcessRow]:
    """Return one row per group, method and metric that any of its runs reports."""
    baseline_of = {(c.group, c.method): c.baseline for c in comparisons if not c.is_aa}
    rows = rows_by_seed(runs)
    means: dict[tuple[Group, str, str], tuple[int, float]] = {}
    for (group, method), by_seed in sorted(rows.items()):
        for metric, column in runs.process.items():
            values = column[list(by_seed.values())]
            present = values[~np.isnan(values)]
            if len(present):
                means[group, method, metric] = (len(present), float(present.mean()))
    found = []
    for (group, method, metric), (count, mean) in means.items():
        reference = _baseline_mean(means, group, baseline_of.get((group, method)), metric)
        ratio = mean / reference if reference else None
        found.append(ProcessRow(group, method, metric, count, mean, reference, ratio))
    return found


def process_flags(runs: Runs) -> list[Flag]:
    """Return one flag per method of a group that reports a metric in fewer runs than it has.

    A method without any report is flagged where others of its group report.
    """
    flags = []
    rows = rows_by_seed(runs)
    for metric, column in runs.process.items():
        present = {key: ~np.isnan(column[list(by_seed.values())]) for key, by_seed in rows.items()}
        reporting = {group for (group, _), held in present.items() if held.any()}
        flags += [
            Flag(
                "incomplete_process",
                group,
                method,
                None,
                "",
                f"{metric} is reported by {int(held.sum())} of {plural(len(held), 'run')}",
            )
            for (group, method), held in sorted(present.items())
            if group in reporting and not held.all()
        ]
    return flags


def _baseline_mean(
    means: Mapping[tuple[Group, str, str], tuple[int, float]],
    group: Group,
    baseline: str | None,
    metric: str,
) -> float | None:
    if baseline is None or (group, baseline, metric) not in means:
        return None
    return means[group, baseline, metric][1]
