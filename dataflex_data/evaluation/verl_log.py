"""Logs of verl as metrics by step: the ``file`` logger's JSON Lines, and what the console printed.

The console logger prints ``step:N - name:value - ...``, which ray prefixes with the task's name and
colours. A run that was resumed leaves several files: what the later one logged counts.

Source: verl 0.9.1, ``verl/utils/tracking.py`` (FileLogger) and
``verl/utils/logger/aggregate_logger.py`` (concat_dict_to_str).
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from dataflex_data.core.errors import InputDataError
from dataflex_data.core.text import excerpt

Steps = dict[int, dict[str, float]]

_COLOURS = re.compile(r"\x1b\[[0-9;]*[A-Za-z]")
_PRINTED = re.compile(r"(?:^|(?<=[\s\r]))step:(?P<step>[0-9]+)(?P<metrics>(?: - \S.*)?)$")
_WRAPPED = re.compile(r"\w+(?:\.\w+)*\((?P<value>[^()]+)\)")


@dataclass(frozen=True, slots=True)
class VerlLog:
    """One file.

    Attributes:
        steps: The wanted metrics of every step that was logged.
        names: All metrics that it has, wanted or not.
    """

    path: Path
    steps: Steps
    names: frozenset[str]

    @property
    def first(self) -> int:
        """The first step that was logged."""
        return min(self.steps)

    @property
    def last(self) -> int:
        """The last step that was logged."""
        return max(self.steps)


def file_log(
    path: Path, records: Iterable[tuple[int, Mapping[str, object]]], wanted: Callable[[str], bool]
) -> VerlLog:
    """Return a log of the ``file`` logger, from its numbered lines.

    Raises:
        InputDataError: A line is none of that logger, a wanted metric is no number, or the file
            has two values of one.
    """
    lines = []
    for number, record in records:
        step, data = record.get("step"), record.get("data")
        if isinstance(step, bool) or not isinstance(step, int) or not isinstance(data, dict):
            raise InputDataError(
                f"{path}, line {number}: is no line of verl's file logger (step and data); set "
                "trainer.logger to include 'file'"
            )
        lines.append((number, step, data))
    return _log(path, lines, wanted)


def console_log(path: Path, wanted: Callable[[str], bool]) -> VerlLog | None:
    """Return what the console logger printed into ``path``, ``None`` if it printed nothing.

    Raises:
        InputDataError: The file cannot be read, a wanted metric is no number, the file has two
            values of one, or it ends in the middle of a line.
    """
    try:
        data = path.read_bytes()
    except OSError as error:
        raise InputDataError(f"{path}: cannot be read ({error.strerror})") from None
    texts = _COLOURS.sub("", data.decode("utf-8", "replace")).split("\n")
    lines = []
    for number, text in enumerate(texts, start=1):
        match = _PRINTED.search(text.rstrip("\r"))
        if match is None:
            continue
        if number == len(texts):
            raise InputDataError(
                f"{path}, line {number}: step {match['step']} is not ended by a line feed, so its "
                "last number may be cut off; remove the line, or end it if it is whole"
            )
        lines.append((number, int(match["step"]), dict(_printed_metrics(match["metrics"]))))
    return _log(path, lines, wanted) if lines else None


def _printed_metrics(text: str) -> Iterator[tuple[str, object]]:
    for part in text.split(" - ")[1:]:
        name, _, value = part.rpartition(":")
        wrapped = _WRAPPED.fullmatch(value.strip())
        shown = wrapped["value"] if wrapped else value.strip()
        try:
            yield name, float(shown)
        except ValueError:
            yield name, shown


def _log(
    path: Path,
    lines: Sequence[tuple[int, int, Mapping[str, object]]],
    wanted: Callable[[str], bool],
) -> VerlLog:
    steps: Steps = {}
    names: set[str] = set()
    for number, step, data in lines:
        held = steps.setdefault(step, {})
        names.update(data)
        for name, value in data.items():
            if not wanted(name):
                continue
            where = f"{path}, line {number}: {name} at step {step}"
            if isinstance(value, bool) or not isinstance(value, int | float):
                raise InputDataError(f"{where} is {excerpt(str(value))}, not a number")
            if not math.isfinite(value):
                raise InputDataError(f"{where} is {value}, not a finite number")
            if held.setdefault(name, float(value)) != value:
                raise InputDataError(
                    f"{where} is {value:g}, before it was {held[name]:g}; one log must hold one "
                    "run (give the log of a resumed run its own file)"
                )
    return VerlLog(path, steps, frozenset(names))


def joined(logs: Sequence[VerlLog]) -> Steps:
    """Return the steps of all logs of one run; where a later file logged a step again, it counts.

    Later is the file that begins at a later step. Files with equal values may overlap anyhow, as
    the console's and the file logger's of one run do.

    Raises:
        InputDataError: Files disagree, and none of them continues the other.
    """
    first, *rest = sorted(logs, key=lambda log: (log.first, log.last, log.path))
    steps: Steps = {step: dict(metrics) for step, metrics in first.steps.items()}
    begin, end, names = first.first, first.last, [first.path]
    for log in rest:
        continues = log.first > begin and log.last >= end
        for step, metrics in log.steps.items():
            held = steps.setdefault(step, {})
            for name, value in metrics.items():
                if not continues and held.get(name, value) != value:
                    raise InputDataError(
                        f"{log.path}: {name} at step {step} is {value:g}, another file of the same "
                        f"run has {held[name]:g} ({', '.join(map(str, names))}); neither continues "
                        f"the other (steps {log.first} to {log.last}, and {begin} to {end}), so "
                        "leave the one that does not count out of the pattern"
                    )
            held.update(metrics)
        begin, end = min(begin, log.first), max(end, log.last)
        names.append(log.path)
    return steps


def check_no_gaps(where: str, steps: Iterable[int]) -> None:
    """Check that training steps (from 1 on) follow each other.

    Raises:
        InputDataError: Names the steps that are absent.
    """
    trained = sorted(step for step in steps if step > 0)
    if not trained or len(trained) == trained[-1] - trained[0] + 1:
        return
    absent = sorted(set(range(trained[0], trained[-1])) - set(trained))
    raise InputDataError(
        f"{where}: {step_range(absent)} of {step_range([trained[0], trained[-1]])} "
        f"{'is' if len(absent) == 1 else 'are'} absent ({len(absent)} in all), and a sum or mean "
        "over the rest would be of other training; add the file that has them (all files of a run "
        "may fit the pattern)"
    )


def step_range(steps: Sequence[int]) -> str:
    """Return ``step 3`` or ``steps 1 to 30`` in words."""
    low, high = min(steps), max(steps)
    return f"step {low}" if low == high else f"steps {low} to {high}"
