"""What is said, tried again, or let through when huggingface_hub raises."""

from __future__ import annotations

import email.utils
import errno
import time
from pathlib import Path
from typing import Any

import huggingface_hub
import pytest
from huggingface_hub.errors import (
    HfHubHTTPError,
    LocalEntryNotFoundError,
    OfflineModeIsEnabled,
)

from dataflex_data.core.hub import LONGEST_WAIT_S, TRIES, Hub, HubFailure


@pytest.fixture(autouse=True)
def empty_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_CACHE", str(tmp_path))
    return tmp_path


class Answers:
    """Stands for the hub's listing: raises each error in turn, then for ever the last."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, *errors: Exception) -> None:
        self.errors, self.calls, self.waits = list(errors), 0, list[float]()
        monkeypatch.setattr(huggingface_hub.HfApi, "dataset_info", self._answer)

    def _answer(self, *_: Any, **__: Any) -> None:
        self.calls += 1
        raise self.errors[min(self.calls, len(self.errors)) - 1]

    def failure(self) -> str:
        with pytest.raises(HubFailure) as caught:
            Hub(sleep=self.waits.append).fetch("owner/data", None, ["*.parquet"])
        return str(caught.value)


@pytest.mark.parametrize(
    ("error", "words", "tries"),
    [
        (OSError(errno.ENOSPC, "No space left on device"), "cannot be written (No space left", 1),
        (PermissionError(errno.EACCES, "Permission denied"), "cannot be written (Permission", 1),
        (ConnectionResetError(errno.ECONNRESET, "reset"), "cannot be reached", 2),
        (OSError("Consistency check failed: 3 of 4 bytes"), "a file arrived cut off", TRIES),
        (RuntimeError("Data processing error"), "the download failed (RuntimeError: Data", TRIES),
        (ValueError("Expecting value: line 1"), "answer cannot be used (ValueError: Expect", 1),
        (OfflineModeIsEnabled("x"), "HF_HUB_OFFLINE is set", 1),
        (LocalEntryNotFoundError("not here"), "not here", 1),
    ],
)
def test_faults_are_told_in_words_and_tried_again_where_that_can_help(
    monkeypatch: pytest.MonkeyPatch, error: Exception, words: str, tries: int
) -> None:
    answers = Answers(monkeypatch, error)
    message = answers.failure()
    assert words in message
    assert "does not hold the repository" in message, "the cache was looked at too"
    assert answers.calls == tries
    assert answers.waits == [1.0, 2.0, 4.0, 8.0][: tries - 1]


def test_a_failed_metadata_request_is_judged_by_its_cause(monkeypatch: pytest.MonkeyPatch) -> None:
    error = LocalEntryNotFoundError("an error happened")
    error.__cause__ = OSError("Consistency check failed")
    answers = Answers(monkeypatch, error)
    assert "cut off" in answers.failure()
    assert answers.calls == TRIES


def test_a_bug_is_not_taken_for_a_fault_of_the_network(monkeypatch: pytest.MonkeyPatch) -> None:
    Answers(monkeypatch, TypeError("a bug"))
    with pytest.raises(TypeError, match="a bug"):
        Hub(sleep=lambda _: None).fetch("owner/data", None, ["*.parquet"])


class _Response:
    def __init__(self, status: int, retry_after: str) -> None:
        self.status_code = status
        self.headers = {"Retry-After": retry_after} if retry_after else {}


class _HttpError(HfHubHTTPError):
    """The hub's error without a real response, whose class differs between its versions."""

    def __init__(self, status: int, retry_after: str = "") -> None:
        Exception.__init__(self, str(status))
        self.response: Any = _Response(status, retry_after)


def test_retry_after_may_be_a_date(monkeypatch: pytest.MonkeyPatch) -> None:
    date = email.utils.formatdate(time.time() + 100, usegmt=True)
    answers = Answers(monkeypatch, _HttpError(429, date), ValueError("stop"))
    answers.failure()
    assert 90 < answers.waits[0] <= 100


@pytest.mark.parametrize("value", ["", "soon", "-5"])
def test_a_useless_retry_after_leaves_the_usual_wait(
    monkeypatch: pytest.MonkeyPatch, value: str
) -> None:
    answers = Answers(monkeypatch, _HttpError(503, value), ValueError("stop"))
    answers.failure()
    assert answers.waits == [1.0]


def test_a_wait_beyond_patience_is_not_begun(monkeypatch: pytest.MonkeyPatch) -> None:
    answers = Answers(monkeypatch, _HttpError(429, str(int(LONGEST_WAIT_S) + 1)))
    assert "asks for 301 s of patience" in answers.failure()
    assert answers.waits == []


@pytest.mark.parametrize(("status", "tries"), [(500, TRIES), (504, TRIES), (403, 1), (418, 1)])
def test_only_passing_answers_are_asked_for_again(
    monkeypatch: pytest.MonkeyPatch, status: int, tries: int
) -> None:
    answers = Answers(monkeypatch, _HttpError(status))
    assert str(status) in answers.failure()
    assert answers.calls == tries


def test_a_cache_with_several_commits_and_no_branch_is_not_guessed_at(empty_cache: Path) -> None:
    folder = empty_cache / "datasets--owner--data" / "snapshots"
    for commit in ("a" * 40, "b" * 40):
        (folder / commit).mkdir(parents=True)
        (folder / commit / "x.parquet").write_bytes(b"PAR1")
    hub = Hub(offline=True)
    with pytest.raises(HubFailure, match=f"which commit main is .it holds {'a' * 40}, {'b' * 40}"):
        hub.fetch("owner/data", None, ["*.parquet"])
    assert hub.fetch("owner/data", "b" * 40, ["*.parquet"]).commit == "b" * 40
    with pytest.raises(HubFailure, match=f"lacks commit {'c' * 40}"):
        hub.fetch("owner/data", "c" * 40, ["*.parquet"])
    with pytest.raises(HubFailure, match="lacks such files"):
        hub.fetch("owner/data", "b" * 40, ["*.jsonl"])
