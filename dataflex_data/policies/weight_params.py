"""The two parameters that every reweighter has."""

from __future__ import annotations

from pydantic import Field, model_validator
from typing_extensions import Self

from dataflex_data.core.config import Config


class WeightParams(Config):
    """Parameters of every reweighter.

    Attributes:
        normalize: Scale to mean 1 in the unit of the loss.
        cap: Largest weight after scaling; needs ``normalize``.
    """

    normalize: bool = True
    cap: float | None = Field(default=None, ge=1, allow_inf_nan=False)

    @model_validator(mode="after")
    def _cap_needs_scale(self) -> Self:
        if self.cap is not None and not self.normalize:
            raise ValueError("`cap` limits weights of mean 1; it needs `normalize: true`")
        return self
