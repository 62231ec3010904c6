"""Objects of JSON Lines and JSON documents, each with the line or row where it stands.

Python's own parser is used, since it keeps integers of any length; what it lets pass in silence
(a key written twice) or tells without a place (bytes that are not UTF-8, deep nesting) is told
here with file and line.
"""

from __future__ import annotations

import gzip
import json
import re
import zlib
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any, NoReturn, cast

from dataflex_data.core.errors import InputDataError
from dataflex_data.core.text import excerpt

BOM = b"\xef\xbb\xbf"
WRAPPER_KEYS = ("examples", "data", "rows")

_NAMES_SHOWN = 30
_SPACE = re.compile(r"[ \t\n\r]*")


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


def numbered_lines(path: Path) -> Iterator[tuple[int, dict[str, Any]]]:
    """Yield the line number, from 1, and the object of each line that is not blank.

    Raises:
        InputDataError: Names the line that is not one whole object of UTF-8 text.
    """
    offset = 0
    with reading(path), _open(path) as handle:
        for number, line in enumerate(handle, start=1):
            start, offset = offset, offset + len(line)
            if number == 1:
                line = line.removeprefix(BOM)
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


def numbered_rows(path: Path) -> Iterator[tuple[int, dict[str, Any]]]:
    """Yield the row number, from 1, and the object of each row of a JSON document.

    Raises:
        InputDataError: Names the row or line that is not as it must be.
    """
    with reading(path), _open(path) as handle:
        data = handle.read().removeprefix(BOM)
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
def reading(path: Path) -> Iterator[None]:
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
