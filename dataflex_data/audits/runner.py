"""Runs an audit over the shards of a corpus: locally, or wherever a given runner sends them.

Each finished shard is kept beside the output until the report stands, so that an audit that was
killed does not repeat it.
"""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from pathlib import Path

from dataflex_data.audits.contamination import Auditor, ShardResult, audit_shards
from dataflex_data.audits.corpus import Corpus, Layout, Shard
from dataflex_data.audits.watching import Note, OnRows, quiet, untold
from dataflex_data.core.errors import DataflexError
from dataflex_data.core.parquet import replace_file
from dataflex_data.core.seeding import hex_id
from dataflex_data.reporting.words import plural

# Gives (position in the sequence, result) as shards finish, in any order, and tells of the rows
# that are done, as finely as it can.
ShardRunner = Callable[
    [Auditor, Sequence[Shard], Layout, OnRows], Iterator[tuple[int, ShardResult]]
]


def local_runner(threads: int = 1) -> ShardRunner:
    """Return the runner that audits shards in their order on ``threads`` threads."""
    return partial(audit_shards, threads=threads)


def audit_corpus(
    corpus: Corpus,
    auditor: Auditor,
    *,
    runner: ShardRunner | None = None,
    parts: Path | None = None,
    on_rows: OnRows = untold,
    note: Note = quiet,
) -> ShardResult:
    """Return the findings over a whole corpus.

    Args:
        corpus: Opened by `corpus.open_corpus`.
        auditor: The benchmarks and the rule.
        runner: Where shards are audited; one local thread by default.
        parts: Folder in which finished shards are kept for a resumed audit of the same corpus,
            benchmarks and rule; the caller removes it. None: nothing is kept.
        on_rows: Told of rows that are done.
        note: Told of shards that an earlier run had finished.
    """
    kept = None if parts is None else parts / _run_id(corpus, auditor)
    results: dict[int, ShardResult] = {}
    if kept is not None:
        results = _kept_results(kept)
        for result in results.values():
            on_rows(result.rows)
        if results:
            rows = sum(result.rows for result in results.values())
            note(
                f"note: {len(results)} of {len(corpus.shards)} shards ({plural(rows, 'row')}) "
                f"taken from an earlier run that was stopped; {kept.parent} kept them"
            )
    todo = [number for number in range(len(corpus.shards)) if number not in results]
    run = runner or local_runner()
    for position, result in run(auditor, [corpus.shards[n] for n in todo], corpus.layout, on_rows):
        number = todo[position]
        results[number] = result
        if kept is not None:
            with replace_file(kept / f"{number:06d}.json") as part:
                part.write_text(json.dumps(result.to_json()), encoding="utf-8")
    total = ShardResult()
    for number in range(len(corpus.shards)):
        total.add(results[number])
    total.sort()
    return total


def _kept_results(folder: Path) -> dict[int, ShardResult]:
    return {
        int(path.stem): ShardResult.from_json(json.loads(path.read_text(encoding="utf-8")))
        for path in sorted(folder.glob("[0-9]*.json"))
    }


def parts_folder(out: Path) -> Path:
    """Return where finished shards of an audit that writes to ``out`` are kept."""
    return out.parent / f".{out.name}.parts"


@contextmanager
def kept_parts(out: Path, note: Note) -> Iterator[None]:
    """Remove the finished shards where the input is at fault; say where they are otherwise.

    A mended corpus is another one, for which they would not be used; a run that was interrupted
    goes on from them.
    """
    try:
        yield
    except DataflexError:
        drop_parts(out)
        raise
    except BaseException:
        if parts_folder(out).is_dir():
            note(
                f"note: finished shards are kept in {parts_folder(out)}; the same command goes on "
                "from there, or remove the folder"
            )
        raise


def drop_parts(out: Path) -> None:
    """Remove what `audit_corpus` kept for a resumed run."""
    shutil.rmtree(parts_folder(out), ignore_errors=True)


def _run_id(corpus: Corpus, auditor: Auditor) -> str:
    stats = [path.stat() for path in corpus.files]
    return hex_id(
        "audit_parts",
        auditor.digest(),
        repr(corpus.layout),
        repr(corpus.shards),
        *(f"{stat.st_size}/{stat.st_mtime_ns}" for stat in stats),
    )
