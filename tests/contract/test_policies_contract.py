"""What holds for every scorer, selector and reweighter of the registries, newcomers included."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from dataflex_data.core.config import Config
from dataflex_data.core.errors import ConfigError
from dataflex_data.core.registry import Registry
from dataflex_data.core.rollout import RolloutBatch
from dataflex_data.policies import REWEIGHTERS, SCORERS, SELECTORS
from dataflex_data.policies.component import build
from dataflex_data.policies.decision import Decision
from dataflex_data.policies.engine import load_policies
from dataflex_data.policies.loss import LOSS_AGG_MODES, LossAggMode
from dataflex_data.policies.weighting import unit_masses
from tests.policies_batch import (
    DEFAULT_SCORER,
    SCORER_OF,
    SCORER_PARAMS,
    SELECTOR_PARAMS,
    batch_of,
    columns,
)

BATCH_FIELDS = ("rewards", "uid", "lengths", "domain", "advantages", "old_log_probs", "entropy")
ALL = [*SCORERS.items(), *SELECTORS.items(), *REWEIGHTERS.items()]


def decide(
    mechanism: str,
    name: str,
    batch: RolloutBatch,
    step: int = 3,
    mode: str = "token-mean",
    **more: Any,
) -> Decision:
    scorer = SCORER_OF.get(name, DEFAULT_SCORER)
    block: dict[str, Any] = {
        "mechanism": mechanism,
        "scorer": {"name": scorer, "params": SCORER_PARAMS.get(scorer, {})},
        "actuator": {"name": name, "params": SELECTOR_PARAMS.get(name, {})},
        **more,
    }
    if name == "greso":
        del block["scorer"]
    return load_policies(block, loss_agg_mode=mode).apply(batch, step)


def test_the_components_of_the_issue_are_registered() -> None:
    assert SCORERS.names() == [
        "advantage_magnitude",
        "column",
        "group_solve_rate",
        "group_variance",
        "response_length",
        "reward_difficulty",
        "token_entropy",
        "token_prob",
    ]
    assert SELECTORS.names() == [
        "dapo_dynamic",
        "gfpo",
        "greso",
        "matched_random",
        "matched_update_token",
        "max_variance",
        "threshold_band",
        "topk_fraction",
    ]
    assert REWEIGHTERS.names() == [
        "advantage_reweight",
        "difficulty_band",
        "per",
        "per_advantage",
        "softmax",
    ]


@pytest.mark.parametrize(("name", "kind"), ALL)
def test_it_says_what_it_is(name: str, kind: Any) -> None:
    assert kind.name == name
    assert "Source:" in kind.__doc__
    assert issubclass(kind.Params, Config)


@pytest.mark.parametrize("registry", [SCORERS, SELECTORS, REWEIGHTERS], ids=lambda r: r.kind)
def test_an_unknown_parameter_is_refused(registry: Registry[Any]) -> None:
    for name in registry.names():
        with pytest.raises(ConfigError, match=f"{registry.kind} {name}(.|\\n)*not known"):
            build(registry, name, {"no_such_parameter": 1})


@pytest.mark.parametrize("name", SCORERS.names())
class TestScorers:
    def test_reads_only_what_it_declares(self, name: str) -> None:
        scorer = build(SCORERS, name, SCORER_PARAMS.get(name))
        fields = columns(uneven=True)
        whole = scorer.run(batch_of(fields), 0)
        bare = scorer.run(batch_of(fields, only=set(scorer.reads)), 0)
        assert np.array_equal(whole.values, bare.values)

    def test_shape_and_finiteness(self, name: str) -> None:
        scorer = build(SCORERS, name, SCORER_PARAMS.get(name))
        batch = batch_of(columns(uneven=True))
        scores = scorer.run(batch, 0)
        assert scores.granularity == scorer.score_granularity
        assert scores.values.size == (
            batch.n_tokens if scores.granularity == "token" else len(batch)
        )
        assert np.isfinite(scores.values).all()

    def test_follows_its_rows(self, name: str) -> None:
        scorer = build(SCORERS, name, SCORER_PARAMS.get(name))
        fields = columns(uneven=True)
        straight, order = (
            batch_of(fields),
            np.random.default_rng(1).permutation(len(fields["rewards"])),
        )
        mixed = batch_of(fields, order)
        expected, found = scorer.run(straight, 0).values, scorer.run(mixed, 0).values
        if scorer.score_granularity == "token":
            expected = straight.per_response(expected, "sum")
            found = mixed.per_response(found, "sum")
        assert found == pytest.approx(expected[order], abs=1e-12)

    def test_an_empty_batch_has_no_scores(self, name: str) -> None:
        scorer = build(SCORERS, name, SCORER_PARAMS.get(name))
        assert scorer.run(batch_of(columns(n_groups=0)), 0).values.size == 0


@pytest.mark.parametrize("name", SELECTORS.names())
class TestSelectors:
    def test_the_same_responses_in_any_order_of_rows(self, name: str) -> None:
        fields = columns(uneven=True, seed=4)
        order = np.random.default_rng(2).permutation(len(fields["rewards"]))
        straight = decide("select", name, batch_of(fields))
        mixed = decide("select", name, batch_of(fields, order))
        assert set(fields["ids"][straight.kept_B]) == set(fields["ids"][order][mixed.kept_B])

    def test_groups_stay_whole_where_it_keeps_groups(self, name: str) -> None:
        selector = build(SELECTORS, name, SELECTOR_PARAMS.get(name))
        decision = decide("select", name, batch_of(columns(uneven=True)))
        groups = decision.batch.groups
        kept_P = groups.sum(decision.kept_B)
        if selector.unit == "group":
            assert set(kept_P.tolist()) <= {0, *groups.sizes_P.tolist()}
            assert np.all((kept_P == 0) | (kept_P == groups.sizes_P))
        else:
            assert np.all(kept_P <= groups.sizes_P)
        assert (decision.advantages_B is not None) == selector.recomputes

    def test_what_is_not_finite_or_empty_is_never_kept(self, name: str) -> None:
        fields = columns(uneven=True)
        fields["rewards"][0] = np.nan
        fields["advantages"][7] = np.inf
        fields["lengths"][11], fields["old_log_probs"][11] = 0, np.zeros(0)
        fields["entropy"][11] = np.zeros(0)
        decision = decide("select", name, batch_of(fields))
        assert not decision.kept_B[[0, 7, 11]].any()

    def test_a_batch_without_responses_skips_the_update(self, name: str) -> None:
        decision = decide("select", name, batch_of(columns(n_groups=0), n_padding=8))
        assert (decision.fate, decision.empty) == ("skipped", True)

    def test_the_draw_is_a_function_of_the_step(self, name: str) -> None:
        batch = batch_of(columns(n_groups=40, seed=9))
        first, again = decide("select", name, batch), decide("select", name, batch)
        assert np.array_equal(first.kept_B, again.kept_B)


@pytest.mark.parametrize("name", REWEIGHTERS.names())
class TestReweighters:
    @pytest.mark.parametrize("mode", LOSS_AGG_MODES)
    def test_mean_one_in_the_unit_of_the_loss(self, name: str, mode: LossAggMode) -> None:
        fields = columns(uneven=True)
        fields["rewards"][3] = np.nan
        batch = batch_of(fields)
        decision = decide("reweight", name, batch, mode=mode)
        weights = decision.weights
        assert weights is not None
        assert np.isfinite(weights).all()
        assert weights.min() >= 0
        mask = (
            np.repeat(decision.kept_B, batch.lengths_B) if decision.per_token else (decision.kept_B)
        )
        assert not weights[~mask].any()
        masses = unit_masses(decision.per_token, batch.lengths_B[decision.kept_B], mode)
        mean = float((weights[mask] * masses).sum() / masses.sum())
        if build(REWEIGHTERS, name).normalises:
            assert mean == pytest.approx(1, abs=1e-9)
        else:
            assert 0 < mean <= 1

    def test_equal_scores_change_nothing_but_a_common_factor(self, name: str) -> None:
        fields = columns()
        fields["rewards"][:] = 1.0
        fields["advantages"][:] = 0.5
        fields["old_log_probs"] = [np.full(k, -0.25) for k in fields["lengths"]]
        decision = decide("reweight", name, batch_of(fields))
        weights = decision.weights
        assert weights is not None
        assert weights == pytest.approx(np.full(weights.size, weights[0]), rel=1e-12)
        if build(REWEIGHTERS, name).normalises:
            assert weights[0] == pytest.approx(1, rel=1e-12)

    def test_follows_its_rows(self, name: str) -> None:
        fields = columns(uneven=True)
        order = np.random.default_rng(5).permutation(len(fields["rewards"]))
        straight = decide("reweight", name, batch_of(fields))
        mixed = decide("reweight", name, batch_of(fields, order))
        expected, found = straight.weights, mixed.weights
        assert expected is not None
        assert found is not None
        if straight.per_token:
            expected = straight.batch.per_response(expected, "sum")
            found = mixed.batch.per_response(found, "sum")
        assert found == pytest.approx(expected[order], abs=1e-9)
