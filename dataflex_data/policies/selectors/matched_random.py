"""Keep as much as another policy does, of the same domains, at random."""

from __future__ import annotations

from typing import ClassVar

import numpy as np

from dataflex_data.core.config import Config
from dataflex_data.core.rollout import BoolArray, IntArray, RolloutBatch
from dataflex_data.core.seeding import U64Array
from dataflex_data.policies.component import (
    Scorer,
    Scores,
    Selector,
    Turn,
    Unit,
    register_selector,
)
from dataflex_data.policies.controls import ControlParams, Match


@register_selector("matched_random")
class MatchedRandom(Selector):
    """The same number per step and domain as the paired policy, by key (seed, step, uid).

    Where the pair keeps whole groups, whole groups are drawn, as many per domain. Where it keeps
    members of groups, as many of each group are drawn (of a ledger, which does not name groups, as
    many per domain). Else responses are drawn, as many per domain. Where there are fewer than
    that, all are kept and ``control_short`` says how many are missing. The draw is a stream of its
    own: it does not move when another policy draws more.

    Source: the control named in the DataFlex-RL paper, missing from its code (f4d305b).
    """

    Params: ClassVar[type[Config]] = ControlParams
    params: ControlParams

    def __init__(self, params: ControlParams, **unknown: object) -> None:
        super().__init__(params, **unknown)
        self.match = Match(params)

    @property
    def unit(self) -> Unit:
        """As the pair's."""
        return self.match.unit

    @property
    def recomputes(self) -> bool:
        """As the pair does."""
        return self.match.recomputes

    @property
    def accepts(self) -> tuple[str, ...]:
        """As the pair does."""
        return self.match.accepts

    @property
    def reads_scorer(self) -> bool:
        """As the pair does; a ledger needs none."""
        return self.match.reads_scorer

    def idle(self, scorer: Scorer | None, group_size: int | None) -> str | None:
        """A control of what changes nothing changes nothing."""
        return self.match.idle(scorer, group_size)

    def keep(self, scores: Scores, batch: RolloutBatch, turn: Turn) -> BoolArray:
        """Return the drawn responses."""
        target = self.match.target(scores, batch, turn)
        names = ("matched_random", turn.seed, turn.place, turn.step)
        domains = {name: d for d, name in enumerate(batch.domain_names)}
        if target.unit == "group":
            wanted_D = _by_domain(target.groups, domains)
            drawn_P = draw_within(
                batch.domain_B[batch.groups.heads_P], batch.draw_keys_P(*names), wanted_D
            )
            kept = drawn_P[batch.groups.of_B]
            wanted, got = sum(target.groups.values()), int(drawn_P.sum())
        elif target.unit == "member" and target.mask_B is not None:
            wanted_P = batch.groups.sum(target.mask_B)
            kept = draw_within(batch.groups.of_B, batch.draw_keys_B(*names), wanted_P)
            wanted, got = int(wanted_P.sum()), int(kept.sum())
        else:
            wanted_D = _by_domain(target.responses, domains)
            kept = draw_within(batch.domain_B, batch.draw_keys_B(*names), wanted_D)
            wanted, got = sum(target.responses.values()), int(kept.sum())
        turn.notes["control_target"] = float(wanted)
        turn.notes["control_realised"] = float(got)
        if got < wanted:
            turn.notes["control_short"] = float(wanted - got)
        return kept


def draw_within(class_N: IntArray, keys_N: U64Array, wanted: IntArray) -> BoolArray:
    """Return a mask with ``wanted[c]`` members of each class c, those with the least keys.

    Where a class has fewer, all of them.
    """
    order = np.lexsort((keys_N, class_N))
    sizes = np.bincount(class_N, minlength=wanted.size)
    place = np.arange(class_N.size) - np.repeat(np.cumsum(sizes) - sizes, sizes)
    mask = np.zeros(class_N.size, dtype=bool)
    mask[order] = place < wanted[class_N[order]]
    return mask


def _by_domain(counts: object, domains: dict[str, int]) -> IntArray:
    wanted = np.zeros(len(domains), dtype=np.int64)
    for name, count in dict(counts).items():  # type: ignore[call-overload]
        if name in domains:
            wanted[domains[name]] = count
    return wanted
