"""`dfdata audit-contamination` and `audit-duplicates` from files to reports and exit codes."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from dataflex_data.audits.audit import AuditRequest, run_audit
from dataflex_data.audits.benchmarks import load_benchmarks
from dataflex_data.audits.comparison import Rule
from dataflex_data.audits.contamination import Auditor
from dataflex_data.audits.corpus import Layout, Shard, open_corpus
from dataflex_data.audits.runner import audit_corpus, local_runner, parts_folder
from dataflex_data.cli.main import main
from tests.factories import write_jsonl, write_parquet

W = [f"w{number}" for number in range(2000)]


def text(first: int, last: int) -> str:
    return " ".join(W[first:last])


@pytest.fixture
def items(tmp_path: Path) -> Path:
    rows = [{"id": f"q{k}", "question": text(30 * k, 30 * k + 30)} for k in range(6)]
    return write_jsonl(tmp_path / "items.jsonl", rows)


def run(*arguments: object) -> int:
    with pytest.raises(SystemExit) as stopped:
        main(["audit-contamination", *map(str, arguments)])
    return int(stopped.value.code or 0)


def refused(capsys: pytest.CaptureFixture[str], *arguments: object) -> str:
    assert run(*arguments) == 2
    error = capsys.readouterr().err
    assert "Traceback" not in error
    return error


def audit(items: Path, corpus: Path, out: Path, *more: object) -> int:
    return run(corpus, "--benchmark-file", f"mine={items}", "--out", out, *more)


def test_a_clean_corpus_exits_with_0_and_a_leak_with_1(tmp_path: Path, items: Path) -> None:
    clean = write_parquet(tmp_path / "clean.parquet", [{"id": 1, "prompt": text(500, 540)}])
    assert audit(items, clean, tmp_path / "a") == 0
    leaky = write_jsonl(
        tmp_path / "leaky.jsonl",
        [
            {"id": "x", "prompt": text(600, 640)},
            {"id": "y", "prompt": [{"role": "user", "content": f"Do it: {text(60, 90)} now"}]},
        ],
    )
    assert audit(items, leaky, tmp_path / "b") == 1
    table = pq.read_table(tmp_path / "b" / "findings.parquet").to_pylist()
    assert [(row["row_id"], row["item_id"], row["flagged"]) for row in table] == [("y", "q2", True)]
    assert table[0]["overlap"] == text(60, 90)
    assert (table[0]["containment"], table[0]["longest_run"]) == (1.0, 30)
    summary = json.loads((tmp_path / "b" / "summary.json").read_text())
    assert (summary["flagged_rows"], summary["corpus"]["rows"]) == (1, 2)
    assert summary["benchmarks"]["mine"]["worst"]["row_id"] == "y"
    assert all(one["found"] == one["planted"] for one in summary["planted"][:3])
    page = (tmp_path / "b" / "report.html").read_text()
    assert f"<mark>{text(60, 90)}</mark>" in page
    assert not re.search(r"(src|href)=['\"]?https?:", page)


def test_the_report_is_only_replaced_with_force(
    tmp_path: Path, items: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    corpus = write_jsonl(tmp_path / "c.jsonl", [{"question": text(500, 540)}])
    assert audit(items, corpus, tmp_path / "out") == 0
    assert "--force" in refused(
        capsys, corpus, "--benchmark-file", f"mine={items}", "--out", tmp_path / "out"
    )
    assert audit(items, corpus, tmp_path / "out", "--force") == 0


def test_columns_are_found_named_or_refused(
    tmp_path: Path, items: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    corpus = write_parquet(
        tmp_path / "c.parquet", [{"extra": {"body": text(0, 30)}, "number": 1, "uid": "u1"}]
    )
    base = (corpus, "--benchmark-file", f"mine={items}", "--out", tmp_path / "o")
    assert "--text-column" in refused(capsys, *base)
    assert "did you mean" in refused(capsys, *base, "--text-column", "extra.bodi")
    assert "neither text" in refused(capsys, *base, "--text-column", "number")
    assert run(*base, "--text-column", "extra.body", "--id-column", "uid") == 1
    found = pq.read_table(tmp_path / "o" / "findings.parquet").to_pylist()
    assert found[0]["row_id"] == "u1"


def test_options_columns_and_built_rows(tmp_path: Path, items: Path) -> None:
    options = [text(1000, 1003), text(1003, 1006), text(1006, 1009)]
    bench = write_jsonl(
        tmp_path / "b.jsonl", [{"id": "o", "question": text(0, 20), "options": options}]
    )
    corpus = write_parquet(
        tmp_path / "c.parquet",
        [
            {"extra_info": {"raw_question": text(0, 20), "options": options[::-1], "row_id": "r1",
                            "source": "s"}},
            {"extra_info": {"raw_question": text(40, 60), "options": [], "row_id": "r2",
                            "source": "s"}},
        ],
    )  # fmt: skip
    assert audit(bench, corpus, tmp_path / "o") == 1
    found = pq.read_table(tmp_path / "o" / "findings.parquet").to_pylist()
    assert [(one["row_id"], one["source"]) for one in found] == [("r1", "s")]
    assert "stem" in found[0]["channels"]


@pytest.mark.parametrize("name", ["c.parquet", "c.jsonl"])
def test_empty_short_and_binary_texts(
    tmp_path: Path, items: Path, name: str, capsys: pytest.CaptureFixture[str]
) -> None:
    texts = ["", None, "two words", text(0, 30)]
    rows: list[dict[str, Any]] = [{"id": str(k), "question": t} for k, t in enumerate(texts)]
    path = tmp_path / name
    corpus = write_parquet(path, rows) if name.endswith("parquet") else write_jsonl(path, rows)
    assert audit(items, corpus, tmp_path / "o") == 1
    summary = json.loads((tmp_path / "o" / "summary.json").read_text())
    assert (summary["corpus"]["rows"], summary["corpus"]["empty_rows"]) == (4, 2)
    assert summary["flagged_rows"] == 1
    capsys.readouterr()


def test_bytes_that_are_not_utf8_are_counted(tmp_path: Path, items: Path) -> None:
    raw = [b"\xff\xfe\x00junk", text(0, 30).encode(), b"\xed\xa0\x80 " + text(30, 60).encode()]
    pq.write_table(pa.table({"question": pa.array(raw, pa.binary())}), tmp_path / "c.parquet")
    assert audit(items, tmp_path / "c.parquet", tmp_path / "o") == 1
    summary = json.loads((tmp_path / "o" / "summary.json").read_text())
    assert summary["corpus"]["rows_not_utf8"] == 2
    assert summary["flagged_rows"] == 2


def test_bad_input_is_told_in_words(
    tmp_path: Path, items: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    corpus = write_jsonl(tmp_path / "c.jsonl", [{"question": text(0, 30)}])
    out = ("--out", tmp_path / "o")
    mine = ("--benchmark-file", f"mine={items}")
    assert "no benchmark is named" in refused(capsys, corpus, *out)
    assert "math500" in refused(capsys, corpus, "--benchmarks", "math50", *out)
    assert "no such file" in refused(capsys, tmp_path / "none.parquet", *mine, *out)
    (tmp_path / "empty.jsonl").write_text("")
    assert "empty" in refused(capsys, tmp_path / "empty.jsonl", *mine, *out)
    pq.write_table(pa.table({"question": pa.array([], pa.string())}), tmp_path / "zero.parquet")
    assert "no rows" in refused(capsys, tmp_path / "zero.parquet", *mine, *out)
    blank = write_jsonl(tmp_path / "blank.jsonl", [{"question": ""}])
    assert "are empty" in refused(capsys, blank, *mine, *out)
    (tmp_path / "bad.jsonl").write_text('{"question": "a"}\n{"question": \n')
    assert "line 2" in refused(capsys, tmp_path / "bad.jsonl", *mine, *out)
    (tmp_path / "cut.parquet").write_bytes(b"PAR1 cut")
    assert "parquet" in refused(capsys, tmp_path / "cut.parquet", *mine, *out)
    assert "containment" in refused(capsys, corpus, *mine, *out, "--containment", "1.5")
    assert "'exact'" in refused(capsys, corpus, *mine, *out, "--channels", "exakt")
    assert not (tmp_path / "o").exists()


def test_a_missing_benchmark_is_refused_or_told_in_the_headline(
    tmp_path: Path, items: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    corpus = write_jsonl(tmp_path / "c.jsonl", [{"question": text(500, 530)}])
    base = (corpus, "--benchmarks", "gpqa_diamond", "--benchmark-file", f"mine={items}")
    assert "gpqa_diamond=PATH" in refused(capsys, *base, "--out", tmp_path / "o")
    assert run(*base, "--out", tmp_path / "o", "--allow-missing") == 0
    assert "NOT AUDITED, not available: gpqa_diamond" in capsys.readouterr().out.replace("\n", " ")


GPQA = (
    "Record ID,Question,Correct Answer,Incorrect Answer 1,Incorrect Answer 2,Incorrect Answer 3\n"
    f'rec1,"{text(700, 740)}",right one,wrong one,wrong two,wrong three\n'
)


def test_gated_items_are_read_from_the_users_file_and_never_printed(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "gpqa.csv"
    path.write_text(GPQA)
    corpus = write_jsonl(tmp_path / "c.jsonl", [{"question": text(690, 740)}])
    base = (corpus, "--benchmark-file", f"gpqa_diamond={path}")
    assert run(*base, "--out", tmp_path / "o") == 1
    shown = capsys.readouterr().out
    for file in (tmp_path / "o").iterdir():
        shown += file.read_bytes().decode("utf-8", "replace")
    shown += str(pq.read_table(tmp_path / "o" / "findings.parquet").to_pylist())
    assert "w710" not in shown
    assert "rec1" in shown
    assert run(*base, "--out", tmp_path / "p", "--show-gated") == 1
    assert "w710" in (tmp_path / "p" / "report.html").read_text()


def test_the_format_fixture_is_never_taken_for_gpqa(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "FORMAT_FIXTURE_not_gpqa.csv"
    path.write_text(GPQA)
    corpus = write_jsonl(tmp_path / "c.jsonl", [{"question": text(0, 30)}])
    base = (corpus, "--benchmark-file", f"gpqa_diamond={path}", "--out", tmp_path / "o")
    assert "format of gpqa_diamond only" in refused(capsys, *base)


def test_the_same_file_as_corpus_and_benchmark_is_said(
    tmp_path: Path, items: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert audit(items, items, tmp_path / "o") == 1
    assert "benchmark's very file" in capsys.readouterr().out.replace("\n", " ")


def test_a_file_of_another_benchmark_is_refused_in_words(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    corpus = write_jsonl(tmp_path / "c.jsonl", [{"question": text(0, 30)}])
    odd = write_jsonl(tmp_path / "odd.jsonl", [{"quiz": "q", "names": None, "solution": [True]}])
    base = (corpus, "--benchmark-file", f"kk_hard={odd}", "--out", tmp_path / "o")
    assert "line 1: is not a record of kk_hard: key `names` is absent" in refused(capsys, *base)


def test_own_benchmarks_take_a_column_mapping(tmp_path: Path) -> None:
    bench = write_parquet(
        tmp_path / "b.parquet", [{"nr": 7, "task": text(0, 30), "key": "A", "alt": ["x", "y"]}]
    )
    found = load_benchmarks(
        [],
        files={"mine": bench},
        columns={"mine": {"question": "task", "id": "nr", "answer": "key", "options": "alt"}},
    )
    item = found.items[0]
    assert (item.item_id, item.gold, item.options) == ("7", "A", ("x", "y"))


def _request(items: Path, corpus: Path, out: Path, **more: Any) -> AuditRequest:
    return AuditRequest(corpus=str(corpus), out=out, benchmark_files={"mine": items}, **more)


@pytest.fixture
def sharded(tmp_path: Path) -> Path:
    for number in range(3):
        rows = [{"id": f"{number}-{k}", "prompt": text(40 * k, 40 * k + 35)} for k in range(12)]
        write_parquet(tmp_path / "shards" / f"{number}.parquet", rows)
    return tmp_path / "shards"


def test_one_thread_and_many_find_the_same_bytes(
    tmp_path: Path, items: Path, sharded: Path
) -> None:
    # text-dedup#88, ray#59662: one worker differs from many.
    outs = [tmp_path / "one", tmp_path / "four"]
    for out, workers in zip(outs, (1, 4), strict=True):
        run_audit(_request(items, sharded, out, workers=workers))
    for name in ("findings.parquet", "summary.json", "report.html"):
        assert (outs[0] / name).read_bytes() == (outs[1] / name).read_bytes()


def test_a_killed_audit_goes_on_where_it_stopped(
    tmp_path: Path, items: Path, sharded: Path
) -> None:
    read: list[str] = []

    def dying(auditor: Auditor, shards: list[Shard], layout: Layout, on_rows: Any) -> Any:
        for position, result in local_runner()(auditor, shards, layout, on_rows):
            read.append(shards[position].path)
            yield position, result
            raise KeyboardInterrupt

    request = _request(items, sharded, tmp_path / "out")
    with pytest.raises(KeyboardInterrupt):
        run_audit(request, runner=dying)  # type: ignore[arg-type]
    assert parts_folder(tmp_path / "out").is_dir()

    def counting(auditor: Auditor, shards: list[Shard], layout: Layout, on_rows: Any) -> Any:
        read.extend(shard.path for shard in shards)
        yield from local_runner()(auditor, shards, layout, on_rows)

    run_audit(request, runner=counting)  # type: ignore[arg-type]
    assert sorted(Path(path).name for path in read) == ["0.parquet", "1.parquet", "2.parquet"]
    assert not parts_folder(tmp_path / "out").exists()
    run_audit(_request(items, sharded, tmp_path / "whole"))
    for name in ("findings.parquet", "summary.json"):
        whole = (tmp_path / "whole" / name).read_bytes()
        assert (tmp_path / "out" / name).read_bytes() == whole


def test_kept_parts_of_another_rule_or_corpus_are_not_taken(
    tmp_path: Path, items: Path, sharded: Path
) -> None:
    benchmarks = load_benchmarks([], files={"mine": items})
    corpus = open_corpus(sharded)
    seen: list[int] = []

    def counting(auditor: Auditor, shards: Any, layout: Layout, on_rows: Any) -> Any:
        seen.append(len(shards))
        yield from local_runner()(auditor, shards, layout, on_rows)

    for rule in (Rule(), Rule(containment=0.6), Rule()):
        audit_corpus(corpus, Auditor(benchmarks, rule), runner=counting, parts=tmp_path / "parts")
    assert seen == [3, 3, 0]


def test_near_duplicates_end_to_end(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    # A ~ B ~ C in a chain, A unlike C; D equals A but for case; E is alone.
    rows = [text(0, 60), text(8, 68), text(16, 76), text(0, 60).upper(), text(500, 560), "hi", "yo"]
    corpus = write_jsonl(
        tmp_path / "c.jsonl", [{"id": f"r{k}", "question": t} for k, t in enumerate(rows)]
    )
    with pytest.raises(SystemExit) as stopped:
        main(["audit-duplicates", str(corpus), "--jaccard", "0.7", "--out", str(tmp_path / "o")])
    assert stopped.value.code == 1
    # 48 n-grams each; a shift by 8 shares 40: J = 40/56 = 0.714; by 16 shares 32: 32/64 = 0.5.
    pairs = pq.read_table(tmp_path / "o" / "pairs.parquet").to_pylist()
    assert {(p["first_row_id"], p["second_row_id"], p["kind"]) for p in pairs} == {
        ("r0", "r1", "near"),
        ("r1", "r2", "near"),
        ("r0", "r3", "normalised"),
    }
    assert {round(p["jaccard"], 3) for p in pairs} == {0.714, 1.0}
    # marin#6854, text-dedup#132: closure merges everything. Here C stays: its only twin went.
    drops = pq.read_table(tmp_path / "o" / "drop.parquet").to_pylist()
    assert {(d["row_id"], d["kept_row_id"]) for d in drops} == {("r1", "r0"), ("r3", "r0")}
    assert "2 rows have fewer than 13 words" in capsys.readouterr().out
