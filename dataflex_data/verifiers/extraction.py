"""Finding the answer in a response: thinking removed, boxes read, Unicode digits made plain.

All verifiers share these steps. Each is linear in the text, with small bounds where nesting or
repetition could make it worse, so that a hostile response costs no more than a long one.
"""

from __future__ import annotations

import re
import unicodedata
from typing import NamedTuple

MAX_ANSWER = 400  # characters; longer answers are refused before they are evaluated
_MAX_BOX = 4 * MAX_ANSWER  # an answer may be padded with spaces; beyond this a box counts as open
_MAX_BOXES = 64  # boxes looked at, from the last backwards
_FAR = 200  # characters between two boxes beyond which they are not joined

_THINK = re.compile(
    r"<\s*(/?)\s*(?:[tT][hH][iI][nN][kK](?:[iI][nN][gG])?|[tT][hH][oO][uU][gG][hH][tT])\s*>"
    r"|<\|(begin|end)_of_thought\|>"
)
_THINK_HINTS = ("hink", "HINK", "hought", "HOUGHT")
_THINK_ARROWS = re.compile(r"◁(/?)think▷")
_BRACES = re.compile(r"\\.|[{}]", re.DOTALL)
_NO_BRACES = r"[^{}\\]*(?:\\[^{}][^{}\\]*)*"
_SHALLOW_BOX = re.compile(rf"\\boxed\{{({_NO_BRACES}(?:\{{{_NO_BRACES}\}}{_NO_BRACES})*)\}}")
_BARE_BOX = re.compile(r"\\boxed[ \t]+(-?\d[\d.,]*\d|-?\d)(?![\w\\{^/])")
_BOX_HEAD = re.compile(r"\\(?:boxed|fbox|framebox)\s{0,8}\{")
_EMPTY = {"", "...", "\\ldots", "\\cdots"}

_SUPERSCRIPTS = str.maketrans("⁰¹²³⁴⁵⁶⁷⁸⁹⁺⁻⁽⁾ⁿ", "0123456789+-()n")
_SUBSCRIPTS = str.maketrans("₀₁₂₃₄₅₆₇₈₉₊₋₍₎", "0123456789+-()")
_SUPERSCRIPT_RUN = re.compile("[⁰¹²³⁴⁵⁶⁷⁸⁹⁺⁻⁽⁾ⁿ]+")
_SUBSCRIPT_RUN = re.compile("[₀₁₂₃₄₅₆₇₈₉₊₋₍₎]+")
_VULGAR = re.compile("[¼½¾⅐-⅞↉]")
_SYMBOLS = str.maketrans(
    {
        "−": "-", "‐": "-", "‑": "-", "‒": "-", "–": "-", "—": "-", "﹣": "-",
        "⁄": "/", "∕": "/", "÷": "/", "×": "*", "·": "*", "⋅": "*", "∙": "*", "∗": "*",
        "√": "\\sqrt ", "π": "\\pi ", "∞": "\\infty ", "≤": "\\le ", "≥": "\\ge ", "≠": "\\ne ",
        "⩽": "\\le ", "⩾": "\\ge ", "±": "\\pm ", "∪": "\\cup ", "∈": "\\in ", "≈": "\\approx ",
        "°": "^\\circ ", "∅": "\\emptyset ", "θ": "\\theta ", "α": "\\alpha ", "β": "\\beta ",
        "λ": "\\lambda ", "φ": "\\phi ", "ω": "\\omega ", "’": "'", "、": ",", "：": ":",
        "\u200b": "", "\u200c": "", "\u200d": "", "\u2060": "", "\ufeff": "", "\u00ad": "",
    }
)  # fmt: skip

_GLUE = re.compile(
    r"\\(?:text|textbf|mathrm|mbox)\s*\{|\\(?:quad|qquad|left|right|;|,|:|!|\(|\)|\[|\]| )"
    r"|[{}()$*\s]+"
)
_JOINTS = {
    "or", "and", ",", "/", ";", "&", "|", ", or", ", and", "and/or", "or maybe", "or perhaps",
    "or possibly", "or else", ", or maybe", "or even", "or just", "", "else", "otherwise", "vs",
    "vs.", "versus", "alternatively", "or alternatively", "and possibly", "and maybe", "maybe",
    "或", "或者", "和", "与", "及", "、", "，", "；", "resp.", "respectively",
}  # fmt: skip


class Box(NamedTuple):
    """One complete box: its stripped content, and where the whole command starts and ends."""

    content: str
    start: int
    end: int


def after_thinking(text: str) -> str | None:
    """Return the text after the last closed thinking block, ``None`` where one never closes."""
    # A single character is looked for much faster than a word; most responses end here.
    if (">" not in text and "▷" not in text) or not any(map(text.__contains__, _THINK_HINTS)):
        return text
    first = text.find("<")
    pattern = _THINK
    if "◁" in text:
        pattern, first = _THINK_ARROWS, 0
    if first < 0:
        return text
    end, is_open = 0, False
    for tag in pattern.finditer(text, first):
        closes = bool(tag.group(1)) or (pattern is _THINK and tag.group(2) == "end")
        is_open = not closes
        end = tag.end()
    if is_open:
        return None
    return text[end:] if end else text


def last_boxes(text: str) -> list[Box]:
    r"""Return the last complete, non-empty box and those joined to it in one line of reading.

    In order of appearance; usually one. Boxes count as joined where the text between them is no
    more than a conjunction, a comma, a semicolon or a slash. ``\fbox`` and ``\framebox`` count
    where there is no ``\boxed``.
    """
    start = text.rfind("\\boxed")
    if start >= 0 and text.rfind("\\boxed", 0, start) < 0:  # the common case: a single box
        box = _box_at(text, start)
        return [] if box is None or box.content in _EMPTY else [box]
    if start < 0 and ("\\" not in text or "box" not in text):
        return []
    command = "\\boxed" if start >= 0 else "\\fbox" if "\\fbox" in text else "\\framebox"
    found: list[Box] = []
    end = len(text)
    for _ in range(_MAX_BOXES):
        start = text.rfind(command, 0, end)
        if start < 0:
            break
        end = start
        box = _box_at(text, start)
        if box is None or box.content in _EMPTY:
            continue
        if not found:
            found.append(box)
        elif box.end > found[-1].start:
            if len(found) == 1:  # \boxed{\boxed{3}, 4} is 3, 4
                content = box.content
                inner = text[found[0].start : found[0].end]
                found[0] = Box(content.replace(inner, found[0].content).strip(), start, box.end)
        elif box.end < found[-1].start - _FAR or not _joined(text[box.end : found[-1].start]):
            break
        else:
            found.append(box)
    found.reverse()
    return found


def has_open_box(text: str) -> bool:
    """Return whether the last box of the text has no closing brace."""
    start = text.rfind("\\boxed")
    return start >= 0 and _box_at(text, start) is None


def _joined(between: str) -> bool:
    """Return whether the text between two boxes makes them one answer with two values."""
    joint = _GLUE.sub(" ", between).strip().lower()
    return joint in _JOINTS and (bool(joint) or "\n" not in between)


def _box_at(text: str, start: int) -> Box | None:
    """Return the box whose command starts at ``start``, ``None`` where it is not complete."""
    if shallow := _SHALLOW_BOX.match(text, start, start + 6 + _MAX_BOX):  # nearly all
        return Box(shallow[1].strip(), start, shallow.end())
    brace = start + 6  # len("\\boxed")
    if not text.startswith("{", brace):
        head = _BOX_HEAD.match(text, start)
        if head is None:
            bare = _BARE_BOX.match(text, start)
            return Box(bare.group(1), start, bare.end()) if bare else None
        brace = head.end() - 1
    limit = brace + _MAX_BOX
    close = text.find("}", brace, limit)
    if close < 0:
        return None
    if text.find("\\{", brace, limit) >= 0 or text[close - 1] == "\\":
        return _box_with_escapes(text, start, brace)
    opened, closed = text.count("{", brace, close), 1
    while opened > closed:
        previous = close
        close = text.find("}", previous + 1, limit)
        if close < 0:
            return None
        opened += text.count("{", previous, close)
        closed += 1
    return Box(text[brace + 1 : close].strip(), start, close + 1)


def _box_with_escapes(text: str, start: int, brace: int) -> Box | None:
    depth = 0
    for mark in _BRACES.finditer(text, brace, brace + _MAX_BOX):
        sign = mark.group()
        if sign == "{":
            depth += 1
        elif sign == "}":
            depth -= 1
            if depth == 0:
                return Box(text[brace + 1 : mark.start()].strip(), start, mark.end())
    return None


def lowered(text: str) -> str:
    """Return ``text`` in lower case, every character in its place."""
    lower = text.lower()
    if len(lower) == len(text):
        return lower
    return "".join(sign.lower() if len(sign.lower()) == 1 else sign for sign in text)


def plain_unicode(text: str) -> str:
    """Return ``text`` with superscripts, vulgar fractions, symbols and foreign digits in ASCII.

    Superscripts and vulgar fractions come first, since NFKC would turn ``10²`` into 102 and
    ``3½`` into 31/2.
    """
    if text.isascii():
        return text
    text = _SUPERSCRIPT_RUN.sub(lambda run: f"^{{{run.group().translate(_SUPERSCRIPTS)}}}", text)
    text = _SUBSCRIPT_RUN.sub(lambda run: f"_{{{run.group().translate(_SUBSCRIPTS)}}}", text)
    text = _VULGAR.sub(_spelled_fraction, text)
    text = unicodedata.normalize("NFKC", text.translate(_SYMBOLS)).translate(_SYMBOLS)
    if text.isascii():
        return text
    return "".join(str(unicodedata.decimal(sign)) if sign.isdecimal() else sign for sign in text)


def _spelled_fraction(sign: re.Match[str]) -> str:
    spelled = unicodedata.normalize("NFKC", sign.group()).replace("⁄", "/")
    return f" {spelled}"
