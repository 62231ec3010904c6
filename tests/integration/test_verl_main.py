"""``python -m verl.trainer.main_ppo`` as users start it, through the entry point, on a CPU."""

from __future__ import annotations

import json
import os
import subprocess
from collections.abc import Sequence
from pathlib import Path

import pytest

pytest.importorskip("verl", reason="needs the extra 'verl'")

from importlib.metadata import entry_points

from dataflex_data.core.ledger import read_ledger
from tests.verl_cpu.assets import make_assets
from tests.verl_cpu.demo import BLOCKS, read_step
from tests.verl_cpu.runs import environment, main_ppo

pytestmark = [pytest.mark.verl, pytest.mark.filterwarnings("default"), pytest.mark.timeout(1500)]


def run(
    folder: Path, mode: str, extra: Sequence[str], devices: int = 1
) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        main_ppo(folder, mode, extra, devices=devices),
        env={**os.environ, **environment(), "VERL_FILE_LOGGER_PATH": str(folder / "log.jsonl")},
        cwd=folder,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        check=False,
        timeout=1200,
    )


def test_the_installed_metadata_name_the_plugin() -> None:
    (ours,) = [point for point in entry_points(group="verl.plugins") if "dataflex" in point.value]
    assert ours.value == "dataflex_data.integrations.verl.plugin"


def test_the_public_command_works_unchanged_on_two_ranks(tmp_path: Path) -> None:
    folder = make_assets(tmp_path)
    fast = ["+dataflex.poll_interval_s=0.05", "trainer.logger=[console,file]"]
    done = run(folder, "dataflex_sync", [*BLOCKS["select"], *fast], devices=2)
    assert done.returncode == 0, done.stdout[-3000:]
    steps = dict(filter(lambda told: told[0], map(read_step, done.stdout.splitlines())))
    assert sorted(step for step in steps if step is not None) == [1, 2]
    logged = [json.loads(line) for line in (folder / "log.jsonl").read_text("utf-8").splitlines()]
    filed = {entry["step"]: entry["data"] for entry in logged}
    rows = read_ledger(folder / "checkpoints" / "ledger.jsonl").rows
    for row in rows:
        numbers = steps[row["step"]]
        assert numbers["kept_frac"] == pytest.approx(row["kept_fraction"], abs=1e-3)
        assert filed[row["step"]]["dataflex/kept_frac"] == row["kept_fraction"]
        assert row["actuators"] == "threshold_band"
        assert row["selection_unit"] == "group"
        # Whole groups of 4, kept by an open band on k/4: 1, 2 and 3 solved of 4 are inside.
        assert sum(row["kept_responses"].values()) % 4 == 0


def test_a_request_that_would_be_ignored_never_reaches_ray(tmp_path: Path) -> None:
    done = run(make_assets(tmp_path), "sync", BLOCKS["mix"])
    assert done.returncode != 0
    assert "trainer.v1.trainer_mode=sync ignores the `dataflex` keys" in done.stdout
    assert "Set trainer.v1.trainer_mode=dataflex_sync" in done.stdout
    assert "ray init kwargs" not in done.stdout
