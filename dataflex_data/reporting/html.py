"""The page that every report stands in: one HTML file with nothing outside itself.

A report is mailed, archived and opened years later without a network, so that style, script and
pictures are all inline, and a Content-Security-Policy forbids the page to load anything else. It
follows the reader's light or dark setting, fits a phone, and its tables sort by a click on a head.
What the sections say is the business of the package that makes them.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal
from html import escape

from jinja2 import Environment

PAGE_MARK = '<meta name="generator" content="dataflex-data">'


@dataclass(frozen=True, slots=True)
class Section:
    """One part of a page.

    Attributes:
        title: Heading, plain text; it also stands in the page's list of contents.
        html: Body, trusted HTML: whoever makes it escapes what comes from data (`html_table` does).
    """

    title: str
    html: str


@dataclass(frozen=True, slots=True)
class Html:
    """A table cell that is HTML already; every other cell is escaped.

    Attributes:
        text: The cell.
        value: What it sorts by, where that is not its text.
    """

    text: str
    value: float | None = None


def render_page(title: str, sections: Sequence[Section], *, subtitle: str = "") -> str:
    """Return the whole page; equal arguments give equal text."""
    return _PAGE.render(
        title=title,
        subtitle=subtitle,
        sections=sections,
        mark=PAGE_MARK,
        policy=_POLICY,
        style=_STYLE,
        script=_SCRIPT,
    )


def html_table(columns: Sequence[str], rows: Sequence[Sequence[object]]) -> str:
    """Return a sortable table inside a frame that scrolls sideways on a narrow screen.

    Columns whose filled cells are all numbers are set flush right. Numbers sort by their full
    value and are shown short, a `Decimal` with the decimals it has; ``None`` is shown as an en dash
    and sorts last.

    Raises:
        ValueError: A row has another number of cells than there are columns.
    """
    for row in rows:
        if len(row) != len(columns):
            raise ValueError(f"row of {len(row)} cells in a table of {len(columns)} columns: {row}")
    numeric = [
        any(_is_number(row[at]) for row in rows)
        and all(row[at] is None or _is_number(row[at]) for row in rows)
        for at in range(len(columns))
    ]
    head = "".join(
        f'<th scope="col"{_NUMBER if right else ""}><button type="button">{escape(name)}</button>'
        "</th>"
        for name, right in zip(columns, numeric, strict=True)
    )
    body = "\n".join(
        "<tr>" + "".join(_cell(v, right) for v, right in zip(row, numeric, strict=True)) + "</tr>"
        for row in rows
    )
    return (
        f'<div class="scroll"><table data-sortable><thead><tr>{head}</tr></thead>\n'
        f"<tbody>\n{body}\n</tbody></table></div>"
    )


_NUMBER = ' class="number"'
_LONG_TEXT = 24  # shorter texts stay on one line; longer ones wrap, but not to a column of words


def _is_number(value: object) -> bool:
    return isinstance(value, int | float | Decimal) and not isinstance(value, bool)


def _cell(value: object, right: bool) -> str:
    kind = _NUMBER if right else ""
    if value is None:
        return f'<td{kind} data-value="">–</td>'
    if isinstance(value, Html):
        key = "" if value.value is None else f' data-value="{value.value!r}"'
        return f"<td{kind}{key}>{value.text}</td>"
    if isinstance(value, bool):
        return f"<td{kind}>{'yes' if value else 'no'}</td>"
    if isinstance(value, int | Decimal):
        shown = f"{value:,}".replace("-", "−")
        return f'<td{kind} data-value="{value}">{shown}</td>'
    if isinstance(value, float):
        return f'<td{kind} data-value="{value!r}">{_short(value)}</td>'
    text = str(value)
    if not kind and len(text) > _LONG_TEXT:
        kind = ' class="long"'
    return f"<td{kind}>{escape(text)}</td>"


def _short(value: float) -> str:
    """Return four significant digits, as prose has them: minus sign, no exponent where readable."""
    shown = f"{value:,.4f}" if 1e-4 <= abs(value) < 1 or value == 0 else f"{value:,.4g}"
    if "e" not in shown and "." in shown:
        shown = shown.rstrip("0").rstrip(".")
    return shown.replace("-", "−")


_POLICY = "default-src 'none'; img-src data:; style-src 'unsafe-inline'; script-src 'unsafe-inline'"

_STYLE = """
:root {
  color-scheme: light dark;
  --ground: #ffffff; --panel: #f5f6f8; --ink: #1b1f24; --faint: #59636e; --line: #d5dae0;
  --link: #0b5cad; --good: #1a7f4b; --bad: #b3261e; --warn: #9a6700;
}
@media (prefers-color-scheme: dark) {
  :root {
    --ground: #14171b; --panel: #1d2126; --ink: #e6e8eb; --faint: #9aa4af; --line: #363c44;
    --link: #79b8ff; --good: #56c48a; --bad: #ff8a80; --warn: #e3b341;
  }
}
* { box-sizing: border-box; }
body {
  margin: 0 auto; max-width: 76rem; padding: 1.25rem; background: var(--ground);
  color: var(--ink); font: 16px/1.5 system-ui, sans-serif; overflow-wrap: break-word;
}
h1 { font-size: 1.7rem; line-height: 1.2; margin: 0 0 .25rem; }
h2 {
  font-size: 1.25rem; margin: 2.2rem 0 .6rem; padding-top: .6rem; border-top: 1px solid var(--line);
}
h3 { font-size: 1.02rem; margin: 1.4rem 0 .4rem; }
a { color: var(--link); }
.subtitle, figcaption, .note { color: var(--faint); }
nav ul {
  display: flex; flex-wrap: wrap; gap: .25rem 1.1rem; list-style: none; padding: 0;
  margin: .9rem 0 0;
}
figure { margin: 1rem 0; }
figcaption, .note { font-size: .9rem; }
img { max-width: 100%; height: auto; background: #fff; border-radius: 4px; }
pre { overflow-x: auto; background: var(--panel); padding: .75rem; border-radius: 4px; }
code { font-size: .92em; }
.banner {
  border-left: 4px solid var(--warn); background: var(--panel); padding: .6rem .9rem;
  margin: 1rem 0;
}
.good { color: var(--good); } .bad { color: var(--bad); } .warn { color: var(--warn); }
.scroll { overflow-x: auto; margin: .6rem 0; border: 1px solid var(--line); border-radius: 4px; }
table { border-collapse: collapse; width: 100%; font-size: .88rem; }
th, td {
  padding: .35rem .6rem; text-align: left; vertical-align: top;
  border-bottom: 1px solid var(--line);
}
tbody tr:last-child td { border-bottom: 0; }
th { background: var(--panel); white-space: nowrap; }
td.number, th.number { text-align: right; white-space: nowrap; font-variant-numeric: tabular-nums; }
[data-sortable] td { white-space: nowrap; }
[data-sortable] td.long { white-space: normal; min-width: 14rem; }
/* The first column says what a row is: it stays while the others scroll below it. */
[data-sortable] :is(th, td):first-child { position: sticky; left: 0; z-index: 1; }
[data-sortable] td:first-child { background: var(--ground); box-shadow: 1px 0 var(--line); }
th button { all: unset; cursor: pointer; font-weight: 600; }
th button:focus-visible { outline: 2px solid var(--link); outline-offset: 2px; }
th button::after { content: " ↕"; font-size: .7em; color: var(--faint); }
th button:hover { text-decoration: underline; }
th[aria-sort=ascending] button::after { content: " ▲"; font-size: .7em; }
th[aria-sort=descending] button::after { content: " ▼"; font-size: .7em; }
@media (max-width: 40rem) {
  body { padding: .8rem; font-size: 15px; }
  h1 { font-size: 1.35rem; }
  th, td { padding: .3rem .45rem; }
  [data-sortable] td.long { min-width: 9rem; }
  [data-sortable] :is(th, td):first-child { white-space: normal; min-width: 0; max-width: 11rem; }
  figure { overflow-x: auto; }
  figure img { max-width: none; width: 42rem; }
}
@media print { body { max-width: none; } .scroll { overflow: visible; } nav { display: none; } }
"""

_SCRIPT = """
for (const table of document.querySelectorAll("table[data-sortable]")) {
  const heads = [...table.tHead.rows[0].cells];
  const key = (row, at) => {
    const cell = row.cells[at];
    const raw = cell.dataset.value ?? cell.textContent.trim();
    const number = Number(raw);
    return raw === "" ? null : Number.isNaN(number) ? raw : number;
  };
  heads.forEach((head, at) => head.querySelector("button").addEventListener("click", () => {
    const up = head.getAttribute("aria-sort") !== "ascending";
    heads.forEach((other) => other.removeAttribute("aria-sort"));
    head.setAttribute("aria-sort", up ? "ascending" : "descending");
    const rows = [...table.tBodies[0].rows].map((row) => [key(row, at), row]);
    rows.sort(([a], [b]) => {
      if (a === null || b === null) return (a === null) - (b === null);
      const order = typeof a === "number" && typeof b === "number"
        ? a - b : String(a).localeCompare(String(b));
      return up ? order : -order;
    });
    table.tBodies[0].append(...rows.map(([, row]) => row));
  }));
}
"""

_PAGE = Environment(autoescape=True, trim_blocks=True, lstrip_blocks=True).from_string(
    """<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
{{ mark | safe }}
<meta http-equiv="Content-Security-Policy" content="{{ policy }}">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>{{ title }}</title>
<style>{{ style | safe }}</style>
</head>
<body>
<header>
<h1>{{ title }}</h1>
{% if subtitle %}
<p class="subtitle">{{ subtitle }}</p>
{% endif %}
{% if sections | length > 2 %}
<nav aria-label="Contents"><ul>
{% for section in sections %}
<li><a href="#part-{{ loop.index }}">{{ section.title }}</a></li>
{% endfor %}
</ul></nav>
{% endif %}
</header>
<main>
{% for section in sections %}
<section id="part-{{ loop.index }}">
<h2>{{ section.title }}</h2>
{{ section.html | safe }}
</section>
{% endfor %}
</main>
<script>{{ script | safe }}</script>
</body>
</html>
"""
)
