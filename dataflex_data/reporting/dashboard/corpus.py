"""The dashboard's sections of a corpus and of its audit."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from html import escape

from dataflex_data.reporting.dashboard.files import Corpus, Found
from dataflex_data.reporting.dashboard.models import AuditSummary, Verification
from dataflex_data.reporting.dashboard.parts import damage_html, details, listed, note
from dataflex_data.reporting.dashboard.rows import read_rows
from dataflex_data.reporting.html import html_table
from dataflex_data.reporting.svg import bar_chart


def corpus_html(corpus: Corpus, found: Found, *, sample_rows: int) -> str:
    """Return a corpus: rows, sources, self-check, difficulty, some of its rows."""
    manifest = corpus.manifest
    parts = [f"<p>{escape(manifest.description)}</p>", damage_html(corpus.damage)]
    non_commercial = sorted(name for name, s in manifest.sources.items() if "-NC" in s.license)
    if non_commercial:
        told = f"Non-commercial: rows of {', '.join(non_commercial)} may not be used commercially."
        parts.append(f'<p class="warn">{escape(told)}</p>')
    splits = list(manifest.rows)
    parts.append(
        html_table(
            ["domain", *splits],
            [
                [domain, *(manifest.rows[split].by_domain.get(domain, 0) for split in splits)]
                for domain in manifest.domains
            ],
        )
    )
    parts.append("<h3>Sources</h3>")
    parts.append(
        html_table(
            ["source", "domain", "origin", "license", "read", "left out", *splits],
            [
                [
                    name,
                    source.domain,
                    f"{source.repo_id} ({source.origin})",
                    source.license,
                    source.raw,
                    sum(source.dropped.values()),
                    *(source.drawn.get(split, 0) for split in splits),
                ]
                for name, source in manifest.sources.items()
            ],
        )
    )
    dropped = [
        [name, reason, count]
        for name, source in manifest.sources.items()
        for reason, count in source.dropped.items()
    ]
    if dropped:
        parts.append(
            details("Left out, by reason", html_table(["source", "reason", "records"], dropped))
        )
    parts.append(_selfcheck(corpus, found.verifications))
    parts.append(_decontamination(corpus))
    view = read_rows(corpus, found.audits, sample_rows=sample_rows)
    charts = [
        bar_chart(f"{source}: rows by difficulty", bars, number)
        for number, (source, bars) in enumerate(view.difficulty.items())
    ]
    charts += [
        bar_chart(f"{split}: {name.replace('_', ' ')}", _in_order(counts))
        for split, held in manifest.histograms.items()
        if split == "train"
        for name, counts in held.items()
    ]
    parts.append("<h3>Difficulty and answers</h3>")
    if charts:
        parts.append(
            note(
                "Difficulty is what each source says of its records, on a scale of its own: the "
                "level of a computed problem, the branchings of a knights-and-knaves puzzle's "
                "solver, the steps of a worked solution. Numbers of two sources are not comparable."
            )
        )
    if view.without_difficulty:
        parts.append(
            note(f"No difficulty is known for rows of {', '.join(view.without_difficulty)}.")
        )
    parts.append(f'<div class="charts">{"".join(charts)}</div>')
    parts.append("<h3>Some rows</h3>")
    parts += [f'<p class="bad">{escape(problem)}</p>' for problem in view.problems]
    if manifest.is_evaluation:
        parts.append(note("These are evaluation items, whose texts are not shown here."))
    if view.withheld:
        parts.append(
            note(f"{view.withheld} rows are near an item of a gated benchmark and were not chosen.")
        )
    for row in view.samples:
        head = f"{row.domain} · {row.source} · {row.license} · {row.row_id[:12]}"
        parts.append(
            f"<h4>{escape(head)}</h4><pre class='row'>{escape(row.prompt)}</pre>"
            f"<p>Gold: <code>{escape(row.gold)}</code></p>"
        )
    parts += [note(remark) for remark in manifest.notes]
    ids = [
        ["made by", manifest.command],
        ["corpus_sha256", manifest.corpus_sha256],
        ["manifest_sha256", manifest.manifest_sha256],
    ]
    parts.append(details("Which corpus this is", html_table(["what", "value"], ids)))
    return "".join(parts)


def _in_order(counts: Mapping[str, int]) -> list[tuple[str, float]]:
    """Return a histogram of the manifest by number where its names have one: JSON sorts texts."""

    def key(name: str) -> tuple[float, bool, str]:
        digits = re.search(r"\d+", name)
        return (float(digits[0]) if digits else 0.0, name.startswith(">"), name)

    return [(name, float(counts[name])) for name in sorted(counts, key=key)]


def _selfcheck(corpus: Corpus, verifications: Sequence[tuple[str, Verification]]) -> str:
    mine = [
        (label, outcome)
        for label, outcome in verifications
        if outcome.corpus.manifest_sha256 == corpus.manifest.manifest_sha256
    ]
    head = "<h3>Self-check</h3>"
    if not mine:
        return f"{head}{note('No verification of this very corpus is here.')}"
    parts = [head]
    for label, outcome in mine:
        if corpus.damage:
            told = (
                f"{label}: not about these files: {', '.join(corpus.damage)} "
                f"{'is' if len(corpus.damage) == 1 else 'are'} not as verified"
            )
            again = note(f"Verify again: dfdata verify {corpus.folder} --out DIR")
            parts.append(f'<p class="bad"><b>{escape(told)}.</b></p>{again}')
            continue
        state, told = ("good", "every check holds") if outcome.ok else ("bad", "there are problems")
        parts.append(f'<p class="{state}"><b>{escape(label)}: {told}.</b></p>')
        parts.append(
            html_table(
                ["check", "result", "problems"],
                [[check.name, check.result, check.problem_count] for check in outcome.checks],
            )
        )
        told_of = [
            f"{escape(check.name)}: {escape(text)}"
            for check in outcome.checks
            for text in (*check.problems[:5], *check.unchecked)
        ]
        parts.append(listed(told_of) if told_of else "")
    return "".join(parts)


def _decontamination(corpus: Corpus) -> str:
    check = corpus.manifest.decontamination
    if corpus.manifest.is_evaluation:
        return ""
    if check is None:
        return note("The build checked these rows against no evaluation set.")
    told = (
        f"The build checked {check.rows_checked:,} records against {len(check.benchmarks)} "
        f"evaluation sets and left out {check.rows_flagged:,}."
    )
    if check.missing:
        told += f" Not checked against {', '.join(check.missing)}."
    return f"<p>{escape(told)}</p>"


def audit_html(
    audit: AuditSummary, headline: str, corpora: Sequence[Corpus], damage: Mapping[str, str]
) -> str:
    """Return an audit: its verdict, what it is of, each benchmark, and what it finds of plants."""
    state = "bad" if audit.flagged_rows else "warn" if audit.missing_benchmarks else "good"
    of = [
        corpus
        for corpus in corpora
        if audit.corpus.files
        and set(audit.corpus.files.values())
        <= {entry.sha256 for entry in corpus.manifest.files.values()}
    ]
    same = [corpus.label for corpus in of if not corpus.damage]
    changed = [corpus.label for corpus in of if corpus.damage]
    tied = f"It audited {audit.corpus.name}, whose files are no corpus shown here."
    if same:
        tied = f"It audited the very files of {', '.join(same)}."
    elif changed:
        tied = f"It audited {', '.join(changed)}, whose files have changed since."
    columns_ = ["benchmark", "items", "rows flagged", "items hit", "near pairs"]
    columns_ += ["best containment", "nearest row", "nearest item", "texts"]
    table: list[list[object]] = [
        [
            name,
            one.items,
            one.rows_flagged,
            one.items_hit,
            one.pairs_near,
            one.best_containment,
            one.worst.row_id[:12] if one.worst else None,
            one.worst.item_id if one.worst else None,
            "gated" if one.gated else "open",
        ]
        for name, one in audit.benchmarks.items()
    ]
    table += [
        [f"{name}: NOT AUDITED", *[None] * (len(columns_) - 1)] for name in audit.missing_benchmarks
    ]
    claims = listed(
        [
            f"<b>{'holds' if one.holds else 'broken'}</b>: {escape(one.claim)}"
            + ("" if one.holds else f" ({one.pairs:,} pairs, {one.rows:,} rows)")
            for one in audit.claims
        ]
    )
    recall = html_table(
        ["disguise", "what was done", "planted", "found", "short, planted", "short, found"],
        [
            [p.disguise, p.what, p.planted, p.found, p.planted_short, p.found_short]
            for p in audit.planted
        ],
    )
    return (
        f'<p class="headline {state}">{escape(headline)}</p><p>{escape(tied)}</p>'
        f"{damage_html(damage)}{claims}"
        f"<h3>Per benchmark</h3>{html_table(columns_, table)}"
        f"<h3>Planted leaks that this audit found</h3>{recall}"
        f"{note(f'Rule: {audit.rule_in_words}.')}"
    )
