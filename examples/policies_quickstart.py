"""Select, reweight, control and record three made-up training steps, without a GPU or verl."""

from __future__ import annotations

import tempfile
from collections.abc import Mapping
from pathlib import Path

import numpy as np

from dataflex_data.core.ledger import Ledger, read_ledger
from dataflex_data.policies import RolloutBatch
from dataflex_data.policies.checks import Host
from dataflex_data.policies.engine import load_policies
from dataflex_data.policies.presets import PRESETS
from dataflex_data.policies.record import ledger_row

# Several policies in one run: keep groups of middling difficulty, then favour large advantages.
OURS = {"policies": [PRESETS["difffilter"].config, PRESETS["softmax"].config]}


def made_up_batch(step: int, prompts: int = 16, group_size: int = 5) -> RolloutBatch:
    rng = np.random.default_rng(step)
    group_B = np.repeat(np.arange(prompts), group_size)
    ability = rng.random(prompts)
    rewards = (rng.random(group_B.size) < ability[group_B]).astype(float)
    by_group = rewards.reshape(prompts, group_size)
    centred = by_group - by_group.mean(axis=1, keepdims=True)
    advantages = centred / (by_group.std(axis=1, ddof=1, keepdims=True) + 1e-6)
    return RolloutBatch(
        rewards=rewards,
        uids=[f"step{step}-prompt{g}" for g in group_B],
        lengths=rng.integers(50, 400, group_B.size),
        domains=[("math", "logic")[g % 2] for g in group_B],
        advantages=advantages.ravel(),
        group_size=group_size,
    )


def control_of(ledger: Path) -> dict[str, object]:
    return {
        "mechanism": "select",
        "actuator": {"name": "matched_random", "params": {"ledger": str(ledger)}},
    }


def run(config: Mapping[str, object], path: Path, steps: int = 3) -> None:
    policies = load_policies(config, Host(adv_estimator="grpo", group_size=5), "token-mean")
    with Ledger(path, {"policy": path.stem}) as ledger:
        for step in range(steps):
            decision = policies.apply(made_up_batch(step), step)
            ledger.append(step, **ledger_row(decision))


def main() -> None:
    with tempfile.TemporaryDirectory() as folder:
        ours, control = Path(folder) / "ours.jsonl", Path(folder) / "control.jsonl"
        run(OURS, ours)
        run(control_of(ours), control)
        for path in (ours, control):
            for row in read_ledger(path).rows:
                kept = row["kept_groups"]
                print(
                    f"{path.stem:8s} step {row['step']}: "
                    f"{row['generated_tokens']} tokens generated, "
                    f"{row['updated_tokens']} updated on; groups kept: "
                    f"math {kept['math']}, logic {kept['logic']}; "
                    f"effective share of weights {row.get('weight_ess_fraction', 1.0):.2f}"
                )


if __name__ == "__main__":
    main()
