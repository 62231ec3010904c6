"""A user's own domain from a jsonl, json or parquet file, by a column mapping and without code.

::

    - source: jsonl            # or: parquet
      name: my_physics
      count: 500
      params:
        path: ~/data/physics.jsonl
        verifier: choice       # math, choice or logic
        license: CC-BY-4.0
        columns: {question: q, gold: right, options: [wrong1, wrong2, wrong3]}
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Literal

from pydantic import Field, field_validator, model_validator

from dataflex_data.builders.source import SOURCES, Candidate, Drop, FileSource, SourceParams
from dataflex_data.builders.textfix import repair_text
from dataflex_data.core.config import Config
from dataflex_data.core.schema import UNKNOWN_FLOAT, route_problem

_TEMPLATES = {"math": "boxed", "choice": "option_letter", "logic": "assignment"}


class ColumnMapping(Config):
    """Which columns of the file hold what.

    Attributes:
        question: Column with the question's text, or with chat messages whose last user message
            is the question.
        gold: Column with the gold answer: for ``choice`` the right option's text, its letter, or
            its 0-based position.
        options: For ``choice``: one column with a list of all options, or the columns that hold
            the wrong ones.
        difficulty: Numeric column, where there is one.
        support: Text column kept in ``extra_info.support``, where there is one.
    """

    question: str
    gold: str
    options: str | tuple[str, ...] | None = None
    difficulty: str | None = None
    support: str | None = None


class TableParams(SourceParams):
    """Parameters of `jsonl` and `parquet`.

    Attributes:
        path: File or folder; ``~`` is expanded, and a relative path starts at the recipe's folder.
            ``--source NAME=PATH`` takes its place.
        columns: The column mapping.
        verifier: How responses are judged.
        license: SPDX identifier of the file's licence, written into every row.
        route: ``data_source`` of the rows; by default the verifier's generic route.
        ability: verl's ``ability``; by default the verifier's name.
    """

    path: str | None = None
    columns: ColumnMapping
    verifier: Literal["math", "choice", "logic"]
    license: str = Field(pattern=r"^[A-Za-z0-9][A-Za-z0-9 .+()-]*$")
    route: str | None = None
    ability: str | None = None

    @field_validator("route")
    @classmethod
    def _route_is_usable(cls, route: str | None) -> str | None:
        problem = route_problem(route) if route is not None else None
        if problem:
            raise ValueError(problem)
        return route

    @model_validator(mode="after")
    def _options_go_with_choice(self) -> TableParams:
        if (self.verifier == "choice") != (self.columns.options is not None):
            raise ValueError("`columns.options` goes with `verifier: choice`, and only with it")
        return self


class TableSource(FileSource):
    """Common ground of `jsonl` and `parquet`."""

    Params = TableParams
    params: TableParams
    dataset = None

    def __init__(self, params: TableParams) -> None:
        super().__init__(params)
        mapping = params.columns
        options = mapping.options or ()
        wanted = (
            mapping.question,
            mapping.gold,
            mapping.difficulty,
            mapping.support,
            *((options,) if isinstance(options, str) else options),
        )
        self.columns = tuple(dict.fromkeys(column for column in wanted if column))
        self.route = params.route or f"dataflex/{params.verifier}"
        self.ability = params.ability or params.verifier
        self.license = params.license
        self.template = _TEMPLATES[params.verifier]

    @property
    def own_path(self) -> Path | None:
        """The path that the recipe names."""
        return self.base / Path(self.params.path).expanduser() if self.params.path else None

    def parse(self, record: Mapping[str, Any]) -> Candidate | Drop:
        """Return the mapped columns as a candidate."""
        mapping = self.params.columns
        raw_question = _question_text(record[mapping.question])
        if raw_question is None or not raw_question.strip():
            return Drop("empty_question", repr(record[mapping.question])[:120])
        raw_gold = record[mapping.gold]
        gold = _gold_text(raw_gold)
        if gold is None:
            return Drop("empty_gold", repr(raw_gold)[:120])
        options: tuple[str, ...] = ()
        if mapping.options is not None:
            resolved = _resolve_options(record, mapping.options, gold, raw_gold)
            if isinstance(resolved, Drop):
                return resolved
            options = resolved
            gold = options[0]
        difficulty = record.get(mapping.difficulty) if mapping.difficulty else None
        known = isinstance(difficulty, int | float) and math.isfinite(difficulty)
        support = record.get(mapping.support) if mapping.support else None
        return Candidate(
            question=repair_text(raw_question).strip(),
            gold=gold,
            raw_question=raw_question,
            raw_answer=str(raw_gold),
            options=options,
            difficulty=float(difficulty) if known and difficulty is not None else UNKNOWN_FLOAT,
            support=support if isinstance(support, str) else "",
        )


@SOURCES.register("jsonl")
class JsonlSource(TableSource):
    """Rows of the user's jsonl, jsonl.gz or json file."""

    name = "jsonl"


@SOURCES.register("parquet")
class ParquetSource(TableSource):
    """Rows of the user's parquet file or folder."""

    name = "parquet"


def _question_text(value: object) -> str | None:
    """Return text, or the last user message of chat messages; ``None`` for anything else."""
    if isinstance(value, str):
        return value
    if isinstance(value, list):
        for message in reversed(value):
            if isinstance(message, dict) and message.get("role") == "user":
                content = message.get("content")
                return content if isinstance(content, str) else None
    return None


def _gold_text(value: object) -> str | None:
    """Return the gold as stripped text; ``None`` for nulls, booleans and nan."""
    if isinstance(value, bool) or value is None:
        return None
    if isinstance(value, float):
        return repr(value) if math.isfinite(value) else None
    if isinstance(value, str | int):
        return str(value).strip() or None
    return None


def _resolve_options(
    record: Mapping[str, Any], columns: str | tuple[str, ...], gold: str, raw_gold: object
) -> tuple[str, ...] | Drop:
    """Return all options, the right one first."""
    if isinstance(columns, tuple):
        options = [gold, *(record[column] for column in columns)]
    else:
        listed = record[columns]
        if not isinstance(listed, list) or not listed:
            return Drop("empty_option", repr(listed)[:120])
        position = _gold_position(listed, gold, raw_gold)
        if position is None:
            return Drop("gold_not_among_options", f"{gold} / {listed!r}"[:200])
        options = [listed[position], *listed[:position], *listed[position + 1 :]]
    if any(not isinstance(option, str) or not option.strip() for option in options):
        return Drop("empty_option", repr(options)[:200])
    stripped = tuple(option.strip() for option in options)
    if len({option.casefold() for option in stripped}) < len(stripped):
        return Drop("duplicate_options", " | ".join(stripped))
    return stripped


def _gold_position(listed: list[object], gold: str, raw_gold: object) -> int | None:
    texts = [option.strip() if isinstance(option, str) else None for option in listed]
    if gold in texts:
        return texts.index(gold)
    if isinstance(raw_gold, int) and 0 <= raw_gold < len(listed):
        return raw_gold
    if len(gold) == 1 and gold.isascii() and gold.isalpha():
        position = ord(gold.upper()) - ord("A")
        return position if position < len(listed) else None
    return None
