"""Claims about people in plain words: *name is [not] a role*, lists, tables, the others.

What `logic` reads a final block with. A block that is not a plain statement, or that names somebody
who is not in the puzzle, gives a reason in place of an assignment.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass

ROLE_PAIRS = (
    ("knight", "knave"), ("pioneer", "laggard"), ("saint", "sinner"), ("hero", "villain"),
    ("angel", "devil"), ("altruist", "egoist"), ("sage", "fool"), ("truth-teller", "liar"),
)  # fmt: skip
PAIR_OF = {role: pair for pair in ROLE_PAIRS for role in pair}
_CONDITION_WORDS = frozenset({
    "or", "nor", "if", "unless", "either", "neither", "suppose", "supposing", "supposed",
    "assume", "assuming", "assumed", "assumption", "whether", "maybe", "perhaps", "possibly",
    "probably", "presumably", "might", "could", "would", "may", "false", "untrue", "impossible",
    "wrong", "incorrect", "say", "says", "said", "saying", "claim", "claims", "claimed",
    "claiming", "state", "states", "stated", "assert", "asserts", "asserted", "told", "remark",
    "remarks", "remarked", "declare", "declares", "declared", "mention", "mentions", "mentioned",
    "according", "except", "excepting", "excluding", "barring", "besides", "save", "doubt",
    "doubts", "doubtful", "deny", "denies", "denied", "believes", "believed", "thinks", "thought",
    "disagree", "refuse", "reject", "rejects", "mistaken", "mistakenly", "wrongly", "cannot",
    "can't", "can’t", "unsure", "unknown", "unclear", "guess",
})  # fmt: skip
_CONDITION_PHRASES = ("?", "not the case", "not true", "one of", "tell us", "not sure", "not know",
                      "n't know", "n’t know", "not the only", "not only", "all but", "everyone but",
                      "everybody but", "each but", "both but", "other than", "apart from",
                      "aside from", "exception of", "nobody but", "no one but", "none but",
                      "no way", "far from", "not that", "n't think", "not think", "not believe",
                      "n't believe", "n’t think", "n’t believe")  # fmt: skip
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
    for pair in ROLE_PAIRS
}
_ROLE_WORDS = {pair: (*pair, *(f"{role}s" for role in pair)) for pair in ROLE_PAIRS}
_NAMED_ROLE = {  # Emma (knight)
    pair: re.compile(rf"({_NAME})\s*\((?:an?\s+|the\s+)?({'|'.join(pair)})\)")
    for pair in ROLE_PAIRS
}
_OPEN_ROLE = {  # knight/knave
    pair: re.compile(rf"(?:{'|'.join(words)})\s*/\s*(?:an?\s+)?(?:{'|'.join(words)})")
    for pair, words in _ROLE_WORDS.items()
}
_STRUCK_OUT = re.compile(r"~~[^~]*~~")
_LATEX_TEXT = re.compile(r"\\(?:text|textbf|mathrm|mathbf|mbox)\s*\{([^{}]*)\}")
_LATEX_LINE = re.compile(r"\\\\|\\(?:quad|qquad|newline)")
_LATEX_ARROW = re.compile(r"\\(?:[,;:! ()\[\]]|to|rightarrow|implies)")
_LATEX_SPACE = re.compile(r"\\[,;:! ()\[\]]")


@dataclass(frozen=True, slots=True)
class Puzzle:
    """The people of a gold answer with their roles, and both roles of the puzzle.

    Attributes:
        assignment: Folded name to whether the person has the first role.
        roles: The two roles; statements may also use their plurals.
    """

    assignment: dict[str, bool]
    roles: tuple[str, str]


def folded(text: str) -> str:
    """Return a text in which names and roles are looked for."""
    if text.isascii():
        return text.lower()
    return unicodedata.normalize("NFKC", unicodedata.normalize("NFKC", text).casefold())


def cleaned(text: str) -> str:
    """Return a block without markup, struck-out text and case."""
    if "~~" in text:
        text = _STRUCK_OUT.sub(" ", text)
    text = text.replace("*", "").replace("`", "")
    if "\\" in text:
        text = _LATEX_LINE.sub("\n", _LATEX_TEXT.sub(r"\1", text))
        if "\\to" in text or "arrow" in text:
            text = _LATEX_ARROW.sub(" → ", text)
        else:
            text = _LATEX_SPACE.sub(" ", text)
    return folded(text)


def read_claims(block: str, puzzle: Puzzle) -> tuple[dict[str, bool], str]:
    """Return what a cleaned block claims, and why it cannot stand (``""`` where it can)."""
    if (listed := _listed_claims(block, puzzle)) is not None:
        return listed, ""
    plain = _PLAIN_CLAIMS[puzzle.roles].findall(block)
    if plain and not plain[-1][3] and "every" not in block:
        return _plain_claims(plain, puzzle)
    if "|" in block and (table := _table_claims(block, puzzle)) is not None:
        return table, ""
    role_words = _ROLE_WORDS[puzzle.roles]
    if "(" in block:
        block = _PARENTHESES.sub(
            lambda part: part.group() if any(w in part.group() for w in role_words) else " ", block
        )
        block = _NAMED_ROLE[puzzle.roles].sub(
            lambda part: f"{part[1]}: {part[2]}" if part[1] in puzzle.assignment else part[0],
            block,
        )
    if "/" in block and _OPEN_ROLE[puzzle.roles].search(block):
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


def listed_clauses(block: str) -> list[tuple[str, str]]:
    """Return the names and roles of ``a is a knight, and b is a knave``, the form asked for.

    Unchecked: any other text gives names and roles that are none.
    """
    body = block.strip().removesuffix(".").replace(", and ", ", ")
    if "\n" in body:
        body = body.replace(".\n", ", ").replace("\n", ", ")
    parts = [clause.partition(" is a ") for clause in body.split(", ")]
    return [(name, role) for name, _, role in parts]


def _listed_claims(block: str, puzzle: Puzzle) -> dict[str, bool] | None:
    """Read the form that the template asks for; ``None`` for all others, also where they clash."""
    claims: dict[str, bool] = {}
    first, second = puzzle.roles
    for name, role in listed_clauses(block):
        if name in claims or name not in puzzle.assignment or (role != first and role != second):
            return None
        claims[name] = role == first
    return claims


def is_plain(paragraph: str, puzzle: Puzzle) -> bool:
    """Return whether a cleaned paragraph is nothing but claims about people of the puzzle."""
    plain = _PLAIN_CLAIMS[puzzle.roles].findall(paragraph)
    return bool(plain) and not plain[-1][3] and all(name in puzzle.assignment for name, *_ in plain)


def _table_claims(block: str, puzzle: Puzzle) -> dict[str, bool] | None:
    """Read a table with the people in its head and one row of roles; ``None`` for other blocks."""
    lines = [line.strip().strip("|") for line in block.strip().splitlines()]
    rows = [[cell.strip() for cell in line.split("|")] for line in lines if set(line) - set("-:| ")]
    if len(rows) != 2 or len(rows[0]) != len(rows[1]):
        return None
    if rows[0][0] not in puzzle.assignment:  # a head for the row: Person, Role
        rows = [row[1:] for row in rows]
    names, roles = rows
    if len(set(names)) != len(names) or not set(roles) <= set(puzzle.roles):
        return None
    if set(names) != set(puzzle.assignment):
        return None
    return {name: role == puzzle.roles[0] for name, role in zip(names, roles, strict=True)}


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
    assignment, first = puzzle.assignment, puzzle.roles[0]
    for name, negation, role, _ in plain:
        value = (role == first) != bool(negation)
        if name not in assignment or claims.setdefault(name, value) != value:
            return claims, _claim(claims, (name,), value, puzzle)
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
