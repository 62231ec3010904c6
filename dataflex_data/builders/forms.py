"""What rows are, apart from their words: do train and validation share a problem?

Procedural problems share their wording and differ in numbers or names, so that a comparison of
texts says nothing about them. Their canonical forms do. A puzzle's form is read from the row's
text. The form of any other generated row is not in its text: its source is run again from the
recipe in the manifest, and the row is looked up by the id that its content gives, which also shows
that nobody changed it.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from dataflex_data.builders.knights.exclude import forms_of
from dataflex_data.builders.knights.grammar import Puzzle
from dataflex_data.builders.knights.parse import parse_quiz
from dataflex_data.builders.knights.published import HARD_PEOPLE, form_digest, published_test
from dataflex_data.builders.plan import Plan
from dataflex_data.builders.recipe import parse_recipe
from dataflex_data.builders.source import GeneratedSource, GenerationRequest
from dataflex_data.core.errors import DataflexError, InputDataError
from dataflex_data.core.text import excerpt, normalise

Records = Mapping[str, Sequence[Mapping[str, Any]]]


@dataclass(slots=True)
class FormReport:
    """What was found about the forms of a corpus.

    Attributes:
        rows: Rows whose form is known, by source and split.
        shared: One sentence per row whose form another row has, in the same split or another.
        unreadable: One sentence per row whose form should be known and is not.
        unchecked: Why the forms of a source cannot be told, by source.
        hard_test: One sentence per row that is a puzzle of the published test of 7 and 8 people.
        test_overlap: Puzzles that are in the published test, by number of people.
        puzzles: Puzzles that were compared with it.
    """

    rows: dict[str, Counter[str]] = field(default_factory=dict)
    shared: list[str] = field(default_factory=list)
    unreadable: list[str] = field(default_factory=list)
    unchecked: dict[str, str] = field(default_factory=dict)
    hard_test: list[str] = field(default_factory=list)
    test_overlap: dict[int, int] = field(default_factory=dict)
    puzzles: int = 0


@dataclass(frozen=True, slots=True)
class _Row:
    split: str
    number: int
    record: Mapping[str, Any]

    @property
    def source(self) -> str:
        return str(self.record["extra_info"]["source"])

    @property
    def where(self) -> str:
        return f"{self.split} row {self.number}"


def form_report(manifest: Mapping[str, Any], records: Records) -> FormReport:
    """Return which rows of a corpus are the same up to canonical form.

    Args:
        manifest: The corpus's manifest.
        records: Its rows by split, as `read_split` gives them.
    """
    report = FormReport()
    rows = [_Row(split, n, r) for split, part in records.items() for n, r in enumerate(part)]
    puzzles = [row for row in rows if row.record["extra_info"]["n_people"] > 0]
    others = [row for row in rows if row.record["extra_info"]["n_people"] <= 0]
    forms = list(_puzzle_forms(puzzles, report))
    forms += _made_again(manifest, others, report)
    seen: dict[str, _Row] = {}
    for row, form in forms:
        report.rows.setdefault(row.source, Counter())[row.split] += 1
        if form in seen:
            report.shared.append(
                f"{row.where}: is the problem of {seen[form].where} in other words: {excerpt(form)}"
            )
        seen.setdefault(form, row)
    return report


def _puzzle_forms(rows: Sequence[_Row], report: FormReport) -> Iterator[tuple[_Row, str]]:
    """Yield each puzzle's form, read from its text; compare it with the published test."""
    found = [(row, _puzzle(row, report)) for row in rows]
    read = [row for row, puzzle in found if puzzle is not None]
    puzzles = [puzzle for _, puzzle in found if puzzle is not None]
    report.puzzles = len(read)
    test = published_test()
    for row, puzzle, form in zip(read, puzzles, forms_of(puzzles), strict=True):
        people = len(puzzle.statements)
        if form_digest(form) in test.get(people, ()):
            report.test_overlap[people] = report.test_overlap.get(people, 0) + 1
            if people in HARD_PEOPLE:
                report.hard_test.append(
                    f"{row.where}: is a puzzle of the published test of {people} people"
                )
        yield row, form


def _puzzle(row: _Row, report: FormReport) -> Puzzle | None:
    try:
        return parse_quiz(row.record["extra_info"]["raw_question"]).puzzle
    except InputDataError as error:
        report.unreadable.append(f"{row.where}: {error}")
        return None


def _made_again(
    manifest: Mapping[str, Any], rows: Sequence[_Row], report: FormReport
) -> Iterator[tuple[_Row, str]]:
    """Yield the form of each row that a source with forms made, by making them again."""
    by_source: dict[str, list[_Row]] = {}
    for row in rows:
        by_source.setdefault(row.source, []).append(row)
    try:
        plan = Plan(parse_recipe(manifest["recipe"], "the recipe in the manifest"), Path())
    except (DataflexError, KeyError) as error:
        report.unchecked["sources that are made"] = f"their recipe cannot be read: {error}"
        return
    made: dict[str, dict[str, str]] = {}
    # JSON sorted the domains; what a source makes may depend on what it made for the one before.
    for domain in (plan.recipe.domains[name] for name in manifest["domains"]):
        wanted = plan.wanted(domain)
        for entry in domain.sources:
            source = plan.sources[entry.label]
            if not isinstance(source, GeneratedSource) or source.repo_id not in by_source:
                continue
            name = source.repo_id
            revisions = {row.record["extra_info"]["source_revision"] for row in by_source[name]} - {
                source.revision
            }
            if revisions:
                report.unchecked[name] = (
                    f"made by {', '.join(sorted(revisions))}, this release has {source.revision}"
                )
                continue
            taken = {form for forms in made.values() for form in forms.values()}
            counts = {split: labels[entry.label] for split, labels in wanted.items()}
            try:
                again = source.generate(
                    GenerationRequest(plan.recipe.seed, counts, exclude_identities=taken)
                )
            except DataflexError as error:
                report.unchecked[name] = f"cannot be made again: {error}"
                continue
            made.setdefault(name, {}).update(
                (candidate.source_id, candidate.canonical or normalise(candidate.question))
                for candidates in again.candidates_by_split.values()
                for candidate in candidates
            )
    for name in made.keys() - report.unchecked.keys():
        for row in by_source[name]:
            form = made[name].get(row.record["extra_info"]["source_id"])
            if form is None:
                report.unreadable.append(
                    f"{row.where}: {name} does not make this row from the manifest's recipe"
                )
            else:
                yield row, form
