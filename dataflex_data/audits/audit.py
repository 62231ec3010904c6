"""One audit from request to report folder: what the verb does, for Python users too."""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from dataflex_data.audits.benchmarks import load_benchmarks
from dataflex_data.audits.comparison import Rule
from dataflex_data.audits.contamination import Auditor
from dataflex_data.audits.corpus import open_corpus
from dataflex_data.audits.findings import findings_table
from dataflex_data.audits.minhash import BANDS, ROWS, band_recall, minhash_finder, scheme
from dataflex_data.audits.planted import planted_recall
from dataflex_data.audits.report import render_report
from dataflex_data.audits.runner import (
    ShardRunner,
    audit_corpus,
    drop_parts,
    kept_parts,
    local_runner,
    parts_folder,
)
from dataflex_data.audits.summary import summarise
from dataflex_data.audits.watching import Note, Track, compile_notice, quiet, tracked
from dataflex_data.core.errors import ConfigError, SourceUnavailableError
from dataflex_data.core.parquet import (
    MANIFEST_NAME,
    check_output_folder,
    folder_digests,
    replace_folder,
    write_json,
    write_parquet,
)
from dataflex_data.reporting.words import plural


@dataclass(frozen=True, slots=True)
class AuditRequest:
    """Everything that decides an audit; see the options of ``dfdata audit-contamination``."""

    corpus: str
    out: Path
    benchmarks: tuple[str, ...] = ()
    benchmarks_dir: Path | None = None
    benchmark_files: Mapping[str, Path] = field(default_factory=dict)
    benchmark_columns: Mapping[str, Mapping[str, str]] = field(default_factory=dict)
    allow_missing: bool = False
    text_column: str | None = None
    id_column: str | None = None
    rule: Rule = field(default_factory=Rule)
    engine: str = "exact"
    workers: int = 1
    offline: bool = False
    show_gated: bool = False
    force: bool = False


def run_audit(
    request: AuditRequest,
    *,
    runner: ShardRunner | None = None,
    track: Track | None = None,
    note: Note = quiet,
) -> dict[str, Any]:
    """Audit a corpus, write the report folder, and return what ``summary.json`` holds.

    Args:
        request: What to audit, and how.
        runner: Where shards are audited; threads of this process by default.
        track: Shows progress; None: nobody watches.
        note: Told what a person at the terminal should know.

    Raises:
        DataflexError: Bad input, a missing benchmark, or an output that cannot be written.
    """
    if not request.benchmarks and not request.benchmark_files:
        raise ConfigError(
            "audit-contamination",
            ["no benchmark is named; give --benchmarks db12, or --benchmark-file NAME=PATH"],
        )
    out = check_output_folder(request.out, force=request.force)
    started = time.perf_counter()
    corpus = open_corpus(
        request.corpus, text_column=request.text_column, id_column=request.id_column
    )
    benchmarks = load_benchmarks(
        request.benchmarks,
        folder=request.benchmarks_dir,
        files=request.benchmark_files,
        columns=request.benchmark_columns,
        offline=request.offline,
        missing="warn" if request.allow_missing else "refuse",
    )
    if not benchmarks.loaded:
        raise SourceUnavailableError(
            "none of the benchmarks could be loaded, so there is nothing to audit against; give "
            "--benchmarks-dir DIR or --benchmark-file NAME=PATH"
        )
    for name, reason in benchmarks.missing.items():
        note(f"note: benchmark {name} is left out: {reason}")
    if request.show_gated and not any(one.gated for one in benchmarks.loaded):
        note("note: --show-gated changes nothing, since none of these benchmarks is gated")
    finder = minhash_finder if request.engine == "minhash" else None
    with compile_notice(note):
        auditor = Auditor(benchmarks, request.rule, finder, show_gated=request.show_gated)
        with kept_parts(out, note), tracked(track, "rows audited", corpus) as on_rows:
            result = audit_corpus(
                corpus,
                auditor,
                runner=runner or local_runner(request.workers),
                parts=parts_folder(out),
                on_rows=on_rows,
                note=note,
            )
            corpus.require_texts(result.rows, result.empty)
    digests = corpus.digests()
    summary = summarise(
        corpus,
        benchmarks,
        auditor,
        result,
        engine=_engine(request),
        corpus_files=digests,
        recall=planted_recall(auditor),
    )
    elapsed = time.perf_counter() - started
    with replace_folder(out, force=request.force) as folder:
        write_parquet(findings_table(result.findings), folder / "findings.parquet")
        write_json(summary, folder / "summary.json")
        (folder / "report.html").write_text(
            render_report(summary, result.findings, corpus), encoding="utf-8"
        )
        manifest = {
            "kind": "contamination_audit",
            "files": folder_digests(folder),
            "corpus_files": digests,
            "benchmark_files": {one.name: dict(one.files) for one in benchmarks.loaded},
            "rule": request.rule.model_dump(mode="json"),
            "tool": summary["tool"],
            "normaliser_version": summary["normaliser_version"],
            "hash_version": summary["hash_version"],
        }
        write_json(manifest, folder / MANIFEST_NAME)
    drop_parts(out)
    note(f"audited {plural(result.rows, 'row')} in {elapsed:.1f} s")
    return summary


def _engine(request: AuditRequest) -> dict[str, Any]:
    if request.engine != "minhash":
        return {"name": request.engine, "lossless": True}
    return {
        "name": "minhash",
        "lossless": False,
        "bands": BANDS,
        "rows_per_band": ROWS,
        "recall_at_threshold": round(band_recall(request.rule.jaccard), 4),
        **scheme(request.rule.n),
    }
