"""A finding: one pair of training row and benchmark item, and the table of all of them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass, replace

import pyarrow as pa

from dataflex_data.audits.comparison import ngrams
from dataflex_data.core.seeding import hex_id
from dataflex_data.core.text import words

_LONGEST_ID = 64  # characters of an id, such as a SHA-256 in hexadecimal
_SHORTEST_TEXT = 8  # an id of fewer characters may stand in a text by chance


@dataclass(frozen=True, slots=True)
class Finding:
    """One pair of training row and benchmark item; the columns of ``findings.parquet``.

    Attributes:
        row_id: The row's id; file name and row number where the corpus has none.
        source: Origin of the row, ``""`` where the corpus does not say.
        file: Position of the row's file in the corpus.
        row: Number of the row within its file, from 0.
        benchmark: Name of the benchmark.
        item_id: The item's id.
        flagged: Whether the rule counts the row as contaminated by this item.
        channel: The strongest channel that hit, ``"near"`` where none did.
        channels: All channels that hit, strongest first.
        jaccard: Jaccard similarity of the n-grams of row and item, template ones included; 0 where
            one of them has none, having too few words.
        containment: Share of the item's own n-grams that the row holds.
        row_containment: Share of the row's n-grams that the item holds.
        stem_jaccard: As ``jaccard``, with the item's question alone; 0 where it has no options.
        stem_containment: As ``containment``, of the question alone.
        latex_jaccard: As ``jaccard``, in LaTeX canonical form, of the item or its question.
        latex_containment: As ``containment``, in LaTeX canonical form, of the item or its question.
        longest_run: Words of the longest run that both share.
        item_words: Words of the item, options included.
        similarity: Edit similarity in [0, 1]; null where the texts are too long.
        unique: N-grams shared with the item that no other item has.
        shared: Shared n-grams that few other items have.
        boilerplate: Shared n-grams that are template text.
        overlap: The longest shared run, as words.
        row_text: The row, cut at 20,000 characters.
        item_text: The item, options included.
        gated: The item's text must not be shown.
    """

    row_id: str
    source: str
    file: int
    row: int
    benchmark: str
    item_id: str
    flagged: bool
    channel: str
    channels: tuple[str, ...]
    jaccard: float
    containment: float
    row_containment: float
    stem_jaccard: float
    stem_containment: float
    latex_jaccard: float
    latex_containment: float
    longest_run: int
    item_words: int
    similarity: float | None
    unique: int
    shared: int
    boilerplate: int
    overlap: str
    row_text: str
    item_text: str
    gated: bool

    @property
    def best_containment(self) -> float:
        """Share of n-grams held, of the item, its question or their LaTeX form."""
        return max(self.containment, self.stem_containment, self.latex_containment)

    @property
    def best_jaccard(self) -> float:
        """Similarity to the item, its question or their LaTeX form."""
        return max(self.jaccard, self.stem_jaccard, self.latex_jaccard)

    def redacted(self) -> Finding:
        """Return the finding without its texts, nor a row id that shows some of them."""
        texts = self.row_text, self.item_text
        return replace(
            self,
            row_id=_hidden(self.row_id) if _shows(self.row_id, texts) else self.row_id,
            overlap=_hidden(self.overlap),
            row_text=_hidden(self.row_text),
            item_text=_hidden(self.item_text),
        )


def redact_rows(findings: Sequence[Finding]) -> list[Finding]:
    """Return findings without the texts of all rows that match a gated item.

    Such a row shows the item in its other findings too, and those show it by what they share.
    """
    gated = {(one.file, one.row) for one in findings if one.gated}
    return [one.redacted() if (one.file, one.row) in gated else one for one in findings]


def _hidden(text: str) -> str:
    return f"[gated, digest {hex_id('gated', text, length=12)}]"


def _shows(row_id: str, texts: Iterable[str]) -> bool:
    """Return whether an id may be a text: long, spaced, or made of what stands in a text."""
    pairs = ngrams(words(row_id), 2)
    return (
        len(row_id) > _LONGEST_ID
        or any(char.isspace() for char in row_id)
        or any(pairs & ngrams(words(text), 2) for text in texts)
        or any(len(row_id) >= _SHORTEST_TEXT and row_id in text for text in texts)
    )


def strength(finding: Finding) -> tuple[float, ...]:
    """Return a sort key: flagged before not, then by how much of the item the row holds."""
    return (
        float(finding.flagged),
        finding.best_containment,
        finding.best_jaccard,
        float(finding.longest_run),
    )


def findings_table(findings: Iterable[Finding]) -> pa.Table:
    """Return findings as an Arrow table with one column per attribute."""
    rows = [{**asdict(one), "channels": list(one.channels)} for one in findings]
    return pa.Table.from_pylist(rows, schema=FINDINGS_SCHEMA)


FINDINGS_SCHEMA = pa.schema(
    [
        ("row_id", pa.string()),
        ("source", pa.string()),
        ("file", pa.int32()),
        ("row", pa.int64()),
        ("benchmark", pa.string()),
        ("item_id", pa.string()),
        ("flagged", pa.bool_()),
        ("channel", pa.string()),
        ("channels", pa.list_(pa.string())),
        ("jaccard", pa.float64()),
        ("containment", pa.float64()),
        ("row_containment", pa.float64()),
        ("stem_jaccard", pa.float64()),
        ("stem_containment", pa.float64()),
        ("latex_jaccard", pa.float64()),
        ("latex_containment", pa.float64()),
        ("longest_run", pa.int32()),
        ("item_words", pa.int32()),
        ("similarity", pa.float64()),
        ("unique", pa.int32()),
        ("shared", pa.int32()),
        ("boilerplate", pa.int32()),
        ("overlap", pa.string()),
        ("row_text", pa.string()),
        ("item_text", pa.string()),
        ("gated", pa.bool_()),
    ]
)
