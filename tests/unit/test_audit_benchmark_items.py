"""Records of the twelve benchmarks: what is not one is told by file, row and key."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from dataflex_data.audits.benchmarks import BENCHMARKS, BenchmarkItem, load_benchmarks
from dataflex_data.core.errors import DataflexError, InputDataError

_CHOICE = {"question": "q", "options": ["x", "y"], "answer": "A", "question_id": 1}
_BBH = {"input": "q\nOptions:\n(A) x\n(B) y", "target": "(A)"}
GOOD: dict[str, dict[str, Any]] = {
    "math500": {"problem": "p", "answer": "1", "unique_id": "u"},
    "aime_2024": {"problem": "p", "answer": 204, "id": 3},
    "olympiadbench": {"question": "q", "final_answer": ["$1$"], "id": 1, "context": "c"},
    "minerva_math": {"problem": "p", "solution": "so \\boxed{2}", "idx": 1},
    "gsm8k": {"question": "q", "answer": "so #### 1,000"},
    "kk_hard": {"quiz": "q", "names": ["A", "B"], "solution": [True, False], "index": 1},
    "bbh_logical_deduction": _BBH,
    "bbh_tracking": _BBH,
    "zebra_logic": {"puzzle": "p", "question": "q", "choices": ["x", "y"], "answer": "y"},
    "mmlu_pro_chemistry": {**_CHOICE, "category": "chemistry"},
    "mmlu_pro_physics": {**_CHOICE, "category": "physics"},
    "gpqa_diamond": {
        "Question": "q",
        "Correct Answer": "a",
        **{f"Incorrect Answer {number}": f"w{number}" for number in (1, 2, 3)},
    },
}
# Keys whose absence is no damage: ids, context, and the one of two keys that need not be there.
MAY_BE_ABSENT = {"unique_id", "id", "idx", "index", "question_id", "Record ID", "context"}
# Minerva's published files differ: where one key is absent the other one must be there.
NAMED_INSTEAD = {("minerva_math", "problem"): "question", ("minerva_math", "solution"): "answer"}


def load(name: str, path: Path) -> tuple[BenchmarkItem, ...]:
    return load_benchmarks([], files={name: path}, offline=True).loaded[0].items


def refused(name: str, path: Path) -> str:
    with pytest.raises(InputDataError) as caught:
        load(name, path)
    assert str(path) in str(caught.value)
    return str(caught.value)


def write(path: Path, *rows: object) -> Path:
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    return path


def test_the_examples_cover_the_twelve_and_are_read(tmp_path: Path) -> None:
    assert GOOD.keys() == BENCHMARKS.keys()
    gold = {
        name: load(name, write(tmp_path / f"{name}.jsonl", row))[0].gold
        for name, row in GOOD.items()
    }
    assert gold.pop("gpqa_diamond") in "ABCD"
    assert gold == {
        "math500": "1",
        "aime_2024": "204",
        "olympiadbench": "1",
        "minerva_math": "2",
        "gsm8k": "1000",
        "kk_hard": "A is a knight, and B is a knave.",
        "bbh_logical_deduction": "A",
        "bbh_tracking": "A",
        "zebra_logic": "B",
        "mmlu_pro_chemistry": "A",
        "mmlu_pro_physics": "A",
    }


@pytest.mark.parametrize("name", GOOD)
def test_a_record_that_lacks_a_key_is_told_by_line_and_key(name: str, tmp_path: Path) -> None:
    good = GOOD[name]
    for key in good.keys() - MAY_BE_ABSENT:
        for without in ({k: v for k, v in good.items() if k != key}, {**good, key: None}):
            told = refused(name, write(tmp_path / "x.jsonl", good, without))
            assert "line 2" in told
            assert f"`{NAMED_INSTEAD.get((name, key), key)}`" in told


@pytest.mark.parametrize("name", GOOD)
def test_values_of_another_kind_are_refused_in_words_or_read(name: str, tmp_path: Path) -> None:
    odd = [[], {}, "", "  ", True, ["x", None], [[]], {"a": 1}, [None], ["a"] * 30, "\ud800"]
    good = GOOD[name]
    for key in good:
        for value in (*odd, float("nan"), 3.5, 0):
            path = write(tmp_path / "x.jsonl", good, {**good, key: value})
            told = ""
            items: tuple[BenchmarkItem, ...] = ()
            try:
                items = load(name, path)
            except DataflexError as error:
                told = str(error)
            assert items or str(path) in told
            assert not any(kind in told for kind in ("TypeError", "KeyError", "zip()"))
            for item in items:
                assert item.question.strip()
                assert item.gold.strip()
                assert (item.question + item.item_id).encode().decode()


@pytest.mark.parametrize("name", GOOD)
@pytest.mark.parametrize(
    "content",
    ["", "\n\n", "[]", "{}", "null", "3", '"x"', '{"a": 1', "not json", "\x00\x01", "{}{}"],
)
def test_files_without_records_are_refused(name: str, content: str, tmp_path: Path) -> None:
    path = tmp_path / "x.jsonl"
    path.write_text(content, encoding="utf-8")
    refused(name, path)


@pytest.mark.parametrize(
    ("change", "told"),
    [
        ({"names": []}, "`names` is an empty list"),
        ({"names": ["A"]}, "`solution` has 2 values for 1 `names`"),
        ({"names": "AB"}, '`names` holds text ("AB")'),
        ({"solution": [1, 0]}, "`solution` holds a list ([1, 0]) instead of a list of true"),
    ],
)
def test_a_puzzle_without_people_is_refused(
    change: dict[str, Any], told: str, tmp_path: Path
) -> None:
    path = write(tmp_path / "kk.jsonl", GOOD["kk_hard"], {**GOOD["kk_hard"], **change})
    assert told in refused("kk_hard", path)


@pytest.mark.parametrize(
    ("name", "change", "told"),
    [
        ("mmlu_pro_physics", {"answer": "C"}, "`answer` gives 'C', which is none of the 2 options"),
        ("zebra_logic", {"answer": "z"}, "`answer` gives 'z'"),
        ("bbh_tracking", {"input": "q"}, "`input` gives 0 options"),
        ("gsm8k", {"answer": "42"}, "no final answer behind ####"),
        ("olympiadbench", {"final_answer": []}, "`final_answer` holds no answer"),
    ],
)
def test_a_gold_answer_that_cannot_be_right_is_refused(
    name: str, change: dict[str, Any], told: str, tmp_path: Path
) -> None:
    assert told in refused(name, write(tmp_path / "x.jsonl", {**GOOD[name], **change}))


def test_rows_of_a_csv_file_with_too_few_or_many_cells(tmp_path: Path) -> None:
    header = ",".join(GOOD["gpqa_diamond"])
    path = tmp_path / "gpqa.csv"
    path.write_text(f"{header}\nq,a,b\n", encoding="utf-8")
    assert "record 1" in refused("gpqa_diamond", path)
    path.write_text(f"{header}\nq,a,b,c,d,e\n", encoding="utf-8")
    assert "more cells than the header" in refused("gpqa_diamond", path)
