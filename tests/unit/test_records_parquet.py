"""Reading parquet: distinct rows as plain Python values, and what is said about broken files."""

from __future__ import annotations

import datetime
import decimal
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from dataflex_data.core.errors import InputDataError
from dataflex_data.core.records import RecordChunk, read_records

PROMPT = [{"content": "1+1?", "role": "user"}]


def save(path: Path, table: pa.Table, **options: Any) -> Path:
    pq.write_table(table, path, **options)
    return path


def read(path: Path, *columns: str, optional: tuple[str, ...] = ()) -> list[dict[str, Any]]:
    return [record for chunk in read_records(path, columns, optional) for record in chunk.records]


def refusal(path: Path, *columns: str) -> str:
    with pytest.raises(InputDataError) as caught:
        read(path, *columns)
    assert str(path) in str(caught.value)
    return str(caught.value)


def test_prompts_written_by_pandas_come_back_as_lists_of_dicts(tmp_path: Path) -> None:
    frame = pd.DataFrame(
        {
            "prompt": [np.array(PROMPT, dtype=object), PROMPT],
            "reward_model": [{"ground_truth": "2", "style": "rule"}] * 2,
            "extra_info": [{"index": 1}, {"index": 2}],
        }
    )
    frame.to_parquet(tmp_path / "f.parquet")
    chunks = list(read_records(tmp_path / "f.parquet", ["prompt", "reward_model"], ["none"]))
    assert chunks == [
        RecordChunk(
            rows=[1],
            records=[
                {"prompt": PROMPT, "reward_model": {"ground_truth": "2", "style": "rule"}},
            ],
            repeats=1,
            total=2,
        )
    ]
    assert type(chunks[0].records[0]["prompt"]) is list
    both = read(tmp_path / "f.parquet", "prompt", optional=("extra_info",))
    assert [row["extra_info"] for row in both] == [{"index": 1}, {"index": 2}]


def test_rows_are_numbered_through_chunks_and_row_groups(tmp_path: Path) -> None:
    table = pa.table({"a": ["x", "x", "y", "x", "y", "y", "z"]})
    path = save(tmp_path / "f.parquet", table, row_group_size=2)
    chunks = list(read_records(path, ["a"], batch_rows=3))
    assert [chunk.rows for chunk in chunks] == [[1, 3], [4, 5], [7]]
    assert [(chunk.repeats, chunk.total) for chunk in chunks] == [(1, 3), (1, 3), (0, 1)]


VALUES: list[tuple[pa.DataType, list[Any]]] = [
    (pa.string(), ["a", "", None, "a\0"]),
    (pa.large_string(), ["a", "", None]),
    (pa.binary(), [b"a", b"", None]),
    (pa.bool_(), [True, False, None]),
    (pa.int64(), [2**62 + 1, 2**62, None]),
    (pa.uint8(), [0, 255]),
    (pa.float64(), [0.5, -0.5, None]),
    (pa.float32(), [0.5, -0.5]),
    (pa.decimal128(25, 2), [decimal.Decimal("12345678901234567890123.45"), None]),
    (pa.date32(), [datetime.date(2026, 1, 1), None]),
    (pa.timestamp("us"), [datetime.datetime(2026, 1, 1), None]),
    (pa.dictionary(pa.int32(), pa.string()), ["a", "b", None]),
    (pa.list_(pa.string()), [[], ["a"], ["a", "a"], ["aa"], [None], None]),
    (pa.large_list(pa.int32()), [[1, 2], [2, 1], [], None]),
    (pa.list_(pa.int32(), 2), [[1, 2], [2, 1], [None, 1]]),
    (pa.list_(pa.list_(pa.string())), [[["a"], ["b"]], [["a", "b"]], [[], ["a", "b"]], [None]]),
    (
        pa.struct([("x", pa.string()), ("y", pa.list_(pa.int64()))]),
        [{"x": "a", "y": [1]}, {"x": "a", "y": None}, {"x": None, "y": []}, None],
    ),
    (
        pa.list_(pa.struct([("role", pa.string()), ("content", pa.string())])),
        [
            [{"role": "a", "content": "b"}],
            [{"role": "b", "content": "a"}],
            [{"role": "a", "content": "b"}, {"role": "a", "content": "b"}],
            [None],
            [],
            None,
        ],
    ),
    (pa.null(), [None]),
]


@pytest.mark.parametrize(("kind", "values"), VALUES, ids=[str(kind) for kind, _ in VALUES])
def test_every_value_is_told_from_every_other_and_comes_back_as_it_was(
    tmp_path: Path, kind: pa.DataType, values: list[Any]
) -> None:
    rows = [*values, *reversed(values)]
    path = save(tmp_path / "f.parquet", pa.table({"a": pa.array(rows, kind)}))
    (chunk,) = read_records(path, ["a"])
    assert [record["a"] for record in chunk.records] == values
    assert chunk.rows == list(range(1, len(values) + 1))
    assert chunk.repeats == len(values)


def test_float_rows_are_compared_by_their_bits(tmp_path: Path) -> None:
    rows = [0.0, -0.0, float("nan"), float("nan")]
    path = save(tmp_path / "f.parquet", pa.table({"a": rows}))
    assert [repr(row["a"]) for row in read(path, "a")] == ["0.0", "-0.0", "nan"]


def test_no_column_of_those_wanted_is_there_or_needed(tmp_path: Path) -> None:
    expected = [RecordChunk(rows=[1], records=[{}], repeats=2, total=3)]
    path = save(tmp_path / "f.parquet", pa.table({"a": ["x", "y", "z"]}))
    assert list(read_records(path, [], ["none"])) == expected
    (tmp_path / "f.jsonl").write_text('{"a": "x"}\n' * 3)
    assert list(read_records(tmp_path / "f.jsonl", [], ["none"])) == expected


def test_rows_differ_when_any_wanted_column_does(tmp_path: Path) -> None:
    table = pa.table({"a": ["x", "x", "x"], "b": [1, 2, 1], "c": [1, 2, 3]})
    path = save(tmp_path / "f.parquet", table)
    assert read(path, "b", "a") == [{"b": 1, "a": "x"}, {"b": 2, "a": "x"}]
    assert list(read(path, "b", "a")[0]) == ["b", "a"]


def test_a_raw_hub_file_without_reward_model_lists_what_is_missing(tmp_path: Path) -> None:
    path = save(tmp_path / "f.parquet", pa.table({"question": ["?"], "promt": ["p"]}))
    message = refusal(path, "prompt", "reward_model")
    assert "columns missing: `prompt`; did you mean 'promt'?, `reward_model`." in message
    assert "Columns found: question, promt." in message


def test_an_encoded_surrogate_is_left_for_the_source_and_other_bytes_are_refused(
    tmp_path: Path,
) -> None:
    def strings(*values: bytes) -> pa.Array:
        binary = pa.array(values, pa.binary())
        return pa.Array.from_buffers(pa.string(), len(values), binary.buffers())

    surrogate = pa.table({"a": strings(b"fine", b"x\xed\xa0\x80")})
    assert read(save(tmp_path / "s.parquet", surrogate), "a") == [{"a": "fine"}, {"a": "x\ud800"}]
    lists = pa.ListArray.from_arrays([0, 1, 1, 3], strings(b"fine", b"\xe9", b"x\xff"))
    path = save(tmp_path / "b.parquet", pa.table({"p": lists}))
    message = refusal(path, "p")
    assert "column `p`, row 3: byte 0xe9 at offset 0 of the value is not UTF-8" in message


def test_files_that_are_not_whole(tmp_path: Path) -> None:
    path = save(tmp_path / "f.parquet", pa.table({"a": [str(i) for i in range(5000)]}))
    whole = path.read_bytes()
    path.write_bytes(whole[: len(whole) // 2])
    assert "is not a whole parquet file" in refusal(path, "a")
    path.write_bytes(whole[:100] + bytes(2000) + whole[2100:])
    assert "is damaged after row 0" in refusal(path, "a")
    path.write_bytes(b"PAR1")
    assert "is not a whole parquet file" in refusal(path, "a")


def test_no_rows_twice_named_columns_and_unread_types(tmp_path: Path) -> None:
    empty = save(tmp_path / "0.parquet", pa.table({"a": pa.array([], pa.string())}))
    assert "holds no rows" in refusal(empty, "a")
    twice = pa.Table.from_arrays([pa.array([1]), pa.array([2])], names=["a", "a"])
    assert "has two columns named `a`" in refusal(save(tmp_path / "2.parquet", twice), "a")
    maps = pa.table({"a": pa.array([[("k", 1)]], pa.map_(pa.string(), pa.int64()))})
    message = refusal(save(tmp_path / "m.parquet", maps), "a")
    assert "column `a` holds the Arrow type map<string, int64" in message


@pytest.mark.shared
def test_the_hundredfold_file_has_as_many_distinct_rows_as_texts_and_golds(
    shared_dir: Path,
) -> None:
    folder = shared_dir / "data/dapo_math_17k/derived_canonical"
    path = folder / "dapo-math-17k.repeat100_of_200.parquet"
    records: set[tuple[str, str]] = set()
    rows = 0
    for chunk in read_records(path, ["prompt", "reward_model"], batch_rows=4096):
        rows += chunk.total
        assert chunk.total == len(chunk.records) + chunk.repeats
        records |= {
            (record["prompt"][0]["content"], record["reward_model"]["ground_truth"])
            for record in chunk.records
        }
    assert rows == 20_000
    table = pq.read_table(path).to_pylist()
    assert records == {
        (row["prompt"][0]["content"], row["reward_model"]["ground_truth"]) for row in table
    }


def test_a_file_of_repeats_is_streamed(tmp_path: Path) -> None:
    # 300 distinct rows of 20 kB, 100 times over: 600 MB as Arrow, 120 MB a row group.
    texts = [f"{number:05d}" * 4000 for number in range(300)]
    path = tmp_path / "big.parquet"
    with pq.ParquetWriter(path, pa.schema([("a", pa.string())])) as writer:
        for _ in range(5):
            writer.write_table(pa.table({"a": texts * 20}))
    code = (
        "import resource, sys\n"
        "from pathlib import Path\n"
        "from dataflex_data.core.records import read_records\n"
        "import dataflex_data.core.parquet_records\n"
        "def peak(): return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss\n"
        "before = peak()\n"
        "chunks = [(c.total, len(c.records)) for c in\n"
        "    read_records(Path(sys.argv[1]), ['a'], batch_rows=1000)]\n"
        "assert chunks == [(1000, 300)] * 30, chunks\n"
        "print((peak() - before) // 1024)\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", code, str(path)], capture_output=True, text=True, check=True
    )
    assert int(done.stdout) < 250, f"{done.stdout.strip()} MB more"
