"""How many seeds a study needs, before it is run: by margin, spread and number of methods.

With several methods the corrected threshold is alpha over their number: what Holm asks of the
smallest p, and so the honest figure for a method that would win alone.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from dataflex_data.core.errors import InputDataError
from dataflex_data.evaluation import statistics as st
from dataflex_data.evaluation.contract import Contract, Seeds
from dataflex_data.reporting.words import plural

Rows = list[list[object]]
PILOT_SDS = (0.25, 0.5, 1.0, 1.5, 2.0, 3.0, 4.0)


@dataclass(frozen=True, slots=True)
class Need:
    """Seeds needed by one margin and family size.

    Attributes:
        alpha: Threshold for one method: the contract's alpha over ``methods``.
        seeds: Least number of pairs for the t-test; `MOST_SEEDS` means at least that many.
        sign_flip_seeds: Least number at which the sign-flip test can reach the threshold at all.
    """

    margin: float
    methods: int
    alpha: float
    seeds: int
    sign_flip_seeds: int


def seeds_needed(
    sd: float, margins: Sequence[float], methods: Sequence[int], alpha: float, power: float
) -> list[Need]:
    """Return the seeds needed for each margin and number of methods at a spread of ``sd``."""
    found = []
    for margin in margins:
        for count in methods:
            threshold = alpha / count
            with np.errstate(divide="ignore"):
                effect = np.array([np.float64(margin) / sd])
            needed = int(st.seeds_needed(effect, threshold, power)[0])
            least = 2
            while 2.0 ** (1 - least) >= threshold:
                least += 1
            found.append(Need(margin, count, threshold, needed, least))
    return found


@dataclass(frozen=True, slots=True)
class Plan:
    """What is asked: how large a difference, among how many methods, at which level and power.

    Attributes:
        from_contract: Which of these a contract gave, in words.
    """

    margins: tuple[float, ...]
    methods: tuple[int, ...]
    alpha: float
    power: float
    from_contract: tuple[str, ...]

    def needs(self, sd: float) -> list[Need]:
        """Return the seeds needed at a spread of ``sd``."""
        return seeds_needed(sd, self.margins, self.methods, self.alpha, self.power)


def plan_from(
    contract: Contract | None,
    *,
    margins: Sequence[float] | None = None,
    methods: Sequence[int] | None = None,
    alpha: float | None = None,
    power: float | None = None,
) -> Plan:
    """Return a plan: what is given, else what the contract says, else the usual."""
    told = []
    if contract is not None:
        families = sorted({1, *(len(names) for names in contract.baseline_families().values())})
        if alpha is None:
            alpha = contract.inference.alpha
            told.append(f"alpha {alpha:g}")
        if power is None:
            power = contract.power
            told.append(f"power {power:g}")
        if margins is None:
            margins = [contract.meaningful_effect / 2, contract.meaningful_effect]
            told.append(f"margins {' and '.join(f'{value:g}' for value in margins)}")
        if methods is None:
            # Without a correction every method is judged at the full alpha.
            methods = [1] if contract.inference.correction == "none" else families
            told.append(
                f"methods {', '.join(map(str, methods))} (correction "
                f"{contract.inference.correction})"
            )
    return Plan(
        tuple(margins or (0.5, 1.0)),
        tuple(methods or (1, 3, 8)),
        0.05 if alpha is None else alpha,
        0.8 if power is None else power,
        tuple(told),
    )


def power_curve(
    sd: float, margin: float, methods: int, alpha: float, seeds: Sequence[int]
) -> list[float]:
    """Return the power of the corrected t-test at each number of seeds."""
    n = np.array(seeds, dtype=float)
    effect = np.full(len(n), np.float64(margin) / sd)
    return [float(value) for value in st.t_power(effect, n, alpha / methods)]


def detectable_table(contract: Contract) -> tuple[list[str], Rows]:
    """Return the smallest detectable differences by pairs and spread, in the contract's scale."""
    pairs = sorted({contract.seeds.minimum_pairs, len(contract.seeds.list), 3, 5, 8, 12, 20})
    columns = ["sd", *(f"{n} pairs" for n in pairs)]
    rows: Rows = []
    for sd in (value * contract.points for value in PILOT_SDS):
        found = [st.detectable_effect(n, contract.inference.alpha, contract.power) for n in pairs]
        rows.append([sd, *(value * sd for value in found)])
    return columns, rows


def seeds_table(contract: Contract) -> tuple[list[str], Rows]:
    """Return the seeds needed for the meaningful effect by spread and size of each family."""
    families = contract.baseline_families()
    sizes = sorted({1, *(len(methods) for methods in families.values())})
    columns = ["sd", *(plural(n, "method") for n in sizes)]
    rows: Rows = []
    for sd in (value * contract.points for value in PILOT_SDS):
        needs = seeds_needed(
            sd, [contract.meaningful_effect], sizes, contract.inference.alpha, contract.power
        )
        rows.append([sd, *(need.seeds for need in needs)])
    return columns, rows


def pilot_spread(runs_path: Path, contract: Contract, pattern: str | None = None) -> Rows:
    """Return group, method, pairs and sd of the paired differences of a pilot.

    A pilot has fewer and other seeds than the study it is for: those it has are paired.

    Raises:
        InputDataError: The runs cannot be used, or no comparison has two pairs.
    """
    from dataflex_data.evaluation.evaluate import evaluate_table
    from dataflex_data.evaluation.runs import group_label, seeds_of
    from dataflex_data.evaluation.tables import read_table

    table = read_table(runs_path, contract, pattern)
    seeds = Seeds(list=seeds_of(table, contract), minimum_pairs=2, missing="drop_pair")
    evaluation = evaluate_table(table, contract.model_copy(update={"seeds": seeds}))
    rows: Rows = [
        [group_label(one.group, contract.data.id_columns), one.method, one.n, one.tests.sd]
        for one in evaluation.comparisons
        if one.tests is not None and not one.is_aa
    ]
    if not rows:
        raise InputDataError(f"{runs_path}: no method has two seeds paired with its baseline")
    return rows


def curve_png(
    sd: float, margins: Sequence[float], methods: Sequence[int], alpha: float, power: float
) -> bytes:
    """Return power against seeds, one line per margin and number of methods."""
    from dataflex_data.reporting import plots

    needs = seeds_needed(sd, margins, methods, alpha, power)
    longest = min(max(12, *(need.seeds for need in needs)) + 2, 120)
    seeds = list(range(2, longest + 1))
    styles = ("-", "--", ":", "-.")
    with plots.style():
        figure = plots.new_figure(7.5, 4.4)
        axes = figure.subplots()
        for at, margin in enumerate(margins):
            for which, count in enumerate(methods):
                axes.plot(
                    seeds,
                    power_curve(sd, margin, count, alpha, seeds),
                    styles[which % len(styles)],
                    color=plots.PALETTE[at % len(plots.PALETTE)],
                    label=f"difference {margin:g}, {plural(count, 'method')}",
                )
        axes.axhline(power, color=plots.FAINT, linewidth=1)
        axes.set_ylim(0, 1.02)
        axes.set_xlabel("paired seeds")
        axes.set_ylabel("power")
        axes.set_title(f"Power of the paired t-test, sd {sd:g}, alpha {alpha:g} over the methods")
        axes.legend(loc="lower right", fontsize=8)
        return plots.figure_png(figure)
