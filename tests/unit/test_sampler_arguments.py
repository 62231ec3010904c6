"""Arguments as numpy and torch hold them, of the wrong kind, or without effect."""

from __future__ import annotations

import json
import warnings
from itertools import islice
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from dataflex_data.core.errors import ConfigError, InputDataError, MixtureError
from dataflex_data.samplers.domain_index import DomainIndex
from dataflex_data.samplers.mixer import build_mixer
from dataflex_data.samplers.planner import MixtureWarning
from tests.sampler_loop import make_stream

torch = pytest.importorskip("torch")
from dataflex_data.samplers.domain_sampler import DataFlexSampler  # noqa: E402

ROWS = {"math": 100, "logic": 60}


@pytest.mark.parametrize("of", [np.int64, torch.tensor])
def test_whole_numbers_of_numpy_and_torch(of: Any) -> None:
    def sampler(of: Any) -> DataFlexSampler:
        return DataFlexSampler(
            ROWS,
            of(8),
            "reward_gap",
            {"window": of(5), "temperature": of(1) * 0.5},
            seed=of(1),
            max_epochs={"math": of(3)},
            rank=of(0),
            world_size=of(2),
            steps_per_pass=of(6),
            warmup_steps=of(1),
            max_ahead=of(0),
        )

    theirs, ours = sampler(of), sampler(int)
    assert list(islice(theirs, 4)) == list(islice(ours, 4))
    assert json.dumps(theirs.state_dict()) == json.dumps(ours.state_dict())
    assert json.dumps(theirs.explain(of(0))) == json.dumps(ours.explain(0))
    assert theirs.draw_more("math", of(1)) == ours.draw_more("math", 1)
    theirs.check_loader(of(0), of(4))


@pytest.mark.parametrize("kind", [torch.float32, torch.bfloat16, torch.float16])
def test_reports_in_tensors_of_any_float_type(kind: Any) -> None:
    sampler = DataFlexSampler(ROWS, 8, "reward_gap", seed=1)
    rows = torch.tensor(list(islice(sampler, 8))).repeat_interleave(2)
    counts = sampler.update(
        {
            "rows": rows,
            "uids": torch.arange(8).repeat_interleave(2),
            "rewards": torch.full((16,), 0.5, dtype=kind, requires_grad=True),
            "lengths": torch.full((16,), 3),
            "real": torch.ones(16, dtype=torch.bool),
            "step": torch.tensor(0),
        }
    )
    assert (counts.groups_D.sum(), counts.rollouts_D.sum(), counts.tokens_D.sum()) == (8, 16, 48)
    assert sampler.metrics()["signal_math"] == 0.5


def test_numbers_of_the_wrong_kind_are_refused_in_words() -> None:
    sampler = DataFlexSampler(ROWS, 8, "reward_gap", seed=1)
    next(iter(sampler))
    for count in (1.5, -3, True, "2"):
        with pytest.raises(InputDataError, match="count of further rows must be a whole number"):
            sampler.draw_more("math", count)  # type: ignore[arg-type]
    for workers in ("2", -1, None):
        with pytest.raises(InputDataError, match="num_workers must be a whole number of at least"):
            sampler.check_loader(workers)  # type: ignore[arg-type]
    with pytest.raises(InputDataError, match="the DataLoader's batch_size must be a whole number"):
        sampler.check_loader(0, "8")  # type: ignore[arg-type]
    with pytest.raises(MixtureError, match="num_workers=2 with the adaptive mixer"):
        sampler.check_loader(2)
    with pytest.raises(InputDataError, match="step must be a whole number"):
        sampler.explain(0.5)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("data", "options", "message"),
    [
        (ROWS, {"content_digest": 5}, "content_digest must be text, got 5"),
        (ROWS, {"domains": "math"}, "domains must be a list of names, got 'math'"),
        (ROWS, {"domains": 5}, "domains must be a list of names, got 5"),
        (ROWS, {"domains": ["math", 5]}, r"must be a list of names, got \['math', 5\]"),
        (ROWS, {"domain_key": 5}, "domain_key must be text, got 5"),
        (ROWS, {"id_key": None}, "id_key must be text, got None"),
        (["a", "b"], {"domains": "ab"}, "domains must be a list of names"),
        (ROWS, {"domain_key": "zzz"}, "domain_key='zzz' is without effect on a mapping"),
        (["a", "b"], {"domain_key": "zzz"}, "domain_key='zzz' is without effect on labels"),
        (["a", "b"], {"id_key": "id"}, "id_key='id' is without effect on labels"),
        (["a", 1], {}, "not all of one type: row 0 holds 'a', row 1 1"),
        ({"domain": ["a"] * 1000}, {}, r"got \['a',.{1,60}\.\.\.: a mapping gives the number of"),
        (pa.table({"domain": ["a"], "uid": ["x"]}), {"id_key": "uidd"}, "did you mean 'uid'"),
    ],
)
def test_data_arguments(data: Any, options: dict[str, Any], message: str) -> None:
    with pytest.raises(InputDataError, match=message) as error:
        DomainIndex.build(data, **options)
    assert len(str(error.value)) < 400


def test_data_arguments_of_files_and_lazy_frames(tmp_path: Any) -> None:
    pl = pytest.importorskip("polars")
    pq.write_table(pa.table({"domain": ["a", "b"], "uid": ["x", "y"]}), tmp_path / "d.parquet")
    with pytest.raises(InputDataError, match="no column `uidd`; did you mean 'uid'"):
        DomainIndex.build(tmp_path / "d.parquet", id_key="uidd")
    lazy = pl.DataFrame({"domain": ["a", "b"]}).lazy()
    with pytest.raises(InputDataError, match=r"polars LazyFrame; collect\(\) it first"):
        DomainIndex.build(lazy)
    index = DomainIndex.build(ROWS)
    with pytest.raises(InputDataError, match="domain_key: without effect on a DomainIndex"):
        DataFlexSampler(index, 8, domain_key="zzz")


@pytest.mark.parametrize(
    ("name", "params", "message"),
    [
        ("tscl", {"lr": 0.5}, "lr is without effect with variant window"),
        ("tscl", {"variant": "online", "window": 7}, "window is without effect with variant"),
        ("tscl", {"policy": "boltzmann", "epsilon": 0.3}, "epsilon is without effect with policy"),
        ("tscl", {"temperature": 0.1}, "temperature is without effect with policy egreedy"),
        (
            "plr",
            {"inner": {"name": "reward_gap"}, "prioritise": "inner", "beta": 0.5},
            "beta is without effect with prioritise inner",
        ),
        ("dump_ucb", {"window": 5, "window_rollouts": 9}, "window_rollouts is without effect"),
        ("reward_gap", {"floor_rule": "waterfill"}, "floor_rule is without effect where floor is"),
        ("adarft", {"difficulty": {"a": 1, "b": 2}, "low": 9, "high": 3}, "low .9. must be below"),
        ("adarft", {"difficulty": {"a": 1, "b": 2}, "start": 101}, "start .101. must lie between"),
    ],
)
def test_parameters_without_effect(name: str, params: dict[str, Any], message: str) -> None:
    with pytest.raises(ConfigError, match=message):
        build_mixer(name, params, ["a", "b"])


def test_defaults_may_be_written_out() -> None:
    build_mixer("tscl", {"lr": 0.1, "temperature": 1.0, "floor_rule": "mix"}, ["a", "b"])


def test_faults_of_parameters_are_told_together_and_once() -> None:
    with pytest.raises(ConfigError) as error:
        build_mixer("static", {"weights": {"a": float("nan"), "b": 1.0}, "floor": -1}, ["a", "b"])
    assert len(error.value.problems) == 2
    assert "weights.a" in error.value.problems[1] + error.value.problems[0]
    assert any("floor" in problem for problem in error.value.problems)


def test_rules_that_a_fixed_mixture_does_not_look_at_are_told() -> None:
    with pytest.warns(MixtureWarning, match="warmup_steps, on_inert: without effect on the mixer"):
        DataFlexSampler(ROWS, 8, "static", warmup_steps=5, on_inert="error")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        DataFlexSampler(ROWS, 8, "reward_gap", warmup_steps=5)


def test_the_end_of_the_order_is_told_once_and_unlimited_domains_as_such() -> None:
    stream = make_stream(
        "static",
        {"weights": {"a": 0.0, "b": 1.0}},
        sizes={"a": 40, "b": 40},
        max_epochs={"b": 1},
    )
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always")
        while stream.next_batch() is not None:
            pass
        assert stream.next_batch() is None
    ends = [str(one.message) for one in said if "ends the order" in str(one.message)]
    assert len(ends) == 1
    assert "(a without limit, b 8)" in ends[0]
