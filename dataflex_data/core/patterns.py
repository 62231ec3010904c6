"""Which of a dataset's files are meant: glob patterns over names, and sets split into parts."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from fnmatch import fnmatchcase

_PART = re.compile(r"(?P<stem>.*)-(?P<number>\d{5})-of-(?P<count>\d{5})(?P<rest>\..*)")
_NAMES_SHOWN = 12


def matching(names: Iterable[str], patterns: Sequence[str]) -> list[str]:
    """Return, sorted, the names that the first fruitful pattern matches; ``[]`` where none does."""
    names = sorted(names)
    for pattern in patterns:
        hits = [name for name in names if _fits(name.split("/"), pattern.split("/"))]
        if hits:
            return hits
    return []


def missing_parts(names: Sequence[str]) -> list[str]:
    """Return the ``...-00001-of-00002...`` siblings that ``names`` imply and lack."""
    implied = {
        f"{part['stem']}-{number:05d}-of-{part['count']}{part['rest']}"
        for part in map(_PART.fullmatch, names)
        if part
        for number in range(int(part["count"]))
    }
    return sorted(implied.difference(names))


def listed(names: Sequence[str]) -> str:
    """Return the first names for a message, and how many more there are."""
    more = f" and {len(names) - _NAMES_SHOWN} more" if len(names) > _NAMES_SHOWN else ""
    return (", ".join(names[:_NAMES_SHOWN]) or "none") + more


def _fits(parts: Sequence[str], pattern: Sequence[str]) -> bool:
    """Return whether a path fits a glob; ``*`` stays within a folder, ``**`` crosses any number."""
    if not pattern:
        return not parts
    if pattern[0] == "**":
        return any(_fits(parts[skip:], pattern[1:]) for skip in range(len(parts) + 1))
    return bool(parts) and fnmatchcase(parts[0], pattern[0]) and _fits(parts[1:], pattern[1:])
