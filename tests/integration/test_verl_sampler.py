"""The sampler on verl's own dataset and factory, without Ray."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("verl", reason="needs the extra 'verl'")

from dataflex_data.core.errors import ConfigError, InputDataError, MixtureError
from tests.verl_cpu.assets import make_assets
from tests.verl_cpu.fixtures import loaded_verl
from tests.verl_cpu.runs import compose

pytestmark = [pytest.mark.verl, pytest.mark.filterwarnings("default")]

OURS = [
    "+data.sampler.class_path=pkg://dataflex_data.integrations.verl.sampler",
    "+data.sampler.class_name=DataFlexSampler",
]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    with loaded_verl():
        yield make_assets(tmp_path_factory.mktemp("verl"))


def created(folder: Path, *extra: str) -> Any:
    """Return what verl's factory makes of its dataset and ``data.sampler``."""
    from transformers import AutoTokenizer
    from verl.trainer.ppo.utils import create_rl_dataset
    from verl.trainer.ppo.v1 import trainer_base

    config = compose(folder, "sync", extra)
    tokenizer = AutoTokenizer.from_pretrained(folder / "model")
    dataset = create_rl_dataset(config.data.train_files, config.data, tokenizer, None)
    return trainer_base.create_rl_sampler(config.data, dataset)


def test_verls_factory_honours_data_sampler(folder: Path) -> None:
    shares = "+data.sampler.actuator.params.weights={easy: 3, hard: 1}"
    sampler = created(folder, *OURS, "+data.sampler.actuator.name=static", shares)
    order = iter(sampler)
    for _ in range(4):
        rows = [next(order) for _ in range(4)]
        # Even rows are easy: three of four, in every batch.
        assert sum(row % 2 == 0 for row in rows) == 3


def test_without_data_sampler_the_factory_is_verls(folder: Path) -> None:
    assert type(created(folder)).__module__.startswith("torchdata")


def test_an_adaptive_mixer_is_refused_with_the_lines_to_write(folder: Path) -> None:
    with pytest.raises(MixtureError, match="trainer_mode=dataflex_sync"):
        created(folder, *OURS, "+data.sampler.actuator.name=reward_gap")


def test_a_mistyped_key_is_refused(folder: Path) -> None:
    with pytest.raises(ConfigError, match="did you mean 'domain_key'"):
        created(folder, *OURS, "+data.sampler.domain_kye=domain")


def test_a_missing_column_is_refused(folder: Path) -> None:
    with pytest.raises(InputDataError, match="no column 'topic'"):
        created(folder, *OURS, "+data.sampler.domain_key=topic")
