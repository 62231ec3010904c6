"""Evaluation items as verl validation rows, so that a training run's validation gives the scores.

The items come from `pipeline`, which reads them with the audits' loaders: what is trained against
and what is evaluated on are read by one piece of code. All items of a benchmark are written, in
its own order and with its own letters; a score over some of them would be another benchmark.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

from dataflex_data.builders.assemble import Assembly
from dataflex_data.builders.plan import EntryReport
from dataflex_data.builders.selfcheck import self_check
from dataflex_data.builders.templates import TEMPLATES, render_prompt
from dataflex_data.core.errors import InputDataError
from dataflex_data.core.schema import Row
from dataflex_data.core.seeding import hex_id
from dataflex_data.core.text import excerpt
from dataflex_data.verifiers import routes


class EvaluationItem(Protocol):
    """One evaluation item, as `audits.benchmarks` loads it."""

    @property
    def item_id(self) -> str:
        """Id within the benchmark."""

    @property
    def question(self) -> str:
        """Question without its options."""

    @property
    def options(self) -> tuple[str, ...]:
        """Option texts in letter order."""

    @property
    def gold(self) -> str:
        """Gold answer as the verifiers take it."""

    @property
    def n_people(self) -> int:
        """Knights-and-Knaves only; -1 elsewhere."""


@dataclass(frozen=True, slots=True)
class EvaluationBenchmark:
    """One benchmark to write.

    Attributes:
        name: Its registry name; the route is ``dataflex/NAME``.
        domain: Unit of mixture of its rows.
        license: SPDX identifier or the terms in words.
        repo_id: Where it comes from.
        origin: ``"hub"`` or ``"local"``.
        revision: Commit, or ``"local"``.
        files: Digest by file name.
        items: All its items.
    """

    name: str
    domain: str
    license: str
    repo_id: str
    origin: str
    revision: str
    files: Mapping[str, str]
    items: Sequence[EvaluationItem]


def assemble_evaluation(benchmarks: Iterable[EvaluationBenchmark]) -> Assembly:
    """Return the items as validation rows; the train split is empty.

    Raises:
        InputDataError: An item whose own gold its verifier does not accept; names it.
    """
    rows: list[Row] = []
    reports: list[EntryReport] = []
    notes: list[str] = []
    for benchmark in benchmarks:
        route = f"dataflex/{benchmark.name}"
        kind = routes.ROUTES.get(route).kind
        template = next(name for name, (made_for, _) in TEMPLATES.items() if made_for == kind)
        rows.extend(_row(benchmark, item, route, kind, template) for item in benchmark.items)
        undecided = _check(benchmark, route)
        if undecided:
            notes.append(
                f"{benchmark.name}: {undecided} of {len(benchmark.items)} golds need the extra "
                "`symbolic` to accept another notation (reward_kwargs.symbolic=True)"
            )
        reports.append(
            EntryReport(
                label=benchmark.name,
                domain=benchmark.domain,
                license=benchmark.license,
                template=template,
                repo_id=benchmark.repo_id,
                origin=benchmark.origin,
                revision=benchmark.revision,
                files=[
                    {"name": name, "sha256": digest}
                    for name, digest in sorted(benchmark.files.items())
                ],
                raw=len(benchmark.items),
                eligible={"train": 0, "validation": len(benchmark.items)},
                drawn={"train": 0, "validation": len(benchmark.items)},
                wanted={"train": 0, "validation": len(benchmark.items)},
            )
        )
    return Assembly({"train": [], "validation": rows}, reports, [], [], notes)


def _row(
    benchmark: EvaluationBenchmark, item: EvaluationItem, route: str, kind: str, template: str
) -> Row:
    digests = sorted(benchmark.files.values())
    return Row(
        data_source=route,
        prompt=(("user", render_prompt(template, item.question, item.options)),),
        ability=kind,
        ground_truth=item.gold,
        domain=benchmark.domain,
        row_id=hex_id("evaluation", benchmark.name, item.item_id),
        source=benchmark.repo_id,
        source_id=item.item_id,
        source_revision=(
            f"sha256:{digests[0]}" if benchmark.origin == "local" else benchmark.revision
        ),
        license=benchmark.license,
        raw_question=item.question,
        raw_answer=item.gold,
        n_people=item.n_people,
        options=item.options,
    )


def _check(benchmark: EvaluationBenchmark, route: str) -> int:
    """Check every gold; return how many the exact ladder alone cannot judge."""
    golds = [item.gold for item in benchmark.items]
    undecided = 0
    for position, item in enumerate(benchmark.items):
        extra = {"options": list(item.options)}
        problem = self_check(route, golds, position, extra)
        if problem:
            raise InputDataError(
                f"benchmark {benchmark.name}, item {item.item_id}: {problem}; the gold is "
                f"{excerpt(item.gold)}. Mend the file, or report it if it is the published one"
            )
        undecided += routes.gold_problem(route, item.gold, extra) is not None
    return undecided
