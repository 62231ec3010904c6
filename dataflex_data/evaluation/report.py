"""The evaluation for people, as ``report.md``, ``report.html`` and pictures."""

from __future__ import annotations

from collections.abc import Sequence
from decimal import Decimal
from pathlib import Path

import numpy as np

from dataflex_data.evaluation.absence import absence_sentences
from dataflex_data.evaluation.compare import Comparison, margins
from dataflex_data.evaluation.evaluate import TOOL, Evaluation, summary
from dataflex_data.evaluation.flags import Group
from dataflex_data.evaluation.process import GENERATED, OPTIMISED, RETAINED
from dataflex_data.evaluation.runs import group_label
from dataflex_data.evaluation.words import cell, interval_text, points
from dataflex_data.reporting.document import (
    Block,
    Heading,
    Paragraph,
    Part,
    Picture,
    Table,
    html_document,
    markdown_document,
)
from dataflex_data.reporting.words import plural


def write_reports(evaluation: Evaluation, folder: Path, *, plots: bool) -> None:
    """Write ``report.md``, ``report.html``, ``forest.html`` and, with ``plots``, the PNGs."""
    forests: dict[Group, bytes] = {}
    others: list[Picture] = []
    if plots:
        from dataflex_data.evaluation import figures

        forests = figures.forests(evaluation)
        if forests:
            (folder / "forest.png").write_bytes(figures.stacked(list(forests.values())))
        others = [
            Picture(
                "sensitivity.png", "heat map of rank correlations", figures.heat_map(evaluation)
            ),
            Picture("rank_shift.png", "ranks under each aggregate", figures.rank_shift(evaluation)),
        ]
        pareto = figures.pareto(evaluation)
        if pareto is not None:
            others.append(Picture("pareto.png", "score against tokens optimised", pareto))
        for picture in others:
            (folder / picture.file).write_bytes(picture.png)
    by_file = {picture.file: picture for picture in others}
    parts = _parts(evaluation, forests, by_file)
    title = f"Evaluation: {evaluation.contract.name}"
    subtitle = _subtitle(evaluation)
    text = markdown_document(title, parts, subtitle=subtitle)
    (folder / "report.md").write_text(text, encoding="utf-8")
    page = html_document(title, parts, subtitle=subtitle)
    (folder / "report.html").write_text(page, encoding="utf-8")
    if plots:
        forest = _forest_part(evaluation, forests)
        stamped = Part(forest.title, [*_stamp(evaluation), *forest.blocks])
        page = html_document(f"{title}: effects", [stamped], subtitle=subtitle)
        (folder / "forest.html").write_text(page, encoding="utf-8")


def headline(evaluation: Evaluation) -> str:
    """Return the result in sentences that claim no more than the data allow."""
    counts = summary(evaluation)
    verdicts = counts["verdicts"]
    told = ", ".join(f"{n} {verdict}" for verdict, n in sorted(verdicts.items()))
    sentences = [f"{plural(counts['comparisons'], 'comparison')}: {told or 'none'}."]
    open_ = [one for one in evaluation.comparisons if one.verdict == "inconclusive" and one.tests]
    if open_:
        typical = float(
            np.median([one.tests.minimal_detectable_effect for one in open_ if one.tests])
        )
        contract = evaluation.contract
        sentences.append(
            f"Inconclusive does not mean without effect: the median inconclusive comparison could "
            f"have shown, with {contract.power:.0%} power, a difference of "
            f"{points(contract, typical)} or more; the effect that matters was set at "
            f"{contract.meaningful_effect:g}."
        )
    few = verdicts.get("too few pairs")
    if few:
        have = "has" if few == 1 else "have"
        get = "gets" if few == 1 else "get"
        sentences.append(
            f"{plural(few, 'comparison')} {have} fewer pairs than the contract asks for and {get} "
            "no verdict."
        )
    return " ".join(sentences)


def remarks(evaluation: Evaluation) -> list[str]:
    """Return what a reader of the verdicts must know beside them, one sentence each."""
    sentences = absence_sentences(evaluation.contract, evaluation.flags, evaluation.comparisons)
    sentences += [
        f"{flag.benchmark}: {flag.detail}."
        for flag in evaluation.flags
        if flag.kind == "item_count"
    ]
    others = [flag for flag in evaluation.flags if flag.kind not in _TOLD]
    if others:
        kinds = ", ".join(sorted({flag.kind.replace("_", " ") for flag in others}))
        sentences.append(f"{plural(len(others), 'further flag')}: {kinds}; see Flags.")
    return sentences


# Told in the Result, or in a part of their own.
_TOLD = ("absent_methods", "absent_mechanism", "item_count", "collapsed")


def _subtitle(evaluation: Evaluation) -> str:
    status = evaluation.exploratory or f"contract {evaluation.status}"
    return (
        f"{status} · {plural(len(evaluation.runs.keys), 'run')} in "
        f"{plural(len(evaluation.groups), 'group')} · {TOOL}"
    )


def _stamp(evaluation: Evaluation) -> list[Block]:
    """Return a banner where the contract was not sealed once and for all."""
    locked = evaluation.status == "locked"
    return [] if locked else [Paragraph(evaluation.status, "banner")]


def _parts(
    evaluation: Evaluation, forests: dict[Group, bytes], pictures: dict[str, Picture]
) -> list[Part]:
    parts = [
        _result_part(evaluation),
        _forest_part(evaluation, forests),
        _table_part(evaluation),
        _sensitivity_part(evaluation, pictures),
        _collapse_part(evaluation),
        _process_part(evaluation, pictures),
        _flags_part(evaluation),
        _method_part(evaluation),
    ]
    return [part for part in parts if part.blocks]


def _label(evaluation: Evaluation, group: Group) -> str:
    return group_label(group, evaluation.contract.data.id_columns)


def _result_part(evaluation: Evaluation) -> Part:
    counts = summary(evaluation)
    rule = evaluation.contract.inference
    shown = (rule.interval, *rule.also)
    blocks: list[Block] = [*_stamp(evaluation), Paragraph(headline(evaluation))]
    told = " ".join(remarks(evaluation))
    blocks += [Paragraph(told, "banner")] if told else []
    zero = counts["intervals_excluding_zero"]
    excluding = [
        f"{name.replace('_', ' ')}: {zero[name]}"
        for name in ("t", "bootstrap_percentile", "bootstrap_bca")
        if name in shown
    ]
    chance = counts["comparisons"] * evaluation.contract.inference.alpha
    three = "bootstrap_percentile" in shown and any(one.n == 3 for one in evaluation.comparisons)
    blocks.append(
        Paragraph(
            f"Uncorrected intervals that exclude zero, of {counts['comparisons']}: "
            f"{'; '.join(excluding)}. About {chance:.1f} would by chance alone if no method had "
            "any effect and the interval kept its level"
            + (
                "; a percentile bootstrap over three seeds does not (it covers about 75%)."
                if three
                else "."
            ),
            "note",
        )
    )
    noise = [one for one in evaluation.comparisons if one.is_aa]
    if noise:
        blocks += [
            Heading("A/A: two names of one configuration"),
            Paragraph(
                "These differences are noise by construction; effects of this size mean little."
            ),
            Table(
                ["group", "pair", "reference group", "pairs", "difference", "interval"],
                [
                    [
                        _label(evaluation, one.group),
                        f"{one.method} less {one.baseline}",
                        _label(evaluation, one.baseline_group),
                        one.n,
                        cell(evaluation.contract, one.primary.mean),
                        interval_text(evaluation.contract, one.primary.interval),
                    ]
                    for one in noise
                ],
            ),
        ]
    return Part("Result", blocks)


def _forest_part(evaluation: Evaluation, forests: dict[Group, bytes]) -> Part:
    if not forests:
        return Part("Effects and domains", [])
    from dataflex_data.evaluation import figures

    blocks: list[Block] = [
        Paragraph(
            "Black: the primary score's paired difference with its interval. Coloured, below it: "
            "the domains, descriptive and uncorrected; a gain in one may hide a loss in another. "
            f"Shaded: within the meaningful effect of ±{evaluation.contract.meaningful_effect:g}."
        )
    ]
    lacking = figures.not_in_font(evaluation)
    if lacking:
        blocks.append(
            Paragraph(
                f"The font of the pictures lacks {', '.join(lacking)}, drawn there as empty boxes; "
                "the tables hold the names whole.",
                "note",
            )
        )
    for at, (group, png) in enumerate(forests.items()):
        label = f"effects in {_label(evaluation, group)}"
        blocks.append(Picture("forest.png" if at == 0 else "", label, png))
    return Part("Effects and domains", blocks)


def _table_part(evaluation: Evaluation) -> Part:
    blocks: list[Block] = []
    domains = evaluation.scores.domains
    rule = evaluation.contract.inference
    full = f"{evaluation.contract.meaningful_effect:g}"
    columns = [
        *("method", "baseline", "pairs", "mean of all runs", "difference of pairs"),
        *(f"{1 - rule.alpha:.0%} interval", "verdict"),
        *(f"p ({rule.test.replace('_', '-')})", f"p ({rule.correction.replace('_', '-')})"),
        *(f"p (within ±{full})", "detectable", f"seeds for {full}", "seed r"),
        *domains,
    ]
    for group in evaluation.groups:
        comparisons = [one for one in evaluation.of_group(group) if not one.is_aa]
        if not comparisons:
            continue
        rows = [_comparison_row(evaluation, one, full) for one in comparisons]
        blocks += [Heading(_label(evaluation, group)), Table(columns, rows)]
    if blocks:
        blocks.append(
            Paragraph(
                "Detectable: the smallest difference this comparison would show with "
                f"{evaluation.contract.power:.0%} power; an inconclusive one says nothing about "
                "smaller effects. The mean is over all runs of the method, the difference over its "
                "pairs with the baseline. Domain columns are differences to the baseline. Seed r: "
                "correlation of method and baseline over seeds; pairing helps only where it is "
                "clearly positive.",
                "note",
            )
        )
    return Part("Comparisons", blocks)


def _comparison_row(evaluation: Evaluation, one: Comparison, full: str) -> list[object]:
    contract, tests = evaluation.contract, one.tests
    rule = contract.inference
    head: list[object] = [
        one.method,
        one.baseline,
        one.n,
        cell(contract, one.method_mean),
        cell(contract, one.primary.mean),
    ]
    tail: list[object] = [
        _coefficient(one.seed_correlation),
        *(cell(contract, one.effects[name].mean) for name in evaluation.scores.domains),
    ]
    if tests is None:
        return [*head, None, one.verdict, *[None] * 5, *tail]
    return [
        *head,
        interval_text(contract, tests.intervals[rule.interval]),
        one.verdict,
        tests.p[rule.test],
        tests.adjusted(rule.test, rule.correction),
        tests.tost_p[full],
        cell(contract, tests.minimal_detectable_effect),
        tests.seeds_needed[full],
        *tail,
    ]


def _sensitivity_part(evaluation: Evaluation, pictures: dict[str, Picture]) -> Part:
    others = [one for one in evaluation.agreements if one.score in evaluation.scores.sensitivity]
    if not others:
        return Part("Sensitivity to the aggregate", [])
    blocks: list[Block] = [
        Paragraph(
            "How far the order of methods depends on the aggregate: rank correlation of the method "
            "means with the primary ones, and what remains of it without one seed, or without runs "
            "that have a collapsed benchmark. With few methods or seeds these are coarse."
        ),
        *(pictures[name] for name in ("sensitivity.png", "rank_shift.png") if name in pictures),
        Table(
            [
                *("group", "score", "spread", "Spearman", "Kendall", "without one seed"),
                *("without collapsed runs", "sign flips"),
            ],
            [
                [
                    _label(evaluation, one.group),
                    one.score,
                    cell(evaluation.contract, one.spread),
                    _coefficient(one.spearman),
                    _coefficient(one.kendall),
                    _range(list(one.spearman_without_seed.values())),
                    _coefficient(one.spearman_without_collapsed),
                    ", ".join(one.sign_flips) if len(one.sign_flips) < 9 else len(one.sign_flips),
                ]
                for one in others
            ],
        ),
    ]
    return Part("Sensitivity to the aggregate", blocks)


def _coefficient(value: float | None) -> Decimal | None:
    return None if value is None else Decimal(f"{value:.2f}")


def _range(values: Sequence[float | None]) -> str | None:
    known = [value for value in values if value is not None]
    if not known:
        return None
    return f"{min(known):+.2f} to {max(known):+.2f}".replace("-", "−")


def _collapse_part(evaluation: Evaluation) -> Part:
    flags = [flag for flag in evaluation.flags if flag.kind == "collapsed"]
    if not flags:
        return Part("Collapsed benchmarks", [])
    rule = evaluation.contract.collapse
    touched = [one for one in evaluation.comparisons if one.without_collapsed is not None]
    return Part(
        "Collapsed benchmarks",
        [
            Paragraph(
                f"Benchmarks of single runs at least {rule.points:g} points below the group's "
                f"median and under {rule.share_of_median:.0%} of it. They are kept in every "
                "verdict; the second table shows each touched comparison without these pairs."
            ),
            Table(
                ["group", "method", "seed", "benchmark", "value"],
                [
                    [_label(evaluation, f.group), f.method, f.seed, f.benchmark, f.detail]
                    for f in flags
                ],
            ),
            Table(
                [
                    "group",
                    "method",
                    "difference",
                    "interval",
                    "pairs left",
                    "left",
                    "interval left",
                ],
                [
                    [
                        _label(evaluation, one.group),
                        one.method,
                        cell(evaluation.contract, one.primary.mean),
                        interval_text(evaluation.contract, one.primary.interval),
                        one.without_collapsed.n,
                        cell(evaluation.contract, one.without_collapsed.primary.mean),
                        interval_text(evaluation.contract, one.without_collapsed.primary.interval),
                    ]
                    for one in touched
                    if one.without_collapsed is not None
                ],
            ),
        ],
    )


def _process_part(evaluation: Evaluation, pictures: dict[str, Picture]) -> Part:
    wanted = evaluation.contract.process_metrics
    if not wanted:
        return Part("What it cost", [])
    if not evaluation.process:
        return Part(
            "What it cost",
            [
                Paragraph(
                    f"The contract names process metrics ({', '.join(wanted)}), but neither the "
                    "runs table nor ledgers (--ledgers) report any; no efficiency can be claimed."
                )
            ],
        )
    told = {row.metric.partition(".")[0] for row in evaluation.process}
    silent = [name for name in wanted if name not in told]
    blocks: list[Block] = [
        Paragraph(
            f"Tokens generated ({GENERATED}), share of responses retained ({RETAINED}) and tokens "
            f"optimised ({OPTIMISED}) are different costs: selection after the rollout saves the "
            "last only. Means and ratios are over all runs that report a metric, with a pair or "
            "not; the ratio is to the baseline's mean."
        )
    ]
    if silent:
        blocks.append(Paragraph(f"Named by the contract and not reported: {', '.join(silent)}."))
    if "pareto.png" in pictures:
        blocks.append(pictures["pareto.png"])
        blocks.append(
            Paragraph(
                "The dashed line joins the means that no other beats in fewer tokens and a higher "
                "score. It joins means: which of them differ at all is for the verdicts to say.",
                "note",
            )
        )
    blocks.append(
        Table(
            ["group", "method", "metric", "runs reporting", "mean", "ratio to baseline"],
            [
                [
                    _label(evaluation, p.group),
                    p.method,
                    p.metric,
                    p.runs,
                    _amount(p.mean),
                    _ratio(p.ratio),
                ]
                for p in evaluation.process
            ],
        )
    )
    return Part("What it cost", blocks)


def _amount(value: float) -> float | int:
    """Return counts of tokens as whole numbers: 1,009,120, not 1.009e+06."""
    return round(value) if abs(value) >= 1000 else value


def _ratio(value: float | None) -> Decimal | None:
    return None if value is None else Decimal(f"{value:.3f}")


def _flags_part(evaluation: Evaluation) -> Part:
    flags = [flag for flag in evaluation.flags if flag.kind != "collapsed"]
    return Part(
        "Flags",
        [
            Table(
                ["kind", "group", "method or benchmark", "seed", "what"],
                [
                    [
                        f.kind.replace("_", " "),
                        _label(evaluation, f.group) if f.group else "all runs",
                        f.method or f.benchmark,
                        f.seed,
                        f.detail,
                    ]
                    for f in flags
                ],
            )
        ]
        if flags
        else [],
    )


def _method_part(evaluation: Evaluation) -> Part:
    contract, rule = evaluation.contract, evaluation.contract.inference
    ids = f" ({', '.join(contract.data.id_columns)})" if contract.data.id_columns else ""
    exact = all(one.tests.sign_flip_exact for one in evaluation.comparisons if one.tests)
    family = (
        "the methods present in a group that share a baseline"
        if rule.family == "per_baseline"
        else "all declared methods that share a baseline"
    )
    flips = "counted over all sign patterns" if exact else "partly by random sign patterns"
    return Part(
        "How it was done",
        [
            Paragraph(
                f"Differences are paired by seed inside one group{ids}. Verdicts: {rule.test} "
                f"test with {rule.correction} over {family}, adjusted p below {rule.alpha:g} and "
                f"the {rule.interval} interval clear of zero; equivalent "
                f"where both one-sided tests against ±{contract.meaningful_effect:g} have p below "
                f"{rule.alpha:g} (uncorrected); at least {contract.seeds.minimum_pairs} pairs. "
                f"Bootstrap: {rule.bootstrap.resamples:,} resamples, seed {rule.bootstrap.seed}. "
                f"Sign-flip p: {flips}. Seeds needed and detectable differences are for one "
                f"uncorrected test at {contract.power:.0%} power."
            ),
            Table(
                ["what", "value"],
                [
                    ["contract", contract.name],
                    ["contract sha256", evaluation.contract_sha256],
                    ["status", evaluation.status],
                    *(
                        [
                            "earlier seal",
                            f"{seal.sha256 or 'unreadable'}, {seal.time or 'time unknown'}; then "
                            f"changed: {', '.join(seal.changed)}",
                        ]
                        for seal in evaluation.earlier
                    ),
                    ["data sha256 (sorted runs)", evaluation.runs.sha256],
                    ["tool", TOOL],
                    ["margins", ", ".join(margins(contract))],
                ],
            ),
        ],
    )
