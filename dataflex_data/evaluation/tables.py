"""Runs tables as people have them: csv, parquet, JSON Lines, or a folder with one file per run.

Only the shape of files is judged here: what is ragged, empty or unreadable is refused with file and
line. What the values mean is judged by `dataflex_data.evaluation.runs` under the contract.
"""

from __future__ import annotations

import csv
import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from dataflex_data.core.errors import ConfigError, InputDataError
from dataflex_data.core.records import numbered_json_lines
from dataflex_data.evaluation.contract import Contract

SUFFIXES = (".csv", ".parquet", ".jsonl")


@dataclass(frozen=True, slots=True)
class RawRun:
    """One run as the file has it.

    Attributes:
        where: File and line, for messages.
        values: Cell by column; csv cells are text, others keep their type.
    """

    where: str
    values: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class RawTable:
    """All runs of a file or folder, with the columns any of them has."""

    path: Path
    columns: tuple[str, ...]
    runs: tuple[RawRun, ...]


def read_table(path: Path, contract: Contract, pattern: str | None = None) -> RawTable:
    """Return the runs in ``path``.

    Args:
        path: A csv, parquet or JSON Lines file, or a folder of JSON files with one run each.
        contract: Says how the tasks of lm-evaluation-harness map to benchmarks.
        pattern: For a folder: which files, such as ``"{method}/seed{seed}/results_*.json"``; what
            stands at a name in braces becomes that column. Default ``"**/*.json"``.

    Raises:
        InputDataError: The file is missing, empty, ragged or not what its name says.
        ConfigError: The pattern is malformed, or given for a file.
    """
    path = Path(path).expanduser()
    if path.is_dir():
        runs = _folder_runs(path, contract, pattern or "**/*.json")
        columns = tuple(dict.fromkeys(name for run in runs for name in run.values))
        return RawTable(path, columns, tuple(runs))
    if pattern is not None:
        raise ConfigError("--pattern", [f"is for folders of run files; {path} is no folder"])
    if not path.exists():
        raise InputDataError(f"{path}: no such file or folder")
    suffix = path.suffix.casefold()
    if suffix not in SUFFIXES:
        raise InputDataError(
            f"{path}: the runs table must be a {', '.join(SUFFIXES)} file, or a folder of JSON "
            "files with one run each"
        )
    if path.stat().st_size == 0:
        raise InputDataError(f"{path}: is empty; a runs table has a header and one line per run")
    if suffix == ".csv":
        table = _csv_table(path)
    elif suffix == ".parquet":
        table = _parquet_table(path)
    else:
        runs = [RawRun(f"{path}, line {n}", record) for n, record in numbered_json_lines(path)]
        table = RawTable(path, tuple(dict.fromkeys(c for r in runs for c in r.values)), tuple(runs))
    if not table.runs:
        raise InputDataError(f"{path}: has a header and no run")
    return table


def _csv_table(path: Path) -> RawTable:
    runs: list[RawRun] = []
    try:
        with path.open(encoding="utf-8-sig", newline="") as handle:
            reader = csv.reader(handle, strict=True)
            header = [name.strip() for name in next(reader, [])]
            if not any(header):
                raise InputDataError(f"{path}: line 1 must name the columns, it is blank")
            for name in header:
                if header.count(name) > 1:
                    raise InputDataError(f"{path}: column {name!r} stands twice in the header")
            for cells in reader:
                if not cells:
                    continue
                where = f"{path}, line {reader.line_num}"
                if len(cells) != len(header):
                    raise InputDataError(
                        f"{where}: has {len(cells)} cells where the header has {len(header)}; "
                        "every line needs one cell per column (quote cells that hold commas)"
                    )
                runs.append(RawRun(where, dict(zip(header, cells, strict=True))))
    except UnicodeDecodeError as error:
        raise InputDataError(f"{path}: is not UTF-8 text: {error}") from None
    except csv.Error as error:
        raise InputDataError(f"{path}: is not valid csv: {error}") from None
    except OSError as error:
        raise InputDataError(f"{path}: cannot be read: {error}") from None
    return RawTable(path, tuple(header), tuple(runs))


def _parquet_table(path: Path) -> RawTable:
    import pyarrow as pa
    import pyarrow.parquet as pq

    try:
        table = pq.read_table(path)
    except (OSError, pa.ArrowException) as error:
        raise InputDataError(f"{path}: cannot be read as parquet: {error}") from None
    runs = [
        RawRun(f"{path}, row {number}", record)
        for number, record in enumerate(table.to_pylist(), start=1)
    ]
    return RawTable(path, tuple(table.column_names), tuple(runs))


def matching_files(folder: Path, pattern: str) -> list[tuple[Path, dict[str, str]]]:
    """Return the files below ``folder`` that fit, sorted, with what stands at each ``{name}``.

    ``*`` fits anything within one path part, ``**/`` any number of folders.

    Raises:
        ConfigError: The pattern has unbalanced braces or names a field twice.
        InputDataError: No file fits.
    """
    expression = _pattern_expression(pattern)
    found = []
    for path in sorted(Path(folder).rglob("*")):
        match = expression.fullmatch(path.relative_to(folder).as_posix())
        if match is not None and path.is_file():
            found.append((path, match.groupdict()))
    if not found:
        raise InputDataError(f"{folder}: no file in it fits the pattern {pattern!r}")
    return found


def _pattern_expression(pattern: str) -> re.Pattern[str]:
    parts: list[str] = []
    for part in re.split(r"(\{[A-Za-z_]\w*\}|\*\*/|\*)", pattern):
        if part == "**/":
            parts.append("(?:[^/]+/)*")
        elif part == "*":
            parts.append("[^/]*")
        elif part.startswith("{") and part.endswith("}"):
            parts.append(f"(?P<{part[1:-1]}>[^/]+?)")
        elif "{" in part or "}" in part:
            raise ConfigError(
                "--pattern", [f"{pattern!r}: braces must hold a column's name, as in {{method}}"]
            )
        else:
            parts.append(re.escape(part))
    try:
        return re.compile("".join(parts))
    except re.error as error:
        raise ConfigError("--pattern", [f"{pattern!r}: {error}"]) from None


def _folder_runs(folder: Path, contract: Contract, pattern: str) -> list[RawRun]:
    runs = []
    for path, fields in matching_files(folder, pattern):
        record = read_json_object(path)
        if _is_lm_eval(record):
            values = dict(_lm_eval_values(path, record, contract))
        else:
            values = {key: value for key, value in record.items() if not _is_nested(value)}
        for name, value in fields.items():
            if name in values and str(values[name]) != value:
                raise InputDataError(
                    f"{path}: says {name} {values[name]!r}, its path says {value!r}; "
                    "rename the file or mend its content"
                )
            values[name] = value
        runs.append(RawRun(str(path), values))
    return runs


def read_json_object(path: Path) -> dict[str, Any]:
    """Return the object in a JSON file.

    Raises:
        InputDataError: It cannot be read, or holds something else.
    """
    try:
        record = json.loads(path.read_text(encoding="utf-8-sig"))
    except (OSError, ValueError) as error:
        raise InputDataError(f"{path}: cannot be read as JSON: {error}") from None
    if not isinstance(record, dict):
        raise InputDataError(f"{path}: must hold one JSON object, the run; it holds another value")
    return record


def _is_nested(value: object) -> bool:
    return isinstance(value, dict | list)


def _is_lm_eval(record: Mapping[str, Any]) -> bool:
    """Return whether this is a result file of lm-evaluation-harness: metrics by task."""
    results = record.get("results")
    return isinstance(results, dict) and all(isinstance(task, dict) for task in results.values())


def _lm_eval_values(
    path: Path, record: Mapping[str, Any], contract: Contract
) -> Iterator[tuple[str, object]]:
    if contract.data.lm_eval is None:
        raise InputDataError(
            f"{path}: is a result file of lm-evaluation-harness; say in the contract which of its "
            'metrics is which benchmark, as in data.lm_eval: {math500: "TASK/METRIC,FILTER"}'
        )
    for benchmark, address in contract.data.lm_eval.items():
        task, _, metric = address.partition("/")
        metrics = record["results"].get(task)
        if metrics is None:
            known = ", ".join(sorted(record["results"]))
            raise InputDataError(
                f"{path}: has no task {task!r} for benchmark {benchmark!r} (it has: {known})"
            )
        if metric not in metrics:
            known = ", ".join(sorted(name for name in metrics if "," in name))
            raise InputDataError(
                f"{path}: task {task!r} has no metric {metric!r} for benchmark {benchmark!r} "
                f"(it has: {known})"
            )
        value = metrics[metric]
        if not isinstance(value, int | float) or contract.data.lm_eval_scale == contract.scale:
            yield benchmark, value
        else:
            yield benchmark, value * 100 if contract.scale == "percent" else value / 100
