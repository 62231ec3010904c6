"""``dfdata verify``: is a corpus whole and right, to the last row."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from dataflex_data.cli._options import Json

_SHOWN = 10


def register(app: typer.Typer) -> None:
    """Add the verb to ``app``."""
    app.command("verify")(verify)


def verify(
    folder: Annotated[Path, typer.Argument(help="Corpus folder that `dfdata build` wrote.")],
    out: Annotated[
        Path | None,
        typer.Option(help="Folder for the outcome: verification.json, report.html."),
    ] = None,
    force: Annotated[bool, typer.Option(help="Replace an existing outcome at --out.")] = False,
    json: Json = False,
) -> None:
    """Check digests, schema, rows, counts, splits, canonical forms and every gold.

    Exit 1 on findings.
    """
    from dataflex_data.builders.verification import form_table, verify_corpus, write_verification
    from dataflex_data.core.parquet import check_output_folder
    from dataflex_data.reporting.terminal import print_json, print_table

    if out is not None:
        check_output_folder(out, force=force)
    found = verify_corpus(folder)
    if out is not None:
        write_verification(found, out, force=force)
    if json:
        print_json({**found.record(), "folder": str(folder)})
    else:
        print_table(
            f"Corpus {folder}",
            ["check", "result"],
            [[check.name, check.result] for check in found.checks],
        )
        if found.forms.rows:
            print_table("Canonical forms, all different", *form_table(found))
        for check in found.checks:
            for problem in check.problems[:_SHOWN]:
                typer.echo(f"{check.name}: {problem}")
            if len(check.problems) > _SHOWN:
                typer.echo(f"{check.name}: and {len(check.problems) - _SHOWN} more (--json)")
            for why in check.unchecked:
                typer.echo(f"{check.name}: NOT CHECKED, {why}")
        if out is not None:
            typer.echo(f"\n{out / 'report.html'}")
    raise typer.Exit(1 if found.failed else 0)
