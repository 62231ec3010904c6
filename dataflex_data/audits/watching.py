"""What an audit tells whoever waits for it: how far it is, and why the first run starts slowly."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from typing import Protocol

from dataflex_data.audits.corpus import Corpus, count_rows

Note = Callable[[str], None]
OnRows = Callable[[int], None]


class Track(Protocol):
    """Shows a progress bar, as `reporting.terminal.progress` does."""

    def __call__(self, title: str, total: int | None) -> AbstractContextManager[OnRows]:
        """Return the context in which the bar stands; it gives what moves it on."""


def untold(rows: int) -> None:
    """Take a number of rows and tell nobody."""
    del rows


def quiet(message: str) -> None:
    """Take a message and tell nobody."""
    del message


@contextmanager
def tracked(track: Track | None, title: str, corpus: Corpus) -> Iterator[OnRows]:
    """Give what is to be told of finished rows; rows are counted only where somebody watches."""
    if track is None:
        yield untold
        return
    with track(title, count_rows(corpus)) as advance:
        yield advance


@contextmanager
def compile_notice(note: Note) -> Iterator[None]:
    """Say so, once, when the loops of `kernels` are compiled rather than loaded from disk."""
    from numba.core import event

    class Once(event.Listener):  # type: ignore[misc]
        told = False

        def on_start(self, event: object) -> None:  # noqa: ARG002 - numba's interface
            if not self.told:
                self.told = True
                note(
                    "compiling the audit's loops for this machine: once per installation, "
                    "10 to 20 seconds"
                )

        def on_end(self, event: object) -> None:
            del event

    with event.install_listener("numba:compile", Once()):
        yield
