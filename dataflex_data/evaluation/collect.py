"""The runs table from what training and scoring leave behind: no number is copied by hand.

Two kinds of files are read: the JSON Lines log of verl's ``file`` logger, whose validation metrics
are named ``val-core/<data_source>/<variable>/mean@<N>``, and the JSON of ``dfdata score --json``.
Which run a file belongs to is told by its path. The step that counts is one for all runs, named by
the caller or the last one validated; never the best.

Source: verl 0.9.1, ``verl/utils/tracking.py`` (FileLogger) and
``verl/trainer/ppo/v1/trainer_base.py`` (``_val_metrics_update``).
"""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from dataflex_data.core.errors import ConfigError, InputDataError, did_you_mean
from dataflex_data.core.records import numbered_json_lines
from dataflex_data.evaluation.tables import matching_files, read_json_object

_VALIDATION = re.compile(
    r"val-(?:core|aux)/(?P<source>.+)/(?P<variable>[^/]+)/mean@(?P<responses>\d+)"
)


@dataclass(frozen=True, slots=True)
class CollectRequest:
    """What to collect.

    Attributes:
        folder: Where the files lie.
        pattern: Which files, and what their path says, as ``"{method}/seed{seed}.jsonl"``.
        constants: Columns that are the same for all runs.
        benchmarks: Column by source name; empty takes every source under its own name.
        variable: The validated quantity in verl's log, ``acc`` or ``reward``.
        step: The training step whose validation counts; ``None``: the last validated one, which
            must be the same in all runs.
        percent: Write percent; else the fractions as logged.
        process: Process metric by column: a metric of verl's log, summed over steps (``"sum"``) or
            averaged (``"mean"``).
    """

    folder: Path
    pattern: str
    constants: Mapping[str, str] = field(default_factory=dict)
    benchmarks: Mapping[str, str] = field(default_factory=dict)
    variable: str = "acc"
    step: int | None = None
    percent: bool = True
    process: Mapping[str, tuple[str, str]] = field(default_factory=dict)


@dataclass(slots=True)
class _Run:
    fields: dict[str, str]
    files: list[Path] = field(default_factory=list)
    rates: dict[str, float] = field(default_factory=dict)
    process: dict[str, float] = field(default_factory=dict)
    step: int | None = None


def collect(request: CollectRequest) -> tuple[list[str], list[list[object]]]:
    """Return columns and rows of the runs table, sorted by what the paths say.

    Raises:
        ConfigError: The pattern is malformed, or constants and pattern name the same column.
        InputDataError: A file cannot be used, runs were validated at different steps or on
            different benchmarks, or two files of one run contradict each other.
    """
    folder = request.folder.expanduser()
    if not folder.is_dir():
        raise InputDataError(f"{folder}: is no folder")
    runs: dict[tuple[tuple[str, str], ...], _Run] = {}
    for path, found in matching_files(folder, request.pattern):
        twice = sorted(found.keys() & request.constants.keys())
        if twice:
            raise ConfigError("--set", [f"{name!r} stands in --pattern too" for name in twice])
        fields = {**request.constants, **found}
        run = runs.setdefault(tuple(sorted(fields.items())), _Run(fields))
        run.files.append(path)
        if path.suffix == ".jsonl":
            _read_log(path, run, request)
        else:
            _read_score(path, run)
    made = [runs[key] for key in sorted(runs)]
    _check_steps(made)
    return _table(made, request)


def write_runs(columns: Sequence[str], rows: Sequence[Sequence[object]], path: Path) -> None:
    """Write a runs table as csv, whole or not at all."""
    from dataflex_data.core.parquet import replace_file

    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(columns)
    writer.writerows(rows)
    with replace_file(path) as partial:
        partial.write_text(text.getvalue(), encoding="utf-8")


def _read_log(path: Path, run: _Run, request: CollectRequest) -> None:
    validated: dict[int, dict[str, tuple[int, float]]] = {}
    others: set[str] = set()
    series: dict[str, dict[int, float]] = {name: {} for name in request.process}
    for number, record in numbered_json_lines(path):
        step, data = record.get("step"), record.get("data")
        if not isinstance(step, int) or not isinstance(data, dict):
            raise InputDataError(
                f"{path}, line {number}: is no line of verl's file logger (step and data); set "
                "trainer.logger to include 'file'"
            )
        for metric, value in data.items():
            match = _VALIDATION.fullmatch(metric)
            if match is None:
                continue
            if match["variable"] != request.variable:
                others.add(match["variable"])
                continue
            rate = _rate(value, f"{path}, line {number}: {metric}")
            count = int(match["responses"])
            held = validated.setdefault(step, {}).get(match["source"])
            if held is None or count > held[0]:
                validated[step][match["source"]] = (count, rate)
            elif count == held[0] and rate != held[1]:
                raise InputDataError(
                    f"{path}, line {number}: {metric} at step {step} is {rate:g}, before it was "
                    f"{held[1]:g}; one log must hold one run"
                )
        for name, (metric, _) in request.process.items():
            if metric in data:
                series[name][step] = float(data[metric])
    if not validated:
        hint = f"; it has {', '.join(sorted(others))} (--variable)" if others else ""
        raise InputDataError(
            f"{path}: has no validation metric val-core/<data_source>/{request.variable}/mean@N"
            f"{hint}"
        )
    step = max(validated) if request.step is None else request.step
    if step not in validated:
        known = ", ".join(str(one) for one in sorted(validated))
        raise InputDataError(f"{path}: was not validated at step {step} (validated at: {known})")
    _merge(run, path, {source: rate for source, (_, rate) in validated[step].items()})
    run.step = step
    for name, (metric, how) in request.process.items():
        values = [value for at, value in sorted(series[name].items()) if at <= step]
        if not values:
            raise InputDataError(f"{path}: has no metric {metric!r} for process column {name!r}")
        run.process[name] = sum(values) if how == "sum" else sum(values) / len(values)


def _read_score(path: Path, run: _Run) -> None:
    record = read_json_object(path)
    groups = record.get("groups")
    if not isinstance(groups, list) or not all(isinstance(group, dict) for group in groups):
        raise InputDataError(f"{path}: is not what `dfdata score --json` prints (key groups)")
    lost = int(record.get("unjoined") or 0) + int(record.get("ambiguous") or 0)
    if lost:
        raise InputDataError(
            f"{path}: {lost} responses belong to no row of the corpus they were scored against; "
            "score them against theirs, for a rate over the rest is another benchmark"
        )
    correct: dict[str, int] = {}
    total: dict[str, int] = {}
    for group in groups:  # a source may lie in several domains: its rate is over all its responses
        source = str(group["source"])
        correct[source] = correct.get(source, 0) + int(group["correct"])
        total[source] = total.get(source, 0) + int(group["responses"])
    _merge(run, path, {source: correct[source] / total[source] for source in correct})


def _rate(value: Any, where: str) -> float:  # noqa: ANN401 - whatever the log holds
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value <= 1:
        raise InputDataError(f"{where} is {value!r}, not a rate from 0 to 1")
    return float(value)


def _merge(run: _Run, path: Path, rates: Mapping[str, float]) -> None:
    for source, rate in rates.items():
        if run.rates.setdefault(source, rate) != rate:
            told = ", ".join(f"{name} {value}" for name, value in run.fields.items())
            raise InputDataError(
                f"{path}: {source} is {rate:g}, another file of the same run ({told}) has "
                f"{run.rates[source]:g}: {', '.join(str(file) for file in run.files[:-1])}"
            )


def _check_steps(runs: Sequence[_Run]) -> None:
    by_step: dict[int, list[_Run]] = {}
    for run in runs:
        if run.step is not None:
            by_step.setdefault(run.step, []).append(run)
    if len(by_step) > 1:
        told = "; ".join(
            f"step {step}: {len(those)} runs, such as {those[0].files[0]}"
            for step, those in sorted(by_step.items())
        )
        raise InputDataError(
            f"runs were validated last at different steps ({told}); name one with --step, or put "
            "the step into the path and collect them apart"
        )


def _table(runs: Sequence[_Run], request: CollectRequest) -> tuple[list[str], list[list[object]]]:
    sources = sorted({source for run in runs for source in run.rates})
    wanted = dict(request.benchmarks) or {source: source for source in sources}
    problems = []
    for column, source in wanted.items():
        missing = [run for run in runs if source not in run.rates]
        if missing:
            hint = "" if source in sources else did_you_mean(source, sources)
            problems.append(
                f"  - {source!r} (column {column!r}){hint}: absent from "
                f"{len(missing)} of {len(runs)} runs, such as {missing[0].files[0]}"
            )
    if problems:
        lines = "\n".join(problems)
        raise InputDataError(
            f"{request.folder}: not every run has every benchmark (sources there: "
            f"{', '.join(sources)}); name those that count with --benchmark COLUMN=SOURCE\n{lines}"
        )
    ids = list(dict.fromkeys(name for run in runs for name in run.fields))
    scale = 100 if request.percent else 1
    rows: list[list[object]] = [
        [
            *(run.fields[name] for name in ids),
            *(run.rates[source] * scale for source in wanted.values()),
            *(run.process[name] for name in request.process),
        ]
        for run in runs
    ]
    return [*ids, *wanted, *request.process], rows
