"""Records of a source file as plain Python values, in chunks, whatever the format.

Sources and benchmarks come as parquet, JSON Lines or JSON, from the hub or from a user's disk. One
reader for all of them keeps their traps in one place: arrays that print as text, integers turned
into floats, keys written twice, half-downloaded files, a web page saved under a data file's name.
It judges files, never records: a null, a NUL or a lone surrogate is handed on for the source to
drop with a reason.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from dataflex_data.core.errors import InputDataError, did_you_mean
from dataflex_data.core.json_rows import BOM, numbered_lines, numbered_rows, reading
from dataflex_data.core.text import excerpt

if TYPE_CHECKING:
    from dataflex_data.core.fetch import Located, SourceFile

SUFFIXES = (".parquet", ".jsonl", ".jsonl.gz", ".json", ".json.gz")
# Measured on DAPO's rows 100 times over (benchmarks/bench_reading.py): at 20,000 rows a chunk,
# twice the CPU and 3.6 times the records handed on, for 180 MB less.
CHUNK_ROWS = 100_000

_NAMES_SHOWN = 30
_MAGIC = (
    (b"PAR1", "parquet"),
    (b"\x1f\x8b", "gzip data"),
    (b"PK\x03\x04", "a zip archive"),
    (b"\x28\xb5\x2f\xfd", "zstd data"),
    (b"ARROW1", "an Arrow file"),
    (b"\xff\xfe", "UTF-16 text"),
    (b"\xfe\xff", "UTF-16 text"),
    (b"version https://git-lfs", "a Git LFS pointer (run `git lfs pull`)"),
    (b"<!doctype html", "a web page"),
    (b"<html", "a web page"),
)


@dataclass(frozen=True, slots=True)
class RecordChunk:
    """Some consecutive rows of a file, each different content once.

    Attributes:
        rows: Where each record stands: line number in JSON Lines, else row number; from 1.
        records: The wanted columns of each, as Python values; distinct, in the file's order.
        repeats: Rows of the chunk that equal an earlier one of it in all wanted columns.
        total: Rows read: ``len(records) + repeats``.
    """

    rows: list[int]
    records: list[dict[str, Any]]
    repeats: int
    total: int


def data_suffix(path: Path) -> str | None:
    """Return the suffix that decides a file's format, or ``None`` where it is not one of ours."""
    name = path.name.casefold()
    return max((suffix for suffix in SUFFIXES if name.endswith(suffix)), key=len, default=None)


def read_records(
    path: Path,
    columns: Sequence[str],
    optional: Sequence[str] = (),
    batch_rows: int = CHUNK_ROWS,
) -> Iterator[RecordChunk]:
    """Return the chunks of one file; memory is bounded by a chunk (by the text for ``.json``).

    Args:
        path: A file with one of `SUFFIXES`; ``~`` is expanded. JSON files hold a list of objects,
            or an object with such a list under one of `json_rows.WRAPPER_KEYS`.
        columns: Top-level columns that the file must have. In JSON an absent key counts as null,
            as long as some record of the first chunk has it.
        optional: Columns to read where the file has them; absent ones give no key.
        batch_rows: Rows of a chunk, the last one apart.

    Raises:
        InputDataError: At once where the path is not a readable file of a known format; while
            reading where the file is damaged, empty, or lacks a column. Names the row or line.
    """
    path = Path(path).expanduser()
    suffix = _check_file(path)
    if suffix == ".parquet":
        from dataflex_data.core.parquet_records import read_parquet_records

        return _not_empty(path, read_parquet_records(path, columns, optional, batch_rows))
    numbered = numbered_lines(path) if suffix.startswith(".jsonl") else numbered_rows(path)
    return _not_empty(path, _chunks(path, numbered, columns, optional, batch_rows))


def numbered_json_lines(path: Path) -> Iterator[tuple[int, dict[str, Any]]]:
    """Return every object of a JSON Lines file, repeats included, with its line number from 1.

    Raises:
        InputDataError: See `read_records`.
    """
    path = Path(path).expanduser()
    _check_file(path)
    return numbered_lines(path)


def iter_files(
    located: Located,
    columns: Sequence[str],
    optional: Sequence[str] = (),
    batch_rows: int = CHUNK_ROWS,
) -> Iterator[tuple[SourceFile, RecordChunk]]:
    """Yield the chunks of all files of a source, each with its file; see `read_records`."""
    for file in located.files:
        for chunk in read_records(file.path, columns, optional, batch_rows):
            yield file, chunk


def check_columns(
    path: Path, columns: Iterable[str], found: Sequence[str], where: str = ""
) -> None:
    """Check that all ``columns`` are among those ``found``.

    Raises:
        InputDataError: Lists the missing columns with near matches, and those found.
    """
    missing = [name for name in columns if name not in found]
    if not missing:
        return
    named = ", ".join(f"`{name}`{did_you_mean(name, found)}" for name in missing)
    shown = ", ".join(found[:_NAMES_SHOWN]) or "none"
    more = f" and {len(found) - _NAMES_SHOWN} more" if len(found) > _NAMES_SHOWN else ""
    raise InputDataError(
        f"{path}: {'column' if len(missing) == 1 else 'columns'} missing{where}: {named}. "
        f"Columns found: {shown}{more}. Give the file that has them, or rename its columns"
    )


def content_in_words(head: bytes) -> str:
    """Return what the first bytes of a file look like, for messages about a wrong suffix."""
    start = head.removeprefix(BOM)
    for magic, words in _MAGIC:
        if start.lower().startswith(magic.lower()):
            return words
    text = start.lstrip()
    if not head.strip():
        return "nothing but white space" if head else "nothing, 0 bytes"
    if text[:1] in {b"{", b"["}:
        return "JSON text"
    if b"\0" in head:
        return "binary data of an unknown kind"
    return f"text that begins {excerpt(text.decode('utf-8', 'replace'), 40)}"


def _check_file(path: Path) -> str:
    """Return the file's suffix after checking that its content can be what that suffix says."""
    if path.is_dir():
        raise InputDataError(f"{path}: is a folder where a file is needed; give one of its files")
    with reading(path), path.open("rb") as handle:
        head = handle.read(512)
    suffix = data_suffix(path)
    if suffix is None:
        raise InputDataError(
            f"{path}: a file of this name cannot be read; known are {', '.join(SUFFIXES)} "
            f"(it holds {content_in_words(head)})"
        )
    if not head:
        raise InputDataError(f"{path}: is empty (0 bytes); fetch or write it again")
    found = content_in_words(head)
    expected = (
        "parquet"
        if suffix == ".parquet"
        else "gzip data"
        if suffix.endswith(".gz")
        else None  # broken JSON is told with its line, so only foreign content is refused here
    )
    foreign = found != expected if expected else any(found == words for _, words in _MAGIC)
    if foreign:
        raise InputDataError(
            f"{path}: is named {suffix} but holds {found}; fetch it again or name it for what it is"
        )
    return suffix


def _not_empty(path: Path, chunks: Iterator[RecordChunk]) -> Iterator[RecordChunk]:
    empty = True
    for chunk in chunks:
        empty = False
        yield chunk
    if empty:
        raise InputDataError(f"{path}: holds no rows; give a file with at least one record")


def _chunks(
    path: Path,
    numbered: Iterable[tuple[int, dict[str, Any]]],
    columns: Sequence[str],
    optional: Sequence[str],
    batch_rows: int,
) -> Iterator[RecordChunk]:
    """Yield chunks of JSON objects, reduced to the wanted columns and made distinct."""
    rows: list[int] = []
    records: list[dict[str, Any]] = []
    seen: set[str] = set()
    found: dict[str, None] = {}
    total, first_chunk = 0, True
    for number, item in numbered:
        if first_chunk:
            found.update(dict.fromkeys(item))
        record = {name: item.get(name) for name in columns}
        record.update({name: item[name] for name in optional if name in item})
        total += 1
        key = json.dumps(record, sort_keys=True)
        if key not in seen:
            seen.add(key)
            rows.append(number)
            records.append(record)
        if total == batch_rows:
            if first_chunk:
                check_columns(path, columns, list(found))
            yield RecordChunk(rows, records, total - len(records), total)
            rows, records, seen, total, first_chunk = [], [], set(), 0, False
    if total:
        if first_chunk:
            check_columns(path, columns, list(found))
        yield RecordChunk(rows, records, total - len(records), total)
