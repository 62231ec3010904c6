"""The figures of an audit as plain values: ``summary.json``, and what tables are made of."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from dataflex_data import __version__
from dataflex_data.audits import hashing
from dataflex_data.audits.benchmarks import BenchmarkSet
from dataflex_data.audits.comparison import CHANNELS
from dataflex_data.audits.contamination import Auditor, ShardResult
from dataflex_data.audits.corpus import Corpus
from dataflex_data.audits.findings import Finding, strength
from dataflex_data.audits.ngram_index import FEWEST_WORDS
from dataflex_data.audits.planted import DISGUISES, Recall
from dataflex_data.core.text import NORMALISER_VERSION, sha256_text
from dataflex_data.reporting.words import plural

SUMMARY_VERSION = 1
BINS = 20
LIMITS = (
    "Found: copies, copies with other case, spacing or punctuation, copies inside longer prompts, "
    "copies with a few words changed, reordered options, other LaTeX spelling.",
    "Not found: paraphrases, translations, the same problem with other numbers or names, text in "
    "images, leaks outside the columns that were read (answers and solutions are not compared).",
    "Items under 5 words are compared by equality only; items of 5 to n-1 words are found as one "
    "unbroken run of words.",
    "A question of 5 to n-1 words whose options were left out is found inside a prompt only where "
    "the prompt lists no options and the question does not point to them (the following, these, "
    "which statement); one under 5 words only where it stands alone.",
    "Letters replaced by look-alikes of another script (Cyrillic a for Latin a) make other words.",
)


def summarise(
    corpus: Corpus,
    benchmarks: BenchmarkSet,
    auditor: Auditor,
    result: ShardResult,
    *,
    engine: Mapping[str, Any],
    corpus_files: Mapping[str, str],
    recall: Sequence[Recall],
) -> dict[str, Any]:
    """Return the audit's figures.

    Args:
        corpus: What was audited.
        benchmarks: What it was compared with.
        auditor: The judge.
        result: Findings and counts over all shards.
        engine: Name of the engine and what it states about itself.
        corpus_files: SHA-256 by file name.
        recall: Planted leaks.
    """
    flagged = [one for one in result.findings if one.flagged]
    per_benchmark = {
        loaded.name: {
            "items": len(loaded.items),
            "license": loaded.license,
            "origin": loaded.origin,
            "revision": loaded.revision,
            "files": dict(loaded.files),
            "gated": loaded.gated,
            **_benchmark(loaded.name, auditor, result),
        }
        for loaded in benchmarks.loaded
    }
    same = {
        f"{name} = {loaded.name}:{other}"
        for name, digest in corpus_files.items()
        for loaded in benchmarks.loaded
        for other, other_digest in loaded.files.items()
        if digest == other_digest
    }
    return {
        "summary_version": SUMMARY_VERSION,
        "tool": f"dataflex-data {__version__}",
        "normaliser_version": NORMALISER_VERSION,
        "hash_version": hashing.HASH_VERSION,
        "corpus": {
            "name": corpus.name,
            "files": dict(corpus_files),
            "text_column": corpus.layout.text,
            "options_column": corpus.layout.options,
            "id_column": corpus.layout.id,
            "rows": result.rows,
            "words": result.words,
            "empty_rows": result.empty,
            "rows_not_utf8": result.invalid,
        },
        "engine": dict(engine),
        "rule": auditor.rule.model_dump(mode="json"),
        "rule_in_words": auditor.rule.in_words(),
        "missing_benchmarks": dict(benchmarks.missing),
        "same_files": sorted(same),
        "flagged_rows": _rows(flagged),
        "flagged_texts": len({sha256_text(one.row_text) for one in flagged}),
        "flagged_pairs": len(flagged),
        "flagged_items": len({(one.benchmark, one.item_id) for one in flagged}),
        "near_pairs": len(result.findings) - len(flagged),
        "flagged_rows_by_source": dict(
            sorted(Counter(one.source for one in _first_by_row(flagged)).items())
        ),
        "claims": _claims(auditor, result),
        "benchmarks": per_benchmark,
        "planted": [
            {
                "disguise": one.disguise,
                "what": DISGUISES[one.disguise][0],
                "planted": one.planted,
                "found": one.found,
                "planted_short": one.planted_short,
                "found_short": one.found_short,
            }
            for one in recall
        ],
        "limits": list(LIMITS),
    }


def headline(summary: Mapping[str, Any]) -> str:
    """Return the result in one sentence or two, what is missing included."""
    rows, flagged = summary["corpus"]["rows"], summary["flagged_rows"]
    hit = [name for name, one in summary["benchmarks"].items() if one["rows_flagged"]]
    told = (
        f"{flagged:,} of {plural(rows, 'row')} flagged "
        f"({plural(summary['flagged_texts'], 'different text')}), by "
        f"{plural(summary['flagged_items'], 'item')} of {', '.join(hit)}."
        if flagged
        else f"No row of {rows:,} is flagged against "
        f"{plural(len(summary['benchmarks']), 'benchmark')}."
    )
    if summary["corpus"]["rows_not_utf8"]:
        told += (
            f" {plural(summary['corpus']['rows_not_utf8'], 'row')} with bytes that are not UTF-8, "
            "which were read as ends of words."
        )
    if summary["missing_benchmarks"]:
        told += f" NOT AUDITED, not available: {', '.join(summary['missing_benchmarks'])}."
    if summary["same_files"]:
        told += f" The corpus holds a benchmark's very file: {', '.join(summary['same_files'])}."
    return told


def _benchmark(name: str, auditor: Auditor, result: ShardResult) -> dict[str, Any]:
    findings = [one for one in result.findings if one.benchmark == name]
    flagged = [one for one in findings if one.flagged]
    numbers = [n for n, item in enumerate(auditor.items) if item.benchmark == name]
    words_of, own_of = _item_sizes(auditor)
    n = auditor.rule.n
    best = _best_by_item(auditor, result)
    short = [number for number in numbers if words_of[number] < n]
    judged = [number for number in numbers if words_of[number] >= n]
    worst = max(findings, key=strength, default=None)
    return {
        "items_as_runs": sum(words_of[number] >= FEWEST_WORDS for number in short),
        "items_too_short": sum(words_of[number] < FEWEST_WORDS for number in short),
        "items_template_only": sum(
            own_of[number] == 0 for number in numbers if words_of[number] >= n
        ),
        "rows_flagged": _rows(flagged),
        "items_hit": len({one.item_id for one in flagged}),
        "pairs_flagged": len(flagged),
        "pairs_near": len(findings) - len(flagged),
        "hits": {
            channel: {
                "rows": _rows(one for one in findings if channel in one.channels),
                "items": len({one.item_id for one in findings if channel in one.channels}),
            }
            for channel in CHANNELS
        },
        "worst": None
        if worst is None
        else {
            "row_id": worst.row_id,
            "item_id": worst.item_id,
            "channel": worst.channel,
            "flagged": worst.flagged,
            "containment": worst.best_containment,
            "jaccard": worst.best_jaccard,
            "longest_run": worst.longest_run,
        },
        "best_containment": None
        if best is None
        else max((best.get(number, 0.0) for number in numbers), default=0.0),
        "containment_histogram": None
        if best is None
        else _histogram(best.get(number, 0.0) for number in judged),
    }


def _item_sizes(auditor: Auditor) -> tuple[dict[int, int], dict[int, int]]:
    """Return, per item, its words (options included) and the most own n-grams of its documents."""
    words_of: dict[int, int] = {}
    own_of: dict[int, int] = defaultdict(int)
    for doc, document in enumerate(auditor.index.documents):
        words_of.setdefault(document.item, len(document.hashes))  # the first one is the full text
        own_of[document.item] = max(own_of[document.item], int(auditor.index.n_own[doc]))
    return words_of, own_of


def _histogram(shares: Iterable[float]) -> list[int]:
    counts = [0] * BINS
    for share in shares:
        counts[min(BINS - 1, int(share * BINS))] += 1
    return counts


def _best_by_item(auditor: Auditor, result: ShardResult) -> dict[int, float] | None:
    """Return the largest share of each item that one row holds; None where none was measured."""
    if result.best is None:
        return None
    best: dict[int, float] = {}
    for doc, count in result.best.items():
        own = int(auditor.index.n_own[doc])
        item = auditor.index.documents[doc].item
        if own:
            best[item] = max(best.get(item, 0.0), count / own)
    return best


def _claims(auditor: Auditor, result: ShardResult) -> list[dict[str, Any]]:
    """Return the three claims that papers make, each with the pairs that break it."""
    jaccard, n = auditor.rule.jaccard, auditor.rule.n
    told = {
        "exact": "no prompt equals an evaluation item character by character",
        "normalised": "no prompt equals an evaluation item after normalisation",
        "jaccard": f"no pair has a {n}-gram Jaccard similarity above {jaccard:g}",
    }
    claims = []
    for channel, claim in told.items():
        broken = [one for one in result.findings if channel in one.channels]
        claims.append(
            {
                "claim": claim,
                "channel": channel,
                "holds": not broken,
                "pairs": len(broken),
                "rows": _rows(broken),
            }
        )
    return claims


def _rows(findings: Iterable[Finding]) -> int:
    return len({(one.file, one.row) for one in findings})


def _first_by_row(findings: Iterable[Finding]) -> list[Finding]:
    first: dict[tuple[int, int], Finding] = {}
    for one in findings:
        first.setdefault((one.file, one.row), one)
    return list(first.values())
