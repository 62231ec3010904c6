"""Where prompts are fetched: asking a selector that acts before the rollout which ones to send."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

from verl.utils import tensordict_utils

from dataflex_data.core.seeding import hex_id
from dataflex_data.integrations.verl.adapter import objects
from dataflex_data.policies.selectors.greso import Greso


def admitted(
    greso: Greso, fetch: Callable[[], Any], wanted: int, step: int, seed: int
) -> tuple[Any, dict[str, str], dict[str, float]]:
    """Return a batch of prompts that were admitted, the prompt of each uid, and what to record.

    Args:
        greso: Decides; every prompt it skips is replaced by the next of the order.
        fetch: Gives the next prompt as verl's batch of one.
        wanted: Prompts of the batch.
        step: Training step.
        seed: Of the policies' draws.
    """
    held: dict[str, list[Any]] = {}

    def draw(_: str) -> str:
        one = fetch()
        name = identity(one)
        held.setdefault(name, []).append(one)
        return name

    filled = greso.fill({"all": wanted}, draw, step, seed)
    names = filled.prompts["all"]
    chunks = [held[name].pop() for name in names]
    batch = tensordict_utils.concat_tensordict(chunks)
    tensordict_utils.assign_non_tensor_data(batch, "global_steps", step)
    uids = [str(objects(one["uid"])[0]) for one in chunks]
    return (
        batch,
        dict(zip(uids, names, strict=True)),
        {
            "greso_drawn": float(filled.drawn),
            "greso_skipped": float(filled.skipped),
            "greso_forced": float(filled.forced),
        },
    )


def identity(one: Any) -> str:  # noqa: ANN401 - verl's tensordict
    """Return what names a prompt across epochs."""
    return digest_of(objects(one["raw_prompt"])[0])


def digest_of(messages: Any) -> str:  # noqa: ANN401 - verl's list of messages
    """Return a digest of chat messages."""
    return hex_id(json.dumps(messages, sort_keys=True, default=str))
