"""The training side of an audit: the files, columns and shards of any corpus (`rows` reads them).

A corpus is a folder that `dfdata build` wrote, a parquet or JSON Lines file, or a glob of such. It
is cut into shards (a run of row groups, or a file), the unit that is handed to a worker and that a
resumed audit does not repeat.
"""

from __future__ import annotations

import glob
import gzip
import zlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

from dataflex_data.core.errors import InputDataError, did_you_mean
from dataflex_data.core.parquet import MANIFEST_NAME, file_sha256, read_manifest
from dataflex_data.core.records import data_suffix, numbered_json_lines

TEXT_COLUMNS = ("prompt", "question", "problem", "text", "quiz", "puzzle", "input", "instruction")
ID_COLUMNS = ("row_id", "id")
_SHARD_ROWS = 100_000
_READ_BUFFER_BYTES = 1 << 20


@dataclass(frozen=True, slots=True)
class Layout:
    """Which columns hold what; a dot steps into a struct.

    Attributes:
        text: The question or prompt: strings, or chat messages.
        options: Option texts; ``""`` where there are none.
        id: Row ids; ``""``: file name and row number stand in.
        source: Origin of each row; ``""`` where there is none.
    """

    text: str
    options: str = ""
    id: str = ""
    source: str = ""

    @property
    def columns(self) -> list[str]:
        """The columns to read."""
        return [name for name in (self.text, self.options, self.id, self.source) if name]


@dataclass(frozen=True, slots=True)
class Shard:
    """A run of rows that one worker reads.

    Attributes:
        file: Position of the file in the corpus.
        path: The file.
        first_row: Number of its first row within the file, from 0.
        rows: How many rows; -1 where only reading tells (JSON Lines).
        groups: Row groups of a parquet file, first and one past the last.
    """

    file: int
    path: str
    first_row: int
    rows: int
    groups: tuple[int, int]


@dataclass(frozen=True, slots=True)
class Corpus:
    """A corpus whose files have been found and whose columns have been checked.

    Attributes:
        name: What the user called it.
        files: Its files, in order.
        names: How each is called in reports.
        layout: Its columns.
        shards: All shards, in order.
        rows: Number of rows; -1 where only reading tells.
    """

    name: str
    files: tuple[Path, ...]
    names: tuple[str, ...]
    layout: Layout
    shards: tuple[Shard, ...]
    rows: int

    def digests(self) -> dict[str, str]:
        """Return the SHA-256 of each file, by name."""
        return {n: file_sha256(path) for n, path in zip(self.names, self.files, strict=True)}

    def require_texts(self, rows: int, empty: int) -> None:
        """Refuse a corpus in which there was nothing to read.

        Args:
            rows: Rows that were read.
            empty: Those among them without a text.

        Raises:
            InputDataError: There are no rows, or all are empty.
        """
        if rows == 0:
            raise InputDataError(f"{self.name}: holds no rows")
        if empty == rows:
            raise InputDataError(
                f"{self.name}: all {rows:,} rows are empty in column {self.layout.text!r}; name "
                "the one with the prompts by --text-column"
            )


def open_corpus(
    corpus: str | Path,
    *,
    text_column: str | None = None,
    id_column: str | None = None,
) -> Corpus:
    """Return the corpus at a path or glob, with its columns found and checked.

    Args:
        corpus: A built folder, a parquet or jsonl file, a folder of them, or a glob.
        text_column: Which column holds the text; found by name where not given.
        id_column: Which column holds the row ids.

    Raises:
        InputDataError: Nothing is there, the files are not of one kind, or a column is missing.
    """
    files, names, layout = _find_files(corpus)
    suffixes = {data_suffix(path) for path in files}
    if len({suffix == ".parquet" for suffix in suffixes}) > 1:
        raise InputDataError(f"{corpus}: mixes parquet and JSON files; audit one kind at a time")
    if None in suffixes or any(s in {".json", ".json.gz"} for s in suffixes):
        odd = next(p for p in files if data_suffix(p) in {None, ".json", ".json.gz"})
        raise InputDataError(
            f"{odd}: a corpus is read from .parquet, .jsonl or .jsonl.gz files, since a whole "
            ".json document does not stream; convert it"
        )
    is_parquet = suffixes == {".parquet"}
    if layout is None or text_column or id_column:
        layout = _layout(files, is_parquet, text_column, id_column)
    shards: list[Shard] = []
    for number, path in enumerate(files):
        if is_parquet:
            shards.extend(_parquet_shards(number, path, layout))
        else:
            shards.append(Shard(number, str(path), 0, -1, (0, 0)))
    total = sum(shard.rows for shard in shards) if is_parquet else -1
    if total == 0:
        raise InputDataError(f"{corpus}: holds no rows")
    return Corpus(str(corpus), tuple(files), tuple(names), layout, tuple(shards), total)


def count_rows(corpus: Corpus) -> int:
    """Return how many rows a corpus has: what parquet says, or the lines of JSON Lines.

    Lines are counted without being parsed, blank ones included, so this is for progress bars.

    Raises:
        InputDataError: A file is damaged.
    """
    if corpus.rows >= 0:
        return corpus.rows
    total = 0
    for path in corpus.files:
        open_ = gzip.open if path.name.endswith(".gz") else open
        try:
            with open_(path, "rb") as file:
                while block := file.read(_READ_BUFFER_BYTES):
                    total += block.count(b"\n")
        except (OSError, EOFError, zlib.error) as error:
            raise InputDataError(f"{path}: cannot be read ({error}); fetch it again") from None
    return total


def _find_files(corpus: str | Path) -> tuple[list[Path], list[str], Layout | None]:
    path = Path(corpus).expanduser()
    if path.is_dir() and (path / MANIFEST_NAME).is_file():
        manifest = read_manifest(path)
        relative = sorted(name for name in manifest["files"] if name.endswith(".parquet"))
        missing = [name for name in relative if not (path / name).is_file()]
        if missing or not relative:
            raise InputDataError(
                f"{path}: the manifest names {', '.join(missing) or 'no parquet file'}"
                f"{', which is not there' if missing else ''}; build the corpus again"
            )
        files = [path / name for name in relative]
        return files, relative, _built_layout(files[0])
    if path.is_dir():
        files = sorted(p for p in path.rglob("*") if p.is_file() and data_suffix(p))
        if not files:
            raise InputDataError(f"{path}: holds no .parquet or .jsonl file")
        return files, [file.relative_to(path).as_posix() for file in files], None
    if path.is_file():
        return [path], [path.name], None
    matches = sorted(Path(match) for match in glob.glob(str(path), recursive=True))
    files = [match for match in matches if match.is_file()]
    if not files:
        raise InputDataError(f"{corpus}: no such file, folder or glob")
    names = [file.name for file in files]
    if len(set(names)) < len(names):
        names = [str(file) for file in files]
    return files, names, None


def _built_layout(path: Path) -> Layout | None:
    schema = parquet_file(path).schema_arrow
    index = schema.get_field_index("extra_info")
    kind = schema.field(index).type if index >= 0 else None
    if kind is None or not pa.types.is_struct(kind) or kind.get_field_index("raw_question") < 0:
        return None
    held = {kind.field(i).name for i in range(kind.num_fields)}
    return Layout(
        text="extra_info.raw_question",
        options="extra_info.options" if "options" in held else "",
        id="extra_info.row_id" if "row_id" in held else "",
        source="extra_info.source" if "source" in held else "",
    )


def _layout(
    files: Sequence[Path], is_parquet: bool, text_column: str | None, id_column: str | None
) -> Layout:
    first = files[0]
    if is_parquet:
        built = _built_layout(first)
        if built is not None and not text_column:
            return built if id_column is None else Layout(built.text, built.options, id_column)
        schema = parquet_file(first).schema_arrow
        found = _leaf_names(schema)
        readable = {name for name in found if _is_text(_field_type(schema, name))}
        told = [f"{name} ({_field_type(schema, name)})" for name in found]
    else:
        record = next(iter(numbered_json_lines(first)), None)
        if record is None:
            raise InputDataError(f"{first}: holds no rows")
        found = list(record[1])
        readable = set(found)
        told = found
    text = text_column or next((name for name in TEXT_COLUMNS if name in readable), None)
    if text is None:
        raise InputDataError(
            f"{first}: none of the columns {', '.join(TEXT_COLUMNS)} holds text; columns found: "
            f"{', '.join(told[:30]) or 'none'}. Say which one with --text-column"
        )
    for name in filter(None, (text_column, id_column)):
        if name not in found and (is_parquet or name.split(".")[0] not in found):
            raise InputDataError(
                f"{first}: has no column {name!r}{did_you_mean(name, found)}; columns found: "
                f"{', '.join(found[:30])}"
            )
    if is_parquet and text not in readable:
        raise InputDataError(
            f"{first}: column {text!r} holds {_field_type(schema, text)}, which is neither text "
            "nor chat messages; choose another --text-column"
        )
    row_id = id_column or next((name for name in ID_COLUMNS if name in found), "")
    options = "options" if "options" in found and text == "question" else ""
    if is_parquet and options and not _is_options(_field_type(schema, options)):
        options = ""
    return Layout(text=text, options=options, id=row_id)


def _leaf_names(schema: pa.Schema) -> list[str]:
    names: list[str] = []
    for column in schema:
        names.append(column.name)
        if pa.types.is_struct(column.type):
            kind = column.type
            names += [f"{column.name}.{kind.field(i).name}" for i in range(kind.num_fields)]
    return names


def _field_type(schema: pa.Schema, name: str) -> pa.DataType:
    if name in schema.names:
        return schema.field(name).type
    outer, _, inner = name.partition(".")
    return schema.field(outer).type.field(inner).type


def _is_text(kind: pa.DataType) -> bool:
    if pa.types.is_dictionary(kind):
        return _is_text(kind.value_type)
    if is_list(kind):
        message = kind.value_type
        return bool(pa.types.is_struct(message) and message.get_field_index("content") >= 0)
    return is_plain(kind)


def is_list(kind: pa.DataType) -> bool:
    """Return whether a column of this type holds lists, of any width."""
    return bool(
        pa.types.is_list(kind) or pa.types.is_large_list(kind) or pa.types.is_fixed_size_list(kind)
    )


def is_plain(kind: pa.DataType) -> bool:
    """Return whether a column of this type holds strings or bytes."""
    return bool(
        pa.types.is_string(kind)
        or pa.types.is_large_string(kind)
        or pa.types.is_string_view(kind)
        or pa.types.is_binary(kind)
        or pa.types.is_large_binary(kind)
        or pa.types.is_binary_view(kind)
    )


def _is_options(kind: pa.DataType) -> bool:
    """Return whether a column holds lists of texts or of numbers."""
    return is_list(kind) and not pa.types.is_nested(kind.value_type)


def parquet_file(path: Path) -> pq.ParquetFile:
    """Return a parquet file opened for reading in bounded memory.

    Raises:
        InputDataError: It is damaged, or no parquet file.
    """
    try:
        return pq.ParquetFile(path, buffer_size=_READ_BUFFER_BYTES, pre_buffer=False)
    except (pa.ArrowException, OSError) as error:
        raise InputDataError(
            f"{path}: is not a whole parquet file ({str(error).splitlines()[0]}); fetch it again"
        ) from None


def _parquet_shards(number: int, path: Path, layout: Layout) -> Iterator[Shard]:
    with parquet_file(path) as file:
        names = _leaf_names(file.schema_arrow)
        absent = [name for name in layout.columns if name not in names]
        if absent:
            raise InputDataError(
                f"{path}: has no column {absent[0]!r}{did_you_mean(absent[0], names)}, which the "
                f"corpus's first file has; columns found: {', '.join(names[:30])}"
            )
        held = _field_type(file.schema_arrow, layout.text)
        if not _is_text(held):
            raise InputDataError(
                f"{path}: column {layout.text!r} holds {held}, which is neither text nor chat "
                "messages as in the corpus's first file; audit it by itself, or convert it"
            )
        begin, first, rows = 0, 0, 0
        for group in range(file.num_row_groups):
            rows += file.metadata.row_group(group).num_rows
            if rows >= _SHARD_ROWS or group == file.num_row_groups - 1:
                yield Shard(number, str(path), first, rows, (begin, group + 1))
                begin, first, rows = group + 1, first + rows, 0
