"""The built wheel: all of the package and its data, nothing else, and it works on its own.

No environment is made here: the wheel's folder stands first on the path of a fresh interpreter, so
that what runs is the wheel and not the checkout.
"""

from __future__ import annotations

import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

PROJECT = Path(__file__).resolve().parents[2]


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The wheel, built by the declared backend without the network."""
    pytest.importorskip("hatchling", reason="hatchling builds the wheel (extra dev)")
    out = tmp_path_factory.mktemp("wheel")
    subprocess.run(
        [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", str(out)],
        cwd=PROJECT,
        check=True,
        capture_output=True,
    )
    (built,) = out.glob("*.whl")
    return built


@pytest.fixture(scope="module")
def unpacked(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The wheel's content."""
    folder = tmp_path_factory.mktemp("unpacked")
    with zipfile.ZipFile(wheel) as archive:
        archive.extractall(folder)
    return folder


def run(unpacked: Path, scratch: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    """Run ``dfdata`` of the wheel in an empty folder."""
    return subprocess.run(
        [sys.executable, "-m", "dataflex_data", *arguments],
        cwd=scratch,
        env={"PYTHONPATH": str(unpacked), "PATH": "/usr/bin:/bin", "COLUMNS": "120"},
        capture_output=True,
        text=True,
        check=False,
    )


def test_it_holds_every_file_of_the_package_and_no_other(wheel: Path) -> None:
    tracked = subprocess.run(
        ["git", "ls-files", "--cached", "--others", "--exclude-standard", "dataflex_data"],
        cwd=PROJECT,
        capture_output=True,
        text=True,
        check=False,
    )
    if tracked.returncode:
        pytest.skip("not a git checkout, so there is no list of files to compare with")
    wanted = {name for name in tracked.stdout.splitlines() if (PROJECT / name).is_file()}
    with zipfile.ZipFile(wheel) as archive:
        names = {name for name in archive.namelist() if not name.endswith("/")}
    assert {name for name in names if name.startswith("dataflex_data/")} == wanted
    assert "dataflex_data/py.typed" in names
    assert "dataflex_data/builders/recipes/three_domain_offline.yaml" in names
    assert "dataflex_data/builders/knights/published_test.json" in names
    assert "dataflex_data/evaluation/contract_template.yaml" in names
    others = {name.split("/")[0] for name in names} - {"dataflex_data"}
    assert len(others) == 1
    assert next(iter(others)).endswith(".dist-info")


def test_its_data_are_found_where_it_is_installed(unpacked: Path, tmp_path: Path) -> None:
    where = subprocess.run(
        [sys.executable, "-c", "import dataflex_data; print(dataflex_data.__file__)"],
        cwd=tmp_path,
        env={"PYTHONPATH": str(unpacked)},
        capture_output=True,
        text=True,
        check=True,
    )
    assert where.stdout.startswith(str(unpacked))
    assert "three_domain_offline" in run(unpacked, tmp_path, "recipes").stdout
    made = run(unpacked, tmp_path, "contract", "init", "contract.yaml")
    assert made.returncode == 0, made.stderr
    recipe = tmp_path / "small.yaml"
    recipe.write_text(
        "recipe: 1\nname: small\nseed: 1\nvalidation: 4\ndomains:\n"
        "  logic:\n    count: 20\n    sources: [{source: knights_and_knaves, fraction: 1.0, "
        "params: {people: [7, 8]}}]\n"
        "  science:\n    count: 20\n    sources: [{source: procedural_science, fraction: 1.0}]\n"
    )
    built = run(unpacked, tmp_path, "build", "--recipe", str(recipe), "--out", "corpus")
    assert built.returncode == 0, built.stderr
    verified = run(unpacked, tmp_path, "verify", "corpus", "--out", "verified")
    assert verified.returncode == 0, verified.stdout + verified.stderr
    shown = run(unpacked, tmp_path, "dashboard", ".", "--out", "page.html")
    assert shown.returncode == 0, shown.stderr
    assert (tmp_path / "page.html").is_file()


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_completion_can_be_shown(unpacked: Path, tmp_path: Path, shell: str) -> None:
    result = run(unpacked, tmp_path, "--show-completion", shell)
    assert result.returncode == 0, result.stderr
    assert "DFDATA_COMPLETE" in result.stdout


def test_the_module_says_its_version(unpacked: Path, tmp_path: Path) -> None:
    assert run(unpacked, tmp_path, "--version").stdout.startswith("dataflex-data ")
