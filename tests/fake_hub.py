"""A local server that speaks the hub's file API, with failures on order.

``huggingface_hub`` reads HF_ENDPOINT when imported, so tests point a subprocess at ``FakeHub.url``.
Facts of the protocol: a large file's HEAD carries X-Linked-Etag (its SHA-256) and X-Linked-Size, a
small one's ETag is the SHA-1 of its git blob; both carry X-Repo-Commit; an error has X-Error-Code.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import socket
import threading
from collections import Counter
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from types import TracebackType
from typing import Any
from urllib.parse import unquote, urlsplit


@dataclass(frozen=True)
class Failure:
    """What happens to a request instead of the right answer.

    Attributes:
        status: Answer with this status and no body; 0 means: spoil the body as below.
        headers: Further headers of the answer.
        drop_at: Send this many bytes of the body, then close the connection.
        cut_to: Send (and announce) only this many bytes, as if the file were that short.
        spoil: Send as many bytes as announced, with the first one changed.
    """

    status: int = 0
    headers: dict[str, str] = field(default_factory=dict)
    drop_at: int | None = None
    cut_to: int | None = None
    spoil: bool = False


@dataclass
class Repo:
    """One dataset repository."""

    commits: dict[str, dict[str, bytes]] = field(default_factory=dict)
    branches: dict[str, str] = field(default_factory=dict)
    token: str | None = None
    gated: bool = False

    def commit_of(self, revision: str) -> str | None:
        """Return the commit that a branch or commit names."""
        commit = self.branches.get(revision, revision)
        return commit if commit in self.commits else None


class FakeHub:
    """The server, as a context manager.

    Attributes:
        url: What HF_ENDPOINT must say.
        requests: Counts by ``"METHOD path"``.
        authorisations: The Authorization headers seen.
        ranges: The Range headers seen.
    """

    def __init__(self) -> None:
        self.repos: dict[str, Repo] = {}
        self.requests: Counter[str] = Counter()
        self.authorisations: set[str] = set()
        self.ranges: list[str] = []
        self._failures: list[tuple[str, str, list[Failure]]] = []
        self._lock = threading.Lock()
        hub = self

        class Handler(_Handler):
            fake_hub = hub

        self._server = _Server(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self._server.server_port}"
        self._thread = threading.Thread(target=self._server.serve_forever, args=(0.01,))

    def __enter__(self) -> FakeHub:
        self._thread.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.stop()

    def stop(self) -> None:
        """Close the port, as a network that goes away; harmless when done before."""
        if self._thread.is_alive():
            self._server.shutdown()
            self._thread.join()
        self._server.server_close()
        self._server.hang_up()

    def commit(self, repo_id: str, files: dict[str, bytes], branch: str = "main") -> str:
        """Make ``files`` the content of a branch; return the commit's sha."""
        repo = self.repos.setdefault(repo_id, Repo())
        listing = json.dumps([repo_id, {name: sha256(data) for name, data in files.items()}])
        sha = hashlib.sha1(listing.encode()).hexdigest()
        repo.commits[sha] = files
        repo.branches[branch] = sha
        return sha

    def fail(self, method: str, part: str, *failures: Failure) -> None:
        """Let the next requests of ``method`` whose path holds ``part`` fail, one after another."""
        self._failures.append((method, part, list(failures)))

    def count(self, method: str, part: str) -> int:
        """Return how many requests of ``method`` had ``part`` in their path."""
        return sum(
            count
            for line, count in self.requests.items()
            if line.startswith(f"{method} ") and part in line
        )

    def next_failure(self, method: str, path: str) -> Failure | None:
        """Note a request; return the failure ordered for it."""
        with self._lock:
            self.requests[f"{method} {path}"] += 1
            for wanted, part, failures in self._failures:
                if wanted == method and part in path and failures:
                    return failures.pop(0)
        return None


class _Server(ThreadingHTTPServer):
    daemon_threads = True

    def __init__(self, address: tuple[str, int], handler: type[BaseHTTPRequestHandler]) -> None:
        super().__init__(address, handler)
        self._connections: list[socket.socket] = []

    def get_request(self) -> tuple[socket.socket, Any]:
        connection, address = super().get_request()
        self._connections.append(connection)
        return connection, address

    def hang_up(self) -> None:
        """Close the connections that clients keep alive."""
        for connection in self._connections:
            with contextlib.suppress(OSError):  # closed by its client before
                connection.shutdown(socket.SHUT_RDWR)


class _Handler(BaseHTTPRequestHandler):
    fake_hub: FakeHub
    protocol_version = "HTTP/1.1"

    def do_HEAD(self) -> None:
        self._serve()

    def do_GET(self) -> None:
        self._serve()

    def log_message(self, format: str, *args: object) -> None:
        """Stay silent."""

    def _serve(self) -> None:
        path = unquote(urlsplit(self.path).path)
        authorisation = self.headers.get("Authorization", "")
        self.fake_hub.authorisations.add(authorisation)
        failure = self.fake_hub.next_failure(self.command, path)
        if failure is not None and failure.status:
            self._answer(failure.status, b"", failure.headers)
            return
        parts = path.strip("/").split("/")
        kind = "resolve" if parts[0] == "datasets" else "api"
        if kind == "api":
            parts = parts[1:]
        repo_id, rest = "/".join(parts[1:3]), parts[3:]
        repo = self.fake_hub.repos.get(repo_id)
        if repo is None:
            self._refuse(401 if not authorisation else 404, "RepoNotFound")
        elif repo.token is not None and authorisation != f"Bearer {repo.token}":
            self._refuse(403 if repo.gated else 401, "GatedRepo" if repo.gated else "RepoNotFound")
        elif kind == "resolve":
            self._resolve(repo, rest[1], "/".join(rest[2:]), failure)
        else:
            self._describe(repo_id, repo, rest, failure)

    def _describe(self, repo_id: str, repo: Repo, rest: list[str], failure: Failure | None) -> None:
        revision = rest[1] if len(rest) > 1 else "main"
        commit = repo.commit_of(revision)
        if commit is None:
            self._refuse(404, "RevisionNotFound")
            return
        files = repo.commits[commit]
        body: object
        if rest[:1] == ["tree"]:
            body = [
                {"type": "file", "path": name, "oid": git_sha1(data), "size": len(data)}
                | ({"lfs": _lfs(data)} if is_large(name) else {})
                for name, data in files.items()
            ]
        else:
            siblings = [
                {"rfilename": name, "size": len(data), "blobId": git_sha1(data)}
                | ({"lfs": _lfs(data)} if is_large(name) else {})
                for name, data in files.items()
            ]
            body = {
                "_id": "0",
                "id": repo_id,
                "sha": commit,
                "private": False,
                "gated": False,
                "disabled": False,
                "downloads": 0,
                "likes": 0,
                "tags": [],
                "siblings": siblings,
            }
        headers = {"Content-Type": "application/json"}
        drop_at = failure.drop_at if failure is not None else None
        self._answer(200, json.dumps(body).encode(), headers, drop_at=drop_at)

    def _resolve(self, repo: Repo, revision: str, name: str, failure: Failure | None) -> None:
        commit = repo.commit_of(revision)
        if commit is None:
            self._refuse(404, "RevisionNotFound")
            return
        data = repo.commits[commit].get(name)
        if data is None:
            self._refuse(404, "EntryNotFound")
            return
        headers = {"X-Repo-Commit": commit, "Accept-Ranges": "bytes"}
        if is_large(name):
            headers |= {
                "ETag": '"etag-of-the-storage"',
                "X-Linked-Etag": f'"{sha256(data)}"',
                "X-Linked-Size": str(len(data)),
            }
        else:
            headers["ETag"] = f'"{git_sha1(data)}"'
        if failure is not None and failure.spoil:
            data = bytes([data[0] ^ 1]) + data[1:]
        if failure is not None and failure.cut_to is not None:
            data = data[: failure.cut_to]
        status, start = 200, 0
        asked = self.headers.get("Range", "")
        if asked.startswith("bytes=") and self.command == "GET":
            self.fake_hub.ranges.append(asked)
            start = int(asked.removeprefix("bytes=").partition("-")[0])
            status = 206
            headers["Content-Range"] = f"bytes {start}-{len(data) - 1}/{len(data)}"
        drop_at = failure.drop_at if failure is not None else None
        self._answer(status, data[start:], headers, drop_at=drop_at)

    def _refuse(self, status: int, code: str) -> None:
        self._answer(status, b"", {"X-Error-Code": code, "X-Error-Message": f"{code} here"})

    def _answer(
        self, status: int, body: bytes, headers: dict[str, str], drop_at: int | None = None
    ) -> None:
        self.send_response(status)
        for name, value in headers.items():
            self.send_header(name, value)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        if self.command == "HEAD":
            return
        self.wfile.write(body if drop_at is None else body[:drop_at])
        if drop_at is not None:
            self.wfile.flush()
            self.close_connection = True


def is_large(name: str) -> bool:
    """Return whether the hub would keep a file in its large-file store."""
    return name.endswith((".parquet", ".gz"))


def sha256(data: bytes) -> str:
    """Return the SHA-256 hex digest."""
    return hashlib.sha256(data).hexdigest()


def git_sha1(data: bytes) -> str:
    """Return the SHA-1 that git gives a blob."""
    return hashlib.sha1(f"blob {len(data)}\0".encode() + data).hexdigest()


def _lfs(data: bytes) -> dict[str, Any]:
    # The hub's two endpoints name the digest differently: `sha256` among siblings, `oid` in a tree.
    return {"sha256": sha256(data), "oid": sha256(data), "size": len(data), "pointerSize": 130}
