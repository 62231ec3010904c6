"""The policies' columns of the ledger, and the row of one step.

Generated, kept and updated tokens stand apart: the rollout of a dropped response was paid for, and
an update that is left out updates on nothing.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from dataflex_data.core.ledger import Column, declare
from dataflex_data.core.rollout import FloatArray, IntArray, RolloutBatch
from dataflex_data.policies.decision import Decision

_QUANTILES = (0.0, 0.1, 0.25, 0.5, 0.75, 0.9, 1.0)

declare(
    Column("actuators", "text", "selectors and reweighters that acted, in order"),
    Column("selection_unit", "text", "kept or dropped as a whole: group, member or response"),
    Column("update", "text", "update, skipped, or kept_all for want of anything selected"),
    Column("generated_responses", "by_domain", "responses generated"),
    Column("kept_responses", "by_domain", "responses kept"),
    Column("kept_groups", "by_domain", "groups of which anything is kept"),
    Column("generated_tokens", "number", "response tokens generated"),
    Column("kept_tokens", "number", "response tokens kept by the selection"),
    Column("updated_tokens", "number", "response tokens that the update is made of"),
    Column("kept_fraction", "number", "kept responses over generated ones"),
    Column("empty_selection", "number", "1 where the selection kept nothing"),
    Column("weight_mean", "number", "mean weight in the unit of the loss"),
    Column("weight_std", "number", "standard deviation of the weights"),
    Column("weight_entropy", "number", "entropy of the weights as shares, in nats"),
    Column("weight_ess", "number", "effective number of weights"),
    Column("weight_ess_fraction", "number", "effective number over the number of weights"),
    Column("weight_max", "number", "largest weight"),
    Column("reward_mean", "number", "mean reward of valid responses"),
    Column("reward_std", "number", "standard deviation of rewards of valid responses"),
    Column("reward_quantiles", "list", f"reward quantiles {_QUANTILES}"),
    Column("length_mean", "number", "mean response length in tokens"),
    Column("length_quantiles", "list", f"response length quantiles {_QUANTILES}"),
    Column("control_target", "number", "what the control was to keep"),
    Column("control_realised", "number", "what the control kept"),
    Column("faults", "by_domain", "responses left out, by reason"),
    Column("notes", "by_domain", "what components reported, by name"),
)


def ledger_row(decision: Decision) -> dict[str, Any]:
    """Return the ledger's values of one step, for `dataflex_data.core.ledger.Ledger.append`."""
    batch, kept_B = decision.batch, decision.kept_B
    selected_B = np.zeros_like(kept_B) if decision.empty else kept_B
    names = batch.domain_names
    groups = batch.groups
    domain_P = batch.domain_B[groups.heads_P]
    touched_P = groups.any(selected_B)
    valid_P = groups.sum(batch.valid_B)
    mean_P = groups.sum(np.where(batch.valid_B, batch.rewards_B, 0.0)) / np.maximum(valid_P, 1)
    kept_tokens = int(batch.lengths_B[selected_B].sum())
    row: dict[str, Any] = {
        "actuators": " ".join(decision.applied),
        "selection_unit": decision.selection_unit,
        "update": decision.fate,
        "generated_responses": _by_domain(names, batch.domain_B),
        "kept_responses": _by_domain(names, batch.domain_B[selected_B]),
        "kept_groups": _by_domain(names, domain_P[touched_P]),
        "groups": _by_domain(names, domain_P),
        "reward": {
            name: float(mean_P[(domain_P == d) & (valid_P > 0)].mean())
            if ((domain_P == d) & (valid_P > 0)).any()
            else None
            for d, name in enumerate(names)
        },
        "generated_tokens": batch.n_tokens,
        "kept_tokens": kept_tokens,
        "updated_tokens": int(batch.lengths_B[kept_B].sum()),
        "kept_fraction": float(selected_B.mean()) if len(batch) else None,
        "empty_selection": int(decision.empty),
        "faults": fault_counts(batch),
        "seconds": dict(decision.seconds),
        **_distribution("reward", batch.rewards_B[batch.valid_B]),
        **_distribution("length", batch.lengths_B.astype(np.float64)),
    }
    del row["length_std"]
    stats = decision.weight_stats
    if stats is not None:
        row.update(
            weight_mean=stats.mean,
            weight_std=stats.std,
            weight_entropy=stats.entropy,
            weight_ess=stats.ess,
            weight_ess_fraction=stats.ess_fraction,
            weight_max=stats.largest,
        )
    notes = dict(decision.notes)
    for name in ("control_target", "control_realised"):
        if name in notes:
            row[name] = notes.pop(name)
    row["notes"] = notes
    return row


def fault_counts(batch: RolloutBatch) -> dict[str, int]:
    """Return how many responses, groups and rows were left out or are short, by reason."""
    counts = {reason: int(mask.sum()) for reason, mask in batch.faults.items()}
    sizes = batch.groups.sum(batch.valid_B)
    return {
        **counts,
        "padding": batch.n_padding,
        "partial_groups": batch.partial_groups,
        "groups_of_one": int((sizes == 1).sum()),
        "equal_reward_groups": equal_reward_groups(batch),
    }


def equal_reward_groups(batch: RolloutBatch) -> int:
    """Return the number of groups of at least two valid responses whose rewards are all equal."""
    part = batch.take(batch.valid_B)
    groups = part.groups
    if not len(groups):
        return 0
    differs_B = part.rewards_B != part.rewards_B[groups.heads_P][groups.of_B]
    return int((~groups.any(differs_B) & (groups.sizes_P > 1)).sum())


def metrics(row: dict[str, Any]) -> dict[str, float]:
    """Return a ledger row as flat numbers for a tracker, under ``dataflex/``.

    The public plugin's names are kept where it has one: ``kept_frac``, ``weight_mean``,
    ``weight_std``, ``reward_<domain>``.
    """
    renamed = {"kept_fraction": "kept_frac"}
    flat: dict[str, float] = {}
    for name, value in row.items():
        key = f"dataflex/{renamed.get(name, name)}"
        if isinstance(value, dict):
            flat |= {f"{key}_{part}": float(n) for part, n in value.items() if n is not None}
        elif isinstance(value, int | float):
            flat[key] = float(value)
    flat["dataflex/skipped_update"] = float(row["update"] == "skipped")
    return flat


def _by_domain(names: tuple[str, ...], codes: IntArray) -> dict[str, int]:
    return dict(zip(names, np.bincount(codes, minlength=len(names)).tolist(), strict=True))


def _distribution(name: str, values: FloatArray) -> dict[str, Any]:
    if not values.size:
        return {f"{name}_mean": None, f"{name}_std": None, f"{name}_quantiles": None}
    return {
        f"{name}_mean": float(values.mean()),
        f"{name}_std": float(values.std()),
        f"{name}_quantiles": np.quantile(values, _QUANTILES).tolist(),
    }
