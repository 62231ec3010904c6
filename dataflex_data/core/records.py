"""Records of a source file as plain Python values, in chunks, whatever the format.

Sources and benchmarks come as parquet, JSON Lines or JSON, from the hub or from a user's disk. One
reader for all of them keeps their traps in one place: arrays that print as text, integers turned
into floats, keys written twice, half-downloaded files, a web page saved under a data file's name.
It judges files, never records: a null, a NUL or a lone surrogate is handed on for the source to
drop with a reason.
"""

from __future__ import annotations

import gzip
import json
import re
import zlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any, NoReturn, cast

from dataflex_data.core.errors import InputDataError, did_you_mean
from dataflex_data.core.text import excerpt

if TYPE_CHECKING:
    from dataflex_data.core.fetch import Located, SourceFile

SUFFIXES = (".parquet", ".jsonl", ".jsonl.gz", ".json", ".json.gz")
WRAPPER_KEYS = ("examples", "data", "rows")
# Measured on DAPO's rows 100 times over (benchmarks/bench_reading.py): at 20,000 rows a chunk,
# twice the CPU and 3.6 times the records handed on, for 180 MB less.
CHUNK_ROWS = 100_000

_NAMES_SHOWN = 30
_BOM = b"\xef\xbb\xbf"
_SPACE = re.compile(r"[ \t\n\r]*")
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
            or an object with such a list under one of `WRAPPER_KEYS`.
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
    numbered = _json_lines(path) if suffix.startswith(".jsonl") else _json_document(path)
    return _not_empty(path, _chunks(path, numbered, columns, optional, batch_rows))


def numbered_json_lines(path: Path) -> Iterator[tuple[int, dict[str, Any]]]:
    """Return every object of a JSON Lines file, repeats included, with its line number from 1.

    Raises:
        InputDataError: See `read_records`.
    """
    path = Path(path).expanduser()
    _check_file(path)
    return _json_lines(path)


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
    start = head.removeprefix(_BOM)
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
    with _reading(path), path.open("rb") as handle:
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


class _RepeatedKeyError(ValueError):
    """An object of JSON that writes one key twice; ``args[0]`` is the key."""


def _unique_keys(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    # JSON readers keep the last value in silence; one of the two is lost, and nobody knows which.
    data = dict(pairs)
    if len(data) != len(pairs):
        names = [name for name, _ in pairs]
        raise _RepeatedKeyError(next(name for name in data if names.count(name) > 1))
    return data


_DECODER = json.JSONDecoder(object_pairs_hook=_unique_keys)


def _json_lines(path: Path) -> Iterator[tuple[int, dict[str, Any]]]:
    offset = 0
    with _reading(path), _open(path) as handle:
        for number, line in enumerate(handle, start=1):
            start, offset = offset, offset + len(line)
            if number == 1:
                line = line.removeprefix(_BOM)
            if not line.strip():
                continue
            try:
                text = line.decode("utf-8")
            except UnicodeDecodeError as error:
                _refuse_bytes(path, number, error, offset=start + error.start)
            value = _decode(path, text.strip(), number)
            if not isinstance(value, dict):
                raise InputDataError(
                    f"{path}, line {number}: is {_kind(value)}, not an object; JSON Lines have one "
                    "object with the columns on each line (a list of objects is named .json)"
                )
            yield number, value


def _decode(path: Path, text: str, number: int) -> object:
    try:
        return _DECODER.decode(text)
    except json.JSONDecodeError as error:
        raise InputDataError(
            f"{path}, line {number}, column {error.colno}: is not valid JSON: {error.msg} "
            f"near {excerpt(text[max(error.pos - 20, 0) :], 40)}. Mend or remove the line; each "
            "line must hold one whole object"
        ) from None
    except (_RepeatedKeyError, ValueError, RecursionError) as error:
        _refuse_value(f"{path}, line {number}", error)


def _json_document(path: Path) -> Iterator[tuple[int, dict[str, Any]]]:
    with _reading(path), _open(path) as handle:
        data = handle.read().removeprefix(_BOM)
    try:
        text = data.decode("utf-8")
    except UnicodeDecodeError as error:
        _refuse_bytes(path, data.count(b"\n", 0, error.start) + 1, error, offset=error.start)
    del data
    for number, (line, value) in enumerate(_JsonText(path, text).records(), start=1):
        if not isinstance(value, dict):
            raise InputDataError(
                f"{path}, row {number} (line {line}): is {_kind(value)}, not an object; the list "
                "must hold one object with the columns for each row"
            )
        yield number, value


class _JsonText:
    """A cursor over a JSON document: gives the rows one by one, so that errors can name theirs."""

    def __init__(self, path: Path, text: str) -> None:
        self._path, self._text, self._position = path, text, 0

    def records(self) -> Iterator[tuple[int, object]]:
        """Yield each row's line and value."""
        if self._peek() == "{":
            yield from self._wrapped()
        elif self._peek() == "[":
            yield from self._elements()
        else:
            value = self._value()
            self._refuse(f"holds {_kind(value)}, where a list of objects is needed")
        if self._peek():
            self._refuse(
                "goes on after its end; where every line is an object of its own, name it .jsonl"
            )

    def _wrapped(self) -> Iterator[tuple[int, object]]:
        self._position += 1
        keys: list[str] = []
        lists: dict[str, list[tuple[int, object]]] = {}
        while self._peek() != "}":
            key = self._value()
            if not isinstance(key, str) or not self._take(":"):
                self._refuse("is not valid JSON: a key and a colon are expected")
            if key in keys:
                self._refuse(f"writes key `{key}` twice in one object; keep one")
            keys.append(key)
            if key in WRAPPER_KEYS and self._peek() == "[":
                lists[key] = list(self._elements())
            else:
                self._value()
            if not self._take(",") and self._peek() != "}":
                self._refuse("is not valid JSON: `,` or `}` is expected")
        self._position += 1
        if self._peek():
            self._refuse(
                "goes on after its end; where every line is an object of its own, name it .jsonl"
            )
        if len(lists) != 1:
            wanted = ", ".join(f"`{key}`" for key in WRAPPER_KEYS)
            held = ", ".join(keys[:_NAMES_SHOWN]) or "none"
            raise InputDataError(
                f"{self._path}: is one object (keys: {held}) where a list of objects is needed, "
                f"or an object with the list under exactly one of {wanted}"
            )
        for rows in lists.values():
            yield from rows

    def _elements(self) -> Iterator[tuple[int, object]]:
        self._position += 1
        line, counted = 1 + self._text.count("\n", 0, self._position), self._position
        if self._take("]"):
            return
        while True:
            self._peek()
            line += self._text.count("\n", counted, self._position)
            counted = self._position
            yield line, self._value()
            if self._take("]"):
                return
            if not self._take(","):
                self._refuse("is not valid JSON: `,` or `]` is expected")

    def _peek(self) -> str:
        match = _SPACE.match(self._text, self._position)
        self._position = match.end() if match else self._position
        return self._text[self._position : self._position + 1]

    def _take(self, sign: str) -> bool:
        taken = self._peek() == sign
        self._position += taken
        return taken

    def _value(self) -> object:
        self._peek()
        try:
            value, self._position = _DECODER.raw_decode(self._text, self._position)
        except json.JSONDecodeError as error:
            self._position = error.pos
            self._refuse(f"is not valid JSON: {error.msg}")
        except (_RepeatedKeyError, ValueError, RecursionError) as error:
            _refuse_value(f"{self._path}, object that begins on line {self._line()}", error)
        return cast("object", value)

    def _line(self) -> int:
        return self._text.count("\n", 0, self._position) + 1

    def _refuse(self, problem: str) -> NoReturn:
        column = self._position - self._text.rfind("\n", 0, self._position)
        near = self._text[self._position : self._position + 60]
        shown = f" near {excerpt(near, 40)}" if near else " (the text ends here)"
        raise InputDataError(
            f"{self._path}, line {self._line()}, column {column}: {problem}{shown}. "
            "Mend the file or fetch it again"
        )


def _refuse_value(where: str, error: Exception) -> NoReturn:
    if isinstance(error, _RepeatedKeyError):
        raise InputDataError(
            f"{where}: writes key `{error.args[0]}` twice in one object, so one value would be "
            "lost; keep one"
        ) from None
    if isinstance(error, RecursionError):
        raise InputDataError(f"{where}: is nested too deeply to be read; remove it") from None
    raise InputDataError(f"{where}: holds a value that cannot be read: {error}") from None


def _refuse_bytes(path: Path, line: int, error: UnicodeDecodeError, *, offset: int) -> NoReturn:
    raise InputDataError(
        f"{path}, line {line}: byte {error.object[error.start]:#04x} at offset {offset} of the "
        f"{'unpacked ' if path.name.endswith('.gz') else ''}file is not UTF-8 ({error.reason}); "
        "save the file as UTF-8"
    ) from None


def _kind(value: object) -> str:
    names: Mapping[type, str] = {
        list: "a list",
        dict: "an object",
        str: "a string",
        bool: "true or false",
        type(None): "null",
    }
    return names.get(type(value), "a number")


def _open(path: Path) -> IO[bytes]:
    if path.name.casefold().endswith(".gz"):
        return cast("IO[bytes]", gzip.open(path, "rb"))
    return path.open("rb")


@contextmanager
def _reading(path: Path) -> Iterator[None]:
    """Turn what opening and unpacking a file may raise into words."""
    try:
        yield
    except FileNotFoundError:
        raise InputDataError(f"{path.absolute()}: no such file") from None
    except PermissionError:
        raise InputDataError(
            f"{path}: may not be read (permission denied); change its mode or copy it"
        ) from None
    except (EOFError, zlib.error, gzip.BadGzipFile) as error:
        raise InputDataError(
            f"{path}: its gzip data are cut off or damaged ({error}); fetch it again"
        ) from None
    except OSError as error:
        raise InputDataError(f"{path}: cannot be read: {error.strerror or error}") from None
