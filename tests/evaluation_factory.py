"""Small contracts and runs tables for tests of evaluation: made-up numbers, nothing published."""

from __future__ import annotations

import copy
import csv
import random
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import yaml

BENCHMARKS = ("alg", "geo", "log", "sci")
CONTRACT: dict[str, Any] = {
    "contract": 1,
    "name": "made-up",
    "data": {"id_columns": ["model", "steps"]},
    "scores": {
        "domains": {"math": ["alg", "geo"], "logic": ["log"], "science": ["sci"]},
        "items": {"alg": 100, "geo": 50, "log": 200, "sci": 50},
        "primary": {"kind": "domain_balanced"},
        "sensitivity": [
            "benchmark_macro",
            "item_weighted",
            {"name": "only_math", "benchmarks": ["alg", "geo"]},
        ],
    },
    "scale": "percent",
    "methods": {
        "select": {"baseline": "baseline", "methods": ["keep_some", "keep_few"]},
        "mix": {"baseline": "static", "methods": ["adaptive"]},
    },
    "same_configuration": [{"method": "static", "reference": "baseline"}],
    "seeds": {"list": [1, 2, 3, 4, 5], "minimum_pairs": 3},
    "meaningful_effect": 1.0,
    "process_metrics": ["update_tokens", "rollout_tokens", "kept_fraction", "domain_share"],
}


def contract_with(**changes: Any) -> dict[str, Any]:
    """Return the contract with dotted keys replaced, as ``seeds__list=[1, 2]``."""
    made = copy.deepcopy(CONTRACT)
    for key, value in changes.items():
        *path, last = key.split("__")
        place = made
        for part in path:
            place = place.setdefault(part, {})
        place[last] = value
    return made


def write_contract(path: Path, raw: dict[str, Any] | None = None) -> Path:
    """Write a contract as YAML."""
    path.write_text(yaml.safe_dump(raw or CONTRACT, sort_keys=False), encoding="utf-8")
    return path


def made_runs(
    models: Sequence[str] = ("small", "large"), seeds: int = 5, seed: int = 0
) -> list[dict[str, Any]]:
    """Return a complete grid of runs; ``keep_few`` is better by about six points."""
    rng = random.Random(seed)
    rows = []
    for model in models:
        for method in ("baseline", "keep_some", "keep_few", "static", "adaptive"):
            for number in range(1, seeds + 1):
                lift = 6.0 if method == "keep_few" else 0.0
                scores = {name: round(50 + lift + rng.gauss(0, 1), 3) for name in BENCHMARKS}
                rows.append(
                    {"model": model, "steps": 300, "method": method, "seed": number, **scores}
                )
    return rows


def write_runs(path: Path, rows: Sequence[dict[str, Any]], columns: Sequence[str] = ()) -> Path:
    """Write rows as csv."""
    with path.open("w", encoding="utf-8", newline="") as handle:
        writer = csv.DictWriter(handle, columns or list(rows[0]), lineterminator="\n")
        writer.writeheader()
        writer.writerows(rows)
    return path
