"""Bad input, missing signals and changed data: each an error with the numbers, never a no-op."""

from __future__ import annotations

import subprocess
import sys
import warnings
from dataclasses import replace
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from dataflex_data.core.errors import InputDataError, MixtureError, StateError
from dataflex_data.core.simplex import UNIT
from dataflex_data.samplers.domain_index import DomainIndex
from dataflex_data.samplers.planner import MixtureWarning
from tests.sampler_loop import GROUP, SIZES, make_stream, outcome, take_step

# ---------------------------------------------------------------- data


@pytest.mark.parametrize(
    ("data", "message"),
    [
        ({}, "no domains"),
        ({"math": 10, "logic": 0}, "'logic' has 0 rows; a domain without rows"),
        ({"math": 10, " ": 1}, "a domain needs a name"),
        ([], "no rows"),
        (["math", None], "row 1 has no domain"),
        (["math", " "], "row 1 has no domain"),
        ([0.5, 1.0], "has type double; a domain is a name or a whole number"),
        (["math", 3], "not all of one type"),
        (pa.table({"domian": ["math"]}), "no column `domain`; did you mean 'domian'"),
        (42, "domains cannot be read from a builtins.int"),
        ("nowhere.parquet", "no such file"),
    ],
)
def test_data_without_usable_domains(data: Any, message: str) -> None:
    with pytest.raises(InputDataError, match=message):
        DomainIndex.build(data)


def test_domains_that_are_not_those_asked_for() -> None:
    # datasets#7954: an empty domain
    with pytest.raises(
        InputDataError, match="no row is in the domain 'maths'; did you mean 'math'"
    ):
        DomainIndex.build(["math", "logic"], domains=["maths", "logic"])
    with pytest.raises(InputDataError, match="hold domains not asked for: 'logic'"):
        DomainIndex.build(["math", "logic"], domains=["math"])
    with pytest.raises(InputDataError, match="listed twice: math"):
        DomainIndex.build(["math"], domains=["math", "math"])


def test_a_category_that_no_row_has_is_no_domain() -> None:
    codes = pa.array([2, 0, 2], type=pa.int32())
    labels = pa.DictionaryArray.from_arrays(codes, ["math", "unused", "logic"])
    assert DomainIndex.build(labels).names == ("logic", "math")
    gap = pa.DictionaryArray.from_arrays(pa.array([0, None], type=pa.int32()), ["math"])
    with pytest.raises(InputDataError, match="row 1 has no domain"):
        DomainIndex.build(gap)


def test_rows_per_domain_as_numpy_counts_them() -> None:
    counted = dict(zip("ab", np.bincount([0, 0, 1]), strict=True))
    assert DomainIndex.build(counted).digest == DomainIndex.build({"a": 2, "b": 1}).digest
    with pytest.raises(
        InputDataError, match=r"rows of domain 'a' must be a whole number, got 2\.5"
    ):
        DomainIndex.build({"a": 2.5})


def test_a_dictionary_with_a_value_twice_or_none() -> None:
    codes = pa.array([0, 1, 2, 0], pa.int32())
    twice = DomainIndex.build(pa.DictionaryArray.from_arrays(codes, ["a", "b", "a"]))
    assert (twice.names, twice.sizes_D.tolist()) == (("a", "b"), [3, 1])
    nothing = pa.DictionaryArray.from_arrays(codes, pa.array(["a", None, "b"]))
    with pytest.raises(InputDataError, match="row 1 has no domain"):
        DomainIndex.build(nothing)


def test_rows_of_many_scattered_domains() -> None:
    labels = [f"d{(7 * row) % 20:02}" for row in range(60)]
    index = DomainIndex.build(labels)
    assert index.rows_N is not None
    assert [labels[row] for row in index.rows_N] == sorted(labels)


def test_rows_that_are_not_there() -> None:
    with pytest.raises(InputDataError, match="row 2 is not in the data, which has 2 rows"):
        DomainIndex.build(["math", "logic"]).domains_of([0, 2])


def test_a_batch_larger_than_the_data() -> None:
    with pytest.raises(InputDataError, match=r"a batch of 151 rows.*150 rows in 3 domains"):
        make_stream("reward_gap", batch_size=151)


@pytest.mark.parametrize(
    "options",
    [
        {"batch_size": 0},
        {"batch_size": True},
        {"batch_size": 1 << 18, "sizes": {"a": 1 << 20}},
        {"seed": -1},
        {"max_epochs": 0},
        {"max_epochs": {"maths": 1}},
        {"on_change": "ignore"},
        {"rules": {"warmup_steps": -1}},
        {"rules": {"update_every": 0}},
        {"rules": {"on_inert": "ignore"}},
    ],
)
def test_numbers_out_of_range(options: dict[str, Any]) -> None:
    with pytest.raises(InputDataError, match=r"must be|not in the data"):
        make_stream("reward_gap", **options)


# ---------------------------------------------------------------- the run


def test_a_batch_before_the_last_one_s_report_is_refused() -> None:
    stream = make_stream("reward_gap")
    stream.next_batch()
    with pytest.raises(MixtureError, match=r"batch 1 was asked for before batch 0.*num_workers=0"):
        stream.next_batch()


def test_an_asynchronous_trainer_says_how_far_it_is_ahead() -> None:
    stream = make_stream("reward_gap", rules={"max_ahead": 2})
    batches = [stream.next_batch() for _ in range(3)]
    with pytest.raises(MixtureError, match="3 batches are out where max_ahead allows 2"):
        stream.next_batch()
    assert batches[1] is not None
    stream.report(outcome(stream, batches[1]))
    assert stream.next_batch() is not None


def test_results_are_credited_to_the_draw_they_come_from() -> None:
    # Exp3 divides by the probability of the draw: batch 0's, though batch 1's is out as well.
    stream = make_stream("exp3", {"gamma": 0.5}, rules={"max_ahead": 1, "warmup_steps": 0})
    drawn = []
    for _ in range(6):
        batch = stream.next_batch()
        assert batch is not None
        drawn.append(batch)
        if len(drawn) > 1:
            stream.report(outcome(stream, drawn[-2]))
            used = stream._steering.tracker.latest_proportions_D
            assert used.tolist() == drawn[-2].plan.proportions_D.tolist()
            assert stream._steering.tracker.latest_step == drawn[-2].step


def test_a_report_of_a_batch_that_is_not_out() -> None:
    stream = make_stream("reward_gap")
    batch = stream.next_batch()
    assert batch is not None
    report = outcome(stream, batch)
    stream.report(report)
    with pytest.raises(MixtureError, match=r"batch 0 came, which is not out \(batches out: none\)"):
        stream.report(report)


def test_training_on_other_rows_than_were_drawn_is_an_error() -> None:
    # What the reference does in silence: its replay buffer hands over the oldest prompts.
    stream = make_stream("reward_gap")
    batch = stream.next_batch()
    assert batch is not None
    report = outcome(stream, batch)
    other = replace(report, rows=np.repeat(np.arange(16), GROUP))
    before = stream.state_dict()
    with pytest.raises(MixtureError, match=r"not its quota .groups.: logic 16 of \d+; math 0 of"):
        stream.report(other)
    assert stream.state_dict() == before
    stream.report(report)


def test_missing_groups_must_be_said() -> None:
    stream = make_stream("reward_gap")
    batch = stream.next_batch()
    assert batch is not None
    report = outcome(stream, batch)
    lost = replace(report, real=np.arange(16 * GROUP) >= GROUP)
    with pytest.raises(MixtureError, match="say partial=True"):
        stream.report(lost)
    counts = stream.report(replace(lost, partial=True))
    assert counts.groups_D.sum() == 15


def test_a_batch_that_failed_as_a_whole_can_be_reported() -> None:
    stream = make_stream("reward_gap")
    take_step(stream)
    batch = stream.next_batch()
    assert batch is not None
    nothing = replace(outcome(stream, batch), real=[False] * 16 * GROUP, partial=True)
    assert stream.report(nothing).groups_D.tolist() == [0, 0, 0]
    assert stream.next_batch() is not None


def test_a_group_that_lost_rollouts_is_counted_as_what_it_is() -> None:
    # verl#6437
    stream = make_stream("reward_gap")
    batch = stream.next_batch()
    assert batch is not None
    report = replace(outcome(stream, batch), real=np.arange(16 * GROUP) >= 3)
    counts = stream.report(report)
    assert (int(counts.groups_D.sum()), int(counts.rollouts_D.sum())) == (16, 16 * GROUP - 3)


def constant_rewards(stream: Any, value: float) -> None:
    batch = stream.next_batch()
    stream.report(replace(outcome(stream, batch), rewards=np.full(16 * GROUP, value)))


def test_rewards_all_zero_at_first_are_a_warning_and_a_metric() -> None:
    stream = make_stream("reward_gap", rules={"inert_after": 4})
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for _ in range(4):
            constant_rewards(stream, 0.0)
    assert stream.metrics()["inert"] == 0.0
    with pytest.warns(
        MixtureWarning, match="has not moved for 4 updates.*the same number in every"
    ):
        constant_rewards(stream, 0.0)
    assert stream.metrics()["inert"] == 1.0
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for _ in range(3):
            take_step(stream)
    assert stream.metrics()["inert"] == 0.0


def test_an_inert_mixer_can_be_an_error() -> None:
    stream = make_stream("reward_gap", rules={"inert_after": 3, "on_inert": "error"})
    with pytest.raises(MixtureError, match="on_inert: error"):
        for _ in range(10):
            constant_rewards(stream, 0.5)


def test_warmup_and_update_every() -> None:
    stream = make_stream("reward_gap", rules={"warmup_steps": 3, "update_every": 2})
    seen = []
    for _ in range(9):
        take_step(stream)
        seen.append(tuple(stream.proportions.values()))
    assert seen[0] == seen[1] == seen[2] == (1 / 3, 1 / 3, 1 / 3)
    assert seen[3] != seen[2]
    assert seen[4] == seen[3]
    assert seen[5] != seen[4]


# ---------------------------------------------------------------- max_epochs


def test_an_exhausted_domain_s_quota_goes_to_the_others_and_is_said() -> None:
    sizes = {"large": 100, "small": 10, "tiny": 7}
    stream = make_stream(
        "static", {}, sizes=sizes, batch_size=6, max_epochs={"small": 1, "tiny": 2}
    )
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always")
        batches = [stream.next_batch() for _ in range(20)]
    # small: 2 a batch, its 10 rows are gone after 5; tiny: then 3 a batch, and 10 of 14 were drawn.
    assert [str(warning.message)[:58] for warning in said] == [
        "max_epochs is reached for small (1 epochs), from batch 5 o",
        "max_epochs is reached for tiny (2 epochs), from batch 7 on",
    ]
    drawn: list[int] = []
    for batch in batches:
        assert batch is not None
        assert len(batch.rows) == 6
        drawn += stream.index.domains_of(batch.rows).tolist()
    assert (drawn.count(1), drawn.count(2)) == (10, 14)
    assert stream.explain()["domains"]["small"]["exhausted"] is True
    assert abs(sum(d["owed_after"] for d in stream.explain()["domains"].values())) < 1e-9


def test_the_order_ends_where_max_epochs_leaves_no_batch_and_says_what_is_left() -> None:
    stream = make_stream("static", {}, sizes={"a": 10, "b": 10}, batch_size=6, max_epochs=1)
    with pytest.warns(MixtureWarning, match=r"the rows left \(a 1, b 1\)"):
        batches = [stream.next_batch() for _ in range(4)]
    assert batches[3] is None
    rows = [row for batch in batches if batch is not None for row in batch.rows.tolist()]
    assert len(set(rows)) == 18


@pytest.mark.filterwarnings("ignore::dataflex_data.samplers.planner.MixtureWarning")
def test_max_epochs_resumes_at_every_step() -> None:
    from tests.sampler_loop import check_resumes_everywhere

    check_resumes_everywhere(
        lambda: make_stream("static", max_epochs={"science": 1, "logic": 2}), 20
    )


# ---------------------------------------------------------------- states


def test_states_that_are_not_ours() -> None:
    stream = make_stream("reward_gap")
    take_step(stream)
    state = stream.state_dict()
    for change, message in (
        ({"kind": "torchdata"}, "no state of a DataFlexSampler .kind 'torchdata'"),
        ({"version": 2}, "version 2, this release .* reads 1: it is newer; upgrade"),
        ({"version": 0}, "cannot be continued"),
        ({"order": 2}, "order 2"),
        ({"seed": 6}, "seed 6, the sampler has seed 5"),
        ({"batch_size": 8}, "batch size 8 then, 16 now"),
        ({"mixer": ["static", "x"]}, "mixer static .parameters x. then, reward_gap"),
        ({"domains": {"math": "x"}}, "damaged"),
        ({"steering": {}}, "damaged"),
    ):
        fresh = make_stream("reward_gap")
        before = fresh.state_dict()
        with pytest.raises(StateError, match=message):
            fresh.load_state_dict({**state, **change})
        assert fresh.state_dict() == before
    del state["domains"]
    with pytest.raises(StateError, match="lacks domains"):
        make_stream("reward_gap").load_state_dict(state)
    with pytest.raises(StateError, match="kind 'list'"):
        make_stream("reward_gap").load_state_dict([])  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"step": -5}, "its step is -5"),
        ({"step": "x"}, "its step is 'x'"),
        ({"domains": {"a": [0, 99, 0], "b": [0, 0, 0]}}, r"'a' of 40 rows stands at \[0, 99, 0\]"),
        ({"domains": {"a": [-1, 3, 0], "b": [0, 0, 0]}}, r"stands at \[-1, 3, 0\]"),
        ({"domains": {"a": [0.5, 3, 0], "b": [0, 0, 0]}}, r"stands at \[0.5, 3, 0\]"),
        ({"domains": {"a": [0, 3, 5], "b": [0, 0, 0]}}, "owed sums to 5, not to 0"),
        ({"domains": {"a": [0, 3, 10**20], "b": [0, 0, -(10**20)]}}, "'a' of 40 rows stands at"),
        ({"domains": {"a": [0, 3, 0, [77]], "b": [0, 0, 0]}}, r"stands at \[0, 3, 0, \[77\]\]"),
        ({"domains": {"a": [0, 3, 0, [1, 1]], "b": [0, 0, 0]}}, "'a' of 40 rows stands at"),
        ({"open": [16, [0.5, 0.5]]}, "of a batch of 16 rows 16 had been handed out"),
        ({"open": [-1, [0.5, 0.5]]}, "16 rows -1 had been"),
        ({"open": [2, [0.5]]}, r"open with the proportions \[0.5\]"),
        ({"open": [2, [float("nan"), 0.5]]}, "open with the proportions"),
        ({"open": [2, [0.5, 0.6]]}, "open with the proportions"),
        ({"open": 3}, "the saved state is damaged"),
    ],
)
def test_states_with_numbers_that_none_can_have_saved(change: dict[str, Any], message: str) -> None:
    stream = make_stream("static", {}, sizes={"a": 40, "b": 40})
    stream.next_batch()
    before = stream.state_dict()
    with pytest.raises(StateError, match=message):
        stream.load_state_dict({**before, **change})
    assert stream.state_dict() == before


def test_data_that_changed_under_the_state() -> None:
    state = make_stream("static").state_dict()
    more = {**SIZES, "logic": 40, "code": 9}
    del more["science"]
    weights = {"weights": "equal"}
    with pytest.raises(StateError) as error:
        make_stream("static", weights, sizes=more).load_state_dict(state)
    for part in (
        "domains added: code (9 rows)",
        "domains removed: science (23 rows)",
        "domains changed: logic (37 rows then, 40 rows now)",
    ):
        assert part in str(error.value)


def test_rows_that_swapped_domains_are_noticed() -> None:
    one = DomainIndex.build(["a", "b", "a", "b"])
    other = DomainIndex.build(["a", "b", "b", "a"])
    assert one.digest_by_domain == other.digest_by_domain
    assert one.digest != other.digest


def test_other_rows_of_the_same_domains_are_noticed_by_their_ids() -> None:
    def table(ids: list[str]) -> pa.Table:
        return pa.table({"domain": ["a", "b", "a"], "extra_info": [{"row_id": i} for i in ids]})

    one, other = (DomainIndex.build(table(ids)) for ids in (["x", "y", "z"], ["x", "y", "w"]))
    assert one.digest_by_domain[0] != other.digest_by_domain[0]
    assert one.digest_by_domain[1] == other.digest_by_domain[1]


def test_adapting_to_changed_domains_by_the_stated_rule() -> None:
    old = make_stream("static", {}, sizes={"gone": 20, "grown": 20, "same": 20}, batch_size=8)
    for _ in range(5):
        old.next_batch()
    state = old.state_dict()
    new = make_stream(
        "static", {}, sizes={"fresh": 20, "grown": 25, "same": 20}, batch_size=8, on_change="adapt"
    )
    with pytest.warns(MixtureWarning, match="domains added: fresh.*removed: gone.*changed: grown"):
        new.load_state_dict(state)
    adapted = new.state_dict()
    assert adapted["domains"]["same"][:2] == state["domains"]["same"][:2]
    assert adapted["domains"]["fresh"][:2] == [0, 0]
    assert adapted["domains"]["grown"][:2] == [1, 0]
    assert sum(domain[2] for domain in adapted["domains"].values()) == 0
    assert all(abs(domain[2]) < 2 * UNIT for domain in adapted["domains"].values())
    assert new.next_batch() is not None


def test_weights_changed_in_a_run_lose_and_repeat_no_rows() -> None:
    # Megatron-LM#457
    sizes = {"a": 40, "b": 40}
    first = make_stream("static", {"weights": {"a": 3.0, "b": 1.0}}, sizes=sizes, batch_size=8)
    rows = [row for _ in range(4) for row in take_step(first)]
    second = make_stream(
        "static",
        {"weights": {"a": 1.0, "b": 3.0}},
        sizes=sizes,
        batch_size=8,
        on_change="adapt",
    )
    with pytest.warns(MixtureWarning, match="mixer static"):
        second.load_state_dict(first.state_dict())
    rows += [row for _ in range(6) for row in take_step(second)]
    # a: 4 x 6 + 6 x 2 = 36 of 40; b: 4 x 2 + 6 x 6 = 44: its first 40 are all of it
    in_b = [row for row in rows if row >= 40]
    assert len(rows) - len(in_b) == len({row for row in rows if row < 40}) == 36
    assert len(set(in_b[:40])) == 40


def test_a_state_just_at_the_end_of_an_epoch() -> None:
    # verl#5725, pytorch/data#1437, #1513: 3 batches of 8 are one epoch of 24 rows
    stream = make_stream("static", {}, sizes={"a": 24}, batch_size=8)
    first = [row for _ in range(3) for row in take_step(stream)]
    resumed = make_stream("static", {}, sizes={"a": 24}, batch_size=8)
    resumed.load_state_dict(stream.state_dict())
    second = [row for _ in range(3) for row in take_step(resumed)]
    assert sorted(first) == sorted(second) == list(range(24))
    assert first != second
    assert resumed.state_dict()["domains"]["a"][:2] == [1, 24]


def test_the_state_of_three_static_domains_is_under_a_kilobyte() -> None:
    import json

    stream = make_stream("static", {}, sizes={"a": 10**7, "b": 10**7, "c": 10**7}, batch_size=512)
    for _ in range(40):
        stream.next_batch()
    for handed_out in (None, 100):
        text = json.dumps(stream.state_dict(handed_out))
        assert len(text) < 1024


# ---------------------------------------------------------------- showing


def test_explain_gives_the_sum_that_made_the_quota() -> None:
    stream = make_stream("static")
    for _ in range(3):
        stream.next_batch()
    told = stream.explain(2)
    for name, d in told["domains"].items():
        assert d["quota"] == stream.quota[name]
        assert d["due"] - d["quota"] == pytest.approx(d["owed_after"], abs=1e-9)
    assert stream.explain()["step"] == 2
    with pytest.raises(InputDataError, match=r"batch 7 is not remembered \(remembered: 0 to 2\)"):
        stream.explain(7)


def test_quota_and_proportions_before_anything_is_drawn() -> None:
    stream = make_stream("static", {})
    expected = dict(stream.quota)
    assert stream.proportions == pytest.approx(dict.fromkeys(SIZES, 1 / 3))
    stream.next_batch()
    assert stream.quota == expected


def test_without_torch_the_sampler_names_the_extra_and_the_rest_works() -> None:
    code = (
        "import sys; sys.modules['torch'] = None\n"
        "from dataflex_data import samplers\n"
        "from dataflex_data.core.errors import MissingExtraError\n"
        "assert samplers.build_mixer('static', {}, ['a']).n_domains == 1\n"
        "try:\n    samplers.DataFlexSampler\n"
        "except MissingExtraError as error:\n    print(error)\n"
        "else:\n    raise SystemExit('no error')\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True, timeout=60
    )
    assert 'pip install "dataflex-data[torch]"' in done.stdout


def test_importing_the_samplers_imports_neither_torch_nor_scipy() -> None:
    code = (
        "import sys\nfrom dataflex_data.samplers import MixtureStream, build_mixer, MIXERS\n"
        "MIXERS.names()\n"
        "print([m for m in ('torch', 'scipy', 'matplotlib', 'polars') if m in sys.modules])"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True, timeout=60
    )
    assert done.stdout.strip() == "[]"


def test_an_index_that_does_not_fit_the_data_is_caught_at_the_first_batch() -> None:
    stream = make_stream("static", {}, sizes={"a": 40, "b": 40})
    index = DomainIndex.build(["a", "b"] * 40)
    assert index.codes_N is not None
    stream._planner.index = replace(index, codes_N=index.codes_N[::-1].copy())
    with pytest.raises(MixtureError, match=r"batch 0 are not in the domains .*a 8 of 8; b 8 of 8"):
        stream.next_batch()
    codes = index.codes_N.copy()
    codes[:] = 0
    stream._planner.index = replace(index, codes_N=codes)
    with pytest.raises(MixtureError, match=r"\(a 16 of 8; b 0 of 8\)"):
        stream.next_batch()
