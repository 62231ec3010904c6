"""Scores, verdicts, families, A/A rows, collapses, process metrics: hand-worked."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from dataflex_data.core.errors import ConfigError, InputDataError
from dataflex_data.core.ledger import LEDGER_KIND, LEDGER_VERSION
from dataflex_data.evaluation.aggregate import score_set
from dataflex_data.evaluation.compare import Comparison, Effect, verdict_of
from dataflex_data.evaluation.contract import parse_contract
from dataflex_data.evaluation.evaluate import Evaluation, evaluate_table
from dataflex_data.evaluation.figures import pareto_front
from dataflex_data.evaluation.ledgers import LEDGER_COLUMN, with_ledgers
from dataflex_data.evaluation.report import headline
from dataflex_data.evaluation.tables import read_table
from tests.evaluation_factory import contract_with, made_runs, write_runs


def _evaluate(path: Path, rows: list[dict[str, Any]], **changes: Any) -> Evaluation:
    contract = parse_contract(contract_with(**changes), "contract.yaml")
    return evaluate_table(read_table(write_runs(path, rows), contract), contract)


def _one(evaluation: Evaluation, method: str, model: str = "small") -> Comparison:
    [found] = [c for c in evaluation.of_group((model, "300")) if c.method == method]
    return found


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / "runs.csv"


def test_scores_by_hand() -> None:
    """Alg 10, geo 20, log 40, sci 80; items 100, 50, 200, 50.

    primary with weights 2, 1, 1: (2 * 15 + 40 + 80) / 4 = 37.5; macro 150 / 4 = 37.5;
    items (1000 + 1000 + 8000 + 4000) / 400 = 35; custom weights alg 3, sci 1: 110 / 4 = 27.5.
    """
    contract = parse_contract(
        contract_with(
            scores__primary={
                "kind": "domain_balanced",
                "weights": {"math": 2, "logic": 1, "science": 1},
            },
            scores__sensitivity=[
                "benchmark_macro",
                "item_weighted",
                {"name": "own", "weights": {"alg": 3, "sci": 1}},
            ],
        ),
        "x",
    )
    scores = score_set(contract)
    assert scores.names == (
        *("primary", "math", "logic", "science"),
        *("benchmark_macro", "item_weighted", "own"),
    )
    np.testing.assert_allclose(
        scores.score(np.array([[10.0, 20.0, 40.0, 80.0]]))[0],
        [37.5, 15, 40, 80, 37.5, 35, 27.5],
    )


def test_a_large_effect_is_better_and_noise_is_not(file: Path) -> None:
    found = _evaluate(file, made_runs())
    assert _one(found, "keep_few").verdict == "better"
    assert _one(found, "keep_some").verdict in {"inconclusive", "equivalent"}
    assert "better" not in _one(found, "adaptive").verdict


def _verdict(mean: float, sd: float, n: int, **changes: Any) -> str:
    """Return the verdict on n differences with that mean and (for even n) that sd."""
    rows = []
    spread = sd * np.sqrt((n - 1) / n)
    for seed in range(1, n + 1):
        for method, score in (
            ("baseline", 50.0),
            ("keep_some", 50.0 + mean + spread * (-1) ** seed),
        ):
            rows.append({"model": "m", "steps": 1, "method": method, "seed": seed})
            rows[-1] |= dict.fromkeys(("alg", "geo", "log", "sci"), score)
    contract = parse_contract(contract_with(seeds__list=list(range(1, n + 1)), **changes), "x")
    import tempfile

    with tempfile.TemporaryDirectory() as folder:
        path = write_runs(Path(folder) / "runs.csv", rows)
        found = evaluate_table(read_table(path, contract), contract)
    [one] = found.comparisons
    return one.verdict


@pytest.mark.parametrize(
    ("mean", "sd", "verdict"),
    [
        (5.0, 1.0, "better"),
        (-5.0, 1.0, "worse"),
        # t = .9 / (.5 / sqrt 8) = 5.09, p = .001; TOST: (1 - .9) / .177 = .57, p = .3
        (0.9, 0.5, "better, below the meaningful effect"),
        # t = .5 / .0354 = 14; TOST: .5 / .0354 = 14: both hold
        (0.5, 0.1, "better, below the meaningful effect and equivalent"),
        (0.0, 0.1, "equivalent"),
        (0.3, 3.0, "inconclusive"),
    ],
)
def test_verdicts(mean: float, sd: float, verdict: str) -> None:
    assert _verdict(mean, sd, 8) == verdict


def test_the_interval_and_the_test_must_agree(file: Path) -> None:
    """With a sign-flip test in force, 5 pairs cannot reach .05 (least p 2 / 32 = .0625)."""
    found = _evaluate(file, made_runs())
    one = _one(found, "keep_few")
    assert one.tests is not None
    assert one.tests.p["sign_flip"] == 0.0625
    contract = found.contract
    strict = contract.model_copy(
        update={"inference": contract.inference.model_copy(update={"test": "sign_flip"})}
    )
    assert verdict_of(strict, one) == "inconclusive"
    touching = replace(one.tests, intervals={**one.tests.intervals, "t": (-0.1, 12.0)})
    assert "better" not in verdict_of(contract, replace(one, tests=touching))
    far = replace(one, effects={"primary": Effect(6.0, None)})
    assert verdict_of(contract, far) == "better"


def test_families_count_methods_present_or_declared(file: Path) -> None:
    rows = [row for row in made_runs() if row["method"] != "keep_some"]
    present = _one(_evaluate(file, rows), "keep_few").tests
    declared = _one(_evaluate(file, rows, inference={"family": "declared"}), "keep_few").tests
    assert present is not None
    assert declared is not None
    assert present.p_holm["t"] == pytest.approx(present.p["t"])
    assert declared.p_holm["t"] == pytest.approx(2 * present.p["t"])


def test_aa_rows_stand_beside_and_are_in_no_family(file: Path) -> None:
    found = _evaluate(file, made_runs())
    [small, large] = [one for one in found.comparisons if one.is_aa]
    assert (small.group[0], large.group[0]) == ("large", "small")
    assert small.verdict == "A/A"
    assert small.tests is not None
    assert small.tests.p_holm == {}
    assert headline(found).startswith("6 comparisons:")


def test_collapses_are_kept_and_shown_without(file: Path) -> None:
    rows = made_runs()
    [row] = [r for r in rows if (r["model"], r["method"], r["seed"]) == ("small", "adaptive", 2)]
    row["sci"] = 20.0
    found = _evaluate(file, rows)
    [flag] = [flag for flag in found.flags if flag.kind == "collapsed"]
    assert (flag.method, flag.seed, flag.benchmark) == ("adaptive", 2, "sci")
    one = _one(found, "adaptive")
    assert one.n == 5
    assert one.without_collapsed is not None
    assert one.without_collapsed.seeds == (1, 3, 4, 5)
    rest = [d for s, d in zip(one.seeds, one.differences, strict=True) if s != 2]
    assert one.without_collapsed.primary.mean == pytest.approx(np.mean(rest))
    assert _one(found, "keep_few").without_collapsed is None
    rho = [a for a in found.agreements if a.score == "only_math"]
    assert [a.spearman_without_collapsed is None for a in rho] == [True, False]


def test_equal_runs_are_flagged(file: Path) -> None:
    rows = made_runs()
    base = {(r["model"], r["seed"]): r for r in rows if r["method"] == "baseline"}
    for row in rows:
        if row["method"] == "keep_some":
            row |= {**base[row["model"], row["seed"]], "method": "keep_some"}
    found = _evaluate(file, rows)
    assert {f.method for f in found.flags if f.kind == "no_variation"} == {"keep_some"}
    assert _one(found, "keep_some").verdict == "equivalent"


def test_inconclusive_is_never_told_as_no_difference(file: Path) -> None:
    text = headline(_evaluate(file, made_runs(seed=5), meaningful_effect=0.1))
    assert "inconclusive" in text
    assert "Inconclusive does not mean without effect" in text
    assert "no difference" not in text.lower()


def test_process_metrics_come_from_columns(file: Path) -> None:
    rows = made_runs(models=["small"])
    for row in rows:
        row["update_tokens"] = {"baseline": 1000, "keep_some": 500}.get(row["method"], "")
        row["domain_share.math"] = 0.5
    found = _evaluate(file, rows)
    by_key = {(row.method, row.metric): row for row in found.process}
    assert by_key["keep_some", "update_tokens"].ratio == 0.5
    assert by_key["baseline", "update_tokens"].ratio is None
    assert ("adaptive", "update_tokens") not in by_key
    assert by_key["adaptive", "domain_share.math"].runs == 5


def _write_ledger(path: Path, steps: list[dict[str, Any]]) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    lines = [{"kind": LEDGER_KIND, "version": LEDGER_VERSION, "run": {}}]
    lines += [{"step": at, **values} for at, values in enumerate(steps)]
    path.write_text("".join(json.dumps(line) + "\n" for line in lines))


def test_process_metrics_come_from_ledgers(tmp_path: Path) -> None:
    """Tokens are summed, fractions averaged, quotas become shares of all prompts drawn."""
    contract = parse_contract(contract_with(), "x")
    rows = made_runs(models=["small"])
    table = read_table(write_runs(tmp_path / "runs.csv", rows), contract)
    _write_ledger(
        tmp_path / "logs/keep_few/seed2/ledger.jsonl",
        [
            {"updated_tokens": 10, "kept_fraction": 0.5, "quota": {"math": 3, "logic": 1}},
            {"updated_tokens": 30, "kept_fraction": 0.7, "quota": {"math": 1, "logic": 3}},
            {"updated_tokens": None, "kept_fraction": None, "quota": {"math": 2, "logic": 0}},
        ],
    )
    joined = with_ledgers(table, contract, f"{tmp_path}/logs/{{method}}/seed{{seed}}/*.jsonl")
    found = evaluate_table(joined, contract)
    told = {row.metric: (row.method, row.runs, row.mean) for row in found.process}
    assert told == {
        "update_tokens": ("keep_few", 1, 40.0),
        "kept_fraction": ("keep_few", 1, pytest.approx(0.6)),
        "domain_share.math": ("keep_few", 1, 0.6),
        "domain_share.logic": ("keep_few", 1, 0.4),
    }
    with pytest.raises(InputDataError, match="fits 5 runs"):
        with_ledgers(table, contract, f"{tmp_path}/logs/{{method}}/*/*.jsonl")
    with pytest.raises(ConfigError, match="'colour' is not one of the columns"):
        with_ledgers(table, contract, f"{tmp_path}/logs/{{colour}}/seed{{seed}}/*.jsonl")
    with pytest.raises(ConfigError, match="names no column in braces"):
        with_ledgers(table, contract, f"{tmp_path}/logs/ledger.jsonl")


def test_ledger_columns_are_the_ones_that_the_policies_declare() -> None:
    import dataflex_data.policies.record  # noqa: F401 - declares its columns
    from dataflex_data.core.ledger import columns

    declared = {column.name for column in columns()}
    assert set(LEDGER_COLUMN.values()) <= declared
    assert {"kept_fraction", "weight_entropy"} <= declared


def test_pareto_front() -> None:
    points = {"a": (1.0, 5.0), "b": (2.0, 4.0), "c": (3.0, 6.0), "d": (3.0, 7.0), "e": (1.0, 4.0)}
    assert pareto_front(points) == ["a", "d"]
