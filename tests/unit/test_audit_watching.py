"""What an audit tells whoever waits: a bar with a true total, and why the first run is slow."""

from __future__ import annotations

import gzip
import json
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import numpy as np
import pytest
from numba import njit

from dataflex_data.audits.audit import AuditRequest, run_audit
from dataflex_data.audits.corpus import count_rows, open_corpus
from dataflex_data.audits.duplicate_audit import DuplicateRequest, run_duplicate_audit
from dataflex_data.audits.watching import OnRows, compile_notice
from dataflex_data.core.errors import InputDataError
from tests.factories import write_jsonl, write_parquet

ROWS = [{"id": str(k), "question": f"what is {k} and {k + 1}?"} for k in range(9_000)]


class Watched:
    """A bar that remembers."""

    def __init__(self) -> None:
        self.bars: list[tuple[str, int | None]] = []
        self.steps: list[int] = []

    @contextmanager
    def __call__(self, title: str, total: int | None) -> Iterator[OnRows]:
        self.bars.append((title, total))
        yield self.steps.append


def corpora(tmp_path: Path) -> list[Path]:
    packed = tmp_path / "c.jsonl.gz"
    packed.write_bytes(gzip.compress("".join(json.dumps(row) + "\n" for row in ROWS).encode()))
    return [
        write_parquet(tmp_path / "c.parquet", ROWS),
        write_jsonl(tmp_path / "c.jsonl", ROWS),
        packed,
    ]


def test_the_bar_has_a_total_and_reaches_it_in_steps_of_a_batch(tmp_path: Path) -> None:
    items = write_jsonl(tmp_path / "items.jsonl", [{"question": "who was there and when?"}])
    for number, corpus in enumerate(corpora(tmp_path)):
        for workers in (1, 2):
            watched = Watched()
            request = AuditRequest(
                str(corpus),
                tmp_path / f"{number}-{workers}",
                benchmark_files={"mine": items},
                workers=workers,
            )
            run_audit(request, track=watched)
            assert watched.bars == [("rows audited", 9_000)]
            # Batches of 8,192 rows, so that one long file moves the bar too.
            assert sorted(watched.steps) == [808, 8_192]


def test_the_search_for_duplicates_tells_of_the_rows_it_reads(tmp_path: Path) -> None:
    watched = Watched()
    corpus = corpora(tmp_path)[1]
    run_duplicate_audit(DuplicateRequest(str(corpus), None), track=watched)
    assert (watched.bars, sum(watched.steps)) == ([("rows read", 9_000)], 9_000)


def test_counting_rows_of_a_damaged_file_is_told_in_words(tmp_path: Path) -> None:
    path = corpora(tmp_path)[2]
    corpus = open_corpus(path)
    path.write_bytes(path.read_bytes()[:-9])
    with pytest.raises(InputDataError, match=r"c\.jsonl\.gz: cannot be read"):
        count_rows(corpus)


def test_compiling_is_told_once_and_only_when_it_happens() -> None:
    told: list[str] = []

    @njit  # type: ignore[untyped-decorator]
    def added(first: int, second: int) -> int:
        return first + second

    with compile_notice(told.append):
        added(1, 2)
        added(np.float64(1), np.float64(2))
    assert len(told) == 1
    assert "once per installation" in told[0]
    with compile_notice(told.append):
        added(3, 4)  # compiled already
    assert len(told) == 1
