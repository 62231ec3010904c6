"""Fetching from the hub, against a local server, with everything that goes wrong on the way.

The client runs in a subprocess, since huggingface_hub reads its environment when imported; cases
with the usual environment share one. Waits are recorded there instead of slept: ours and those of
huggingface_hub.
"""

from __future__ import annotations

import itertools
import json
import os
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from tests.fake_hub import Failure, FakeHub, Repo, sha256

DRIVER = """
import contextlib, io, json, sys, time
waits = []
time.sleep = waits.append
from dataflex_data.core.errors import DataflexError
from dataflex_data.core.fetch import HubDataset, Lock, Lookup, locate
for line in sys.stdin:
    case = json.loads(line)
    waits.clear()
    wanted = {
        name: HubDataset(repo, tuple(files), revision)
        for name, (repo, files, revision) in case["wanted"].items()
    }
    locks = {name: Lock(*lock) for name, lock in case["locks"].items()}
    stderr = io.StringIO()
    with contextlib.redirect_stderr(stderr):
        try:
            found = locate(wanted, Lookup({}, None, case["offline"]), locks, sleep=waits.append)
        except DataflexError as error:
            result = {"error": type(error).__name__, "message": str(error)}
        else:
            result = {
                name: [item.origin, item.revision, {file.name: file.sha256 for file in item.files}]
                for name, item in found.items()
            }
            result["paths"] = [str(file.path) for item in found.values() for file in item.files]
    print(json.dumps([result, waits, stderr.getvalue()]), flush=True)
"""

PATTERN = "main/train-*.parquet"
TRAIN = b"PAR1" + bytes(range(256)) * 400 + b"PAR1"
FILES = {
    "README.md": b"a card\n",
    "main/train-00000-of-00001.parquet": TRAIN,
    "main/test-00000-of-00001.parquet": b"PAR1test",
    "small.jsonl": b'{"a": 1}\n',
}
NAME = "main/train-00000-of-00001.parquet"
DIGESTS = {NAME: sha256(TRAIN)}
_NUMBERS = itertools.count()


@dataclass
class Outcome:
    result: dict[str, Any]
    waits: list[float]
    stderr: str

    @property
    def message(self) -> str:
        assert self.result.get("error"), self.result
        return str(self.result["message"])


class Driver:
    """A process that calls `locate` with one environment."""

    def __init__(self, hub: FakeHub, home: Path, **environment: str) -> None:
        kept = {key: value for key, value in os.environ.items() if not key.startswith("HF_")}
        self._process = subprocess.Popen(
            [sys.executable, "-c", DRIVER],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            env={
                **kept,
                "HF_ENDPOINT": hub.url,
                "HF_HOME": str(home),
                "NO_PROXY": "127.0.0.1",
                **environment,
            },
        )
        self.hub, self.home = hub, home
        self.raw_stderr = ""

    def __enter__(self) -> Driver:
        return self

    def __exit__(self, *_: object) -> None:
        self.raw_stderr = self._process.communicate()[1]
        assert self._process.returncode == 0, self.raw_stderr

    def run(self, case: dict[str, Any]) -> Outcome:
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.stdin.write(json.dumps(case) + "\n")
        self._process.stdin.flush()
        answer = self._process.stdout.readline()
        assert answer, "the driver ended; its traceback is on its stderr"
        return Outcome(*json.loads(answer))


class Client:
    """One repository of the hub, and the process and cache that read it."""

    def __init__(self, driver: Driver, repo: str) -> None:
        self._driver, self.repo = driver, repo
        self.hub, self.home = driver.hub, driver.home
        self.cache = self.home / "hub" / f"datasets--{repo.replace('/', '--')}"
        self.api, self.resolve = f"/api/datasets/{repo}", f"/datasets/{repo}/resolve/"

    def locate(
        self,
        *patterns: str,
        revision: str | None = None,
        offline: bool = False,
        lock: tuple[str, dict[str, str]] | None = None,
        others: dict[str, tuple[str, list[str], str | None]] | None = None,
        driver: Driver | None = None,
    ) -> Outcome:
        wanted = {"data": (self.repo, list(patterns or (PATTERN,)), revision), **(others or {})}
        locks = {"data": lock} if lock else {}
        case = {"wanted": wanted, "locks": locks, "offline": offline}
        return (driver or self._driver).run(case)

    @property
    def head(self) -> str:
        return self.hub.repos[self.repo].branches["main"]

    def blobs(self) -> dict[str, bytes]:
        """Every complete file of the cache that holds bytes of the repository."""
        return {
            path.name: path.read_bytes()
            for path in self.cache.rglob("blobs/*")
            if path.is_file() and not path.name.endswith(".incomplete")
        }

    def snapshot_files(self) -> list[str]:
        return [path.name for path in self.cache.rglob("snapshots/**/*") if not path.is_dir()]


@pytest.fixture(scope="module")
def shared_driver(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Driver]:
    with FakeHub() as hub, Driver(hub, tmp_path_factory.mktemp("home")) as driver:
        yield driver


@pytest.fixture
def client(shared_driver: Driver) -> Client:
    """A repository of its own on the shared hub."""
    client = Client(shared_driver, f"owner/data-{next(_NUMBERS):03d}")
    client.hub.commit(client.repo, FILES)
    return client


@pytest.fixture
def lone_client(tmp_path: Path) -> Iterator[Client]:
    """A client with a hub, a cache and a process of its own."""
    with FakeHub() as hub, Driver(hub, tmp_path / "home") as driver:
        hub.commit("owner/lone", FILES)
        yield Client(driver, "owner/lone")


def test_files_are_fetched_once_with_commit_and_digests(client: Client) -> None:
    outcome = client.locate()
    assert outcome.result["data"] == ["hub", client.head, DIGESTS]
    assert Path(outcome.result["paths"][0]).read_bytes() == TRAIN
    assert client.locate().result == outcome.result
    assert client.hub.count("GET", client.resolve) == 1, "the second call must find it in the cache"
    assert outcome.waits == []


def test_nothing_is_drawn_where_stderr_is_not_a_terminal(tmp_path: Path) -> None:
    with FakeHub() as hub:
        hub.commit("owner/data", FILES)
        with Driver(hub, tmp_path) as driver:
            outcome = Client(driver, "owner/data").locate()
        assert outcome.result["data"][2] == DIGESTS
        assert outcome.stderr + driver.raw_stderr == ""


def test_the_first_fruitful_pattern_gives_all_its_files_in_order(client: Client) -> None:
    outcome = client.locate("none/*", "**/*-00000-of-00001.parquet", "small.jsonl")
    assert list(outcome.result["data"][2]) == [
        "main/test-00000-of-00001.parquet",
        "main/train-00000-of-00001.parquet",
    ]
    small = client.locate("small.jsonl", revision=client.head)
    assert small.result["data"][2] == {"small.jsonl": sha256(FILES["small.jsonl"])}


@pytest.mark.parametrize(
    ("method", "where", "failure"),
    [
        pytest.param("GET", "resolve", Failure(drop_at=5000), id="dropped connection"),
        pytest.param("GET", "resolve", Failure(cut_to=5000), id="truncated file"),
        pytest.param("GET", "resolve", Failure(spoil=True), id="wrong digest"),
        pytest.param("GET", "resolve", Failure(503), id="503 on the file"),
        pytest.param("GET", "resolve", Failure(429), id="429 on the file"),
        pytest.param("HEAD", "resolve", Failure(503), id="503 on the metadata"),
        pytest.param("GET", "api", Failure(503), id="503 on the listing"),
        pytest.param("GET", "api", Failure(429), id="429 on the listing"),
        pytest.param("GET", "api", Failure(drop_at=10), id="listing dropped"),
    ],
)
def test_a_passing_failure_is_tried_again(
    client: Client, method: str, where: str, failure: Failure
) -> None:
    path = getattr(client, where)
    client.hub.fail(method, path, failure)
    outcome = client.locate()
    assert outcome.result.get("data") == ["hub", client.head, DIGESTS], outcome.result
    assert client.hub.count(method, path) == 2
    assert client.blobs() == {sha256(TRAIN): TRAIN}


def test_a_dropped_connection_is_resumed_where_it_broke(client: Client) -> None:
    big = bytes(12_000_000)  # huggingface_hub writes, and so can resume, in steps of 10 MiB
    client.hub.commit(client.repo, {NAME: big})
    client.hub.fail("GET", client.resolve, Failure(drop_at=11_000_000))
    assert client.locate().result["data"][2] == {NAME: sha256(big)}
    assert client.hub.ranges[-1] == f"bytes={10 << 20}-"


@pytest.mark.parametrize("where", ["api", "resolve"])
def test_retry_after_is_honoured(client: Client, where: str) -> None:
    client.hub.fail("GET", getattr(client, where), Failure(429, {"Retry-After": "7"}))
    outcome = client.locate()
    assert outcome.result["data"][2] == DIGESTS
    assert max(outcome.waits) >= 7


def test_a_very_long_retry_after_is_told_instead_of_waited_for(client: Client) -> None:
    client.hub.fail("GET", client.api, *[Failure(429, {"Retry-After": "86400"})] * 9)
    outcome = client.locate()
    assert "429 Too Many Requests, and asks for 86400 s" in outcome.message
    assert outcome.waits == []
    assert client.hub.count("GET", client.api) == 1


def test_waits_grow_and_tries_are_bounded(client: Client) -> None:
    client.hub.fail("GET", client.api, *[Failure(503)] * 99)
    outcome = client.locate()
    assert outcome.waits == [1, 2, 4, 8]
    assert client.hub.count("GET", client.api) == 5
    assert "503 Service Unavailable, 5 times" in outcome.message


@pytest.mark.parametrize(
    ("failure", "words"),
    [
        pytest.param(Failure(drop_at=5000), "connection broke", id="always dropped"),
        pytest.param(Failure(cut_to=5000), "cut off", id="always truncated"),
        pytest.param(Failure(503), "503", id="always 503"),
    ],
)
def test_a_lasting_failure_leaves_nothing_half_written(
    client: Client, failure: Failure, words: str
) -> None:
    client.hub.fail("GET", client.resolve, *[failure] * 999)
    outcome = client.locate()
    assert outcome.result["error"] == "SourceUnavailableError"
    assert words in outcome.message
    assert 5 <= client.hub.count("GET", client.resolve) <= 60
    assert client.blobs() == {}
    assert client.snapshot_files() == []


def test_a_file_wrong_twice_is_refused_and_removed(client: Client) -> None:
    client.hub.fail("GET", client.resolve, *[Failure(spoil=True)] * 9)
    outcome = client.locate()
    spoilt = bytes([TRAIN[0] ^ 1]) + TRAIN[1:]
    assert f"{NAME} arrived twice with a wrong digest" in outcome.message
    assert f"expected {sha256(TRAIN)}, found {sha256(spoilt)}" in outcome.message
    assert client.hub.count("GET", client.resolve) == 2
    assert client.blobs() == {}
    assert client.snapshot_files() == []


def test_a_small_file_is_checked_by_its_git_digest(client: Client) -> None:
    client.hub.fail("GET", client.resolve, *[Failure(spoil=True)] * 9)
    assert "small.jsonl arrived twice with a wrong digest" in client.locate("small.jsonl").message
    assert client.blobs() == {}


def test_a_blob_that_rots_in_the_cache_is_had_anew_and_refused_offline(client: Client) -> None:
    assert client.locate().result["data"][2] == DIGESTS
    blob = client.cache / "blobs" / sha256(TRAIN)
    blob.write_bytes(TRAIN[:-1] + b"X")
    assert f"damaged {NAME}" in client.locate(offline=True).message
    assert client.locate().result["data"] == ["hub", client.head, DIGESTS]
    assert blob.read_bytes() == TRAIN


@pytest.mark.parametrize(
    ("repo", "words"),
    [
        pytest.param(
            Repo(token="t0ken", gated=True),
            "403 gated: accept its terms on its page",
            id="gated",
        ),
        pytest.param(Repo(token="t0ken"), "401 no access", id="private"),
        pytest.param(None, "401 no access", id="unknown"),
    ],
)
def test_no_access_is_told_at_once(client: Client, repo: Repo | None, words: str) -> None:
    if repo is None:
        del client.hub.repos[client.repo]
    else:
        client.hub.repos[client.repo] = repo
    outcome = client.locate()
    assert words in outcome.message
    assert outcome.waits == []
    assert client.hub.count("GET", client.api) == 1


def test_the_token_of_the_environment_opens_a_gated_repository(
    client: Client, tmp_path: Path
) -> None:
    repo = client.hub.repos[client.repo]
    repo.token, repo.gated = "t0ken", True
    with Driver(client.hub, tmp_path, HF_TOKEN="t0ken") as driver:
        assert client.locate(driver=driver).result["data"][2] == DIGESTS


def test_a_revision_or_file_that_is_not_there(client: Client) -> None:
    assert "404: the repository has no such revision" in client.locate(revision="f" * 40).message
    message = client.locate("other/*.parquet").message
    assert "other/*.parquet" in message
    assert f"holds no such file (it holds: {', '.join(sorted(FILES))})" in message
    assert client.hub.count("GET", client.resolve) == 0


@pytest.mark.parametrize("pinned", [False, True])
def test_what_was_fetched_is_read_without_the_hub(lone_client: Client, pinned: bool) -> None:
    client = lone_client
    revision = client.head if pinned else None
    expected = ["cache", *client.locate(revision=revision).result["data"][1:]]

    def check(outcome: Outcome, reason: str) -> None:
        assert outcome.result["data"] == expected
        assert reason in outcome.stderr
        assert f"reading commit {client.head} from the hub's cache" in outcome.stderr
        assert client.hub.count("GET", client.resolve) == 1

    check(client.locate(revision=revision, offline=True), "not asked (offline)")
    client.hub.fail("GET", client.api, Failure(404, {"X-Error-Code": "RepoNotFound"}))
    check(client.locate(revision=revision), "404: no such repository")
    with Driver(client.hub, client.home, HF_HUB_OFFLINE="1") as driver:
        check(client.locate(revision=revision, driver=driver), "HF_HUB_OFFLINE is set")
    client.hub.stop()
    check(client.locate(revision=revision), "cannot be reached")


def test_without_network_or_cache_all_sources_are_listed_and_the_hub_is_asked_twice(
    lone_client: Client,
) -> None:
    lone_client.hub.stop()
    outcome = lone_client.locate(others={"more": ("owner/more", ["a/*.jsonl", "b.jsonl"], "v1")})
    assert outcome.result["error"] == "SourceUnavailableError"
    assert outcome.waits == [1], "one more try for the first source, none for the others"
    for words in (
        "2 sources could be read from nowhere",
        f"data: {PATTERN}",
        "datasets/owner/lone",
        "more: a/*.jsonl or b.jsonl",
        "datasets/owner/more at revision v1",
        f"no network: {lone_client.hub.url} cannot be reached",
        "--source NAME=PATH",
        "--sources-dir DIR",
        f"DIR/data/{PATTERN}",
        "DIR/more/a/*.jsonl",
        "HF_HOME",
    ):
        assert words in outcome.message


def test_a_cache_that_lacks_a_part_of_the_set_is_refused(client: Client) -> None:
    parts = {
        f"data/train-{number:05d}-of-00002.parquet": TRAIN + bytes(number) for number in (0, 1)
    }
    client.hub.commit(client.repo, parts)
    assert client.locate("data/train-00000-*.parquet").result["data"][0] == "hub"
    message = client.locate("data/train-*.parquet", offline=True).message
    assert "lacks data/train-00001-of-00002.parquet" in message


def test_a_branch_that_moves_between_listing_and_download_is_listed_again(client: Client) -> None:
    class MovingRepo(Repo):
        def commit_of(self, revision: str) -> str | None:
            commit = super().commit_of(revision)
            self.branches["main"] = moved  # from the second request on
            return commit

    old = client.hub.repos[client.repo]
    first = client.head
    moved = client.hub.commit(client.repo, {**FILES, NAME: TRAIN + b"new"})
    client.hub.repos[client.repo] = MovingRepo(old.commits, {"main": first})
    assert client.locate().result["data"] == ["hub", moved, {NAME: sha256(TRAIN + b"new")}]


def test_a_lock_reads_the_locked_commit_and_refuses_other_digests(client: Client) -> None:
    old = client.head
    new = client.hub.commit(client.repo, {**FILES, NAME: b"PAR1other"})
    assert client.locate(lock=(old, DIGESTS)).result["data"] == ["hub", old, DIGESTS]
    assert client.locate().result["data"][:2] == ["hub", new]
    refused = client.locate(lock=(new, DIGESTS))
    assert refused.result["error"] == "InputDataError"
    found = sha256(b"PAR1other")
    assert f"file {NAME} has sha256 {found}, expected {sha256(TRAIN)}" in refused.message
    conflict = client.locate(revision=old, lock=(new, DIGESTS)).message
    assert f"asks for revision {old} and is locked to {new}" in conflict


def test_a_cache_that_cannot_be_written_is_told(client: Client, tmp_path: Path) -> None:
    home = tmp_path / "home"
    home.write_text("a file where a folder is needed")
    with Driver(client.hub, home) as driver:
        message = client.locate(driver=driver).message
    assert f"cache {home / 'hub'} cannot be written" in message
