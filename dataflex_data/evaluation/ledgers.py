"""Process metrics of runs from their ledgers: one number per run and metric.

Tokens are summed over steps, everything else is averaged; a column by domain gives one metric per
domain, ``domain_share`` the domains' part of all prompts drawn.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import replace
from pathlib import Path

import numpy as np

from dataflex_data.core.errors import ConfigError, InputDataError
from dataflex_data.core.ledger import LedgerRows, read_ledger
from dataflex_data.evaluation.contract import Contract
from dataflex_data.evaluation.tables import RawRun, RawTable, matching_files

# Metrics of a contract that a ledger holds under another name; the rest go by their own.
LEDGER_COLUMN: Mapping[str, str] = {
    "rollout_tokens": "generated_tokens",
    "retained_tokens": "kept_tokens",
    "update_tokens": "updated_tokens",
    "response_length": "length_mean",
    "domain_share": "quota",
}
_SHARE = "domain_share"


def with_ledgers(table: RawTable, contract: Contract, pattern: str) -> RawTable:
    """Return the table with process metrics added from ledgers.

    Args:
        table: The runs.
        contract: Names the metrics and the columns that identify a run.
        pattern: Path of the ledgers with columns in braces, as
            ``"out/{method}/seed{seed}/ledger.jsonl"``; each must lead to exactly one run.

    Raises:
        ConfigError: The pattern names no column, or one that identifies no run.
        InputDataError: A ledger belongs to no run or to several, a run has two, or the runs table
            has the metric already.
    """
    folder, rest = _split(pattern)
    data = contract.data
    keys = [*data.id_columns, data.method, data.seed]
    found = [(path, fields, read_ledger(path)) for path, fields in matching_files(folder, rest)]
    unknown = sorted({name for _, fields, _ in found for name in fields} - set(keys))
    if unknown:
        raise ConfigError(
            "--ledgers",
            [f"{name!r} is not one of the columns {', '.join(keys)}" for name in unknown],
        )
    added: dict[int, dict[str, float]] = {}
    for path, fields, ledger in found:
        rows = [
            at
            for at, run in enumerate(table.runs)
            if all(str(run.values.get(name, "")).strip() == value for name, value in fields.items())
        ]
        if len(rows) != 1:
            told = ", ".join(f"{name} {value}" for name, value in fields.items())
            raise InputDataError(
                f"{path}: its path ({told}) fits {len(rows)} runs of {table.path}; name enough "
                f"columns in the pattern ({', '.join(keys)})"
            )
        if rows[0] in added:
            raise InputDataError(f"{path}: {table.runs[rows[0]].where} has another ledger already")
        added[rows[0]] = dict(_metrics(ledger, contract))
    names = sorted({name for metrics in added.values() for name in metrics})
    twice = [name for name in names if name in table.columns]
    if twice:
        raise InputDataError(
            f"{table.path}: has the columns {', '.join(twice)}, which the ledgers give as well; "
            "remove them or leave --ledgers out"
        )
    runs = tuple(
        RawRun(run.where, {**run.values, **added.get(at, {})}) for at, run in enumerate(table.runs)
    )
    return replace(table, columns=(*table.columns, *names), runs=runs)


def _split(pattern: str) -> tuple[Path, str]:
    """Return the folder before the first part with a brace or star, and the pattern below it."""
    parts = Path(pattern).expanduser().parts
    first = next((at for at, part in enumerate(parts) if re.search(r"[{*]", part)), None)
    if first is None:
        raise ConfigError(
            "--ledgers", [f"{pattern!r} names no column in braces, such as {{method}} and {{seed}}"]
        )
    return Path(*parts[:first]), "/".join(parts[first:])


def _metrics(ledger: LedgerRows, contract: Contract) -> Iterator[tuple[str, float]]:
    for name in contract.process_metrics:
        column = LEDGER_COLUMN.get(name, name)
        if column not in ledger.names:
            continue  # the report names the metrics that nothing reports
        if any(isinstance(row.get(column), dict) for row in ledger.rows):
            domains = ledger.by_domain(column)
            totals = {domain: float(np.nansum(values)) for domain, values in domains.items()}
            counts = {domain: int(np.isfinite(values).sum()) for domain, values in domains.items()}
            for domain, total in totals.items():
                whole = sum(totals.values()) if name == _SHARE else counts[domain]
                if whole:
                    yield f"{name}.{domain}", total / whole
            continue
        values = ledger.numbers(column)
        if np.isfinite(values).any():
            of_all = np.nansum if name.endswith("tokens") else np.nanmean
            yield name, float(of_all(values))
