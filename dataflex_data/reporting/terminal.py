"""Tables, progress bars and JSON on the terminal: results to stdout, everything else to stderr.

Progress bars and colours vanish where stderr or stdout is not a terminal, so that pipes and logs
stay plain.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Protocol

from dataflex_data.core.parquet import dump_json

if TYPE_CHECKING:
    from rich.console import Console

_PIPE_WIDTH = 120  # where there is no terminal: wide enough for our tables, narrow enough to read


class Advance(Protocol):
    """Called with the number of units done since the last call."""

    def __call__(self, units: int = 1) -> None:
        """Move the bar on by ``units``."""


def console(*, stderr: bool = False) -> Console:
    """Return a rich console on stdout, or stderr, that does not wrap at 80 columns in a pipe."""
    from rich.console import Console

    target = sys.stderr if stderr else sys.stdout
    width = None if target.isatty() or "COLUMNS" in os.environ else _PIPE_WIDTH
    return Console(stderr=stderr, width=width, highlight=False, markup=False)


def print_table(
    title: str,
    columns: Sequence[str],
    rows: Sequence[Sequence[object]],
    *,
    stderr: bool = False,
) -> None:
    """Print one table; columns whose cells are all numbers are set flush right."""
    from rich import box
    from rich.table import Table
    from rich.text import Text

    table = Table(box=box.SIMPLE_HEAD, pad_edge=False)
    for position, name in enumerate(columns):
        numeric = all(isinstance(row[position], int | float) for row in rows) and bool(rows)
        # The first column names the row: a narrow terminal breaks the others.
        table.add_column(
            Text(name),
            justify="right" if numeric else "left",
            overflow="fold",
            no_wrap=position == 0,
        )
    for row in rows:
        table.add_row(*(Text(_cell(value)) for value in row))
    target = console(stderr=stderr)
    target.print(Text(title, style="bold"))  # a title of the table's own would wrap at its width
    target.print(table)


def print_json(data: object) -> None:
    """Print ``data`` as JSON on stdout, for machines."""
    sys.stdout.write(dump_json(data))


def note(message: str) -> None:
    """Print one line for people on stderr."""
    sys.stderr.write(message + "\n")


@contextmanager
def progress(title: str, total: int | None = None) -> Iterator[Advance]:
    """Show a progress bar on stderr; give the function that moves it on.

    Nothing is shown where stderr is not a terminal.
    """
    if not sys.stderr.isatty():
        yield _silent
        return
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

    with Progress(
        TextColumn("{task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
        TimeElapsedColumn(),
        console=console(stderr=True),
        transient=True,
    ) as bar:
        task = bar.add_task(title, total=total)
        yield lambda units=1: bar.advance(task, units)


def _silent(units: int = 1) -> None:
    del units


def _cell(value: object) -> str:
    if isinstance(value, bool) or value is None:
        return {True: "yes", False: "no", None: "-"}[value]
    if isinstance(value, int):
        return f"{value:,}"
    if isinstance(value, float):
        return f"{value:,.4g}"
    return str(value)
