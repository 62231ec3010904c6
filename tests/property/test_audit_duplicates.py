"""The self-join against comparing all pairs, and the rule that keeps rows."""

from __future__ import annotations

import itertools
import json
import tempfile
from pathlib import Path

from hypothesis import given, settings
from hypothesis import strategies as st

from dataflex_data.audits.corpus import open_corpus
from dataflex_data.audits.near_duplicate import DuplicateRule, Duplicates, find_duplicates
from dataflex_data.core.text import normalise, words
from tests.audit_oracle import shingles

_TEXT = st.lists(st.sampled_from("abcd"), max_size=12).map(" ".join)


def _find(texts: list[str], rule: DuplicateRule) -> Duplicates:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "c.jsonl"
        path.write_text("".join(json.dumps({"question": text}) + "\n" for text in texts))
        return find_duplicates(open_corpus(path), rule)


def _jaccard(first: str, second: str, n: int) -> float:
    a, b = shingles(words(first), n), shingles(words(second), n)
    return len(a & b) / len(a | b) if a and b else 0.0


@settings(max_examples=120, deadline=None)
@given(st.lists(_TEXT, min_size=1, max_size=9), st.sampled_from([0.3, 0.5, 0.8, 1.0]))
def test_no_pair_is_missed_and_none_is_made_up(texts: list[str], threshold: float) -> None:
    found = _find(texts, DuplicateRule(n=3, jaccard=threshold, engine="exact"))
    first_of: dict[str, int] = {}
    expected = set()
    for number, text in enumerate(texts):
        if text.strip():
            leader = first_of.setdefault(normalise(text), number)
            if leader != number:
                expected.add((leader, number))
    expected |= {
        (a, b)
        for a, b in itertools.combinations(sorted(first_of.values()), 2)
        if _jaccard(texts[a], texts[b], 3) >= threshold - 1e-12
    }
    assert {(pair.first, pair.second) for pair in found.pairs} == expected


@settings(max_examples=80, deadline=None)
@given(st.lists(_TEXT, min_size=1, max_size=9), st.sampled_from(["first", "longest"]))
def test_kept_rows_are_unlike_each_other_and_dropped_ones_like_their_keeper(
    texts: list[str], keep: str
) -> None:
    rule = DuplicateRule.model_validate({"n": 3, "jaccard": 0.5, "keep": keep, "engine": "exact"})
    found = _find(texts, rule)
    dropped = {drop.dropped for drop in found.drops}
    kept = [k for k, text in enumerate(texts) if text.strip() and k not in dropped]
    assert all(drop.kept not in dropped for drop in found.drops)
    for a, b in itertools.combinations(kept, 2):
        assert normalise(texts[a]) != normalise(texts[b])
        assert _jaccard(texts[a], texts[b], 3) < 0.5
    for drop in found.drops:
        alike = normalise(texts[drop.dropped]) == normalise(texts[drop.kept])
        assert alike or _jaccard(texts[drop.dropped], texts[drop.kept], 3) >= 0.5


@settings(max_examples=40, deadline=None)
@given(st.lists(_TEXT, min_size=1, max_size=9))
def test_lsh_reports_verified_pairs_only(texts: list[str]) -> None:
    exact = _find(texts, DuplicateRule(n=3, jaccard=0.5, engine="exact"))
    lsh = _find(texts, DuplicateRule(n=3, jaccard=0.5, engine="lsh"))
    assert set(lsh.pairs) <= set(exact.pairs)
    assert {p for p in exact.pairs if p.jaccard == 1.0} <= set(lsh.pairs)
