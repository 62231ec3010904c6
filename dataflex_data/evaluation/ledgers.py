"""Process metrics of runs from their ledgers: one number per run and metric.

Tokens are summed over steps, everything else is averaged; a column by domain gives one metric per
domain, ``domain_share`` the domains' part of all prompts drawn.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np

from dataflex_data.core.errors import ConfigError, InputDataError
from dataflex_data.core.ledger import LedgerRows, read_ledger
from dataflex_data.evaluation.contract import Contract
from dataflex_data.evaluation.flags import Flag
from dataflex_data.evaluation.runs import plain_text
from dataflex_data.evaluation.tables import RawTable, matching_files, refuse
from dataflex_data.evaluation.verl_log import check_no_gaps, step_range
from dataflex_data.reporting.words import plural

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
            ``"out/{method}/seed{seed}/ledger.jsonl"``; each must lead to exactly one run. Ledgers
            of runs that the table lacks are refused, or flagged where the contract drops pairs.

    Raises:
        ConfigError: The pattern names no column, or one that identifies no run, or the contract
            names no process metric.
        InputDataError: A ledger belongs to no run or to several, a run has two, the runs table has
            the metric already, no ledger has any of the metrics, or ledgers of one group cover
            different steps.
    """
    if not contract.process_metrics:
        raise ConfigError(
            "--ledgers",
            [
                "the contract names no process_metrics, so that nothing would be read from them; "
                "name some in the contract before locking it, or leave --ledgers out"
            ],
        )
    folder, rest = _split(pattern)
    data = contract.data
    keys = [*data.id_columns, data.method, data.seed]
    files = matching_files(folder, rest)
    unknown = sorted({name for _, fields in files for name in fields} - set(keys))
    if unknown:
        raise ConfigError(
            "--ledgers",
            [f"{name!r} is not one of the columns {', '.join(keys)}" for name in unknown],
        )
    found: dict[int, LedgerRows] = {}
    flags: list[Flag] = []
    for path, fields in files:
        at = _run_of(path, fields, table, keys)
        if at is None:
            told = ", ".join(f"{name} {value}" for name, value in fields.items())
            detail = f"{path}: the table has no run of {told}"
            flags.append(Flag("unused_ledger", (), fields.get(data.method, ""), None, "", detail))
        elif at in found:
            raise InputDataError(f"{path}: {table.runs[at].where} has another ledger already")
        else:
            found[at] = read_ledger(path)
    if contract.seeds.missing == "refuse" or not found:
        refuse(
            table.path,
            [flag.detail for flag in flags],
            "ledgers of runs that the table does not have; add the runs, or let the pattern fit no "
            "other ledgers (seeds.missing: drop_pair passes them over with a flag):",
        )
    _check_coverage(table, found, contract)
    return _joined(table, contract, found, flags)


def _run_of(
    path: Path, fields: Mapping[str, str], table: RawTable, keys: Sequence[str]
) -> int | None:
    """Return which run a ledger belongs to, ``None`` for none."""
    wanted = {name: _identity(value) for name, value in fields.items()}
    rows = [
        at
        for at, run in enumerate(table.runs)
        if all(_identity(run.values.get(name)) == value for name, value in wanted.items())
    ]
    if len(rows) > 1:
        told = ", ".join(f"{name} {value}" for name, value in fields.items())
        raise InputDataError(
            f"{path}: its path ({told}) fits {len(rows)} runs of {table.path}; name enough "
            f"columns in the pattern ({', '.join(keys)})"
        )
    return rows[0] if rows else None


def _identity(value: object) -> str:
    """Return a cell as text; whole numbers without leading zeros, as ``seed01`` is seed 1."""
    text = plain_text(value)
    return str(int(text)) if re.fullmatch(r"[0-9]+", text) else text


def _check_coverage(table: RawTable, found: Mapping[int, LedgerRows], contract: Contract) -> None:
    """Check that the ledgers of one group cover the same steps, without gaps."""
    by_group: dict[tuple[str, ...], dict[tuple[int, ...], list[LedgerRows]]] = {}
    for at, ledger in found.items():
        steps = tuple(int(row["step"]) for row in ledger.rows)
        check_no_gaps(str(ledger.path), steps)
        values = table.runs[at].values
        group = tuple(plain_text(values.get(name)) for name in contract.data.id_columns)
        by_group.setdefault(group, {}).setdefault(steps, []).append(ledger)
    for covered in by_group.values():
        if len(covered) > 1:
            told = "; ".join(
                f"{step_range(steps) if steps else 'no step'}: "
                f"{plural(len(those), 'ledger')}, such as {those[0].path}"
                for steps, those in sorted(covered.items())
            )
            raise InputDataError(
                f"ledgers cover different steps ({told}), so that their sums cannot be compared; "
                "give the whole ledgers, or leave --ledgers out"
            )


def _joined(
    table: RawTable, contract: Contract, found: Mapping[int, LedgerRows], flags: Sequence[Flag]
) -> RawTable:
    added = {at: dict(_metrics(ledger, contract)) for at, ledger in found.items()}
    names = sorted({name for metrics in added.values() for name in metrics})
    if not names:
        held = sorted({name for ledger in found.values() for name in ledger.names})
        raise InputDataError(
            f"{next(iter(found.values())).path}: no ledger has any of the contract's "
            f"process_metrics ({', '.join(contract.process_metrics)}); it has {', '.join(held)}"
        )
    twice = [name for name in names if name in table.columns]
    if twice:
        raise InputDataError(
            f"{table.path}: has the columns {', '.join(twice)}, which the ledgers give as well; "
            "remove them or leave --ledgers out"
        )
    runs = tuple(
        replace(run, values={**run.values, **added.get(at, {})})
        for at, run in enumerate(table.runs)
    )
    return replace(table, columns=(*table.columns, *names), runs=runs, flags=(*table.flags, *flags))


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
