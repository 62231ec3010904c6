"""A table of logged rewards as one report per step, for replaying mixers on a past run."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.csv as pa_csv
import pyarrow.json as pa_json
import pyarrow.parquet as pq

from dataflex_data.core.errors import InputDataError, did_you_mean
from dataflex_data.samplers.signals import StepSignals

_REQUIRED = ("step", "domain", "reward")
_OPTIONAL = {
    "uid": "uids",
    "advantage": "advantages",
    "loss": "losses",
    "excess_loss": "excess_losses",
    "length": "lengths",
}


def read_log(path: Path) -> tuple[list[StepSignals], list[str]]:
    """Return one report per step of the table, in order of the steps, and the domains, sorted.

    Columns ``step``, ``domain`` and ``reward``; where there are any, ``uid``, ``advantage``,
    ``loss``, ``excess_loss`` and ``length``. A row is one response, or a group's mean where there
    is no ``uid``. Steps are renumbered from 0.

    Args:
        path: Parquet, CSV, or JSON lines, by its suffix.

    Raises:
        InputDataError: The file or a column cannot be used; the message names it, and the row.
    """
    path = Path(path).expanduser()
    table = _table(path)
    known = [*_REQUIRED, *_OPTIONAL]
    twice = [name for name in known if table.column_names.count(name) > 1]
    if twice:
        raise InputDataError(f"{path}: the column {', '.join(twice)} stands there more than once")
    missing = [name for name in _REQUIRED if name not in table.column_names]
    if missing:
        hints = "".join(did_you_mean(name, table.column_names) for name in missing[:1])
        raise InputDataError(
            f"{path}: has no column {', '.join(missing)}{hints} (known columns: {', '.join(known)})"
        )
    if table.num_rows == 0:
        raise InputDataError(f"{path}: has no rows")
    held = {name: table.column(name).to_pylist() for name in known if name in table.column_names}
    for name, values in held.items():
        row = next((i for i, value in enumerate(values) if value is None), None)
        if row is not None:
            raise InputDataError(f"{path}: column {name} is empty in row {row + 1}")
    for name in [name for name in held if name not in ("domain", "uid")]:
        held[name] = _numbers(path, name, held[name])
    held["step"] = steps = list(map(int, held["step"]))
    held["domain"] = [str(domain) for domain in held["domain"]]
    blank = next((i for i, domain in enumerate(held["domain"]) if not domain.strip()), None)
    if blank is not None:
        raise InputDataError(f"{path}: row {blank + 1} has no domain")
    rows_by_step: dict[int, list[int]] = {}
    for row, step in enumerate(steps):
        rows_by_step.setdefault(step, []).append(row)
    log = [
        _report(held, rows_by_step[step], number)
        for number, step in enumerate(sorted(rows_by_step))
    ]
    return log, sorted(set(held["domain"]))


def _numbers(path: Path, name: str, values: list[Any]) -> list[float]:
    """Return a column as finite numbers, truth as 1 and 0; steps are whole.

    Raises:
        InputDataError: A value is none; the first such row is named.
    """
    wanted = "whole number" if name == "step" else "number"
    for row, value in enumerate(values):
        try:
            number = float(value)  # what a mixed CSV column holds as text may be a number as well
        except (TypeError, ValueError):
            fault = f"is no {wanted}"
        else:
            is_whole = number.is_integer() and not isinstance(value, bool)
            if name == "step":
                fault = "" if is_whole else "is no whole number"
            else:
                fault = "" if math.isfinite(number) else "is no finite number"
        if fault:
            raise InputDataError(f"{path}: {name} {value!r} of row {row + 1} {fault}")
    if any(isinstance(value, str) for value in values):
        raise InputDataError(f"{path}: column {name} holds text; write it as numbers")
    return list(map(float, values))


def _report(held: dict[str, list[Any]], rows: list[int], step: int) -> StepSignals:
    names = {"domain": "domains", "reward": "rewards", **_OPTIONAL}
    signals: dict[str, Any] = {
        target: [held[name][row] for row in rows] for name, target in names.items() if name in held
    }
    return StepSignals(step=step, **signals)


def _table(path: Path) -> pa.Table:
    if path.is_dir():
        raise InputDataError(f"{path}: is a folder; give a .parquet, .csv or .jsonl file")
    if not path.is_file():
        raise InputDataError(f"{path}: no such file")
    try:
        if path.suffix == ".parquet":
            return pq.read_table(path)
        if path.suffix == ".csv":
            # Empty cells alone are missing: NaN is a value here as in parquet, and named as one.
            options = pa_csv.ConvertOptions(null_values=[""])
            return pa_csv.read_csv(path, convert_options=options)
        if path.suffix == ".jsonl":
            return pa_json.read_json(path)
    except (pa.ArrowException, OSError) as error:
        raise InputDataError(f"{path}: cannot be read: {str(error).splitlines()[0]}") from None
    raise InputDataError(f"{path}: give a .parquet, .csv or .jsonl file")
