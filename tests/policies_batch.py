"""Batches for the tests of policies: made-up responses, each with an id that follows it."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from dataflex_data.core.rollout import RolloutBatch

SCORER_PARAMS: dict[str, dict[str, Any]] = {"column": {"column": "hardness"}}
PAIR = {"name": "threshold_band", "params": {"low": 0.2, "high": 0.8}}
SELECTOR_PARAMS: dict[str, dict[str, Any]] = {
    "gfpo": {"k": 2},
    "matched_random": {"pair": PAIR},
    "matched_update_token": {"pair": PAIR},
}
# A scorer that each actuator can use.
SCORER_OF = {
    "advantage_reweight": "token_prob",
    "dapo_dynamic": "group_solve_rate",
    "difficulty_band": "group_solve_rate",
    "matched_random": "group_solve_rate",
    "matched_update_token": "group_solve_rate",
    "threshold_band": "group_solve_rate",
}
DEFAULT_SCORER = "advantage_magnitude"


def columns(n_groups: int = 12, seed: int = 0, *, uneven: bool = False) -> dict[str, Any]:
    """Return the fields of a batch as plain arrays, token fields as lists of arrays."""
    rng = np.random.default_rng(seed)
    sizes = rng.integers(2, 7, n_groups) if uneven else np.full(n_groups, 5)
    group_B = np.repeat(np.arange(n_groups), sizes)
    n = group_B.size
    lengths = rng.integers(1, 30, n)
    solved = rng.random(n_groups)[group_B] > rng.random(n)
    return {
        "rewards": solved.astype(float),
        "uids": np.array([f"u{g}" for g in group_B], dtype=object),
        "lengths": lengths,
        "domains": np.array([("math", "logic", "science")[g % 3] for g in group_B], dtype=object),
        "prompts": group_B + 1000,
        "ids": np.arange(n) + 10_000,
        "advantages": rng.normal(size=n),
        "old_log_probs": [-rng.random(k) for k in lengths],
        "entropy": [rng.random(k) for k in lengths],
        "hardness": rng.random(n_groups)[group_B],
    }


def batch_of(
    fields: dict[str, Any],
    order: npt.ArrayLike | None = None,
    only: set[str] | None = None,
    **more: Any,
) -> RolloutBatch:
    """Return the batch of these fields, its responses in another order, or with fields left out."""
    n = len(fields["rewards"])
    at = np.arange(n) if order is None else np.asarray(order)
    names = {
        "domain": "domains",
        "advantages": "advantages",
        "old_log_probs": "old_log_probs",
        "entropy": "entropy",
    }
    given: dict[str, Any] = {}
    for field, name in names.items():
        if only is not None and field not in only:
            continue
        values = fields[name]
        if isinstance(values, list):
            given[name] = np.concatenate([values[i] for i in at]) if n else np.zeros(0)
        else:
            given[name] = values[at]
    if only is None or "hardness" in only:
        given["extra"] = {"hardness": fields["hardness"][at]}
    return RolloutBatch(
        rewards=fields["rewards"][at],
        uids=fields["uids"][at],
        lengths=fields["lengths"][at],
        prompts=fields["prompts"][at],
        ids=fields["ids"][at],
        **given,
        **more,
    )
