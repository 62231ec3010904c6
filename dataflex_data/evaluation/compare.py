"""Paired comparisons under the contract: per group and baseline, with verdicts in fixed words.

Runs are paired by seed inside one group and nowhere else. Statistics are computed for all methods
with the same seeds at once. Domain and sensitivity differences are descriptive: their intervals are
not corrected and decide nothing.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from dataflex_data.evaluation import statistics as st
from dataflex_data.evaluation.aggregate import PRIMARY, ScoreSet
from dataflex_data.evaluation.contract import Contract
from dataflex_data.evaluation.flags import Group
from dataflex_data.evaluation.runs import Runs
from dataflex_data.evaluation.statistics import F64
from dataflex_data.evaluation.words import points

Interval = tuple[float, float]


@dataclass(frozen=True, slots=True)
class Effect:
    """A paired difference of one score.

    Attributes:
        mean: Mean difference over the pairs.
        interval: Two-sided t interval at the contract's alpha; ``None`` with fewer than two pairs.
    """

    mean: float
    interval: Interval | None


@dataclass(frozen=True, slots=True)
class Tests:
    """All that is computed about the primary difference of one comparison."""

    sd: float
    se: float
    effect_size: float | None
    intervals: Mapping[str, Interval | None]
    p: Mapping[str, float]
    sign_flip_exact: bool
    tost_p: Mapping[str, float]
    minimal_detectable_effect: float
    seeds_needed: Mapping[str, int]
    p_holm: Mapping[str, float] = field(default_factory=dict)
    p_benjamini_hochberg: Mapping[str, float] = field(default_factory=dict)

    def adjusted(self, test: str, correction: str) -> float:
        """Return the p of a test after a correction."""
        if correction == "none":
            return self.p[test]
        return (self.p_holm if correction == "holm" else self.p_benjamini_hochberg)[test]


@dataclass(frozen=True, slots=True)
class Comparison:
    """One method against its baseline in one group.

    Attributes:
        mechanism: The family it is declared under, ``"A/A"`` for two names of one configuration.
        seeds: The seeds that both have.
        differences: Primary difference per seed.
        effects: Every score's difference, ``primary`` first.
        seed_correlation: Pearson's r of method and baseline over seeds, ``None`` if undefined.
        tests: ``None`` with fewer than two pairs.
        verdict: ``better``, ``worse``, ``equivalent``, both, ``inconclusive``, ``too few pairs``.
        wording: The verdict as a sentence part, with what it lacks.
        verdict_all_declared: The verdict if the correction counted all methods that the contract
            declares against the baseline, those without a run in the group too.
        without_collapsed: The same comparison with pairs of flagged runs left out.
    """

    group: Group
    mechanism: str
    method: str
    baseline: str
    baseline_group: Group
    seeds: tuple[int, ...]
    method_mean: float
    baseline_mean: float
    differences: tuple[float, ...]
    effects: Mapping[str, Effect]
    seed_correlation: float | None
    tests: Tests | None
    verdict: str = ""
    wording: str = ""
    verdict_all_declared: str = ""
    without_collapsed: Comparison | None = None

    @property
    def n(self) -> int:
        """Number of pairs."""
        return len(self.seeds)

    @property
    def is_aa(self) -> bool:
        """Whether both sides are the same configuration."""
        return self.mechanism == AA

    @property
    def primary(self) -> Effect:
        """Difference of the primary score."""
        return self.effects[PRIMARY]


AA = "A/A"
Rows = Mapping[tuple[Group, str], Mapping[int, int]]


def rows_by_seed(runs: Runs) -> dict[tuple[Group, str], dict[int, int]]:
    """Return the row of each seed, by group and method."""
    found: dict[tuple[Group, str], dict[int, int]] = {}
    for row, key in enumerate(runs.keys):
        found.setdefault((key.group, key.method), {})[key.seed] = row
    return found


@dataclass(frozen=True, slots=True)
class _Pair:
    group: Group
    method: str
    baseline_group: Group
    baseline: str
    mechanism: str


def compare(
    contract: Contract, runs: Runs, scores: ScoreSet, scores_RK: F64, collapsed_R: Sequence[bool]
) -> list[Comparison]:
    """Return all comparisons, sorted by group, baseline and the contract's order of methods.

    Args:
        contract: The rules.
        runs: Checked runs.
        scores: What the columns of ``scores_RK`` mean.
        scores_RK: Scores of each run.
        collapsed_R: Whether a run has a collapsed benchmark.
    """
    rows = rows_by_seed(runs)
    found: list[Comparison] = []
    for group in sorted({key.group for key in runs.keys}):
        for baseline, methods in contract.baseline_families().items():
            pairs = [
                _Pair(group, method, group, baseline, contract.mechanism_of(method))
                for method in methods
                if (group, method) in rows and (group, baseline) in rows
            ]
            made = _compare_pairs(contract, rows, scores, scores_RK, pairs)
            left = _left_out(contract, rows, scores, scores_RK, pairs, collapsed_R)
            whole = _adjusted(contract, made, len(methods))
            # A method with too few pairs to be tested is present, and counts.
            declared = contract.inference.family == "declared" or len(made) == len(methods)
            adjusted = whole if declared else _adjusted(contract, made, len(made))
            found += [
                replace(_with_left_out(one, left), verdict_all_declared=other.verdict)
                for one, other in zip(adjusted, whole, strict=True)
            ]
    for pair in _aa_pairs(contract, rows):
        [one] = _compare_pairs(contract, rows, scores, scores_RK, [pair])
        found.append(replace(one, verdict="A/A", wording="two names of one configuration: noise"))
    return found


def _aa_pairs(contract: Contract, rows: Rows) -> list[_Pair]:
    pairs = []
    for same in contract.same_configuration:
        free = [contract.data.id_columns.index(name) for name in same.across]

        def fixed(group: Group, free: Sequence[int] = free) -> Group:
            return tuple(value for at, value in enumerate(group) if at not in free)

        pairs += [
            _Pair(group, same.method, other, same.reference, AA)
            for group, method in sorted(rows)
            if method == same.method
            for other, reference in sorted(rows)
            if reference == same.reference and fixed(group) == fixed(other)
        ]
    return pairs


def _left_out(
    contract: Contract,
    rows: Rows,
    scores: ScoreSet,
    scores_RK: F64,
    pairs: Sequence[_Pair],
    collapsed_R: Sequence[bool],
) -> dict[str, Comparison]:
    """Return the comparisons that lose pairs when collapsed runs are left out, by method."""

    def clean(key: tuple[Group, str]) -> dict[int, int]:
        return {seed: row for seed, row in rows[key].items() if not collapsed_R[row]}

    touched = [
        pair
        for pair in pairs
        if any(
            collapsed_R[row]
            for key in ((pair.group, pair.method), (pair.baseline_group, pair.baseline))
            for row in rows[key].values()
        )
    ]
    keys = {(pair.group, pair.method) for pair in touched}
    keys |= {(pair.baseline_group, pair.baseline) for pair in touched}
    kept = {key: clean(key) for key in keys}
    return {one.method: one for one in _compare_pairs(contract, kept, scores, scores_RK, touched)}


def _compare_pairs(
    contract: Contract, rows: Rows, scores: ScoreSet, scores_RK: F64, pairs: Sequence[_Pair]
) -> list[Comparison]:
    """Return the comparisons without corrections; those with equal seeds are computed together."""
    by_seeds: dict[tuple[int, ...], list[int]] = {}
    for at, pair in enumerate(pairs):
        method_rows = rows[pair.group, pair.method]
        baseline_rows = rows[pair.baseline_group, pair.baseline]
        common = tuple(sorted(method_rows.keys() & baseline_rows.keys()))
        by_seeds.setdefault(common, []).append(at)
    made: dict[int, Comparison] = {}
    for seeds, members in by_seeds.items():
        chosen = [pairs[at] for at in members]
        computed = _same_seeds(contract, rows, scores, scores_RK, chosen, seeds)
        made.update(zip(members, computed, strict=True))
    return [made[at] for at in range(len(pairs))]


def _same_seeds(
    contract: Contract,
    rows: Rows,
    scores: ScoreSet,
    scores_RK: F64,
    pairs: Sequence[_Pair],
    seeds: tuple[int, ...],
) -> list[Comparison]:
    n = len(seeds)
    method_Cn = [[rows[p.group, p.method][seed] for seed in seeds] for p in pairs]
    baseline_Cn = [[rows[p.baseline_group, p.baseline][seed] for seed in seeds] for p in pairs]
    shape = (len(pairs), n, len(scores.names))
    method_CnK = scores_RK[np.array(method_Cn, dtype=int).reshape(shape[:2])].reshape(shape)
    baseline_CnK = scores_RK[np.array(baseline_Cn, dtype=int).reshape(shape[:2])].reshape(shape)
    differences_CnK = method_CnK - baseline_CnK
    effects = _effects(contract, scores, differences_CnK)
    tests: Sequence[Tests | None] = [None] * len(pairs)
    if n >= 2:
        tests = _tests(contract, np.ascontiguousarray(differences_CnK[:, :, 0].T))
    return [
        Comparison(
            group=pair.group,
            mechanism=pair.mechanism,
            method=pair.method,
            baseline=pair.baseline,
            baseline_group=pair.baseline_group,
            seeds=seeds,
            method_mean=_mean_of_all(rows, scores_RK, (pair.group, pair.method)),
            baseline_mean=_mean_of_all(rows, scores_RK, (pair.baseline_group, pair.baseline)),
            differences=tuple(differences_CnK[at, :, 0].tolist()),
            effects=effects[at],
            seed_correlation=(
                st.correlation(method_CnK[at, :, 0], baseline_CnK[at, :, 0]) if n >= 2 else None
            ),
            tests=tests[at],
        )
        for at, pair in enumerate(pairs)
    ]


def _mean_of_all(rows: Rows, scores_RK: F64, key: tuple[Group, str]) -> float:
    chosen = list(rows[key].values())
    return float(scores_RK[chosen, 0].mean()) if chosen else float("nan")


def _effects(contract: Contract, scores: ScoreSet, differences_CnK: F64) -> list[dict[str, Effect]]:
    count, n, width = differences_CnK.shape
    if n == 0:
        return [{name: Effect(float("nan"), None) for name in scores.names}] * count
    if n == 1:
        return [
            {name: Effect(float(row[0, k]), None) for k, name in enumerate(scores.names)}
            for row in differences_CnK
        ]
    flat = differences_CnK.transpose(1, 0, 2).reshape(n, count * width)
    summary = st.summarise(flat)
    low, high = st.t_interval(summary, contract.inference.alpha)
    return [
        {
            name: Effect(
                float(summary.mean[c * width + k]),
                (float(low[c * width + k]), float(high[c * width + k])),
            )
            for k, name in enumerate(scores.names)
        }
        for c in range(count)
    ]


def margins(contract: Contract) -> dict[str, float]:
    """Return the margins that equivalence and seeds are reported for, by their text."""
    effect = contract.meaningful_effect
    return {f"{value:g}": value for value in (effect / 2, effect)}


def _tests(contract: Contract, differences_nC: F64) -> list[Tests]:
    rule = contract.inference
    summary = st.summarise(differences_nC)
    means = st.bootstrap_means(differences_nC, rule.bootstrap.resamples, rule.bootstrap.seed)
    intervals = {
        "t": st.t_interval(summary, rule.alpha),
        "bootstrap_percentile": st.percentile_interval(means, rule.alpha),
        "bootstrap_bca": st.bca_interval(differences_nC, means, rule.alpha),
    }
    flip, exact = st.sign_flip_test(differences_nC, rule.bootstrap.seed)
    p = {"t": st.t_test(summary), "sign_flip": flip}
    tost = {text: st.tost(summary, margin) for text, margin in margins(contract).items()}
    with np.errstate(divide="ignore"):
        needed = {
            text: st.seeds_needed(margin / summary.sd, rule.alpha, contract.power)
            for text, margin in margins(contract).items()
        }
    detectable = st.detectable_effect(summary.n, rule.alpha, contract.power) * summary.sd
    effect_size = st.effect_size(summary)
    return [
        Tests(
            sd=float(summary.sd[c]),
            se=float(summary.se[c]),
            effect_size=None if np.isnan(effect_size[c]) else float(effect_size[c]),
            intervals={
                name: (float(low[c]), float(high[c])) if np.isfinite(low[c] + high[c]) else None
                for name, (low, high) in intervals.items()
            },
            p={name: float(values[c]) for name, values in p.items()},
            sign_flip_exact=exact,
            tost_p={text: float(values[c]) for text, values in tost.items()},
            minimal_detectable_effect=float(detectable[c]),
            seeds_needed={text: int(values[c]) for text, values in needed.items()},
        )
        for c in range(differences_nC.shape[1])
    ]


def _adjusted(
    contract: Contract, comparisons: Sequence[Comparison], count: int
) -> list[Comparison]:
    """Return the comparisons of one baseline and group with p corrected for ``count`` tests."""
    tested = [(at, one.tests) for at, one in enumerate(comparisons) if one.tests is not None]
    corrected: dict[str, dict[str, F64]] = {"holm": {}, "benjamini_hochberg": {}}
    for test in ("t", "sign_flip"):
        p = np.array([tests.p[test] for _, tests in tested])
        for correction, by_test in corrected.items():
            by_test[test] = st.adjust(p, correction, count)
    result = list(comparisons)
    for position, (at, tests) in enumerate(tested):
        result[at] = replace(
            comparisons[at],
            tests=replace(
                tests,
                p_holm={t: float(p[position]) for t, p in corrected["holm"].items()},
                p_benjamini_hochberg={
                    t: float(p[position]) for t, p in corrected["benjamini_hochberg"].items()
                },
            ),
        )
    return [_with_verdict(contract, one) for one in result]


def _with_verdict(contract: Contract, one: Comparison) -> Comparison:
    verdict = verdict_of(contract, one)
    return replace(one, verdict=verdict, wording=_wording(contract, one, verdict))


def verdict_of(contract: Contract, one: Comparison) -> str:
    """Return the verdict of a comparison with corrected p, in the contract's words."""
    rule, tests = contract.inference, one.tests
    if tests is None or one.n < contract.seeds.minimum_pairs:
        return "too few pairs"
    interval = tests.intervals[rule.interval]
    excludes_zero = interval is not None and (interval[0] > 0 or interval[1] < 0)
    parts = []
    if tests.adjusted(rule.test, rule.correction) < rule.alpha and excludes_zero:
        side = "better" if one.primary.mean > 0 else "worse"
        small = abs(one.primary.mean) < contract.meaningful_effect
        parts.append(f"{side}, below the meaningful effect" if small else side)
    if tests.tost_p[f"{contract.meaningful_effect:g}"] < rule.alpha:
        parts.append("equivalent")
    return " and ".join(parts) or "inconclusive"


def _wording(contract: Contract, one: Comparison, verdict: str) -> str:
    margin = f"{contract.meaningful_effect:g}"
    if verdict == "too few pairs":
        return f"too few pairs ({one.n} of at least {contract.seeds.minimum_pairs})"
    if verdict != "inconclusive" or one.tests is None:
        return verdict.replace("equivalent", f"equivalent within ±{margin}")
    needed = one.tests.seeds_needed[margin]
    shown = f"{needed:,}" if needed < st.MOST_SEEDS else f"over {st.MOST_SEEDS:,}"
    return (
        f"inconclusive (detectable with {contract.power:.0%} power: "
        f"{points(contract, one.tests.minimal_detectable_effect)}; seeds needed for {margin}: "
        f"{shown})"
    )


def _with_left_out(one: Comparison, left: Mapping[str, Comparison]) -> Comparison:
    other = left.get(one.method)
    if other is None:
        return one
    # A verdict of its own would be a second look at the data; the estimate is shown, no more.
    return replace(one, without_collapsed=replace(other, wording=f"{other.n} pairs left"))
