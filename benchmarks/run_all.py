"""Run every benchmark script anew, one at a time, and write the table of README.md.

    python benchmarks/run_all.py [NAME]...

Names choose scripts (``sampler`` for bench_sampler.py). The lock at /tmp/bench.lock keeps two
benchmarks from running at once. Exit 1 where a script failed; one whose data are absent is left out
and named.
"""

from __future__ import annotations

import fcntl
import os
import subprocess
import sys
import time
from pathlib import Path

from table import HERE, README, page

LOCK = Path("/tmp/bench.lock")
SHARED = Path(os.environ.get("DFDATA_SHARED", HERE.parents[1] / "shared"))
_NEEDS_DATA = ("audit", "build", "reading")


def arguments(name: str) -> list[str]:
    """Return what the script is given besides its own name."""
    if name in ("audit", "build"):
        return [str(SHARED / "data")]
    if name == "verl":
        demos = HERE.parent / "out" / "demo_cpu"
        return [str(path) for path in sorted(demos.glob("*/checkpoints/ledger.jsonl"))]
    return []


def main(wanted: list[str]) -> int:
    """Run the scripts; return the exit code."""
    names = sorted(path.stem.removeprefix("bench_") for path in HERE.glob("bench_*.py"))
    unknown = sorted(set(wanted) - set(names))
    if unknown:
        print(f"no such benchmark: {', '.join(unknown)} (there are {', '.join(names)})")
        return 2
    failed, left_out = [], []
    # Scripts import their helper as `_common`, or as `benchmarks._common`.
    environment = {**os.environ, "PYTHONPATH": f"{HERE.parent}{os.pathsep}{HERE}"}
    with LOCK.open("a") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        for name in wanted or names:
            if name in _NEEDS_DATA and not (SHARED / "data").is_dir():
                left_out.append(name)
                continue
            start = time.perf_counter()
            command = [sys.executable, str(HERE / f"bench_{name}.py"), *arguments(name)]
            print(f"== {' '.join(command[1:])}", flush=True)
            done = subprocess.run(command, env=environment, cwd=HERE.parent, check=False)
            print(f"== bench_{name}: {time.perf_counter() - start:.0f} s", flush=True)
            if done.returncode:
                failed.append(name)
    README.write_text(page(), encoding="utf-8")
    if left_out:
        print(f"left out, {SHARED / 'data'} is not there: {', '.join(left_out)}")
    if failed:
        print(f"FAILED: {', '.join(failed)}")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
