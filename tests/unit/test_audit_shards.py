"""Shards judged on several threads: their order, their sums, and what goes wrong on one of them."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from types import SimpleNamespace
from typing import Any

import pytest

from dataflex_data.audits import contamination
from dataflex_data.audits.contamination import ShardResult, audit_shards
from dataflex_data.core.errors import InputDataError

SIZES = [[3, 4], [], [5] * 20, [1], []]  # rows of each batch, by shard; two shards are empty


class SlowAuditor:
    """Judges early batches slowest, so that they finish out of order."""

    def __init__(self, fails_at: int = -1) -> None:
        self.fails_at = fails_at
        self.users: dict[int, set[int]] = {}

    def finder(self) -> object:
        return object()

    def audit_batch(self, finder: object, batch: Any, shard: Any) -> ShardResult:
        self.users.setdefault(id(finder), set()).add(threading.get_ident())
        if batch.number == self.fails_at:
            raise MemoryError("no room")
        time.sleep(0.004 / (1 + batch.number))
        return ShardResult(rows=len(batch.stems))


def read(shard: int, layout: object) -> Iterator[Any]:
    del layout
    for number, size in enumerate(SIZES[shard]):
        yield SimpleNamespace(number=number, stems=range(size))


@pytest.fixture(autouse=True)
def made_up_shards(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(contamination, "read_shard", read)


def run(auditor: SlowAuditor, threads: int, steps: list[int]) -> list[tuple[int, int]]:
    shards: Any = range(len(SIZES))
    found = audit_shards(auditor, shards, None, steps.append, threads=threads)  # type: ignore[arg-type]
    return [(position, result.rows) for position, result in found]


@pytest.mark.parametrize("threads", [1, 2, 5])
def test_every_shard_comes_once_and_in_order(threads: int) -> None:
    steps: list[int] = []
    auditor = SlowAuditor()
    assert run(auditor, threads, steps) == [(0, 7), (1, 0), (2, 100), (3, 1), (4, 0)]
    assert sorted(steps) == [1, 3, 4] + [5] * 20
    assert len(auditor.users) <= threads
    assert all(len(threads_of_one) == 1 for threads_of_one in auditor.users.values())


@pytest.mark.parametrize("threads", [1, 3])
def test_what_was_finished_before_an_error_comes_first(
    threads: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    def damaged(shard: Any, layout: Any) -> Iterator[Any]:
        yield from read(shard, layout)
        if shard == 2:
            raise InputDataError("damaged")

    monkeypatch.setattr(contamination, "read_shard", damaged)
    found = audit_shards(SlowAuditor(), range(4), None, threads=threads)  # type: ignore[arg-type]
    assert [next(found)[0], next(found)[0]] == [0, 1]
    with pytest.raises(InputDataError, match="damaged"):
        next(found)


def test_the_first_error_is_told_whatever_the_number_of_threads(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def damaged(shard: Any, layout: Any) -> Iterator[Any]:
        yield from read(shard, layout)
        raise InputDataError("damaged")

    monkeypatch.setattr(contamination, "read_shard", damaged)
    for threads in (1, 2, 5):
        with pytest.raises(MemoryError):
            run(SlowAuditor(fails_at=0), threads, [])


def test_a_shard_is_handed_on_before_the_next_is_read(monkeypatch: pytest.MonkeyPatch) -> None:
    opened: list[Any] = []

    def told(shard: Any, layout: Any) -> Iterator[Any]:
        opened.append(shard)
        return read(shard, layout)

    monkeypatch.setattr(contamination, "read_shard", told)
    found = audit_shards(SlowAuditor(), range(4), None)  # type: ignore[arg-type]
    assert next(found)[0] == 0
    assert opened == [0]


@pytest.mark.parametrize("threads", [1, 3])
def test_an_error_on_any_thread_ends_the_audit(threads: int) -> None:
    with pytest.raises(MemoryError, match="no room"):
        run(SlowAuditor(fails_at=7), threads, [])
