"""Entry point of ``dfdata``: finds the verbs, prints our errors as one paragraph, sets exit codes.

Exit codes: 0 clean, 1 findings, 2 usage or bad input. Every verb is a module of this folder with a
function ``register(app)``; it imports what is heavy inside its command, so that ``dfdata --help``
stays under half a second.
"""

from __future__ import annotations

import importlib
import io
import os
import pkgutil
import re
import sys
from typing import Annotated, Any, TextIO

import typer

from dataflex_data import __version__, cli
from dataflex_data.core.errors import DataflexError, did_you_mean

# Whatever click typer runs on, its own or the package: the class that usage errors derive from.
_UsageError: Any = next(
    base for base in typer.BadParameter.__mro__ if base.__name__ == "ClickException"
)

app = typer.Typer(
    name="dfdata",
    help="Data scheduling for RLVR: build, audit, sample, select, reweight, evaluate.",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)


def _print_version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"dataflex-data {__version__}")
        raise typer.Exit


@app.callback()
def _root(
    version: Annotated[
        bool,
        typer.Option("--version", callback=_print_version, is_eager=True, help="Show version."),
    ] = False,
) -> None:
    """Carry the options that stand before a verb."""


for _module in pkgutil.iter_modules(cli.__path__):
    if _module.name != "main" and not _module.name.startswith("_"):
        importlib.import_module(f"{cli.__name__}.{_module.name}").register(app)


def _near_verbs(error: Any) -> str:  # noqa: ANN401 - click's own or typer's
    """Return which verbs may have been meant; ``""`` for another error, or where none is near."""
    match = re.fullmatch(r"No such command '(.*)'\.", error.message)
    if match is None:
        return ""
    known = error.ctx.command.list_commands(error.ctx)
    begun = [name for name in known if name.startswith(f"{match[1]}-")]
    if begun:
        return f"Did you mean {' or '.join(map(repr, begun))}?"
    return did_you_mean(match[1], known).removeprefix("; ").capitalize()


class _Outlet(io.FileIO):
    """A stream's file that goes on as /dev/null once its reader, such as head, has gone away.

    So a verb comes to its end and its own exit code, which typer would turn into 1.
    """

    def write(self, data: Any, /) -> int:  # noqa: ANN401 - any buffer, as FileIO takes it
        try:
            return super().write(data)
        except BrokenPipeError:
            os.dup2(os.open(os.devnull, os.O_WRONLY), self.fileno())
            return len(data)


def _lasting(stream: TextIO) -> TextIO:
    """Return a stream that survives its reader, and shows ? for signs its terminal cannot show."""
    if not isinstance(stream, io.TextIOWrapper):
        return stream
    stream.reconfigure(errors="replace")
    raw = getattr(stream.buffer, "raw", stream.buffer)  # no buffer with PYTHONUNBUFFERED
    if type(raw) is not io.FileIO:
        return stream
    stream.flush()
    return io.TextIOWrapper(
        io.BufferedWriter(_Outlet(stream.fileno(), "w", closefd=False)),
        encoding=stream.encoding,
        errors="replace",
        # The buffer is ours even with PYTHONUNBUFFERED: errors stand among the output as they come.
        line_buffering=stream.line_buffering or stream.write_through,
        write_through=stream.write_through,
    )


def main(arguments: list[str] | None = None) -> None:
    """Run ``dfdata`` and exit; no traceback for an error that the user can mend."""
    sys.stdout, sys.stderr = _lasting(sys.stdout), _lasting(sys.stderr)
    try:
        code = app(arguments, prog_name="dfdata", standalone_mode=False)
    except _UsageError as error:
        if getattr(error, "possibilities", None):
            error.possibilities = error.possibilities[:1]  # the nearest; typer sorts by alphabet
        error.show()
        if near := _near_verbs(error):
            typer.echo(near, err=True)
        sys.exit(2)
    except DataflexError as error:
        typer.echo(f"dfdata: error: {error}", err=True)
        sys.exit(2)
    except (typer.Abort, KeyboardInterrupt):
        typer.echo("dfdata: interrupted; what stood at the output is as it was", err=True)
        sys.exit(130)
    sys.exit(code if isinstance(code, int) else 0)


if __name__ == "__main__":
    main()
