"""Where prompts are fetched: asking a selector that acts before the rollout which ones to send.

A prompt that is passed over is replaced before anything is generated: by the next of the order, or
beside a mixture by the next of its own domain, in its own place, so that quotas stand.
"""

from __future__ import annotations

import json
from collections import Counter, defaultdict, deque
from collections.abc import Callable, Sequence
from typing import Any

from verl.utils import tensordict_utils

from dataflex_data.core.seeding import hex_id
from dataflex_data.integrations.verl.adapter import domain_names, objects
from dataflex_data.policies.selectors.greso import Greso

ANY = "any"


def from_domains(
    planned: Sequence[Any], domain_key: str, further: Callable[[str], Any]
) -> tuple[list[str], Callable[[str], Any]]:
    """Return the domain of each planned prompt, and what gives the candidates of a domain.

    Args:
        planned: A whole batch, prompt by prompt.
        domain_key: Column of the domain.
        further: Gives a domain's next prompt beyond those planned, ``None`` where there is none.
    """
    slots: list[str] = []
    waiting: dict[str, deque[Any]] = defaultdict(deque)
    for one in planned:
        (domain,) = domain_names(one[domain_key.split(".")[0]], domain_key)
        slots.append(domain)
        waiting[domain].append(one)

    def draw(domain: str) -> Any:  # noqa: ANN401 - verl's tensordict
        return waiting[domain].popleft() if waiting[domain] else further(domain)

    return slots, draw


def admitted(
    greso: Greso, slots: Sequence[str], draw: Callable[[str], Any], step: int, seed: int
) -> tuple[Any, dict[str, str], dict[str, float]]:
    """Return a batch of prompts that were admitted, the prompt of each uid, and what to record.

    Args:
        greso: Decides.
        slots: The domain of each place of the batch; `ANY` where domains do not matter.
        draw: Gives the next candidate for a domain as verl's batch of one; ``None`` where there is
            no other.
        step: Training step.
        seed: Of the policies' draws.
    """
    held: dict[tuple[str, str], deque[Any]] = defaultdict(deque)

    def named(domain: str) -> str | None:
        one = draw(domain)
        if one is None:
            return None
        name = identity(one)
        held[domain, name].append(one)
        return name

    filled = greso.fill(Counter(slots), named, step, seed)
    sent = {domain: iter(names) for domain, names in filled.prompts.items()}
    names = [next(sent[domain]) for domain in slots]
    chunks = [held[place].popleft() for place in zip(slots, names, strict=True)]
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
