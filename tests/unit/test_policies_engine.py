"""What the policies of a run decide about a batch: order, emptiness, bad input, state, the row."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from dataflex_data.core.errors import InputDataError, StateError
from dataflex_data.core.rollout import RolloutBatch
from dataflex_data.policies.component import SELECTORS, build
from dataflex_data.policies.engine import Policies, load_policies
from dataflex_data.policies.loss import aggregate, compensation, update_shape
from dataflex_data.policies.record import ledger_row, metrics
from dataflex_data.policies.selectors.greso import Greso
from dataflex_data.policies.selectors.matched_update_token import walk
from dataflex_data.policies.weighting import unit_masses
from tests.policies_batch import PAIR, batch_of, columns

BAND = {
    "mechanism": "select",
    "scorer": {"name": "group_solve_rate"},
    "actuator": {"name": "threshold_band"},
}
TOPK = {
    "mechanism": "select",
    "scorer": {"name": "advantage_magnitude"},
    "actuator": {"name": "topk_fraction", "params": {"fraction": 0.5}},
}
SOFTMAX = {
    "mechanism": "reweight",
    "scorer": {"name": "advantage_magnitude"},
    "actuator": {"name": "softmax"},
}
MIX = {"mechanism": "mix", "actuator": {"name": "reward_gap", "params": {"floor": 0.05}}}


def group(*rewards: float, **more: Any) -> RolloutBatch:
    return groups([list(rewards)], **more)


def groups(rewards: list[list[float]], **more: Any) -> RolloutBatch:
    flat = [reward for one in rewards for reward in one]
    more.setdefault("lengths", [10] * len(flat))
    more.setdefault("advantages", np.zeros(len(flat)))
    uids = [f"u{number}" for number, one in enumerate(rewards) for _ in one]
    return RolloutBatch(rewards=flat, uids=uids, **more)


class TestOrder:
    def test_mix_select_and_reweight_in_one_run(self) -> None:
        policies = load_policies({"policies": [SOFTMAX, MIX, BAND, TOPK]})
        assert policies.mix is not None
        assert policies.mix.actuator.name == "reward_gap"
        # Groups of all and of none go first; of the five left, round(2.5) = 2 with the largest |A|.
        batch = groups(
            [[1, 1, 1], [1, 0, 0, 1, 0], [0, 0]],
            advantages=[9, 9, 9, 0.1, -3.0, 0.2, 2.0, 0.3, 9, 9],
        )
        decision = policies.apply(batch, 0)
        assert decision.applied == ("threshold_band", "topk_fraction", "softmax")
        assert np.flatnonzero(decision.kept_B).tolist() == [4, 6]
        assert decision.weights is not None
        # softmax of [3, 2] over its mean: 2 e/(e + 1), 2/(e + 1)
        e = np.e
        assert decision.weights[[4, 6]] == pytest.approx([2 * e / (e + 1), 2 / (e + 1)])
        assert decision.weights.sum() == pytest.approx(2)

    def test_weights_of_two_reweighters_are_multiplied_then_scaled_once(self) -> None:
        power = {
            "mechanism": "reweight",
            "scorer": {"name": "advantage_magnitude"},
            "actuator": {"name": "per_advantage", "params": {"alpha": 1.0}},
        }
        decision = load_policies({"policies": [power, power]}).apply(
            group(1, 0, advantages=[1.0, 2.0]), 0
        )
        # 1 and 4 over 2.5, where each alone would be scaled to 2/3 and 4/3.
        assert decision.weights == pytest.approx([0.4, 1.6])

    def test_token_weights_and_response_weights_meet_per_token(self) -> None:
        token = {
            "mechanism": "reweight",
            "scorer": {"name": "token_prob"},
            "actuator": {"name": "advantage_reweight", "params": {"alpha": 1.0}},
        }
        band = {
            "mechanism": "reweight",
            "scorer": {"name": "advantage_magnitude"},
            "actuator": {"name": "per_advantage", "params": {"alpha": 1.0}},
        }
        batch = group(
            1, 0, lengths=[1, 2], advantages=[4.0, 1.0], old_log_probs=np.log([0.5, 0.25, 1.0])
        )
        decision = load_policies({"policies": [token, band]}).apply(batch, 0)
        # Responses 4 and 1 over the token mean (4 + 1 + 1) / 3 = 2, times the probabilities.
        assert decision.per_token
        assert decision.weights == pytest.approx([2 * 0.5, 0.5 * 0.25, 0.5 * 1.0])

    def test_warm_up(self) -> None:
        policies = load_policies({**BAND, "warmup_step": 3})
        batch = groups([[1, 1], [1, 0]])
        assert policies.apply(batch, 2).kept_B.all()
        assert policies.apply(batch, 3).kept_B.tolist() == [False, False, True, True]

    def test_reweighters_see_the_advantages_made_anew(self) -> None:
        pods = {
            "mechanism": "select",
            "scorer": {"name": "reward_difficulty"},
            "actuator": {"name": "max_variance", "params": {"n": 2}},
        }
        decision = load_policies({"policies": [pods, SOFTMAX]}).apply(
            group(1, 0.5, 0.5, 0, advantages=[9.0, 0, 0, -1]), 0
        )
        # Kept are 1 and 0, with advantages of equal size: equal weights, not those of 9 and 1.
        assert decision.weights == pytest.approx([1, 0, 0, 1])
        assert decision.advantages_B is not None
        assert decision.advantages_B[[0, 3]] == pytest.approx([0.707006795327, -0.707006795327])


class TestCalls:
    batch = groups([[0, 1, 0], [1, 1, 0]])

    @pytest.mark.parametrize(
        ("step", "words"),
        [
            (-1, "step must be at least 0, got -1"),
            ("x", "step must be a whole number, got 'x'"),
            (1.0, "step must be a whole number"),
            (None, "step must be a whole number"),
        ],
    )
    def test_steps_that_are_none(self, step: Any, words: str) -> None:
        with pytest.raises(InputDataError, match=words):
            load_policies(BAND).apply(self.batch, step)

    def test_steps_of_numpy_are_steps(self) -> None:
        step: Any = np.int64(3)
        assert load_policies(BAND).apply(self.batch, step).step == 3

    def test_what_is_no_batch(self) -> None:
        given: Any = {"rewards": [0]}
        with pytest.raises(InputDataError, match="act on a RolloutBatch, got dict"):
            load_policies(BAND).apply(given, 0)

    @pytest.mark.parametrize("mode", ["token-meen", "seq_mean", None])
    def test_modes_that_verl_has_not(self, mode: Any) -> None:
        lengths_B, all_B = np.array([1, 2]), np.array([True, True])
        decision = load_policies(BAND).apply(self.batch, 0)
        skipped = load_policies(BAND).apply(groups([[0, 0], [1, 1]]), 0)
        for call in (
            lambda: decision.compensated_weights(mode),
            lambda: skipped.compensated_weights(mode),
            lambda: compensation(all_B, lengths_B, mode),
            lambda: aggregate(np.ones(3), lengths_B, mode),
            lambda: unit_masses(False, lengths_B, mode),
            lambda: load_policies(BAND, loss_agg_mode=mode),
        ):
            with pytest.raises(InputDataError, match=f"loss_agg_mode {mode!r} is not known"):
                call()

    @pytest.mark.parametrize("state", [None, [], "x", 3])
    def test_states_that_are_none(self, state: Any) -> None:
        policies = load_policies({"mechanism": "select", "actuator": {"name": "greso"}})
        greso = policies.pre_rollout
        assert isinstance(greso, Greso)
        whole = policies.state_dict()
        for load in (
            policies.load_state_dict,
            greso.load_state_dict,
            lambda held: policies.load_state_dict({**whole, "policies": held}),
        ):
            with pytest.raises(StateError):
                load(state)
        with pytest.raises(StateError, match="damaged"):
            greso.load_state_dict({**greso.state_dict(), "silent": state})
        assert policies.state_dict() == whole


class TestEmpty:
    batch = groups([[0, 0, 0], [1, 1, 1]])

    def test_the_update_is_left_out_and_said(self) -> None:
        decision = load_policies(BAND).apply(self.batch, 0)
        assert decision.skip_update
        assert not decision.kept_B.any()
        row = ledger_row(decision)
        assert (row["update"], row["empty_selection"]) == ("skipped", 1)
        assert (row["generated_tokens"], row["kept_tokens"], row["updated_tokens"]) == (60, 0, 0)
        assert metrics(row)["dataflex/skipped_update"] == 1

    def test_all_are_kept_and_said(self) -> None:
        decision = load_policies({**BAND, "on_empty": "keep_all"}).apply(self.batch, 0)
        assert decision.kept_B.all()
        row = ledger_row(decision)
        assert (row["update"], row["empty_selection"]) == ("kept_all", 1)
        assert (row["kept_tokens"], row["updated_tokens"]) == (0, 60)

    def test_the_run_stops(self) -> None:
        with pytest.raises(InputDataError, match="step 7: nothing is kept of 6 responses in 2"):
            load_policies({**BAND, "on_empty": "error"}).apply(self.batch, 7)

    @pytest.mark.parametrize("on_empty", ["skip_step", "keep_all", "error"])
    def test_an_all_padding_batch_makes_no_update(self, on_empty: str) -> None:
        padding = RolloutBatch.from_padded(
            rewards=np.zeros(3),
            uids=["a", "b", "c"],
            response_mask=np.ones((3, 4)),
            real=np.zeros(3, bool),
        )
        decision = load_policies({**BAND, "on_empty": on_empty}).apply(padding, 0)
        assert decision.skip_update
        assert ledger_row(decision)["faults"]["padding"] == 3

    def test_constant_groups_leave_max_variance_nothing(self) -> None:
        pods = {
            "mechanism": "select",
            "scorer": {"name": "reward_difficulty"},
            "actuator": {"name": "max_variance"},
        }
        decision = load_policies(pods).apply(self.batch, 0)
        assert decision.skip_update
        assert decision.notes["constant_groups"] == 2


class TestBadInput:
    def test_values_that_are_not_finite_are_dropped_and_counted(self) -> None:
        batch = groups(
            [[1, 0, np.nan], [1, 0, np.inf], [1, 0, 0]],
            advantages=[0, 0, 0, 0, 0, 0, np.nan, 0, 0],
            old_log_probs=np.r_[np.zeros(79), -np.inf, np.zeros(10)],
        )
        decision = load_policies({"mechanism": "none"}).apply(batch, 0)
        assert np.flatnonzero(~decision.kept_B).tolist() == [2, 5, 6, 7]
        faults = ledger_row(decision)["faults"]
        assert faults["invalid_reward"] == 2
        assert faults["invalid_advantage"] == 1
        assert faults["invalid_log_prob"] == 1

    def test_or_stop_the_run(self) -> None:
        policies = load_policies({"mechanism": "none", "on_invalid": "error"})
        with pytest.raises(InputDataError, match="step 2: 1 invalid_reward"):
            policies.apply(group(1, np.nan), 2)

    def test_an_unusable_member_does_not_decide_over_its_group(self) -> None:
        # Solved 1 of 2 valid: in the open band; counted with the NaN it would be 1 of 3 as well,
        # but [1, 1, NaN] is all solved and goes.
        decision = load_policies(BAND).apply(groups([[1, 0, np.nan], [1, 1, np.nan]]), 0)
        assert decision.kept_B.tolist() == [True, True, False, False, False, False]

    def test_an_empty_response_counts_as_a_failure_and_is_not_trained_on(self) -> None:
        batch = groups([[1, 0]], lengths=[5, 0])
        decision = load_policies(BAND).apply(batch, 0)
        assert decision.kept_B.tolist() == [True, False]
        assert ledger_row(decision)["faults"]["zero_length"] == 1

    def test_groups_of_one(self) -> None:
        batch = groups([[1], [0], [1, 0]])
        decision = load_policies(BAND).apply(batch, 0)
        assert decision.kept_B.tolist() == [False, False, True, True]
        assert ledger_row(decision)["faults"]["groups_of_one"] == 2

    def test_masks_that_disagree_in_shape(self) -> None:
        with pytest.raises(InputDataError, match=r"advantages has shape \(2, 3\)"):
            RolloutBatch.from_padded(
                rewards=[0, 1],
                uids=["a", "a"],
                response_mask=np.ones((2, 4)),
                advantages=np.zeros((2, 3)),
            )

    def test_scores_that_are_missing(self) -> None:
        # The third has no score: it weighs 1, the mean of the others, which are untouched by it.
        block = {
            "mechanism": "reweight",
            "scorer": {"name": "column", "params": {"column": "x", "granularity": "response"}},
            "actuator": {"name": "per_advantage", "params": {"alpha": 1.0}},
        }
        batch = group(0, 0, 0, extra={"x": [1.0, 3.0, np.nan]})
        decision = load_policies(block).apply(batch, 0)
        assert decision.weights == pytest.approx([0.5, 1.5, 1])
        assert decision.notes["unscored"] == 1

    def test_a_group_column_that_differs_inside_a_group(self) -> None:
        block = {
            "mechanism": "select",
            "scorer": {"name": "column", "params": {"column": "x"}},
            "actuator": {"name": "threshold_band"},
        }
        with pytest.raises(InputDataError, match=r"'u0' has 0\.1 and 0\.2"):
            load_policies(block).apply(group(0, 0, extra={"x": [0.1, 0.2]}), 0)


class TestReportsOfOtherTools:
    def test_a_mixed_group_is_never_dropped_for_one_member(self) -> None:
        """NeMo-RL#3469: with leave-one-out deviations one rollout of [1, 0, 0, 0] was dropped."""
        assert load_policies(BAND).apply(group(1, 0, 0, 0), 0).kept_B.all()

    def test_constant_continuous_groups_go(self) -> None:
        """OpenRLHF#1272: a filter on the mean keeps groups of one partial reward."""
        block = {
            "mechanism": "select",
            "scorer": {"name": "group_variance"},
            "actuator": {"name": "threshold_band"},
        }
        batch = groups([[0.3] * 3, [1e9 + 0.5] * 3, [0.3, 0.4, 0.3]])
        assert load_policies(block).apply(batch, 0).kept_B.tolist() == [False] * 6 + [True] * 3
        assert not load_policies(BAND).apply(batch, 0).kept_B.any()

    @pytest.mark.parametrize(
        ("kept", "mini", "dp", "rows", "count", "filler"),
        [(13, 8, 4, 8, 2, 3), (3, 64, 4, 4, 1, 1), (64, 64, 8, 64, 1, 0), (0, 64, 8, 0, 0, 0)],
    )
    def test_what_is_kept_divides_over_ranks_and_none_is_lost(
        self, kept: int, mini: int, dp: int, rows: int, count: int, filler: int
    ) -> None:
        """verl#5228 (hang on odd sizes); OpenRLHF#1297 (a last partial batch made no update)."""
        shape = update_shape(kept, mini, dp)
        assert (shape.rows_per_mini_batch, shape.n_mini_batches, shape.filler) == (
            rows,
            count,
            filler,
        )
        assert rows * count - filler == kept

    def test_partial_groups_are_counted_and_keep_their_own_size(self) -> None:
        """verl#6437: 1 of 2 that came is a rate of a half, not 1 of 5."""
        batch = groups([[1, 0], [1, 0, 0, 0, 0]], group_size=5)
        decision = load_policies(
            {**BAND, "actuator": {"name": "threshold_band", "params": {"low": 0.4}}}
        ).apply(batch, 0)
        assert decision.kept_B.tolist() == [True, True] + [False] * 5
        assert ledger_row(decision)["faults"]["partial_groups"] == 1

    def test_a_uid_used_for_two_occurrences_is_refused(self) -> None:
        with pytest.raises(InputDataError, match="'u0' has 4 responses where 2 were asked for"):
            group(1, 0, 1, 0, group_size=2)
        with pytest.raises(InputDataError, match="two prompts, 7 and 8"):
            group(1, 0, prompts=[7, 8])
        with pytest.raises(InputDataError, match="two domains"):
            group(1, 0, domains=["math", "logic"])

    def test_rewards_that_differ_by_rounding_do_not_blow_up(self) -> None:
        """NeMo-RL#4161: 1e-17 over a deviation of 1e-17 is an advantage of 1."""
        gfpo = {
            "mechanism": "select",
            "scorer": {"name": "reward_difficulty"},
            "actuator": {"name": "gfpo", "params": {"k": 3, "metric": "short"}},
        }
        decision = load_policies(gfpo).apply(group(0.1 + 0.2, 0.3, 0.3, np.nan), 0)
        assert decision.advantages_B is not None
        assert np.all(np.abs(decision.advantages_B[:3]) < 1e-11)
        assert np.isnan(decision.advantages_B[3])

    def test_refill_never_gives_up_short(self) -> None:
        """verl#953 gave up after N tries; verl#3475 threw surplus prompts away."""
        greso = build(SELECTORS, "greso", {"max_tries": 2, "p_hard": 0.5})
        assert isinstance(greso, Greso)
        silent(greso, range(8), visits=40)
        stock = {"math": iter(range(8)), "logic": iter(range(100, 200))}
        filled = greso.fill({"math": 4, "logic": 3}, lambda domain: next(stock[domain]), step=1)
        assert {domain: len(prompts) for domain, prompts in filled.prompts.items()} == {
            "math": 4,
            "logic": 3,
        }
        assert filled.prompts["logic"] == [100, 101, 102]
        assert set(filled.prompts["math"]) <= set(range(8))
        assert filled.drawn == 8 + 3
        assert filled.forced >= 3
        assert filled.drawn == 7 + filled.skipped


def silent(greso: Greso, prompts: Any, visits: int) -> None:
    names = list(prompts)
    for visit in range(visits):
        uids = [f"{visit}.{prompt}" for prompt in names for _ in range(2)]
        greso.observe(
            RolloutBatch(
                rewards=np.zeros(2 * len(names)),
                uids=uids,
                lengths=[1] * (2 * len(names)),
                prompts=[prompt for prompt in names for _ in range(2)],
            )
        )


class TestGreso:
    def make(self, **params: Any) -> Greso:
        greso = build(SELECTORS, "greso", params)
        assert isinstance(greso, Greso)
        return greso

    def test_skip_probabilities(self) -> None:
        # p = .5: three silent visits skip with .875; ten with .99, the floor's complement.
        greso = self.make()
        silent(greso, ["a"], 3)
        assert 1 - greso.chance("a") == pytest.approx(0.875)
        silent(greso, ["a"], 7)
        assert 1 - greso.chance("a") == pytest.approx(0.99)
        assert greso.chance("new") == 1

    def test_a_group_that_differs_ends_the_silence(self) -> None:
        greso = self.make()
        silent(greso, ["a"], 5)
        greso.observe(group(1, 0, prompts=["a", "a"]))
        assert greso.chance("a") == 1

    def test_what_cannot_be_silent_changes_nothing(self) -> None:
        greso = self.make()
        silent(greso, ["a"], 2)
        greso.observe(group(1, prompts=["a"]))
        greso.observe(group(np.nan, 1, prompts=["a", "a"]))
        assert greso.chance("a") == pytest.approx(0.25)

    def test_the_draw_has_the_frequency_and_is_keyed(self) -> None:
        greso = self.make()
        silent(greso, range(4000), 2)
        sent = [greso.admits(prompt, step=5) for prompt in range(4000)]
        # .25 of 4000: 1000, standard deviation 27.4
        assert abs(sum(sent) - 1000) < 5 * 27.4
        assert sent == [greso.admits(prompt, step=5) for prompt in range(4000)]
        assert sent != [greso.admits(prompt, step=6) for prompt in range(4000)]

    def test_chances_are_steered_to_their_targets(self) -> None:
        greso = self.make(target_hard=0.25, adjust=0.1)
        notes = greso.observe(groups([[0, 0], [1, 0]], prompts=["a", "a", "b", "b"]))
        assert (notes["greso_hard_share"], greso.p_hard, greso.p_easy) == (0.5, 0.4, 0.5)
        greso.observe(groups([[1, 0]], prompts=["b", "b"]))
        assert greso.p_hard == pytest.approx(0.5)

    def test_state_resumes_and_foreign_states_are_refused(self) -> None:
        policies = load_policies({"mechanism": "select", "actuator": {"name": "greso"}})
        greso = policies.pre_rollout
        assert isinstance(greso, Greso)
        silent(greso, ["a", 3], 4)
        other = load_policies({"mechanism": "select", "actuator": {"name": "greso"}})
        state = policies.state_dict()
        assert state == policies.state_dict()
        other.load_state_dict(state)
        resumed = other.pre_rollout
        assert isinstance(resumed, Greso)
        assert [resumed.chance(p) for p in ("a", 3, "3")] == [0.0625, 0.0625, 1]
        silent(resumed, ["a"], 1)
        assert greso.chance("a") == 0.0625
        with pytest.raises(StateError, match="version 2"):
            other.load_state_dict({**state, "version": 2})
        with pytest.raises(StateError, match="this run has"):
            load_policies(BAND).load_state_dict(state)

    def test_prompts_are_needed(self) -> None:
        with pytest.raises(InputDataError, match="identity of each prompt"):
            self.make().observe(group(1, 0))


class TestControls:
    def pair(self, **params: Any) -> Policies:
        return load_policies(
            {
                "mechanism": "select",
                "scorer": {"name": "group_solve_rate"},
                "actuator": {"name": params.pop("control"), "params": {"pair": PAIR, **params}},
                "seed": 5,
            }
        )

    @pytest.mark.parametrize("step", [0, 1, 2, 3])
    def test_matched_random_keeps_as_many_groups_of_each_domain(self, step: int) -> None:
        batch = batch_of(columns(n_groups=60, seed=step))
        band = load_policies(
            {
                "mechanism": "select",
                "scorer": {"name": "group_solve_rate"},
                "actuator": PAIR,
            }
        ).apply(batch, step)
        control = self.pair(control="matched_random").apply(batch, step)
        ours, theirs = ledger_row(control), ledger_row(band)
        assert ours["kept_groups"] == theirs["kept_groups"]
        assert ours["kept_responses"] == theirs["kept_responses"]
        assert (
            ours["control_target"]
            == ours["control_realised"]
            == sum(theirs["kept_groups"].values())
        )
        assert not np.array_equal(control.kept_B, band.kept_B)

    def test_matched_random_is_uniform(self) -> None:
        """Over 400 steps each of 12 groups is kept with the frequency of the target."""
        batch = batch_of(columns(n_groups=12, seed=1), only={"group"})
        policies = self.pair(control="matched_random")
        counts = np.zeros(12)
        for step in range(400):
            decision = policies.apply(batch, step)
            counts += batch.groups.any(decision.kept_B)
        share = counts.sum() / 12 / 400
        deviation = np.sqrt(400 * share * (1 - share))
        assert np.all(np.abs(counts - 400 * share) < 4.5 * deviation)

    def test_members_are_matched_group_by_group(self) -> None:
        block = {
            "mechanism": "select",
            "scorer": {"name": "reward_difficulty"},
            "actuator": {
                "name": "matched_random",
                "params": {"pair": {"name": "gfpo", "params": {"k": 2}}},
            },
        }
        decision = load_policies(block).apply(batch_of(columns(uneven=True)), 0)
        assert np.all(decision.batch.groups.sum(decision.kept_B) == 2)
        assert decision.advantages_B is not None

    def test_matched_tokens_stop_at_the_first_that_is_not_closer(self) -> None:
        lengths, order = np.array([100, 200, 300, 400]), np.array([2, 0, 3, 1])
        assert np.flatnonzero(walk(lengths, order, 500)).tolist() == [0, 2]
        assert not walk(lengths, order, 0).any()
        assert walk(lengths, order, 5000).all()

    @pytest.mark.parametrize("unit", ["response", "group"])
    def test_matched_tokens_come_close_and_say_how_close(self, unit: str) -> None:
        batch = batch_of(columns(n_groups=60, seed=2))
        decision = self.pair(control="matched_update_token", unit=unit).apply(batch, 0)
        row = ledger_row(decision)
        largest = (
            batch.lengths_B if unit == "response" else (batch.groups.sum(batch.lengths_B))
        ).max()
        assert row["control_realised"] == row["kept_tokens"]
        assert abs(row["control_realised"] - row["control_target"]) <= largest
