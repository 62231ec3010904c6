"""Corpora that others wrote: chats, typed parts, odd column types, and readers that go away."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from dataflex_data.cli.main import main
from tests.factories import write_jsonl

ITEM = "A train leaves at noon and goes sixty miles an hour; when has it gone ninety miles in all?"


def exit_code(*arguments: object) -> int:
    with pytest.raises(SystemExit) as stopped:
        main([*map(str, arguments)])
    return int(stopped.value.code or 0)


@pytest.fixture
def mine(tmp_path: Path) -> tuple[str, str]:
    path = write_jsonl(tmp_path / "items.jsonl", [{"id": "q1", "question": ITEM}])
    return "--benchmark-file", f"mine={path}"


def summary(folder: Path) -> dict[str, Any]:
    return dict(json.loads((folder / "summary.json").read_text(encoding="utf-8")))


def chat(*contents: object) -> list[dict[str, object]]:
    return [{"role": "user", "content": content} for content in contents]


SYSTEM, PARTS = "Be brief.", [{"type": "text", "text": ITEM}]
LARGE = pa.large_list(pa.struct([("role", pa.large_string()), ("content", pa.large_string())]))
CHATS = {
    "two messages": pa.array([chat(SYSTEM, ITEM), chat("Something else.")]),
    "null and empty lists": pa.array([None, chat(SYSTEM, ITEM), [], chat(None, "x")]),
    "large types": pa.array([chat(SYSTEM, ITEM), chat("One.")], LARGE),
    "a fixed number of messages": pa.array(
        [chat(SYSTEM, ITEM), chat("a", "b")],
        pa.list_(pa.struct([("role", pa.string()), ("content", pa.string())]), 2),
    ),
    "typed parts": pa.array([chat(PARTS), [], None, chat(PARTS[:0])]),
    "bytes": pa.array([chat(SYSTEM.encode(), ITEM.encode()), chat(b"\xff")]),
}


@pytest.mark.parametrize("kind", CHATS)
def test_chats_of_any_shape_are_audited(kind: str, mine: tuple[str, str], tmp_path: Path) -> None:
    corpus, out = tmp_path / "c.parquet", tmp_path / "o"
    pq.write_table(pa.table({"prompt": CHATS[kind]}), corpus)
    for engine in ("exact", "minhash"):
        # MinHash compares whole texts: with two words of system prompt J is 6 / 8.
        how = ("--engine", engine, "--out", out, "--force")
        assert exit_code("audit-contamination", corpus, *mine, *how) == 1
        assert summary(out)["flagged_rows"] == 1
    assert exit_code("audit-duplicates", corpus) == 0


def test_typed_parts_read_the_same_from_json_lines(mine: tuple[str, str], tmp_path: Path) -> None:
    corpus = write_jsonl(tmp_path / "c.jsonl", [{"prompt": chat(PARTS)}])
    assert exit_code("audit-contamination", corpus, *mine, "--out", tmp_path / "o") == 1
    assert summary(tmp_path / "o")["claims"][0]["holds"] is False  # equal: the part's text alone


@pytest.mark.parametrize(
    "options",
    [
        pa.array([[1, 2], None]),
        pa.array([["a", None], []], pa.large_list(pa.large_string())),
        pa.array([[b"a", b"\xff"], None]),
        pa.array(["a", "b"]),
    ],
    ids=["numbers", "large, with a null", "bytes", "no list"],
)
def test_options_of_any_kind_lose_no_row(
    options: pa.Array, mine: tuple[str, str], tmp_path: Path
) -> None:
    corpus = tmp_path / "c.parquet"
    pq.write_table(pa.table({"question": [ITEM, "Other words."], "options": options}), corpus)
    assert exit_code("audit-contamination", corpus, *mine, "--out", tmp_path / "o") == 1
    assert summary(tmp_path / "o")["corpus"]["empty_rows"] == 0


@pytest.mark.parametrize("ids", [pa.array([[1]]), pa.array([{"a": 1}])])
def test_ids_that_arrow_cannot_write_as_text_are_told_by_file_and_column(
    ids: pa.Array, mine: tuple[str, str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    corpus = tmp_path / "c.parquet"
    pq.write_table(pa.table({"question": [ITEM], "id": ids}), corpus)
    for verb in (("audit-contamination", corpus, *mine), ("audit-duplicates", corpus)):
        assert exit_code(*verb, "--out", tmp_path / "o") == 2
        told = capsys.readouterr().err
        assert "c.parquet, rows 1 to 1: column 'id' holds" in told


def test_ids_that_are_no_text_are_read(mine: tuple[str, str], tmp_path: Path) -> None:
    corpus = tmp_path / "c.parquet"
    pq.write_table(pa.table({"question": [ITEM], "id": [b"\xffa"]}), corpus)
    assert exit_code("audit-contamination", corpus, *mine, "--out", tmp_path / "o") == 1
    found = pq.read_table(tmp_path / "o" / "findings.parquet").to_pylist()
    assert found[0]["row_id"] == "\ufffda"
    lines = tmp_path / "c.jsonl"
    lines.write_text(json.dumps({"question": ITEM, "id": "\ud800a", "options": ["\ud800"]}) + "\n")
    assert exit_code("audit-contamination", lines, *mine, "--out", tmp_path / "p") == 1


def test_a_text_column_of_numbers_is_told_with_its_type(
    mine: tuple[str, str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = tmp_path / "c"
    folder.mkdir()
    pq.write_table(pa.table({"question": [1, 2]}), folder / "b.parquet")
    assert exit_code("audit-contamination", folder, *mine, "--out", tmp_path / "o") == 2
    assert "question (int64)" in capsys.readouterr().err
    pq.write_table(pa.table({"question": ["one"]}), folder / "a.parquet")
    assert exit_code("audit-contamination", folder, *mine, "--out", tmp_path / "o") == 2
    assert "b.parquet: column 'question' holds int64" in capsys.readouterr().err


@pytest.mark.parametrize("channels", ["", ",", " , "])
def test_a_rule_without_channels_is_refused(
    channels: str, mine: tuple[str, str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    corpus = write_jsonl(tmp_path / "c.jsonl", [{"question": ITEM}])
    asked = ("audit-contamination", corpus, *mine, "--out", tmp_path / "o", "--channels", channels)
    assert exit_code(*asked) == 2
    assert "no channel is named" in capsys.readouterr().err
    assert not (tmp_path / "o").exists()


@pytest.mark.parametrize("unbuffered", ["", "1"])
@pytest.mark.parametrize(("text", "code"), [(ITEM, 1), ("Other words.", 0)])
def test_a_reader_that_goes_away_leaves_the_verbs_exit_code(
    text: str, code: int, unbuffered: str, mine: tuple[str, str], tmp_path: Path
) -> None:
    corpus = write_jsonl(tmp_path / "c.jsonl", [{"question": text}])
    asked = ["audit-contamination", str(corpus), *mine, "--out", str(tmp_path / "o")]
    reading, writing = os.pipe()
    os.close(reading)
    try:
        done = subprocess.run(
            [sys.executable, "-m", "dataflex_data.cli.main", *asked],
            stdout=writing,
            stderr=writing if unbuffered else subprocess.PIPE,
            env={**os.environ, "PYTHONUNBUFFERED": unbuffered},
            check=False,
        )
    finally:
        os.close(writing)
    assert done.returncode == code
    assert (tmp_path / "o" / "summary.json").is_file()
    assert unbuffered or b"BrokenPipe" not in done.stderr
