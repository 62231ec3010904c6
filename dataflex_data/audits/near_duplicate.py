"""Rows of a corpus that are nearly the same as another one, and which of them to keep.

Prompts are joined exactly: no pair at or above the threshold is missed. Long documents go through
datasketch's LSH, whose recall is stated; either way each pair is confirmed on its text. Texts with
fewer words than one n-gram are compared by equality only, so that short texts are never lumped
together for having no n-grams in common with anything.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Annotated, Any, Literal

import numpy as np
import numpy.typing as npt
import pyarrow as pa
from pydantic import Field

from dataflex_data.audits.comparison import ngrams
from dataflex_data.audits.corpus import Corpus
from dataflex_data.audits.minhash import BANDS, ROWS, band_recall, new_lsh, signature
from dataflex_data.audits.ngram_index import run_hashes
from dataflex_data.audits.rows import read_shard
from dataflex_data.audits.word_streams import decoded, word_streams
from dataflex_data.core.config import Config
from dataflex_data.core.errors import InputDataError, did_you_mean
from dataflex_data.core.text import normalise, words

LONG_WORDS = 1_000
BINS = 20
MEMORY_RULE = (
    "The corpus is held in memory: about 25 times its text, 0.9 GB for 150,000 prompts (36 MB). "
    "A larger one is searched file by file or source by source."
)


class DuplicateRule(Config):
    """When two rows count as near-duplicates, and which one stays.

    Attributes:
        n: Words of a shingle.
        jaccard: Least Jaccard similarity of the two sets of n-grams.
        keep: Which row of a cluster is kept: the first in the corpus, or the longest.
        prefer: Sources whose rows are kept before others, best first.
        engine: ``auto`` takes the exact join unless rows have over 1,000 words on average.
    """

    n: Annotated[int, Field(ge=2, le=64)] = 13
    jaccard: Annotated[float, Field(gt=0, le=1)] = 0.8
    keep: Literal["first", "longest"] = "first"
    prefer: tuple[str, ...] = ()
    engine: Literal["auto", "exact", "lsh"] = "auto"


@dataclass(frozen=True, slots=True)
class Member:
    """One row of the corpus."""

    row_id: str
    source: str
    file: int
    row: int
    words: int


@dataclass(frozen=True, slots=True)
class Pair:
    """Two rows that are nearly the same; ``first`` stands before ``second`` in the corpus."""

    first: int
    second: int
    jaccard: float
    kind: str


@dataclass(frozen=True, slots=True)
class Drop:
    """A row to leave out: ``kept`` is a row that stays and that it is paired with itself."""

    dropped: int
    kept: int
    jaccard: float
    kind: str


@dataclass(frozen=True, slots=True)
class Duplicates:
    """What was found.

    Attributes:
        members: All rows.
        texts: Their texts.
        pairs: All near-duplicate pairs but those inside a group of equal texts, of which the
            pairs with the group's first row stand for all.
        drops: Rows to leave out.
        engine: What was used: ``"exact"`` or ``"lsh"``.
        short: Rows with too few words for an n-gram: compared by equality only.
        empty: Rows without text: not compared.
    """

    members: tuple[Member, ...]
    texts: tuple[str, ...]
    pairs: tuple[Pair, ...]
    drops: tuple[Drop, ...]
    engine: str
    short: int
    empty: int


def find_duplicates(
    corpus: Corpus, rule: DuplicateRule, on_rows: Callable[[int], None] | None = None
) -> Duplicates:
    """Return the near-duplicates of a corpus, which is held in memory (see `MEMORY_RULE`).

    Args:
        corpus: Opened by `corpus.open_corpus`.
        rule: What counts as a pair, and who stays.
        on_rows: Told of rows that have been read.

    Raises:
        InputDataError: The corpus is damaged, or has no row of a source to prefer.
    """
    members, arrays = _read(corpus, on_rows)
    sources = sorted({one.source for one in members} - {""})
    unknown = [name for name in rule.prefer if name not in sources]
    if members and unknown:
        held = f"its sources: {', '.join(sources)}" if sources else "its rows name no source"
        raise InputDataError(
            f"{corpus.name}: no row comes from {unknown[0]!r}, which is to be preferred"
            f"{did_you_mean(unknown[0], sources)} ({held})"
        )
    streams = [plain for texts in arrays for plain, _ in word_streams(texts)]
    texts = [
        decoded(raw or b"")[0]
        for array in arrays
        for raw in array.cast(pa.large_binary()).to_pylist()
    ]
    members = [
        Member(one.row_id, one.source, one.file, one.row, len(stream))
        for one, stream in zip(members, streams, strict=True)
    ]
    groups: dict[str, list[int]] = defaultdict(list)
    empty = 0
    for number, text in enumerate(texts):
        if text.strip():
            groups[normalise(text)].append(number)
        else:
            empty += 1
    pairs = [
        Pair(group[0], other, 1.0, "exact" if texts[other] == texts[group[0]] else "normalised")
        for group in groups.values()
        for other in group[1:]
    ]
    leaders = [group[0] for group in groups.values() if len(streams[group[0]]) >= rule.n]
    engine = rule.engine
    if engine == "auto":
        mean = sum(len(streams[leader]) for leader in leaders) / max(1, len(leaders))
        engine = "lsh" if mean > LONG_WORDS else "exact"
    candidates = (_lsh_pairs if engine == "lsh" else _exact_pairs)(leaders, streams, rule)
    for first, second in candidates:
        similarity = _jaccard(texts[first], texts[second], rule.n)
        if similarity >= rule.jaccard - 1e-12:
            pairs.append(Pair(first, second, similarity, "near"))
    pairs.sort(key=lambda pair: (pair.first, pair.second))
    return Duplicates(
        members=tuple(members),
        texts=tuple(texts),
        pairs=tuple(pairs),
        drops=tuple(_drops(members, groups, pairs, rule)),
        engine=engine,
        short=sum(0 < len(stream) < rule.n for stream in streams),
        empty=empty,
    )


def summarise_duplicates(corpus: Corpus, found: Duplicates, rule: DuplicateRule) -> dict[str, Any]:
    """Return the figures as plain values."""
    members = found.members
    across = Counter(
        " + ".join(sorted((members[pair.first].source, members[pair.second].source)))
        for pair in found.pairs
        if members[pair.first].source != members[pair.second].source
    )
    files = sum(members[pair.first].file != members[pair.second].file for pair in found.pairs)
    return {
        "corpus": {"name": corpus.name, "rows": len(members), "files": list(corpus.names)},
        "rule": rule.model_dump(mode="json"),
        "engine": {
            "name": found.engine,
            "lossless": found.engine == "exact",
            **(
                {"bands": BANDS, "rows_per_band": ROWS, "recall": band_recall(rule.jaccard)}
                if found.engine == "lsh"
                else {}
            ),
        },
        "memory": MEMORY_RULE,
        "pairs": len(found.pairs),
        "pairs_by_kind": dict(sorted(Counter(pair.kind for pair in found.pairs).items())),
        "pairs_across_sources": dict(sorted(across.items())),
        "pairs_across_files": files,
        "rows_to_drop": len(found.drops),
        "clusters": len({drop.kept for drop in found.drops}),
        "dropped_by_source": dict(
            sorted(Counter(members[drop.dropped].source for drop in found.drops).items())
        ),
        "jaccard_histogram": _histogram(found),
        "short_rows": found.short,
        "empty_rows": found.empty,
    }


def _histogram(found: Duplicates) -> list[int]:
    counts = [0] * BINS
    for pair in found.pairs:
        counts[min(BINS - 1, int(pair.jaccard * BINS))] += 1
    return counts


def pairs_table(found: Duplicates) -> pa.Table:
    """Return the pairs as an Arrow table, with both texts."""
    members = found.members
    return pa.table(
        {
            "first_row_id": [members[pair.first].row_id for pair in found.pairs],
            "second_row_id": [members[pair.second].row_id for pair in found.pairs],
            "first_source": [members[pair.first].source for pair in found.pairs],
            "second_source": [members[pair.second].source for pair in found.pairs],
            "first_file": [members[pair.first].file for pair in found.pairs],
            "first_row": [members[pair.first].row for pair in found.pairs],
            "second_file": [members[pair.second].file for pair in found.pairs],
            "second_row": [members[pair.second].row for pair in found.pairs],
            "kind": [pair.kind for pair in found.pairs],
            "jaccard": [pair.jaccard for pair in found.pairs],
            "first_text": [_safe(found.texts[pair.first]) for pair in found.pairs],
            "second_text": [_safe(found.texts[pair.second]) for pair in found.pairs],
        }
    )


def drops_table(found: Duplicates) -> pa.Table:
    """Return the rows to leave out, each with the row that stays for it."""
    members = found.members
    return pa.table(
        {
            "row_id": [members[drop.dropped].row_id for drop in found.drops],
            "file": [members[drop.dropped].file for drop in found.drops],
            "row": [members[drop.dropped].row for drop in found.drops],
            "kept_row_id": [members[drop.kept].row_id for drop in found.drops],
            "kind": [drop.kind for drop in found.drops],
            "jaccard": [drop.jaccard for drop in found.drops],
        }
    )


def _read(
    corpus: Corpus, on_rows: Callable[[int], None] | None
) -> tuple[list[Member], list[pa.Array]]:
    members: list[Member] = []
    arrays: list[pa.Array] = []
    for shard in corpus.shards:
        for batch in read_shard(shard, corpus.layout):
            count = len(batch.fulls)
            ids = [""] * count if batch.ids is None else batch.ids.to_pylist()
            sources = [""] * count if batch.sources is None else batch.sources.to_pylist()
            for at in range(count):
                row = batch.first_row + at
                name = ids[at] or f"{corpus.names[shard.file]}#{row}"
                members.append(Member(name, sources[at] or "", shard.file, row, 0))
            arrays.append(batch.fulls)
            if on_rows is not None:
                on_rows(count)
    return members, arrays


def _exact_pairs(
    leaders: Sequence[int], streams: Sequence[npt.NDArray[Any]], rule: DuplicateRule
) -> Iterator[tuple[int, int]]:
    """Yield all pairs at or above the threshold (by hash), by a join on the rarest n-grams."""
    from dataflex_data.audits import hashing, join_kernel, kernels

    if len(leaders) < 2:
        return
    lengths = np.array([len(streams[leader]) for leader in leaders], dtype=np.int64)
    text_starts = np.concatenate([[0], np.cumsum(lengths)])
    runs = int((lengths - rule.n + 1).sum())
    hashes, owner = np.empty(runs, dtype=np.uint64), np.empty(runs, dtype=np.int32)
    wholes = np.empty(len(leaders), dtype=np.uint64)
    power = np.uint64(pow(hashing.BASE, rule.n, 2**64))
    stream = np.concatenate([streams[leader] for leader in leaders])
    kernels.run_hashes(stream, text_starts, rule.n, power, hashes, owner, wholes)
    _, gram, counts = np.unique(hashes, return_inverse=True, return_counts=True)
    rank = np.empty(len(counts), dtype=np.int64)
    rank[np.argsort(counts, kind="stable")] = np.arange(len(counts))
    held = np.sort((owner.astype(np.int64) << 32) | rank[gram])
    held = held[np.diff(held, prepend=-1) != 0]
    sizes = np.bincount(held >> 32, minlength=len(leaders))
    starts = np.concatenate([[0], np.cumsum(sizes)])
    order = np.argsort(sizes, kind="stable")
    room = 1 << 16
    while True:
        first, second = np.empty(room, dtype=np.int64), np.empty(room, dtype=np.int64)
        shared = np.empty(room, dtype=np.int64)
        found = join_kernel.self_join(
            starts, held & 0xFFFFFFFF, len(counts), order, rule.jaccard, first, second, shared
        )
        if found <= room:
            break
        room = int(found)
    for a, b in zip(first[:found].tolist(), second[:found].tolist(), strict=True):
        yield leaders[a], leaders[b]


def _lsh_pairs(
    leaders: Sequence[int], streams: Sequence[npt.NDArray[Any]], rule: DuplicateRule
) -> Iterator[tuple[int, int]]:
    """Yield pairs whose MinHash signatures share a band."""
    lsh = new_lsh()
    for leader in leaders:
        hashes = [int(value) for value in streams[leader]]
        mine = signature(sorted(set(run_hashes(hashes, rule.n))))
        for other in sorted(lsh.query(mine)):
            yield int(other), leader
        lsh.insert(leader, mine)


def _jaccard(first: str, second: str, n: int) -> float:
    a, b = ngrams(words(first), n), ngrams(words(second), n)
    return len(a & b) / len(a | b) if a or b else 0.0


def _drops(
    members: Sequence[Member],
    groups: dict[str, list[int]],
    pairs: Sequence[Pair],
    rule: DuplicateRule,
) -> Iterator[Drop]:
    """Yield rows to drop, each for a kept row that it resembles itself.

    Rows are taken by preference; one stays unless it is paired with a row that stays already. So a
    chain A ~ B ~ C with A unlike C keeps A and C: nothing vanishes for resembling a dropped row.
    """
    place = {source: number for number, source in enumerate(rule.prefer)}

    def preference(number: int) -> tuple[int, int, int]:
        length = -members[number].words if rule.keep == "longest" else 0
        return place.get(members[number].source, len(place)), length, number

    group_of = {number: group[0] for group in groups.values() for number in group}
    neighbours: dict[int, list[tuple[int, float]]] = defaultdict(list)
    for pair in pairs:
        if pair.kind == "near":
            neighbours[pair.first].append((pair.second, pair.jaccard))
            neighbours[pair.second].append((pair.first, pair.jaccard))
    kind = {(pair.first, pair.second): pair.kind for pair in pairs}
    kept: dict[int, int] = {}
    for number in sorted(group_of, key=preference):
        group = group_of[number]
        rivals = [(1.0, kept[group])] if group in kept else []
        rivals += [
            (similarity, kept[other]) for other, similarity in neighbours[group] if other in kept
        ]
        if not rivals:
            kept[group] = number
            continue
        similarity, keeper = max(rivals, key=lambda rival: (rival[0], -rival[1]))
        if group_of[keeper] == group:
            between = (min(number, keeper), max(number, keeper))
            yield Drop(number, keeper, 1.0, kind.get(between, "normalised"))
        else:
            yield Drop(number, keeper, similarity, "near")


def _safe(text: str) -> str:
    return text.encode("utf-8", "replace").decode("utf-8")
