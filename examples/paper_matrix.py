"""Write the paper's job list: every method at every seed, one command per line after a comment.

One seed drives data order, rollout sampling and the sampler alike, the same for every method, so
that methods are compared on the same prompts in the same order with the same sampling noise.

    python examples/paper_matrix.py --seeds 1 2 3 > jobs.sh

The jobs read examples/configs, and these read two variables, which must be exported where they run:
DATAFLEX_MODEL (a folder, or a name on the Hugging Face Hub) and DATAFLEX_DATA (the folder of
train.parquet and validation.parquet, as `dfdata build` writes them). DATAFLEX_GPUS (8) and
DATAFLEX_OUT (out) may be.
"""

from __future__ import annotations

import argparse
import shlex
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path

from dataflex_data.policies.config import SEED_LIMIT
from dataflex_data.policies.presets import PRESETS

HEADER = """\
# Export first: DATAFLEX_MODEL (a folder, or a name on the Hugging Face Hub) and DATAFLEX_DATA (the
# folder of train.parquet and validation.parquet).
"""
CONFIGS = Path(__file__).resolve().parent / "configs"


def job(method: str, seed: int) -> list[str]:
    """Return the command of one run."""
    return [
        "python",
        "-m",
        "verl.trainer.main_ppo",
        f"--config-path={CONFIGS}",
        f"--config-name={method}",
        f"trainer.experiment_name={method}-seed{seed}",
        f"data.seed={seed}",
        f"actor_rollout_ref.rollout.seed={seed}",
        f"actor_rollout_ref.actor.data_loader_seed={seed}",
        f"+dataflex.seed={seed}",
    ]


def jobs(methods: Sequence[str], seeds: Sequence[int]) -> Iterator[list[str]]:
    """Yield the jobs, seed after seed, so that a list cut short still holds whole comparisons."""
    for seed in seeds:
        for method in methods:
            yield job(method, seed)


def _seed(text: str) -> int:
    if not text.isdecimal() or int(text) >= SEED_LIMIT:
        raise argparse.ArgumentTypeError(
            f"a seed is a whole number of at least 0 and below 2**32, got {text!r}"
        )
    return int(text)


def main(arguments: Sequence[str] | None = None) -> None:
    """Print the job list."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seeds", type=_seed, nargs="+", default=[1, 2, 3])
    parser.add_argument("--methods", nargs="+", choices=sorted(PRESETS), default=list(PRESETS))
    options = parser.parse_args(arguments)
    for name in ("seeds", "methods"):
        given = getattr(options, name)
        twice = sorted({str(value) for value in given if given.count(value) > 1})
        if twice:
            parser.error(f"argument --{name}: {', '.join(twice)} twice; each job runs once")
    sys.stdout.write(HEADER)
    for command in jobs(options.methods, options.seeds):
        sys.stdout.write(shlex.join(command) + "\n")


if __name__ == "__main__":
    main()
