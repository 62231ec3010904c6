"""Reading the DAPO file at full size: the distinct rows 100 times over, shuffled, in one pass.

The reach: 1.5 million rows made distinct, streaming, under 1.5 GB. Each way of reading runs in a
process of its own, so that its peak memory is its own. The peer is the plain way: every batch to
Python (pyarrow's ``to_pylist``), distinct in a set.

Usage: python benchmarks/bench_reading.py  (needs the shared data: DFDATA_SHARED or ../shared)
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from _common import write_results

from dataflex_data.core.records import read_records

PROJECT = Path(__file__).resolve().parents[1]
COPIES = 100
COLUMNS = ["prompt", "reward_model"]
WAYS = {
    "read_records, 20,000 rows a chunk": 20_000,
    "read_records, 100,000 rows a chunk": 100_000,
    "peer: to_pylist and a set": 0,
}


def make_big(source: Path, target: Path) -> None:
    """Write the rows of ``source`` ``COPIES`` times, in one seeded order."""
    table = pq.read_table(source)
    order = np.random.default_rng(0).permutation(np.repeat(np.arange(table.num_rows), COPIES))
    with pq.ParquetWriter(target, table.schema) as writer:
        for start in range(0, len(order), 100_000):
            rows = pa.array(order[start : start + 100_000])
            writer.write_table(table.take(rows), row_group_size=1_000_000)


def key(record: dict[str, Any]) -> tuple[str, str]:
    """Return what makes a row of DAPO distinct."""
    return record["prompt"][0]["content"], record["reward_model"]["ground_truth"]


def measure(path: Path, batch_rows: int) -> dict[str, float]:
    """Read the file one way, in this process."""
    seen: set[tuple[str, str]] = set()
    rows = converted = 0
    start = time.process_time()
    if batch_rows:
        for chunk in read_records(path, COLUMNS, batch_rows=batch_rows):
            rows += chunk.total
            converted += len(chunk.records)
            seen.update(map(key, chunk.records))
    else:
        for batch in pq.ParquetFile(path).iter_batches(20_000, columns=COLUMNS):
            rows += batch.num_rows
            converted += batch.num_rows
            seen.update(map(key, batch.to_pylist()))
    return {
        "cpu_s": round(time.process_time() - start, 2),
        "peak_mb": round(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024, 0),
        "rows": rows,
        "records_made": converted,
        "distinct": len(seen),
    }


def main() -> None:
    """Run all ways ``--repeats`` times, print the medians, write the dated result."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--measure", nargs=2, metavar=("PATH", "BATCH_ROWS"))
    options = parser.parse_args()
    if options.measure:
        print(json.dumps(measure(Path(options.measure[0]), int(options.measure[1]))))
        return
    shared = Path(os.environ.get("DFDATA_SHARED", PROJECT.parent / "shared"))
    source = shared / "data/dapo_math_17k/derived_canonical/dapo-math-17k.parquet"
    results: dict[str, dict[str, float]] = {}
    with tempfile.TemporaryDirectory() as folder:
        big = Path(folder) / "big.parquet"
        make_big(source, big)
        runs: dict[str, list[dict[str, float]]] = {way: [] for way in WAYS}
        for _ in range(options.repeats):
            for way, batch_rows in WAYS.items():
                command = [sys.executable, __file__, "--measure", str(big), str(batch_rows)]
                done = subprocess.run(command, capture_output=True, text=True, check=True)
                runs[way].append(json.loads(done.stdout))
        for way, measured in runs.items():
            results[way] = {
                name: statistics.median(run[name] for run in measured) for name in measured[0]
            }
    print(f"{'way':36} {'CPU s':>7} {'peak MB':>8} {'rows':>10} {'made':>10} {'distinct':>9}")
    for way, row in results.items():
        print(
            f"{way:36} {row['cpu_s']:7.2f} {row['peak_mb']:8.0f} {row['rows']:10,.0f} "
            f"{row['records_made']:10,.0f} {row['distinct']:9,.0f}"
        )
    write_results("reading", {"repeats": options.repeats, "medians": results})


if __name__ == "__main__":
    main()
