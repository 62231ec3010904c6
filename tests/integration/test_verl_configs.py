"""The thirteen configurations and the job list, composed by Hydra with verl's own and checked."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

pytest.importorskip("verl", reason="needs the extra 'verl'")

import pyarrow as pa
import pyarrow.parquet as pq

from dataflex_data.integrations.verl.checks import problems
from dataflex_data.integrations.verl.command_line import read_config
from dataflex_data.integrations.verl.settings import run_settings
from dataflex_data.policies.presets import PRESETS
from tests.conftest import Cli
from tests.unit.test_verl_examples import EXAMPLES, example
from tests.verl_cpu.assets import toy_rows
from tests.verl_cpu.fixtures import loaded_verl

pytestmark = [pytest.mark.verl, pytest.mark.filterwarnings("default")]

CONFIGS = EXAMPLES / "configs"


@pytest.fixture(scope="module")
def data(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    folder = tmp_path_factory.mktemp("data")
    for name in ("train", "validation"):
        rows = [{**row, "data_source": "dataflex/gsm8k"} for row in toy_rows(64, name)]
        table = pa.Table.from_pylist(rows)
        pq.write_table(table, folder / f"{name}.parquet")
    with loaded_verl():
        yield folder


@pytest.fixture(autouse=True)
def _environment(data: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DATAFLEX_DATA", str(data))
    monkeypatch.setenv("DATAFLEX_MODEL", "a/model")


@pytest.mark.parametrize("name", sorted(PRESETS))
def test_each_is_composed_and_can_be_carried_out(name: str, data: Path) -> None:
    config = read_config([], CONFIGS / f"{name}.yaml")
    assert config is not None
    assert list(problems(config)) == []
    assert run_settings(config["dataflex"]) == run_settings({"preset": name})
    # What the recipe says, on top of what verl says.
    assert config["trainer"]["v1"]["trainer_mode"] == "dataflex_sync"
    assert config["trainer"]["save_freq"] == 100
    assert config["data"]["train_files"] == f"{data}/train.parquet"
    assert config["actor_rollout_ref"]["rollout"]["n"] == 5
    assert config["actor_rollout_ref"]["actor"]["loss_agg_mode"] == "token-mean"  # verl's own


def test_the_jobs_of_the_matrix_are_read_as_they_stand() -> None:
    matrix = example("paper_matrix")
    first, *_, last = matrix.jobs(list(PRESETS), [7])
    for job, name in ((first, next(iter(PRESETS))), (last, list(PRESETS)[-1])):
        config = read_config(job, None)
        assert config is not None
        assert list(problems(config)) == []
        assert config["dataflex"]["seed"] == config["data"]["seed"] == 7
        assert config["actor_rollout_ref"]["rollout"]["seed"] == 7
        assert config["actor_rollout_ref"]["actor"]["data_loader_seed"] == 7
        assert config["trainer"]["experiment_name"] == f"{name}-seed7"


def test_what_is_overridden_is_checked(cli: Cli) -> None:
    path = CONFIGS / "reward_gap.yaml"
    wrong = ["data.dataloader_num_workers=8", "+dataflex.domain_kye=x", "trainer.use_v1=False"]
    config = read_config(wrong, path)
    assert config is not None
    found = "\n".join(problems(config))
    assert "did you mean 'domain_key'" in found
    assert "trainer.use_v1=False" in found
    told = cli("doctor", "--quick", "--config", path, "--", "no.such.key=1")
    assert told.code == 2
    assert "no.such.key" in told.err
    assert "Traceback" not in told.err


def test_an_environment_that_lacks_a_folder_is_named(
    cli: Cli, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("DATAFLEX_DATA")
    told = cli("doctor", "--quick", "--config", CONFIGS / "ar.yaml")
    assert told.code == 2
    assert "data.train_files, data.val_files read the environment variable DATAFLEX_DATA" in (
        " ".join(told.err.split())
    )
    assert "export DATAFLEX_DATA=FOLDER" in told.err
