"""The shared page: escaping, self-containment, sort keys, and that equal input gives equal text."""

from __future__ import annotations

import re
from html.parser import HTMLParser

import pytest

from dataflex_data.reporting.html import Html, Section, html_table, render_page

HOSTILE = '<script>alert("x")</script>&\'"'


class _Balance(HTMLParser):
    VOID = frozenset({"meta", "img", "br", "hr", "input", "link"})

    def __init__(self) -> None:
        super().__init__()
        self.open: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if tag not in self.VOID:
            self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag


def test_titles_and_cells_are_escaped() -> None:
    page = render_page(
        HOSTILE, [Section(HOSTILE, html_table([HOSTILE], [[HOSTILE]]))], subtitle=HOSTILE
    )
    assert "<script>alert" not in page
    assert page.count("&lt;script&gt;alert") == 6  # title, h1, subtitle, h2, head, cell


def test_html_cells_pass_as_they_are() -> None:
    assert "<td><b>x</b></td>" in html_table(["a"], [[Html("<b>x</b>")]])


def test_page_is_well_formed_and_loads_nothing() -> None:
    page = render_page("t", [Section(name, "<p>x</p>") for name in "abc"])
    parser = _Balance()
    parser.feed(page)
    assert parser.open == []
    assert not re.search(r"""(src|href)=["'](?!#|data:)""", page)
    assert "http:" not in page
    assert "https:" not in page
    assert "default-src &#39;none&#39;" in page
    assert page == render_page("t", [Section(name, "<p>x</p>") for name in "abc"])


def test_contents_link_to_each_section() -> None:
    page = render_page("t", [Section(name, "") for name in ("One", "Two", "Three")])
    targets = re.findall(r'href="#([^"]+)"', page)
    assert targets == re.findall(r'<section id="([^"]+)"', page)
    assert len(targets) == 3


def test_numbers_sort_by_full_value_and_none_is_empty() -> None:
    table = html_table(["n", "x"], [[12345, 0.123456789], [None, None], [7, -2.5]])
    assert '<td class="number" data-value="12345">12,345</td>' in table
    assert '<td class="number" data-value="0.123456789">0.1235</td>' in table
    assert '<td class="number" data-value="">–</td>' in table
    assert '<td class="number" data-value="-2.5">−2.5</td>' in table


@pytest.mark.parametrize(
    ("value", "shown"),
    [(0.0, "0"), (52.34567, "52.35"), (100.0, "100"), (0.00049, "0.0005"), (123456.0, "1.235e+05")],
)
def test_floats_are_shown_short(value: float, shown: str) -> None:
    assert f">{shown}</td>" in html_table(["x"], [[value]])


def test_a_column_with_words_is_no_number_column() -> None:
    table = html_table(["x"], [[1], ["none"], [True]])
    assert 'class="number"' not in table
    assert "<td>yes</td>" in table


def test_only_long_texts_may_wrap() -> None:
    table = html_table(["x"], [["a" * 24], ["b" * 25]])
    assert f"<td>{'a' * 24}</td>" in table
    assert f'<td class="long">{"b" * 25}</td>' in table


def test_a_ragged_row_is_refused() -> None:
    with pytest.raises(ValueError, match="row of 1 cells in a table of 2 columns"):
        html_table(["a", "b"], [["x"]])
