"""The loop around a mixer: when it is asked, what it is told, and how it is caught doing nothing.

Three things stop a run rather than let it go on as a mixture in name only: batches drawn before the
mixer has heard of the ones before, reports of other rows than were drawn, and a signal that never
comes. A signal that comes and cannot move anything, or that has stopped coming, is a warning, since
rewards that are all zero at first are normal.
"""

from __future__ import annotations

import copy
import warnings
from collections import Counter, OrderedDict
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias

import numpy as np

from dataflex_data.core.errors import InputDataError, MixtureError, StateError
from dataflex_data.core.simplex import FloatArray, IntArray
from dataflex_data.samplers.domain_tracker import DomainStats, DomainTracker
from dataflex_data.samplers.mixer import Mixer
from dataflex_data.samplers.planner import BatchPlan, MixtureWarning
from dataflex_data.samplers.signals import NEEDS, StepCounts, StepSignals
from dataflex_data.samplers.whole import check_whole

OnInert: TypeAlias = Literal["warn", "error"]
REMEMBERED = 64
KEPT_OUT = 8
"""Unreported batches in the state of a mixture that results do not steer: the last so many."""


@dataclass(frozen=True, slots=True)
class SteeringRules:
    """When the mixer acts, and what is refused.

    Attributes:
        warmup_steps: Batches by the mixer's initial proportions before it acts.
        update_every: Batches between two changes of the proportions.
        max_ahead: Batches that may be out, unreported, when another is drawn by an adaptive mixer.
        inert_after: Updates without movement under a constant signal, or reports in a row without
            the signal, before that is said.
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
            object.__setattr__(self, name, check_whole(name, getattr(self, name), least))
        if self.on_inert not in ("warn", "error"):
            raise InputDataError(f"on_inert must be 'warn' or 'error', got {self.on_inert!r}")


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
        self._restored: set[int] = set()  # of those out, the ones drawn before a resume
        self._reports = 0
        self._still = 0
        self.signal_age = 0
        """Reports in a row, up to the latest, that did not bring the signal."""
        self._missed = False  # whether that has been said

    @property
    def inert(self) -> bool:
        """Whether the mixer has been standing still under a constant signal, or without one."""
        return max(self._still, self.signal_age) >= self.rules.inert_after

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
            self._check_age()
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

    def step_of(self, signals: StepSignals) -> int:
        """Return the batch that a report is of: the one it names, else the oldest that is out.

        Where results do not steer the mixture, a batch drawn since a resume comes before those
        drawn earlier, whose reports may have been lost with the run that was stopped.

        Raises:
            InputDataError: Its step is no whole number.
            MixtureError: The batch is not out.
        """
        if signals.step is not None:
            step = check_whole("step", signals.step, 0)
            told = f"a report of batch {step} came, which is not out"
        else:
            since = [] if self.mixer.adaptive else [s for s in self._out if s not in self._restored]
            step = next(iter([*since, *self._out]), -1)
            told = "a report came, and no batch is out"
        if step not in self._out:
            out = ", ".join(map(str, self._out)) or "none"
            raise MixtureError(
                f"{told} (batches out: {out}); each batch is reported once, after it was drawn"
            )
        return step

    def report(
        self, signals: StepSignals, unused_D: IntArray, drawn: Counter[int] | None = None
    ) -> StepCounts:
        """Take in what became of a batch; where it raises, nothing has changed.

        Args:
            signals: The report; its domains must be given by name.
            unused_D: Rows of each domain's current epoch that are not drawn yet.
            drawn: Rows that were drawn for the batch, and how often each; ``None`` where not known.

        Raises:
            InputDataError: The report is malformed; see `SignalReader.read`.
            MixtureError: It is of a batch that is not out, of other rows than were drawn, or its
                groups per domain are not the quota (fewer are allowed where it says ``partial``).
        """
        step = self.step_of(signals)
        proportions_D, counts = self._out[step]
        found = self.tracker.read(signals)
        self._check_realised(step, counts, found.counts.groups_D, partial=signals.partial)
        if drawn is not None:
            self._check_rows(step, found.row_P, drawn)
        with self._undone_by_errors():
            self.tracker.add(found, step, proportions_D)
            self.mixer.observe(self._stats(step + 1, unused_D))
        del self._out[step]
        self._restored.discard(step)
        self._reports += 1
        if found.values_U.size:
            self.signal_age, self._missed = 0, False
        elif found.counts.rollouts_D.any() and self.mixer.wanted_signal != "none":
            self.signal_age += 1
        self.realised[step] = found.counts.groups_D.tolist()
        if len(self.realised) > REMEMBERED:
            self.realised.popitem(last=False)
        return found.counts

    @contextmanager
    def _undone_by_errors(self) -> Iterator[None]:
        """Give tracker and mixer back what they held where the mixer refuses a report."""
        tracker, mixer = self.tracker.copied(), self.mixer
        memo = {id(held): held for held in (mixer.params, mixer.domains)}
        before = copy.deepcopy(vars(mixer), memo)
        try:
            yield
        except BaseException:
            self.tracker = tracker
            vars(mixer).clear()
            vars(mixer).update(before)
            raise

    def state_dict(self, coming: Sequence[BatchPlan] = ()) -> dict[str, Any]:
        """Return what the loop keeps, as plain values: of most, the batches that are out.

        Args:
            coming: Batches opened that the steering has not been told of; for mixtures that results
                do not steer.
        """
        if not self.mixer.adaptive:
            out = [[step, counts] for step, (_, counts) in self._out.items()]
            out += [[plan.before.step, plan.counts] for plan in coming]
            return {"out": out[-KEPT_OUT:]}
        return {
            "reports": self._reports,
            "still": self._still,
            "signal_age": self.signal_age,
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
            unknown_D = np.full(len(self.mixer.domains), np.nan)
            if same_batches:
                self._take_out([(step, unknown_D, counts) for step, counts in state["out"]])
            return
        numbers = [state["reports"], state["still"], state.get("signal_age", 0)]
        self._reports, self._still, self.signal_age = (
            check_whole("a count of reports", number, 0) for number in numbers
        )
        self.tracker.load_state_dict(state["tracker"])
        self.mixer.load_state_dict(state["mixer"])
        self._check_finite()
        if same_batches:
            p = state["proportions"]
            self.current = None if p is None else self._proportions_of(p)
            self._take_out(
                [(step, self._proportions_of(p), counts) for step, p, counts in state["out"]]
            )

    def _take_out(self, out: list[tuple[int, FloatArray, list[int]]]) -> None:
        self._out = OrderedDict()
        for step, p, counts in out:
            whole = [check_whole("a quota", count, 0) for count in counts]
            if len(whole) != len(self.mixer.domains) or sum(whole) != self._batch_size:
                raise StateError(
                    f"the saved state is damaged: batch {step!r} was out with the quota {counts!r}"
                )
            self._out[check_whole("the step of a batch that was out", step, 0)] = (p, whole)
        self._restored = set(self._out)

    def _proportions_of(self, saved: object) -> FloatArray:
        p = np.array(saved, dtype=np.float64)
        if p.shape != (len(self.mixer.domains),) or not (p >= 0).all() or abs(p.sum() - 1) > 1e-6:
            raise StateError(f"the saved state is damaged: {saved!r} are no proportions")
        return p

    def _check_finite(self) -> None:
        """Refuse what a mixer took over where that gives no proportions."""
        if self._blind:
            return
        try:
            self.mixer.proportions(self._stats(self.tracker.latest_step + 1, self._sizes_D))
        except InputDataError as error:
            raise StateError(f"the saved state is damaged: {error}") from None

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
            lost = (
                f". Batch {first} was drawn before the state was saved: report it, or, where what "
                f"became of it is lost, update({{'domains': [], 'partial': True, 'step': {first}}})"
                if first in self._restored
                else ""
            )
            raise MixtureError(
                f"batch {step} was asked for before batch {first} was reported: the mixer {name!r} "
                f"is adaptive, and {len(self._out)} batches are out where max_ahead allows "
                f"{rules.max_ahead}. Call update() after each batch, and set num_workers=0 in the "
                "DataLoader (verl: data.dataloader_num_workers=0), since workers draw "
                f"2 x num_workers batches ahead; an asynchronous trainer sets max_ahead{lost}"
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
        if self.signal_age:
            return  # what stands still for want of news is told as that
        still = self._still + 1
        strict = self.rules.on_inert == "error"
        if still == self.rules.inert_after or (strict and still > self.rules.inert_after):
            self._tell(
                f"the mixer {self.mixer.name!r} has not moved for {still} updates: its signal "
                f"{self.mixer.wanted_signal!r} is the same number in every domain and step of the "
                "window, so the mixture stays as it is"
            )
        self._still = still

    def _check_age(self) -> None:
        """Say that a signal which used to come has stopped.

        Raises:
            MixtureError: It has, and ``on_inert`` is ``error``.
        """
        if self._blind or self.signal_age < self.rules.inert_after:
            return
        if self._missed and self.rules.on_inert == "warn":
            return
        signal = self.mixer.wanted_signal
        self._tell(
            f"the mixer {self.mixer.name!r} steers by the signal {signal!r}, and the last "
            f"{self.signal_age} reports brought no `{NEEDS.get(signal, 'groups')}`: its "
            "proportions rest on what came before"
        )
        self._missed = True

    def _tell(self, message: str) -> None:
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

    def _check_rows(self, step: int, row_P: IntArray, drawn: Counter[int]) -> None:
        """Refuse groups of rows that were not drawn, or of a row more often than it was."""
        for row, count in Counter(row_P.tolist()).items():
            if count > drawn[row]:
                times = "was not drawn" if not drawn[row] else f"was drawn {drawn[row]} times"
                raise MixtureError(
                    f"the report of batch {step} holds {count} group(s) of row {row}, which "
                    f"{times} for it; `rows` and `uids` must be of the prompts in that batch"
                )
