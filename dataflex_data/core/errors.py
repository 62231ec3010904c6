"""Every error a user can meet, as one tree.

::

    DataflexError
    ├── ConfigError            (ValueError)    a configuration is wrong; all faults at once
    ├── UnknownNameError       (LookupError)   a name no registry knows; near matches in the message
    ├── InputDataError         (ValueError)    a file, row or value that cannot be used
    ├── SourceUnavailableError (OSError)       nothing to read from; how to provide it
    ├── ShortfallError         (ValueError)    a quota that the data cannot fill
    ├── OutputError            (OSError)       the output cannot be written; the old one is whole
    ├── StateError             (ValueError)    a saved state that is foreign, newer or of other data
    ├── MixtureError           (RuntimeError)  a mixture that is not the one asked for
    └── MissingExtraError      (ImportError)   an optional dependency is not installed

Each carries one message that says what was wrong, where, and what to do. The command line prints
that message and exits with 2; it never shows a traceback for these. All survive pickling, since
builders and audits may raise them in worker processes.
"""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Sequence


class DataflexError(Exception):
    """Base of all errors meant for the user; ``str(error)`` is the whole message."""


class ConfigError(DataflexError, ValueError):
    """One or more faults of a configuration, reported together.

    Args:
        where: What was read, such as a file's path or ``"mixer"``.
        problems: One sentence per fault.
    """

    def __init__(self, where: str, problems: Sequence[str]) -> None:
        self.where = where
        self.problems = tuple(problems)
        count = f"{len(self.problems)} problems" if len(self.problems) > 1 else "1 problem"
        lines = "\n".join(f"  - {problem}" for problem in self.problems)
        super().__init__(f"{where}: {count}\n{lines}")

    def __reduce__(self) -> tuple[type[ConfigError], tuple[str, tuple[str, ...]]]:
        return type(self), (self.where, self.problems)


class UnknownNameError(DataflexError, LookupError):
    """A name that the registry does not hold."""


class InputDataError(DataflexError, ValueError):
    """A file, row or value that cannot be used; the message names file, row and key."""


class SourceUnavailableError(DataflexError, OSError):
    """A source or benchmark that could be read from nowhere."""


class ShortfallError(DataflexError, ValueError):
    """A quota that the available data cannot fill."""


class OutputError(DataflexError, OSError):
    """An output that cannot be written. Whatever stood there before is untouched."""


class StateError(DataflexError, ValueError):
    """A saved state that does not belong to this version, configuration or data."""


class MixtureError(DataflexError, RuntimeError):
    """A run whose mixture is not the one asked for, or whose mixer gets no signal."""


class MissingExtraError(DataflexError, ImportError):
    """An optional dependency that is needed now and not installed.

    Args:
        package: The missing import, such as ``"transformers"``.
        extra: The extra of dataflex-data that brings it.
        purpose: What it was needed for.
    """

    def __init__(self, package: str, extra: str, purpose: str) -> None:
        self.package, self.extra, self.purpose = package, extra, purpose
        # As the wheel's metadata spell it: pip below 23.3 knows no other spelling, and installs
        # nothing for it but a warning.
        spelled = extra.replace("_", "-")
        super().__init__(
            f"{purpose} needs the package {package!r}, which is not installed; "
            f'install it with: pip install "dataflex-data[{spelled}]"'
        )

    def __reduce__(self) -> tuple[type[MissingExtraError], tuple[str, str, str]]:
        return type(self), (self.package, self.extra, self.purpose)


def near_matches(name: str, known: Iterable[str], limit: int = 3) -> list[str]:
    """Return up to ``limit`` known names close to ``name``, best first.

    Close are names of the same words in another order, then those that are spelt alike.
    """
    by_folded = {candidate.casefold(): candidate for candidate in known}
    words = sorted(name.casefold().split("_"))
    turned = [folded for folded in by_folded if sorted(folded.split("_")) == words]
    alike = difflib.get_close_matches(name.casefold(), by_folded, n=limit, cutoff=0.6)
    return [by_folded[hit] for hit in dict.fromkeys([*turned, *alike])][:limit]


def did_you_mean(name: str, known: Iterable[str]) -> str:
    """Return ``"; did you mean 'x'?"`` for the nearest known names, ``""`` where none is near."""
    hits = near_matches(name, known)
    return f"; did you mean {' or '.join(repr(hit) for hit in hits)}?" if hits else ""
