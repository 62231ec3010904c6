"""Where a run's record is kept and what it calls itself: told before the run as within it."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from dataflex_data.core.errors import DataflexError
from dataflex_data.core.ledger import check_ledger
from dataflex_data.integrations.verl.settings import RunSettings, get

NO_LEDGER = "none"
_FILE = "ledger.jsonl"


def ledger_path(config: Mapping[str, Any], settings: RunSettings) -> Path | None:
    """Return the ledger's file; ``None`` where there is to be none, or no place for one."""
    if settings.ledger == NO_LEDGER:
        return None
    if settings.ledger:
        return Path(settings.ledger).expanduser()
    folder = get(config, "trainer.default_local_dir")
    return Path(str(folder)).expanduser() / _FILE if folder else None


def ledger_run(config: Mapping[str, Any], settings: RunSettings) -> dict[str, Any]:
    """Return what the ledger says the run is."""
    return {
        "project": get(config, "trainer.project_name"),
        "experiment": get(config, "trainer.experiment_name"),
        "dataflex": settings.model_dump(
            mode="json", exclude_none=True, exclude={"ledger", "poll_interval_s"}
        ),
    }


def ledger_problems(config: Mapping[str, Any], settings: RunSettings) -> Iterator[str]:
    """Yield why the ledger could not be written, as far as this machine can tell.

    A ledger of this same run is taken: the run goes on in it.
    """
    path = ledger_path(config, settings)
    if path is None:
        return
    remedy = "Set +dataflex.ledger=FILE, or +dataflex.ledger=none for no record"
    place = next(place for place in (path, *path.absolute().parents) if os.path.exists(place))
    if place == path and (place.is_dir() or place.stat().st_size):
        try:
            check_ledger(path, ledger_run(config, settings))
        except DataflexError as error:
            yield f"dataflex.ledger: {error}. {remedy}"
            return
    elif place != path and not place.is_dir():
        yield f"dataflex.ledger: {path}: {place} is a file, no folder. {remedy}"
        return
    if place == Path(place.anchor):
        return  # the whole tree is of another machine
    if not os.access(place, os.W_OK):
        yield f"dataflex.ledger: {path}: {place} is not writable. {remedy}"
