"""How long an evaluation takes: the 171 published runs, and 10,000 made-up ones.

The peer is what one would write without this package: one `scipy.stats.bootstrap` and one
`scipy.stats.permutation_test` per method (both vectorised inside a method, neither across methods).

Run ``.venv/bin/python benchmarks/bench_evaluation.py``. The 171 runs are read from DFDATA_SHARED or
``../shared`` and left out, by name, where they are absent.
"""

from __future__ import annotations

import csv
import os
import sys
import tempfile
import time
from pathlib import Path

import numpy as np
import yaml
from _common import cpu_seconds, run_command, write_results
from scipy import stats

from dataflex_data.evaluation import statistics as st

METHODS, SEEDS, RESAMPLES = 500, 20, 9999
CONTRACT = Path(__file__).parents[1] / "examples/contracts/dataflex_rl_171.yaml"


def main() -> None:
    """Measure and write ``benchmarks/results/evaluation.json``."""
    results: dict[str, object] = {"load_average_at_start": os.getloadavg()[0]}
    shared = Path(os.environ.get("DFDATA_SHARED", Path(__file__).parents[2] / "shared"))
    published = shared / "evaluation/all_runs_171.csv"
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        if published.exists():
            results["171 runs, all outputs"] = _evaluate(published, CONTRACT, folder / "a", [])
            results["171 runs, tables alone"] = _evaluate(
                published, CONTRACT, folder / "a", ["--no-plots"]
            )
        else:
            results["171 runs"] = f"not measured: {published} is absent"
        contract, runs = _large(folder)
        flags = ["--exploratory"]
        results["10,000 runs, all outputs"] = _evaluate(runs, contract, folder / "b", flags, 1)
        results["10,000 runs, tables alone"] = _evaluate(
            runs, contract, folder / "b", [*flags, "--no-plots"], 1
        )
    results["resampling"] = _resampling()
    write_results("evaluation", results)


def _evaluate(
    runs: Path, contract: Path, out: Path, flags: list[str], repeats: int = 3
) -> dict[str, float]:
    command = [sys.executable, "-m", "dataflex_data", "evaluate", str(runs), "--contract"]
    return run_command([*command, str(contract), "--out", str(out), "--force", *flags], repeats)


def _large(folder: Path) -> tuple[Path, Path]:
    """Write a contract and runs of 500 methods by 20 seeds with the published benchmarks."""
    raw = yaml.safe_load(CONTRACT.read_text(encoding="utf-8"))
    methods = [f"method{at:03d}" for at in range(METHODS - 1)]
    raw["methods"] = {"select": {"baseline": "baseline", "methods": methods}}
    raw["seeds"] = {"list": list(range(SEEDS)), "minimum_pairs": 8}
    raw["same_configuration"], raw["data"] = [], {"id_columns": ["model"]}
    contract = folder / "contract.yaml"
    contract.write_text(yaml.safe_dump(raw), encoding="utf-8")
    benchmarks = [name for group in raw["scores"]["domains"].values() for name in group]
    rng = np.random.default_rng(0)
    runs = folder / "runs.csv"
    with runs.open("w", encoding="utf-8", newline="") as handle:
        writer = csv.writer(handle)
        writer.writerow(["model", "method", "seed", *benchmarks])
        for method in ["baseline", *methods]:
            for seed in range(SEEDS):
                writer.writerow(["m", method, seed, *rng.normal(50, 3, len(benchmarks)).round(2)])
    return contract, runs


def _resampling() -> dict[str, float]:
    """Return CPU seconds of bootstrap and sign-flip for 500 methods, ours and one by one."""
    differences = np.random.default_rng(1).normal(size=(SEEDS, METHODS))
    peers = 5

    def ours() -> None:
        st._resample_counts.cache_clear()
        means = st.bootstrap_means(differences, RESAMPLES, 0)
        st.percentile_interval(means, 0.05)
        st.sign_flip_test(differences, 0)

    def peer_bootstrap() -> None:
        for column in range(peers):
            stats.bootstrap(
                (differences[:, column],), np.mean, n_resamples=RESAMPLES, method="percentile"
            )

    def peer_sign_flip() -> None:
        stats.permutation_test(
            (differences[:, 0],),
            np.mean,
            permutation_type="samples",
            n_resamples=2**SEEDS,
            vectorized=True,
            batch=10_000,
        )

    start = time.process_time()
    peer_sign_flip()
    one_flip = time.process_time() - start
    return {
        "ours_500_methods_cpu_s": round(cpu_seconds(ours), 3),
        "scipy_bootstrap_per_method_cpu_s": round(cpu_seconds(peer_bootstrap) / peers, 4),
        "scipy_exact_sign_flip_per_method_cpu_s": round(one_flip, 3),
    }


if __name__ == "__main__":
    main()
