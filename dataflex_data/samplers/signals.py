"""What a trainer reports of a batch, checked, and the observations of one signal in it.

Padding never gets in, and what is malformed is refused by name before anything is kept of it.
"""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass, fields
from typing import Any, Literal, TypeAlias

import numpy as np
import numpy.typing as npt

from dataflex_data.core.arrays import as_numbers
from dataflex_data.core.errors import InputDataError, did_you_mean
from dataflex_data.core.simplex import FloatArray, IntArray

Signal: TypeAlias = Literal[
    "none",
    "mean_reward",
    "reward_slope",
    "mean_abs_advantage",
    "group_variance",
    "solve_counts",
    "loss",
    "excess_loss",
]
"""What a mixer may ask for, per domain and step: the mean over groups of the group's mean reward;
the same, its history fitted by the mixer; the mean of |advantage| over rollouts; the mean over
groups of the variance of rewards over its maximum; rollouts solved, with their number; the mean
over rollouts of a loss, or of a loss above a reference's."""

NEEDS: Mapping[str, str] = {
    "mean_reward": "rewards",
    "reward_slope": "rewards",
    "mean_abs_advantage": "advantages",
    "group_variance": "rewards",
    "solve_counts": "rewards",
    "loss": "losses",
    "excess_loss": "excess_losses",
}


_LARGEST = 1e100


@dataclass(frozen=True, slots=True)
class StepSignals:
    """What became of one batch: one entry per response, real rows and padding alike.

    Attributes:
        domains: Domain of each response. Alternatively ``rows``.
        rows: Row number of each response's prompt in the sampler's data.
        uids: Id of the group (prompt occurrence); without it every response is its own group.
        rewards: Scalar rewards.
        advantages: Scalar advantages (of a response whose tokens differ: their mean of |A|).
        losses: Scalar losses.
        excess_losses: Scalar losses above a reference model's.
        lengths: Response tokens.
        real: False for padding; without it every row is real.
        step: Ordinal of the batch the responses were drawn in; ``None`` is the oldest batch that
            nothing was reported of. Asynchronous trainers give it.
        partial: Some groups of the batch are missing (filtered, failed). Without it the groups per
            domain must be exactly the quota that was drawn.
    """

    domains: Sequence[str] | None = None
    rows: npt.ArrayLike | None = None
    uids: Sequence[object] | npt.NDArray[Any] | None = None
    rewards: npt.ArrayLike | None = None
    advantages: npt.ArrayLike | None = None
    losses: npt.ArrayLike | None = None
    excess_losses: npt.ArrayLike | None = None
    lengths: npt.ArrayLike | None = None
    real: npt.ArrayLike | None = None
    step: int | None = None
    partial: bool = False

    @classmethod
    def of(cls, signals: StepSignals | Mapping[str, Any]) -> StepSignals:
        """Return ``signals``, made of a mapping where it is one.

        Raises:
            InputDataError: The mapping has a key that is no attribute.
        """
        if isinstance(signals, StepSignals):
            return signals
        if not isinstance(signals, Mapping):
            raise InputDataError(
                f"a report is a StepSignals or a mapping of its fields, got {signals!r:.80}"
            )
        known = [field.name for field in fields(cls)]
        for key in signals:
            if key not in known:
                raise InputDataError(
                    f"signal {key!r} is not known{did_you_mean(str(key), known)} "
                    f"(known: {', '.join(known)})"
                )
        return cls(**signals)


@dataclass(frozen=True, slots=True)
class StepCounts:
    """Real groups, rollouts and tokens per domain in one report."""

    groups_D: IntArray  # noqa: N815 - shape suffix
    rollouts_D: IntArray  # noqa: N815
    tokens_D: IntArray  # noqa: N815


@dataclass(frozen=True, slots=True)
class Reading:
    """A checked report: counts, and the observations of the signal with the domain of each.

    Attributes:
        counts: Per domain.
        values_U: The observations.
        domain_U: Domain number of each.
        row_P: Row of each group, where the report names rows.
    """

    counts: StepCounts
    values_U: FloatArray  # noqa: N815
    domain_U: IntArray  # noqa: N815
    row_P: IntArray  # noqa: N815


class SignalReader:
    """Reads one signal out of reports.

    Args:
        domains: Names, in the order of all arrays.
        signal: What to observe.
        solve_threshold: A rollout is solved when its reward is at least this.
    """

    def __init__(self, domains: Sequence[str], signal: Signal, solve_threshold: float) -> None:
        self.domains, self.signal = tuple(domains), signal
        self.solve_threshold = solve_threshold
        self._number = {name: d for d, name in enumerate(self.domains)}

    def read(self, signals: StepSignals) -> Reading:
        """Return what a report says; changes nothing.

        Args:
            signals: The report; its domains must be given by name.

        Raises:
            InputDataError: Arrays of different length, an unknown domain, a value that is not
                finite in a real row, a group in two domains or of two rows, or a reward that the
                signal cannot take.
        """
        domain_R, real_R = self._domains_of(signals)
        group_R = _groups(signals.uids, real_R)
        domain_P = _domain_of_groups(group_R, domain_R, signals.uids, self.domains)
        row_P = _row_of_groups(group_R, signals, real_R)
        n = len(self.domains)
        groups_D = np.bincount(domain_P, minlength=n)
        rollouts_D = np.bincount(domain_R, minlength=n)
        tokens_D = np.zeros(n, dtype=np.int64)
        if signals.lengths is not None:
            lengths = self._values(signals.lengths, "lengths", real_R, domain_R)
            if lengths.min(initial=0) < 0 or np.any(lengths % 1):
                raise InputDataError(
                    "`lengths` must be whole numbers of at least 0, got "
                    f"{lengths[(lengths < 0) | (lengths % 1 > 0)][0]:g}"
                )
            tokens_D = np.bincount(domain_R, weights=lengths, minlength=n).astype(np.int64)
        for name in {"rewards", *NEEDS.values()} - {NEEDS.get(self.signal)}:
            if (
                getattr(signals, name) is not None
            ):  # not read here, but a report is right as a whole
                self._shaped(getattr(signals, name), name, real_R)
        values, domain_U = self._observe(signals, real_R, domain_R, group_R, domain_P)

        return Reading(StepCounts(groups_D, rollouts_D, tokens_D), values, domain_U, row_P)

    def _domains_of(self, signals: StepSignals) -> tuple[IntArray, npt.NDArray[np.bool_]]:
        """Return the domain number of each real row, and which rows are real."""
        if signals.domains is None:
            raise InputDataError("the report names neither `domains` nor `rows` of its responses")
        if not isinstance(signals.partial, bool | np.bool_):
            raise InputDataError(f"`partial` must be true or false, got {signals.partial!r:.60}")
        names = np.asarray(signals.domains, dtype=object)
        if names.ndim != 1:
            raise InputDataError(f"`domains` must be one name per response, got {names!r:.60}")
        real = (
            np.ones(names.size, dtype=bool)
            if signals.real is None
            else as_numbers(signals.real, "`real`").astype(bool)
        )
        if real.shape != names.shape:
            raise InputDataError(
                f"`real` has shape {real.shape}, but there are {names.size} responses"
            )
        if not real.any() and not signals.partial:
            raise InputDataError(
                "the report holds no real response, only padding; say partial=True where all of a "
                "batch failed"
            )
        try:
            numbers = [self._number[name] for name in names[real]]
            return np.array(numbers, dtype=np.int64), real
        except KeyError as error:
            unknown = str(error.args[0])
            raise InputDataError(
                f"the report holds a response of domain {unknown!r}, which the sampler does not "
                f"have{did_you_mean(unknown, self.domains)} "
                f"(domains: {', '.join(self.domains[:12])})"
            ) from None

    def _values(
        self,
        given: npt.ArrayLike | None,
        name: str,
        real_R: npt.NDArray[np.bool_],
        domain_R: IntArray,
    ) -> FloatArray:
        """Return the values of the real rows, checked."""
        kept = self._shaped(given, name, real_R)[real_R]
        bad = np.flatnonzero(~np.isfinite(kept))
        if bad.size:
            row = int(np.flatnonzero(real_R)[bad[0]])
            raise InputDataError(
                f"`{name}` has {bad.size} values that are not finite; the first is {kept[bad[0]]} "
                f"of response {row} in domain {self.domains[domain_R[bad[0]]]!r}. Leave failed "
                "responses out by `real`, and say so with partial=True"
            )
        if np.abs(kept).max(initial=0.0) > _LARGEST:
            raise InputDataError(
                f"`{name}` has values as large as {np.abs(kept).max():g}; their sums would not be "
                f"numbers any more (at most {_LARGEST:g})"
            )
        return kept

    @staticmethod
    def _shaped(
        given: npt.ArrayLike | None, name: str, real_R: npt.NDArray[np.bool_]
    ) -> FloatArray:
        """Return one number for each response, padding included."""
        values = as_numbers(given, f"`{name}`").astype(np.float64)
        if values.shape != real_R.shape:
            raise InputDataError(
                f"`{name}` has shape {values.shape}; it needs one number for each of the "
                f"{real_R.size} responses"
            )
        return values

    def _observe(
        self,
        signals: StepSignals,
        real_R: npt.NDArray[np.bool_],
        domain_R: IntArray,
        group_R: IntArray,
        domain_P: IntArray,
    ) -> tuple[FloatArray, IntArray]:
        """Return the observations of the signal and the domain number of each."""
        nothing = np.empty(0), np.empty(0, dtype=np.int64)
        if self.signal == "none" or getattr(signals, NEEDS[self.signal]) is None:
            return nothing
        name = NEEDS[self.signal]
        values = self._values(getattr(signals, name), name, real_R, domain_R)
        if self.signal == "mean_abs_advantage":
            return np.abs(values), domain_R
        if self.signal in {"loss", "excess_loss"}:
            return values, domain_R
        if self.signal == "solve_counts":
            return (values >= self.solve_threshold).astype(np.float64), domain_R
        sizes_P = np.bincount(group_R)
        means_P = np.bincount(group_R, weights=values) / sizes_P
        if self.signal in {"mean_reward", "reward_slope"}:
            return means_P, domain_P
        if values.min(initial=0) < 0 or values.max(initial=0) > 1:
            raise InputDataError(
                "group_variance is relative to its maximum for rewards in [0, 1]; got rewards "
                f"from {values.min():g} to {values.max():g}"
            )
        squares_P = np.bincount(group_R, weights=(values - means_P[group_R]) ** 2)
        several = sizes_P > 1
        share_P = relative_variance(squares_P[several].astype(np.float64), sizes_P[several])
        return share_P, domain_P[several]


def relative_variance(squares_P: FloatArray, sizes_P: IntArray) -> FloatArray:
    """Return each group's variance over the largest that rewards in [0, 1] can have.

    For k of G right the variance is ``k (G - k) / (G (G - 1))``; its maximum is ``G / (4 (G - 1))``
    for even G and ``(G + 1) / (4 G)`` for odd.

    Args:
        squares_P: Sum of squared differences from the group's mean.
        sizes_P: Responses per group, at least 2.
    """
    largest = np.where(
        sizes_P % 2 == 0, sizes_P / (4 * (sizes_P - 1)), (sizes_P + 1) / (4 * sizes_P)
    )
    return np.asarray(squares_P / (sizes_P - 1) / largest)


def row_numbers(rows: npt.ArrayLike) -> IntArray:
    """Return the rows of a report as whole numbers, one per response.

    Raises:
        InputDataError: They are none.
    """
    array = as_numbers(rows, "`rows`")
    if array.ndim != 1 or (array.size and array.dtype.kind not in "iu"):
        raise InputDataError(
            f"`rows` must be one whole number per response, got {array.dtype} {array.shape}"
        )
    return array.astype(np.int64)


def _row_of_groups(
    group_R: IntArray, signals: StepSignals, real_R: npt.NDArray[np.bool_]
) -> IntArray:
    """Return the row of each group; none where the report names no rows."""
    if signals.rows is None:
        return np.empty(0, dtype=np.int64)
    row_R = row_numbers(signals.rows)
    if row_R.shape != real_R.shape:
        raise InputDataError(f"`rows` has {row_R.size} entries for {real_R.size} responses")
    row_R = row_R[real_R]
    row_P = np.empty(int(group_R.max(initial=-1)) + 1, dtype=np.int64)
    row_P[group_R] = row_R
    strays = np.flatnonzero(row_P[group_R] != row_R)
    if strays.size:
        at = strays[0]
        group = np.flatnonzero(real_R)[np.flatnonzero(group_R == group_R[at])].tolist()
        raise InputDataError(
            f"one uid stands for the rows {row_R[at]} and {row_P[group_R[at]]} (responses "
            f"{group[0]} to {group[-1]}); a uid names one occurrence of one prompt. Were `rows` "
            "repeated and `uids` tiled, or the other way round?"
        )
    return row_P


def _groups(
    uids: Sequence[object] | npt.NDArray[Any] | None, real_R: npt.NDArray[np.bool_]
) -> IntArray:
    """Return the group number of each real row, numbered by first appearance."""
    if uids is None:
        return np.arange(int(real_R.sum()))
    if hasattr(uids, "detach"):
        uids = as_numbers(uids, "`uids`")
    if isinstance(uids, str) or not hasattr(uids, "__len__") or len(uids) != real_R.size:
        shown = f"has {len(uids)} entries" if hasattr(uids, "__len__") else f"is {uids!r}"
        raise InputDataError(f"`uids` {shown} for {real_R.size} responses")
    number: dict[object, int] = {}
    kept = np.asarray(uids, dtype=object)[real_R].tolist()
    if not all(isinstance(uid, Hashable) for uid in kept):
        raise InputDataError("`uids` must be one plain value per response")
    return np.array([number.setdefault(uid, len(number)) for uid in kept], dtype=np.int64)


def _domain_of_groups(
    group_R: IntArray,
    domain_R: IntArray,
    uids: Sequence[object] | npt.NDArray[Any] | None,
    domains: Sequence[str],
) -> IntArray:
    domain_P = np.empty(int(group_R.max(initial=-1)) + 1, dtype=np.int64)
    domain_P[group_R] = domain_R
    strays = np.flatnonzero(domain_P[group_R] != domain_R)
    if strays.size and uids is not None:
        group = group_R[strays[0]]
        raise InputDataError(
            f"one group is in two domains, {domains[domain_R[strays[0]]]!r} and "
            f"{domains[domain_P[group]]!r}; a uid names one occurrence of one prompt"
        )
    return domain_P
