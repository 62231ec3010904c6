r"""Boxed maths answers: an exact ladder from equal spelling to equal value.

The last complete ``\boxed{}`` is the answer. Steps, in order: the same spelling; the same exact
number (integers of any length, rationals, radicals, constants, polynomials); the same tuple, set,
interval or matrix; with ``symbolic=True`` also whatever math-verify can show, in a worker process
with a hard time limit. No floats, no evaluation of code, bounded time.
"""

from __future__ import annotations

import re
from fractions import Fraction
from functools import lru_cache
from itertools import pairwise

from dataflex_data.core.types import Verdict
from dataflex_data.verifiers import symbolic as _symbolic
from dataflex_data.verifiers.answers import read_answer
from dataflex_data.verifiers.denials import taken_back
from dataflex_data.verifiers.exact import Quotient, Unreadable, symbols
from dataflex_data.verifiers.extraction import (
    MAX_ANSWER,
    Box,
    after_thinking,
    has_open_box,
    last_boxes,
)
from dataflex_data.verifiers.forms import Answer, Group, Number, Thousands, same_answer
from dataflex_data.verifiers.formulas import as_formula, holds_decimal, may_be_formula
from dataflex_data.verifiers.notation import spelling
from dataflex_data.verifiers.numbers import written_ratio
from dataflex_data.verifiers.units import is_known


@lru_cache(maxsize=65536)
def read_gold(gold: str) -> Answer | Unreadable:
    """Return the form of a gold answer, or why there is none."""
    try:
        return read_answer(gold)
    except Unreadable as problem:
        return problem


def verify(response: str, ground_truth: str, *, symbolic: bool = False) -> Verdict:
    """Return whether the boxed answer of ``response`` is ``ground_truth``.

    Args:
        response: What the model wrote, without the prompt.
        ground_truth: The gold answer, LaTeX or plain; never itself graded.
        symbolic: Ask math-verify where the ladder cannot decide.

    Raises:
        MissingExtraError: ``symbolic`` without the extra of that name.
    """
    if not ground_truth.strip():
        return Verdict(0.0, "", "the gold answer is empty, so nothing can equal it", "empty_gold")
    text = after_thinking(response)
    if text is None:
        return Verdict(0.0, "", "a <think> block is never closed", "open_thinking")
    boxes = last_boxes(text)
    if not boxes:
        reason = (
            "the last \\boxed{ is never closed" if has_open_box(text) else "no \\boxed{} is filled"
        )
        return Verdict(0.0, "", reason, "no_box")
    box = boxes[-1]
    answer = box.content
    if len(boxes) > 1 and any(other.content != answer for other in boxes):
        return _several(text, boxes, ground_truth)
    if taken_back(text, box):
        return Verdict(0.0, answer, "the words beside the box take it back", "taken_back")
    if box.end < len(text) and _hedged_after(text, box):
        return Verdict(0.0, answer, "the box is followed by another value with or", "hedged")
    return compare(answer, ground_truth, symbolic)


@lru_cache(maxsize=65536)
def compare(answer: str, gold: str, symbolic: bool = False) -> Verdict:
    """Return whether an extracted ``answer`` equals ``gold``.

    Raises:
        MissingExtraError: ``symbolic`` without the extra of that name.
    """
    if answer == gold:
        return Verdict(1.0, answer, "it is spelled as the gold answer", "spelling")
    if len(answer) > MAX_ANSWER:
        return Verdict(
            0.0,
            answer[:MAX_ANSWER],
            f"the answer has {len(answer):,} characters, more than {MAX_ANSWER}",
            "too_long",
        )
    wanted = _rational_gold(gold)
    if wanted is not None and (ratio := written_ratio(answer)) is not None:
        top, bottom, step = wanted
        if ratio[0] * bottom == top * ratio[1]:
            return Verdict(1.0, answer, f"it equals the gold answer as {_NAMES[step]}", step)
        return Verdict(0.0, answer, f"it is not equal to {gold}", step)
    form = read_gold(gold)
    if not isinstance(form, Unreadable) and wanted and "or" in answer and _names_several(answer):
        return _different(answer, form, _SEVERAL, gold)
    why: Unreadable | None = None
    try:
        found = read_answer(answer, True)
    except Unreadable as problem:
        why = problem
    else:
        if not isinstance(form, Unreadable):
            step = _step(form)
            if same_answer(form, found):
                return Verdict(1.0, answer, f"it equals the gold answer as {_NAMES[step]}", step)
            if not _open_to_symbols(form, found):
                return _different(answer, form, found, gold)
    if spelling(answer) == _gold_spelling(gold):
        return Verdict(1.0, answer, "it is spelled as the gold answer but for spaces", "spelling")
    if (why is None or may_be_formula(why)) and _may_be_asked(form):
        said, wanted_formula = as_formula(answer), as_formula(gold)
        if said is not None and wanted_formula is not None and not _rounds(form, said):
            if symbolic:
                return _symbolic.verdict(said, wanted_formula, answer, gold)
            if why is None:
                return Verdict(0.0, answer, _OPEN.format(gold=gold), "undecided")
        elif why is None and not isinstance(form, Unreadable):
            reason = (
                f"whether it equals {gold} is beyond the exact ladder, and it is no bare formula"
            )
            return Verdict(0.0, answer, reason, "undecided")
    if why is not None:
        return Verdict(
            0.0, answer, f"the answer cannot be read: {why.detail}", f"unread:{why.kind}"
        )
    if isinstance(form, Unreadable):
        return Verdict(
            0.0, answer, f"the gold answer is only compared as text: {form.detail}", "spelling"
        )
    return _different(answer, form, found, gold)


def _names_several(answer: str) -> bool:
    """Return whether an answer is plain numbers with "or" between them that differ."""
    if "," in answer:
        return False
    found = [written_ratio(part) for part in _TEXT_OR.split(answer)]
    known = [ratio for ratio in found if ratio is not None]
    return len(known) == len(found) and any(
        top * known[0][1] != known[0][0] * bottom for top, bottom in known
    )


_TEXT_OR = re.compile(r"\s*(?:\\text\s*\{\s*or\s*\}|(?<![A-Za-z\\])or(?![A-Za-z]))\s*")
_SEVERAL = Group("list", ())


@lru_cache(maxsize=65536)
def _rational_gold(gold: str) -> tuple[int, int, str] | None:
    """Return top, bottom and step of a gold that is one rational number, ``None`` for others."""
    ratio = written_ratio(gold)
    if ratio is not None:
        return *ratio, "integer" if ratio[1] == 1 else "rational"
    form = read_gold(gold)
    if isinstance(form, Thousands):
        form = form.number
    if not isinstance(form, Number) or form.unit or isinstance(form.value, Quotient):
        return None
    return form.value.numerator, form.value.denominator, _step(form)


_ALTERNATIVE = re.compile(r"\b(?:or|else|otherwise|alternatively|vs|versus)\b|/|\||或", re.I)
_OPEN = (
    "whether it equals {gold} is beyond the exact ladder: only the extra symbolic can tell "
    "(symbolic=True, or --symbolic)"
)
_NAMES = {
    "integer": "an integer",
    "rational": "a rational number",
    "exact": "an exact expression",
    "group": "a list, tuple, set or interval",
    "form": "the same kind of answer",
}


def _step(form: Answer) -> str:
    if isinstance(form, Thousands):
        form = form.number
    if isinstance(form, Number):
        if isinstance(form.value, int):
            return "integer"
        return "rational" if isinstance(form.value, Fraction) else "exact"
    return "group" if isinstance(form, Group) else "form"


def _open_to_symbols(form: Answer, found: Answer) -> bool:
    """Return whether two unequal forms might be equal by an identity the ladder does not know."""
    if isinstance(form, Group) and isinstance(found, Group):
        same_shape = form.kind == found.kind and len(form.items) == len(found.items)
        return (
            same_shape
            and sorted(_units(form)) == sorted(_units(found))
            and (_has_functions(form) or _has_functions(found))
        )
    if isinstance(form, Number) and isinstance(found, Number):
        same_unit = form.unit == found.unit or not (is_known(form.unit) and is_known(found.unit))
        return same_unit and (_has_functions(form) or _has_functions(found))
    return False


def _units(group: Group) -> list[str]:
    return [item.unit for item in group.items if isinstance(item, Number)]


def _may_be_asked(gold: Answer | Unreadable) -> bool:
    return may_be_formula(gold) if isinstance(gold, Unreadable) else True


def _rounds(gold: Answer | Unreadable, said: str) -> bool:
    """Return whether a list might be made equal by rounding; single values are checked later."""
    return isinstance(gold, Group) and holds_decimal(said)


def _has_functions(form: Answer) -> bool:
    if isinstance(form, Number):
        return any("(" in name for name in symbols(form.value))
    return isinstance(form, Group) and any(map(_has_functions, form.items))


def _different(answer: str, form: Answer, found: Answer, gold: str) -> Verdict:
    if _plain(type(form)) is _plain(type(found)):
        return Verdict(0.0, answer, f"it is not equal to {gold}", _step(form))
    kinds = _KINDS[type(found).__name__], _KINDS[type(form).__name__]
    return Verdict(0.0, answer, f"it is {kinds[0]}, the gold answer {gold} is {kinds[1]}", "form")


def _plain(kind: type) -> type:
    return Number if kind is Thousands else kind


_KINDS = {
    "Number": "one value",
    "Group": "several values",
    "Matrix": "a matrix",
    "Relation": "a relation",
    "Ratio": "a ratio",
    "Words": "words",
    "Thousands": "a number with separators",
    "Either": "a list of labels",
    "Numeral": "a numeral in another base",
}


@lru_cache(maxsize=65536)
def _gold_spelling(gold: str) -> str:
    return spelling(gold)


def _several(text: str, boxes: list[Box], gold: str) -> Verdict:
    """Judge different boxes joined to one another.

    They are one list where each holds one value and the joints are commas or "and"; no single
    gold equals it. Anything else names alternatives.
    """
    contents = [box.content for box in boxes]
    answer = ", ".join(contents)
    joints = [text[box.end : other.start] for box, other in pairwise(boxes)]
    form = read_gold(gold)
    if isinstance(form, Group) and not any(_ALTERNATIVE.search(joint) for joint in joints):
        try:
            items = tuple(read_answer(content, True) for content in contents)
        except Unreadable as problem:
            return Verdict(0.0, answer, f"several boxes: {problem.detail}", "several_boxes")
        listed = any(isinstance(item, Group) and item.kind == "list" for item in items)
        if not listed and same_answer(form, Group("list", items)):
            return Verdict(1.0, answer, "the boxes together are the gold list", "group")
    return Verdict(
        0.0, answer, f"{len(contents)} different boxes are joined, not one answer", "several_boxes"
    )


def _hedged_after(text: str, box: Box) -> bool:
    """Return whether another value than the box's follows it with "or"."""
    tail = text[box.end : box.end + 40].lstrip(" $*\n\\()]}")
    if not tail.startswith(("or ", "/", "and/or ")):
        return False
    rest = tail.lstrip("/andor ").lstrip(" $*\\([{-")
    if not (rest[:1].isdigit() or rest[:4] == "frac" or rest[:4] == "sqrt"):
        return False
    other = _OTHER_VALUE.match(text, box.end)
    return other is None or not equivalent(other.group(1).rstrip(".,"), box.content)


_OTHER_VALUE = re.compile(
    r"[\s$*()\]}]*(?:\\\))?[\s$*(]*(?:or|and/or)[\s$*(]+"
    r"(-?\s*(?:\\[dt]?frac\s*\{[^{}]*\}\s*\{[^{}]*\}|\d[\d.,]*(?:\s*/\s*\d+)?)(?:\s*\\?%)?)"
    r"(?![\w\\^{!/*+-])"
)


def problem_of(gold: str) -> tuple[str, str] | None:
    """Return why the ladder cannot decide ``gold``, ``None`` where it can."""
    if not gold.strip():
        return "empty", "the gold answer is empty"
    if len(gold) > MAX_ANSWER:
        return "too_long", f"it has {len(gold):,} characters, more than {MAX_ANSWER}"
    form = read_gold(gold)
    if isinstance(form, Unreadable):
        return form.kind, form.detail
    if verify(render(gold), gold).score != 1.0:
        return "unbalanced", "it does not survive being written in a box"
    if _has_functions(form):
        return "symbolic_only", "it holds a function that only the extra symbolic can compare"
    return None


def render(gold: str) -> str:
    """Return the shortest response that gives ``gold`` in the asked form."""
    return f"\\boxed{{{gold}}}"


def equivalent(a: str, b: str) -> bool:
    """Return whether two gold answers are the same answer, as far as the ladder tells."""
    if a == b or spelling(a) == spelling(b):
        return True
    form_a, form_b = read_gold(a), read_gold(b)
    if isinstance(form_a, Unreadable) or isinstance(form_b, Unreadable):
        return False
    return same_answer(form_a, form_b)
