"""Files and folders that are either whole or as they were: atomic writes, digests, manifest.

A folder is written beside its destination and swapped in by one system call
(``renameat2(RENAME_EXCHANGE)`` on Linux, ``renamex_np(RENAME_SWAP)`` on macOS), so that a build
killed at any moment leaves the old corpus or the new one, never a mixture. Where the system has no
such call, two renames take its place; the old folder then stands at ``.NAME.old-PID`` for the
moment between them.
"""

from __future__ import annotations

import ctypes
import errno
import hashlib
import json
import os
import shutil
import sys
import tempfile
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from dataflex_data.core.errors import DataflexError, InputDataError, OutputError

MANIFEST_NAME = "manifest.json"
_ROW_GROUP_ROWS = 10_000
_MARK_WITHIN = 512  # bytes in which a file of ours says so


def write_parquet(table: pa.Table, path: Path) -> None:
    """Write ``table`` with fixed settings, so that equal tables give equal bytes."""
    pq.write_table(
        table,
        path,
        compression="zstd",
        compression_level=3,
        row_group_size=_ROW_GROUP_ROWS,
        store_schema=True,
    )


def write_json(data: object, path: Path) -> None:
    """Write ``data`` as indented JSON with sorted keys and one final line feed."""
    path.write_text(dump_json(data), encoding="utf-8")


def dump_json(data: object) -> str:
    """Return ``data`` as indented JSON with sorted keys and one final line feed."""
    return json.dumps(data, indent=2, sort_keys=True, ensure_ascii=False, allow_nan=False) + "\n"


def read_manifest(folder: Path) -> dict[str, Any]:
    """Return the manifest of a built corpus.

    Raises:
        InputDataError: The folder or its manifest is missing or is not ours.
    """
    path = Path(folder).expanduser() / MANIFEST_NAME
    try:
        data = json.loads(path.read_text(encoding="utf-8"))
    except (FileNotFoundError, NotADirectoryError):
        raise InputDataError(
            f"{folder}: not a built corpus, it has no {MANIFEST_NAME}; "
            "give the folder that `dfdata build --out` wrote"
        ) from None
    except (OSError, ValueError) as error:
        raise InputDataError(f"{path}: cannot be read as JSON: {error}") from None
    if not _is_manifest(data):
        raise InputDataError(f"{path}: is not a manifest of dataflex-data (keys kind and files)")
    return dict(data)


def _is_manifest(data: object) -> bool:
    return (
        isinstance(data, dict)
        and isinstance(data.get("kind"), str)
        and isinstance(data.get("files"), dict)
        and all(
            isinstance(entry, dict) and isinstance(entry.get("sha256"), str)
            for entry in data["files"].values()
        )
    )


def file_sha256(path: Path) -> str:
    """Return the SHA-256 hex digest of a file's bytes, read in blocks."""
    sha = hashlib.sha256()
    with path.open("rb") as handle:
        while block := handle.read(1 << 20):
            sha.update(block)
    return sha.hexdigest()


def folder_digests(folder: Path) -> dict[str, dict[str, Any]]:
    """Return ``{relative path: {bytes, sha256}}`` of all files below but the manifest."""
    found = sorted(path for path in folder.rglob("*") if path.is_file())
    return {
        path.relative_to(folder).as_posix(): {
            "bytes": path.stat().st_size,
            "sha256": file_sha256(path),
        }
        for path in found
        if path.name != MANIFEST_NAME
    }


def check_output_folder(out: Path, *, force: bool) -> Path:
    """Return ``out`` made absolute, after checking that it may be written; changes nothing.

    Raises:
        OutputError: It exists and ``force`` is not given, or is something that must not be
            replaced (a file, or a folder that no manifest marks as ours), or its parent cannot be
            written.
    """
    out = Path(os.path.abspath(Path(out).expanduser()))
    if out.is_symlink():
        raise OutputError(f"{out}: is a symbolic link; give the folder it points to")
    if out.exists() and not out.is_dir():
        raise OutputError(f"{out}: is a file; give a folder that does not exist yet")
    if out.is_dir() and any(out.iterdir()):
        if not force:
            raise OutputError(
                f"{out}: exists already and is not empty; choose another --out, or replace it "
                "with --force"
            )
        _refuse_what_is_not_ours(out)
    ancestor = out.parent
    while not ancestor.exists():
        ancestor = ancestor.parent
    if not ancestor.is_dir():
        raise OutputError(f"{out}: cannot be created, {ancestor} is a file")
    if not os.access(ancestor, os.W_OK | os.X_OK):
        raise OutputError(f"{out}: cannot be created, {ancestor} is not writable")
    return out


def _refuse_what_is_not_ours(out: Path) -> None:
    """Let a folder be replaced only where all of it was written by us.

    Raises:
        OutputError: It has no manifest of ours, or files that its manifest does not list.
    """
    try:
        listed = read_manifest(out)["files"]
    except InputDataError:
        raise OutputError(
            f"{out}: holds no {MANIFEST_NAME} of ours, so it was not written by dfdata and --force "
            "does not delete it; choose another --out"
        ) from None
    foreign = sorted(
        name
        for name in (path.relative_to(out).as_posix() for path in out.rglob("*"))
        if name not in listed
        and name != MANIFEST_NAME
        and not any(known.startswith(f"{name}/") for known in listed)
    )
    if foreign:
        shown = ", ".join(foreign[:5]) + (" ..." if len(foreign) > 5 else "")
        raise OutputError(
            f"{out}: holds files that dfdata did not write ({shown}), and --force does not delete "
            "them; move them away, or choose another --out"
        )


def check_output_file(
    path: Path, *, force: bool, inputs: Iterable[Path] = (), mark: str | None = None
) -> Path:
    """Return ``path`` made absolute, after checking that it may be written; changes nothing.

    Args:
        path: A file to write.
        force: Allow an existing file to be replaced.
        inputs: Files and folders that are read, and must never be replaced.
        mark: Text in the first bytes of files that we wrote, and that may be replaced in any case.

    Raises:
        OutputError: It exists and ``force`` is not given, is no regular file, is one of the
            inputs, or lies where no file can be made.
    """
    path = Path(os.path.abspath(Path(path).expanduser()))
    if path.exists():
        if path.is_dir():
            raise OutputError(f"{path}: is a folder; give a file's name")
        if not path.is_file():
            raise OutputError(f"{path}: is a device, not a file; give a file's name")
        if any(path.resolve().is_relative_to(Path(i).expanduser().resolve()) for i in inputs):
            raise OutputError(f"{path}: is read by this very command; give another name")
        if not force and (mark is None or not _begins_with(path, mark)):
            raise OutputError(
                f"{path}: exists already; give another name, or replace it with --force"
            )
    ancestor = path.parent
    while not ancestor.exists():
        ancestor = ancestor.parent
    if not ancestor.is_dir():
        raise OutputError(f"{path}: cannot be created, {ancestor} is a file")
    if not os.access(ancestor, os.W_OK | os.X_OK):
        raise OutputError(f"{path}: cannot be created, {ancestor} is not writable")
    return path


def _begins_with(path: Path, mark: str) -> bool:
    with path.open("rb") as handle:
        return mark.encode() in handle.read(_MARK_WITHIN)


@contextmanager
def replace_folder(out: Path, *, force: bool) -> Iterator[Path]:
    """Give a fresh folder to fill; on success it becomes ``out`` in one step, else it vanishes.

    Args:
        out: Destination.
        force: Allow an existing folder of ours to be replaced.

    Raises:
        OutputError: See `check_output_folder`; or the disk is full or failing. Whatever stood at
            ``out`` is untouched then.
    """
    out = check_output_folder(out, force=force)
    try:
        out.parent.mkdir(parents=True, exist_ok=True)
        _sweep_leftovers(out)
        partial = out.parent / f".{out.name}.partial-{os.getpid()}"
        shutil.rmtree(partial, ignore_errors=True)
        partial.mkdir()
    except OSError as error:
        raise _output_error(out, error) from None
    try:
        yield partial
        for path in partial.rglob("*"):
            _fsync(path)
        _fsync(partial)
        _swap_in(partial, out, force=force)
        _fsync(out.parent)
    except OSError as error:
        if isinstance(error, DataflexError):
            raise
        raise _output_error(out, error) from None
    finally:
        shutil.rmtree(partial, ignore_errors=True)


@contextmanager
def replace_file(path: Path) -> Iterator[Path]:
    """Give a temporary path beside ``path``; on success it is renamed over it, else removed.

    Raises:
        OutputError: The folder cannot be written or the disk is full; the old file is untouched.
    """
    path = Path(os.path.abspath(Path(path).expanduser()))
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        if path.exists() and not path.is_file():
            kind = "folder" if path.is_dir() else "device"
            raise OutputError(f"{path}: is a {kind}; give a file's name")
        handle, name = tempfile.mkstemp(prefix=f".{path.name}.", dir=path.parent)
        os.close(handle)
    except OSError as error:
        raise _output_error(path, error) from None
    partial = Path(name)
    try:
        yield partial
        partial.chmod(0o666 & ~_umask())
        _fsync(partial)
        partial.replace(path)
    except OSError as error:
        if isinstance(error, DataflexError):
            raise
        raise _output_error(path, error) from None
    finally:
        partial.unlink(missing_ok=True)


def summary_of_files(files: Mapping[str, Mapping[str, Any]]) -> str:
    """Return one SHA-256 over a ``{path: {sha256}}`` mapping, the identity of a corpus."""
    lines = "".join(f"{entry['sha256']}  {name}\n" for name, entry in sorted(files.items()))
    return hashlib.sha256(lines.encode()).hexdigest()


def _umask() -> int:
    value = os.umask(0)
    os.umask(value)
    return value


def _fsync(path: Path) -> None:
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def _output_error(out: Path, error: OSError) -> OutputError:
    if isinstance(error, OutputError):
        return error
    reason = error.strerror or str(error)
    remedy = (
        "free some space, or write to another disk"
        if error.errno in {errno.ENOSPC, errno.EDQUOT}
        else "give a place that can be written"
    )
    return OutputError(f"{out}: cannot be written ({reason}); {remedy}. Nothing was changed there")


def _sweep_leftovers(out: Path) -> None:
    """Remove partial folders of dead processes; give back an old folder stranded mid-swap."""
    for leftover in out.parent.glob(f".{out.name}.old-*"):
        if not out.exists():
            leftover.rename(out)
        elif not _is_alive(leftover):
            shutil.rmtree(leftover, ignore_errors=True)
    for leftover in out.parent.glob(f".{out.name}.partial-*"):
        if not _is_alive(leftover):
            shutil.rmtree(leftover, ignore_errors=True)


def _is_alive(leftover: Path) -> bool:
    try:
        os.kill(int(leftover.name.rsplit("-", 1)[1]), 0)
    except (ValueError, ProcessLookupError):
        return False
    except PermissionError:
        return True
    return True


def _swap_in(partial: Path, out: Path, *, force: bool) -> None:
    """Make ``partial`` stand at ``out``; what stood there then stands at ``partial``.

    Raises:
        OutputError: Another command wrote ``out`` in the meantime, and ``force`` is not given.
    """
    if not force or not out.exists():
        try:
            partial.rename(out)  # takes the place of an empty folder, never of a full one
        except OSError as error:
            if error.errno not in {errno.ENOTEMPTY, errno.EEXIST}:
                raise
            raise OutputError(
                f"{out}: was written by another command meanwhile; choose another --out, or "
                "replace it with --force"
            ) from None
        return
    if _exchange(partial, out):
        return
    old = out.parent / f".{out.name}.old-{os.getpid()}"
    out.rename(old)
    partial.rename(out)
    shutil.rmtree(old, ignore_errors=True)


def _exchange(first: Path, second: Path) -> bool:
    """Swap two folders in one system call; return whether this system and disk can."""
    libc = ctypes.CDLL(None, use_errno=True)
    a, b = os.fsencode(first), os.fsencode(second)
    at_cwd, exchange = -100, 2
    if sys.platform.startswith("linux") and hasattr(libc, "renameat2"):
        result = libc.renameat2(at_cwd, a, at_cwd, b, exchange)
    elif sys.platform == "darwin" and hasattr(libc, "renamex_np"):
        result = libc.renamex_np(a, b, exchange)
    else:
        return False
    if result == 0:
        return True
    code = ctypes.get_errno()
    if code in {errno.ENOSYS, errno.EINVAL, errno.ENOTSUP}:
        return False
    raise OSError(code, os.strerror(code), str(second))
