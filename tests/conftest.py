"""Fixtures of all tests: where the shared real data lie, and a home without caches."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

_PROJECT = Path(__file__).resolve().parents[1]


def find_shared() -> Path | None:
    """Return the folder with the real data copies: DFDATA_SHARED, else ../shared, else None."""
    given = os.environ.get("DFDATA_SHARED")
    folder = Path(given) if given else _PROJECT.parent / "shared"
    return folder if (folder / "data").is_dir() else None


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
