"""The loop around a mixer: when it is asked, what it is told, and how it is caught doing nothing.

Three things stop a run rather than let it go on as a mixture in name only: batches drawn before the
mixer has heard of the ones before, reports of other rows than were drawn, and a signal that never
comes. A signal that comes and cannot move anything is a warning, since rewards that are all zero at
first are normal.
"""

from __future__ import annotations

import warnings
from collections import OrderedDict
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias

import numpy as np

from dataflex_data.core.errors import InputDataError, MixtureError
from dataflex_data.core.simplex import FloatArray, IntArray
from dataflex_data.samplers.domain_tracker import DomainStats, DomainTracker
from dataflex_data.samplers.mixer import Mixer
from dataflex_data.samplers.planner import BatchPlan, MixtureWarning
from dataflex_data.samplers.signals import NEEDS, StepCounts, StepSignals

OnInert: TypeAlias = Literal["warn", "error"]
REMEMBERED = 64


@dataclass(frozen=True, slots=True)
class SteeringRules:
    """When the mixer acts, and what is refused.

    Attributes:
        warmup_steps: Batches by the mixer's initial proportions before it acts.
        update_every: Batches between two changes of the proportions.
        max_ahead: Batches that may be out, unreported, when another is drawn by an adaptive mixer.
        inert_after: Updates without movement under a constant signal before that is said.
        on_inert: ``warn`` or ``error``.

    Raises:
        InputDataError: A number is out of range.
    """

    warmup_steps: int = 1
    update_every: int = 1
    max_ahead: int = 0
    inert_after: int = 10
    on_inert: OnInert = "warn"

    def __post_init__(self) -> None:
        for name, least in (
            ("warmup_steps", 0),
            ("update_every", 1),
            ("max_ahead", 0),
            ("inert_after", 1),
        ):
            check_whole(name, getattr(self, name), least)
        if self.on_inert not in ("warn", "error"):
            raise InputDataError(f"on_inert must be 'warn' or 'error', got {self.on_inert!r}")


def check_whole(name: str, value: object, least: int) -> None:
    """Check that ``value`` is a whole number of at least ``least``.

    Raises:
        InputDataError: It is not.
    """
    if isinstance(value, bool) or not isinstance(value, int) or value < least:
        raise InputDataError(f"{name} must be a whole number of at least {least}, got {value!r}")


class Steering:
    """Asks the mixer for proportions and feeds it reports.

    Args:
        mixer: A fresh mixer.
        rules: When it acts.
        batch_size: Prompts of a batch.
        sizes_D: Rows per domain.
    """

    def __init__(
        self, mixer: Mixer, rules: SteeringRules, batch_size: int, sizes_D: IntArray
    ) -> None:
        self.mixer, self.rules = mixer, rules
        self._batch_size, self._sizes_D = batch_size, sizes_D
        self.tracker = DomainTracker(
            mixer.domains,
            mixer.wanted_signal,
            mixer.window,
            mixer.window_unit,
            mixer.solve_threshold,
        )
        self.current: FloatArray | None = None
        # Ordered dicts: taking the oldest entry of a plain one slows down with every one taken.
        self.realised: OrderedDict[int, list[int]] = OrderedDict()
        self._out: OrderedDict[int, tuple[FloatArray, list[int]]] = OrderedDict()
        self._reports = 0
        self._still = 0

    @property
    def inert(self) -> bool:
        """Whether the mixer has been standing still under a constant signal."""
        return self._still >= self.rules.inert_after

    @property
    def unreported(self) -> int:
        """Batches that are out."""
        return len(self._out)

    def proportions(self, step: int, unused_D: IntArray) -> FloatArray:
        """Return the proportions for batch ``step``; the same object while they are the same.

        Raises:
            MixtureError: Too many batches are out, or the signal has never come.
        """
        if not self.mixer.adaptive:
            if self.current is None or self.mixer.varies != "never":
                self._move_to(self._ask(step, unused_D))
        else:
            self._check_heard(step)
            acting = step >= self.rules.warmup_steps and not self._blind
            due = (step - self.rules.warmup_steps) % self.rules.update_every == 0
            if not acting:
                self._move_to(self.initial(step, unused_D))
            elif due or self.current is None:
                p = self._ask(step, unused_D)
                self._watch(p)
                self._move_to(p)
        if self.current is None:
            raise MixtureError(f"the mixer {self.mixer.name!r} gave no proportions")
        return self.current

    def initial(self, step: int, unused_D: IntArray) -> FloatArray:
        """Return the mixer's proportions before anything is known."""
        return self.mixer.initial_proportions(self._stats(step, unused_D))

    def opened(self, plan: BatchPlan) -> None:
        """Note that a batch is being handed out."""
        self._out.setdefault(plan.before.step, (plan.proportions_D, plan.counts))
        if not self.mixer.adaptive and len(self._out) > REMEMBERED:
            self._out.popitem(last=False)

    def report(self, signals: StepSignals, unused_D: IntArray) -> StepCounts:
        """Take in what became of a batch; where it raises, nothing has changed.

        Raises:
            InputDataError: The report is malformed; see `DomainTracker.read`.
            MixtureError: It is of a batch that is not out, or its groups per domain are not the
                quota that was drawn (fewer are allowed where it says ``partial``).
        """
        step = signals.step if signals.step is not None else next(iter(self._out), None)
        if step is None or step not in self._out:
            out = ", ".join(map(str, self._out)) or "none"
            raise MixtureError(
                f"a report of batch {'?' if step is None else step} came, which is not out "
                f"(batches out: {out}); each batch is reported once, after it was drawn"
            )
        proportions_D, counts = self._out[step]
        found = self.tracker.read(signals)
        self._check_realised(step, counts, found.counts.groups_D, partial=signals.partial)
        self.tracker.add(found, step, proportions_D)
        del self._out[step]
        self._reports += 1
        self.realised[step] = found.counts.groups_D.tolist()
        if len(self.realised) > REMEMBERED:
            self.realised.popitem(last=False)
        self.mixer.observe(self._stats(step + 1, unused_D))
        return found.counts

    def state_dict(self) -> dict[str, Any]:
        """Return what an adaptive mixer's loop keeps, as plain values; empty for others."""
        if not self.mixer.adaptive:
            return {}
        return {
            "reports": self._reports,
            "still": self._still,
            "proportions": None if self.current is None else self.current.tolist(),
            "out": [[step, p.tolist(), counts] for step, (p, counts) in self._out.items()],
            "tracker": self.tracker.state_dict(),
            "mixer": self.mixer.state_dict(),
        }

    def load_state_dict(self, state: Mapping[str, Any], *, same_batches: bool) -> None:
        """Take over a state.

        Args:
            state: As `state_dict` gave it.
            same_batches: Whether domains and batch size are as they were; else proportions and
                the batches that were out mean nothing any more.
        """
        if not self.mixer.adaptive:
            return
        self._reports, self._still = int(state["reports"]), int(state["still"])
        self.tracker.load_state_dict(state["tracker"])
        self.mixer.load_state_dict(state["mixer"])
        if same_batches:
            p = state["proportions"]
            self.current = None if p is None else np.array(p, dtype=np.float64)
            self._out = OrderedDict(
                (int(step), (np.array(p, dtype=np.float64), [int(count) for count in counts]))
                for step, p, counts in state["out"]
            )

    @property
    def _blind(self) -> bool:
        if self.mixer.wanted_signal == "none":
            return self._reports == 0
        return self.tracker.observations == 0

    def _ask(self, step: int, unused_D: IntArray) -> FloatArray:
        return self.mixer.proportions(self._stats(step, unused_D))

    def _stats(self, step: int, unused_D: IntArray) -> DomainStats:
        return self.tracker.stats(step, self._batch_size, unused_D, self._sizes_D)

    def _move_to(self, proportions_D: FloatArray) -> None:
        if self.current is None or not np.array_equal(proportions_D, self.current):
            self.current = proportions_D

    def _check_heard(self, step: int) -> None:
        name, rules = self.mixer.name, self.rules
        if len(self._out) > rules.max_ahead:
            first = next(iter(self._out))
            raise MixtureError(
                f"batch {step} was asked for before batch {first} was reported: the mixer {name!r} "
                f"is adaptive, and {len(self._out)} batches are out where max_ahead allows "
                f"{rules.max_ahead}. Call update() after each batch, and set num_workers=0 in the "
                "DataLoader (verl: data.dataloader_num_workers=0), since workers draw "
                "2 x num_workers batches ahead; an asynchronous trainer sets max_ahead"
            )
        overdue = step >= max(1, rules.warmup_steps) + rules.max_ahead
        if self._blind and overdue:
            signal = self.mixer.wanted_signal
            raise MixtureError(
                f"the mixer {name!r} needs the signal {signal!r}, and none of the {self._reports} "
                f"batches reported so far brought `{NEEDS.get(signal, 'groups')}`: it would stay "
                f"at its initial proportions for ever (warmup_steps is {rules.warmup_steps})"
            )

    def _watch(self, proportions_D: FloatArray) -> None:
        moved = self.current is None or not np.array_equal(proportions_D, self.current)
        if moved or not self.tracker.constant:
            self._still = 0
            return
        self._still += 1
        if self._still != self.rules.inert_after:
            return
        message = (
            f"the mixer {self.mixer.name!r} has not moved for {self._still} updates: its signal "
            f"{self.mixer.wanted_signal!r} is the same number in every domain and step of the "
            "window, so the mixture stays as it is"
        )
        if self.rules.on_inert == "error":
            raise MixtureError(f"{message} (on_inert: error)")
        warnings.warn(message, MixtureWarning, stacklevel=2)

    def _check_realised(
        self, step: int, counts: list[int], found_D: IntArray, *, partial: bool
    ) -> None:
        wrong = [
            f"{name} {got} of {want}"
            for name, got, want in zip(self.mixer.domains, found_D.tolist(), counts, strict=True)
            if (got > want if partial else got != want)
        ]
        if not wrong:
            return
        remedy = (
            "more groups than were drawn cannot come back; is `uids` one id per prompt occurrence?"
            if partial
            else "other rows were trained on than were drawn, or some are missing (then say "
            "partial=True), or `uids` is not one id per prompt occurrence"
        )
        raise MixtureError(
            f"the realised mixture of batch {step} is not its quota (groups): {'; '.join(wrong)}: "
            f"{remedy}"
        )
