"""How long does `dfdata build` take, and how much memory.

    python benchmarks/bench_build.py ../shared/data

Two questions: the whole of three_domain_15k from local files (aim: under 60 s and 1.5 GB), and a
DAPO file with its distinct rows 100 times over, about 1.5 million rows, made on the fly (aim: under
1.5 GB).
"""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path

import pyarrow.parquet as pq
from _common import run_command, write_results

DFDATA = str(Path(sys.executable).parent / "dfdata")


def sources(data: Path, dapo: Path) -> list[str]:
    """Return the --source options for the copies below ``data``."""
    paths = {
        "gsm8k": data / "gsm8k/train.jsonl",
        "math_dapo": dapo,
        "deepscaler": data / "deepscaler/train.jsonl.gz",
        "sciq": data / "sciq/derived_distractors/data/train-00000-of-00001.parquet",
    }
    return [part for name, path in paths.items() for part in ("--source", f"{name}={path}")]


def main() -> None:
    """Run both questions."""
    data = Path(sys.argv[1])
    dapo = data / "dapo_math_17k/derived_canonical/dapo-math-17k.parquet"
    with tempfile.TemporaryDirectory() as scratch:
        out = Path(scratch) / "out"
        command = [DFDATA, "build", "--recipe", "three_domain_15k", "--out", str(out), "--force"]
        results: dict[str, object] = {
            "three_domain_15k from local files": run_command([*command, *sources(data, dapo)])
        }
        big = Path(scratch) / "dapo_x100.parquet"
        distinct = pq.read_table(dapo)
        with pq.ParquetWriter(big, distinct.schema) as writer:
            for _ in range(100):
                writer.write_table(distinct)
        rows = pq.read_metadata(big).num_rows
        results[f"the same with a DAPO file of {rows:,} rows"] = run_command(
            [*command, *sources(data, big)], repeats=1
        )
    write_results("build", results)


if __name__ == "__main__":
    main()
