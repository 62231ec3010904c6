"""The numbers of an evaluation as files: ``results.json`` and the csv tables, in full precision.

Nothing is rounded here and nothing is told in words beyond verdicts and flags; equal data under
equal contracts give equal bytes.
"""

from __future__ import annotations

import csv
import math
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from dataflex_data.core.parquet import write_json
from dataflex_data.evaluation.compare import Comparison, margins
from dataflex_data.evaluation.evaluate import TOOL, Evaluation, summary


def write_numbers(evaluation: Evaluation, folder: Path) -> None:
    """Write ``results.json`` and all csv tables."""
    write_json(results(evaluation), folder / "results.json")
    _write_tables(evaluation, folder)


def results(evaluation: Evaluation) -> dict[str, Any]:
    """Return all numbers as plain JSON, in full precision; equal data give equal JSON."""
    contract = evaluation.contract
    record: dict[str, Any] = _plain(
        {
            "schema": 1,
            "tool": TOOL,
            "status": evaluation.status,
            "contract": {
                "name": contract.name,
                "sha256": evaluation.contract_sha256,
                # Without their times, which tell of the computer's clock and not of the data.
                "earlier_seals": [
                    {"sha256": seal.sha256, "changed": list(seal.changed)}
                    for seal in evaluation.earlier
                ],
            },
            "data_sha256": evaluation.runs.sha256,
            "scale": contract.scale,
            "meaningful_effect": contract.meaningful_effect,
            "margins": list(margins(contract)),
            "id_columns": list(contract.data.id_columns),
            "scores": list(evaluation.scores.names),
            "summary": summary(evaluation),
            "runs": [
                {
                    "group": list(key.group),
                    "method": key.method,
                    "seed": key.seed,
                    "scores": dict(zip(evaluation.scores.names, row, strict=True)),
                }
                for key, row in zip(
                    evaluation.runs.keys, evaluation.scores_RK.tolist(), strict=True
                )
            ],
            "comparisons": [_comparison(one) for one in evaluation.comparisons if not one.is_aa],
            "a_a": [_comparison(one) for one in evaluation.comparisons if one.is_aa],
            "sensitivity": [
                {
                    "group": list(one.group),
                    "score": one.score,
                    "means": one.means,
                    "ranks": one.ranks,
                    "spread": one.spread,
                    "spearman": one.spearman,
                    "kendall": one.kendall,
                    "spearman_by_seed": one.spearman_by_seed,
                    "spearman_without_seed": one.spearman_without_seed,
                    "spearman_without_collapsed": one.spearman_without_collapsed,
                    "sign_flips": list(one.sign_flips),
                }
                for one in evaluation.agreements
            ],
            "process": [
                {
                    "group": list(one.group),
                    "method": one.method,
                    "metric": one.metric,
                    "runs": one.runs,
                    "mean": one.mean,
                    "baseline_mean": one.baseline_mean,
                    "ratio": one.ratio,
                }
                for one in evaluation.process
            ],
            "flags": [
                {
                    "kind": one.kind,
                    "group": list(one.group),
                    "method": one.method,
                    "seed": one.seed,
                    "benchmark": one.benchmark,
                    "detail": one.detail,
                }
                for one in evaluation.flags
            ],
        }
    )
    return record


def _comparison(one: Comparison) -> dict[str, Any]:
    tests = one.tests
    record: dict[str, Any] = {
        "group": list(one.group),
        "mechanism": one.mechanism,
        "method": one.method,
        "baseline": one.baseline,
        "baseline_group": list(one.baseline_group),
        "n": one.n,
        "seeds": list(one.seeds),
        "method_mean": one.method_mean,
        "baseline_mean": one.baseline_mean,
        "differences": list(one.differences),
        "effects": {
            name: {"mean": effect.mean, "t_interval": effect.interval}
            for name, effect in one.effects.items()
        },
        "seed_correlation": one.seed_correlation,
        "verdict": one.verdict,
        "wording": one.wording,
        "verdict_all_declared": one.verdict_all_declared,
        "tests": None,
    }
    if tests is not None:
        record["tests"] = {
            "sd": tests.sd,
            "se": tests.se,
            "d_z": tests.effect_size,
            "intervals": dict(tests.intervals),
            "p": dict(tests.p),
            "p_holm": dict(tests.p_holm),
            "p_benjamini_hochberg": dict(tests.p_benjamini_hochberg),
            "sign_flip_exact": tests.sign_flip_exact,
            "tost_p": dict(tests.tost_p),
            "minimal_detectable_effect": tests.minimal_detectable_effect,
            "seeds_needed": dict(tests.seeds_needed),
        }
    if one.without_collapsed is not None:
        record["without_collapsed"] = _comparison(one.without_collapsed)
    return record


def _plain(value: Any) -> Any:  # noqa: ANN401 - any plain JSON value
    """Return ``value`` with text keys, lists for tuples, and ``None`` for what is not finite."""
    if isinstance(value, Mapping):
        return {str(key): _plain(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(item) for item in value]
    if isinstance(value, float) and not math.isfinite(value):
        return None
    return value


def _write_tables(evaluation: Evaluation, folder: Path) -> None:
    """Write ``runs.csv``, ``comparisons.csv``, ``sensitivity.csv``, ``flags.csv``, ``process.csv``.

    ``process.csv`` is written only where the table has process metrics. Under a contract that is
    not locked each table has a column ``status`` that says so.
    """
    ids = list(evaluation.contract.data.id_columns)
    names = evaluation.scores.names
    keys = evaluation.runs.keys
    _write_csv(
        evaluation,
        folder / "runs.csv",
        [*ids, "method", "seed", *names],
        [
            [*key.group, key.method, key.seed, *row]
            for key, row in zip(keys, evaluation.scores_RK.tolist(), strict=True)
        ],
    )
    _write_csv(evaluation, folder / "comparisons.csv", *comparison_table(evaluation))
    _write_csv(
        evaluation,
        folder / "sensitivity.csv",
        [
            *ids,
            *("score", "method", "mean", "rank", "sign_flips", "spread", "spearman", "kendall"),
            *("spearman_by_seed", "spearman_without_seed", "spearman_without_collapsed"),
        ],
        [
            [
                *one.group,
                *(one.score, method, mean, one.ranks[method], method in one.sign_flips),
                *(one.spread, one.spearman, one.kendall),
                _by_seed(one.spearman_by_seed),
                _by_seed(one.spearman_without_seed),
                one.spearman_without_collapsed,
            ]
            for one in evaluation.agreements
            for method, mean in one.means.items()
        ],
    )
    _write_csv(
        evaluation,
        folder / "flags.csv",
        [*ids, "kind", "method", "seed", "benchmark", "detail"],
        [
            [*one.group, one.kind, one.method, one.seed, one.benchmark, one.detail]
            for one in evaluation.flags
        ],
    )
    if evaluation.process:
        _write_csv(
            evaluation,
            folder / "process.csv",
            [*ids, "method", "metric", "runs", "mean", "baseline_mean", "ratio"],
            [
                [*p.group, p.method, p.metric, p.runs, p.mean, p.baseline_mean, p.ratio]
                for p in evaluation.process
            ],
        )


def comparison_table(evaluation: Evaluation) -> tuple[list[str], list[list[object]]]:
    """Return columns and rows of ``comparisons.csv``, A/A rows included and named so."""
    ids = list(evaluation.contract.data.id_columns)
    texts = list(margins(evaluation.contract))
    others = evaluation.scores.names[1:]
    intervals = ("t", "bootstrap_percentile", "bootstrap_bca")
    columns = [
        *ids,
        *("mechanism", "method", "baseline", "n", "method_mean", "baseline_mean", "diff", "sd"),
        *(f"{name}_{end}" for name in intervals for end in ("low", "high")),
        *("p_t", "p_t_holm", "p_t_bh", "p_sign_flip", "p_sign_flip_holm", "p_sign_flip_bh"),
        *("sign_flip_exact", "d_z"),
        *(f"tost_p_{text}" for text in texts),
        "mde",
        *(f"seeds_for_{text}" for text in texts),
        *("seed_correlation", "verdict", "wording", "verdict_all_declared"),
        *(f"{name}_{part}" for name in others for part in ("diff", "t_low", "t_high")),
        *("without_collapsed_n", "without_collapsed_diff", "without_collapsed_t_low"),
        "without_collapsed_t_high",
    ]
    rows = []
    for one in evaluation.comparisons:
        left = one.without_collapsed
        rows.append(
            [
                *one.group,
                *(one.mechanism, one.method, one.baseline, one.n),
                *(one.method_mean, one.baseline_mean, one.primary.mean),
                *_test_cells(one, intervals, texts),
                *(one.seed_correlation, one.verdict, one.wording, one.verdict_all_declared),
                *(
                    cell
                    for name in others
                    for cell in (
                        one.effects[name].mean,
                        *(one.effects[name].interval or (None, None)),
                    )
                ),
                left.n if left else None,
                left.primary.mean if left else None,
                *((left.primary.interval if left else None) or (None, None)),
            ]
        )
    return columns, rows


def _test_cells(one: Comparison, intervals: Sequence[str], texts: Sequence[str]) -> list[object]:
    tests = one.tests
    if tests is None:
        return [None] * (1 + 2 * len(intervals) + 8 + 2 * len(texts) + 1)
    corrected: list[object] = []
    for test in ("t", "sign_flip"):
        corrected += [
            tests.p[test],
            tests.p_holm.get(test),
            tests.p_benjamini_hochberg.get(test),
        ]
    return [
        tests.sd,
        *(end for name in intervals for end in (tests.intervals[name] or (None, None))),
        *corrected,
        tests.sign_flip_exact,
        tests.effect_size,
        *(tests.tost_p[text] for text in texts),
        tests.minimal_detectable_effect,
        *(tests.seeds_needed[text] for text in texts),
    ]


def _by_seed(values: Mapping[int, float | None]) -> str:
    return "; ".join(
        f"{seed}: {'-' if value is None else f'{value:.4f}'}" for seed, value in values.items()
    )


def _write_csv(
    evaluation: Evaluation, path: Path, columns: Sequence[str], rows: Sequence[Sequence[object]]
) -> None:
    stamp = [evaluation.exploratory] if evaluation.exploratory else []
    with path.open("w", encoding="utf-8", newline="") as handle:
        writer = csv.writer(handle, lineterminator="\n")
        writer.writerow([*columns, *(["status"] if stamp else [])])
        for row in rows:
            writer.writerow([*("" if _is_nan(cell) else cell for cell in row), *stamp])


def _is_nan(cell: object) -> bool:
    return cell is None or (isinstance(cell, float) and math.isnan(cell))
