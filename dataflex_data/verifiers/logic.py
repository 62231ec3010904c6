"""Knights and Knaves: a complete assignment, stated once and without conditions.

The verifier reads the final block only (a box, an ``<answer>``, what follows "final answer", else
the last paragraph), as claims of the form *name is [not] a role*. It knows the people and roles
from the gold answer; a claim about anybody else, a contradiction, or a condition in the block lose.
"""

from __future__ import annotations

import re
from functools import lru_cache
from itertools import pairwise

from dataflex_data.core.types import Verdict
from dataflex_data.verifiers.claims import (
    PAIR_OF,
    ROLE_PAIRS,
    Puzzle,
    cleaned,
    folded,
    is_plain,
    listed_clauses,
    read_claims,
)
from dataflex_data.verifiers.extraction import after_thinking, last_boxes, lowered

MAX_BLOCK = 4_000
_MAX_MARKERS = 20
_GAP = re.compile(r"\n[^\S\n]*\n\s*")
_WINDOW = 20_000  # characters from the end in which a final answer is looked for
_WINDOWS = (300, 1_600, _WINDOW)  # most answers stand near the end; looked through in this order
_FINAL = re.compile(
    r"(?:final\s+(?:answer|solution|conclusion|assignment)|answer(?=\s*[:*]))"
    r"[*_`]*\s*(?:is|:|=)?[*_`]*:?",
    re.I,
)
_REPORTED = re.compile(
    r"\b(?:say|says|said|claim|claims|claimed|state|states|stated|if|suppose|assume|assuming|"
    r"case|would|could|might|or|either|contradict\w*|impossible|statement)\b|\?",
    re.I,
)
_ALTERNATIVE = re.compile(r"\bor\b|/|\|", re.I)
_GOLD_ROLE = {pair: re.compile(rf"\b(?:{pair[0]}|{pair[1]})s?\b") for pair in ROLE_PAIRS}
_GOLD_CLAIM = {
    pair: re.compile(rf"([^\W_]+(?:['’\-][^\W_]+)*)\s+is\s+(?:a|an|the)\s+({pair[0]}|{pair[1]})\b")
    for pair in ROLE_PAIRS
}
_GOLD_GLUE = re.compile(r"\band\b|[\s,.;]+")


@lru_cache(maxsize=65536)
def read_gold(gold: str) -> Puzzle | None:
    """Return the puzzle behind a gold answer, ``None`` where it is not an assignment."""
    text = folded(gold)
    if (listed := _listed_gold(text)) is not None:
        return listed
    roles = next((pair for pair in ROLE_PAIRS if _GOLD_ROLE[pair].search(text)), None)
    if roles is None:
        return None
    found = _GOLD_CLAIM[roles].findall(text)
    people = {name: role == roles[0] for name, role in found}
    if not found or len(people) != len(found):
        return None
    if _GOLD_GLUE.sub("", _GOLD_CLAIM[roles].sub(" ", text)):
        return None
    return Puzzle(people, roles)


def _listed_gold(text: str) -> Puzzle | None:
    """Read the form that nearly all golds have; ``None`` for all others, assignment or not."""
    found = listed_clauses(text)
    roles = PAIR_OF.get(found[0][1])
    if roles is None:
        return None
    people = {}
    for name, role in found:
        if role not in roles or not name.isalpha() or name.removesuffix("s") in PAIR_OF:
            return None
        people[name] = role == roles[0]
    return Puzzle(people, roles) if len(people) == len(found) else None


def verify(response: str, ground_truth: str) -> Verdict:
    """Return whether the final block of ``response`` assigns the roles of ``ground_truth``.

    Args:
        response: What the model wrote, without the prompt.
        ground_truth: Such as ``"Emma is a knight, and Liam is a knave."``.
    """
    if not ground_truth.strip():
        return Verdict(0.0, "", "the gold answer is empty, so nothing can equal it", "empty_gold")
    puzzle = read_gold(ground_truth)
    if puzzle is None:
        return Verdict(0.0, "", "the gold answer is not an assignment of roles", "bad_gold")
    text = after_thinking(response)
    if text is None:
        return Verdict(0.0, "", "a <think> block is never closed", "open_thinking")
    block, step, rest = _final_block(text, puzzle)
    if not block or block.isspace():
        return Verdict(0.0, "", "there is no final block to read", "no_block")
    verdict = _judged(block[:MAX_BLOCK], step, ground_truth)
    if verdict.score and rest and _contradicted(rest, puzzle):
        reason = "another paragraph assigns the roles differently"
        return Verdict(0.0, verdict.parsed, reason, step)
    return verdict


@lru_cache(maxsize=16384)
def _judged(block: str, step: str, gold: str) -> Verdict:
    """Return the verdict on a final block alone."""
    puzzle = read_gold(gold)
    if puzzle is None:
        return Verdict(0.0, "", "the gold answer is not an assignment of roles", "bad_gold")
    claims, problem = read_claims(cleaned(block), puzzle)
    role, other = puzzle.roles
    parsed = ", ".join([f"{n.title()}: {role if first else other}" for n, first in claims.items()])
    if not problem and claims != puzzle.assignment:
        missing = [name.title() for name in puzzle.assignment if name not in claims]
        wrong = [name.title() for name, role in claims.items() if puzzle.assignment[name] != role]
        if missing:
            problem = f"the final block does not say what {', '.join(missing)} is"
        else:
            problem = f"the role of {', '.join(wrong)} is wrong"
    if problem:
        return Verdict(0.0, parsed, problem, step)
    return Verdict(1.0, parsed, "every person has the right role", step)


def render(gold: str) -> str:
    """Return the shortest response that gives the assignment ``gold`` in the asked form."""
    return f"Final answer: {gold}"


def _final_block(text: str, puzzle: Puzzle) -> tuple[str, str, str]:
    """Return the block that holds the answer, how it was found, and the text beside it.

    Of a box, an answer tag and a marker such as "final answer", the last one decides.
    """
    final = _asked_marker(text, puzzle) or _last_marker(text, puzzle)
    after = final[0] if final else -1
    # A box with roles that ends after the marker has its brace there.
    boxes = last_boxes(text) if not final or text.find("}", after) >= 0 else []
    boxed = boxes[0].content if boxes else ""
    for box, other in pairwise(boxes):
        hedged = _ALTERNATIVE.search(text, box.end, other.start)
        boxed += f"{' or ' if hedged else chr(10)}{other.content}"
    if boxes and after < boxes[-1].end and any(role in boxed.lower() for role in puzzle.roles):
        return boxed, "box", ""
    tag = text.rfind("<answer>") if ">" in text else -1
    if tag >= 0:
        close = text.find("</answer>", tag)
        close = len(text) if close < 0 else close
        if after < close:
            return text[tag + len("<answer>") : close], "answer_tag", ""
    if final:
        return _marked_block(text[final[1] :], puzzle)
    block, step, rest = _last_paragraph(text)
    return _with_plain_ones(block, rest, puzzle, step)


def _asked_marker(text: str, puzzle: Puzzle) -> tuple[int, int] | None:
    """Return where the marker of our template starts and ends, if it is the last near the end.

    It spares most responses the search of `_last_marker`, which finds the same end.
    """
    at = text.rfind("nswer:", -_WINDOWS[0])
    end = at + len("nswer:")
    if at < 1 or text[at - 1] not in "aA" or text[end : end + 1] in "*_`:":
        return None
    after = text[end:].lower()
    if "final" in after or "answer" in after:
        return None
    role, other = puzzle.roles
    return (at - 1, end) if role in after or other in after else None


def _last_marker(text: str, puzzle: Puzzle) -> tuple[int, int] | None:
    """Return where the last marker that roles follow starts and ends, else the last one of all."""
    found = None
    for window in _WINDOWS:
        found, has_roles = _marker_from(text, max(0, len(text) - window), puzzle)
        if has_roles or len(text) <= window:
            break
    return found.span() if found else None


def _marker_from(text: str, start: int, puzzle: Puzzle) -> tuple[re.Match[str] | None, bool]:
    """Return the last marker from ``start`` on, and whether a role follows it."""
    window = text[start:] if start else text
    lower = lowered(window)
    final, answer = lower.rfind("final"), lower.rfind("answer")
    if final < 0 and answer < 0:
        return None, False
    role, other = puzzle.roles
    last, end = None, len(lower)
    for _ in range(_MAX_MARKERS):
        at = max(final, answer)
        if at < 0:
            break
        marker = _FINAL.match(text, start + at)
        if marker:
            after = marker.end() - start
            if lower.find(role, after, end) >= 0 or lower.find(other, after, end) >= 0:
                return marker, True
            last, end = last or marker, at
        if at == final:
            final = lower.rfind("final", 0, at)
        else:
            answer = lower.rfind("answer", 0, at)
    return last, False


def _marked_block(text: str, puzzle: Puzzle) -> tuple[str, str, str]:
    """Return the paragraphs after a marker up to the first that completes the assignment."""
    if "\n" not in text:
        return text, "final_answer", ""
    text = text[: 4 * MAX_BLOCK]
    end = 0
    for gap in _GAP.finditer(text):
        end = gap.start()
        block = text[:end]
        lower = folded(block)
        if all(map(lower.__contains__, puzzle.assignment)) or any(
            map(lower.__contains__, ("both ", "all ", "everyone "))
        ):
            return block, "final_answer", text[gap.end() :]
    return text, "final_answer", ""


def _last_paragraph(text: str) -> tuple[str, str, str]:
    """Return what follows the last blank line, and what stands before it."""
    window = text[-_WINDOW:].rstrip()
    line = window.rfind("\n")
    while line >= 0:
        before = window.rfind("\n", 0, line)
        if before >= 0 and not window[before + 1 : line].strip():
            block = window[line + 1 :].lstrip()
            return block, "last_paragraph", window[:before]
        line = before
    return window, "last_paragraph", ""


def _with_plain_ones(block: str, rest: str, puzzle: Puzzle, step: str) -> tuple[str, str, str]:
    """Return the last paragraph with those before it, where each says what one person is."""
    named = folded(block)
    if not rest or all(map(named.__contains__, puzzle.assignment)):
        return block, step, rest
    whole, before = block, rest
    if not is_plain(cleaned(block[:MAX_BLOCK]), puzzle):
        return block, step, rest
    for _ in puzzle.assignment:
        paragraph, _, earlier = _last_paragraph(before)
        if len(paragraph) > MAX_BLOCK or not is_plain(cleaned(paragraph), puzzle):
            break
        whole, before = f"{paragraph}\n{whole}", earlier
        if all(map(folded(whole).__contains__, puzzle.assignment)):
            return whole, step, before
    return block, step, rest


def _paragraphs(text: str) -> list[str]:
    return [part for part in _GAP.split(text) if part and not part.isspace()]


def _contradicted(rest: str, puzzle: Puzzle) -> bool:
    """Return whether paragraphs beside a right final block unsay it.

    Only a paragraph that is itself a complete plain assignment counts.
    """
    for paragraph in _paragraphs(rest):
        if len(paragraph) > MAX_BLOCK:
            continue
        lower = paragraph.casefold()
        if not all(map(lower.__contains__, puzzle.assignment)) or _REPORTED.search(lower):
            continue
        other, problem = read_claims(cleaned(paragraph), puzzle)
        if not problem and len(other) == len(puzzle.assignment) and other != puzzle.assignment:
            return True
    return False
