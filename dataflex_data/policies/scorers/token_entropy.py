"""How undecided the policy was at each token."""

from __future__ import annotations

from typing import ClassVar

from dataflex_data.core.rollout import FloatArray, RolloutBatch
from dataflex_data.policies.component import TokenScorer, register_scorer


@register_scorer("token_entropy")
class TokenEntropy(TokenScorer):
    """The entropy of the policy's distribution at each token, in nats, as the host gives it.

    Source: arXiv 2506.01939, section 2 (forking tokens).
    """

    requires: ClassVar[tuple[str, ...]] = ("entropy",)

    def token_scores(self, batch: RolloutBatch) -> FloatArray:
        """Return the entropies."""
        return batch.tokens("entropy")
