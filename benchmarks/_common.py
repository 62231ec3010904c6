"""What every benchmark script shares: medians over repeats, peak memory, dated results."""

from __future__ import annotations

import datetime
import json
import os
import platform
import resource
import statistics
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

RESULTS = Path(__file__).parent / "results"


def cpu_seconds(work: Callable[[], object], repeats: int = 3) -> float:
    """Return the median CPU seconds of ``work`` over ``repeats`` runs."""
    times = []
    for _ in range(repeats):
        start = time.process_time()
        work()
        times.append(time.process_time() - start)
    return statistics.median(times)


def run_command(command: Sequence[str], repeats: int = 3) -> dict[str, float]:
    """Return median wall and CPU seconds and peak MB of a command and its children."""
    walls, cpus, peaks = [], [], []
    for _ in range(repeats):
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        start = time.perf_counter()
        process = subprocess.Popen(
            list(command), stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True
        )
        _, status, usage = os.wait4(process.pid, 0)
        if status:
            error = process.stderr.read() if process.stderr else ""
            raise SystemExit(f"{' '.join(command)} failed:\n{error}")
        walls.append(time.perf_counter() - start)
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        cpus.append(after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime)
        peaks.append(usage.ru_maxrss / 1024)
    return {
        "wall_s": round(statistics.median(walls), 3),
        "cpu_s": round(statistics.median(cpus), 3),
        "peak_mb": round(statistics.median(peaks), 1),
    }


def write_results(name: str, results: Any) -> None:  # noqa: ANN401 - plain JSON of any shape
    """Write dated results to ``benchmarks/results/NAME.json`` and print them."""
    RESULTS.mkdir(exist_ok=True)
    record = {
        "date": datetime.date.today().isoformat(),
        "python": platform.python_version(),
        "machine": f"{platform.machine()}, {os.cpu_count()} cores",
        "command": " ".join(["python", *sys.argv]),
        "results": results,
    }
    text = json.dumps(record, indent=2) + "\n"
    (RESULTS / f"{name}.json").write_text(text)
    print(text)
    write_table()


def write_table() -> None:
    """Make the table of README.md anew; call it after writing results."""
    subprocess.run([sys.executable, str(RESULTS.parent / "table.py")], check=True)
