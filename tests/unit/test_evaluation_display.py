"""What people see: decimals, signs, stamps clear of labels, names that no font has."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from dataflex_data.evaluation import figures
from dataflex_data.evaluation.contract import contract_warnings, parse_contract
from dataflex_data.evaluation.evaluate import Evaluation, evaluate_table
from dataflex_data.evaluation.report import headline, write_reports
from dataflex_data.evaluation.tables import read_table
from dataflex_data.evaluation.words import cell, decimals, interval_text, points
from dataflex_data.reporting import plots
from dataflex_data.reporting.document import Heading, Paragraph, Part, Table, markdown_document
from dataflex_data.reporting.html import html_table
from dataflex_data.reporting.words import plural
from tests.evaluation_factory import contract_with, made_runs, write_runs

if TYPE_CHECKING:
    from matplotlib.figure import Figure

BENCHMARKS = ("alg", "geo", "log", "sci")


def _evaluate(
    folder: Path, rows: list[dict[str, Any]], stamp: str = "", **changes: Any
) -> Evaluation:
    contract = parse_contract(contract_with(**changes), "contract.yaml")
    path = write_runs(folder / "runs.csv", rows)
    return evaluate_table(read_table(path, contract), contract, exploratory=stamp)


@pytest.mark.parametrize(
    ("scale", "effect", "expected"),
    [
        ("percent", 1.0, 2),  # a hundredth of 1
        ("percent", 5.0, 2),
        ("percent", 0.1, 3),
        ("fraction", 0.01, 4),  # a hundredth of a point
        ("fraction", 0.05, 4),
        ("fraction", 0.001, 5),
    ],
)
def test_decimals(scale: str, effect: float, expected: int) -> None:
    contract = parse_contract(contract_with(scale=scale, meaningful_effect=effect), "x")
    assert decimals(contract) == expected


def test_numbers_as_text() -> None:
    contract = parse_contract(contract_with(scale="fraction", meaningful_effect=0.01), "x")
    assert points(contract, -0.00123, signed=True) == "−0.0012"
    assert points(contract, float("nan")) == "–"
    assert interval_text(contract, (-0.0005, 0.01), signed=True) == "[−0.0005, +0.0100]"
    assert interval_text(contract, None) is None
    assert str(cell(contract, 0.5)) == "0.5000"
    assert cell(contract, float("nan")) is None
    assert (plural(1, "run"), plural(1200, "run")) == ("1 run", "1,200 runs")


def test_fractions_can_be_read_in_the_report(tmp_path: Path) -> None:
    rows = [
        {**row, **{name: round(row[name] / 100, 5) for name in BENCHMARKS}} for row in made_runs()
    ]
    found = _evaluate(tmp_path, rows, scale="fraction", meaningful_effect=0.002)
    write_reports(found, tmp_path, plots=False)
    text = (tmp_path / "report.md").read_text(encoding="utf-8")
    one = next(c for c in found.comparisons if c.method == "keep_few")
    assert one.tests is not None
    low, high = one.tests.intervals["t"] or (0.0, 0.0)
    assert f"| {one.primary.mean:.5f} | [{low:.5f}, {high:.5f}] |" in text
    inconclusive = next(c for c in found.comparisons if c.verdict == "inconclusive" and c.tests)
    assert inconclusive.tests is not None
    mde = f"{inconclusive.tests.minimal_detectable_effect:.5f}"
    assert f"power: {mde};" in inconclusive.wording


def test_trailing_zeros_stand_in_html(tmp_path: Path) -> None:
    contract = parse_contract(contract_with(), "x")
    page = html_table(["score"], [[cell(contract, 50.6)], [cell(contract, -52.11)]])
    assert '<td class="number" data-value="50.60">50.60</td>' in page
    assert '<td class="number" data-value="-52.11">−52.11</td>' in page


def test_no_html_in_markdown() -> None:
    table = Table(["a|b"], [["<script>1</script>"], ["x|y & z"]])
    parts = [Part("<b>", [Heading("<i>"), Paragraph("a < b", "banner"), table])]
    text = markdown_document("<script>", parts, subtitle="<u>")
    assert "<" not in text
    assert "&lt;script&gt;1" in text
    assert "| x\\|y &amp; z |" in text
    assert "| a\\|b |" in text


def _figures(evaluation: Evaluation, monkeypatch: pytest.MonkeyPatch) -> list[Figure]:
    drawn: list[Figure] = []
    real = plots.figure_png

    def kept(figure: Figure) -> bytes:
        drawn.append(figure)
        return real(figure)

    monkeypatch.setattr(plots, "figure_png", kept)
    figures.forests(evaluation)
    figures.heat_map(evaluation)
    figures.rank_shift(evaluation)
    assert figures.pareto(evaluation) is not None
    return drawn


def _with_tokens(rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
    tokens = {"baseline": 1000, "keep_some": 1001, "keep_few": 1002, "static": 1002}
    return [{**row, "update_tokens": tokens.get(row["method"], 990)} for row in rows]


STAMP = "exploratory: contract not locked (changed after locking: " + ", ".join(
    f"scores.domains.domain{at}" for at in range(9)
) + ")"  # fmt: skip


def test_the_stamp_runs_over_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    found = _evaluate(tmp_path, _with_tokens(made_runs()), STAMP)
    drawn = _figures(found, monkeypatch)
    assert len(drawn) == 5  # two groups' forests and three more
    for figure in drawn:
        [stamp] = [text for text in figure.texts if "exploratory" in text.get_text()]
        assert stamp.get_text().replace("\n", " ") == STAMP
        box = stamp.get_window_extent()
        assert box.x0 >= 0
        for axes in figure.axes:
            tight = axes.get_tightbbox()
            assert tight is None or tight.y0 >= box.y1


def test_pareto_labels_stand_apart_and_inside(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    rows = _with_tokens(made_runs(models=["small"]))
    for row in rows:  # four methods at one place, at the right edge
        if row["method"] != "adaptive":
            row |= dict.fromkeys(BENCHMARKS, 50.0 + 0.01 * row["seed"])
    figure = _figures(_evaluate(tmp_path, rows), monkeypatch)[-1]
    [axes] = figure.axes
    names = {"baseline", "keep_some", "keep_few", "static", "adaptive"}
    labels = [text for text in axes.texts if text.get_text() in names]
    assert len(labels) == 5
    boxes = [label.get_window_extent() for label in labels]
    frame = axes.get_window_extent()
    assert all(frame.x0 <= box.x0 and box.x1 <= frame.x1 for box in boxes)
    assert not [
        (at, other)
        for at, box in enumerate(boxes)
        for other in range(at)
        if box.overlaps(boxes[other])
    ]


def test_names_that_the_font_lacks_are_told(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Warnings are errors here: matplotlib must not warn of each missing glyph."""
    rows = [
        {**row, "method": {"adaptive": "渐进"}.get(row["method"], row["method"])}
        for row in _with_tokens(made_runs(models=["small"]))
    ]
    found = _evaluate(tmp_path, rows, methods__mix={"baseline": "static", "methods": ["渐进"]})
    assert figures.not_in_font(found) == ["渐进"]
    _figures(found, monkeypatch)
    write_reports(found, tmp_path, plots=True)
    text = (tmp_path / "report.md").read_text(encoding="utf-8")
    assert "The font of the pictures lacks 渐进" in text
    # 1,001 tokens a run, the baseline 1,000
    assert "| keep_some | update_tokens | 5 | 1,001 | 1.001 |" in text


def test_sentences_of_small_studies(tmp_path: Path) -> None:
    rows = [r for r in made_runs(models=["m"]) if r["method"] in ("baseline", "keep_few")]
    only = {"select": {"baseline": "baseline", "methods": ["keep_few"]}}
    changes: dict[str, Any] = {"methods": only, "same_configuration": []}
    changes |= {"data": {"id_columns": []}}
    found = _evaluate(tmp_path, rows, **changes)
    assert headline(found) == "1 comparison: 1 better."
    write_reports(found, tmp_path, plots=False)
    text = (tmp_path / "report.md").read_text(encoding="utf-8")
    assert "### all runs\n" in text
    assert "inside one group. Verdicts" in text
    assert "10 runs in 1 group ·" in text
    both = {"also": ["bootstrap_percentile"]}
    assert "over three seeds" not in text
    _write_md(tmp_path, rows, changes | {"inference": both})
    assert "over three seeds" not in (tmp_path / "report.md").read_text(encoding="utf-8")
    three = [row for row in rows if row["seed"] <= 3]
    _write_md(tmp_path, three, changes | {"inference": both, "seeds__list": [1, 2, 3]})
    assert "over three seeds" in (tmp_path / "report.md").read_text(encoding="utf-8")
    [warning] = contract_warnings(parse_contract(contract_with(), "x"))
    assert "below" not in warning


def _write_md(folder: Path, rows: list[dict[str, Any]], changes: dict[str, Any]) -> None:
    write_reports(_evaluate(folder, rows, **changes), folder, plots=False)


def test_report_and_forest_have_one_order(tmp_path: Path) -> None:
    found = _evaluate(tmp_path, made_runs(models=["m"]))
    means = [one.primary.mean for one in found.of_group(("m", "300")) if not one.is_aa]
    assert means == sorted(means, reverse=True)
    write_reports(found, tmp_path, plots=False)
    text = (tmp_path / "report.md").read_text(encoding="utf-8").partition("## Comparisons")[2]
    order = [one.method for one in found.of_group(("m", "300")) if not one.is_aa]
    at = [text.index(f"\n| {method} | ") for method in order]
    assert at == sorted(at)
