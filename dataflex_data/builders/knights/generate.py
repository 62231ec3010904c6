"""Fill quotas with puzzles: so many per number of people and split, all different, all checked.

The canonical form alone decides the side of a split, so a puzzle under other names is never in
another split, in this corpus or in the next. What a number of people cannot give is named, and
either spread over the others or refused.
"""

from __future__ import annotations

import math
import zlib
from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction

import numpy as np

from dataflex_data.builders.knights.difficulty import branchings
from dataflex_data.builders.knights.grammar import LARGEST_DEPTH
from dataflex_data.builders.knights.parse import parse_quiz, solve_by_joining
from dataflex_data.builders.knights.render import NAMES, Renderer, gold_text
from dataflex_data.builders.knights.stream import Puzzles, PuzzleStream
from dataflex_data.builders.source import Candidate, Generation
from dataflex_data.core.errors import DataflexError, InputDataError, ShortfallError
from dataflex_data.core.seeding import keyed_hash, splitmix64
from dataflex_data.core.splits import split_of

# Two people may say any of 16 functions of their roles: all pairs, counted in the tests.
MOST_AT_TWO_PEOPLE = 38


@dataclass(frozen=True, slots=True)
class PuzzlePlan:
    """What to generate.

    Attributes:
        seed: Seed of the recipe.
        weights: Share of each number of people, relative to the others.
        depth: Largest nesting depth of a statement.
        width: Largest number of parts of an "and" or "or".
        names: Names to choose from.
        excluded: Canonical forms that must not occur.
        spread_shortfall: Whether what one number of people cannot give is asked of the others.
    """

    seed: int
    weights: Mapping[int, float]
    depth: int = 2
    width: int = 2
    names: Sequence[str] = NAMES
    excluded: Collection[str] = frozenset()
    spread_shortfall: bool = True


@dataclass(slots=True)
class _Supply:
    """Puzzles of one number of people, sorted by split as they come."""

    stream: PuzzleStream
    excluded: Collection[str]
    lots: list[Puzzles] = field(default_factory=list)
    rows_by_split: dict[str, list[tuple[int, int]]] = field(default_factory=dict)
    found: int = 0
    left_out: int = 0
    is_at_end: bool = False

    def fill(self, wanted: Mapping[str, int]) -> None:
        """Draw until every split has what is wanted, or there is no more."""
        while any(self.available(split) < count for split, count in wanted.items()):
            lot = None if self.is_at_end else next(iter(self.stream), None)
            if lot is None:
                self.is_at_end = True
                return
            for row, form in enumerate(lot.forms):
                self.found += 1
                if form in self.excluded:
                    self.left_out += 1
                else:
                    self.rows_by_split.setdefault(split_of(form), []).append((len(self.lots), row))
            self.lots.append(lot)

    def available(self, split: str) -> int:
        return len(self.rows_by_split.get(split, ()))

    def take(self, split: str, count: int) -> list[Puzzles]:
        """Return the first ``count`` puzzles of the split, lot by lot."""
        rows: dict[int, list[int]] = {}
        for lot, row in self.rows_by_split.get(split, [])[:count]:
            rows.setdefault(lot, []).append(row)
        return [self.lots[lot].take(np.array(chosen)) for lot, chosen in rows.items()]


@dataclass(frozen=True, slots=True)
class Drawn:
    """Puzzles that fill the quotas, not yet in words.

    Attributes:
        lots: ``(split, stream, puzzles)`` in the order of the rows to be.
        dropped: Attempts thrown away, by reason.
        notes: A sentence per shortfall that was spread.
    """

    lots: list[tuple[str, PuzzleStream, Puzzles]]
    dropped: Mapping[str, int]
    notes: list[str]


@dataclass(frozen=True, slots=True)
class Worded:
    """Texts of one lot: names, question and gold answer per puzzle."""

    names: list[list[str]]
    questions: list[str]
    golds: list[str]


def generate(plan: PuzzlePlan, count_by_split: Mapping[str, int]) -> Generation:
    """Return exactly as many candidates per split as asked for, each checked by its text.

    Raises:
        ShortfallError: The grammar cannot give them, or one number of people cannot and the
            shortfall is not to be spread.
    """
    drawn = draw(plan, count_by_split)
    candidates: dict[str, list[Candidate]] = {split: [] for split in count_by_split}
    renderers: dict[int, Renderer] = {}
    for split, stream, puzzles in drawn.lots:
        renderer = renderers.setdefault(stream.n_people, Renderer(stream.pool.claims, plan.names))
        worded = put_into_words(plan.seed, renderer, puzzles)
        check_by_text(puzzles, worded)
        difficulties = branchings(stream.batch(puzzles), puzzles.orders).tolist()
        depths = stream.pool.depths[puzzles.claims].max(axis=1).tolist()
        for row, form in enumerate(puzzles.forms):
            question, gold = worded.questions[row], worded.golds[row]
            candidates[split].append(
                Candidate(
                    question=question,
                    gold=gold,
                    raw_question=question,
                    raw_answer=gold,
                    difficulty=float(difficulties[row]),
                    n_people=stream.n_people,
                    statement_depth=depths[row],
                    canonical=form,
                )
            )
    return Generation(candidates, drawn.dropped, drawn.notes)


def put_into_words(seed: int, renderer: Renderer, puzzles: Puzzles) -> Worded:
    """Return texts of the puzzles; names and phrases belong to (seed, canonical form)."""
    # Equal checksums only give two puzzles the same names, so 32 bits are enough.
    checksums = np.array([zlib.crc32(form.encode()) for form in puzzles.forms], dtype=np.uint64)
    keys = splitmix64(checksums + np.uint64(keyed_hash("knights/wording", seed)))
    rendered = renderer.render(puzzles.claims, puzzles.people, keys)
    golds = [
        gold_text(names, solution)
        for (names, _), solution in zip(rendered, puzzles.solutions.tolist(), strict=True)
    ]
    return Worded([names for names, _ in rendered], [text for _, text in rendered], golds)


def check_by_text(puzzles: Puzzles, worded: Worded) -> None:
    """Solve every puzzle again from its text alone, by the other parser and the other solver.

    Raises:
        DataflexError: A text says something else than what was solved. That is a fault of this
            package, never of the user.
    """
    for row, (question, solution) in enumerate(
        zip(worded.questions, puzzles.solutions.tolist(), strict=True)
    ):
        try:
            read = parse_quiz(question)
            solutions = solve_by_joining(read.puzzle)
        except InputDataError as error:
            raise DataflexError(f"a generated puzzle cannot be read back: {error}") from error
        if list(read.names) != worded.names[row] or solutions != [solution]:
            raise DataflexError(
                "a generated puzzle does not have the solution it was made with; please report "
                f"this text to dataflex-data: {question}"
            )


def draw(plan: PuzzlePlan, count_by_split: Mapping[str, int]) -> Drawn:
    """Return puzzles that fill the quotas; see `generate`."""
    supplies = {
        n: _Supply(PuzzleStream(plan.seed, n, plan.depth, plan.width), plan.excluded)
        for n in sorted(plan.weights)
    }
    asked = {split: share_out(count, plan.weights) for split, count in count_by_split.items()}
    quotas = {split: dict(shares) for split, shares in asked.items()}
    missing = _fill(supplies, quotas)
    problems = _shortfalls(plan, supplies, asked)
    if problems and not plan.spread_shortfall:
        raise ShortfallError(_refusal(plan, problems))
    while any(missing.values()):
        for split, count in missing.items():
            open_weights = {
                n: plan.weights[n]
                for n, supply in supplies.items()
                if not supply.is_at_end or supply.available(split) > quotas[split][n]
            }
            if count and not open_weights:
                total = count_by_split[split]
                raise ShortfallError(_refusal(plan, [_total_shortfall(supplies, split, total)]))
            for n, more in share_out(count, open_weights).items():
                quotas[split][n] += more
        missing = _fill(supplies, quotas)
    notes = [
        f"{problem}; the rest was asked of the other numbers of people" for problem in problems
    ]
    dropped: Counter[str] = Counter()
    for supply in supplies.values():
        dropped.update(supply.stream.thrown_away)
        dropped["excluded_form"] += supply.left_out
    lots = [
        (split, supplies[n].stream, lot)
        for split, shares in quotas.items()
        for n, count in shares.items()
        for lot in supplies[n].take(split, count)
    ]
    return Drawn(lots, {reason: count for reason, count in sorted(dropped.items()) if count}, notes)


def _fill(supplies: Mapping[int, _Supply], quotas: dict[str, dict[int, int]]) -> dict[str, int]:
    """Draw for the quotas, lower them to what there is, and return what is missing per split."""
    missing = dict.fromkeys(quotas, 0)
    for n, supply in supplies.items():
        supply.fill({split: shares[n] for split, shares in quotas.items()})
        for split, shares in quotas.items():
            lacking = max(0, shares[n] - supply.available(split))
            shares[n] -= lacking
            missing[split] += lacking
    return missing


def _shortfalls(
    plan: PuzzlePlan, supplies: Mapping[int, _Supply], asked: Mapping[str, Mapping[int, int]]
) -> list[str]:
    """Return a sentence for each number of people and split that cannot be filled."""
    sentences = []
    for n, supply in supplies.items():
        for split, shares in asked.items():
            if (available := supply.available(split)) >= shares[n]:
                continue
            total = (
                f"the grammar has {supply.found} in all"
                if supply.stream.is_exact
                else f"the search stopped at {supply.found}, few new ones turn up"
            )
            excluded = f", {supply.left_out} of them in excluded files" if supply.left_out else ""
            sentences.append(
                f"{n} people: {shares[n]} different puzzles wanted for {split}, {available} there "
                f"(depth {plan.depth}, width {plan.width}: {total}{excluded}; the canonical form "
                "decides the split)"
            )
    return sentences


def _total_shortfall(supplies: Mapping[int, _Supply], split: str, total: int) -> str:
    possible = {n: supply.available(split) for n, supply in supplies.items()}
    listed = ", ".join(f"{count} of {n} people" for n, count in possible.items())
    return f"{total} different puzzles wanted for {split}, {sum(possible.values())} there: {listed}"


def _refusal(plan: PuzzlePlan, problems: Sequence[str]) -> str:
    remedies = ["ask for fewer rows", "give small numbers of people a smaller share in `people`"]
    if any(n > 2 for n in plan.weights) and plan.depth < LARGEST_DEPTH:
        remedies.insert(0, f"allow deeper statements (`depth: {plan.depth + 1}`)")
    if 2 in plan.weights:
        remedies.append(f"at 2 people there are never more than {MOST_AT_TWO_PEOPLE}, at any depth")
    if not plan.spread_shortfall:
        remedies.append("spread what is missing over the others (`on_shortfall: redistribute`)")
    listed = "\n".join(f"  - {problem}" for problem in problems)
    return f"knights_and_knaves cannot fill the quota:\n{listed}\nRemedies: {'; '.join(remedies)}"


def share_out(total: int, weights: Mapping[int, float]) -> dict[int, int]:
    """Return whole numbers in proportion to the weights that add up to ``total``.

    Largest remainders first, equal ones from the smallest key. No weights give an empty mapping.
    """
    if not weights:
        return {}
    parts = {key: Fraction(weight) for key, weight in weights.items()}
    whole = sum(parts.values())
    exact = {key: total * part / whole for key, part in parts.items()}
    shares = {key: math.floor(value) for key, value in exact.items()}
    by_remainder = sorted(exact, key=lambda key: (shares[key] - exact[key], key))
    for key in by_remainder[: total - sum(shares.values())]:
        shares[key] += 1
    return shares
