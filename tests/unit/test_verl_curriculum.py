"""The sampler as verl 0.7.1 uses it: its own interface, and a report per batch.

Checked by hand against the real 0.7.1 wheel's factory on 2026-11-29; that version cannot be
installed beside 0.9, so its interface class stands in here.
"""

from __future__ import annotations

import importlib.util
import sys
from collections.abc import Sequence
from types import ModuleType, SimpleNamespace
from typing import Any

import pytest

pytest.importorskip("torch", reason="needs the extra 'torch'")

import numpy as np
import torch
from torch.utils.data import Sampler

import dataflex_data.integrations.verl as package


class AbstractCurriculumSampler(Sampler[int]):
    """The interface of 0.7.1."""


class Frame(dict[str, list[str]]):
    @property
    def column_names(self) -> list[str]:
        return list(self)


DATASET = SimpleNamespace(dataframe=Frame(domain=["easy", "hard"] * 16))
CONFIG = {
    "train_batch_size": 4,
    "seed": 1,
    "dataloader_num_workers": 0,
    "sampler": {"actuator": {"name": "reward_gap", "params": {"temperature": 0.2}}},
}


@pytest.fixture
def kind(monkeypatch: pytest.MonkeyPatch) -> Any:
    """Our class as it is where verl 0.7.1 is imported."""
    interface = ModuleType("verl.experimental.dataset.sampler")
    interface.AbstractCurriculumSampler = AbstractCurriculumSampler  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, interface.__name__, interface)
    spec = importlib.util.spec_from_file_location(
        "sampler_under_071", f"{package.__path__[0]}/sampler.py"
    )
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module.DataFlexSampler


def report(rows: Sequence[int]) -> SimpleNamespace:
    """Return a batch of 0.7.1: two responses per prompt, easy ones right and hard ones wrong."""
    domains = [("easy", "hard")[row % 2] for row in rows for _ in range(2)]
    rewards = torch.zeros(len(domains), 3)
    rewards[:, -1] = torch.tensor([float(name == "easy") for name in domains])
    return SimpleNamespace(
        batch={
            "token_level_scores": rewards,
            "advantages": rewards.clone(),
            "response_mask": torch.ones(len(domains), 3, dtype=torch.int64),
        },
        non_tensor_batch={
            "domain": np.array(domains, dtype=object),
            "uid": np.array([f"u{row}" for row in rows for _ in range(2)], dtype=object),
        },
    )


def test_it_is_a_curriculum_sampler_and_moves(kind: Any) -> None:
    sampler: Any = kind(data_source=DATASET, data_config=CONFIG)
    assert AbstractCurriculumSampler in type(sampler).__mro__
    order = iter(sampler)
    rows = [next(order) for _ in range(4)]
    assert sum(row % 2 for row in rows) == 2
    sampler.update(batch=report(rows))
    next(order)
    # Easy rows have reward 1 and hard ones 0: softmax(0, 1/.2), so 1 / (1 + e^5).
    assert sampler.proportions["easy"] == pytest.approx(1 / (1 + np.exp(5)))


def test_a_checkpoint_that_was_saved_before_the_report_can_be_resumed(kind: Any) -> None:
    sampler = kind(data_source=DATASET, data_config=CONFIG)
    order = iter(sampler)
    sampler.update(batch=report([next(order) for _ in range(4)]))
    rows = [next(order) for _ in range(4)]
    saved = sampler.state_dict()
    sampler.update(batch=report(rows))
    resumed = kind(data_source=DATASET, data_config=CONFIG)
    resumed.load_state_dict(saved)
    again = iter(resumed)
    assert [next(again) for _ in range(4)] == [next(order) for _ in range(4)]
