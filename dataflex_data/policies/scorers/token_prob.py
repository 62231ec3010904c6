"""How probable the policy found each token it produced."""

from __future__ import annotations

from typing import ClassVar

import numpy as np

from dataflex_data.core.rollout import FloatArray, RolloutBatch
from dataflex_data.policies.component import TokenScorer, register_scorer


@register_scorer("token_prob")
class TokenProb(TokenScorer):
    """``exp(old_log_prob)``, at most 1 (rounding can make a log-prob slightly positive).

    Source: arXiv 2505.12929, section 4: pi_old of the token.
    """

    requires: ClassVar[tuple[str, ...]] = ("old_log_probs",)

    def token_scores(self, batch: RolloutBatch) -> FloatArray:
        """Return the probabilities."""
        probs_T = np.minimum(batch.tokens("old_log_probs"), 0)
        return np.exp(probs_T, out=probs_T)
