"""The search for near-duplicates from request to report folder, as the verb does it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from html import escape
from pathlib import Path
from typing import Any

from dataflex_data import __version__
from dataflex_data.audits.corpus import Corpus, open_corpus
from dataflex_data.audits.near_duplicate import (
    DuplicateRule,
    Duplicates,
    Pair,
    drops_table,
    find_duplicates,
    pairs_table,
    summarise_duplicates,
)
from dataflex_data.audits.pair_page import (
    MARK_WORDS,
    MOST_PAIRS,
    PAIR_STYLE,
    Side,
    histogram,
    pair_article,
    pairs_title,
)
from dataflex_data.audits.watching import Note, Track, compile_notice, quiet, tracked
from dataflex_data.core.parquet import (
    MANIFEST_NAME,
    check_output_folder,
    folder_digests,
    replace_folder,
    write_json,
    write_parquet,
)

_TEXT_LIMIT = 20_000  # characters of a text shown on the page
_Tables = tuple[str, list[str], list[list[object]]]


@dataclass(frozen=True, slots=True)
class DuplicateRequest:
    """Everything that decides a search; see the options of ``dfdata audit-duplicates``."""

    corpus: str
    out: Path | None = None
    text_column: str | None = None
    id_column: str | None = None
    rule: DuplicateRule = field(default_factory=DuplicateRule)
    force: bool = False


def run_duplicate_audit(
    request: DuplicateRequest, *, track: Track | None = None, note: Note = quiet
) -> dict[str, Any]:
    """Search a corpus, write the report folder if one is named, and return the summary.

    Args:
        request: What to search, and how.
        track: Shows progress; None: nobody watches.
        note: Told what a person at the terminal should know.

    Raises:
        DataflexError: Bad input, or an output that cannot be written.
    """
    out = None if request.out is None else check_output_folder(request.out, force=request.force)
    corpus = open_corpus(
        request.corpus, text_column=request.text_column, id_column=request.id_column
    )
    with compile_notice(note), tracked(track, "rows read", corpus) as on_rows:
        found = find_duplicates(corpus, request.rule, on_rows)
    corpus.require_texts(len(found.members), found.empty)
    summary = summarise_duplicates(corpus, found, request.rule)
    if out is not None:
        digests = corpus.digests()
        with replace_folder(out, force=request.force) as folder:
            write_parquet(pairs_table(found), folder / "pairs.parquet")
            write_parquet(drops_table(found), folder / "drop.parquet")
            write_json(summary, folder / "summary.json")
            (folder / "report.html").write_text(
                render_duplicates(summary, found, corpus), encoding="utf-8"
            )
            manifest = {
                "kind": "duplicate_audit",
                "files": folder_digests(folder),
                "corpus_files": digests,
                "rule": request.rule.model_dump(mode="json"),
                "tool": f"dataflex-data {__version__}",
            }
            write_json(manifest, folder / MANIFEST_NAME)
    return summary


def print_duplicates(summary: Mapping[str, Any]) -> None:
    """Print headline, what was not compared, and the tables."""
    from dataflex_data.reporting.terminal import console, print_table

    out = console()
    out.print(headline(summary))
    if summary["short_rows"] or summary["empty_rows"]:
        out.print(_not_compared(summary))
    for title, columns, rows in _tables(summary):
        print_table(title, columns, rows)


def headline(summary: Mapping[str, Any]) -> str:
    """Return the result in a few sentences."""
    rule, engine = summary["rule"], summary["engine"]
    return (
        f"{summary['pairs']:,} near-duplicate pairs (Jaccard of {rule['n']}-grams >= "
        f"{rule['jaccard']:g}, or the same words) among {summary['corpus']['rows']:,} rows; "
        f"{summary['rows_to_drop']:,} rows would go, {summary['clusters']:,} stay for them "
        f"(keep: {rule['keep']}). Engine: {engine['name']}, "
        + (
            "no pair missed."
            if engine["lossless"]
            else f"recall {engine['recall']:.3f} at the threshold; every pair was verified."
        )
    )


def _not_compared(summary: Mapping[str, Any]) -> str:
    return (
        f"{summary['short_rows']:,} rows have fewer than {summary['rule']['n']} words and were "
        f"compared by equality only; {summary['empty_rows']:,} are empty and were not compared."
    )


def _tables(summary: Mapping[str, Any]) -> list[_Tables]:
    kinds: list[list[object]] = [[kind, n] for kind, n in summary["pairs_by_kind"].items()]
    kinds += [[f"across {name}", n] for name, n in summary["pairs_across_sources"].items()]
    kinds.append(["across files", summary["pairs_across_files"]])
    tables: list[_Tables] = [("Pairs by kind", ["kind", "pairs"], kinds)]
    dropped: list[list[object]] = [[k or "-", n] for k, n in summary["dropped_by_source"].items()]
    if dropped:
        tables.append(("Rows that would go, by source", ["source", "rows"], dropped))
    return tables


def render_duplicates(summary: Mapping[str, Any], found: Duplicates, corpus: Corpus) -> str:
    """Return the page: the figures, the spread of similarities, and the pairs side by side."""
    from dataflex_data.reporting.html import Section, html_table, render_page

    state = "bad" if summary["pairs"] else "good"
    result = (
        f"{PAIR_STYLE}<p class='headline {state}'>{escape(headline(summary))}</p>"
        f"<p>{escape(_not_compared(summary))}</p>"
    )
    threshold = summary["rule"]["jaccard"]
    spread = (
        "<p>Jaccard similarity of the pairs found; none below the dashed line is looked for. Bars "
        "grow by the logarithm of the number of pairs.</p><div class='charts'>"
        f"{histogram('all pairs', summary['jaccard_histogram'], threshold, 'pairs')}</div>"
    )
    sections = [
        Section("Result", result),
        *(Section(title, html_table(cols, rows)) for title, cols, rows in _tables(summary)),
        Section("How alike the pairs are", spread),
        Section(pairs_title(len(found.pairs)), _pairs(found, corpus)),
        Section("How it was done", _method(summary)),
    ]
    return render_page(
        "Near-duplicates",
        sections,
        subtitle=f"{summary['corpus']['name']} · {summary['corpus']['rows']:,} rows",
    )


def _pairs(found: Duplicates, corpus: Corpus) -> str:
    from dataflex_data.reporting.html import Html, html_table

    if not found.pairs:
        return "<p>No pair reaches the threshold.</p>"
    goes = {drop.dropped for drop in found.drops}
    # Pairs that are not equal come first: they are the ones a person should look at.
    ordered = sorted(found.pairs, key=lambda pair: (pair.kind != "near", pair.jaccard, pair.first))
    shown = list(enumerate(ordered[:MOST_PAIRS], start=1))
    columns = ["texts", "kind", "Jaccard", "first row", "second row", "first", "second"]
    rows: list[list[object]] = [
        [
            Html(f"<a href='#pair-{number}'>{number}</a>", number),
            pair.kind,
            round(pair.jaccard, 3),
            found.members[pair.first].row_id,
            found.members[pair.second].row_id,
            *("goes" if one in goes else "stays" for one in (pair.first, pair.second)),
        ]
        for number, pair in shown
    ]
    texts = "".join(_pair(number, pair, found, goes, corpus) for number, pair in shown)
    return (
        "<p>The least alike come first, since they are worth a look; equal texts stand last. Runs "
        f"of {MARK_WORDS} words and more that both texts share are marked. All pairs are in "
        f"<code>pairs.parquet</code>.</p>{html_table(columns, rows)}{texts}"
    )


def _pair(number: int, pair: Pair, found: Duplicates, goes: set[int], corpus: Corpus) -> str:
    def side(one: int) -> Side:
        member = found.members[one]
        return Side(
            f"{'Goes' if one in goes else 'Stays'}: {member.row_id}",
            f"{member.source} {corpus.names[member.file]}, row {member.row + 1}".strip(),
            found.texts[one][:_TEXT_LIMIT].encode("utf-8", "replace").decode("utf-8"),
        )

    sides = side(pair.first), side(pair.second)
    return pair_article(number, f"{pair.kind}, Jaccard {pair.jaccard:.3f}", sides)


def _method(summary: Mapping[str, Any]) -> str:
    files = "".join(f"<li><code>{escape(name)}</code></li>" for name in summary["corpus"]["files"])
    stated = ", ".join(f"{key} {value}" for key, value in summary["engine"].items())
    return (
        f"<p>dataflex-data {escape(__version__)}; engine: {escape(stated)}. Every pair was "
        "confirmed on its text. A row goes only for a row that stays and that it resembles itself, "
        "so that a chain A, B, C with A unlike C keeps A and C. Not found: paraphrases, "
        "translations, the same problem with other numbers.</p>"
        f"<p>{escape(summary['memory'])}</p><p>Corpus files:</p><ul>{files}</ul>"
    )
