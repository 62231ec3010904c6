"""A training loop without a model, and the check that a resume at any step changes nothing."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import numpy as np

from dataflex_data.core.seeding import keyed_hash
from dataflex_data.samplers.domain_index import DomainIndex
from dataflex_data.samplers.mixer import build_mixer
from dataflex_data.samplers.planner import Batch
from dataflex_data.samplers.signals import StepSignals
from dataflex_data.samplers.steering import SteeringRules
from dataflex_data.samplers.stream import MixtureStream

SIZES = {"logic": 37, "math": 90, "science": 23}
BATCH = 16
GROUP = 4
MIXER_PARAMS: dict[str, dict[str, Any]] = {
    "adarft": {"difficulty": {"logic": 80.0, "math": 40.0, "science": 10.0}},
    "plr": {"inner": {"name": "reward_gap"}},
    "schedule": {
        "points": [
            {"step": 0, "weights": {"logic": 1.0, "math": 2.0, "science": 1.0}},
            {"step": 12, "weights": {"logic": 3.0, "math": 0.0, "science": 1.0}},
        ],
        "between": "linear",
    },
    "static": {"weights": {"logic": 0.2, "math": 0.7, "science": 0.1}},
}


def make_stream(mixer: str, params: dict[str, Any] | None = None, **options: Any) -> MixtureStream:
    """A stream over three small domains, so that epochs end often."""
    sizes = options.pop("sizes", SIZES)
    index = DomainIndex.build(sizes)
    chosen = MIXER_PARAMS.get(mixer, {}) if params is None else params
    seed = options.pop("seed", 5)
    rules = SteeringRules(**options.pop("rules", {}))
    built = build_mixer(mixer, chosen, index.names, seed)
    return MixtureStream(
        index, options.pop("batch_size", BATCH), built, seed=seed, rules=rules, **options
    )


def outcome(stream: MixtureStream, batch: Batch, group: int = GROUP) -> StepSignals:
    """What a fixed, row-dependent model would make of a batch: all signals at once."""
    rows = np.repeat(batch.rows, group)
    uids = [f"{batch.step}-{slot}" for slot in np.repeat(np.arange(batch.rows.size), group)]
    domain = stream.index.domains_of(rows)
    draws = np.array(
        [keyed_hash("model", int(row), batch.step, i % group) / 2**64 for i, row in enumerate(rows)]
    )
    rewards = (draws < 0.3 + 0.2 * domain + 0.01 * batch.step).astype(float)
    return StepSignals(
        rows=rows,
        uids=uids,
        rewards=rewards,
        advantages=rewards - draws,
        losses=draws * (1 + domain),
        excess_losses=draws - 0.2 * domain,
        lengths=(draws * 100).astype(int),
        step=batch.step,
    )


def take_step(stream: MixtureStream) -> list[int]:
    """Draw a batch, report it, and return its rows."""
    batch = stream.next_batch()
    assert batch is not None
    stream.report(outcome(stream, batch))
    return [int(row) for row in batch.rows]


def check_resumes_everywhere(make: Callable[[], MixtureStream], steps: int) -> None:
    """Assert that stopping after each of ``steps`` and resuming from JSON equals going on."""
    whole = make()
    expected, states = [], []
    for _ in range(steps):
        states.append(json.dumps(whole.state_dict()))
        expected.append(take_step(whole))
    final = whole.state_dict()
    for stop, text in enumerate(states):
        resumed = make()
        resumed.load_state_dict(json.loads(text))
        assert json.loads(json.dumps(resumed.state_dict())) == json.loads(text), stop
        assert [take_step(resumed) for _ in range(steps - stop)] == expected[stop:], stop
        assert resumed.state_dict() == final, stop
