"""Verdicts for a file of responses, joined to the rows of a corpus, and their solve rates."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from dataflex_data.core.errors import InputDataError
from dataflex_data.core.records import data_suffix, numbered_json_lines
from dataflex_data.core.text import excerpt
from dataflex_data.core.types import Verdict
from dataflex_data.verifiers import routes

KEYS = ("row_id", "prompt_sha256")
_BATCH = 10_000


@dataclass(frozen=True, slots=True)
class Scored:
    """The verdict on one response.

    Attributes:
        row: The corpus row in its nested form.
        sample: Which of the row's responses, from 0.
        verdict: What its verifier found.
    """

    row: Mapping[str, Any]
    sample: int
    verdict: Verdict


@dataclass(slots=True)
class Joined:
    """What happened to the records of a response file.

    Attributes:
        scored: One entry per response that found its row.
        unjoined: Keys of records without a row, with how often; the key is ``""`` where absent.
        ambiguous: The same for prompts that several rows with different golds share.
    """

    scored: list[Scored] = field(default_factory=list)
    unjoined: dict[str, int] = field(default_factory=dict)
    ambiguous: dict[str, int] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class SolveRate:
    """Responses of one domain and source that are right, out of all.

    Attributes:
        domain: The rows' domain.
        source: The rows' ``extra_info.source``.
        rows: Distinct rows with at least one response.
        responses: Responses scored.
        correct: Responses with score 1.
        symbolic: Responses that the symbolic step decided.
    """

    domain: str
    source: str
    rows: int
    responses: int
    correct: int
    symbolic: int

    @property
    def rate(self) -> float:
        """Mean score of the responses, in [0, 1]."""
        return self.correct / self.responses if self.responses else 0.0


def read_responses(path: Path) -> Iterator[tuple[int, str, str, list[str]]]:
    """Yield ``(position, key name, key, responses)`` of each record of a response file.

    ``position`` is the line or row number from 1. The key is ``row_id`` or ``prompt_sha256``, at
    the top or in ``extra_info``; ``response`` is a text or a list of texts.

    Raises:
        InputDataError: The file cannot be read, or a record lacks a key or a response.
    """
    path = Path(path).expanduser()
    for position, record in _records(path):
        extra = record.get("extra_info")
        places = [record, extra] if isinstance(extra, Mapping) else [record]
        found = [
            (name, place[name]) for name in KEYS for place in places if place.get(name) is not None
        ]
        if not found or not isinstance(found[0][1], str) or not found[0][1]:
            raise InputDataError(
                f"{path}, record {position}: needs `row_id` or `prompt_sha256` as text "
                f"(keys: {', '.join(map(str, record))})"
            )
        response = record.get("response")
        responses = [response] if isinstance(response, str) else response
        if not isinstance(responses, Sequence) or not all(
            isinstance(text, str) for text in responses
        ):
            raise InputDataError(
                f"{path}, record {position}: `response` must be a text or a list of texts, "
                f"got {excerpt(repr(response))}"
            )
        yield position, found[0][0], found[0][1], list(responses)


def score_responses(
    responses: Iterable[tuple[int, str, str, list[str]]],
    rows: Iterable[Mapping[str, Any]],
    *,
    symbolic: bool = False,
) -> Joined:
    """Return a verdict for every response that finds its row.

    Args:
        responses: As `read_responses` yields them.
        rows: Corpus rows in nested form.
        symbolic: Ask math-verify where the exact ladder cannot decide.

    Raises:
        UnknownNameError: A row's ``data_source`` is no route.
        MissingExtraError: ``symbolic`` without the extra of that name.
    """
    by_key: dict[str, dict[str, list[Mapping[str, Any]]]] = {name: {} for name in KEYS}
    for row in rows:
        for name in KEYS:
            by_key[name].setdefault(row["extra_info"][name], []).append(row)
    joined = Joined()
    for _, name, key, texts in responses:
        candidates = by_key[name].get(key, [])
        answers = {(row["data_source"], row["reward_model"]["ground_truth"]) for row in candidates}
        if len(answers) != 1:
            counts = joined.ambiguous if candidates else joined.unjoined
            counts[key] = counts.get(key, 0) + 1
            continue
        row = candidates[0]
        for sample, text in enumerate(texts):
            verdict = routes.verify(
                row["data_source"],
                text,
                row["reward_model"]["ground_truth"],
                row["extra_info"],
                symbolic=symbolic,
            )
            joined.scored.append(Scored(row, sample, verdict))
    return joined


def solve_rates(scored: Iterable[Scored]) -> list[SolveRate]:
    """Return one entry per domain and source, sorted by both."""
    groups: dict[tuple[str, str], list[Scored]] = {}
    for entry in scored:
        place = (entry.row["domain"], entry.row["extra_info"]["source"])
        groups.setdefault(place, []).append(entry)
    return [
        SolveRate(
            domain=domain,
            source=source,
            rows=len({entry.row["extra_info"]["row_id"] for entry in entries}),
            responses=len(entries),
            correct=sum(entry.verdict.score == 1.0 for entry in entries),
            symbolic=sum(entry.verdict.step.startswith("symbolic") for entry in entries),
        )
        for (domain, source), entries in sorted(groups.items())
    ]


def verdict_records(scored: Iterable[Scored]) -> list[dict[str, Any]]:
    """Return the verdicts as flat records for a file."""
    return [
        {
            "row_id": entry.row["extra_info"]["row_id"],
            "domain": entry.row["domain"],
            "data_source": entry.row["data_source"],
            "sample": entry.sample,
            "score": entry.verdict.score,
            "pred": entry.verdict.parsed,
            "reason": entry.verdict.reason,
            "step": entry.verdict.step,
            "ground_truth": entry.row["reward_model"]["ground_truth"],
        }
        for entry in scored
    ]


def _records(path: Path) -> Iterator[tuple[int, Mapping[str, Any]]]:
    suffix = data_suffix(path)
    if suffix in {".jsonl", ".jsonl.gz"}:
        yield from numbered_json_lines(path)
        return
    if suffix != ".parquet":
        raise InputDataError(f"{path}: responses must be .jsonl, .jsonl.gz or .parquet")
    import pyarrow as pa
    import pyarrow.parquet as pq

    try:
        file = pq.ParquetFile(path)
        position = 0
        for batch in file.iter_batches(batch_size=_BATCH):
            for record in batch.to_pylist():
                position += 1
                yield position, record
    except (pa.ArrowInvalid, OSError) as error:
        raise InputDataError(f"{path}: cannot be read as parquet: {error}") from None
