"""Drawing rows from one domain: each once per epoch, none twice in a batch, from any state on."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple, TypeAlias

import numpy as np

from dataflex_data.core.simplex import IntArray
from dataflex_data.samplers.permutation import Permutation, Places, keyed_permutation

DrawState: TypeAlias = tuple[int, int, tuple[int, ...]]
"""Epoch, place in its order, and the rows that were passed over and come first."""


class DrawStates(NamedTuple):
    """Where the draws of a domain stood before each of several batches.

    Attributes:
        epoch: Of all the batches, where ``listed`` is ``None``.
        places: Place before each batch, where ``listed`` is ``None``.
        listed: The states one by one, where an epoch ended or rows waited.
    """

    epoch: int
    places: IntArray
    listed: list[DrawState] | None

    def before(self, number: int) -> DrawState:
        """Return the state before the batch of that number."""
        if self.listed is not None:
            return self.listed[number]
        return self.epoch, int(self.places[number]), ()


class DomainDraws:
    """The sequence of a domain's rows, epoch after epoch.

    Where a batch runs over the end of an epoch, the next epoch may begin with a row that the batch
    holds already. Such a row is passed over and waits; the next batch takes it first. So no batch
    holds a row twice, and every epoch still holds every row once. Only a batch that wants more rows
    than the domain has must hold some twice; it takes them straight.

    Args:
        size: Rows of the domain.
        seed: Seed of the sampler.
        name: Name of the domain.
        state: Where to begin.
    """

    def __init__(self, size: int, seed: int, name: str, state: DrawState = (0, 0, ())) -> None:
        self.size = size
        self._seed, self._name = seed, name
        self._epoch, self._place, self._waiting = state
        self._order: Permutation | None = None

    @property
    def state(self) -> DrawState:
        """Where the next draw begins."""
        return self._epoch, self._place, self._waiting

    @property
    def drawn(self) -> int:
        """Rows drawn since the first epoch began."""
        return self._epoch * self.size + self._place - len(self._waiting)

    @property
    def unused(self) -> int:
        """Rows of the current epoch not drawn yet; a whole epoch where one has just ended."""
        left = self.size - self._place + len(self._waiting)
        return left or self.size

    def draw(self, count: int) -> Places:
        """Return the next ``count`` rows, as places within the domain."""
        if not self._waiting and self._place + count <= self.size:
            return self._onwards(count)
        waiting = np.array(self._waiting[:count], dtype=np.uint32)
        self._waiting = self._waiting[count:]
        parts = [waiting]
        wanted = count - waiting.size
        stretch = min(wanted, self.size - self._place)
        parts.append(self._onwards(stretch))
        wanted -= stretch
        if wanted and count <= self.size:
            parts.append(self._next_epoch_without(np.concatenate(parts), wanted))
            wanted = 0
        while wanted:
            self._begin_epoch()
            stretch = min(wanted, self.size)
            parts.append(self._onwards(stretch))
            wanted -= stretch
        return np.concatenate(parts)

    def draw_more(self, count: int, is_held: Callable[[int], bool]) -> list[int]:
        """Return up to ``count`` further rows for the batch that was drawn last.

        Fewer where the batch would have to hold a row twice. Rows passed over for that reason wait
        for the next batch, as in `draw`.

        Args:
            count: Rows wanted.
            is_held: Whether the batch holds the row at that place.
        """
        found = [place for place in self._waiting if not is_held(place)][:count]
        self._waiting = tuple(place for place in self._waiting if place not in found)
        while len(found) < count:
            if self._place == self.size:
                if self._waiting:
                    break
                self._begin_epoch()
            place = int(self._onwards(1)[0])
            if is_held(place) or place in found:
                self._waiting = (*self._waiting, place)
            else:
                found.append(place)
        return found

    def draw_each(self, counts: IntArray) -> tuple[Places, DrawStates]:
        """Return the rows of several batches in one, and the state before each batch."""
        ends = self._place + np.cumsum(counts)
        last = int(ends[-1])
        states = DrawStates(self._epoch, ends - counts, None)
        if not self._waiting and last <= self.size:
            return self._onwards(last - self._place), states
        parts, listed = [], []
        for count in counts.tolist():
            listed.append(self.state)
            parts.append(self.draw(count))
        return np.concatenate(parts), states._replace(listed=listed)

    def _onwards(self, count: int) -> Places:
        if count == 0:
            return np.empty(0, dtype=np.uint32)
        if self._order is None:
            self._order = keyed_permutation(self.size, self._seed, self._name, self._epoch)
        rows = self._order.take(self._place, self._place + count)
        self._place += count
        return rows

    def _begin_epoch(self) -> None:
        self._epoch += 1
        self._place = 0
        self._order = None

    def _next_epoch_without(self, taken: Places, wanted: int) -> Places:
        self._begin_epoch()
        prefix = self._onwards(min(self.size, wanted + taken.size))
        fresh = np.flatnonzero(~np.isin(prefix, taken))[:wanted]
        self._place = int(fresh[-1]) + 1
        self._waiting = tuple(np.delete(prefix[: self._place], fresh).tolist())
        return prefix[fresh]
