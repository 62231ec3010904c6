"""Sealing a contract: the hash of what it says, kept beside it with the words it had.

The hash is over the parsed YAML as JSON with sorted keys, so that comments, spacing and key order
do not matter and every value does. The lock also holds that JSON, to name what was changed later.
"""

from __future__ import annotations

import datetime
import hashlib
import json
from collections.abc import Iterator, Mapping
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


def write_lock(contract_path: Path, raw: Mapping[str, Any], tool: str, *, force: bool) -> bool:
    """Seal a contract; return False where an equal seal stood already and was kept.

    Raises:
        OutputError: Another contract is sealed there and ``force`` is not given.
        InputDataError: The lock that stands there cannot be read.
    """
    path = lock_path(contract_path)
    if path.exists() and not force:
        changed = changed_keys(contract_path, raw)
        if not changed:
            return False
        raise OutputError(
            f"{path}: seals this contract with other values of {', '.join(changed)}; undo the "
            "change, or seal it anew with --force (runs already seen then count as exploratory)"
        )
    now = datetime.datetime.now(datetime.timezone.utc).isoformat(timespec="seconds")
    record = {"sha256": contract_sha256(raw), "time": now, "tool": tool, "contract": dict(raw)}
    with replace_file(path) as partial:
        write_json(record, partial)
    return True


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
