"""The two audits' pages in a browser: tables sort by a click, links lead to the texts, all fits."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from dataflex_data.audits.audit import AuditRequest, run_audit
from dataflex_data.audits.duplicate_audit import DuplicateRequest, run_duplicate_audit
from tests.browser import look
from tests.factories import write_jsonl

W = [f"w{number}" for number in range(2000)]

# The last table with links is that of the pairs; a click on each head, then on one again.
CLICKS = """
const table = [...document.querySelectorAll("table[data-sortable]")].find(
  (one) => one.querySelector("a[href^='#pair-']"));
const column = (name) => [...table.tHead.rows[0].cells].findIndex(
  (head) => head.textContent === name);
const shown = (name) => [...table.tBodies[0].rows].map(
  (row) => row.cells[column(name)].textContent);
const click = (name) => table.tHead.rows[0].cells[column(name)].querySelector("button").click();
const found = {};
for (const name of NAMES) {
  click(name);
  const up = shown(name), said = table.tHead.rows[0].cells[column(name)].ariaSort;
  click(name);
  found[name] = { up, said, down: shown(name) };
}
const links = [...table.querySelectorAll("a")].map((link) => link.getAttribute("href"));
return {
  found,
  lost: links.filter((link) => document.querySelector(link) === null),
  links: links.length,
  marks: document.querySelectorAll("mark").length,
  wide: document.documentElement.scrollWidth - page.innerWidth,
  aside: document.querySelectorAll(".sides")[0].children[1].offsetTop
    === document.querySelectorAll(".sides")[0].children[0].offsetTop,
};
"""


def words(first: int, last: int) -> str:
    return " ".join(W[first:last])


def clicked(page: Path, names: list[str], tmp_path: Path, width: int) -> dict[str, Any]:
    scratch = tmp_path / f"browser-{width}"
    scratch.mkdir()
    looked = look(page, CLICKS.replace("NAMES", json.dumps(names)), scratch, width=width)
    assert looked.console == []
    found: dict[str, Any] = looked.value
    return found


@pytest.fixture
def contamination(tmp_path: Path) -> Path:
    items = [{"id": f"q{k}", "question": words(60 * k, 60 * k + 60)} for k in range(3)]
    rows = [
        # Copies of 60, 58 and 35 words of 60: containments of 1, 46/48 and 23/48.
        {"id": "whole", "prompt": f"Solve this one: {words(0, 60)}"},
        {"id": "most", "prompt": words(60, 118)},
        {"id": "half", "prompt": words(120, 155)},
    ]
    request = AuditRequest(
        corpus=str(write_jsonl(tmp_path / "corpus.jsonl", rows)),
        out=tmp_path / "report",
        benchmark_files={"mine": write_jsonl(tmp_path / "items.jsonl", items)},
    )
    run_audit(request)
    return tmp_path / "report" / "report.html"


@pytest.mark.parametrize(("width", "aside"), [(390, False), (1200, True)])
def test_the_contamination_page_sorts_and_fits(
    contamination: Path, tmp_path: Path, width: int, aside: bool
) -> None:
    names = ["best containment", "row", "longest run", "texts"]
    seen = clicked(contamination, names, tmp_path, width)
    assert seen["found"] == {
        # 23/48 = 0.479, 46/48 = 0.958: shown short, sorted by value.
        "best containment": {
            "up": ["0.479", "0.958", "1"],
            "said": "ascending",
            "down": ["1", "0.958", "0.479"],
        },
        "row": {
            "up": ["half", "most", "whole"],
            "said": "ascending",
            "down": ["whole", "most", "half"],
        },
        "longest run": {"up": ["35", "58", "60"], "said": "ascending", "down": ["60", "58", "35"]},
        "texts": {"up": ["1", "2", "3"], "said": "ascending", "down": ["3", "2", "1"]},
    }
    assert (seen["links"], seen["lost"], seen["aside"]) == (3, [], aside)
    assert seen["marks"] == 6
    assert seen["wide"] <= 0


def test_the_duplicates_page_sorts_and_fits(tmp_path: Path) -> None:
    # 48 n-grams each; a shift by 2 shares 46: J = 46/50 = 0.92; by 4: 44/52 = 0.846.
    rows = [words(0, 60), words(2, 62), words(100, 160), words(104, 164), words(300, 360)]
    corpus = write_jsonl(
        tmp_path / "c.jsonl", [{"id": f"r{k}", "question": t} for k, t in enumerate(rows)]
    )
    summary = run_duplicate_audit(DuplicateRequest(str(corpus), tmp_path / "report"))
    assert (summary["pairs"], summary["rows_to_drop"]) == (2, 2)
    assert (summary["jaccard_histogram"][16], summary["jaccard_histogram"][18]) == (1, 1)
    page = tmp_path / "report" / "report.html"
    seen = clicked(page, ["Jaccard", "second row", "second"], tmp_path, 390)
    assert seen["found"] == {
        "Jaccard": {"up": ["0.846", "0.92"], "said": "ascending", "down": ["0.92", "0.846"]},
        "second row": {"up": ["r1", "r3"], "said": "ascending", "down": ["r3", "r1"]},
        "second": {"up": ["goes", "goes"], "said": "ascending", "down": ["goes", "goes"]},
    }
    assert (seen["links"], seen["lost"], seen["aside"]) == (2, [], False)
    assert seen["wide"] <= 0


def test_the_minhash_page_says_why_it_has_no_distribution(tmp_path: Path) -> None:
    items = write_jsonl(tmp_path / "items.jsonl", [{"id": "q", "question": words(0, 60)}])
    corpus = write_jsonl(tmp_path / "c.jsonl", [{"id": "r", "question": words(0, 60)}])
    request = AuditRequest(
        str(corpus), tmp_path / "o", benchmark_files={"mine": items}, engine="minhash"
    )
    summary = run_audit(request)
    assert summary["flagged_rows"] == 1
    assert summary["benchmarks"]["mine"]["containment_histogram"] is None
    assert summary["benchmarks"]["mine"]["best_containment"] is None
    assert "Not measured: MinHash" in (tmp_path / "o" / "report.html").read_text()
