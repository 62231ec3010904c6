"""DAPO's dynamic sampling by its own name."""

from __future__ import annotations

from typing import ClassVar

from dataflex_data.core.config import Config
from dataflex_data.policies.component import NoParams, register_selector
from dataflex_data.policies.selectors.threshold_band import ThresholdBand, ThresholdBandParams


@register_selector("dapo_dynamic")
class DapoDynamic(ThresholdBand):
    """`ThresholdBand` with ``0 < solve rate < 1``: groups in which all or none are solved go.

    Source: DAPO, arXiv 2503.14476, section 3.2. The refill with further prompts is the trainer's.
    """

    Params: ClassVar[type[Config]] = NoParams

    def __init__(self, params: Config | None = None, **unknown: object) -> None:
        del params
        super().__init__(ThresholdBandParams(low=0.0, high=1.0, inclusive="neither"), **unknown)
