"""How fast is the sampler, what does its state weigh, how soon does it resume? Peers beside it.

Run: ``flock /tmp/bench.lock .venv/bin/python benchmarks/bench_sampler.py``. Rates are million row
numbers per second of CPU time, taken in batches of 512 as torch's ``BatchSampler`` takes them.
*With set-up* makes the sampler anew, its index of domains included, and draws as many rows as
there are. *Steady* goes on in a sampler that has drawn a tenth of that, for as many rows again, so
that an end of an epoch and the order of the next are in it. Every round takes all samplers in turn;
medians over the rounds.
"""

from __future__ import annotations

import argparse
import itertools
import json
import statistics
import subprocess
import sys
import time
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

import numpy as np
import pyarrow as pa
import torch
from torch.utils.data import RandomSampler, WeightedRandomSampler
from torchdata.stateful_dataloader.sampler import RandomSampler as StatefulRandomSampler

from benchmarks._common import write_results
from dataflex_data.reporting.terminal import print_table
from dataflex_data.samplers.domain_sampler import DataFlexSampler

BATCH = 512
SHARES = {"logic": 0.25, "math": 0.5, "science": 0.25}
WEIGHTS = {"weights": {"logic": 0.3, "math": 0.5, "science": 0.2}}
# What is owed by such shares never comes round, so that every batch is planned by itself.
NO_ROUND_WEIGHTS = {"weights": {"logic": 0.3 + 1e-9, "math": 0.5, "science": 0.2 + 1e-8}}


def main() -> None:
    """Measure, print tables and write the dated results."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--rows", type=int, nargs="*", default=[1_000_000, 10_000_000])
    parser.add_argument("--many-domains", action="store_true", help="internal: measured in a child")
    arguments = parser.parse_args()
    if arguments.many_domains:
        print(json.dumps(many_domains()))
        return
    results: dict[str, Any] = {}
    for rows in arguments.rows:
        results[f"{rows:,} rows"] = rates(rows, arguments.rounds)
    results["state"] = state_sizes()
    results["resume"] = [resume(rows) for rows in arguments.rows]
    results["adaptive"] = adaptive(1_000_000)
    results["memory"] = memory(arguments.rows[-1])
    results["300 domains over 1e8 rows"] = in_a_child()
    write_results("sampler", results)
    for rows in arguments.rows:
        table = results[f"{rows:,} rows"]
        print_table(
            f"{rows:,} rows, 3 domains, batches of {BATCH}: million row numbers a second",
            ("sampler", "with set-up", "steady"),
            [(name, cells["with_set_up"], cells["steady"]) for name, cells in table.items()],
        )


def sizes(rows: int) -> dict[str, int]:
    """Rows per domain; contiguous ranges."""
    return {name: int(rows * share) for name, share in SHARES.items()}


def shuffled_labels(rows: int) -> pa.Array:
    """A column of domain names in random order, as a parquet file's column is read."""
    codes = np.repeat(np.arange(3, dtype=np.int32), list(sizes(rows).values()))
    np.random.default_rng(0).shuffle(codes)
    return pa.DictionaryArray.from_arrays(pa.array(codes), list(SHARES)).cast(pa.string())


def weighted(rows: int) -> WeightedRandomSampler:
    """Torch's own way to weigh domains: a weight for every row, with replacement."""
    per_row = [WEIGHTS["weights"][name] / size for name, size in sizes(rows).items()]
    weights = torch.repeat_interleave(
        torch.tensor(per_row, dtype=torch.float64), torch.tensor(list(sizes(rows).values()))
    )
    return WeightedRandomSampler(weights, rows)  # type: ignore[arg-type]


class Index(Iterable[int]):
    """The indices that Hugging Face's ``interleave_datasets`` would select, in order."""

    def __init__(self, rows: int) -> None:
        import datasets

        ends = np.cumsum(list(sizes(rows).values()))
        parts = [
            datasets.Dataset.from_dict({"row": np.arange(end - size, end)}).shuffle(seed=0)
            for size, end in zip(sizes(rows).values(), ends, strict=True)
        ]
        self.mixed = datasets.interleave_datasets(
            parts, probabilities=list(WEIGHTS["weights"].values()), seed=0
        )

    def __iter__(self) -> Iterator[int]:
        for chunk in self.mixed.with_format("arrow").iter(8192):
            yield from chunk["row"].to_pylist()


def makers(rows: int) -> dict[str, Callable[[], Iterable[int]]]:
    """Everything that is compared, as functions that make it anew."""
    labels = shuffled_labels(rows)
    made: dict[str, Callable[[], Iterable[int]]] = {
        "dataflex, ranges": lambda: DataFlexSampler(sizes(rows), BATCH, "static", WEIGHTS),
        "dataflex, no round shares": lambda: DataFlexSampler(
            sizes(rows), BATCH, "static", NO_ROUND_WEIGHTS
        ),
        "dataflex, shuffled column": lambda: DataFlexSampler(labels, BATCH, "static", WEIGHTS),
        "torch RandomSampler": lambda: RandomSampler(range(rows)),
        "torchdata RandomSampler": lambda: StatefulRandomSampler(range(rows)),
        "torch WeightedRandomSampler": lambda: weighted(rows),
    }
    if rows <= 1_000_000:
        made["HF interleave_datasets"] = lambda: Index(rows)
    return made


def take(rows: Iterator[int], count: int) -> None:
    """Take so many rows in batches."""
    for _ in range(count // BATCH):
        if len([*itertools.islice(rows, BATCH)]) != BATCH:
            raise SystemExit("the sampler ended early")


def rates(rows: int, rounds: int) -> dict[str, dict[str, float]]:
    """Return both rates of every sampler."""
    found: dict[str, dict[str, list[float]]] = {}
    made = makers(rows)
    counted = (rows // BATCH - 1) * BATCH
    for _ in range(rounds):
        for name, make in made.items():
            cells = found.setdefault(name, {"with_set_up": [], "steady": []})
            start = time.process_time()
            take(iter(make()), counted if name != "HF interleave_datasets" else rows // 2)
            used = time.process_time() - start
            done = counted if name != "HF interleave_datasets" else rows // 2
            cells["with_set_up"].append(done / used / 1e6)
            endless = itertools.chain.from_iterable(itertools.repeat(make()))
            take(endless, rows // 10)
            count = counted if name != "HF interleave_datasets" else rows // 4
            start = time.process_time()
            take(endless, count)
            cells["steady"].append(count / (time.process_time() - start) / 1e6)
    return {
        name: {key: round(statistics.median(values), 2) for key, values in cells.items()}
        for name, cells in found.items()
    }


def state_sizes() -> dict[str, float]:
    """Return bytes of JSON: three static domains, and what a window entry adds."""
    static = DataFlexSampler(sizes(10_000_000), BATCH, "static", WEIGHTS)
    take(iter(static), 100 * BATCH + 100)
    found: dict[str, float] = {"static_bytes": len(compact(static.state_dict()))}
    by_window = {}
    for window in (50, 100):
        sampler = DataFlexSampler(sizes(1_000_000), BATCH, "reward_gap", {"window": window})
        train(sampler, 120)
        by_window[window] = len(compact(sampler.state_dict()))
    found["reward_gap_window_50_bytes"] = by_window[50]
    found["bytes_per_entry_and_domain"] = round((by_window[100] - by_window[50]) / 50 / 3, 2)
    return found


def compact(state: dict[str, Any]) -> str:
    """Return the state as JSON without spaces."""
    return json.dumps(state, separators=(",", ":"))


def train(sampler: DataFlexSampler, steps: int) -> dict[str, float]:
    """Draw and report; return median CPU milliseconds of both."""
    rng = np.random.default_rng(0)
    drawing, reporting = [], []
    rows = iter(sampler)
    for _ in range(steps):
        start = time.process_time()
        batch = [*itertools.islice(rows, BATCH)]
        drawing.append(time.process_time() - start)
        signals = {"rows": batch, "rewards": rng.random(BATCH), "advantages": rng.random(BATCH)}
        start = time.process_time()
        sampler.update(signals)
        reporting.append(time.process_time() - start)
    return {
        "draw_ms": round(1e3 * statistics.median(drawing), 3),
        "update_ms": round(1e3 * statistics.median(reporting), 3),
    }


def adaptive(rows: int) -> dict[str, dict[str, float]]:
    """Return milliseconds a step of adaptive mixers, one response per prompt."""
    return {
        mixer: train(DataFlexSampler(sizes(rows), BATCH, mixer), 200)
        for mixer in ("reward_gap", "dump_ucb", "tscl")
    }


def resume(rows: int) -> dict[str, Any]:
    """Return how soon samplers continue from half of the rows."""
    sampler = DataFlexSampler(sizes(rows), BATCH, "static", WEIGHTS)
    take(iter(sampler), rows // 2)
    state = json.loads(json.dumps(sampler.state_dict()))
    loads, firsts = [], []
    for _ in range(7):
        fresh = DataFlexSampler(sizes(rows), BATCH, "static", WEIGHTS)
        start = time.perf_counter()
        fresh.load_state_dict(state)
        loads.append(time.perf_counter() - start)
        start = time.perf_counter()
        take(iter(fresh), BATCH)
        firsts.append(time.perf_counter() - start)
    peer = iter(StatefulRandomSampler(range(rows)))
    take(peer, rows // 2)
    saved = peer.state_dict()
    other = StatefulRandomSampler(range(rows))
    start = time.perf_counter()
    continued = iter(other)
    continued.load_state_dict(saved)
    take(continued, BATCH)
    return {
        "rows": rows,
        "load_ms": round(1e3 * statistics.median(loads), 4),
        "first_batch_after_ms": round(1e3 * statistics.median(firsts), 3),
        "torchdata_load_and_first_batch_ms": round(1e3 * (time.perf_counter() - start), 1),
        "torchdata_state_bytes": len(str(saved)),
    }


def memory(rows: int) -> dict[str, float]:
    """Return bytes per row that a column in any order keeps in memory."""
    found: dict[str, float] = {"rows": rows}
    many = pa.array(np.random.default_rng(0).integers(0, 300, rows))
    for name, labels in (("bytes_per_row", shuffled_labels(rows)), ("of_300_domains", many)):
        index = DataFlexSampler(labels, BATCH).stream.index
        assert index.rows_N is not None
        assert index.codes_N is not None
        found[name] = (index.rows_N.nbytes + index.codes_N.nbytes) / rows
    return found


def many_domains() -> dict[str, float]:
    """Return time and memory of 300 contiguous domains over 1e8 rows."""
    before = resident_mb()
    start = time.process_time()
    sampler = DataFlexSampler({f"d{i:03}": 333_333 + i for i in range(300)}, BATCH)
    rows = iter(sampler)
    take(rows, BATCH)
    first = time.process_time() - start
    start = time.process_time()
    take(rows, 2_000 * BATCH)
    used = time.process_time() - start
    return {
        "set_up_and_first_batch_s": round(first, 3),
        "steady_million_per_s": round(2_000 * BATCH / used / 1e6, 2),
        "mb_above_start": round(resident_mb() - before, 1),
        "state_bytes": len(compact(sampler.state_dict())),
    }


def resident_mb() -> float:
    """Memory of this process now (the peak would be that of importing torch)."""
    pages = int(Path("/proc/self/statm").read_text().split()[1])
    return pages * 4096 / 2**20


def in_a_child() -> dict[str, float]:
    """Measure the many domains in a process of their own, so that peak memory is theirs."""
    command = [sys.executable, __file__, "--many-domains"]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    found: dict[str, float] = json.loads(done.stdout)
    return found


if __name__ == "__main__":
    main()
