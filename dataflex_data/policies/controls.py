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
from dataflex_data.policies.component import SELECTORS, Scores, Selector, Turn, Unit, build


class Pair(Config):
    """The selector that a control is matched to."""

    name: str
    params: dict[str, Any] = Field(default_factory=dict)


class ControlParams(Config):
    """Parameters of matched controls: exactly one of the two.

    Attributes:
        pair: The selector to match, run on the same batch and the policy's scorer.
        ledger: Path of the ledger of a run to match, step by step.
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
        InputDataError: The ledger cannot be read or records no selection.
    """

    def __init__(self, params: ControlParams) -> None:
        self.selector: Selector | None = None
        self._rows: dict[int, dict[str, Any]] = {}
        self._path = params.ledger
        if params.pair is not None:
            self.selector = build(SELECTORS, params.pair.name, params.pair.params)
            if self.selector.timing == "pre_rollout":
                raise InputDataError(
                    f"{params.pair.name} acts before the rollout: a control matched to it keeps "
                    "nothing less of a batch; match a selector that acts after it"
                )
        elif params.ledger is not None:
            held = read_ledger(Path(params.ledger))
            self._rows = {row["step"]: row for row in held.rows if "kept_responses" in row}
            if not self._rows:
                raise InputDataError(
                    f"{params.ledger}: records no selection (column kept_responses)"
                )

    @property
    def accepts(self) -> tuple[str, ...]:
        """Scores that the pair can use; without one any will do."""
        return ("group", "response", "token") if self.selector is None else self.selector.accepts

    @property
    def needs_groups(self) -> bool:
        """Whether the pair needs groups."""
        return self.selector is not None and self.selector.needs_groups

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
            InputDataError: The ledger has no such step.
        """
        if self.selector is None:
            row = self._rows.get(turn.step)
            if row is None:
                raise InputDataError(
                    f"{self._path}: has no selection of step {turn.step} to match "
                    f"(steps {min(self._rows)} to {max(self._rows)})"
                )
            return Target(
                self.unit,
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


def _counts(codes: IntArray, n: int) -> list[int]:
    return np.bincount(codes, minlength=n).tolist()  # type: ignore[no-any-return]
