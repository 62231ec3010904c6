"""Fixtures of all tests: where the shared real data lie, and a home without caches."""

from __future__ import annotations

import os

# No test may reach a hub; those of the hub run against a server of their own, in a subprocess.
os.environ["HF_HUB_OFFLINE"] = "1"
# Tables break lines by the terminal's width, which differs between machines and test runners.
os.environ["COLUMNS"] = "120"

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import pytest

from dataflex_data.cli.main import main

_PROJECT = Path(__file__).resolve().parents[1]


def find_shared() -> Path | None:
    """Return the folder with the real data copies: DFDATA_SHARED, else ../shared, else None."""
    given = os.environ.get("DFDATA_SHARED")
    folder = Path(given) if given else _PROJECT.parent / "shared"
    return folder if (folder / "data").is_dir() else None


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add ``--renew-golden``."""
    parser.addoption(
        "--renew-golden",
        action="store_true",
        help="Write golden files anew instead of comparing with them; read the difference.",
    )


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Skip tests marked ``shared`` where the data are absent, with the reason."""
    if find_shared() is not None:
        return
    skip = pytest.mark.skip(reason="real data copies not found: set DFDATA_SHARED to their folder")
    for item in items:
        if "shared" in item.keywords:
            item.add_marker(skip)


@pytest.fixture(scope="session")
def shared_dir() -> Path:
    """Folder of the real data copies; use together with ``@pytest.mark.shared``."""
    folder = find_shared()
    if folder is None:
        pytest.skip("real data copies not found: set DFDATA_SHARED to their folder")
    return folder


@dataclass(frozen=True)
class CliResult:
    """What a run of ``dfdata`` left behind."""

    code: int
    out: str
    err: str


Cli = Callable[..., CliResult]


@pytest.fixture
def cli(capsys: pytest.CaptureFixture[str]) -> Cli:
    """Run ``dfdata`` in this process: ``cli("build", "--recipe", ...)``."""

    def run(*arguments: object) -> CliResult:
        capsys.readouterr()
        with pytest.raises(SystemExit) as caught:
            main([str(argument) for argument in arguments])
        captured = capsys.readouterr()
        return CliResult(int(caught.value.code or 0), captured.out, captured.err)

    return run


@pytest.fixture(scope="session")
def made_sources(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A ``--sources-dir`` with 400 made-up records per file source."""
    from tests.factories import write_sources

    return write_sources(tmp_path_factory.mktemp("sources"))
