"""``dfdata ledger``: the record of runs on the terminal, and as one self-contained page."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

import typer

from dataflex_data.cli._options import Force, Json

_FIGURES = ("first", "last", "mean", "least", "most")
_DROPPED_FIRST = (3, 4, 0)  # least, most, first: where the terminal is narrow
_LEAST_SPARK = 8

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
    import dataflex_data.policies.record  # noqa: F401 - says what the policies' columns hold
    from dataflex_data.core.ledger import read_ledger
    from dataflex_data.reporting.ledger_report import (
        ASCII_BLOCKS,
        BLOCKS,
        column_rows,
        labelled,
        sparkline,
        summary,
        text_columns,
    )
    from dataflex_data.reporting.terminal import note, print_json, print_table, shows

    found = labelled([read_ledger(path) for path in runs])
    tables = {run.label: column_rows(run, column or ()) for run in found}
    if json:
        print_json(
            [
                {
                    **summary(run),
                    "columns": {
                        name: dict(zip(_FIGURES, values, strict=True))
                        for name, _, values in tables[run.label]
                    },
                    "texts": text_columns(run.ledger),
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
        blocks = BLOCKS if shows(BLOCKS) else ASCII_BLOCKS
        fitting, width = _fitting(tables[run.label])
        print_table(
            f"Columns of {run.label}",
            ["column", "by step", *(_FIGURES[at] for at in fitting)],
            [
                [name, sparkline(series, width, blocks), *(values[at] for at in fitting)]
                for name, series, values in tables[run.label]
            ],
        )
        if not column:
            for name, counts in text_columns(run.ledger).items():
                told = ", ".join(
                    f"{text} ({steps:,} step{'s' * (steps != 1)})" for text, steps in counts.items()
                )
                typer.echo(f"{name}: {told}")


def _fitting(rows: Sequence[tuple[str, object, Sequence[float | None]]]) -> tuple[list[int], int]:
    """Return which figures the terminal has room for, and the characters left for a sparkline."""
    from dataflex_data.reporting.ledger_report import SPARK_WIDTH
    from dataflex_data.reporting.terminal import COLUMN_GAP, cell_text, console

    widths = [
        max(len(heading), *(len(cell_text(values[at])) for _, _, values in rows)) + COLUMN_GAP
        for at, heading in enumerate(_FIGURES)
    ]
    room = console().width - max(len(name) for name, _, _ in rows) - 2 * COLUMN_GAP
    fitting = list(range(len(_FIGURES)))
    for at in _DROPPED_FIRST:
        if sum(widths[kept] for kept in fitting) + _LEAST_SPARK > room:
            fitting.remove(at)
    left = room - sum(widths[kept] for kept in fitting)
    return fitting, min(SPARK_WIDTH, max(_LEAST_SPARK, left))


def report(
    runs: Runs,
    out: Annotated[
        Path, typer.Option(help="HTML file to write; an earlier page of ours is replaced.")
    ],
    title: Annotated[str, typer.Option(help="Heading of the page.")] = "Run ledger",
    force: Force = False,
) -> None:
    """Write one HTML page of the runs, laid over each other."""
    import dataflex_data.policies.record  # noqa: F401 - says what the policies' columns mean
    from dataflex_data.core.ledger import read_ledger
    from dataflex_data.core.parquet import check_output_file, replace_file
    from dataflex_data.reporting.html import PAGE_MARK
    from dataflex_data.reporting.ledger_report import labelled, render_report
    from dataflex_data.reporting.plots import require_matplotlib
    from dataflex_data.reporting.terminal import note

    require_matplotlib("dfdata ledger report")
    target = check_output_file(out, force=force, inputs=runs, mark=PAGE_MARK)
    page = render_report(labelled([read_ledger(path) for path in runs]), title)
    with replace_file(target) as partial:
        partial.write_text(page, encoding="utf-8")
    note(f"wrote {out}")
