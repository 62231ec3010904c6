"""`dfdata doctor` without starting a process: findings, exit codes, bad input."""

from __future__ import annotations

import json
from pathlib import Path

from tests.conftest import Cli

IGNORED = """
trainer: {v1: {trainer_mode: sync}}
dataflex: {mechanism: mix, actuator: {name: static}}
"""


def test_a_configuration_that_cannot_work_is_a_finding(cli: Cli, tmp_path: Path) -> None:
    path = tmp_path / "config.yaml"
    path.write_text(IGNORED)
    result = cli("doctor", "--quick", "--json", "--config", path)
    assert result.code == 1
    (finding,) = [f for f in json.loads(result.out) if f["area"] == "configuration"]
    assert finding["state"] == "problem"
    assert "Set trainer.v1.trainer_mode=dataflex_sync" in finding["detail"]


def test_one_that_can_is_said_to(cli: Cli, tmp_path: Path) -> None:
    path = tmp_path / "config.yaml"
    path.write_text(IGNORED.replace("sync}", "dataflex_sync}"))
    result = cli("doctor", "--quick", "--json", "--config", path)
    (finding,) = [f for f in json.loads(result.out) if f["area"] == "configuration"]
    assert finding["state"] == "ok"


def test_bad_input_is_answered_in_words(cli: Cli, tmp_path: Path) -> None:
    missing = cli("doctor", "--quick", "--config", tmp_path / "nothing.yaml")
    assert (missing.code, "no such file" in missing.err) == (2, True)
    word = cli("doctor", "--quick", "--", "hello")
    assert (word.code, "'hello' is no override KEY=VALUE" in word.err) == (2, True)
    path = tmp_path / "config.yaml"
    path.write_text(IGNORED)
    both = cli("doctor", "--quick", "--config", path, "--", "a.b=1")
    assert (both.code, "not both" in both.err) == (2, True)
