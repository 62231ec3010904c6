"""Of rows that are the same one stays; contradictions leave on both sides and are listed."""

from __future__ import annotations

from dataflex_data.builders.dedup import Deduplicated, deduplicate
from dataflex_data.builders.pool import Item, make_item
from dataflex_data.builders.source import Candidate
from dataflex_data.verifiers import routes

RANK = {"first": 0, "second": 1}


def item(label: str, question: str, gold: str) -> Item:
    candidate = Candidate(question, gold, raw_question=question, raw_answer=gold)
    return make_item(label, candidate, seed=1, revision="r")


def run(*items: Item) -> Deduplicated:
    def equivalent(a: Item, b: Item) -> bool:
        return routes.equivalent("dataflex/deepscaler", a.candidate.gold, b.candidate.gold)

    return deduplicate(items, RANK, equivalent)


def test_different_rows_all_stay() -> None:
    result = run(item("first", "What is x?", "1"), item("first", "What is y?", "2"))
    assert len(result.kept) == 2
    assert not result.removed


def test_the_preferred_source_keeps_its_row_whatever_the_order() -> None:
    a, b = item("first", "What is x?", "1"), item("second", "what is X", "1")
    for pair in ((a, b), (b, a)):
        result = run(*pair)
        assert result.kept == [a]
        assert [(removed.item, removed.reason) for removed in result.removed] == [(b, "duplicate")]


def test_golds_in_another_notation_agree() -> None:
    result = run(item("first", "Find x.", "1/27"), item("second", "Find x.", "\\frac{1}{27}"))
    assert [removed.reason for removed in result.removed] == ["duplicate"]
    assert not result.conflicts


def test_golds_that_contradict_leave_on_both_sides_and_are_listed() -> None:
    # -73 and -17: a pair that DeepScaleR really has for one text.
    result = run(item("first", "Find $x$.", "-73"), item("second", "Find  x", "-17"))
    assert not result.kept
    assert {removed.reason for removed in result.removed} == {"conflicting_gold"}
    (conflict,) = result.conflicts
    assert [gold for _, _, gold in conflict.members] == ["-73", "-17"]


def test_problems_that_differ_in_symbols_only_are_not_a_contradiction() -> None:
    plus, minus = item("first", "Compute 3 + 4.", "7"), item("second", "Compute 3 - 4.", "-1")
    result = run(plus, minus)
    assert result.kept == [plus]
    assert [removed.reason for removed in result.removed] == ["same_words"]
    assert not result.conflicts


def test_ids_do_not_depend_on_neighbours() -> None:
    # evalscope#1602: option order changed when a neighbour was dropped.
    alone = item("first", "Find x.", "1")
    assert alone.key == item("first", "Find x.", "1").key
    assert alone.key != item("second", "Find x.", "1").key
