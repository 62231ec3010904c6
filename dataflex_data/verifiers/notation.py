r"""One spelling for the many in which LaTeX and plain text write the same answer.

Text in, text out: nothing here knows what an answer means.
"""

from __future__ import annotations

import re

from dataflex_data.verifiers.extraction import plain_unicode
from dataflex_data.verifiers.numbers import INNER_THOUSANDS

_COMMAND = re.compile(r"\\([a-zA-Z]+|.)", re.DOTALL)
_INVISIBLE_POINT = re.compile(r"\\(?:left|right)\s*\.")
_INVISIBLE = (
    "left", "right", "displaystyle", "textstyle", "limits", "big", "Big", "bigg", "Bigg", "bigl",
    "bigr", "Bigl", "Bigr", "biggl", "biggr", "Biggl", "Biggr", "mathopen", "mathclose", "!", "(",
    ")", "[", "]",
)  # fmt: skip
_COMMANDS = {
    **dict.fromkeys(_INVISIBLE, ""),
    **dict.fromkeys([",", ";", ":", " ", "\n", "quad", "qquad", "thinspace"], " "),
    **dict.fromkeys(["frac", "dfrac", "tfrac", "cfrac"], "\\frac"),
    **dict.fromkeys(["degree", "textdegree"], "°"),
    **dict.fromkeys(["leqslant", "leq", "le"], "≤"),
    **dict.fromkeys(["geqslant", "geq", "ge"], "≥"),
    **dict.fromkeys(["neq", "ne"], "≠"),
    "lt": "<", "gt": ">", "colon": ":", "%": "%", "$": "\x04", "prime": "'",
}  # fmt: skip
_TEXT = re.compile(
    r"\\(?:text|textbf|textit|textrm|textsc|textnormal|mathrm|mathbf|mathit|mathsf|mbox|hbox|rm|"
    r"operatorname|boldsymbol|bold|mathbb)\s*\{([^{}]*)\}"
)
_COLOUR = re.compile(r"\\(?:text)?color\s*(?:\[\w*\])?\s*\{[\w!]*\}")
_DEGREE = re.compile(r"\s*\^\s*\{?\s*(?:\\circ|°)\s*\}?")
_PRIME = re.compile(r"\^\s*\{?\s*'\s*\}?")
_CONTROL = re.compile(r"[\x00-\x08\x0b\x0e-\x1f\x7f]")


def tidy(text: str) -> str:
    r"""Return an answer's text in one spelling, meaning kept.

    Text commands leave their content between two control characters, so that a unit can still be
    told from a product of variables.
    """
    if not text.isascii():
        text = plain_unicode(text)
    if not text.isprintable():
        text = _CONTROL.sub(" ", text)
    if "{,}" in text:
        text = text.replace("{,}", ",")
    if "\\" in text:
        if "." in text and ("\\left" in text or "\\right" in text):
            text = _INVISIBLE_POINT.sub("", text)
        if "color" in text:
            text = _COLOUR.sub("", text)
        text = _COMMAND.sub(_spelled_command, text)
        for _ in range(3):
            if "{" not in text:
                break
            unwrapped = _TEXT.sub("\x02\\1\x03", text)
            if unwrapped == text:
                break
            text = unwrapped
        if "^" in text:
            if "circ" in text or "°" in text:
                text = _DEGREE.sub("°", text)
            if "'" in text:
                text = _PRIME.sub("'", text)
    if "~" in text:
        text = text.replace("~", " ")
    if "$" in text:
        text = text.replace("$", "")
    return text.strip().rstrip(".,;:").strip()


def _spelled_command(match: re.Match[str]) -> str:
    return _COMMANDS.get(match.group(1), match.group())


def spelling(text: str) -> str:
    """Return what two texts share that differ in idle spaces and text commands only."""
    spaced = _BLANK.sub(" ", tidy(text)).strip()
    return _IDLE_SPACE.sub("", spaced)


_BLANK = re.compile(r"[\s\x02\x03]+")
_IDLE_SPACE = re.compile(r"(?<![^\W_]) | (?![^\W_])")  # all but those between letters or digits


def closes_early(inner: str) -> bool:
    """Return whether the brackets around ``inner`` do not belong to each other."""
    depth = 0
    for sign in inner:
        if sign in "([{":
            depth += 1
        elif sign in ")]}":
            depth -= 1
            if depth < 0:
                return True
    return depth != 0


def split_list(text: str) -> list[str]:
    """Split at top-level commas, semicolons and conjunctions; thousands stay together."""
    if not (
        "," in text or ";" in text or "and" in text or "or" in text or "R" in text or "D" in text
    ):
        return [text]
    if "," in text and text[-1:] not in _DIGITS + ")" and _only_thousands(text):
        return [text]
    spaced = ", " in text
    parts, depth, start = [], 0, 0
    for mark in _LIST_MARK.finditer(text):
        sign = mark.group()
        if sign in "([{":
            depth += 1
        elif sign in ")]}":
            depth -= 1
        elif depth == 0:
            at = mark.start()
            if (
                sign == ","
                and spaced
                and _GROUP_OF_THREE.match(text, at)
                and text[at - 1].isdigit()
            ):
                continue
            parts.append(text[start:at])
            start = mark.end()
    parts.append(text[start:])
    kept = [_unmarked(part) for part in parts]
    return [part for part in kept if part] or [text]


_DIGITS = "0123456789"


def _only_thousands(text: str) -> bool:
    """Return whether a number with a unit, ``1,234 cm``, holds all commas of the text."""
    rest = INNER_THOUSANDS.sub("", text)
    return rest != text and not any(hint in rest for hint in _LIST_HINTS)


_LIST_HINTS = (",", ";", "and", "or", "AND", "OR")
_LIST_MARK = re.compile(r"[()\[\]{},;]|(?<![A-Za-z\\])(?:and|or|AND|OR)(?![A-Za-z])")
_GROUP_OF_THREE = re.compile(r",\d{3}(?!\d)")


def _unmarked(part: str) -> str:
    """Return a part without halves of the marks that its conjunction was written between."""
    part = part.strip()
    if "\x02" not in part and "\x03" not in part:
        return part
    if part.startswith("\x03"):
        part = part[1:].strip()
    if part.endswith("\x02"):
        part = part[:-1].strip()
    return "" if part in {"\x02", "\x03"} else part
