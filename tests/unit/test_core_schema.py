"""The row schema: one type for every file, every break of it named."""

from __future__ import annotations

import hashlib
from dataclasses import replace
from typing import Any

import pyarrow as pa
import pytest

from dataflex_data.core.schema import (
    ROW_SCHEMA,
    Row,
    prompt_sha256,
    record_problems,
    route_problem,
    rows_to_table,
    schema_problems,
)

ROW = Row(
    data_source="dataflex/gsm8k",
    prompt=(("user", "What is 1 + 1?"),),
    ability="math",
    ground_truth="2",
    domain="math",
    row_id="ab" * 16,
    source="openai/gsm8k",
    source_id="cd" * 8,
    source_revision="sha256:00",
    license="MIT",
    raw_question="What is 1 + 1?",
    raw_answer="#### 2",
)


def record(**changes: Any) -> dict[str, Any]:
    return {**ROW.to_record(0, "train"), **changes}


def test_a_row_becomes_a_record_with_typed_defaults() -> None:
    extra = record()["extra_info"]
    assert extra["difficulty"] == -1.0
    assert extra["n_people"] == extra["statement_depth"] == extra["prompt_tokens"] == -1
    assert extra["options"] == []
    assert extra["support"] == ""
    assert extra["prompt_sha256"] == hashlib.sha256(b"What is 1 + 1?").hexdigest()
    assert list(extra) == [field.name for field in ROW_SCHEMA.field("extra_info").type]
    assert list(record_problems(record())) == []


def test_tables_of_different_rows_have_one_type() -> None:
    # datasets#7449 and #7869: an int here and a string there, a list that is always empty.
    with_options = replace(ROW, options=("a", "b"), n_people=3)
    one, two = rows_to_table([ROW], "train"), rows_to_table([with_options], "validation")
    assert one.schema.equals(two.schema, check_metadata=True)
    assert pa.concat_tables([one, two]).num_rows == 2
    assert not any(pa.types.is_null(field.type) for field in one.flatten().flatten().schema)
    assert rows_to_table([], "train").schema.equals(ROW_SCHEMA)


def test_answers_of_many_digits_stay_text() -> None:
    big = replace(ROW, ground_truth="22099999999999998951424")
    table = rows_to_table([big], "train")
    assert table.to_pylist()[0]["reward_model"]["ground_truth"] == "22099999999999998951424"


@pytest.mark.parametrize(
    ("route", "part"),
    [
        ("", "is empty"),
        ("  ", "is empty"),
        ("~/data/train.parquet", "is a path"),
        ("/data/gsm8k", "is a path"),
        ("data\\gsm8k", "is a path"),
        ("a/b/c", "not a route name"),
        ("two words", "not a route name"),
        (None, "must be text"),
        (3, "must be text"),
    ],
)
def test_a_data_source_must_be_a_route(route: object, part: str) -> None:
    # verl#3450: "" dies at the first validation; verl#6156: a path used as data_source.
    assert part in (route_problem(route) or "")


@pytest.mark.parametrize("route", ["dataflex/gsm8k", "math_dapo", "openai/gsm8k", "org/A-1.b"])
def test_route_names_are_accepted(route: str) -> None:
    assert route_problem(route) is None


@pytest.mark.parametrize(
    ("changes", "part"),
    [
        ({"data_source": ""}, "`data_source` is empty"),
        ({"prompt": []}, "non-empty list"),
        ({"prompt": "text"}, "non-empty list"),
        ({"prompt": [{"role": "user", "content": None}]}, "`prompt[0].content` is empty"),
        ({"prompt": [{"role": "user", "content": "a\ud800"}]}, "lone surrogate"),
        ({"prompt": [{"role": "robot", "content": "a"}]}, "`prompt[0].role`"),
        ({"reward_model": {"style": "rule", "ground_truth": " "}}, "`reward_model.ground_truth`"),
        ({"domain": ""}, "`domain` is empty"),
    ],
)
def test_every_break_of_a_row_is_named(changes: dict[str, Any], part: str) -> None:
    assert any(part in problem for problem in record_problems(record(**changes)))


def test_a_foreign_schema_is_named_field_by_field() -> None:
    table = (
        rows_to_table([ROW], "train")
        .drop_columns(["domain"])
        .append_column("extra", pa.array(["x"]))
    )
    assert schema_problems(table.schema) == [
        "column `domain` is missing",
        "column `extra` is not part of schema version 1",
    ]
    other = pa.schema([pa.field("domain", pa.int64())])
    assert "column `domain` has type int64, expected string" in schema_problems(other)


def test_prompt_hash_joins_messages_with_a_line_feed() -> None:
    assert prompt_sha256(["a", "b"]) == hashlib.sha256(b"a\nb").hexdigest()
