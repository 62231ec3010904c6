"""The audit over Ray Data finds, byte for byte, what the local engine finds."""

from __future__ import annotations

import warnings
from pathlib import Path

import pytest

from dataflex_data.audits.audit import AuditRequest, run_audit
from tests.factories import write_jsonl, write_parquet

pytest.importorskip("ray", reason="needs the extra 'ray'")

W = [f"w{number}" for number in range(2000)]


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")  # Ray's own, which differ between its versions
def test_ray_with_one_and_two_workers_finds_what_the_local_engine_finds(tmp_path: Path) -> None:
    import ray

    from dataflex_data.integrations.ray.audit import ray_runner

    items = [{"id": f"q{k}", "question": " ".join(W[30 * k : 30 * k + 30])} for k in range(9)]
    bench = write_jsonl(tmp_path / "items.jsonl", items)
    for number in range(4):
        rows = [
            {"id": f"{number}-{k}", "prompt": " ".join(W[40 * k + number : 40 * k + 36 + number])}
            for k in range(12)
        ]
        write_parquet(tmp_path / "shards" / f"{number}.parquet", rows)

    def audit(out: str, workers: int | None) -> dict[str, bytes]:
        request = AuditRequest(
            corpus=str(tmp_path / "shards"), out=tmp_path / out, benchmark_files={"mine": bench}
        )
        run_audit(request, runner=None if workers is None else ray_runner(workers))
        return {
            name: (tmp_path / out / name).read_bytes()
            for name in ("findings.parquet", "summary.json")
        }

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        ray.init(num_cpus=2, include_dashboard=False, log_to_driver=False)
        try:
            local, one, two = audit("local", None), audit("one", 1), audit("two", 2)
        finally:
            ray.shutdown()
    assert local == one == two
