"""What a conclusion hangs on: the choice of aggregate, one seed, or one collapsed benchmark."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from dataflex_data.evaluation import statistics as st
from dataflex_data.evaluation.aggregate import PRIMARY, ScoreSet
from dataflex_data.evaluation.compare import Comparison, rows_by_seed
from dataflex_data.evaluation.contract import Contract
from dataflex_data.evaluation.flags import Flag, Group
from dataflex_data.evaluation.runs import Runs
from dataflex_data.evaluation.statistics import F64


@dataclass(frozen=True, slots=True)
class RankAgreement:
    """How one score orders the methods of a group, against the primary score.

    Attributes:
        means: Mean over seeds by method.
        ranks: 1 for the highest mean; equal means share their mean rank.
        spread: Highest less lowest mean.
        spearman: Rank correlation of the means with the primary ones; ``None`` where undefined.
        spearman_by_seed: The same for the runs of one seed.
        spearman_without_seed: The same for means without one seed.
        spearman_without_collapsed: The same without runs that have a collapsed benchmark;
            ``None`` also where no run of the group has one.
        sign_flips: Methods whose difference to the baseline has another sign than in the primary.
    """

    group: Group
    score: str
    means: Mapping[str, float]
    ranks: Mapping[str, float]
    spread: float
    spearman: float | None
    kendall: float | None
    spearman_by_seed: Mapping[int, float | None]
    spearman_without_seed: Mapping[int, float | None]
    spearman_without_collapsed: float | None
    sign_flips: tuple[str, ...]


def find_collapses(contract: Contract, runs: Runs) -> tuple[list[Flag], NDArray[np.bool_]]:
    """Return a flag per collapsed cell, and whether each run has one.

    A cell is collapsed where it lies at least ``collapse.points`` below its group's median of that
    benchmark, and below ``collapse.share_of_median`` of it. The run is kept.
    """
    rule = contract.collapse
    flags: list[Flag] = []
    collapsed_R = np.zeros(len(runs.keys), dtype=bool)
    groups: dict[Group, list[int]] = {}
    for row, key in enumerate(runs.keys):
        groups.setdefault(key.group, []).append(row)
    for group, rows in sorted(groups.items()):
        values = runs.values_RB[rows]
        median = np.median(values, axis=0)
        low = (values <= median - rule.points * contract.points) & (
            values < rule.share_of_median * median
        )
        for at, column in np.argwhere(low).tolist():
            key = runs.keys[rows[at]]
            collapsed_R[rows[at]] = True
            detail = f"{values[at, column]:.4g} where the group's median is {median[column]:.4g}"
            benchmark = contract.scores.benchmarks[column]
            flags.append(Flag("collapsed", group, key.method, key.seed, benchmark, detail))
    return flags, collapsed_R


def rank_agreements(
    runs: Runs,
    scores: ScoreSet,
    scores_RK: F64,
    comparisons: Sequence[Comparison],
    collapsed_R: NDArray[np.bool_],
) -> list[RankAgreement]:
    """Return one `RankAgreement` per group and score, the primary score first."""
    rows = rows_by_seed(runs)
    signs: dict[Group, list[Comparison]] = {}
    for one in comparisons:
        if not one.is_aa:
            signs.setdefault(one.group, []).append(one)
    found = []
    for group in sorted({key.group for key in runs.keys}):
        methods = sorted(method for g, method in rows if g == group)
        by_method = [rows[group, method] for method in methods]
        views = _Views(scores_RK, by_method, collapsed_R)
        for k, name in enumerate(scores.names):
            means = views.means[:, k]
            ranks = st.average_ranks(means)
            found.append(
                RankAgreement(
                    group=group,
                    score=name,
                    means=dict(zip(methods, means.tolist(), strict=True)),
                    ranks=dict(zip(methods, ranks.tolist(), strict=True)),
                    spread=float(means.max() - means.min()),
                    spearman=st.spearman(means, views.means[:, 0]),
                    kendall=st.kendall(means, views.means[:, 0]),
                    spearman_by_seed=_against_primary(views.by_seed, k),
                    spearman_without_seed=_against_primary(views.without_seed, k),
                    spearman_without_collapsed=views.without_collapsed(k),
                    sign_flips=_sign_flips(signs.get(group, ()), name),
                )
            )
    return found


class _Views:
    """Method means of one group, from all runs and from parts of them."""

    def __init__(
        self,
        scores_RK: F64,
        by_method: Sequence[Mapping[int, int]],
        collapsed_R: NDArray[np.bool_],
    ) -> None:
        self._scores_RK = scores_RK
        seeds = sorted({seed for rows in by_method for seed in rows})
        self.means = self._means([list(rows.values()) for rows in by_method])
        self.by_seed = {
            seed: self._means([[rows[seed]] for rows in by_method if seed in rows])
            for seed in seeds
        }
        self.without_seed = {
            seed: self._means(
                [[row for other, row in rows.items() if other != seed] for rows in by_method]
            )
            for seed in seeds
        }
        self._clean: F64 | None = None
        if any(collapsed_R[row] for rows in by_method for row in rows.values()):
            self._clean = self._means(
                [[row for row in rows.values() if not collapsed_R[row]] for rows in by_method]
            )

    def _means(self, rows_of_methods: Sequence[Sequence[int]]) -> F64:
        """Return means of the methods that have rows left; methods without are left out."""
        return np.array(
            [self._scores_RK[list(rows)].mean(axis=0) for rows in rows_of_methods if rows]
        ).reshape(-1, self._scores_RK.shape[1])

    def without_collapsed(self, score: int) -> float | None:
        if self._clean is None:
            return None
        return st.spearman(self._clean[:, score], self._clean[:, 0])


def _against_primary(views: Mapping[int, F64], score: int) -> dict[int, float | None]:
    return {seed: st.spearman(means[:, score], means[:, 0]) for seed, means in views.items()}


def _sign_flips(comparisons: Sequence[Comparison], score: str) -> tuple[str, ...]:
    return tuple(
        one.method for one in comparisons if one.effects[score].mean * one.effects[PRIMARY].mean < 0
    )
