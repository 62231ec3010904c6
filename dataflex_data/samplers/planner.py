"""Whole batches: proportions to quotas, quotas to rows, in an order that any beginning of fits.

Several batches can be planned in one go where their proportions are known; that changes the speed
and nothing else. Every batch is checked against the data before it leaves.
"""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence, Set
from typing import NamedTuple

import numpy as np

from dataflex_data.core.errors import InputDataError, MixtureError
from dataflex_data.core.seeding import keyed_hash
from dataflex_data.core.simplex import (
    MAX_BATCH,
    UNIT,
    FloatArray,
    IntArray,
    Quota,
    fixed_shares,
    plan_quota,
)
from dataflex_data.samplers.domain_index import DomainIndex, RowArray
from dataflex_data.samplers.draws import DomainDraws, DrawState, DrawStates
from dataflex_data.samplers.whole import check_whole

_SLOT_PATTERNS = 512
_REMEMBERED_QUOTAS = 512
_REMEMBERED_LAYOUTS = 32  # of at most 256 KB
_UNCAPPED = 1 << 40


class MixtureWarning(UserWarning):
    """Something about the mixture that is allowed, and that one should know."""


class Position(NamedTuple):
    """Where the order stands between two batches.

    Attributes:
        step: Ordinal of the next batch.
        draws: Per domain, where its draws stand.
        deficit: Per domain, what it is owed, in `UNIT`-ths of a row; sums to zero.
    """

    step: int
    draws: list[DrawState]
    deficit: list[int]


class BatchPlan(NamedTuple):
    """Why a batch is what it is.

    Attributes:
        before: Where the order stood; its step is the batch's.
        proportions_D: What was asked for.
        counts: Rows per domain.
        deficit_after: What each domain is owed after it.
    """

    before: Position
    proportions_D: FloatArray  # noqa: N815 - shape suffix
    counts: list[int]
    deficit_after: list[int]


class Batch(NamedTuple):
    """A planned batch and its rows, in the order in which they are handed out."""

    plan: BatchPlan
    rows: IntArray

    @property
    def step(self) -> int:
        """Ordinal, from 0."""
        return self.plan.before.step


class Layout(NamedTuple):
    """Several quotas in a row, and where the rows of each batch stand in what was drawn for all.

    Attributes:
        quotas: One for each batch.
        counts_SD: Their counts.
        order: For every slot of every batch, its place among the rows drawn, domain after domain.
    """

    quotas: list[Quota]
    counts_SD: IntArray  # noqa: N815 - shape suffix
    order: IntArray


class Block:
    """Consecutive batches planned in one go; what there is to tell of one is made when asked for.

    Args:
        step: Ordinal of the first batch.
        deficit: What each domain is owed before it.
        proportions: What was asked for, one for each batch.
        quotas: One for each batch.
        draws: Per domain, where its draws stood before each batch.
        rows: The rows of all batches, one batch after the other.
    """

    def __init__(
        self,
        step: int,
        deficit: list[int],
        proportions: Sequence[FloatArray],
        quotas: Sequence[Quota],
        draws: Sequence[DrawStates],
        rows: RowArray,
    ) -> None:
        self.step = step
        self._deficit, self._proportions, self._quotas = deficit, proportions, quotas
        self._draws, self._rows = draws, rows
        self._view = rows.data
        self._batch_size = rows.size // len(quotas)

    def __len__(self) -> int:
        return len(self._quotas)

    def position(self, number: int) -> Position:
        """Return where the order stood before the batch of that number."""
        return Position(
            self.step + number,
            [states.before(number) for states in self._draws],
            self._quotas[number - 1].deficit if number else self._deficit,
        )

    def plan(self, number: int) -> BatchPlan:
        """Return why the batch of that number is what it is."""
        quota = self._quotas[number]
        proportions_D = self._proportions[number]
        return BatchPlan(self.position(number), proportions_D, quota.counts, quota.deficit)

    def batch(self, number: int) -> Batch:
        """Return the batch of that number."""
        first = number * self._batch_size
        rows = self._rows[first : first + self._batch_size].astype(np.int64)
        return Batch(self.plan(number), rows)

    def listed(self, number: int, start: int, every: int) -> list[int]:
        """Return each ``every``-th row of the batch of that number, from ``start`` on."""
        first = number * self._batch_size
        # A third faster than an array's tolist.
        rows: list[int] = self._view[first + start : first + self._batch_size : every].tolist()
        return rows

    def head(self, count: int) -> Block:
        """Return the block of its first ``count`` batches."""
        rows = self._rows[: count * self._batch_size]
        return Block(
            self.step, self._deficit, self._proportions, self._quotas[:count], self._draws, rows
        )


class BatchPlanner:
    """Plans batch after batch from a position on.

    Args:
        index: Rows by domain.
        batch_size: Rows of a batch.
        seed: Decides the order; nothing else does.
        max_epochs: How often a domain's rows may be drawn: one number, or by name.

    Raises:
        InputDataError: The batch is larger than the data, or a number is out of range.
    """

    def __init__(
        self,
        index: DomainIndex,
        batch_size: int,
        seed: int,
        max_epochs: int | Mapping[str, int] | None,
    ) -> None:
        if batch_size > index.n_rows:
            raise InputDataError(
                f"a batch of {batch_size:,} rows is larger than the data, which have "
                f"{index.n_rows:,} rows in {len(index.names)} domains"
            )
        if batch_size > MAX_BATCH:
            raise InputDataError(f"batch_size must be at most {MAX_BATCH:,}, got {batch_size:,}")
        self.index, self.batch_size, self.seed = index, batch_size, seed
        self._caps = None if max_epochs is None else _epoch_caps(max_epochs, index)
        by_key = sorted(range(len(index.names)), key=lambda d: keyed_hash(seed, index.names[d]))
        self._tie_rank: list[int] = np.argsort(by_key).tolist()
        self._by_key = np.array(by_key)
        self._slots: dict[tuple[int, ...], tuple[IntArray, IntArray]] = {}
        self._shares: tuple[FloatArray, list[int]] | None = None
        # For the shares above, since what is owed comes round: by the latter, quotas and layouts.
        self._quotas: dict[tuple[int, ...], Quota] = {}
        self._layouts: dict[tuple[int, ...], Layout] = {}
        self._row_type = np.dtype(np.uint32 if index.n_rows <= 1 << 32 else np.int64)
        self.go_to(Position(0, [(0, 0, ())] * len(index.names), [0] * len(index.names)))

    def go_to(self, position: Position) -> None:
        """Continue from ``position``. Nothing is computed before the next batch is planned."""
        self.step, self._deficit = position.step, list(position.deficit)
        self._draws = [
            DomainDraws(size, self.seed, name, state)
            for name, size, state in zip(
                self.index.names, self.index.sizes_D.tolist(), position.draws, strict=True
            )
        ]
        self.exhausted: set[int] = set()
        self._end_told = False

    @property
    def position(self) -> Position:
        """Where the next batch begins."""
        return Position(self.step, [draws.state for draws in self._draws], self._deficit)

    @property
    def unused_D(self) -> IntArray:  # noqa: N802 - shape suffix
        """Rows of each domain's current epoch that are not drawn yet."""
        return np.array([draws.unused for draws in self._draws], dtype=np.int64)

    @property
    def rows_left(self) -> list[int] | None:
        """Rows per domain that ``max_epochs`` still allows; ``None`` without it."""
        if self._caps is None:
            return None
        return [
            max(0, cap * draws.size - draws.drawn)
            for cap, draws in zip(self._caps, self._draws, strict=True)
        ]

    def next_counts(self, proportions_D: FloatArray) -> list[int] | None:
        """Return the quota the next batch would have; nothing is drawn."""
        quota = self._quota(self._deficit, proportions_D, self.rows_left)
        return None if quota is None else quota.counts

    def plan(self, proportions: Sequence[FloatArray]) -> Block | None:
        """Return one batch for each of ``proportions``; fewer where ``max_epochs`` ends the data.

        Raises:
            MixtureError: The rows planned are not in the domains that the quota asks for.
        """
        layout = self._layout(proportions)
        if layout is None:
            return None
        step, deficit = self.step, self._deficit
        rows, draws_before = self._draw(layout)
        self._deficit = layout.quotas[-1].deficit
        self.step += len(layout.quotas)
        return Block(step, deficit, proportions, layout.quotas, draws_before, rows)

    def draw_more(self, domain: int, count: int, held: Set[int]) -> list[int]:
        """Return up to ``count`` further rows of a domain for the batch that was planned last.

        Fewer where the batch holds all rows of the domain, or ``max_epochs`` is reached.

        Args:
            domain: Its number.
            count: Rows wanted.
            held: Rows of the domain that the batch holds.
        """
        draws, left = self._draws[domain], self.rows_left
        count = min(count, draws.size - len(held), count if left is None else left[domain])
        if count <= 0:
            return []

        def row_at(place: int) -> int:
            return int(self.index.rows(domain, np.array([place]))[0])

        places = draws.draw_more(count, lambda place: row_at(place) in held)
        return [row_at(place) for place in places]

    def _layout(self, proportions: Sequence[FloatArray]) -> Layout | None:
        left = self.rows_left
        first = proportions[0]
        recurs = left is None and len(proportions) > 1 and all(p is first for p in proportions)
        key = (len(proportions), *self._deficit)
        if recurs:
            self._use(first)
            if key in self._layouts:
                return self._layouts[key]
        quotas: list[Quota] = []
        deficit = self._deficit
        for number, p in enumerate(proportions):
            quota = self._quota(deficit, p, left, announce_step=self.step + number)
            if quota is None:
                break
            if left is not None:
                left = [rows - count for rows, count in zip(left, quota.counts, strict=True)]
            quotas.append(quota)
            deficit = quota.deficit
        if not quotas:
            return None
        layout = self._laid_out(quotas)
        if recurs:
            if len(self._layouts) >= _REMEMBERED_LAYOUTS:
                self._layouts.clear()
            self._layouts[key] = layout
        return layout

    def _laid_out(self, quotas: list[Quota]) -> Layout:
        counts_SD = np.array([quota.counts for quota in quotas], dtype=np.int64)
        totals_D = counts_SD.sum(axis=0)
        first_SD = np.cumsum(counts_SD, axis=0) - counts_SD + (np.cumsum(totals_D) - totals_D)
        patterns = [self._slot_pattern(quota.counts) for quota in quotas]
        # Flat takes: numpy's take_along_axis costs as much as all the rest here.
        cell_SB = np.stack([domain_B for domain_B, _ in patterns])
        cell_SB += counts_SD.shape[1] * np.arange(len(quotas))[:, None]
        order = first_SD.ravel().take(cell_SB.ravel())
        order += np.concatenate([number_B for _, number_B in patterns])
        return Layout(quotas, counts_SD, order)

    def _draw(self, layout: Layout) -> tuple[RowArray, list[DrawStates]]:
        """Return the rows of all batches, and per domain where its draws stood before each."""
        pool: RowArray = np.empty(layout.order.size, dtype=self._row_type)
        states, start, fits = [], 0, True
        for d, draws in enumerate(self._draws):
            places, before = draws.draw_each(layout.counts_SD[:, d])
            drawn = self.index.rows(d, places, out=pool[start : start + places.size])
            fits = fits and self.index.all_in(d, drawn)
            start += places.size
            states.append(before)
        rows = pool.take(layout.order)
        if not fits:
            self._refuse(rows, layout.quotas)
        return rows, states

    def _slot_pattern(self, counts: list[int]) -> tuple[IntArray, IntArray]:
        """Return, per slot of a batch, its domain and its number within the domain.

        The j-th of n rows stands at (j + 1/2) / n of the batch, so that any beginning of the batch
        is near the quota: a trainer may fetch it in pieces.
        """
        key = tuple(counts)
        found = self._slots.get(key)
        if found is None:
            counts_D = np.array(counts, dtype=np.int64)
            # Domains by their keys, so that a stable sort leaves equal places in that order.
            counts_D = counts_D[self._by_key]
            domain = np.repeat(self._by_key, counts_D)
            number = np.arange(domain.size) - np.repeat(np.cumsum(counts_D) - counts_D, counts_D)
            place = (2 * number + 1) / (2 * np.repeat(counts_D, counts_D))
            order = np.argsort(place, kind="stable")
            if len(self._slots) >= _SLOT_PATTERNS:
                self._slots.clear()
            found = self._slots[key] = (domain[order], number[order])
        return found

    def _refuse(self, rows: RowArray, quotas: Sequence[Quota]) -> None:
        for number, batch_rows in enumerate(rows.reshape(len(quotas), -1)):
            domain_B = self.index.domains_of(batch_rows)
            counts = quotas[number].counts
            if np.array_equal(domain_B, self._slot_pattern(counts)[0]):
                continue
            found = np.bincount(domain_B, minlength=len(counts)).tolist()
            listed = "; ".join(
                f"{name} {got} of {want}"
                for name, got, want in zip(self.index.names, found, counts, strict=True)
            )
            raise MixtureError(
                f"the rows planned for batch {self.step + number} are not in the domains asked "
                f"for ({listed}); the index does not fit the data"
            )

    def _quota(
        self,
        deficit: list[int],
        proportions_D: FloatArray,
        left: list[int] | None,
        announce_step: int | None = None,
    ) -> Quota | None:
        if left is not None:
            return self._capped_quota(deficit, proportions_D, left, announce_step)
        shares = self._use(proportions_D)
        key = tuple(deficit)
        quota = self._quotas.get(key)
        if quota is None:
            quota = plan_quota(deficit, shares, self.batch_size, self._tie_rank)
            if len(self._quotas) < _REMEMBERED_QUOTAS:
                self._quotas[key] = quota
        return quota

    def _use(self, proportions_D: FloatArray) -> list[int]:
        """Return the shares; what is remembered of other proportions goes."""
        if self._shares is None or self._shares[0] is not proportions_D:
            self._shares = (proportions_D, fixed_shares(proportions_D).tolist())
            self._quotas.clear()
            self._layouts.clear()
        return self._shares[1]

    def _capped_quota(
        self,
        deficit: list[int],
        proportions_D: FloatArray,
        left: list[int],
        announce_step: int | None,
    ) -> Quota | None:
        """Return a quota within what ``max_epochs`` leaves, or ``None`` where none is a batch."""
        alive_D = (np.array(left) > 0) & (proportions_D > 0)
        if announce_step is not None:
            self._announce_exhausted(left, announce_step)
        if int(np.array(left)[alive_D].sum()) < self.batch_size:
            if announce_step is not None and not self._end_told:
                self._announce_end(left, announce_step)
            return None
        weights = np.where(alive_D, proportions_D, 0.0)
        shares = fixed_shares(weights / weights.sum())
        owed = np.array(deficit, dtype=np.int64)
        orphaned = int(owed[~alive_D].sum())
        split = [orphaned * share // UNIT for share in shares.tolist()]
        split[int(np.argmax(shares))] += orphaned - sum(split)
        owed = np.where(alive_D, owed, 0) + np.array(split, dtype=np.int64)
        quota = plan_quota(owed.tolist(), shares.tolist(), self.batch_size, self._tie_rank)
        counts, rest = quota.counts, quota.deficit
        for d, rows in enumerate(left):
            excess = max(0, counts[d] - rows)
            counts[d] -= excess
            rest[d] += excess * UNIT
        for _ in range(self.batch_size - sum(counts)):
            able = [d for d in np.flatnonzero(alive_D).tolist() if counts[d] < left[d]]
            taker = max(able, key=lambda d: (rest[d], -self._tie_rank[d]))
            counts[taker] += 1
            rest[taker] -= UNIT
        return Quota(counts, rest)

    def _announce_exhausted(self, left: list[int], step: int) -> None:
        gone = [d for d, rows in enumerate(left) if rows == 0 and d not in self.exhausted]
        if not gone or self._caps is None:
            return
        self.exhausted.update(gone)
        listed = ", ".join(f"{self.index.names[d]} ({self._caps[d]} epochs)" for d in gone)
        warnings.warn(
            f"max_epochs is reached for {listed}, from batch {step} on; its share goes to "
            "the other domains by their proportions",
            MixtureWarning,
            stacklevel=2,
        )

    def _announce_end(self, left: list[int], step: int) -> None:
        self._end_told = True
        caps = self._caps or []
        rest = ", ".join(
            f"{name} {'without limit' if cap == _UNCAPPED else rows}"
            for name, rows, cap in zip(self.index.names, left, caps, strict=True)
            if rows
        )
        warnings.warn(
            f"max_epochs ends the order after {step} batches: the rows left ({rest or 'none'}) do "
            f"not fill a batch of {self.batch_size} by the proportions",
            MixtureWarning,
            stacklevel=2,
        )


def _epoch_caps(max_epochs: int | Mapping[str, int], index: DomainIndex) -> list[int]:
    if isinstance(max_epochs, Mapping):
        for name in max_epochs:
            index.number(name)
        caps = [max_epochs.get(name, _UNCAPPED) for name in index.names]
    else:
        caps = [max_epochs] * len(index.names)
    return [
        check_whole(f"max_epochs of {name!r}", cap, 1)
        for name, cap in zip(index.names, caps, strict=True)
    ]
