"""What lies under some folders that a dashboard can show: found, checked and typed.

The dashboard shows what other parts of the package wrote, and knows them by their files alone. A
file that is broken, of a newer release or of another tool is named with the reason, never shown in
part: `models` lists what the page reads, and everything of it must be there.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypeVar

import numpy as np
from pydantic import BaseModel

from dataflex_data.core.config import parse_config
from dataflex_data.core.errors import DataflexError, InputDataError
from dataflex_data.core.ledger import LEDGER_KIND, LedgerRows, read_ledger
from dataflex_data.core.parquet import MANIFEST_NAME, file_sha256
from dataflex_data.reporting.dashboard.models import (
    AuditSummary,
    CorpusManifest,
    EvaluationResults,
    Verification,
)
from dataflex_data.reporting.ledger_report import series_of

MOST_ENTRIES = 100_000
DEEPEST = 8
# Other folders of ours, which have a page of their own.
OTHER_KINDS = {
    "duplicate_audit": "near-duplicates",
    "dataflex_data/simulation": "simulation (its ledgers are shown as runs)",
}
_SHOWN_KINDS = ("corpus", "verification", "contamination_audit", "evaluation")
# What each file's version key says; reporting may not ask those who write them, a test does.
VERSIONS = {"manifest_version": 1, "verification_version": 1, "summary_version": 1, "schema": 1}
_FIRST_LINE = 1 << 16


M = TypeVar("M", bound=BaseModel)


@dataclass(frozen=True, slots=True)
class Corpus:
    """A corpus folder.

    Attributes:
        label: How the page calls it.
        folder: Where it lies.
        manifest: What its manifest says.
        damage: What is wrong with its files, by name.
    """

    label: str
    folder: Path
    manifest: CorpusManifest
    damage: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Found:
    """Everything found under the folders, each kind in the order of its path.

    Attributes:
        corpora: Corpora.
        verifications: ``(label, outcome)``.
        audits: ``(label, folder, summary)``.
        ledgers: Ledgers with at least one step.
        evaluations: ``(label, results)``.
        others: ``(label, kind)`` of folders of ours that have a page of their own.
        unusable: One sentence per file that could not be used.
        damage: What is wrong with the files that a folder's manifest names, by folder and name.
        not_ledgers: How many ``.jsonl`` files are something else.
        is_cut: Whether there was more than `MOST_ENTRIES` to look at.
    """

    corpora: list[Corpus] = field(default_factory=list)
    verifications: list[tuple[str, Verification]] = field(default_factory=list)
    audits: list[tuple[str, Path, AuditSummary]] = field(default_factory=list)
    ledgers: list[LedgerRows] = field(default_factory=list)
    evaluations: list[tuple[str, EvaluationResults]] = field(default_factory=list)
    others: list[tuple[str, str]] = field(default_factory=list)
    unusable: list[str] = field(default_factory=list)
    damage: dict[Path, dict[str, str]] = field(default_factory=dict)
    not_ledgers: int = 0
    is_cut: bool = False

    @property
    def is_empty(self) -> bool:
        """Whether there is nothing to show."""
        shown = (self.corpora, self.verifications, self.audits, self.ledgers, self.evaluations)
        return not any(shown)

    @property
    def damaged(self) -> list[str]:
        """One sentence for each file that is not as its folder's manifest says."""
        return [
            f"{folder / name}: {problem}"
            for folder, problems in self.damage.items()
            for name, problem in problems.items()
        ]

    def is_stale(self, outcome: Verification) -> bool:
        """Whether a verification is of a corpus here whose files have changed since."""
        return any(
            corpus.damage and corpus.manifest.manifest_sha256 == outcome.corpus.manifest_sha256
            for corpus in self.corpora
        )


def find(folders: Sequence[Path]) -> Found:
    """Return what lies in the folders and in those below, to a depth of `DEEPEST`.

    Hidden folders and links to folders are passed over. A folder that is given twice, or lies in
    another one that is given, is shown once.

    Raises:
        InputDataError: A folder does not exist.
    """
    found = Found()
    not_ledgers = 0
    roots: dict[Path, Path] = {}
    seen: set[Path] = set()
    for folder in folders:
        root = Path(folder).expanduser()
        if not root.is_dir():
            raise InputDataError(f"{root}: {'is no folder' if root.exists() else 'no such folder'}")
        roots.setdefault(root.resolve(), root)
    # A folder within another one adds only what the search of that one did not reach.
    outer = [real for real in roots if not any(other in real.parents for other in roots)]
    for place in [*outer, *(real for real in roots if real not in outer)]:
        root = roots[place]
        for path in _files(root):
            real = path.resolve()
            if real in seen:
                continue
            seen.add(real)
            if len(seen) > MOST_ENTRIES:
                return _with(found, not_ledgers, is_cut=True)
            label = _label(root, path, alone=len(outer) == 1)
            try:
                if path.name == MANIFEST_NAME:
                    _take_folder(found, label, path)
                elif path.suffix == ".jsonl" and not _take_ledger(found, path):
                    not_ledgers += 1
            except DataflexError as error:
                found.unusable.append(str(error))
    return _with(found, not_ledgers, is_cut=False)


def _with(found: Found, not_ledgers: int, *, is_cut: bool) -> Found:
    return Found(
        *(found.corpora, found.verifications, found.audits, found.ledgers, found.evaluations),
        *(found.others, list(dict.fromkeys(found.unusable)), found.damage, not_ledgers, is_cut),
    )


def _files(root: Path) -> Iterator[Path]:
    """Yield files below ``root`` in a fixed order, those of a folder before its folders'."""
    for folder, folders, files in os.walk(root):
        here = Path(folder)
        depth = len(here.relative_to(root).parts)
        folders[:] = sorted(n for n in folders if not n.startswith(".")) if depth < DEEPEST else []
        yield from (here / name for name in sorted(files))


def _label(root: Path, path: Path, *, alone: bool) -> str:
    """Return how the page calls the folder of ``path``: from the folder that was given."""
    below = path.parent.relative_to(root).as_posix()
    name = root.resolve().name
    if below == ".":
        return name
    return below if alone else f"{name}/{below}"


def _take_folder(found: Found, label: str, path: Path) -> None:
    data = _read_json(path)
    kind = data.get("kind")
    folder = path.parent
    if isinstance(kind, str) and (kind in _SHOWN_KINDS or kind in OTHER_KINDS):
        damage = _damage(folder, data.get("files"))
        if damage:
            found.damage[folder] = damage
    if kind == "corpus":
        manifest = _checked(CorpusManifest, data, path, "manifest_version")
        found.corpora.append(Corpus(label, folder, manifest, found.damage.get(folder, {})))
    elif kind == "verification":
        where = folder / "verification.json"
        outcome = _checked(Verification, _read_json(where), where, "verification_version")
        found.verifications.append((label, outcome))
    elif kind == "contamination_audit":
        where = folder / "summary.json"
        summary = _checked(AuditSummary, _read_json(where), where, "summary_version")
        found.audits.append((label, folder, summary))
    elif kind == "evaluation":
        where = folder / "results.json"
        results = _checked(EvaluationResults, _read_json(where), where, "schema")
        found.evaluations.append((label, results))
    elif isinstance(kind, str) and kind in OTHER_KINDS:
        found.others.append((label, OTHER_KINDS[kind]))
    else:
        raise InputDataError(
            f"{path}: is of another tool, or of a newer dataflex-data (kind {kind!r})"
        )


def _damage(folder: Path, files: object) -> dict[str, str]:
    """Return what is wrong with the files that a manifest names, by name."""
    found: dict[str, str] = {}
    for name, entry in sorted(files.items()) if isinstance(files, dict) else ():
        path = folder / name
        try:
            if not path.is_file():
                found[name] = f"is missing, though {MANIFEST_NAME} names it"
            elif isinstance(entry, dict) and file_sha256(path) != entry.get("sha256"):
                found[name] = "is not the file that the manifest names"
        except OSError as error:
            found[name] = f"cannot be read ({error.strerror})"
    return found


def _take_ledger(found: Found, path: Path) -> bool:
    """Add the ledger at ``path``; return whether it is one."""
    if path.stem.endswith(".superseded"):
        return True  # steps that a resumed run made anew; they lie beside its ledger
    try:
        with path.open("rb") as handle:
            first = handle.readline(_FIRST_LINE)
    except OSError as error:
        raise InputDataError(f"{path}: cannot be read ({error.strerror})") from None
    if LEDGER_KIND.encode() not in first:
        if len(first) < _FIRST_LINE and not _is_json(first):
            raise InputDataError(
                f"{path}: its first line is not JSON; if this is a ledger, it is damaged"
            )
        return False
    ledger = read_ledger(path)
    if not ledger.rows:
        raise InputDataError(f"{path}: is a ledger without a step yet")
    figures = series_of(ledger)
    if infinite := [name for name, values in figures.items() if np.isinf(values).any()]:
        raise InputDataError(f"{path}: column {infinite[0]!r} holds a number that is not finite")
    found.ledgers.append(ledger)
    return True


def _is_json(line: bytes) -> bool:
    try:
        json.loads(line)
    except (ValueError, RecursionError):
        return False
    return True


def _read_json(path: Path) -> Mapping[str, Any]:
    try:
        data = json.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        raise InputDataError(f"{path}: is missing, though {MANIFEST_NAME} is there") from None
    except (OSError, ValueError, RecursionError) as error:
        raise InputDataError(f"{path}: cannot be read as JSON: {error}") from None
    if not isinstance(data, dict):
        raise InputDataError(f"{path}: holds no mapping")
    return data


def _checked(model: type[M], data: Mapping[str, Any], path: Path, version_key: str) -> M:
    held, version = data.get(version_key), VERSIONS[version_key]
    if held != version:
        known = isinstance(held, int) and held > version
        remedy = "upgrade dataflex-data" if known else "make it again"
        raise InputDataError(
            f"{path}: `{version_key}` is {held!r}, this release reads {version}; {remedy}"
        )
    return parse_config(model, data, str(path))
