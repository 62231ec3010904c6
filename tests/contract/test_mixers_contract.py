"""What holds for every mixer of the registry; a new one is found and checked without new code."""

from __future__ import annotations

import json
import math
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from dataflex_data.core.errors import InputDataError, MixtureError
from dataflex_data.samplers.mixer import MIXERS, build_mixer
from dataflex_data.samplers.signals import NEEDS, StepSignals
from tests.sampler_loop import (
    BATCH,
    MIXER_PARAMS,
    SIZES,
    check_resumes_everywhere,
    make_stream,
    outcome,
    take_step,
)

NAMES = MIXERS.names()


def without(signals: StepSignals, need: str) -> StepSignals:
    nothing: dict[str, Any] = {need: None}
    return replace(signals, **nothing)


ADAPTIVE = [name for name, kind in MIXERS.items() if kind.varies == "by_result"]


def test_all_mixers_of_the_field_are_registered() -> None:
    assert " ".join(NAMES) == (
        "adarft dads doremi dump_ucb exp3 odm plr reward_gap schedule sec static thompson tscl vcrl"
    )


@pytest.mark.parametrize("name", NAMES)
def test_it_says_what_it_is(name: str) -> None:
    kind = MIXERS.get(name)
    assert kind.name == name
    assert kind.cold_start
    assert kind.__doc__
    doc = " ".join((kind.__doc__ or "").split())
    assert "Source:" in doc or name in {"static", "schedule"}
    assert kind.Params.model_config["frozen"]


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("rule", ["mix", "waterfill"])
def test_proportions_sum_to_one_and_the_floor_holds(name: str, rule: str) -> None:
    params = {**MIXER_PARAMS.get(name, {}), "floor": 0.2, "floor_rule": rule}
    stream = make_stream(name, params)
    for _ in range(25):
        take_step(stream)
        p = np.array(list(stream.proportions.values()))
        assert p.sum() == pytest.approx(1, abs=1e-9)
        assert p.min() >= 0.2 - 1e-9


@pytest.mark.parametrize("name", NAMES)
def test_a_floor_that_cannot_hold_is_refused_at_once(name: str) -> None:
    with pytest.raises(InputDataError, match=r"3 x 0\.5"):
        build_mixer(name, {**MIXER_PARAMS.get(name, {}), "floor": 0.5}, sorted(SIZES))


@pytest.mark.parametrize("name", NAMES)
def test_quotas_are_what_was_drawn(name: str) -> None:
    stream = make_stream(name)
    for _ in range(20):
        batch = stream.next_batch()
        assert batch is not None
        found = np.bincount(stream.index.domains_of(batch.rows), minlength=3).tolist()
        assert found == list(stream.quota.values())
        assert sum(found) == BATCH
        stream.report(outcome(stream, batch))
        assert [d["realised"] for d in stream.explain()["domains"].values()] == found


@pytest.mark.parametrize("name", NAMES)
def test_it_resumes_at_every_step(name: str) -> None:
    check_resumes_everywhere(lambda: make_stream(name), 14)


@pytest.mark.parametrize("name", ADAPTIVE)
def test_it_resumes_with_a_domain_unseen_for_long(name: str) -> None:
    def make() -> Any:
        params = {**MIXER_PARAMS.get(name, {})}
        if name == "adarft":
            params["difficulty"] = {**params["difficulty"], "tiny": 99.0}
        return make_stream(name, params, sizes={**SIZES, "tiny": 2}, rules={"warmup_steps": 0})

    check_resumes_everywhere(make, 6)


@pytest.mark.parametrize("name", ADAPTIVE)
def test_the_right_signal_arrives_and_moves_it(name: str) -> None:
    stream = make_stream(name)
    seen = set()
    for _ in range(20):
        take_step(stream)
        seen.add(tuple(stream.proportions.values()))
    assert len(seen) > 3


@pytest.mark.parametrize("name", [n for n in ADAPTIVE if n != "plr"])
def test_it_stops_where_its_signal_never_comes(name: str) -> None:
    stream = make_stream(name)
    need = NEEDS[stream.mixer.wanted_signal]
    batch = stream.next_batch()
    assert batch is not None
    stream.report(without(outcome(stream, batch), need))
    with pytest.raises(
        MixtureError, match=f"none of the 1 batches reported so far brought `{need}`"
    ):
        stream.next_batch()


@pytest.mark.parametrize("name", ADAPTIVE)
def test_unseen_domains_have_finite_proportions(name: str) -> None:
    stream = make_stream(name, sizes=SIZES, rules={"warmup_steps": 0})
    batch = stream.next_batch()
    assert batch is not None
    given = outcome(stream, batch)
    domains = stream.index.domains_of(np.asarray(given.rows))
    only = domains == domains[0]
    stream.report(replace(given, real=only, partial=True))
    p = list(stream.proportions.values())
    nxt = stream.next_batch()
    assert nxt is not None
    assert all(math.isfinite(x) for x in [*p, *stream.proportions.values()])


@pytest.mark.parametrize("name", NAMES)
def test_its_state_is_plain_json(name: str) -> None:
    stream = make_stream(name)
    for _ in range(3):
        take_step(stream)
    state = stream.state_dict()
    assert json.loads(json.dumps(state, allow_nan=False)) == state


@pytest.mark.parametrize("name", NAMES)
def test_seed_and_reports_alone_decide(name: str) -> None:
    one, two, other = make_stream(name), make_stream(name), make_stream(name, seed=6)
    rows = [take_step(one) for _ in range(5)]
    assert [take_step(two) for _ in range(5)] == rows
    assert [take_step(other) for _ in range(5)] != rows
