"""From a source's files to its pool: candidates that passed the filters, and a tally of the rest.

A pool knows nothing of quotas or of other sources. Records identical to an earlier one are counted
and dropped as they stream by, so that a file with each row a hundred times over costs the memory of
its distinct rows.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from dataflex_data.builders.filters import Filters, filter_text, unwritable
from dataflex_data.builders.recipe import SourceEntry
from dataflex_data.builders.source import Candidate, Drop, FileSource
from dataflex_data.core.fetch import Located, SourceFile
from dataflex_data.core.records import read_records
from dataflex_data.core.seeding import digest, hex_id
from dataflex_data.core.text import normalise

EXACT_DUPLICATE = "exact_duplicate"


@dataclass(frozen=True, slots=True)
class Item:
    """A candidate with where it came from and the keys that order and identify it.

    Attributes:
        label: Source entry.
        candidate: The record.
        file: Name of its file; ``""`` for generated ones.
        row: Row or line number in the file, from 1; 0 for generated ones.
        revision: Revision of the source as written into the row.
        identity: Equal for rows that are the same: the normalised question, or a canonical form.
        key: Row id; a hash of (recipe seed, label, source id), and the order of drawing.
    """

    label: str
    candidate: Candidate
    file: str
    row: int
    revision: str
    identity: str
    key: str


@dataclass(frozen=True, slots=True)
class DroppedRow:
    """One record that is not in the corpus, for ``--keep-dropped``."""

    label: str
    reason: str
    detail: str
    question: str
    gold: str
    file: str
    row: int
    copies: int = 1

    def to_record(self) -> dict[str, object]:
        """Return the fields by name."""
        return {name: getattr(self, name) for name in self.__slots__}


@dataclass(slots=True)
class Pool:
    """What one source entry has to offer.

    Attributes:
        label: Source entry.
        raw: Records read, or made.
        items: Candidates that passed, in the order read.
        dropped: Every record left out, with its reason.
        counts: Records dropped, by reason.
    """

    label: str
    raw: int = 0
    items: list[Item] = field(default_factory=list)
    dropped: list[DroppedRow] = field(default_factory=list)
    counts: Counter[str] = field(default_factory=Counter)

    def drop(self, row: DroppedRow) -> None:
        """Count and keep one dropped record."""
        self.counts[row.reason] += row.copies
        self.dropped.append(row)

    def drop_item(self, item: Item, reason: str, detail: str) -> None:
        """Drop a candidate that had passed so far."""
        candidate = item.candidate
        self.drop(
            DroppedRow(
                self.label, reason, detail, candidate.question, candidate.gold, item.file, item.row
            )
        )


def make_item(
    label: str, candidate: Candidate, seed: int, revision: str, file: str = "", row: int = 0
) -> Item:
    """Return a candidate with its keys."""
    return Item(
        label=label,
        candidate=candidate,
        file=file,
        row=row,
        revision=revision,
        identity=candidate.canonical or normalise(candidate.question),
        key=hex_id("row", seed, label, candidate.source_id),
    )


def read_pool(entry: SourceEntry, located: Located, filters: Filters, seed: int) -> Pool:
    """Return the pool of a source that reads files.

    Raises:
        InputDataError: A file cannot be read; the message names file and row.
    """
    source = entry.build()
    if not isinstance(source, FileSource):
        raise TypeError(f"{entry.source} does not read files")
    pool = Pool(entry.label)
    seen: set[bytes] = set()
    for file, row, record, copies in _records(source, located, pool):
        parsed = source.parse(record)
        if isinstance(parsed, Drop):
            pool.drop(
                DroppedRow(entry.label, parsed.reason, parsed.detail, *_raw(record), file.name, row)
            )
            continue
        fingerprint = digest(parsed.raw_question, parsed.raw_answer, *parsed.options)
        if fingerprint in seen:
            pool.drop(
                DroppedRow(
                    entry.label,
                    EXACT_DUPLICATE,
                    "",
                    parsed.question,
                    parsed.gold,
                    file.name,
                    row,
                    copies,
                )
            )
            continue
        seen.add(fingerprint)
        revision = f"sha256:{file.sha256}" if located.origin == "local" else located.revision
        item = make_item(entry.label, parsed, seed, revision, file.name, row)
        drop = unwritable(parsed) or filter_text(parsed.question, filters) or _bad_options(parsed)
        if drop is not None:
            pool.drop_item(item, drop.reason, drop.detail)
            continue
        pool.items.append(item)
    return pool


def _records(
    source: FileSource, located: Located, pool: Pool
) -> Iterator[tuple[SourceFile, int, Mapping[str, Any], int]]:
    """Yield distinct records with file, row and count; count what is read and repeated."""
    for file in located.files:
        for chunk in read_records(file.path, source.columns, source.optional_columns):
            pool.raw += chunk.total
            if chunk.repeats:
                pool.drop(
                    DroppedRow(
                        pool.label,
                        EXACT_DUPLICATE,
                        "identical to an earlier row of the same chunk of the file",
                        "",
                        "",
                        file.name,
                        chunk.rows[0],
                        chunk.repeats,
                    )
                )
            for row, record in zip(chunk.rows, chunk.records, strict=True):
                yield file, row, record, 1


def _bad_options(candidate: Candidate) -> Drop | None:
    for option in candidate.options:
        if "\n" in option:
            return Drop("option_over_several_lines", option)
    return None


def _raw(record: Mapping[str, Any]) -> tuple[str, str]:
    """Return the record's values as two printable texts: the first column, and the rest."""
    values: Sequence[object] = list(record.values())
    return str(values[0]), " | ".join(str(value) for value in values[1:])
