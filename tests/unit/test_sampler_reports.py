"""Reports that are refused whole, signals that stop, and states that were damaged."""

from __future__ import annotations

import copy
import json
import warnings
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from dataflex_data.core.errors import InputDataError, MixtureError, StateError
from dataflex_data.samplers.mixer import MIXERS, Mixer
from dataflex_data.samplers.planner import MixtureWarning
from dataflex_data.samplers.signals import NEEDS, StepSignals
from dataflex_data.samplers.stream import MixtureStream
from tests.sampler_loop import GROUP, SIZES, make_stream, outcome, take_step

ADAPTIVE = [name for name, kind in MIXERS.items() if kind.varies == "by_result"]


def drawn(stream: MixtureStream) -> StepSignals:
    batch = stream.next_batch()
    assert batch is not None
    return outcome(stream, batch)


# ---------------------------------------------------------------- refused whole


def test_exp3_refuses_a_reward_out_of_range_and_takes_the_corrected_report() -> None:
    stream = make_stream("exp3")
    report = drawn(stream)
    before = stream.state_dict()
    with pytest.raises(InputDataError, match="exp3 needs rewards in"):
        stream.report(replace(report, rewards=np.full(16 * GROUP, 2.0)))
    assert stream.state_dict() == before
    assert stream.explain()["domains"]["math"]["realised"] is None
    stream.report(report)


@pytest.mark.parametrize("name", ADAPTIVE)
def test_a_mixer_that_fails_half_way_has_changed_nothing(name: str) -> None:
    stream, other = make_stream(name), make_stream(name)
    for _ in range(3):
        take_step(stream)
        take_step(other)
    report = drawn(stream)
    before = stream.state_dict()
    real = type(stream.mixer).observe

    def breaks(self: Mixer, stats: Any) -> None:
        real(self, stats)
        raise RuntimeError("half way")

    with pytest.MonkeyPatch.context() as patch, pytest.raises(RuntimeError, match="half way"):
        patch.setattr(type(stream.mixer), "observe", breaks)
        stream.report(report)
    assert stream.state_dict() == before
    stream.report(report)
    take_step(other)
    assert stream.state_dict() == other.state_dict()


@pytest.mark.parametrize("name", ADAPTIVE)
def test_sums_that_would_be_no_numbers_are_refused_at_the_report(name: str) -> None:
    stream = make_stream(name)
    report = drawn(stream)
    need = NEEDS[stream.mixer.wanted_signal]
    large: dict[str, Any] = {need: np.full(16 * GROUP, 1e300)}
    before = stream.state_dict()
    with pytest.raises(InputDataError, match="as large as 1e"):
        stream.report(replace(report, **large))
    assert stream.state_dict() == before


def test_one_uid_for_several_rows_is_refused() -> None:
    # Rows repeated and uids tiled: as many groups as were drawn, each of four different prompts.
    stream = make_stream("vcrl", sizes={"math": 90})
    report = drawn(stream)
    tiled = replace(report, uids=np.tile(np.arange(16), GROUP))
    with pytest.raises(InputDataError, match=r"one uid stands for the rows \d+ and \d+.*tiled"):
        stream.report(tiled)
    stream.report(report)


def test_rows_of_the_right_domains_that_were_not_drawn_are_refused() -> None:
    stream = make_stream("reward_gap", sizes={"math": 90})
    report = drawn(stream)
    rows = np.asarray(report.rows)
    spare = next(row for row in range(90) if row not in rows)
    other = replace(report, rows=np.where(rows == rows[0], spare, rows))
    with pytest.raises(MixtureError, match=f"of row {spare}, which was not drawn for it"):
        stream.report(other)
    twice = replace(report, rows=np.where(rows == rows[0], rows[GROUP], rows))
    with pytest.raises(MixtureError, match=r"2 group\(s\) of row \d+, which was drawn 1 times"):
        stream.report(twice)
    more = stream.draw_more("math", 1)
    stream.report(replace(report, rows=np.where(rows == rows[0], more[0], rows)))


def test_domains_and_rows_that_disagree() -> None:
    stream = make_stream("reward_gap")
    report = drawn(stream)
    with pytest.raises(InputDataError, match="`domains` and `rows` disagree"):
        stream.report(replace(report, domains=["math"] * 16 * GROUP))


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"rows": np.full(16 * GROUP, 0.5)}, "`rows` must be one whole number per response"),
        ({"uids": [[1]] * 16 * GROUP}, "`uids` must be one plain value"),
        ({"uids": 5}, "`uids` is 5 for 64 responses"),
        ({"rewards": ["x"] * 16 * GROUP}, "`rewards`: must be numbers"),
        ({"uids": [{}] * 16 * GROUP}, "`uids` must be one plain value"),
        ({"lengths": [-1] * 16 * GROUP}, "`lengths` must be whole numbers of at least 0, got -1"),
        ({"lengths": [1.5] * 16 * GROUP}, r"whole numbers of at least 0, got 1\.5"),
        ({"losses": "zz"}, "`losses`: must be numbers"),
        ({"losses": [1]}, r"`losses` has shape \(1,\)"),
        ({"partial": "no"}, "`partial` must be true or false, got 'no'"),
        ({"domains": 5}, "`domains` and `rows` disagree"),
        ({"domains": 5, "rows": None}, "`domains` must be one name per response, got"),
        ({"step": 0.5}, r"step must be a whole number of at least 0, got 0\.5"),
        ({"step": True}, "step must be a whole number"),
    ],
)
def test_reports_of_the_wrong_kind(change: dict[str, Any], message: str) -> None:
    stream = make_stream("reward_gap")
    report = drawn(stream)
    with pytest.raises(InputDataError, match=message):
        stream.report(replace(report, **change))
    with pytest.raises(InputDataError, match="a report is a StepSignals or a mapping"):
        stream.report(5)  # type: ignore[arg-type]
    stream.report(report)


# ---------------------------------------------------------------- a signal that stops


def without_signal(stream: MixtureStream) -> None:
    report = drawn(stream)
    nothing: dict[str, Any] = {NEEDS[stream.mixer.wanted_signal]: None}
    stream.report(replace(report, **nothing))


@pytest.mark.parametrize("name", ADAPTIVE)
def test_a_signal_that_stops_coming_is_said_once_and_measured(name: str) -> None:
    stream = make_stream(name, rules={"inert_after": 4})
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for _ in range(3):
            take_step(stream)
        for _ in range(4):
            without_signal(stream)
    assert (stream.metrics()["signal_age"], stream.metrics()["inert"]) == (4.0, 1.0)
    need = NEEDS[stream.mixer.wanted_signal]
    with pytest.warns(MixtureWarning, match=f"the last 4 reports brought no `{need}`") as said:
        without_signal(stream)
    assert len(said) == 1
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        without_signal(stream)
        take_step(stream)
    assert (stream.metrics()["signal_age"], stream.metrics()["inert"]) == (0.0, 0.0)


def test_a_signal_that_stops_coming_can_be_an_error_that_stays_one() -> None:
    stream = make_stream("reward_gap", rules={"inert_after": 3, "on_inert": "error"})
    take_step(stream)
    for _ in range(3):
        without_signal(stream)
    resumed = make_stream("reward_gap", rules={"inert_after": 3, "on_inert": "error"})
    resumed.load_state_dict(stream.state_dict())
    for one in (stream, stream, resumed):
        with pytest.raises(MixtureError, match=r"brought no `rewards`.*\(on_inert: error\)"):
            one.next_batch()


def test_an_inert_mixer_that_is_an_error_stays_one() -> None:
    stream = make_stream("reward_gap", rules={"inert_after": 2, "on_inert": "error"})
    with pytest.raises(MixtureError, match="has not moved for 2 updates"):
        for _ in range(9):
            stream.report(replace(drawn(stream), rewards=np.zeros(16 * GROUP)))
    with pytest.raises(MixtureError, match="has not moved for 2 updates"):
        stream.next_batch()


def test_a_batch_that_failed_as_a_whole_is_no_missing_signal() -> None:
    stream = make_stream("reward_gap")
    take_step(stream)
    stream.report(replace(drawn(stream), real=[False] * 16 * GROUP, partial=True))
    assert stream.metrics()["signal_age"] == 0.0


# ---------------------------------------------------------------- damaged states

Damage = Callable[[dict[str, Any]], object]
DAMAGES: dict[str, Damage] = {
    "no mixer": lambda s: s.update(mixer=None),
    "mixer a number": lambda s: s.update(mixer=5),
    "mixer empty": lambda s: s.update(mixer=[]),
    "mixer a text": lambda s: s.update(mixer="x"),
    "mixer a mapping": lambda s: s.update(mixer={}),
    "digests a list": lambda s: s.update(digests=[]),
    "domains none": lambda s: s.update(domains=None),
    "a step far ahead": lambda s: s.update(step=10**9),
    "an epoch far ahead": lambda s: s["domains"]["logic"].__setitem__(0, 10**9),
    "a domain lost": lambda s: s["domains"].pop("logic"),
    "proportions NaN": lambda s: s["steering"].update(proportions=[float("nan")] * 3),
    "proportions none": lambda s: s["steering"].update(proportions=None),
    "proportions empty": lambda s: s["steering"].update(proportions=[]),
    "nothing out": lambda s: s["steering"].update(out=[]),
    "out without proportions": lambda s: s["steering"]["out"][0].__setitem__(1, None),
    "out with another quota": lambda s: s["steering"]["out"][0].__setitem__(2, [1, 1, 1]),
    "a window lost": lambda s: s["steering"]["tracker"]["entries"].pop("logic"),
    "totals lost": lambda s: s["steering"]["tracker"]["totals"].pop("logic"),
    "no tracker": lambda s: s["steering"].update(tracker=None),
    "no mixer state": lambda s: s["steering"].update(mixer=None),
    "weight NaN": lambda s: s["steering"]["mixer"]["log_weight"].update(logic=float("nan")),
    "weight text": lambda s: s["steering"]["mixer"]["log_weight"].update(logic="x"),
    "not JSON": lambda s: s.update(more={1, 2}),
    "a key more": lambda s: s.update(more=1),
    "seal changed": lambda s: s.update(seal="0" * 16),
}


def saved() -> dict[str, Any]:
    stream = make_stream("exp3")
    for _ in range(4):
        take_step(stream)
    stream.next_batch()
    state: dict[str, Any] = json.loads(json.dumps(stream.state_dict()))
    return state


@pytest.mark.parametrize("damage", DAMAGES)
def test_every_damage_to_a_state_is_refused_when_it_is_loaded(damage: str) -> None:
    state = saved()
    DAMAGES[damage](state)
    fresh = make_stream("exp3")
    before = fresh.state_dict()
    with pytest.raises(StateError, match="damaged"):
        fresh.load_state_dict(state)
    assert fresh.state_dict() == before
    fresh.load_state_dict(saved())


UNSEEN_WITHOUT_SEAL = {
    "a step far ahead",
    "an epoch far ahead",
    "proportions none",
    "nothing out",
    "a window lost",
    "totals lost",
    "not JSON",
    "a key more",
    "seal changed",
}


@pytest.mark.parametrize("damage", sorted(set(DAMAGES) - UNSEEN_WITHOUT_SEAL))
def test_what_cannot_be_is_refused_in_states_from_before_seals(damage: str) -> None:
    state = saved()
    del state["seal"]
    make_stream("exp3").load_state_dict(copy.deepcopy(state))
    DAMAGES[damage](state)
    with pytest.raises(StateError, match="damaged"):
        make_stream("exp3").load_state_dict(state)


def test_a_state_from_before_seals_goes_on() -> None:
    old = make_stream("static")
    for _ in range(3):
        take_step(old)
    state = old.state_dict()
    for key in ("seal", "steering"):
        del state[key]
    new = make_stream("static")
    new.load_state_dict(state)
    assert [take_step(new) for _ in range(3)] == [take_step(old) for _ in range(3)]


def test_a_static_state_stays_small() -> None:
    stream = make_stream("static")
    for _ in range(100):
        stream.next_batch()
    assert len(json.dumps(stream.state_dict())) < 1024
    assert set(SIZES) == set(stream.state_dict()["domains"])


def test_a_batch_lost_in_a_resume_can_be_given_up_as_the_message_says() -> None:
    stream = make_stream("reward_gap")
    take_step(stream)
    stream.next_batch()
    resumed = make_stream("reward_gap")
    resumed.load_state_dict(stream.state_dict())
    with pytest.raises(MixtureError, match="Batch 1 was drawn before the state was saved") as error:
        resumed.next_batch()
    assert "update({'domains': [], 'partial': True, 'step': 1})" in str(error.value)
    resumed.report({"domains": [], "partial": True, "step": 1})
    for _ in range(3):
        take_step(resumed)
