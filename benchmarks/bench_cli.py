"""What a newcomer waits for: `make corpus` in a clean clone, its steps alone, and the help text.

    python benchmarks/bench_cli.py

`make corpus` makes a virtual environment of its own and installs into it, from whatever index pip
is set up with. Each is the command itself, started anew; seconds of CPU and of the clock, medians,
peak memory.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

from _common import run_command, write_results


def main() -> None:
    """Measure and write."""
    project = Path(__file__).parents[1]
    dfdata = str(Path(sys.executable).with_name("dfdata"))
    with tempfile.TemporaryDirectory() as scratch:
        subprocess.run(["git", "clone", "--quiet", project, f"{scratch}/clone"], check=True)
        corpus, verified = f"{scratch}/corpus", f"{scratch}/verified"
        results: dict[str, Any] = {
            "load_average_at_start": round(os.getloadavg()[0], 1),
            "make corpus in a clean clone": run_command(
                ["make", "-C", f"{scratch}/clone", "corpus", f"PYTHON={sys.executable}"], repeats=1
            ),
            "dfdata --help": run_command([dfdata, "--help"], repeats=9),
            "build three_domain_offline": run_command(
                [dfdata, "build", "--recipe", "three_domain_offline", "--out", corpus, "--force"]
            ),
            "verify": run_command([dfdata, "verify", corpus, "--out", verified, "--force"]),
            "dashboard": run_command(
                [dfdata, "dashboard", corpus, verified, "--out", f"{scratch}/page.html"]
            ),
        }
    write_results("cli", results)


if __name__ == "__main__":
    main()
