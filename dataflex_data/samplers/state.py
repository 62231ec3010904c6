"""The saved state of a sampler: what it must hold, and by which rule it fits data that changed."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from dataflex_data.core.errors import StateError
from dataflex_data.core.seeding import hex_id
from dataflex_data.core.simplex import MAX_BATCH, UNIT, FloatArray
from dataflex_data.samplers.domain_index import DomainIndex
from dataflex_data.samplers.draws import DrawState
from dataflex_data.samplers.mixer import Mixer
from dataflex_data.samplers.permutation import ORDER_VERSION
from dataflex_data.samplers.planner import Position

STATE_KIND = "dataflex_data/sampler"
STATE_VERSION = 1


def identity(index: DomainIndex, mixer: Mixer, batch_size: int, seed: int) -> dict[str, Any]:
    """Return the part of a state that says what it is a state of."""
    params = json.dumps(mixer.params.model_dump(mode="json"), sort_keys=True)
    return {
        "kind": STATE_KIND,
        "version": STATE_VERSION,
        "order": ORDER_VERSION,
        "seed": seed,
        "batch_size": batch_size,
        "data": index.digest,
        "mixer": [mixer.name, hex_id(params, length=8)],
        "digests": dict(zip(index.names, index.digest_by_domain, strict=True)),
    }


def sealed(state: Mapping[str, Any]) -> dict[str, Any]:
    """Return ``state`` with a digest of all that is in it, by which damage is recognised."""
    held = {key: value for key, value in state.items() if key != "seal"}
    text = json.dumps(held, sort_keys=True, separators=(",", ":"))
    return {**held, "seal": hashlib.sha256(text.encode()).hexdigest()[:16]}


def check_seal(state: Mapping[str, Any]) -> None:
    """Check that a state is as it was saved; one of a release before seals has none.

    Raises:
        StateError: It is not.
    """
    if "seal" not in state:
        return
    try:
        found = sealed(state)["seal"]
    except (TypeError, ValueError, RecursionError) as error:
        raise damaged(error) from None
    _check(found == state["seal"], "what it holds is not what was saved (its seal does not fit)")


def without_unreported(state: Mapping[str, Any]) -> dict[str, Any]:
    """Return a state that waits for no report of a batch handed out whole before it was saved.

    For trainers in which the reports of such batches are lost in a resume.

    Raises:
        StateError: The state is damaged.
    """
    check_seal(state)
    steering = state.get("steering")
    if not isinstance(steering, Mapping) or not isinstance(steering.get("out"), Sequence):
        return dict(state)
    kept = [row for row in steering["out"] if row[0] >= state["step"]]
    return sealed({**state, "steering": {**steering, "out": kept}})


def damaged(error: Exception) -> StateError:
    """Return the refusal of a state in which something else stands than was expected."""
    return StateError(f"the saved state is damaged: {type(error).__name__}: {error}")


def position_state(index: DomainIndex, position: Position) -> dict[str, Any]:
    """Return a position as plain values: per domain epoch, place, what it is owed, who waits."""
    return {
        "step": position.step,
        "domains": {
            name: [epoch, place, owed, *([list(waiting)] if waiting else [])]
            for name, (epoch, place, waiting), owed in zip(
                index.names, position.draws, position.deficit, strict=True
            )
        },
    }


def position_of(state: Mapping[str, Any], index: DomainIndex) -> Position:
    """Return the position in ``state``, adapted to the domains that ``index`` has.

    A domain that is as it was goes on where it stood; a new one begins its first epoch and is owed
    nothing; one whose rows changed begins its next epoch; what a removed one was owed, or owed the
    others, goes to all by equal parts.

    Raises:
        StateError: A number in it is none that a sampler can have saved.
    """
    saved: Mapping[str, Any] = state["domains"]
    _check(set(saved) == set(state["digests"]), "its domains are not those of its digests")
    _check(_is_count(state["step"]), f"its step is {state['step']!r}")
    total = sum(row[2] for row in saved.values())
    _check(total == 0, f"what its domains are owed sums to {total!r}, not to 0")
    draws: list[DrawState] = []
    deficit: list[int] = []
    columns = (index.names, index.digest_by_domain, index.sizes_D.tolist())
    for name, digest, size in zip(*columns, strict=True):
        epoch, place, owed, *waiting = saved.get(name, (0, 0, 0))
        if name in saved and state["digests"][name] != digest:
            epoch, place, waiting = epoch + (place > 0), 0, []
        rows = tuple(waiting[0]) if waiting else ()
        told = f"domain {name!r} of {size} rows stands at {saved.get(name)!r}"
        _check(_is_count(epoch) and _is_count(place) and place <= size, told)
        _check(all(_is_count(row) and row < size for row in rows), told)
        _check(len(set(rows)) == len(rows) <= place, told)
        _check(abs(owed) <= MAX_BATCH * UNIT, told)
        draws.append((epoch, place, rows))
        deficit.append(int(owed))
    orphaned = -sum(deficit)
    parts = [orphaned // len(deficit)] * len(deficit)
    parts[0] += orphaned - sum(parts)
    deficit = [owed + part for owed, part in zip(deficit, parts, strict=True)]
    return Position(int(state["step"]), draws, deficit)


def opened_of(
    state: Mapping[str, Any], index: DomainIndex, batch_size: int
) -> tuple[int, FloatArray] | None:
    """Return, of a batch that was open, the rows handed out and its proportions.

    Raises:
        StateError: A number in it is none that a sampler can have saved.
    """
    if "open" not in state:
        return None
    offset, proportions = state["open"]
    told = f"of a batch of {batch_size} rows {offset!r} had been handed out"
    _check(_is_count(offset) and offset < batch_size, told)
    p = np.array(proportions, dtype=np.float64)
    fits = p.shape == index.sizes_D.shape and bool(np.all(p >= 0)) and abs(p.sum() - 1) < 1e-6
    _check(fits, f"a batch was open with the proportions {proportions!r}")
    return offset, p


def _is_count(value: object) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and value >= 0


def _check(holds: bool, told: str) -> None:
    if not holds:
        raise StateError(f"the saved state is damaged: {told}")


def check_ours(state: object, seed: int) -> Mapping[str, Any]:
    """Return ``state`` after checking that it is a whole state of this version and seed.

    Raises:
        StateError: It is foreign, newer, damaged, or of another seed.
    """
    kind = state.get("kind") if isinstance(state, Mapping) else type(state).__name__
    if not isinstance(state, Mapping) or kind != STATE_KIND:
        raise StateError(f"this is no state of a DataFlexSampler (kind {kind!r})")
    for key, here in (("version", STATE_VERSION), ("order", ORDER_VERSION)):
        found = state.get(key)
        if found != here:
            newer = isinstance(found, int) and found > here
            raise StateError(
                f"the state has {key} {found!r}, this release of dataflex-data reads {here}: "
                + ("it is newer; upgrade dataflex-data" if newer else "it cannot be continued")
            )
    missing = {"seed", "batch_size", "data", "mixer", "step", "domains", "digests"} - set(state)
    if missing:
        raise StateError(f"the state is damaged: it lacks {', '.join(sorted(missing))}")
    if state["seed"] != seed:
        raise StateError(
            f"the state was saved with seed {state['seed']}, the sampler has seed {seed}: "
            "the order would be another one"
        )
    return state


def changes(state: Mapping[str, Any], here: Mapping[str, Any]) -> list[str]:
    """Return what differs between a state and the `identity` of the sampler that loads it."""
    found = []
    named = state["mixer"]
    is_named = isinstance(named, Sequence) and not isinstance(named, str) and len(named) == 2
    _check(is_named, f"its mixer is {named!r}")
    for key in ("digests", "domains"):
        _check(isinstance(state[key], Mapping), f"its {key} are {state[key]!r:.60}")
    old, new = state["digests"], here["digests"]
    added = [f"{name} ({new[name]})" for name in new if name not in old]
    removed = [f"{name} ({old[name]})" for name in old if name not in new]
    altered = [
        f"{name} ({old[name]} then, {new[name]} now)"
        for name in new
        if name in old and old[name] != new[name]
    ]
    for what, listed in (("added", added), ("removed", removed), ("changed", altered)):
        if listed:
            found.append(f"domains {what}: {', '.join(listed)}")
    if state["data"] != here["data"] and not found:
        found.append(
            f"the data changed: content digest {state['data']} then, {here['data']} now, with the "
            "same number of rows in every domain"
        )
    if state["batch_size"] != here["batch_size"]:
        found.append(f"batch size {state['batch_size']} then, {here['batch_size']} now")
    if list(state["mixer"]) != here["mixer"]:
        found.append(
            f"mixer {state['mixer'][0]} (parameters {state['mixer'][1]}) then, {here['mixer'][0]} "
            f"(parameters {here['mixer'][1]}) now"
        )
    return found
