"""For components written against the public plugin: they move over with an import changed.

The plugin's scorers read ``batch.batch["advantages"]`` and the like as right-padded torch tensors
and ``batch.non_tensor_batch["uid"]``. Import `Scorer`, `Selector`, `Reweighter` and the decorators
from here, and they are given just that, real rows only. torch is loaded when one of them runs.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np

from dataflex_data.core.arrays import as_numbers
from dataflex_data.core.errors import InputDataError, MissingExtraError
from dataflex_data.core.rollout import BoolArray, FloatArray, RolloutBatch
from dataflex_data.policies import component
from dataflex_data.policies.component import (
    Scores,
    Turn,
    register_reweighter,
    register_scorer,
    register_selector,
)

__all__ = [
    "PaddedBatch",
    "Reweighter",
    "Scorer",
    "Selector",
    "register_reweighter",
    "register_scorer",
    "register_selector",
]

_FIELDS = {
    "rm_scores": "rewards",
    "token_level_scores": "rewards",
    "token_level_rewards": "rewards",
    "response_mask": "lengths",
    "advantages": "advantages",
    "old_log_probs": "old_log_probs",
    "entropys": "entropy",
    "uid": "uid",
    "domain": "domain",
}


class PaddedBatch:
    """A batch in the shape of verl's ``DataProto``.

    Attributes:
        batch: Tensors by name, one row per real response, zeros on the right.
        non_tensor_batch: ``uid``, ``domain`` and extra columns, one value per response.
    """

    def __init__(self, batch: RolloutBatch) -> None:
        self.batch = _Tensors(batch)
        groups = batch.groups
        self.non_tensor_batch: dict[str, Any] = {
            "uid": np.asarray(batch.uids_P, dtype=object)[groups.of_B],
            **batch.extra,
        }
        if batch.has_domains:
            names = np.array(batch.domain_names, dtype=object)
            self.non_tensor_batch["domain"] = names[batch.domain_B]

    def __len__(self) -> int:
        return len(self.non_tensor_batch["uid"])


class _Tensors(Mapping[str, Any]):
    """Makes each tensor when it is asked for."""

    def __init__(self, batch: RolloutBatch) -> None:
        self._batch = batch
        self._names = [
            name
            for name, field in _FIELDS.items()
            if field in batch.fields and name not in ("uid", "domain")
        ]

    def __getitem__(self, name: str) -> Any:  # noqa: ANN401 - a torch tensor
        if name not in self._names:
            raise KeyError(f"{name!r} is not in the batch (it has: {', '.join(self._names)})")
        try:
            import torch
        except ImportError:
            raise MissingExtraError("torch", "torch", "a component of the public plugin") from None
        batch = self._batch
        if name == "response_mask":
            return torch.from_numpy(batch.response_mask.astype(np.int64))
        field = _FIELDS[name]
        if field != "rewards":
            return torch.from_numpy(batch.padded(batch.tokens(field)).astype(np.float32))
        # As verl keeps an outcome reward: on the last token of the response.
        matrix = np.zeros(batch.response_mask.shape, dtype=np.float32)
        filled = np.flatnonzero(batch.lengths_B)
        matrix[filled, batch.lengths_B[filled] - 1] = batch.rewards_B[filled]
        return torch.from_numpy(matrix)

    def __iter__(self) -> Iterator[str]:
        return iter(self._names)

    def __len__(self) -> int:
        return len(self._names)


class Scorer(component.Scorer):
    """A scorer of the public plugin; its ``score`` is given a `PaddedBatch`."""

    @property
    def reads(self) -> tuple[str, ...]:
        """Fields in this package's names."""
        return tuple(dict.fromkeys(_FIELDS.get(name, name) for name in self.requires))

    def run(self, batch: RolloutBatch, step_id: int, seed: int = 0) -> Scores:
        """Return the scores, taken out of the padded result.

        Raises:
            InputDataError: See `dataflex_data.policies.component.Scorer.run`.
        """
        lacking = [name for name in self.reads if name not in batch.fields]
        if lacking:
            raise InputDataError(
                f"scorer {self.name!r} reads {', '.join(lacking)}, which the batch does not have "
                f"(it has: {', '.join(batch.fields)})"
            )
        padded: Any = PaddedBatch(batch)
        values = component.as_floats(
            self.score(padded, step_id, seed=seed), f"scorer {self.name!r}"
        )
        if self.score_granularity == "token":
            if values.shape != batch.response_mask.shape:
                raise InputDataError(
                    f"scorer {self.name!r} returned shape {values.shape}; granularity 'token' "
                    f"needs {batch.response_mask.shape}"
                )
            values = values[batch.response_mask]
        return self.checked(Scores(values, self.score_granularity), batch)


class Selector(component.Selector):
    """A selector of the public plugin: ``act(scores, batch)`` returns the indices to keep.

    A mask, one bool per response, is taken as one.
    """

    granularities = ("group", "response")

    def __init__(self, scorer: object = None, **unknown: object) -> None:
        del scorer
        super().__init__(None, **unknown)

    @property
    def unit(self) -> component.Unit:
        """Any response, as far as can be known."""
        return "response"

    @abstractmethod
    def act(self, scores: Any, batch: Any, **ctx: object) -> Any:  # noqa: ANN401 - plugin's types
        """Return the indices of the responses to keep, each once, or a mask of bools."""

    def keep(self, scores: Scores, batch: RolloutBatch, turn: Turn) -> BoolArray:
        """Return the indices as a mask.

        Raises:
            InputDataError: They are no indices of the batch, each once, and no mask of it.
        """
        name, n = f"selector {self.name!r}", len(batch)
        given = self.act(_tensor(scores.values), PaddedBatch(batch), step_id=turn.step)
        kept = as_numbers(given, f"{name}: what `act` returns")
        if kept.dtype == bool and kept.shape == (n,):
            return kept
        wanted = f"needs indices of its {n} responses, each once, or a mask of {n} bools"
        if kept.ndim != 1 or (kept.size and kept.dtype.kind not in "iu"):
            raise InputDataError(f"{name}: `act` {wanted}; got {kept.dtype} of shape {kept.shape}")
        outside = kept[(kept < 0) | (kept >= n)]
        if outside.size:
            raise InputDataError(f"{name}: `act` {wanted}; got the index {outside[0]}")
        mask = np.zeros(n, dtype=bool)
        mask[kept.astype(np.int64)] = True
        if np.count_nonzero(mask) < kept.size:
            raise InputDataError(f"{name}: `act` {wanted}; got an index twice")
        return mask


class Reweighter(component.Reweighter):
    """A reweighter of the public plugin: ``act(scores, batch)`` returns one weight per response."""

    granularities = ("group", "response")

    def __init__(self, scorer: object = None, **unknown: object) -> None:
        del scorer
        super().__init__(None, **unknown)

    @abstractmethod
    def act(self, scores: Any, batch: Any, **ctx: object) -> Any:  # noqa: ANN401 - plugin's types
        """Return the weights."""

    def weights(self, scores: Scores, batch: RolloutBatch, turn: Turn) -> FloatArray:
        """Return the weights; they are scaled to the unit of the loss afterwards."""
        given = self.act(_tensor(scores.values), PaddedBatch(batch), step_id=turn.step)
        return component.as_floats(given, f"reweighter {self.name!r}")


def _tensor(values: FloatArray) -> Any:  # noqa: ANN401 - a torch tensor
    try:
        import torch
    except ImportError:
        raise MissingExtraError("torch", "torch", "a component of the public plugin") from None
    return torch.from_numpy(np.ascontiguousarray(values, dtype=np.float32))
