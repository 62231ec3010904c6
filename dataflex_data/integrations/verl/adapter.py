"""Between verl's TransferQueue and our `RolloutBatch`: reading a step, writing fields of one.

verl keeps a step's fields as jagged tensors, one row per response, over the response tokens.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

import numpy as np
import numpy.typing as npt
import torch
import transfer_queue
from tensordict import TensorDict

from dataflex_data.core.errors import InputDataError
from dataflex_data.core.rollout import RolloutBatch

Rows = npt.NDArray[np.int64]
TOKEN_FIELDS = ("advantages", "old_log_probs", "entropy")


def ragged(field: torch.Tensor) -> tuple[npt.NDArray[Any], Rows]:
    """Return a jagged (or, for rows of one length, plain) tensor as flat values and row lengths."""
    if field.is_nested:
        offsets: torch.Tensor = field.offsets()  # type: ignore[attr-defined]
        return field.values().numpy(), offsets.diff().numpy()
    return field.reshape(-1).numpy(), np.full(field.shape[0], field.shape[1], dtype=np.int64)


def jagged(values: npt.NDArray[Any], lengths: Rows) -> torch.Tensor:
    """Return flat values as the jagged tensor that verl expects."""
    offsets = np.concatenate(([0], np.cumsum(lengths)))
    return torch.nested.nested_tensor_from_jagged(
        torch.from_numpy(np.ascontiguousarray(values)), torch.from_numpy(offsets)
    )


def fetch(meta: Any, fields: Sequence[str]) -> Any:  # noqa: ANN401 - verl's tensordict
    """Return fields of a step; those that the queue does not hold are left out by it."""
    return transfer_queue.kv_batch_get(
        keys=meta.keys, partition_id=meta.partition_id, select_fields=list(fields)
    )


def put(meta: Any, fields: dict[str, torch.Tensor]) -> Any:  # noqa: ANN401 - KVBatchMeta
    """Write fields for every row of a step, and return the batch that names them.

    Workers fetch only what the returned batch names: to go on with the one before would train as
    if nothing had been written.
    """
    written = transfer_queue.kv_batch_put(
        keys=meta.keys,
        partition_id=meta.partition_id,
        fields=TensorDict(fields, batch_size=len(meta)),
    )
    lost = [name for name in fields if name not in written.fields]
    if lost:
        raise InputDataError(
            f"TransferQueue took {', '.join(lost)} and does not name them in the batch, so the "
            "workers would not see them; is its version the one verl was released with?"
        )
    return written


class Step:
    """One step as read from the queue.

    Attributes:
        batch: The real responses, with the tokens that the loss counts.
    """

    def __init__(
        self,
        meta: Any,  # noqa: ANN401 - KVBatchMeta
        fields: Any,  # noqa: ANN401 - what `fetch` gave
        *,
        domain_key: str,
        extra_columns: Sequence[str] = (),
        group_size: int | None = None,
        prompt_by_uid: Mapping[str, str] | None = None,
    ) -> None:
        held = set(fields.keys())
        mask_T, self._lengths_R = ragged(fields["response_mask"])
        real_R = np.array([not tag.get("is_padding", False) for tag in meta.tags], dtype=bool)
        rows: Rows = np.flatnonzero(real_R)
        counted_T = mask_T != 0
        # None where every token of every row counts, so that nothing need be picked or spread.
        self._counted_T = None
        counted_R = self._lengths_R
        if not (real_R.all() and counted_T.all()):
            self._counted_T = counted_T & np.repeat(real_R, self._lengths_R)
            counted_R = _sums(counted_T.astype(np.int64), self._lengths_R)
        self._weights_T = None
        if "rollout_is_weights" in held:
            self._weights_T = ragged(fields["rollout_is_weights"])[0]
        column = domain_key.split(".")[0]
        domains: list[str] | None = None
        if column in held:
            of_all = domain_names(fields[column], domain_key)
            domains = [of_all[row] for row in rows]
        info = objects(fields["extra_info"])[rows] if extra_columns else ()
        tokens = {
            name: self._picked(ragged(fields[name])[0]) for name in TOKEN_FIELDS if name in held
        }
        uids = objects(fields["uid"])[rows]
        self.batch = RolloutBatch(
            rewards=_sums(*ragged(fields["rm_scores"]))[rows],
            uids=uids,
            prompts=None if prompt_by_uid is None else [prompt_by_uid[uid] for uid in uids],
            lengths=counted_R[rows],
            domains=domains,
            ids=[meta.keys[row] for row in rows],
            rows=rows,
            n_padding=len(meta.keys) - rows.size,
            group_size=group_size,
            extra={name: _numbers(info, name) for name in extra_columns},
            **tokens,
        )

    def _picked(self, values_T: npt.NDArray[Any]) -> npt.NDArray[Any]:
        return values_T if self._counted_T is None else values_T[self._counted_T]

    def spread(self, values_T: npt.NDArray[Any], otherwise: float) -> torch.Tensor:
        """Return values of the batch's tokens as a field over all rows and tokens of the step."""
        if self._counted_T is None:
            return jagged(values_T.astype(np.float32, copy=False), self._lengths_R)
        whole = np.full(self._counted_T.size, otherwise, dtype=np.float32)
        whole[self._counted_T] = values_T
        return jagged(whole, self._lengths_R)

    def weights(self, weights_T: npt.NDArray[Any]) -> torch.Tensor:
        """Return weights of the batch's tokens times verl's own, as ``rollout_is_weights``."""
        if self._weights_T is not None:
            weights_T = weights_T * self._picked(self._weights_T)
        return self.spread(weights_T, 1.0)


@contextmanager
def zero_masks(meta: Any, rows: Sequence[int]) -> Iterator[None]:  # noqa: ANN401 - KVBatchMeta
    """Zero the masks of some rows inside, and restore them, since verl's metrics read them later.

    The engine's denominator is the sum of ``loss_mask``, the loss itself takes ``response_mask``:
    one without the other gives a wrong loss.
    """
    if not rows:
        yield
        return
    some = meta.select_keys([meta.keys[row] for row in rows])
    names = ("response_mask", "loss_mask")
    held = fetch(some, names)
    flat = {name: ragged(held[name]) for name in names}
    put(
        some, {name: jagged(np.zeros_like(mask), lengths) for name, (mask, lengths) in flat.items()}
    )
    try:
        yield
    finally:
        put(some, {name: jagged(mask, lengths) for name, (mask, lengths) in flat.items()})


def _sums(values_T: npt.NDArray[Any], lengths_R: Rows) -> npt.NDArray[Any]:
    kind = np.float64 if values_T.dtype.kind == "f" else np.int64
    sums = np.zeros(lengths_R.size, dtype=kind)
    filled = np.flatnonzero(lengths_R)
    if filled.size:
        starts = (np.cumsum(lengths_R) - lengths_R)[filled]
        sums[filled] = np.add.reduceat(values_T, starts, dtype=kind)
    return sums


def objects(field: Any) -> npt.NDArray[Any]:  # noqa: ANN401 - LinkedList, NonTensorStack, array
    """Return one object per row of a field that is no tensor."""
    items = [getattr(item, "data", item) for item in field]
    array = np.empty(len(items), dtype=object)
    array[:] = items
    return array


def domain_names(field: Any, domain_key: str) -> list[str]:  # noqa: ANN401 - as in `objects`
    """Return the domain of each row, from the column that ``domain_key`` begins with."""
    values = list(objects(field))
    for key in domain_key.split(".")[1:]:
        values = [value[key] for value in values]
    return [str(value) for value in values]


def _numbers(extra_info: Iterable[Any], name: str) -> npt.NDArray[np.float64]:
    values = []
    for info in extra_info:
        value = info.get(name) if isinstance(info, dict) else None
        if value is not None and (isinstance(value, bool) or not isinstance(value, int | float)):
            raise InputDataError(
                f"extra_info.{name} must be a number for the scorer that reads it, got {value!r}"
            )
        values.append(np.nan if value is None else float(value))
    return np.array(values)
