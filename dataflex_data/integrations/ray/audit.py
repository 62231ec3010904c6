"""Shards of a corpus audited as Ray Data tasks, with the very code that audits them locally.

Only shard descriptions travel through the dataset; each task reads its own row groups, so nothing
is shuffled and memory is bounded by a batch. The benchmarks' index is put into the object store
once and fetched once per node. Findings do not depend on the number of workers, since results
merge in any order to the same whole.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from typing import Any

from dataflex_data.audits.contamination import Auditor, ShardResult, audit_shards
from dataflex_data.audits.corpus import Layout, Shard
from dataflex_data.audits.runner import ShardRunner
from dataflex_data.audits.watching import OnRows
from dataflex_data.core.errors import MissingExtraError


def ray_runner(workers: int = 1) -> ShardRunner:
    """Return a runner that audits up to ``workers`` shards at once, each on one core.

    It joins the Ray cluster that is running or that RAY_ADDRESS names, else it starts one of
    ``workers`` cores on this machine and ends it afterwards. Files must be readable under the same
    paths on every node.

    Raises:
        MissingExtraError: Ray is not installed.
    """
    try:
        import ray  # noqa: F401
    except ImportError:
        raise MissingExtraError("ray", "ray", "--engine ray") from None

    def run(
        auditor: Auditor, shards: Sequence[Shard], layout: Layout, on_rows: OnRows
    ) -> Iterator[tuple[int, ShardResult]]:
        if shards:
            for position, result in _run(auditor, shards, layout, workers):
                on_rows(result.rows)
                yield position, result

    return run


def _run(
    auditor: Auditor, shards: Sequence[Shard], layout: Layout, workers: int
) -> Iterator[tuple[int, ShardResult]]:
    import logging

    import ray
    import ray.data

    started_here = not ray.is_initialized()
    if started_here:
        _start(workers)
    try:
        context = ray.data.DataContext.get_current()
        context.enable_progress_bars = False
        context.execution_options.preserve_order = False
        logging.getLogger("ray.data").setLevel(logging.WARNING)
        shared = ray.put(auditor)
        dataset = ray.data.from_items(
            [{"position": position} for position in range(len(shards))],
            override_num_blocks=len(shards),
        )

        def audit(row: dict[str, Any]) -> dict[str, Any]:
            position = int(row["position"])
            _, result = next(audit_shards(_auditor(shared), [shards[position]], layout))
            return {"position": position, "result": json.dumps(result.to_json())}

        for row in dataset.map(audit, num_cpus=1, concurrency=workers).iter_rows():
            yield int(row["position"]), ShardResult.from_json(json.loads(row["result"]))
    finally:
        if started_here:
            ray.shutdown()


_AUDITORS: dict[str, Auditor] = {}


def _auditor(reference: Any) -> Auditor:  # noqa: ANN401 - a Ray object reference
    """Return the auditor of a reference, fetched once per worker process."""
    import ray

    key = reference.hex()
    if key not in _AUDITORS:
        _AUDITORS.clear()
        _AUDITORS[key] = ray.get(reference)
    return _AUDITORS[key]


def _start(workers: int) -> None:
    import os

    import ray

    if os.environ.get("RAY_ADDRESS"):
        ray.init(log_to_driver=False, logging_level="warning")
        return
    ray.init(
        num_cpus=workers,
        include_dashboard=False,
        log_to_driver=False,
        logging_level="warning",
    )
