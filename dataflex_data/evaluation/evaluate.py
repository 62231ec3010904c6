"""The whole evaluation of a runs table under a contract, as one value and as a folder of files."""

from __future__ import annotations

import csv
import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from dataflex_data import __version__
from dataflex_data.core.errors import ConfigError
from dataflex_data.core.parquet import (
    MANIFEST_NAME,
    check_output_folder,
    file_sha256,
    folder_digests,
    replace_folder,
    write_json,
)
from dataflex_data.evaluation.absence import absence_flags
from dataflex_data.evaluation.aggregate import ScoreSet, score_set
from dataflex_data.evaluation.compare import Comparison, compare, margins
from dataflex_data.evaluation.contract import Contract, load_contract
from dataflex_data.evaluation.flags import Flag, Group
from dataflex_data.evaluation.ledgers import with_ledgers
from dataflex_data.evaluation.lock import (
    EarlierSeal,
    changed_keys,
    contract_sha256,
    earlier_seals,
)
from dataflex_data.evaluation.process import ProcessRow, process_flags, process_rows
from dataflex_data.evaluation.runs import Runs, check_runs
from dataflex_data.evaluation.sensitivity import RankAgreement, find_collapses, rank_agreements
from dataflex_data.evaluation.statistics import F64
from dataflex_data.evaluation.tables import RawTable, read_table
from dataflex_data.reporting.plots import require_matplotlib
from dataflex_data.reporting.terminal import progress

TOOL = f"dataflex-data {__version__}"
EXPLORATORY = "exploratory: contract not locked"
_STAGES = 4  # read, compare, write tables, write reports


@dataclass(frozen=True, slots=True)
class Evaluation:
    """Everything the reports say.

    Attributes:
        exploratory: ``""`` under a locked contract, else why not, to be stamped on every output.
        earlier: Seals of the contract that were replaced by the one in force.
    """

    contract: Contract
    contract_sha256: str
    exploratory: str
    runs: Runs
    scores: ScoreSet
    scores_RK: F64  # noqa: N815 - shape suffix
    comparisons: tuple[Comparison, ...]
    agreements: tuple[RankAgreement, ...]
    flags: tuple[Flag, ...]
    process: tuple[ProcessRow, ...]
    earlier: tuple[EarlierSeal, ...] = ()

    @property
    def status(self) -> str:
        """``"locked"``, or what makes it exploratory, or that it was locked anew, in words."""
        if self.exploratory:
            return self.exploratory
        if not self.earlier:
            return "locked"
        times = "once" if len(self.earlier) == 1 else f"{len(self.earlier)} times"
        keys = ", ".join(dict.fromkeys(key for seal in self.earlier for key in seal.changed))
        return f"locked anew {times} (changed: {keys}): runs seen before count as exploratory"

    @property
    def groups(self) -> list[Group]:
        """All groups, sorted."""
        return sorted({key.group for key in self.runs.keys})

    def of_group(self, group: Group) -> list[Comparison]:
        """Return the comparisons of one group by effect, the highest first; A/A rows last."""
        found = [one for one in self.comparisons if one.group == group]
        return sorted(found, key=lambda one: (one.is_aa, _descending(one.primary.mean)))


def sealed_contract(path: Path, *, exploratory: bool) -> tuple[Contract, str, str]:
    """Return a contract, its sha256, and the stamp for outputs (``""`` if it is locked).

    Raises:
        ConfigError: It is not locked, or was changed since, and ``exploratory`` is not given.
    """
    contract, raw = load_contract(path)
    changed = changed_keys(path, raw)
    sha = contract_sha256(raw)
    if changed == []:
        return contract, sha, ""
    if changed is None:
        problem = (
            f"is not locked: `dfdata contract lock {path}` seals it before runs are read; "
            "--exploratory goes on without and says so in every output"
        )
        stamp = EXPLORATORY
    else:
        problem = (
            f"was changed after it was locked: {', '.join(changed)}; undo the change, or use "
            "--exploratory, which says so in every output"
        )
        stamp = f"{EXPLORATORY} (changed after locking: {', '.join(changed)})"
    if not exploratory:
        raise ConfigError(str(path), [problem])
    return contract, sha, stamp


def evaluate_table(
    table: RawTable,
    contract: Contract,
    sha256: str = "",
    exploratory: str = EXPLORATORY,
    earlier: tuple[EarlierSeal, ...] = (),
) -> Evaluation:
    """Return the evaluation of a runs table; changes and writes nothing.

    Raises:
        InputDataError: The table breaks the contract; see `check_runs`.
    """
    runs = check_runs(table, contract)
    scores = score_set(contract)
    scores_RK = scores.score(runs.values_RB)
    collapses, collapsed_R = find_collapses(contract, runs)
    comparisons = compare(contract, runs, scores, scores_RK, collapsed_R.tolist())
    agreements = rank_agreements(runs, scores, scores_RK, comparisons, collapsed_R)
    flags = (
        *absence_flags(contract, runs.keys),
        *runs.flags,
        *process_flags(runs),
        *collapses,
        *_no_variation(comparisons),
    )
    return Evaluation(
        contract,
        sha256,
        exploratory,
        runs,
        scores,
        scores_RK,
        tuple(comparisons),
        tuple(agreements),
        flags,
        tuple(process_rows(runs, comparisons)),
        earlier,
    )


def evaluate(
    runs_path: Path,
    contract_path: Path,
    out: Path,
    *,
    pattern: str | None = None,
    ledgers: str | None = None,
    exploratory: bool = False,
    plots: bool = True,
    force: bool = False,
) -> Evaluation:
    """Evaluate a runs table under a contract and write all outputs to ``out``.

    Args:
        runs_path: See `read_table`.
        contract_path: The contract; its lock lies beside it.
        out: Folder to write; it appears whole or not at all.
        pattern: See `read_table`.
        ledgers: Path pattern of the runs' ledgers, see `with_ledgers`.
        exploratory: Go on without a lock, and say so in every output.
        plots: Draw pictures; needs the extra ``plot``.
        force: Replace an earlier evaluation at ``out``.

    Raises:
        ConfigError: The contract is wrong, not locked or changed.
        InputDataError: The runs cannot be used.
        MissingExtraError: Pictures are wanted and matplotlib is not installed.
        OutputError: ``out`` cannot be written.
    """
    from dataflex_data.evaluation.report import write_reports

    if plots:
        require_matplotlib("drawing the plots of a report (--no-plots goes on without them)")
    check_output_folder(out, force=force)
    contract_path = Path(contract_path)
    contract, sha, stamp = sealed_contract(contract_path, exploratory=exploratory)
    with progress("evaluating", total=_STAGES) as advance:
        table = read_table(runs_path, contract, pattern)
        if ledgers is not None:
            table = with_ledgers(table, contract, ledgers)
        advance()
        evaluation = evaluate_table(table, contract, sha, stamp, earlier_seals(contract_path))
        advance()
        with replace_folder(out, force=force) as folder:
            write_json(results(evaluation), folder / "results.json")
            write_tables(evaluation, folder)
            advance()
            write_reports(evaluation, folder, plots=plots)
            advance()
            source = Path(runs_path).expanduser()
            manifest: dict[str, Any] = {
                "kind": "evaluation",
                "tool": TOOL,
                "status": evaluation.status,
                "contract_sha256": sha,
                "earlier_seals": [asdict(seal) for seal in evaluation.earlier],
                "runs": str(source),
                "runs_sha256": file_sha256(source) if source.is_file() else None,
                "files": folder_digests(folder),
            }
            write_json(manifest, folder / MANIFEST_NAME)
    return evaluation


def _descending(value: float) -> float:
    return -value if math.isfinite(value) else math.inf


def _no_variation(comparisons: Iterable[Comparison]) -> list[Flag]:
    return [
        Flag(
            "no_variation",
            one.group,
            one.method,
            None,
            "",
            f"all {one.n} paired differences to {one.baseline} are equal "
            f"({one.primary.mean:.4g}): were files copied?",
        )
        for one in comparisons
        if one.tests is not None and one.tests.sd == 0
    ]


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


def summary(evaluation: Evaluation) -> dict[str, Any]:
    """Return how many comparisons there are, and how many got each verdict."""
    comparisons = [one for one in evaluation.comparisons if not one.is_aa]
    verdicts: dict[str, int] = {}
    for one in comparisons:
        verdicts[one.verdict] = verdicts.get(one.verdict, 0) + 1
    return {
        "runs": len(evaluation.runs.keys),
        "groups": len(evaluation.groups),
        "comparisons": len(comparisons),
        "verdicts": verdicts,
        "intervals_excluding_zero": {
            name: sum(_excludes_zero(one, name) for one in comparisons)
            for name in ("t", "bootstrap_percentile", "bootstrap_bca")
        },
        "flags": len(evaluation.flags),
    }


def _excludes_zero(one: Comparison, name: str) -> bool:
    interval = one.tests.intervals[name] if one.tests is not None else None
    return interval is not None and (interval[0] > 0 or interval[1] < 0)


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


def write_tables(evaluation: Evaluation, folder: Path) -> None:
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
