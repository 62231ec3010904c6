"""The audit for people: terminal tables, and one page with both texts of each pair."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from html import escape
from typing import Any

from dataflex_data.audits.comparison import CHANNELS
from dataflex_data.audits.contamination import Finding, strength
from dataflex_data.audits.corpus import Corpus
from dataflex_data.audits.summary import BINS, headline
from dataflex_data.core.text import words

MOST_PAIRS = 200
MARK_WORDS = 5

_WORD = re.compile(r"[^\W_]+")


def print_summary(summary: Mapping[str, Any]) -> None:
    """Print headline, claims, one line per benchmark and the planted recall."""
    from dataflex_data.reporting.terminal import console, print_table

    out = console()
    out.print(headline(summary))
    out.print(f"Rule: {summary['rule_in_words']}.")
    columns, rows = _benchmark_rows(summary)
    print_table("Per benchmark", columns, rows)
    columns, rows = _channel_rows(summary)
    if rows:
        print_table(
            "Rows by channel (a row may hit by several)", columns[:8], [r[:8] for r in rows]
        )
        print_table(
            "Worst pair",
            ["benchmark", *columns[8:]],
            [[row[0], *row[8:]] for row in rows],
        )
    print_table(
        "Claims of papers",
        ["claim", "holds", "pairs", "rows"],
        [[c["claim"], c["holds"], c["pairs"], c["rows"]] for c in summary["claims"]],
    )
    print_table(*_planted_rows(summary))


def render_report(summary: Mapping[str, Any], findings: Sequence[Finding], corpus: Corpus) -> str:
    """Return the page. ``findings`` come as they may be shown, gated texts hidden already."""
    from dataflex_data.reporting.html import Section, html_table, render_page

    columns, rows = _benchmark_rows(summary)
    planted_title, planted_columns, planted = _planted_rows(summary)
    sections = [
        Section("Result", _result(summary)),
        Section("Per benchmark", html_table(columns, rows)),
        Section("Rows by channel, and the worst pair", html_table(*_channel_rows(summary))),
        Section("How near the nearest row comes to each item", _distributions(summary)),
        Section(_pairs_title(findings), _pairs(findings, corpus)),
        Section(planted_title, html_table(planted_columns, planted)),
        Section("How it was done", _method(summary)),
    ]
    return render_page(
        "Contamination audit",
        sections,
        subtitle=f"{summary['corpus']['name']} · {summary['corpus']['rows']:,} rows",
    )


def _benchmark_rows(summary: Mapping[str, Any]) -> tuple[list[str], list[list[object]]]:
    columns = ["benchmark", "items", "as runs", "too short", "rows flagged", "items hit"]
    columns += ["near pairs", "best containment"]
    rows: list[list[object]] = [
        [
            name,
            one["items"],
            one["items_as_runs"],
            one["items_too_short"],
            one["rows_flagged"],
            one["items_hit"],
            one["pairs_near"],
            round(one["best_containment"], 3),
        ]
        for name, one in summary["benchmarks"].items()
    ]
    rows += [
        [f"{name}: NOT AUDITED", *[None] * (len(columns) - 1)]
        for name in summary["missing_benchmarks"]
    ]
    return columns, rows


def _channel_rows(summary: Mapping[str, Any]) -> tuple[list[str], list[list[object]]]:
    """Return rows that hit by channel, and the worst pair, of the benchmarks with any pair."""
    columns = ["benchmark", *CHANNELS, "worst pair: row", "item", "containment", "Jaccard"]
    rows: list[list[object]] = [
        [
            name,
            *(one["hits"][channel]["rows"] for channel in CHANNELS),
            one["worst"]["row_id"],
            one["worst"]["item_id"],
            round(one["worst"]["containment"], 3),
            round(one["worst"]["jaccard"], 3),
        ]
        for name, one in summary["benchmarks"].items()
        if one["worst"] is not None
    ]
    return columns, rows


def _planted_rows(summary: Mapping[str, Any]) -> tuple[str, list[str], list[list[object]]]:
    n = summary["rule"]["n"]
    return (
        "Planted leaks, found by this very run",
        ["disguise", "what was done", f"items of {n}+ words", "found", "shorter items", "found "],
        [
            [
                one["disguise"],
                one["what"],
                one["planted"],
                one["found"],
                one["planted_short"],
                one["found_short"],
            ]
            for one in summary["planted"]
        ],
    )


def _result(summary: Mapping[str, Any]) -> str:
    state = "bad" if summary["flagged_rows"] or summary["missing_benchmarks"] else "good"
    claims = "".join(
        f"<li><b>{'holds' if one['holds'] else 'broken'}</b>: {escape(one['claim'])}"
        + ("" if one["holds"] else f" ({one['pairs']:,} pairs, {one['rows']:,} rows)")
        + "</li>"
        for one in summary["claims"]
    )
    missing = "".join(
        f"<li><b>{escape(name)}</b> was not audited: {escape(reason)}</li>"
        for name, reason in summary["missing_benchmarks"].items()
    )
    sources = summary["flagged_rows_by_source"]
    by_source = ", ".join(f"{escape(n or 'unnamed')}: {c:,}" for n, c in sources.items())
    return (
        f"{_STYLE}<p class='headline {state}'>{escape(headline(summary))}</p>"
        f"<p>{escape(_sentence(summary['rule_in_words']))}</p>"
        + (f"<p>Flagged rows by source: {by_source}.</p>" if sources else "")
        + f"<p>The three claims that papers make:</p><ul>{claims}</ul>"
        + (f"<ul>{missing}</ul>" if missing else "")
    )


def _sentence(text: str) -> str:
    return text[:1].upper() + text[1:] + "."


def _method(summary: Mapping[str, Any]) -> str:
    corpus, engine = summary["corpus"], summary["engine"]
    limits = "".join(f"<li>{escape(limit)}</li>" for limit in summary["limits"])
    stated = ", ".join(f"{key} {value}" for key, value in engine.items())
    files = "".join(
        f"<li><code>{escape(name)}</code> {digest[:16]}</li>"
        for name, digest in corpus["files"].items()
    )
    return (
        f"<p>{escape(summary['tool'])}; normaliser {summary['normaliser_version']}, hash "
        f"{summary['hash_version']}; engine: {escape(stated)}. Text column "
        f"<code>{escape(corpus['text_column'])}</code>; {corpus['words']:,} words, "
        f"{corpus['empty_rows']:,} empty rows, {corpus['rows_not_utf8']:,} rows with bytes that "
        f"are not UTF-8. Every pair was confirmed on its text.</p><ul>{limits}</ul>"
        f"<p>Corpus files (SHA-256):</p><ul>{files}</ul>"
    )


def _distributions(summary: Mapping[str, Any]) -> str:
    threshold = summary["rule"]["containment"]
    charts = "".join(
        _histogram(name, one["containment_histogram"], threshold)
        for name, one in summary["benchmarks"].items()
    )
    return (
        "<p>For each item of a benchmark: the largest share of its own n-grams that any one row "
        f"holds. The dashed line is the rule's {threshold:g}; bars grow by the logarithm of the "
        f"number of items.</p><div class='charts'>{charts}</div>"
    )


def _histogram(name: str, counts: Sequence[int], threshold: float) -> str:
    from math import log10

    width, height, base = 240, 90, 70
    top = max(1.0, *(log10(count + 1) for count in counts))
    step = width / BINS
    bars = "".join(
        f"<rect class='{'over' if bin_ / BINS >= threshold else 'under'}' x='{bin_ * step:.1f}' "
        f"y='{base - base * log10(count + 1) / top:.1f}' width='{step - 1:.1f}' "
        f"height='{base * log10(count + 1) / top:.1f}'><title>{bin_ / BINS:.2f} to "
        f"{(bin_ + 1) / BINS:.2f}: {count:,} items</title></rect>"
        for bin_, count in enumerate(counts)
        if count
    )
    at = threshold * width
    return (
        f"<figure><svg viewBox='0 0 {width} {height}' role='img' "
        f"aria-label='similarity distribution of {escape(name)}'>{bars}"
        f"<line x1='0' y1='{base}' x2='{width}' y2='{base}'/>"
        f"<line class='rule' x1='{at:.1f}' y1='0' x2='{at:.1f}' y2='{base}'/>"
        f"<text x='0' y='{height - 6}'>0</text>"
        f"<text x='{width}' y='{height - 6}' text-anchor='end'>1</text></svg>"
        f"<figcaption>{escape(name)} ({sum(counts):,} items)</figcaption></figure>"
    )


def _pairs_title(findings: Sequence[Finding]) -> str:
    shown = min(len(findings), MOST_PAIRS)
    more = f", the {shown} strongest of {len(findings):,}" if shown < len(findings) else ""
    return f"Pairs{more}"


def _pairs(findings: Sequence[Finding], corpus: Corpus) -> str:
    from dataflex_data.reporting.html import Html, html_table

    if not findings:
        return "<p>No pair reaches the rule, nor the threshold for listing.</p>"
    ordered = sorted(findings, key=strength, reverse=True)[:MOST_PAIRS]
    columns = ["texts", "verdict", "benchmark", "item", "row", "channel", "containment"]
    columns += ["Jaccard", "longest run", "edit similarity"]
    rows: list[list[object]] = [
        [
            Html(f"<a href='#pair-{number}'>{number}</a>"),
            Html("<b class='bad'>flagged</b>" if one.flagged else "near"),
            one.benchmark,
            one.item_id,
            one.row_id,
            one.channel,
            round(max(one.containment, one.latex_containment), 3),
            round(max(one.jaccard, one.latex_jaccard), 3),
            one.longest_run,
            None if one.similarity is None else round(one.similarity, 3),
        ]
        for number, one in enumerate(ordered, start=1)
    ]
    texts = "".join(_pair(number, one, corpus) for number, one in enumerate(ordered, start=1))
    return (
        f"<p>Runs of {MARK_WORDS} words and more that both texts share are marked. All pairs are "
        f"in <code>findings.parquet</code>.</p>{html_table(columns, rows)}{texts}"
    )


def _pair(number: int, one: Finding, corpus: Corpus) -> str:
    left, right = marked(one.row_text, one.item_text)
    split = f"{one.unique} unique, {one.shared} shared, {one.boilerplate} boilerplate"
    where = f"{corpus.names[one.file]}, row {one.row + 1}"
    told = [
        f"channels: {', '.join(one.channels) or 'none'}",
        f"shared n-grams: {split}",
        f"the row holds {one.containment:.2f} of the item, the item {one.row_containment:.2f} of "
        "the row",
    ]
    verdict = "<b class='bad'>flagged</b>" if one.flagged else "near"
    return (
        f"<article id='pair-{number}'><h3>{number}. {escape(one.benchmark)} "
        f"{escape(one.item_id)} · {verdict}</h3><p class='note'>{escape('; '.join(told))}.</p>"
        f"<div class='sides'><div><h4>Training row {escape(one.row_id)}"
        f"<br><span class='note'>{escape(one.source)} {escape(where)}</span></h4>"
        f"<p class='text'>{left}</p></div>"
        f"<div><h4>Benchmark item</h4><p class='text'>{right}</p></div></div></article>"
    )


def marked(first: str, second: str) -> tuple[str, str]:
    """Return both texts as HTML, the runs of `MARK_WORDS` and more words they share marked."""
    spans = [list(_WORD.finditer(text)) for text in (first, second)]
    folded = [["".join(words(match[0])) for match in found] for found in spans]
    runs = [
        {tuple(side[at : at + MARK_WORDS]) for at in range(len(side) - MARK_WORDS + 1)}
        for side in folded
    ]
    both = runs[0] & runs[1]
    pages = []
    for text, found, side in zip((first, second), spans, folded, strict=True):
        inside = [False] * len(side)
        for at in range(len(side) - MARK_WORDS + 1):
            if tuple(side[at : at + MARK_WORDS]) in both:
                inside[at : at + MARK_WORDS] = [True] * MARK_WORDS
        pages.append(_with_marks(text, found, inside))
    return pages[0], pages[1]


def _with_marks(text: str, found: Sequence[re.Match[str]], inside: Sequence[bool]) -> str:
    parts: list[str] = []
    done, at = 0, 0
    while at < len(found):
        if not inside[at]:
            at += 1
            continue
        end = at
        while end + 1 < len(found) and inside[end + 1]:
            end += 1
        parts.append(escape(text[done : found[at].start()]))
        parts.append(f"<mark>{escape(text[found[at].start() : found[end].end()])}</mark>")
        done, at = found[end].end(), end + 1
    parts.append(escape(text[done:]))
    return "".join(parts)


_STYLE = """<style>
.headline { font-size: 1.15rem; border-left: 4px solid; padding: .5rem 1rem; }
.headline.bad { border-color: var(--bad); } .headline.good { border-color: var(--good); }
.sides { display: grid; grid-template-columns: 1fr 1fr; gap: 1rem; }
.sides h4 { margin: .2rem 0; font-size: .9rem; }
.text {
  white-space: pre-wrap; overflow-wrap: anywhere; font-size: .88rem; margin: 0; padding: .6rem;
  background: var(--panel); border-radius: 4px;
}
mark { background: #ffd54a; color: #1b1f24; border-radius: 2px; }
.charts { display: grid; grid-template-columns: repeat(auto-fill, minmax(13rem, 1fr)); gap: 1rem; }
.charts figure { margin: 0; }
.charts svg { width: 100%; height: auto; }
.charts text { font-size: 10px; fill: currentColor; }
.charts line { stroke: currentColor; stroke-width: .7; }
.charts line.rule { stroke-dasharray: 3 2; }
.charts rect.under { fill: #0072b2; }
.charts rect.over { fill: #d55e00; }
@media (max-width: 40rem) { .sides { grid-template-columns: 1fr; } }
</style>"""
