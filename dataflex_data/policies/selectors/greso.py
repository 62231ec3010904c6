"""Skip, before the rollout, prompts whose groups have had nothing to teach of late."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, ClassVar

import numpy as np
from pydantic import Field, model_validator
from typing_extensions import Self

from dataflex_data.core.config import Config
from dataflex_data.core.errors import InputDataError, StateError
from dataflex_data.core.rollout import BoolArray, RolloutBatch
from dataflex_data.core.seeding import keyed_hash
from dataflex_data.policies.component import (
    Scorer,
    Scores,
    Selector,
    Turn,
    Unit,
    register_selector,
)

STATE_VERSION = 1
_STATE_KIND = "dataflex_data/greso"


class GresoParams(Config):
    """Parameters of `Greso`.

    Attributes:
        p_easy: Chance of visiting again a prompt whose last group was solved throughout.
        p_hard: The same for one whose last group failed throughout.
        floor: Least chance of a visit, however long a prompt has been silent.
        success_threshold: Mean reward from which a constant group counts as solved.
        target_easy: Share of groups solved throughout that the chance is steered to; ``None``
            keeps ``p_easy`` as it is.
        target_hard: The same for groups that fail throughout.
        adjust: What a step moves a steered chance by.
        max_tries: Candidates looked at per prompt wanted, before skipped ones are taken after all.

    The paper's steering has targets of 1/12 and 1/6 and steps of .01 (unverified); it is off here
    until targets are given.
    """

    p_easy: float = Field(default=0.5, gt=0, le=1)
    p_hard: float = Field(default=0.5, gt=0, le=1)
    floor: float = Field(default=0.01, gt=0, le=1)
    success_threshold: float = Field(default=0.5, allow_inf_nan=False)
    target_easy: float | None = Field(default=None, ge=0, le=1)
    target_hard: float | None = Field(default=None, ge=0, le=1)
    adjust: float = Field(default=0.01, gt=0, lt=1)
    max_tries: int = Field(default=20, ge=1)

    @model_validator(mode="after")
    def _steers(self) -> Self:
        steered = self.target_easy is not None or self.target_hard is not None
        if "adjust" in self.model_fields_set and not steered:
            raise ValueError("adjust has no effect without `target_easy` or `target_hard`")
        return self


@dataclass(slots=True)
class Filled:
    """The prompts to send, and how they were come by.

    Attributes:
        prompts: By domain, exactly as many as the quota.
        drawn: Candidates looked at.
        skipped: Candidates not sent: groups not generated.
        forced: Sent although skipped, for want of others.
    """

    prompts: dict[str, list[Any]] = field(default_factory=dict)
    drawn: int = 0
    skipped: int = 0
    forced: int = 0


@register_selector("greso")
class Greso(Selector):
    """Skip with probability ``1 - max(p^z, floor)``, z the prompt's trailing silent visits.

    A visit is silent when the group's valid rewards are all equal. It acts before prompts are sent
    and saves their generation; every skipped prompt is replaced by another of the same domain, so
    that quotas hold. Whether a prompt is skipped is drawn by (seed, step, prompt, candidate).

    Source: GRESO, arXiv 2506.02177, section 4.
    """

    Params: ClassVar[type[Config]] = GresoParams
    timing: ClassVar[str] = "pre_rollout"
    granularities: ClassVar[tuple[str, ...]] = ("group", "response", "token")
    needs_groups: ClassVar[bool] = True
    needs_scorer: ClassVar[bool] = False
    params: GresoParams

    def __init__(self, params: GresoParams, **unknown: object) -> None:
        super().__init__(params, **unknown)
        self.p_easy, self.p_hard = params.p_easy, params.p_hard
        self._silent: dict[str, tuple[int, bool]] = {}

    @property
    def unit(self) -> Unit:
        """Whole groups, before they exist."""
        return "group"

    def idle(self, scorer: Scorer | None, group_size: int | None) -> str | None:
        """With a chance of 1 nothing is ever skipped."""
        del scorer, group_size
        params = self.params
        if params.floor == 1:
            return "`floor: 1` sends every prompt; set it below 1"
        steered = params.target_easy is not None or params.target_hard is not None
        if params.p_easy == params.p_hard == 1 and not steered:
            return "`p_easy: 1` and `p_hard: 1` send every prompt; set one below 1"
        return None

    def keep(self, scores: Scores, batch: RolloutBatch, turn: Turn) -> BoolArray:
        """Return all: what is here was admitted before its rollout."""
        del scores, turn
        return np.ones(len(batch), dtype=bool)

    def chance(self, prompt: object) -> float:
        """Return the probability with which the prompt is sent."""
        visits, easy = self._silent.get(_key(prompt), (0, False))
        return max((self.p_easy if easy else self.p_hard) ** visits, self.params.floor)

    def admits(self, prompt: object, step: int, seed: int = 0, candidate: int = 0) -> bool:
        """Return whether the prompt is sent, drawn by (seed, step, prompt, candidate)."""
        draw = keyed_hash("dataflex/greso", seed, step, _key(prompt), candidate) / 2**64
        return draw < self.chance(prompt)

    def fill(
        self,
        quota: Mapping[str, int],
        draw: Callable[[str], object | None],
        step: int,
        seed: int = 0,
    ) -> Filled:
        """Return as many prompts of each domain as the quota says, drawn from that domain.

        Args:
            quota: Prompts per domain.
            draw: Gives the next prompt of a domain, as the sampler orders them; ``None`` where
                there is no other.
            step: Training step.
            seed: Of the run.
        """
        filled = Filled()
        for domain, wanted in quota.items():
            sent: list[Any] = []
            passed: list[Any] = []
            for candidate in range(wanted * self.params.max_tries):
                if len(sent) == wanted:
                    break
                prompt = draw(domain)
                if prompt is None:
                    break
                filled.drawn += 1
                (sent if self.admits(prompt, step, seed, candidate) else passed).append(prompt)
            # Never a short batch: the least silent of those passed over are sent after all.
            missing = wanted - len(sent)
            passed.sort(key=lambda prompt: -self.chance(prompt))
            sent += passed[:missing]
            filled.forced += min(missing, len(passed))
            filled.skipped += len(passed) - min(missing, len(passed))
            filled.prompts[domain] = sent
        return filled

    def observe(self, batch: RolloutBatch) -> dict[str, float]:
        """Take in what became of the prompts that were sent; return what to record.

        Groups without two valid responses say nothing and change nothing.

        Raises:
            InputDataError: The batch does not say which prompts its groups belong to.
        """
        prompts = batch.prompts_P
        if prompts is None:
            raise InputDataError(
                "greso needs `prompts` in the batch: the identity of each prompt across epochs, "
                "such as its row number; uids are new at every occurrence"
            )
        part = batch.take(batch.valid_B)
        told = part.prompts_P
        if told is None or not len(part.groups):
            return {}
        sizes_P = part.groups.sizes_P
        anchor_B = part.rewards_B[part.groups.heads_P][part.groups.of_B]
        silent_P = ~part.groups.any(part.rewards_B != anchor_B)
        easy_P = part.rewards_B[part.groups.heads_P] >= self.params.success_threshold
        clear = sizes_P > 1
        for prompt, silent, easy in zip(
            told[clear].tolist(), silent_P[clear].tolist(), easy_P[clear].tolist(), strict=True
        ):
            key = _key(prompt)
            if silent:
                self._silent[key] = (self._silent.get(key, (0, False))[0] + 1, easy)
            else:
                self._silent.pop(key, None)
        n = max(int(clear.sum()), 1)
        easy_share = float((silent_P & easy_P & clear).sum() / n)
        hard_share = float((silent_P & ~easy_P & clear).sum() / n)
        self.p_easy = self._steered(self.p_easy, easy_share, self.params.target_easy)
        self.p_hard = self._steered(self.p_hard, hard_share, self.params.target_hard)
        return {
            "greso_easy_share": easy_share,
            "greso_hard_share": hard_share,
            "greso_p_easy": self.p_easy,
            "greso_p_hard": self.p_hard,
            "greso_silent_prompts": float(len(self._silent)),
        }

    def _steered(self, p: float, share: float, target: float | None) -> float:
        if target is None:
            return p
        moved = p - self.params.adjust if share >= target else p + self.params.adjust
        return min(max(moved, self.params.floor), 1.0)

    def state_dict(self) -> dict[str, Any]:
        """Return the silent prompts and the two chances as plain values."""
        return {
            "kind": _STATE_KIND,
            "version": STATE_VERSION,
            "p_easy": self.p_easy,
            "p_hard": self.p_hard,
            "silent": {key: [visits, int(easy)] for key, (visits, easy) in self._silent.items()},
        }

    def load_state_dict(self, state: Mapping[str, Any]) -> None:
        """Take over a state.

        Raises:
            StateError: It is not one of this selector, or newer.
        """
        if not isinstance(state, Mapping):
            raise StateError(f"the state of greso is a mapping, got {type(state).__name__}")
        if state.get("kind") != _STATE_KIND or state.get("version") != STATE_VERSION:
            raise StateError(
                f"greso cannot load a state of kind {state.get('kind')!r}, version "
                f"{state.get('version')!r}; it needs {_STATE_KIND!r}, {STATE_VERSION}"
            )
        faults = [name for name in ("p_easy", "p_hard", "silent") if name not in state]
        if faults:
            raise StateError(f"the state of greso lacks {', '.join(faults)}")
        try:
            chances = float(state["p_easy"]), float(state["p_hard"])
            silent = {
                str(key): (int(visits), bool(easy))
                for key, (visits, easy) in state["silent"].items()
            }
        except (AttributeError, TypeError, ValueError) as error:
            raise StateError(f"the state of greso is damaged: {error}") from None
        (self.p_easy, self.p_hard), self._silent = chances, silent


def _key(prompt: object) -> str:
    """Return the prompt's identity as text that tells ``1`` from ``"1"``."""
    if isinstance(prompt, np.generic):
        prompt = prompt.item()
    return f"s{prompt}" if isinstance(prompt, str) else f"i{prompt!r}"
