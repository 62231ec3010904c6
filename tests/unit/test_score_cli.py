"""``dfdata score`` and ``dfdata routes`` from the command line's point of view."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from dataflex_data.cli.main import main
from dataflex_data.core.schema import Row, rows_to_table
from dataflex_data.verifiers.scoring import Response, read_responses, score_responses, solve_rates

Run = Callable[..., tuple[int, str, str]]


@pytest.fixture
def run(capsys: pytest.CaptureFixture[str]) -> Run:
    def call(*arguments: object) -> tuple[int, str, str]:
        with pytest.raises(SystemExit) as stop:
            main([str(argument) for argument in arguments])
        captured = capsys.readouterr()
        return int(stop.value.code or 0), captured.out, captured.err

    return call


def _row(number: int, route: str, gold: str, domain: str, **extra: Any) -> Row:
    return Row(
        row_id=f"row{number}",
        data_source=route,
        prompt=(("user", f"question {number}?"),),
        ability=domain,
        ground_truth=gold,
        domain=domain,
        source=f"made/{domain}",
        source_id=str(number),
        source_revision="1",
        license="MIT",
        raw_question=f"question {number}?",
        raw_answer=gold,
        **extra,
    )


ROWS = [
    _row(0, "dataflex/gsm8k", "72", "math"),
    _row(1, "dataflex/gsm8k", "5", "math"),
    _row(2, "dataflex/sciq", "B", "science", options=("gas", "liquid", "solid", "plasma")),
]


@pytest.fixture
def corpus(tmp_path: Path) -> Path:
    """A corpus folder as far as scoring reads it: a manifest and a train file."""
    folder = tmp_path / "corpus"
    folder.mkdir()
    pq.write_table(rows_to_table(ROWS, "train"), folder / "train.parquet")
    from dataflex_data.core.parquet import MANIFEST_NAME

    manifest: dict[str, Any] = {"kind": "corpus", "files": {}, "domains": {}}
    (folder / MANIFEST_NAME).write_text(json.dumps(manifest))
    return folder


def _write(path: Path, records: list[Mapping[str, Any]]) -> Path:
    if path.suffix == ".parquet":
        pq.write_table(pa.Table.from_pylist([dict(record) for record in records]), path)
    else:
        path.write_text("".join(json.dumps(record) + "\n" for record in records))
    return path


RESPONSES: list[Mapping[str, Any]] = [
    {"row_id": "row0", "response": ["\\boxed{72}", "\\boxed{71}", "\\boxed{72}", "\\boxed{72}"]},
    {"row_id": "row1", "response": ["none", "none", "none", "none"]},
    {"row_id": "row2", "response": ["\\boxed{B}", "\\boxed{liquid}", "Answer: A", "Answer: B"]},
]


@pytest.mark.parametrize("suffix", [".jsonl", ".parquet"])
def test_solve_rates_by_domain(run: Run, corpus: Path, tmp_path: Path, suffix: str) -> None:
    responses = _write(tmp_path / f"responses{suffix}", RESPONSES)
    code, out, _ = run("score", responses, "--corpus", corpus, "--json")
    assert code == 0
    found = json.loads(out)
    # maths: 3 of 4 and 0 of 4; science: 3 of 4
    assert found["solve_rate"] == 6 / 12
    assert found["symbolic_share"] == 0.0
    assert [(g["domain"], g["rows"], g["responses"], g["solve_rate"]) for g in found["groups"]] == [
        ("math", 2, 8, 3 / 8),
        ("science", 1, 4, 3 / 4),
    ]


def test_repeated_responses_count_each(run: Run, corpus: Path, tmp_path: Path) -> None:
    responses = _write(
        tmp_path / "r.jsonl", [{"row_id": "row0", "response": "\\boxed{72}"}] * 3 + RESPONSES[1:2]
    )
    code, out, _ = run("score", responses, "--corpus", corpus, "--json")
    assert (code, json.loads(out)["responses"], json.loads(out)["correct"]) == (0, 7, 3)


def test_joined_by_the_prompts_hash(run: Run, corpus: Path, tmp_path: Path) -> None:
    from dataflex_data.core.schema import prompt_sha256

    responses = _write(
        tmp_path / "r.jsonl",
        [
            {
                "extra_info": {"prompt_sha256": prompt_sha256(["question 1?"])},
                "response": "\\boxed{5}",
            }
        ],
    )
    code, out, _ = run("score", responses, "--corpus", corpus)
    assert code == 0
    assert "1 of 1 responses are right" in out


def test_records_without_a_row_are_counted(run: Run, corpus: Path, tmp_path: Path) -> None:
    responses = _write(
        tmp_path / "r.jsonl", [*RESPONSES, {"row_id": "elsewhere", "response": "\\boxed{1}"}]
    )
    code, out, err = run("score", responses, "--corpus", corpus, "--json")
    assert code == 1
    assert json.loads(out)["unjoined"] == 1
    assert "elsewhere" in err


def test_no_record_with_a_row_is_an_error(run: Run, corpus: Path, tmp_path: Path) -> None:
    responses = _write(tmp_path / "r.jsonl", [{"row_id": "elsewhere", "response": "x"}])
    code, out, err = run("score", responses, "--corpus", corpus)
    assert (code, out) == (2, "")
    assert "none of its 1 record can be scored: 1 belong to no row" in err
    assert "elsewhere" in err


@pytest.mark.parametrize(
    ("record", "message"),
    [
        ({"response": "x"}, "record 1: needs `row_id` or `prompt_sha256`"),
        ({"row_id": "row0"}, "record 1: has no `response` (keys: row_id)"),
        (
            {"row_id": "row0", "responses": "x"},
            "record 1: has no `response`; is it what stands in 'responses'? (keys: row_id, ",
        ),
        (
            {"rowid": "row0", "response": "x"},
            "needs `row_id` or `prompt_sha256`; is it what stands in 'rowid'?",
        ),
        ({"row_id": "row0", "response": None}, "record 1: `response` must be a text"),
        ({"row_id": 3, "response": "x"}, "record 1: `row_id` must be a text, got '3'"),
        (
            {"row_id": "row0", "extra_info": {"row_id": "row1"}, "response": "x"},
            "record 1: `row_id` is 'row0' and, in extra_info, 'row1'",
        ),
        (
            {"row_id": "row0", "prompt_sha256": "abc", "response": "x"},
            "record 1: its `row_id` 'row0' and its `prompt_sha256` 'abc' do not belong to the same",
        ),
        ({"row_id": "row0", "response": [1]}, "record 1: `response` must be a text"),
    ],
)
def test_a_broken_record_is_named(
    run: Run, corpus: Path, tmp_path: Path, record: Mapping[str, Any], message: str
) -> None:
    code, _, err = run("score", _write(tmp_path / "r.jsonl", [record]), "--corpus", corpus)
    assert code == 2
    assert message in err


@pytest.mark.parametrize("suffix", [".jsonl", ".parquet"])
def test_one_verdict_per_response(run: Run, corpus: Path, tmp_path: Path, suffix: str) -> None:
    out_file = tmp_path / f"verdicts{suffix}"
    responses = _write(tmp_path / "r.jsonl", RESPONSES)
    assert run("score", responses, "--corpus", corpus, "--out", out_file)[0] == 0
    if suffix == ".parquet":
        verdicts = pq.read_table(out_file).to_pylist()
    else:
        verdicts = [json.loads(line) for line in out_file.read_text().splitlines()]
    assert len(verdicts) == 12
    assert [v["score"] for v in verdicts if v["row_id"] == "row0"] == [1.0, 0.0, 1.0, 1.0]
    assert verdicts[1]["pred"] == "71"
    assert verdicts[1]["step"] == "integer"


def test_a_shared_prompt_with_two_golds_is_ambiguous() -> None:
    twin = _row(0, "dataflex/gsm8k", "73", "math").to_record(0, "train")
    rows = [*(row.to_record(at, "train") for at, row in enumerate(ROWS)), twin]
    joined = score_responses([Response(1, {"row_id": "row0"}, ("\\boxed{72}",))], rows)
    assert joined.ambiguous == {"row0": 1}
    assert solve_rates(joined.scored) == []


def test_reading_keeps_the_order(tmp_path: Path) -> None:
    path = _write(tmp_path / "r.jsonl", RESPONSES)
    assert [found.keys["row_id"] for found in read_responses(path)] == ["row0", "row1", "row2"]


def test_explaining_one_verdict(run: Run) -> None:
    code, out, _ = run(
        "score", "--explain", "--route", "dataflex/math_dapo", "--gold", "3",
        "--response", r"\boxed{3 \text{ or } 4}",
    )  # fmt: skip
    assert code == 0
    assert out.splitlines() == [
        "route:      dataflex/math_dapo (math verifier)",
        "gold:       3",
        r"extracted:  3 \text{ or } 4",
        "decided by: form",
        "score:      0",
        "reason:     it is several values, the gold answer 3 is one value",
    ]


def test_explaining_with_options_as_json(run: Run) -> None:
    code, out, _ = run(
        "score", "--explain", "--route", "dataflex/sciq", "--gold", "B", "--response",
        r"\boxed{liquid}", "--options", "gas", "--options", "liquid", "--json",
    )  # fmt: skip
    assert code == 0
    found = json.loads(out)
    assert (found["score"], found["extracted"], found["step"]) == (1.0, "B", "box")


EXPLAIN = ["--explain", "--gold", "1", "--response", "x", "--route"]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--explain", "--route", "dataflex/math"], "--gold is needed with --explain"),
        (["--explain", "--route", "nope", "--gold", "1", "--response", "x"], "'nope' is not known"),
        ([], "RESPONSES is missing"),
        (["r.jsonl", "--corpus", "c", "--gold", "3"], "--gold needs --explain"),
        (["r.jsonl", "--corpus", "c", "--out", "x.csv"], "--out must end in .parquet or .jsonl"),
        (["r.jsonl", "--corpus", "/nowhere"], "not a built corpus"),
        (["r.jsonl", "--corpus", "c", "--force"], "--force needs --out"),
        ([*EXPLAIN, "dataflex/math", "--force"], "--force does not go with --explain"),
        (
            [*EXPLAIN, "dataflex/math", "--options", "x"],
            "--options has no effect on the math route",
        ),
        ([*EXPLAIN, "dataflex/choice", "--symbolic"], "--symbolic has no effect on the choice"),
    ],
)
def test_usage_errors(run: Run, arguments: list[str], message: str) -> None:
    code, _, err = run("score", *arguments)
    assert code == 2
    assert message in err
    assert "Traceback" not in err


def test_records_without_responses_are_counted(run: Run, corpus: Path, tmp_path: Path) -> None:
    responses = _write(tmp_path / "r.jsonl", [RESPONSES[0], {"row_id": "row1", "response": []}])
    code, out, err = run("score", responses, "--corpus", corpus, "--json")
    found = json.loads(out)
    assert (code, found["empty"], found["rows_without_responses"]) == (1, 1, 2)
    assert "1 record: hold no response, for example row1" in err


@pytest.mark.parametrize(
    ("records", "message"),
    [
        ([{"row_id": "row1", "response": []}], "`response` is an empty list"),
        ([], "is empty (0 bytes)"),
    ],
)
def test_a_file_without_responses(
    run: Run, corpus: Path, tmp_path: Path, records: list[Mapping[str, Any]], message: str
) -> None:
    code, _, err = run("score", _write(tmp_path / "r.jsonl", records), "--corpus", corpus)
    assert code == 2
    assert message in err


def test_a_parquet_without_rows(run: Run, corpus: Path, tmp_path: Path) -> None:
    empty = tmp_path / "r.parquet"
    schema = pa.schema([("row_id", pa.string()), ("response", pa.string())])
    pq.write_table(schema.empty_table(), empty)
    code, _, err = run("score", empty, "--corpus", corpus)
    assert code == 2
    assert "it holds no records" in err


def test_what_was_written_and_what_is_missing_is_told(
    run: Run, corpus: Path, tmp_path: Path
) -> None:
    out_file = tmp_path / "verdicts.jsonl"
    responses = _write(tmp_path / "r.jsonl", RESPONSES[:2])
    code, _, err = run("score", responses, "--corpus", corpus, "--out", out_file)
    assert code == 0
    assert f"wrote 8 verdicts to {out_file}" in err
    assert "1 row of the corpus without a response" in err


def test_both_keys_of_one_row(run: Run, corpus: Path, tmp_path: Path) -> None:
    from dataflex_data.core.schema import prompt_sha256

    record = {
        "row_id": "row1",
        "prompt_sha256": prompt_sha256(["question 1?"]),
        "response": "\\boxed{5}",
    }
    code, out, _ = run("score", _write(tmp_path / "r.jsonl", [record]), "--corpus", corpus)
    assert code == 0
    assert "1 of 1 responses are right" in out


def test_the_routes(run: Run) -> None:
    code, out, _ = run("routes")
    assert code == 0
    assert "dataflex/knights_and_knaves" in out
    code, out, _ = run("routes", "--json")
    found = {route["name"]: route for route in json.loads(out)}
    assert found["dataflex/sciq"]["kind"] == "choice"
    assert "NotImplementedError" in found["dataflex/sciq"]["stock_verl"]
    assert "####" in found["openai/gsm8k"]["stock_verl"]
