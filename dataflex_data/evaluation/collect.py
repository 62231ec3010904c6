"""The runs table from what training and scoring leave behind: no number is copied by hand.

Read are verl's logs (validation metrics ``val-core/<data_source>/<variable>/mean@<N>`` of its
``file`` logger or printed on the console), what ``dfdata score --json`` printed, and the verdicts
that ``dfdata score --out`` wrote. Which run a file belongs to is told by its path. Runs must be
comparable: validated at one step (named by the caller, or the last one; never the best), with as
many responses to as many items, and with process metrics over the same steps.

Source: verl 0.9.1, ``verl/trainer/ppo/v1/trainer_base.py`` (``_val_metrics_update``).
"""

from __future__ import annotations

import csv
import io
import itertools
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple

from dataflex_data.core.errors import ConfigError, InputDataError, did_you_mean
from dataflex_data.core.ledger import LEDGER_KIND
from dataflex_data.core.records import numbered_json_lines
from dataflex_data.evaluation.tables import matching_files, read_json_object
from dataflex_data.evaluation.verl_log import (
    Steps,
    VerlLog,
    check_no_gaps,
    console_log,
    file_log,
    joined,
    step_range,
)
from dataflex_data.reporting.words import plural

_VALIDATION = re.compile(
    r"val-(?:core|aux)/(?P<source>.+)/(?P<variable>[^/]+)/mean@(?P<responses>[0-9]+)"
)
_VARIABLE = re.compile(r"(?P<name>[^/]+)(?:/mean@(?P<responses>[0-9]+))?")
READ = (
    "read are verl's file logger (.jsonl), a console log of verl (.log, .txt: lines `step:N - "
    "name:value - ...`), what `dfdata score --json` printed (.json), and what `dfdata score --out` "
    "wrote (.jsonl, .parquet)"
)
_MOST_SHOWN = 8


@dataclass(frozen=True, slots=True)
class CollectRequest:
    """What to collect.

    Attributes:
        folder: Where the files lie.
        pattern: Which files, and what their path says, as ``"{method}/seed{seed}.jsonl"``; all
            files of one run may fit.
        constants: Columns that are the same for all runs.
        benchmarks: Column by source name; empty takes every source under its own name.
        variable: The validated quantity in verl's log, ``acc`` by default; ``acc/mean@8`` names the
            number of responses too, else the mean over most responses is taken.
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
    variable: str | None = None
    step: int | None = None
    percent: bool = True
    process: Mapping[str, tuple[str, str]] = field(default_factory=dict)


class Collected(NamedTuple):
    """A runs table, and what it was taken from, in sentences."""

    columns: list[str]
    rows: list[list[object]]
    notes: list[str]


@dataclass(slots=True)
class _Run:
    fields: dict[str, str]
    files: list[Path] = field(default_factory=list)
    logs: list[VerlLog] = field(default_factory=list)
    rates: dict[str, float] = field(default_factory=dict)
    samples: dict[str, str] = field(default_factory=dict)  # how many items and responses, in words
    process: dict[str, float] = field(default_factory=dict)
    covered: dict[str, tuple[int, ...]] = field(default_factory=dict)
    step: int | None = None


def collect(request: CollectRequest) -> Collected:
    """Return the runs table, sorted by what the paths say.

    Raises:
        ConfigError: The pattern or variable is malformed, constants and pattern name the same
            column, or an option would have no effect.
        InputDataError: A file cannot be used, two files of one run contradict each other, or runs
            cannot be compared: other steps, benchmarks, items or numbers of responses.
    """
    folder = request.folder.expanduser()
    if not folder.is_dir():
        raise InputDataError(f"{folder}: is no folder")
    variable = _VARIABLE.fullmatch(request.variable or "acc")
    if variable is None:
        raise ConfigError(
            "--variable", [f"{request.variable!r} must be a name, such as acc, or acc/mean@8"]
        )
    runs: dict[tuple[tuple[str, str], ...], _Run] = {}
    for path, found in matching_files(folder, request.pattern):
        twice = sorted(found.keys() & request.constants.keys())
        if twice:
            raise ConfigError("--set", [f"{name!r} stands in --pattern too" for name in twice])
        fields = {**request.constants, **found}
        run = runs.setdefault(tuple(sorted(fields.items())), _Run(fields))
        run.files.append(path)
        _read(path, run, request, variable["name"])
    made = [runs[key] for key in sorted(runs)]
    _check_options(made, request)
    for run in made:
        if run.logs:
            _take_logs(run, request, variable["name"], variable["responses"])
    _check_steps(made)
    _check_coverage(made, request)
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


def _read(path: Path, run: _Run, request: CollectRequest, variable: str) -> None:
    wanted = {metric for metric, _ in request.process.values()}

    def of_interest(metric: str) -> bool:
        match = _VALIDATION.fullmatch(metric)
        return metric in wanted or (match is not None and match["variable"] == variable)

    name = path.name.casefold()
    if name.endswith(".parquet"):
        _read_verdicts(path, _parquet_verdicts(path), run)
    elif name.endswith(".json"):
        _read_score(path, run)
    elif name.endswith((".jsonl", ".jsonl.gz")):
        lines = numbered_json_lines(path)
        number, first = next(lines, (1, {}))
        records = itertools.chain([(number, first)], lines)
        if {"row_id", "data_source", "score"} <= first.keys():
            _read_verdicts(path, records, run)
        elif first.get("kind") == LEDGER_KIND:
            raise InputDataError(
                f"{path}: is a ledger; scores are not in it, and its process metrics are joined by "
                f"`dfdata evaluate --ledgers`; {READ}"
            )
        elif "data" in first or ("step" in first and "input" not in first):
            run.logs.append(file_log(path, records, of_interest))
        else:
            told = ", ".join(list(first)[:_MOST_SHOWN]) or "no key"
            raise InputDataError(
                f"{path}: is no line of verl's file logger (step and data) and no verdict (its "
                f"first record has {told}); {READ}"
            )
    else:
        log = console_log(path, of_interest)
        if log is None:
            raise InputDataError(
                f"{path}: no line of it is one of verl's console logger; {READ}. Let the pattern "
                "fit no other files"
            )
        run.logs.append(log)


def _read_score(path: Path, run: _Run) -> None:
    record = read_json_object(path)
    groups = record.get("groups")
    if not isinstance(groups, list) or not all(isinstance(group, dict) for group in groups):
        hint = (
            "; result files of lm-evaluation-harness are read by `dfdata evaluate FOLDER --pattern`"
            if isinstance(record.get("results"), dict)
            else f"; {READ}"
        )
        raise InputDataError(f"{path}: is not what `dfdata score --json` prints (no groups){hint}")
    lost = int(record.get("unjoined") or 0) + int(record.get("ambiguous") or 0)
    if lost:
        raise InputDataError(
            f"{path}: {lost} responses belong to no row of the corpus they were scored against; "
            "score them against theirs, for a rate over the rest is another benchmark"
        )
    counts: dict[str, list[int]] = {}
    for group in groups:  # a source may lie in several domains: its rate is over all its responses
        held = counts.setdefault(_route(str(group["source"])), [0, 0, 0])
        for at, key in enumerate(("correct", "responses", "rows")):
            held[at] += int(group.get(key) or 0)
    _merge_counts(path, run, counts)


def _read_verdicts(path: Path, records: Iterable[tuple[int, Mapping[str, Any]]], run: _Run) -> None:
    counts: dict[str, list[int]] = {}
    rows: dict[str, set[str]] = {}
    for number, record in records:
        source, score, row = (record.get(name) for name in ("data_source", "score", "row_id"))
        if not isinstance(source, str) or not isinstance(row, str):
            raise InputDataError(f"{path}, line {number}: has no data_source or no row_id")
        if isinstance(score, bool) or not isinstance(score, int | float):
            raise InputDataError(f"{path}, line {number}: score {score!r} is no number")
        held = counts.setdefault(_route(source), [0, 0, 0])
        held[0] += score == 1
        held[1] += 1
        rows.setdefault(_route(source), set()).add(row)
    for source, those in rows.items():
        counts[source][2] = len(those)
    _merge_counts(path, run, counts)


def _parquet_verdicts(path: Path) -> Iterator[tuple[int, Mapping[str, Any]]]:
    from dataflex_data.core.records import read_records

    for chunk in read_records(path, ("row_id", "data_source", "score", "sample")):
        yield from zip(chunk.rows, chunk.records, strict=True)


def _route(source: str) -> str:
    """Return the name under which a source is validated: our own have two, told by their prefix.

    ``dfdata score --json`` names the origin (``dataflex-data/procedural_math``), verl and verdicts
    the route (``dataflex/procedural_math``).
    """
    return re.sub(r"^dataflex-data/", "dataflex/", source)


def _merge_counts(path: Path, run: _Run, counts: Mapping[str, Sequence[int]]) -> None:
    for source, (correct, responses, rows) in counts.items():
        told = plural(responses, "response") + (f" to {plural(rows, 'row')}" if rows else "")
        _merge(path, run, source, correct / responses, told)


def _merge(path: Path, run: _Run, source: str, rate: float, sample: str) -> None:
    run.samples.setdefault(source, sample)
    if run.rates.setdefault(source, rate) != rate:
        told = ", ".join(f"{name} {value}" for name, value in run.fields.items())
        others = ", ".join(str(file) for file in run.files if file != path)
        raise InputDataError(
            f"{path}: {source} is {rate:g}, another file of the same run ({told}) has "
            f"{run.rates[source]:g}: {others}"
        )


def _check_options(runs: Sequence[_Run], request: CollectRequest) -> None:
    """Refuse options about verl's logs where there are none."""
    without = [run for run in runs if not run.logs]
    given = {
        "--step": request.step is not None,
        "--variable": request.variable is not None,
        "--process": bool(request.process),
    }
    if len(without) == len(runs):
        problems = [
            f"{name} is about verl's logs, and no file that fits the pattern is one"
            for name, used in given.items()
            if used
        ]
        if problems:
            raise ConfigError("dfdata runs collect", problems)
    elif request.process and without:
        raise InputDataError(
            f"{without[0].files[0]}: no log of verl is among the files of its run, so that "
            f"--process {', '.join(request.process)} has no value there ({len(without)} of "
            f"{len(runs)} runs); let the pattern fit their logs too"
        )


def _take_logs(run: _Run, request: CollectRequest, variable: str, responses: str | None) -> None:
    steps = joined(run.logs)
    validated: dict[int, dict[str, dict[int, float]]] = {}
    for step, metrics in steps.items():
        for metric, value in metrics.items():
            match = _VALIDATION.fullmatch(metric)
            if match is None or match["variable"] != variable:
                continue
            if responses is not None and match["responses"] != responses:
                continue
            by_count = validated.setdefault(step, {}).setdefault(match["source"], {})
            by_count[int(match["responses"])] = _rate(value, f"{run.logs[-1].path}: {metric}")
    files = ", ".join(str(log.path) for log in run.logs)
    if not validated:
        raise InputDataError(
            f"{files}: no validation metric val-core/<data_source>/{variable}/"
            f"mean@{responses or 'N'}{_known_variables(run.logs)}"
        )
    step = max(validated) if request.step is None else request.step
    if step not in validated:
        known = ", ".join(str(one) for one in sorted(validated))
        raise InputDataError(f"{files}: was not validated at step {step} (validated at: {known})")
    for source, by_count in validated[step].items():
        most = max(by_count)
        _merge(run.logs[-1].path, run, source, by_count[most], f"mean@{most}")
    run.step = step
    if request.process:
        check_no_gaps(files, (one for one in steps if one <= step))
    for name, (metric, how) in request.process.items():
        run.process[name], run.covered[name] = _over_steps(files, steps, step, name, metric, how)


def _known_variables(logs: Sequence[VerlLog]) -> str:
    known = {
        f"{match['variable']}/mean@{match['responses']}"
        for log in logs
        for match in map(_VALIDATION.fullmatch, log.names)
        if match is not None
    }
    return f"; it has {', '.join(sorted(known))} (--variable)" if known else ""


def _over_steps(
    files: str, steps: Steps, last: int, name: str, metric: str, how: str
) -> tuple[float, tuple[int, ...]]:
    series = {at: steps[at][metric] for at in sorted(steps) if at <= last and metric in steps[at]}
    if not series:
        raise InputDataError(f"{files}: has no metric {metric!r} for process column {name!r}")
    total = sum(series.values())
    return total if how == "sum" else total / len(series), tuple(series)


def _rate(value: float, where: str) -> float:
    if not 0 <= value <= 1:
        raise InputDataError(f"{where} is {value}, not a rate from 0 to 1")
    return value


def _by_value(pairs: Iterable[tuple[Any, _Run]]) -> dict[Any, list[_Run]]:
    found: dict[Any, list[_Run]] = {}
    for value, run in pairs:
        found.setdefault(value, []).append(run)
    return found


def _told(kinds: Mapping[str, Sequence[_Run]]) -> str:
    return "; ".join(
        f"{kind}: {len(those)} {'run' if len(those) == 1 else 'runs'}, such as {those[0].files[0]}"
        for kind, those in kinds.items()
    )


def _check_steps(runs: Sequence[_Run]) -> None:
    by_step = _by_value((run.step, run) for run in runs if run.step is not None)
    if len(by_step) > 1:
        told = _told({f"step {step}": those for step, those in sorted(by_step.items())})
        raise InputDataError(
            f"runs were validated last at different steps ({told}); name one with --step, or put "
            "the step into the path and collect them apart"
        )


def _check_coverage(runs: Sequence[_Run], request: CollectRequest) -> None:
    for name, (metric, how) in request.process.items():
        by_steps = _by_value((run.covered[name], run) for run in runs)
        if len(by_steps) > 1:
            told = _told(
                {
                    f"{step_range(steps)} ({len(steps)} logged)": by_steps[steps]
                    for steps in by_steps
                }
            )
            raise InputDataError(
                f"process column {name!r}: {metric} was logged over different steps ({told}), so "
                f"that its {how} cannot be compared; add the missing logs (all files of a run may "
                "fit the pattern), or leave --process out"
            )


def _table(runs: Sequence[_Run], request: CollectRequest) -> Collected:
    sources = sorted({source for run in runs for source in run.rates})
    wanted = {column: _route(source) for column, source in request.benchmarks.items()}
    wanted = wanted or {source: source for source in sources}
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
    samples = _checked_samples(runs, wanted.values(), request.folder)
    ids = list(dict.fromkeys(name for run in runs for name in run.fields))
    scale = 100 if request.percent else 1
    rows: list[list[object]] = [
        [
            *(run.fields[name] for name in ids),
            # Ten digits: what is left out is the error of binary fractions, as in 50.24999999999999
            *(round(run.rates[source] * scale, 10) for source in wanted.values()),
            *(run.process[name] for name in request.process),
        ]
        for run in runs
    ]
    return Collected([*ids, *wanted, *request.process], rows, _notes(runs, samples, request))


def _checked_samples(
    runs: Sequence[_Run], sources: Iterable[str], folder: Path
) -> dict[str, list[str]]:
    """Return the sources by how many items and responses were judged, the same in all runs."""
    problems, found = [], dict[str, list[str]]()
    for source in dict.fromkeys(sources):
        by_sample = _by_value((run.samples[source], run) for run in runs)
        if len(by_sample) > 1:
            problems.append(f"  - {source}: {_told(by_sample)}")
        else:
            found.setdefault(next(iter(by_sample)), []).append(source)
    if problems:
        lines = "\n".join(problems)
        raise InputDataError(
            f"{folder}: runs were judged on other items, or with other numbers of responses; that "
            "is another benchmark each, so judge them alike (in verl's logs --variable acc/mean@N "
            f"takes one N where a run has several):\n{lines}"
        )
    return found


def _notes(
    runs: Sequence[_Run], samples: Mapping[str, Sequence[str]], request: CollectRequest
) -> list[str]:
    notes = []
    if runs[0].step is not None:
        notes.append(f"validated at step {runs[0].step}")
    notes += [
        f"{', '.join(sources) if len(sources) < 5 else f'{len(sources)} benchmarks'}: {told} in "
        "every run"
        for told, sources in samples.items()
    ]
    notes += [
        f"{name}: {how} of {metric} over {step_range(runs[0].covered[name])}"
        for name, (metric, how) in request.process.items()
    ]
    return notes
