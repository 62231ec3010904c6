"""What a matched control is matched to: the paired selector itself, or another run's ledger.

A policy that drops half of the batch differs from the baseline in two things: which half, and that
it is half. A control that keeps as much, of the same domains, at random, leaves the first alone.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from pydantic import Field, model_validator
from typing_extensions import Self

from dataflex_data.core.config import Config
from dataflex_data.core.errors import InputDataError
from dataflex_data.core.ledger import read_ledger
from dataflex_data.core.rollout import IntArray, RolloutBatch
from dataflex_data.policies.component import (
    SELECTORS,
    Scorer,
    Scores,
    Selector,
    Turn,
    Unit,
    build,
)


class Pair(Config):
    """The selector that a control is matched to.

    Attributes:
        name: Of the selector.
        params: Its parameters.
    """

    name: str
    params: dict[str, Any] = Field(default_factory=dict)


class ControlParams(Config):
    """Parameters of matched controls: exactly one of the two.

    Attributes:
        pair: The selector to match, run on the same batch with the policy's scorer; this or
            ``ledger``.
        ledger: Path of the ledger of a run to match, step by step, without a scorer; this or
            ``pair``.
    """

    pair: Pair | None = None
    ledger: str | None = None

    @model_validator(mode="after")
    def _one(self) -> Self:
        if (self.pair is None) == (self.ledger is None):
            raise ValueError("give exactly one of `pair` and `ledger`")
        return self


@dataclass(frozen=True, slots=True)
class Target:
    """What the paired policy kept in one step.

    Attributes:
        unit: What it keeps as a whole.
        responses: Responses kept, by domain.
        groups: Groups of which anything was kept, by domain.
        tokens: Response tokens kept.
        mask_B: The very responses, where the pair ran on this batch.
    """

    unit: Unit
    responses: Mapping[str, int]
    groups: Mapping[str, int]
    tokens: int
    mask_B: np.ndarray[tuple[int], np.dtype[np.bool_]] | None = None  # noqa: N815


class Match:
    """Gives the target of each step.

    Raises:
        UnknownNameError: No selector has the pair's name.
        ConfigError: Its parameters are wrong.
        InputDataError: The ledger cannot be read or records no selection; or the pair acts before
            the rollout.
    """

    def __init__(self, params: ControlParams) -> None:
        self.selector: Selector | None = None
        self._rows: dict[int, dict[str, Any]] = {}
        self._domains: list[str] = []
        self._path = params.ledger
        if params.pair is not None:
            self.selector = build(SELECTORS, params.pair.name, params.pair.params)
            if self.selector.timing == "pre_rollout":
                raise InputDataError(
                    f"{params.pair.name} acts before the rollout: a control matched to it keeps "
                    "nothing less of a batch; match a selector that acts after it"
                )
        elif params.ledger is not None:
            self._rows = _selections(Path(params.ledger))
            self._domains = sorted({name for row in self._rows.values() for name in _named(row)})

    @property
    def accepts(self) -> tuple[str, ...]:
        """Scores that the pair can use; without one any will do."""
        return ("group", "response", "token") if self.selector is None else self.selector.accepts

    @property
    def needs_groups(self) -> bool:
        """Whether the pair needs groups."""
        return self.selector is not None and self.selector.needs_groups

    @property
    def reads_scorer(self) -> bool:
        """Whether the pair reads scores; a ledger does not."""
        return self.selector is not None and self.selector.reads_scorer

    def idle(self, scorer: Scorer | None, group_size: int | None) -> str | None:
        """Return why the pair can change nothing."""
        why = None if self.selector is None else self.selector.idle(scorer, group_size)
        return None if why is None else f"its pair: {why}"

    @property
    def unit(self) -> Unit:
        """What the pair keeps as a whole."""
        if self.selector is not None:
            return self.selector.unit
        units = [row.get("selection_unit") for row in self._rows.values()]
        return next((unit for unit in units if unit is not None), "response")

    @property
    def recomputes(self) -> bool:
        """Whether the pair makes advantages anew."""
        return self.selector.recomputes if self.selector is not None else self.unit == "member"

    def target(self, scores: Scores, batch: RolloutBatch, turn: Turn) -> Target:
        """Return what the paired policy keeps in this step.

        Raises:
            InputDataError: The ledger has no such step, or knows a domain of the batch not at all.
        """
        if self.selector is None:
            row = self._rows.get(turn.step)
            if row is None:
                raise InputDataError(
                    f"{self._path}: has no selection of step {turn.step} to match "
                    f"(steps {min(self._rows)} to {max(self._rows)})"
                )
            self._check_domains(batch)
            return Target(
                row.get("selection_unit") or self.unit,
                {name: int(count) for name, count in row["kept_responses"].items()},
                {name: int(count) for name, count in (row.get("kept_groups") or {}).items()},
                int(row["kept_tokens"]),
            )
        own = Turn(turn.step, turn.seed, turn.place)
        mask_B = self.selector.keep(scores, batch, own)
        groups = batch.groups
        touched_P = groups.any(mask_B)
        names = batch.domain_names
        domain_P = batch.domain_B[groups.heads_P]
        return Target(
            self.selector.unit,
            dict(zip(names, _counts(batch.domain_B[mask_B], len(names)), strict=True)),
            dict(zip(names, _counts(domain_P[touched_P], len(names)), strict=True)),
            int(batch.lengths_B[mask_B].sum()),
            mask_B,
        )

    def _check_domains(self, batch: RolloutBatch) -> None:
        strange = [name for name in batch.domain_names if name not in self._domains]
        if len(batch) and strange:
            here = "no domains" if not batch.has_domains else ", ".join(batch.domain_names)
            raise InputDataError(
                f"{self._path}: has the domains {', '.join(self._domains)}, this run has {here}: "
                "a control keeps as many of each domain as the run that it replays; give both runs "
                "the same data and `domain_key`"
            )


def _selections(path: Path) -> dict[int, dict[str, Any]]:
    """Return a ledger's rows by step.

    Raises:
        InputDataError: No selector acted in any of them, or one lacks what was kept.
    """
    rows = {row["step"]: row for row in read_ledger(path).rows if "kept_responses" in row}
    units = {row.get("selection_unit") for row in rows.values()} - {None}
    if not units:
        acted = sorted({name for row in rows.values() for name in row.get("actuators", "").split()})
        ran = f"only {', '.join(acted)} acted" if acted else "no policy acted"
        raise InputDataError(
            f"{path}: records no selection ({ran}): there is nothing to match a control to; "
            "give the ledger of a run that selects after the rollout"
        )
    wanted = ("kept_tokens", "kept_groups") if "group" in units else ("kept_tokens",)
    for step, row in rows.items():
        lacking = [name for name in wanted if row.get(name) is None]
        if lacking:
            raise InputDataError(f"{path}: step {step} lacks {', '.join(lacking)}")
    return rows


def _named(row: Mapping[str, Any]) -> set[str]:
    """Return the domains that a row of a ledger names."""
    return {*row["kept_responses"], *(row.get("generated_responses") or {})}


def _counts(codes: IntArray, n: int) -> list[int]:
    return np.bincount(codes, minlength=n).tolist()  # type: ignore[no-any-return]
