"""What the dashboard reads of a corpus's parquet: difficulties, a few rows that may be shown."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from dataflex_data.reporting.dashboard.files import Corpus
from dataflex_data.reporting.dashboard.models import AuditSummary
from dataflex_data.reporting.svg import Series, short

_BINS = 10
_GATED_NAMES = ("gpqa",)
_CONTROL = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f]")
_TRAIN = "train"


@dataclass(frozen=True, slots=True)
class Sample:
    """A row as a person reads it."""

    domain: str
    source: str
    license: str
    row_id: str
    prompt: str
    gold: str


@dataclass(frozen=True, slots=True)
class RowsView:
    """What there is to see of a corpus's training rows.

    Attributes:
        difficulty: Rows by difficulty, by source; ranges where there are many values.
        without_difficulty: Sources whose rows have none.
        samples: The first rows of each domain that may be shown.
        withheld: Rows passed over for a gated benchmark.
        problems: What is wrong with the files, one sentence each.
    """

    difficulty: dict[str, list[tuple[str, float]]] = field(default_factory=dict)
    without_difficulty: list[str] = field(default_factory=list)
    samples: list[Sample] = field(default_factory=list)
    withheld: int = 0
    problems: list[str] = field(default_factory=list)


def read_rows(
    corpus: Corpus,
    audits: Sequence[tuple[str, Path, AuditSummary]],
    *,
    sample_rows: int,
) -> RowsView:
    """Return the view of a corpus; a broken file is named in it, and nothing is shown of it."""
    manifest = corpus.manifest
    names = sorted(n for n in manifest.files if n.startswith(_TRAIN) and n.endswith(".parquet"))
    # Damage is told at the head of the corpus's section; nothing is shown of files in question.
    if any(name in corpus.damage for name in names):
        return RowsView()
    if not names or manifest.is_evaluation:
        return RowsView()
    try:
        near_gated = _near_gated(audits)
        return _view(corpus, names, near_gated, sample_rows)
    except (OSError, pa.ArrowException, KeyError, TypeError, AttributeError) as error:
        return RowsView(problems=[f"the rows cannot be read: {error}"])


def _near_gated(audits: Sequence[tuple[str, Path, AuditSummary]]) -> frozenset[str]:
    """Return ids of rows that any audit paired with an item of a gated benchmark."""
    found: set[str] = set()
    for _, folder, audit in audits:
        if any(benchmark.gated for benchmark in audit.benchmarks.values()):
            table = pq.read_table(folder / "findings.parquet", columns=["row_id", "gated"])
            found.update(table.filter(table["gated"])["row_id"].to_pylist())
    return frozenset(found)


def _view(
    corpus: Corpus, names: Sequence[str], near_gated: frozenset[str], sample_rows: int
) -> RowsView:
    columns = ["domain", "extra_info.difficulty", "extra_info.source"]
    held: dict[str, list[Any]] = {}
    samples: dict[str, list[Sample]] = {name: [] for name in corpus.manifest.domains}
    withheld = 0
    for name in names:
        path = corpus.folder / name
        for batch in pq.ParquetFile(path).iter_batches(columns=columns):
            extra = batch.column("extra_info")
            difficulties = extra.field("difficulty").to_numpy(zero_copy_only=False)
            sources = np.array(extra.field("source").to_pylist(), dtype=object)
            for source in dict.fromkeys(sources.tolist()):
                held.setdefault(source, []).append(difficulties[sources == source])
        for batch in pq.ParquetFile(path).iter_batches(batch_size=256):
            if all(len(rows) >= sample_rows for rows in samples.values()):
                break
            for record in batch.to_pylist():
                rows = samples.setdefault(record["domain"], [])
                if len(rows) >= sample_rows:
                    continue
                if _is_gated(record, near_gated):
                    withheld += 1
                else:
                    rows.append(_sample(record))
    difficulty, without = {}, []
    for source, parts in sorted(held.items()):
        values = np.concatenate(parts)
        known = values[values >= 0]
        if known.size:
            difficulty[source] = _counted(known)
        else:
            without.append(source)
    return RowsView(
        difficulty, without, [row for rows in samples.values() for row in rows], withheld
    )


def _is_gated(record: Mapping[str, Any], near_gated: frozenset[str]) -> bool:
    extra = record["extra_info"]
    told = f"{extra['source']} {record['data_source']}".lower()
    return extra["row_id"] in near_gated or any(name in told for name in _GATED_NAMES)


def _sample(record: Mapping[str, Any]) -> Sample:
    extra = record["extra_info"]
    prompt = "\n\n".join(message["content"] for message in record["prompt"])
    return Sample(
        record["domain"],
        extra["source"],
        extra["license"],
        extra["row_id"],
        _visible(prompt),
        _visible(record["reward_model"]["ground_truth"]),
    )


def _visible(text: str) -> str:
    """Return the text with control characters written out."""
    return _CONTROL.sub(lambda hit: f"\\x{ord(hit[0]):02x}", text)


def _counted(values: Series) -> list[tuple[str, float]]:
    """Return rows by value, or by range where there are more than `_BINS` different ones."""
    if np.unique(values).size <= _BINS:
        counts = Counter(values.tolist())
        return [(short(value), float(counts[value])) for value in sorted(counts)]
    numbers, edges = np.histogram(values, bins=_BINS)
    return [
        (f"{short(edges[n])} to {short(edges[n + 1])}", float(count))
        for n, count in enumerate(numbers.tolist())
    ]
