"""Mixers tried side by side: against the learner of `learner`, or on a logged table of rewards.

Against the learner a mixer runs in the very loop that trains: the same stream, quotas, checks and
reports. On a log nothing reacts: what was logged is what every mixer sees, whatever it would have
drawn, so that the run shows where a mixer would have gone and not what would have come of it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from dataflex_data.core.config import Config
from dataflex_data.core.errors import DataflexError, InputDataError
from dataflex_data.core.ledger import Ledger
from dataflex_data.core.simplex import UNIT, FloatArray, fixed_shares, plan_quota
from dataflex_data.samplers.domain_index import DomainIndex
from dataflex_data.samplers.domain_tracker import DomainTracker
from dataflex_data.samplers.learner import DomainModel, Learner
from dataflex_data.samplers.mixer import Mixer, build_mixer
from dataflex_data.samplers.signals import NEEDS, StepSignals
from dataflex_data.samplers.steering import SteeringRules
from dataflex_data.samplers.stream import MixtureStream


class MixerSpec(Config):
    """A mixer to try.

    Attributes:
        label: Name in tables, plots and file names.
        name: Registered name.
        params: Its parameters.
    """

    label: str
    name: str
    params: dict[str, Any]


@dataclass(frozen=True, slots=True)
class SimulationSettings:
    """What all mixers of a simulation share.

    Attributes:
        steps: Batches.
        batch_size: Prompts of a batch.
        group_size: Responses per prompt, at least 2.
        seed: Of sampler and learner.
        repeats: Runs per mixer, with the seeds ``seed``, ``seed + 1``, ...
        rules: When mixers act.
    """

    steps: int
    batch_size: int
    group_size: int
    seed: int
    repeats: int
    rules: SteeringRules


@dataclass(frozen=True, slots=True)
class Trajectory:
    """One mixer's first run, and how all of its runs ended.

    Attributes:
        label: Of the mixer.
        mixer: Its name.
        proportions_SD: By step.
        reward_SD: Mean reward of the batch by domain; NaN where the domain was not in it.
        solve_rate_SD: Expected solve rate by domain before the step, and after the last; empty for
            a log.
        finals: Mean solve rate over domains at the end, one per repeat.
        averages: Mean of the same over all steps, one per repeat.
    """

    label: str
    mixer: str
    proportions_SD: FloatArray  # noqa: N815 - shape suffix
    reward_SD: FloatArray  # noqa: N815
    solve_rate_SD: FloatArray  # noqa: N815
    finals: tuple[float, ...] = ()
    averages: tuple[float, ...] = ()

    @property
    def moved(self) -> bool:
        """Whether the proportions were ever others than at first."""
        return bool(np.any(self.proportions_SD != self.proportions_SD[0]))


def simulate(
    models: Mapping[str, DomainModel],
    mixers: Sequence[MixerSpec],
    settings: SimulationSettings,
    ledger_folder: Path | None,
) -> list[Trajectory]:
    """Return one trajectory per mixer, in their order.

    Args:
        models: The learner's domains.
        mixers: What to try.
        settings: Shared by all.
        ledger_folder: Where each mixer's first run leaves ``LABEL.jsonl``; ``None`` for nowhere.

    Raises:
        DataflexError: A mixer cannot be built for these domains, or its run refuses to go on; the
            message names it.
    """
    index = DomainIndex.build({name: model.rows for name, model in models.items()})
    for spec in mixers:
        _built(spec, index.names, settings.seed)  # every fault before the first run
    trajectories = []
    for spec in mixers:
        runs = [
            _run(models, index, spec, settings, repeat, ledger_folder if repeat == 0 else None)
            for repeat in range(settings.repeats)
        ]
        first = runs[0]
        trajectories.append(
            Trajectory(
                label=spec.label,
                mixer=spec.name,
                proportions_SD=first.proportions_SD,
                reward_SD=first.reward_SD,
                solve_rate_SD=first.solve_rate_SD,
                finals=tuple(float(run.solve_rate_SD[-1].mean()) for run in runs),
                averages=tuple(float(run.solve_rate_SD.mean()) for run in runs),
            )
        )
    return trajectories


def best_fixed_mixture(
    models: Mapping[str, DomainModel], settings: SimulationSettings
) -> dict[str, float]:
    """Return the fixed mixture that should end highest; see `Learner.best_fixed`."""
    names = sorted(models)
    best = Learner(models, names, settings.group_size, settings.seed).best_fixed(settings.steps)
    return dict(zip(names, best.tolist(), strict=True))


def _built(spec: MixerSpec, domains: Sequence[str], seed: int) -> Mixer:
    try:
        return build_mixer(spec.name, spec.params, domains, seed)
    except DataflexError as error:
        told = str(error).removeprefix(f"mixer {spec.name}: ")
        raise InputDataError(f"mixer {spec.label}: {told}") from None


def _run(
    models: Mapping[str, DomainModel],
    index: DomainIndex,
    spec: MixerSpec,
    settings: SimulationSettings,
    repeat: int,
    ledger_folder: Path | None,
) -> Trajectory:
    seed = settings.seed + repeat
    stream = MixtureStream(
        index,
        settings.batch_size,
        _built(spec, index.names, seed),
        seed=seed,
        rules=settings.rules,
    )
    learner = Learner(models, index.names, settings.group_size, seed)
    proportions, rewards, rates = [], [], [learner.solve_rate_D]
    ledger = None
    if ledger_folder is not None:
        ledger = Ledger(ledger_folder / f"{spec.label}.jsonl", _run_of(spec, settings))
    for step in range(settings.steps):
        batch = stream.next_batch()
        if batch is None:
            raise InputDataError(f"mixer {spec.label}: the order ended at step {step}")
        lesson = learner.answer(step, batch.rows, index.domains_of(batch.rows))
        counts = stream.report(lesson.signals)
        proportions.append(batch.plan.proportions_D)
        rewards.append([lesson.reward_by_domain.get(name, np.nan) for name in index.names])
        rates.append(learner.solve_rate_D)
        if ledger is not None:
            numbers = stream.metrics()
            ledger.append(
                step,
                mixer=spec.name,
                proportion=stream.proportions,
                quota=stream.quota,
                owed=_by_domain(numbers, "owed", index.names),
                epoch=_by_domain(numbers, "epoch", index.names),
                signal=_by_domain(numbers, "signal", index.names),
                reward=lesson.reward_by_domain,
                groups=dict(zip(index.names, counts.groups_D.tolist(), strict=True)),
                inert=numbers.get("inert"),
            )
    if ledger is not None:
        ledger.close()
    return Trajectory(
        spec.label, spec.name, np.array(proportions), np.array(rewards), np.array(rates)
    )


def _by_domain(
    numbers: Mapping[str, float], prefix: str, names: Sequence[str]
) -> dict[str, float | None]:
    return {name: numbers.get(f"{prefix}_{name}") for name in names}


def _run_of(spec: MixerSpec, settings: SimulationSettings) -> dict[str, Any]:
    return {
        "simulation": spec.label,
        "mixer": spec.name,
        "params": spec.params,
        "seed": settings.seed,
        "batch_size": settings.batch_size,
        "group_size": settings.group_size,
    }


def replay(
    log: Sequence[StepSignals],
    domains: Sequence[str],
    mixers: Sequence[MixerSpec],
    settings: SimulationSettings,
    ledger_folder: Path | None,
) -> list[Trajectory]:
    """Return where each mixer would have gone on a log.

    Args:
        log: One report per step, from `log.read_log`.
        domains: Names, sorted.
        mixers: What to try.
        settings: ``group_size`` and ``repeats`` are not used.
        ledger_folder: Where each mixer leaves ``LABEL.jsonl``; ``None`` for nowhere.

    Raises:
        InputDataError: A mixer cannot be built, or the log lacks its signal.
    """
    built = [_built(spec, domains, settings.seed) for spec in mixers]
    return [
        _replay_one(log, mixer, spec, settings, ledger_folder)
        for mixer, spec in zip(built, mixers, strict=True)
    ]


def _replay_one(
    log: Sequence[StepSignals],
    mixer: Mixer,
    spec: MixerSpec,
    settings: SimulationSettings,
    ledger_folder: Path | None,
) -> Trajectory:
    domains = mixer.domains
    tracker = DomainTracker(
        domains, mixer.wanted_signal, mixer.window, mixer.window_unit, mixer.solve_threshold
    )
    seen_by = DomainTracker(domains, "mean_reward", 1)
    plenty = np.full(len(domains), 1 << 30)
    deficit = [0] * len(domains)
    proportions: list[FloatArray] = []
    rewards: list[FloatArray] = []
    ledger = None
    if ledger_folder is not None:
        run = {**_run_of(spec, settings), "replay": True}
        ledger = Ledger(ledger_folder / f"{spec.label}.jsonl", run)
    for step, signals in enumerate(log[: settings.steps]):
        stats = tracker.stats(step, settings.batch_size, plenty, plenty)
        blind = mixer.adaptive and (step < settings.rules.warmup_steps or not stats.groups_D.any())
        due = (step - settings.rules.warmup_steps) % settings.rules.update_every == 0
        if blind:
            p = mixer.initial_proportions(stats)
        elif due or not proportions or not mixer.adaptive:
            p = mixer.proportions(stats)
        quota = plan_quota(deficit, fixed_shares(p).tolist(), settings.batch_size)
        deficit = quota.deficit
        reading = tracker.read(signals)
        if mixer.wanted_signal != "none" and not reading.values_U.size:
            raise InputDataError(
                f"mixer {spec.label}: needs the signal {mixer.wanted_signal!r}, and step {step} of "
                f"the log has no `{NEEDS[mixer.wanted_signal]}`"
            )
        tracker.add(reading, step, p)
        mixer.observe(tracker.stats(step + 1, settings.batch_size, plenty, plenty))
        seen_by.add(seen_by.read(signals), step, p)
        proportions.append(p)
        rewards.append(seen_by.latest_D)
        if ledger is not None:
            named = dict(zip(domains, seen_by.latest_D.tolist(), strict=True))
            ledger.append(
                step,
                mixer=spec.name,
                proportion=dict(zip(domains, p.tolist(), strict=True)),
                quota=dict(zip(domains, quota.counts, strict=True)),
                owed={name: d / UNIT for name, d in zip(domains, deficit, strict=True)},
                reward={name: r for name, r in named.items() if np.isfinite(r)},
            )
    if ledger is not None:
        ledger.close()
    return Trajectory(
        spec.label, spec.name, np.array(proportions), np.array(rewards), np.empty((0, len(domains)))
    )
