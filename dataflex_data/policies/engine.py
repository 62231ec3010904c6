"""The policies of one run: built and checked before training, applied to each step's batch.

Order: mixing decides which prompts are drawn and a pre-rollout selector which of them are sent;
both come before the rollout. After it, responses that can teach nothing go, then each selector
sees what the one before kept, advantages are made anew where members of groups were dropped, and
the weights of all reweighters are multiplied.
"""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from dataflex_data.core.arrays import whole
from dataflex_data.core.config import parse_config
from dataflex_data.core.errors import ConfigError, InputDataError, StateError, UnknownNameError
from dataflex_data.core.rollout import BoolArray, FloatArray, RolloutBatch
from dataflex_data.policies.advantages import recomputed
from dataflex_data.policies.checks import (
    Host,
    MixerCheck,
    host_remarks,
    idle_key_problems,
    pairing_problems,
    pairing_remarks,
    scorer_problems,
)
from dataflex_data.policies.component import (
    REWEIGHTERS,
    SCORERS,
    SELECTORS,
    Reweighter,
    Scorer,
    Scores,
    Selector,
    Turn,
    Unit,
    as_floats,
    build,
)
from dataflex_data.policies.config import ComponentSpec, PoliciesConfig, PolicySpec
from dataflex_data.policies.decision import Decision
from dataflex_data.policies.loss import LossAggMode, check_mode
from dataflex_data.policies.weighting import (
    WeightStats,
    check_weights,
    normalised,
    unit_masses,
    weight_stats,
)

STATE_VERSION = 1
_STATE_KIND = "dataflex_data/policies"


@dataclass(frozen=True, slots=True)
class Active:
    """One policy after its parts were built."""

    place: int
    spec: PolicySpec
    scorer: Scorer | None
    actuator: Selector | Reweighter


class Policies:
    """The policies of a run.

    Args:
        config: The ``dataflex`` block.
        host: What is known of the run; what is known is checked.
        loss_agg_mode: How the loss is averaged, which decides the unit of weights.
        where: What the configuration is, for messages.
        mixers: Looks at the mixer, which is another part's (`dataflex_data.scheduling` brings it
            in); without it a mixer is taken as it stands.

    Attributes:
        remarks: Sentences on what has no effect, or could not be checked, and may stand all the
            same.

    Raises:
        ConfigError: Names, parameters or combinations that cannot work; all at once.
    """

    def __init__(
        self,
        config: PoliciesConfig,
        host: Host | None = None,
        loss_agg_mode: str = "token-mean",
        where: str = "dataflex",
        mixers: MixerCheck | None = None,
    ) -> None:
        self.config = config
        self.host = host or Host()
        self.mode = check_mode(loss_agg_mode)
        self.mix: PolicySpec | None = None
        self.remarks: list[str] = list(host_remarks(self.host))
        self._mixers = mixers
        self._active: list[Active] = []
        problems: list[str] = []
        specs = config.specs
        for place, spec in enumerate(specs):
            prefix = f"policies.{place}: " if len(specs) > 1 else ""
            problems += [f"{prefix}{problem}" for problem in self._add(place, spec)]
        if sum(spec.mechanism == "mix" for spec in specs) > 1:
            problems.append("two policies mix; a run has one mixer")
        if sum(_timing(active) == "pre_rollout" for active in self._active) > 1:
            problems.append("two selectors act before the rollout; a run has one")
        problems += idle_key_problems(config)
        if problems:
            raise ConfigError(where, problems)

    @property
    def active(self) -> tuple[Active, ...]:
        """Selectors and reweighters with their scorers, in the order of the configuration."""
        return tuple(self._active)

    @property
    def pre_rollout(self) -> Selector | None:
        """The selector to be asked before prompts are sent, if there is one."""
        for active in self._active:
            if isinstance(active.actuator, Selector) and _timing(active) == "pre_rollout":
                return active.actuator
        return None

    @property
    def reads(self) -> tuple[str, ...]:
        """Fields of the batch that the scorers read."""
        return tuple(
            sorted({name for a in self._active if a.scorer is not None for name in a.scorer.reads})
        )

    def apply(self, batch: RolloutBatch, step: int) -> Decision:
        """Return what the policies say about the step's batch.

        Raises:
            InputDataError: Nothing is kept and ``on_empty`` is ``error``; values are not finite and
                ``on_invalid`` is ``error``; a component meets what it cannot use; or these are no
                batch and no step.
        """
        if not isinstance(batch, RolloutBatch):
            raise InputDataError(f"policies act on a RolloutBatch, got {type(batch).__name__}")
        step = whole(step, "step", at_least=0)
        clock = _Clock()
        self._check_values(batch, step)
        kept_B = batch.usable_B.copy()
        notes: dict[str, float] = {}
        applied: list[str] = []
        unit: Unit | None = None
        remake = False
        for active in self._active:
            selector = active.actuator
            if not isinstance(selector, Selector) or not self._acts(active, step):
                continue
            mask = self._selected(active, selector, batch, kept_B, step, notes, clock)
            applied.append(selector.name)
            if _timing(active) == "pre_rollout":
                continue
            kept_B[kept_B] = mask
            unit = selector.unit if unit is None or unit == selector.unit else "response"
            remake |= selector.recomputes
        empty = not kept_B.any()
        if empty:
            kept_B = self._on_empty(batch, step)
        skip = not kept_B.any()
        advantages_B = None
        if remake and not empty:
            advantages_B = recomputed(batch, kept_B, by_std=self.host.norm_adv_by_std)
            clock.lap("advantages")
        weights, per_token, stats = None, False, None
        if not skip:
            scored = batch
            if advantages_B is not None:
                scored = batch.with_advantages(advantages_B, kept_B)
            weights, per_token, stats = self._weights(scored, kept_B, step, notes, applied, clock)
        return Decision(
            step=step,
            batch=batch,
            kept_B=kept_B,
            skip_update=skip,
            empty=empty,
            advantages_B=advantages_B,
            weights=weights,
            per_token=per_token,
            weight_stats=stats,
            selection_unit=unit,
            notes=notes,
            applied=tuple(applied),
            seconds=clock.seconds,
        )

    def state_dict(self) -> dict[str, Any]:
        """Return the state of every component that keeps one, as plain values."""
        return {
            "kind": _STATE_KIND,
            "version": STATE_VERSION,
            "policies": {
                f"{a.place}:{a.actuator.name}": a.actuator.state_dict()
                for a in self._active
                if hasattr(a.actuator, "state_dict")
            },
        }

    def load_state_dict(self, state: Mapping[str, Any]) -> None:
        """Take over a state.

        Raises:
            StateError: It is foreign, newer, or of other policies.
        """
        if not isinstance(state, Mapping):
            raise StateError(f"a state of policies is a mapping, got {type(state).__name__}")
        if state.get("kind") != _STATE_KIND or state.get("version") != STATE_VERSION:
            raise StateError(
                f"cannot load a state of kind {state.get('kind')!r}, version "
                f"{state.get('version')!r}; needed are {_STATE_KIND!r}, {STATE_VERSION}"
            )
        here = {
            f"{a.place}:{a.actuator.name}": a.actuator
            for a in self._active
            if hasattr(a.actuator, "load_state_dict")
        }
        held = state.get("policies", {})
        if not isinstance(held, Mapping):
            raise StateError(f"`policies` of the state is a mapping, got {type(held).__name__}")
        if set(held) != set(here):
            raise StateError(
                f"the state is of the policies {sorted(held)}, this run has {sorted(here)}"
            )
        for name, actuator in here.items():
            actuator.load_state_dict(held[name])

    def _add(self, place: int, spec: PolicySpec) -> list[str]:
        if spec.mechanism == "mix":
            self.mix = self.mix or spec
            if self._mixers is None:
                return []
            misplacement = self._kind_of(spec.actuator.name, "mix")
            return misplacement or list(self._mixers.problems(spec, self.host, self.config.domains))
        problems = self._kind_of(spec.actuator.name, spec.mechanism)
        if spec.update_step != 1:
            problems.append(
                f"`update_step: {spec.update_step}` has a meaning for mix only; "
                f"{spec.mechanism} acts at every step"
            )
        if spec.window is not None:
            problems.append(f"`window` has a meaning for mix only, not for {spec.mechanism}")
        misplaced = bool(problems)
        scorer = _built(SCORERS, spec.scorer, problems)
        registry: Any = SELECTORS if spec.mechanism == "select" else REWEIGHTERS
        actuator = None if misplaced else _built(registry, spec.actuator, problems)
        if scorer is not None:
            problems += scorer_problems(scorer, self.host)
        if actuator is not None and (scorer is not None or spec.scorer is None):
            problems += pairing_problems(actuator, scorer, self.host)
        if actuator is not None and not problems:
            self.remarks += pairing_remarks(actuator, scorer)
            self._active.append(Active(place, spec, scorer, actuator))
        return problems

    def _kind_of(self, name: str, mechanism: str) -> list[str]:
        """Return that the actuator belongs to another mechanism, where it does."""
        kinds: dict[str, tuple[str, Any]] = {
            "select": ("selector", SELECTORS),
            "reweight": ("reweighter", REWEIGHTERS),
            "mix": ("mixer", () if self._mixers is None else self._mixers.names),
        }
        if name in kinds[mechanism][1]:
            return []
        return [
            f"{name!r} is a {kind}: write `mechanism: {fitting}`"
            for fitting, (kind, names) in kinds.items()
            if name in names
        ]

    def _acts(self, active: Active, step: int) -> bool:
        return step >= active.spec.warmup_step

    def _check_values(self, batch: RolloutBatch, step: int) -> None:
        if self.config.on_invalid == "drop":
            return
        faults = {
            name: int(mask.sum())
            for name, mask in batch.faults.items()
            if name != "zero_length" and mask.any()
        }
        if faults:
            listed = ", ".join(f"{count} {name}" for name, count in faults.items())
            raise InputDataError(f"step {step}: {listed}, and `on_invalid` is `error`")

    def _on_empty(self, batch: RolloutBatch, step: int) -> BoolArray:
        if self.config.on_empty == "error" and len(batch):
            raise InputDataError(
                f"step {step}: nothing is kept of {len(batch)} responses in {len(batch.groups)} "
                "groups, and `on_empty` is `error`"
            )
        if self.config.on_empty == "keep_all":
            return np.array(batch.usable_B)
        return np.zeros(len(batch), dtype=bool)

    def _selected(
        self,
        active: Active,
        selector: Selector,
        batch: RolloutBatch,
        kept_B: BoolArray,
        step: int,
        notes: dict[str, float],
        clock: _Clock,
    ) -> BoolArray:
        part = batch.take(kept_B)
        scores = Scores(np.zeros(len(part)), "group")
        if active.scorer is not None:
            whole = active.scorer.run(batch, step, self.config.seed)
            scores = whole.take(kept_B, batch.lengths_B)
            clock.lap("score")
        turn = Turn(step, self.config.seed, active.place)
        mask = np.asarray(selector.keep(scores, part, turn))
        if mask.dtype != bool or mask.shape != (len(part),):
            raise InputDataError(
                f"selector {selector.name!r} must return one bool per response ({len(part)}), "
                f"got {mask.dtype} of shape {mask.shape}"
            )
        clock.lap("select")
        _merge(notes, turn.notes)
        return np.asarray(mask, dtype=bool)

    def _weights(
        self,
        batch: RolloutBatch,
        kept_B: BoolArray,
        step: int,
        notes: dict[str, float],
        applied: list[str],
        clock: _Clock,
    ) -> tuple[FloatArray | None, bool, WeightStats | None]:
        part = batch.take(kept_B)
        scaled: list[tuple[FloatArray, bool]] = []
        plain: list[tuple[FloatArray, bool]] = []
        caps: list[float] = []
        for active in self._active:
            reweighter = active.actuator
            if not isinstance(reweighter, Reweighter) or not self._acts(active, step):
                continue
            if active.scorer is None:
                continue  # pairing_problems has refused this
            scores = active.scorer.run(batch, step, self.config.seed).take(kept_B, batch.lengths_B)
            clock.lap("score")
            turn = Turn(step, self.config.seed, active.place)
            raw, unscored = _raw_weights(reweighter, scores, part, turn, self.mode)
            turn.notes["unscored"] = float(unscored)
            _merge(notes, turn.notes)
            (scaled if reweighter.normalises else plain).append(
                (raw, scores.granularity == "token")
            )
            if reweighter.cap is not None:
                caps.append(reweighter.cap)
            applied.append(reweighter.name)
        if not scaled and not plain:
            return None, False, None
        per_token = any(is_token for _, is_token in (*scaled, *plain))

        def product(factors: list[tuple[FloatArray, bool]]) -> FloatArray | None:
            result: FloatArray | None = None
            for values, is_token in factors:
                spread = np.repeat(values, part.lengths_B) if per_token > is_token else values
                result = spread if result is None else result * spread
            return result

        masses = unit_masses(per_token, part.lengths_B, self.mode)
        mean_one, others = product(scaled), product(plain)
        if mean_one is not None:
            mean_one = normalised(mean_one, masses, min(caps, default=None))
        factors = [values for values in (mean_one, others) if values is not None]
        weights = factors[0] if len(factors) == 1 else factors[0] * factors[1]
        whole = weights
        if not kept_B.all():
            mask = np.repeat(kept_B, batch.lengths_B) if per_token else kept_B
            whole = np.zeros(mask.size, dtype=weights.dtype)
            whole[mask] = weights
        stats = weight_stats(weights, masses)
        clock.lap("reweight")
        return whole, per_token, stats


def load_policies(
    data: Mapping[str, Any],
    host: Host | None = None,
    loss_agg_mode: str = "token-mean",
    where: str = "dataflex",
) -> Policies:
    """Return the policies of a ``dataflex`` block given as a plain mapping.

    A mixer is taken as it stands: `dataflex_data.scheduling.load_policies` looks at it too.

    Raises:
        ConfigError: Keys, names, parameters or combinations are wrong.
    """
    return Policies(parse_config(PoliciesConfig, data, where), host, loss_agg_mode, where)


@dataclass(slots=True)
class _Clock:
    seconds: dict[str, float] = field(default_factory=dict)
    _since: float = field(default_factory=time.perf_counter)

    def lap(self, phase: str) -> None:
        now = time.perf_counter()
        self.seconds[phase] = self.seconds.get(phase, 0.0) + now - self._since
        self._since = now


def _built(registry: Any, spec: ComponentSpec | None, problems: list[str]) -> Any:  # noqa: ANN401
    """Return the component, or ``None`` after adding why there is none."""
    if spec is None:
        return None
    try:
        return build(registry, spec.name, spec.params)
    except ConfigError as error:
        problems += [f"{error.where}: {problem}" for problem in error.problems]
    except (UnknownNameError, InputDataError, StateError) as error:
        problems.append(str(error))
    return None


def _timing(active: Active) -> str:
    return active.actuator.timing if isinstance(active.actuator, Selector) else "post_advantage"


def _merge(notes: dict[str, float], new: Mapping[str, float]) -> None:
    for name, value in new.items():
        counted = name in ("unscored", "constant_groups")
        notes[name] = notes.get(name, 0.0) + value if counted else value


def _raw_weights(
    reweighter: Reweighter, scores: Scores, part: RolloutBatch, turn: Turn, mode: LossAggMode
) -> tuple[FloatArray, int]:
    """Return raw weights, those without a score at the mean of the others; and how many."""
    scored = np.isfinite(scores.values)
    missing = scored.size - int(np.count_nonzero(scored))
    if missing == scored.size:
        return np.ones(scored.size), missing
    if not missing:
        return _weighed(reweighter, scores, part, turn), 0
    if scores.granularity == "token":
        # Token scores are looked at one by one: what stands in for a missing one moves no other.
        filled = np.where(scored, scores.values, np.nanmean(scores.values[scored]))
        raw = _weighed(reweighter, Scores(filled, "token"), part, turn)
    else:
        raw = np.zeros(scored.size)
        subset = scores.take(scored, part.lengths_B)
        raw[scored] = _weighed(reweighter, subset, part.take(scored), turn)
    if not reweighter.normalises:
        return np.where(scored, raw, 1.0), missing
    masses = unit_masses(scores.granularity == "token", part.lengths_B, mode)[scored]
    total = float(masses.sum())
    mean = float((raw[scored] * masses).sum()) / total if total else 1.0
    return np.where(scored, raw, mean), missing


def _weighed(reweighter: Reweighter, scores: Scores, part: RolloutBatch, turn: Turn) -> FloatArray:
    name = f"reweighter {reweighter.name!r}"
    raw = as_floats(reweighter.weights(scores, part, turn), name)
    if raw.shape != scores.values.shape:
        raise InputDataError(
            f"{name} must return one weight per score ({scores.values.shape}), "
            f"got shape {raw.shape}"
        )
    check_weights(raw, f"{name}: ")
    return raw
