"""The order inside a domain: a permutation, keyed, and as irregular as chance."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import numpy.typing as npt
import pytest

from dataflex_data.core.errors import InputDataError
from dataflex_data.samplers.permutation import SORTED_UP_TO, keyed_permutation

GRID = 16


def order(size: int, seed: int = 0, name: str = "math", epoch: int = 0) -> npt.NDArray[np.int64]:
    return keyed_permutation(size, seed, name, epoch).take(0, size).astype(np.int64)


@pytest.mark.parametrize(
    "size", [1, 2, 3, 17, 4096, SORTED_UP_TO, SORTED_UP_TO + 1, 70_001, 262_144, 300_007]
)
def test_every_row_comes_once(size: int) -> None:
    assert np.array_equal(np.sort(order(size)), np.arange(size))


@pytest.mark.parametrize("size", [1000, 100_003])
def test_any_stretch_is_part_of_the_same_order(size: int) -> None:
    whole = order(size)
    permutation = keyed_permutation(size, 0, "math", 0)
    for start, stop in ((900, 950), (0, 7), (999, 1000), (500, 500), (0, size)):
        assert np.array_equal(permutation.take(start, stop), whole[start:stop])


@pytest.mark.parametrize("size", [1000, 100_003])
def test_seed_name_and_epoch_each_give_another_order(size: int) -> None:
    orders = [order(size), order(size, seed=1), order(size, name="logic"), order(size, epoch=1)]
    for i, one in enumerate(orders):
        for other in orders[:i]:
            assert np.mean(one == other) < 0.01


@pytest.mark.parametrize("size", [0, -1, (1 << 31) + 1])
def test_sizes_that_cannot_be(size: int) -> None:
    with pytest.raises(InputDataError, match="rows; it needs 1 to"):
        keyed_permutation(size, 0, "math", 0)


def chi_square(first: npt.NDArray[np.int64], second: npt.NDArray[np.int64]) -> float:
    table = np.zeros((GRID, GRID))
    np.add.at(table, (first, second), 1)
    expected = first.size / GRID**2
    return float(((table - expected) ** 2 / expected).sum())


@pytest.mark.parametrize(("size", "seeds"), [(4096, 60), (SORTED_UP_TO + 1, 25), (480_001, 5)])
def test_orders_are_as_irregular_as_chance(size: int, seeds: int) -> None:
    """Three tables of 16 x 16: place by row, row by next row, and the low digits of those.

    Each is chi-square with 225 degrees of freedom: mean 225, variance 450. The mean over n orders
    is then normal to good measure; 4.5 standard errors are met by chance once in 150,000 tests.
    """
    found = np.empty((seeds, 3))
    fixed = adjacent = 0
    for seed in range(seeds):
        rows = order(size, seed)
        block = rows * GRID // size
        found[seed] = (
            chi_square(np.arange(size) * GRID // size, block),
            chi_square(block[:-1], block[1:]),
            chi_square(rows[:-1] % GRID, rows[1:] % GRID),
        )
        fixed += int((rows == np.arange(size)).sum())
        adjacent += int((np.abs(np.diff(rows)) == 1).sum())
    assert np.all(np.abs(found.mean(axis=0) - 225) < 4.5 * np.sqrt(450 / seeds))
    # Fixed points are Poisson with mean 1 an order, neighbours that stay neighbours with mean 2.
    assert abs(fixed - seeds) < 4.5 * np.sqrt(seeds) + 1
    assert abs(adjacent - 2 * seeds) < 4.5 * np.sqrt(2 * seeds) + 1


@pytest.mark.parametrize(("size", "pairs"), [(300, 400), (SORTED_UP_TO + 1, 20)])
def test_orders_of_one_domain_have_nothing_to_do_with_each_other(size: int, pairs: int) -> None:
    """Spearman's rho of an order and the next epoch's, and of another domain's.

    For random orders it has mean 0 and variance 1 / (n - 1); the mean over pairs is normal, and
    4.5 standard errors are met by chance once in 150,000 tests.
    """
    centred = [np.argsort(order(size, epoch=e)) - (size - 1) / 2 for e in range(pairs + 1)]
    norm = size * (size**2 - 1) / 12
    epochs = [a @ b / norm for a, b in pairwise(centred)]
    others = [
        (np.argsort(order(size, name="logic", epoch=e)) - (size - 1) / 2) @ centred[e] / norm
        for e in range(pairs)
    ]
    for rho in (epochs, others):
        assert abs(np.mean(rho)) < 4.5 / np.sqrt((size - 1) * pairs)
        assert np.isclose(np.var(rho) * (size - 1), 1, atol=4.5 * np.sqrt(2 / pairs))


def test_all_orders_of_few_rows_are_equally_likely() -> None:
    # 4 rows have 24 orders; 4,800 epochs give 200 each: chi-square with 23 degrees of freedom,
    # below 49.7 but for once in a thousand.
    seen: dict[tuple[int, ...], int] = {}
    for epoch in range(4800):
        key = tuple(order(4, epoch=epoch).tolist())
        seen[key] = seen.get(key, 0) + 1
    assert len(seen) == 24
    assert sum((count - 200) ** 2 / 200 for count in seen.values()) < 49.7
