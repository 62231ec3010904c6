"""The symbolic worker inside Ray workers, where verl calls reward functions."""

from __future__ import annotations

import importlib.util
import time
import warnings
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest

pytestmark = [
    pytest.mark.verl,
    pytest.mark.filterwarnings("ignore"),
    pytest.mark.skipif(
        importlib.util.find_spec("math_verify") is None, reason="needs the extra 'symbolic'"
    ),
]


@pytest.fixture(scope="module")
def cluster() -> Iterator[Any]:
    ray = pytest.importorskip("ray")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        ray.init(
            num_cpus=2,
            include_dashboard=False,
            log_to_driver=False,
            object_store_memory=80_000_000,
        )
    yield ray
    ray.shutdown()


class _Rewards:
    """What a reward worker of verl does with our function."""

    def score(self, answer: str, gold: str) -> tuple[Mapping[str, Any], int | None]:
        from dataflex_data.integrations.verl.reward import compute_score
        from dataflex_data.verifiers import symbolic

        found = compute_score("dataflex/math", f"\\boxed{{{answer}}}", gold, symbolic=True)
        return found, symbolic._worker().pid


def _ends(pid: int, within_s: float = 30.0) -> bool:
    deadline = time.monotonic() + within_s
    while time.monotonic() < deadline:
        try:
            state = Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()[0]
        except (FileNotFoundError, ProcessLookupError):
            return True
        if state == "Z":  # ended; whoever inherited it has not asked for its exit code yet
            return True
        time.sleep(0.1)
    return False


def test_symbolic_verdicts_in_ray_workers(cluster: Any) -> None:
    """Each actor has one worker of its own, which ends with the actor, also where that is killed.

    ``2^{n+1} = 2 * 2^n`` and ``tan(pi/4) = 1`` are identities, ``2^{n+1} = 3 * 2^n`` is none.
    """
    actor = cluster.remote(num_cpus=1)(_Rewards)
    ending, killed = actor.remote(), actor.remote()
    questions = [("2^{n+1}", "2 \\cdot 2^n"), ("2^{n+1}", "3 \\cdot 2^n"), ("\\tan(\\pi/4)", "1")]
    pids = []
    for worker in (ending, killed):
        found = cluster.get([worker.score.remote(*question) for question in questions])
        assert [verdict["score"] for verdict, _ in found] == [1.0, 0.0, 1.0]
        assert all(isinstance(verdict["pred"], str) for verdict, _ in found)
        assert len({pid for _, pid in found}) == 1
        pids.append(found[0][1])
    assert len(set(pids)) == 2
    ending.__ray_terminate__.remote()
    cluster.kill(killed)
    assert all(map(_ends, pids))
