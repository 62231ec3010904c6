"""The dashboard's page: what was found, what is missing, and a section for each thing.

Equal files give an equal page.
"""

from __future__ import annotations

from collections.abc import Callable
from html import escape

from dataflex_data import __version__
from dataflex_data.reporting.dashboard.corpus import audit_html, corpus_html
from dataflex_data.reporting.dashboard.evaluation import evaluation_html
from dataflex_data.reporting.dashboard.files import DEEPEST, MOST_ENTRIES, Found
from dataflex_data.reporting.dashboard.models import AuditSummary
from dataflex_data.reporting.dashboard.parts import details, listed
from dataflex_data.reporting.dashboard.runs import runs_html
from dataflex_data.reporting.html import Section, html_table, render_page
from dataflex_data.reporting.ledger_report import labelled
from dataflex_data.reporting.svg import CHART_STYLE

Headline = Callable[[AuditSummary], str]

_STYLE = f"""<style>{CHART_STYLE}
.headline {{ font-size: 1.08rem; border-left: 4px solid; padding: .4rem .9rem; }}
.headline {{ border-color: var(--line); }}
.headline.bad {{ border-color: var(--bad); }} .headline.good {{ border-color: var(--good); }}
.headline.warn {{ border-color: var(--warn); }}
details {{ margin: .6rem 0; }} summary {{ cursor: pointer; font-weight: 600; }}
pre.row {{
  white-space: pre-wrap; overflow-wrap: anywhere; unicode-bidi: isolate; font-size: .86rem;
  margin: .2rem 0 .8rem;
}}
code {{ overflow-wrap: anywhere; }}
.heat {{ padding: .1rem .4rem; border-radius: 3px; }}
</style>"""


def render_dashboard(
    found: Found, title: str, *, audit_headline: Headline, sample_rows: int = 2
) -> str:
    """Return the page.

    Args:
        found: What to show.
        title: Heading of the page.
        audit_headline: Says an audit's result in a sentence; the audits have the words for it.
        sample_rows: Rows shown of each domain of a corpus.
    """
    sections = [
        Section("What is here", _STYLE + _overview(found)),
        *(
            Section(
                _heading("Corpus", corpus.label),
                corpus_html(corpus, found, sample_rows=sample_rows),
            )
            for corpus in found.corpora
        ),
        *(
            Section(
                _heading("Audit", label),
                audit_html(
                    *(audit, audit_headline(audit), found.corpora), found.damage.get(folder, {})
                ),
            )
            for label, folder, audit in found.audits
        ),
        *([Section("Runs", runs_html(labelled(found.ledgers)))] if found.ledgers else []),
        *(
            Section(_heading("Evaluation", label), evaluation_html(results))
            for label, results in found.evaluations
        ),
    ]
    return render_page(title, sections, subtitle=f"dataflex-data {__version__}")


def _heading(kind: str, label: str) -> str:
    """Return ``Audit three``, and ``Audit`` alone where the folder is called just that."""
    return kind if kind.casefold().startswith(label.casefold()) else f"{kind} {label}"


def _overview(found: Found) -> str:
    lines: list[list[object]] = [
        ["corpus", corpus.label, f"{sum(s.total for s in corpus.manifest.rows.values()):,} rows"]
        for corpus in found.corpora
    ]
    lines += [
        [
            "verification",
            label,
            "of files that have changed since"
            if found.is_stale(outcome)
            else "every check holds"
            if outcome.ok
            else "problems found",
        ]
        for label, outcome in found.verifications
    ]
    lines += [
        ["audit", label, f"{audit.flagged_rows:,} of {audit.corpus.rows:,} rows flagged"]
        for label, _, audit in found.audits
    ]
    lines += [
        ["ledger", run.label, f"{len(run.ledger.rows):,} steps"] for run in labelled(found.ledgers)
    ]
    lines += [
        ["evaluation", label, f"{results.summary.runs:,} runs, {results.status}"]
        for label, results in found.evaluations
    ]
    parts = [html_table(["what", "where", "in short"], lines)]
    if missing := _missing(found):
        parts.append(f"<p>Not here, and what makes it:</p>{listed(missing)}")
    if found.unusable:
        problems = listed([escape(problem) for problem in found.unusable])
        parts.append(f'<div class="banner"><p><b>Cannot be used:</b></p>{problems}</div>')
    if found.damaged:
        problems = listed([escape(problem) for problem in found.damaged])
        parts.append(f'<div class="banner"><p><b>Not whole:</b></p>{problems}</div>')
    also = [f"{escape(label)}: {escape(kind)}" for label, kind in found.others]
    if found.not_ledgers:
        also.append(f"{found.not_ledgers:,} .jsonl files that are no ledgers")
    if found.is_cut:
        also.append(
            f"more than {MOST_ENTRIES:,} files: the search ended there; give a smaller folder"
        )
    if also:
        parts.append(details(f"Also there, to a depth of {DEEPEST} folders", listed(also)))
    return "".join(parts)


def _missing(found: Found) -> list[str]:
    corpus = found.corpora[0].folder if found.corpora else "CORPUS"
    verified = {outcome.corpus.manifest_sha256 for _, outcome in found.verifications}
    open_ = [one for one in found.corpora if one.manifest.manifest_sha256 not in verified]
    told = []
    if not found.corpora:
        told.append("a corpus: <code>dfdata build --recipe three_domain_offline --out DIR</code>")
    told += [
        f"a verification of {escape(one.label)}: <code>dfdata verify {escape(str(one.folder))} "
        "--out DIR</code>"
        for one in open_
    ]
    if not found.audits:
        told.append(
            f"an audit: <code>dfdata audit-contamination {escape(str(corpus))} --benchmarks db12 "
            "--out DIR</code>"
        )
    if not found.ledgers:
        told.append(
            "a ledger: any run of verl with <code>+dataflex.*</code> keys writes one, and so does "
            "<code>dfdata simulate --out DIR</code>"
        )
    if not found.evaluations:
        told.append(
            "an evaluation: <code>dfdata evaluate RUNS --contract CONTRACT --out DIR</code>"
        )
    return told
