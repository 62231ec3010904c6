"""One training row against one benchmark item, on their texts: every number a finding carries.

The index proposes pairs from 64-bit hashes; here they are confirmed word by word, so that a hash
collision can never become a finding. The verdict rule lives here too.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from functools import cached_property
from typing import Annotated, Literal, get_args

from pydantic import Field, field_validator

from dataflex_data.audits import hashing
from dataflex_data.core.config import Config
from dataflex_data.core.text import normalise, words

Gram = tuple[str, ...]
# Given a text's words: for each of its n-grams, in order, in how many different items it stands.
ItemsOfGrams = Callable[[Sequence[str]], Sequence[int]]
Share = Annotated[float, Field(gt=0, le=1)]
Channel = Literal["exact", "normalised", "containment", "jaccard", "stem", "latex", "short_run"]
CHANNELS: tuple[Channel, ...] = get_args(Channel)

# Words by which a question points to its options, and what a list of options looks like.
_POINTS_TO_OPTIONS = {
    *("following", "these", "those", "below", "above", "answers"),
    *("option", "options", "choice", "choices", "alternative", "alternatives"),
    *("statement", "statements"),
}
_OPTION_LIST = re.compile(
    r"(?:^|[\s(\[])A[.):\]].*?[\s(\[]B[.):\]]|\b(?:options|choices)\s*:",
    re.DOTALL | re.IGNORECASE,
)

# Edit distance is quadratic: beyond this many characters on either side it is not computed.
_EDIT_LIMIT = 20_000


class Rule(Config):
    """When a row counts as contaminated, and what is worth listing beside that.

    Attributes:
        n: Words of a shingle.
        containment: Least share of an item's own (not boilerplate) n-grams that the row holds.
        jaccard: Similarity of the two sets of n-grams above which a pair is flagged; at 1.0, equal
            sets are.
        channels: The channels whose hits flag a row.
        boilerplate_items: An n-gram found in so many different items is template text.
        near: Pairs from this containment on are listed though not flagged.
    """

    n: Annotated[int, Field(ge=6, le=64)] = 13
    containment: Share = 0.5
    jaccard: Share = 0.5
    channels: tuple[Channel, ...] = CHANNELS
    boilerplate_items: Annotated[int, Field(ge=2)] = 5
    near: Share = 0.25

    @field_validator("channels")
    @classmethod
    def _some_channel(cls, channels: tuple[Channel, ...]) -> tuple[Channel, ...]:
        if not channels:
            raise ValueError(
                "no channel is named, so nothing could be flagged; name some of "
                f"{', '.join(CHANNELS)}"
            )
        return channels

    def in_words(self) -> str:
        """Return the rule as one sentence, of which each part stands by itself."""
        n, holds = self.n, f"holds at least {self.containment:g}"
        alike = (
            f"a {n}-gram Jaccard similarity above {self.jaccard:g}"
            if self.jaccard < 1
            else f"the same {n}-grams"
        )
        told = {
            "exact": "equals an item, or its question alone, character by character",
            "normalised": "has the same words as an item, or as its question alone",
            "containment": f"{holds} of an item's {n}-grams (those in {self.boilerplate_items} or "
            "more items left aside)",
            "jaccard": f"has {alike} {'with' if self.jaccard < 1 else 'as'} an item",
            "stem": f"{holds} of the {n}-grams of an item's question without its options, has "
            f"{alike}, has its words and no others, or holds all its 5 to {n - 1} words in one run",
            "latex": f"{holds} of the {n}-grams of an item or of its question, has {alike}, or "
            "has the same words, once LaTeX spelling is evened out",
            "short_run": f"holds all words of an item of 5 to {n - 1} words in one run",
        }
        clauses = [told[channel] for channel in CHANNELS if channel in self.channels]
        return "a row is flagged where it " + "; or ".join(clauses)


class TextView:
    """One text seen as words, LaTeX words and their n-grams, each computed when first asked for."""

    def __init__(self, text: str, n: int) -> None:
        self.text, self.n = text, n
        self._counts: dict[bool, dict[Gram, int]] = {}

    @cached_property
    def words(self) -> list[str]:
        """Folded words."""
        return words(self.text)

    @cached_property
    def latex(self) -> list[str]:
        """Words in LaTeX canonical form."""
        return hashing.latex_words(self.text)

    @cached_property
    def has_latex(self) -> bool:
        """Whether the canonical form differs from the plain words."""
        return self.latex != self.words

    @cached_property
    def grams(self) -> set[Gram]:
        """Distinct n-grams of `words`."""
        return ngrams(self.words, self.n)

    @cached_property
    def latex_grams(self) -> set[Gram]:
        """Distinct n-grams of `latex`."""
        return ngrams(self.latex, self.n) if self.has_latex else self.grams

    def gram_counts(self, items_of_grams: ItemsOfGrams, *, latex: bool) -> dict[Gram, int]:
        """Return in how many items each n-gram stands; computed once, for the benchmark side."""
        if latex not in self._counts:
            held = self.latex if latex else self.words
            counts = items_of_grams(held)
            self._counts[latex] = {
                tuple(held[at : at + self.n]): count for at, count in enumerate(counts)
            }
        return self._counts[latex]

    def equals(self, other: TextView) -> bool:
        """Return whether both have the same words (without any word: the same look)."""
        if self.words or other.words:
            return self.words == other.words
        return bool(self.text.strip()) and normalise(self.text) == normalise(other.text)


@dataclass(frozen=True, slots=True)
class Subject:
    """A row or an item: the text as a whole, and the question without its options.

    Attributes:
        full: Question and options.
        stem: The question alone; the same object where there are no options.
        options: Option texts.
    """

    full: TextView
    stem: TextView
    options: tuple[str, ...] = ()

    @property
    def views(self) -> tuple[TextView, ...]:
        """The different views."""
        return (self.full,) if self.full is self.stem else (self.full, self.stem)


def subject(question: str, options: Sequence[str], n: int) -> Subject:
    """Return the views of a question with its options (none: one view)."""
    stem = TextView(question, n)
    if not options:
        return Subject(stem, stem)
    return Subject(TextView(with_options(question, options), n), stem, tuple(options))


def with_options(question: str, options: Sequence[str]) -> str:
    """Return question and options as one text, a line each."""
    return "\n".join((question, *options))


@dataclass(frozen=True, slots=True)
class Overlap:
    """Set overlap of two texts' n-grams.

    Attributes:
        jaccard: Shared over all, template n-grams included.
        containment: Share of the item's own n-grams that the row holds; 0.0 where it has none.
        row_containment: Share of the row's n-grams that the item holds.
        unique, shared, boilerplate: Shared n-grams by how many items have them: one, a few, or so
            many that they are template text.
    """

    jaccard: float = 0.0
    containment: float = 0.0
    row_containment: float = 0.0
    unique: int = 0
    shared: int = 0
    boilerplate: int = 0


@dataclass(frozen=True, slots=True)
class Comparison:
    """Everything known about a pair of row and item.

    Attributes:
        channels: The channels that hit, strongest first, whether or not the rule flags by them.
        plain: Overlap with the item, the best of the row's views.
        stem: The same with the item's question alone; nothing where the item has no options.
        latex: The same in LaTeX canonical form, with item or question, whichever is better.
        longest_run: Words of the longest run that both texts share.
        run_words: That run.
        similarity: Edit similarity of the normal forms in [0, 1]; None beyond 20,000 characters.
    """

    channels: tuple[Channel, ...]
    plain: Overlap
    stem: Overlap
    latex: Overlap
    longest_run: int
    run_words: str
    similarity: float | None


def ngrams(all_words: Sequence[str], n: int) -> set[Gram]:
    """Return the distinct runs of ``n`` words; none where there are fewer words."""
    return {tuple(all_words[at : at + n]) for at in range(len(all_words) - n + 1)}


def compare(row: Subject, item: Subject, rule: Rule, items_of_grams: ItemsOfGrams) -> Comparison:
    """Return the comparison of one pair.

    Args:
        row: The training side.
        item: The benchmark side.
        rule: Thresholds; which channels flag does not matter here.
        items_of_grams: In how many different items each n-gram of a text stands.
    """
    pairs = [(r, i) for r in row.views for i in item.views]
    full_pairs = [(r, item.full) for r in row.views]
    hits: dict[Channel, bool] = {}
    hits["exact"] = any(r.text == i.text and r.text != "" for r, i in _askable(row, item))
    hits["normalised"] = any(r.equals(i) for r, i in _askable(row, item))

    known: dict[tuple[int, int], Overlap] = {}

    def overlap(r: TextView, i: TextView, *, latex: bool = False) -> Overlap:
        if latex and (r.has_latex or i.has_latex):
            return _overlap(r.latex_grams, i.gram_counts(items_of_grams, latex=True), rule)
        if (id(r), id(i)) not in known:
            found = _overlap(r.grams, i.gram_counts(items_of_grams, latex=False), rule)
            known[id(r), id(i)] = found
        return known[id(r), id(i)]

    plain_full = [overlap(r, i) for r, i in full_pairs]
    hits["containment"] = any(found.containment >= rule.containment for found in plain_full)
    hits["jaccard"] = any(_above(found.jaccard, rule.jaccard) for found in plain_full)

    plain_stem = [] if item.stem is item.full else [overlap(r, item.stem) for r in row.views]
    hits["stem"] = (
        any(_passes(found, rule) for found in plain_stem)
        or any(r.equals(i) for r, i in _askable(row, item) if i is not item.full)
        or _short_stem(row, item)
    )

    latex = [overlap(r, i, latex=True) for r, i in pairs]
    hits["latex"] = not any(hits.values()) and (
        any(_passes(found, rule) for found in latex)
        or any(r.latex == i.latex and bool(r.latex) for r, i in _askable(row, item))
    )

    run = _longest_run(row.full.words, item.full.words)
    if not run and item.stem is not item.full:
        run = _longest_run(row.full.words, item.stem.words)
    hits["short_run"] = 5 <= len(item.full.words) < rule.n and len(run) == len(item.full.words)
    if not hits["short_run"] and 5 <= len(item.full.latex) < rule.n:
        hits["short_run"] = holds_run(row.full.latex, item.full.latex)
    return Comparison(
        channels=tuple(channel for channel in CHANNELS if hits[channel]),
        plain=_best(plain_full),
        stem=_best(plain_stem) if plain_stem else Overlap(),
        latex=_best(latex),
        longest_run=len(run),
        run_words=" ".join(run),
        similarity=_similarity(row, item),
    )


def holds_run(all_words: Sequence[str], run: Sequence[str]) -> bool:
    """Return whether ``run`` stands in ``all_words`` without a gap."""
    joined = f" {' '.join(all_words)} "
    return bool(run) and f" {' '.join(run)} " in joined


def _askable(row: Subject, item: Subject) -> list[tuple[TextView, TextView]]:
    """Return the pairs of views whose equality means that the same thing is asked.

    A short question such as "Which of these is true?" is not a question without its options: it
    counts where the row shows none (the item's options were left out), or has them too.
    """
    pairs = [(row.full, item.full)]
    if item.stem is not item.full and (
        len(item.stem.words) >= item.stem.n or not row.options or _shares_options(row, item)
    ):
        pairs.append((row.stem, item.stem))
    if row.stem is not row.full and item.stem is item.full:
        pairs.append((row.stem, item.full))
    return pairs


def _short_stem(row: Subject, item: Subject) -> bool:
    """Return whether a row holds a short question, with its options or as one that needs none."""
    if item.stem is item.full:
        return False
    forms = [(row.full.words, item.stem.words), (row.full.latex, item.stem.latex)]
    held = any(5 <= len(stem) < item.stem.n and holds_run(mine, stem) for mine, stem in forms)
    return held and (_shares_options(row, item) or _needs_no_options(row, item))


def _needs_no_options(row: Subject, item: Subject) -> bool:
    """Return whether a question says by itself what is asked, in a row that shows no options.

    "Which of the following is true?" does not, and with other options it is another question.
    """
    return not (
        row.options
        or _OPTION_LIST.search(row.full.text)
        or _POINTS_TO_OPTIONS.intersection(item.stem.words)
    )


def _shares_options(row: Subject, item: Subject) -> bool:
    """Return whether at least half of the item's options stand in the row."""
    found = sum(holds_run(row.full.words, words(option)) for option in item.options)
    return bool(item.options) and 2 * found >= len(item.options)


def _passes(found: Overlap, rule: Rule) -> bool:
    return found.containment >= rule.containment or _above(found.jaccard, rule.jaccard)


def _above(jaccard: float, threshold: float) -> bool:
    return jaccard > threshold or jaccard == threshold == 1.0


def _overlap(row: set[Gram], item: dict[Gram, int], rule: Rule) -> Overlap:
    both = row & item.keys()
    if not both:
        return Overlap()
    own = sum(count < rule.boilerplate_items for count in item.values())
    unique = sum(item[gram] <= 1 for gram in both)
    boilerplate = sum(item[gram] >= rule.boilerplate_items for gram in both)
    return Overlap(
        jaccard=len(both) / (len(row) + len(item) - len(both)),
        containment=(len(both) - boilerplate) / own if own else 0.0,
        row_containment=len(both) / len(row),
        unique=unique,
        shared=len(both) - unique - boilerplate,
        boilerplate=boilerplate,
    )


def _best(found: Sequence[Overlap]) -> Overlap:
    most = max(found, key=lambda overlap: (overlap.containment, overlap.jaccard))
    return Overlap(
        jaccard=max(overlap.jaccard for overlap in found),
        containment=most.containment,
        row_containment=most.row_containment,
        unique=most.unique,
        shared=most.shared,
        boilerplate=most.boilerplate,
    )


def _longest_run(row: Sequence[str], item: Sequence[str]) -> list[str]:
    matcher = SequenceMatcher(None, row, item, autojunk=False)
    match = matcher.find_longest_match(0, len(row), 0, len(item))
    return list(item[match.b : match.b + match.size])


def _similarity(row: Subject, item: Subject) -> float | None:
    from rapidfuzz.fuzz import ratio

    pairs = [(r, i) for r in row.views for i in item.views]
    if any(max(len(r.text), len(i.text)) > _EDIT_LIMIT for r, i in pairs):
        return None
    return max(float(ratio(normalise(r.text), normalise(i.text))) / 100 for r, i in pairs)
