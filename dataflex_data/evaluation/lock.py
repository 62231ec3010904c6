"""Sealing a contract: the hash of what it says, kept beside it with the words it had.

The hash is over the parsed YAML as JSON with sorted keys, so that comments, spacing and key order
do not matter and every value does. The lock also holds that JSON, to name what was changed later,
and every seal that stood there before: a contract sealed anew says so in every report.
"""

from __future__ import annotations

import datetime
import hashlib
import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from dataflex_data.core.errors import InputDataError, OutputError
from dataflex_data.core.parquet import replace_file, write_json


def contract_sha256(raw: Mapping[str, Any]) -> str:
    """Return the SHA-256 of the canonical form of a contract's raw mapping."""
    text = json.dumps(raw, sort_keys=True, separators=(",", ":"), ensure_ascii=False)
    return hashlib.sha256(text.encode()).hexdigest()


def lock_path(contract_path: Path) -> Path:
    """Return where the lock of a contract lies: ``FILE.lock``."""
    return contract_path.with_name(contract_path.name + ".lock")


@dataclass(frozen=True, slots=True)
class EarlierSeal:
    """A seal that was replaced with ``--force``.

    Attributes:
        sha256: What it sealed; ``""`` where the lock could not be read.
        time: When it was written, ISO 8601; ``""`` where unknown.
        changed: The dotted keys that the next seal changed, or why they cannot be told.
    """

    sha256: str
    time: str
    changed: tuple[str, ...]


def write_lock(contract_path: Path, raw: Mapping[str, Any], tool: str, *, force: bool) -> bool:
    """Seal a contract; return False where an equal seal stood already and was kept.

    A seal that is replaced stays in the lock, under ``earlier``.

    Raises:
        OutputError: Another contract is sealed there and ``force`` is not given.
        InputDataError: The lock that stands there cannot be read, and ``force`` is not given.
    """
    path = lock_path(contract_path)
    earlier: list[dict[str, Any]] = []
    if path.exists():
        try:
            changed = changed_keys(contract_path, raw)
        except InputDataError:
            if not force:
                raise
            changed = ["unknown: the lock was edited or could not be read"]
        if not changed:
            return False
        if not force:
            raise OutputError(
                f"{path}: seals this contract with other values of {', '.join(changed)}; undo the "
                "change, or seal it anew with --force (the lock and every report then say so: "
                "runs already seen count as exploratory)"
            )
        held = _record_or_nothing(path)
        kept = held.get("earlier")
        earlier = [*(kept if isinstance(kept, list) else ())]
        told = {key: str(held.get(key) or "") for key in ("sha256", "time", "tool")}
        earlier.append({**told, "changed": changed})
    now = datetime.datetime.now(datetime.timezone.utc).isoformat(timespec="seconds")
    record: dict[str, Any] = {"sha256": contract_sha256(raw), "time": now, "tool": tool}
    record["contract"] = dict(raw)
    if earlier:
        record["earlier"] = earlier
    with replace_file(path) as partial:
        write_json(record, partial)
    return True


def _record_or_nothing(path: Path) -> dict[str, Any]:
    """Return what a lock holds, as far as it can be read: for the history of seals only."""
    try:
        record = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return {}
    return record if isinstance(record, dict) else {}


def earlier_seals(contract_path: Path) -> tuple[EarlierSeal, ...]:
    """Return the seals that were replaced, the oldest first; none without a lock.

    Raises:
        InputDataError: The history in the lock has another form.
    """
    path = lock_path(contract_path)
    if not path.exists():
        return ()
    try:
        return tuple(
            EarlierSeal(str(one["sha256"]), str(one["time"]), tuple(map(str, one["changed"])))
            for one in _record_or_nothing(path).get("earlier", [])
        )
    except (KeyError, TypeError):
        raise InputDataError(
            f"{path}: its list of earlier seals was edited; seal the contract anew with `dfdata "
            "contract lock --force`"
        ) from None


def changed_keys(contract_path: Path, raw: Mapping[str, Any]) -> list[str] | None:
    """Return the dotted keys that differ from the seal; ``[]`` if none, ``None`` if unsealed.

    Raises:
        InputDataError: The lock cannot be read, or does not fit its own hash.
    """
    path = lock_path(contract_path)
    try:
        record = json.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        return None
    except (OSError, ValueError) as error:
        raise InputDataError(f"{path}: cannot be read as JSON: {error}") from None
    sealed = record.get("contract") if isinstance(record, dict) else None
    if not isinstance(sealed, dict) or contract_sha256(sealed) != record.get("sha256"):
        raise InputDataError(
            f"{path}: its contract does not fit its own sha256: the lock was edited; "
            "seal the contract anew with `dfdata contract lock --force`"
        )
    return sorted(_differences(sealed, json.loads(json.dumps(raw)), ""))


def _differences(old: object, new: object, key: str) -> Iterator[str]:
    if isinstance(old, dict) and isinstance(new, dict):
        for name in sorted({*old, *new}, key=str):
            below = f"{key}.{name}" if key else str(name)
            if name not in old or name not in new:
                yield below
            else:
                yield from _differences(old[name], new[name], below)
    elif type(old) is not type(new) or old != new:
        yield key
