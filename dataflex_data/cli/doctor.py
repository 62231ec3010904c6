"""``dfdata doctor``: whether this machine can run our trainer, and a given run as written."""

from __future__ import annotations

import dataclasses
from pathlib import Path
from typing import Annotated

import typer

from dataflex_data.cli._options import Json


def register(app: typer.Typer) -> None:
    """Add the verb to ``app``."""
    app.command("doctor")(doctor)


def doctor(
    overrides: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="[COMMAND LINE]...",
            help="A run's command line as given to verl's main_ppo, after `--`.",
            show_default=False,
        ),
    ] = None,
    config: Annotated[
        Path | None,
        typer.Option(
            help="A run's whole configuration, as Hydra saves it (.hydra/config.yaml), or one with "
            "`defaults`, such as those of examples/configs."
        ),
    ] = None,
    quick: Annotated[
        bool, typer.Option("--quick", help="Start no process; versions and configuration only.")
    ] = False,
    ray: Annotated[bool, typer.Option(help="Look into a Ray worker too.")] = True,
    json: Json = False,
) -> None:
    """Say what is missing for a run of verl with our trainer, before any GPU is asked for.

    Exit code 1 where something is.
    """
    from dataflex_data.integrations.verl.command_line import read_config
    from dataflex_data.integrations.verl.doctor import examine
    from dataflex_data.reporting.terminal import note, print_json, print_table

    run = read_config(overrides or [], config)
    found = list(examine(run, processes=not quick, ray=ray, say=note))
    if json:
        print_json([dataclasses.asdict(finding) for finding in found])
    else:
        print_table(
            "Doctor",
            ["what", "area", "state", "found"],
            [[finding.what, finding.area, finding.state, finding.detail] for finding in found],
        )
    wrong = [finding for finding in found if finding.state == "problem"]
    if wrong:
        note(f"{len(wrong)} of {len(found)} need attention")
        raise typer.Exit(1)
    if not json:
        note("nothing is missing")
