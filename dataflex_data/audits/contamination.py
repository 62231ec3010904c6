"""Which training rows contain evaluation items: findings, and the evidence that there are none.

`Auditor` holds the benchmarks' side and judges batches; `audit_shards` runs it over shards of a
corpus and gives a `ShardResult` each, which merge in any order to the same whole, so that one
thread, many threads and many machines find the same. `Decontaminator` is the same judge for texts
in memory, as a builder needs it.
"""

from __future__ import annotations

import threading
from collections import defaultdict, deque
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import asdict, dataclass, field
from functools import partial
from pathlib import PurePath
from typing import Any, Protocol

import pyarrow as pa

from dataflex_data.audits import hashing
from dataflex_data.audits.benchmarks import BenchmarkItem, BenchmarkSet
from dataflex_data.audits.comparison import (
    Comparison,
    Rule,
    Subject,
    compare,
    subject,
    with_options,
)
from dataflex_data.audits.corpus import Layout, Shard
from dataflex_data.audits.findings import FINDINGS_SCHEMA, Finding, redact_rows, strength
from dataflex_data.audits.ngram_index import NgramIndex, Thresholds
from dataflex_data.audits.rows import Batch, read_shard
from dataflex_data.audits.scanner import Candidates, Scanner
from dataflex_data.audits.watching import OnRows, untold
from dataflex_data.audits.word_streams import Array, byte_array, decoded
from dataflex_data.core.seeding import hex_id
from dataflex_data.core.text import NORMALISER_VERSION

_COMPARISONS_KEPT = 20_000
_TEXT_LIMIT = 20_000  # characters of a row kept in a finding; its length is kept whole


@dataclass(slots=True)
class ShardResult:
    """What an audit of some rows found; merging is associative and knows no order.

    Attributes:
        rows: Rows read.
        words: Words read.
        empty: Rows without any text.
        invalid: Rows whose bytes are not UTF-8.
        slow: Rows whose characters had to be folded in Python.
        refuted: Candidates that the texts did not confirm (hash collisions included).
        findings: All findings.
        best: Most of its own n-grams that one row holds, by document; None where the finder does
            not look (MinHash).
    """

    rows: int = 0
    words: int = 0
    empty: int = 0
    invalid: int = 0
    slow: int = 0
    refuted: int = 0
    findings: list[Finding] = field(default_factory=list)
    best: dict[int, int] | None = field(default_factory=dict)

    def add(self, other: ShardResult) -> None:
        """Take ``other`` in."""
        for name in ("rows", "words", "empty", "invalid", "slow", "refuted"):
            setattr(self, name, getattr(self, name) + getattr(other, name))
        self.findings.extend(other.findings)
        if self.best is None or other.best is None:
            self.best = None
        else:
            for doc, count in other.best.items():
                self.best[doc] = max(count, self.best.get(doc, 0))

    def sort(self) -> None:
        """Bring the findings into their one order: by row, then benchmark and item."""
        self.findings.sort(key=lambda one: (one.file, one.row, one.benchmark, one.item_id))

    def to_json(self) -> dict[str, Any]:
        """Return plain values; `from_json` restores them."""
        return asdict(self)

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> ShardResult:
        """Return what `to_json` gave."""
        plain = dict(data)
        findings = [
            Finding(**{**one, "channels": tuple(one["channels"])}) for one in plain.pop("findings")
        ]
        held = plain.pop("best")
        best = None if held is None else {int(doc): count for doc, count in held.items()}
        return cls(**plain, findings=findings, best=best)


class CandidateFinder(Protocol):
    """What proposes pairs: the exact index's `Scanner`, or MinHash."""

    def scan(self, texts: pa.Array) -> Candidates:
        """Return the candidates among ``texts``."""


class Auditor:
    """The benchmarks' side of an audit; build once, share between threads and processes.

    Args:
        benchmarks: The items.
        rule: What flags a row.
        finder: Makes the candidate finder of one thread; the exact index by default.
        show_gated: Whether findings hold the texts of rows that match a gated item. Otherwise they
            are hidden here already, so that they reach no report, kept shard or other machine.
    """

    def __init__(
        self,
        benchmarks: BenchmarkSet,
        rule: Rule,
        finder: Callable[[Auditor], CandidateFinder] | None = None,
        *,
        show_gated: bool = False,
    ) -> None:
        self.rule = rule
        self.show_gated = show_gated
        self.items: tuple[BenchmarkItem, ...] = tuple(benchmarks.items)
        self._finder = finder
        texts: list[tuple[int, str]] = []
        for number, item in enumerate(self.items):
            full = with_options(item.question, item.options) if item.options else item.question
            texts += [(number, text) for text in dict.fromkeys((full, item.question))]
        self.index = NgramIndex(
            texts,
            n=rule.n,
            boilerplate_items=rule.boilerplate_items,
            thresholds=Thresholds(own=min(rule.near, rule.containment), jaccard=rule.jaccard),
        )
        self._subjects: dict[int, Subject] = {}
        self._compared: dict[tuple[str, tuple[str, ...], int], Comparison] = {}

    def __getstate__(self) -> dict[str, Any]:
        return {**self.__dict__, "_subjects": {}, "_compared": {}}

    def finder(self) -> CandidateFinder:
        """Return a candidate finder for one thread."""
        return Scanner(self.index) if self._finder is None else self._finder(self)

    def item_subject(self, number: int) -> Subject:
        """Return the views of an item."""
        found = self._subjects.get(number)
        if found is None:
            item = self.items[number]
            found = subject(item.question, item.options, self.rule.n)
            self._subjects[number] = found
        return found

    def audit_batch(self, finder: CandidateFinder, batch: Batch, shard: Shard) -> ShardResult:
        """Return what one batch of rows holds."""
        result = ShardResult(rows=len(batch.fulls))
        pairs: dict[int, set[int]] = defaultdict(set)
        documents = self.index.documents
        for texts, rows in self._views(batch):
            found = finder.scan(texts)
            row_of = (lambda at: at) if rows is None else rows.__getitem__
            for at, doc in zip(found.rows.tolist(), found.docs.tolist(), strict=True):
                pairs[row_of(at)].add(documents[doc].item)
            result.add(ShardResult(best=_nonzero(found.best)))
            if rows is None:
                told = found.reading
                result.words, result.slow = told.words, told.slow
                result.empty, result.invalid = told.empty, told.invalid
        for row in sorted(pairs):
            self._judge(batch, shard, row, sorted(pairs[row]), result)
        if not self.show_gated:
            result.findings = redact_rows(result.findings)
        return result

    def _views(self, batch: Batch) -> Iterator[tuple[pa.Array, list[int] | None]]:
        """Yield the texts to scan; for questions without their options, also whose they are."""
        yield batch.fulls, None
        if batch.fulls is not batch.stems and batch.options is not None:
            lengths = [len(batch.option_texts(row)) for row in range(len(batch.stems))]
            rows = [row for row, length in enumerate(lengths) if length]
            yield batch.stems.take(pa.array(rows, type=pa.int64())), rows

    def _judge(
        self, batch: Batch, shard: Shard, row: int, items: Sequence[int], result: ShardResult
    ) -> None:
        text = _text(batch.stems, row)
        options = batch.option_texts(row)
        mine = subject(text, options, self.rule.n)
        for number in items:
            item = self.items[number]
            theirs = self.item_subject(number)
            found = self._compare(mine, number)
            best = max(one.containment for one in (found.plain, found.stem, found.latex))
            if not found.channels and best < self.rule.near:
                result.refuted += 1
                continue
            flagging = [one for one in found.channels if one in self.rule.channels]
            result.findings.append(
                Finding(
                    row_id=_id(batch, row) or _stand_in_id(shard, batch.first_row + row),
                    source="" if batch.sources is None else str(batch.sources[row].as_py() or ""),
                    file=shard.file,
                    row=batch.first_row + row,
                    benchmark=item.benchmark,
                    item_id=item.item_id,
                    flagged=bool(flagging),
                    channel=str((*flagging, *found.channels, "near")[0]),
                    channels=found.channels,
                    jaccard=found.plain.jaccard,
                    containment=found.plain.containment,
                    row_containment=found.plain.row_containment,
                    stem_jaccard=found.stem.jaccard,
                    stem_containment=found.stem.containment,
                    latex_jaccard=found.latex.jaccard,
                    latex_containment=found.latex.containment,
                    longest_run=found.longest_run,
                    item_words=len(theirs.full.words),
                    similarity=found.similarity,
                    unique=found.plain.unique,
                    shared=found.plain.shared,
                    boilerplate=found.plain.boilerplate,
                    overlap=found.run_words,
                    row_text=mine.full.text[:_TEXT_LIMIT],
                    item_text=theirs.full.text,
                    gated=item.gated,
                )
            )

    def _compare(self, row: Subject, number: int) -> Comparison:
        # Some corpora hold each prompt a hundred times; it is compared once.
        key = (row.stem.text, row.options, number)
        found = self._compared.get(key)
        if found is None:
            if len(self._compared) >= _COMPARISONS_KEPT:
                self._compared.clear()
            found = compare(row, self.item_subject(number), self.rule, self.index.items_of)
            self._compared[key] = found
        return found

    def digest(self) -> str:
        """Return a digest of items, rule and versions: two audits that agree may share parts."""
        return hex_id(
            "auditor",
            NORMALISER_VERSION,
            hashing.HASH_VERSION,
            self.rule.model_dump_json(),
            self.show_gated,
            ",".join(FINDINGS_SCHEMA.names),
            "exact" if self._finder is None else getattr(self._finder, "__qualname__", "finder"),
            *(repr(item) for item in self.items),
        )


def audit_shards(
    auditor: Auditor,
    shards: Sequence[Shard],
    layout: Layout,
    on_rows: OnRows = untold,
    *,
    threads: int = 1,
) -> Iterator[tuple[int, ShardResult]]:
    """Yield position and result of each shard, in order; the same whatever the number of threads.

    The calling thread reads the shards and is one of ``threads``: it judges a batch itself where
    the others have enough to do.

    Args:
        auditor: The judge.
        shards: What to read.
        layout: Their columns.
        on_rows: Told the rows of each batch that is done, from any thread.
        threads: How many batches are judged at once.
    """
    local = threading.local()

    def judge(batch: Batch, shard: Shard) -> ShardResult:
        if not hasattr(local, "finder"):
            local.finder = auditor.finder()
        found = auditor.audit_batch(local.finder, batch, shard)
        on_rows(len(batch.stems))
        return found

    total = ShardResult()
    for position, part in _judged(judge, shards, layout, threads - 1):
        if part is not None:
            total.add(part)
            continue
        total.sort()
        yield position, total
        total = ShardResult()


def _judged(
    judge: Callable[[Batch, Shard], ShardResult], shards: Sequence[Shard], layout: Layout, n: int
) -> Iterator[tuple[int, ShardResult | None]]:
    """Yield the result of each batch with its shard's position, in order; None ends a shard.

    An error comes in its place: what was read before it is yielded first.

    Args:
        judge: What gives a result.
        shards: What to read.
        layout: Their columns.
        n: Threads beside this one.
    """
    running: deque[tuple[int, Future[ShardResult | None]]] = deque()
    with ThreadPoolExecutor(max(1, n)) as pool:
        for position, step in _steps(shards, layout):
            if step is None or isinstance(step, Exception):
                running.append((position, _settled(step)))
            elif sum(not future.done() for _, future in running) < 2 * n:
                running.append((position, pool.submit(judge, step, shards[position])))
            else:
                running.append((position, _settled(partial(judge, step, shards[position]))))
            while running and (running[0][1].done() or len(running) > _AHEAD * (n + 1)):
                at, future = running.popleft()
                yield at, future.result()
        for at, future in running:
            yield at, future.result()


_AHEAD = 32  # results that may wait for an earlier one, for each thread


def _steps(
    shards: Sequence[Shard], layout: Layout
) -> Iterator[tuple[int, Batch | Exception | None]]:
    """Yield the batches of all shards, None after each shard's last; an error ends them."""
    for position, shard in enumerate(shards):
        try:
            for batch in read_shard(shard, layout):
                yield position, batch
        except Exception as error:  # noqa: BLE001 - raised in its place by `_judged`
            yield position, error
            return
        yield position, None


def _settled(
    outcome: Exception | Callable[[], ShardResult] | None,
) -> Future[ShardResult | None]:
    """Return a future that is done: with an error, a result worked out here, or None."""
    future: Future[ShardResult | None] = Future()
    if isinstance(outcome, Exception):
        future.set_exception(outcome)
        return future
    try:
        future.set_result(None if outcome is None else outcome())
    except Exception as error:  # noqa: BLE001 - raised where the result is asked for
        future.set_exception(error)
    return future


class Decontaminator:
    """Judges texts in memory, for a builder that drops contaminated rows before filling quotas.

    Args:
        benchmarks: The items, and which benchmarks are missing.
        rule: What flags a text.
    """

    def __init__(self, benchmarks: BenchmarkSet, rule: Rule | None = None) -> None:
        self.benchmarks = benchmarks
        self.rule = rule or Rule()
        self._auditor = Auditor(benchmarks, self.rule)
        self._finder = self._auditor.finder()
        self._checked = 0
        self._flagged: dict[str, int] = {}
        self._items: set[tuple[str, str]] = set()

    def flag(
        self, texts: Sequence[str], options: Sequence[Sequence[str]] | None = None
    ) -> list[Finding | None]:
        """Return, per text, the strongest finding that flags it, or ``None``; counts them.

        Args:
            texts: Questions.
            options: Option texts of each question, where there are any.

        Raises:
            TypeError: Something else than texts is given; one text by itself is no list of texts.
            ValueError: There are more or fewer option lists than texts.
        """
        _check_texts(texts, "texts")
        if options is not None:
            _check_options(options, len(texts))
        found: list[Finding | None] = [None] * len(texts)
        shard = Shard(0, "", 0, len(texts), (0, 0))
        for begin in range(0, len(texts), 8_192):
            part = texts[begin : begin + 8_192]
            batch = _memory_batch(part, options and options[begin : begin + 8_192], begin)
            result = self._auditor.audit_batch(self._finder, batch, shard)
            result.sort()
            for one in result.findings:
                held = found[one.row]
                if one.flagged and (held is None or strength(one) > strength(held)):
                    found[one.row] = one
        self._checked += len(texts)
        for hit in found:
            if hit is not None:
                self._flagged[hit.benchmark] = self._flagged.get(hit.benchmark, 0) + 1
                self._items.add((hit.benchmark, hit.item_id))
        return found

    def summary(self) -> dict[str, Any]:
        """Return plain values for a manifest: the rule, the benchmarks, what was flagged."""
        return {
            "rule": self.rule.model_dump(mode="json"),
            "rule_in_words": self.rule.in_words(),
            "normaliser_version": NORMALISER_VERSION,
            "hash_version": hashing.HASH_VERSION,
            "benchmarks": {
                one.name: {
                    "items": len(one.items),
                    "license": one.license,
                    "origin": one.origin,
                    "revision": one.revision,
                    "files": dict(one.files),
                    "rows_flagged": self._flagged.get(one.name, 0),
                    "items_hit": sum(name == one.name for name, _ in self._items),
                }
                for one in self.benchmarks.loaded
            },
            "missing": dict(self.benchmarks.missing),
            "rows_checked": self._checked,
            "rows_flagged": sum(self._flagged.values()),
        }


def _check_texts(texts: object, name: str) -> None:
    if isinstance(texts, (str, bytes)) or not isinstance(texts, Sequence):
        raise TypeError(f"{name} must be a list of str, got {type(texts).__name__}")
    for at, text in enumerate(texts):
        if not isinstance(text, str):
            raise TypeError(f"{name}[{at}] must be a str, got {type(text).__name__} ({text!r:.40})")


def _check_options(options: Sequence[Sequence[str]], wanted: int) -> None:
    if isinstance(options, (str, bytes)) or not isinstance(options, Sequence):
        raise TypeError(f"options must be a list of lists of str, got {type(options).__name__}")
    if len(options) != wanted:
        raise ValueError(f"options must be one list per text: {len(options)} for {wanted} texts")
    for at, choices in enumerate(options):
        _check_texts(choices, f"options[{at}]")


def _memory_batch(
    texts: Sequence[str], options: Sequence[Sequence[str]] | None, first_row: int
) -> Batch:
    raw = [text.encode("utf-8", "replace") for text in texts]
    stems = byte_array(raw)
    if options is None or not any(options):
        return Batch(first_row, stems, stems, None, None, None)
    fulls = [
        with_options(text, choices).encode("utf-8", "replace") if choices else stem
        for text, choices, stem in zip(texts, options, raw, strict=True)
    ]
    return Batch(
        first_row,
        stems,
        byte_array(fulls),
        pa.array([list(choices) for choices in options], type=pa.list_(pa.string())),
        None,
        None,
    )


def _nonzero(counts: Array | None) -> dict[int, int] | None:
    if counts is None:
        return None
    where = counts.nonzero()[0]
    return dict(zip(where.tolist(), counts[where].tolist(), strict=True))


def _stand_in_id(shard: Shard, row: int) -> str:
    return f"{PurePath(shard.path).name or 'row'}#{row}"


def _id(batch: Batch, row: int) -> str:
    return "" if batch.ids is None else str(batch.ids[row].as_py() or "")


def _text(texts: pa.Array, row: int) -> str:
    try:
        value = texts[row].as_py()
    except UnicodeDecodeError:
        value = texts[row].cast(pa.binary()).as_py()
    if isinstance(value, bytes):
        return decoded(value)[0]
    return value or ""
