"""Symbolic equality in a worker process with a hard time limit (extra ``symbolic``).

math-verify and sympy run in one subprocess per process that asks, started at the first question. A
question that takes longer than the limit loses, its worker is killed and the next question gets a
new one, so that neighbours keep their results. Pipes and a timer are used rather than
multiprocessing and signals: these also work in threads, in daemonic processes and in Ray workers.
"""

from __future__ import annotations

import atexit
import importlib.util
import json
import os
import subprocess
import sys
import threading
from pathlib import Path

from dataflex_data.core.errors import MissingExtraError
from dataflex_data.core.types import Verdict

TIME_LIMIT_S = 5.0
_START_LIMIT_S = 120.0
_PURPOSE = "symbolic comparison of answers"
_ROOT = Path(__file__).resolve().parents[2]


class SymbolicWorker:
    """Keeper of one worker process.

    Args:
        time_limit_s: Seconds per question before the worker is killed and the question lost.
        module: What to run as the worker; a parameter for tests.
    """

    def __init__(
        self,
        time_limit_s: float = TIME_LIMIT_S,
        module: str = "dataflex_data.verifiers.symbolic_worker",
    ) -> None:
        self.time_limit_s = time_limit_s
        self.restarts = 0
        self._module = module
        self._lock = threading.Lock()
        self._process: subprocess.Popen[str] | None = None

    def equal(self, answer: str, gold: str) -> tuple[bool | None, str]:
        """Return ``(equal, why)``; ``None`` where the limit ran out or the worker died.

        Raises:
            MissingExtraError: math-verify cannot be imported.
        """
        with self._lock:
            process = self._running()
            reply = self._ask(process, {"answer": answer, "gold": gold}, self.time_limit_s)
            if reply is None:
                self._stop()
                self.restarts += 1
                return None, f"symbolic comparison was stopped after {self.time_limit_s:g} s"
            return bool(reply["equal"]), str(reply["why"])

    def close(self) -> None:
        """Stop the worker, if it runs."""
        with self._lock:
            self._stop()

    @property
    def pid(self) -> int | None:
        """Process id of the running worker, ``None`` where none runs."""
        return self._process.pid if self._process is not None else None

    def _running(self) -> subprocess.Popen[str]:
        if self._process is not None and self._process.poll() is None:
            return self._process
        self._stop()
        environment = dict(os.environ)
        environment["PYTHONPATH"] = os.pathsep.join([str(_ROOT), *filter(None, sys.path)])
        process = subprocess.Popen(
            [sys.executable, "-m", self._module],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
            encoding="utf-8",
            env=environment,
        )
        self._process = process
        ready = self._ask(process, None, _START_LIMIT_S)
        if ready is None or not ready.get("ready"):
            self._stop()
            missing = "math_verify" if ready is None else str(ready.get("missing", "math_verify"))
            raise MissingExtraError(missing, "symbolic", _PURPOSE)
        return process

    def _ask(
        self, process: subprocess.Popen[str], message: dict[str, str] | None, limit_s: float
    ) -> dict[str, object] | None:
        """Send a message, if any, and return the next reply; ``None`` after the limit."""
        if process.stdin is None or process.stdout is None:
            return None
        timer = threading.Timer(limit_s, process.kill)
        timer.daemon = True
        timer.start()
        try:
            if message is not None:
                process.stdin.write(json.dumps(message) + "\n")
                process.stdin.flush()
            line = process.stdout.readline()
        except OSError:  # the worker died; the empty reply says so
            line = ""
        finally:
            timer.cancel()
        if not line.endswith("\n"):
            return None
        reply: dict[str, object] = json.loads(line)
        return reply

    def _stop(self) -> None:
        process, self._process = self._process, None
        if process is None:
            return
        process.kill()
        process.wait()
        for pipe in (process.stdin, process.stdout):
            if pipe is not None:
                try:
                    pipe.close()
                except OSError:
                    continue  # a broken pipe of a killed worker has nothing left to flush


_workers: dict[int, SymbolicWorker] = {}  # by process id: a fork must not share its parent's pipes
_workers_lock = threading.Lock()


def verdict(formula: str, gold_formula: str, answer: str, gold: str) -> Verdict:
    """Return whether math-verify can show that two formulas are equal.

    Args:
        formula: The answer, as `formulas.as_formula` spells it.
        gold_formula: The gold answer, spelled so.
        answer: The answer as written, for the verdict.
        gold: The gold answer as written.

    Raises:
        MissingExtraError: The extra ``symbolic`` is not installed.
    """
    equal, why = _worker().equal(formula, gold_formula)
    if equal is None:
        return Verdict(0.0, answer, why, "symbolic_timeout")
    if equal:
        return Verdict(1.0, answer, "math-verify shows it equal to the gold answer", "symbolic")
    return Verdict(0.0, answer, why or f"math-verify finds it different from {gold}", "symbolic")


def require() -> None:
    """Check that symbolic comparison can be had, before a long run relies on it.

    Raises:
        MissingExtraError: The extra ``symbolic`` is not installed.
    """
    if importlib.util.find_spec("math_verify") is None:
        raise MissingExtraError("math_verify", "symbolic", _PURPOSE)


def _worker() -> SymbolicWorker:
    pid = os.getpid()
    worker = _workers.get(pid)
    if worker is None:
        require()
        with _workers_lock:
            if pid not in _workers:
                _workers[pid] = SymbolicWorker()
                atexit.register(_workers[pid].close)
            worker = _workers[pid]
    return worker
