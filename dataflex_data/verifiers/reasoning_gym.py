"""Answers to tasks of reasoning-gym, judged by each task's own scorer (extra ``reasoning_gym``).

The gold answer is JSON with the task, its configuration, its answer and the metadata that the
scorer needs, so a row carries all there is to its verdict. The answer of a response stands between
``<answer>`` and ``</answer>``. An answer spelled as the gold one is right without asking; any other
goes to the scorer, in a worker process with a limit in time and memory, since some scorers run
sympy on what the model wrote. Only the scorer's full mark counts: partial credit, such as for text
that contains the gold answer, is 0 here and named in the reason.
"""

from __future__ import annotations

import atexit
import importlib.util
import json
import os
import threading
from collections.abc import Mapping
from functools import lru_cache
from typing import Any

from dataflex_data.core.errors import MissingExtraError
from dataflex_data.core.types import Verdict
from dataflex_data.verifiers.extraction import after_thinking
from dataflex_data.verifiers.symbolic import SymbolicWorker

OPEN, CLOSE = "<answer>", "</answer>"
MAX_ANSWER = 20_000
TIME_LIMIT_S = 10.0
_KEYS = {"task": str, "config": dict, "answer": str, "metadata": dict}


def gold(task: str, config: Mapping[str, Any], answer: str, metadata: Mapping[str, Any]) -> str:
    """Return the ground truth of a row.

    Raises:
        TypeError: The metadata hold what JSON does not.
        ValueError: They hold nan or infinity.
    """
    entry = {"task": task, "config": config, "answer": answer, "metadata": metadata}
    return json.dumps(entry, sort_keys=True, ensure_ascii=False, allow_nan=False)


@lru_cache(maxsize=4096)
def read_gold(ground_truth: str) -> Mapping[str, Any] | None:
    """Return the parts of a ground truth, ``None`` where it is no such JSON."""
    try:
        entry = json.loads(ground_truth)
    except ValueError:
        return None
    if not isinstance(entry, dict) or set(entry) != set(_KEYS):
        return None
    if not all(isinstance(entry[key], kind) for key, kind in _KEYS.items()):
        return None
    return entry if entry["answer"].strip() else None


def verify(response: str, ground_truth: str) -> Verdict:
    """Return whether the task's own scorer gives the answer of ``response`` its full mark.

    Raises:
        MissingExtraError: The answer is not spelled as the gold one, and the scorer is missing.
    """
    entry = read_gold(ground_truth)
    if entry is None:
        return Verdict(0.0, "", "the gold answer is not a task of reasoning-gym", "unread_gold")
    text = after_thinking(response)
    if text is None:
        return Verdict(0.0, "", "a <think> block is never closed", "open_thinking")
    end = text.rfind(CLOSE)
    start = text.rfind(OPEN, 0, end) if end >= 0 else -1
    answer = text[start + len(OPEN) : end].strip() if start >= 0 else ""
    if not answer:
        return Verdict(0.0, "", f"nothing stands between {OPEN} and {CLOSE}", "no_answer")
    if len(answer) > MAX_ANSWER:
        reason = f"the answer has {len(answer):,} characters, more than {MAX_ANSWER:,}"
        return Verdict(0.0, answer[:MAX_ANSWER], reason, "too_long")
    if answer == entry["answer"].strip():
        return Verdict(1.0, answer, "it is spelled as the gold answer", "spelling")
    right, why = _worker().equal(answer, ground_truth)
    if right is None:
        limit = f"the scorer of {entry['task']} was stopped after {TIME_LIMIT_S:g} s"
        return Verdict(0.0, answer, limit, "scorer_timeout")
    return Verdict(float(right), answer, why, "scorer")


def problem_of(ground_truth: str) -> tuple[str, str] | None:
    """Return why this gold cannot be judged, ``None`` where it can."""
    if read_gold(ground_truth) is None:
        keys = ", ".join(_KEYS)
        return "not_a_task", f"the gold answer is not JSON with the keys {keys} and an answer"
    return None


def render(ground_truth: str) -> str:
    """Return the shortest response that gives the gold answer in the asked form."""
    entry = read_gold(ground_truth)
    return f"{OPEN}{entry['answer'] if entry else ground_truth}{CLOSE}"


def equivalent(a: str, b: str) -> bool:
    """Return whether the answer of one gold is a right answer to the other's question too."""
    return a == b or verify(render(b), a).score == 1.0


def require(purpose: str) -> None:
    """Check that reasoning-gym can be imported.

    Raises:
        MissingExtraError: It is not installed.
    """
    if importlib.util.find_spec("reasoning_gym") is None:
        raise MissingExtraError("reasoning_gym", "reasoning_gym", purpose)


_workers: dict[int, SymbolicWorker] = {}  # by process id: a fork must not share its parent's pipes
_lock = threading.Lock()


def _worker() -> SymbolicWorker:
    pid = os.getpid()
    with _lock:
        if pid not in _workers:
            require("scoring answers to tasks of reasoning-gym")
            _workers[pid] = SymbolicWorker(
                TIME_LIMIT_S, "dataflex_data.verifiers.reasoning_gym_worker"
            )
            atexit.register(_workers[pid].close)
        return _workers[pid]
