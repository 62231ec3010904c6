"""``dfdata dashboard``: a corpus, its audit, runs and an evaluation on one page."""

from __future__ import annotations

from collections.abc import Sized
from pathlib import Path
from typing import Annotated

import typer

from dataflex_data.cli._options import Force
from dataflex_data.core.errors import InputDataError


def register(app: typer.Typer) -> None:
    """Add the verb to ``app``."""
    app.command("dashboard")(dashboard)


def dashboard(
    folders: Annotated[
        list[Path],
        typer.Argument(help="Folders to search for corpora, audits, ledgers and evaluations."),
    ],
    out: Annotated[
        Path, typer.Option(help="HTML file to write; an earlier page of ours is replaced.")
    ],
    title: Annotated[str, typer.Option(help="Heading of the page.")] = "Dashboard",
    rows: Annotated[
        int, typer.Option(min=0, max=50, help="Rows shown of each domain of a corpus.")
    ] = 2,
    force: Force = False,
) -> None:
    """Tie what is found under the folders together on one page that needs no server."""
    import dataflex_data.policies.record  # noqa: F401 - says what the policies' columns mean
    from dataflex_data.audits.summary import headline
    from dataflex_data.core.parquet import check_output_file, replace_file
    from dataflex_data.reporting.dashboard.files import find
    from dataflex_data.reporting.dashboard.page import render_dashboard
    from dataflex_data.reporting.html import PAGE_MARK
    from dataflex_data.reporting.terminal import note

    found = find(folders)
    for problem in found.unusable:
        note(f"note: not shown: {problem}")
    for problem in found.damaged:
        note(f"note: not whole: {problem}")
    for label, outcome in found.verifications:
        if found.is_stale(outcome):
            note(f"note: verification {label} is not about these files: they have changed since")
    if found.is_empty:
        raise InputDataError(
            f"{', '.join(map(str, folders))}: no corpus, verification, audit, ledger or evaluation "
            "is there; make one with `dfdata build`, `verify --out`, `audit-contamination`, "
            "`simulate` or `evaluate`, or give another folder"
        )
    inputs = [run.path for run in found.ledgers]
    target = check_output_file(out, force=force, inputs=inputs, mark=PAGE_MARK)
    page = render_dashboard(
        found,
        title,
        audit_headline=lambda audit: headline(audit.model_dump(mode="json")),
        sample_rows=rows,
    )
    with replace_file(target) as partial:
        # A name in a JSON file may hold half of a surrogate pair, which UTF-8 cannot.
        partial.write_bytes(page.encode("utf-8", "backslashreplace"))
    kinds: dict[tuple[str, str], Sized] = {
        ("corpus", "corpora"): found.corpora,
        ("verification", "verifications"): found.verifications,
        ("audit", "audits"): found.audits,
        ("ledger", "ledgers"): found.ledgers,
        ("evaluation", "evaluations"): found.evaluations,
    }
    told = ", ".join(
        f"{len(held):,} {one if len(held) == 1 else many}"
        for (one, many), held in kinds.items()
        if held
    )
    typer.echo(f"{out}: {told}")
    lacking = [many for (_, many), held in kinds.items() if not held]
    if lacking:
        note(f"note: no {', no '.join(lacking)} found; the page says what makes them")
