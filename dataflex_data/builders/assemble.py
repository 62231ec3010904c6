"""From a recipe to rows: read or make every source, drop what must go, fill the quotas exactly.

Which rows are drawn is a function of the recipe's seed and each record's own content: the order of
a file, a neighbour's absence, the number of workers and other sources change nothing about a row.
Every row is checked before it is shipped: its gold, written as a response, must score 1 with its
own verifier, and a gold that is not equivalent must score 0.
"""

from __future__ import annotations

import multiprocessing
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from pathlib import Path

from dataflex_data.builders.dedup import Conflict, deduplicate
from dataflex_data.builders.filters import TokenCounter
from dataflex_data.builders.plan import EntryReport, Plan
from dataflex_data.builders.pool import DroppedRow, Item, Pool, make_item, read_pool
from dataflex_data.builders.recipe import Domain, Recipe
from dataflex_data.builders.selfcheck import self_check
from dataflex_data.builders.source import GeneratedSource, GenerationRequest, Source
from dataflex_data.core.errors import ShortfallError
from dataflex_data.core.fetch import Located, Lookup
from dataflex_data.core.schema import Row
from dataflex_data.core.seeding import digest
from dataflex_data.core.splits import split_of
from dataflex_data.core.text import normalise
from dataflex_data.reporting.terminal import progress
from dataflex_data.verifiers import routes

Decontaminate = Callable[[Sequence[str], Sequence[Sequence[str]]], Sequence["str | None"]]
"""(Questions, options of each) -> for each, which evaluation item it holds, or ``None``.

Handed in by `pipeline`: builders know nothing of audits."""


@dataclass(frozen=True, slots=True)
class BuildOptions:
    """What a build is given besides its recipe.

    Attributes:
        lookup: Where sources may be read from.
        counter: Counts prompt tokens for the recipe's limit; ``None``: no limit, no counts.
        decontaminate: Says which texts are evaluation items, or ``None``.
        held_out: Identities that must not occur: canonical forms of evaluation puzzles, whose
            texts differ under other names.
        workers: Processes that read sources at the same time; changes no byte.
        base: Folder that relative paths in the recipe start from.
    """

    lookup: Lookup
    counter: TokenCounter | None = None
    decontaminate: Decontaminate | None = None
    held_out: frozenset[str] = frozenset()
    workers: int = 1
    base: Path = Path()


@dataclass(frozen=True, slots=True)
class Assembly:
    """A finished corpus in memory.

    Attributes:
        rows: Rows per split, in their final order.
        entries: One report per source entry, in recipe order.
        conflicts: Golds that contradict each other.
        dropped: Every record left out, with its reason.
        notes: Sentences a user must see.
    """

    rows: Mapping[str, Sequence[Row]]
    entries: Sequence[EntryReport]
    conflicts: Sequence[Conflict]
    dropped: Sequence[DroppedRow]
    notes: Sequence[str]


def assemble(recipe: Recipe, options: BuildOptions) -> Assembly:
    """Return the corpus that ``recipe`` describes.

    Raises:
        SourceUnavailableError: Sources that can be read from nowhere, all of them together.
        InputDataError: A file that cannot be read.
        ShortfallError: A quota that cannot be filled, with the table of what became of each record.
    """
    plan = Plan(recipe, options.base)
    notes: list[str] = []
    located = plan.locate(options.lookup)
    pools = _read_pools(plan, located, options)
    _generate(plan, pools, options.held_out, notes)
    conflicts = _drop_same(plan, pools)
    tokens = _drop_long(plan, pools, options.counter)
    if options.decontaminate is not None:
        _drop_contaminated(pools, options.decontaminate, options.held_out)
    reports = {label: plan.report(label, located.get(label)) for label in plan.sources}
    rows: dict[str, list[Row]] = {"train": [], "validation": []}
    for domain_name, domain in recipe.domains.items():
        drawn = _fill_domain(plan, domain_name, domain, pools, reports, notes)
        for split, items in drawn.items():
            rows[split].extend(plan.row(item, domain_name, tokens) for item in items)
    for split_rows in rows.values():
        # A keyed order over all domains, so that any prefix of the file is near the mixture.
        split_rows.sort(key=lambda row: digest("order", recipe.seed, row.row_id))
    for label, report in reports.items():
        report.raw = pools[label].raw
        report.dropped = dict(sorted(pools[label].counts.items()))
    dropped = [row for pool in pools.values() for row in pool.dropped]
    return Assembly(rows, list(reports.values()), conflicts, dropped, notes)


def _read_pools(
    plan: Plan, located: Mapping[str, Located], options: BuildOptions
) -> dict[str, Pool]:
    """Read every file source, in ``workers`` processes; pools come back in recipe order."""
    recipe = plan.recipe
    jobs = [
        (entry, located[label], recipe.filters, recipe.seed)
        for label, entry in plan.entries.items()
        if label in located
    ]
    with progress("reading sources", len(jobs)) as advance:
        if options.workers > 1 and len(jobs) > 1:
            # spawn: polars and arrow hold threads that a fork would copy in any state.
            context = multiprocessing.get_context("spawn")
            with ProcessPoolExecutor(min(options.workers, len(jobs)), context) as executor:
                futures = [executor.submit(read_pool, *job) for job in jobs]
                found = []
                for future in futures:
                    found.append(future.result())
                    advance()
        else:
            found = []
            for job in jobs:
                found.append(read_pool(*job))
                advance()
    pools = {pool.label: pool for pool in found}
    return {label: pools.get(label, Pool(label)) for label in plan.entries}


def _generate(
    plan: Plan, pools: Mapping[str, Pool], held_out: frozenset[str], notes: list[str]
) -> None:
    """Let generators make exactly what is asked of them."""
    for domain in plan.recipe.domains.values():
        wanted = plan.wanted(domain)
        for entry in domain.sources:
            source = plan.sources[entry.label]
            if not isinstance(source, GeneratedSource):
                continue
            counts = {split: by_label[entry.label] for split, by_label in wanted.items()}
            made = source.generate(
                GenerationRequest(
                    seed=plan.recipe.seed,
                    count_by_split=counts,
                    exclude_identities=held_out.union(
                        item.identity for pool in pools.values() for item in pool.items
                    ),
                )
            )
            pool = pools[entry.label]
            pool.counts.update(made.dropped)
            notes.extend(made.notes)
            for candidates in made.candidates_by_split.values():
                pool.items.extend(
                    make_item(entry.label, candidate, plan.recipe.seed, source.revision)
                    for candidate in candidates
                )
            pool.raw = len(pool.items) + sum(made.dropped.values())


def _drop_same(plan: Plan, pools: Mapping[str, Pool]) -> list[Conflict]:
    """Keep one row of those that are the same, over all sources and domains."""

    def equivalent(first: Item, second: Item) -> bool:
        a, b = first.candidate, second.candidate
        if a.gold == b.gold:
            return True
        if a.options or b.options:
            return normalise(a.gold) == normalise(b.gold)
        return routes.equivalent(plan.sources[first.label].route, a.gold, b.gold)

    items = [item for pool in pools.values() for item in pool.items]
    result = deduplicate(items, plan.rank, equivalent)
    for pool in pools.values():
        pool.items = []
    for item in result.kept:
        pools[item.label].items.append(item)
    for removed in result.removed:
        pools[removed.item.label].drop_item(removed.item, removed.reason, removed.detail)
    return result.conflicts


def _drop_long(
    plan: Plan, pools: Mapping[str, Pool], counter: TokenCounter | None
) -> dict[str, int]:
    """Apply the token limit; return exact counts by row key (none from an estimate)."""
    if counter is None:
        return {}
    limit = plan.recipe.filters.max_prompt_tokens
    exact: dict[str, int] = {}
    with progress("counting tokens", sum(len(pool.items) for pool in pools.values())) as advance:
        for pool in pools.values():
            kept: list[Item] = []
            for start in range(0, len(pool.items), 1000):
                block = pool.items[start : start + 1000]
                counts = counter.count([plan.prompt(item) for item in block])
                for item, count in zip(block, counts, strict=True):
                    if limit is not None and count > limit:
                        pool.drop_item(item, "prompt_too_long", f"{count} tokens > {limit}")
                        continue
                    kept.append(item)
                    if counter.exact:
                        exact[item.key] = count
                advance(len(block))
            pool.items = kept
    return exact


def _drop_contaminated(
    pools: Mapping[str, Pool], decontaminate: Decontaminate, held_out: frozenset[str]
) -> None:
    """Drop rows that are evaluation items, before any quota is filled."""
    for pool in pools.values():
        items, pool.items = pool.items, []
        verdicts = decontaminate(
            [item.candidate.question for item in items],
            [item.candidate.options for item in items],
        )
        for item, verdict in zip(items, verdicts, strict=True):
            if verdict is not None:
                pool.drop_item(item, "contaminated", verdict)
            elif item.identity in held_out:
                pool.drop_item(item, "contaminated", "the puzzle of an evaluation item")
            else:
                pool.items.append(item)


def _fill_domain(
    plan: Plan,
    name: str,
    domain: Domain,
    pools: Mapping[str, Pool],
    reports: Mapping[str, EntryReport],
    notes: list[str],
) -> dict[str, list[Item]]:
    """Draw each entry's quota per split in key order, checking every row that is drawn."""
    drawn: dict[str, list[Item]] = {}
    missing: dict[str, dict[str, int]] = {}
    for split, quotas in plan.wanted(domain).items():
        left: dict[str, Iterator[Item]] = {}
        chosen: list[Item] = []
        missing[split] = {}
        for label, quota in quotas.items():
            pool, report = pools[label], reports[label]
            mine = sorted(
                (item for item in pool.items if split_of(item.identity) == split),
                key=lambda item: item.key,
            )
            report.eligible[split], report.wanted[split] = len(mine), quota
            left[label] = _checked(plan, pool, mine)
            taken = _take(left[label], quota)
            report.drawn[split] = len(taken)
            chosen.extend(taken)
            if len(taken) < quota:
                missing[split][label] = quota - len(taken)
        lacking = sum(missing[split].values())
        if lacking and domain.on_shortfall == "redistribute":
            for label in quotas:
                extra = _take(left[label], lacking)
                if extra:
                    reports[label].drawn[split] += len(extra)
                    chosen.extend(extra)
                    lacking -= len(extra)
                    short = ", ".join(missing[split])
                    notes.append(
                        f"{name}/{split}: {len(extra)} rows that {short} could not give come "
                        f"from {label}"
                    )
            if not lacking:
                missing[split] = {}
        drawn[split] = chosen
    if any(missing.values()):
        for label, report in reports.items():
            report.raw, report.dropped = pools[label].raw, dict(pools[label].counts)
        raise ShortfallError(_shortfall_message(name, missing, reports, plan.sources))
    return drawn


def _take(items: Iterator[Item], count: int) -> list[Item]:
    taken: list[Item] = []
    while len(taken) < count:
        item = next(items, None)
        if item is None:
            break
        taken.append(item)
    return taken


def _checked(plan: Plan, pool: Pool, items: Sequence[Item]) -> Iterator[Item]:
    """Yield the items whose verifier accepts their own gold and refuses another one."""
    route = plan.sources[pool.label].route
    golds = [plan.gold(item) for item in items]
    for position, item in enumerate(items):
        options = list(plan.ordered_options(item))
        problem = self_check(route, golds, position, {"options": options})
        if problem is None:
            yield item
        else:
            pool.drop_item(item, "self_check", problem)


def _shortfall_message(
    domain: str,
    missing: Mapping[str, Mapping[str, int]],
    reports: Mapping[str, EntryReport],
    sources: Mapping[str, Source],
) -> str:
    lines = [f"domain {domain}: the sources cannot fill their quotas"]
    for split, by_label in missing.items():
        for label, count in by_label.items():
            report = reports[label]
            reasons = Counter(report.dropped).most_common(6)
            left = sum(report.eligible.values())
            lines.append(
                f"  - {label}/{split}: wanted {report.wanted[split]}, got {report.drawn[split]}, "
                f"missing {count} (raw {report.raw}; dropped "
                + (", ".join(f"{reason} {number}" for reason, number in reasons) or "none")
                + f"; of the {left:,} left, {report.eligible[split]:,} fall in {split}: "
                "their content decides the split)"
            )
    short = {label for by_label in missing.values() for label in by_label}
    lines.extend(
        f"  {label}, {reason}: {hint}"
        for label in sorted(short)
        for reason, hint in sources[label].hints.items()
        if reason in reports[label].dropped
    )
    lines.append(
        "lower the counts, give more data with --source, loosen the filters, or set "
        "`on_shortfall: redistribute` on the domain"
    )
    return "\n".join(lines)
