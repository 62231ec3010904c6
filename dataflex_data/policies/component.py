"""What scorers, selectors and reweighters are, how they are registered, and how one is built.

A component is one file of its folder here, or a class in a user's own file: registered by
decorator, or through the entry point groups ``dataflex_data.scorers``, ``.selectors`` and
``.reweighters``. It declares what it reads and what it fits, so that a combination that cannot work
is refused before training (`dataflex_data.policies.checks`).
"""

from __future__ import annotations

import inspect
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any, ClassVar, Literal, TypeAlias, TypeVar

import numpy as np
import numpy.typing as npt

from dataflex_data.core.arrays import as_numbers
from dataflex_data.core.config import Config, parse_config
from dataflex_data.core.errors import ConfigError, InputDataError, did_you_mean
from dataflex_data.core.registry import Registry
from dataflex_data.core.rollout import BoolArray, FloatArray, IntArray, RolloutBatch
from dataflex_data.policies.weight_params import WeightParams

Granularity: TypeAlias = Literal["group", "response", "token"]
Timing: TypeAlias = Literal["pre_rollout", "post_reward", "post_advantage"]
Unit: TypeAlias = Literal["group", "member", "response"]

TIMINGS = ("pre_rollout", "post_reward", "post_advantage")
GRANULARITIES = ("group", "prompt", "response", "token")
C = TypeVar("C")


class NoParams(Config):
    """Parameters of a component that has none."""


class Component(ABC):  # noqa: B024 - its kinds have the abstract methods
    """Common ground of scorers, selectors and reweighters.

    Class attributes:
        name: Registry name.
        Params: Model of the parameters, handed to the constructor as ``params``. ``None`` means
            that the constructor takes them as keyword arguments, as users' own classes may.
        needs_groups: Whether it only makes sense with several responses per prompt.

    Raises:
        ConfigError: Keyword arguments that no constructor of the class took.
    """

    name: ClassVar[str] = ""
    Params: ClassVar[type[Config] | None] = None
    needs_groups: ClassVar[bool] = False

    def __init__(self, params: Config | None = None, **unknown: object) -> None:
        if unknown:
            raise ConfigError(
                self.name or type(self).__name__,
                [f"parameter `{name}` is not known" for name in unknown],
            )
        self.params = params


@dataclass(frozen=True, slots=True)
class Scores:
    """What a scorer says about a batch.

    Attributes:
        values: One per response; for the granularity ``token`` one per token, flat. A group's score
            stands at each of its responses.
        granularity: What one score is about.
        hits_B: For a score that is a share of a group: how many of its responses count, exactly.
        sizes_B: Of how many.
    """

    values: FloatArray
    granularity: Granularity
    hits_B: IntArray | None = None  # noqa: N815 - shape suffix
    sizes_B: IntArray | None = None  # noqa: N815

    def take(self, mask_B: BoolArray, lengths_B: IntArray) -> Scores:
        """Return the scores of the responses where the mask holds."""
        if mask_B.all():
            return self
        mask = np.repeat(mask_B, lengths_B) if self.granularity == "token" else mask_B
        return Scores(
            self.values[mask],
            self.granularity,
            None if self.hits_B is None else self.hits_B[mask_B],
            None if self.sizes_B is None else self.sizes_B[mask_B],
        )


class Scorer(Component):
    """Gives one number per group, response or token.

    Class attributes:
        requires: Fields of the batch that it reads: ``rewards``, ``uid``, ``domain``, ``lengths``,
            ``advantages``, ``old_log_probs``, ``entropy``, or extra columns. It may read no others.
        timing: When they exist.
        granularity: What one score is about; ``prompt`` is the public plugin's word for a group
            where ``needs_groups`` holds, else for a response.
        bounds: The least and the largest score there can be, where that is known.
    """

    requires: ClassVar[tuple[str, ...] | list[str]] = ()
    timing: ClassVar[str] = "post_reward"
    granularity: str = "response"
    bounds: ClassVar[tuple[float, float] | None] = None

    def __init_subclass__(cls, **kwargs: Any) -> None:  # noqa: ANN401 - of type's own hook
        super().__init_subclass__(**kwargs)
        for attribute, known in (("timing", TIMINGS), ("granularity", GRANULARITIES)):
            value = getattr(cls, attribute)
            if isinstance(value, str) and value not in known:
                raise ConfigError(
                    cls.__name__,
                    [f"{attribute} {value!r} is not one of {', '.join(known)}"],
                )

    @abstractmethod
    def score(self, batch: RolloutBatch, step_id: int, **ctx: object) -> npt.ArrayLike | Scores:
        """Return the scores: one per response, or one per token (flat) for granularity ``token``.

        Args:
            batch: The step's real responses.
            step_id: The training step.
            ctx: ``seed``, for scorers that draw.
        """

    @property
    def reads(self) -> tuple[str, ...]:
        """Fields that it reads with these parameters."""
        return tuple(self.requires)

    @property
    def score_granularity(self) -> Granularity:
        """`granularity` in this package's words."""
        if self.granularity == "prompt":
            return "group" if self.needs_groups else "response"
        return self.granularity  # type: ignore[return-value]

    def attainable(self, group_size: int) -> Sequence[Fraction] | None:
        """Return all scores that whole groups can have, where they are few; ``None`` elsewhere."""
        del group_size
        return None

    def run(self, batch: RolloutBatch, step_id: int, seed: int = 0) -> Scores:
        """Return the scores, checked.

        Raises:
            InputDataError: The batch lacks a field, the result has another length than declared,
                or a group score differs inside a group.
        """
        lacking = [name for name in self.reads if name not in batch.fields]
        if lacking:
            raise InputDataError(
                f"scorer {self.name!r} reads {', '.join(lacking)}, which the batch does not have "
                f"(it has: {', '.join(batch.fields)})"
            )
        result = self.score(batch, step_id, seed=seed)
        scores = (
            result
            if isinstance(result, Scores)
            else Scores(as_floats(result, f"scorer {self.name!r}"), self.score_granularity)
        )
        return self.checked(scores, batch)

    def checked(self, scores: Scores, batch: RolloutBatch) -> Scores:
        """Return the scores if they have the shape that was declared."""
        wanted = batch.n_tokens if scores.granularity == "token" else len(batch)
        if scores.values.shape != (wanted,):
            raise InputDataError(
                f"scorer {self.name!r} returned shape {scores.values.shape}; granularity "
                f"{scores.granularity!r} needs ({wanted},)"
            )
        if scores.granularity == "group" and len(batch):
            head_B = batch.groups.heads_P[batch.groups.of_B]
            differs = (scores.values != scores.values[head_B]) & ~np.isnan(scores.values)
            if differs.any():
                at = int(np.flatnonzero(differs)[0])
                raise InputDataError(
                    f"scorer {self.name!r}: a group score must be equal in a group, but group "
                    f"'{batch.uids_P[batch.groups.of_B[at]]}' has {scores.values[head_B[at]]:g} "
                    f"and {scores.values[at]:g}"
                )
        return scores


@dataclass(frozen=True, slots=True)
class Turn:
    """What a selector or reweighter knows beyond batch and scores.

    Attributes:
        step: Training step.
        seed: Of the run.
        place: Which of the run's policies this is, so that two of one name draw apart.
        notes: What it wants in the ledger and the metrics, added by the component.
    """

    step: int
    seed: int = 0
    place: int = 0
    notes: dict[str, float] = field(default_factory=dict)


class Actuator(Component):
    """Common ground of what acts on scores.

    Class attributes:
        granularities: Scores that it can use.
    """

    granularities: ClassVar[tuple[str, ...]] = ("group", "response")

    @property
    def accepts(self) -> tuple[str, ...]:
        """Granularities that it can use with these parameters."""
        return self.granularities

    def idle(self, scorer: Scorer | None, group_size: int | None) -> str | None:
        """Return why it can change nothing, or leave nothing, whatever comes; ``None`` if it can.

        Asked before training, so that a configuration without effect is refused.

        Args:
            scorer: What it would read.
            group_size: Responses per prompt, where known.
        """
        del scorer, group_size
        return None


class Selector(Actuator):
    """Says which responses the update is made of.

    Class attributes:
        granularities: Scores that it can use.
        timing: ``post_advantage``; ``pre_rollout`` for those asked before prompts are sent.
        needs_scorer: False where there is nothing that it could do with one.
    """

    timing: ClassVar[str] = "post_advantage"
    needs_scorer: ClassVar[bool] = True

    @property
    def unit(self) -> Unit:
        """What it keeps or drops as a whole: a ``group``, a ``member`` of one, any ``response``.

        Where members are dropped, the advantages of those kept are made anew among themselves.
        """
        return "group"

    @property
    def recomputes(self) -> bool:
        """Whether advantages are made anew on what is kept."""
        return self.unit == "member"

    @property
    def reads_scorer(self) -> bool:
        """Whether it reads scores with these parameters; where not, the scorer may be left out."""
        return self.needs_scorer

    @abstractmethod
    def keep(self, scores: Scores, batch: RolloutBatch, turn: Turn) -> BoolArray:
        """Return which responses are kept, one bool per response of ``batch``.

        All of ``batch`` may be: faulty responses, and those that an earlier selector dropped, are
        not in it.

        Args:
            scores: Of these responses; ``scores.values`` is one per response, or one per token.
            batch: What is left to choose from.
            turn: Step, seed, and ``notes`` to add to.
        """


class MemberParams(Config):
    """Parameters of every `MemberSelector`.

    Attributes:
        recompute: Make the advantages of those kept anew among themselves.
    """

    recompute: bool = True


class MemberSelector(Selector):
    """A selector that keeps some responses of each group."""

    granularities: ClassVar[tuple[str, ...]] = ("response",)
    needs_groups: ClassVar[bool] = True
    params: MemberParams

    @property
    def unit(self) -> Unit:
        """Members of groups."""
        return "member"

    @property
    def recomputes(self) -> bool:
        """As the parameter says."""
        return self.params.recompute


class TokenScoreParams(Config):
    """Parameters of every `TokenScorer`.

    Attributes:
        agg: ``none`` gives one score per token; the others one per response, over its tokens.
    """

    agg: Literal["none", "mean", "sum", "max", "min"] = "none"


class TokenScorer(Scorer):
    """A scorer of tokens, or with an ``agg`` of responses over their tokens."""

    Params: ClassVar[type[Config] | None] = TokenScoreParams
    timing: ClassVar[str] = "post_advantage"
    granularity = "token"
    params: TokenScoreParams

    @property
    def score_granularity(self) -> Granularity:
        """A token's, or with an ``agg`` a response's."""
        return "token" if self.params.agg == "none" else "response"

    def score(self, batch: RolloutBatch, step_id: int, **ctx: object) -> Scores:
        """Return the tokens' scores, or what ``agg`` makes of them."""
        del step_id, ctx
        scores_T = self.token_scores(batch)
        if self.params.agg == "none":
            return Scores(scores_T, "token")
        return Scores(batch.per_response(scores_T, self.params.agg), "response")

    @abstractmethod
    def token_scores(self, batch: RolloutBatch) -> FloatArray:
        """Return one score per token, flat."""


class Reweighter(Actuator):
    """Says how strongly each response or token counts.

    Class attributes:
        granularities: Scores that it can use.
    """

    @property
    def normalises(self) -> bool:
        """Whether weights are scaled to mean 1 in the unit of the loss."""
        return self.params.normalize if isinstance(self.params, WeightParams) else True

    @property
    def cap(self) -> float | None:
        """Largest weight after scaling; ``None`` for no limit."""
        return self.params.cap if isinstance(self.params, WeightParams) else None

    def idle(self, scorer: Scorer | None, group_size: int | None) -> str | None:
        """A cap at the mean leaves nothing above it."""
        del scorer, group_size
        return "`cap: 1` makes all weigh the same; set it higher" if self.cap == 1 else None

    @abstractmethod
    def weights(self, scores: Scores, batch: RolloutBatch, turn: Turn) -> npt.ArrayLike:
        """Return raw weights of at least 0, one per score.

        They are scaled afterwards, and multiplied with those of other reweighters.

        Args:
            scores: Of the responses of ``batch``; ``scores.values`` are finite here.
            batch: The responses that are kept.
            turn: Step, seed, and ``notes`` to add to.
        """


SCORERS: Registry[type[Scorer]] = Registry(
    "scorer", package="dataflex_data.policies.scorers", entry_point_group="dataflex_data.scorers"
)
SELECTORS: Registry[type[Selector]] = Registry(
    "selector",
    package="dataflex_data.policies.selectors",
    entry_point_group="dataflex_data.selectors",
)
REWEIGHTERS: Registry[type[Reweighter]] = Registry(
    "reweighter",
    package="dataflex_data.policies.reweighters",
    entry_point_group="dataflex_data.reweighters",
)


def register_scorer(name: str) -> Callable[[type[C]], type[C]]:
    """Return a decorator that makes a `Scorer` known by name."""
    return _registering(SCORERS, name, Scorer)


def register_selector(name: str) -> Callable[[type[C]], type[C]]:
    """Return a decorator that makes a `Selector` known by name."""
    return _registering(SELECTORS, name, Selector)


def register_reweighter(name: str) -> Callable[[type[C]], type[C]]:
    """Return a decorator that makes a `Reweighter` known by name."""
    return _registering(REWEIGHTERS, name, Reweighter)


def _registering(
    registry: Registry[Any], name: str, base: type[Component]
) -> Callable[[type[C]], type[C]]:
    def add(kind: type[C]) -> type[C]:
        if not (isinstance(kind, type) and issubclass(kind, base)):
            raise ConfigError(
                f"{registry.kind} {name}", [f"{kind!r} must be a subclass of {base.__name__}"]
            )
        registry.register(name)(kind)
        kind.name = name
        return kind

    return add


def build(registry: Registry[type[C]], name: str, params: Mapping[str, Any] | None = None) -> C:
    """Return the component registered as ``name`` with these parameters.

    Raises:
        UnknownNameError: No component has that name.
        ConfigError: Parameters are unknown, missing or ill-typed; all at once.
    """
    kind: Any = registry.get(name)
    where = f"{registry.kind} {name}"
    params = dict(params or {})
    if kind.Params is not None:
        return kind(parse_config(kind.Params, params, where))  # type: ignore[no-any-return]
    accepted = {
        parameter.name: parameter
        for parameter in inspect.signature(kind.__init__).parameters.values()
        if parameter.kind in (parameter.POSITIONAL_OR_KEYWORD, parameter.KEYWORD_ONLY)
        and parameter.name not in ("self", "params", "scorer")
    }
    problems = [
        f"key `{key}` is not known{did_you_mean(str(key), accepted)}"
        + (f" (known keys: {', '.join(sorted(accepted))})" if accepted else "")
        for key in params
        if key not in accepted
    ]
    problems += [
        f"key `{key}` is missing"
        for key, parameter in accepted.items()
        if parameter.default is parameter.empty and key not in params
    ]
    if problems:
        raise ConfigError(where, problems)
    return kind(**params)  # type: ignore[no-any-return]


def as_floats(values: Any, what: str) -> FloatArray:  # noqa: ANN401 - array, list or tensor
    """Return a component's result as floats.

    Raises:
        InputDataError: It is no numbers; ``what`` says whose.
    """
    array = as_numbers(values, what)
    return array if array.dtype.kind == "f" else array.astype(np.float64)
