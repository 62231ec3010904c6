"""A few rows per source as text that a person reads; another text means another data version.

Renew with ``pytest --renew-golden`` after reading the difference, and tell it under *Data* in the
changelog.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from dataflex_data.builders.corpus import read_split
from dataflex_data.pipeline import build

GOLDEN = Path(__file__).parent / "rows.txt"


def as_text(record: dict[str, Any]) -> str:
    extra = {
        name: value
        for name, value in record["extra_info"].items()
        if name not in {"index", "source_revision"} and value not in (-1, -1.0, "", [])
    }
    lines = [f"=== {record['domain']} / {record['data_source']} / {record['ability']}"]
    lines += [f"[{message['role']}] {message['content']}" for message in record["prompt"]]
    lines.append(f"[gold] {record['reward_model']['ground_truth']}")
    lines += [f"{name}: {value}" for name, value in extra.items() if name != "raw_question"]
    return "\n".join(lines)


def test_rows_are_the_golden_ones(
    made_sources: Path, tmp_path: Path, request: pytest.FixtureRequest
) -> None:
    build("three_domain_smoke", tmp_path / "out", sources_dir=made_sources)
    by_route: dict[str, list[str]] = {}
    for record in read_split(tmp_path / "out", "train").to_pylist():
        shown = by_route.setdefault(record["data_source"], [])
        if len(shown) < 2:
            shown.append(as_text(record))
    text = "\n\n".join(row for _, rows in sorted(by_route.items()) for row in rows) + "\n"
    if request.config.getoption("--renew-golden"):
        GOLDEN.write_text(text, encoding="utf-8")
    assert text == GOLDEN.read_text(encoding="utf-8")
