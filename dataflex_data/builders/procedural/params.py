"""Parameters that both procedural sources share, and their base class."""

from __future__ import annotations

from typing import ClassVar, cast

from pydantic import field_validator, model_validator

from dataflex_data.builders.procedural.family import LEVELS, Families
from dataflex_data.builders.procedural.generate import ProblemPlan, generate
from dataflex_data.builders.source import (
    GeneratedSource,
    Generation,
    GenerationRequest,
    SourceParams,
)
from dataflex_data.core.errors import did_you_mean

# A change of any text, answer, parameter range or order of drawing needs a new number.
GENERATOR_VERSION = 2


class ProceduralParams(SourceParams):
    """Parameters of a procedural source.

    Attributes:
        families: Families in equal shares; or a mapping of family to share; empty means all.
        levels: Levels of difficulty in equal shares; or a mapping of level to share.
    """

    known_families: ClassVar[Families]

    families: tuple[str, ...] | dict[str, float] = ()
    levels: tuple[int, ...] | dict[int, float] = LEVELS

    @field_validator("families")
    @classmethod
    def _families_are_known(
        cls, families: tuple[str, ...] | dict[str, float]
    ) -> tuple[str, ...] | dict[str, float]:
        known = cls.known_families.names()
        unknown = [name for name in families if name not in known]
        if unknown:
            wrong = "; ".join(
                f"{name!r} is no family{did_you_mean(name, known)}" for name in unknown
            )
            raise ValueError(f"{wrong} (known: {', '.join(sorted(known))})")
        return families

    @field_validator("levels")
    @classmethod
    def _levels_are_in_range(
        cls, levels: tuple[int, ...] | dict[int, float]
    ) -> tuple[int, ...] | dict[int, float]:
        if not levels:
            raise ValueError("needs at least one level")
        outside = [level for level in levels if level not in LEVELS]
        if outside:
            raise ValueError(
                f"{', '.join(map(str, outside))} is outside {LEVELS[0]} to {LEVELS[-1]}"
            )
        return levels

    @model_validator(mode="after")
    def _shares_are_shares(self) -> ProceduralParams:
        for key in ("families", "levels"):
            value = getattr(self, key)
            if len(set(value)) < len(value):
                raise ValueError(f"key `{key}`: names one twice; give a mapping of name to share")
            if isinstance(value, dict) and not all(
                0 < share < float("inf") for share in value.values()
            ):
                raise ValueError(f"key `{key}`: every share must be a positive number")
        return self

    @property
    def family_weights(self) -> dict[str, float]:
        """Share of each family, relative to the others."""
        if isinstance(self.families, dict) and self.families:
            return dict(self.families)
        return dict.fromkeys(self.families or self.known_families.names(), 1.0)

    @property
    def level_weights(self) -> dict[int, float]:
        """Share of each level, relative to the others."""
        if isinstance(self.levels, dict):
            return dict(self.levels)
        return dict.fromkeys(self.levels, 1.0)


class ProceduralSource(GeneratedSource):
    """A source that is no more than its families."""

    license = "Apache-2.0"
    revision = f"generator-{GENERATOR_VERSION}"

    def generate(self, request: GenerationRequest) -> Generation:
        """Return the problems asked for; what a family cannot give comes from the others.

        Raises:
            ShortfallError: The families and levels cannot give that many different ones.
        """
        params = cast(ProceduralParams, self.params)
        plan = ProblemPlan(
            self.name, params.known_families, params.family_weights, params.level_weights
        )
        return generate(plan, request)
