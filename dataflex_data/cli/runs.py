"""``dfdata runs collect``: the runs table from verl's logs and from ``dfdata score``."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from dataflex_data.cli._options import Force, Json
from dataflex_data.core.errors import ConfigError


def register(app: typer.Typer) -> None:
    """Add the verbs to ``app``."""
    verbs = typer.Typer(help="Make the runs table that `dfdata evaluate` reads.")
    verbs.callback()(_verbs)
    verbs.command("collect")(collect)
    app.add_typer(verbs, name="runs", no_args_is_help=True)


def _verbs() -> None:
    """Make the runs table that `dfdata evaluate` reads."""


def collect(
    folder: Annotated[Path, typer.Argument(help="Folder with the files of all runs.")],
    pattern: Annotated[
        str,
        typer.Option(
            help="Which files, with columns in braces, such as '{method}/seed{seed}/*.jsonl': "
            "verl's file logger (.jsonl), its console log (.log, .txt), `dfdata score --json` "
            "(.json) or --out (.jsonl, .parquet)."
        ),
    ],
    out: Annotated[Path, typer.Option(help="Runs table to write (.csv).")],
    benchmark: Annotated[
        list[str] | None,
        typer.Option(help="COLUMN=SOURCE; repeatable. Default: every source under its name."),
    ] = None,
    set_: Annotated[
        list[str] | None, typer.Option("--set", help="COLUMN=VALUE for all runs; repeatable.")
    ] = None,
    process: Annotated[
        list[str] | None,
        typer.Option(help="COLUMN=METRIC:sum or :mean of verl's log over steps; repeatable."),
    ] = None,
    variable: Annotated[
        str | None,
        typer.Option(
            help="Validated quantity in verl's log, or one with its number of responses, such as "
            "acc/mean@8. Default: acc, over most responses."
        ),
    ] = None,
    step: Annotated[
        int | None, typer.Option(help="Step whose validation counts. Default: the last, if equal.")
    ] = None,
    fraction: Annotated[
        bool, typer.Option("--fraction", help="Write 0 to 1 as logged; default: percent.")
    ] = False,
    force: Force = False,
    json: Json = False,
) -> None:
    """Collect one line per run: what the path says, and the solve rate per benchmark."""
    from dataflex_data.core.parquet import check_output_file
    from dataflex_data.evaluation.collect import CollectRequest, write_runs
    from dataflex_data.evaluation.collect import collect as work
    from dataflex_data.reporting.terminal import print_json
    from dataflex_data.reporting.words import plural

    request = CollectRequest(
        folder,
        pattern,
        constants=_pairs("--set", set_ or []),
        benchmarks=_pairs("--benchmark", benchmark or []),
        variable=variable,
        step=step,
        percent=not fraction,
        process=_process(process or []),
    )
    if out.suffix != ".csv":
        raise ConfigError("--out", [f"must end in .csv, got {out.name!r}"])
    check_output_file(out, force=force)
    columns, rows, notes = work(request)
    write_runs(columns, rows, out)
    if json:
        print_json({"out": str(out), "runs": len(rows), "columns": columns, "notes": notes})
        return
    typer.echo(f"{out}: {plural(len(rows), 'run')}, columns {', '.join(columns)}")
    for line in notes:
        typer.echo(f"  {line}")


def _pairs(option: str, texts: list[str]) -> dict[str, str]:
    found: dict[str, str] = {}
    problems = []
    for text in texts:
        name, equals, value = text.partition("=")
        if not equals or not name.strip() or not value.strip():
            problems.append(f"{text!r} must have the form NAME=VALUE")
        elif name.strip() in found:
            problems.append(f"{name.strip()!r} is given twice")
        else:
            found[name.strip()] = value.strip()
    if problems:
        raise ConfigError(option, problems)
    return found


def _process(texts: list[str]) -> dict[str, tuple[str, str]]:
    found: dict[str, tuple[str, str]] = {}
    for name, address in _pairs("--process", texts).items():
        metric, _, how = address.rpartition(":")
        if how not in {"sum", "mean"} or not metric:
            raise ConfigError(
                "--process", [f"{name}={address!r} must end in :sum or :mean over the steps"]
            )
        found[name] = (metric, how)
    return found
