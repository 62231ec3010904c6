"""Knights and Knaves: made here, or read from the published set.

Source: the grammar, and the form of the published rows, are those of Xie et al. 2024, "On
Memorization of Large Language Models in Logical Reasoning" (arXiv 2410.23123), hub repository
``K-and-K/knights-and-knaves``. Generator, solver and wording are our own;
docs/knights_and_knaves.md says how puzzles are drawn, told apart and checked.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, Literal, cast

import numpy as np
from pydantic import Field, field_validator, model_validator

from dataflex_data.builders.knights.canonical import canonical_forms
from dataflex_data.builders.knights.difficulty import branchings
from dataflex_data.builders.knights.exclude import excluded_forms
from dataflex_data.builders.knights.generate import PuzzlePlan, generate
from dataflex_data.builders.knights.grammar import LARGEST_DEPTH, LARGEST_WIDTH
from dataflex_data.builders.knights.parse import parse_quiz, solve_by_joining
from dataflex_data.builders.knights.render import NAMES, gold_text, names_problem
from dataflex_data.builders.knights.solver import batch_of
from dataflex_data.builders.knights.stream import GENERATOR_VERSION
from dataflex_data.builders.source import (
    SOURCES,
    Candidate,
    Drop,
    FileSource,
    GeneratedSource,
    Generation,
    GenerationRequest,
    SourceParams,
)
from dataflex_data.core.errors import InputDataError
from dataflex_data.core.fetch import HubDataset
from dataflex_data.core.parquet import file_sha256

FEWEST_PEOPLE, MOST_PEOPLE = 2, 16


class KnightsParams(SourceParams):
    """Parameters of the generator.

    Attributes:
        people: Numbers of people, in equal shares; or a mapping of number to share.
        depth: Largest nesting depth of a statement ("X is a knight" has depth 1; with nothing
            deeper no puzzle has one solution, since swapping all roles gives another).
        width: Largest number of parts of an "and" or "or".
        on_shortfall: What one number of people cannot give is asked of the others, or refused.
        exclude: Files whose puzzles must not occur, up to canonical form: the published set's, or
            corpora of this package.
        names: Names of people to choose from.
    """

    people: tuple[int, ...] | dict[int, float] = (2, 3, 4, 5, 6, 7, 8)
    depth: int = Field(default=2, ge=2, le=LARGEST_DEPTH)
    width: int = Field(default=2, ge=2, le=LARGEST_WIDTH)
    on_shortfall: Literal["redistribute", "refuse"] = "redistribute"
    exclude: tuple[str, ...] = ()
    names: tuple[str, ...] = NAMES

    @field_validator("people")
    @classmethod
    def _people_are_in_range(
        cls, people: tuple[int, ...] | dict[int, float]
    ) -> tuple[int, ...] | dict[int, float]:
        if not people:
            raise ValueError("needs at least one number of people")
        outside = [n for n in people if not FEWEST_PEOPLE <= n <= MOST_PEOPLE]
        if outside:
            raise ValueError(
                f"{', '.join(map(str, outside))} is outside {FEWEST_PEOPLE} to {MOST_PEOPLE} people"
            )
        if len(set(people)) < len(people):
            raise ValueError("names a number of people twice; give a mapping of number to share")
        if isinstance(people, dict) and not all(
            0 < share < float("inf") for share in people.values()
        ):
            raise ValueError("every share must be a positive number")
        return people

    @field_validator("names")
    @classmethod
    def _names_are_told_apart(cls, names: tuple[str, ...]) -> tuple[str, ...]:
        if problem := names_problem(names):
            raise ValueError(problem)
        return names

    @model_validator(mode="after")
    def _enough_names(self) -> KnightsParams:
        if len(self.names) < max(self.people):
            raise ValueError(
                f"key `names`: {len(self.names)} names are too few for puzzles of "
                f"{max(self.people)} people"
            )
        return self

    @property
    def weights(self) -> dict[int, float]:
        """Share of each number of people, relative to the others."""
        if isinstance(self.people, dict):
            return dict(self.people)
        return dict.fromkeys(self.people, 1.0)


@SOURCES.register("knights_and_knaves")
class KnightsAndKnaves(GeneratedSource):
    """Puzzles made here. Difficulty: branchings a solver needs (`knights.difficulty`)."""

    name = "knights_and_knaves"
    Params = KnightsParams
    ability = "logic"
    template = "assignment"
    route = "dataflex/knights_and_knaves"
    license = "Apache-2.0"
    repo_id = "dataflex-data/knights_and_knaves"
    revision = f"generator-{GENERATOR_VERSION}"

    def generate(self, request: GenerationRequest) -> Generation:
        """Return the puzzles asked for, sorted by number of people within each split.

        Raises:
            ShortfallError: The grammar cannot give that many different ones.
            InputDataError: A file to exclude cannot be read or holds a text that is no puzzle.
        """
        params = cast(KnightsParams, self.params)
        excluded = set(request.exclude_identities)
        notes = []
        for path in (self.base / Path(name).expanduser() for name in params.exclude):
            forms = excluded_forms(path)
            excluded |= forms
            digest = file_sha256(path.expanduser())
            notes.append(f"{path.name} (sha256 {digest}): its {len(forms)} puzzles were kept out")
        plan = PuzzlePlan(
            seed=request.seed,
            weights=params.weights,
            depth=params.depth,
            width=params.width,
            names=params.names,
            excluded=excluded,
            spread_shortfall=params.on_shortfall == "redistribute",
        )
        made = generate(plan, request.count_by_split)
        return replace(made, notes=[*notes, *made.notes])


class PublishedParams(SourceParams):
    """Parameters of the published set.

    Attributes:
        people: Numbers of people wanted; empty means all.
    """

    people: tuple[int, ...] = ()


@SOURCES.register("knights_and_knaves_published")
class PublishedKnightsAndKnaves(FileSource):
    """The published puzzles, each solved again from its text. Difficulty as in the generator.

    The licence forbids commercial use and asks for the same licence on what is made from it.
    """

    name = "knights_and_knaves_published"
    Params = PublishedParams
    ability = "logic"
    template = "assignment"
    route = "dataflex/knights_and_knaves"
    license = "CC-BY-NC-SA-4.0"
    columns = ("quiz", "names", "solution")
    optional_columns = ("solution_text",)
    dataset = HubDataset(
        repo_id="K-and-K/knights-and-knaves",
        files=(
            "train/people*.jsonl",
            "train/people*.jsonl.gz",
            "train/*.parquet",
            "people*.jsonl",
            "people*.jsonl.gz",
            "*.parquet",
        ),
        folder_names=("knights_and_knaves", "knights-and-knaves"),
    )

    def parse(self, record: Mapping[str, Any]) -> Candidate | Drop:
        """Return the quiz with its solution, or a drop where the text does not bear it out."""
        quiz, names, stated = record["quiz"], record["names"], record["solution"]
        if not isinstance(quiz, str) or not quiz.strip():
            return Drop("empty_question")
        if not isinstance(names, Sequence) or not isinstance(stated, Sequence) or not stated:
            return Drop("empty_gold")
        wanted = cast(PublishedParams, self.params).people
        if wanted and len(names) not in wanted:
            return Drop("people_not_wanted", f"{len(names)} people")
        try:
            read = parse_quiz(quiz)
        except InputDataError as error:
            return Drop("unreadable_puzzle", str(error))
        if list(read.names) != list(names):
            return Drop("names_differ_from_text", f"{list(names)} and {list(read.names)}")
        found = solve_by_joining(read.puzzle)
        if len(found) != 1:
            return Drop("no_solution" if not found else "several_solutions", f"{len(found)} fit")
        gold = gold_text(read.names, found[0])
        roles = [bool(found[0] >> person & 1) for person in range(len(names))]
        if list(stated) != roles:
            return Drop("solution_differs_from_text", f"text: {gold} stated: {list(stated)}")
        batch = batch_of([read.puzzle])
        forms = canonical_forms(batch)
        return Candidate(
            question=quiz.strip(),
            gold=gold,
            raw_question=quiz,
            raw_answer=str(record.get("solution_text") or gold),
            difficulty=float(np.asarray(branchings(batch, forms.orders))[0]),
            n_people=len(names),
            statement_depth=read.puzzle.depth,
            canonical=forms.texts[0],
        )
