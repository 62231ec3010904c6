"""A dense toy reward that a model of random weights already gets partly right, and soon learns."""

from __future__ import annotations


def compute_score(
    data_source: str, solution_str: str, ground_truth: str, extra_info: object = None, **_: object
) -> dict[str, float]:
    """Return the share of wanted characters: printable ASCII, or letters (``toy/hard``)."""
    if not solution_str:
        return {"score": 0.0, "acc": 0.0}
    hard = data_source.endswith("hard")
    good = sum(c.isascii() and (c.isalpha() if hard else c.isprintable()) for c in solution_str)
    share = good / len(solution_str)
    return {"score": share, "acc": float(share > 0.5)}
