"""The whole engine against the plain-Python oracle, on texts made to overlap."""

from __future__ import annotations

from collections.abc import Sequence
from random import Random

from hypothesis import example, given, settings
from hypothesis import strategies as st

from dataflex_data.audits.benchmarks import BenchmarkItem, BenchmarkSet, LoadedBenchmark
from dataflex_data.audits.comparison import Rule
from dataflex_data.audits.contamination import Auditor, Decontaminator, ShardResult, _memory_batch
from dataflex_data.audits.corpus import Shard
from tests.audit_oracle import Oracle

_WORDS = ["a", "b", "find", "x1", "\\frac12", "\\dfrac{1}{2}", "né", "e\u0301t", "left", "\\left("]
_TEXT = st.lists(st.sampled_from(_WORDS), max_size=14).map(" ".join)


@st.composite
def _cases(draw: st.DrawFn) -> tuple[list[str], list[str]]:
    items = draw(st.lists(st.one_of(_TEXT, st.just("+ -")), min_size=1, max_size=6))
    rows = draw(st.lists(_TEXT, max_size=4))
    for item in items:
        before, after = draw(_TEXT), draw(_TEXT)
        rows.append(f"{before} {item} {after}" if draw(st.booleans()) else item)
    return items, rows


def benchmark(items: Sequence[str], gated: bool = False) -> BenchmarkSet:
    made = tuple(
        BenchmarkItem("toy", str(number), text, gated=gated) for number, text in enumerate(items)
    )
    return BenchmarkSet((LoadedBenchmark("toy", made, {}, "local", "local", "MIT", gated),))


@settings(max_examples=150, deadline=None)
@given(
    _cases(),
    st.sampled_from([0.3, 0.5, 1.0]),
    st.sampled_from([0.4, 0.5, 1.0]),
    st.integers(2, 4),
)
def test_the_engine_flags_what_the_oracle_flags(
    case: tuple[list[str], list[str]], containment: float, jaccard: float, common: int
) -> None:
    items, rows = case
    rule = Rule(
        n=6, containment=containment, jaccard=jaccard, boilerplate_items=common, near=containment
    )
    auditor = Auditor(benchmark(items), rule)
    shard = Shard(0, "", 0, len(rows), (0, 0))
    result = auditor.audit_batch(auditor.finder(), _memory_batch(rows, None, 0), shard)
    found = {(one.row, int(one.item_id)): one for one in result.findings if one.flagged}
    oracle = Oracle(items, 6, containment, jaccard, common)
    expected = {
        (row, item): verdict
        for row, text in enumerate(rows)
        for item, other in enumerate(items)
        if (verdict := oracle.judge(text, other)).flagged
    }
    assert found.keys() == expected.keys()
    for pair, verdict in expected.items():
        assert abs(found[pair].jaccard - verdict.jaccard) < 1e-12
        assert abs(found[pair].containment - verdict.containment) < 1e-12


# The row in the middle goes through Python, after the last: it must still be the first of equals.
@example(
    case=(["", "a a \\frac12"], ["", " a a \\frac12 e\u0301t", "a a \\frac12"]),
    random=Random(0),
)
@settings(max_examples=40, deadline=None)
@given(_cases(), st.randoms(use_true_random=False))
def test_findings_do_not_depend_on_the_order_or_grouping_of_rows(
    case: tuple[list[str], list[str]], random: Random
) -> None:
    items, rows = case
    auditor = Auditor(benchmark(items), Rule(n=6, boilerplate_items=3))
    shard = Shard(0, "", 0, len(rows), (0, 0))
    whole = auditor.audit_batch(auditor.finder(), _memory_batch(rows, None, 0), shard)
    whole.sort()
    parts = [
        auditor.audit_batch(auditor.finder(), _memory_batch([text], None, row), shard)
        for row, text in enumerate(rows)
    ]
    random.shuffle(parts)
    merged = ShardResult()
    for part in parts:
        merged.add(ShardResult.from_json(part.to_json()))
    merged.sort()
    assert merged == whole


@settings(max_examples=40, deadline=None)
@given(_cases())
def test_the_decontaminator_flags_the_same_rows(case: tuple[list[str], list[str]]) -> None:
    items, rows = case
    oracle = Oracle(items, 6, 0.5, 0.5, 5)
    judge = Decontaminator(benchmark(items), Rule(n=6))
    found = judge.flag(rows)
    assert [one is not None for one in found] == [
        any(oracle.judge(row, item).flagged for item in items) for row in rows
    ]
    assert judge.summary()["rows_flagged"] == sum(one is not None for one in found)
