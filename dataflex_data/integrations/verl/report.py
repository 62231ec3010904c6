"""The mixture's part of a step's metrics and of its ledger row."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from dataflex_data.samplers import DataFlexSampler


def mixture_metrics(sampler: DataFlexSampler) -> dict[str, float]:
    """Return the mixture's numbers under ``dataflex/``."""
    return {f"dataflex/{name}": value for name, value in sampler.metrics().items()}


def ledger_values(
    row: Mapping[str, Any], sampler: DataFlexSampler | None, seconds: Mapping[str, float]
) -> dict[str, Any]:
    """Return the ledger's values of one step.

    Args:
        row: The policies' part.
        sampler: The mixture's, if there is one.
        seconds: By phase of the step.
    """
    values = {**row, "seconds": {**row.get("seconds", {}), **seconds}}
    if sampler is None:
        return values
    told = sampler.explain()
    domains = told["domains"]
    numbers = sampler.metrics()
    values.update(
        mixer=told["mixer"],
        proportion={name: about["proportion"] for name, about in domains.items()},
        quota={name: about["quota"] for name, about in domains.items()},
        owed={name: about["owed_after"] for name, about in domains.items()},
        epoch={name: numbers[f"epoch_{name}"] for name in domains},
        signal={name: numbers.get(f"signal_{name}") for name in domains},
        inert=numbers.get("inert"),
        unreported=numbers.get("unreported"),
    )
    return values
