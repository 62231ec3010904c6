"""Canonical forms of the puzzles in a given file, so that none of them is generated again."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from dataflex_data.builders.knights.canonical import canonical_forms
from dataflex_data.builders.knights.grammar import Puzzle
from dataflex_data.builders.knights.parse import parse_quiz
from dataflex_data.builders.knights.solver import batch_of
from dataflex_data.core.errors import InputDataError
from dataflex_data.core.records import read_records


def forms_of(puzzles: Sequence[Puzzle]) -> list[str]:
    """Return the canonical form of each puzzle, whatever their numbers of people."""
    rows_by_size: dict[int, list[int]] = {}
    for row, puzzle in enumerate(puzzles):
        rows_by_size.setdefault(len(puzzle.statements), []).append(row)
    texts = [""] * len(puzzles)
    for rows in rows_by_size.values():
        forms = canonical_forms(batch_of([puzzles[row] for row in rows]))
        for row, text in zip(rows, forms.texts, strict=True):
            texts[row] = text
    return texts


def excluded_forms(path: Path) -> frozenset[str]:
    """Return the forms of all puzzles in a file.

    Args:
        path: A file with a column ``quiz`` (the published set's), or a corpus of this package
            (``extra_info.raw_question`` of the rows that have people), in any readable format.

    Raises:
        InputDataError: The file cannot be read, holds no puzzle, or has one that cannot be parsed:
            then nobody can promise that it does not occur. Names file and row.
    """
    puzzles = []
    for chunk in read_records(path, (), ("quiz", "extra_info")):
        for row, record in zip(chunk.rows, chunk.records, strict=True):
            quiz = _quiz(record)
            if quiz is None:
                continue
            try:
                puzzles.append(parse_quiz(quiz).puzzle)
            except InputDataError as error:
                raise InputDataError(f"{path}: row {row}: {error}") from None
    if not puzzles:
        raise InputDataError(
            f"{path}: holds no puzzle to exclude; give a file with a column `quiz`, or one "
            "that `dfdata build` wrote with Knights-and-Knaves rows in it"
        )
    return frozenset(forms_of(puzzles))


def _quiz(record: Mapping[str, Any]) -> str | None:
    quiz = record.get("quiz")
    if isinstance(quiz, str):
        return quiz
    extra = record.get("extra_info")
    if isinstance(extra, Mapping) and extra.get("n_people", -1) > 0:
        return str(extra["raw_question"])
    return None
