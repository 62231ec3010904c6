"""The Python of docs/audits.md runs as it stands there."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

PAGE = Path(__file__).resolve().parents[2] / "docs" / "audits.md"


def test_the_examples_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    examples = re.findall(r"```python\n(.*?)```", PAGE.read_text(encoding="utf-8"), re.DOTALL)
    assert examples
    for example in examples:
        exec(compile(example, str(PAGE), "exec"), {})


def test_the_page_names_every_column_and_channel() -> None:
    from dataflex_data.audits.comparison import CHANNELS
    from dataflex_data.audits.findings import FINDINGS_SCHEMA

    page = PAGE.read_text(encoding="utf-8")
    assert [name for name in (*FINDINGS_SCHEMA.names, *CHANNELS) if f"`{name}`" not in page] == []
