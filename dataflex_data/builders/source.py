"""What a source is: where its records lie, and how one record becomes a candidate row or a drop.

A source is a class in one file of ``builders/sources/``. It says nothing about quotas, splits or
templates; `assemble` does that for all of them alike. Every record that does not become a row
leaves with a named reason.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType
from typing import Any, ClassVar

from dataflex_data.core.config import Config
from dataflex_data.core.fetch import HubDataset
from dataflex_data.core.registry import Registry
from dataflex_data.core.schema import UNKNOWN_FLOAT, UNKNOWN_INT
from dataflex_data.core.seeding import hex_id


class SourceParams(Config):
    """Parameters of a source, written under ``params`` in a recipe; subclasses add fields."""


@dataclass(frozen=True, slots=True)
class Candidate:
    """One record that may become a row.

    Attributes:
        question: The text that the prompt template shows (options apart).
        gold: Canonical gold answer; for options the text of the right one.
        raw_question: The question as the source has it.
        raw_answer: The answer as the source has it.
        options: All option texts, the right one first; `assemble` orders them by the row's key.
        support: Supporting passage, kept out of the prompt.
        difficulty: See the source's docstring; -1.0 where it has none.
        n_people: Knights-and-Knaves only.
        statement_depth: Knights-and-Knaves only.
        canonical: Identity for dedup and split where the text is not the identity (puzzles that
            differ in names only); ``""`` means the normalised question.
    """

    question: str
    gold: str
    raw_question: str
    raw_answer: str
    options: tuple[str, ...] = ()
    support: str = ""
    difficulty: float = UNKNOWN_FLOAT
    n_people: int = UNKNOWN_INT
    statement_depth: int = UNKNOWN_INT
    canonical: str = ""

    @property
    def source_id(self) -> str:
        """Id within the source, made of its content alone: a neighbour's absence moves nothing."""
        return hex_id("source_id", self.raw_question, self.raw_answer, length=16)


@dataclass(frozen=True, slots=True)
class Drop:
    """One record that does not become a row.

    Attributes:
        reason: Counted name, such as ``"empty_gold"``.
        detail: What was seen, for `--keep-dropped`.
    """

    reason: str
    detail: str = ""


def text_problem(value: object, what: str) -> Drop | None:
    """Return why ``value`` is no text to work with, as ``empty_WHAT`` or ``WHAT_not_text``."""
    if value is None or (isinstance(value, str) and not value.strip()):
        return Drop(f"empty_{what}", repr(value))
    if not isinstance(value, str):
        return Drop(f"{what}_not_text", repr(value)[:120])
    return None


class Source(ABC):
    """Common ground of all sources.

    Attributes:
        name: Registry name.
        Params: Model of its parameters.
        route: Verifier route, the row's ``data_source``.
        ability: verl's ``ability``.
        license: SPDX identifier of the rows' licence.
        template: Default prompt template.
        base: Folder that relative paths in the parameters start from; set by the plan of a recipe.
        hints: What a user can do about a reason of drops, shown when a quota cannot be filled.
    """

    name: ClassVar[str]
    Params: ClassVar[type[SourceParams]] = SourceParams
    route: str
    ability: str
    license: str
    template: str
    hints: Mapping[str, str] = MappingProxyType({})

    def __init__(self, params: SourceParams) -> None:
        self.params = params
        self.base = Path()


class FileSource(Source):
    """A source that reads records from files: of the hub, its cache, or given by the user.

    Attributes:
        columns: Columns every file must have.
        optional_columns: Columns read where a file has them.
        dataset: Where the hub has it; ``None`` for a source that reads the user's own files only.
    """

    columns: tuple[str, ...]
    optional_columns: tuple[str, ...] = ()
    dataset: HubDataset | None

    @property
    def own_path(self) -> Path | None:
        """The file or folder that the recipe itself names; ``None`` for sources of the hub."""
        return None

    @abstractmethod
    def parse(self, record: Mapping[str, Any]) -> Candidate | Drop:
        """Return one record (the declared columns, as Python values) as a candidate or a drop."""


@dataclass(frozen=True, slots=True)
class GenerationRequest:
    """How many candidates a generator must give.

    Attributes:
        seed: Seed of the recipe.
        count_by_split: Candidates wanted per split; no canonical form may be in two splits.
        exclude_identities: Identities of rows that the corpus has from other sources already.
    """

    seed: int
    count_by_split: Mapping[str, int]
    exclude_identities: Collection[str] = frozenset()


@dataclass(frozen=True, slots=True)
class Generation:
    """What a generator gave.

    Attributes:
        candidates_by_split: Exactly as many per split as asked for.
        dropped: Attempts thrown away, by reason.
        notes: Sentences for the closing table, such as a named and redistributed shortfall.
    """

    candidates_by_split: Mapping[str, Sequence[Candidate]]
    dropped: Mapping[str, int]
    notes: Sequence[str] = ()


class GeneratedSource(Source):
    """A source that makes its records; nothing is read or downloaded.

    Class attributes: ``repo_id`` (what ``extra_info.source`` says) and ``revision`` (version of the
    generator; another one may make other rows from the same seed).
    """

    repo_id: ClassVar[str]
    revision: ClassVar[str]

    @abstractmethod
    def generate(self, request: GenerationRequest) -> Generation:
        """Return the candidates asked for.

        Raises:
            ShortfallError: The parameters cannot give that many different ones.
        """


SOURCES: Registry[type[Source]] = Registry(
    "source", package="dataflex_data.builders.sources", entry_point_group="dataflex_data.sources"
)
