"""Put puzzles into words: names, an introduction, one quoted statement per person, a question.

The wording is our own, of the same kind as that of the published set. `parse` reads it back without
looking here, which is how a puzzle's text is proved to say what was solved.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Sequence

import numpy as np

from dataflex_data.builders.knights.grammar import Claim, Leaf, arity
from dataflex_data.builders.knights.solver import IntArray
from dataflex_data.core.seeding import U64Array, splitmix64

# ASCII, from many languages; none is contained in another, whatever the case, and none is a word
# of the texts below. A test checks both.
NAMES = (
    "Abena", "Adrik", "Agnes", "Aiko", "Akira", "Alba", "Amara", "Anders", "Anouk", "Arjun",
    "Astrid", "Ayse", "Basil", "Bela", "Bjorn", "Boris", "Bruno", "Camila", "Cheng", "Chidi",
    "Clara", "Cyrus", "Dalia", "Darko", "Diego", "Dmitri", "Dunja", "Elif", "Emeka", "Ennio",
    "Esther", "Farid", "Fatima", "Femi", "Fiona", "Freya", "Gabor", "Gita", "Goran", "Greta",
    "Hamid", "Hanna", "Hiro", "Hugo", "Idris", "Igor", "Ilse", "Imani", "Ingrid", "Isra",
    "Jamal", "Joana", "Jiro", "Jorge", "Judith", "Kaito", "Karim", "Kenji", "Kofi", "Lotte",
    "Leila", "Lorenz", "Lucia", "Magda", "Malik", "Marek", "Mei", "Milos", "Mirja", "Nadia",
    "Nikos", "Noor", "Oksana", "Olga", "Omar", "Oscar", "Otto", "Pavel", "Petra", "Priya",
    "Quentin", "Rafael", "Rashid", "Renzo", "Rosa", "Ruben", "Sanjay", "Selma", "Sven", "Tamar",
    "Tariq", "Tomas", "Uma", "Vera", "Viktor", "Wanda", "Xenia", "Yara", "Yusuf", "Zelda",
)  # fmt: skip

_INTRODUCTIONS = (
    "On a remote island everyone is either a knight, who only ever says what is true, or a knave, "
    "who only ever says what is false. {count} islanders cross your path: {names}.",
    "There is a town of knights and knaves: whatever a knight says is true, whatever a knave says "
    "is false. You talk to {count} of the townsfolk: {names}.",
    "Each person in this valley is a knight or a knave. Knights never lie and knaves never tell "
    "the truth. At the well you find {count} of them: {names}.",
    "A traveller reaches a land where knights speak nothing but the truth and knaves speak nothing "
    "but falsehoods; there is no third kind. {count} people come to the gate: {names}.",
    "In the old harbour live two kinds of people. Knights make only true statements; knaves make "
    "only false ones. Today you question {count} of them: {names}.",
)
_QUESTIONS = (
    "Which of them are knights, and which are knaves?",
    "For each of them, find out: knight or knave?",
    "What is each of them, a knight or a knave?",
    "Can you tell the knights from the knaves?",
)
# {0} is the speaker. "Claim" starts a sentence of its own, "claim" continues one.
_SPEECHES = (
    '{0} says: "{Claim}."',
    '{0} tells you, "{Claim}."',
    '"{Claim}," says {0}.',
    '"{Claim}," answers {0}.',
    '{0} claims that {claim}.',
    '{0} insists that {claim}.',
    'Then {0} speaks up: "{Claim}."',
    '"{Claim}," is what {0} has to say.',
    'When it is their turn, {0} replies, "{Claim}."',
    '{0} swears that {claim}.',
    'You hear from {0}: "{Claim}."',
    '"{Claim}," {0} whispers.',
    '{0} wants you to know that {claim}.',
    '{0} leans over and says, "{Claim}."',
    '"{Claim}," {0} calls out.',
    '{0} maintains that {claim}.',
)  # fmt: skip
_JOINERS = {"and": " and ", "or": " or ", "iff": " if and only if "}


def claim_text(claim: Claim, names: Sequence[str]) -> str:
    """Return a claim in words; parts that are more than "X is (not) a ..." stand in brackets.

    Args:
        claim: What is said.
        names: Name per slot.
    """
    if isinstance(claim, Leaf):
        return f"{names[claim.slot]} is a {_role(claim.knight)}"
    first = claim.parts[0]
    if claim.kind == "not":
        if isinstance(first, Leaf):
            return f"{names[first.slot]} is not a {_role(first.knight)}"
        return f"it is not the case that ({claim_text(first, names)})"
    parts = [_part_text(part, names) for part in claim.parts]
    if claim.kind == "if":
        return f"if {parts[0]} then {parts[1]}"
    return _JOINERS[claim.kind].join(parts)


def _part_text(part: Claim, names: Sequence[str]) -> str:
    text = claim_text(part, names)
    is_plain = isinstance(part, Leaf) or (part.kind == "not" and isinstance(part.parts[0], Leaf))
    return text if is_plain else f"({text})"


def _role(knight: bool) -> str:
    return "knight" if knight else "knave"


def list_text(names: Sequence[str]) -> str:
    """Return ``"A and B"``, or ``"A, B, and C"`` for more than two."""
    if len(names) == 2:
        return f"{names[0]} and {names[1]}"
    return f"{', '.join(names[:-1])}, and {names[-1]}"


def gold_text(names: Sequence[str], solution: int) -> str:
    """Return the gold answer: ``"A is a knight, B is a knave, and C is a knight."``.

    Args:
        names: In the puzzle's order.
        solution: Bit p set where person p is a knight.
    """
    parts = [
        f"{name} is a knight" if solution >> place & 1 else f"{name} is a knave"
        for place, name in enumerate(names)
    ]
    return f"{', '.join(parts[:-1])}, and {parts[-1]}."


class Renderer:
    """Words for puzzles whose claims come from one list, with texts prepared per claim.

    Args:
        claims: The claims that puzzles will refer to by number.
        names: Names to choose from.
    """

    def __init__(self, claims: Sequence[Claim], names: Sequence[str] = NAMES) -> None:
        self._names = names
        self._templates = _Templates(claims)

    def render(
        self, claims: IntArray, people: IntArray, keys: U64Array
    ) -> list[tuple[list[str], str]]:
        """Return names and text of each puzzle.

        Args:
            claims: Claim numbers, shape ``(B, n)``.
            people: People per slot, shape ``(B, n, K)``; ``n`` in unused slots.
            keys: One per puzzle; decides names and phrases, and nothing else does.
        """
        n = claims.shape[1]
        draws = splitmix64(keys[:, None] + np.arange(2 * n + 2, dtype=np.uint64))
        chosen = distinct(draws[:, :n], len(self._names))
        # One more name, for slots that no text shows.
        numbers = np.concatenate([chosen, np.full((len(chosen), 1), len(self._names))], axis=1)
        lookup = np.array([*self._names, ""], dtype=object)
        names = lookup[chosen].tolist()
        placed = np.take_along_axis(numbers, people.reshape(len(people), -1), axis=1)
        slots = lookup[placed.reshape(people.shape)].tolist()
        speeches = (draws[:, n : 2 * n] % np.uint64(len(_SPEECHES))).astype(np.int64)
        wordings = (claims * len(_SPEECHES) + speeches).tolist()
        introductions = (draws[:, 2 * n] % np.uint64(len(_INTRODUCTIONS))).tolist()
        questions = (draws[:, 2 * n + 1] % np.uint64(len(_QUESTIONS))).tolist()
        templates = self._templates
        return [
            (
                names[row],
                " ".join(
                    [
                        _INTRODUCTIONS[introductions[row]].format(
                            count=n, names=list_text(names[row])
                        ),
                        *[
                            templates[wording].format(name, *mentioned)
                            for wording, name, mentioned in zip(
                                wordings[row], names[row], slots[row], strict=True
                            )
                        ],
                        _QUESTIONS[questions[row]],
                    ]
                ),
            )
            for row in range(len(claims))
        ]


class _Templates(dict[int, str]):
    """Text of a claim in a speech, made at first use; ``{0}`` the speaker, ``{1}`` slot 0."""

    def __init__(self, claims: Sequence[Claim]) -> None:
        super().__init__()
        self._claims = claims

    def __missing__(self, wording: int) -> str:
        claim, speech = divmod(wording, len(_SPEECHES))
        template = self[wording] = _speech(self._claims[claim], speech)
        return template


def _speech(claim: Claim, speech: int) -> str:
    slots = [f"{{{slot + 1}}}" for slot in range(arity(claim))]
    text = claim_text(claim, slots)
    capital = text if text.startswith("{") else text[0].upper() + text[1:]
    return _SPEECHES[speech].replace("{Claim}", capital).replace("{claim}", text)


def names_problem(names: Sequence[str]) -> str | None:
    """Return why these names could not be told apart in a text or an answer, or ``None``."""
    words = set(re.findall(r"[a-z]+", " ".join([*_INTRODUCTIONS, *_SPEECHES, *_QUESTIONS]).lower()))
    words |= {"if", "then", "and", "or", "only", "it", "is", "not", "case", "that", "a", "an"}
    words |= {"knight", "knave"}
    folded = [name.casefold() for name in names]
    for name, low in zip(names, folded, strict=True):
        if (
            not name.isalpha()
            or unicodedata.normalize("NFKC", name) != name
            or name[0] != name[0].upper()
        ):
            return f"{name!r} is not one capitalised word of letters only"
        if low in words:
            return f"{name!r} is a word of the puzzles' texts"
    for place, low in enumerate(folded):
        for other in range(len(folded)):
            if other != place and low in folded[other]:
                return f"{names[place]!r} is contained in {names[other]!r}"
    return None


def distinct(draws: U64Array, size: int) -> IntArray:
    """Return, per row, ``draws.shape[1]`` different numbers below ``size``, all choices alike."""
    chosen = np.empty(draws.shape, dtype=np.int64)
    for column in range(draws.shape[1]):
        # The draw is a rank among the numbers not chosen yet; step over those that are.
        number = (draws[:, column] % np.uint64(size - column)).astype(np.int64)
        for taken in np.sort(chosen[:, :column], axis=1).T:
            number += number >= taken
        chosen[:, column] = number
    return chosen
