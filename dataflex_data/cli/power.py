"""``dfdata power``: how many seeds a study needs, from a pilot's spread."""

from __future__ import annotations

import statistics
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from dataflex_data.cli._options import Force, Json
from dataflex_data.core.errors import ConfigError

if TYPE_CHECKING:
    from dataflex_data.evaluation.contract import Contract
    from dataflex_data.evaluation.power import Plan


def register(app: typer.Typer) -> None:
    """Add the verb to ``app``."""
    app.command("power")(power)


def power(
    runs: Annotated[
        Path | None, typer.Argument(help="Pilot runs; needs --contract. Or give --sd.")
    ] = None,
    contract: Annotated[
        Path | None,
        typer.Option(
            help="Contract that says how to read the pilot; its alpha, power, margins and family "
            "sizes are the defaults of the options below."
        ),
    ] = None,
    pattern: Annotated[
        str | None, typer.Option(help="For a pilot in a folder, as in `dfdata evaluate`.")
    ] = None,
    sd: Annotated[
        float | None, typer.Option(help="Standard deviation of paired differences.")
    ] = None,
    margin: Annotated[
        list[float] | None,
        typer.Option(
            help="Difference to detect; repeatable. Default: the contract's meaningful effect and "
            "half of it, else 0.5 and 1."
        ),
    ] = None,
    methods: Annotated[
        list[int] | None,
        typer.Option(
            help="Methods that share a baseline; repeatable. Default: 1 and the contract's "
            "families, else 1, 3, 8."
        ),
    ] = None,
    alpha: Annotated[
        float | None, typer.Option(help="Level before correction. Default 0.05.")
    ] = None,
    target: Annotated[
        float | None, typer.Option("--power", help="Power wanted. Default 0.8.")
    ] = None,
    plot: Annotated[Path | None, typer.Option(help="Write the curve (.png).")] = None,
    force: Force = False,
    json: Json = False,
) -> None:
    """Print the seeds needed per margin and number of methods (alpha over their number)."""
    from dataflex_data.core.parquet import check_output_file, replace_file
    from dataflex_data.evaluation.contract import load_contract
    from dataflex_data.evaluation.power import curve_png, plan_from
    from dataflex_data.reporting.plots import require_matplotlib
    from dataflex_data.reporting.terminal import print_json

    rules = load_contract(contract)[0] if contract is not None else None
    plan: Plan = plan_from(rules, margins=margin, methods=methods, alpha=alpha, power=target)
    problems = _problems(plan, sd, plot)
    if (sd is None) == (runs is None):
        problems.append("give either --sd, or pilot runs with --contract")
    if runs is not None and contract is None:
        problems.append("pilot runs need --contract")
    if pattern is not None and runs is None:
        problems.append("--pattern is for pilot runs in a folder")
    if problems:
        raise ConfigError("dfdata power", problems)
    if plot is not None:
        require_matplotlib("drawing the power curve")
        check_output_file(plot, force=force, inputs=[path for path in (runs, contract) if path])
    spread = sd or 0.0
    if runs is not None and rules is not None:
        spread = _pilot(runs, rules, pattern, quiet=json)
    if plot is not None:
        with replace_file(plot) as partial:
            partial.write_bytes(
                curve_png(spread, plan.margins, plan.methods, plan.alpha, plan.power)
            )
    if json:
        print_json(_record(plan, spread))
        return
    _print(plan, spread, contract)
    if plot is not None:
        typer.echo(f"curve: {plot}")


def _problems(plan: Plan, sd: float | None, plot: Path | None) -> list[str]:
    problems = [f"--margin {value:g} must be above 0" for value in plan.margins if not value > 0]
    problems += [f"--methods {count} must be at least 1" for count in plan.methods if count < 1]
    if not 0 < plan.alpha < 0.5:
        problems.append(f"--alpha {plan.alpha:g} must be between 0 and 0.5")
    if not 0.5 < plan.power < 1:
        problems.append(f"--power {plan.power:g} must be between 0.5 and 1")
    if sd is not None and not 0 < sd < float("inf"):
        problems.append(f"--sd {sd:g} must be above 0")
    if plot is not None and plot.suffix != ".png":
        problems.append(f"--plot must end in .png, got {plot.name!r}")
    return problems


def _record(plan: Plan, spread: float) -> dict[str, object]:
    return {
        "sd": spread,
        "alpha": plan.alpha,
        "power": plan.power,
        "from_contract": list(plan.from_contract),
        "needs": [
            {
                "margin": need.margin,
                "methods": need.methods,
                "alpha": need.alpha,
                "seeds": need.seeds,
                "sign_flip_seeds": need.sign_flip_seeds,
            }
            for need in plan.needs(spread)
        ],
    }


def _print(plan: Plan, spread: float, contract: Path | None) -> None:
    from dataflex_data.evaluation.statistics import MOST_SEEDS
    from dataflex_data.reporting.terminal import print_table

    print_table(
        f"Paired seeds for {plan.power:.0%} power at sd {spread:.4g}, alpha {plan.alpha:g} over "
        "the methods",
        ["margin", "methods", "alpha each", "seeds (t)", "sign-flip can fire from"],
        [
            [
                need.margin,
                need.methods,
                need.alpha,
                need.seeds if need.seeds < MOST_SEEDS else f"over {MOST_SEEDS:,}",
                need.sign_flip_seeds,
            ]
            for need in plan.needs(spread)
        ],
    )
    if plan.from_contract:
        typer.echo(f"from {contract}: {', '.join(plan.from_contract)}")


def _pilot(runs: Path, rules: Contract, pattern: str | None, *, quiet: bool) -> float:
    """Return the median spread of the pilot's comparisons, and show each."""
    from dataflex_data.evaluation.power import pilot_spread
    from dataflex_data.reporting.terminal import print_table

    rows = pilot_spread(runs, rules, pattern)
    spreads = [float(str(row[3])) for row in rows]
    if not quiet:
        print_table(
            "Spread of paired differences in the pilot; the median is used",
            ["group", "method", "pairs", "sd"],
            rows,
        )
    return statistics.median(spreads)
