"""Every figure of the project's EXPECTED.md for the 171 published runs, to its digits.

The expected values are read from that file's tables at test time: they were computed independently
of this package (definitions 1 to 13 stand there), and are not repeated here.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

from dataflex_data.evaluation.compare import Comparison
from dataflex_data.evaluation.contract import load_contract
from dataflex_data.evaluation.evaluate import Evaluation, evaluate_table, sealed_contract, summary
from dataflex_data.evaluation.sensitivity import RankAgreement
from dataflex_data.evaluation.tables import read_table

pytestmark = pytest.mark.shared

CONTRACT = Path(__file__).parents[2] / "examples/contracts/dataflex_rl_171.yaml"
OURS = {
    "DB12": "primary",
    "M": "math",
    "L": "logic",
    "S": "science",
    "MACRO12": "benchmark_macro",
    "ITEM12": "item_weighted",
    "MH6": "math_heavy_6",
}
TOLERANCE = 1e-4


@pytest.fixture(scope="module")
def evaluation(shared_dir: Path) -> Evaluation:
    contract, _ = load_contract(CONTRACT)
    return evaluate_table(
        read_table(shared_dir / "evaluation/all_runs_171.csv", contract), contract
    )


@pytest.fixture(scope="module")
def expected(shared_dir: Path) -> str:
    return (shared_dir / "evaluation/EXPECTED.md").read_text(encoding="utf-8")


def _tables(text: str) -> Iterator[list[dict[str, str]]]:
    """Yield each Markdown table as rows of cells by column."""
    for block in re.findall(r"(?:^\|.*\n?)+", text, flags=re.M):
        lines = [
            [cell.strip() for cell in line.strip("|").split(" | ")] for line in block.splitlines()
        ]
        header = [cell.strip("| ") for cell in lines[0]]
        rows = [[cell.strip("| ") for cell in line] for line in lines[2:]]
        yield [dict(zip(header, row, strict=True)) for row in rows]


def _numbers(text: str) -> list[float]:
    return [float(found) for found in re.findall(r"-?\d+(?:\.\d+)?", text.replace("−", "-"))]


def _sections(text: str) -> dict[tuple[str, ...], str]:
    """Return the text below each ``### campaign|model|regime|steps``."""
    parts = re.split(r"^### (.+)$", text, flags=re.M)
    return {
        tuple("" if part == "(no regime)" else part for part in title.split("|")): body
        for title, body in zip(parts[1::2], parts[2::2], strict=True)
    }


def _comparison(evaluation: Evaluation, group: tuple[str, ...], method: str) -> Comparison:
    [found] = [c for c in evaluation.of_group(group) if c.method == method and not c.is_aa]
    return found


def _agreement(evaluation: Evaluation, group: tuple[str, ...], score: str) -> RankAgreement:
    [found] = [a for a in evaluation.agreements if a.group == group and a.score == score]
    return found


def test_the_example_contract_is_locked() -> None:
    assert sealed_contract(CONTRACT, exploratory=False)[2] == ""


def test_scores_of_runs(evaluation: Evaluation, expected: str, shared_dir: Path) -> None:
    [table] = [t for t in _tables(expected) if "run_id" in t[0]]
    raw = read_table(shared_dir / "evaluation/all_runs_171.csv", evaluation.contract)
    by_id = {run.values["run_id"]: run.values for run in raw.runs}
    assert len(table) == 4
    for row in table:
        cells = by_id[row["run_id"]]
        group = tuple(cells[name] for name in evaluation.contract.data.id_columns)
        [at] = [
            at
            for at, key in enumerate(evaluation.runs.keys)
            if (key.group, key.method, key.seed) == (group, cells["method"], int(cells["seed"]))
        ]
        for theirs, ours in OURS.items():
            score = evaluation.scores_RK[at, evaluation.scores.names.index(ours)]
            assert score == pytest.approx(float(row[theirs]), abs=TOLERANCE), (row, theirs)


MAIN = ("main", "Qwen2.5-7B-Instruct", "", "300")


def test_method_means(evaluation: Evaluation, expected: str) -> None:
    [table] = [t for t in _tables(expected) if set(t[0]) == {"method", *OURS}]
    assert len(table) == 4
    for row in table:
        for theirs, ours in OURS.items():
            mean = _agreement(evaluation, MAIN, ours).means[row["method"]]
            assert mean == pytest.approx(float(row[theirs]), abs=TOLERANCE), (row, theirs)


@pytest.mark.parametrize(("told", "score"), [("DB12", "primary"), ("MH6", "math_heavy_6")])
def test_rank_order(evaluation: Evaluation, expected: str, told: str, score: str) -> None:
    line = re.search(rf"(?:Rank order by|^By) {told}: (.+)\.$", expected, flags=re.M)
    assert line is not None
    ranks = _agreement(evaluation, MAIN, score).ranks
    assert sorted(ranks, key=lambda name: ranks[name]) == line[1].split(", ")
    assert len(ranks) == 9


def test_paired_differences_by_seed(evaluation: Evaluation, expected: str) -> None:
    line = re.search(r"Paired DB12 differences \(seeds 1, 2, 3\): (.+)\.$", expected, flags=re.M)
    assert line is not None
    parts = line[1].split("; ")
    assert len(parts) == 3
    for part in parts:
        method, _, numbers = part.partition(" ")
        found = _comparison(evaluation, MAIN, method)
        assert found.seeds == (1, 2, 3)
        assert found.differences == pytest.approx(_numbers(numbers), abs=TOLERANCE)


def test_every_comparison(evaluation: Evaluation, expected: str) -> None:
    checked = 0
    for group, body in _sections(expected).items():
        for table in _tables(body):
            for row in table:
                if "d_z" in row:
                    _check_comparison(_comparison(evaluation, group, row["method"]), row)
                    checked += 1
    assert checked == 5 + 3 + 3 + 1 + 3


def _check_comparison(found: Comparison, row: dict[str, str]) -> None:
    tests = found.tests
    assert tests is not None
    numbers = {
        "n": found.n,
        "DB12": found.method_mean,
        "diff": found.primary.mean,
        "sd": tests.sd,
        "p(t)": tests.p["t"],
        "Holm p(t)": tests.p_holm["t"],
        "BH p(t)": tests.p_benjamini_hochberg["t"],
        "p(sign-flip)": tests.p["sign_flip"],
        "Holm p(sign-flip)": tests.p_holm["sign_flip"],
        "d_z": tests.effect_size,
        "TOST p ±0.5": tests.tost_p["0.5"],
        "TOST p ±1.0": tests.tost_p["1"],
        "MDE(80%)": tests.minimal_detectable_effect,
        "n for 0.5": tests.seeds_needed["0.5"],
        "n for 1.0": tests.seeds_needed["1"],
    }
    for column, value in numbers.items():
        assert value == pytest.approx(float(row[column]), abs=TOLERANCE), (row["method"], column)
    for column, name in (
        ("95% t-CI", "t"),
        ("95% percentile bootstrap", "bootstrap_percentile"),
    ):
        told = [float(x) for x in row[column].strip("[]").split(", ")]
        assert tests.intervals[name] == pytest.approx(told, abs=TOLERANCE), (row["method"], column)
    assert found.verdict == row["verdict*"]
    assert set(row) == {*numbers, "method", "95% t-CI", "95% percentile bootstrap", "verdict*"}


def test_reference_lines(evaluation: Evaluation, expected: str) -> None:
    for group, body in _sections(expected).items():
        line = re.search(r"reference `(\w+)`: DB12 mean ([\d.]+), sd ([\d.]+), n (\d)", body)
        assert line is not None
        rows = [
            at
            for at, key in enumerate(evaluation.runs.keys)
            if key.group == group and key.method == line[1]
        ]
        scores = evaluation.scores_RK[rows, 0]
        assert len(rows) == int(line[4])
        assert scores.mean() == pytest.approx(float(line[2]), abs=TOLERANCE)
        assert np.std(scores, ddof=1) == pytest.approx(float(line[3]), abs=TOLERANCE)


def test_spreads_and_spearman(evaluation: Evaluation, expected: str) -> None:
    lines = 0
    for group, body in _sections(expected).items():
        found = re.search(r"method means\) (.+?); Spearman vs DB12 (.+)$", body, flags=re.M)
        if found is None:
            continue
        lines += 1
        for part in found[1].split(", "):
            name, value = part.split(" ")
            spread = _agreement(evaluation, group, OURS[name]).spread
            assert spread == pytest.approx(float(value), abs=TOLERANCE), (group, name)
        for part in found[2].split(", "):
            name, value = part.split(" ")
            spearman = _agreement(evaluation, group, OURS[name]).spearman
            assert spearman == pytest.approx(float(value), abs=TOLERANCE), (group, name)
    assert lines == 2


def test_other_scores_of_the_mixers(evaluation: Evaluation, expected: str) -> None:
    group = ("mixer", "Qwen2.5-7B-Instruct", "", "300")
    [table] = [t for t in _tables(_sections(expected)[group]) if "mean M" in t[0]]
    assert len(table) == 4
    for row in table:
        for theirs, ours in OURS.items():
            if theirs == "DB12":
                continue
            mean = _agreement(evaluation, group, ours).means[row["method"]]
            assert mean == pytest.approx(float(row[f"mean {theirs}"]), abs=TOLERANCE)
            if row["method"] == "static":
                assert row[f"diff {theirs}"] == "—"
                continue
            effect = _comparison(evaluation, group, row["method"]).effects[ours]
            assert effect.mean == pytest.approx(float(row[f"diff {theirs}"]), abs=TOLERANCE)


def test_facts_the_design_is_built_on(evaluation: Evaluation) -> None:
    """EVALUATION.md, first section: null rates, the A/A gap, diffband's domains, rho by seed."""
    comparisons = [one for one in evaluation.comparisons if not one.is_aa]
    counts = summary(evaluation)
    assert len(comparisons) == 45
    assert counts["intervals_excluding_zero"]["bootstrap_percentile"] == 10
    assert counts["intervals_excluding_zero"]["t"] == 1
    assert not [c for c in comparisons if c.tests and c.tests.p_holm["t"] < 0.05]
    [noise] = [c for c in evaluation.comparisons if c.is_aa and "7B" in c.group[1]]
    assert noise.primary.mean == pytest.approx(-1.12, abs=5e-3)
    diffband = _comparison(evaluation, MAIN, "diffband")
    told = {"primary": -1.03, "math": 1.06, "logic": 3.36, "science": -7.49}
    for name, value in told.items():
        assert diffband.effects[name].mean == pytest.approx(value, abs=6e-3)
    rho = _agreement(evaluation, MAIN, "math_heavy_6")
    assert rho.spearman == pytest.approx(-1 / 3, abs=1e-9)
    assert rho.spearman_without_seed[3] == pytest.approx(0.65, abs=5e-3)
    assert float((evaluation.runs.values_RB == 0).sum()) == 54 + 2


def test_collapsed_benchmarks_are_flagged_and_kept(evaluation: Evaluation) -> None:
    """EVALUATION.md and README.md name diffband's MMLU-Pro in seed 3: 25.0 and 32.2."""
    flagged = {
        (flag.method, flag.seed, flag.benchmark): flag.detail
        for flag in evaluation.flags
        if flag.kind == "collapsed" and flag.group == MAIN
    }
    assert "25 where" in flagged["diffband", 3, "mmlu_pro_chemistry"]
    assert "32.2 where" in flagged["diffband", 3, "mmlu_pro_physics"]
    diffband = _comparison(evaluation, MAIN, "diffband")
    assert diffband.n == 3
    assert diffband.without_collapsed is not None
    assert diffband.without_collapsed.seeds == (1, 2)
    # mean of the two remaining differences, -1.1267 and 2.7211 (EXPECTED.md)
    mean = diffband.without_collapsed.primary.mean
    assert mean == pytest.approx((-1.1267 + 2.7211) / 2, abs=TOLERANCE)
