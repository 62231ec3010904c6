"""The RLVR row: column names, one explicit Arrow schema, its version, and the check of a table.

Every file and split that this package writes has exactly this schema, with typed defaults and no
nulls, so that any two of them concatenate and load together (datasets, polars, pandas, verl).
Three ideas have three fields: the verifier route (``data_source``, verl's meaning), the origin
(``extra_info.source``), and the unit of mixture (``domain``). docs/schema.md is the manual.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field

import pyarrow as pa

from dataflex_data.core.text import excerpt, has_lone_surrogate, sha256_text

SCHEMA_VERSION = 1
SPLITS = ("train", "validation")
UNKNOWN_INT = -1
UNKNOWN_FLOAT = -1.0


def _list_of(kind: pa.DataType) -> pa.DataType:
    # "element" is what parquet calls it: a file read back then has this very schema.
    return pa.list_(pa.field("element", kind))


_MESSAGE = pa.struct([pa.field("role", pa.string()), pa.field("content", pa.string())])
EXTRA_INFO = pa.struct(
    [
        pa.field("index", pa.int64()),
        pa.field("split", pa.string()),
        pa.field("row_id", pa.string()),
        pa.field("source", pa.string()),
        pa.field("source_id", pa.string()),
        pa.field("source_revision", pa.string()),
        pa.field("license", pa.string()),
        pa.field("difficulty", pa.float64()),
        pa.field("n_people", pa.int64()),
        pa.field("statement_depth", pa.int64()),
        pa.field("options", _list_of(pa.string())),
        pa.field("support", pa.string()),
        pa.field("raw_question", pa.string()),
        pa.field("raw_answer", pa.string()),
        pa.field("prompt_tokens", pa.int64()),
        pa.field("prompt_sha256", pa.string()),
    ]
)
ROW_SCHEMA = pa.schema(
    [
        pa.field("data_source", pa.string()),
        pa.field("prompt", _list_of(_MESSAGE)),
        pa.field("ability", pa.string()),
        pa.field(
            "reward_model",
            pa.struct([pa.field("style", pa.string()), pa.field("ground_truth", pa.string())]),
        ),
        pa.field("extra_info", EXTRA_INFO),
        pa.field("domain", pa.string()),
    ],
    metadata={"dataflex_data.schema_version": str(SCHEMA_VERSION)},
)

# A route is a name such as "dataflex/gsm8k": no spaces, not empty, and not a path of a file.
_ROUTE = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.+-]*(/[A-Za-z0-9][A-Za-z0-9_.+-]*)?")
_FILE_SUFFIXES = (".parquet", ".json", ".jsonl", ".gz", ".csv", ".arrow")


@dataclass(frozen=True, slots=True)
class Row:
    """One training row, in Python values. ``to_record`` gives the nested form of `ROW_SCHEMA`.

    Attributes:
        data_source: Verifier route, such as ``dataflex/gsm8k``.
        prompt: Chat messages as ``(role, content)`` pairs.
        ground_truth: What the verifier compares with.
        domain: The unit of mixture.
        row_id: Hex id from (recipe seed, source, source id); stable when other rows change.
        source: Origin: the repository id, or the name the user gave a local source.
        source_id: Id of the record within its source, made of its content.
        source_revision: Commit of the repository, or ``sha256:...`` of a local file.
        license: SPDX identifier.
        difficulty: Meaning by source (docs/schema.md); -1.0 where the source has none.
        n_people: People in a Knights-and-Knaves puzzle; -1 elsewhere.
        statement_depth: Nesting depth of its deepest statement; -1 elsewhere.
        options: Option texts in letter order; empty where there are none.
        support: Supporting passage that the prompt does not show; ``""`` where there is none.
        raw_question: The question as the source has it.
        raw_answer: The answer as the source has it.
        prompt_tokens: Tokens of the rendered prompt; -1 where no tokenizer was given.
    """

    data_source: str
    prompt: tuple[tuple[str, str], ...]
    ability: str
    ground_truth: str
    domain: str
    row_id: str
    source: str
    source_id: str
    source_revision: str
    license: str
    raw_question: str
    raw_answer: str
    difficulty: float = UNKNOWN_FLOAT
    n_people: int = UNKNOWN_INT
    statement_depth: int = UNKNOWN_INT
    options: tuple[str, ...] = field(default=())
    support: str = ""
    prompt_tokens: int = UNKNOWN_INT

    def to_record(self, index: int, split: str) -> dict[str, object]:
        """Return the row as nested plain values in the order of `ROW_SCHEMA`."""
        return {
            "data_source": self.data_source,
            "prompt": [{"role": role, "content": content} for role, content in self.prompt],
            "ability": self.ability,
            "reward_model": {"style": "rule", "ground_truth": self.ground_truth},
            "extra_info": {
                "index": index,
                "split": split,
                "row_id": self.row_id,
                "source": self.source,
                "source_id": self.source_id,
                "source_revision": self.source_revision,
                "license": self.license,
                "difficulty": self.difficulty,
                "n_people": self.n_people,
                "statement_depth": self.statement_depth,
                "options": list(self.options),
                "support": self.support,
                "raw_question": self.raw_question,
                "raw_answer": self.raw_answer,
                "prompt_tokens": self.prompt_tokens,
                "prompt_sha256": prompt_sha256(content for _, content in self.prompt),
            },
            "domain": self.domain,
        }


def prompt_sha256(contents: Iterable[str]) -> str:
    """Return the SHA-256 hex digest of the messages' contents joined by a line feed."""
    return sha256_text("\n".join(contents))


def rows_to_table(rows: Sequence[Row], split: str) -> pa.Table:
    """Return the rows as one Arrow table of `ROW_SCHEMA`; ``index`` counts from 0."""
    records = [row.to_record(index, split) for index, row in enumerate(rows)]
    return pa.Table.from_pylist(records, schema=ROW_SCHEMA)


def route_problem(route: object) -> str | None:
    """Return what is wrong with a ``data_source``, or ``None`` where it is a usable route name."""
    if not isinstance(route, str):
        return f"`data_source` must be text, got {type(route).__name__}"
    if not route.strip():
        return (
            "`data_source` is empty; verl would fail at the first validation. "
            "Set it to a verifier route (see `dfdata routes`)"
        )
    if route.lower().endswith(_FILE_SUFFIXES) or route.startswith(("/", ".", "~")) or "\\" in route:
        return f"`data_source` {route!r} is a path, not a verifier route (see `dfdata routes`)"
    if not _ROUTE.fullmatch(route):
        return f"`data_source` {route!r} is not a route name (letters, digits, _ . + - and one /)"
    return None


def record_problems(record: dict[str, object]) -> Iterator[str]:
    """Yield what is wrong with one row in its nested form, in words without its position."""
    problem = route_problem(record["data_source"])
    if problem:
        yield problem
    prompt = record["prompt"]
    if not isinstance(prompt, list) or not prompt:
        yield "`prompt` must be a non-empty list of {role, content} messages"
    else:
        for number, message in enumerate(prompt):
            content = message.get("content") if isinstance(message, dict) else None
            if not isinstance(content, str) or not content.strip():
                yield f"`prompt[{number}].content` is empty or not text: {content!r}"
            elif problem := _unwritable(content):
                yield f"`prompt[{number}].content` has {problem}: {excerpt(content)}"
            if not isinstance(message, dict) or message.get("role") not in {
                "system",
                "user",
                "assistant",
            }:
                yield f"`prompt[{number}].role` must be system, user or assistant"
    reward_model = record["reward_model"]
    gold = reward_model.get("ground_truth") if isinstance(reward_model, dict) else None
    if not isinstance(gold, str) or not gold.strip():
        yield f"`reward_model.ground_truth` is empty or not text: {gold!r}"
    elif problem := _unwritable(gold):
        yield f"`reward_model.ground_truth` has {problem}: {excerpt(gold)}"
    extra = record["extra_info"]
    for name, value in extra.items() if isinstance(extra, dict) else ():
        for text in value if isinstance(value, list) else (value,):
            if isinstance(text, str) and (problem := _unwritable(text)):
                yield f"`extra_info.{name}` has {problem}: {excerpt(text)}"
    domain = record["domain"]
    if not isinstance(domain, str) or not domain.strip():
        yield f"`domain` is empty or not text: {domain!r}"


def _unwritable(text: str) -> str | None:
    if has_lone_surrogate(text):
        return "a lone surrogate"
    return "a NUL character" if "\x00" in text else None


def schema_problems(schema: pa.Schema) -> list[str]:
    """Return one sentence per column or field that differs from `ROW_SCHEMA`, ignoring metadata."""
    problems: list[str] = []
    for expected in ROW_SCHEMA:
        position = schema.get_field_index(expected.name)
        if position < 0:
            problems.append(f"column `{expected.name}` is missing")
        elif not schema.field(position).type.equals(expected.type):
            problems.append(
                f"column `{expected.name}` has type {schema.field(position).type}, "
                f"expected {expected.type}"
            )
    problems.extend(
        f"column `{name}` is not part of schema version {SCHEMA_VERSION}"
        for name in schema.names
        if name not in ROW_SCHEMA.names
    )
    return problems
