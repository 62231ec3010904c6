"""Selectors and reweighters of the public plugin: what their `act` may return."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import torch

from dataflex_data.core.errors import InputDataError
from dataflex_data.core.rollout import RolloutBatch
from dataflex_data.policies import padded
from dataflex_data.policies.component import REWEIGHTERS, Scores, Turn
from dataflex_data.policies.engine import load_policies

BATCH = RolloutBatch(
    rewards=[1, 0, 1, 0], uids=["a", "a", "b", "b"], lengths=[1, 2, 3, 1], advantages=[0.5] * 4
)
SCORES = Scores(np.array([0.1, 0.2, 0.3, 0.4]), "response")


def kept(returned: Any) -> list[int]:
    class Mine(padded.Selector):
        name = "mine"

        def act(self, scores: Any, batch: Any, **ctx: object) -> Any:
            return returned

    mask_B = Mine().keep(SCORES, BATCH, Turn(0))
    assert mask_B.dtype == bool
    return [int(row) for row in np.flatnonzero(mask_B)]


@pytest.mark.parametrize(
    ("returned", "expected"),
    [
        (torch.tensor([True, False, True, False]), [0, 2]),
        ([False, False, False, True], [3]),
        (np.zeros(4, bool), []),
        (torch.tensor([3, 0]), [0, 3]),
        ([2], [2]),
        (np.array([1, 2], dtype=np.uint8), [1, 2]),
        (torch.tensor([]), []),
        ([], []),
    ],
)
def test_indices_or_a_mask(returned: Any, expected: list[int]) -> None:
    assert kept(returned) == expected


@pytest.mark.parametrize(
    ("returned", "words"),
    [
        (torch.tensor([0.0, 2.0]), "got float32 of shape"),
        ([0.9, 2.2], "got float64 of shape"),
        ([0, -1], "got the index -1"),
        ([0, 99], "got the index 99"),
        ([0, 0, 1], "got an index twice"),
        ([1, 0, 1, 0], "got an index twice"),  # a mask of whole numbers
        (torch.tensor([True, False]), "got bool of shape"),
        ([[0], [1]], "got int64 of shape"),
        (3, "got int64 of shape"),
        (None, "must be numbers"),
        ("02", "must be numbers"),
    ],
)
def test_all_else_is_refused_by_name(returned: Any, words: str) -> None:
    with pytest.raises(InputDataError, match="selector 'mine'") as caught:
        kept(returned)
    assert words in str(caught.value)


@pytest.mark.parametrize("kind", [torch.bfloat16, torch.float16, torch.float32, torch.float64])
def test_weights_of_any_float_with_a_gradient(kind: torch.dtype) -> None:
    class Mine(padded.Reweighter):
        name = "mine"

        def act(self, scores: Any, batch: Any, **ctx: object) -> Any:
            return torch.tensor([0.5, 1, 2, 4], dtype=kind, requires_grad=True)

    weights = np.asarray(Mine().weights(SCORES, BATCH, Turn(0)))
    assert weights.tolist() == [0.5, 1, 2, 4]


@pytest.mark.parametrize(
    "act",
    [lambda: None, lambda: "heavy", lambda: [[1.0], [1.0, 2.0]]],
    ids=["none", "text", "ragged"],
)
def test_weights_that_are_none_are_refused_by_name(act: Callable[[], Any]) -> None:
    class Mine(padded.Reweighter):
        name = "mine"

        def act(self, scores: Any, batch: Any, **ctx: object) -> Any:
            return act()

    with pytest.raises(InputDataError, match="reweighter 'mine': must be numbers"):
        Mine().weights(SCORES, BATCH, Turn(0))


def test_scores_of_bfloat16() -> None:
    class Mine(padded.Scorer):
        name = "mine"

        def score(self, batch: Any, step_id: int, **ctx: object) -> Any:
            return batch.batch["advantages"].sum(-1).to(torch.bfloat16)

    # .5 for each of 1, 2, 3 and 1 tokens
    assert Mine().run(BATCH, 0).values.tolist() == [0.5, 1, 1.5, 0.5]


def test_negative_weights_are_refused_by_name(monkeypatch: pytest.MonkeyPatch) -> None:
    REWEIGHTERS.names()
    monkeypatch.setattr(REWEIGHTERS, "_items", dict(REWEIGHTERS.items()))

    @padded.register_reweighter("own_negative")
    class Mine(padded.Reweighter):
        def act(self, scores: Any, batch: Any, **ctx: object) -> Any:
            return scores - 0.5

    block = {
        "mechanism": "reweight",
        "scorer": {"name": "reward_difficulty"},
        "actuator": {"name": "own_negative"},
    }
    # The second reward is 0.
    words = "reweighter 'own_negative': weights must be finite and not negative: 2 are not, the "
    with pytest.raises(InputDataError, match=f"{words}first is number 1 with -0.5"):
        load_policies(block).apply(BATCH, 0)
