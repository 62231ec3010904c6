"""Runs under a contract: every cell checked, in an order that does not depend on the file's.

Zero is a score and missing is missing; nothing is averaged over what happens to be there. What the
contract allows to be left out (a run with a missing cell, a pair without its partner) is flagged.
"""

from __future__ import annotations

import hashlib
import json
import math
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from dataflex_data.core.errors import InputDataError, did_you_mean
from dataflex_data.core.text import excerpt
from dataflex_data.evaluation.contract import Contract
from dataflex_data.evaluation.flags import Flag, Group
from dataflex_data.evaluation.statistics import F64
from dataflex_data.evaluation.tables import ItemCount, RawRun, RawTable, refuse

_NUMBER = re.compile(r"[+-]?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][+-]?[0-9]+)?")
_MISSING = frozenset({"", "na", "nan", "n/a", "null", "none", "-"})


@dataclass(frozen=True, slots=True, order=True)
class RunKey:
    """What makes a run one of its kind."""

    group: Group
    method: str
    seed: int


@dataclass(frozen=True, slots=True)
class Runs:
    """All runs, sorted by key.

    Attributes:
        keys: One per run.
        values_RB: Score of each benchmark, in the contract's order and scale.
        process: Column by name of the process metrics that the table has; nan where a run has none.
        flags: What was left out.
        sha256: Digest of keys and values: equal for equal data in any row or column order.
    """

    keys: tuple[RunKey, ...]
    values_RB: F64  # noqa: N815 - shape suffix
    process: Mapping[str, F64]
    flags: tuple[Flag, ...]
    sha256: str


def group_label(group: Group, columns: Sequence[str]) -> str:
    """Return a group in words; blank values are told by their column."""
    told = [value or f"(no {column})" for value, column in zip(group, columns, strict=True)]
    return " · ".join(told) or "all runs"


def check_runs(table: RawTable, contract: Contract) -> Runs:
    """Return the runs of ``table`` after checking every cell that the contract reads.

    Raises:
        InputDataError: Lists what is wrong, at most ten faults of one kind, with run and column.
    """
    _check_columns(table, contract)
    parsed = _parse(table, contract)
    flags: list[Flag] = list(table.flags)
    kept = _without_missing_cells(table, contract, parsed, flags)
    _check_duplicates(table, kept)
    kept.sort(key=lambda run: run.key)
    values = np.array([run.values for run in kept], dtype=float)
    _check_scale(table, contract, kept, values)
    _check_items(table, contract, kept, flags)
    kept, values = _check_seeds(table, contract, kept, values, flags)
    _check_baselines(table, contract, [run.key for run in kept])
    process = {
        name: [run.process[name] for run in kept] for name in _process_columns(table, contract)
    }
    return Runs(
        tuple(run.key for run in kept),
        values,
        {name: np.array(column) for name, column in process.items()},
        tuple(flags),
        _digest(kept, contract),
    )


@dataclass(frozen=True, slots=True)
class _Parsed:
    where: str
    key: RunKey
    values: list[float]
    process: dict[str, float]
    items: Mapping[str, ItemCount]

    @property
    def label(self) -> str:
        return f"{self.where} ({self.key.method}, seed {self.key.seed})"


def _check_columns(table: RawTable, contract: Contract) -> None:
    data = contract.data
    wanted = [*data.id_columns, data.method, data.seed, *contract.scores.benchmarks]
    problems = [
        f"column {name!r} is missing{did_you_mean(name, table.columns)}"
        for name in [*wanted, *([data.run] if data.run else [])]
        if name not in table.columns
    ]
    advice = "mend the header or the contract:"
    if table.path.is_dir():
        advice = (
            "in a folder, columns that no file holds are read from paths by --pattern, such as "
            "'{method}/seed{seed}/**/results_*.json':"
        )
    refuse(
        table.path,
        problems,
        f"the contract needs columns that are not there (it has: {', '.join(table.columns)}); "
        f"{advice}",
    )


def _process_columns(table: RawTable, contract: Contract) -> list[str]:
    """Return the table's columns of the contract's process metrics: ``name`` or ``name.part``."""
    return sorted(
        column
        for column in table.columns
        if any(column == name or column.startswith(name + ".") for name in contract.process_metrics)
    )


def _parse(table: RawTable, contract: Contract) -> list[_Parsed]:
    problems: list[str] = []
    unknown: list[str] = []
    parsed: list[_Parsed] = []
    data, known = contract.data, contract.all_methods
    process_columns = _process_columns(table, contract)
    for run in table.runs:
        where = f"{run.where} [{run.values.get(data.run)}]" if data.run else run.where
        method = plain_text(run.values.get(data.method))
        seed = _integer(run.values.get(data.seed))
        if method not in known:
            unknown.append(
                f"{where}: column {data.method!r}: {excerpt(method)}{did_you_mean(method, known)}"
            )
            continue
        if seed is None:
            problems.append(
                f"{where}: column {data.seed!r}: {run.values.get(data.seed)!r} is not an integer"
            )
            continue
        group = tuple(plain_text(run.values.get(name)) for name in data.id_columns)
        values = [_cell(run, where, name, problems) for name in contract.scores.benchmarks]
        process = {name: _cell(run, where, name, problems) for name in process_columns}
        parsed.append(_Parsed(where, RunKey(group, method, seed), values, process, run.items))
    refuse(
        table.path,
        unknown,
        "methods that the contract does not name; the family of comparisons is fixed, so add them "
        f"to a new contract or leave them out of the table (known: {', '.join(known)}):",
    )
    refuse(table.path, problems, "cells that are not numbers; mend or remove them:")
    return parsed


def plain_text(value: object) -> str:
    """Return a cell that identifies a run as text: 300.0 is ``"300"``, blank is ``""``."""
    if value is None:
        return ""
    if isinstance(value, float):
        if math.isnan(value):
            return ""
        if value.is_integer():
            return str(int(value))
    return str(value).strip()


def _integer(value: object) -> int | None:
    if isinstance(value, bool):
        return None
    text = plain_text(value)
    if re.fullmatch(r"[+-]?[0-9]+(\.0+)?", text) is None:
        return None
    return int(text.partition(".")[0])


def seeds_of(table: RawTable, contract: Contract) -> tuple[int, ...]:
    """Return the seeds that a table has, sorted; `check_runs` refuses those that are none."""
    found = {_integer(run.values.get(contract.data.seed)) for run in table.runs}
    return tuple(sorted(seed for seed in found if seed is not None))


def _cell(run: RawRun, where: str, column: str, problems: list[str]) -> float:
    """Return a cell as a number, nan where it is missing; other text is noted as a problem."""
    value = run.values.get(column)
    if value is None or (isinstance(value, str) and value.strip().casefold() in _MISSING):
        return math.nan
    number = math.inf
    if isinstance(value, int | float) and not isinstance(value, bool):
        number = float(value)
    elif isinstance(value, str) and _NUMBER.fullmatch(value.strip()):
        number = float(value)
        if math.isinf(number):
            problems.append(f"{where}: column {column!r}: {excerpt(value)} is too large a number")
            return math.nan
    if math.isinf(number):
        problems.append(f"{where}: column {column!r}: {excerpt(str(value))} is not a number")
        return math.nan
    return number


def _without_missing_cells(
    table: RawTable, contract: Contract, parsed: list[_Parsed], flags: list[Flag]
) -> list[_Parsed]:
    kept, problems = [], []
    for run in parsed:
        gaps = [
            name
            for name, value in zip(contract.scores.benchmarks, run.values, strict=True)
            if math.isnan(value)
        ]
        if not gaps:
            kept.append(run)
            continue
        named = ", ".join(repr(name) for name in gaps)
        problems.append(f"{run.label}: no value in {named}")
        flags.append(
            Flag(
                "dropped_run",
                run.key.group,
                run.key.method,
                run.key.seed,
                ", ".join(gaps),
                f"run left out (missing_cells: drop_run): no value in {named}",
            )
        )
    if contract.missing_cells == "refuse":
        refuse(
            table.path,
            problems,
            "missing cells; fill them (0 is a score, blank is missing), or set missing_cells: "
            "drop_run in the contract before locking it:",
        )
    flags.sort(key=lambda flag: (flag.kind, flag.group, flag.method, flag.seed or 0))
    if not kept:
        raise InputDataError(f"{table.path}: every run has missing cells; nothing is left to judge")
    return kept


def _check_duplicates(table: RawTable, parsed: Sequence[_Parsed]) -> None:
    first: dict[RunKey, _Parsed] = {}
    problems = []
    for run in parsed:
        other = first.setdefault(run.key, run)
        if other is run:
            continue
        same = other.values == run.values
        problems.append(
            f"{run.label}: {'is a copy of' if same else 'contradicts'} {other.where} (same group "
            f"{' | '.join(run.key.group)}, method and seed{'' if same else ', other scores'})"
        )
    refuse(
        table.path,
        problems,
        "runs that stand twice; a run counts once, so keep the right line of each:",
    )


def _check_scale(
    table: RawTable, contract: Contract, parsed: Sequence[_Parsed], values_RB: F64
) -> None:
    full, benchmarks = contract.full_score, contract.scores.benchmarks
    outside = ~((values_RB >= 0) & (values_RB <= full))
    refuse(
        table.path,
        [
            f"{parsed[row].label}: column {benchmarks[column]!r}: {values_RB[row, column]:g}"
            for row, column in np.argwhere(outside).tolist()
        ],
        f"values outside the declared scale ({contract.scale}, 0 to {full:g}); mend them, or "
        "declare the scale they are in:",
    )
    if contract.scale == "fraction":
        return  # a percentage beside fractions lies outside 0 to 1 and is refused above
    top_B, top_R = values_RB.max(axis=0), values_RB.max(axis=1)
    tiny = [
        column
        for column, name in enumerate(benchmarks)
        if 0 < top_B[column] <= 1 < values_RB.max() and name not in contract.scores.may_be_tiny
    ]
    refuse(
        table.path,
        [
            f"column {benchmarks[column]!r}: all values are at most {top_B[column]:g}, such as "
            f"{values_RB[:, column].max():g} in {parsed[int(values_RB[:, column].argmax())].label}"
            for column in tiny
        ],
        "columns that look like fractions beside percentages; multiply them by 100, or list a "
        "benchmark that is truly at or below 1 percent under scores.may_be_tiny:",
    )
    refuse(
        table.path,
        [
            f"{parsed[row].label}: no score above {top_R[row]:g}"
            for row in np.flatnonzero((top_R > 0) & (top_R <= 1)).tolist()
        ],
        "runs that look like fractions where percent is declared; multiply them by 100:",
    )


def _check_items(
    table: RawTable, contract: Contract, parsed: Sequence[_Parsed], flags: list[Flag]
) -> None:
    """Refuse runs judged on different numbers of items; flag benchmarks judged in part."""
    declared = contract.scores.items or {}
    problems = []
    for benchmark in contract.scores.benchmarks:
        by_count: dict[ItemCount, list[_Parsed]] = {}
        for run in parsed:
            if benchmark in run.items:
                by_count.setdefault(run.items[benchmark], []).append(run)
        if len(by_count) > 1:
            told = "; ".join(
                f"{count} in {len(those)} of {len(parsed)} runs, such as {those[0].label}"
                for count, those in sorted(by_count.items())
            )
            problems.append(f"column {benchmark!r}: {told}")
        for count in by_count if len(by_count) == 1 else ():
            told = f"judged on {count} in every run that says so"
            wanted = declared.get(benchmark, count.effective)
            if wanted != count.effective:
                told += f"; the contract's scores.items has {wanted:,}"
            if count.partial or wanted != count.effective:
                flags.append(Flag("item_count", (), "", None, benchmark, told))
    refuse(
        table.path,
        problems,
        "runs judged on different items; a score of other items is another benchmark, so judge "
        "all runs on the same:",
    )


def _check_seeds(
    table: RawTable,
    contract: Contract,
    parsed: list[_Parsed],
    values_RB: F64,
    flags: list[Flag],
) -> tuple[list[_Parsed], F64]:
    """Return the runs of declared seeds; seeds that do not match are refused or flagged."""
    declared = contract.seeds.list
    seeds: dict[tuple[Group, str], set[int]] = {}
    for run in parsed:
        seeds.setdefault((run.key.group, run.key.method), set()).add(run.key.seed)
    problems = []
    for (group, method), present in sorted(seeds.items()):
        extra = sorted(present - set(declared))
        missing = [seed for seed in declared if seed not in present]
        label = f"{group_label(group, contract.data.id_columns)}: {method}"
        if extra:
            problems.append(f"{label}: has seeds that the contract does not list: {extra}")
            flags += [
                Flag("dropped_seed", group, method, seed, "", "seed is not in seeds.list: left out")
                for seed in extra
            ]
        if missing:
            problems.append(f"{label}: has no run of seeds {missing}")
            detail = f"no run of seeds {missing}: pairs are dropped, never replaced"
            flags.append(Flag("incomplete_seeds", group, method, None, "", detail))
    if contract.seeds.missing == "refuse":
        refuse(
            table.path,
            problems,
            f"seeds that do not match the contract's ({list(declared)}); run or remove them, or "
            "set seeds.missing: drop_pair in the contract before locking it:",
        )
    keep = [at for at, run in enumerate(parsed) if run.key.seed in declared]
    if not keep:
        raise InputDataError(
            f"{table.path}: no run has a seed of the contract's list ({list(declared)})"
        )
    return [parsed[at] for at in keep], values_RB[keep]


def _check_baselines(table: RawTable, contract: Contract, keys: Sequence[RunKey]) -> None:
    present: dict[Group, set[str]] = {}
    for key in keys:
        present.setdefault(key.group, set()).add(key.method)
    problems = [
        f"{group_label(group, contract.data.id_columns)}: has {', '.join(found)} of family "
        f"{name!r} and no run of its baseline {family.baseline!r}"
        for group, methods in sorted(present.items())
        for name, family in contract.methods.items()
        if (found := [m for m in family.methods if m in methods]) and family.baseline not in methods
    ]
    refuse(
        table.path,
        problems,
        "groups without the baseline of their methods; a comparison across groups would mix "
        "models or regimes, so add the baseline's runs or mend the id columns:",
    )


def _digest(runs: Sequence[_Parsed], contract: Contract) -> str:
    sha = hashlib.sha256(json.dumps(contract.scores.benchmarks).encode())
    for run in runs:
        sha.update(json.dumps(list(_digest_parts(run))).encode())
    return sha.hexdigest()


def _digest_parts(run: _Parsed) -> Iterator[object]:
    yield from (run.key.group, run.key.method, run.key.seed, run.values)
    yield [[name, None if math.isnan(v) else v] for name, v in sorted(run.process.items())]
