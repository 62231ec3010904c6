"""`DataFlexSampler`: the stream of batches as a torch sampler of row numbers.

It hands out one row number after the other, as torch's own samplers do, so that any DataLoader
takes it. Its order never depends on the number of workers, only on the seed, and on the reports
where the mixer is adaptive.
"""

from __future__ import annotations

import itertools
import operator
import warnings
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import fields
from typing import Any

from dataflex_data.core.errors import (
    InputDataError,
    MissingExtraError,
    MixtureError,
    ShortfallError,
    StateError,
)
from dataflex_data.samplers.domain_index import ROW_ID, DomainIndex, DomainLabels
from dataflex_data.samplers.mixer import Mixer, build_mixer
from dataflex_data.samplers.planner import MixtureWarning
from dataflex_data.samplers.signals import StepCounts, StepSignals
from dataflex_data.samplers.steering import OnInert, SteeringRules
from dataflex_data.samplers.stream import MixtureStream, OnChange
from dataflex_data.samplers.whole import check_whole

try:
    from torch.utils.data import Sampler
except ImportError as error:
    raise MissingExtraError("torch", "torch", "DataFlexSampler") from error


class DataFlexSampler(Sampler[int]):
    """Row numbers by exact quotas that may change at every step.

    Within a domain no row comes again before all have come; what proportions promise, quotas pay to
    the last row; and a run resumed from `state_dict` continues as if it had not been interrupted.

    An iteration is one pass of ``steps_per_pass`` batches, and the next continues where the last
    ended; nothing ever restarts. Give the DataLoader the same ``batch_size``, and ``num_workers=0``
    where the mixer is adaptive: workers draw batches before the results of earlier ones are known.

    Args:
        data_source: Rows with their domains; see `DomainIndex.build`.
        batch_size: Prompts of one training step, over all ranks.
        mixer: Name of a registered mixer, or a mixer built for these domains.
        mixer_params: Parameters for a mixer given by name.
        seed: Decides the order.
        domain_key: Column that holds the domain.
        domains: The domains there must be, no more and no fewer; ``None`` takes those found.
        id_key: Column of row ids, by which changed data are recognised.
        content_digest: Anything that changes when the data do, where there are no ids.
        max_epochs: How often a domain's rows may be drawn: one number, or by name. An exhausted
            domain's quota goes to the others, with a warning.
        steps_per_pass: Batches of one iteration; ``None`` is as many as the rows fill.
        rank: Which share of each batch to hand out.
        world_size: In how many shares; a state may be resumed at another number.
        warmup_steps: Batches by the mixer's initial proportions before it acts.
        update_every: Batches between two changes of the proportions.
        max_ahead: Batches that may be out, unreported, when another is drawn.
        inert_after: Updates without movement under a constant signal before that is said.
        on_inert: ``warn`` or ``error``.
        on_change: ``error`` or ``adapt``: a state of other data, batch size or mixer; see
            `MixtureStream.load_state_dict`.

    Raises:
        InputDataError: The data, domains or numbers do not fit together.
        ConfigError: The mixer's parameters are wrong; all at once.
        UnknownNameError: There is no mixer of that name.
    """

    def __init__(
        self,
        data_source: DomainLabels | DomainIndex,
        batch_size: int,
        mixer: str | Mixer = "static",
        mixer_params: Mapping[str, Any] | None = None,
        *,
        seed: int = 0,
        domain_key: str = "domain",
        domains: Sequence[str] | None = None,
        id_key: str = ROW_ID,
        content_digest: str = "",
        max_epochs: int | Mapping[str, int] | None = None,
        steps_per_pass: int | None = None,
        rank: int = 0,
        world_size: int = 1,
        warmup_steps: int = 1,
        update_every: int = 1,
        max_ahead: int = 0,
        inert_after: int = 10,
        on_inert: OnInert = "warn",
        on_change: OnChange = "error",
    ) -> None:
        seed = check_whole("seed", seed, 0)
        batch_size = check_whole("batch_size", batch_size, 1)
        world_size = check_whole("world_size", world_size, 1)
        rank = check_whole("rank", rank, 0)
        if isinstance(data_source, DomainIndex):
            _refuse_unread(domain_key, domains, id_key, content_digest)
        index = (
            data_source
            if isinstance(data_source, DomainIndex)
            else DomainIndex.build(
                data_source,
                domain_key=domain_key,
                domains=domains,
                id_key=id_key,
                content_digest=content_digest,
            )
        )
        if isinstance(mixer, str):
            mixer = build_mixer(mixer, mixer_params, index.names, seed)
        elif mixer_params is not None:
            raise InputDataError("mixer_params belong to a mixer given by name; drop one of them")
        elif not isinstance(mixer, Mixer):
            raise InputDataError(f"mixer must be a name or a Mixer, got {mixer!r}")
        rules = SteeringRules(warmup_steps, update_every, max_ahead, inert_after, on_inert)
        self.stream = MixtureStream(
            index,
            batch_size,
            mixer,
            seed=seed,
            max_epochs=max_epochs,
            rules=rules,
            on_change=on_change,
        )
        if not mixer.adaptive:
            _tell_without_effect(mixer.name, rules)
        if rank >= world_size:
            raise InputDataError(f"rank {rank} does not exist among {world_size} ranks")
        if batch_size % world_size:
            raise InputDataError(
                f"a batch of {batch_size} rows cannot be shared evenly by {world_size} ranks "
                f"({batch_size} mod {world_size} = {batch_size % world_size})"
            )
        if steps_per_pass is not None:
            steps_per_pass = check_whole("steps_per_pass", steps_per_pass, 1)
        self.batch_size, self.rank, self.world_size = batch_size, rank, world_size
        self.steps_per_pass = steps_per_pass or index.n_rows // batch_size
        self._rows: Iterator[int] = iter(())
        self._opened = False

    def __iter__(self) -> Iterator[int]:
        # Chained in C: a generator that yielded each number would cost more than all the rest.
        return itertools.chain.from_iterable(self._pass())

    def __len__(self) -> int:
        """Row numbers of one pass on this rank."""
        return self.steps_per_pass * (self.batch_size // self.world_size)

    def _pass(self) -> Iterator[Iterator[int]]:
        """Yield the rows of the batches that are left of the pass, batch by batch."""
        used_up = not self._opened or operator.length_hint(self._rows) == 0
        if used_up and self._open_next() is None:
            raise ShortfallError(
                "max_epochs is reached: no whole batch is left. Raise max_epochs, or end training"
            )
        while True:
            yield self._rows
            if self.stream.next_step % self.steps_per_pass == 0 or self._open_next() is None:
                self._opened = False
                return

    def _open_next(self) -> Iterator[int] | None:
        rows = self.stream.next_rows(self.rank, self.world_size)
        if rows is None:
            return None
        self._rows, self._opened = iter(rows), True
        return self._rows

    @property
    def _handed_out(self) -> int:
        """Rows of the open batch handed out on all ranks, which go in step."""
        if not self._opened:
            return self.batch_size
        return self.batch_size - operator.length_hint(self._rows) * self.world_size

    def update(self, signals: StepSignals | Mapping[str, Any]) -> StepCounts:
        """Tell the mixer what became of a batch, over all ranks; see `StepSignals`.

        Where it raises, nothing has changed.

        Returns:
            Real groups, rollouts and tokens per domain.

        Raises:
            InputDataError: Malformed: lengths, unknown domain, values that are not finite.
            MixtureError: Not of a batch that is out, or of other rows than its quota.
        """
        return self.stream.report(signals)

    def draw_more(self, domain: str, count: int) -> list[int]:
        """Return further rows of a domain in place of some that are not used.

        See `MixtureStream.draw_more`; every rank gets the same.
        """
        return self.stream.draw_more(domain, count)

    @property
    def domains(self) -> tuple[str, ...]:
        """Domain names, sorted."""
        return self.stream.index.names

    @property
    def proportions(self) -> dict[str, float]:
        """Proportions of the batch opened last; before the first, those it will have."""
        return self.stream.proportions

    @property
    def quota(self) -> dict[str, int]:
        """Rows per domain of the batch opened last; before the first, those it will have."""
        return self.stream.quota

    def explain(self, step: int | None = None) -> dict[str, Any]:
        """Return why a recent batch was what it was; see `MixtureStream.explain`."""
        return self.stream.explain(step)

    def metrics(self) -> dict[str, float]:
        """Return flat numbers for a tracker."""
        return self.stream.metrics()

    def check_loader(self, num_workers: int, batch_size: int | None = None) -> None:
        """Refuse a DataLoader that would not give the mixture asked for, before anything is drawn.

        Args:
            num_workers: Of the DataLoader.
            batch_size: Of the DataLoader; ``None`` where it fetches in pieces on purpose.

        Raises:
            InputDataError: A number is none.
            MixtureError: Workers with an adaptive mixer, or another batch size.
        """
        num_workers = check_whole("num_workers", num_workers, 0)
        if batch_size is not None:
            batch_size = check_whole("the DataLoader's batch_size", batch_size, 1)
        if num_workers and self.stream.mixer.adaptive:
            raise MixtureError(
                f"num_workers={num_workers} with the adaptive mixer {self.stream.mixer.name!r}: "
                f"{2 * num_workers + 2} batches would be drawn before the first result is known, "
                "and a resume would lose updates. Set num_workers=0 "
                "(verl: data.dataloader_num_workers=0)"
            )
        share = self.batch_size // self.world_size
        if batch_size is not None and batch_size != share:
            raise MixtureError(
                f"the DataLoader's batch_size is {batch_size}, the sampler plans {share} rows per "
                "rank and batch; make them equal"
            )

    def state_dict(self) -> dict[str, Any]:
        """Return where the order stands, as plain JSON values; changes nothing."""
        return self.stream.state_dict(self._handed_out)

    def load_state_dict(self, state_dict: Mapping[str, Any]) -> None:
        """Continue where ``state_dict`` stands; where it is refused, nothing has changed.

        Raises:
            StateError: Foreign, newer, damaged, of another seed, or (without
                ``on_change="adapt"``) of other data, batch size or mixer; or a batch that was open
                cannot be shared by this number of ranks.
        """
        opened = state_dict.get("open") if isinstance(state_dict, Mapping) else None
        offset = opened[0] if isinstance(opened, Sequence) and opened else 0
        if isinstance(offset, int) and (self.batch_size - offset) % self.world_size:
            raise StateError(
                f"the state was saved {offset} rows into a batch of {self.batch_size}; the "
                f"{self.batch_size - offset} left cannot be shared by {self.world_size} ranks. "
                "Resume with a number of ranks that divides them"
            )
        self.stream.load_state_dict(state_dict)
        self._rows, self._opened = iter(()), False


def _refuse_unread(
    domain_key: str, domains: Sequence[str] | None, id_key: str, content_digest: str
) -> None:
    """Refuse what `DomainIndex.build` would have read, where the index is built already.

    Raises:
        InputDataError: One of them was given.
    """
    given = {
        "domain_key": domain_key != "domain",
        "domains": domains is not None,
        "id_key": id_key != ROW_ID,
        "content_digest": bool(content_digest),
    }
    unread = [name for name, is_given in given.items() if is_given]
    if unread:
        raise InputDataError(
            f"{', '.join(unread)}: without effect on a DomainIndex, which is built already; give "
            "them to DomainIndex.build"
        )


def _tell_without_effect(mixer: str, rules: SteeringRules) -> None:
    """Say which rules were given that change nothing where results do not steer the mixer."""
    changed = [field.name for field in fields(rules) if getattr(rules, field.name) != field.default]
    if changed:
        warnings.warn(
            f"{', '.join(changed)}: without effect on the mixer {mixer!r}, whose proportions do "
            "not depend on results",
            MixtureWarning,
            stacklevel=3,
        )
