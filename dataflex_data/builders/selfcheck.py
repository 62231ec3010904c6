"""The check every row passes before it is shipped, and `dfdata verify` repeats on a corpus.

A row's gold, written as a response in the form its template asks for, must score 1; an answer that
is not equivalent (another row's gold; for options a wrong letter) must score 0.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from dataflex_data.builders.templates import LETTERS
from dataflex_data.core.text import excerpt
from dataflex_data.verifiers import routes

_OTHERS_TRIED = 50


def self_check(
    route: str, golds: Sequence[str], position: int, extra: Mapping[str, Any]
) -> str | None:
    """Return what is wrong with one row's gold, or ``None``.

    Args:
        route: Verifier route of all rows in ``golds``.
        golds: Ground truths of rows of one domain and route.
        position: The row to check.
        extra: Its ``extra_info``; ``options`` is read.
    """
    gold = golds[position]
    verdict = routes.verify(route, routes.render_gold(route, gold, extra), gold, extra)
    if verdict.score != 1.0:
        return f"its own gold {excerpt(gold)} scores {verdict.score:g}: {verdict.reason}"
    wrong = _wrong_answer(route, golds, position, extra)
    if wrong is None:
        return None
    verdict = routes.verify(route, routes.render_gold(route, wrong, extra), gold, extra)
    if verdict.score != 0.0:
        return f"the wrong answer {excerpt(wrong)} scores {verdict.score:g} for {excerpt(gold)}"
    return None


def _wrong_answer(
    route: str, golds: Sequence[str], position: int, extra: Mapping[str, Any]
) -> str | None:
    """Return the next letter, or the nearest following gold that is another answer."""
    gold, options = golds[position], extra.get("options")
    if options:
        return LETTERS[(LETTERS.index(gold) + 1) % len(options)] if gold in LETTERS else None
    for step in range(1, min(_OTHERS_TRIED, len(golds))):
        other = golds[(position + step) % len(golds)]
        if other != gold and not routes.equivalent(route, gold, other, extra):
            return other
    return None
