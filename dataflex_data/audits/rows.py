"""The rows of a corpus as Arrow batches of texts, whatever columns and messages they stand in.

Memory is bounded by the batch. Both kinds of file give the same text for the same row.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from dataflex_data.audits.corpus import Layout, Shard, is_list, is_plain, parquet_file
from dataflex_data.audits.word_streams import byte_array, decoded
from dataflex_data.core.errors import InputDataError, did_you_mean
from dataflex_data.core.records import numbered_json_lines

BATCH_ROWS = 8_192


@dataclass(frozen=True, slots=True)
class Batch:
    """Some consecutive rows of a shard.

    Attributes:
        first_row: Number of the first row within its file.
        stems: Questions without options, large_string.
        fulls: Questions with options; the same array where the corpus has no options.
        options: Option lists, or None.
        ids: Row ids as strings, or None.
        sources: Origins as strings, or None.
    """

    first_row: int
    stems: pa.Array
    fulls: pa.Array
    options: pa.Array | None
    ids: pa.Array | None
    sources: pa.Array | None

    def option_texts(self, row: int) -> tuple[str, ...]:
        """Return the options of a row of the batch."""
        found = None if self.options is None else self.options[row].as_py()
        return tuple(option or "" for option in found) if found else ()


def read_shard(shard: Shard, layout: Layout, batch_rows: int = BATCH_ROWS) -> Iterator[Batch]:
    """Yield the rows of a shard in batches; memory is bounded by a batch and its row group's pages.

    Raises:
        InputDataError: The file is damaged or holds something else than its first rows promised.
    """
    if Path(shard.path).name.endswith(".parquet"):
        yield from _read_parquet(shard, layout, batch_rows)
    else:
        yield from _read_json(shard, layout, batch_rows)


def _read_parquet(shard: Shard, layout: Layout, batch_rows: int) -> Iterator[Batch]:
    path = Path(shard.path)
    row = shard.first_row
    with parquet_file(path) as file:
        batches = file.iter_batches(
            batch_size=batch_rows,
            row_groups=range(*shard.groups),
            columns=layout.columns,
            use_threads=False,
        )
        while True:
            try:
                batch = next(batches, None)
            except (pa.ArrowException, OSError) as error:
                raise InputDataError(
                    f"{path}: is damaged after row {row} ({str(error).splitlines()[0]}); "
                    "fetch it again"
                ) from None
            if batch is None:
                return
            if batch.num_rows:
                yield _parquet_batch(path, batch, layout, row)
                row += batch.num_rows


def _parquet_batch(path: Path, batch: pa.RecordBatch, layout: Layout, row: int) -> Batch:
    def read(name: str, as_wanted: Callable[[pa.Array], pa.Array]) -> pa.Array | None:
        if not name:
            return None
        column = _column(batch, name)
        try:
            return as_wanted(column)
        except (pa.ArrowException, AttributeError, TypeError, ValueError) as error:
            raise InputDataError(
                f"{path}, rows {row + 1} to {row + batch.num_rows}: column {name!r} holds "
                f"{column.type}, which cannot be read here ({str(error).splitlines()[0]}); choose "
                "another column, or convert it to text"
            ) from None

    stems = read(layout.text, _texts)
    options = read(layout.options, _option_lists)
    return Batch(
        first_row=row,
        stems=stems,
        fulls=_with_options(stems, options),
        options=options,
        ids=read(layout.id, _strings),
        sources=read(layout.source, _strings),
    )


def _column(batch: pa.RecordBatch, name: str) -> pa.Array:
    if name in batch.schema.names:
        return batch.column(name)
    outer, _, inner = name.partition(".")
    return pc.struct_field(batch.column(outer), inner)


def _texts(column: pa.Array) -> pa.Array:
    """Return questions as Arrow text; the messages of a chat are joined by a line feed."""
    if pa.types.is_dictionary(column.type):
        column = column.dictionary_decode()
    if not is_list(column.type):
        return column
    contents = pc.struct_field(pc.list_flatten(column), "content")
    if pa.types.is_dictionary(contents.type):
        contents = contents.dictionary_decode()
    if not (is_plain(contents.type) or pa.types.is_null(contents.type)):
        told = [content_text(content) for content in contents.to_pylist()]
        contents = byte_array([text.encode("utf-8", "replace") for text in told])
    # As bytes: a cast of bytes to text would refuse the odd message that is not UTF-8.
    contents = _filled(contents.cast(pa.large_binary()), b"")
    lengths = _filled(pc.list_value_length(column), 0).to_numpy(zero_copy_only=False)
    if (lengths == 1).all():
        return contents
    offsets = pa.array([0, *lengths.cumsum().tolist()], type=pa.int64())
    return _joined(pa.LargeListArray.from_arrays(offsets, contents))


def content_text(content: object) -> str:
    """Return the text of a chat message: a string, or the texts of its parts, a line each."""
    if isinstance(content, dict):
        content = [content]
    if not isinstance(content, list):
        return "" if content is None else str(content)
    parts = [part.get("text") if isinstance(part, dict) else part for part in content]
    return "\n".join(part for part in parts if isinstance(part, str))


def _joined(lists: pa.Array) -> pa.Array:
    return pc.binary_join(lists, pa.scalar(b"\n", type=pa.large_binary()))


def _filled(column: pa.Array, value: object) -> pa.Array:
    # pyarrow imports pandas to make a scalar, which costs more than a small audit.
    return pc.fill_null(column, value) if column.null_count else column


def _strings(column: pa.Array) -> pa.Array:
    kind = column.type
    if pa.types.is_string(kind):
        return column
    if pa.types.is_binary(kind) or pa.types.is_large_binary(kind):
        told = [None if raw is None else decoded(raw)[0] for raw in column.to_pylist()]
        return pa.array(told, type=pa.string())
    return column.cast(pa.string(), safe=False)


def _option_lists(column: pa.Array) -> pa.Array:
    """Return option lists as lists of text without nulls; numbers are written as text."""
    if column.type == pa.list_(pa.string()) and not column.flatten().null_count:
        return column
    told = [
        None if options is None else [_option(one) for one in options]
        for options in column.to_pylist()
    ]
    return pa.array(told, type=pa.list_(pa.string()))


def _option(value: object) -> str:
    if isinstance(value, bytes):
        return decoded(value)[0]
    return "" if value is None else _written(value)


def _with_options(stems: pa.Array, options: pa.Array | None) -> pa.Array:
    if options is None:
        return stems
    counts = _filled(pc.list_value_length(options), 0)
    if pc.max(counts).as_py() in {0, None}:
        return stems
    filled = _filled(options, [])
    # As bytes: a cast of bytes to text would refuse the odd row that is not UTF-8.
    joined = pc.binary_join(filled, "\n").cast(pa.large_binary())
    texts = _filled(stems.cast(pa.large_binary()), b"")
    line_feed = pa.scalar(b"\n", type=pa.large_binary())
    whole = pc.binary_join_element_wise(texts, joined, line_feed)
    return pc.if_else(pc.greater(counts, 0), whole, texts)


def _read_json(shard: Shard, layout: Layout, batch_rows: int) -> Iterator[Batch]:
    path = Path(shard.path)
    held: list[dict[str, Any]] = []
    row = 0
    for number, record in numbered_json_lines(path):
        held.append(_json_row(path, number, record, layout))
        if len(held) == batch_rows:
            yield _json_batch(held, layout, row)
            row += len(held)
            held = []
    if held:
        yield _json_batch(held, layout, row)


def _json_row(path: Path, number: int, record: dict[str, Any], layout: Layout) -> dict[str, Any]:
    value = _dig(record, layout.text)
    if value is None and layout.text.split(".")[0] not in record:
        raise InputDataError(
            f"{path}, line {number}: has no key {layout.text!r}"
            f"{did_you_mean(layout.text, record)}; keys found: {', '.join(record)}"
        )
    if isinstance(value, list) and all(isinstance(m, dict) for m in value):
        value = "\n".join(content_text(message.get("content")) for message in value)
    if value is not None and not isinstance(value, str):
        raise InputDataError(
            f"{path}, line {number}: key {layout.text!r} holds {type(value).__name__}, which is "
            "neither text nor chat messages"
        )
    options = _dig(record, layout.options) if layout.options else None
    row_id = _dig(record, layout.id) if layout.id else None
    return {
        "text": (value or "").encode("utf-8", "surrogatepass"),
        "options": [_written(one) for one in options] if isinstance(options, list) else [],
        "id": "" if row_id is None else _written(row_id),
    }


def _written(value: object) -> str:
    """Return a value as text that Arrow can hold: lone surrogates become ``?``."""
    return str(value).encode("utf-8", "replace").decode("utf-8")


def _json_batch(held: list[dict[str, Any]], layout: Layout, row: int) -> Batch:
    stems = byte_array([one["text"] for one in held])
    options = None
    fulls = stems
    if layout.options:
        options = pa.array([one["options"] for one in held], type=pa.list_(pa.string()))
        whole = [
            b"\n".join((one["text"], *(o.encode("utf-8", "replace") for o in one["options"])))
            for one in held
        ]
        fulls = byte_array(whole)
    ids = pa.array([one["id"] for one in held], type=pa.string()) if layout.id else None
    return Batch(row, stems, fulls, options, ids, None)


def _dig(record: dict[str, Any], name: str) -> Any:  # noqa: ANN401 - JSON values are of any type
    if name in record:
        return record[name]
    outer, _, inner = name.partition(".")
    value = record.get(outer)
    return _dig(value, inner) if inner and isinstance(value, dict) else None
