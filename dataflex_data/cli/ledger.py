"""``dfdata ledger``: the record of runs on the terminal, and as one self-contained page."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from dataflex_data.cli._options import Json

Runs = Annotated[
    list[Path], typer.Argument(help="Ledgers (JSON lines), one per run.", show_default=False)
]


def register(app: typer.Typer) -> None:
    """Add the verb to ``app``."""
    verbs = typer.Typer(help="Show and report the per-step record of runs.", no_args_is_help=True)
    verbs.command("show")(show)
    verbs.command("report")(report)
    app.add_typer(verbs, name="ledger")


def show(
    runs: Runs,
    column: Annotated[
        list[str] | None, typer.Option(help="Column to show; repeat for several. Default: all.")
    ] = None,
    json: Json = False,
) -> None:
    """Print totals and every column with a sparkline."""
    from dataflex_data.core.ledger import read_ledger
    from dataflex_data.reporting.ledger_report import column_rows, labelled, summary
    from dataflex_data.reporting.terminal import note, print_json, print_table

    found = labelled([read_ledger(path) for path in runs])
    tables = {run.label: column_rows(run, column or ()) for run in found}
    figures = ["first", "last", "mean", "least", "most"]
    if json:
        print_json(
            [
                {
                    **summary(run),
                    "columns": {
                        str(row[0]): dict(zip(figures, row[2:], strict=True))
                        for row in tables[run.label]
                    },
                }
                for run in found
            ]
        )
        return
    summaries = [summary(run) for run in found]
    names = [name for name in summaries[0] if any(row[name] is not None for row in summaries)]
    print_table(
        "Runs",
        ["", *(str(row["run"]) for row in summaries)],
        [[name.replace("_", " "), *(row[name] for row in summaries)] for name in names[1:]],
    )
    for run in found:
        if run.ledger.cut_bytes:
            note(
                f"{run.ledger.path}: {run.ledger.cut_bytes} bytes of a row that was being written "
                "when the run was killed are left out"
            )
        print_table(f"Columns of {run.label}", ["column", "by step", *figures], tables[run.label])


def report(
    runs: Runs,
    out: Annotated[Path, typer.Option(help="HTML file to write.")],
    title: Annotated[str, typer.Option(help="Heading of the page.")] = "Run ledger",
) -> None:
    """Write one HTML page of the runs, laid over each other."""
    import dataflex_data.policies.record  # noqa: F401 - says what the policies' columns mean
    from dataflex_data.core.ledger import read_ledger
    from dataflex_data.core.parquet import replace_file
    from dataflex_data.reporting.ledger_report import labelled, render_report
    from dataflex_data.reporting.plots import require_matplotlib
    from dataflex_data.reporting.terminal import note

    require_matplotlib("dfdata ledger report")
    page = render_report(labelled([read_ledger(path) for path in runs]), title)
    with replace_file(out) as partial:
        partial.write_text(page, encoding="utf-8")
    note(f"wrote {out}")
