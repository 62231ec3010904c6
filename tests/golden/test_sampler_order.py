"""Orders pinned for ever: a saved state must mean the same rows in every later version.

The permutations are computed a second time here, one number at a time in plain Python. The batches
have no other source than the first version. A change in either is a new `ORDER_VERSION` or
`STATE_VERSION`, told in the changelog.
"""

from __future__ import annotations

import hashlib
from typing import Any

import numpy as np
import pytest

from dataflex_data.core.seeding import keyed_hash
from dataflex_data.samplers.domain_index import DomainIndex
from dataflex_data.samplers.mixer import build_mixer
from dataflex_data.samplers.permutation import ORDER_VERSION, keyed_permutation
from dataflex_data.samplers.state import STATE_VERSION
from dataflex_data.samplers.stream import MixtureStream
from tests.sampler_loop import make_stream, take_step

GOLDEN = 0x9E3779B97F4A7C15
M64, M16 = (1 << 64) - 1, (1 << 16) - 1


def mix(z: int) -> int:
    z = (z + GOLDEN) & M64
    z = ((z ^ (z >> 30)) * 0xBF58476D1CE4E5B9) & M64
    z = ((z ^ (z >> 27)) * 0x94D049BB133111EB) & M64
    return z ^ (z >> 31)


def hashes(key: int, count: int) -> list[int]:
    return [mix((i * GOLDEN + key) & M64) for i in range(count)]


def key_of(name: str, epoch: int) -> int:
    return keyed_hash("dataflex/order", 1, 0, name, epoch)


def small_order(size: int, name: str, epoch: int) -> list[int]:
    bits = (size - 1).bit_length()
    keys = hashes(key_of(name, epoch), size)
    return sorted(range(size), key=lambda row: (keys[row] & (M64 >> bits), row))


def large_place(place: int, size: int, name: str, epoch: int) -> int:
    bits = (size - 1).bit_length() // 2 + 1
    radix = ((size - 1) >> bits) + 1
    keys = hashes(key_of(name, epoch), 10)
    while True:
        high, low = place >> bits, place & ((1 << bits) - 1)
        for number, key in enumerate(keys):
            h = ((low, high)[number % 2] + key) * (key >> 16 | 1) & M16
            h = (h ^ (h >> 7)) * (key >> 32 | 1) & M16
            if number % 2:
                low ^= h >> (16 - bits)
            else:
                high = (high + (h * radix >> 16)) % radix
        place = high << bits | low
        if place < size:
            return place


def fingerprint(rows: list[int]) -> str:
    return hashlib.sha256(np.array(rows, dtype="<i8").tobytes()).hexdigest()[:16]


def test_versions() -> None:
    assert (ORDER_VERSION, STATE_VERSION) == (1, 1)


@pytest.mark.parametrize("size", [1, 2, 10, 1000, 65_536])
def test_small_domains(size: int) -> None:
    for epoch in (0, 3):
        found = keyed_permutation(size, 0, "math", epoch).take(0, size).tolist()
        assert found == small_order(size, "math", epoch)


@pytest.mark.parametrize("size", [65_537, 1_000_003, 123_456_789])
def test_large_domains(size: int) -> None:
    for epoch in (0, 3):
        permutation = keyed_permutation(size, 0, "math", epoch)
        for start in (0, size // 2, size - 50):
            expected = [
                large_place(place, size, "math", epoch) for place in range(start, start + 50)
            ]
            assert permutation.take(start, start + 50).tolist() == expected


def test_the_first_rows_of_the_pinned_version() -> None:
    assert keyed_permutation(10, 0, "math", 0).take(0, 10).tolist() == PINNED_SMALL
    assert keyed_permutation(1_000_003, 0, "math", 0).take(0, 5).tolist() == PINNED_LARGE


@pytest.mark.parametrize("mixer", ["static", "reward_gap"])
def test_thirty_batches(mixer: str) -> None:
    stream = make_stream(mixer)
    rows = [take_step(stream) for _ in range(30)]
    assert rows[0] == PINNED_BATCH[mixer]
    assert fingerprint([row for batch in rows for row in batch]) == PINNED_RUN[mixer]


def scattered(rows: int) -> list[str]:
    return ["xyz"[mix(row) % 3] for row in range(rows)]


LONG: dict[str, tuple[Any, dict[str, Any], int, int | None]] = {
    "round shares": (
        {"a": 70_000, "b": 300_000, "c": 5_000},
        {"a": 0.3, "b": 0.5, "c": 0.2},
        512,
        None,
    ),
    "no round shares": (
        {"a": 70_001, "b": 300_000, "c": 5_000},
        {"a": 1.0, "b": 3.1, "c": 0.7},
        300,
        None,
    ),
    "many domains": (
        {f"d{i:02}": 100 + 37 * i for i in range(40)},
        {f"d{i:02}": 1.0 + i for i in range(40)},
        64,
        None,
    ),
    "capped": ({"a": 3_000, "b": 200, "c": 7}, {"a": 1.0, "b": 1.0, "c": 1.0}, 16, 3),
    "scattered": (scattered(100_000), {"x": 0.1, "y": 0.2, "z": 0.7}, 256, None),
}


@pytest.mark.filterwarnings("ignore::dataflex_data.samplers.planner.MixtureWarning")
@pytest.mark.parametrize("case", LONG)
def test_two_hundred_batches_planned_many_at_once(case: str) -> None:
    data, weights, batch_size, max_epochs = LONG[case]
    index = DomainIndex.build(data)
    mixer = build_mixer("static", {"weights": weights}, index.names)
    stream = MixtureStream(index, batch_size, mixer, seed=3, max_epochs=max_epochs)
    rows: list[int] = []
    for _ in range(200):
        batch = stream.next_batch()
        if batch is None:
            break
        rows += batch.rows.tolist()
    assert fingerprint(rows) == PINNED_LONG[case]


# As the first version (f5cdf87) drew them, before batches were planned by layouts.
PINNED_LONG = {
    "round shares": "3f3790e83e1773af",
    "no round shares": "562f9548ab25f59d",
    "many domains": "61eee8461188e807",
    "capped": "54abea4a644a7b4d",
    "scattered": "28376ef76f3ef331",
}
PINNED_SMALL = [0, 7, 8, 9, 6, 2, 1, 4, 3, 5]
PINNED_LARGE = [571606, 451511, 472944, 19645, 241418]
PINNED_BATCH = {
    "static": [109, 111, 1, 108, 137, 80, 123, 20, 77, 106, 74, 143, 59, 21, 103, 119],
    "reward_gap": [137, 1, 109, 143, 20, 111, 145, 21, 108, 129, 36, 80, 149, 24, 123, 139],
}
PINNED_RUN = {"static": "65ab2eb156e8f655", "reward_gap": "5f703909d50a3077"}
