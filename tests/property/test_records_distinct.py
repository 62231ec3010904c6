"""Whatever the values and the chunk size: nothing is lost, invented, reordered or confused."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from dataflex_data.core.errors import InputDataError
from dataflex_data.core.records import read_records

TEXT = st.one_of(st.none(), st.text(alphabet="ab\0é", max_size=2))
MESSAGES = st.one_of(
    st.none(),
    st.lists(
        st.one_of(st.none(), st.fixed_dictionaries({"role": TEXT, "content": TEXT})), max_size=2
    ),
)
ROWS = st.lists(
    st.fixed_dictionaries(
        {
            "prompt": MESSAGES,
            "gold": st.one_of(st.none(), st.fixed_dictionaries({"g": TEXT})),
            "n": st.one_of(st.none(), st.integers(-1, 1)),
        }
    ),
    min_size=1,
    max_size=30,
)
MESSAGE = pa.struct([("role", pa.string()), ("content", pa.string())])
SCHEMA = pa.schema(
    [
        ("prompt", pa.list_(MESSAGE)),
        ("gold", pa.struct([("g", pa.string())])),
        ("n", pa.int64()),
    ]
)


def distinct(rows: list[dict[str, Any]], start: int) -> tuple[list[int], list[dict[str, Any]]]:
    """The plain way: first occurrences, by their written form."""
    first: dict[str, tuple[int, dict[str, Any]]] = {}
    for number, row in enumerate(rows, start=start):
        first.setdefault(json.dumps(row, sort_keys=True), (number, row))
    return [number for number, _ in first.values()], [row for _, row in first.values()]


@pytest.mark.parametrize("suffix", [".parquet", ".jsonl"])
@settings(
    max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(rows=ROWS, batch_rows=st.integers(1, 12), row_group=st.integers(1, 12))
def test_chunks_equal_the_plain_way(
    tmp_path: Path, suffix: str, rows: list[dict[str, Any]], batch_rows: int, row_group: int
) -> None:
    path = tmp_path / f"f{suffix}"
    if suffix == ".parquet":
        pq.write_table(pa.Table.from_pylist(rows, SCHEMA), path, row_group_size=row_group)
    else:
        path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    seen = 0
    for chunk in read_records(path, ["prompt", "gold", "n"], batch_rows=batch_rows):
        part = rows[seen : seen + chunk.total]
        assert (chunk.rows, chunk.records) == distinct(part, seen + 1)
        assert chunk.repeats == chunk.total - len(chunk.records)
        seen += chunk.total
    assert seen == len(rows)


@settings(
    max_examples=150, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(
    data=st.binary(min_size=1, max_size=60), start=st.sampled_from([b"", b"[{", b'{"a":', b"PAR1"])
)
@pytest.mark.parametrize("suffix", [".jsonl", ".json", ".parquet", ".jsonl.gz"])
def test_any_bytes_are_read_or_refused_in_words(
    tmp_path: Path, suffix: str, data: bytes, start: bytes
) -> None:
    path = tmp_path / f"f{suffix}"
    path.write_bytes(start + data)
    read: list[list[str]] = []
    refused = ""
    try:
        read = [list(record) for chunk in read_records(path, ["a"]) for record in chunk.records]
    except InputDataError as error:
        refused = str(error)
    assert read or refused.startswith(str(path))
    assert all(names == ["a"] for names in read)
