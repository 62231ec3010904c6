"""Read a puzzle's text back and solve it by another way than the generator.

This module knows nothing of how texts are made: it takes the people from the introduction, finds
each statement and its speaker, and parses the claims. It reads our wording and that of the
published set. The solver here joins the possibilities of one statement after the other, evaluating
claims one assignment at a time; it shares neither truth tables nor bit masks with `solver`.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

from dataflex_data.builders.knights.grammar import Claim, Kind, Leaf, Op, Puzzle, Statement
from dataflex_data.core.errors import InputDataError
from dataflex_data.core.text import excerpt

_NAME = r"[^\W\d_](?:[\w'’-]*\w)?"
# The one list of names: after a colon, ended by a full stop.
_PEOPLE = re.compile(rf":\s*((?:{_NAME},\s*)*{_NAME},?\s+and\s+{_NAME})\.(?=\s)")
_PERSON = re.compile(rf"\b(?!and\b){_NAME}")
# One statement: quoted (the quote ends the sentence, or its speaker follows), or "... that ...".
_SAID = re.compile(
    r"""\s*(?: (?P<before>[^".?]*) "(?: (?P<closed>[^".]*)\."
                                     | (?P<open>[^".]*?),?"(?P<after>[^".?]*)\. )
             | (?P<speaker>[^".?]*?)\ that\ (?P<reported>[^".?]*)\. )""",
    re.VERBOSE,
)
_WORD = re.compile(r"\w[\w'’-]*\w|\w")
_SUBJECT = re.compile(rf"(?!it is not the case\b)({_NAME}) is (?=(?:not )?an? )", re.IGNORECASE)
_TOKEN = re.compile(r"[()]|[^\s()]+")


@dataclass(frozen=True, slots=True)
class ParsedQuiz:
    """What a text says.

    Attributes:
        names: People in the order of the introduction.
        puzzle: Their statements.
    """

    names: tuple[str, ...]
    puzzle: Puzzle


def parse_quiz(text: str) -> ParsedQuiz:
    """Return the people and statements of a puzzle's text.

    Raises:
        InputDataError: The text is not a puzzle as this module knows it; says which part.
    """
    listed = _PEOPLE.search(text)
    if listed is None:
        raise _problem(text, "has no list of people after a colon")
    names = tuple(_PERSON.findall(listed.group(1)))
    numbers = {name: number for number, name in enumerate(names)}
    if len(numbers) < len(names):
        raise _problem(text, f"names a person twice in {listed.group(1)!r}")
    said: dict[int, Statement] = {}
    at = listed.end()
    while found := _SAID.match(text, at):
        at = found.end()
        before, closed, opened, after, speaker, reported = found.groups()
        around = speaker if speaker is not None else before + " " + (after or "")
        claim = reported if reported is not None else closed if closed is not None else opened
        speakers = [numbers[word] for word in _speaker_words(around) if word in numbers]
        if len(speakers) != 1:
            raise _problem(text, f"has no single speaker in {found.group().strip()!r}")
        if speakers[0] in said:
            raise _problem(text, f"has two statements of {names[speakers[0]]}")
        said[speakers[0]] = _statement(text, claim, numbers)
    rest = text[at:].strip()
    if not rest.endswith("?") or '"' in rest:
        raise _problem(text, f"has a part that is neither a statement nor the question: {rest!r}")
    silent = [name for name, number in numbers.items() if number not in said]
    if silent:
        raise _problem(text, f"has no statement of {', '.join(silent)}")
    return ParsedQuiz(names, Puzzle(tuple(said[number] for number in range(len(names)))))


def _speaker_words(around: str) -> list[str]:
    return [word.removesuffix("'s").removesuffix("’s") for word in _WORD.findall(around)]


def _statement(text: str, claim: str, numbers: dict[str, int]) -> Statement:
    try:
        mentioned = [numbers[name] for name in _SUBJECT.findall(claim)]
    except KeyError as error:
        raise _problem(text, f"speaks of {error.args[0]!r}, who is not introduced") from None
    people = tuple(dict.fromkeys(mentioned))
    slots = tuple(people.index(person) for person in mentioned)
    parsed = _parsed_claim(_SUBJECT.sub("@ ", claim), slots)
    if isinstance(parsed, str):
        raise _problem(text, f"has a claim that cannot be read ({parsed}): {claim!r}")
    return Statement(parsed, people)


def _problem(text: str, what: str) -> InputDataError:
    return InputDataError(f"the puzzle {excerpt(text, 80)} {what}")


class _UnreadableError(Exception):
    """Inner signal of the claim parser."""


@lru_cache(maxsize=1 << 16)
def _parsed_claim(skeleton: str, slots: tuple[int, ...]) -> Claim | str:
    """Return the claim, or what is wrong with it; ``@`` stands for each subject with its "is"."""
    reader = _Reader(_TOKEN.findall(skeleton), slots)
    try:
        claim = reader.claim()
        reader.end()
    except _UnreadableError as error:
        return str(error)
    return claim


class _Reader:
    """Recursive descent over the words of one claim."""

    def __init__(self, tokens: Sequence[str], slots: Sequence[int]) -> None:
        self._tokens = [token if token == "@" else token.lower() for token in tokens]
        self._slots = iter(slots)
        self._at = 0

    def claim(self) -> Claim:
        if self._next_is("if"):
            condition = self._operand()
            self._expect("then")
            return Op("if", (condition, self._operand()))
        first = self._operand()
        if self._next_is("if", "and", "only", "if"):
            return Op("iff", (first, self._operand()))
        kinds: tuple[Kind, ...] = ("and", "or")
        for kind in kinds:
            parts = [first]
            while self._next_is(kind):
                parts.append(self._operand())
            if len(parts) > 1:
                return Op(kind, tuple(parts))
        return first

    def end(self) -> None:
        if self._at < len(self._tokens):
            raise _UnreadableError(f"stops making sense at {self._tokens[self._at]!r}")

    def _operand(self) -> Claim:
        if self._next_is("("):
            inner = self.claim()
            self._expect(")")
            return inner
        if self._next_is("it", "is", "not", "the", "case", "that"):
            return Op("not", (self._operand(),))
        self._expect("@")
        slot = next(self._slots)
        negated = self._next_is("not")
        self._expect("a")
        if not (knight := self._next_is("knight")):
            self._expect("knave")
        leaf = Leaf(slot, knight)
        return Op("not", (leaf,)) if negated else leaf

    def _next_is(self, *words: str) -> bool:
        if tuple(self._tokens[self._at : self._at + len(words)]) != words:
            return False
        self._at += len(words)
        return True

    def _expect(self, word: str) -> None:
        if not self._next_is(word):
            found = self._tokens[self._at] if self._at < len(self._tokens) else "the end"
            raise _UnreadableError(f"expected {word!r}, found {found!r}")


def holds(claim: Claim, roles: Sequence[bool]) -> bool:
    """Return whether a claim is true; ``roles[slot]`` says whether that person is a knight."""
    if isinstance(claim, Leaf):
        return roles[claim.slot] == claim.knight
    parts = [holds(part, roles) for part in claim.parts]
    if claim.kind == "not":
        return not parts[0]
    if claim.kind == "and":
        return all(parts)
    if claim.kind == "or":
        return any(parts)
    if claim.kind == "if":
        return parts[1] or not parts[0]
    return parts[0] == parts[1]


@lru_cache(maxsize=1 << 16)
def _cases(claim: Claim, n_slots: int) -> tuple[tuple[tuple[bool, ...], bool], ...]:
    return tuple(
        (roles, holds(claim, roles)) for roles in itertools.product((False, True), repeat=n_slots)
    )


def solve_by_joining(puzzle: Puzzle) -> list[int]:
    """Return all solutions, ascending (bit p set: person p is a knight)."""
    partial = [0]
    known = 0
    for speaker, statement in enumerate(puzzle.statements):
        bits = [1 << person for person in statement.people]
        own = 1 << speaker
        involved = own | sum(bits)
        fitting = []
        for roles, truth in _cases(statement.claim, len(bits)):
            knights = sum(itertools.compress(bits, roles))
            if own not in bits:
                fitting.append(knights | own if truth else knights)
            elif bool(knights & own) == truth:
                fitting.append(knights)
        shared = known & involved
        partial = [
            before | case for before in partial for case in fitting if not (before ^ case) & shared
        ]
        known |= involved
    return sorted(partial)
