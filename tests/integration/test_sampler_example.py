"""The quickstart does what it prints."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

pytest.importorskip("torch")
EXAMPLE = Path(__file__).resolve().parents[2] / "examples" / "sampler_quickstart.py"


def test_the_quickstart() -> None:
    done = subprocess.run(
        [sys.executable, str(EXAMPLE)], capture_output=True, text=True, check=True, timeout=120
    )
    assert "the same rows as without the stop: True" in done.stdout
    assert "'knights': 0.557" in done.stdout
