"""Verdicts for a file of responses, joined to the rows of a corpus, and their solve rates."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from dataflex_data.core.errors import InputDataError, near_matches
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


@dataclass(frozen=True, slots=True)
class Response:
    """One record of a response file.

    Attributes:
        position: Line or row number, from 1.
        keys: ``row_id``, ``prompt_sha256`` or both, as the record has them.
        texts: The responses; there may be none.
    """

    position: int
    keys: Mapping[str, str]
    texts: tuple[str, ...]


@dataclass(slots=True)
class Joined:
    """What happened to the records of a response file.

    Attributes:
        scored: One entry per response that found its row.
        records: Records read.
        silent: Corpus rows that no response belongs to.
        empty: Keys of records that found their row and hold no response, with how often.
        unjoined: Keys of records without a row, with how often; the key is ``""`` where absent.
        ambiguous: The same for prompts that several rows with different golds share.
    """

    scored: list[Scored] = field(default_factory=list)
    records: int = 0
    silent: int = 0
    empty: dict[str, int] = field(default_factory=dict)
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


def read_responses(path: Path) -> Iterator[Response]:
    """Yield ``(position, keys, responses)`` of each record of a response file.

    ``position`` is the line or row number from 1. The keys are ``row_id``, ``prompt_sha256`` or
    both, at the top or in ``extra_info``; ``response`` is a text or a list of texts.

    Raises:
        InputDataError: The file cannot be read, or a record lacks a key or a response, or has one
            key twice with different values.
    """
    path = Path(path).expanduser()
    for position, record in _records(path):
        where = f"{path}, record {position}"
        keys = _keys(record, where)
        if "response" not in record:
            raise InputDataError(
                f"{where}: has no `response`{did_you_mean_key('response', record)} "
                f"(keys: {', '.join(map(str, record))})"
            )
        response = record["response"]
        responses = [response] if isinstance(response, str) else response
        if not isinstance(responses, Sequence) or not all(
            isinstance(text, str) for text in responses
        ):
            raise InputDataError(
                f"{where}: `response` must be a text or a list of texts, "
                f"got {excerpt(repr(response))}"
            )
        yield Response(position, keys, tuple(responses))


def _keys(record: Mapping[str, Any], where: str) -> dict[str, str]:
    extra = record.get("extra_info")
    places = [record, extra] if isinstance(extra, Mapping) else [record]
    keys: dict[str, str] = {}
    for name in KEYS:
        held = [place[name] for place in places if place.get(name) is not None]
        for value in held:
            if not isinstance(value, str) or not value:
                raise InputDataError(
                    f"{where}: `{name}` must be a text, got {excerpt(repr(value))}"
                )
            if value != held[0]:
                raise InputDataError(
                    f"{where}: `{name}` is {excerpt(held[0])} and, in extra_info, {excerpt(value)}"
                )
            keys[name] = value
    if not keys:
        hints = "".join(dict.fromkeys(did_you_mean_key(name, record) for name in KEYS))
        raise InputDataError(
            f"{where}: needs `row_id` or `prompt_sha256`{hints} "
            f"(keys: {', '.join(map(str, record))})"
        )
    return keys


def did_you_mean_key(wanted: str, record: Mapping[str, Any]) -> str:
    """Return which key of a record may be meant by ``wanted``, ``""`` where none is near."""
    near = [key for key in map(str, record) if wanted in near_matches(key, [wanted])]
    return f"; is it what stands in {' or '.join(map(repr, near))}?" if near else ""


def score_responses(
    responses: Iterable[Response],
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
        InputDataError: The two keys of a record belong to different rows.
        MissingExtraError: ``symbolic`` without the extra of that name.
    """
    by_key: dict[str, dict[str, list[Mapping[str, Any]]]] = {name: {} for name in KEYS}
    for row in rows:
        for name in KEYS:
            by_key[name].setdefault(row["extra_info"][name], []).append(row)
    joined = Joined()
    answered: set[str] = set()
    for response in responses:
        joined.records += 1
        name, key = next(iter(response.keys.items()))
        candidates = _same_rows(response, by_key)
        answers = {(row["data_source"], row["reward_model"]["ground_truth"]) for row in candidates}
        if len(answers) != 1:
            counts = joined.ambiguous if candidates else joined.unjoined
            counts[key] = counts.get(key, 0) + 1
            continue
        row = candidates[0]
        if not response.texts:
            joined.empty[key] = joined.empty.get(key, 0) + 1
        answered.update(row["extra_info"]["row_id"] for row in candidates if response.texts)
        for sample, text in enumerate(response.texts):
            verdict = routes.verify(
                row["data_source"],
                text,
                row["reward_model"]["ground_truth"],
                row["extra_info"],
                symbolic=symbolic,
            )
            joined.scored.append(Scored(row, sample, verdict))
    joined.silent = len(by_key["row_id"].keys() - answered)
    return joined


def _same_rows(
    response: Response, by_key: Mapping[str, Mapping[str, list[Mapping[str, Any]]]]
) -> list[Mapping[str, Any]]:
    """Return the rows that every key of a response names; none where no key is known."""
    found = {name: by_key[name].get(key, []) for name, key in response.keys.items()}
    (name, rows), *others = found.items()
    for other, named in others:
        if rows == named == []:
            continue
        rows = [row for row in rows if any(row is one for one in named)]
        if not rows:
            raise InputDataError(
                f"record {response.position}: its `{name}` {excerpt(response.keys[name])} and its "
                f"`{other}` {excerpt(response.keys[other])} do not belong to the same row of the "
                "corpus; leave out the one that is wrong"
            )
    return rows


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
