"""The scan against plain counting: which texts share how many n-grams with which documents."""

from __future__ import annotations

from collections.abc import Sequence

import pyarrow as pa
from hypothesis import given, settings
from hypothesis import strategies as st

from dataflex_data.audits.ngram_index import NgramIndex, Thresholds
from dataflex_data.audits.scanner import Scanner

# Six words: runs recur, so that pieces of an n-gram stand in a text without the n-gram.
TEXTS = st.lists(
    st.lists(st.sampled_from(["a", "b", "c", "d", "e", "f"]), max_size=30), min_size=1, max_size=6
)


def grams(words: Sequence[str], n: int) -> set[tuple[str, ...]]:
    return {tuple(words[at : at + n]) for at in range(len(words) - n + 1)}


def shared(
    items: Sequence[Sequence[str]], texts: Sequence[Sequence[str]], n: int
) -> tuple[set[tuple[int, int]], list[int]]:
    """Return the pairs that share an n-gram, or are equal, and the most shared by document."""
    pairs, best = set(), [0] * len(items)
    for doc, item in enumerate(items):
        for row, text in enumerate(texts):
            common = len(grams(item, n) & grams(text, n))
            if common or (item and item == text):
                pairs.add((row, doc))
            best[doc] = max(best[doc], common)
    return pairs, best


@settings(max_examples=150, deadline=None)
@given(items=TEXTS, texts=TEXTS, n=st.sampled_from([2, 3, 4, 5, 6, 7, 13]))
def test_no_shared_n_gram_is_missed_and_none_is_made_up(
    items: list[list[str]], texts: list[list[str]], n: int
) -> None:
    index = NgramIndex(
        [(number, " ".join(item)) for number, item in enumerate(items)],
        n=n,
        boilerplate_items=1_000,
        thresholds=Thresholds(own=1e-9, jaccard=1e-9),
    )
    found = Scanner(index).scan(pa.array([" ".join(text) for text in texts]))
    pairs, best = shared(items, texts, n)
    assert found.best is not None
    got = set(zip(found.rows.tolist(), found.docs.tolist(), strict=True))
    # Documents of 5 words to n - 1 are looked for as a run: those come on top.
    short = {doc for doc, item in enumerate(items) if 5 <= len(item) < n}
    assert {pair for pair in got if pair[1] not in short} == {
        pair for pair in pairs if pair[1] not in short
    }
    assert pairs <= got
    for doc, count in enumerate(best):
        if len(items[doc]) >= n:
            assert int(found.best[doc]) == count


def test_batches_beyond_the_scratch_memory_are_scanned_whole() -> None:
    # 1,300 texts of 600 words: 780,000 hashes, of which 524,288 fit at once. Five items in each
    # text: 6,500 pairs, of which 4,096 fit at first.
    items = [" ".join(f"i{item}w{at}" for at in range(20)) for item in range(5)]
    index = NgramIndex(
        list(enumerate(items)),
        n=13,
        boilerplate_items=1_000,
        thresholds=Thresholds(own=0.5, jaccard=0.5),
    )
    filler = " ".join(f"f{at}" for at in range(500))
    texts = [f"t{row} {filler} {' . '.join(items)}" for row in range(1_300)]
    found = Scanner(index).scan(pa.array(texts))
    got = list(zip(found.rows.tolist(), found.docs.tolist(), strict=True))
    assert sorted(got) == [(row, doc) for row in range(1_300) for doc in range(5)]
    assert found.reading.words == 1_300 * 601
