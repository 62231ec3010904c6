r"""Rows that are the same: one of each stays, by preference; contradictions leave on both sides.

Two rows are the same when their normalised questions are equal (letters and digits), or their
canonical forms. Three things can then be true of them:

* the golds agree (as the verifier sees it: ``1/27`` and ``\frac{1}{27}``): the preferred source's
  row stays, the others are ``duplicate``;
* the golds disagree, and the texts differ in nothing but spacing and punctuation: nobody can say
  which gold is right, so all leave as ``conflicting_gold`` and are listed;
* the golds disagree, and the texts differ in symbols (``3 + 4`` and ``3 - 4``): different problems
  that no word tells apart; the preferred one stays, the others are ``same_words``.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

from dataflex_data.builders.pool import Item
from dataflex_data.core.text import excerpt, sha256_text

_SPACING = re.compile(r"\\[,;:! ]|\\(?:left|right|displaystyle)(?![A-Za-z])|[\s$.,;:!?'\"`’‘“”]")

Equivalent = Callable[[Item, Item], bool]


@dataclass(frozen=True, slots=True)
class Removed:
    """One row that leaves because another is the same."""

    item: Item
    reason: str
    detail: str


@dataclass(frozen=True, slots=True)
class Conflict:
    """Rows with one text and golds that disagree; all of them left."""

    identity_sha256: str
    members: tuple[tuple[str, str, str], ...]  # (label, source id, gold)

    def to_record(self) -> dict[str, object]:
        """Return the conflict for the manifest, without the text."""
        return {
            "identity_sha256": self.identity_sha256,
            "members": [
                {"source": label, "source_id": source_id, "gold": gold}
                for label, source_id, gold in self.members
            ],
        }


@dataclass(frozen=True, slots=True)
class Deduplicated:
    """What stays, what leaves, and the contradictions."""

    kept: list[Item]
    removed: list[Removed]
    conflicts: list[Conflict]


def deduplicate(
    items: Iterable[Item], rank: dict[str, int], equivalent: Equivalent
) -> Deduplicated:
    """Return one item per identity.

    Args:
        items: All candidates of the corpus.
        rank: Preference of each label, lowest first; within a label the lowest key is preferred.
        equivalent: Whether the golds of two items of one identity are the same answer.
    """
    groups: dict[str, list[Item]] = {}
    for item in items:
        groups.setdefault(item.identity, []).append(item)
    kept: list[Item] = []
    removed: list[Removed] = []
    conflicts: list[Conflict] = []
    for identity, group in groups.items():
        group.sort(key=lambda item: (rank[item.label], item.key))
        first, *others = group
        if not others:
            kept.append(first)
            continue
        if _contradictory(group, equivalent):
            members = tuple(
                (item.label, item.candidate.source_id, item.candidate.gold) for item in group
            )
            conflicts.append(Conflict(sha256_text(identity), members))
            golds = ", ".join(sorted({excerpt(gold) for _, _, gold in members}))
            removed.extend(Removed(item, "conflicting_gold", golds) for item in group)
            continue
        kept.append(first)
        for item in others:
            same = equivalent(first, item)
            reason = "duplicate" if same else "same_words"
            removed.append(Removed(item, reason, f"same as {first.label} {first.key}"))
    return Deduplicated(kept, removed, conflicts)


def _contradictory(group: Sequence[Item], equivalent: Equivalent) -> bool:
    """Return whether two items with one text, spacing and punctuation apart, disagree."""
    first_of_text: dict[str, Item] = {}
    for item in group:
        folded = unicodedata.normalize("NFKC", item.candidate.question).casefold()
        first = first_of_text.setdefault(_SPACING.sub("", folded), item)
        if first is not item and not equivalent(first, item):
            return True
    return False
