"""What the two audit verbs share: their options, and how they show progress."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Annotated

import typer

if TYPE_CHECKING:
    from dataflex_data.audits.watching import Track

Corpus = Annotated[
    str,
    typer.Argument(help="Built folder, .parquet or .jsonl(.gz) file, a folder or glob of such."),
]
TextColumn = Annotated[
    str | None, typer.Option(help="Column with the question or prompt (a.b steps into a.)")
]
IdColumn = Annotated[str | None, typer.Option(help="Column with the row ids.")]
ShingleWords = Annotated[int, typer.Option(help="Words of a shingle.")]
Force = Annotated[bool, typer.Option(help="Replace an existing report at --out.")]


def names(listed: str | None) -> list[str]:
    """Return the names of a comma-separated list."""
    return [name.strip() for name in (listed or "").split(",") if name.strip()]


def watcher() -> Track | None:
    """Return the progress bar where a person is at the terminal, else None."""
    from dataflex_data.reporting.terminal import progress

    return progress if sys.stderr.isatty() else None
