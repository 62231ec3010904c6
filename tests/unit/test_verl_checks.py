"""What cannot work is refused with the line to write, from the configuration alone."""

from __future__ import annotations

import copy
import subprocess
import sys
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from dataflex_data.core.errors import ConfigError
from dataflex_data.core.ledger import Ledger
from dataflex_data.integrations.verl.checks import problems, require_possible
from dataflex_data.integrations.verl.record import ledger_run
from dataflex_data.integrations.verl.settings import require_variables, run_settings

SELECT = {
    "mechanism": "select",
    "scorer": {"name": "group_solve_rate", "params": {"success_threshold": 0.5}},
    "actuator": {"name": "threshold_band", "params": {"low": 0.2, "high": 0.8}},
    "warmup_step": 0,
}
REWEIGHT = {
    "mechanism": "reweight",
    "scorer": {"name": "advantage_magnitude"},
    "actuator": {"name": "softmax"},
}
GRESO = {"mechanism": "select", "actuator": {"name": "greso"}}
MIX = {"mechanism": "mix", "actuator": {"name": "reward_gap"}}


def config(block: dict[str, Any] | None = None, /, **changes: Any) -> dict[str, Any]:
    """Return the part of verl's configuration that is looked at; ``changes`` by dotted name."""
    whole: dict[str, Any] = {
        "trainer": {
            "use_v1": True,
            "v1": {"trainer_mode": "dataflex_sync", "sampler": {}, "sync": {}},
        },
        "algorithm": {
            "adv_estimator": "grpo",
            "norm_adv_by_std_in_grpo": True,
            "filter_groups": {"enable": False},
            "rollout_correction": {"bypass_mode": False},
        },
        "data": {"train_batch_size": 64, "dataloader_num_workers": 0},
        "actor_rollout_ref": {
            "rollout": {"n": 5},
            "actor": {
                "strategy": "fsdp",
                "loss_agg_mode": "token-mean",
                "ppo_mini_batch_size": 64,
                "use_kl_loss": False,
                "entropy_coeff": 0,
                "policy_loss": {"loss_mode": "vanilla"},
            },
        },
    }
    if block is not None:
        whole["dataflex"] = copy.deepcopy(block)
    for path, value in changes.items():
        *outer, last = path.split("__")
        held = whole
        for key in outer:
            held = held.setdefault(key, {})
        held[last] = value
    return whole


@pytest.mark.parametrize("block", [SELECT, REWEIGHT, MIX, {"mechanism": "none"}])
def test_the_three_mechanisms_and_the_baseline_pass(block: dict[str, Any]) -> None:
    assert list(problems(config(block))) == []


def test_without_us_nothing_is_said() -> None:
    assert list(problems(config(trainer__v1__trainer_mode="sync"))) == []


REFUSALS: list[tuple[str, dict[str, Any] | None, dict[str, Any], list[str]]] = [
    ("keys that are ignored", SELECT, {"trainer__v1__trainer_mode": "sync"}, ["dataflex_sync"]),
    (
        "a trainer mode mistyped",
        SELECT,
        {"trainer__v1__trainer_mode": "dataflex_snyc"},
        ["did you mean", "dataflex_sync", "'? Set trainer"],
    ),
    (
        "asynchronous trainers",
        SELECT,
        {"trainer__v1__trainer_mode": "separate_async"},
        ["asynchronous", "dataflex_sync"],
    ),
    ("no keys", None, {}, ["+dataflex.mechanism=none"]),
    ("the legacy trainer", SELECT, {"trainer__use_v1": False}, ["use_v1"]),
    (
        "the old sampler",
        MIX,
        {
            "trainer__v1__sampler__custom_sampler": {
                "path": "pkg://dataflex_verl.replay_buffer",
                "name": "X",
            }
        },
        ["custom_sampler.path", "public plugin", "dataflex.mechanism=mix"],
    ),
    (
        "workers with an adaptive mixer",
        MIX,
        {"data__dataloader_num_workers": 8},
        ["data.dataloader_num_workers=0", "18 batches"],
    ),
    ("an unknown mixer", {**MIX, "actuator": {"name": "reward_gab"}}, {}, ["reward_gap"]),
    ("filtered groups", MIX, {"algorithm__filter_groups__enable": True}, ["quota", "dapo_dynamic"]),
    (
        "refilled groups",
        MIX,
        {"trainer__v1__sampler__sync_refill_failed_groups": True},
        ["sync_refill_failed_groups"],
    ),
    (
        "several updates per batch",
        MIX,
        {"trainer__v1__sync__parameter_sync_step": 2},
        ["parameter_sync_step"],
    ),
    ("two samplers", MIX, {"data__sampler": {"class_path": "pkg://a.b"}}, ["data.sampler"]),
    ("a group scorer on GAE", SELECT, {"algorithm__adv_estimator": "gae"}, ["gae", "groups"]),
    ("groups of one", SELECT, {"actor_rollout_ref__rollout__n": 1}, ["rollout.n"]),
    (
        "an unknown scorer",
        {**SELECT, "scorer": {"name": "group_solve"}},
        {},
        ["group_solve_rate"],
    ),
    ("an unknown key", {**SELECT, "actuater": {"name": "x"}}, {}, ["actuater", "actuator"]),
    (
        "weights that are ignored",
        REWEIGHT,
        {"algorithm__rollout_correction__bypass_mode": True},
        ["bypass_mode"],
    ),
    (
        "weights whose logarithm is taken",
        REWEIGHT,
        {"actor_rollout_ref__actor__policy_loss__loss_mode": "geo_mean"},
        ["geo_mean", "vanilla"],
    ),
    (
        "engines not known",
        SELECT,
        {"actor_rollout_ref__actor__strategy": "megatron"},
        ["megatron", "fsdp"],
    ),
    (
        "masks in a mode that counts rows",
        {**SELECT, "mode": "mask"},
        {"actor_rollout_ref__actor__loss_agg_mode": "seq-mean-token-mean"},
        ["mode=drop"],
    ),
    (
        "masks over several optimiser steps",
        {**SELECT, "mode": "mask"},
        {"actor_rollout_ref__actor__ppo_mini_batch_size": 16},
        ["16 of 64"],
    ),
    (
        "weights beside a KL loss",
        {**SELECT, "mode": "weights"},
        {"actor_rollout_ref__actor__use_kl_loss": True},
        ["KL loss", "mode=drop"],
    ),
    (
        "a pre-rollout selector beside another sampler's mixture",
        GRESO,
        {
            "data__gen_batch_size": 1,
            "data__sampler": {
                "class_path": "pkg://dataflex_data.integrations.verl.sampler",
                "class_name": "DataFlexSampler",
            },
        },
        ["greso", "whatever its domain", "mechanism: mix"],
    ),
    (
        "a pre-rollout selector that gets prompts in batches",
        GRESO,
        {},
        ["greso", "set data.gen_batch_size=1"],
    ),
    ("distillation", SELECT, {"distillation__enabled": True}, ["distillation"]),
    (
        "an adaptive mixer in data.sampler",
        None,
        {
            "trainer__v1__trainer_mode": "sync",
            "data__sampler": {
                "class_path": "pkg://dataflex_data.integrations.verl.sampler",
                "class_name": "DataFlexSampler",
                "actuator": {"name": "reward_gap"},
            },
        },
        ["never move", "dataflex_sync"],
    ),
]


@pytest.mark.parametrize(
    ("block", "changes", "words"), [case[1:] for case in REFUSALS], ids=[c[0] for c in REFUSALS]
)
def test_refused_with_words(
    block: dict[str, Any] | None, changes: dict[str, Any], words: list[str]
) -> None:
    found = list(problems(config(block, **changes)))
    assert len(found) == 1, found
    for word in words:
        assert word in found[0]


def test_all_problems_are_told_at_once() -> None:
    wrong = config(
        MIX,
        data__dataloader_num_workers=8,
        algorithm__filter_groups__enable=True,
    )
    with pytest.raises(ConfigError) as caught:
        require_possible(wrong)
    assert len(caught.value.problems) == 2


def write(path: Path, columns: dict[str, list[Any]]) -> str:
    pq.write_table(pa.table(columns), path)
    return str(path)


def test_a_mixture_needs_the_column(tmp_path: Path) -> None:
    file = write(tmp_path / "a.parquet", {"domains": ["x", "y"], "data_source": ["toy"] * 2})
    (found,) = problems(config(MIX, data__train_files=file))
    assert "no column 'domain'" in found
    assert "did you mean 'domains'" in found
    assert "+dataflex.domain_key" in found
    assert list(problems(config({**MIX, "domain_key": "domains"}, data__train_files=[file]))) == []


def test_our_routes_need_our_reward_function(tmp_path: Path) -> None:
    file = write(tmp_path / "a.parquet", {"domain": ["x"], "data_source": ["dataflex/gsm8k"]})
    for mode in ("dataflex_sync", "sync"):
        block = SELECT if mode == "dataflex_sync" else None
        (found,) = problems(config(block, data__train_files=file, trainer__v1__trainer_mode=mode))
        assert "dataflex/gsm8k" in found
        assert "reward.custom_reward_function.name=compute_score" in found
    given = config(
        SELECT, data__train_files=file, reward__custom_reward_function={"path": "pkg://x"}
    )
    assert list(problems(given)) == []


def test_our_reward_function_needs_our_routes(tmp_path: Path) -> None:
    rows = {"domain": ["x"], "data_source": ["dataflex/gsm8"]}
    file = write(tmp_path / "a.parquet", rows)
    reward = {"path": "pkg://dataflex_data.integrations.verl.reward", "name": "compute_score"}
    given = config(SELECT, data__train_files=file, reward__custom_reward_function=reward)
    (found,) = problems(given)
    assert "no verifier for data_source dataflex/gsm8; did you mean 'dataflex/gsm8k'" in found


MIXER_REFUSALS: list[tuple[str, dict[str, Any], list[str]]] = [
    ("a parameter mistyped", {"actuator": {"name": "reward_gap", "params": {"temp": 1}}}, ["temp"]),
    ("a floor beyond 1/D", {"actuator": {"name": "reward_gap", "params": {"floor": 0.6}}}, ["flo"]),
    (
        "a weight for no domain",
        {"actuator": {"name": "static", "params": {"weights": {"esay": 1, "hard": 1}}}},
        ["'esay' is not a domain", "did you mean 'easy'"],
    ),
    ("domains that are not there", {"domains": ["easy", "odd"]}, ["easy, odd", "easy, hard"]),
    ("a scorer of that name", {"scorer": {"name": "reward_dificulty"}}, ["reward_difficulty"]),
    (
        "a scorer that measures another signal",
        {"scorer": {"name": "advantage_magnitude"}},
        ["mean_reward", "advantage_magnitude"],
    ),
    (
        "a signal that verl does not have",
        {"actuator": {"name": "doremi"}},
        ["losses of a reference model", "will not have"],
    ),
    ("two windows", {"window": 5, "actuator": {"name": "tscl", "params": {"window": 6}}}, ["keep"]),
    ("fields inside a column", {"domain_key": "extra_info.topic"}, ["no field 'topic'"]),
]


@pytest.mark.parametrize(
    ("changes", "words"), [c[1:] for c in MIXER_REFUSALS], ids=[c[0] for c in MIXER_REFUSALS]
)
def test_a_mixer_is_built_before_the_run(
    tmp_path: Path, changes: dict[str, Any], words: list[str]
) -> None:
    rows: dict[str, list[Any]] = {"domain": ["easy", "hard"], "data_source": ["t", "t"]}
    rows["extra_info"] = [{"n": 1}] * 2
    file = write(tmp_path / "a.parquet", rows)
    assert list(problems(config(MIX, data__train_files=file))) == []
    found = list(problems(config({**MIX, **changes}, data__train_files=file)))
    assert len(found) == 1, found
    for word in words:
        assert word in found[0]


SAMPLER = {
    "class_path": "pkg://dataflex_data.integrations.verl.sampler",
    "class_name": "DataFlexSampler",
}


@pytest.mark.parametrize("mode", ["sync", "dataflex_sync"])
def test_a_static_mixture_of_data_sampler_is_checked_alike(tmp_path: Path, mode: str) -> None:
    rows: dict[str, list[Any]] = {"domain": ["easy", "hard"], "data_source": ["t", "t"]}
    file = write(tmp_path / "a.parquet", rows)
    block = SELECT if mode == "dataflex_sync" else None

    def of(sampler: dict[str, Any], **changes: Any) -> list[str]:
        whole = {**SAMPLER, **sampler}
        changes = {"data__train_files": file, "trainer__v1__trainer_mode": mode, **changes}
        return list(problems(config(block, data__sampler=whole, **changes)))

    weights = {"easy": 1, "hard": 3}
    assert of({"actuator": {"name": "static", "params": {"weights": weights}}}) == []
    (weight,) = of({"actuator": {"name": "static", "params": {"weights": {"esay": 1}}}})
    assert weight.startswith("data.sampler: mixer static: weights: 'esay' is not a domain")
    (key,) = of({"domain_kye": "x"})
    assert key.startswith("data.sampler: key `domain_kye` is not known")
    (column,) = of({"domain_key": "topic"})
    assert "no column 'topic'" in column
    (filtered,) = of({}, algorithm__filter_groups__enable=True)
    assert "would not be its quota" in filtered
    (adaptive,) = of({"actuator": {"name": "tscl"}})
    assert "never move" in adaptive


def test_rows_without_a_domain_are_counted(tmp_path: Path) -> None:
    rows: dict[str, list[Any]] = {"domain": ["easy", None, "", "hard"], "data_source": ["t"] * 4}
    (found,) = problems(config(MIX, data__train_files=write(tmp_path / "a.parquet", rows)))
    assert "2 of 4 rows have no 'domain'" in found


def test_a_wrong_mixer_hides_nothing_else() -> None:
    block = {**MIX, "actuator": {"name": "reward_gap", "params": {"temp": 1}}}
    found = list(problems(config(block, data__dataloader_num_workers=8)))
    assert len(found) == 2


def test_the_alias_is_the_same_trainer() -> None:
    given = config(SELECT, trainer__v1__trainer_mode="dataflex_mix_sync", trainer__use_v1=False)
    (found,) = problems(given)
    assert "use_v1" in found


def test_greso_beside_a_mixture_is_taken() -> None:
    assert list(problems(config({"policies": [MIX, GRESO]}, data__gen_batch_size=1))) == []


def test_a_column_scorer_must_name_a_numeric_column(tmp_path: Path) -> None:
    rows: dict[str, list[Any]] = {
        "domain": ["x"],
        "data_source": ["t"],
        "extra_info": [{"difficulty": 1.0, "s": "a"}],
    }
    file = write(tmp_path / "a.parquet", rows)

    def of(column: str) -> list[str]:
        scorer = {"name": "column", "params": {"column": column, "granularity": "response"}}
        block = {**SELECT, "scorer": scorer, "actuator": {"name": "topk_fraction"}}
        return list(problems(config(block, data__train_files=file)))

    assert of("difficulty") == []
    (found,) = of("s")
    assert "will not have" in found


def test_a_preset_stands_for_its_keys() -> None:
    settings = run_settings({"preset": "difffilter"})
    assert settings.acting[0].actuator.params == {"low": 0.2, "high": 0.8}
    with pytest.raises(ConfigError, match="preset difffilter sets mechanism already"):
        run_settings({"preset": "difffilter", "mechanism": "mix"})
    with pytest.raises(ConfigError, match="policies show difffilter` prints its keys") as caught:
        run_settings({"preset": "difffilter", "warmup_step": 5})
    assert "in place of preset=difffilter" in str(caught.value)
    with pytest.raises(ConfigError, match=r"beside `policies`.*policies show ar"):
        run_settings({"preset": "ar", "policies": [MIX]})
    with pytest.raises(ConfigError, match=r"preset is one name, got \['ar', 'per'\]; several"):
        run_settings({"preset": ["ar", "per"]})


@pytest.mark.parametrize(
    ("keys", "words"),
    [
        ({"max_epochs": 0}, "whole number of at least 1, for all domains or by name (got 0)"),
        ({"max_epochs": -1}, "(got -1)"),
        ({"max_epochs": {"easy": 0}}, "(got {'easy': 0})"),
        ({"poll_interval_s": float("inf")}, "poll_interval_s"),
        ({"seed": -1}, "seed"),
        ({"seed": 2**32}, "seed"),
        ({"imports": ["nofile.py"]}, "(got 'nofile.py')"),
        ({"domains": [[1]]}, "(got [1])"),
    ],
)
def test_values_that_no_run_can_have(keys: dict[str, Any], words: str) -> None:
    (found,) = problems(config({**MIX, **keys}))
    assert words in found


@pytest.mark.parametrize(
    ("block", "words"),
    [
        ({**SELECT, "max_epochs": 1, "on_inert": "error"}, "`max_epochs` and `on_inert` have no"),
        ({**SELECT, "on_change": "adapt"}, "`on_change` has no effect: nothing here mixes"),
        ({**SELECT, "domains": ["easy"]}, "`domains` has no effect"),
        ({**MIX, "mode": "mask"}, "`mode` has no effect: nothing here selects"),
        ({"mechanism": "none", "mode": "drop"}, "`mode` has no effect"),
    ],
)
def test_keys_without_effect_are_refused(block: dict[str, Any], words: str) -> None:
    (found,) = problems(config(block))
    assert words in found


def test_a_domain_key_to_report_by_must_be_there(tmp_path: Path) -> None:
    rows: dict[str, list[Any]] = {"topic": ["a"], "data_source": ["t"]}
    file = write(tmp_path / "a.parquet", rows)
    assert list(problems(config({**SELECT, "domain_key": "topic"}, data__train_files=file))) == []
    assert list(problems(config(SELECT, data__train_files=file))) == []
    (found,) = problems(config({**SELECT, "domain_key": "topc"}, data__train_files=file))
    assert "no column 'topc' to report by" in found
    assert "did you mean 'topic'" in found


def test_an_adaptive_mixer_needs_two_domains(tmp_path: Path) -> None:
    rows: dict[str, list[Any]] = {"domain": ["easy"] * 2, "data_source": ["t"] * 2}
    file = write(tmp_path / "a.parquet", rows)
    (found,) = problems(config(MIX, data__train_files=file))
    assert "there is but one, 'easy'" in found


@pytest.mark.parametrize(
    ("limit", "run", "words"),
    [
        # 8 easy and 24 hard rows are 8 batches of 4.
        (1, {"total_training_steps": 8}, ""),
        (1, {"total_training_steps": 500}, "32 rows (easy 8 x 1, hard 24 x 1), which are 8 batch"),
        (1, {"total_epochs": 30}, "make 240 steps (trainer.total_epochs=30)"),
        (2, {"total_epochs": 2}, ""),
        ({"easy": 1, "hard": 2}, {"total_training_steps": 15}, "which are 14 batches of 4"),
        ({"easy": 1}, {"total_training_steps": 500}, ""),  # hard rows may come without end
        ({"hrad": 1}, {}, "max_epochs names 'hrad', which is no domain; did you mean 'hard'"),
        (1, {"total_training_steps": 500, "val_only": True}, ""),
    ],
)
@pytest.mark.parametrize("way", ["dataflex", "data.sampler"])
def test_max_epochs_leaves_enough_for_the_run(
    tmp_path: Path, way: str, limit: Any, run: dict[str, Any], words: str
) -> None:
    rows: dict[str, list[Any]] = {"domain": ["easy"] * 8 + ["hard"] * 24, "data_source": ["t"] * 32}
    changes: dict[str, Any] = {f"trainer__{key}": value for key, value in run.items()}
    changes["data__train_files"] = write(tmp_path / "a.parquet", rows)
    changes["data__train_batch_size"] = 4
    block: dict[str, Any] | None = {**MIX, "max_epochs": limit}
    if way == "data.sampler":
        block, changes["trainer__v1__trainer_mode"] = None, "sync"
        changes["data__sampler"] = {**SAMPLER, "max_epochs": limit}
    found = list(problems(config(block, **changes)))
    assert len(found) == bool(words), found
    assert all(words in problem for problem in found)


def test_the_ledger_must_be_writable_before_the_run(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def of(ledger: Path | str | None, **changes: Any) -> list[str]:
        block = SELECT if ledger is None else {**SELECT, "ledger": str(ledger)}
        return list(problems(config(block, **changes)))

    text = tmp_path / "notes.txt"
    text.write_text("hello\n")
    (found,) = of(text)
    assert found.startswith(f"dataflex.ledger: {text}, line 1: is not JSON")
    assert "+dataflex.ledger=none" in found
    (found,) = of(tmp_path)
    assert "Is a directory" in found
    (found,) = of(text / "ledger.jsonl")
    assert f"{text} is a file, no folder" in found
    held = tmp_path / "ledger.jsonl"
    own = config({**SELECT, "ledger": str(held)})
    with Ledger(held, ledger_run(own, run_settings(own["dataflex"]))):
        pass
    before = held.read_bytes()
    assert of(held) == []
    assert of(None, trainer__default_local_dir=str(tmp_path / "new")) == []
    (found,) = of(held, trainer__experiment_name="other")
    assert "is the ledger of another run" in found
    (found,) = of(None, trainer__experiment_name="o", trainer__default_local_dir=str(tmp_path))
    assert "is the ledger of another run" in found
    assert of("none", trainer__default_local_dir=str(tmp_path)) == []
    assert held.read_bytes() == before
    empty = tmp_path / "empty.jsonl"
    empty.touch()
    assert of(empty) == []
    monkeypatch.setattr("os.access", lambda *_: False)
    (found,) = of(tmp_path / "new" / "ledger.jsonl")
    assert f"{tmp_path} is not writable" in found
    assert of("/dataflex_of_another_machine/ledger.jsonl") == []


@pytest.mark.parametrize(
    ("keys", "words"),
    [
        ({**SAMPLER, "class_name": "DataflexSampler"}, "there is no sampler DataflexSampler in"),
        ({**SAMPLER, "class_path": f"{SAMPLER['class_path']}s"}, "verl.samplers; ours is"),
        ({"class_path": SAMPLER["class_path"]}, "without data.sampler.class_name names no sampler"),
        ({"class_name": "DataFlexSampler"}, "without data.sampler.class_path names no sampler"),
        ({"class_path": "pkg://mine.samplers", "class_name": "Mine"}, ""),
        ({"class_path": None, "class_name": None}, ""),
        # The actuator's name may be left out: no other mixer works there.
        ({**SAMPLER, "actuator": {"params": {"weights": {"easy": 2, "hard": 1}}}}, ""),
    ],
)
def test_a_sampler_that_is_not_there_is_told_before_the_run(
    keys: dict[str, Any], words: str
) -> None:
    given = config(None, data__sampler=keys, trainer__v1__trainer_mode="sync")
    found = list(problems(given))
    assert len(found) == bool(words), found
    assert all(words in problem for problem in found)
    assert all(SAMPLER["class_path"] in problem for problem in found)


def test_variables_that_are_not_set_are_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DATAFLEX_HELD", "x")
    monkeypatch.delenv("DATAFLEX_DATA", raising=False)
    written = {
        "data": {"train_files": "${oc.env:DATAFLEX_DATA}/a", "val_files": ["${oc.env:NO_SUCH}"]},
        "trainer": {"n": "${oc.env:DATAFLEX_OUT,out}", "m": "${oc.env:DATAFLEX_HELD}"},
    }
    with pytest.raises(ConfigError) as caught:
        require_variables(written)
    assert caught.value.problems == (
        "data.train_files reads the environment variable DATAFLEX_DATA, which is not set. First: "
        "export DATAFLEX_DATA=FOLDER, which holds train.parquet and validation.parquet",
        "data.val_files reads the environment variable NO_SUCH, which is not set. First: "
        "export NO_SUCH=VALUE",
    )


def test_the_plugin_is_light() -> None:
    code = (
        "import sys; import dataflex_data.integrations.verl.plugin; "
        "heavy = {'torch', 'verl', 'ray', 'numpy', 'pyarrow', 'pydantic', 'scipy'}; "
        "print(sorted(heavy & set(sys.modules)))"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True, timeout=60
    )
    assert done.stdout.strip() == "[]"
