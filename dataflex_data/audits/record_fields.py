"""Fields of a benchmark's record, checked: what is absent or of another kind is told by its key."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

LETTERS = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"

Record = Mapping[str, Any]


class RecordError(ValueError):
    """A record is not one of its benchmark; says which key, and what it holds."""


def text_of(record: Record, name: str) -> str:
    """Return a text that must be there.

    Raises:
        RecordError: It is absent, blank, or no text.
    """
    text = optional_text(record, name)
    if not text.strip():
        value = record.get(name)
        raise RecordError(f"key `{name}` {'is blank' if value is not None else holds(value)}")
    return text


def optional_text(record: Record, name: str) -> str:
    """Return a text that may be absent.

    Raises:
        RecordError: It holds something else.
    """
    value = record.get(name)
    if value is None:
        return ""
    if not isinstance(value, str):
        raise RecordError(f"key `{name}` {holds(value)} instead of text")
    if not value.isascii() and any("\ud800" <= character <= "\udfff" for character in value):
        raise RecordError(f"key `{name}` holds half of a surrogate pair, which is no character")
    return value


def answer_of(record: Record, name: str) -> str:
    """Return an answer: text or a number.

    Raises:
        RecordError: It is absent, blank, or something else.
    """
    value = record.get(name)
    if isinstance(value, int | float) and not isinstance(value, bool) and value == value:
        return str(value)
    return text_of(record, name)


def item_id_of(record: Record, name: str, position: int) -> str:
    """Return the published id, or the position where there is none.

    Raises:
        RecordError: It is neither text nor a whole number.
    """
    value = record.get(name)
    if value is None or value == "":
        return str(position)
    if isinstance(value, bool) or not isinstance(value, int | str):
        raise RecordError(f"key `{name}` {holds(value)} instead of an id")
    return optional_text(record, name) if isinstance(value, str) else str(value)


def texts_of(record: Record, name: str) -> tuple[str, ...]:
    """Return a list of texts.

    Raises:
        RecordError: It holds something else.
    """
    value = record.get(name)
    if not isinstance(value, list) or not all(isinstance(one, str) for one in value):
        raise RecordError(f"key `{name}` {holds(value)} instead of a list of texts")
    return tuple(optional_text({name: one}, name) for one in value)


def options_of(record: Record, name: str) -> tuple[str, ...]:
    """Return two to 26 option texts.

    Raises:
        RecordError: There are fewer or more, or something else.
    """
    return counted_options(texts_of(record, name), name)


def counted_options(options: tuple[str, ...], name: str) -> tuple[str, ...]:
    """Return the options, of which there must be 2 to 26.

    Raises:
        RecordError: There are fewer or more.
    """
    if not 2 <= len(options) <= len(LETTERS):
        raise RecordError(
            f"key `{name}` gives {len(options)} options; a question has 2 to {len(LETTERS)}"
        )
    return options


def gold_letter(letter: str, options: Sequence[str], name: str) -> str:
    """Return the gold letter.

    Raises:
        RecordError: It is none of the options.
    """
    if letter not in LETTERS[: len(options)] or len(letter) != 1:
        raise RecordError(
            f"key `{name}` gives {letter[:20]!r}, which is none of the {len(options)} options"
        )
    return letter


def holds(value: object) -> str:
    """Return in words what a key holds."""
    if value is None:
        return "is absent or null"
    kinds = {"bool": "a boolean", "dict": "an object", "list": "a list", "str": "text"}
    kind = kinds.get(type(value).__name__)
    shown = json.dumps(value, default=str)
    return f"holds {kind or 'a number'} ({shown[:40]}{'…' if len(shown) > 40 else ''})"
