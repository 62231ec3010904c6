"""`dfdata build` from the hub (a local server), from its cache, and with neither."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from dataflex_data.builders.corpus import read_split
from dataflex_data.builders.sources.sciq import SciQ
from tests.factories import (
    dapo_records,
    deepscaler_records,
    gsm8k_records,
    sciq_records,
    write_parquet,
)
from tests.fake_hub import FakeHub


@pytest.fixture
def hub(tmp_path: Path) -> FakeHub:
    """Give a hub that holds the four repositories as they are laid out there."""

    def parquet(records: list[dict[str, str]]) -> bytes:
        return write_parquet(tmp_path / "x.parquet", records).read_bytes()

    server = FakeHub()
    server.commit(
        "openai/gsm8k",
        {
            "main/train-00000-of-00001.parquet": parquet(gsm8k_records(400)),
            "main/test-00000-of-00001.parquet": b"never read",
            "socratic/train-00000-of-00001.parquet": b"never read",
        },
    )
    server.commit(
        "BytedTsinghua-SIA/DAPO-Math-17k",
        {"data/dapo-math-17k.parquet": parquet(dapo_records(400))},
    )
    server.commit(
        "agentica-org/DeepScaleR-Preview-Dataset",
        {"deepscaler.json": json.dumps(deepscaler_records(400)).encode()},
    )
    server.commit("allenai/sciq", {"data/train-00000-of-00001.parquet": parquet(sciq_records(400))})
    # The recipe pins SciQ's revision: the hub must have just that commit, and main moves on.
    sciq = server.repos["allenai/sciq"]
    revision = SciQ.dataset.revision
    assert revision is not None
    sciq.commits[revision] = sciq.commits.pop(sciq.branches.pop("main"))
    server.commit("allenai/sciq", {"data/train-00000-of-00001.parquet": b"something newer"})
    return server


def build(out: Path, home: Path, endpoint: str, *more: str) -> subprocess.CompletedProcess[str]:
    environment = {key: value for key, value in os.environ.items() if not key.startswith("HF_")}
    environment |= {"HF_ENDPOINT": endpoint, "HF_HOME": str(home), "HF_HUB_DISABLE_XET": "1"}
    command = [sys.executable, "-m", "dataflex_data", "build", "--recipe", "three_domain_smoke"]
    command += ["--decontaminate", "none"]
    return subprocess.run(
        [*command, "--out", str(out), *more],
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )


def test_from_the_hub_then_from_its_cache_then_from_nowhere(hub: FakeHub, tmp_path: Path) -> None:
    home = tmp_path / "home"
    with hub:
        fresh = build(tmp_path / "hub", home, hub.url)
        assert fresh.returncode == 0, fresh.stderr
    manifest = json.loads((tmp_path / "hub" / "manifest.json").read_text())
    sources = manifest["sources"]
    assert {sources[name]["origin"] for name in ("gsm8k", "math_dapo", "deepscaler")} == {"hub"}
    commit = next(iter(hub.repos["openai/gsm8k"].commits))
    assert sources["gsm8k"]["revision"] == commit
    assert sources["sciq"]["revision"] == SciQ.dataset.revision
    assert [file["name"] for file in sources["gsm8k"]["files"]] == [
        "main/train-00000-of-00001.parquet"
    ]
    rows = read_split(tmp_path / "hub", "train").to_pylist()
    assert {
        row["extra_info"]["source_revision"]
        for row in rows
        if row["data_source"] == "dataflex/gsm8k"
    } == {commit}

    cached = build(tmp_path / "cached", home, hub.url, "--offline")
    assert cached.returncode == 0, cached.stderr
    for file in ("train.parquet", "validation.parquet", "manifest.json", "README.md"):
        assert (tmp_path / "cached" / file).read_bytes() == (tmp_path / "hub" / file).read_bytes()

    nowhere = build(tmp_path / "none", tmp_path / "empty", hub.url)
    assert nowhere.returncode == 2
    assert "Traceback" not in nowhere.stderr
    for part in (
        "openai/gsm8k",
        "BytedTsinghua-SIA/DAPO-Math-17k",
        "agentica-org/DeepScaleR-Preview-Dataset",
        "allenai/sciq",
        "main/train-*.parquet",
        "deepscaler.json",
        "--source",
        "--sources-dir",
    ):
        assert part in nowhere.stderr
    assert not (tmp_path / "none").exists()
