"""``dfdata power``: how many seeds a study needs, from a pilot's spread."""

from __future__ import annotations

import statistics
from pathlib import Path
from typing import Annotated

import typer

from dataflex_data.cli._options import Force, Json
from dataflex_data.core.errors import ConfigError


def register(app: typer.Typer) -> None:
    """Add the verb to ``app``."""
    app.command("power")(power)


def power(
    runs: Annotated[
        Path | None, typer.Argument(help="Pilot runs; needs --contract. Or give --sd.")
    ] = None,
    contract: Annotated[
        Path | None, typer.Option(help="Contract that says how to read the pilot.")
    ] = None,
    sd: Annotated[
        float | None, typer.Option(help="Standard deviation of paired differences.")
    ] = None,
    margin: Annotated[
        list[float] | None, typer.Option(help="Difference to detect; repeatable. Default 0.5, 1.")
    ] = None,
    methods: Annotated[
        list[int] | None,
        typer.Option(help="Methods that share a baseline; repeatable. Default 1, 3, 8."),
    ] = None,
    alpha: Annotated[float, typer.Option(help="Level before correction.")] = 0.05,
    target: Annotated[float, typer.Option("--power", help="Power wanted.")] = 0.8,
    plot: Annotated[Path | None, typer.Option(help="Write the curve (.png).")] = None,
    force: Force = False,
    json: Json = False,
) -> None:
    """Print the seeds needed per margin and number of methods (alpha over their number)."""
    from dataflex_data.core.parquet import check_output_file, replace_file
    from dataflex_data.evaluation.power import curve_png, seeds_needed
    from dataflex_data.evaluation.statistics import MOST_SEEDS
    from dataflex_data.reporting.plots import require_matplotlib
    from dataflex_data.reporting.terminal import print_json, print_table

    margins, counts = margin or [0.5, 1.0], methods or [1, 3, 8]
    problems = [f"--margin {value:g} must be above 0" for value in margins if not value > 0]
    problems += [f"--methods {count} must be at least 1" for count in counts if count < 1]
    if not 0 < alpha < 0.5:
        problems.append(f"--alpha {alpha:g} must be between 0 and 0.5")
    if not 0.5 < target < 1:
        problems.append(f"--power {target:g} must be between 0.5 and 1")
    if (sd is None) == (runs is None):
        problems.append("give either --sd, or pilot runs with --contract")
    if sd is not None and not 0 < sd < float("inf"):
        problems.append(f"--sd {sd:g} must be above 0")
    if (runs is None) != (contract is None):
        problems.append("pilot runs need --contract, and --contract needs pilot runs")
    if plot is not None and plot.suffix != ".png":
        problems.append(f"--plot must end in .png, got {plot.name!r}")
    if problems:
        raise ConfigError("dfdata power", problems)
    if plot is not None:
        require_matplotlib("drawing the power curve")
        check_output_file(plot, force=force, inputs=[path for path in (runs, contract) if path])
    spread = sd or 0.0
    if runs is not None and contract is not None:
        spread = _pilot(runs, contract, quiet=json)
    needs = seeds_needed(spread, margins, counts, alpha, target)
    if plot is not None:
        with replace_file(plot) as partial:
            partial.write_bytes(curve_png(spread, margins, counts, alpha, target))
    if json:
        print_json(
            {
                "sd": spread,
                "alpha": alpha,
                "power": target,
                "needs": [
                    {
                        "margin": need.margin,
                        "methods": need.methods,
                        "alpha": need.alpha,
                        "seeds": need.seeds,
                        "sign_flip_seeds": need.sign_flip_seeds,
                    }
                    for need in needs
                ],
            }
        )
        return
    print_table(
        f"Paired seeds for {target:.0%} power at sd {spread:.4g}, alpha {alpha:g} over the methods",
        ["margin", "methods", "alpha each", "seeds (t)", "sign-flip can fire from"],
        [
            [
                need.margin,
                need.methods,
                need.alpha,
                need.seeds if need.seeds < MOST_SEEDS else f"over {MOST_SEEDS:,}",
                need.sign_flip_seeds,
            ]
            for need in needs
        ],
    )
    if plot is not None:
        typer.echo(f"curve: {plot}")


def _pilot(runs: Path, contract: Path, *, quiet: bool) -> float:
    """Return the median spread of the pilot's comparisons, and show each."""
    from dataflex_data.evaluation.contract import load_contract
    from dataflex_data.evaluation.power import pilot_spread
    from dataflex_data.reporting.terminal import print_table

    rows = pilot_spread(runs, load_contract(contract)[0])
    spreads = [float(str(row[3])) for row in rows]
    if not quiet:
        print_table(
            "Spread of paired differences in the pilot; the median is used",
            ["group", "method", "pairs", "sd"],
            rows,
        )
    return statistics.median(spreads)
