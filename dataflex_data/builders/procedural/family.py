"""What a family of procedural problems is, and the few tools that all families share.

A family is one function: it draws parameters, words a question and computes its answer exactly.
Its identity is the family's name and the parameters up to wording and trivial symmetry; how often
each family and level occurs, which split a problem is in and that no two are the same is the
business of `generate`, not of a family.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from typing import TypeVar

from dataflex_data.core.seeding import Key, digest

LEVELS = (1, 2, 3, 4, 5)
T = TypeVar("T")


class Draw:
    """Random choices from a hash of names: the same on every platform and library version."""

    def __init__(self, *names: Key) -> None:
        self._key = digest("procedural/draw", *names)
        self._words: list[int] = []
        self._block = 0

    def below(self, bound: int) -> int:
        """Return a whole number in ``[0, bound)``; uniform up to one part in 2**32."""
        if not self._words:
            block = digest(self._key, self._block)
            self._block += 1
            self._words = [int.from_bytes(block[at : at + 8], "big") for at in (0, 8, 16, 24)]
        return self._words.pop() % bound

    def integer(self, low: int, high: int, step: int = 1) -> int:
        """Return one of ``low``, ``low + step``, ... that is not above ``high``."""
        return low + step * self.below((high - low) // step + 1)

    def nonzero(self, limit: int) -> int:
        """Return a whole number in ``[-limit, limit]`` that is not 0."""
        value = self.integer(1, limit)
        return value if self.below(2) else -value

    def pick(self, items: Sequence[T]) -> T:
        """Return one item."""
        return items[self.below(len(items))]

    def sample(self, items: Sequence[T], count: int) -> list[T]:
        """Return ``count`` items at different positions, in random order."""
        left = list(items)
        return [left.pop(self.below(len(left))) for _ in range(count)]


@dataclass(frozen=True, slots=True)
class Problem:
    """One problem with its exact answer.

    Attributes:
        question: Complete text, without the request for a box.
        answer: The exact answer; for options the text of the right one.
        parameters: What the problem is, up to wording and trivial symmetry, by name.
        wrong: For options: texts of wrong ones, each from a mistake people make.
    """

    question: str
    answer: Fraction | str
    parameters: Mapping[str, object]
    wrong: tuple[str, ...] = field(default=())


Make = Callable[[Draw, int], "Problem | None"]


@dataclass(frozen=True, slots=True)
class Family:
    """A family of problems.

    Attributes:
        name: Name in recipes.
        topic: The larger field, for listings.
        make: (draw, level) -> a problem, or ``None`` where the drawn parameters do not suit.
    """

    name: str
    topic: str
    make: Make


class Families:
    """The families of one source, by name, in the order of their definition."""

    def __init__(self) -> None:
        self._by_name: dict[str, Family] = {}

    def add(self, topic: str) -> Callable[[Make], Make]:
        """Return a decorator that enters a function as the family of its name."""

        def enter(make: Make) -> Make:
            name = make.__name__
            if name in self._by_name:
                raise ValueError(f"two families are called {name!r}")
            self._by_name[name] = Family(name, topic, make)
            return make

        return enter

    @classmethod
    def of(cls, *groups: Families) -> Families:
        """Return all families of several groups as one."""
        whole = cls()
        for group in groups:
            for name, family in group._by_name.items():
                if name in whole._by_name:
                    raise ValueError(f"two families are called {name!r}")
                whole._by_name[name] = family
        return whole

    def get(self, name: str) -> Family:
        """Return the family of that name.

        Raises:
            KeyError: There is none; recipes are checked before.
        """
        return self._by_name[name]

    def names(self) -> list[str]:
        """Return all names in the order of their definition."""
        return list(self._by_name)


def identity(source: str, family: str, parameters: Mapping[str, object]) -> str:
    """Return the canonical identity of a problem: one text per problem, whatever its wording."""
    parts = (f"{name}={_text(value)}" for name, value in sorted(parameters.items()))
    return f"{source}/{family}: {'; '.join(parts)}"


def _text(value: object) -> str:
    if isinstance(value, tuple):
        return f"({','.join(map(_text, value))})"
    return str(value)


def gold_text(answer: Fraction | str) -> str:
    """Return ``7``, ``-7/3``, or the text itself."""
    return answer if isinstance(answer, str) else str(Fraction(answer))


def plural(count: int, one: str, many: str = "") -> str:
    """Return ``1 apple`` or ``3 apples``."""
    return f"{count} {one if count == 1 else many or one + 's'}"


def listed(items: Iterable[object]) -> str:
    """Return ``a, b and c``."""
    texts = [str(item) for item in items]
    return texts[0] if len(texts) == 1 else f"{', '.join(texts[:-1])} and {texts[-1]}"
