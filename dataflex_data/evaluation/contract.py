"""The contract: every choice that could decide a verdict, written down and locked before training.

The schema is closed, so that a mistyped rule is an error and never a default. What the schema
cannot see (a benchmark in two domains, a test that cannot reach significance) is checked by
`contract_faults`; a rule that can never fire is refused, for it would turn every result into a
null result. `dataflex_data.evaluation.lock` seals a contract.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import Field

from dataflex_data.core.config import Config, load_yaml, parse_config
from dataflex_data.core.errors import ConfigError, did_you_mean
from dataflex_data.evaluation.statistics import smallest_adjusted_p

BuiltIn = Literal["domain_balanced", "benchmark_macro", "item_weighted"]
Name = Annotated[str, Field(min_length=1)]
Positive = Annotated[float, Field(gt=0)]


class DataColumns(Config):
    """Which columns of the runs table identify a run, and how files of other shapes map to them."""

    id_columns: tuple[Name, ...]
    method: Name = "method"
    seed: Name = "seed"
    run: Name | None = None
    lm_eval: dict[Name, Name] | None = None
    lm_eval_scale: Literal["fraction", "percent"] = "fraction"


class Primary(Config):
    """The score that verdicts are about."""

    kind: BuiltIn
    weights: dict[Name, Annotated[float, Field(ge=0)]] | None = None


class CustomScore(Config):
    """A user's own aggregate: a plain mean over ``benchmarks``, or a weighted one."""

    name: Name
    benchmarks: tuple[Name, ...] | None = None
    weights: dict[Name, Positive] | None = None


class Scores(Config):
    """Domains with their benchmarks, and the aggregates computed from them."""

    domains: dict[Name, Annotated[tuple[Name, ...], Field(min_length=1)]] = Field(min_length=1)
    items: dict[Name, Annotated[int, Field(ge=1)]] | None = None
    primary: Primary
    sensitivity: tuple[BuiltIn | CustomScore, ...] = ()
    may_be_tiny: tuple[Name, ...] = ()

    @property
    def benchmarks(self) -> tuple[str, ...]:
        """All benchmarks in the order of the contract."""
        return tuple(name for group in self.domains.values() for name in group)


class Family(Config):
    """Methods of one mechanism with the configuration they are compared to."""

    baseline: Name
    methods: Annotated[tuple[Name, ...], Field(min_length=1)]


class Seeds(Config):
    """Which seeds every configuration must have."""

    list: Annotated[tuple[int, ...], Field(min_length=2)]
    minimum_pairs: Annotated[int, Field(ge=2)]
    missing: Literal["refuse", "drop_pair"] = "refuse"


class Bootstrap(Config):
    """Resampling of seeds."""

    resamples: Annotated[int, Field(ge=99, le=1_000_000)] = 9999
    seed: int = 0


class Inference(Config):
    """The test and interval that decide, and those reported beside them."""

    alpha: Annotated[float, Field(gt=0, lt=0.5)] = 0.05
    interval: Literal["t", "bootstrap_percentile", "bootstrap_bca"] = "t"
    test: Literal["t", "sign_flip"] = "t"
    also: tuple[Literal["t", "sign_flip", "bootstrap_percentile", "bootstrap_bca"], ...] = ()
    correction: Literal["holm", "benjamini_hochberg", "none"] = "holm"
    family: Literal["per_baseline", "declared"] = "per_baseline"
    bootstrap: Bootstrap = Bootstrap()


class SameConfiguration(Config):
    """Two names of one configuration: their gap is an A/A comparison, the size of pure noise."""

    method: Name
    reference: Name
    across: tuple[Name, ...] = ()


class Collapse(Config):
    """When a run's benchmark counts as collapsed: far below the group's median in both ways."""

    points: Positive = 15.0
    share_of_median: Annotated[float, Field(gt=0, lt=1)] = 0.667


class Contract(Config):
    """A whole contract; docs/evaluation.md explains each key."""

    contract: Literal[1]
    name: Name
    data: DataColumns
    scores: Scores
    scale: Literal["percent", "fraction"]
    methods: dict[Name, Family] = Field(min_length=1)
    seeds: Seeds
    inference: Inference = Inference()
    meaningful_effect: Positive
    power: Annotated[float, Field(gt=0.5, lt=1)] = 0.8
    missing_cells: Literal["refuse", "drop_run"] = "refuse"
    same_configuration: tuple[SameConfiguration, ...] = ()
    collapse: Collapse = Collapse()
    process_metrics: tuple[Name, ...] = ()

    @property
    def full_score(self) -> float:
        """The highest value of the declared scale."""
        return 100.0 if self.scale == "percent" else 1.0

    @property
    def points(self) -> float:
        """One point (a hundredth of the scale) in the declared scale."""
        return self.full_score / 100

    @property
    def all_methods(self) -> tuple[str, ...]:
        """Every method and baseline, each once, in the order of the contract."""
        names = [
            name for family in self.methods.values() for name in (family.baseline, *family.methods)
        ]
        return tuple(dict.fromkeys(names))

    def baseline_families(self) -> dict[str, tuple[str, ...]]:
        """Return the declared methods of each baseline, those of all mechanisms that share it."""
        pooled: dict[str, list[str]] = {}
        for family in self.methods.values():
            pooled.setdefault(family.baseline, []).extend(family.methods)
        return {baseline: tuple(methods) for baseline, methods in pooled.items()}

    def mechanism_of(self, method: str) -> str:
        """Return the mechanism a method is declared under; baselines have none (``""``)."""
        for name, family in self.methods.items():
            if method in family.methods:
                return name
        return ""


def load_contract(path: Path) -> tuple[Contract, dict[str, Any]]:
    """Return a checked contract and its raw mapping (what the lock seals).

    Raises:
        InputDataError: The file is missing or is not YAML.
        ConfigError: Lists every fault, including rules that can never fire.
    """
    raw = load_yaml(path)
    return parse_contract(raw, str(path)), raw


def parse_contract(raw: Mapping[str, Any], where: str) -> Contract:
    """Return ``raw`` as a checked contract.

    Raises:
        ConfigError: Lists every fault, including rules that can never fire.
    """
    contract = parse_config(Contract, raw, where)
    faults = list(contract_faults(contract))
    if faults:
        raise ConfigError(where, faults)
    return contract


def contract_faults(contract: Contract) -> Iterator[str]:
    """Yield what the schema cannot see, one sentence each."""
    yield from _score_faults(contract)
    yield from _method_faults(contract)
    yield from _column_faults(contract)
    yield from _rule_faults(contract)


def _twice(names: Iterable[str | int]) -> list[str]:
    return [str(name) for name, count in Counter(names).items() if count > 1]


def _unknown(key: str, names: Iterable[str], known: Iterable[str], kind: str) -> Iterator[str]:
    known = list(known)
    for name in names:
        if name not in known:
            yield (
                f"key `{key}`: {kind} {name!r} is not known{did_you_mean(name, known)} "
                f"(known: {', '.join(known)})"
            )


def _score_faults(contract: Contract) -> Iterator[str]:
    scores, benchmarks = contract.scores, contract.scores.benchmarks
    for name in _twice(benchmarks):
        yield f"key `scores.domains`: benchmark {name!r} is listed twice; give it one domain"
    yield from _unknown("scores.items", scores.items or {}, benchmarks, "benchmark")
    yield from _unknown("scores.may_be_tiny", scores.may_be_tiny, benchmarks, "benchmark")
    kinds = [scores.primary.kind, *(s for s in scores.sensitivity if isinstance(s, str))]
    missing = [name for name in benchmarks if name not in (scores.items or {})]
    if "item_weighted" in kinds and missing:
        yield (
            "key `scores.items`: item_weighted needs the number of items of every benchmark; "
            f"missing: {', '.join(missing)}"
        )
    weights = scores.primary.weights
    if weights is not None and scores.primary.kind != "domain_balanced":
        yield f"key `scores.primary.weights`: has no effect on {scores.primary.kind}; remove it"
    if weights is not None:
        yield from _unknown("scores.primary.weights", weights, scores.domains, "domain")
        absent = [name for name in scores.domains if name not in weights]
        if absent:
            yield (
                f"key `scores.primary.weights`: no weight for {', '.join(absent)}; write 0 to "
                "leave a domain out on purpose"
            )
        if not any(weights.values()):
            yield "key `scores.primary.weights`: all are 0; at least one domain must count"
    names = [s if isinstance(s, str) else s.name for s in scores.sensitivity]
    for name in _twice([*names, *scores.domains, "primary", scores.primary.kind]):
        yield f"key `scores.sensitivity`: the name {name!r} is taken; each score needs its own"
    for score in scores.sensitivity:
        if isinstance(score, CustomScore):
            yield from _custom_faults(score, benchmarks)


def _custom_faults(score: CustomScore, benchmarks: tuple[str, ...]) -> Iterator[str]:
    key = f"scores.sensitivity.{score.name}"
    if (score.benchmarks is None) == (score.weights is None):
        yield f"key `{key}`: give either benchmarks (a plain mean) or weights, not both or neither"
        return
    names = score.benchmarks if score.benchmarks is not None else tuple(score.weights or {})
    if not names:
        yield f"key `{key}`: names no benchmark"
    for name in _twice(names):
        yield f"key `{key}`: benchmark {name!r} is listed twice"
    yield from _unknown(key, names, benchmarks, "benchmark")


def _method_faults(contract: Contract) -> Iterator[str]:
    declared = [method for family in contract.methods.values() for method in family.methods]
    for name in _twice(declared):
        yield f"key `methods`: {name!r} is declared twice; a method is compared in one family only"
    baselines = {family.baseline for family in contract.methods.values()}
    for name in declared:
        if name in baselines:
            yield f"key `methods`: {name!r} is a baseline and cannot be a method as well"
    for pair in contract.same_configuration:
        yield from _unknown(
            "same_configuration", (pair.method, pair.reference), contract.all_methods, "method"
        )
        yield from _unknown(
            "same_configuration.across", pair.across, contract.data.id_columns, "id column"
        )
        if pair.method == pair.reference:
            yield "key `same_configuration`: method and reference must be two names"


def _column_faults(contract: Contract) -> Iterator[str]:
    data = contract.data
    columns = [*data.id_columns, data.method, data.seed, *contract.scores.benchmarks]
    for name in _twice([*columns, *([data.run] if data.run else []), *contract.process_metrics]):
        yield f"column {name!r} has two roles in the contract; each column has one"
    for name in _twice(contract.seeds.list):
        yield f"key `seeds.list`: seed {name} is listed twice"
    if data.lm_eval is not None:
        yield from _unknown("data.lm_eval", data.lm_eval, contract.scores.benchmarks, "benchmark")
        for name in contract.scores.benchmarks:
            if name not in data.lm_eval:
                yield f"key `data.lm_eval`: no task is named for benchmark {name!r}"
        for name, task in data.lm_eval.items():
            if "/" not in task:
                yield f"key `data.lm_eval.{name}`: must have the form TASK/METRIC, got {task!r}"


def _rule_faults(contract: Contract) -> Iterator[str]:
    """Yield the rules by which no result could ever be called better, worse or equivalent."""
    inference, seeds = contract.inference, contract.seeds
    if seeds.minimum_pairs > len(seeds.list):
        yield (
            f"key `seeds.minimum_pairs`: {seeds.minimum_pairs} pairs can never be reached with "
            f"{len(seeds.list)} seeds; every verdict would be `too few pairs`"
        )
    if contract.meaningful_effect >= contract.full_score:
        yield (
            f"key `meaningful_effect`: {contract.meaningful_effect:g} is not below the whole scale "
            f"({contract.scale}, 0 to {contract.full_score:g}); no effect could ever reach it"
        )
    if inference.bootstrap.resamples * inference.alpha / 2 < 1:
        yield (
            f"key `inference.bootstrap.resamples`: {inference.bootstrap.resamples} resamples have "
            f"no tail of {inference.alpha / 2:g}"
        )
    if inference.test == "sign_flip":
        for baseline, methods in contract.baseline_families().items():
            yield from _sign_flip_faults(contract, baseline, len(methods))


def _sign_flip_faults(contract: Contract, baseline: str, methods: int) -> Iterator[str]:
    alpha, correction = contract.inference.alpha, contract.inference.correction
    pairs = contract.seeds.minimum_pairs
    smallest = smallest_adjusted_p(pairs, methods, correction)
    if smallest < alpha:
        return
    needed = pairs
    while smallest_adjusted_p(needed, methods, correction) >= alpha:
        needed += 1
    yield (
        f"key `inference.test`: sign_flip with correction {correction} over the {methods} methods "
        f"against {baseline!r} can never fire with seeds.minimum_pairs {pairs}: its smallest "
        f"adjusted p is {smallest:.4g}, not below alpha {alpha:g}; set minimum_pairs (and seeds) "
        f"to at least {needed}, or test: t"
    )


def contract_warnings(contract: Contract) -> list[str]:
    """Return what is allowed and yet weakens a conclusion, one sentence each."""
    warnings: list[str] = []
    pairs = contract.seeds.minimum_pairs
    if contract.inference.interval.startswith("bootstrap") and pairs < 10:
        warnings.append(
            f"inference.interval {contract.inference.interval} with as few as {pairs} pairs is too "
            "narrow (at 3 seeds the percentile interval is [min, max] and covers about 75 %); "
            "interval: t keeps its level"
        )
    if pairs < 5:
        warnings.append(
            f"seeds.minimum_pairs {pairs} lets verdicts rest on very few seeds; `dfdata contract "
            "check` shows what so few can detect"
        )
    if contract.inference.correction == "none" and len(contract.all_methods) > 2:
        warnings.append(
            "inference.correction none: with several methods a false `better` becomes likely"
        )
    return warnings


def template() -> str:
    """Return the commented contract that `dfdata contract init` writes."""
    return Path(__file__).with_name("contract_template.yaml").read_text(encoding="utf-8")
