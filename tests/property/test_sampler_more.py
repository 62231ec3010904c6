"""Further rows of a domain, in place of rows of its quota: nothing lost, nothing twice."""

from __future__ import annotations

from typing import Any

import pytest

pytest.importorskip("torch", reason="needs the extra 'torch'")

from hypothesis import given, settings
from hypothesis import strategies as st

from dataflex_data.core.errors import InputDataError
from dataflex_data.samplers import DataFlexSampler

SIZES = {"easy": 7, "hard": 12}


def sampler(**more: Any) -> DataFlexSampler:
    weights = {"weights": {"easy": 1, "hard": 3}}
    return DataFlexSampler(SIZES, 4, "static", weights, seed=3, steps_per_pass=100, **more)


def name_of(row: int) -> str:
    return "easy" if row < SIZES["easy"] else "hard"


@settings(max_examples=60, deadline=None)
@given(st.lists(st.tuples(st.integers(0, 4), st.integers(0, 6)), min_size=1, max_size=12))
def test_every_row_once_per_epoch_and_never_twice_in_a_batch(
    wanted: list[tuple[int, int]],
) -> None:
    source = sampler()
    order = iter(source)
    seen: dict[str, list[int]] = {"easy": [], "hard": []}
    for easy, hard in wanted:
        batch = [next(order) for _ in range(4)]
        assert sum(name_of(row) == "hard" for row in batch) == 3
        for name, count in (("hard", hard), ("easy", easy)):
            more = [row for _ in range(count) for row in source.draw_more(name, 1)]
            assert all(name_of(row) == name for row in more)
            held = sum(name_of(row) == name for row in batch)
            assert len(more) == min(count, SIZES[name] - held)
            batch += more
        assert len(set(batch)) == len(batch)
        for row in batch:
            seen[name_of(row)].append(row)
    for name, rows in seen.items():
        whole = len(rows) // SIZES[name] * SIZES[name]
        for start in range(0, whole, SIZES[name]):
            assert len(set(rows[start : start + SIZES[name]])) == SIZES[name]


@settings(max_examples=30, deadline=None)
@given(st.integers(1, 8), st.lists(st.integers(0, 5), min_size=9, max_size=9))
def test_a_resume_goes_on_behind_the_further_rows(stop: int, wanted: list[int]) -> None:
    def batches(source: DataFlexSampler, counts: list[int]) -> list[list[int]]:
        order, found = iter(source), []
        for count in counts:
            batch = [next(order) for _ in range(4)]
            found.append(batch + source.draw_more("hard", count))
        return found

    whole = batches(sampler(), wanted)
    first = sampler()
    assert batches(first, wanted[:stop]) == whole[:stop]
    second = sampler()
    second.load_state_dict(first.state_dict())
    assert batches(second, wanted[stop:]) == whole[stop:]


def test_one_by_one_or_at_once() -> None:
    one, many = sampler(), sampler()
    for source in (one, many):
        order = iter(source)
        assert len([next(order) for _ in range(4)]) == 4
    assert [row for _ in range(5) for row in one.draw_more("hard", 1)] == many.draw_more("hard", 5)


def test_max_epochs_bounds_them() -> None:
    source = sampler(max_epochs={"hard": 1})
    order = iter(source)
    batch = [next(order) for _ in range(4)]
    more = source.draw_more("hard", 20)
    assert len(more) == 12 - 3
    assert set(more) | set(batch) >= set(range(7, 19))


def test_without_a_batch_or_a_domain_it_is_refused() -> None:
    source = sampler()
    with pytest.raises(InputDataError, match="none is open"):
        source.draw_more("hard", 1)
    next(iter(source))
    with pytest.raises(InputDataError, match="did you mean 'hard'"):
        source.draw_more("hrad", 1)
