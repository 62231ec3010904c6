"""What do 5,000 different Knights-and-Knaves puzzles cost, next to reasoning-gym?

Three things are timed in the same run, in CPU seconds of this process, medians over repeats:

- ours: drawing, solving, dedup up to renaming over both splits, rendering, gold answers
  (3 to 8 people in equal shares, and 2 people as many as the grammar gives);
- ours in full: the same with difficulty and the solution re-derived from each text (what a build
  does);
- reasoning-gym 0.1.25, dataset ``knights_knaves``: 5,000 puzzles at 2 to 8 people in equal shares,
  depth 2 and width 2, texts included. It does not dedup; its repeats are counted here.

Run: ``flock /tmp/bench.lock python benchmarks/bench_knights.py [--repeats 5] [--peer-repeats 3]``
"""

from __future__ import annotations

import argparse
import gc
import json
import platform
import statistics
import time
from collections.abc import Callable
from datetime import datetime, timezone
from importlib.metadata import version
from pathlib import Path

import numpy as np
from _common import write_table
from reasoning_gym import create_dataset

from dataflex_data.builders.knights.generate import PuzzlePlan, draw, generate, put_into_words
from dataflex_data.builders.knights.render import Renderer
from dataflex_data.core.parquet import write_json

ROWS = 5_000
PEOPLE = tuple(range(2, 9))
RESULTS = Path(__file__).parent / "results" / "knights.json"


def ours(seed: int) -> int:
    """Draw, solve, tell apart and put into words; return the number of different texts."""
    plan = PuzzlePlan(seed, dict.fromkeys(PEOPLE, 1.0))
    drawn = draw(plan, {"train": ROWS})
    renderers: dict[int, Renderer] = {}
    texts: set[str] = set()
    for _, stream, puzzles in drawn.lots:
        renderer = renderers.setdefault(stream.n_people, Renderer(stream.pool.claims))
        texts.update(put_into_words(seed, renderer, puzzles).questions)
    return len(texts)


def ours_in_full(seed: int) -> int:
    """Do all that a build does; return the number of different canonical forms."""
    plan = PuzzlePlan(seed, dict.fromkeys(PEOPLE, 1.0))
    made = generate(plan, {"train": ROWS})
    return len({row.canonical for row in made.candidates_by_split["train"]})


def reasoning_gym(seed: int) -> int:
    """Return the number of different texts among 5,000 items."""
    texts: set[str] = set()
    for number, people in enumerate(PEOPLE):
        size = ROWS // len(PEOPLE) + (number < ROWS % len(PEOPLE))
        items = create_dataset(
            "knights_knaves",
            n_people=people,
            depth_constraint=2,
            width_constraint=2,
            size=size,
            seed=seed,
        )
        texts.update(items[index]["question"] for index in range(size))
    return len(texts)


def cpu_seconds(work: Callable[[int], int], seed: int) -> tuple[float, int]:
    """Return the CPU seconds and the result of ``work(seed)``."""
    gc.collect()
    start = time.process_time()
    result = work(seed)
    return time.process_time() - start, result


def main() -> None:
    """Run all three in turn and write the table and the dated JSON."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--repeats", type=int, default=5, help="runs of ours per run of the peer")
    parser.add_argument("--peer-repeats", type=int, default=3)
    arguments = parser.parse_args()
    works = {"ours": ours, "ours_in_full": ours_in_full, "reasoning_gym": reasoning_gym}
    times: dict[str, list[float]] = {name: [] for name in works}
    different: dict[str, int] = {}
    for block in range(arguments.peer_repeats):
        # Interleaved, so that a busy neighbour slows all of them.
        for name, work in works.items():
            for repeat in range(1 if name == "reasoning_gym" else arguments.repeats):
                seconds, different[name] = cpu_seconds(work, 100 * block + repeat)
                times[name].append(seconds)
    medians = {name: statistics.median(values) for name, values in times.items()}
    peer = medians["reasoning_gym"]
    print(f"{'':<16}{'CPU s':>9}{'different':>11}{'peer / ours':>13}{'wanted':>8}")
    wanted = {"ours": 100, "ours_in_full": 15, "reasoning_gym": 1}
    for name, median in medians.items():
        ratio = peer / median
        print(f"{name:<16}{median:>9.3f}{different[name]:>11}{ratio:>13.1f}{wanted[name]:>8}")
    RESULTS.parent.mkdir(exist_ok=True)
    write_json(
        {
            "date": datetime.now(timezone.utc).strftime("%Y-%m-%d"),
            "machine": {
                "cpu": platform.processor() or platform.machine(),
                "python": platform.python_version(),
            },
            "numpy": np.__version__,
            "reasoning_gym": version("reasoning-gym"),
            "rows": ROWS,
            "cpu_seconds": times,
            "median_cpu_seconds": medians,
            "different": different,
            "peer_over_ours": {name: peer / median for name, median in medians.items()},
            "wanted": wanted,
        },
        RESULTS,
    )
    write_table()
    print(json.dumps({"written": str(RESULTS)}))


if __name__ == "__main__":
    main()
