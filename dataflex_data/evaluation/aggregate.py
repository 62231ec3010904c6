"""From benchmarks to scores: each aggregate is one vector of weights over the benchmarks.

A score of a run is the weighted mean of its own benchmarks; methods are averaged afterwards, over
seeds. Order matters to nobody, because both are linear and no cell may be missing.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from dataflex_data.evaluation.contract import Contract, CustomScore
from dataflex_data.evaluation.statistics import F64

PRIMARY = "primary"


@dataclass(frozen=True, slots=True)
class ScoreSet:
    """The scores of a contract.

    Attributes:
        names: ``primary`` first, then the domains, then the sensitivity scores.
        domains: The names that are domains.
        sensitivity: The names that are sensitivity scores.
        weights_BK: Weight of each benchmark in each score; columns sum to 1.
    """

    names: tuple[str, ...]
    domains: tuple[str, ...]
    sensitivity: tuple[str, ...]
    weights_BK: F64  # noqa: N815 - shape suffix

    def score(self, values_RB: F64) -> F64:
        """Return ``scores_RK`` of runs."""
        return np.asarray(values_RB @ self.weights_BK)


def score_set(contract: Contract) -> ScoreSet:
    """Return the scores that the contract declares."""
    scores = contract.scores
    domains = tuple(scores.domains)
    sensitivity = {s if isinstance(s, str) else s.name: s for s in scores.sensitivity}
    columns = [
        _weights(contract, scores.primary.kind),
        *(_mean_of(contract, dict.fromkeys(scores.domains[name], 1.0)) for name in domains),
        *(_weights(contract, score) for score in sensitivity.values()),
    ]
    names = (PRIMARY, *domains, *sensitivity)
    return ScoreSet(names, domains, tuple(sensitivity), np.stack(columns, axis=1))


def _weights(contract: Contract, score: str | CustomScore) -> F64:
    scores = contract.scores
    if isinstance(score, CustomScore):
        names = score.weights or dict.fromkeys(score.benchmarks or (), 1.0)
        return _mean_of(contract, names)
    if score == "benchmark_macro":
        return _mean_of(contract, dict.fromkeys(scores.benchmarks, 1.0))
    if score == "item_weighted":
        return _mean_of(
            contract, {name: float((scores.items or {})[name]) for name in scores.benchmarks}
        )
    weights = scores.primary.weights or dict.fromkeys(scores.domains, 1.0)
    return _mean_of(
        contract,
        {
            name: weights[domain] / len(members)
            for domain, members in scores.domains.items()
            for name in members
        },
    )


def _mean_of(contract: Contract, weight_of: dict[str, float]) -> F64:
    raw = np.array([weight_of.get(name, 0.0) for name in contract.scores.benchmarks])
    return np.asarray(raw / raw.sum())
