"""Which split an item belongs to, decided by what it is and by nothing else.

A split drawn at random lets the same item fall into train under one seed and into validation under
another, and copies of one item into both. Here the item's identity decides: the same text, or the
same puzzle under other names, is on the same side in every corpus, whatever the seed or the recipe.
"""

from __future__ import annotations

from typing import Literal

from dataflex_data.core.seeding import keyed_hash

VALIDATION_SHARE = 0.05
_VALIDATION_BOUND = int(VALIDATION_SHARE * 2**64)


def split_of(identity: str) -> Literal["train", "validation"]:
    """Return the split of the item whose identity this is.

    Args:
        identity: What makes two items the same: a normalised question, or a canonical form.

    Returns:
        ``"validation"`` for `VALIDATION_SHARE` of the space of keyed hashes, else ``"train"``. The
        rule has no seed: changing it is a new data version.
    """
    in_validation = keyed_hash("dataflex/split", identity) < _VALIDATION_BOUND
    return "validation" if in_validation else "train"
