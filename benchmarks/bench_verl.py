"""What our code adds to a step of verl, and to ``import verl``.

- The work of a step at 320 responses of 8,192 tokens, without the queue's calls: from the fields as
  the queue gives them to the fields as they are written, for several configurations.
- The share of the median step in a run of `examples/run_demo_cpu.sh`, read from its ledger.
- What loading the entry point adds to a process that has imported verl.

    python benchmarks/bench_verl.py [LEDGER]...
"""

from __future__ import annotations

import statistics
import subprocess
import sys
import time
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
from _common import write_results

from dataflex_data.core.ledger import read_ledger
from dataflex_data.integrations.verl.settings import run_settings
from dataflex_data.integrations.verl.updates import plan_update
from dataflex_data.policies.checks import Host
from dataflex_data.policies.engine import Policies
from dataflex_data.policies.record import ledger_row, metrics

GROUPS, SIZE, TOKENS = 64, 5, 8192
ROUNDS = 9
_IMPORT = """
import logging, importlib, sys, time
import importlib.abc, importlib.util
began = time.perf_counter()
import dataflex_data.integrations.verl.plugin
print(time.perf_counter() - began)
"""


def fields(rng: np.random.Generator) -> tuple[SimpleNamespace, dict[str, Any]]:
    """Return a step's batch and fields as the queue gives them."""
    from dataflex_data.integrations.verl.adapter import jagged

    rows = GROUPS * SIZE
    lengths = np.full(rows, TOKENS)
    total = rows * TOKENS
    rewards = np.zeros(total, dtype=np.float32)
    rewards[np.cumsum(lengths) - 1] = rng.integers(0, 2, rows)
    advantages = np.repeat(rng.normal(size=rows).astype(np.float32), TOKENS)
    keys = [f"{row // SIZE:032d}_{row % SIZE}_0" for row in range(rows)]
    meta = SimpleNamespace(keys=keys, tags=[{} for _ in keys])
    return meta, {
        "uid": [key.split("_")[0] for key in keys],
        "domain": [("math", "logic", "science")[row // SIZE % 3] for row in range(rows)],
        "rm_scores": jagged(rewards, lengths),
        "response_mask": jagged(np.ones(total, dtype=np.int64), lengths),
        "advantages": jagged(advantages, lengths),
        "old_log_probs": jagged(-rng.exponential(size=total).astype(np.float32), lengths),
    }


def step_seconds(preset: str, meta: SimpleNamespace, given: dict[str, Any]) -> float:
    """Return CPU seconds of one step's work."""
    from dataflex_data.integrations.verl.adapter import Step

    settings = run_settings({"preset": preset})
    policies = Policies(settings, Host(adv_estimator="grpo", group_size=SIZE))
    wanted = {"uid", "domain", "rm_scores", "response_mask", "advantages", *policies.reads}
    held = {name: value for name, value in given.items() if name in wanted}
    began = time.process_time()
    step = Step(meta, held, domain_key="domain", group_size=SIZE)
    decision = policies.apply(step.batch, 1)
    if decision.weights is not None:
        step.weights(decision.token_weights())
    if not decision.kept_B.all():
        plan_update(
            decision.kept_rows.tolist(),
            np.flatnonzero(~decision.kept_B).tolist(),
            decision.batch.lengths_B.tolist(),
            ranks=8,
            mini_batch_rows=320,
            micro_batch_size=None,
        )
    metrics(ledger_row(decision))
    return time.process_time() - began


def main() -> None:
    """Measure, print and write."""
    rng = np.random.default_rng(0)
    meta, given = fields(rng)
    results: dict[str, Any] = {}
    for preset in ("baseline", "difffilter", "topk", "softmax", "per", "ar"):
        times = [step_seconds(preset, meta, given) for _ in range(ROUNDS)]
        results[f"step_ms_{preset}"] = round(1000 * statistics.median(times), 2)
    loads = [
        float(subprocess.check_output([sys.executable, "-c", _IMPORT]).split()[-1])
        for _ in range(ROUNDS)
    ]
    results["entry_point_ms"] = round(1000 * statistics.median(loads), 2)
    for name in sys.argv[1:]:
        rows = read_ledger(Path(name)).rows[1:]  # the first step warms everything up
        own = [row["seconds"]["dataflex_own"] for row in rows]
        queue = [row["seconds"]["dataflex_queue"] for row in rows]
        whole = statistics.median(row["seconds"]["step"] for row in rows)
        results["run " + "/".join(Path(name).parent.parent.parts[-2:])] = {
            "median_step_s": round(whole, 3),
            "own_ms": round(1000 * statistics.median(own), 2),
            "queue_ms": round(1000 * statistics.median(queue), 2),
            "own_share": round(statistics.median(own) / whole, 5),
        }
    write_results("verl", results)


if __name__ == "__main__":
    main()
