# ruff: noqa: N802 - shape suffixes on properties
"""One step's responses as numpy arrays: what every scorer, selector and reweighter reads.

Token fields are flat values with one length per response, so that padding cannot exist: nothing
that is not a token of a real response can enter a sum, a quantile or a softmax. Group ids are
turned into numbers once per batch. The batch knows neither torch nor verl.
"""

from __future__ import annotations

import copy
from collections.abc import Mapping
from functools import cached_property
from typing import Any, Literal, TypeAlias

import numpy as np
import numpy.typing as npt

from dataflex_data.core.arrays import FloatArray as FloatArray
from dataflex_data.core.arrays import (
    Names,
    as_numbers,
    column,
    counts,
    distinct_ids,
    distinct_rows,
    floats,
    sizes_differ,
    truth,
    whole,
)
from dataflex_data.core.errors import InputDataError, did_you_mean
from dataflex_data.core.groups import BoolArray as BoolArray
from dataflex_data.core.groups import Groups, factorised, hashes, stable_order
from dataflex_data.core.groups import IntArray as IntArray
from dataflex_data.core.seeding import Key, U64Array, keyed_hash, splitmix64

TokenAgg: TypeAlias = Literal["mean", "sum", "max", "min"]

_BASE_FIELDS = ("rewards", "uid", "domain", "lengths", "advantages", "old_log_probs", "entropy")


class RolloutBatch:
    """The real responses of one step.

    Args:
        rewards: Raw verifier score per response, never a shaped reward.
        uids: Id of each response's group, a string or integer; one id per prompt *occurrence*.
        lengths: Response tokens that the loss counts; 0 is allowed.
        domains: Domain of each response; ``None`` where the run has no domains.
        advantages: One per response, or one per token (flat) where they differ inside a response.
        old_log_probs: Flat, one per token.
        entropy: Flat, one per token.
        extra: Further numeric columns, one value per response, such as numbers of ``extra_info``.
        prompts: Identity of the prompt across occurrences, such as its row number.
        ids: Unique id of each response; breaks ties. Default: group and place in it.
        rows: Position of each response in the host's batch, each once. Default: 0, 1, 2, ...
        n_padding: Rows of the host's batch that were padding and are not here.
        group_size: Responses asked for per prompt. Larger groups are refused, since their uid
            stands for two occurrences; smaller ones are counted as partial.

    Fields may be lists, arrays, or torch tensors of any float type, with or without a gradient.

    Raises:
        InputDataError: Fields disagree in length, a column is not numeric, an id or a row stands
            twice, or a group lies in two domains or prompts, or is larger than ``group_size``.
    """

    def __init__(
        self,
        *,
        rewards: npt.ArrayLike,
        uids: Names,
        lengths: npt.ArrayLike,
        domains: Names | None = None,
        advantages: npt.ArrayLike | None = None,
        old_log_probs: npt.ArrayLike | None = None,
        entropy: npt.ArrayLike | None = None,
        extra: Mapping[str, npt.ArrayLike] | None = None,
        prompts: Names | None = None,
        ids: Names | None = None,
        rows: npt.ArrayLike | None = None,
        n_padding: int = 0,
        group_size: int | None = None,
    ) -> None:
        self.rewards_B = floats(rewards, "rewards", copy=np.float64)
        n = self.rewards_B.size
        self.lengths_B = counts(lengths, n)
        self.ends_B: IntArray = np.cumsum(self.lengths_B)
        self.n_tokens = int(self.ends_B[-1]) if n else 0
        self._uids = column(uids, "uid", n)
        self._domains = None if domains is None else column(domains, "domain", n)
        self._prompts = None if prompts is None else column(prompts, "prompts", n)
        self._ids = None if ids is None else distinct_ids(ids, n)
        self.rows_B: IntArray = np.arange(n) if rows is None else distinct_rows(rows, n)
        self.n_padding = whole(n_padding, "n_padding", at_least=0)
        self.group_size = (
            None if group_size is None else whole(group_size, "group_size", at_least=1)
        )
        self._advantages = None if advantages is None else self._response_or_token(advantages)
        self._log_probs = self._tokens(old_log_probs, "old_log_probs")
        self._entropy = self._tokens(entropy, "entropy")
        self.extra: dict[str, FloatArray] = {}
        for name, values in (extra or {}).items():
            if name in _BASE_FIELDS:
                raise InputDataError(f"extra column {name!r} has the name of a field of the batch")
            numbers = floats(values, name, copy=np.float64)
            if numbers.size != n:
                raise InputDataError(sizes_differ(name, numbers.size, n, "responses"))
            self.extra[name] = numbers
        self._check_groups()

    @classmethod
    def from_padded(
        cls,
        *,
        rewards: npt.ArrayLike,
        uids: Names,
        response_mask: npt.ArrayLike,
        real: npt.ArrayLike | None = None,
        advantages: npt.ArrayLike | None = None,
        old_log_probs: npt.ArrayLike | None = None,
        entropy: npt.ArrayLike | None = None,
        domains: Names | None = None,
        extra: Mapping[str, npt.ArrayLike] | None = None,
        prompts: Names | None = None,
        ids: Names | None = None,
        group_size: int | None = None,
    ) -> RolloutBatch:
        """Return the batch in right-padded matrices, without its padding rows and tokens.

        Args:
            rewards: One per response, or one per token, of which the masked sum counts.
            uids: As in the class.
            response_mask: One row per response; not 0 where the loss counts the token. Holes, such
                as tool output, are allowed.
            real: False for padding rows; without it all rows are real.
            advantages: One per response, or one per token.
            old_log_probs: One per token.
            entropy: One per token.
            domains: As in the class, as are the others.
            extra: See the class.
            prompts: See the class.
            ids: See the class.
            group_size: See the class.

        Raises:
            InputDataError: Shapes disagree with the mask's; see also the class.
        """
        given_mask = as_numbers(response_mask, "response_mask")
        if given_mask.ndim != 2:
            raise InputDataError(f"response_mask must be a matrix, got shape {given_mask.shape}")
        mask = truth(given_mask, "response_mask")
        n = mask.shape[0]
        real_B = np.ones(n, bool) if real is None else truth(as_numbers(real, "real"), "real")
        if real_B.shape != (n,):
            raise InputDataError(sizes_differ("real", real_B.size, n, "rows of the mask"))
        mask = mask[real_B]

        def flat(values: npt.ArrayLike | None, name: str) -> FloatArray | None:
            if values is None:
                return None
            matrix = as_numbers(values, name)
            if matrix.shape != (n, mask.shape[1]):
                raise InputDataError(
                    f"{name} has shape {matrix.shape}, response_mask {(n, mask.shape[1])}; "
                    "they must agree"
                )
            return np.asarray(matrix[real_B][mask])

        def rowwise(values: Names | npt.ArrayLike, name: str) -> npt.NDArray[Any]:
            return column(values, name, n)[real_B]

        reward = as_numbers(rewards, "rewards")
        if reward.ndim == 2:
            if reward.shape != (n, mask.shape[1]):
                raise InputDataError(
                    f"rewards have shape {reward.shape}, response_mask {(n, mask.shape[1])}; "
                    "they must agree"
                )
            reward_B = np.where(mask, reward[real_B], 0.0).sum(axis=1, dtype=np.float64)
        else:
            reward_B = rowwise(reward, "rewards")
        lengths = mask.sum(axis=1)
        batch = cls(
            rewards=reward_B,
            uids=rowwise(uids, "uid"),
            lengths=lengths,
            domains=None if domains is None else rowwise(domains, "domain"),
            old_log_probs=flat(old_log_probs, "old_log_probs"),
            entropy=flat(entropy, "entropy"),
            extra={
                name: rowwise(as_numbers(values, name), name)
                for name, values in (extra or {}).items()
            },
            prompts=None if prompts is None else rowwise(prompts, "prompts"),
            ids=None if ids is None else rowwise(ids, "ids"),
            rows=np.flatnonzero(real_B),
            n_padding=int(n - real_B.sum()),
            group_size=group_size,
        )
        if advantages is not None:
            given = as_numbers(advantages, "advantages")
            if given.ndim == 2:
                tokens = flat(given, "advantages")
                batch._advantages = ("token", np.asarray(tokens))
            else:
                batch._advantages = (
                    "response",
                    floats(rowwise(given, "advantages"), "advantages"),
                )
        return batch

    def __len__(self) -> int:
        return self.rewards_B.size

    @property
    def fields(self) -> tuple[str, ...]:
        """Names that a scorer's ``requires`` may name for this batch."""
        present = {
            "rewards": True,
            "uid": True,
            "lengths": True,
            "domain": self._domains is not None,
            "advantages": self._advantages is not None,
            "old_log_probs": self._log_probs is not None,
            "entropy": self._entropy is not None,
        }
        return (*(name for name, there in present.items() if there), *self.extra)

    @cached_property
    def groups(self) -> Groups:
        """The groups, worked out at the first use."""
        of_B, contiguous = factorised(self._uids)
        order = (
            np.arange(len(self), dtype=np.int64) if contiguous else stable_order(of_B, len(self))
        )
        sizes = np.bincount(of_B) if len(self) else np.zeros(0, np.int64)
        return Groups(of_B, order, np.cumsum(sizes) - sizes, sizes.astype(np.int64))

    @cached_property
    def domain_names(self) -> tuple[str, ...]:
        """Domains present, sorted; one named ``"all"`` where the batch has no domains."""
        return self._by_domain[0]

    @cached_property
    def domain_B(self) -> IntArray:
        """Number of each response's domain in `domain_names`."""
        return self._by_domain[1]

    @cached_property
    def _by_domain(self) -> tuple[tuple[str, ...], IntArray]:
        if self._domains is None:
            return ("all",), np.zeros(len(self), dtype=np.int64)
        code_B, _ = factorised(self._domains)
        _, heads = np.unique(code_B, return_index=True)
        names = [str(self._domains[head]) for head in heads]
        rank = np.argsort(np.argsort(names)) if names else np.zeros(0, np.int64)
        return tuple(sorted(names)), rank.astype(np.int64)[code_B]

    @property
    def has_domains(self) -> bool:
        """Whether the batch was given domains."""
        return self._domains is not None

    @property
    def uids_P(self) -> npt.NDArray[Any]:
        """Id of each group."""
        return self._uids[self.groups.heads_P]

    @property
    def prompts_P(self) -> npt.NDArray[Any] | None:
        """Identity of each group's prompt, ``None`` where it was not given."""
        return None if self._prompts is None else self._prompts[self.groups.heads_P]

    @property
    def advantage_unit(self) -> Literal["response", "token"] | None:
        """Whether advantages were given per response or per token."""
        return None if self._advantages is None else self._advantages[0]

    @cached_property
    def advantages_B(self) -> FloatArray:
        """One advantage per response; the mean over its tokens where they differ."""
        if self._advantages is None:
            raise InputDataError(self._lacks("advantages"))
        unit, values = self._advantages
        return values if unit == "response" else self.per_response(values, "mean")

    @cached_property
    def abs_advantages_B(self) -> FloatArray:
        """Mean over the response's tokens of |advantage|."""
        if self.advantage_unit == "token":
            return self.per_response(np.abs(self.tokens("advantages")), "mean")
        return np.abs(self.advantages_B)

    def tokens(self, name: str) -> FloatArray:
        """Return a token field, flat; a response's advantage is repeated for its tokens.

        Raises:
            InputDataError: The batch has no such field.
        """
        if name == "advantages" and self._advantages is not None:
            unit, values = self._advantages
            return values if unit == "token" else np.repeat(values, self.lengths_B)
        values_or_none = {"old_log_probs": self._log_probs, "entropy": self._entropy}.get(name)
        if values_or_none is None:
            raise InputDataError(self._lacks(name))
        return values_or_none

    def column(self, name: str) -> FloatArray:
        """Return an extra column, one value per response.

        Raises:
            InputDataError: The batch has no such column.
        """
        if name in self.extra:
            return self.extra[name]
        raise InputDataError(self._lacks(name))

    def per_response(self, values_T: npt.NDArray[Any], agg: TokenAgg) -> FloatArray:
        """Return one number per response from flat token values; 0 where it has no token."""
        result = np.zeros(len(self))
        filled = np.flatnonzero(self.lengths_B)
        if not filled.size:
            return result
        starts = (self.ends_B - self.lengths_B)[filled]
        if agg in ("mean", "sum"):
            result[filled] = np.add.reduceat(values_T, starts, dtype=np.float64)
            if agg == "mean":
                result[filled] /= self.lengths_B[filled]
        else:
            result[filled] = (np.maximum if agg == "max" else np.minimum).reduceat(values_T, starts)
        return result

    def take(self, mask_B: BoolArray) -> RolloutBatch:
        """Return the batch of the responses where the mask holds; itself where it holds for all."""
        if mask_B.all():
            return self
        mask_T = np.repeat(mask_B, self.lengths_B)

        def some(values: npt.NDArray[Any] | None, mask: BoolArray) -> npt.NDArray[Any] | None:
            return None if values is None else values[mask]

        part = RolloutBatch(
            rewards=self.rewards_B[mask_B],
            uids=self._uids[mask_B],
            lengths=self.lengths_B[mask_B],
            domains=some(self._domains, mask_B),
            old_log_probs=some(self._log_probs, mask_T),
            entropy=some(self._entropy, mask_T),
            extra={name: values[mask_B] for name, values in self.extra.items()},
            prompts=some(self._prompts, mask_B),
            n_padding=self.n_padding,
            group_size=self.group_size,
        )
        # Part of what is unique is unique: not looked at again.
        part._ids, part.rows_B = some(self._ids, mask_B), self.rows_B[mask_B]
        if self._advantages is not None:
            unit, values = self._advantages
            part._advantages = (unit, values[mask_B if unit == "response" else mask_T])
        return part

    def with_advantages(self, advantages_B: FloatArray, where_B: BoolArray) -> RolloutBatch:
        """Return the batch with other advantages where the mask holds, one per response."""
        other = copy.copy(self)
        for name in ("advantages_B", "abs_advantages_B", "faults", "valid_B", "usable_B"):
            other.__dict__.pop(name, None)
        old = self.advantages_B if self._advantages is not None else np.zeros(len(self))
        other._advantages = ("response", np.where(where_B, advantages_B, old))
        return other

    def padded(self, values_T: npt.NDArray[Any]) -> npt.NDArray[Any]:
        """Return flat token values as a matrix, one row per response, zeros on the right."""
        width = int(self.lengths_B.max(initial=0))
        matrix = np.zeros((len(self), width), dtype=values_T.dtype)
        matrix[np.arange(width) < self.lengths_B[:, None]] = values_T
        return matrix

    @property
    def response_mask(self) -> BoolArray:
        """The mask that belongs to `padded`."""
        width = int(self.lengths_B.max(initial=0))
        return np.asarray(np.arange(width) < self.lengths_B[:, None])

    @cached_property
    def faults(self) -> Mapping[str, BoolArray]:
        """Responses that can teach nothing, by reason.

        A response whose reward, advantage or log-prob is NaN or infinite is left out of all group
        statistics and never kept. One without tokens counts in its group with its reward, and is
        not kept either, having nothing to update on.
        """
        found: dict[str, BoolArray] = {
            "invalid_reward": ~np.isfinite(self.rewards_B),
            "zero_length": self.lengths_B == 0,
        }
        for name, values in (("advantage", self._advantages), ("log_prob", self._log_probs)):
            if values is None:
                continue
            if isinstance(values, tuple):
                unit, array = values
            else:
                unit, array = "token", values
            good = np.isfinite(array)
            if unit == "response":
                found[f"invalid_{name}"] = ~good
            elif good.all():
                found[f"invalid_{name}"] = np.zeros(len(self), bool)
            else:
                found[f"invalid_{name}"] = self.per_response(~good, "sum") > 0
        return found

    @cached_property
    def valid_B(self) -> BoolArray:
        """Responses that count in group statistics: finite in reward, advantage and log-prob."""
        valid = np.ones(len(self), bool)
        for reason, mask in self.faults.items():
            if reason != "zero_length":
                valid &= ~mask
        return valid

    @cached_property
    def usable_B(self) -> BoolArray:
        """Responses that may be kept: valid, with at least one token."""
        return self.valid_B & (self.lengths_B > 0)

    @property
    def partial_groups(self) -> int:
        """Groups with fewer valid responses than were asked for; 0 where that is not known."""
        if self.group_size is None:
            return 0
        return int((self.groups.sum(self.valid_B) < self.group_size).sum())

    def draw_keys_B(self, *names: Key) -> U64Array:
        """Return one pseudo-random number per response, a function of names and ids alone.

        Equal for a response wherever it stands in the batch, if the batch was given ``ids``;
        otherwise equal for the same group and place in it.
        """
        base = np.uint64(keyed_hash("dataflex/draw", *names))
        if self._ids is not None:
            return splitmix64(hashes(self._ids) ^ base)
        group_B = self.draw_keys_P(*names)[self.groups.of_B]
        return splitmix64(group_B ^ self.groups.ordinal_B.astype(np.uint64))

    def draw_keys_P(self, *names: Key) -> U64Array:
        """Return one pseudo-random number per group, a function of names and uid alone."""
        base = np.uint64(keyed_hash("dataflex/draw", *names))
        return splitmix64(self._uid_hashes_P ^ base)

    @cached_property
    def _uid_hashes_P(self) -> U64Array:
        return hashes(self.uids_P)

    def _response_or_token(
        self, values: npt.ArrayLike
    ) -> tuple[Literal["response", "token"], FloatArray]:
        array = floats(values, "advantages")
        if array.size == len(self):
            return "response", array
        if array.size == self.n_tokens:
            return "token", array
        raise InputDataError(
            f"advantages have {array.size} values; expected one per response ({len(self)}) "
            f"or one per token ({self.n_tokens})"
        )

    def _tokens(self, values: npt.ArrayLike | None, name: str) -> FloatArray | None:
        if values is None:
            return None
        array = floats(values, name)
        if array.size != self.n_tokens:
            raise InputDataError(sizes_differ(name, array.size, self.n_tokens, "tokens"))
        return array

    def _lacks(self, name: str) -> str:
        return (
            f"the batch has no field {name!r}{did_you_mean(name, self.fields)} "
            f"(it has: {', '.join(self.fields)})"
        )

    def _check_groups(self) -> None:
        for values, what in ((self._domains, "domain"), (self._prompts, "prompt")):
            if values is None:
                continue
            head_B = self.groups.heads_P[self.groups.of_B]
            differing = np.flatnonzero(values != values[head_B])
            if differing.size:
                at = int(differing[0])
                raise InputDataError(
                    f"uid '{self._uids[at]}' stands for two {what}s, {values[head_B[at]]} and "
                    f"{values[at]}; a uid must be unique to one occurrence of a prompt"
                )
        if self.group_size is not None and len(self):
            largest = int(np.argmax(self.groups.sizes_P))
            if self.groups.sizes_P[largest] > self.group_size:
                raise InputDataError(
                    f"uid '{self.uids_P[largest]}' has {self.groups.sizes_P[largest]} responses "
                    f"where {self.group_size} were asked for: the uid is not unique to one "
                    "occurrence of a prompt"
                )
