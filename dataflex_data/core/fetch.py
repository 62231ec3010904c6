"""Where a dataset's files lie: the hub, its cache, or files that the user gives.

Nothing is read until every source of a recipe has been found, so that a user without a network
learns at once which files to bring, and a build never starts on half of its input. What was found
is described by the SHA-256 of each file; a locked recipe accepts those digests and no others.
"""

from __future__ import annotations

import re
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from types import MappingProxyType

from dataflex_data.core.errors import (
    InputDataError,
    SourceUnavailableError,
    did_you_mean,
)
from dataflex_data.core.hub import Hub, HubFailure
from dataflex_data.core.parquet import file_sha256
from dataflex_data.core.patterns import listed, matching, missing_parts
from dataflex_data.core.records import SUFFIXES, data_suffix

LOCAL = "local"
_COMMIT = re.compile(r"[0-9a-f]{40}")


@dataclass(frozen=True, slots=True)
class HubDataset:
    """A dataset on the hub.

    Attributes:
        repo_id: Such as ``"openai/gsm8k"``.
        files: Glob patterns, relative to the repository, of the files wanted; the first pattern
            that matches anything in the repository or folder is taken, all its matches in order.
        revision: Commit to read; ``None`` means: resolve the default branch now and record it.
        folder_names: Further names under which a user's ``--sources-dir`` may hold it.
    """

    repo_id: str
    files: tuple[str, ...]
    revision: str | None = None
    folder_names: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class SourceFile:
    """One file of a source, as found.

    Attributes:
        path: Where it lies now.
        name: Path relative to the repository or the given folder; the file's name alone where the
            user gave a single file.
        bytes: Size.
        sha256: Digest of the content, computed here.
    """

    path: Path
    name: str
    bytes: int
    sha256: str


@dataclass(frozen=True, slots=True)
class Located:
    """A source whose files have all been found.

    Attributes:
        name: The source's name.
        repo_id: The repository it is published in; for local files what the source says, unproven.
        revision: The commit; ``"local"`` for files that the user gave.
        origin: ``"hub"`` (asked just now), ``"cache"`` (of the hub, without asking) or ``"local"``.
        files: In the order in which they are read.
    """

    name: str
    repo_id: str
    revision: str
    origin: str
    files: tuple[SourceFile, ...]


@dataclass(frozen=True, slots=True)
class Lookup:
    """What the user said about where sources lie.

    Attributes:
        overrides: ``--source NAME=PATH``: a file, or a folder laid out like the repository.
        sources_dir: ``--sources-dir DIR``: holds a folder for each of some sources.
        offline: Do not ask the hub; read its cache only.
    """

    overrides: Mapping[str, Path]
    sources_dir: Path | None
    offline: bool = False


@dataclass(frozen=True, slots=True)
class Lock:
    """What a locked recipe expects of a source.

    Attributes:
        revision: The commit to read from the hub; not compared for local files.
        sha256: Digest by file name.
    """

    revision: str
    sha256: Mapping[str, str]


def locate(
    wanted: Mapping[str, HubDataset],
    lookup: Lookup,
    locks: Mapping[str, Lock] = MappingProxyType({}),
    *,
    sleep: Callable[[float], None] = time.sleep,
) -> dict[str, Located]:
    """Return where every wanted source lies, in the order of ``wanted``.

    Each is looked for under its override, then in the sources folder, then on the hub, then in the
    hub's cache. A path that the user gave is never passed over for the hub.

    Args:
        wanted: All sources of the recipe by name, overridden ones included.
        lookup: What the user said.
        locks: Expected revision and digests, for the sources of a locked recipe.
        sleep: Waits between tries of a download, in seconds.

    Raises:
        InputDataError: An override names no source or nothing readable; the sources folder is
            missing or holds a source's folder without its files; or a locked recipe meets other
            files than it was locked with.
        SourceUnavailableError: Lists every source that was found nowhere, its files, why the hub
            failed, and the three ways to provide it.
    """
    found, failures = locate_available(wanted, lookup, locks, sleep=sleep)
    if failures:
        raise SourceUnavailableError(_unavailable(wanted, lookup, failures))
    return found


def locate_available(
    wanted: Mapping[str, HubDataset],
    lookup: Lookup,
    locks: Mapping[str, Lock] = MappingProxyType({}),
    *,
    sleep: Callable[[float], None] = time.sleep,
) -> tuple[dict[str, Located], dict[str, str]]:
    """Return what was found, and for each source found nowhere the reason; see `locate`.

    For callers that can go on with some of them, such as an audit against many benchmarks. Ask for
    all at once: a hub without a network is then tried for the first one only.

    Raises:
        InputDataError: As `locate` does.
    """
    local = _locate_local(wanted, lookup)
    hub = Hub(offline=lookup.offline, sleep=sleep)
    found: dict[str, Located] = {}
    failures: dict[str, str] = {}
    for name, dataset in wanted.items():
        if name in local:
            found[name] = local[name]
            continue
        revision = _revision_to_read(name, dataset, locks.get(name))
        try:
            snapshot = hub.fetch(dataset.repo_id, revision, dataset.files)
        except HubFailure as failure:
            failures[name] = str(failure)
            continue
        files = tuple(source_file(path, file) for file, path in snapshot.paths.items())
        found[name] = Located(name, dataset.repo_id, snapshot.commit, snapshot.origin, files)
    _check_locks(found, locks)
    return found, failures


def _check_locks(found: Mapping[str, Located], locks: Mapping[str, Lock]) -> None:
    problems = [
        problem
        for name, located in found.items()
        if name in locks
        for problem in lock_problems(located, locks[name])
    ]
    if problems:
        raise InputDataError(
            "the sources are not those that the recipe is locked to: "
            + "; ".join(problems)
            + ". Provide the locked files, or lock the recipe anew with `dfdata recipes lock`"
        )


def locate_path(name: str, path: Path, dataset: HubDataset | None = None) -> Located:
    """Return a file or folder of the user's as a source.

    Args:
        name: The source's name.
        path: A data file, or a folder; ``~`` is expanded.
        dataset: Which files of a folder are wanted; ``None`` takes all data files, which must then
            be of one kind.

    Raises:
        InputDataError: Nothing is there, or not the files wanted, or which ones cannot be told.
    """
    path = expand(path)
    repo_id = dataset.repo_id if dataset else ""
    if path.is_dir():
        patterns = dataset.files if dataset else ("**/*",)
        names = matching_in_folder(path, patterns)
        files = tuple(source_file(path / file, file) for file in names)
        return Located(name, repo_id, LOCAL, LOCAL, files)
    if not path.exists():
        raise InputDataError(f"source {name}: no such file or folder: {path}")
    if data_suffix(path) is None:
        raise InputDataError(
            f"source {name}: {path} cannot be read, its name does not end in any of "
            f"{', '.join(SUFFIXES)}; convert or rename it"
        )
    return Located(name, repo_id, LOCAL, LOCAL, (source_file(path, path.name),))


def expand(path: Path) -> Path:
    """Return the absolute path, with ``~`` expanded (a shell leaves it alone after ``NAME=``)."""
    try:
        return Path(path).expanduser().absolute()
    except RuntimeError:
        raise InputDataError(f"{path}: no home directory is known for this user") from None


def source_file(path: Path, name: str) -> SourceFile:
    """Return a file with its size and digest.

    Raises:
        InputDataError: It cannot be read.
    """
    try:
        return SourceFile(path, name, path.stat().st_size, file_sha256(path))
    except OSError as error:
        raise InputDataError(
            f"{path}: cannot be read ({error.strerror or error}); change its mode or copy it"
        ) from None


def matching_in_folder(folder: Path, patterns: Sequence[str]) -> list[str]:
    """Return the files wanted of a user's folder, relative to it, in order.

    A pattern may match the whole relative path, else its end (the folder stands around the
    repository), else the file's name alone (the folder is one of the repository's).

    Raises:
        InputDataError: None matches, several do that are not parts of one set, or a part is
            missing.
    """
    names = sorted(
        path.relative_to(folder).as_posix()
        for path in folder.rglob("*")
        if path.is_file() and data_suffix(path) and not _is_hidden(path.relative_to(folder))
    )
    ends = [f"**/{pattern}" for pattern in patterns]
    last = [f"**/{PurePosixPath(pattern).name}" for pattern in patterns]
    hits = next((hits for way in (patterns, ends, last) if (hits := matching(names, way))), [])
    wanted = " or ".join(patterns)
    if not hits:
        raise InputDataError(
            f"{folder}: holds no file {wanted}; data files found there: {listed(names)}. "
            "Lay it out like the repository, or name the very file"
        )
    kinds = {data_suffix(Path(name)) for name in hits}
    folders = {name.rpartition("/")[0] for name in hits}
    if len(kinds) > 1 or (len(folders) > 1 and hits != matching(names, patterns)):
        raise InputDataError(
            f"{folder}: several files could be {wanted}: {listed(hits)}; name the one to read"
        )
    missing = missing_parts(hits)
    if missing:
        raise InputDataError(f"{folder}: parts of a set are missing: {listed(missing)}; add them")
    return hits


def lock_problems(located: Located, lock: Lock) -> list[str]:
    """Return, in words, each way in which a source is not what a recipe was locked to.

    A local file may have another name or folder than on the hub; its content is what counts.
    """
    local = located.origin == LOCAL
    problems = []
    if not local and located.revision != lock.revision:
        problems.append(
            f"source {located.name}: revision {located.revision}, expected {lock.revision}"
        )
    unmet = dict(lock.sha256)
    for file in located.files:
        name = _locked_name(file, unmet, local=local)
        if name is None:
            expected = ", ".join(f"{key} {sha256}" for key, sha256 in lock.sha256.items())
            problems.append(
                f"source {located.name}: file {file.name} has sha256 {file.sha256}, which is not "
                f"among the locked files ({expected})"
            )
        elif unmet.pop(name) != file.sha256:
            problems.append(
                f"source {located.name}: file {file.name} has sha256 {file.sha256}, "
                f"expected {lock.sha256[name]}"
            )
    problems.extend(
        f"source {located.name}: file {name} is missing, expected with sha256 {sha256}"
        for name, sha256 in unmet.items()
    )
    return problems


def _locked_name(file: SourceFile, unmet: Mapping[str, str], *, local: bool) -> str | None:
    if file.name in unmet:
        return file.name
    if not local:
        return None
    same_content = [name for name, sha256 in unmet.items() if sha256 == file.sha256]
    base = PurePosixPath(file.name).name
    same_name = [name for name in unmet if PurePosixPath(name).name == base]
    only_one = list(unmet) if len(unmet) == 1 else []
    return next(iter(same_content or same_name or only_one), None)


def _revision_to_read(name: str, dataset: HubDataset, lock: Lock | None) -> str | None:
    if lock is None or not _COMMIT.fullmatch(lock.revision):
        return dataset.revision
    pinned = dataset.revision
    if pinned is not None and _COMMIT.fullmatch(pinned) and pinned != lock.revision:
        raise InputDataError(
            f"source {name}: the recipe asks for revision {pinned} and is locked to "
            f"{lock.revision}; lock it anew with `dfdata recipes lock`"
        )
    return lock.revision


def _locate_local(wanted: Mapping[str, HubDataset], lookup: Lookup) -> dict[str, Located]:
    """Return the sources that the user's own paths give; all wrong paths in one error."""
    found: dict[str, Located] = {}
    problems = [
        f"source {name} is not part of the recipe{did_you_mean(name, wanted)} "
        f"(its sources: {', '.join(wanted)})"
        for name in lookup.overrides
        if name not in wanted
    ]
    root = None if lookup.sources_dir is None else expand(lookup.sources_dir)
    if root is not None and not root.is_dir():
        problems.append(f"the folder {root} {'is a file' if root.exists() else 'does not exist'}")
        root = None
    for name, dataset in wanted.items():
        try:
            if name in lookup.overrides:
                found[name] = locate_path(name, lookup.overrides[name], dataset)
            elif root is not None:
                located = _in_sources_dir(name, dataset, root)
                if located is not None:
                    found[name] = located
        except InputDataError as error:  # noqa: PERF203 - all wrong paths are told at once
            problems.append(str(error))
    if len(problems) == 1:
        raise InputDataError(problems[0])
    if problems:
        listed = "\n".join(f"  - {problem}" for problem in problems)
        raise InputDataError(f"{len(problems)} of the paths given cannot be used\n{listed}")
    return found


def _in_sources_dir(name: str, dataset: HubDataset, root: Path) -> Located | None:
    folders = [root / folder for folder in folder_names(name, dataset)]
    folders = [folder for folder in folders if folder.is_dir()]
    first_error: InputDataError | None = None
    for folder in folders:
        try:
            return locate_path(name, folder, dataset)
        except InputDataError as error:  # noqa: PERF203 - the next folder may have them
            first_error = first_error or error
    if first_error is not None:
        raise first_error
    return None


def folder_names(name: str, dataset: HubDataset) -> list[str]:
    """Return the folders, relative to a sources folder, that may hold a dataset; best first."""
    repo = dataset.repo_id
    names = [name, repo.rpartition("/")[2], repo, repo.replace("/", "--"), *dataset.folder_names]
    return list(dict.fromkeys(names))


def _unavailable(
    wanted: Mapping[str, HubDataset], lookup: Lookup, failures: Mapping[str, str]
) -> str:
    count = "1 source" if len(failures) == 1 else f"{len(failures)} sources"
    lines = [f"{count} could be read from nowhere:"]
    for name, reason in failures.items():
        dataset = wanted[name]
        revision = f" at revision {dataset.revision}" if dataset.revision else ""
        lines.append(f"  - {name}: {' or '.join(dataset.files)}")
        lines.append(f"      of https://huggingface.co/datasets/{dataset.repo_id}{revision}")
        lines.append(f"      {reason}")
    name = next(iter(failures))
    root = lookup.sources_dir or Path("DIR")
    lines += [
        "Provide them in one of three ways:",
        "  1. let the hub be reached (HF_ENDPOINT, HF_TOKEN), or bring its cache (HF_HOME), filled "
        "elsewhere by",
        *(f"       {_download_command(wanted[missing])}" for missing in failures),
        f"  2. --source NAME=PATH, a file or folder for each, such as --source {name}=PATH "
        f"({', '.join(SUFFIXES)})",
        "  3. --sources-dir DIR, with folders laid out like the repositories:",
        *(f"       {root}/{missing}/{wanted[missing].files[0]}" for missing in failures),
    ]
    return "\n".join(lines)


def _download_command(dataset: HubDataset) -> str:
    revision = f"--revision {dataset.revision} " if dataset.revision else ""
    what = f"{dataset.repo_id} {revision}--include '{dataset.files[0]}'"
    return f"hf download --repo-type dataset {what}"


def _is_hidden(path: Path) -> bool:
    return any(part.startswith(".") for part in path.parts)
