"""From the rewards of a step to the one signal that the mixer asked for, per domain.

The unit of observation is the step: however many responses a domain had in it, a step leaves one
entry per domain in the window. Groups, rollouts and tokens are counted apart. A domain that was not
seen has no number: it is NaN, never 0.
"""

from __future__ import annotations

import base64
import copy
from collections import deque
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from dataflex_data.core.errors import InputDataError, StateError
from dataflex_data.core.simplex import FloatArray, IntArray
from dataflex_data.samplers.signals import Reading, Signal, SignalReader, StepSignals

_STATE_VERSION = 1


@dataclass(frozen=True, slots=True)
class Window:
    """The recent observations of one domain, oldest first.

    Attributes:
        steps: Ordinal of each observation's batch.
        values: Mean of the signal in it; a single rollout's where the window counts rollouts.
        counts: Groups or rollouts it is the mean of.
    """

    steps: IntArray
    values: FloatArray
    counts: IntArray

    @property
    def mean(self) -> float:
        """Mean over all units in the window; NaN where there are none."""
        return float(self.values @ self.counts / self.counts.sum()) if self.steps.size else np.nan


@dataclass(frozen=True, slots=True)
class DomainStats:
    """All that a mixer may look at. Arrays have one entry per domain, in the order of ``domains``.

    Attributes:
        domains: Names.
        step: Ordinal, from 0, of the batch being planned.
        batch_size: Prompts of a batch.
        windows: Recent observations by domain.
        latest_step: Ordinal of the batch reported last; -1 before the first report.
        latest_D: Its signal; NaN for domains not in it.
        latest_counts_D: Groups or rollouts behind ``latest_D``.
        latest_proportions_D: The proportions that batch was drawn by.
        latest_groups_D: Groups reported in it.
        groups_D: Groups reported so far.
        rollouts_D: Rollouts reported so far.
        staleness_D: Steps since the domain was last reported; the step itself where never.
        unused_D: Rows of the current epoch not drawn yet.
        sizes_D: Rows.
    """

    domains: tuple[str, ...]
    step: int
    batch_size: int
    windows: tuple[Window, ...]
    latest_step: int
    latest_D: FloatArray  # noqa: N815
    latest_counts_D: IntArray  # noqa: N815
    latest_proportions_D: FloatArray  # noqa: N815
    latest_groups_D: IntArray  # noqa: N815
    groups_D: IntArray  # noqa: N815
    rollouts_D: IntArray  # noqa: N815
    staleness_D: IntArray  # noqa: N815
    unused_D: IntArray  # noqa: N815
    sizes_D: IntArray  # noqa: N815

    @property
    def mean_D(self) -> FloatArray:  # noqa: N802 - shape suffix
        """Windowed mean of the signal; NaN for domains never seen."""
        return np.array([window.mean for window in self.windows])


class DomainTracker:
    """Keeps, per domain, the recent observations of one signal, and counts.

    Args:
        domains: Names, in the order of all arrays.
        signal: What to keep.
        window: Observations kept per domain.
        window_unit: ``"steps"`` keeps one observation per step, over the last ``window`` steps in
            which the domain was seen; ``"rollouts"`` keeps single rollouts.
        solve_threshold: A rollout is solved when its reward is at least this.
    """

    def __init__(
        self,
        domains: Sequence[str],
        signal: Signal,
        window: int = 50,
        window_unit: Literal["steps", "rollouts"] = "steps",
        solve_threshold: float = 1.0,
    ) -> None:
        if window < 1:
            raise InputDataError(f"window must be at least 1, got {window}")
        self.domains = tuple(domains)
        self.signal = signal
        self.window, self.window_unit = window, window_unit
        self._reader = SignalReader(domains, signal, solve_threshold)
        n = len(self.domains)
        self._entries: list[deque[tuple[int, float, int]]] = [
            deque(maxlen=window) for _ in self.domains
        ]
        self.groups_D = np.zeros(n, dtype=np.int64)
        self.rollouts_D = np.zeros(n, dtype=np.int64)
        self.tokens_D = np.zeros(n, dtype=np.int64)
        self.last_seen_D = np.full(n, -1, dtype=np.int64)
        self.latest_step = -1
        self.latest_D = np.full(n, np.nan)
        self.latest_counts_D = np.zeros(n, dtype=np.int64)
        self.latest_groups_D = np.zeros(n, dtype=np.int64)
        self.latest_proportions_D = np.full(n, np.nan)

    @property
    def observations(self) -> int:
        """Observations of the signal held now, over all domains."""
        return sum(map(len, self._entries))

    @property
    def constant(self) -> bool:
        """Whether all observations held are one and the same value, so that none can matter."""
        values = {value for entries in self._entries for _, value, _ in entries}
        return len(values) == 1

    def read(self, signals: StepSignals) -> Reading:
        """Return what a report says; changes nothing. See `SignalReader.read`."""
        return self._reader.read(signals)

    def copied(self) -> DomainTracker:
        """Return a tracker that holds the same, and keeps it whatever is added to this one."""
        other = copy.copy(self)
        other._entries = [entries.copy() for entries in self._entries]
        for name in ("groups_D", "rollouts_D", "tokens_D", "last_seen_D"):
            setattr(other, name, getattr(self, name).copy())
        return other

    def add(self, reading: Reading, step: int, proportions_D: FloatArray) -> None:
        """Take in the reading of one batch.

        Args:
            reading: From `read`.
            step: Ordinal of the batch.
            proportions_D: What it was drawn by.
        """
        values, domain_U, n = reading.values_U, reading.domain_U, len(self.domains)
        counts_D = np.bincount(domain_U, minlength=n)
        sums_D = np.bincount(domain_U, weights=values, minlength=n)
        means_D = np.where(counts_D > 0, sums_D / np.maximum(counts_D, 1), np.nan)
        if self.window_unit == "rollouts":
            for d, value in zip(domain_U.tolist(), values.tolist(), strict=True):
                self._entries[d].append((step, value, 1))
        else:
            for d in np.flatnonzero(counts_D).tolist():
                self._entries[d].append((step, float(means_D[d]), int(counts_D[d])))
        self.groups_D += reading.counts.groups_D
        self.rollouts_D += reading.counts.rollouts_D
        self.tokens_D += reading.counts.tokens_D
        self.last_seen_D[reading.counts.groups_D > 0] = step
        self.latest_step = step
        self.latest_D, self.latest_counts_D = means_D, counts_D
        self.latest_groups_D = reading.counts.groups_D
        self.latest_proportions_D = np.array(proportions_D, dtype=np.float64)

    def stats(
        self, step: int, batch_size: int, unused_D: IntArray, sizes_D: IntArray
    ) -> DomainStats:
        """Return what the mixer sees when batch ``step`` is planned."""
        return DomainStats(
            domains=self.domains,
            step=step,
            batch_size=batch_size,
            windows=tuple(
                Window(
                    np.array([e[0] for e in entries], dtype=np.int64),
                    np.array([e[1] for e in entries], dtype=np.float64),
                    np.array([e[2] for e in entries], dtype=np.int64),
                )
                for entries in self._entries
            ),
            latest_step=self.latest_step,
            latest_D=self.latest_D,
            latest_counts_D=self.latest_counts_D,
            latest_proportions_D=self.latest_proportions_D,
            latest_groups_D=self.latest_groups_D,
            groups_D=self.groups_D.copy(),
            rollouts_D=self.rollouts_D.copy(),
            staleness_D=np.where(self.last_seen_D < 0, step, step - 1 - self.last_seen_D),
            unused_D=unused_D,
            sizes_D=sizes_D,
        )

    def state_dict(self) -> dict[str, Any]:
        """Return all that is kept, as plain values; the windows packed to 21 bytes an entry."""
        return {
            "version": _STATE_VERSION,
            "signal": self.signal,
            "window": [self.window, self.window_unit],
            "entries": {
                name: [
                    _pack([e[0] for e in entries], "<u4"),
                    _pack([e[1] for e in entries], "<f8"),
                    _pack([e[2] for e in entries], "<u4"),
                ]
                for name, entries in zip(self.domains, self._entries, strict=True)
                if entries
            },
            "totals": {
                name: [int(g), int(r), int(t), int(seen)]
                for name, g, r, t, seen in zip(
                    self.domains,
                    self.groups_D,
                    self.rollouts_D,
                    self.tokens_D,
                    self.last_seen_D,
                    strict=True,
                )
            },
            "latest_step": self.latest_step,
            "latest": {
                name: [_or_none(value), int(count), int(groups), _or_none(p)]
                for name, value, count, groups, p in zip(
                    self.domains,
                    self.latest_D,
                    self.latest_counts_D,
                    self.latest_groups_D,
                    self.latest_proportions_D,
                    strict=True,
                )
            },
        }

    def load_state_dict(self, state: Mapping[str, Any]) -> None:
        """Take over a state; domains that it lacks begin unseen, domains it has beyond are left.

        Raises:
            StateError: It is of another version, signal or window.
        """
        if not isinstance(state, Mapping):
            raise StateError(f"the tracker state is damaged: it is {state!r:.60}")
        if state.get("version") != _STATE_VERSION:
            raise StateError(
                f"tracker state has version {state.get('version')!r}, "
                f"this release reads {_STATE_VERSION}"
            )
        for key, here in (("signal", self.signal), ("window", [self.window, self.window_unit])):
            if state[key] != here:
                raise StateError(f"tracker state has {key} {state[key]!r}, the mixer asks {here!r}")
        for d, name in enumerate(self.domains):
            packed = state["entries"].get(name)
            self._entries[d].clear()
            if packed is not None:
                steps, values, counts = (
                    _unpack(text, kind)
                    for text, kind in zip(packed, ("<u4", "<f8", "<u4"), strict=True)
                )
                self._entries[d].extend(zip(steps, values, counts, strict=True))
            g, r, t, seen = state["totals"].get(name, (0, 0, 0, -1))
            self.groups_D[d], self.rollouts_D[d], self.tokens_D[d] = g, r, t
            self.last_seen_D[d] = seen
        self.latest_step = state["latest_step"]
        latest = [state["latest"].get(name, (None, 0, 0, None)) for name in self.domains]
        self.latest_D = np.array([_or_nan(row[0]) for row in latest])
        self.latest_counts_D = np.array([row[1] for row in latest], dtype=np.int64)
        self.latest_groups_D = np.array([row[2] for row in latest], dtype=np.int64)
        self.latest_proportions_D = np.array([_or_nan(row[3]) for row in latest])


def _pack(values: Sequence[float], kind: str) -> str:
    return base64.b64encode(np.array(values, dtype=kind).tobytes()).decode("ascii").rstrip("=")


def _unpack(text: str, kind: str) -> list[Any]:
    data = base64.b64decode(text + "=" * (-len(text) % 4))
    return list(np.frombuffer(data, dtype=kind).tolist())


def _or_none(value: float) -> float | None:
    return None if np.isnan(value) else float(value)


def _or_nan(value: float | None) -> float:
    return np.nan if value is None else value
