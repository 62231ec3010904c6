"""The evaluation for people, as ``report.md``, ``report.html`` and pictures."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np

from dataflex_data.evaluation.compare import Comparison, margins
from dataflex_data.evaluation.evaluate import TOOL, Evaluation, summary
from dataflex_data.evaluation.process import GENERATED, OPTIMISED, RETAINED
from dataflex_data.evaluation.runs import Group, group_label
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
    total = counts["comparisons"]
    won = sum(n for verdict, n in verdicts.items() if verdict.startswith("better"))
    lost = sum(n for verdict, n in verdicts.items() if verdict.startswith("worse"))
    told = ", ".join(f"{n} {verdict}" for verdict, n in sorted(verdicts.items()))
    sentences = [f"{total} comparisons: {told or 'none'} ({won} better, {lost} worse)."]
    open_ = [one for one in evaluation.comparisons if one.verdict == "inconclusive" and one.tests]
    if open_:
        typical = float(
            np.median([one.tests.minimal_detectable_effect for one in open_ if one.tests])
        )
        sentences.append(
            f"Inconclusive does not mean without effect: the median inconclusive comparison could "
            f"have shown, with {evaluation.contract.power:.0%} power, a difference of "
            f"{typical:.2f} or more; the effect that matters was set at "
            f"{evaluation.contract.meaningful_effect:g}."
        )
    if verdicts.get("too few pairs"):
        sentences.append(
            f"{verdicts['too few pairs']} comparisons have fewer pairs than the contract asks for "
            "and get no verdict."
        )
    return " ".join(sentences)


def _subtitle(evaluation: Evaluation) -> str:
    status = evaluation.exploratory or "contract locked"
    return (
        f"{status} · {len(evaluation.runs.keys)} runs in {len(evaluation.groups)} groups · {TOOL}"
    )


def _stamp(evaluation: Evaluation) -> list[Block]:
    return [Paragraph(evaluation.exploratory, "banner")] if evaluation.exploratory else []


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
    also = evaluation.contract.inference.also
    blocks = [*_stamp(evaluation), Paragraph(headline(evaluation))]
    zero = counts["intervals_excluding_zero"]
    told = [
        f"{name.replace('_', ' ')}: {zero[name]}"
        for name in ("t", "bootstrap_percentile", "bootstrap_bca")
        if name in (evaluation.contract.inference.interval, *also)
    ]
    chance = counts["comparisons"] * evaluation.contract.inference.alpha
    blocks.append(
        Paragraph(
            f"Uncorrected intervals that exclude zero, of {counts['comparisons']}: "
            f"{'; '.join(told)}. About {chance:.1f} would by chance alone if no method had any "
            "effect and the interval kept its level; "
            "a percentile bootstrap over three seeds does not (it covers about 75%).",
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
                        one.primary.mean,
                        _interval(one.primary.interval),
                    ]
                    for one in noise
                ],
            ),
        ]
    return Part("Result", blocks)


def _forest_part(evaluation: Evaluation, forests: dict[Group, bytes]) -> Part:
    if not forests:
        return Part("Effects and domains", [])
    blocks: list[Block] = [
        Paragraph(
            "Black: the primary score's paired difference with its interval. Coloured, below it: "
            "the domains, descriptive and uncorrected; a gain in one may hide a loss in another. "
            f"Shaded: within the meaningful effect of ±{evaluation.contract.meaningful_effect:g}."
        )
    ]
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
        *("method", "baseline", "pairs", "mean", "difference"),
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
                "smaller effects. Domain columns are differences to the baseline. Seed r: "
                "correlation of method and baseline over seeds; pairing helps only where it is "
                "clearly positive.",
                "note",
            )
        )
    return Part("Comparisons", blocks)


def _comparison_row(evaluation: Evaluation, one: Comparison, full: str) -> list[object]:
    rule, tests = evaluation.contract.inference, one.tests
    head: list[object] = [
        one.method,
        one.baseline,
        one.n,
        one.method_mean,
        _known(one.primary.mean),
    ]
    tail = [_known(one.effects[name].mean) for name in evaluation.scores.domains]
    if tests is None:
        return [*head, None, one.verdict, *[None] * 5, one.seed_correlation, *tail]
    return [
        *head,
        _interval(tests.intervals[rule.interval]),
        one.verdict,
        tests.p[rule.test],
        tests.adjusted(rule.test, rule.correction),
        tests.tost_p[full],
        tests.minimal_detectable_effect,
        tests.seeds_needed[full],
        one.seed_correlation,
        *tail,
    ]


def _known(value: float) -> float | None:
    return None if value != value else value


def _interval(interval: tuple[float, float] | None) -> str | None:
    if interval is None:
        return None
    return f"[{interval[0]:.2f}, {interval[1]:.2f}]".replace("-", "−")


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
                    one.spread,
                    one.spearman,
                    one.kendall,
                    _range(list(one.spearman_without_seed.values())),
                    one.spearman_without_collapsed,
                    ", ".join(one.sign_flips) if len(one.sign_flips) < 9 else len(one.sign_flips),
                ]
                for one in others
            ],
        ),
    ]
    return Part("Sensitivity to the aggregate", blocks)


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
                        _known(one.primary.mean),
                        _interval(one.primary.interval),
                        one.without_collapsed.n,
                        _known(one.without_collapsed.primary.mean),
                        _interval(one.without_collapsed.primary.interval),
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
            "last only. Ratios are to the baseline."
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
            ["group", "method", "metric", "runs", "mean", "ratio to baseline"],
            [
                [_label(evaluation, p.group), p.method, p.metric, p.runs, p.mean, p.ratio]
                for p in evaluation.process
            ],
        )
    )
    return Part("What it cost", blocks)


def _flags_part(evaluation: Evaluation) -> Part:
    flags = [flag for flag in evaluation.flags if flag.kind != "collapsed"]
    return Part(
        "Left out",
        [
            Table(
                ["kind", "group", "method", "seed", "what"],
                [[f.kind, _label(evaluation, f.group), f.method, f.seed, f.detail] for f in flags],
            )
        ]
        if flags
        else [],
    )


def _method_part(evaluation: Evaluation) -> Part:
    contract, rule = evaluation.contract, evaluation.contract.inference
    ids = ", ".join(contract.data.id_columns)
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
                f"Differences are paired by seed inside one group ({ids}). Verdicts: {rule.test} "
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
                    ["status", evaluation.exploratory or "locked"],
                    ["data sha256 (sorted runs)", evaluation.runs.sha256],
                    ["tool", TOOL],
                    ["margins", ", ".join(margins(contract))],
                ],
            ),
        ],
    )
