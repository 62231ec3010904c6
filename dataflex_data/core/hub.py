"""Files of a dataset repository, from the hub or its cache, each checked against its digest.

``huggingface_hub`` downloads, resumes, caches and honours its environment (HF_ENDPOINT, HF_TOKEN,
HF_HOME, HF_HUB_OFFLINE); what it leaves open is done here: tries after a 503, a truncated body or
a reset connection, and the check that the bytes are those that the hub names. Its versions from
0.30 (requests) to 1.x (httpx) are served alike, hence no exception class of either is named.
"""

from __future__ import annotations

import email.utils
import errno
import hashlib
import http.client
import itertools
import logging
import re
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

from dataflex_data.core.parquet import file_sha256
from dataflex_data.core.patterns import listed, matching, missing_parts

if TYPE_CHECKING:
    from huggingface_hub.errors import HfHubHTTPError
    from huggingface_hub.hf_api import RepoSibling

T = TypeVar("T")

TRIES = 5
FIRST_WAIT_S = 1.0
LONGEST_WAIT_S = 300.0  # a Retry-After beyond this is told to the user instead of waited for
_ANSWER_TIMEOUT_S = 30.0
_TRANSIENT = frozenset({408, 425, 429, 500, 502, 503, 504})
_NO_CONNECTION = {"ConnectError", "ConnectTimeout", "ConnectionError", "NewConnectionError"}
_DISK_ERRORS = {errno.ENOSPC, errno.EDQUOT, errno.EACCES, errno.EPERM, errno.EROFS, errno.ENOTDIR}
_SHA1, _SHA256 = re.compile(r"[0-9a-f]{40}"), re.compile(r"[0-9a-f]{64}")

_log = logging.getLogger(__name__)


class HubFailure(Exception):  # noqa: N818 - not an error of the user's until no other way is left
    """Why the hub and its cache gave nothing, in a few words."""


class _Final(HubFailure):
    """A failure after which the cache must not stand in: it holds the same, or older, bytes."""


class _WrongDigest(Exception):  # noqa: N818 - leads to one more download, then to a HubFailure
    pass


class _Moved(Exception):  # noqa: N818 - leads to one more listing
    pass


@dataclass(frozen=True, slots=True)
class Snapshot:
    """Files of a repository at one commit.

    Attributes:
        commit: The commit's sha.
        origin: ``"hub"`` or ``"cache"``.
        paths: By name relative to the repository, in the order in which to read them.
    """

    commit: str
    origin: str
    paths: Mapping[str, Path]


@dataclass(frozen=True, slots=True)
class _Listing:
    commit: str
    siblings: Mapping[str, RepoSibling]


class Hub:
    """Access to the hub for the time of one lookup.

    Args:
        offline: Read the cache only.
        sleep: Waits between tries, in seconds.
    """

    def __init__(
        self, *, offline: bool = False, sleep: Callable[[float], None] = time.sleep
    ) -> None:
        self._sleep = sleep
        self._unreachable = "the hub was not asked (offline)" if offline else ""

    def fetch(self, repo_id: str, revision: str | None, patterns: Sequence[str]) -> Snapshot:
        """Return the files that the first fruitful pattern matches.

        Raises:
            HubFailure: Neither the hub nor its cache has them.
        """
        try:
            return self._from_hub(repo_id, revision, patterns)
        except _Final:
            raise
        except HubFailure as failure:
            reason = str(failure)
        try:
            snapshot = _from_cache(repo_id, revision, patterns)
        except HubFailure as failure:
            raise HubFailure(f"{reason}; {failure}") from None
        _log.warning(
            "%s: %s; reading commit %s from the hub's cache", repo_id, reason, snapshot.commit
        )
        return snapshot

    def _from_hub(self, repo_id: str, revision: str | None, patterns: Sequence[str]) -> Snapshot:
        if self._unreachable:
            raise HubFailure(self._unreachable)
        for _ in range(TRIES):
            listing = self._listing(repo_id, revision)
            names = matching(listing.siblings, patterns)
            if not names:
                held = listed(sorted(listing.siblings))
                raise _Final(f"commit {listing.commit} holds no such file (it holds: {held})")
            try:
                paths = {
                    name: self._download(repo_id, revision, listing, listing.siblings[name])
                    for name in names
                }
            except _Moved:
                continue
            return Snapshot(listing.commit, "hub", paths)
        raise _Final("the repository changed during every download; name a commit as revision")

    def _listing(self, repo_id: str, revision: str | None) -> _Listing:
        from huggingface_hub import HfApi

        info = self._patiently(
            repo_id,
            lambda: HfApi().dataset_info(
                repo_id, revision=revision, files_metadata=True, timeout=_ANSWER_TIMEOUT_S
            ),
        )
        siblings = {sibling.rfilename: sibling for sibling in info.siblings or ()}
        return _Listing(str(info.sha), siblings)

    def _download(
        self, repo_id: str, revision: str | None, listing: _Listing, sibling: RepoSibling
    ) -> Path:
        """Return the cached file after checking its digest; a bad one is removed and had anew."""
        from huggingface_hub import hf_hub_download

        def download(*, force: bool) -> Path:
            # The branch's name, not its commit, is handed on: the cache then knows where the
            # branch stood, and can be read offline without naming a commit.
            path = Path(
                hf_hub_download(
                    repo_id,
                    sibling.rfilename,
                    repo_type="dataset",
                    revision=revision,
                    force_download=force,
                )
            )
            if listing.commit not in path.parts:
                raise _Moved
            try:
                _check_digest(path, sibling)
            except _WrongDigest:
                _remove_from_cache(path)
                raise
            return path

        try:
            try:
                return self._patiently(repo_id, lambda: download(force=False))
            except _WrongDigest as wrong:
                _log.warning("%s, %s: %s; downloading again", repo_id, sibling.rfilename, wrong)
                return self._patiently(repo_id, lambda: download(force=True))
        except _WrongDigest as wrong:
            raise _Final(
                f"{sibling.rfilename} arrived twice with a wrong digest: {wrong}; it was removed "
                "from the cache"
            ) from None

    def _patiently(self, repo_id: str, action: Callable[[], T]) -> T:
        """Return what ``action`` gives, trying again where that can help."""
        wait = FIRST_WAIT_S
        for attempt in itertools.count(1):
            try:
                return action()
            except (_Moved, _WrongDigest):  # noqa: PERF203 - a try per iteration is the point
                raise
            except Exception as error:
                fault = _explain(error)
                if fault is None:
                    raise
                pause = max(wait, fault.retry_after_s)
                if attempt >= fault.tries or pause > LONGEST_WAIT_S:
                    self._unreachable = fault.words if fault.unreachable else ""
                    raise HubFailure(_given_up(fault, attempt, pause)) from error
                _log.warning(
                    "%s: %s; try %d of %d in %g s",
                    *(repo_id, fault.words, attempt + 1, fault.tries, pause),
                )
                self._sleep(pause)
                wait *= 2
        raise AssertionError("itertools.count never ends")


@dataclass(frozen=True, slots=True)
class _Fault:
    """What went wrong, and how often the action is worth trying in all."""

    words: str
    tries: int = 1
    retry_after_s: float = 0.0
    unreachable: bool = False


def _explain(error: Exception) -> _Fault | None:
    """Return the fault that an exception of huggingface_hub tells of; ``None``: it is a bug."""
    from huggingface_hub import errors

    if isinstance(error, errors.OfflineModeIsEnabled):
        return _Fault("the hub was not asked (HF_HUB_OFFLINE is set)", unreachable=True)
    if isinstance(error, errors.LocalEntryNotFoundError):
        cause = error.__cause__
        return _explain(cause) if isinstance(cause, Exception) else _Fault(_brief(error))
    if isinstance(error, errors.HfHubHTTPError):
        return _explain_answer(error)
    families = {family.__name__ for family in type(error).__mro__}
    if families & _NO_CONNECTION:
        return _Fault(f"no network: {_endpoint()} cannot be reached", tries=2, unreachable=True)
    if families & {"HTTPError", "RequestException", "TransportError"}:
        return _Fault(f"the connection broke ({_brief(error)})", tries=TRIES)
    if isinstance(error, OSError) and error.errno in _DISK_ERRORS:
        return _Fault(f"the hub's cache {_cache()} cannot be written ({error.strerror})")
    if isinstance(error, OSError):
        cut = "Consistency check failed" in str(error)
        return _Fault("a file arrived cut off" if cut else _brief(error), tries=TRIES)
    if isinstance(error, RuntimeError):  # hf_xet knows no other class
        return _Fault(f"the download failed ({_brief(error)})", tries=TRIES)
    if isinstance(error, ValueError):  # a proxy's page instead of JSON; a malformed repository id
        return _Fault(f"the hub's answer cannot be used ({_brief(error)})")
    return None


def _explain_answer(error: HfHubHTTPError) -> _Fault:
    from huggingface_hub import errors

    status = error.response.status_code
    if isinstance(error, errors.GatedRepoError):
        return _Fault(
            f"{status} gated: accept its terms on its page, then log in with `hf auth login` or "
            "set HF_TOKEN"
        )
    if isinstance(error, errors.RevisionNotFoundError):
        return _Fault(f"{status}: the repository has no such revision")
    if isinstance(error, errors.EntryNotFoundError):
        return _Fault(f"{status}: the repository has no such file")
    if status in {401, 403}:
        return _Fault(f"{status} no access: the repository is private, or HF_TOKEN is not valid")
    if status == 404:
        return _Fault("404: no such repository (or a private one, which needs HF_TOKEN)")
    return _Fault(
        f"the hub answers {status} {http.client.responses.get(status, '')}".rstrip(),
        tries=TRIES if status in _TRANSIENT else 1,
        retry_after_s=_retry_after_s(error.response.headers.get("Retry-After", "")),
    )


def _retry_after_s(value: str) -> float:
    """Return the seconds that a Retry-After header asks for: a number, or a date to wait for."""
    value = value.strip()
    if not value:
        return 0.0
    if value.isdigit():
        return float(value)
    try:
        return max(email.utils.parsedate_to_datetime(value).timestamp() - time.time(), 0.0)
    except ValueError:
        return 0.0


def _given_up(fault: _Fault, attempt: int, pause: float) -> str:
    if pause > LONGEST_WAIT_S and fault.tries > 1:
        return f"{fault.words}, and asks for {pause:.0f} s of patience; try again later"
    return fault.words + (f", {attempt} times" if attempt > 1 else "")


def _brief(error: Exception) -> str:
    lines = str(error).strip().splitlines()
    return f"{type(error).__name__}: {lines[0][:160]}" if lines else type(error).__name__


def _endpoint() -> str:
    from huggingface_hub import constants

    return str(constants.ENDPOINT)


def _cache() -> Path:
    from huggingface_hub import constants

    return Path(constants.HF_HUB_CACHE)


def _from_cache(repo_id: str, revision: str | None, patterns: Sequence[str]) -> Snapshot:
    """Return files of the hub's cache, whose layout is documented, without asking the hub."""
    folder = _cache() / f"datasets--{repo_id.replace('/', '--')}"
    if not (folder / "snapshots").is_dir():
        raise HubFailure(f"its cache {_cache()} does not hold the repository")
    commit = _cached_commit(folder, revision)
    snapshot = folder / "snapshots" / commit
    names = [
        path.relative_to(snapshot).as_posix() for path in snapshot.rglob("*") if path.is_file()
    ]
    hits = matching(names, patterns)
    missing = missing_parts(hits)
    if missing or not hits:
        lacking = listed(missing) if missing else "such files"
        raise HubFailure(f"its cache {snapshot} lacks {lacking}")
    paths = {name: snapshot / name for name in hits}
    for name, path in paths.items():
        try:
            _check_digest(path)
        except _WrongDigest as wrong:  # noqa: PERF203 - names the file of this iteration
            raise HubFailure(f"its cache holds a damaged {name} ({wrong}); delete it") from None
    return Snapshot(commit, "cache", paths)


def _cached_commit(folder: Path, revision: str | None) -> str:
    held = sorted(path.name for path in (folder / "snapshots").iterdir())
    branch = folder / "refs" / (revision or "main")
    if revision is not None and _SHA1.fullmatch(revision):
        commit = revision
    elif branch.is_file():
        commit = branch.read_text(encoding="utf-8").strip()
    elif revision is None and len(held) == 1:
        commit = held[0]
    else:
        raise HubFailure(
            f"its cache {folder} does not say which commit {revision or 'main'} is "
            f"(it holds {listed(held)})"
        )
    if commit not in held:
        raise HubFailure(f"its cache {folder} lacks commit {commit} (it holds {listed(held)})")
    return commit


def _check_digest(path: Path, sibling: RepoSibling | None = None) -> None:
    """Check a cached file against what the hub says of it, and against its name in the cache.

    The cache names a file by its ETag: the SHA-256 of a large file, the git blob's SHA-1 of a small
    one. Mirrors may put another ETag there; a plain SHA-1 passes, other forms say nothing.

    Raises:
        _WrongDigest: The content is another.
    """
    expected = {path.resolve().name}
    if sibling is not None:
        expected.add(str(sibling.lfs.sha256 if sibling.lfs else sibling.blob_id))
    for digest in expected:
        if _SHA256.fullmatch(digest):
            found = {file_sha256(path)}
        elif _SHA1.fullmatch(digest):
            found = _sha1s(path)
        else:
            continue
        if digest not in found:
            raise _WrongDigest(f"expected {digest}, found {min(found)}")


def _sha1s(path: Path) -> set[str]:
    """Return the SHA-1 of a file as a git blob, and that of its bytes alone."""
    blob = hashlib.sha1(f"blob {path.stat().st_size}\0".encode(), usedforsecurity=False)
    plain = hashlib.sha1(usedforsecurity=False)
    with path.open("rb") as handle:
        while block := handle.read(1 << 20):
            blob.update(block)
            plain.update(block)
    return {blob.hexdigest(), plain.hexdigest()}


def _remove_from_cache(path: Path) -> None:
    """Remove a file of a snapshot and the blob that it links to."""
    while path.is_symlink():
        target = path.parent / path.readlink()
        path.unlink()
        path = target
    path.unlink(missing_ok=True)
