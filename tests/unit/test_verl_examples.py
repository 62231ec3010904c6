"""The example configurations are the presets, and the job list compares like with like."""

from __future__ import annotations

import importlib.util
import os
import subprocess
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
import yaml

from dataflex_data.integrations.verl.settings import run_settings
from dataflex_data.policies.presets import PRESETS

EXAMPLES = Path(__file__).resolve().parents[2] / "examples"


def example(name: str) -> ModuleType:
    spec = importlib.util.spec_from_file_location(name, EXAMPLES / f"{name}.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def read(name: str) -> dict[str, Any]:
    loaded: dict[str, Any] = yaml.safe_load(
        (EXAMPLES / "configs" / f"{name}.yaml").read_text("utf-8")
    )
    return loaded


def test_there_is_a_file_for_each_of_the_thirteen() -> None:
    files = {path.stem for path in (EXAMPLES / "configs").glob("*.yaml")}
    assert files == {*PRESETS, "recipe"}
    assert len(PRESETS) == 13


@pytest.mark.parametrize("name", sorted(PRESETS))
def test_each_file_is_its_preset(name: str) -> None:
    held = read(name)
    assert run_settings(held["dataflex"]) == run_settings({"preset": name})
    assert held["trainer"]["experiment_name"] == name
    assert held["defaults"] == ["ppo_trainer", "recipe", "_self_"]


def test_the_recipe_is_the_papers() -> None:
    recipe = read("recipe")
    rollout, actor = recipe["actor_rollout_ref"]["rollout"], recipe["actor_rollout_ref"]["actor"]
    assert (rollout["n"], recipe["data"]["train_batch_size"]) == (5, 64)
    assert recipe["data"]["max_prompt_length"] == 1024
    assert recipe["data"]["max_response_length"] == 8192
    assert recipe["data"]["dataloader_num_workers"] == 0
    assert (actor["kl_loss_coef"], actor["optim"]["lr"]) == (1e-3, 1e-6)
    assert recipe["trainer"]["total_training_steps"] == 300
    assert recipe["trainer"]["save_freq"] == 100


def test_one_seed_drives_everything_alike_for_every_method() -> None:
    matrix = example("paper_matrix")
    jobs = list(matrix.jobs(list(PRESETS), [1, 2, 3]))
    assert len(jobs) == 39
    seeds_by_method: dict[str, list[list[str]]] = {}
    for job in jobs:
        method = next(word for word in job if word.startswith("--config-name="))
        seeds = [word for word in job if "seed" in word and not word.startswith("trainer.")]
        seeds_by_method.setdefault(method, []).append(seeds)
    assert len(seeds_by_method) == 13
    (same,) = {repr(seeds) for seeds in seeds_by_method.values()}
    for seed in (1, 2, 3):
        for key in (
            "data.seed",
            "actor_rollout_ref.rollout.seed",
            "actor_rollout_ref.actor.data_loader_seed",
            "+dataflex.seed",
        ):
            assert f"'{key}={seed}'" in same


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["--seeds", "a"], "a seed is a whole number of at least 0 and below 2**32, got 'a'"),
        (["--seeds", "4294967296"], "below 2**32, got '4294967296'"),
        (["--seeds", "-1"], "--seeds"),
        (["--seeds", "1", "2", "1"], "1 twice"),
        (["--methods", "ar", "ar"], "ar twice"),
        (["--methods", "bogus"], "invalid choice: 'bogus'"),
    ],
)
def test_a_job_list_that_makes_no_sense_is_refused(
    arguments: list[str], words: str, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit) as stopped:
        example("paper_matrix").main(arguments)
    assert stopped.value.code == 2
    captured = capsys.readouterr()
    assert words in captured.err
    assert captured.out == ""


def test_the_job_list_says_what_to_export(capsys: pytest.CaptureFixture[str]) -> None:
    example("paper_matrix").main(["--seeds", "4294967295", "--methods", "ar", "per"])
    lines = capsys.readouterr().out.splitlines()
    assert [line.split()[0] for line in lines] == ["#", "#", "python", "python"]
    assert "DATAFLEX_MODEL" in lines[0]
    assert "DATAFLEX_DATA" in lines[0]


DEMO = [
    ([], {}, "run_demo.sh select|reweight|mix|NAME"),
    (["bogus"], {}, "no configuration bogus; there are: ar baseline "),
    (["recipe"], {}, "no configuration recipe"),
    (["select"], {"DATAFLEX_ROOT": "/nowhere"}, "DATAFLEX_ROOT=/nowhere is no checkout"),
    (["select"], {"DATAFLEX_GPUS": "two"}, "whole number of at least 1, got two"),
    (["select"], {"DATAFLEX_GPUS": "0"}, "whole number of at least 1, got 0"),
    (["select"], {"PYTHON": "/bin/false"}, "/bin/false has no verl or no dataflex-data"),
    (["select"], {"PYTHON": "true", "DATAFLEX_DATA": "/nowhere"}, "/nowhere has no train.parquet"),
]


@pytest.mark.parametrize(("arguments", "variables", "words"), DEMO)
def test_the_demo_answers_wrong_variables(
    arguments: list[str], variables: dict[str, str], words: str
) -> None:
    done = subprocess.run(
        ["bash", str(EXAMPLES / "run_demo.sh"), *arguments],
        env={**os.environ, **variables},
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
    )
    assert done.returncode == 2
    assert words in done.stderr
    assert "Traceback" not in done.stderr


def test_two_domains_of_gsm8k() -> None:
    import pyarrow as pa

    table = pa.table(
        {
            "domain": ["gsm8k"] * 4,
            "extra_info": [{"difficulty": float(steps)} for steps in (2, 3, 4, 8)],
        }
    )
    split = example("two_domain_gsm8k").two_domains(table)
    assert split.column("domain").to_pylist() == ["short", "short", "long", "long"]
