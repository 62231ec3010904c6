"""Fill quotas with problems: shares per family and level, all different, each split its own.

The identity alone decides the side of a split, so that a problem in other words is never in
another split, in this corpus or in the next. What a family cannot give at a level is named and
asked of the others.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field

from dataflex_data.builders.knights.generate import share_out
from dataflex_data.builders.procedural.family import Draw, Families, Family, gold_text, identity
from dataflex_data.builders.source import Candidate, Generation, GenerationRequest
from dataflex_data.core.errors import ShortfallError
from dataflex_data.core.seeding import keyed_hash
from dataflex_data.core.splits import VALIDATION_SHARE, split_of
from dataflex_data.core.text import normalise

# An attempt at a small cell mostly repeats what is there; after this many in a row it is empty.
_FRUITLESS = 1_500


@dataclass(frozen=True, slots=True)
class ProblemPlan:
    """What to generate.

    Attributes:
        source: Name of the source, the beginning of every identity.
        families: The families to choose from.
        family_weights: Share of each family, relative to the others.
        level_weights: Share of each level, relative to the others.
    """

    source: str
    families: Families
    family_weights: Mapping[str, float]
    level_weights: Mapping[int, float]


@dataclass(slots=True)
class _Cell:
    """Problems of one family at one level, sorted by split as they come."""

    plan: ProblemPlan
    family: Family
    level: int
    seed: int
    excluded: Collection[str]
    seen: set[str]
    by_split: dict[str, list[Candidate]] = field(default_factory=dict)
    dropped: Counter[str] = field(default_factory=Counter)
    attempts: int = 0
    is_at_end: bool = False

    def fill(self, wanted: Mapping[str, int]) -> None:
        """Draw until every split has what is wanted, or nothing new turns up."""
        fruitless = 0
        while any(self.available(split) < count for split, count in wanted.items()):
            if self.is_at_end or fruitless >= _FRUITLESS:
                self.is_at_end = True
                return
            fruitless = 0 if self._attempt() else fruitless + 1

    def available(self, split: str) -> int:
        return len(self.by_split.get(split, ()))

    def _attempt(self) -> bool:
        draw = Draw(self.seed, self.plan.source, self.family.name, self.level, self.attempts)
        self.attempts += 1
        problem = self.family.make(draw, self.level)
        if problem is None:
            self.dropped["unsuitable_parameters"] += 1
            return False
        form = identity(self.plan.source, self.family.name, problem.parameters)
        gold = gold_text(problem.answer)
        if form in self.seen:
            self.dropped["same_form"] += 1
            return False
        # Problems that differ in signs only (3 + 4 and 3 - 4) have the same words: one stays.
        options = sorted((gold, *problem.wrong)) if problem.wrong else []
        wording = normalise(" ".join((problem.question, *options)))
        if wording in self.seen:
            self.dropped["same_words"] += 1
            return False
        self.seen.update((form, wording))
        if form in self.excluded:
            self.dropped["excluded_form"] += 1
            return False
        candidate = Candidate(
            question=problem.question,
            gold=gold,
            raw_question=problem.question,
            raw_answer=gold,
            options=(gold, *problem.wrong) if problem.wrong else (),
            difficulty=float(self.level),
            canonical=form,
        )
        self.by_split.setdefault(split_of(form), []).append(candidate)
        return True


def generate(plan: ProblemPlan, request: GenerationRequest) -> Generation:
    """Return exactly as many candidates per split as asked for.

    Raises:
        ShortfallError: The families and levels cannot give that many different ones.
    """
    cells, weights = _cells(plan, request)
    asked = {split: share_out(count, weights) for split, count in request.count_by_split.items()}
    quotas = {split: dict(shares) for split, shares in asked.items()}
    missing = _fill(cells, quotas)
    notes = _notes(plan, cells, asked, quotas)
    while any(missing.values()):
        for split, count in missing.items():
            open_weights = {
                rank: weights[rank]
                for rank, cell in enumerate(cells)
                if not cell.is_at_end or cell.available(split) > quotas[split][rank]
            }
            if count and not open_weights:
                raise ShortfallError(_refusal(plan, cells, split, request.count_by_split[split]))
            for rank, more in share_out(count, open_weights).items():
                quotas[split][rank] += more
        missing = _fill(cells, quotas)
    candidates = {
        split: [
            candidate
            for rank, cell in enumerate(cells)
            for candidate in cell.by_split.get(split, [])[: shares[rank]]
        ]
        for split, shares in quotas.items()
    }
    dropped: Counter[str] = Counter()
    for cell in cells:
        dropped.update(cell.dropped)
    return Generation(candidates, dict(sorted(dropped.items())), notes)


def _cells(plan: ProblemPlan, request: GenerationRequest) -> tuple[list[_Cell], dict[int, float]]:
    """Return the cells in an order that no family is first in, and each one's weight by rank.

    `share_out` gives what is left over by rank: in the order of names, small quotas would have the
    first families and levels only.
    """
    pairs = sorted(
        ((family, level) for family in plan.family_weights for level in plan.level_weights),
        key=lambda pair: keyed_hash("procedural/cell", request.seed, *pair),
    )
    seen: dict[str, set[str]] = {family: set() for family in plan.family_weights}
    cells = [
        _Cell(
            plan,
            plan.families.get(family),
            level,
            request.seed,
            request.exclude_identities,
            seen[family],
        )
        for family, level in pairs
    ]
    levels = sum(plan.level_weights.values())
    weights = {
        rank: float(plan.family_weights[family]) * plan.level_weights[level] / levels
        for rank, (family, level) in enumerate(pairs)
    }
    return cells, weights


def _fill(cells: list[_Cell], quotas: dict[str, dict[int, int]]) -> dict[str, int]:
    """Draw for the quotas, lower them to what there is, and return what is missing per split."""
    missing = dict.fromkeys(quotas, 0)
    for rank, cell in enumerate(cells):
        cell.fill({split: shares[rank] for split, shares in quotas.items()})
        for split, shares in quotas.items():
            lacking = max(0, shares[rank] - cell.available(split))
            shares[rank] -= lacking
            missing[split] += lacking
    return missing


def _notes(
    plan: ProblemPlan,
    cells: list[_Cell],
    asked: Mapping[str, Mapping[int, int]],
    quotas: Mapping[str, Mapping[int, int]],
) -> list[str]:
    """Return one sentence per split that names every cell that gave less than its share."""
    notes = []
    for split, shares in asked.items():
        short = [
            f"{cell.family.name} level {cell.level} ({quotas[split][rank]} of {shares[rank]})"
            for rank, cell in enumerate(cells)
            if quotas[split][rank] < shares[rank]
        ]
        if short:
            notes.append(
                f"{plan.source}/{split}: {', '.join(sorted(short))} had no more different "
                "problems; the rest was asked of the other families and levels"
            )
    return notes


def _refusal(plan: ProblemPlan, cells: list[_Cell], split: str, wanted: int) -> str:
    there = sum(cell.available(split) for cell in cells)
    by_family = Counter[str]()
    for cell in cells:
        by_family[cell.family.name] += cell.available(split)
    listed = ", ".join(f"{name} {count}" for name, count in sorted(by_family.items()))
    return (
        f"{plan.source}: {wanted} different problems wanted for {split}, {there} there ({listed}); "
        f"a problem's form decides its split, {VALIDATION_SHARE:.0%} of all are validation. "
        "Remedies: ask for fewer rows, or allow more `families` or `levels`"
    )
