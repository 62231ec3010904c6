"""The audit for people: terminal tables, and one page with both texts of each pair."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from html import escape
from typing import Any

from dataflex_data.audits.comparison import CHANNELS
from dataflex_data.audits.corpus import Corpus
from dataflex_data.audits.findings import Finding, strength
from dataflex_data.audits.pair_page import (
    MARK_WORDS,
    MOST_PAIRS,
    PAIR_STYLE,
    Side,
    histogram,
    pair_article,
    pairs_title,
)
from dataflex_data.audits.summary import headline


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
        Section(pairs_title(len(findings)), _pairs(findings, corpus)),
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
            None if one["best_containment"] is None else round(one["best_containment"], 3),
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
    columns = ["benchmark", *CHANNELS, "worst pair: row", "item", "best containment"]
    columns += ["best Jaccard"]
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
        f"{PAIR_STYLE}<p class='headline {state}'>{escape(headline(summary))}</p>"
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
    spread = {name: one["containment_histogram"] for name, one in summary["benchmarks"].items()}
    if any(counts is None for counts in spread.values()):
        return (
            "<p>Not measured: MinHash compares an item with the rows that share a band of its "
            "signature and with no other, so what the nearest row holds of an item is not known. "
            "The exact engine measures it for every item.</p>"
        )
    charts = "".join(histogram(name, counts, threshold, "items") for name, counts in spread.items())
    return (
        "<p>For each item of a benchmark: the largest share of its own n-grams that any one row "
        f"holds. The dashed line is the rule's {threshold:g}; bars grow by the logarithm of the "
        f"number of items.</p><div class='charts'>{charts}</div>"
    )


def _pairs(findings: Sequence[Finding], corpus: Corpus) -> str:
    from dataflex_data.reporting.html import Html, html_table

    if not findings:
        return "<p>No pair reaches the rule, nor the threshold for listing.</p>"
    ordered = sorted(findings, key=strength, reverse=True)[:MOST_PAIRS]
    columns = ["texts", "verdict", "benchmark", "item", "row", "channel", "best containment"]
    columns += ["best Jaccard", "longest run", "edit similarity"]
    rows: list[list[object]] = [
        [
            Html(f"<a href='#pair-{number}'>{number}</a>", number),
            Html(_verdict(one)),
            one.benchmark,
            one.item_id,
            one.row_id,
            one.channel,
            round(one.best_containment, 3),
            round(one.best_jaccard, 3),
            one.longest_run,
            None if one.similarity is None else round(one.similarity, 3),
        ]
        for number, one in enumerate(ordered, start=1)
    ]
    texts = "".join(_pair(number, one, corpus) for number, one in enumerate(ordered, start=1))
    return (
        f"<p>Runs of {MARK_WORDS} words and more that both texts share are marked. The best "
        "figures are those of the item, of its question without options, or of their LaTeX form, "
        "whichever is largest; the text of a pair tells them apart. All pairs are "
        f"in <code>findings.parquet</code>.</p>{html_table(columns, rows)}{texts}"
    )


def _pair(number: int, one: Finding, corpus: Corpus) -> str:
    told = (
        f"channels: {', '.join(one.channels) or 'none'}; shared n-grams: {one.unique} unique, "
        f"{one.shared} shared, {one.boilerplate} boilerplate; the row holds {one.containment:.2f} "
        f"of the item (question alone {one.stem_containment:.2f}, LaTeX form "
        f"{one.latex_containment:.2f}), the item {one.row_containment:.2f} of the row; Jaccard "
        f"{one.jaccard:.2f} (question alone {one.stem_jaccard:.2f}, LaTeX form "
        f"{one.latex_jaccard:.2f})"
    )
    where = f"{one.source} {corpus.names[one.file]}, row {one.row + 1}".strip()
    return pair_article(
        number,
        f"{escape(f'{one.benchmark} {one.item_id}')} · {_verdict(one)}",
        (
            Side(f"Training row {one.row_id}", where, one.row_text),
            Side("Benchmark item", f"{one.benchmark} {one.item_id}", one.item_text),
        ),
        told,
    )


def _verdict(one: Finding) -> str:
    return "<b class='bad'>flagged</b>" if one.flagged else "near"
