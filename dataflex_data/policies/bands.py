"""What a band of scores leaves in or out whatever comes: told before training, not after it."""

from __future__ import annotations

from fractions import Fraction

from dataflex_data.policies.component import Scorer


class Band:
    """The scores from ``low`` to ``high``.

    Args:
        low: Lower bound.
        high: Upper bound.
        left: Whether the lower bound belongs to the band.
        right: Whether the upper bound does.
    """

    def __init__(
        self, low: Fraction, high: Fraction, *, left: bool = True, right: bool = True
    ) -> None:
        self.low, self.high, self.left, self.right = low, high, left, right

    def __contains__(self, score: Fraction | float) -> bool:
        above = score >= self.low if self.left else score > self.low
        return above and (score <= self.high if self.right else score < self.high)

    @property
    def words(self) -> str:
        """The band in mathematical notation."""
        opening, closing = "[" if self.left else "(", "]" if self.right else ")"
        return f"{opening}{_plain(self.low)}, {_plain(self.high)}{closing}"

    @property
    def empty(self) -> bool:
        """Whether no number at all lies in it."""
        return self.low > self.high or (self.low == self.high and not (self.left and self.right))

    def emptiness(self, scorer: Scorer, group_size: int | None) -> str | None:
        """Return why no score of the scorer can lie in the band, as far as can be said."""
        if group_size is not None:
            scores = scorer.attainable(group_size)
            if scores is not None and not any(score in self for score in scores):
                return (
                    f"none of the scores that {scorer.name} can give with {group_size} responses "
                    f"per prompt ({', '.join(map(str, scores))}) lies in the band {self.words}"
                )
        if scorer.bounds is None:
            return None
        least, most = scorer.bounds
        below = self.high < least or (self.high == least and not self.right)
        above = self.low > most or (self.low == most and not self.left)
        if below or above:
            return f"no score of {scorer.name}, from {least:g} to {most:g}, lies in {self.words}"
        return None

    def fullness(self, scorer: Scorer, group_size: int | None) -> str | None:
        """Return why every score of the scorer lies in the band, as far as can be said."""
        if group_size is not None:
            scores = scorer.attainable(group_size)
            if scores is not None and all(score in self for score in scores):
                return (
                    f"all scores that {scorer.name} can give with {group_size} responses per "
                    f"prompt lie in the band {self.words}"
                )
        if scorer.bounds is not None and all(bound in self for bound in scorer.bounds):
            least, most = scorer.bounds
            return f"all scores of {scorer.name}, from {least:g} to {most:g}, lie in {self.words}"
        return None


def _plain(bound: Fraction) -> str:
    return str(bound) if bound.denominator < 10 else f"{float(bound):g}"
