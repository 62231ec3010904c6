"""The published test puzzles, by a digest of their canonical form.

So that a machine without the hub can tell whether a corpus holds one of them. A digest gives no
text away: the puzzles' licence forbids to ship them. tests/integration/test_corpus_forms.py makes
the digests again from the published files.

Source: hub repository ``K-and-K/knights-and-knaves``, ``test/people{2..8}_num100.jsonl`` (Xie et
al. 2024, arXiv 2410.23123); DB12 evaluates on 7 and 8 people.
"""

from __future__ import annotations

import json
from functools import cache
from importlib import resources

from dataflex_data.core.seeding import hex_id

HARD_PEOPLE = (7, 8)


def form_digest(form: str) -> str:
    """Return what stands for a canonical form in the list."""
    return hex_id("kk_form", form, length=16)


@cache
def published_test() -> dict[int, frozenset[str]]:
    """Return the digests of the published test puzzles, by number of people."""
    text = resources.files(__package__).joinpath("published_test.json").read_text("utf-8")
    return {int(people): frozenset(digests) for people, digests in json.loads(text).items()}
