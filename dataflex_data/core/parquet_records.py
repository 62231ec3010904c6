"""Parquet rows as distinct Python records; the part of `records` that knows Arrow.

A published file may hold every row a hundred times (DAPO-Math-17k does), so the rows are made
distinct in Arrow, and only what is left becomes Python. Equality is exact: every value gets the
number of its equivalence class, nested ones by the numbers of their parts; nothing is hashed away.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, TypeAlias, cast

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.parquet as pq
import pyarrow.types as pt

from dataflex_data.core.errors import InputDataError
from dataflex_data.core.records import RecordChunk, check_columns

Classes: TypeAlias = npt.NDArray[np.int32]

_READ_BUFFER_BYTES = 1 << 20  # without it a whole column of a row group is held in memory


def read_parquet_records(
    path: Path, columns: Sequence[str], optional: Sequence[str], batch_rows: int
) -> Iterator[RecordChunk]:
    """Yield the chunks of a parquet file; see `records.read_records`."""
    try:
        file = pq.ParquetFile(path, buffer_size=_READ_BUFFER_BYTES)
    except (pa.ArrowException, OSError) as error:
        raise InputDataError(
            f"{path}: is not a whole parquet file ({_first_line(error)}); fetch it again"
        ) from None
    with file:
        names = file.schema_arrow.names
        check_columns(path, columns, names)
        wanted = [*columns, *(name for name in optional if name in names)]
        _check_types(path, file.schema_arrow, wanted)
        before = 0
        for batch in _batches(path, file, wanted, batch_rows):
            first = _first_occurrences(batch)
            numbers = (first + before + 1).tolist()
            values = [
                _python_values(column.take(pa.array(first)), f"{path}, column `{name}`", numbers)
                for name, column in zip(wanted, batch.columns, strict=True)
            ]
            records = _dicts(wanted, values, len(numbers))
            yield RecordChunk(numbers, records, batch.num_rows - len(records), batch.num_rows)
            before += batch.num_rows


def _batches(
    path: Path, file: pq.ParquetFile, wanted: list[str], batch_rows: int
) -> Iterator[pa.RecordBatch]:
    before = 0
    batches = file.iter_batches(batch_size=batch_rows, columns=wanted)
    while True:
        try:
            batch = next(batches, None)
        except (pa.ArrowException, OSError) as error:
            raise InputDataError(
                f"{path}: is damaged after row {before} ({_first_line(error)}); fetch it again"
            ) from None
        if batch is None:
            return
        if batch.num_rows:
            before += batch.num_rows
            yield batch.select(wanted)


def _check_types(path: Path, schema: pa.Schema, wanted: Sequence[str]) -> None:
    for name in wanted:
        if schema.names.count(name) > 1:
            raise InputDataError(f"{path}: has two columns named `{name}`; rename one")
        unreadable = _unreadable(schema.field(name).type)
        if unreadable is not None:
            raise InputDataError(
                f"{path}: column `{name}` holds the Arrow type {unreadable}, which is not read "
                "here; store it as a list, struct, text or number"
            )


def _unreadable(kind: pa.DataType) -> pa.DataType | None:
    if isinstance(kind, pa.BaseExtensionType):
        return _unreadable(kind.storage_type)
    if pt.is_map(kind) or pt.is_union(kind) or pt.is_run_end_encoded(kind):
        return kind
    if pt.is_list_view(kind) or pt.is_large_list_view(kind):
        return kind
    if pt.is_struct(kind) or _is_list(kind):
        parts = (_unreadable(kind.field(i).type) for i in range(kind.num_fields))
        return next((part for part in parts if part is not None), None)
    return None


def _is_list(kind: pa.DataType) -> bool:
    return bool(pt.is_list(kind) or pt.is_large_list(kind) or pt.is_fixed_size_list(kind))


def _first_occurrences(batch: pa.RecordBatch) -> npt.NDArray[np.int64]:
    """Return the positions, in order, of the rows that equal no earlier row of the batch."""
    if not batch.num_columns:
        return np.arange(min(batch.num_rows, 1))
    classes = _combined([_classes(column) for column in batch.columns])
    return cast("npt.NDArray[np.int64]", np.sort(np.unique(classes, return_index=True)[1]))


def _classes(array: pa.Array) -> Classes:
    """Return one number per value; two are equal exactly when the values are (null is a value)."""
    array = _plain(array)
    kind = array.type
    if pt.is_struct(kind):
        parts = [_classes(part) for part in array.flatten()]
        return _combined([_validity(array), *parts])
    if _is_list(kind):
        # The class numbers of a list's elements, side by side, are bytes that stand for the list.
        values, offsets = _list_parts(array)
        joined = np.ascontiguousarray(_classes(values))
        buffers = [None, pa.py_buffer(offsets * joined.itemsize), pa.py_buffer(joined)]
        lists = pa.Array.from_buffers(pa.large_binary(), len(array), buffers)
        return _combined([_validity(array), _numbered(lists)])
    if pt.is_floating(kind):
        # By bits: 0.0 and -0.0 are different rows, and one NaN equals another.
        array = array.view({16: pa.int16(), 32: pa.int32(), 64: pa.int64()}[kind.bit_width])
    return _numbered(array)


def _numbered(array: pa.Array) -> Classes:
    if pt.is_null(array.type):
        return np.zeros(len(array), dtype=np.int32)
    encoded = array.dictionary_encode(null_encoding="encode")
    return cast("Classes", encoded.indices.to_numpy(zero_copy_only=False))


def _combined(parts: list[Classes]) -> Classes:
    """Return classes of rows that are equal in all parts."""
    if len(parts) == 1:
        return parts[0]
    table = np.ascontiguousarray(np.stack(parts, axis=1), dtype=np.int32)
    kind = pa.binary(table.shape[1] * table.itemsize)
    return _numbered(pa.Array.from_buffers(kind, len(table), [None, pa.py_buffer(table)]))


def _validity(array: pa.Array) -> Classes:
    return cast("Classes", array.is_valid().to_numpy(zero_copy_only=False).astype(np.int32))


def _plain(array: pa.Array) -> pa.Array:
    if isinstance(array, pa.ExtensionArray):
        array = array.storage
    if pt.is_dictionary(array.type):
        return _plain(array.dictionary_decode())
    if pt.is_fixed_size_list(array.type):
        return array.cast(pa.list_(array.type.value_field))
    return array


def _list_parts(array: pa.Array) -> tuple[pa.Array, npt.NDArray[np.int64]]:
    """Return the elements that the lists hold, and where each list begins, then the end."""
    lengths = array.value_lengths().fill_null(0).to_numpy(zero_copy_only=False)
    offsets = np.concatenate([[0], np.cumsum(lengths, dtype=np.int64)])
    return array.flatten(), offsets


def _python_values(array: pa.Array, where: str, numbers: Sequence[int]) -> list[Any]:
    """Return an array as Python values: lists and dicts all the way down, never ndarrays."""
    array = _plain(array)
    kind = array.type
    if pt.is_struct(kind):
        names = [kind.field(i).name for i in range(kind.num_fields)]
        parts = [_python_values(part, where, numbers) for part in array.flatten()]
        return _with_nulls(array, _dicts(names, parts, len(array)))
    if _is_list(kind):
        elements, offsets = _list_parts(array)
        owners = np.repeat(np.asarray(numbers), np.diff(offsets)).tolist()
        items = _python_values(elements, where, owners)
        bounds = offsets.tolist()
        return _with_nulls(array, [items[a:b] for a, b in itertools.pairwise(bounds)])
    try:
        return cast("list[Any]", array.to_pylist())
    except UnicodeDecodeError:
        return [_text(value, f"{where}, row {row}") for value, row in _bytes(array, numbers)]


def _dicts(names: Sequence[str], values: list[list[Any]], count: int) -> list[dict[str, Any]]:
    if not names:
        return [{} for _ in range(count)]
    return [dict(zip(names, row, strict=True)) for row in zip(*values, strict=True)]


def _with_nulls(array: pa.Array, values: Sequence[Any]) -> list[Any]:
    if not array.null_count:
        return list(values)
    valid = array.is_valid().to_pylist()
    return [value if there else None for value, there in zip(values, valid, strict=True)]


def _bytes(array: pa.Array, numbers: Sequence[int]) -> Iterator[tuple[bytes | None, int]]:
    binary = pa.large_binary() if pt.is_large_string(array.type) else pa.binary()
    yield from zip(array.cast(binary).to_pylist(), numbers, strict=True)


def _text(value: bytes | None, where: str) -> str | None:
    try:
        # A lone surrogate is the record's fault, not the file's: the source drops it by name.
        return None if value is None else value.decode("utf-8", "surrogatepass")
    except UnicodeDecodeError as error:
        raise InputDataError(
            f"{where}: byte {error.object[error.start]:#04x} at offset {error.start} of the value "
            f"is not UTF-8 ({error.reason}); write the file again from UTF-8 text"
        ) from None


def _first_line(error: Exception) -> str:
    return (str(error).strip().splitlines() or [type(error).__name__])[0].rstrip(".")
