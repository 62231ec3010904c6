"""A mixture that follows the rewards, exact to the last prompt, and resumed as if never stopped.

Run: ``.venv/bin/python examples/sampler_quickstart.py`` (needs the extra ``torch``; a second or
two, no network).
"""

from __future__ import annotations

import json
from itertools import islice

import numpy as np

from dataflex_data.samplers import DataFlexSampler

DOMAINS = {"gsm8k": 400, "knights": 300, "science": 300}  # rows, one after the other
SOLVE_RATE = {"gsm8k": 0.9, "knights": 0.2, "science": 0.5}


def make_sampler() -> DataFlexSampler:
    return DataFlexSampler(
        DOMAINS, batch_size=16, mixer="reward_gap", mixer_params={"temperature": 0.5}, seed=7
    )


def train(sampler: DataFlexSampler, steps: int) -> list[list[int]]:
    rows = iter(sampler)
    batches = []
    for _ in range(steps):
        batch = list(islice(rows, 16))
        step = sampler.explain()["step"]
        rng = np.random.default_rng(step)
        # Five responses to each prompt, right as often as the domain's solve rate.
        prompts = np.repeat(batch, 5)
        domains = sampler.stream.index.domains_of(prompts)
        rates = np.array([SOLVE_RATE[sampler.domains[d]] for d in domains])
        sampler.update(
            {
                "rows": prompts,
                "uids": np.repeat(np.arange(16), 5),
                "rewards": (rng.random(80) < rates).astype(float),
            }
        )
        if step < 3 or step % 4 == 0:
            shares = {name: round(p, 3) for name, p in sampler.proportions.items()}
            print(f"step {step:2}  proportions {shares}  quota {sampler.quota}")
        batches.append(batch)
    return batches


def main() -> None:
    whole = train(make_sampler(), 12)

    print("\nstopped after 5 steps, saved as JSON, resumed:")
    stopped = make_sampler()
    first = train(stopped, 5)
    saved = json.dumps(stopped.state_dict())
    resumed = make_sampler()
    resumed.load_state_dict(json.loads(saved))
    rest = train(resumed, 7)
    print(f"the same rows as without the stop: {first + rest == whole} ({len(saved)} bytes saved)")

    print("\nwhy the last batch was what it was:")
    for name, told in resumed.explain()["domains"].items():
        print(
            f"  {name:8} due {told['due']:6.3f}  quota {told['quota']}  "
            f"carried on {told['owed_after']:+.3f}  realised {told['realised']}"
        )


if __name__ == "__main__":
    main()
