"""The global order of rows: batch after batch by exact quotas, checked, and resumable anywhere.

This is the sampler without torch. A batch is planned when it is asked for, so that an adaptive
mixer has heard of the batches before it; where proportions do not depend on results, many are
planned at once.
"""

from __future__ import annotations

import warnings
from collections import Counter, deque
from collections.abc import Mapping
from dataclasses import replace
from typing import Any, Literal, TypeAlias

import numpy as np

from dataflex_data.core.errors import InputDataError, MixtureError, StateError
from dataflex_data.core.simplex import UNIT, FloatArray
from dataflex_data.samplers.domain_index import DomainIndex
from dataflex_data.samplers.mixer import Mixer
from dataflex_data.samplers.planner import (
    Batch,
    BatchPlan,
    BatchPlanner,
    Block,
    MixtureWarning,
)
from dataflex_data.samplers.signals import StepCounts, StepSignals, row_numbers
from dataflex_data.samplers.state import (
    changes,
    check_ours,
    check_seal,
    damaged,
    identity,
    opened_of,
    position_of,
    position_state,
    sealed,
)
from dataflex_data.samplers.steering import (
    KEPT_OUT,
    REMEMBERED,
    Steering,
    SteeringRules,
)
from dataflex_data.samplers.whole import check_whole

OnChange: TypeAlias = Literal["error", "adapt"]
_BLOCK_ROWS = 1 << 15
_DAMAGE = (KeyError, TypeError, ValueError, IndexError, AttributeError, OverflowError)


class MixtureStream:
    """An endless, resumable sequence of batches over several domains.

    Args:
        index: Rows by domain.
        batch_size: Rows of a batch.
        mixer: Gives the proportions.
        seed: Decides the order; nothing else does.
        max_epochs: How often a domain's rows may be drawn, for all domains or by name. What an
            exhausted domain would have had goes to the others by their proportions, with a
            `MixtureWarning`; when they cannot fill a batch any more, the stream ends.
        rules: When the mixer acts, and what is refused.
        on_change: Whether a state of other data, batch size or mixer is refused or adapted to; see
            `load_state_dict`.

    Raises:
        InputDataError: The batch is larger than the data, a number is out of range, or the mixer
            was built for other domains.
    """

    def __init__(
        self,
        index: DomainIndex,
        batch_size: int,
        mixer: Mixer,
        *,
        seed: int = 0,
        max_epochs: int | Mapping[str, int] | None = None,
        rules: SteeringRules | None = None,
        on_change: OnChange = "error",
    ) -> None:
        batch_size = check_whole("batch_size", batch_size, 1)
        seed = check_whole("seed", seed, 0)
        if mixer.domains != index.names:
            raise InputDataError(
                f"the mixer was built for the domains {list(mixer.domains)}, the data have "
                f"{list(index.names)}"
            )
        if on_change not in ("error", "adapt"):
            raise InputDataError(f"on_change must be 'error' or 'adapt', got {on_change!r}")
        self.index, self.batch_size, self.seed = index, batch_size, seed
        self._rules = rules or SteeringRules()
        self._on_change = on_change
        self._planner = BatchPlanner(index, batch_size, seed, max_epochs)
        self._steering = self._fresh_steering(mixer)
        self._acts_on_results = mixer.adaptive
        self._blocks: deque[Block] = deque()  # as far back as batches are remembered
        self._opened, self._planned = 0, 0  # batches of the last block: opened, in all
        self._noted = 0  # the next batch that the steering has not been told is out
        self._resumed: tuple[int, FloatArray] | None = None
        self._block_steps = 1
        self._held: tuple[int, dict[int, set[int]]] = (-1, {})  # of a step, rows by domain
        self._more: dict[int, list[int]] = {}  # by step, the rows that `draw_more` gave

    @property
    def mixer(self) -> Mixer:
        """The mixer, with what it has learnt."""
        return self._steering.mixer

    @property
    def next_step(self) -> int:
        """Ordinal of the batch that `next_batch` gives next."""
        return self._blocks[-1].step + self._opened if self._blocks else self._planner.step

    @property
    def resumed_at(self) -> int:
        """Rows of the next batch that had been handed out when the state was saved."""
        return self._resumed[0] if self._resumed is not None else 0

    # ------------------------------------------------------------------ drawing

    def next_batch(self) -> Batch | None:
        """Return the next batch, or ``None`` where ``max_epochs`` leaves no whole batch.

        Raises:
            MixtureError: An adaptive mixer has not heard of an earlier batch, or lacks its signal;
                or the rows planned are not those the quota asks for.
        """
        return self._blocks[-1].batch(self._opened - 1) if self._advance() else None

    def next_rows(self, rank: int, world_size: int) -> list[int] | None:
        """Return a rank's share of the next batch, or of its rest after a resume.

        Raises:
            MixtureError: As `next_batch`.
        """
        start = rank if self._resumed is None else rank + self._resumed[0]
        if not self._advance():
            return None
        return self._blocks[-1].listed(self._opened - 1, start, world_size)

    def draw_more(self, domain: str, count: int) -> list[int]:
        """Return up to ``count`` further rows of a domain, to take the place of rows of its quota.

        They follow the open batch's rows in the domain's order and count as drawn: the next batch
        goes on behind them. Fewer come where the batch holds all rows of the domain, or
        ``max_epochs`` is reached. A state knows of them once the batch is handed out whole.

        Raises:
            InputDataError: No batch is open, there is no such domain, or ``count`` is no count.
        """
        number = self.index.number(domain)
        count = check_whole("the count of further rows", count, 0)
        if not self._blocks or self._resumed is not None:
            raise InputDataError("there is no batch to draw further rows for: none is open")
        block = self._blocks[-1]
        if self._opened < self._planned:  # what was planned ahead begins behind these rows
            exhausted = self._planner.exhausted
            self._planner.go_to(block.position(self._opened))
            self._planner.exhausted = exhausted
            block = self._blocks[-1] = block.head(self._opened)
            self._planned = self._opened
        self._block_steps = 1
        step = self.next_step - 1
        if self._held[0] != step:
            self._held = (step, {})
        held = self._held[1].get(number)
        if held is None:
            rows = block.batch(self._opened - 1).rows
            held = set(rows[self.index.domains_of(rows) == number].tolist())
            self._held[1][number] = held
        found = self._planner.draw_more(number, count, held)
        held.update(found)
        self._more.setdefault(step, []).extend(found)
        return found

    def _advance(self) -> bool:
        if self._opened == self._planned and not self._plan_block():
            return False
        self._opened += 1
        self._resumed = None
        if self._acts_on_results:
            self._tell_opened()
        return True

    def _plan_block(self) -> bool:
        block = self._planner.plan(self._coming_proportions())
        if block is None:
            return False
        self._blocks.append(block)
        self._opened, self._planned = 0, len(block)
        while sum(map(len, self._blocks)) - len(self._blocks[0]) - len(block) >= REMEMBERED:
            self._blocks.popleft()
        return True

    def _tell_opened(self) -> None:
        """Tell the steering which batches have been opened since it was told last."""
        for step in self._untold:
            self._steering.opened(self._plan(step))
        self._noted = max(self._noted, self.next_step)

    @property
    def _untold(self) -> range:
        return range(max(self._noted, self._remembered.start), self.next_step)

    def _coming_proportions(self) -> list[FloatArray]:
        if self._resumed is not None:
            return [self._resumed[1]]
        first, unused_D = self._planner.position.step, self._planner.unused_D
        steps = 1
        if not self.mixer.adaptive:
            steps = self._block_steps
            self._block_steps = min(4 * steps, max(1, _BLOCK_ROWS // self.batch_size))
        if self.mixer.varies == "never":
            return [self._steering.proportions(first, unused_D)] * steps
        return [self._steering.proportions(first + ahead, unused_D) for ahead in range(steps)]

    def report(self, signals: StepSignals | Mapping[str, Any]) -> StepCounts:
        """Take in what became of a batch; where it raises, nothing has changed.

        Raises:
            InputDataError: The report is malformed; see `SignalReader.read`.
            MixtureError: It is of a batch that is not out, of other rows than were drawn, or its
                groups per domain are not the quota (fewer are allowed where it says ``partial``).
        """
        given = StepSignals.of(signals)
        drawn = None
        self._tell_opened()
        if given.rows is not None:
            rows_R = row_numbers(given.rows)
            names = [self.index.names[d] for d in self.index.domains_of(rows_R).tolist()]
            if given.domains is not None and np.asarray(given.domains).tolist() != names:
                raise InputDataError(
                    "`domains` and `rows` disagree about the domains of the responses; give one "
                    "of them"
                )
            given = replace(given, domains=names, rows=rows_R)
            drawn = self._drawn(self._steering.step_of(given))
        return self._steering.report(given, self._planner.unused_D, drawn)

    def _drawn(self, step: int) -> Counter[int] | None:
        """Return the rows of a batch, and how often each; ``None`` where it was drawn earlier."""
        if step not in self._remembered:
            return None
        block = self._block(step)
        rows = block.batch(step - block.step).rows.tolist()
        return Counter([*rows, *self._more.get(step, ())])

    # ------------------------------------------------------------------ showing

    @property
    def _remembered(self) -> range:
        """Ordinals of the batches opened last."""
        if not self._blocks:
            return range(0)
        return range(max(self._blocks[0].step, self.next_step - REMEMBERED), self.next_step)

    @property
    def _open(self) -> BatchPlan | None:
        return self._blocks[-1].plan(self._opened - 1) if self._blocks else None

    def _plan(self, step: int) -> BatchPlan:
        block = self._block(step)
        return block.plan(step - block.step)

    def _block(self, step: int) -> Block:
        return next(block for block in reversed(self._blocks) if block.step <= step)

    @property
    def proportions(self) -> dict[str, float]:
        """Proportions of the batch opened last; before the first, those the mixer stands at."""
        plan = self._open
        p = plan.proportions_D if plan is not None else self._standing
        return dict(zip(self.index.names, p.tolist(), strict=True))

    @property
    def quota(self) -> dict[str, int]:
        """Rows per domain of the batch opened last; before the first, as things stand.

        Raises:
            MixtureError: ``max_epochs`` leaves no whole batch.
        """
        plan = self._open
        counts = plan.counts if plan is not None else self._planner.next_counts(self._standing)
        if counts is None:
            raise MixtureError("the order has ended: max_epochs leaves no whole batch")
        return dict(zip(self.index.names, counts, strict=True))

    @property
    def _standing(self) -> FloatArray:
        if self._resumed is not None:
            return self._resumed[1]
        if self._steering.current is not None:
            return self._steering.current
        ask = self._steering.initial if self.mixer.adaptive else self._steering.proportions
        return ask(self.next_step, self._planner.unused_D)

    def explain(self, step: int | None = None) -> dict[str, Any]:
        """Return why a recent batch was what it was, as plain values; the latest by default.

        Raises:
            InputDataError: The batch is not among those remembered (the last 64 since the start
                or the resume).
        """
        kept = self._remembered
        if not kept:
            raise InputDataError("there is nothing to explain: no batch has been drawn yet")
        wanted = kept[-1] if step is None else check_whole("step", step, 0)
        if wanted not in kept:
            raise InputDataError(
                f"batch {wanted} is not remembered (remembered: {kept[0]} to {kept[-1]})"
            )
        plan = self._plan(wanted)
        realised = self._steering.realised.get(wanted)
        return {
            "step": wanted,
            "mixer": self.mixer.name,
            "signal": self.mixer.wanted_signal,
            "domains": {
                name: {
                    "proportion": float(plan.proportions_D[d]),
                    "due": plan.before.deficit[d] / UNIT
                    + self.batch_size * float(plan.proportions_D[d]),
                    "quota": plan.counts[d],
                    "owed_after": plan.deficit_after[d] / UNIT,
                    "realised": None if realised is None else realised[d],
                    "epoch": plan.before.draws[d][0],
                    "place": plan.before.draws[d][1],
                    "rows": int(self.index.sizes_D[d]),
                    "exhausted": d in self._planner.exhausted,
                }
                for d, name in enumerate(self.index.names)
            },
        }

    def metrics(self) -> dict[str, float]:
        """Return flat numbers for a tracker: proportions, quotas, what is owed, inertness."""
        plan, tracker = self._open, self._steering.tracker
        if plan is None:
            return {}
        numbers: dict[str, float] = {}
        for d, name in enumerate(self.index.names):
            epoch, place, waiting = plan.before.draws[d]
            numbers[f"prop_{name}"] = float(plan.proportions_D[d])
            numbers[f"quota_{name}"] = float(plan.counts[d])
            numbers[f"owed_{name}"] = plan.deficit_after[d] / UNIT
            numbers[f"epoch_{name}"] = epoch + (place - len(waiting)) / int(self.index.sizes_D[d])
            if np.isfinite(tracker.latest_D[d]):
                numbers[f"signal_{name}"] = float(tracker.latest_D[d])
        if self.mixer.adaptive:
            numbers["inert"] = float(self._steering.inert)
            numbers["signal_age"] = float(self._steering.signal_age)
            numbers["unreported"] = float(self._steering.unreported)
        return numbers

    # ------------------------------------------------------------------ state

    def state_dict(self, handed_out: int | None = None) -> dict[str, Any]:
        """Return where the stream stands, as plain JSON values; changes nothing.

        Args:
            handed_out: Rows of the open batch that have been handed out; all by default.
        """
        is_begun = handed_out is not None and handed_out < self.batch_size
        plan = self._open if is_begun else None
        if plan is not None:
            position = plan.before
        elif self._opened < self._planned:
            position = self._blocks[-1].position(self._opened)
        else:
            position = self._planner.position
        state = identity(self.index, self.mixer, self.batch_size, self.seed)
        state.update(position_state(self.index, position))
        if plan is not None:
            state["open"] = [handed_out, plan.proportions_D.tolist()]
        elif self._resumed is not None:
            state["open"] = [self._resumed[0], self._resumed[1].tolist()]
        coming = [] if self._acts_on_results else [self._plan(step) for step in self._untold]
        state["steering"] = self._steering.state_dict(coming[-KEPT_OUT:])
        return sealed(state)

    def load_state_dict(self, state: Mapping[str, Any]) -> None:
        """Continue where ``state`` stands; where it is refused, nothing has changed.

        With ``on_change="adapt"`` a state of other data, batch size or mixer is adapted to, with a
        `MixtureWarning` that names each change. Domains: the rule is at `state.position_of`.
        Another mixer, or other parameters, begin without memory; no row is lost or repeated by it.
        With another batch size or other domains a batch that was open is planned anew, so what had
        been handed out of it comes again.

        Raises:
            StateError: The state is foreign, newer, damaged, of another seed, or (without
                ``adapt``) of other data, batch size or mixer. The message has the numbers.
        """
        ours = check_ours(state, self.seed)
        here = identity(self.index, self.mixer, self.batch_size, self.seed)
        try:
            found = changes(ours, here)
        except _DAMAGE as error:
            raise damaged(error) from error
        if found and self._on_change == "error":
            raise StateError(
                f"the saved state does not fit: {'; '.join(found)}. Give the data and settings it "
                "was saved with, or on_change='adapt' to go on with the new ones"
            )
        try:
            position = position_of(ours, self.index)
            same_batches = (
                ours["batch_size"] == self.batch_size and ours["digests"] == here["digests"]
            )
            resumed = opened_of(ours, self.index, self.batch_size) if same_batches else None
            steering = self._fresh_steering(self.mixer)
            knows_out = list(ours["mixer"]) == here["mixer"] and "steering" in ours
            if knows_out:
                steering.load_state_dict(ours["steering"], same_batches=same_batches)
        except _DAMAGE as error:
            if isinstance(error, StateError):
                raise
            raise damaged(error) from error
        check_seal(ours)
        self._planner.go_to(position)
        self._steering = steering
        self._blocks.clear()
        self._opened, self._planned = 0, 0
        # Whether the batch that was open is out, or reported already, is in what was loaded.
        self._noted = position.step + (knows_out and resumed is not None)
        self._resumed, self._block_steps = resumed, 1
        self._held, self._more = (-1, {}), {}
        if found:
            warnings.warn(
                f"the sampler goes on with changes: {'; '.join(found)}",
                MixtureWarning,
                stacklevel=2,
            )

    def _fresh_steering(self, mixer: Mixer) -> Steering:
        fresh = type(mixer)(mixer.params, mixer.domains, mixer.seed)
        return Steering(fresh, self._rules, self.batch_size, self.index.sizes_D)
