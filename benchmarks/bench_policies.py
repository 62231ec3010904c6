"""How long policies take, beside the public plugin's way, in the same run on one core.

- 1,000,000 responses with string uids in groups of five, contiguous and shuffled, and in groups of
  unequal size: solve rate, top-k and max-variance together, numbering of the uids included.
- 10,000 responses: the same solve rate as the public plugin computes it (a loop over unique uids,
  each compared with all), which grows with the square of the batch.
- 320 responses x 8,192 tokens: all scorers, one selector and one reweighter.

Run under ``flock /tmp/bench.lock``. CPU seconds, medians.
"""

from __future__ import annotations

import argparse
import uuid

import numpy as np
import numpy.typing as npt
from _common import cpu_seconds, write_results

from dataflex_data.policies import SCORERS, SELECTORS, RolloutBatch, Scores, Turn
from dataflex_data.policies.component import build
from dataflex_data.policies.engine import load_policies


def string_uids(sizes: npt.NDArray[np.int64], rng: np.random.Generator) -> npt.NDArray[np.object_]:
    """Return one UUID per group, as an own string object for each response."""
    names = [str(uuid.UUID(bytes=rng.bytes(16))) for _ in range(sizes.size)]
    copies = [
        "".join((name[:8], name[8:]))
        for name, n in zip(names, sizes, strict=True)
        for _ in range(n)
    ]
    return np.array(copies, dtype=object)


def three(rewards: npt.ArrayLike, uids: npt.NDArray[np.object_], advantages: npt.ArrayLike) -> None:
    """Solve rate, top-k and max-variance on a fresh batch, so that nothing is remembered."""
    lengths = np.ones(len(uids), dtype=np.int64)
    batch = RolloutBatch(rewards=rewards, uids=uids, lengths=lengths, advantages=advantages)
    build(SCORERS, "group_solve_rate").run(batch, 0)
    size = build(SCORERS, "advantage_magnitude").run(batch, 0)
    build(SELECTORS, "topk_fraction").keep(size, batch, Turn(0))
    reward = build(SCORERS, "reward_difficulty").run(batch, 0)
    build(SELECTORS, "max_variance").keep(reward, batch, Turn(0))


def plugin_solve_rate(rewards: npt.NDArray[np.float64], uids: npt.NDArray[np.object_]) -> None:
    """Solve rate by one comparison with the whole batch per group, the public plugin's way."""
    out = np.zeros(len(uids))
    solved = (rewards > 0.5).astype(np.float64)
    for uid in np.unique(uids):
        members = np.where(uids == uid)[0]
        out[members] = solved[members].mean()


def large(n: int, repeats: int) -> dict[str, float]:
    """Return seconds of the three together, for three layouts."""
    rng = np.random.default_rng(0)
    rewards = (rng.random(n) < 0.4).astype(np.float64)
    advantages = rng.normal(size=n)
    found = {}
    even = string_uids(np.full(n // 5, 5), rng)
    sizes = rng.integers(1, 10, n)
    sizes = sizes[: int(np.searchsorted(np.cumsum(sizes), n))]
    sizes = np.append(sizes, n - sizes.sum())
    uneven = string_uids(sizes[sizes > 0], rng)
    for name, uids in (("of five", even), ("of 1 to 9", uneven)):
        order = rng.permutation(n)
        found[f"contiguous, groups {name}"] = cpu_seconds(
            lambda uids=uids: three(rewards, uids, advantages), repeats
        )
        shuffled = uids[order]
        found[f"shuffled, groups {name}"] = cpu_seconds(
            lambda uids=shuffled: three(rewards, uids, advantages), repeats
        )
    return found


def peers(n: int) -> dict[str, float]:
    """Return seconds of one solve rate, ours and the public plugin's way."""
    rng = np.random.default_rng(1)
    uids = string_uids(np.full(n // 5, 5), rng)
    rewards = (rng.random(n) < 0.4).astype(np.float64)

    def ours() -> None:
        batch = RolloutBatch(rewards=rewards, uids=uids, lengths=np.ones(n, dtype=np.int64))
        build(SCORERS, "group_solve_rate").run(batch, 0)

    return {
        "ours": cpu_seconds(ours, 9),
        "public plugin's way": cpu_seconds(lambda: plugin_solve_rate(rewards, uids), 3),
    }


def tokens(n: int, length: int, repeats: int) -> dict[str, float]:
    """Return seconds of all scorers, one selector and one reweighter on one step's tokens."""
    rng = np.random.default_rng(2)
    uids = string_uids(np.full(n // 5, 5), rng)
    lengths = np.full(n, length)
    flat = n * length
    log_probs = -rng.random(flat, dtype=np.float32)
    entropy = rng.random(flat, dtype=np.float32)
    rewards = (rng.random(n) < 0.4).astype(np.float64)
    advantages = rng.normal(size=n)
    policies = load_policies(
        {
            "policies": [
                {
                    "mechanism": "select",
                    "scorer": {"name": "group_solve_rate"},
                    "actuator": {"name": "dapo_dynamic"},
                },
                {
                    "mechanism": "reweight",
                    "scorer": {"name": "advantage_magnitude"},
                    "actuator": {"name": "softmax"},
                },
            ]
        }
    )

    def batch() -> RolloutBatch:
        return RolloutBatch(
            rewards=rewards,
            uids=uids,
            lengths=lengths,
            advantages=advantages,
            old_log_probs=log_probs,
            entropy=entropy,
            extra={"hardness": np.repeat(rng.random(n // 5), 5)},
        )

    params = {"column": {"column": "hardness"}}
    scorers = [build(SCORERS, name, params.get(name)) for name in SCORERS.names()]
    scorers += [build(SCORERS, name, {"agg": "mean"}) for name in ("token_prob", "token_entropy")]

    def score(of: RolloutBatch) -> list[Scores]:
        return [scorer.run(of, 0) for scorer in scorers]

    def together() -> None:
        made = batch()
        score(made)
        policies.apply(made, 0)

    return {
        "all scorers": cpu_seconds(lambda: score(batch()), repeats),
        "selector and reweighter": cpu_seconds(lambda: policies.apply(batch(), 0), repeats),
        "together": cpu_seconds(together, repeats),
    }


def main() -> None:
    """Measure, print and write."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--repeats", type=int, default=5)
    arguments = parser.parse_args()
    results = {
        "solve rate, top-k and max-variance of 1,000,000 responses": large(
            1_000_000, arguments.repeats
        ),
        "solve rate alone of 10,000 responses": peers(10_000),
        "320 responses x 8,192 tokens": tokens(320, 8192, 3 * arguments.repeats),
    }
    for title, found in results.items():
        print(title)
        for name, seconds in found.items():
            print(f"  {name:34s} {1000 * seconds:10.1f} ms")
    write_results("policies", {"unit": "CPU seconds, median", **results})


if __name__ == "__main__":
    main()
