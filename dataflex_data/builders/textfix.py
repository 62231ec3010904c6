r"""Damage that sources carry in their text, told apart: what can be repaired and what cannot.

A LaTeX backslash read as an escape turns ``\frac`` into a form feed and ``rac``, ``\times`` into
a tab and ``imes``. Only the form feed before ``rac`` is repaired: nothing else can stand there. Any
other control character, or the ruin of another macro, means that the text cannot be trusted.
"""

from __future__ import annotations

import re

from dataflex_data.core.text import excerpt

_FORM_FEED_FRAC = re.compile("\x0crac(?=[{\\d\\s\\\\])")
_CONTROL = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f]")
_RUIN = re.compile(
    "\t(?:imes|heta|ext|riangle|frac|anh?\\b|au\\b|op\\b)|\n(?:abla|eq)\\b"
    "|\r(?:ho|ight|angle|ceil|floor)\\b"
)


def repair_form_feed_frac(text: str) -> str:
    r"""Return the text with form feed + ``rac`` put back to ``\frac``."""
    return _FORM_FEED_FRAC.sub(lambda _: "\\frac", text) if "\x0c" in text else text


def repair_text(text: str) -> str:
    r"""Return the text with ``\frac`` repaired and every line end a single line feed.

    A carriage return before a macro's ruin (``\r`` + ``ho``) stays, for `broken_escape` to see.
    """
    text = repair_form_feed_frac(text)
    if "\r" in text and not _RUIN.search(text):
        text = text.replace("\r\n", "\n").replace("\r", "\n")
    return text


def broken_escape(text: str) -> str | None:
    """Return an excerpt at a control character or ruined macro, ``None`` where all is well."""
    hit = _CONTROL.search(text) or _RUIN.search(text)
    return excerpt(text[max(0, hit.start() - 20) :], 50) if hit else None
