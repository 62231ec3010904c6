"""The record of a run: one row per training step, appended so that a kill loses at most the last.

A ledger is a text file of JSON lines. The first says what run it is; every other is one step. A
line is written by a single call and counts only when it ends in a line feed, so that a run killed
in the middle of one leaves a whole ledger and a remainder that the next opening cuts off. A resumed
run opens the ledger at the step it resumes from: steps at or after it are moved to a file beside
it, so that no step is in the ledger twice and nothing is lost. One process writes at a time: a lock
keeps others out, and where a file system has no locks, the next row notices that the file grew.

Columns are declared: a mistyped name is an error, never a column of its own. Other parts of the
package, and users, declare theirs with `declare`.
"""

from __future__ import annotations

import errno
import json
import math
import operator
import os
import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from io import FileIO
from pathlib import Path
from types import TracebackType
from typing import Any, Literal, TypeAlias

import numpy as np
import numpy.typing as npt

from dataflex_data.core.errors import (
    ConfigError,
    InputDataError,
    OutputError,
    StateError,
    did_you_mean,
)
from dataflex_data.core.parquet import replace_file
from dataflex_data.core.text import excerpt

LEDGER_KIND = "dataflex_data/ledger"
LEDGER_VERSION = 1

Shape: TypeAlias = Literal["number", "text", "by_domain", "list"]
Value: TypeAlias = "float | int | str | Mapping[str, float | None] | Sequence[float] | None"


@dataclass(frozen=True, slots=True)
class Column:
    """One thing that is recorded per step.

    Attributes:
        name: Lower-case words joined by ``_``.
        shape: A ``number``, a short ``text``, a number ``by_domain``, or a ``list`` of numbers.
        meaning: What it says, with its unit, for tables and reports.
    """

    name: str
    shape: Shape
    meaning: str


_COLUMNS: dict[str, Column] = {}


def declare(*columns: Column) -> None:
    """Make columns known; declaring the same one again changes nothing.

    Raises:
        ConfigError: A name is no plain word, is ``step``, or means something else already.
    """
    problems = []
    for column in columns:
        held = _COLUMNS.get(column.name)
        if not column.name.isidentifier() or column.name.lower() != column.name:
            problems.append(f"{column.name!r} must be lower-case words joined by _")
        elif column.name == "step":
            problems.append("'step' is the key of every row")
        elif held is not None and held != column:
            problems.append(f"{column.name!r} is declared already: {held.meaning}")
    if problems:
        raise ConfigError("ledger columns", problems)
    for column in columns:
        _COLUMNS[column.name] = column


def columns() -> tuple[Column, ...]:
    """Return all declared columns, by name."""
    return tuple(_COLUMNS[name] for name in sorted(_COLUMNS))


declare(
    Column("proportion", "by_domain", "proportion asked for"),
    Column("quota", "by_domain", "prompts drawn"),
    Column("owed", "by_domain", "prompts owed after the batch; negative where ahead"),
    Column("epoch", "by_domain", "epochs of the domain drawn before the batch"),
    Column("signal", "by_domain", "the mixer's signal in the batch reported last"),
    Column("reward", "by_domain", "mean reward over groups"),
    Column("groups", "by_domain", "groups reported"),
    Column("mixer", "text", "name of the mixer"),
    Column("inert", "number", "1 where the mixer stands still under a constant signal"),
    Column("unreported", "number", "batches drawn and not reported"),
    Column("seconds", "by_domain", "seconds by phase of the step"),
)


class Ledger:
    """Appends rows to a ledger.

    Args:
        path: The file; it is made, with its folder, where it does not exist.
        run: What the run is, written once: names and plain values.
        first_step: The step that is recorded next, 0 in a new run. Where the ledger has rows at or
            after it, they are moved to ``NAME.superseded.jsonl`` beside it.
        sync: Wait for the disk after every row, so that a loss of power loses at most the last.

    Raises:
        InputDataError: ``run`` is not plain JSON.
        StateError: The file is no ledger, a newer one, or of another run; or another process has
            it open.
        OutputError: It cannot be written.
    """

    def __init__(
        self,
        path: Path,
        run: Mapping[str, Any],
        *,
        first_step: int = 0,
        sync: bool = False,
    ) -> None:
        self.path = Path(path).expanduser()
        self._sync = sync
        self.cut_bytes = 0
        self.superseded = 0
        self._last = first_step - 1
        header = {"kind": LEDGER_KIND, "version": LEDGER_VERSION, "run": _run(self.path, run)}
        try:
            self.path.parent.mkdir(parents=True, exist_ok=True)
            self._file = _locked(self.path)
            try:
                self._size = os.fstat(self._file.fileno()).st_size
                if self._size:
                    self._last = self._take_over(header, first_step)
                else:
                    self._append(header)
            except BaseException:
                self._file.close()
                raise
        except OSError as error:
            if isinstance(error, OutputError):
                raise
            raise OutputError(f"{self.path}: cannot be written ({error.strerror})") from None

    def __enter__(self) -> Ledger:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    @property
    def next_step(self) -> int:
        """The least step that may be appended."""
        return self._last + 1

    def append(self, step: int, **values: Value) -> None:
        """Record one step.

        Args:
            step: Its ordinal; above that of the row before.
            values: By declared column. Numbers must be finite; ``None`` says that there is none.

        Raises:
            InputDataError: The step is not new, a column is not declared, or a value does not fit;
                all at once. Nothing is written then.
        """
        problems = [problem for name, value in values.items() for problem in _faults(name, value)]
        if isinstance(step, bool) or not isinstance(step, int | np.integer):
            problems.insert(0, f"the step must be a whole number, got {step!r}")
        elif step <= self._last:
            problems.insert(0, f"step {step} is not after step {self._last}, the last recorded")
        if problems:
            raise InputDataError(f"{self.path}, step {step}: {'; '.join(problems)}")
        step = operator.index(step)
        self._append({"step": step, **{name: _plain(value) for name, value in values.items()}})
        self._last = step

    def close(self) -> None:
        """Close the file; the ledger is whole at any time, closed or not."""
        self._file.close()

    def _append(self, record: Mapping[str, Any]) -> None:
        data = _line(record)
        try:
            if os.fstat(self._file.fileno()).st_size != self._size:
                raise StateError(
                    f"{self.path}: another process has written to it since; its rows stand, this "
                    "one is not recorded. Give each run its own ledger"
                )
            written = self._file.write(data)
            if written != len(data):
                raise OutputError(f"{self.path}: the disk took {written} of {len(data)} bytes")
            self._size += written
            if self._sync:
                os.fsync(self._file.fileno())
        except OSError as error:
            if isinstance(error, OutputError):
                raise
            raise OutputError(f"{self.path}: cannot be written ({error.strerror})") from None

    def _take_over(self, header: Mapping[str, Any], first_step: int) -> int:
        """Cut off a broken end, move superseded rows aside, and return the last step kept."""
        held = check_ledger(self.path, header["run"])
        self.cut_bytes = held.cut_bytes
        kept = [row for row in held.rows if row["step"] < first_step]
        moved = [row for row in held.rows if row["step"] >= first_step]
        self.superseded = len(moved)
        if moved:
            with superseded_path(self.path).open("ab") as file:
                file.writelines(map(_line, moved))
        if moved or held.cut_bytes:
            with replace_file(self.path) as partial:
                partial.write_bytes(b"".join(map(_line, (header, *kept))))
            before, self._file = self._file, _locked(self.path)
            before.close()
            self._size = os.fstat(self._file.fileno()).st_size
        return max(first_step - 1, kept[-1]["step"] if kept else -1)


def check_ledger(path: Path, run: Mapping[str, Any]) -> LedgerRows:
    """Return a ledger that a run may go on with; nothing is written.

    Raises:
        InputDataError: It cannot be read, or ``run`` is not plain JSON.
        StateError: The file is no ledger, a newer one, or of another run.
    """
    own = _run(path, run)
    held = read_ledger(path)
    if held.run != own:
        raise StateError(
            f"{path}: is the ledger of another run ({held.run}, this one is {own}); "
            "give another path"
        )
    return held


def superseded_path(path: Path) -> Path:
    """Return where a ledger's superseded rows are kept; ``*.jsonl`` does not find it."""
    return path.with_name(f"{path.name}.superseded")


def _locked(path: Path) -> FileIO:
    """Return the file opened for appending, for this process alone.

    Raises:
        StateError: Another process has it open.
    """
    if sys.platform == "win32":
        return path.open("ab", buffering=0)  # no advisory locks: appending compares sizes
    import fcntl

    while True:
        file = path.open("ab", buffering=0)
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            file.close()
            raise StateError(
                f"{path}: another run is writing to it; give each run its own ledger, or end the "
                "other first"
            ) from None
        except OSError as error:
            if error.errno not in (errno.ENOLCK, errno.EOPNOTSUPP, errno.ENOSYS):
                file.close()
                raise
            return file  # no locks here: appending compares sizes
        held = os.fstat(file.fileno())
        if path.exists() and os.path.samestat(held, path.stat()):
            return file
        file.close()  # replaced by its last owner between opening and locking


def _run(path: Path, run: Mapping[str, Any]) -> dict[str, Any]:
    """Return what the run is as the ledger gives it back."""
    try:
        return dict(json.loads(json.dumps(dict(run), allow_nan=False)))
    except (TypeError, ValueError) as error:
        raise InputDataError(
            f"{path}: what the run is must be names and plain finite values ({error}), got {run!r}"
        ) from None


@dataclass(frozen=True, slots=True)
class LedgerRows:
    """A ledger as read.

    Attributes:
        path: Its file.
        run: What the run is.
        rows: One mapping per step, in ascending order of ``step``.
        cut_bytes: Bytes after the last whole line, left by a run that was killed; not read.
    """

    path: Path
    run: dict[str, Any]
    rows: tuple[dict[str, Any], ...]
    cut_bytes: int

    @property
    def steps(self) -> npt.NDArray[np.int64]:
        """Recorded steps."""
        return np.array([row["step"] for row in self.rows], dtype=np.int64)

    @property
    def names(self) -> tuple[str, ...]:
        """Columns that any row has."""
        return tuple(sorted({name for row in self.rows for name in row} - {"step"}))

    def numbers(self, name: str) -> npt.NDArray[np.float64]:
        """Return a column of numbers, one per step; NaN where there is none.

        Raises:
            InputDataError: No row has the column, or it holds no numbers.
        """
        self._check(name, "number")
        return np.array([_number(row.get(name)) for row in self.rows])

    def by_domain(self, name: str) -> dict[str, npt.NDArray[np.float64]]:
        """Return a column by domain: one number per step for each, NaN where there is none.

        Raises:
            InputDataError: No row has the column, or it is not by domain.
        """
        self._check(name, "by_domain")
        values = [row.get(name) or {} for row in self.rows]
        domains = sorted({domain for value in values for domain in value})
        return {
            domain: np.array([_number(value.get(domain)) for value in values]) for domain in domains
        }

    def _check(self, name: str, shape: Shape) -> None:
        if name not in self.names:
            raise InputDataError(
                f"{self.path}: has no column {name!r}{did_you_mean(name, self.names)} "
                f"(columns: {', '.join(self.names)})"
            )
        held = _COLUMNS.get(name)
        if held is not None and held.shape != shape:
            raise InputDataError(f"{self.path}: column {name!r} is {held.shape}, not {shape}")


def read_ledger(path: Path) -> LedgerRows:
    """Return a ledger; a broken last line, as a killed run leaves it, is left out and counted.

    Raises:
        InputDataError: The file is missing, or damaged elsewhere than at its end.
        StateError: It is no ledger, or a newer one.
    """
    path = Path(path).expanduser()
    try:
        data = path.read_bytes()
    except FileNotFoundError:
        raise InputDataError(f"{path}: no such file") from None
    except OSError as error:
        raise InputDataError(f"{path}: cannot be read ({error.strerror})") from None
    whole, _, rest = data.rpartition(b"\n")
    lines = list(_parsed(path, whole.split(b"\n"))) if whole else []
    header = lines[0] if lines else {}
    if header.get("kind") != LEDGER_KIND:
        begin = excerpt(whole.partition(b"\n")[0].decode("utf-8", "replace"))
        raise StateError(
            f"{path}: is no ledger of dataflex-data: the first line of one has kind "
            f"{LEDGER_KIND!r} and says which run it is, this one is {begin}"
        )
    if not isinstance(header.get("run"), dict):
        raise InputDataError(f"{path}, line 1: does not say what run it is (`run` is no mapping)")
    if header.get("version") != LEDGER_VERSION:
        raise StateError(
            f"{path}: is a ledger of version {header.get('version')!r}, this release reads "
            f"{LEDGER_VERSION}; upgrade dataflex-data"
        )
    last = -1
    for number, row in enumerate(lines[1:], start=2):
        step = row.get("step")
        if isinstance(step, bool) or not isinstance(step, int) or step <= last:
            raise InputDataError(
                f"{path}, line {number}: step {step!r} does not follow {last}; if two runs wrote "
                f"here, remove the lines from {number} on, or give the run a new ledger"
            )
        faults = [
            fault
            for name, value in row.items()
            if name in _COLUMNS
            for fault in _faults(name, value)
        ]
        if faults:
            raise InputDataError(f"{path}, line {number}: {'; '.join(faults)}")
        last = step
    return LedgerRows(path, header["run"], tuple(lines[1:]), len(rest))


def _parsed(path: Path, lines: Sequence[bytes]) -> Iterator[dict[str, Any]]:
    for number, line in enumerate(lines, start=1):
        try:
            record = json.loads(line)
        except ValueError as error:
            raise InputDataError(f"{path}, line {number}: is not JSON: {error}") from None
        if not isinstance(record, dict):
            raise InputDataError(f"{path}, line {number}: is not a mapping")
        yield record


def _line(record: Mapping[str, Any]) -> bytes:
    text = json.dumps(record, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
    return text.encode("utf-8", "surrogatepass") + b"\n"


def _faults(name: str, value: Value) -> Iterator[str]:
    column = _COLUMNS.get(name)
    if column is None:
        yield f"column {name!r} is not declared{did_you_mean(name, _COLUMNS)}"
        return
    if value is None:
        return
    if column.shape == "text":
        if not isinstance(value, str):
            yield f"{name} must be text, got {value!r}"
    elif column.shape == "number":
        if not _is_number(value):
            yield f"{name} must be a finite number, got {value!r}"
    elif column.shape == "by_domain":
        if not isinstance(value, Mapping) or not all(isinstance(key, str) for key in value):
            yield f"{name} must be a mapping of domain to number, got {value!r}"
        else:
            for domain, number in value.items():
                if number is not None and not _is_number(number):
                    yield f"{name} of {domain!r} must be a finite number, got {number!r}"
    elif isinstance(value, str | Mapping) or not all(
        _is_number(number) for number in _items(value)
    ):
        yield f"{name} must be a list of finite numbers, got {value!r}"


def _items(value: Value) -> list[Any]:
    return list(value) if isinstance(value, Sequence | np.ndarray) else [value, None]


def _is_number(value: object) -> bool:
    return (
        isinstance(value, int | float | np.integer | np.floating)
        and not isinstance(value, bool)
        and math.isfinite(value)
    )


def _plain(value: Any) -> Any:  # noqa: ANN401 - JSON values are of any plain type
    if isinstance(value, Mapping):
        return {str(key): _plain(item) for key, item in value.items()}
    if isinstance(value, np.integer | np.floating):
        return value.item()
    if isinstance(value, str) or value is None or isinstance(value, int | float):
        return value
    return [_plain(item) for item in value]


def _number(value: object) -> float:
    return float(value) if isinstance(value, int | float) else math.nan
