"""Runs tables as people have them: csv, parquet, JSON Lines, or a folder with one file per run.

Only the shape of files is judged here: what is ragged, empty or unreadable is refused with file and
line. What the values mean is judged by `dataflex_data.evaluation.runs` under the contract.
"""

from __future__ import annotations

import csv
import io
import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from dataflex_data.core.errors import ConfigError, InputDataError
from dataflex_data.core.records import numbered_json_lines
from dataflex_data.evaluation.contract import Contract
from dataflex_data.evaluation.flags import Flag

SUFFIXES = (".csv", ".parquet", ".jsonl")
_MOST_SHOWN = 10


@dataclass(frozen=True, slots=True, order=True)
class ItemCount:
    """On how many items of a benchmark a run was judged, as its result file says.

    Attributes:
        effective: Items judged, ``-1`` where the file does not say.
        original: Items that the benchmark has, ``-1`` where the file does not say.
        limit: The limit that was set, ``""`` for none.
    """

    effective: int
    original: int
    limit: str

    @property
    def partial(self) -> bool:
        """Whether not all items were judged."""
        return bool(self.limit) or self.effective < self.original

    def __str__(self) -> str:
        limit = f" (limit {self.limit})" if self.limit else ""
        if self.effective < 0:
            return f"an unknown number of items{limit}"
        return f"{self.effective:,} of {self.original:,} items{limit}"


@dataclass(frozen=True, slots=True)
class RawRun:
    """One run as the file has it.

    Attributes:
        where: File and line, for messages.
        values: Cell by column; csv cells are text, others keep their type.
        items: By benchmark, where the file says it.
    """

    where: str
    values: Mapping[str, Any]
    items: Mapping[str, ItemCount] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class RawTable:
    """All runs of a file or folder, with the columns any of them has.

    Attributes:
        flags: What was noticed while reading.
    """

    path: Path
    columns: tuple[str, ...]
    runs: tuple[RawRun, ...]
    flags: tuple[Flag, ...] = ()


def refuse(where: object, problems: Sequence[str], advice: str) -> None:
    """Raise one error for all ``problems``, if there are any; at most ten are shown.

    Raises:
        InputDataError: There are some.
    """
    if not problems:
        return
    lines = "\n".join(f"  - {problem}" for problem in problems[:_MOST_SHOWN])
    more = len(problems) - _MOST_SHOWN
    rest = f"\n  - and {more} more" if more > 0 else ""
    raise InputDataError(f"{where}: {advice}\n{lines}{rest}")


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
        reader = csv.reader(io.StringIO(_csv_text(path), newline=""), strict=True)
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
    except csv.Error as error:
        raise InputDataError(f"{path}: is not valid csv: {error}") from None
    return RawTable(path, tuple(header), tuple(runs))


def _csv_text(path: Path) -> str:
    try:
        data = path.read_bytes()
    except OSError as error:
        raise InputDataError(f"{path}: cannot be read: {error}") from None
    if data.startswith((b"\xff\xfe", b"\xfe\xff")):
        raise InputDataError(f"{path}: is UTF-16 text; save it as UTF-8 (`CSV UTF-8` in Excel)")
    if b"\0" in data:
        line = data.count(b"\n", 0, data.index(b"\0")) + 1
        raise InputDataError(
            f"{path}, line {line}: holds a NUL byte, which no text has; write the file again"
        )
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        raise InputDataError(
            f"{path}, line {line}: is not UTF-8 text (byte 0x{data[error.start]:02x}; Latin-1 or "
            "Windows-1252, perhaps); save it as UTF-8 (`CSV UTF-8` in Excel)"
        ) from None


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
    problems: list[str] = []
    unreadable: list[str] = []
    for path, fields in matching_files(folder, pattern):
        try:
            record = read_json_object(path)
        except InputDataError as error:
            unreadable.append(str(error))
            continue
        items: dict[str, ItemCount] = {}
        if _is_lm_eval(record):
            values = dict(_lm_eval_values(path, record, contract, problems))
            items = dict(_lm_eval_items(record, contract))
        else:
            values = {key: value for key, value in record.items() if not _is_nested(value)}
        for name, value in fields.items():
            if name in values and str(values[name]) != value:
                raise InputDataError(
                    f"{path}: says {name} {values[name]!r}, its path says {value!r}; "
                    "rename the file or mend its content"
                )
            values[name] = value
        runs.append(RawRun(str(path), values, items))
    refuse(folder, unreadable, "run files that cannot be read; write them again or move them:")
    refuse(
        folder,
        problems,
        "result files of lm-evaluation-harness that lack what data.lm_eval names; judge the tasks, "
        "or name others in the contract before locking it:",
    )
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
    path: Path, record: Mapping[str, Any], contract: Contract, problems: list[str]
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
            problems.append(
                f"{path}: has no task {task!r} for benchmark {benchmark!r} (it has: {known})"
            )
            continue
        if metric not in metrics:
            known = ", ".join(sorted(name for name in metrics if "," in name))
            problems.append(
                f"{path}: task {task!r} has no metric {metric!r} for benchmark {benchmark!r} "
                f"(it has: {known})"
            )
            continue
        value = metrics[metric]
        if not isinstance(value, int | float) or contract.data.lm_eval_scale == contract.scale:
            yield benchmark, value
        else:
            yield benchmark, value * 100 if contract.scale == "percent" else value / 100


def _lm_eval_items(
    record: Mapping[str, Any], contract: Contract
) -> Iterator[tuple[str, ItemCount]]:
    config = record.get("config")
    limit = config.get("limit") if isinstance(config, dict) else None
    counts = record.get("n-samples")
    for benchmark, address in (contract.data.lm_eval or {}).items():
        task = counts.get(address.partition("/")[0]) if isinstance(counts, dict) else None
        told = task if isinstance(task, dict) else {}
        effective, original = (int(told.get(key, -1)) for key in ("effective", "original"))
        if effective >= 0 or limit is not None:
            shown = "" if limit is None else f"{limit:g}"
            yield benchmark, ItemCount(effective, original, shown)
