"""Small made-up sources in the published columns, so that tests need neither network nor real data.

Every text is made here by counting; none is taken from a dataset.
"""

from __future__ import annotations

import gzip
import json
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from dataflex_data.builders.sources.math_dapo import PREFIX, SUFFIX

_NAMES = ("Ada", "Ben", "Cleo", "Dan", "Eva", "Finn", "Gita", "Hugo", "Ines", "Jon")
_THINGS = ("apples", "books", "coins", "drums", "eggs", "flags", "goats", "hats")


def write_jsonl(path: Path, records: Iterable[Mapping[str, Any]]) -> Path:
    """Write records as jsonl, or jsonl.gz by the suffix."""
    path.parent.mkdir(parents=True, exist_ok=True)
    text = "".join(json.dumps(record) + "\n" for record in records)
    if path.suffix == ".gz":
        path.write_bytes(gzip.compress(text.encode(), mtime=0))
    else:
        path.write_text(text, encoding="utf-8")
    return path


def write_parquet(path: Path, records: Iterable[Mapping[str, Any]]) -> Path:
    """Write records as parquet, types as Arrow infers them."""
    path.parent.mkdir(parents=True, exist_ok=True)
    pq.write_table(pa.Table.from_pylist([dict(record) for record in records]), path)
    return path


def gsm8k_records(count: int) -> list[dict[str, str]]:
    """Return word problems whose answer stands after ``####``."""
    records = []
    for number in range(count):
        name, thing = _NAMES[number % 10], _THINGS[number % 8]
        first, second = 11 + number, 5 + number // 3
        total = first + second
        records.append(
            {
                "question": f"{name} has {first} {thing} and buys {second} more. "
                f"How many {thing} does {name} have now?",
                "answer": f"{name} has {first}+{second}=<<{first}+{second}={total}>>{total} "
                f"{thing}.\n#### {total:,}",
            }
        )
    return records


def dapo_records(count: int, copies: int = 1) -> list[dict[str, Any]]:
    """Return wrapped competition problems with integer golds, each ``copies`` times over."""
    records = []
    for copy in range(copies):
        for number in range(count):
            base, power = 3 + number % 50, 2 + number // 50
            problem = (
                f"Let $n$ be the remainder of ${base}^{{{power + 1}}}$ when it is divided by "
                f"{number + 7}. Determine $n$."
            )
            gold = pow(base, power + 1, number + 7)
            records.append(
                {
                    "data_source": "math_dapo",
                    "prompt": [{"content": PREFIX + problem + SUFFIX, "role": "user"}],
                    "ability": "MATH",
                    "reward_model": {"ground_truth": str(gold), "style": "rule-lighteval/MATH_v2"},
                    "extra_info": {"index": f"{copy}-{number}"},
                }
            )
    return records


def deepscaler_records(count: int) -> list[dict[str, str]]:
    """Return problems whose answers are fractions and integers in LaTeX."""
    return [
        {
            "problem": f"What is the value of $\\frac{{{number + 1}}}{{3}} + "
            f"\\frac{{{number + 2}}}{{3}}$ in lowest terms?",
            "answer": _fraction(2 * number + 3, 3),
            "solution": "Add the numerators.",
        }
        for number in range(count)
    ]


def sciq_records(count: int) -> list[dict[str, str]]:
    """Return multiple-choice questions with three distractors."""
    return [
        {
            "question": f"Which made-up element number {number} melts first when it is heated?",
            "distractor3": f"oxide {number}c",
            "distractor1": f"oxide {number}a",
            "distractor2": f"oxide {number}b",
            "correct_answer": f"metal {number}",
            "support": f"Metal {number} melts before its oxides.",
        }
        for number in range(count)
    ]


def write_sources(folder: Path, count: int = 400) -> Path:
    """Write all file sources below ``folder``, laid out as a ``--sources-dir``."""
    write_jsonl(folder / "gsm8k" / "train.jsonl", gsm8k_records(count))
    write_parquet(folder / "math_dapo" / "data" / "dapo-math-17k.parquet", dapo_records(count))
    write_jsonl(folder / "deepscaler" / "train.jsonl.gz", deepscaler_records(count))
    write_parquet(folder / "sciq" / "data" / "train-00000-of-00001.parquet", sciq_records(count))
    return folder


def _fraction(numerator: int, denominator: int) -> str:
    if numerator % denominator == 0:
        return str(numerator // denominator)
    return f"\\frac{{{numerator}}}{{{denominator}}}"
