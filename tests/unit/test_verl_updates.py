"""How kept rows are laid out for verl: everything divides, nothing is lost, no step is empty."""

from __future__ import annotations

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from dataflex_data.integrations.verl.updates import plan_update


def test_hand_worked_example() -> None:
    # 5 of 8 rows kept, 2 ranks, one optimiser step of up to 8 rows, 2 rows per forward pass.
    # A rank needs 3 rows, in two passes: 2 + 2, so 4 rows each, 3 of them fill.
    # Dealt by falling length 9 8 7 6 5 over ranks 0 1 | 1 0 | 0: rank 0 gets 9 6 5, rank 1 8 7.
    lengths = [9, 8, 7, 6, 5, 1, 2, 3]
    plan = plan_update(
        [0, 1, 2, 3, 4], [5, 6, 7], lengths, ranks=2, mini_batch_rows=8, micro_batch_size=2
    )
    assert plan.order == (0, 3, 4, 5, 1, 2, 6, 7)
    assert plan.fill == (5, 6, 7)
    assert (plan.n_mini, plan.mini_batch_size, plan.micro_batch_size) == (1, 8, 2)
    assert plan.mean_kept == 5


def test_rows_of_a_prime_number_are_not_passed_one_by_one() -> None:
    # 7 rows at up to 4 per pass: two passes of 4 with one row of fill, not seven passes of 1.
    plan = plan_update(
        range(7), range(7, 16), [1] * 16, ranks=1, mini_batch_rows=16, micro_batch_size=4
    )
    assert (plan.mini_batch_size, plan.micro_batch_size, len(plan.fill)) == (8, 4, 1)


def test_packing_by_tokens_needs_no_fill_on_one_rank() -> None:
    plan = plan_update(
        range(7), range(7, 16), [1] * 16, ranks=1, mini_batch_rows=16, micro_batch_size=None
    )
    assert (plan.mini_batch_size, plan.fill) == (7, ())


@settings(max_examples=200, deadline=None)
@given(
    ranks=st.integers(1, 4),
    n_mini=st.integers(1, 4),
    passes=st.integers(1, 3),
    micro=st.integers(1, 4),
    data=st.data(),
)
def test_every_layout_is_one_verl_can_train_on(
    ranks: int, n_mini: int, passes: int, micro: int, data: st.DataObject
) -> None:
    mini_batch_rows = ranks * passes * micro
    total = n_mini * mini_batch_rows
    kept = sorted(data.draw(st.sets(st.integers(0, total - 1), min_size=1)))
    lengths = data.draw(st.lists(st.integers(1, 50), min_size=total, max_size=total))
    dropped = sorted(set(range(total)) - set(kept))
    plan = plan_update(
        kept,
        dropped,
        lengths,
        ranks=ranks,
        mini_batch_rows=mini_batch_rows,
        micro_batch_size=micro,
    )
    assert sorted(set(plan.order) - set(plan.fill)) == kept
    assert len(set(plan.order)) == len(plan.order) == plan.n_mini * plan.mini_batch_size
    assert set(plan.fill) <= set(dropped)
    assert plan.mini_batch_size % (ranks * plan.micro_batch_size) == 0
    assert plan.micro_batch_size <= micro
    assert plan.mini_batch_size <= mini_batch_rows
    by_rank = np.reshape(plan.order, (ranks, plan.n_mini, -1))
    for mini in range(plan.n_mini):
        assert set(by_rank[:, mini].ravel().tolist()) & set(kept)
    assert plan.mean_kept == len(kept) / plan.n_mini
