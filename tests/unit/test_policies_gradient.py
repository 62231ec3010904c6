"""Dropping rows and weighting them out give one gradient, in every way verl averages a loss."""

from __future__ import annotations

import copy

import numpy as np
import pytest
import torch

from dataflex_data.core.rollout import RolloutBatch
from dataflex_data.policies.engine import load_policies
from dataflex_data.policies.loss import LOSS_AGG_MODES, LossAggMode

LENGTHS = [5, 9, 2, 7, 4, 1]
WIDTH = max(LENGTHS)


def agg_loss(losses: torch.Tensor, mask: torch.Tensor, mode: str, rows: int) -> torch.Tensor:
    """Average as verl 0.9.1 does (core_algos.agg_loss), written out from its definition.

    ``rows`` is the global batch size, and the horizon is the width of the batch.
    """
    total = (losses * mask).sum(-1)
    if mode == "token-mean":
        return total.sum() / mask.sum()
    if mode == "token-sum":
        return total.sum()
    if mode == "seq-mean-token-mean":
        return (total / mask.sum(-1)).sum() / rows
    return total.sum() / rows / (WIDTH if mode.endswith("norm") else 1)


def gradients(
    model: torch.nn.Module,
    inputs: torch.Tensor,
    mask: torch.Tensor,
    weights: torch.Tensor,
    mode: str,
) -> list[torch.Tensor]:
    model = copy.deepcopy(model)
    losses = model(inputs).squeeze(-1) ** 2
    loss = agg_loss(losses * weights, mask, mode, rows=len(inputs))
    return list(torch.autograd.grad(loss, list(model.parameters())))


@pytest.mark.parametrize("mode", LOSS_AGG_MODES)
@pytest.mark.parametrize("reweighted", [False, True])
def test_drop_and_compensation_agree(mode: LossAggMode, reweighted: bool) -> None:
    torch.manual_seed(0)
    model = torch.nn.Sequential(
        torch.nn.Linear(3, 8), torch.nn.Tanh(), torch.nn.Linear(8, 1)
    ).double()
    inputs = torch.randn(len(LENGTHS), WIDTH, 3, dtype=torch.float64)
    mask = (torch.arange(WIDTH) < torch.tensor(LENGTHS)[:, None]).double()

    select = {
        "mechanism": "select",
        "scorer": {"name": "advantage_magnitude"},
        "actuator": {"name": "topk_fraction", "params": {"fraction": 0.5}},
    }
    weigh = {
        "mechanism": "reweight",
        "scorer": {"name": "advantage_magnitude"},
        "actuator": {"name": "softmax"},
    }
    policies = load_policies(
        {"policies": [select, weigh] if reweighted else [select]}, loss_agg_mode=mode
    )
    batch = RolloutBatch(
        rewards=np.zeros(6),
        uids=["a"] * 6,
        lengths=LENGTHS,
        advantages=[0.1, 3.0, 2.0, 0.2, 0.3, 2.5],
    )
    decision = policies.apply(batch, 0)
    kept = torch.from_numpy(decision.kept_B)
    assert np.flatnonzero(decision.kept_B).tolist() == [1, 2, 5]

    own = torch.from_numpy(batch.padded(decision.token_weights()))
    dropped = gradients(model, inputs[kept], mask[kept], own[kept], mode)
    filled = torch.from_numpy(batch.padded(decision.compensated_weights(mode)))
    weighted = gradients(model, inputs, mask, filled, mode)
    for one, other in zip(dropped, weighted, strict=True):
        assert torch.allclose(one, other, rtol=1e-10, atol=1e-12)

    # Zeros alone, as the public plugin writes them, are right in token-sum only.
    zeroed = gradients(model, inputs, mask, own, mode)
    same = all(torch.allclose(one, other) for one, other in zip(dropped, zeroed, strict=True))
    assert same == (mode == "token-sum")


@pytest.mark.parametrize("mode", LOSS_AGG_MODES)
def test_our_average_is_verls(mode: LossAggMode) -> None:
    from dataflex_data.policies.loss import aggregate

    losses = torch.rand(len(LENGTHS), WIDTH, dtype=torch.float64)
    mask = torch.arange(WIDTH) < torch.tensor(LENGTHS)[:, None]
    ours = aggregate(losses[mask].numpy(), np.array(LENGTHS), mode, horizon=WIDTH)
    theirs = agg_loss(losses, mask.double(), mode, rows=len(LENGTHS))
    assert ours == pytest.approx(float(theirs), rel=1e-12)
