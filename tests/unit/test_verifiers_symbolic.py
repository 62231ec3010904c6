"""The symbolic step: equal forms, a hard limit, neighbours unharmed, threads and daemons."""

from __future__ import annotations

import importlib.util
import multiprocessing
import subprocess
import sys
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from dataflex_data.core.errors import MissingExtraError
from dataflex_data.verifiers import math, symbolic
from dataflex_data.verifiers.symbolic import SymbolicWorker

pytestmark = pytest.mark.skipif(
    importlib.util.find_spec("math_verify") is None, reason="needs the extra 'symbolic'"
)


@pytest.fixture
def worker() -> Iterator[SymbolicWorker]:
    keeper = SymbolicWorker(time_limit_s=30.0)
    yield keeper
    keeper.close()


@pytest.mark.parametrize(
    ("answer", "gold", "score"),
    [
        (r"\sqrt{3+2\sqrt{2}}", r"1+\sqrt{2}", 1.0),
        (r"\tan(\pi/7)\cot(\pi/7)", "1", 1.0),
        (r"2^{n+1}", r"2 \cdot 2^n", 1.0),
        (r"\sin^2 x + \cos^2 x", "1", 1.0),
        (r"\sqrt{3+2\sqrt{2}}", r"1+\sqrt{3}", 0.0),
        (r"2^{n+1}", r"3 \cdot 2^n", 0.0),
    ],
)
def test_what_the_ladder_leaves_open(answer: str, gold: str, score: float) -> None:
    assert math.verify(f"\\boxed{{{answer}}}", gold).score == 0.0
    verdict = math.verify(f"\\boxed{{{answer}}}", gold, symbolic=True)
    assert (verdict.score, verdict.step) == (score, "symbolic")


@pytest.mark.parametrize(
    ("answer", "gold"),
    [
        ("0.3333333333333333", r"\frac{1}{3}"),  # no floats: the ladder has the last word
        ("1, 2", "1, 2, 3"),
        ("9^{9^{9^9}}", "3"),
        ("1e-30", "2e-30"),
    ],
)
def test_what_the_ladder_decides_is_never_asked(answer: str, gold: str) -> None:
    verdict = math.verify(f"\\boxed{{{answer}}}", gold, symbolic=True)
    assert verdict.score == 0.0
    assert not verdict.step.startswith("symbolic")


def _hanging_worker(folder: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    """Write a worker that never answers the question ``hang`` and says yes to all others."""
    (folder / "hanging_worker.py").write_text(
        "import json, sys, time\n"
        "print(json.dumps({'ready': True}), flush=True)\n"
        "for line in sys.stdin:\n"
        "    if json.loads(line)['answer'] == 'hang':\n"
        "        time.sleep(3600)\n"
        "    print(json.dumps({'equal': True, 'why': ''}), flush=True)\n"
    )
    monkeypatch.syspath_prepend(str(folder))
    return "hanging_worker"


def test_a_hung_worker_is_replaced_and_its_neighbours_keep_their_results(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    keeper = SymbolicWorker(0.5, _hanging_worker(tmp_path, monkeypatch))
    try:
        questions = ["a", "b", "hang", "c", "hang", "d"]
        with ThreadPoolExecutor(3) as pool:
            answers = list(pool.map(lambda text: keeper.equal(text, "x")[0], questions))
        assert answers == [True, True, None, True, None, True]
        assert keeper.restarts == 2
        pids = [keeper.pid]
        assert keeper.equal("hang", "x") == (None, "symbolic comparison was stopped after 0.5 s")
        pids.append(keeper.pid)
        assert keeper.equal("e", "x") == (True, "")
        pids.append(keeper.pid)
        assert pids[1] is None
        assert pids[2] not in {None, pids[0]}
    finally:
        keeper.close()
    assert keeper._process is None


def test_a_worker_that_dies_is_replaced(worker: SymbolicWorker) -> None:
    assert worker.equal("x+x", "2x")[0] is True
    assert worker._process is not None
    worker._process.kill()
    worker._process.wait()
    assert worker.equal("x+x", "2x")[0] is True


def test_off_the_main_thread() -> None:
    """signal.alarm off the main thread gives all zeros elsewhere (verl#5635, Math-Verify#50)."""
    scores: list[float] = []
    thread = threading.Thread(
        target=lambda: scores.append(
            math.verify(r"\boxed{2^{n+1}}", r"2 \cdot 2^n", symbolic=True).score
        )
    )
    thread.start()
    thread.join()
    assert scores == [1.0]


def _in_a_daemon(queue: multiprocessing.Queue[float]) -> None:
    queue.put(math.verify(r"\boxed{2^{n+1}}", r"2 \cdot 2^n", symbolic=True).score)


def test_inside_a_daemonic_process() -> None:
    context = multiprocessing.get_context("spawn")
    queue: multiprocessing.Queue[float] = context.Queue()
    process = context.Process(target=_in_a_daemon, args=(queue,), daemon=True)
    process.start()
    assert queue.get(timeout=120) == 1.0
    process.join()


def test_the_worker_ends_with_its_process() -> None:
    code = (
        "from dataflex_data.verifiers import math, symbolic\n"
        "math.verify(r'\\boxed{2^{n+1}}', r'2 \\cdot 2^n', symbolic=True)\n"
        "print(symbolic._worker().pid)\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True, timeout=120
    )
    assert not Path(f"/proc/{int(done.stdout)}").exists()


def test_the_extra_is_named_where_it_is_missing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None)
    with pytest.raises(MissingExtraError, match=r"dataflex-data\[symbolic\]"):
        symbolic.require()
