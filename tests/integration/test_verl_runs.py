"""Whole runs of the real trainer: resumed ones equal whole ones, and verl's own features beside us.

One Ray session, four trainers. The first trains four steps with a mixture, greso, a selection and
weights together; the second goes on from its checkpoint of step 2 and must say the same to the last
number. The third has rollout correction and padding rows, the fourth filtered groups. Each averages
its loss in another way, and each loss is the closed form over the queue's fields: one optimiser
step per batch, so that the ratio is 1.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("verl", reason="needs the extra 'verl'")

import numpy as np

from dataflex_data.core.ledger import read_ledger
from tests.verl_cpu.assets import make_assets, toy_rows
from tests.verl_cpu.fixtures import loaded_verl
from tests.verl_cpu.runs import compose, ray_session, trainer_session

pytestmark = [pytest.mark.verl, pytest.mark.filterwarnings("default"), pytest.mark.timeout(1500)]

HORIZON = 16
MIX = "{mechanism: mix, actuator: {name: reward_gap, params: {temperature: 0.2, floor: 0.05}}}"
GRESO = "{mechanism: select, actuator: {name: greso}}"
TOPK = (
    "{mechanism: select, scorer: {name: advantage_magnitude}, "
    "actuator: {name: topk_fraction, params: {fraction: 0.5}}}"
)
SOFTMAX = (
    "{mechanism: reweight, scorer: {name: advantage_magnitude}, "
    "actuator: {name: softmax, params: {temperature: 1.0}}}"
)


@dataclass
class Seen:
    """What was seen of one step; lists are in the order of its rows."""

    rows: list[int] = field(default_factory=list)
    keys: list[str] = field(default_factory=list)
    padding: list[bool] = field(default_factory=list)
    advantages: list[np.ndarray[Any, Any]] = field(default_factory=list)
    weights: list[np.ndarray[Any, Any]] | None = None
    verls_weights: list[np.ndarray[Any, Any]] | None = None
    kept: list[int] = field(default_factory=list)
    metrics: dict[str, float] = field(default_factory=dict)

    def by_group(self) -> dict[str, list[tuple[bool, float, float, int]]]:
        """Return fate, advantage, weight and length of each group's responses, in one order.

        Which of a prompt's requests reaches the server first is an accident of verl's agent loop,
        so that two runs may number the same responses otherwise.
        """
        groups: dict[str, list[tuple[bool, float, float, int]]] = {}
        for row, key in enumerate(self.keys):
            if not self.padding[row]:
                weight = 1.0 if self.weights is None else float(self.weights[row][0])
                about = (float(self.advantages[row][0]), weight, self.advantages[row].size)
                groups.setdefault(key.split("_")[0], []).append((row in self.kept, *about))
        return {uid: sorted(rows) for uid, rows in groups.items()}


@dataclass
class Told:
    """What the four trainers left behind."""

    whole: dict[int, Seen]
    resumed: dict[int, Seen]
    greso: dict[str, Any]
    ledgers: list[list[dict[str, Any]]]
    corrected: dict[int, Seen]
    filtered: dict[int, Seen]
    leftovers: list[Any]


@contextmanager
def spied(trainer: Any) -> Iterator[dict[int, Seen]]:
    """Note what the trainer does, with verl's own weights before ours are multiplied in."""
    import transfer_queue
    from verl.trainer.ppo.v1.trainer_sync import PPOTrainerSync

    seen: dict[int, Seen] = {}
    next_batch, advantage = trainer._next_train_batch, trainer._compute_advantage
    measure, verls = trainer._compute_metrics, PPOTrainerSync._compute_advantage

    def here() -> Seen:
        return seen.setdefault(trainer.global_steps, Seen())

    def rows_of(batch: Any, name: str) -> list[np.ndarray[Any, Any]] | None:
        if name not in batch.fields:
            return None
        data = transfer_queue.kv_batch_get(
            keys=batch.keys, partition_id=batch.partition_id, select_fields=[name]
        )
        return [row.numpy() for row in data[name].unbind()]

    def verls_advantage(self: Any, batch: Any, metrics: dict[str, Any]) -> Any:
        batch = verls(self, batch, metrics)
        here().verls_weights = rows_of(batch, "rollout_is_weights")
        return batch

    def _next_train_batch(*given: Any) -> Any:
        batch = next_batch(*given)
        here().rows += [int(row) for row in batch["index"]]
        return batch

    def _compute_advantage(batch: Any, metrics: dict[str, Any]) -> Any:
        batch = advantage(batch, metrics)
        now = here()
        now.keys = list(batch.keys)
        now.padding = [bool(tag.get("is_padding", False)) for tag in batch.tags]
        now.advantages = rows_of(batch, "advantages") or []
        now.weights = rows_of(batch, "rollout_is_weights")
        now.kept = trainer.decision.kept_rows.tolist()
        return batch

    def _compute_metrics(batch: Any, metrics: dict[str, Any], *given: Any, **rest: Any) -> None:
        measure(batch, metrics, *given, **rest)
        here().metrics = dict(metrics)

    trainer._next_train_batch = _next_train_batch
    trainer._compute_advantage = _compute_advantage
    trainer._compute_metrics = _compute_metrics
    PPOTrainerSync._compute_advantage = verls_advantage
    try:
        yield seen
    finally:
        PPOTrainerSync._compute_advantage = verls


def silent_prompts() -> dict[str, Any]:
    """Return greso's state in which every other easy prompt has been silent 20 times."""
    from dataflex_data.integrations.verl.prompts import digest_of

    names = [digest_of(row["prompt"]) for row in list(toy_rows(32, "train"))[::4]]
    return {f"s{name}": (20, False) for name in names}


def trained(
    folder: Path, loss_agg_mode: str, policies: Sequence[str], *extra: str, last: int = 2
) -> tuple[dict[int, Seen], dict[str, Any], Any]:
    """Return what was seen of a run, greso's state at its end, and what the queue still holds."""
    import transfer_queue

    config = compose(
        folder,
        "dataflex_sync",
        [
            "trainer.logger=[]",
            f"trainer.total_training_steps={last}",
            "trainer.resume_mode=disable",
            f"actor_rollout_ref.actor.loss_agg_mode={loss_agg_mode}",
            f"actor_rollout_ref.actor.loss_scale_factor={HORIZON}",
            "+dataflex.poll_interval_s=0.05",
            f"+dataflex.policies=[{', '.join(policies)}]",
            *extra,
        ],
    )
    with trainer_session(config) as (trainer, manager), spied(trainer) as seen:
        if trainer.policies.pre_rollout is not None and trainer.global_steps == 0:
            trainer.policies.pre_rollout._silent = silent_prompts()
        trainer.fit(manager)
        held = trainer.policies.state_dict()
        left = {part: keys for part, keys in (transfer_queue.kv_list() or {}).items() if keys}
    return seen, held, left


@pytest.fixture(scope="module")
def told(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Told]:
    folder = make_assets(tmp_path_factory.mktemp("verl"))
    composed = [MIX, GRESO, TOPK, SOFTMAX]
    one_by_one = "data.gen_batch_size=1"
    with loaded_verl(), ray_session(1):
        ledgers = [folder / "whole.jsonl", folder / "resumed.jsonl"]
        whole, held, left = trained(
            folder,
            "seq-mean-token-mean",
            composed,
            one_by_one,
            "trainer.save_freq=2",
            f"+dataflex.ledger={ledgers[0]}",
            last=4,
        )
        saved = folder / "checkpoints" / "global_step_2"
        again, held_again, left_again = trained(
            folder,
            "seq-mean-token-mean",
            composed,
            one_by_one,
            "trainer.resume_mode=resume_path",
            f"trainer.resume_from_path={saved}",
            f"+dataflex.ledger={ledgers[1]}",
            last=4,
        )
        corrected, _, left_corrected = trained(
            folder,
            "token-sum",
            [TOPK, SOFTMAX],
            "data.train_batch_size=3",
            "algorithm.rollout_correction.rollout_is=token",
            "actor_rollout_ref.rollout.calculate_log_probs=True",
            "+actor_rollout_ref.rollout.engine_kwargs.hfcpu.misreport=0.3",
            "+dataflex.ledger=none",
        )
        filtered, _, left_filtered = trained(
            folder,
            "seq-mean-token-sum-norm",
            [TOPK],
            "algorithm.filter_groups.enable=True",
            "algorithm.filter_groups.metric=acc",
            "trainer.critic_warmup=2",
            "+dataflex.ledger=none",
            last=3,
        )
        yield Told(
            whole,
            again,
            {
                "whole": held,
                "resumed": held_again,
                "saved": json.loads((saved / "dataflex.json").read_text(encoding="utf-8")),
            },
            [list(read_ledger(path).rows) for path in ledgers],
            corrected,
            filtered,
            [left, left_again, left_corrected, left_filtered],
        )


def closed_form(here: Seen, rows: list[int], mode: str) -> float:
    """Return the policy loss of these rows at ratio 1."""
    sums, counts = [], []
    for row in rows:
        weights = 1.0 if here.weights is None else here.weights[row]
        sums.append(float((here.advantages[row] * weights).sum(dtype=np.float64)))
        counts.append(here.advantages[row].size)
    if mode == "token-sum":
        return -sum(sums)
    if mode == "seq-mean-token-mean":
        return -sum(s / n for s, n in zip(sums, counts, strict=True)) / len(rows)
    return -sum(sums) / len(rows) / HORIZON


# ---------------------------------------------------------------- resumed as if never interrupted


@pytest.mark.parametrize("step", [3, 4])
def test_a_resumed_run_is_the_whole_one(told: Told, step: int) -> None:
    whole, resumed = told.whole[step], told.resumed[step]
    assert resumed.rows == whole.rows
    ours, theirs = whole.by_group(), resumed.by_group()
    assert theirs.keys() == ours.keys()
    for uid, rows in ours.items():
        assert np.array(theirs[uid]) == pytest.approx(np.array(rows), rel=1e-5)
    steady = [n for n in whole.metrics if n.startswith("dataflex/") and "seconds" not in n]
    assert len(steady) > 30
    # Sums over rows in another order differ in the last digits.
    for name in (*steady, "actor/pg_loss", "actor/grad_norm", "actor/entropy"):
        assert resumed.metrics[name] == pytest.approx(whole.metrics[name], rel=1e-5, abs=1e-7)


def test_the_resumed_steps_are_only_those_that_were_left(told: Told) -> None:
    assert sorted(told.whole) == [1, 2, 3, 4]
    assert sorted(told.resumed) == [3, 4]
    assert told.whole[2].by_group().keys().isdisjoint(told.whole[3].by_group())
    whole, resumed = told.ledgers
    assert [row["step"] for row in resumed] == [3, 4]
    for ours, theirs in zip(whole[2:], resumed, strict=True):
        assert theirs["mixer"] == ours["mixer"]
        for name in ("proportion", "quota", "owed", "epoch", "kept_responses", "notes"):
            assert theirs[name] == pytest.approx(ours[name], rel=1e-9)


def test_the_weights_of_the_model_moved(told: Told) -> None:
    assert all(told.whole[step].metrics["actor/grad_norm"] > 0 for step in (1, 2, 3, 4))


# ---------------------------------------------------------------- greso beside a mixture


def test_greso_refills_from_the_domain_so_that_quotas_stand(told: Told) -> None:
    skipped = 0.0
    for row in told.ledgers[0]:
        quota = {name: count for name, count in row["quota"].items() if count}
        assert {name: count for name, count in row["groups"].items() if count} == quota
        drawn = Counter("hard" if r % 2 else "easy" for r in told.whole[row["step"]].rows)
        assert dict(drawn) == quota
        assert row["notes"]["greso_drawn"] == 4 + row["notes"]["greso_skipped"]
        assert row["notes"]["greso_forced"] == 0
        skipped += row["notes"]["greso_skipped"]
    assert skipped > 0


def test_silent_prompts_are_not_sent_and_no_row_comes_twice_in_a_pass(told: Told) -> None:
    rows = [row for step in (1, 2, 3, 4) for row in told.whole[step].rows]
    assert not [row for row in rows if row % 4 == 0]  # sent with probability .01
    hard = [row for row in rows if row % 2]
    assert len(set(hard[:16])) == len(hard[:16])


def test_greso_is_saved_and_goes_on(told: Told) -> None:
    assert told.greso["resumed"] == told.greso["whole"]
    (state,) = told.greso["saved"]["policies"].values()
    assert len(state["silent"]) >= 8  # the eight that were silent from the start are in it


# ---------------------------------------------------------------- losses, in the ways that are left


@pytest.mark.parametrize("step", [1, 2, 3, 4])
def test_sequence_means_of_token_means(told: Told, step: int) -> None:
    here = told.whole[step]
    assert 0 < len(here.kept) < 16
    expected = closed_form(here, here.kept, "seq-mean-token-mean")
    assert here.metrics["actor/pg_loss"] == pytest.approx(expected, rel=1e-4, abs=1e-6)


@pytest.mark.parametrize("step", [1, 2])
def test_token_sums_with_rollout_correction_and_padding(told: Told, step: int) -> None:
    here = told.corrected[step]
    # 3 prompts of 4 responses, in mini-batches of 16 rows: verl adds 4 rows of padding.
    assert sum(here.padding) == 4
    assert not any(here.padding[row] for row in here.kept)
    assert len(here.kept) == 6  # half of the 12 real ones
    assert here.metrics["dataflex/faults_padding"] == 4
    assert here.weights is not None
    assert here.verls_weights is not None
    expected = closed_form(here, here.kept, "token-sum")
    assert here.metrics["actor/pg_loss"] == pytest.approx(expected, rel=1e-4, abs=1e-5)


@pytest.mark.parametrize("step", [1, 2])
def test_our_weights_are_multiplied_with_verls(told: Told, step: int) -> None:
    here = told.corrected[step]
    assert here.weights is not None
    assert here.verls_weights is not None
    kept_tokens = sum(here.advantages[row].size for row in here.kept)
    ours = []
    for row in here.kept:
        verls = here.verls_weights[row]
        # Misreported by .3 where the token's number is odd: exp(.3), and 1 elsewhere.
        assert {round(float(weight), 3) for weight in verls} <= {1.0, 1.35}
        ratio = here.weights[row] / verls
        assert ratio == pytest.approx(np.full(ratio.size, ratio[0]), rel=1e-5)  # one per response
        ours.append(ratio[0] * ratio.size)
    assert any((here.verls_weights[row] > 1.3).any() for row in here.kept)
    assert sum(ours) / kept_tokens == pytest.approx(1.0, rel=1e-5)  # token-sum: mean 1 by token


def test_a_step_in_which_verl_updates_no_actor_is_not_told_as_one(told: Told) -> None:
    here = told.filtered[1]
    assert "actor/pg_loss" not in here.metrics
    assert here.metrics["dataflex/skipped_update"] == 1
    assert here.metrics["dataflex/updated_tokens"] == 0
    assert told.filtered[2].metrics["dataflex/skipped_update"] == 0
    assert told.filtered[2].metrics["dataflex/updated_tokens"] > 0


@pytest.mark.parametrize("step", [2, 3])
def test_filtered_groups_are_replaced_before_we_select(told: Told, step: int) -> None:
    here = told.filtered[step]
    assert len(here.keys) == 16
    assert len({key.split("_")[0] for key in here.keys}) == 4
    assert len(here.rows) >= 4  # those of evicted groups among them
    assert len(here.kept) == 8
    expected = closed_form(here, here.kept, "seq-mean-token-sum-norm")
    assert here.metrics["actor/pg_loss"] == pytest.approx(expected, rel=1e-4, abs=1e-6)


def test_some_groups_were_filtered(told: Told) -> None:
    evicted = [
        value
        for here in told.filtered.values()
        for name, value in here.metrics.items()
        if name.endswith("filter_groups/evicted_samples")
    ]
    assert sum(evicted) > 0


def test_no_run_leaves_anything_in_the_queue(told: Told) -> None:
    assert told.leftovers == [{}, {}, {}, {}]
