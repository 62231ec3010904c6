"""A run stopped anywhere between drawing and reporting goes on as the run that was not stopped."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

import pytest

from dataflex_data.samplers.mixer import MIXERS
from dataflex_data.samplers.planner import Batch
from dataflex_data.samplers.stream import MixtureStream
from tests.sampler_loop import make_stream, outcome

NAMES = MIXERS.names()
# "d" draws a batch, "o" and "n" report the oldest and the newest that is out.
ORDERS = {"in turn": "do" * 9, "four out": "dddd" + "odnd" * 3 + "oono", "two out": "dd" + "od" * 8}


class Run:
    """A stream with the batches that are out; all that it gives is written down."""

    def __init__(self, stream: MixtureStream) -> None:
        self.stream, self.out = stream, list[Batch]()
        self.told: list[Any] = []

    def do(self, move: str) -> None:
        if move == "d":
            batch = self.stream.next_batch()
            assert batch is not None
            self.out.append(batch)
            self.told.append((batch.rows.tolist(), batch.plan.proportions_D.tolist()))
        else:
            batch = self.out.pop(0 if move == "o" else -1)
            counts = self.stream.report(outcome(self.stream, batch))
            self.told.append(counts.groups_D.tolist())

    def copied(self, fresh: MixtureStream, handed_out: int | None = None) -> Run:
        fresh.load_state_dict(json.loads(json.dumps(self.stream.state_dict(handed_out))))
        other = Run(fresh)
        other.out = list(self.out)
        return other


@pytest.mark.parametrize("order", ORDERS)
@pytest.mark.parametrize("name", NAMES)
def test_saved_at_every_point_between_draw_and_report(name: str, order: str) -> None:
    moves = ORDERS[order]

    def make() -> MixtureStream:
        return make_stream(name, rules={"max_ahead": 3, "warmup_steps": 2})

    whole = Run(make())
    stopped: list[tuple[int, Run]] = []
    for at, move in enumerate(moves):
        stopped.append((at, whole.copied(make())))
        whole.do(move)
    for at, run in stopped:
        for move in moves[at:]:
            run.do(move)
        assert run.told == whole.told[at:], at
        assert run.stream.state_dict() == whole.stream.state_dict(), at


@pytest.mark.parametrize("reported", [False, True])
@pytest.mark.parametrize("name", NAMES)
def test_saved_within_a_batch_before_and_after_its_report(name: str, reported: bool) -> None:
    whole = Run(make_stream(name))
    for move in "dodod":
        whole.do(move)
    if reported:
        whole.do("o")
    rest = whole.copied(make_stream(name), handed_out=5)
    assert rest.stream.resumed_at == 5
    again = rest.stream.next_batch()
    assert again is not None
    assert again.rows.tolist() == whole.told[-1 - reported][0]
    for move in "do" * 3 if reported else "o" + "do" * 3:
        whole.do(move)
        rest.do(move)
        assert rest.told[-1] == whole.told[-1]
    assert rest.stream.state_dict() == whole.stream.state_dict()


@pytest.mark.parametrize("name", ["static", "reward_gap"])
def test_a_report_without_its_step_after_a_resume(name: str) -> None:
    whole = Run(make_stream(name))
    whole.do("d")
    batch = whole.out[0]
    rest = whole.copied(make_stream(name))
    rest.stream.report(replace(outcome(rest.stream, batch), step=None))
    whole.do("o")
    assert rest.stream.state_dict() == whole.stream.state_dict()


def test_where_the_report_was_lost_a_static_mixture_goes_on() -> None:
    whole = Run(make_stream("static"))
    whole.do("d")
    rest = whole.copied(make_stream("static"))
    for _ in range(20):
        batch = rest.stream.next_batch()
        assert batch is not None
        rest.stream.report(replace(outcome(rest.stream, batch), step=None))
