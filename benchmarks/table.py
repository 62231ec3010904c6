"""The table of benchmarks/README.md: every measured claim, made of the figures in results/.

    python benchmarks/table.py [--check]

A claim names the figures it is made of, so that no number in the table is typed by hand. Numbers of
measurements in the project's README must stand in this table (tests/unit/test_benchmark_claims.py).
"""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

HERE = Path(__file__).parent
README = HERE / "README.md"
BEGIN, END = "<!-- made by table.py: begin -->", "<!-- made by table.py: end -->"

Results = dict[str, Any]


@dataclass(frozen=True)
class Claim:
    """One line of the table.

    Attributes:
        question: What is measured.
        name: ``bench_NAME.py`` measures it, ``results/NAME.json`` holds it.
        ours: Our figure, in words, from the results of that file.
        peer: The peer's of the same run; ``None`` where there is none.
        aim: What its issue asked for.
    """

    question: str
    name: str
    ours: Callable[[Any], str]
    peer: Callable[[Any], str] | None = None
    aim: str = ""


def _cost(entry: Any) -> str:  # noqa: ANN401 - plain JSON
    return f"{number(entry['cpu_s'])} CPU s, {entry['peak_mb']:.0f} MB"


def number(value: float) -> str:
    """Return two significant digits, all digits of what is above ten."""
    return f"{value:.0f}" if value >= 9.95 else f"{value:.2g}"


def _engine(results: Any, name: str) -> Any:  # noqa: ANN401 - plain JSON
    return next(peer for peer in results["peers"] if peer["engine"].startswith(name))


def _scale(results: Any, rows: int, workers: int) -> Any:  # noqa: ANN401 - plain JSON
    return next(e for e in results["scale"] if (e["rows"], e["workers"]) == (rows, workers))


def _speed(results: Any, responses: str, grader: str = "dataflex-data") -> str:  # noqa: ANN401
    found = next(
        line
        for line in results["speed"]
        if (line["responses"], line["grader"]) == (responses, grader)
    )
    return f"{number(found['median'])} million a minute"


def _verdicts(domain: str, form: str, *, aim: str = "") -> Claim:
    responses = f"{domain}, {form}"
    told = "in the form our templates ask for" if form == "as asked" else "in many forms"
    peers = ("verl math_reward", "math-verify") if domain == "math" else ()
    return Claim(
        f"verdicts on {domain} responses {told}",
        "verifiers",
        lambda r: _speed(r, responses),
        (lambda r: ", ".join(f"{peer}: {_speed(r, responses, peer)}" for peer in peers))
        if peers
        else None,
        aim,
    )


def _draws(rows: str) -> Claim:
    def ours(results: Any) -> str:  # noqa: ANN401 - plain JSON
        held = results[rows]
        ranges, shuffled = held["dataflex, ranges"], held["dataflex, shuffled column"]
        return (
            f"{number(ranges['steady'])} million a CPU s, {number(shuffled['steady'])} where the "
            "domains are shuffled"
        )

    def peers(results: Any) -> str:  # noqa: ANN401 - plain JSON
        names = ("torch RandomSampler", "torchdata RandomSampler", "torch WeightedRandomSampler")
        held = results[rows]
        return ", ".join(f"{name}: {number(held[name]['steady'])} million" for name in names)

    return Claim(f"drawing indices of {rows}, steady", "sampler", ours, peers)


_POLICIES = "solve rate, top-k and max-variance of 1,000,000 responses"
PUBLIC = "public plugin's way"
_AUDIT = "dataflex-data, index built too"
_GYM = "reasoning_gym"

CLAIMS: tuple[Claim, ...] = (
    Claim(
        "`make corpus` in a clean clone, virtual environment and installation included",
        "cli",
        lambda r: (
            f"{number(r['make corpus in a clean clone']['cpu_s'])} CPU s, "
            f"{number(r['make corpus in a clean clone']['wall_s'])} s by the clock of cores that "
            "others used too"
        ),
        aim="300 s of 2 free cores",
    ),
    Claim(
        "`dfdata build --recipe three_domain_offline`, nothing read",
        "cli",
        lambda r: _cost(r["build three_domain_offline"]),
    ),
    Claim("`dfdata verify` of it, canonical forms too", "cli", lambda r: _cost(r["verify"])),
    Claim("`dfdata dashboard` of both", "cli", lambda r: _cost(r["dashboard"])),
    Claim("`dfdata --help`", "cli", lambda r: f"{number(r['dfdata --help']['cpu_s'])} CPU s"),
    Claim(
        "`three_domain_15k` from local files",
        "build",
        lambda r: _cost(r["three_domain_15k from local files"]),
    ),
    Claim(
        "the same with 1,531,500 DAPO rows",
        "build",
        lambda r: _cost(r["the same with a DAPO file of 1,531,500 rows"]),
    ),
    Claim(
        "5,000 different Knights-and-Knaves puzzles",
        "knights",
        lambda r: f"{number(r['median_cpu_seconds']['ours'])} CPU s",
        lambda r: (
            f"reasoning-gym {r['reasoning_gym']}: {number(r['median_cpu_seconds'][_GYM])} CPU s "
            f"({number(r['peer_over_ours']['ours'])} times)"
        ),
    ),
    Claim(
        "the same with difficulty and re-derivation from text",
        "knights",
        lambda r: f"{number(r['median_cpu_seconds']['ours_in_full'])} CPU s",
        lambda r: (
            f"reasoning-gym {r['reasoning_gym']}: {number(r['median_cpu_seconds'][_GYM])} CPU s "
            f"({number(r['peer_over_ours']['ours_in_full'])} times)"
        ),
    ),
    Claim(
        "reading 1,531,500 DAPO rows, distinct",
        "reading",
        lambda r: _cost(r["medians"]["read_records, 100,000 rows a chunk"]),
        lambda r: f"`to_pylist` and a set: {_cost(r['medians']['peer: to_pylist and a set'])}",
    ),
    Claim(
        "right answers recognised, wrong ones accepted, of 20,000 made responses a domain",
        "verifiers",
        lambda r: "; ".join(
            f"{a['domain']} {a['recognised']:,} of {a['right']:,}, {a['false']} false"
            for a in r["accuracy"]
        ),
    ),
    *(
        _verdicts(domain, form, aim="5 million a minute")
        for domain in ("math", "science", "logic")
        for form in ("as asked", "mixed forms")
    ),
    Claim(
        "audit of 15,000 prompts against 9,927 items, index built too",
        "audit",
        lambda r: (
            f"{number(_engine(r, _AUDIT)['cpu_s'])} CPU s, recall {_engine(r, _AUDIT)['recall']:g}"
        ),
        lambda r: (
            f"datasketch loop: {number(_engine(r, 'datasketch')['cpu_s'])} CPU s, recall "
            f"{_engine(r, 'datasketch')['recall']:.2f} "
            f"({number(_engine(r, _AUDIT)['times_faster_than_datasketch'])} times)"
        ),
    ),
    Claim(
        "audit of 1,500,000 prompts, index apart",
        "audit",
        lambda r: f"{number(_scale(r, 1_500_000, 1)['cpu_s'])} CPU s",
        aim="4 CPU s",
    ),
    Claim(
        "the same on two threads",
        "audit",
        lambda r: (
            f"{number(_scale(r, 1_500_000, 2)['times_as_fast_as_one'])} times as fast as on one"
        ),
        aim="1.7 times",
    ),
    Claim(
        "second start of the audit's compiled loops, numba's import apart",
        "audit",
        lambda r: f"{number(r['second_start']['kernels_cpu_s'])} CPU s",
        aim="0.6 CPU s",
    ),
    _draws("1,000,000 rows"),
    _draws("10,000,000 rows"),
    Claim(
        "first batch after resuming in 10,000,000 rows",
        "sampler",
        lambda r: f"{number(r['resume'][1]['first_batch_after_ms'])} ms",
        lambda r: f"torchdata: {r['resume'][1]['torchdata_load_and_first_batch_ms']:,.0f} ms",
    ),
    Claim(
        _POLICIES,
        "policies",
        lambda r: (
            f"{number(r[_POLICIES]['contiguous, groups of five'])} CPU s, shuffled "
            f"{number(r[_POLICIES]['shuffled, groups of five'])} CPU s"
        ),
    ),
    Claim(
        "solve rate of 10,000 responses",
        "policies",
        lambda r: f"{number(r['solve rate alone of 10,000 responses']['ours'] * 1000)} ms",
        lambda r: (
            "the public plugin's loop, written anew: "
            f"{number(r['solve rate alone of 10,000 responses'][PUBLIC] * 1000)} ms"
        ),
    ),
    Claim(
        "all scorers, a selector and a reweighter, 320 x 8,192 tokens",
        "policies",
        lambda r: f"{number(r['320 responses x 8,192 tokens']['together'] * 1000)} ms",
    ),
    Claim(
        "the work of one verl step at 320 x 8,192 tokens",
        "verl",
        lambda r: (
            f"{number(r['step_ms_baseline'])} ms without a policy, difffilter "
            f"{number(r['step_ms_difffilter'])} ms, ar {number(r['step_ms_ar'])} ms"
        ),
    ),
    Claim(
        "171 runs x 12 benchmarks with all outputs",
        "evaluation",
        lambda r: (
            f"{number(r['171 runs, all outputs']['wall_s'])} s, tables alone "
            f"{number(r['171 runs, tables alone']['wall_s'])} s"
        ),
    ),
    Claim(
        "10,000 runs with all outputs",
        "evaluation",
        lambda r: f"{number(r['10,000 runs, all outputs']['wall_s'])} s",
    ),
)


def load(name: str, folder: Path | None = None) -> tuple[Any, str]:
    """Return the results and the date of ``results/NAME.json``."""
    record = json.loads(((folder or HERE / "results") / f"{name}.json").read_text("utf-8"))
    return record.get("results", record), record["date"]


def table(folder: Path | None = None) -> str:
    """Return the table as Markdown.

    Raises:
        SystemExit: A claim's figures are not in its results.
    """
    lines = [
        "| question | ours | peer, same run | script | date |",
        "| --- | --- | --- | --- | --- |",
    ]
    for claim in CLAIMS:
        try:
            results, date = load(claim.name, folder)
            ours = claim.ours(results)
            peer = claim.peer(results) if claim.peer else ""
        except (KeyError, StopIteration, IndexError, TypeError, FileNotFoundError) as error:
            raise SystemExit(
                f"results/{claim.name}.json lacks what the claim {claim.question!r} is made of "
                f"({error!r}): run bench_{claim.name}.py, or mend the claim in table.py"
            ) from None
        aim = f" (aim: {claim.aim})" if claim.aim else ""
        lines.append(
            f"| {claim.question} | {ours}{aim} | {peer} | `bench_{claim.name}.py` | {date} |"
        )
    return "\n".join(lines)


def page(folder: Path | None = None) -> str:
    """Return README.md with the table as it is now."""
    head, _, rest = README.read_text("utf-8").partition(BEGIN)
    _, _, tail = rest.partition(END)
    return f"{head}{BEGIN}\n{table(folder)}\n{END}{tail}"


def main() -> None:
    """Write the table, or with ``--check`` say whether it is as it should be."""
    wanted = page()
    if "--check" in sys.argv[1:]:
        if README.read_text("utf-8") != wanted:
            raise SystemExit("benchmarks/README.md is not made of results/: run table.py")
        return
    README.write_text(wanted, encoding="utf-8")


if __name__ == "__main__":
    main()
