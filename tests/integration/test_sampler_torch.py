"""The sampler under torch's DataLoader, torchdata's StatefulDataLoader, and several ranks."""

from __future__ import annotations

import json
from collections.abc import Iterator
from itertools import islice
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from dataflex_data.core.errors import InputDataError, MixtureError, ShortfallError, StateError
from dataflex_data.samplers import StepSignals

torch = pytest.importorskip("torch")
from torch.utils.data import DataLoader, Dataset  # noqa: E402

from dataflex_data.samplers.domain_sampler import DataFlexSampler  # noqa: E402

# torchdata 0.11 calls what torch 2.13 deprecates.
pytestmark = pytest.mark.filterwarnings("ignore:'set_vital' is deprecated:UserWarning")

SIZES = {"logic": 37, "math": 90, "science": 23}
BATCH = 12


class Rows(Dataset[int]):
    def __len__(self) -> int:
        return sum(SIZES.values())

    def __getitem__(self, row: int) -> int:
        return row


def sampler(**options: Any) -> DataFlexSampler:
    options.setdefault("batch_size", BATCH)
    return DataFlexSampler(SIZES, **options)


def batches(loader: Any, count: int) -> list[list[int]]:
    """The next batches, over as many passes as they need."""
    found: list[list[int]] = []
    while len(found) < count:
        found += [batch.tolist() for batch in islice(loader, count - len(found))]
    return found


def straight(count: int, **options: Any) -> list[list[int]]:
    rows = endless(sampler(**options))
    return [list(islice(rows, BATCH)) for _ in range(count)]


def endless(source: DataFlexSampler) -> Iterator[int]:
    while True:
        yield from source


@pytest.mark.parametrize("workers", [0, 2])
def test_a_plain_loader_gives_the_same_order_for_any_number_of_workers(workers: int) -> None:
    # pytorch/data#1520
    loader = DataLoader(Rows(), batch_size=BATCH, sampler=sampler(), num_workers=workers)
    found = [batch.tolist() for _ in range(2) for batch in loader]
    assert found == straight(24)
    assert len(loader) == 12


@pytest.mark.parametrize("workers", [0, 2])
def test_a_stateful_loader_resumes_at_every_step(workers: int) -> None:
    # verl#3457; a pass has 12 batches, so that stops fall before, on and after its end (verl#5725)
    from torchdata.stateful_dataloader import StatefulDataLoader

    def loader() -> Any:
        return StatefulDataLoader(Rows(), batch_size=BATCH, sampler=sampler(), num_workers=workers)

    expected = straight(20)
    stops = range(1, 17) if workers == 0 else (1, 5, 11, 12, 13)
    for stop in stops:
        running = loader()
        iterator = iter(running)
        found: list[list[int]] = []
        while len(found) < stop:
            batch = next(iterator, None)
            if batch is None:
                iterator = iter(running)
                continue
            found.append(batch.tolist())
        state = running.state_dict()
        resumed = loader()
        resumed.load_state_dict(state)
        assert found + batches(resumed, 20 - stop) == expected, stop


def test_a_stateful_loader_with_an_adaptive_mixer_resumes() -> None:
    from torchdata.stateful_dataloader import StatefulDataLoader

    def loader(source: DataFlexSampler) -> Any:
        return StatefulDataLoader(Rows(), batch_size=BATCH, sampler=source, num_workers=0)

    def train(source: DataFlexSampler, running: Any, count: int) -> list[list[int]]:
        found: list[list[int]] = []
        while len(found) < count:
            for batch in running:
                found.append(batch.tolist())
                source.update(
                    {"rows": found[-1], "rewards": [float(r % 3 == 0) for r in found[-1]]}
                )
                if len(found) == count:
                    break
        return found

    whole = sampler(mixer="reward_gap", steps_per_pass=100)
    expected = train(whole, loader(whole), 12)
    for stop in range(1, 11):
        first = sampler(mixer="reward_gap", steps_per_pass=100)
        running = loader(first)
        iterator = iter(running)
        found = []
        for _ in range(stop):
            found.append(next(iterator).tolist())
            first.update({"rows": found[-1], "rewards": [float(r % 3 == 0) for r in found[-1]]})
        saved = json.loads(json.dumps([running.state_dict(), first.state_dict()]))
        second = sampler(mixer="reward_gap", steps_per_pass=100)
        second.load_state_dict(saved[1])
        assert found + train(second, loader(second), 12 - stop) == expected


def test_workers_with_an_adaptive_mixer_are_refused_before_and_in_the_run() -> None:
    source = sampler(mixer="reward_gap")
    with pytest.raises(
        MixtureError, match=r"num_workers=2 .* 6 batches would be drawn.*num_workers=0"
    ):
        source.check_loader(num_workers=2)
    source.check_loader(num_workers=0, batch_size=BATCH)
    sampler().check_loader(num_workers=2)
    loader = DataLoader(Rows(), batch_size=BATCH, sampler=source, num_workers=2)
    with pytest.raises(MixtureError, match="set num_workers=0"):
        next(iter(loader))


def test_a_loader_of_another_batch_size_is_refused() -> None:
    with pytest.raises(MixtureError, match="batch_size is 10, the sampler plans 12 rows"):
        sampler().check_loader(num_workers=0, batch_size=10)


def test_iterating_continues_and_never_restarts() -> None:
    source = sampler()
    first = list(islice(source, 30))
    rest = list(source)
    assert len(first) + len(rest) == len(source) == 144
    both = [row for batch in straight(24) for row in batch]
    assert first + rest + list(source) == both


def test_rows_beyond_the_last_whole_batch_are_not_lost() -> None:
    # OpenRLHF#1297: 150 rows are 12 batches of 12 and 6 rows, which the next pass draws first
    rows = [row for batch in straight(25, mixer_params={"weights": "size"}) for row in batch]
    for d, (start, size) in enumerate(((0, 37), (37, 90), (127, 23))):
        mine = [row for row in rows if start <= row < start + size][:size]
        assert len(set(mine)) == size, d


def test_a_pass_taken_to_its_very_end_is_followed_by_a_whole_one() -> None:
    source = sampler(steps_per_pass=2)
    iterator = iter(source)
    for _ in range(24):
        next(iterator)
    assert len(list(source)) == 24


def test_a_sampler_resumes_after_any_row() -> None:
    expected = [row for batch in straight(4) for row in batch]
    source = sampler()
    iterator = iter(source)
    for taken in range(1, 37):
        next(iterator)
        resumed = sampler()
        resumed.load_state_dict(json.loads(json.dumps(source.state_dict())))
        assert list(islice(resumed, 48 - taken)) == expected[taken:]


@pytest.mark.parametrize("world_size", [1, 2, 3, 4])
def test_ranks_share_each_batch_of_the_one_order(world_size: int) -> None:
    shares = [
        list(islice(sampler(rank=rank, world_size=world_size), 48 // world_size))
        for rank in range(world_size)
    ]
    whole = [row for batch in straight(4) for row in batch]
    assert [row for rows in zip(*shares, strict=True) for row in rows] == whole
    assert len(sampler(rank=0, world_size=world_size)) == 144 // world_size


@pytest.mark.parametrize("taken", [12, 6, 15])
def test_a_resume_at_another_world_size_continues_the_same_order(taken: int) -> None:
    ranks = [sampler(rank=rank, world_size=2) for rank in range(2)]
    iterators = [iter(rank) for rank in ranks]
    found = [next(iterator) for _ in range(taken) for iterator in iterators]
    states = [rank.state_dict() for rank in ranks]
    assert states[0] == states[1]
    if (BATCH - 2 * taken % BATCH) % 4:
        with pytest.raises(StateError, match=r"6 left cannot be shared by 4 ranks"):
            sampler(rank=0, world_size=4).load_state_dict(states[0])
        return
    resumed = [sampler(rank=rank, world_size=4) for rank in range(4)]
    for rank in resumed:
        rank.load_state_dict(states[0])
    streams = [endless(rank) for rank in resumed]
    found += [next(stream) for _ in range(18) for stream in streams]
    assert found == [row for batch in straight(20) for row in batch][: len(found)]


def test_a_batch_that_ranks_cannot_share_is_refused() -> None:
    # verl#5228: it would hang
    with pytest.raises(InputDataError, match="12 rows cannot be shared evenly by 5 ranks"):
        sampler(world_size=5)
    with pytest.raises(InputDataError, match="rank 2 does not exist among 2 ranks"):
        sampler(rank=2, world_size=2)


def test_unset_weights_are_equal_and_without_replacement() -> None:
    # SkyRL#1990
    source = sampler()
    assert source.proportions == pytest.approx(dict.fromkeys(SIZES, 1 / 3))
    science = [row for row in islice(source, 69) if row >= 127]
    assert len(science) == len(set(science)) == 23


@pytest.mark.filterwarnings("ignore::dataflex_data.samplers.planner.MixtureWarning")
def test_max_epochs_ends_the_pass_and_then_says_so() -> None:
    source = sampler(max_epochs=1, mixer_params={"weights": "size"}, steps_per_pass=100)
    rows = list(source)
    assert len(rows) == len(set(rows)) == 144
    with pytest.raises(ShortfallError, match="max_epochs is reached"):
        list(source)


def test_a_mixer_of_one_s_own_and_params_twice() -> None:
    from dataflex_data.samplers import build_mixer

    mixer = build_mixer("static", {}, sorted(SIZES))
    assert sampler(mixer=mixer).quota == {"logic": 4, "math": 4, "science": 4}
    with pytest.raises(InputDataError, match="mixer_params belong to a mixer given by name"):
        sampler(mixer=mixer, mixer_params={})


@pytest.fixture
def labels() -> list[str]:
    return ["math", "logic", "math", "science", "logic", "math"]


def test_domains_from_every_kind_of_table(tmp_path: Path, labels: list[str]) -> None:
    import datasets
    import numpy as np
    import pandas as pd
    import polars as pl

    table = pa.table({"domain": labels, "prompt": list("abcdef")})
    path = tmp_path / "train.parquet"
    pq.write_table(table, path)
    hugging = datasets.Dataset.from_dict({"domain": labels, "prompt": list("abcdef")})
    frames = [
        labels,
        np.array(labels),
        np.array(labels, dtype=object),
        path,
        str(path),
        table,
        table.column("domain"),
        pa.array(labels),
        pa.array(labels).dictionary_encode(),
        pl.DataFrame({"domain": labels}),
        pl.Series(labels),
        pl.DataFrame({"domain": labels}, schema={"domain": pl.Categorical}),
        pd.DataFrame({"domain": labels}),
        pd.Series(labels),
        pd.Series(labels, dtype="category"),
        hugging,
        hugging.select([5, 4, 3, 2, 1, 0]).select([5, 4, 3, 2, 1, 0]),
    ]
    for frame in frames:
        source = DataFlexSampler(frame, 3)
        assert source.domains == ("logic", "math", "science")
        assert source.stream.index.domains_of(range(6)).tolist() == [1, 0, 1, 2, 0, 1]
    shuffled = DataFlexSampler(hugging.select([3, 0, 1]), 3)
    assert shuffled.stream.index.domains_of(range(3)).tolist() == [2, 1, 0]
    nested = pa.table({"extra_info": [{"topic": label} for label in labels]})
    assert DataFlexSampler(nested, 3, domain_key="extra_info.topic").domains == source.domains
    numbered = DataFlexSampler([0, 1, 0, 2, 1, 0], 3)
    assert numbered.domains == ("0", "1", "2")


@pytest.mark.shared
def test_domains_of_a_real_dataset(shared_dir: Path) -> None:
    path = shared_dir / "data/dapo_math_17k/derived_canonical/dapo-math-17k.parquet"
    source = DataFlexSampler(path, 64, domain_key="data_source")
    assert source.domains == ("math_dapo",)
    assert len(set(islice(source, 15_296))) == 15_296


def test_update_takes_signals_or_a_mapping() -> None:
    source = sampler(mixer="dump_ucb")
    rows = list(islice(source, BATCH))
    counts = source.update(StepSignals(rows=rows, advantages=[0.5] * BATCH))
    assert dict(zip(source.domains, counts.rollouts_D.tolist(), strict=True)) == source.quota
    assert source.metrics()["signal_math"] == 0.5
