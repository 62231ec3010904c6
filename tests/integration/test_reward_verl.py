"""verl 0.9.1's own reward managers call our reward function and get the right scores."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

pytestmark = [
    pytest.mark.verl,
    pytest.mark.filterwarnings("ignore"),
]

ROWS: list[tuple[str, str, str, dict[str, Any], float]] = [
    ("dataflex/gsm8k", "so \\boxed{72}", "72", {}, 1.0),
    ("dataflex/math_dapo", "\\boxed{3 \\text{ or } 4}", "3", {}, 0.0),
    ("dataflex/sciq", "\\boxed{B}", "B", {"options": ["x", "y", "z", "w"]}, 1.0),
    (
        "dataflex/knights_and_knaves",
        "Final answer: Emma is a knight, Liam is a knave.",
        "Emma is a knight, and Liam is a knave.",
        {},
        1.0,
    ),
]


class _Bytes:
    """A tokenizer of one id per character, all that a reward manager asks of one."""

    def decode(self, ids: Any, skip_special_tokens: bool = True) -> str:
        return "".join(chr(int(number)) for number in ids)


@pytest.fixture
def batch() -> Any:
    pytest.importorskip("verl")
    import numpy as np
    import torch
    from verl import DataProto

    width = max(len(response) for _, response, *_ in ROWS)
    prompts = torch.full((len(ROWS), 4), ord("?"))
    responses = torch.zeros((len(ROWS), width), dtype=torch.long)
    mask = torch.zeros((len(ROWS), 4 + width), dtype=torch.long)
    mask[:, :4] = 1
    for at, (_, response, *_) in enumerate(ROWS):
        responses[at, : len(response)] = torch.tensor([ord(sign) for sign in response])
        mask[at, 4 : 4 + len(response)] = 1
    extras = np.empty(len(ROWS), dtype=object)
    models = np.empty(len(ROWS), dtype=object)
    for at, (_, _, gold, extra, _) in enumerate(ROWS):
        extras[at] = dict(extra)
        models[at] = {"style": "rule", "ground_truth": gold}
    return DataProto.from_dict(
        tensors={"prompts": prompts, "responses": responses, "attention_mask": mask},
        non_tensors={
            "data_source": np.array([row[0] for row in ROWS], dtype=object),
            "reward_model": models,
            "extra_info": extras,
        },
    )


def _config(function: str, manager: str, **reward_kwargs: Any) -> Any:
    from omegaconf import OmegaConf

    return OmegaConf.create(
        {
            "reward": {
                "custom_reward_function": {
                    "path": "pkg://dataflex_data.integrations.verl.reward",
                    "name": function,
                    "reward_kwargs": reward_kwargs,
                },
                "reward_manager": {"source": "register", "name": manager},
                "reward_kwargs": {},
            }
        }
    )


def _scores(config: Any, data: Any) -> list[dict[str, Any]]:
    async def run() -> list[dict[str, Any]]:
        from verl.trainer.ppo.reward import load_reward_manager

        manager = load_reward_manager(config, _Bytes())
        manager.loop = asyncio.get_running_loop()
        return [await manager.run_single(data[at : at + 1]) for at in range(len(data))]

    return asyncio.run(run())


@pytest.mark.parametrize("manager", ["naive", "dapo"])
@pytest.mark.parametrize("function", ["compute_score", "compute_score_async"])
def test_reward_loop_managers(batch: Any, manager: str, function: str) -> None:
    results = _scores(_config(function, manager), batch)
    assert [result["reward_score"] for result in results] == [row[4] for row in ROWS]
    for result, row in zip(results, ROWS, strict=True):
        info = result["reward_extra_info"]
        assert info["acc"] == row[4]
        assert isinstance(info["pred"], str)


def test_reward_kwargs_reach_us(batch: Any) -> None:
    from dataflex_data.core.errors import ConfigError

    with pytest.raises(ConfigError, match="did you mean 'symbolic'"):
        _scores(_config("compute_score", "naive", symbollic=True), batch)


def test_batch_reward_manager(batch: Any) -> None:
    from verl.workers.reward_manager.batch import BatchRewardManager

    from dataflex_data.integrations.verl.reward import compute_score_batch

    manager = BatchRewardManager(_Bytes(), num_examine=0, compute_score=compute_score_batch)
    result = manager(batch, return_dict=True)
    assert result["reward_tensor"].sum(dim=1).tolist() == [row[4] for row in ROWS]
    assert result["reward_extra_info"]["acc"] == [row[4] for row in ROWS]
