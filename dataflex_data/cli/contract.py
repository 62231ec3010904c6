"""``dfdata contract``: write, check and seal the rules before the runs are read."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from dataflex_data.core.errors import OutputError

_File = Annotated[Path, typer.Argument(help="Contract file (YAML).")]


def register(app: typer.Typer) -> None:
    """Add the verbs to ``app``."""
    verbs = typer.Typer(help="Write, check and lock an evaluation contract.", no_args_is_help=True)
    verbs.command("init")(init)
    verbs.command("check")(check)
    verbs.command("lock")(lock)
    app.add_typer(verbs, name="contract")


def init(
    file: _File,
    force: Annotated[bool, typer.Option("--force", help="Replace an existing file.")] = False,
) -> None:
    """Write a commented contract to start from."""
    from dataflex_data.core.parquet import replace_file
    from dataflex_data.evaluation.contract import template

    if file.exists() and not force:
        raise OutputError(
            f"{file}: exists already; choose another name, or replace it with --force"
        )
    with replace_file(file) as partial:
        partial.write_text(template(), encoding="utf-8")
    typer.echo(f"wrote {file}; fill it in, then: dfdata contract check {file}")


def check(
    file: _File,
    json: Annotated[bool, typer.Option("--json", help="Print JSON for machines.")] = False,
) -> None:
    """Check a contract, refuse rules that can never fire, and show what it can detect."""
    from dataflex_data.evaluation.contract import contract_warnings, load_contract
    from dataflex_data.evaluation.lock import changed_keys, contract_sha256, earlier_seals
    from dataflex_data.evaluation.power import detectable_table, seeds_table
    from dataflex_data.reporting.terminal import note, print_json, print_table
    from dataflex_data.reporting.words import plural

    contract, raw = load_contract(file)
    changed = changed_keys(file, raw)
    warnings = contract_warnings(contract)
    detectable, seeds = detectable_table(contract), seeds_table(contract)
    status = {None: "not locked", 0: "locked"}.get(
        None if changed is None else len(changed),
        f"changed after locking: {', '.join(changed or [])}",
    )
    earlier = earlier_seals(file)
    if earlier:
        status += f" ({plural(len(earlier), 'earlier seal')} in the lock)"
    if json:
        print_json(
            {
                "name": contract.name,
                "sha256": contract_sha256(raw),
                "status": status,
                "warnings": warnings,
                "detectable": [dict(zip(detectable[0], row, strict=True)) for row in detectable[1]],
                "seeds_needed": [dict(zip(seeds[0], row, strict=True)) for row in seeds[1]],
            }
        )
        return
    typer.echo(f"{file}: contract {contract.name!r} is sound; {status}")
    typer.echo(
        f"{plural(len(contract.scores.benchmarks), 'benchmark')} in "
        f"{plural(len(contract.scores.domains), 'domain')}; "
        + "; ".join(
            f"{plural(len(methods), 'method')} against {baseline}"
            for baseline, methods in contract.baseline_families().items()
        )
    )
    for warning in warnings:
        note(f"warning: {warning}")
    print_table(
        f"Smallest difference detectable with {contract.power:.0%} power, by the standard "
        "deviation of paired differences",
        *detectable,
    )
    print_table(f"Seeds needed for a difference of {contract.meaningful_effect:g}", *seeds)


def lock(
    file: _File,
    force: Annotated[
        bool, typer.Option("--force", help="Seal a changed contract anew; see docs/evaluation.md.")
    ] = False,
) -> None:
    """Seal a contract: write FILE.lock with its hash, the time and the tool's version."""
    from dataflex_data.evaluation.contract import contract_warnings, load_contract
    from dataflex_data.evaluation.evaluate import TOOL
    from dataflex_data.evaluation.lock import (
        contract_sha256,
        earlier_seals,
        lock_path,
        write_lock,
    )
    from dataflex_data.reporting.terminal import note
    from dataflex_data.reporting.words import plural

    contract, raw = load_contract(file)
    written = write_lock(file, raw, TOOL, force=force)
    verb = "wrote" if written else "kept"
    typer.echo(f"{verb} {lock_path(file)}: sha256 {contract_sha256(raw)}")
    for warning in contract_warnings(contract):
        note(f"warning: {warning}")
    earlier = earlier_seals(file)
    if earlier:
        note(
            f"the lock keeps {plural(len(earlier), 'earlier seal')}; every report says so, and "
            f"runs seen before {earlier[-1].time or 'now'} count as exploratory"
        )
