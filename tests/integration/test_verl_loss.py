"""What dropping rows and weighting them does to the loss of the real verl, without Ray.

At ratio 1 the token loss is ``-A w``, so that every expected number is a closed form over the
advantages ``A``, response lengths ``n`` and weights ``w`` below.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import pytest

pytest.importorskip("verl", reason="needs the extra 'verl'")

import numpy as np
import torch

from dataflex_data.integrations.verl.updates import UpdatePlan, plan_update
from dataflex_data.policies.loss import LOSS_AGG_MODES, LossAggMode, compensation
from tests.verl_cpu.fixtures import loaded_verl

pytestmark = [pytest.mark.verl, pytest.mark.filterwarnings("default")]

PROMPTS = [3, 2, 4, 3, 2, 3]
LENGTHS = [5, 2, 7, 3, 4, 6]
ADVANTAGES = [1.0, -0.5, 2.0, -1.5, 0.25, 0.75]
HORIZON = 8


@pytest.fixture(scope="module", autouse=True)
def _verl() -> Iterator[None]:
    with loaded_verl():
        yield


def nest(rows: Sequence[torch.Tensor]) -> torch.Tensor:
    return torch.nested.as_nested_tensor(list(rows), layout=torch.jagged)


def verl_loss(
    plan: UpdatePlan, mode: str, weights: Sequence[float] | None = None
) -> tuple[float, float, list[torch.Tensor]]:
    """Return verl's pg_loss and entropy term of one optimiser step, and the gradient by row."""
    from tensordict import TensorDict
    from verl.utils import tensordict_utils
    from verl.workers.config import FSDPActorConfig
    from verl.workers.utils.losses import ppo_loss

    generator = torch.Generator().manual_seed(0)
    log_probs = [
        (torch.randn(p + n, generator=generator) * 0.1 - 1).requires_grad_()
        for p, n in zip(PROMPTS, LENGTHS, strict=True)
    ]
    masks = [torch.full((n,), int(i not in plan.fill)) for i, n in enumerate(LENGTHS)]
    tokens = float(sum(int(masks[i].sum()) for i in plan.order))
    config = FSDPActorConfig(
        strategy="fsdp2",
        rollout_n=1,
        ppo_micro_batch_size_per_gpu=1,
        loss_agg_mode=mode,
        use_dynamic_bsz=False,
        loss_scale_factor=HORIZON,
    )
    total, entropy = torch.zeros(()), 0.0
    for start in range(0, len(plan.order), plan.micro_batch_size):
        rows = plan.order[start : start + plan.micro_batch_size]
        fields: dict[str, Any] = {
            "prompts": nest([torch.ones(PROMPTS[i], dtype=torch.int64) for i in rows]),
            "responses": nest([torch.ones(LENGTHS[i], dtype=torch.int64) for i in rows]),
            "response_mask": nest([masks[i] for i in rows]),
            "old_log_probs": nest([log_probs[i].detach()[PROMPTS[i] - 1 : -1] for i in rows]),
            "advantages": nest([torch.full((LENGTHS[i],), ADVANTAGES[i]) for i in rows]),
        }
        if weights is not None:
            fields["rollout_is_weights"] = nest(
                [torch.full((LENGTHS[i],), weights[i]) for i in rows]
            )
        data = TensorDict(fields, batch_size=len(rows))
        tensordict_utils.assign_non_tensor(
            data, dp_size=1, batch_num_tokens=tokens, global_batch_size=plan.mean_kept
        )
        output = {
            "log_probs": nest([log_probs[i] for i in rows]),
            "entropy": nest([torch.full((PROMPTS[i] + LENGTHS[i],), 2.0) for i in rows]),
        }
        loss, metrics = ppo_loss(config, output, data)
        total = total + loss
        entropy += float(metrics["actor/entropy_loss"].aggregate())
    total.backward()  # type: ignore[no-untyped-call]
    grads = [x.grad if x.grad is not None else torch.zeros_like(x) for x in log_probs]
    return float(total.detach()), entropy, grads


def closed_form(kept: Sequence[int], mode: str, weights: Sequence[float] | None = None) -> float:
    a = np.array([ADVANTAGES[i] * (weights[i] if weights else 1.0) for i in kept])
    n = np.array([LENGTHS[i] for i in kept])
    losses = {
        "token-mean": -(a * n).sum() / n.sum(),
        "token-sum": -(a * n).sum(),
        "seq-mean-token-sum": -(a * n).sum() / len(kept),
        "seq-mean-token-sum-norm": -(a * n).sum() / len(kept) / HORIZON,
        "seq-mean-token-mean": -a.sum() / len(kept),
    }
    return float(losses[mode])


def plan_of(kept: Sequence[int], micro: int, ranks: int = 1) -> UpdatePlan:
    dropped = [i for i in range(6) if i not in kept]
    return plan_update(
        kept, dropped, LENGTHS, ranks=ranks, mini_batch_rows=6, micro_batch_size=micro
    )


@pytest.mark.parametrize("mode", LOSS_AGG_MODES)
@pytest.mark.parametrize("kept", [(0, 2, 3), (1, 2, 3, 4, 5), (4,)])
@pytest.mark.parametrize("micro", [1, 2, 3])
def test_dropping_rows_gives_the_loss_of_the_kept(
    mode: str, kept: tuple[int, ...], micro: int
) -> None:
    loss, entropy, grads = verl_loss(plan_of(kept, micro), mode)
    assert loss == pytest.approx(closed_form(kept, mode), rel=1e-5)
    # The entropy term follows: 2 for every token, of kept rows alone.
    n = sum(LENGTHS[i] for i in kept)
    terms = {"token-sum": 2 * n, "seq-mean-token-sum": 2 * n / len(kept)}
    terms["seq-mean-token-sum-norm"] = 2 * n / len(kept) / HORIZON
    assert entropy == pytest.approx(terms.get(mode, 2.0), rel=1e-5)
    assert all(bool((grads[i] == 0).all()) for i in range(6) if i not in kept)


@pytest.mark.parametrize("mode", LOSS_AGG_MODES)
def test_compensating_weights_give_the_same_gradient_as_dropping(mode: LossAggMode) -> None:
    kept = (0, 2, 3)
    everything = plan_of(range(6), 3)
    kept_B = np.isin(np.arange(6), kept)
    factor = compensation(kept_B, np.array(LENGTHS), mode, n_sequences=6)
    weights = [factor if i in kept else 0.0 for i in range(6)]
    dropped = verl_loss(plan_of(kept, 3), mode)
    weighted = verl_loss(everything, mode, weights)
    assert weighted[0] == pytest.approx(dropped[0], rel=1e-5)
    for mine, theirs in zip(weighted[2], dropped[2], strict=True):
        torch.testing.assert_close(mine, theirs)


@pytest.mark.parametrize("mode", LOSS_AGG_MODES)
def test_zero_weights_alone_are_another_loss(mode: LossAggMode) -> None:
    kept = (0, 2, 3)
    weights = [float(i in kept) for i in range(6)]
    naive = verl_loss(plan_of(range(6), 3), mode, weights)[0]
    same = naive == pytest.approx(closed_form(kept, mode), rel=1e-5)
    assert same == (mode == "token-sum")  # the one mode that divides by nothing


@pytest.mark.parametrize("mode", LOSS_AGG_MODES)
def test_weights_on_dropped_rows_closed_form(mode: str) -> None:
    weights = [0.5, 9.0, 1.5, 2.0, 9.0, 9.0]
    kept = (0, 2, 3)
    loss = verl_loss(plan_of(kept, 2), mode, weights)[0]
    assert loss == pytest.approx(closed_form(kept, mode, weights), rel=1e-5)
