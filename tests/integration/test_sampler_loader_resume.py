"""A StatefulDataLoader saved between drawing a batch and reporting it, as trainers do."""

from __future__ import annotations

import json
from collections.abc import Iterator
from itertools import islice
from typing import Any

import numpy as np
import pytest

pytest.importorskip("torch")
from dataflex_data.samplers.domain_sampler import DataFlexSampler
from tests.sampler_loop import BATCH, GROUP, MIXER_PARAMS, SIZES

# torchdata 0.11 calls what torch 2.13 deprecates.
pytestmark = pytest.mark.filterwarnings("ignore:'set_vital' is deprecated:UserWarning")


@pytest.mark.parametrize("name", ["static", "reward_gap", "tscl"])
@pytest.mark.parametrize("steps", [0, 5, 17, 23])
def test_a_loader_saved_before_the_report(name: str, steps: int) -> None:
    from torchdata.stateful_dataloader import StatefulDataLoader

    def make() -> tuple[Any, Any]:
        sampler = DataFlexSampler(SIZES, BATCH, name, MIXER_PARAMS.get(name), seed=3)
        data = range(sum(SIZES.values()))
        return sampler, StatefulDataLoader(data, batch_size=BATCH, sampler=sampler)

    def endless(loader: Any) -> Iterator[list[int]]:
        while True:
            for batch in loader:
                yield batch.tolist()

    def report(sampler: Any, rows: list[int], step: int) -> None:
        uids = np.repeat(np.arange(len(rows)), GROUP)
        taken = np.repeat(rows, GROUP)
        sampler.update({"rows": taken, "uids": uids, "rewards": (taken + step) % 3 / 2})

    def train(sampler: Any, batches: Iterator[list[int]], first: int, count: int) -> list[Any]:
        seen = []
        for step, rows in enumerate(islice(batches, count), first):
            report(sampler, rows, step)
            seen.append(rows)
        return seen

    sampler, loader = make()
    batches = endless(loader)
    train(sampler, batches, 0, steps)
    rows = next(batches)
    state = json.loads(json.dumps(loader.state_dict()))
    report(sampler, rows, steps)
    expected = train(sampler, batches, steps + 1, 12)

    resumed, loader = make()
    loader.load_state_dict(state)
    batches = endless(loader)
    iter(loader)
    report(resumed, rows, steps)
    assert train(resumed, endless(loader), steps + 1, 12) == expected
