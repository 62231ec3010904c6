"""Values as users hold them, lists, arrays or torch tensors, checked and turned into arrays.

What is no number, does not fit in number, or stands twice where it must not, is refused here with
the field's name, before it can bend a sum without a trace. torch itself is not needed.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from dataflex_data.core.errors import InputDataError
from dataflex_data.core.groups import BoolArray, IntArray, factorised

FloatArray: TypeAlias = npt.NDArray[np.floating[Any]]
Names: TypeAlias = Sequence[object] | npt.NDArray[Any]


def as_numbers(values: Any, name: str) -> npt.NDArray[Any]:  # noqa: ANN401 - list, array, tensor
    """Return a list, an array or a torch tensor as an array of numbers or booleans.

    Raises:
        InputDataError: It is none, such as text, ``None`` or rows of differing length.
    """
    detach = getattr(values, "detach", None)
    try:
        if detach is not None:
            tensor = detach().cpu()
            # numpy has no bfloat16, and arithmetic in float16 is not wanted.
            half = tensor.is_floating_point() and tensor.element_size() < 4
            values = (tensor.float() if half else tensor).numpy()
        array = np.asarray(values)
        if array.dtype.kind not in "fiub":
            raise TypeError(f"dtype {array.dtype}")
    except (TypeError, ValueError) as error:
        raise InputDataError(f"{name}: must be numbers ({error})") from None
    return array


def floats(values: npt.ArrayLike, name: str, copy: type[np.float64] | None = None) -> FloatArray:
    """Return flat numbers as float32 or float64, or as a copy of the type given."""
    array = as_numbers(values, name)
    if copy is not None or array.dtype not in (np.float32, np.float64):
        array = array.astype(np.float64)
    if array.ndim != 1:
        raise InputDataError(f"{name}: must be flat, got shape {array.shape}")
    return array


def counts(values: npt.ArrayLike, n: int) -> IntArray:
    """Return the lengths of ``n`` responses: whole numbers of at least 0."""
    array = as_numbers(values, "lengths")
    if array.ndim != 1 or (array.dtype.kind not in "iu" and array.size):
        raise InputDataError(f"lengths must be whole numbers, got {array.dtype} {array.shape}")
    if array.size != n:
        raise InputDataError(sizes_differ("lengths", array.size, n, "responses"))
    if array.size and array.min() < 0:
        raise InputDataError(f"lengths must not be negative, got {int(array.min())}")
    return array.astype(np.int64)


def truth(array: npt.NDArray[Any], name: str) -> BoolArray:
    """Return where the array is not 0; NaN is neither yes nor no."""
    if array.dtype.kind == "f" and not np.isfinite(array).all():
        unclear = ~np.isfinite(array)
        at = np.argwhere(unclear)[0].tolist()
        raise InputDataError(
            f"{name} must say yes or no everywhere: {int(unclear.sum())} values are not finite, "
            f"the first at {at}"
        )
    return np.asarray(array != 0)


def whole(value: object, name: str, at_least: int) -> int:
    """Return a whole number of at least so much."""
    if isinstance(value, bool | np.bool_) or not isinstance(value, int | np.integer):
        raise InputDataError(f"{name} must be a whole number, got {value!r}")
    if value < at_least:
        raise InputDataError(f"{name} must be at least {at_least}, got {value}")
    return int(value)


def distinct_rows(values: npt.ArrayLike, n: int) -> IntArray:
    """Return the positions of ``n`` responses, each its own."""
    array = column(as_numbers(values, "rows"), "rows", n)
    if array.size and array.dtype.kind not in "iu":
        raise InputDataError(f"rows must be whole numbers, got {array.dtype}")
    if array.size and array.min() < 0:
        raise InputDataError(f"rows must not be negative, got {int(array.min())}")
    rows = array.astype(np.int64)
    if n and not np.all(rows[1:] > rows[:-1]):
        ordered = np.sort(rows)
        twice = ordered[1:][ordered[1:] == ordered[:-1]]
        if twice.size:
            raise InputDataError(f"rows: {twice[0]} stands twice; each row is one response")
    return rows


def distinct_ids(values: Names, n: int) -> npt.NDArray[Any]:
    """Return the ids of ``n`` responses, each its own."""
    array = column(values, "ids", n)
    number_B, _ = factorised(array)
    if n and int(number_B.max()) + 1 < n:
        counts = np.bincount(number_B)
        twice = int(np.argmax(counts > 1))
        at = int(np.flatnonzero(number_B == twice)[0])
        raise InputDataError(
            f"ids: '{array[at]}' stands for {counts[twice]} responses; an id belongs to one"
        )
    return array


def column(values: Names | npt.ArrayLike, name: str, n: int) -> npt.NDArray[Any]:
    """Return one value of any kind per response."""
    if hasattr(values, "detach"):
        values = as_numbers(values, name)
    array = np.asarray(values) if isinstance(values, np.ndarray) else _objects(values, name)
    if array.ndim != 1 or array.size != n:
        raise InputDataError(sizes_differ(name, array.size, n, "responses"))
    return array


def _objects(values: Any, name: str) -> npt.NDArray[Any]:  # noqa: ANN401 - any sequence
    if isinstance(values, str) or not isinstance(values, Iterable):
        raise InputDataError(f"{name}: must be one value per response, got {values!r}")
    items = list(values)
    kinds = set(map(type, items))
    if kinds and all(issubclass(kind, int | np.integer) for kind in kinds):
        return np.asarray(items)
    if any(issubclass(kind, list | dict | set | np.ndarray) for kind in kinds):
        raise InputDataError(f"{name}: must be one plain value per response, got {items[0]!r}")
    return np.fromiter(items, dtype=object, count=len(items))


def sizes_differ(name: str, got: int, wanted: int, unit: str) -> str:
    """Return in words that a field has another number of values than there are units."""
    return f"{name}: {got} values for {wanted} {unit}"
