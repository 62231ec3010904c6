"""The reward function for verl: one shape on every route, and an error for a route nobody knows.

Configure verl with::

    reward.custom_reward_function.path=pkg://dataflex_data.integrations.verl.reward
    reward.custom_reward_function.name=compute_score

verl passes ``reward.custom_reward_function.reward_kwargs`` on; ``symbolic: true`` there asks
math-verify where the exact ladder cannot decide. This module needs neither verl nor torch.
"""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from numbers import Integral
from typing import Any, TypedDict

from dataflex_data.core.errors import ConfigError, InputDataError, UnknownNameError, did_you_mean
from dataflex_data.core.text import excerpt
from dataflex_data.verifiers import routes, symbolic

# What verl 0.9.1 hands to a reward function besides the row; none of it matters to a verifier.
_VERL_KEYWORDS = {
    "reward_router_address",
    "reward_model_tokenizer",
    "sandbox_fusion_url",
    "concurrent_semaphore",
    "memory_limit_mb",
}
_OPTIONS = ("symbolic",)
_OURS = "dataflex/"


class Reward(TypedDict):
    """What every call returns; verl stacks these by key, so the types never vary."""

    score: float
    acc: float
    pred: str


def compute_score(
    data_source: str,
    solution_str: str,
    ground_truth: str | int,
    extra_info: Mapping[str, Any] | None = None,
    **kwargs: Any,  # noqa: ANN401 - verl's signature
) -> Reward:
    """Return score and accuracy (both 0.0 or 1.0) and the parsed answer of one response.

    Args:
        data_source: The row's verifier route.
        solution_str: The response without the prompt.
        ground_truth: The gold answer.
        extra_info: The row's; ``options`` is read for multiple choice, ``source`` and ``row_id``
            name the row in errors.
        **kwargs: ``symbolic`` (bool), and what verl itself adds.

    Raises:
        UnknownNameError: No such route; names the row's source and near matches.
        InputDataError: The response or gold is not text, the gold is empty, or ``extra_info`` or
            its ``options`` have another shape than a row's.
        ConfigError: A keyword that is neither ours nor verl's.
        MissingExtraError: ``symbolic`` without the extra of that name.
    """
    use_symbolic = _symbolic_wanted(kwargs)
    if extra_info is not None and not isinstance(extra_info, Mapping):
        raise InputDataError(
            f"`extra_info` of a row of route {data_source!r} is {type(extra_info).__name__} "
            f"({excerpt(repr(extra_info))}), not a mapping"
        )
    gold = _gold(ground_truth, data_source, extra_info)
    if not isinstance(solution_str, str):
        raise InputDataError(
            f"the response to a row of route {data_source!r}{_row(extra_info)} is "
            f"{type(solution_str).__name__}, not text"
        )
    if data_source not in routes.ROUTES:
        raise UnknownNameError(
            f"`data_source` {data_source!r} is no verifier route{_row(extra_info)}"
            f"{did_you_mean(str(data_source), routes.ROUTES.names())}{_families()}"
        )
    verdict = routes.verify(str(data_source), solution_str, gold, extra_info, symbolic=use_symbolic)
    return {"score": verdict.score, "acc": verdict.score, "pred": verdict.parsed}


async def compute_score_async(
    data_source: str,
    solution_str: str,
    ground_truth: str | int,
    extra_info: Mapping[str, Any] | None = None,
    **kwargs: Any,  # noqa: ANN401 - verl's signature
) -> Reward:
    """Return what `compute_score` returns, for reward managers that await.

    Symbolic comparison runs in a thread, so that it never holds up the event loop.
    """
    if _symbolic_wanted(kwargs):
        return await asyncio.to_thread(
            compute_score, data_source, solution_str, ground_truth, extra_info, **kwargs
        )
    return compute_score(data_source, solution_str, ground_truth, extra_info, **kwargs)


def compute_score_batch(
    data_sources: Sequence[str],
    solution_strs: Sequence[str],
    ground_truths: Sequence[str | int],
    extra_infos: Sequence[Mapping[str, Any] | None] | None = None,
    **kwargs: Any,  # noqa: ANN401 - verl's signature
) -> list[Reward]:
    """Return one reward per row, for verl's batch reward manager.

    Raises:
        InputDataError: The arguments differ in length.
    """
    count = len(solution_strs)
    extras = [None] * count if extra_infos is None else extra_infos
    lengths = {
        "data_sources": len(data_sources),
        "solution_strs": count,
        "ground_truths": len(ground_truths),
    } | ({} if extra_infos is None else {"extra_infos": len(extra_infos)})
    if len(set(lengths.values())) > 1:
        raise InputDataError(f"a batch's columns differ in length: {lengths}")
    return [
        compute_score(*row, **kwargs)
        for row in zip(data_sources, solution_strs, ground_truths, extras, strict=True)
    ]


def _symbolic_wanted(kwargs: Mapping[str, Any]) -> bool:
    if not kwargs:
        return False
    unknown = [name for name in kwargs if name not in _OPTIONS and name not in _VERL_KEYWORDS]
    if unknown:
        raise ConfigError(
            "reward.custom_reward_function.reward_kwargs",
            [f"{name!r} is not known{did_you_mean(name, _OPTIONS)}" for name in unknown],
        )
    wanted = kwargs.get("symbolic", False)
    if not isinstance(wanted, bool):
        raise ConfigError(
            "reward.custom_reward_function.reward_kwargs",
            [f"symbolic must be true or false, got {wanted!r}"],
        )
    if wanted:
        symbolic.require()
    return wanted


def _gold(ground_truth: object, data_source: object, extra_info: Mapping[str, Any] | None) -> str:
    if isinstance(ground_truth, str):
        if ground_truth and not ground_truth.isspace():
            return ground_truth
        raise InputDataError(
            f"`reward_model.ground_truth` of a row of route {data_source!r}{_row(extra_info)} is "
            "empty, so nothing can equal it"
        )
    if not isinstance(ground_truth, bool) and isinstance(ground_truth, Integral):
        return str(int(ground_truth))
    raise InputDataError(
        f"`reward_model.ground_truth` of a row of route {data_source!r}{_row(extra_info)} is "
        f"{type(ground_truth).__name__} ({excerpt(repr(ground_truth))}), not text"
    )


def _families() -> str:
    """Return the known routes, ours without their common prefix."""
    names = routes.ROUTES.names()
    ours = [name.removeprefix(_OURS) for name in names if name.startswith(_OURS)]
    return (
        f" (known: {_OURS}... with {', '.join(ours)}; and {len(names) - len(ours)} public names, "
        "see `dfdata routes`)"
    )


def _row(extra_info: Mapping[str, Any] | None) -> str:
    """Return ``" (source 'x', row_id 'y')"`` as far as the row tells."""
    known = [
        f"{key} {extra_info[key]!r}"
        for key in ("source", "row_id", "index")
        if isinstance(extra_info, Mapping) and extra_info.get(key) not in (None, "")
    ]
    return f" ({', '.join(known)})" if known else ""
