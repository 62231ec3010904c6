"""The whole evaluation of a runs table under a contract, as one value and as a folder of files."""

from __future__ import annotations

import math
from collections.abc import Iterable
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
from dataflex_data.evaluation.compare import Comparison, compare
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
    from dataflex_data.evaluation.outputs import write_numbers
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
            write_numbers(evaluation, folder)
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
