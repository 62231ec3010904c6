"""No output of an audit shows a gated item's text: reports, terminal, kept shards."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest

from dataflex_data.audits.audit import AuditRequest, run_audit
from dataflex_data.audits.contamination import Auditor
from dataflex_data.audits.corpus import Layout, Shard
from dataflex_data.audits.runner import local_runner, parts_folder
from dataflex_data.cli.main import main
from dataflex_data.core.errors import InputDataError
from tests.factories import write_jsonl

W = [f"w{number}" for number in range(2000)]
GATED, OPEN = " ".join(W[700:740]), " ".join(W[100:130])
CSV = (
    "Record ID,Question,Correct Answer,Incorrect Answer 1,Incorrect Answer 2,Incorrect Answer 3\n"
    f'rec1,"{GATED}",right one,wrong one,wrong two,wrong three\n'
)


def exit_code(*arguments: object) -> int:
    with pytest.raises(SystemExit) as stopped:
        main([*map(str, arguments)])
    return int(stopped.value.code or 0)


@pytest.fixture
def both(tmp_path: Path) -> dict[str, Path]:
    gpqa = tmp_path / "gpqa.csv"
    gpqa.write_text(CSV)
    mine = write_jsonl(tmp_path / "items.jsonl", [{"id": "q1", "question": OPEN}])
    return {"gpqa_diamond": gpqa, "mine": mine}


def shown_in(folder: Path) -> str:
    """Return everything that the files under a folder show."""
    shown = ""
    for path in sorted(folder.rglob("*")):
        if path.suffix == ".parquet":
            shown += str(pq.read_table(path).to_pylist())
        elif path.is_file():
            shown += path.read_text(encoding="utf-8")
    return shown


@pytest.mark.parametrize("near", [False, True])
def test_a_row_that_matches_a_gated_and_an_open_item_is_hidden_in_both_pairs(
    both: dict[str, Path], tmp_path: Path, near: bool, capsys: pytest.CaptureFixture[str]
) -> None:
    # 22 of the 40 words and the 8 of the options: 10 of 36 n-grams, listed as near only.
    leaked = " ".join(W[700:722]) if near else GATED
    corpus = write_jsonl(tmp_path / "c.jsonl", [{"id": "r1", "text": f"{leaked} {OPEN}"}])
    files = [f"--benchmark-file={name}={path}" for name, path in both.items()]
    out = tmp_path / "o"
    assert exit_code("audit-contamination", corpus, *files, "--out", out) == 1
    found = pq.read_table(out / "findings.parquet").to_pylist()
    assert [(one["benchmark"], one["flagged"]) for one in found] == [
        ("gpqa_diamond", not near),
        ("mine", True),
    ]
    shown = shown_in(out) + capsys.readouterr().out
    assert "w710" not in shown
    assert "r1" in shown
    assert json.loads((out / "summary.json").read_text())["flagged_texts"] == 1
    again = ("--out", tmp_path / "p", "--show-gated")
    assert exit_code("audit-contamination", corpus, *files, *again) == 1
    assert "w710" in shown_in(tmp_path / "p")


@pytest.mark.parametrize(
    "row_id", [GATED, "w705-w706_7", "_".join(W[700:720]), GATED.replace(" ", "")[:70]]
)
def test_an_id_that_shows_the_text_is_hidden_too(
    both: dict[str, Path], tmp_path: Path, row_id: str, capsys: pytest.CaptureFixture[str]
) -> None:
    corpus = write_jsonl(tmp_path / "c.jsonl", [{"id": row_id, "text": GATED}])
    gpqa = f"gpqa_diamond={both['gpqa_diamond']}"
    out = tmp_path / "o"
    assert exit_code("audit-contamination", corpus, "--benchmark-file", gpqa, "--out", out) == 1
    shown = shown_in(out) + capsys.readouterr().out
    assert "w705" not in shown.replace(str(corpus), "")
    assert "w700" not in shown


def dying(auditor: Auditor, shards: Sequence[Shard], layout: Layout, on_rows: Any) -> Iterator[Any]:
    for at, one in enumerate(local_runner()(auditor, shards, layout, on_rows)):
        if at == 1:
            raise KeyboardInterrupt
        yield one


def folder_of(tmp_path: Path) -> Path:
    corpus = tmp_path / "c"
    corpus.mkdir()
    write_jsonl(corpus / "a.jsonl", [{"text": f"{GATED} {OPEN}"}])
    write_jsonl(corpus / "b.jsonl", [{"text": OPEN}])
    return corpus


def test_kept_shards_hide_gated_texts_and_a_resumed_run_says_so(
    both: dict[str, Path], tmp_path: Path
) -> None:
    told: list[str] = []
    request = AuditRequest(str(folder_of(tmp_path)), tmp_path / "o", benchmark_files=both)
    with pytest.raises(KeyboardInterrupt):
        run_audit(request, runner=dying, note=told.append)
    parts = parts_folder(tmp_path / "o")
    assert any(str(parts) in note and "goes on" in note for note in told)
    kept = shown_in(parts)
    assert '"item_id": "rec1"' in kept
    assert "w710" not in kept
    told.clear()
    assert run_audit(request, note=told.append)["flagged_rows"] == 2
    assert any("1 of 2 shards (1 row) taken from an earlier run" in note for note in told)
    assert not parts.exists()


def test_a_run_that_shows_gated_texts_takes_no_shard_that_hides_them(
    both: dict[str, Path], tmp_path: Path
) -> None:
    corpus = str(folder_of(tmp_path))
    with pytest.raises(KeyboardInterrupt):
        run_audit(AuditRequest(corpus, tmp_path / "o", benchmark_files=both), runner=dying)
    run_audit(AuditRequest(corpus, tmp_path / "o", benchmark_files=both, show_gated=True))
    assert "w710" in shown_in(tmp_path / "o")


def test_bad_input_leaves_no_hidden_folder(both: dict[str, Path], tmp_path: Path) -> None:
    corpus = folder_of(tmp_path)
    (corpus / "b.jsonl").write_text('{"text": \n')
    with pytest.raises(InputDataError, match="line 1"):
        run_audit(AuditRequest(str(corpus), tmp_path / "o", benchmark_files=both))
    assert not parts_folder(tmp_path / "o").exists()


def test_show_gated_without_a_gated_benchmark_is_told(
    both: dict[str, Path], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    corpus = write_jsonl(tmp_path / "c.jsonl", [{"text": "Other words."}])
    mine = ("--benchmark-file", f"mine={both['mine']}", "--out", tmp_path / "o", "--show-gated")
    assert exit_code("audit-contamination", corpus, *mine) == 0
    assert "--show-gated changes nothing" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("given", "told"),
    [
        (["mine:question=a", "mine:question=b"], "'mine' is given twice"),
        (["mine:question=a,question=b"], "gives a key twice"),
    ],
)
def test_columns_given_twice_are_refused(
    given: list[str], told: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    options = [f"--benchmark-columns={one}" for one in given]
    asked = ("audit-contamination", "c.jsonl", "--benchmark-file", "mine=i.jsonl", *options)
    assert exit_code(*asked, "--out", tmp_path / "o") == 2
    assert told in " ".join(capsys.readouterr().err.split())


def test_a_source_to_prefer_that_no_row_has_is_refused(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    corpus = write_jsonl(tmp_path / "c.jsonl", [{"text": OPEN}, {"text": OPEN}])
    assert exit_code("audit-duplicates", corpus, "--prefer", "nosuch") == 2
    error = capsys.readouterr().err
    assert "no row comes from 'nosuch'" in error
    assert "name no source" in error
