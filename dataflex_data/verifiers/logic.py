"""Knights and Knaves: a complete assignment, stated once and without conditions.

The verifier reads the final block only (a box, an ``<answer>``, what follows "final answer", else
the last paragraph), as claims of the form *name is [not] a role*. It knows the people and roles
from the gold answer; a claim about anybody else, a contradiction, or a condition in the block lose.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import pairwise

from dataflex_data.core.types import Verdict
from dataflex_data.verifiers.extraction import after_thinking, last_boxes, lowered

MAX_BLOCK = 4_000
_MAX_MARKERS = 20
_TAIL = 1_600  # characters from the end where most answers stand; looked through first
_GAP = re.compile(r"\n[^\S\n]*\n\s*")
_WINDOW = 20_000  # characters from the end in which a final answer is looked for
_ROLE_PAIRS = (
    ("knight", "knave"), ("pioneer", "laggard"), ("saint", "sinner"), ("hero", "villain"),
    ("angel", "devil"), ("altruist", "egoist"), ("sage", "fool"), ("truth-teller", "liar"),
)  # fmt: skip
_FINAL = re.compile(
    r"(?:final\s+(?:answer|solution|conclusion|assignment)|answer(?=\s*[:*]))"
    r"[*_`]*\s*(?:is|:|=)?[*_`]*:?",
    re.I,
)
_CONDITION_WORDS = frozenset({
    "or", "nor", "if", "unless", "either", "neither", "suppose", "supposing", "supposed",
    "assume", "assuming", "assumed", "assumption", "whether", "maybe", "perhaps", "possibly",
    "probably", "presumably", "might", "could", "would", "may", "false", "untrue", "impossible",
    "wrong", "incorrect", "say", "says", "said", "saying", "claim", "claims", "claimed",
    "claiming", "state", "states", "stated", "assert", "asserts", "asserted", "told", "remark",
    "remarks", "remarked", "declare", "declares", "declared", "mention", "mentions", "mentioned",
    "according", "cannot", "can't", "can’t", "unsure", "unknown", "unclear", "guess",
})  # fmt: skip
_CONDITION_PHRASES = ("?", "not the case", "not true", "one of", "tell us", "not sure", "not know",
                      "n't know", "n’t know", "not the only", "not only")  # fmt: skip
_REPORTED = re.compile(
    r"\b(?:say|says|said|claim|claims|claimed|state|states|stated|if|suppose|assume|assuming|"
    r"case|would|could|might|or|either|contradict\w*|impossible|statement)\b|\?",
    re.I,
)
_PARENTHESES = re.compile(r"\([^()]*\)")
_TOKEN = re.compile(r"[^\W_]+(?:['’\-][^\W_]+)*|->|=>|[:=—–→⇒|,;.&\n!-]")
_COPULA = {"is", "are", ":", "=", "—", "–", "->", "→", "=>", "⇒", "|", "-", "was", "be", "'s"}
_ARTICLES = {"a", "an", "the", "both", "all", "also", "therefore", "thus", "indeed", "hence",
             "only", "sole", "truth-telling", "lying", "honest", "truthful",
             "definitely", "clearly", "must", "be", "as", "each", "every", "one"}  # fmt: skip
# What a role cannot be: the first of a pair tells the truth, the second lies.
_BELIED = {True: {"lying"}, False: {"truth-telling", "honest", "truthful"}}
_EVERYONE = {"all", "everyone", "everybody", "both", "each"}
_JOINERS = {",", "and", "&"}
_LEADS = {
    "therefore", "thus", "so", "hence", "then", "that", "while", "whereas", "but", "because",
    "since", "also", "meanwhile", "finally", "consequently", "conclusion", "means", "in",
    "result", "summary", "short", "solution", "roles", "role", "assignment", "we", "have",
    "conclude", "deduce", "find", "know", "this", "and",
}  # fmt: skip
_SENTENCE_END = {".", ";", "\n", "!"}
_BREAKS = _SENTENCE_END | _LEADS | _ARTICLES | _COPULA
_ADVERBS = {"therefore", "thus", "then", "also", "indeed", "definitely", "clearly", "hence", "must"}
_PRONOUNS = {"she", "he", "it", "who", "which", "there", "role", "person", "answer", "follows"}


_ALTERNATIVE = re.compile(r"\bor\b|/|\|", re.I)
_CONTRADICTION = re.compile(r"(?<!no )(?<!any )(?<!without )(?<!without a )\bcontradict")
_OTHERS = "the-others"  # the token that stands for everybody not named so far
_OTHERS_PHRASE = re.compile(
    r"\b(?:all\s+)?(?:of\s+)?(?:the\s+)?(?:all\s+)?(?:others|rest|remaining\s+(?:people|ones|islanders|"
    r"inhabitants|persons)|other\s+(?:people|ones|islanders|inhabitants|persons))\b"
    r"|\bevery(?:one|body)\s+else\b"
    r"|\bthe\s+other(?:\s+(one|two|three|four|five|six|seven))?(?=\s+(?:is|are)\b)"
)
_COUNTS = ("one", "two", "three", "four", "five", "six", "seven")
_CONTRACTED = re.compile(r"\b(is|are|was)n['’]t\b")
_CONTRACTED_IS = re.compile(r"['’]s(?=\s+(?:an?|the|not)\b)")
_NAME = r"[^\W\d_]+(?:['’\-][^\W\d_]+)*"
# The common ways of writing an assignment, read without a walk over the tokens: claims of the form
# NAME is [not] [a|an|the] ROLE with nothing but separators between them.
_PLAIN_CLAIM = (
    rf"({_NAME})(?:\ +is(?:\ +(not))?(?:\ +(?:an?|the))?\ +|\ *(?::|=|→|—|->|\|)\ *)({{0}}|{{1}})"
)
# The last group swallows all from what is no such claim on, and so tells that a block is not plain.
_PLAIN_CLAIMS = {
    pair: re.compile(
        r"[\s\-|•]*(?:\d+[.)]\s+)?"
        + _PLAIN_CLAIM.format(*pair)
        + r"(?:[\s,;.|\-•]+(?:and\s+)?|\Z)|(.+)",
        re.DOTALL,
    )
    for pair in _ROLE_PAIRS
}
_ROLE_WORDS = {pair: (*pair, *(f"{role}s" for role in pair)) for pair in _ROLE_PAIRS}


@dataclass(frozen=True, slots=True)
class Puzzle:
    """The people of a gold answer with their roles, and both roles of the puzzle.

    Attributes:
        assignment: Folded name to whether the person has the first role.
        roles: The two roles; statements may also use their plurals.
    """

    assignment: dict[str, bool]
    roles: tuple[str, str]


@lru_cache(maxsize=65536)
def read_gold(gold: str) -> Puzzle | None:
    """Return the puzzle behind a gold answer, ``None`` where it is not an assignment."""
    text = _folded(gold)
    roles = next(
        (pair for pair in _ROLE_PAIRS if re.search(rf"\b(?:{pair[0]}|{pair[1]})s?\b", text)), None
    )
    if roles is None:
        return None
    pattern = rf"([^\W_]+(?:['’\-][^\W_]+)*)\s+is\s+(?:a|an|the)\s+({roles[0]}|{roles[1]})\b"
    found = re.findall(pattern, text)
    people = {name: role == roles[0] for name, role in found}
    if not found or len(people) != len(found):
        return None
    rest = re.sub(pattern, " ", text)
    if re.sub(r"\band\b|[\s,.;]+", "", rest):
        return None
    return Puzzle(people, roles)


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
    cleaned = _cleaned(block)
    plain = _PLAIN_CLAIMS[puzzle.roles].findall(cleaned)
    if plain and not plain[-1][3]:
        return _judged_plainly(tuple(plain), step, gold)
    claims, problem = _claims(cleaned, puzzle)
    return _verdict(claims, problem, step, puzzle)


@lru_cache(maxsize=16384)
def _judged_plainly(plain: tuple[tuple[str, str, str, str], ...], step: str, gold: str) -> Verdict:
    """Return the verdict on claims, which many blocks share that differ in form."""
    puzzle = read_gold(gold)
    if puzzle is None:
        return Verdict(0.0, "", "the gold answer is not an assignment of roles", "bad_gold")
    claims, problem = _plain_claims(plain, puzzle)
    return _verdict(claims, problem, step, puzzle)


def _verdict(claims: dict[str, bool], problem: str, step: str, puzzle: Puzzle) -> Verdict:
    parsed = ", ".join(f"{name.title()}: {puzzle.roles[not role]}" for name, role in claims.items())
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


def _folded(text: str) -> str:
    if text.isascii():
        return text.lower()
    return unicodedata.normalize("NFKC", unicodedata.normalize("NFKC", text).casefold())


def _cleaned(text: str) -> str:
    text = text.replace("*", "").replace("`", "")
    if "\\" in text:
        text = re.sub(r"\\(?:text|textbf|mathrm|mathbf|mbox)\s*\{([^{}]*)\}", r"\1", text)
        text = re.sub(r"\\\\|\\(?:quad|qquad|newline)", "\n", text)
        text = (
            re.sub(r"\\(?:[,;:! ()\[\]]|to|rightarrow|implies)", " → ", text)
            if ("\\to" in text or "arrow" in text)
            else re.sub(r"\\[,;:! ()\[\]]", " ", text)
        )
    return _folded(text)


def _final_block(text: str, puzzle: Puzzle) -> tuple[str, str, str]:
    """Return the block that holds the answer, how it was found, and the text beside it.

    Of a box, an answer tag and a marker such as "final answer", the last one decides.
    """
    final = _last_marker(text, puzzle)
    after = final.start() if final else -1
    boxes = last_boxes(text) if "box" in text else []
    boxed = boxes[0].content if boxes else ""
    for box, other in pairwise(boxes):
        hedged = _ALTERNATIVE.search(text, box.end, other.start)
        boxed += f"{' or ' if hedged else chr(10)}{other.content}"
    if boxes and after < boxes[-1].end and any(role in boxed.lower() for role in puzzle.roles):
        return boxed, "box", ""
    tag = text.rfind("<answer>")
    if tag >= 0:
        close = text.find("</answer>", tag)
        close = len(text) if close < 0 else close
        if after < close:
            return text[tag + len("<answer>") : close], "answer_tag", ""
    if final:
        return _marked_block(text[final.end() :], puzzle)
    return _last_paragraph(text)


def _last_marker(text: str, puzzle: Puzzle) -> re.Match[str] | None:
    """Return the last marker that roles follow, else the last one of all."""
    found, has_roles = _marker_from(text, max(0, len(text) - _TAIL), puzzle)
    if not has_roles and len(text) > _TAIL:
        found = _marker_from(text, max(0, len(text) - _WINDOW), puzzle)[0]
    return found


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
        folded = _folded(block)
        if all(name in folded for name in puzzle.assignment) or any(
            f"{word} " in folded for word in ("both", "all", "everyone")
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


def _paragraphs(text: str) -> list[str]:
    return [part for part in _GAP.split(text) if part and not part.isspace()]


def _claims(block: str, puzzle: Puzzle) -> tuple[dict[str, bool], str]:
    """Return what a block claims, and why it cannot stand (``""`` where it can)."""
    plain = _PLAIN_CLAIMS[puzzle.roles].findall(block)
    if plain and not plain[-1][3]:
        return _plain_claims(plain, puzzle)
    role_words = _ROLE_WORDS[puzzle.roles]
    if "(" in block:
        block = _PARENTHESES.sub(
            lambda part: part.group() if any(w in part.group() for w in role_words) else " ", block
        )
        block = re.sub(
            rf"({_NAME})\s*\((?:an?\s+|the\s+)?({'|'.join(puzzle.roles)})\)",
            lambda part: f"{part[1]}: {part[2]}" if part[1] in puzzle.assignment else part[0],
            block,
        )
    if "/" in block and re.search(
        rf"(?:{'|'.join(role_words)})\s*/\s*(?:an?\s+)?(?:{'|'.join(role_words)})", block
    ):
        return {}, "the final block leaves a role open with a slash"
    if "contradict" in block and _CONTRADICTION.search(block):
        return {}, "the final block speaks of a contradiction"
    if "other" in block or "rest" in block or "else" in block or "remaining" in block:
        block = _OTHERS_PHRASE.sub(_others_token, block)
    if "'s" in block or "’s" in block:
        block = _CONTRACTED_IS.sub(" is", block)
    tokens = _TOKEN.findall(_CONTRACTED.sub(r"\1 not", block))
    conditions = set(_CONDITION_WORDS.intersection(tokens).difference(puzzle.assignment))
    conditions.update(phrase for phrase in _CONDITION_PHRASES if phrase in block)
    if conditions:  # somebody may be called May, hence the difference
        word = min(conditions)
        return {}, f"the final block is not a plain statement: it holds {word!r}"
    claims: dict[str, bool] = {}
    previous: list[str] = []
    for at, token in enumerate(tokens):
        if token not in role_words:
            continue
        is_first = token.removesuffix("s") == puzzle.roles[0]
        subjects, negated, problem = _subjects(tokens, at, puzzle, previous)
        if problem:
            return claims, problem
        if any(subject.startswith(_OTHERS) for subject in subjects):
            subjects, problem = _resolved(subjects, claims, puzzle)
        problem = problem or _claim(claims, subjects, is_first != negated, puzzle)
        if problem:
            return claims, problem
        previous = subjects or previous
    return claims, ""


def _others_token(phrase: re.Match[str]) -> str:
    if phrase.group(1):
        return f"{_OTHERS}-{phrase.group(1)}"
    return f"{_OTHERS}-one" if phrase.group().endswith("other") else _OTHERS


def _resolved(
    subjects: list[str], claims: dict[str, bool], puzzle: Puzzle
) -> tuple[list[str], str]:
    """Return subjects with "the others" replaced by everybody not named so far."""
    named = [subject for subject in subjects if not subject.startswith(_OTHERS)]
    others = [name for name in puzzle.assignment if name not in claims and name not in named]
    phrase = next(subject for subject in subjects if subject.startswith(_OTHERS))
    count = phrase.removeprefix(_OTHERS).lstrip("-")
    if not claims or not others:
        return [], "it speaks of the others where there is nobody else"
    if count and _COUNTS.index(count) + 1 != len(others):
        return [], f"it speaks of {count} other, and {len(others)} are not named"
    return named + others, ""


def _plain_claims(
    plain: Sequence[tuple[str, str, str, str]], puzzle: Puzzle
) -> tuple[dict[str, bool], str]:
    claims: dict[str, bool] = {}
    for name, negation, role, _ in plain:
        problem = _claim(claims, (name,), (role == puzzle.roles[0]) != bool(negation), puzzle)
        if problem:
            return claims, problem
    return claims, ""


def _claim(claims: dict[str, bool], names: Sequence[str], value: bool, puzzle: Puzzle) -> str:
    """Add a claim about ``names``; return why it cannot stand (``""`` where it can)."""
    for name in names:
        if name not in puzzle.assignment:
            return f"it assigns a role to {name.title()}, who is not in the puzzle"
        if claims.setdefault(name, value) != value:
            return f"it gives {name.title()} both roles"
    return ""


def _subjects(
    tokens: list[str], at: int, puzzle: Puzzle, previous: list[str]
) -> tuple[list[str], bool, str]:
    """Return who the role word at ``at`` is said of, whether negated, and what is unclear."""
    back, negated, article, copula = at - 1, False, False, ""
    while back >= 0:
        token = tokens[back]
        if token == "not":
            negated = not negated
        elif token in _COPULA:
            copula = token
            back -= 1
            break
        elif token in _BELIED[tokens[at].removesuffix("s") == puzzle.roles[0]]:
            return [], False, f"a {token} {tokens[at]} cannot be"
        elif token in _ARTICLES and not (token == "each" or token.startswith("every")):
            article = True
        else:
            break
        back -= 1
    if not copula:
        if article and back >= 0 and tokens[back] in puzzle.assignment:
            return [tokens[back]], negated, ""
        if negated and previous and back >= 0 and tokens[back] in {"and", ",", "but"}:
            return previous, True, ""
        return _listed_after(tokens, at, puzzle)
    names = _before_copula(tokens, back, puzzle, alone=copula in {"is", "was", "'s"})
    return (names, negated, "") if names else _listed_after(tokens, at, puzzle)


def _before_copula(tokens: list[str], back: int, puzzle: Puzzle, *, alone: bool) -> list[str]:
    """Return the subjects that end at ``back``; a word that is nobody's name comes back as is.

    Args:
        tokens: The block's tokens.
        back: Where the subject ends.
        puzzle: The people.
        alone: The verb is singular, so that one name is all.
    """
    names: list[str] = []
    joined = True
    while back >= 0:
        token = tokens[back]
        if token in _EVERYONE or token == "they":
            return names or list(puzzle.assignment)
        if token in _JOINERS:
            joined = True
        elif token in puzzle.assignment:
            names.append(token)
            if alone:
                break
            joined = False
        elif token in _ADVERBS and not names:
            pass
        elif (
            token in _BREAKS
            or token in _PRONOUNS
            or token.isdigit()
            or not joined
            or token.removesuffix("s") in puzzle.roles
        ):
            break
        else:
            return [token]
        back -= 1
    return names


def _listed_after(tokens: list[str], at: int, puzzle: Puzzle) -> tuple[list[str], bool, str]:
    """Read ``Knights: Emma, Liam``; other mentions of a role claim nothing."""
    start = at + 1
    if tokens[start : start + 1] not in ([":"], ["are"], ["is"], ["="], ["—"], ["→"]):
        near = tokens[max(0, at - 3) : at]
        if any(name in near for name in puzzle.assignment):
            return [], False, "it mentions a role in a way that is not a plain statement"
        return [], False, ""
    names = []
    for token in tokens[start + 1 :]:
        if token in _JOINERS:
            continue
        if token in puzzle.assignment:
            names.append(token)
        elif token in _SENTENCE_END:
            break
        elif token in {"none", "nobody"}:
            return [], False, ""
        else:
            return ([], False, "") if not names else (names, False, "")
    return names, False, ""


def _contradicted(rest: str, puzzle: Puzzle) -> bool:
    """Return whether paragraphs beside a right final block unsay it.

    Only a paragraph that is itself a complete plain assignment counts.
    """
    for paragraph in _paragraphs(rest):
        if len(paragraph) > MAX_BLOCK:
            continue
        folded = paragraph.casefold()
        if not all(name in folded for name in puzzle.assignment) or _REPORTED.search(folded):
            continue
        other, problem = _claims(_cleaned(paragraph), puzzle)
        if not problem and len(other) == len(puzzle.assignment) and other != puzzle.assignment:
            return True
    return False
