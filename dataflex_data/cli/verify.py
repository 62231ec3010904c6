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
    json: Json = False,
) -> None:
    """Check digests, schema, rows, counts, splits and every gold. Exit 1 on findings."""
    from dataflex_data.builders.corpus import verify_corpus
    from dataflex_data.reporting.terminal import print_json, print_table

    checks = verify_corpus(folder)
    failed = any(check.problems for check in checks)
    if json:
        print_json(
            {
                "folder": str(folder),
                "ok": not failed,
                "checks": [
                    {"name": check.name, "problems": list(check.problems)} for check in checks
                ],
            }
        )
    else:
        print_table(
            f"Corpus {folder}",
            ["check", "result"],
            [
                [check.name, f"{len(check.problems)} problems" if check.problems else "ok"]
                for check in checks
            ],
        )
        for check in checks:
            for problem in check.problems[:_SHOWN]:
                typer.echo(f"{check.name}: {problem}")
            if len(check.problems) > _SHOWN:
                typer.echo(f"{check.name}: and {len(check.problems) - _SHOWN} more (--json)")
    raise typer.Exit(1 if failed else 0)
