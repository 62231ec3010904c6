"""The real trainer of verl 0.9 with our policies in it, on a CPU: what it says, it does.

One Ray session and three trainers. The learning rate is 0, so that the ratio is 1 at every step and
the policy loss is the closed form ``-sum(A w) / sum(n)`` over what the update is made of, computed
here from the queue's fields. The first trainer goes through one policy per step and is saved; the
second resumes from it, under another way of averaging the loss; the third has two ranks.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("verl", reason="needs the extra 'verl'")

import numpy as np

from dataflex_data.core.ledger import LedgerRows, read_ledger
from dataflex_data.policies.component import SELECTORS, build
from tests.verl_cpu.assets import make_assets, toy_rows
from tests.verl_cpu.fixtures import loaded_verl
from tests.verl_cpu.runs import compose, ray_session, trainer_session

pytestmark = [pytest.mark.verl, pytest.mark.filterwarnings("default"), pytest.mark.timeout(1500)]

MIX = {
    "mechanism": "mix",
    "actuator": {"name": "reward_gap", "params": {"temperature": 0.2, "floor": 0.05}},
    "warmup_step": 1,
}
TOPK = {
    "mechanism": "select",
    "scorer": {"name": "advantage_magnitude"},
    "actuator": {"name": "topk_fraction", "params": {"fraction": 0.3}},
}
GFPO = {
    "mechanism": "select",
    "scorer": {"name": "reward_difficulty"},
    "actuator": {"name": "gfpo", "params": {"k": 3}},
}
NOTHING = {
    "mechanism": "select",
    "scorer": {"name": "group_solve_rate", "params": {"success_threshold": 2.0}},
    "actuator": {"name": "threshold_band", "params": {"low": 0.2, "high": 0.8}},
}
SOFTMAX = {
    "mechanism": "reweight",
    "scorer": {"name": "advantage_magnitude"},
    "actuator": {"name": "softmax", "params": {"temperature": 1.0}},
}
COLUMN = {
    "mechanism": "select",
    "scorer": {"name": "column", "params": {"column": "difficulty", "granularity": "response"}},
    "actuator": {"name": "topk_fraction", "params": {"fraction": 0.5}},
}
# What acts beside the mixture at each step of the first trainer.
FIRST: dict[int, tuple[str, list[dict[str, Any]]]] = {
    1: ("drop", []),
    2: ("drop", [TOPK]),
    3: ("mask", [TOPK]),
    4: ("weights", [TOPK]),
    5: ("drop", [SOFTMAX]),
    6: ("drop", [GFPO, SOFTMAX]),
    7: ("drop", [NOTHING]),
    8: ("drop", [COLUMN]),
}
SECOND: dict[int, tuple[str, list[dict[str, Any]]]] = {
    9: ("drop", [TOPK, SOFTMAX]),
    10: ("weights", [TOPK]),
}


# Two data-parallel ranks: 5 rows of 16 are 3 for one rank, in two passes of 2: 4, so 8 in all.
RANKS: dict[int, tuple[str, list[dict[str, Any]]]] = {
    1: ("drop", [TOPK]),
    2: ("drop", [{"mechanism": "select", "actuator": {"name": "greso"}}]),
}


@dataclass
class Seen:
    """What was seen of one step."""

    rows: list[int] = field(default_factory=list)
    metrics: dict[str, float] = field(default_factory=dict)
    advantages: list[np.ndarray[Any, Any]] = field(default_factory=list)
    weights: list[np.ndarray[Any, Any]] | None = None
    fields: list[str] = field(default_factory=list)
    kept: list[int] = field(default_factory=list)
    decision: Any = None


@dataclass
class Told:
    """What the two trainers left behind."""

    seen: dict[int, Seen]
    ledger: LedgerRows
    saved: dict[str, Any]
    next_rows: list[int]
    restored: dict[str, Any]
    leftovers: dict[str, Any]
    start: tuple[int, ...]
    two_ranks: dict[int, Seen]


def configuration(
    folder: Path, last: int, loss_agg_mode: str, extra: Sequence[str] = (), *, devices: int = 1
) -> Any:
    config = compose(
        folder,
        "dataflex_sync",
        [
            "trainer.logger=[]",
            f"trainer.total_training_steps={last}",
            "trainer.save_freq=8",
            "actor_rollout_ref.actor.optim.lr=0.0",
            f"actor_rollout_ref.actor.loss_agg_mode={loss_agg_mode}",
            "+dataflex.poll_interval_s=0.05",
            f"+dataflex.ledger={folder}/ledger.jsonl",
            "+dataflex.policies=[]",
            *extra,
        ],
        devices=devices,
    )
    config.dataflex.policies = [MIX]
    return config


def silent_easy_prompts() -> dict[str, Any]:
    """Return a state of greso in which every easy prompt has been silent 20 times."""
    from dataflex_data.integrations.verl.prompts import digest_of

    names = [digest_of(row["prompt"]) for row in toy_rows(32, "train") if row["domain"] == "easy"]
    fresh = build(SELECTORS, "greso").state_dict()  # type: ignore[attr-defined]
    return {**fresh, "silent": {f"s{name}": [20, 0] for name in names}}


def spied(
    trainer: Any, plan: dict[int, tuple[str, list[dict[str, Any]]]], always: Sequence[Any] = (MIX,)
) -> dict[int, Seen]:
    """Let the trainer follow the plan, and note what it does."""
    import transfer_queue

    from dataflex_data.integrations.verl.checks import host_of
    from dataflex_data.integrations.verl.settings import plain, run_settings
    from dataflex_data.policies.engine import Policies

    seen: dict[int, Seen] = {}
    next_batch, advantage = trainer._next_train_batch, trainer._compute_advantage
    update, measure = trainer._update_actor, trainer._compute_metrics

    def on_step_begin() -> None:
        mode, policies = plan[trainer.global_steps]
        block: dict[str, Any] = {"policies": [*always, *policies]}
        if any(policy["mechanism"] == "select" for policy in block["policies"]):
            block["mode"] = mode
        trainer.settings = run_settings(block)
        trainer.policies = Policies(
            trainer.settings, host_of(plain(trainer.config)), trainer.policies.mode
        )
        if trainer.policies.pre_rollout is not None:
            trainer.policies.pre_rollout.load_state_dict(silent_easy_prompts())
        seen[trainer.global_steps] = Seen()

    def _next_train_batch(*given: Any) -> Any:
        batch = next_batch(*given)
        seen[trainer.global_steps].rows = [int(row) for row in batch["index"]]
        return batch

    def _compute_advantage(batch: Any, metrics: dict[str, Any]) -> Any:
        batch = advantage(batch, metrics)
        here = seen[trainer.global_steps]
        here.fields = list(batch.fields)
        wanted = [n for n in ("advantages", "rollout_is_weights") if n in batch.fields]
        data = transfer_queue.kv_batch_get(
            keys=batch.keys, partition_id=batch.partition_id, select_fields=wanted
        )
        here.advantages = [row.numpy() for row in data["advantages"].unbind()]
        if "rollout_is_weights" in wanted:
            here.weights = [row.numpy() for row in data["rollout_is_weights"].unbind()]
        here.decision = trainer.decision
        here.kept = trainer.decision.kept_rows.tolist()
        return batch

    def _update_actor(batch: Any, metrics: dict[str, Any]) -> Any:
        after = update(batch, metrics)
        assert after.keys == batch.keys
        return after

    def _compute_metrics(batch: Any, metrics: dict[str, Any], *given: Any, **rest: Any) -> None:
        measure(batch, metrics, *given, **rest)
        seen[trainer.global_steps].metrics = dict(metrics)

    trainer.on_step_begin = on_step_begin
    trainer._next_train_batch = _next_train_batch
    trainer._compute_advantage = _compute_advantage
    trainer._update_actor = _update_actor
    trainer._compute_metrics = _compute_metrics
    return seen


@pytest.fixture(scope="module")
def told(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Told]:
    folder = make_assets(tmp_path_factory.mktemp("verl"))
    with loaded_verl(), ray_session():
        import transfer_queue

        with trainer_session(configuration(folder, 8, "token-mean")) as (trainer, manager):
            seen = spied(trainer, FIRST)
            trainer.fit(manager)
            saved = trainer.sampler.state_dict()
            order = iter(trainer.sampler)
            next_rows = [next(order) for _ in range(4)]
            leftovers = {
                part: keys for part, keys in (transfer_queue.kv_list() or {}).items() if keys
            }
        with trainer_session(configuration(folder, 10, "seq-mean-token-sum")) as (trainer, manager):
            start = (trainer.global_steps,)
            again = spied(trainer, SECOND)
            restored: dict[str, Any] = {}
            begin = trainer._next_train_batch

            def _next_train_batch(*given: Any) -> Any:
                batch = begin(*given)
                if not restored:
                    restored.update(trainer.sampler.explain())
                return batch

            trainer._next_train_batch = _next_train_batch
            trainer.fit(manager)
        alone = [
            "trainer.resume_mode=disable",
            "trainer.save_freq=-1",
            "dataflex.ledger=none",
            "actor_rollout_ref.actor.ppo_micro_batch_size_per_gpu=2",
            "data.gen_batch_size=1",
        ]
        ranks = configuration(folder, 2, "token-mean", alone, devices=2)
        ranks.dataflex.policies = [TOPK]
        with trainer_session(ranks) as (trainer, manager):
            two_ranks = spied(trainer, RANKS, always=())
            trainer.fit(manager)
        yield Told(
            {**seen, **again},
            read_ledger(folder / "ledger.jsonl"),
            saved,
            next_rows,
            restored,
            leftovers,
            start,
            two_ranks,
        )


def closed_form(here: Seen, rows: list[int], mode: str) -> float:
    """Return the policy loss of these rows at ratio 1."""
    sums, counts = [], []
    for row in rows:
        weights = 1.0 if here.weights is None else here.weights[row]
        sums.append(float((here.advantages[row] * weights).sum(dtype=np.float64)))
        counts.append(here.advantages[row].size)
    return -sum(sums) / (sum(counts) if mode == "token-mean" else len(rows))


def rows_and_steps(here: Seen) -> tuple[float, ...]:
    names = ("updated_rows", "filled_rows", "optimiser_steps")
    return tuple(here.metrics[f"dataflex/{name}"] for name in names)


def test_without_a_policy_the_loss_is_verls(told: Told) -> None:
    here = told.seen[1]
    assert here.weights is None
    assert rows_and_steps(here) == (16, 0, 1)
    assert here.metrics["actor/pg_loss"] == pytest.approx(
        closed_form(here, list(range(16)), "token-mean"), abs=1e-5
    )


@pytest.mark.parametrize("step", [2, 3, 6, 8])
def test_dropped_and_masked_rows_leave_the_loss_and_its_denominator(told: Told, step: int) -> None:
    here = told.seen[step]
    assert 0 < len(here.kept) < 16
    expected = closed_form(here, here.kept, "token-mean")
    assert here.metrics["actor/pg_loss"] == pytest.approx(expected, abs=1e-5)
    everything = closed_form(here, list(range(16)), "token-mean")
    if step != 8:  # whole groups of equal lengths have the loss 0, with and without the others
        assert abs(expected - everything) > 1e-3  # so that the step could tell the two apart
    assert here.metrics["dataflex/kept_frac"] == len(here.kept) / 16
    assert here.metrics["dataflex/updated_rows"] == len(here.kept)


def test_topk_keeps_the_number_it_says(told: Told) -> None:
    assert len(told.seen[2].kept) == 5  # max(1, round(.3 * 16))


def test_weighting_up_gives_the_loss_of_the_kept(told: Told) -> None:
    here = told.seen[4]
    assert here.weights is not None
    zero = [row for row in range(16) if not here.weights[row].any()]
    assert sorted(zero + here.kept) == list(range(16))
    weighted = closed_form(here, list(range(16)), "token-mean")
    here.weights = None
    assert weighted == pytest.approx(closed_form(here, here.kept, "token-mean"), abs=1e-5)
    assert here.metrics["actor/pg_loss"] == pytest.approx(weighted, abs=1e-5)
    assert rows_and_steps(here) == (len(here.kept), 0, 1)


def test_weights_reach_the_workers(told: Told) -> None:
    here = told.seen[5]
    assert "rollout_is_weights" in here.fields
    assert here.weights is not None
    counts = [len(row) for row in here.advantages]
    mean = sum(float(w.sum()) for w in here.weights) / sum(counts)
    assert mean == pytest.approx(1.0, abs=1e-5)
    expected = closed_form(here, list(range(16)), "token-mean")
    assert here.metrics["actor/pg_loss"] == pytest.approx(expected, abs=1e-5)
    here.weights = None
    assert abs(closed_form(here, list(range(16)), "token-mean") - expected) > 1e-4


def test_advantages_are_made_anew_among_the_kept(told: Told) -> None:
    here = told.seen[6]
    batch = here.decision.batch
    for group in range(4):
        rows = [r for r in here.kept if batch.groups.of_B[list(batch.rows_B).index(r)] == group]
        assert len(rows) == 3
        rewards = batch.rewards_B[[list(batch.rows_B).index(r) for r in rows]]
        wanted = (rewards - rewards.mean()) / (rewards.std(ddof=1) + 1e-4)
        got = [float(here.advantages[row][0]) for row in rows]
        assert got == pytest.approx(wanted.tolist(), abs=1e-4)


def test_nothing_kept_means_no_update_and_a_word(told: Told) -> None:
    here = told.seen[7]
    assert "actor/pg_loss" not in here.metrics
    assert here.metrics["dataflex/skipped_update"] == 1
    assert rows_and_steps(here) == (0, 0, 0)
    assert here.metrics["dataflex/updated_tokens"] == 0
    assert here.metrics["dataflex/generated_tokens"] > 0
    assert told.ledger.rows[6]["update"] == "skipped"
    assert all(np.isfinite(v) for v in here.metrics.values() if isinstance(v, float))


def test_a_column_of_the_data_can_be_the_score(told: Told) -> None:
    here = told.seen[8]
    difficulty = here.decision.batch.column("difficulty")
    kept = here.decision.kept_B
    assert difficulty[kept].min() >= difficulty[~kept].max()


def test_every_step_draws_its_quota_and_the_mixture_moves(told: Told) -> None:
    assert [row["step"] for row in told.ledger.rows] == list(range(1, 11))
    for row in told.ledger.rows:
        held = {name: count for name, count in row["quota"].items() if count}
        assert {name: count for name, count in row["groups"].items() if count} == held
        # Rows alternate between the domains, so that the row number tells the domain.
        drawn = told.seen[row["step"]].rows
        assert sum(number % 2 for number in drawn) == row["quota"]["hard"]
        assert sum(row["quota"].values()) == 4
    first, last = told.ledger.rows[0]["proportion"], told.ledger.rows[-1]["proportion"]
    assert first == {"easy": 0.5, "hard": 0.5}
    assert last["hard"] > 0.55  # the harder domain is further from full reward
    assert last == pytest.approx(
        {n: told.seen[10].metrics[f"dataflex/prop_{n}"] for n in ("easy", "hard")}
    )


def test_metrics_have_the_names_of_the_manual(told: Told) -> None:
    for name in (
        "kept_frac",
        "weight_mean",
        "weight_ess",
        "prop_easy",
        "quota_hard",
        "reward_hard",
        "generated_tokens",
        "kept_tokens",
        "updated_tokens",
        "staleness",
        "seconds_own",
        "seconds_queue",
    ):
        assert np.isfinite(told.seen[9].metrics[f"dataflex/{name}"])
    assert told.seen[3].metrics["dataflex/staleness"] == 1


def test_the_second_trainer_goes_on_where_the_first_was_saved(told: Told) -> None:
    assert told.start == (8,)
    assert told.seen[9].rows == told.next_rows
    assert told.restored["step"] == told.saved["step"] == 8
    # Bit for bit: proportions of batch 9 follow from the tracker that was restored.
    p = told.ledger.rows[8]["proportion"]
    assert told.restored["domains"]["hard"]["proportion"] == p["hard"]
    assert p != told.ledger.rows[0]["proportion"]


def test_another_way_of_averaging(told: Told) -> None:
    dropped = told.seen[9]
    assert dropped.metrics["actor/pg_loss"] == pytest.approx(
        closed_form(dropped, dropped.kept, "seq-mean-token-sum"), rel=1e-4
    )
    weighted = told.seen[10]
    whole = closed_form(weighted, list(range(16)), "seq-mean-token-sum")
    assert weighted.metrics["actor/pg_loss"] == pytest.approx(whole, rel=1e-4)
    weighted.weights = None
    assert whole == pytest.approx(
        closed_form(weighted, weighted.kept, "seq-mean-token-sum"), rel=1e-4
    )


def test_dropping_is_exact_over_two_ranks(told: Told) -> None:
    here = told.two_ranks[1]
    assert len(here.kept) == 5
    assert here.metrics["dataflex/updated_rows"] == 5
    assert here.metrics["dataflex/filled_rows"] == 3  # 3 rows a rank in two passes of 2
    expected = closed_form(here, here.kept, "token-mean")
    assert here.metrics["actor/pg_loss"] == pytest.approx(expected, abs=1e-5)


def test_silent_prompts_are_passed_over_before_they_are_generated(told: Told) -> None:
    here = told.two_ranks[2]
    # A silent prompt is sent with probability .01; even rows are the easy ones, which are silent.
    assert len(here.rows) == 4
    assert sum(row % 2 == 0 for row in here.rows) == 0
    assert here.metrics["dataflex/notes_greso_skipped"] >= 1
    assert here.metrics["dataflex/notes_greso_forced"] == 0
    assert here.metrics["dataflex/notes_greso_drawn"] == (
        4 + here.metrics["dataflex/notes_greso_skipped"]
    )
    assert here.metrics["dataflex/kept_frac"] == 1
    assert "greso" in here.decision.applied


def test_the_queue_is_empty_after_the_run(told: Told) -> None:
    assert told.leftovers == {}
