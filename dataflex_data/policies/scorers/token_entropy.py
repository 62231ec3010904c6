"""How undecided the policy was at each token."""

from __future__ import annotations

from typing import ClassVar

from dataflex_data.core.config import Config
from dataflex_data.core.rollout import RolloutBatch
from dataflex_data.policies.component import Granularity, Scorer, Scores, register_scorer
from dataflex_data.policies.scorers.token_prob import TokenScoreParams


@register_scorer("token_entropy")
class TokenEntropy(Scorer):
    """The entropy of the policy's distribution at each token, in nats, as the host gives it.

    Source: arXiv 2506.01939, section 2 (forking tokens).
    """

    Params: ClassVar[type[Config]] = TokenScoreParams
    requires: ClassVar[tuple[str, ...]] = ("entropy",)
    timing: ClassVar[str] = "post_advantage"
    granularity = "token"
    params: TokenScoreParams

    @property
    def score_granularity(self) -> Granularity:
        """A token's, or with an ``agg`` a response's."""
        return "token" if self.params.agg == "none" else "response"

    def score(self, batch: RolloutBatch, step_id: int, **ctx: object) -> Scores:
        """Return the entropies."""
        del step_id, ctx
        entropy_T = batch.tokens("entropy")
        if self.params.agg == "none":
            return Scores(entropy_T, "token")
        return Scores(batch.per_response(entropy_T, self.params.agg), "response")
