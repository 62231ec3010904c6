"""`dataflex_sync`: verl's synchronous trainer, with a mixture, a selection and weights in it.

One trainer for all mechanisms and their composition. It changes four things of a step: which
prompts are drawn, what is written beside the advantages, which rows the update is made of, and what
is reported. Everything else, and all of it without a policy, is verl's.
"""

from __future__ import annotations

import json
import logging
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np

from dataflex_data.core.errors import MissingExtraError, StateError
from dataflex_data.core.ledger import Ledger
from dataflex_data.core.parquet import replace_file
from dataflex_data.core.seeding import hex_id

try:
    from torchdata.stateful_dataloader import StatefulDataLoader
    from verl.trainer.ppo.v1.trainer_sync import PPOTrainerSync
    from verl.utils import tensordict_utils
    from verl.utils.dataset.rl_dataset import collate_fn
except ModuleNotFoundError as error:
    raise MissingExtraError(str(error.name), "verl", "the trainer inside verl") from error

from dataflex_data.integrations.verl import adapter
from dataflex_data.integrations.verl.checks import host_of
from dataflex_data.integrations.verl.prompts import ANY, admitted, from_domains
from dataflex_data.integrations.verl.record import ledger_path, ledger_run
from dataflex_data.integrations.verl.report import ledger_values, mixture_metrics
from dataflex_data.integrations.verl.sampler import build_sampler
from dataflex_data.integrations.verl.settings import plain, run_settings
from dataflex_data.integrations.verl.updates import plan_update
from dataflex_data.policies.decision import Decision
from dataflex_data.policies.engine import Policies
from dataflex_data.policies.record import ledger_row
from dataflex_data.policies.record import metrics as policy_metrics
from dataflex_data.policies.selectors.greso import Greso
from dataflex_data.samplers import DataFlexSampler, StepSignals

_BASE_FIELDS = ("rewards", "uid", "domain", "lengths")
_STATE_FILE = "dataflex.json"
_LOG = logging.getLogger("dataflex_data.verl")


class DataFlexTrainer(PPOTrainerSync):  # type: ignore[misc]
    """verl's synchronous trainer with data policies.

    Args:
        config: verl's configuration, with a ``dataflex`` block.

    Raises:
        ConfigError: The block, or its combination with verl's keys, cannot work; all at once.
    """

    def __init__(self, config: Any) -> None:  # noqa: ANN401 - verl's
        self.settings = run_settings(plain(config.get("dataflex")))
        actor = config.actor_rollout_ref.actor
        self.policies = Policies(self.settings, host_of(plain(config)), actor.loss_agg_mode)
        for remark in self.policies.remarks:
            _LOG.warning("dataflex: %s", remark)
        self.sampler: DataFlexSampler | None = None
        self.decision: Decision | None = None
        self.ledger: Ledger | None = None
        self.seconds: dict[str, float] = {}
        self._row: dict[str, Any] = {}
        self._prompt_by_uid: dict[str, str] = {}
        self._sent: dict[str, float] = {}
        self._fetched = (-1, 0)
        self.staleness = 0
        self._reported = -1
        self.train_dataloader: Any = None
        super().__init__(config)
        if self.settings.poll_interval_s is not None:
            self.replay_buffer.poll_interval = self.settings.poll_interval_s

    @property
    def trainer_mode(self) -> str:
        """``sync``: verl takes its asynchronous branches for every mode of another name."""
        return "sync"

    @trainer_mode.setter
    def trainer_mode(self, value: str) -> None:
        self.registered_mode = value

    # ------------------------------------------------------------------ prompts and state

    def _init_dataloader(self) -> None:
        super()._init_dataloader()
        mix = self.settings.mix
        if mix is None:
            return
        self.sampler = build_sampler(self.train_dataset, plain(self.config.data), mix)
        stock = self.train_dataloader
        self.train_dataloader = StatefulDataLoader(
            dataset=self.train_dataset,
            batch_size=stock.batch_size,
            num_workers=stock.num_workers,
            drop_last=True,
            collate_fn=collate_fn,
            sampler=self.sampler,
        )

    def _save_checkpoint(self) -> None:
        # Before verl's part, which ends by naming the checkpoint as the one to resume from.
        state = self.policies.state_dict()
        if state["policies"]:
            with replace_file(self._state_path(self.global_steps)) as partial:
                partial.write_text(json.dumps(state), encoding="utf-8")
        super()._save_checkpoint()

    def _load_checkpoint(self) -> None:
        super()._load_checkpoint()
        if self.global_steps == 0:
            return
        self._reported = self.global_steps - 1  # batches are counted from 0
        again = "resume from a whole checkpoint, or start afresh with trainer.resume_mode=disable"
        if self.sampler is not None and self.train_dataloader.next_iter_state is None:
            raise StateError(
                f"the checkpoint of step {self.global_steps} holds no state of the data loader "
                f"(data.pt), so that the mixture would begin anew in the middle of the run; {again}"
            )
        if not self.policies.state_dict()["policies"]:
            return
        path = self._state_path(self.global_steps)
        if not path.is_file():
            raise StateError(f"{path}: the policies' state is missing; {again}")
        self.policies.load_state_dict(json.loads(path.read_text(encoding="utf-8")))

    def _state_path(self, step: int) -> Path:
        if self.config.trainer.resume_mode == "resume_path" and self.ledger is None:
            return Path(self.config.trainer.resume_from_path) / _STATE_FILE
        return Path(self.config.trainer.default_local_dir) / f"global_step_{step}" / _STATE_FILE

    def fit(self, agent_loop_manager: Any) -> None:  # noqa: ANN401 - verl's
        """Train; the ledger is closed however it ends."""
        try:
            super().fit(agent_loop_manager)
        finally:
            if self.ledger is not None:
                self.ledger.close()

    def on_train_begin(self) -> None:
        """Open the ledger at the step that comes first."""
        super().on_train_begin()
        config = plain(self.config)
        path = ledger_path(config, self.settings)
        if path is not None:
            run = ledger_run(config, self.settings)
            self.ledger = Ledger(path, run, first_step=self.global_steps)

    def _fetch_one_gen_batch(self) -> Any:  # noqa: ANN401 - verl's tensordict
        fetched = super()._fetch_one_gen_batch()
        names = [self._next_uid() for _ in range(len(fetched))]
        tensordict_utils.assign_non_tensor_stack(fetched, "uid", names)
        return fetched

    def _next_uid(self) -> str:
        """Return a name for an occurrence of a prompt: verl's is random, and no run would repeat.

        Ties and draws are decided by it.
        """
        step, fetched = self._fetched
        fetched = fetched + 1 if step == self.global_steps else 0
        self._fetched = (self.global_steps, fetched)
        return hex_id("dataflex/uid", self.settings.seed, self.global_steps, fetched)

    def _next_train_batch(self, num_prompts: int | None = None) -> Any:  # noqa: ANN401
        greso = self._greso
        if greso is None:
            return super()._next_train_batch(num_prompts)
        slots = [ANY] * (num_prompts or self.config.data.train_batch_size)
        draw: Callable[[str], Any] = lambda _: self._fetch_one_gen_batch()  # noqa: E731
        if self.sampler is not None:
            planned = [self._fetch_one_gen_batch() for _ in slots]
            slots, draw = from_domains(planned, self.settings.domain_key, self._further_prompt)
        batch, self._prompt_by_uid, self._sent = admitted(
            greso, slots, draw, self.global_steps, self.settings.seed
        )
        return batch

    def _further_prompt(self, domain: str) -> Any:  # noqa: ANN401 - verl's tensordict
        """Return a domain's next prompt beyond its quota, as verl fetches one; or ``None``."""
        if self.sampler is None:
            return None
        rows = self.sampler.draw_more(domain, 1)
        if not rows:
            return None
        fields = collate_fn([self.train_dataset[rows[0]]])
        fields["uid"] = np.array([self._next_uid()], dtype=object)
        return tensordict_utils.get_tensordict(fields)

    @property
    def _greso(self) -> Greso | None:
        """The selector that is asked before prompts are sent, from its first step on."""
        for active in self.policies.active:
            if isinstance(active.actuator, Greso) and self.global_steps >= active.spec.warmup_step:
                return active.actuator
        return None

    # ------------------------------------------------------------------ results

    def _compute_advantage(self, batch: Any, metrics: dict[str, Any]) -> Any:  # noqa: ANN401
        batch = super()._compute_advantage(batch, metrics)
        self.seconds = {"own": 0.0, "queue": 0.0}
        with self._timed("queue"):
            fields = adapter.fetch(batch, self._wanted)
        with self._timed("own"):
            step = adapter.Step(
                batch,
                fields,
                domain_key=self.settings.domain_key,
                extra_columns=self._extra_columns,
                group_size=self.config.actor_rollout_ref.rollout.n,
                prompt_by_uid=self._prompt_by_uid if self._greso is not None else None,
            )
            self._report_to_mixer(step)
            decision = self.decision = self.policies.apply(step.batch, self.global_steps)
            written = self._to_write(step, decision)
            self._row = ledger_row(decision)
            if self.config.trainer.critic_warmup > self.global_steps:  # verl updates no actor yet
                self._row.update(update="skipped", updated_tokens=0)
            if self._greso is not None:
                self._row["notes"].update(self._sent, **self._greso.observe(step.batch))
            metrics.update(policy_metrics(self._row))
            metrics.update(self._update_numbers(0, 0, 0))  # until there is one
            if self.sampler is not None:
                metrics.update(mixture_metrics(self.sampler))
        if written:
            with self._timed("queue"):
                batch = adapter.put(batch, written)
        return batch

    @property
    def _extra_columns(self) -> list[str]:
        base = (*_BASE_FIELDS, *adapter.TOKEN_FIELDS)
        return [name for name in self.policies.reads if name not in base]

    @property
    def _wanted(self) -> list[str]:
        names = ["uid", "rm_scores", "response_mask", "rollout_is_weights", "advantages"]
        names += [n for n in self.policies.reads if n in adapter.TOKEN_FIELDS]
        names.append(self.settings.domain_key.split(".")[0])
        names += ["extra_info"] if self._extra_columns else []
        return list(dict.fromkeys(names))

    def _report_to_mixer(self, step: adapter.Step) -> None:
        if self.sampler is None:
            return
        rollouts = step.batch
        drawn = int(self.sampler.explain()["step"])
        self.sampler.update(
            StepSignals(
                domains=[rollouts.domain_names[d] for d in rollouts.domain_B.tolist()],
                uids=rollouts.groups.of_B,
                rewards=rollouts.rewards_B,
                advantages=rollouts.abs_advantages_B,
                lengths=rollouts.lengths_B,
            )
        )
        self.staleness, self._reported = drawn - self._reported, drawn

    def _to_write(self, step: adapter.Step, decision: Decision) -> dict[str, Any]:
        """Return the fields that carry the decision to the workers."""
        if decision.skip_update or not self.policies.active:
            return {}
        fields: dict[str, Any] = {}
        if decision.advantages_B is not None:
            lengths_B = decision.batch.lengths_B
            made = np.repeat(decision.advantages_B, lengths_B)
            held = decision.batch.tokens("advantages")
            fields["advantages"] = step.spread(np.where(np.isnan(made), held, made), 0.0)
        if self.settings.mode == "weights" and self._dropped(decision):
            mode = self.policies.mode
            weights = decision.compensated_weights(mode, self._mini_batch_rows)
            fields["rollout_is_weights"] = step.weights(weights)
        elif decision.weights is not None:
            fields["rollout_is_weights"] = step.weights(decision.token_weights())
        return fields

    # ------------------------------------------------------------------ the update

    def _update_actor(self, batch: Any, metrics: dict[str, Any]) -> Any:  # noqa: ANN401
        decision = self.decision
        if decision is None:
            return super()._update_actor(batch, metrics)
        if decision.skip_update:
            return batch
        n_steps = -(-len(batch) // self._mini_batch_rows)
        metrics.update(self._update_numbers(int(decision.kept_B.sum()), 0, n_steps))
        if not self.policies.active:
            return super()._update_actor(batch, metrics)
        dropped = self._dropped(decision)
        if not dropped or self.settings.mode == "weights":
            return super()._update_actor(batch, metrics)
        if self.settings.mode == "mask":
            with adapter.zero_masks(batch, dropped):
                super()._update_actor(batch, metrics)
            return batch
        self._update_with(batch, decision, dropped, metrics)
        return batch  # the whole one: verl's metrics and its clearing of the queue need it

    def _dropped(self, decision: Decision) -> list[int]:
        """Return the rows that are left out; those without a token count only if others are."""
        lengths_B = decision.batch.lengths_B
        if not (~decision.kept_B & (lengths_B > 0)).any():
            return []
        return [int(row) for row in decision.batch.rows_B[~decision.kept_B]]

    @property
    def _mini_batch_rows(self) -> int:
        actor = self.config.actor_rollout_ref.actor
        return int(actor.ppo_mini_batch_size * self.config.actor_rollout_ref.rollout.n)

    def _update_with(
        self,
        batch: Any,  # noqa: ANN401 - KVBatchMeta
        decision: Decision,
        dropped: list[int],
        metrics: dict[str, Any],
    ) -> None:
        """Update on the kept rows alone, with every number that verl derives from their count."""
        actor = self.config.actor_rollout_ref.actor
        padding = sorted(set(range(len(batch))) - set(decision.batch.rows_B.tolist()))
        plan = plan_update(
            decision.kept_rows.tolist(),
            [*dropped, *padding],
            [int(tag["seq_len"]) for tag in batch.tags],
            ranks=max(self.actor_rollout_wg._dispatch_info["actor"]) + 1,
            mini_batch_rows=self._mini_batch_rows,
            micro_batch_size=None if actor.use_dynamic_bsz else actor.ppo_micro_batch_size_per_gpu,
        )
        part = batch.select_keys([batch.keys[row] for row in plan.order])
        part.extra_info = dict(batch.extra_info or {})
        numbers: dict[str, Any] = {
            "mini_batch_size": plan.mini_batch_size,
            "global_batch_size": plan.mean_kept,
        }
        if not actor.use_dynamic_bsz:
            numbers["micro_batch_size_per_gpu"] = plan.micro_batch_size
        if plan.n_mini > 1:
            # The rows are dealt so that no optimiser step consists of fill; shuffling might.
            numbers["dataloader_kwargs"] = {"shuffle": False}
        with adapter.zero_masks(batch, plan.fill), self._pinned(numbers):
            super()._update_actor(part, metrics)
        n_filled = len(plan.fill)
        metrics.update(self._update_numbers(len(plan.order) - n_filled, n_filled, plan.n_mini))

    def _update_numbers(self, updated: int, filled: int, n_mini: int) -> dict[str, float]:
        """Return the metrics of an update: its rows, those that only fill up, and its steps."""
        epochs = int(self.config.actor_rollout_ref.actor.ppo_epochs)
        return {
            "dataflex/updated_rows": float(updated),
            "dataflex/filled_rows": float(filled),
            "dataflex/optimiser_steps": float(n_mini * epochs),
        }

    @contextmanager
    def _pinned(self, numbers: dict[str, Any]) -> Iterator[None]:
        """Let our numbers stand where verl's update would write those of the whole batch."""
        workers = self.actor_rollout_wg
        update = workers.update_actor

        def update_actor(part: Any) -> Any:  # noqa: ANN401 - KVBatchMeta
            part.extra_info.update(numbers)
            return update(part)

        workers.update_actor = update_actor
        try:
            yield
        finally:
            workers.update_actor = update

    # ------------------------------------------------------------------ the record

    def _compute_metrics(
        self,
        batch: Any,  # noqa: ANN401 - KVBatchMeta
        metrics: dict[str, Any],
        timing_raw: dict[str, float],
        **rest: Any,  # noqa: ANN401 - verl's
    ) -> None:
        super()._compute_metrics(batch, metrics, timing_raw, **rest)
        metrics.update({f"dataflex/seconds_{name}": s for name, s in self.seconds.items()})
        if self.sampler is not None:
            metrics["dataflex/staleness"] = float(self.staleness)
        if self.ledger is not None:
            seconds = {**timing_raw, **{f"dataflex_{n}": s for n, s in self.seconds.items()}}
            self.ledger.append(self.global_steps, **ledger_values(self._row, self.sampler, seconds))

    @contextmanager
    def _timed(self, name: str) -> Iterator[None]:
        began = time.perf_counter()
        try:
            yield
        finally:
            self.seconds[name] += time.perf_counter() - began
