"""How probable the policy found each token it produced."""

from __future__ import annotations

from typing import ClassVar, Literal

import numpy as np

from dataflex_data.core.config import Config
from dataflex_data.core.rollout import RolloutBatch
from dataflex_data.policies.component import Granularity, Scorer, Scores, register_scorer


class TokenScoreParams(Config):
    """Parameters of scorers of tokens.

    Attributes:
        agg: ``none`` gives one score per token; the others one per response, over its tokens.
    """

    agg: Literal["none", "mean", "sum", "max", "min"] = "none"


@register_scorer("token_prob")
class TokenProb(Scorer):
    """``exp(old_log_prob)``, at most 1 (rounding can make a log-prob slightly positive).

    Source: arXiv 2505.12929, section 4: pi_old of the token.
    """

    Params: ClassVar[type[Config]] = TokenScoreParams
    requires: ClassVar[tuple[str, ...]] = ("old_log_probs",)
    timing: ClassVar[str] = "post_advantage"
    granularity = "token"
    params: TokenScoreParams

    @property
    def score_granularity(self) -> Granularity:
        """A token's, or with an ``agg`` a response's."""
        return "token" if self.params.agg == "none" else "response"

    def score(self, batch: RolloutBatch, step_id: int, **ctx: object) -> Scores:
        """Return the probabilities."""
        del step_id, ctx
        probs_T = np.exp(np.minimum(batch.tokens("old_log_probs"), 0))
        if self.params.agg == "none":
            return Scores(probs_T, "token")
        return Scores(batch.per_response(probs_T, self.params.agg), "response")
