"""How fast and how right is the contamination audit, against what people use for the same work?

    python benchmarks/bench_audit.py ../shared/data [--rows 15000 150000 1500000]

Corpus: the sources of the folder one after the other; beyond their 71,090 prompts they repeat with
every eighth word replaced by the numbers of the round and of the word, so that text, Unicode and
LaTeX stay as they are, pairs do not multiply, and 1.5 million prompts hold about 390 MB. Peers run
in the same process on the same prompts and items. CPU seconds, medians; two workers by wall
seconds, which need an idle second core: the load average stands beside them. Writes
benchmarks/results/audit.json.
"""

from __future__ import annotations

import argparse
import datetime
import gzip
import json
import os
import platform
import statistics
import subprocess
import sys
import tempfile
import time
from collections import Counter, defaultdict
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
from _common import write_table

from dataflex_data.audits.benchmarks import BenchmarkSet, load_benchmarks
from dataflex_data.audits.comparison import Rule, with_options
from dataflex_data.audits.contamination import Auditor, ShardResult
from dataflex_data.audits.corpus import open_corpus
from dataflex_data.audits.rows import read_shard
from dataflex_data.audits.runner import audit_corpus, local_runner
from dataflex_data.core.parquet import write_json
from dataflex_data.core.text import words
from dataflex_data.reporting.terminal import print_table

N = 13
Pairs = dict[tuple[int, int], float]


def prompts_of(data: Path) -> list[str]:
    """Return all prompts of the train sources."""
    table = pq.read_table(data / "dapo_math_17k/svs_dapo_math_17k.parquet", columns=["prompt"])
    prompts = [messages[0]["content"] for messages in table["prompt"].to_pylist()]
    with gzip.open(data / "deepscaler/train.jsonl.gz", "rt", encoding="utf-8") as lines:
        prompts += [json.loads(line)["problem"] for line in lines]
    with (data / "gsm8k/train.jsonl").open(encoding="utf-8") as lines:
        prompts += [json.loads(line)["question"] for line in lines]
    for path in sorted((data / "knights_and_knaves/train").glob("*.gz")):
        with gzip.open(path, "rt", encoding="utf-8") as lines:
            prompts += [json.loads(line)["quiz"] for line in lines]
    sciq = data / "sciq/derived_distractors/data/train-00000-of-00001.parquet"
    questions: list[str] = pq.read_table(sciq, columns=["question"])["question"].to_pylist()
    return prompts + questions


def write_corpus(prompts: list[str], rows: int, path: Path) -> None:
    """Write ``rows`` prompts, repeating them in rounds that differ in every eighth word."""
    schema = pa.schema([("id", pa.string()), ("prompt", pa.string())])
    with pq.ParquetWriter(path, schema, compression="zstd") as writer:
        done, turn = 0, 0
        while done < rows:
            part = prompts[: rows - done]
            if turn:
                part = [_changed(prompt, turn) for prompt in part]
            ids = [f"{turn}-{number}" for number in range(len(part))]
            writer.write_table(pa.table({"id": ids, "prompt": part}, schema=schema))
            done, turn = done + len(part), turn + 1


def _changed(prompt: str, turn: int) -> str:
    parts = prompt.split(" ")
    for at in range(turn % 8, len(parts), 8):
        parts[at] = f"r{turn}w{at:02d}"
    return " ".join(parts)


def shingles(text: str) -> set[tuple[str, ...]]:
    """Return a text's 13-grams, as most people write it."""
    found = words(text)
    return {tuple(found[at : at + N]) for at in range(len(found) - N + 1)}


def plain_python(prompts: list[str], items: list[str]) -> Pairs:
    """Return all pairs with J >= 0.5 by a dict index: exact, and the oracle here."""
    index: dict[tuple[str, ...], list[int]] = defaultdict(list)
    sizes = []
    for number, item in enumerate(items):
        held = shingles(item)
        sizes.append(len(held))
        for gram in held:
            index[gram].append(number)
    found: Pairs = {}
    for row, prompt in enumerate(prompts):
        mine = shingles(prompt)
        counts = Counter(number for gram in mine for number in index.get(gram, ()))
        for number, shared in counts.items():
            similarity = shared / (len(mine) + sizes[number] - shared)
            if similarity >= 0.5:
                found[row, number] = similarity
    return found


def datasketch_loop(prompts: list[str], items: list[str]) -> Pairs:
    """Return pairs as the usual datasketch loop finds them: one MinHash after the other."""
    from datasketch import MinHash, MinHashLSH

    def sketch(text: str) -> Any:  # noqa: ANN401 - datasketch has no types
        found = MinHash(num_perm=128)
        for gram in shingles(text):
            found.update(" ".join(gram).encode())
        return found

    lsh = MinHashLSH(threshold=0.5, num_perm=128)
    sketches = []
    for number, item in enumerate(items):
        sketches.append(sketch(item))
        if shingles(item):
            lsh.insert(number, sketches[-1])
    found: Pairs = {}
    for row, prompt in enumerate(prompts):
        if not shingles(prompt):
            continue
        mine = sketch(prompt)
        for number in lsh.query(mine):
            similarity = mine.jaccard(sketches[number])
            if similarity >= 0.5:
                found[row, number] = similarity
    return found


def polars_join(prompts: list[str], items: list[str]) -> Pairs:
    """Return all pairs by an exact polars join of exploded n-grams."""
    import polars as pl

    def grams(texts: list[str], name: str) -> pl.DataFrame:
        held = [[" ".join(gram) for gram in shingles(text)] for text in texts]
        frame = pl.DataFrame({name: range(len(texts)), "gram": held})
        return frame.with_columns(pl.col("gram").list.len().alias(f"{name}_n")).explode("gram")

    left, right = grams(prompts, "row"), grams(items, "item")
    shared = (
        left.drop_nulls("gram")
        .join(right.drop_nulls("gram"), on="gram")
        .group_by("row", "item", "row_n", "item_n")
        .len()
        .with_columns(
            (pl.col("len") / (pl.col("row_n") + pl.col("item_n") - pl.col("len"))).alias("j")
        )
        .filter(pl.col("j") >= 0.5)
    )
    return {(row, item): j for row, item, j in shared.select("row", "item", "j").iter_rows()}


def ours(auditor: Auditor, corpus: Path, number_of: dict[tuple[str, str], int]) -> Pairs:
    """Return pairs with J >= 0.5 from a whole audit: all channels, all confirmed."""
    result = audit_corpus(open_corpus(corpus), auditor)
    return {
        (one.row, number_of[one.benchmark, one.item_id]): one.jaccard
        for one in result.findings
        if one.jaccard >= 0.5
    }


def cpu(work: Callable[[], Any], repeats: int) -> tuple[float, Any]:
    """Return the median CPU seconds of this process, and the last result."""
    spent, result = [], None
    for _ in range(repeats):
        begin = time.process_time()
        result = work()
        spent.append(time.process_time() - begin)
    return statistics.median(spent), result


def against_peers(
    benchmarks: BenchmarkSet, prompts: list[str], folder: Path
) -> list[dict[str, Any]]:
    """Return one row per engine on 15,000 prompts."""
    chosen = prompts[:15_000]
    path = folder / "peers.parquet"
    write_corpus(chosen, len(chosen), path)
    items = [
        with_options(item.question, item.options) if item.options else item.question
        for item in benchmarks.items
    ]
    number_of = {(i.benchmark, i.item_id): n for n, i in enumerate(benchmarks.items)}
    build, auditor = cpu(lambda: Auditor(benchmarks, Rule()), 3)
    scan, found = cpu(lambda: ours(Auditor(benchmarks, Rule()), path, number_of), 3)
    truth_cpu, truth = cpu(lambda: plain_python(chosen, items), 1)
    rows = [_row("dataflex-data, index built too, all channels", scan, found, truth)]
    scan, found = cpu(lambda: ours(auditor, path, number_of), 5)
    rows.append(_row("dataflex-data, index at hand, all channels", scan, found, truth))
    rows[-1]["index_cpu_s"] = build
    rows.append(_row("plain Python dict index (oracle)", truth_cpu, truth, truth))
    rows.append(_row("polars join", *cpu(lambda: polars_join(chosen, items), 1), truth))
    spent, found = cpu(lambda: datasketch_loop(chosen, items), 1)
    rows.append(_row("datasketch, document by document", spent, found, truth))
    for row in rows:
        row["times_faster_than_datasketch"] = spent / row["cpu_s"]
    return rows


def _row(name: str, spent: float, found: Pairs, truth: Pairs) -> dict[str, Any]:
    both = len(found.keys() & truth.keys())
    return {
        "engine": name,
        "cpu_s": spent,
        "pairs": len(found),
        "recall": both / max(1, len(truth)),
        "precision": both / max(1, len(found)),
    }


def scale(data: Path, path: Path) -> list[dict[str, Any]]:
    """Return a scan's figures on one thread and on two, by turns, so that they share their luck.

    Run in a process of its own for the peak of memory.
    """
    benchmarks = load_benchmarks(["db12"], folder=data, offline=True, missing="warn")
    auditor = Auditor(benchmarks, Rule())
    corpus = open_corpus(path)
    audit_corpus(open_corpus(path.parent / "peers.parquet"), auditor)  # loads the kernels
    cpus: dict[int, list[float]] = {1: [], 2: []}
    walls: dict[int, list[float]] = {1: [], 2: []}
    for _ in range(5):
        for workers in cpus:
            begin, wall = time.process_time(), time.perf_counter()
            result: ShardResult = audit_corpus(corpus, auditor, runner=local_runner(workers))
            cpus[workers].append(time.process_time() - begin)
            walls[workers].append(time.perf_counter() - wall)
    peak_mb = _peak_mb()
    size = sum(
        batch.fulls.nbytes for shard in corpus.shards for batch in read_shard(shard, corpus.layout)
    )
    return [
        {
            "rows": result.rows,
            "workers": workers,
            "text_mb": size / 1e6,
            "cpu_s": statistics.median(cpus[workers]),
            "cpu_best_s": min(cpus[workers]),
            "wall_s": statistics.median(walls[workers]),
            "wall_best_s": min(walls[workers]),
            "times_as_fast_as_one": statistics.median(
                one / wall for one, wall in zip(walls[1], walls[workers], strict=True)
            ),
            "load": os.getloadavg()[0],
            "mb_per_cpu_s": size / 1e6 / statistics.median(cpus[workers]),
            "findings": len(result.findings),
            "peak_mb": peak_mb,
        }
        for workers in cpus
    ]


def _peak_mb() -> float:
    # Not getrusage: a child inherits its parent's peak from before exec.
    lines = Path("/proc/self/status").read_text(encoding="ascii").splitlines()
    return next(int(line.split()[1]) / 1e3 for line in lines if line.startswith("VmHWM"))


_START = """
import time
from dataflex_data.audits.benchmarks import BenchmarkItem, BenchmarkSet, LoadedBenchmark
from dataflex_data.audits.contamination import Decontaminator
items = (BenchmarkItem("x", "0", "a b c"),)
chosen = BenchmarkSet((LoadedBenchmark("x", items, {}, "", "", ""),))
imported = time.process_time()
import numba
numba_there = time.process_time()
Decontaminator(chosen).flag(["a b c d"])
print(imported, numba_there - imported, time.process_time() - numba_there, time.process_time())
"""


def start(repeats: int, cache: str | None = None) -> dict[str, float]:
    """Return medians of CPU seconds from the start of a process to one row audited, by part.

    ``cache``: an empty folder for compiled kernels, so that they are compiled.
    """
    environment = dict(os.environ) if cache is None else {**os.environ, "NUMBA_CACHE_DIR": cache}
    command = [sys.executable, "-c", _START]
    runs = [
        [float(x) for x in subprocess.check_output(command, env=environment).split()]
        for _ in range(repeats)
    ]
    names = ("python_and_imports_cpu_s", "numba_import_cpu_s", "kernels_cpu_s", "whole_cpu_s")
    return {name: statistics.median(run[at] for run in runs) for at, name in enumerate(names)}


def whole_command(data: Path, corpus: Path, folder: Path) -> dict[str, float]:
    """Return the wall seconds of the verb with its report, as a user waits for them."""
    command = [sys.executable, "-m", "dataflex_data", "audit-contamination", str(corpus)]
    command += ["--benchmarks", "db12", "--benchmarks-dir", str(data), "--allow-missing"]
    command += ["--offline", "--force", "--out", str(folder / "report")]
    spent = []
    for _ in range(3):
        begin = time.perf_counter()
        subprocess.run(command, check=False, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        spent.append(time.perf_counter() - begin)
    return {"wall_s": statistics.median(spent)}


def main() -> None:
    """Run everything and write the results."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("data", type=Path)
    parser.add_argument("--rows", type=int, nargs="*", default=[15_000, 150_000, 1_500_000])
    parser.add_argument("--one", type=Path, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.one:
        print(json.dumps(scale(options.data, options.one)))
        return
    benchmarks = load_benchmarks(["db12"], folder=options.data, offline=True, missing="warn")
    prompts = prompts_of(options.data)
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        peers = against_peers(benchmarks, prompts, folder)
        _print("15,000 prompts x " + f"{len(benchmarks.items):,} items", peers)
        scales = []
        for rows in options.rows:
            path = folder / f"{rows}.parquet"
            write_corpus(prompts, rows, path)
            command = [sys.executable, __file__, str(options.data), "--one", str(path)]
            scales += json.loads(subprocess.check_output(command))
        _print("Scale (parquet reading included, index at hand)", scales)
        first = start(1, str(folder / "cache"))
        second = start(9)
        _print("First start (kernels compiled), second start", [first, second])
        whole = whole_command(options.data, folder / "peers.parquet", folder)
        _print("Whole command on 15,000 prompts, report included", [whole])
    results = {
        "date": datetime.datetime.now(tz=datetime.timezone.utc).date().isoformat(),
        "machine": f"{platform.machine()}, {platform.python_version()}",
        "items": len(benchmarks.items),
        "missing": sorted(benchmarks.missing),
        "peers": peers,
        "scale": scales,
        "first_start": first,
        "second_start": second,
        "whole_command": whole,
    }
    out = Path(__file__).parent / "results" / "audit.json"
    out.parent.mkdir(exist_ok=True)
    write_json(results, out)
    write_table()


def _print(title: str, rows: list[dict[str, Any]]) -> None:
    columns = list(dict.fromkeys(key for row in rows for key in row))
    print_table(title, columns, [[row.get(column) for column in columns] for row in rows])


if __name__ == "__main__":
    main()
