"""A whole run of ``main_ppo`` on the CPU that prints what DataFlex did at each step.

Started by ``examples/run_demo_cpu.sh``.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

from tests.verl_cpu.assets import make_assets
from tests.verl_cpu.runs import environment, main_ppo

BLOCKS = {
    "select": [
        "+dataflex.mechanism=select",
        "+dataflex.scorer.name=group_solve_rate",
        "+dataflex.scorer.params.success_threshold=0.5",
        "+dataflex.actuator.name=threshold_band",
        "+dataflex.actuator.params.low=0.2",
        "+dataflex.actuator.params.high=0.8",
        "+dataflex.warmup_step=0",
    ],
    "reweight": [
        "+dataflex.mechanism=reweight",
        "+dataflex.scorer.name=advantage_magnitude",
        "+dataflex.scorer.params.agg=mean",
        "+dataflex.actuator.name=softmax",
        "+dataflex.actuator.params.temperature=1.0",
        "+dataflex.warmup_step=0",
    ],
    "mix": [
        "+dataflex.mechanism=mix",
        "+dataflex.scorer.name=reward_difficulty",
        "+dataflex.actuator.name=reward_gap",
        "+dataflex.actuator.params.temperature=0.3",
        "+dataflex.actuator.params.floor=0.05",
        "+dataflex.warmup_step=1",
        "+dataflex.update_step=1",
    ],
}
SHOWN = {
    "select": ("kept_frac", "generated_tokens", "updated_tokens", "updated_rows", "filled_rows"),
    "reweight": ("weight_mean", "weight_std", "weight_ess", "weight_max"),
    "mix": ("prop_easy", "prop_hard", "quota_easy", "quota_hard", "reward_easy", "reward_hard"),
}
STEPS = 6


def main(arguments: list[str]) -> int:
    """Run one mechanism; print its metrics step by step."""
    if not arguments or arguments[0] not in BLOCKS:
        print(f"usage: run_demo_cpu.sh {'|'.join(BLOCKS)} [OVERRIDES]...", file=sys.stderr)
        return 2
    mechanism, *overrides = arguments
    folder = make_assets(Path("out") / "demo_cpu" / mechanism)
    shutil.rmtree(folder / "checkpoints", ignore_errors=True)  # its own, of the demo before
    command = main_ppo(
        folder,
        "dataflex_sync",
        [
            f"trainer.total_training_steps={STEPS}",
            "+dataflex.poll_interval_s=0.05",
            *BLOCKS[mechanism],
            *overrides,
        ],
    )
    log = folder / "log.txt"
    print(f"{mechanism}: verl's main_ppo on the CPU, {STEPS} steps; its log: {log}", flush=True)
    with (
        log.open("w", encoding="utf-8") as kept,
        subprocess.Popen(
            command,
            env={**os.environ, **environment()},
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        ) as run,
    ):
        if run.stdout is None:
            raise RuntimeError("the run has no output")
        for line in run.stdout:
            kept.write(line)
            step, numbers = read_step(line)
            if step is not None:
                shown = (
                    f"{name}={numbers[name]:.3g}" for name in SHOWN[mechanism] if name in numbers
                )
                print(f"step {step}: {' '.join(shown)}", flush=True)
    if run.returncode:
        print(f"failed with exit code {run.returncode}; the end of {log}:", file=sys.stderr)
        print("".join(log.read_text(encoding="utf-8").splitlines(keepends=True)[-15:]))
        return run.returncode
    print(f"ledger: {folder}/checkpoints/ledger.jsonl")
    return 0


def read_step(line: str) -> tuple[int | None, dict[str, float]]:
    """Return the step and the numbers under ``dataflex/`` of a line that verl's console printed."""
    _, found, rest = line.partition("step:")
    parts = rest.strip().split(" - ")
    if not found or not parts[0].isdigit():
        return None, {}
    pairs = (part.rpartition(":") for part in parts[1:] if part.startswith("dataflex/"))
    return int(parts[0]), {
        name.removeprefix("dataflex/"): float(value.replace("np.float64(", "").rstrip(")"))
        for name, _, value in pairs
    }


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
