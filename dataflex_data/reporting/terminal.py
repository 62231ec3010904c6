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
COLUMN_GAP = 3  # cells between two columns of a table
_LONG_WORD = 24  # longer ones, such as paths and digests, may be broken


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
    """Print one table; columns whose cells are all numbers are set flush right.

    Where the terminal is too narrow for the longest word or number of each column, every row is
    printed below the other, one line per cell.
    """
    from rich import box
    from rich.table import Table
    from rich.text import Text

    target = console(stderr=stderr)
    target.print(Text(title, style="bold"))  # a title of the table's own would wrap at its width
    texts = [[cell_text(value) for value in row] for row in rows]
    if texts and narrowest(columns, texts) > target.width:
        for row in texts:
            target.print(Text(f"\n{row[0]}", style="bold"))
            for name, text in zip(columns[1:], row[1:], strict=True):
                target.print(Text(f"  {name}: {text}"))
        return
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
    for row in texts:
        table.add_row(*map(Text, row))
    target.print(table)


def narrowest(columns: Sequence[str], texts: Sequence[Sequence[str]]) -> int:
    """Return the width of a table that breaks no word shorter than a path, and no first cell."""
    from rich.cells import cell_len

    def widest(at: int) -> int:
        cells = [columns[at], *(row[at] for row in texts)]
        parts = cells if at == 0 else [word for cell in cells for word in cell.split()]
        return max((min(cell_len(part), _LONG_WORD) for part in parts), default=0)

    return sum(widest(at) + COLUMN_GAP for at in range(len(columns)))


def shows(characters: str) -> bool:
    """Return whether stdout can show the characters."""
    try:
        characters.encode(sys.stdout.encoding or "ascii")
    except UnicodeEncodeError:
        return False
    return True


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


def cell_text(value: object) -> str:
    """Return a cell as tables show it: thousands parted, four digits of a float, - for none."""
    if isinstance(value, bool) or value is None:
        return {True: "yes", False: "no", None: "-"}[value]
    if isinstance(value, int):
        return f"{value:,}"
    if isinstance(value, float):
        return f"{value:,.0f}" if 1e4 <= abs(value) < 1e12 else f"{value:,.4g}"
    return str(value)
