"""Reading JSON Lines and JSON: what is kept exact, and what is said about broken files."""

from __future__ import annotations

import gzip
import json
from pathlib import Path
from typing import Any

import pytest

from dataflex_data.core.errors import InputDataError
from dataflex_data.core.fetch import locate_path
from dataflex_data.core.records import RecordChunk, iter_files, read_records

GOOD = b'{"q": "1+1", "a": "2"}\n'


def read(path: Path, *columns: str, optional: tuple[str, ...] = ()) -> list[dict[str, Any]]:
    chunks = read_records(path, columns or ("q", "a"), optional)
    return [record for chunk in chunks for record in chunk.records]


def refusal(path: Path, *columns: str) -> str:
    with pytest.raises(InputDataError) as caught:
        read(path, *columns)
    assert str(path) in str(caught.value)
    return str(caught.value)


def write(path: Path, data: bytes) -> Path:
    path.write_bytes(gzip.compress(data) if path.suffix == ".gz" else data)
    return path


@pytest.mark.parametrize("suffix", [".jsonl", ".jsonl.gz", ".JSONL"])
def test_lines(tmp_path: Path, suffix: str) -> None:
    lines = b'\xef\xbb\xbf{"q": "a", "a": "1", "x": 0}\r\n\n  \n{"q": "b", "a": null}\n{"a": "3"}'
    chunks = list(read_records(write(tmp_path / f"f{suffix}", lines), ["q", "a"], ["x", "none"]))
    assert chunks == [
        RecordChunk(
            rows=[1, 4, 5],
            records=[{"q": "a", "a": "1", "x": 0}, {"q": "b", "a": None}, {"q": None, "a": "3"}],
            repeats=0,
            total=3,
        )
    ]


@pytest.mark.parametrize(
    "text",
    [
        '[{"q": "a", "a": "1"},\n {"q": "b", "a": "2"}]',
        '{"canary": "x", "examples": [{"q": "a", "a": "1"}, {"q": "b", "a": "2"}]}',
        '\ufeff {"data": [{"q": "a", "a": "1"}, {"q": "b", "a": "2"}], "version": {"rows": []}}\n',
        '{"rows" : [ {"q": "a", "a": "1"} , {"q": "b", "a": "2"} ] }',
    ],
)
@pytest.mark.parametrize("suffix", [".json", ".json.gz"])
def test_documents(tmp_path: Path, text: str, suffix: str) -> None:
    path = write(tmp_path / f"f{suffix}", text.encode())
    (chunk,) = read_records(path, ["q", "a"])
    assert chunk.rows == [1, 2]
    assert chunk.records == [{"q": "a", "a": "1"}, {"q": "b", "a": "2"}]


def test_repeats_are_counted_within_a_chunk_over_the_wanted_columns(tmp_path: Path) -> None:
    # rows:   a1 a1' b1 | a1 a1 b1 | b1      (the index differs everywhere and is not wanted)
    rows = [("a", 1), ("a", 1), ("b", 1), ("a", 1), ("a", 1), ("b", 1), ("b", 1)]
    lines = [json.dumps({"q": q, "a": a, "index": i}) for i, (q, a) in enumerate(rows)]
    path = write(tmp_path / "f.jsonl", "\n".join(lines).encode())
    chunks = list(read_records(path, ["q", "a"], batch_rows=3))
    assert [chunk.rows for chunk in chunks] == [[1, 3], [4, 6], [7]]
    assert [(chunk.repeats, chunk.total) for chunk in chunks] == [(1, 3), (1, 3), (0, 1)]


def test_values_that_python_calls_equal_stay_apart(tmp_path: Path) -> None:
    values = ["1", "1.0", "true", '"1"', "0", "false", "null", "[1]", "[1.0]"]
    lines = "".join(f'{{"a": {value}}}\n' for value in values)
    assert [repr(row["a"]) for row in read(write(tmp_path / "f.jsonl", lines.encode()), "a")] == [
        "1", "1.0", "True", "'1'", "0", "False", "None", "[1]", "[1.0]",
    ]  # fmt: skip


def test_large_integers_stay_exact(tmp_path: Path) -> None:
    path = write(
        tmp_path / "f.jsonl", b'{"a": 22099999999999998951424, "q": "2209999999999999895"}'
    )
    assert read(path) == [{"a": 22099999999999998951424, "q": "2209999999999999895"}]


def test_a_lone_surrogate_and_a_nul_are_left_for_the_source_to_judge(tmp_path: Path) -> None:
    path = write(tmp_path / "f.jsonl", b'{"q": "x\\ud800", "a": "\\u0000"}\n' * 2)
    (chunk,) = read_records(path, ["q", "a"])
    assert chunk.records == [{"q": "x\ud800", "a": "\x00"}]
    assert chunk.repeats == 1


@pytest.mark.parametrize(
    ("line", "words"),
    [
        (b'{"q": "1+1", "a": }', "line 3, column 19: is not valid JSON: Expecting value near"),
        (b'{"q": "1+1"', "line 3, column 12: is not valid JSON: Expecting ',' delimiter"),
        (b'["q", "a"]', "line 3: is a list, not an object"),
        (b"12", "line 3: is a number, not an object"),
        (b'"text"', "line 3: is a string, not an object"),
        (b"null", "line 3: is null, not an object"),
        (b'{"q": 1, "a": 2, "q": 3}', "line 3: writes key `q` twice in one object"),
        (b'{"q": {"x": 1, "x": 1}, "a": 2}', "line 3: writes key `x` twice in one object"),
        (b'{"q": "\xff"}', "line 3: byte 0xff at offset 53 of the file is not UTF-8"),
        (b'{"q": ' + b"[" * 100_000, "line 3: is nested too deeply"),
        (b'{"q": ' + b"9" * 5000 + b"}", "line 3: holds a value that cannot be read"),
    ],
)
def test_a_bad_line_is_named(tmp_path: Path, line: bytes, words: str) -> None:
    # Two good lines of 23 bytes before it: a byte at index 7 of line 3 is byte 53 of the file.
    assert words in refusal(write(tmp_path / "f.jsonl", GOOD * 2 + line + b"\n" + GOOD))


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ('[{"q": 1, "a": 2},\n 7]', "row 2 (line 2): is a number, not an object"),
        ('[{"q": 1, "a": 2},\n {"q": 1 "a": 2}]', "line 2, column 10: is not valid JSON"),
        ('[{"q": 1, "a": 2},\n {"q": 1, "q": 2}]', "begins on line 2: writes key `q` twice"),
        ('[{"q": 1, "a": 2}', "`,` or `]` is expected (the text ends here)"),
        ('[{"q": 1, "a": 2},]', "is not valid JSON"),
        ('[{"q": 1, "a": 2}]]', "line 1, column 19: goes on after its end"),
        ('{"q": 1, "a": 2}\n{"q": 1, "a": 2}\n', "line 2, column 1: goes on after its end"),
        ('{"q": 1, "a": 2}', "is one object (keys: q, a) where a list of objects is needed"),
        ('{"data": [], "rows": []}', "under exactly one of `examples`, `data`, `rows`"),
        ('{"data": [1], "data": [2]}', "writes key `data` twice"),
        ('{"data" [1]}', "a key and a colon are expected"),
        ('{"data": [1] 2}', "`,` or `}` is expected"),
        ("3", "holds a number, where a list of objects is needed"),
        ("[]", "holds no rows"),
        ('{"data": []}', "holds no rows"),
        ("{", "is not valid JSON"),
        ("hello", "is not valid JSON"),
    ],
)
def test_a_bad_document_is_told_with_its_line(tmp_path: Path, text: str, words: str) -> None:
    assert words in refusal(write(tmp_path / "f.json", text.encode()))


def test_a_document_that_is_not_utf8(tmp_path: Path) -> None:
    path = write(tmp_path / "f.json", b'[{"q": "a"},\n {"q": "\xe9"}]')
    assert "line 2: byte 0xe9 at offset 21 of the file is not UTF-8" in refusal(path)


@pytest.mark.parametrize(
    ("name", "data", "words"),
    [
        ("f.jsonl", b"", "is empty (0 bytes)"),
        ("f.jsonl", b"\n \n", "holds no rows"),
        ("f.jsonl", b"PAR1....", "is named .jsonl but holds parquet"),
        ("f.jsonl", b"\x1f\x8b\x08", "is named .jsonl but holds gzip data"),
        ("f.json", b"PK\x03\x04", "is named .json but holds a zip archive"),
        ("f.json", b"<!DOCTYPE html><p>", "is named .json but holds a web page"),
        ("f.jsonl", b"\xff\xfe{\0", "is named .jsonl but holds UTF-16 text"),
        ("f.parquet", b"version https://git-lfs.github.com/spec/v1", "a Git LFS pointer"),
        ("f.parquet", GOOD, "is named .parquet but holds JSON text"),
        ("f.parquet", b"not found", "is named .parquet but holds text that begins 'not found'"),
        ("f.parquet", b"\0\0\0", "is named .parquet but holds binary data"),
        ("f.jsonl.zip", GOOD, "a file of this name cannot be read; known are .parquet, .jsonl"),
        ("f.csv", b"q,a\n", "a file of this name cannot be read"),
    ],
)
def test_wrong_content_is_told_in_words(tmp_path: Path, name: str, data: bytes, words: str) -> None:
    path = tmp_path / name
    path.write_bytes(data)
    assert words in refusal(path)


def test_plain_text_named_gz(tmp_path: Path) -> None:
    path = tmp_path / "f.jsonl.gz"
    path.write_bytes(GOOD)
    assert "is named .jsonl.gz but holds JSON text" in refusal(path)


@pytest.mark.parametrize("suffix", [".jsonl.gz", ".json.gz"])
def test_cut_off_gzip(tmp_path: Path, suffix: str) -> None:
    whole = gzip.compress(b"".join(b'{"q": "%d", "a": "1"}\n' % i for i in range(1000)))
    (tmp_path / f"f{suffix}").write_bytes(whole[: len(whole) // 2])
    assert "gzip data are cut off or damaged" in refusal(tmp_path / f"f{suffix}")
    damaged = whole[:-6] + bytes([whole[-6] ^ 1]) + whole[-5:]  # within the CRC-32
    (tmp_path / "crc.jsonl.gz").write_bytes(damaged)
    assert "gzip data are cut off or damaged" in refusal(tmp_path / "crc.jsonl.gz")


def test_paths_that_are_not_readable_files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert "is a folder where a file is needed" in refusal(tmp_path)
    assert "no such file" in refusal(tmp_path / "gone.jsonl")
    path = write(tmp_path / "f.jsonl", GOOD)

    def refuse(*_: object, **__: object) -> None:
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(Path, "open", refuse)  # as root, a file's mode would not refuse
    assert "may not be read (permission denied)" in refusal(path)


def test_missing_columns_are_listed_with_those_found_and_near_matches(tmp_path: Path) -> None:
    path = write(tmp_path / "f.jsonl", b'{"Question": "1", "gold": "2"}\n')
    message = refusal(path, "question", "answer")
    assert "columns missing: `question`; did you mean 'Question'?, `answer`." in message
    assert "Columns found: Question, gold." in message


def test_a_tilde_is_expanded(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    write(tmp_path / "f.jsonl", GOOD)
    assert read(Path("~/f.jsonl")) == [{"q": "1+1", "a": "2"}]


def test_all_files_of_a_source_are_read_in_order(tmp_path: Path) -> None:
    write(tmp_path / "2.jsonl", GOOD)
    write(tmp_path / "1.jsonl", GOOD.replace(b"1+1", b"0+2"))
    chunks = list(iter_files(locate_path("x", tmp_path), ["q"]))
    assert [(file.name, chunk.records) for file, chunk in chunks] == [
        ("1.jsonl", [{"q": "0+2"}]),
        ("2.jsonl", [{"q": "1+1"}]),
    ]
