"""``dfdata evaluate``: judge a runs table under a locked contract."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from dataflex_data.cli._options import Json

if TYPE_CHECKING:
    from dataflex_data.evaluation.compare import Comparison
    from dataflex_data.evaluation.contract import Contract


def register(app: typer.Typer) -> None:
    """Add the verb to ``app``."""
    app.command("evaluate")(evaluate)


def evaluate(
    runs: Annotated[
        Path,
        typer.Argument(help="Runs table (.csv, .parquet, .jsonl), or a folder of run files."),
    ],
    contract: Annotated[Path, typer.Option("--contract", help="Locked contract (YAML).")],
    out: Annotated[Path, typer.Option("--out", help="Folder for the report; must be new.")],
    pattern: Annotated[
        str | None,
        typer.Option(help="For a folder: run files, such as '{method}/seed{seed}/results_*.json'."),
    ] = None,
    ledgers: Annotated[
        str | None,
        typer.Option(help="Ledgers of the runs, such as 'out/{method}/seed{seed}/ledger.jsonl'."),
    ] = None,
    exploratory: Annotated[
        bool, typer.Option("--exploratory", help="Go on without a lock; stamps every output.")
    ] = False,
    no_plots: Annotated[bool, typer.Option("--no-plots", help="Leave the pictures out.")] = False,
    force: Annotated[bool, typer.Option("--force", help="Replace an earlier report.")] = False,
    json: Json = False,
) -> None:
    """Compare methods with their baselines and write report, tables and pictures."""
    from dataflex_data.evaluation import evaluate as work
    from dataflex_data.evaluation.report import headline, remarks
    from dataflex_data.evaluation.runs import group_label
    from dataflex_data.evaluation.words import points
    from dataflex_data.reporting.terminal import note, print_json, print_table

    done = work.evaluate(
        runs,
        contract,
        out,
        pattern=pattern,
        ledgers=ledgers,
        exploratory=exploratory,
        plots=not no_plots,
        force=force,
    )
    if json:
        if done.exploratory:
            note(done.exploratory)
        told = {"status": done.status, "remarks": remarks(done)}
        print_json({"out": str(out), **told, **work.summary(done)})
        return
    stamp = "" if done.status == "locked" else done.status
    for group in done.groups:
        label = group_label(group, done.contract.data.id_columns)
        print_table(
            f"{label} ({stamp})" if stamp else label,
            ["method", "baseline", "pairs", "difference", "interval", "adjusted p", "verdict"],
            [
                [
                    one.method,
                    one.baseline,
                    one.n,
                    _ascii(points(done.contract, one.primary.mean, signed=True)),
                    *_deciding(done.contract, one),
                    one.verdict,
                ]
                for one in done.of_group(group)
            ],
        )
    if stamp:
        typer.echo(stamp)
    typer.echo(headline(done))
    for sentence in remarks(done):
        typer.echo(sentence)
    typer.echo(f"report: {out / 'report.html'}")


def _deciding(contract: Contract, one: Comparison) -> tuple[str, str]:
    """Return the interval and the adjusted p that decide, as text."""
    from dataflex_data.evaluation.words import interval_text

    rule, tests = contract.inference, one.tests
    if tests is None:
        return "-", "-"
    shown = interval_text(contract, tests.intervals[rule.interval], signed=True) or "-"
    return _ascii(shown), "-" if one.is_aa else f"{tests.adjusted(rule.test, rule.correction):.3f}"


def _ascii(text: str) -> str:
    """Return numbers with the minus that every terminal can show."""
    from dataflex_data.reporting.words import MINUS

    return text.replace(MINUS, "-")
