"""What holds for every run of the sampler, whatever the domains, proportions and interruptions."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from itertools import pairwise
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dataflex_data.core.errors import InputDataError, MixtureError
from dataflex_data.samplers.domain_index import DomainIndex
from dataflex_data.samplers.draws import DomainDraws
from tests.sampler_loop import make_stream, outcome, take_step

SIZES = st.dictionaries(
    st.sampled_from(["a", "b", "c", "d", "e"]), st.integers(1, 40), min_size=1, max_size=5
)


def moving_schedule(names: list[str], seed: int) -> dict[str, Any]:
    rng = np.random.default_rng(seed)
    return {
        "points": [
            {
                "step": step,
                "weights": dict(zip(names, (rng.random(len(names)) ** 4).tolist(), strict=True)),
            }
            for step in range(0, 40, 2)
        ]
    }


@given(SIZES, st.integers(0, 2**32))
@settings(max_examples=40, deadline=None)
def test_no_row_comes_again_before_all_of_its_domain_have(sizes: dict[str, int], seed: int) -> None:
    names = sorted(sizes)
    batch = max(1, sum(sizes.values()) // 3)
    stream = make_stream(
        "schedule", moving_schedule(names, seed), sizes=sizes, batch_size=batch, seed=seed
    )
    drawn: dict[int, list[int]] = {d: [] for d in range(len(names))}
    for _ in range(40):
        nxt = stream.next_batch()
        assert nxt is not None
        domains = stream.index.domains_of(nxt.rows)
        counts = Counter(domains.tolist())
        for row, d in zip(nxt.rows.tolist(), domains.tolist(), strict=True):
            drawn[d].append(row)
        for d, count in counts.items():
            in_batch = drawn[d][-count:]
            if count <= sizes[names[d]]:
                assert len(set(in_batch)) == count  # no duplicate inside a batch
    for d, rows in drawn.items():
        size = sizes[names[d]]
        for start in range(0, len(rows) - size + 1, size):
            assert len(set(rows[start : start + size])) == size


@given(st.integers(1, 30), st.lists(st.integers(0, 30), max_size=30), st.integers(0, 10**6))
@settings(max_examples=100, deadline=None)
def test_draws_of_one_domain(size: int, counts: list[int], seed: int) -> None:
    draws = DomainDraws(size, seed, "d")
    rows: list[int] = []
    for count in counts:
        resumed = DomainDraws(size, seed, "d", draws.state)
        batch = draws.draw(count).tolist()
        assert resumed.draw(count).tolist() == batch
        assert resumed.state == draws.state
        rows += batch
        assert draws.drawn == len(rows)
        assert 1 <= draws.unused <= size
        if count <= size:
            assert len(set(batch)) == count
    for start in range(0, len(rows) - size + 1, size):
        assert len(set(rows[start : start + size])) == size


@given(st.integers(1, 30), st.lists(st.integers(0, 20), max_size=12), st.integers(0, 10**6))
@settings(max_examples=60, deadline=None)
def test_many_batches_in_one_go_are_the_same(size: int, counts: list[int], seed: int) -> None:
    one, many = DomainDraws(size, seed, "d"), DomainDraws(size, seed, "d")
    expected, states = [], []
    for count in counts:
        states.append(one.state)
        expected += one.draw(count).tolist()
    if counts:
        rows, found = many.draw_each(np.array(counts))
        assert (rows.tolist(), many.state) == (expected, one.state)
        assert [found.before(number) for number in range(len(counts))] == states


@given(SIZES, st.integers(1, 12), st.integers(0, 10**6))
@settings(max_examples=30, deadline=None)
def test_every_beginning_of_a_batch_is_near_its_quota(
    sizes: dict[str, int], batch: int, seed: int
) -> None:
    batch = min(batch, sum(sizes.values()))
    stream = make_stream(
        "schedule", moving_schedule(sorted(sizes), seed), sizes=sizes, batch_size=batch, seed=seed
    )
    for _ in range(10):
        nxt = stream.next_batch()
        assert nxt is not None
        domains = stream.index.domains_of(nxt.rows)
        for d, n in enumerate(nxt.plan.counts):
            # At the place x of the batch each domain has n x to within 1/2, and the slots passed
            # are B x to within K/2: together 1/2 + (K/2) n / B.
            bound = 0.5 + len(sizes) / 2 * n / batch
            for m in range(1, batch + 1):
                assert abs((domains[:m] == d).sum() - m * n / batch) <= bound + 1e-9


@given(st.integers(0, 60), st.integers(0, 15))
@settings(max_examples=30, deadline=None)
def test_looking_at_the_state_changes_nothing(steps: int, handed_out: int) -> None:
    # accelerate#4204
    looked_at, left_alone = make_stream("static"), make_stream("static")
    for _ in range(steps):
        assert looked_at.state_dict() == looked_at.state_dict()
        looked_at.state_dict(handed_out)
        assert looked_at.quota
        assert looked_at.proportions
        assert take_step(looked_at) == take_step(left_alone)
    assert looked_at.state_dict() == left_alone.state_dict()


def test_planning_ahead_changes_nothing() -> None:
    ahead, stepwise = make_stream("static"), make_stream("static")
    for _ in range(50):
        expected = take_step(ahead)
        stepwise.load_state_dict(stepwise.state_dict())  # drops all that was planned
        assert take_step(stepwise) == expected


@pytest.mark.parametrize("mixer", ["static", "schedule"])
def test_planning_ahead_changes_nothing_that_is_told(mixer: str) -> None:
    # 150 batches are blocks of 1, 4, 16, 64 and part of another.
    ahead, stepwise = make_stream(mixer), make_stream(mixer)
    for step in range(150):
        assert ahead.next_step == step
        batch = ahead.next_batch()
        stepwise.load_state_dict(stepwise.state_dict())
        other = stepwise.next_batch()
        assert batch is not None
        assert other is not None
        assert batch.rows.tolist() == other.rows.tolist()
        assert ahead.state_dict(5) == stepwise.state_dict(5)
        assert ahead.state_dict() == stepwise.state_dict()
        assert (ahead.quota, ahead.proportions) == (stepwise.quota, stepwise.proportions)
        assert ahead.explain() == stepwise.explain()
        assert ahead.metrics() == stepwise.metrics()


def test_of_many_batches_drawn_ahead_the_last_64_can_be_explained_and_reported() -> None:
    stream = make_stream("static")
    batches = [stream.next_batch() for _ in range(100)]
    explained = {step: stream.explain(step) for step in range(36, 100)}
    for step in (99, 36, 60):
        batch = batches[step]
        assert batch is not None
        assert [told["quota"] for told in explained[step]["domains"].values()] == batch.plan.counts
        stream.report(outcome(stream, batch))
        assert all(told["realised"] for told in stream.explain(step)["domains"].values())
    for step in (35, 60, 100):
        reported = replace(outcome(stream, batches[0]), step=step)  # type: ignore[arg-type]
        with pytest.raises(MixtureError, match=f"batch {step} came, which is not out"):
            stream.report(reported)
    with pytest.raises(InputDataError, match=r"batch 35 is not remembered .*36 to 99"):
        stream.explain(35)


@pytest.mark.parametrize("mixer", ["static", "tscl", "thompson"])
def test_a_resume_in_the_middle_of_a_batch_equals_going_on(mixer: str) -> None:
    whole = make_stream(mixer)
    for _ in range(8):
        batch = whole.next_batch()
        assert batch is not None
        for handed_out in range(16):
            resumed = make_stream(mixer)
            resumed.load_state_dict(whole.state_dict(handed_out))
            assert resumed.state_dict() == whole.state_dict(handed_out)
            assert resumed.resumed_at == handed_out
            again = resumed.next_batch()
            assert again is not None
            assert again.rows.tolist() == batch.rows.tolist()
            assert resumed.state_dict() == whole.state_dict()
        whole.report(outcome(whole, batch))


@given(st.lists(st.sampled_from("abc"), min_size=1, max_size=60))
@settings(max_examples=60, deadline=None)
def test_rows_and_domains_agree_in_any_arrangement(labels: list[str]) -> None:
    index = DomainIndex.build(labels)
    for d, name in enumerate(index.names):
        rows = index.rows(d, np.arange(index.sizes_D[d]))
        assert [labels[row] for row in rows] == [name] * int(index.sizes_D[d])
        assert np.all(np.diff(rows) > 0)
        assert index.all_in(d, rows)
        others = np.setdiff1d(np.arange(len(labels)), rows)
        assert all(not index.all_in(d, np.array([*rows, other])) for other in others)
    assert [index.names[d] for d in index.domains_of(np.arange(len(labels)))] == labels
    runs = 1 + sum(a != b for a, b in pairwise(labels))
    assert (index.rows_N is None) == (runs == len(index.names))
