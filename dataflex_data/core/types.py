"""The vocabulary of the package as small frozen values (docs/schema.md explains each word)."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Verdict:
    """What a verifier found in one response.

    Attributes:
        score: 1.0 where the response gives the gold answer, else 0.0. Nothing between.
        parsed: The answer as extracted from the response; ``""`` where none was found.
        reason: One sentence in words: why it won or lost.
        step: The step of the verifier that decided, such as ``"integer"`` or ``"no_box"``.
    """

    score: float
    parsed: str
    reason: str
    step: str
