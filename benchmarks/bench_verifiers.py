"""Are the verifiers right on 20,000 synthetic responses a domain, and how fast are they?

Run: ``flock /tmp/bench.lock .venv/bin/python benchmarks/bench_verifiers.py``. Peers (verl's
math_reward, math-verify) judge the same responses in the same run. Speed is CPU seconds of one
core, median of the repeats, caches cold at the start of each; responses come in groups of eight
that share a gold answer, as rollouts do. "As asked" are responses in the form that our templates
ask for; "mixed forms" also write answers in many other ways, hedge, and break the form. Writes
``benchmarks/results/verifiers.json``.
"""

from __future__ import annotations

import argparse
import dataclasses
import gc
import random
import statistics
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from _common import write_results

from dataflex_data.reporting.terminal import print_table
from dataflex_data.verifiers import answers, choice, exact, logic, math, routes
from tests.synthetic_responses import Case, cases, reasoning

DOMAINS = ("math", "science", "logic")
CACHED = (
    math.read_gold,
    math.compare,
    math._rational_gold,
    math._gold_spelling,
    answers.read_answer,
    exact._monomial,
    choice.gold_letter,
    choice._plain,
    choice._places,
    choice._judged,
    choice._read_clause,
    choice._read_box,
    logic.read_gold,
    logic._judged,
)
HOSTILE = [
    "\\boxed{9^{9^{9^9}}}",
    "\\boxed{" * 140_000,
    "\\boxed{" + "9" * 1_000_000 + "}",
    "\\boxed{" + "(" * 390 + "}",
    "\\boxed{" + "9^{" * 100 + "9" + "}" * 100 + "}",
    "\\boxed{(a+b+c+d+e+f)^{40}}",
    "\\boxed{" + "3000!*" * 60 + "1}",
    "Answer: B or " * 80_000,
    "Emma is a knight, " * 60_000,
]


def main() -> None:
    """Measure, print tables and write the dated results."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--count", type=int, default=20_000)
    parser.add_argument("--repeats", type=int, default=7)
    arguments = parser.parse_args()
    accuracy = [_accuracy(domain, arguments.count) for domain in DOMAINS]
    print_table(
        f"{arguments.count:,} synthetic responses a domain",
        ["domain", "right", "recognised", "wrong", "false positives"],
        [[a["domain"], a["right"], a["recognised"], a["wrong"], a["false"]] for a in accuracy],
    )
    speed = _speed(arguments)
    print_table(
        "Million verdicts a minute on one core, 1,000-character responses",
        ["responses", "grader", "median", "best", "us a verdict"],
        [[r["responses"], r["grader"], r["median"], r["best"], r["microseconds"]] for r in speed],
    )
    symbolic = _symbolic_share()
    print_table(
        "Responses that escalate to symbolic where it is switched on",
        ["domain", "responses", "escalated", "share"],
        [[symbolic["domain"], symbolic["responses"], symbolic["escalated"], symbolic["share"]]],
    )
    hostile = _hostile()
    print_table(
        "Hostile responses (ms of CPU a response, all three verifiers)",
        ["slowest", "mean"],
        [[hostile["slowest_ms"], hostile["mean_ms"]]],
    )
    write_results(
        "verifiers",
        {"accuracy": accuracy, "speed": speed, "symbolic": symbolic, "hostile": hostile},
    )


def _verify(case: Case) -> float:
    extra = {"options": case.options}
    return routes.verify(case.route, case.response, case.gold, extra).score


def _accuracy(domain: str, count: int) -> dict[str, Any]:
    found = [(case, _verify(case)) for case in cases(domain, count, seed=1)]
    return {
        "domain": domain,
        "right": sum(case.right for case, _ in found),
        "recognised": sum(case.right and score == 1.0 for case, score in found),
        "wrong": sum(not case.right for case, _ in found),
        "false": sum(not case.right and score == 1.0 for case, score in found),
    }


def _speed(arguments: argparse.Namespace) -> list[dict[str, Any]]:
    """Return the rates of all graders; each repeat goes over all, so that they share its luck."""
    from verl.utils.reward_score import math_reward

    jobs: list[tuple[str, str, Callable[..., Any], list[tuple[Any, ...]]]] = []
    for domain in DOMAINS:
        mixed = list(cases(domain, arguments.count, seed=2, group=8))
        for form, sample in ("as asked", list(_as_asked(mixed))), ("mixed forms", mixed):
            name = f"{domain}, {form}"
            rows = [(c.route, c.response, c.gold, {"options": c.options}) for c in sample]
            jobs.append((name, "dataflex-data", routes.verify, rows))
            if domain == "math":
                pairs = [(case.response, case.gold) for case in sample]
                jobs.append((name, "verl math_reward", math_reward.compute_score, pairs))
                jobs.append((name, "math-verify", _math_verify(), pairs[:400]))
    rates: list[list[float]] = [[] for _ in jobs]
    for _ in range(arguments.repeats):
        for (_, _, grade, rows), found in zip(jobs, rates, strict=True):
            found.append(_rate(grade, rows))
    return [
        {
            "responses": name,
            "grader": grader,
            "median": round(statistics.median(found) * 60 / 1e6, 3),
            "best": round(max(found) * 60 / 1e6, 3),
            "microseconds": round(1e6 / statistics.median(found), 1),
        }
        for (name, grader, _, _), found in zip(jobs, rates, strict=True)
    ]


def _as_asked(mixed: Sequence[Case]) -> Iterator[Case]:
    """Yield responses in the form our templates ask for; every other one is wrong."""
    golds = [case.gold for case in mixed]
    for at, case in enumerate(mixed):
        answer, right = case.gold, at % 2 == 0
        if not right and case.route == "dataflex/knights_and_knaves":
            answer = answer.replace("is a knight", "is a knave", 1)
        elif not right and case.options:
            answer = "ABCD"[("ABCD".find(case.gold) + 1) % 4]
        elif not right:
            answer = golds[(at + 8) % len(golds)]
        text = reasoning(random.Random(at), 1_000)
        ending = routes.render_gold(case.route, answer, {"options": case.options})
        yield dataclasses.replace(
            case, response=f"{text}\n\n{ending}", right=right, form="as asked"
        )


def _math_verify() -> Callable[[str, str], float]:
    from math_verify import parse, verify

    def grade(response: str, gold: str) -> float:
        wanted = parse(f"${gold}$", parsing_timeout=None)
        answer = parse(response, parsing_timeout=None)
        return float(verify(wanted, answer, timeout_seconds=None))

    return grade


def _rate(grade: Callable[..., Any], rows: Sequence[tuple[Any, ...]]) -> float:
    """Return verdicts per CPU second with cold caches."""
    for function in CACHED:
        function.cache_clear()
    gc.collect()
    started = time.process_time()
    for row in rows:
        grade(*row)
    return len(rows) / (time.process_time() - started)


def _symbolic_share() -> dict[str, Any]:
    sample = list(cases("math", 2_000, seed=3, group=8))
    steps = [
        routes.verify(case.route, case.response, case.gold, {}, symbolic=True).step
        for case in sample
    ]
    escalated = sum(step.startswith("symbolic") for step in steps)
    return {
        "domain": "math",
        "responses": len(sample),
        "escalated": escalated,
        "share": round(escalated / len(sample), 4),
    }


def _hostile() -> dict[str, float]:
    gold = "Emma is a knight, and Liam is a knave."
    times = []
    for text in HOSTILE:
        started = time.process_time()
        math.verify(text, "3")
        choice.verify(text, "B", options=("one", "two"))
        logic.verify(text, gold)
        times.append(1000 * (time.process_time() - started))
    return {
        "slowest_ms": round(max(times), 1),
        "mean_ms": round(statistics.mean(times), 1),
    }


if __name__ == "__main__":
    main()
