"""``dfdata score``: verdicts and solve rates of responses, or one verdict explained."""

from __future__ import annotations

import json as json_module
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from dataflex_data.cli._options import Force, Json
from dataflex_data.core.errors import ConfigError, InputDataError

if TYPE_CHECKING:
    from dataflex_data.verifiers.scoring import Joined

_SHOWN = 5


def register(app: typer.Typer) -> None:
    """Add the verb to ``app``."""
    app.command("score")(score)


def score(
    responses: Annotated[
        Path | None,
        typer.Argument(
            help="Responses (.jsonl, .jsonl.gz, .parquet): `row_id` or `prompt_sha256`, and "
            "`response` as a text or a list of texts."
        ),
    ] = None,
    corpus: Annotated[
        Path | None, typer.Option(help="Corpus folder that `dfdata build` wrote.")
    ] = None,
    out: Annotated[
        Path | None, typer.Option(help="Write one verdict per response (.parquet or .jsonl).")
    ] = None,
    symbolic: Annotated[
        bool,
        typer.Option("--symbolic", help="Ask math-verify where the exact ladder cannot decide."),
    ] = False,
    explain: Annotated[
        bool, typer.Option("--explain", help="Explain the verdict on one response instead.")
    ] = False,
    route: Annotated[str | None, typer.Option(help="With --explain: the `data_source`.")] = None,
    gold: Annotated[str | None, typer.Option(help="With --explain: the gold answer.")] = None,
    response: Annotated[
        str | None, typer.Option(help="With --explain: the response; - reads standard input.")
    ] = None,
    options: Annotated[
        list[str] | None,
        typer.Option(help="With --explain: option texts in letter order; repeatable."),
    ] = None,
    force: Force = False,
    json: Json = False,
) -> None:
    """Score responses against a corpus, or explain one verdict. Exit 1 where rows are missing."""
    if symbolic:
        from dataflex_data.verifiers.symbolic import require

        require()
    single = {"--route": route, "--gold": gold, "--response": response}
    if explain:
        missing = [f"{name} is needed with --explain" for name, held in single.items() if not held]
        missing += [
            f"{name} does not go with --explain"
            for name, held in {"RESPONSES": responses, "--corpus": corpus, "--out": out}.items()
            if held
        ]
        if missing or route is None or gold is None or response is None:
            raise ConfigError("dfdata score", missing)
        _explain(route, gold, response, options or [], symbolic=symbolic, json=json)
        return
    from dataflex_data.core.parquet import check_output_file

    problems = [f"{name} needs --explain" for name, held in single.items() if held is not None]
    problems += ["--options needs --explain"] if options else []
    problems += [
        f"{name} is missing (or use --explain)"
        for name, held in {"RESPONSES": responses, "--corpus": corpus}.items()
        if held is None
    ]
    if out is not None and out.suffix not in {".parquet", ".jsonl"}:
        problems.append(f"--out must end in .parquet or .jsonl, got {out.name!r}")
    if problems or responses is None or corpus is None:
        raise ConfigError("dfdata score", problems)
    if out is not None:
        check_output_file(out, force=force, inputs=[responses, corpus])
    _score(responses, corpus, out, symbolic=symbolic, json=json)


def _score(responses: Path, corpus: Path, out: Path | None, *, symbolic: bool, json: bool) -> None:
    from dataflex_data.builders.corpus import read_split, split_files
    from dataflex_data.core.parquet import read_manifest
    from dataflex_data.core.schema import SPLITS
    from dataflex_data.verifiers.scoring import read_responses, score_responses

    corpus = corpus.expanduser()
    read_manifest(corpus)
    rows = [
        row
        for split in SPLITS
        if split_files(corpus, split)
        for row in read_split(corpus, split).to_pylist()
    ]
    joined = score_responses(read_responses(responses), rows, symbolic=symbolic)
    lost = sum(joined.unjoined.values())
    if not joined.scored:
        examples = ", ".join(list(joined.unjoined)[:_SHOWN]) or "none"
        raise InputDataError(
            f"{responses}: none of its {lost + sum(joined.ambiguous.values()):,} records belongs "
            f"to a row of {corpus} (keys such as {examples}); are they responses to another corpus?"
        )
    if out is not None:
        _write(joined, out)
    _report(joined, json=json)
    raise typer.Exit(1 if joined.unjoined or joined.ambiguous else 0)


def _report(joined: Joined, *, json: bool) -> None:
    from dataflex_data.reporting.terminal import note, print_json, print_table
    from dataflex_data.verifiers.scoring import solve_rates

    rates = solve_rates(joined.scored)
    total = len(joined.scored)
    correct = sum(rate.correct for rate in rates)
    symbolic = sum(rate.symbolic for rate in rates)
    if json:
        print_json(
            {
                "responses": total,
                "correct": correct,
                "solve_rate": correct / total,
                "symbolic_share": symbolic / total,
                "unjoined": sum(joined.unjoined.values()),
                "ambiguous": sum(joined.ambiguous.values()),
                "groups": [
                    {
                        "domain": rate.domain,
                        "source": rate.source,
                        "rows": rate.rows,
                        "responses": rate.responses,
                        "correct": rate.correct,
                        "solve_rate": rate.rate,
                        "symbolic": rate.symbolic,
                    }
                    for rate in rates
                ],
            }
        )
    else:
        print_table(
            "Solve rate (mean score of the responses)",
            ["domain", "source", "rows", "responses", "correct", "solve rate", "symbolic"],
            [
                [r.domain, r.source, r.rows, r.responses, r.correct, f"{r.rate:.4f}", r.symbolic]
                for r in rates
            ],
        )
        typer.echo(f"all: {correct:,} of {total:,} responses are right ({correct / total:.4f})")
    for kind, counts in (
        ("belong to no row of the corpus", joined.unjoined),
        ("have a prompt that rows with different gold answers share", joined.ambiguous),
    ):
        if counts:
            examples = ", ".join(list(counts)[:_SHOWN])
            note(f"{sum(counts.values()):,} records {kind}, for example {examples}")


def _write(joined: Joined, out: Path) -> None:
    from dataflex_data.core.parquet import replace_file, write_parquet
    from dataflex_data.verifiers.scoring import verdict_records

    records = verdict_records(joined.scored)
    with replace_file(out) as path:
        if out.suffix == ".jsonl":
            with path.open("w", encoding="utf-8", errors="backslashreplace") as handle:
                for record in records:
                    handle.write(json_module.dumps(record, ensure_ascii=False) + "\n")
        else:
            import pyarrow as pa

            for record in records:
                record["pred"] = _writable(record["pred"])
                record["reason"] = _writable(record["reason"])
            write_parquet(pa.Table.from_pylist(records), path)


def _writable(text: str) -> str:
    """Return text whose lone surrogates, which parquet cannot hold, are spelled out."""
    return text.encode("utf-8", "backslashreplace").decode("utf-8")


def _explain(
    route: str, gold: str, response: str, options: Sequence[str], *, symbolic: bool, json: bool
) -> None:
    from dataflex_data.reporting.terminal import print_json
    from dataflex_data.verifiers import routes

    text = sys.stdin.read() if response == "-" else response
    kind = routes.ROUTES.get(route).kind
    extra: dict[str, Any] = {"options": list(options)}
    verdict = routes.verify(route, text, gold, extra, symbolic=symbolic)
    problem = routes.gold_problem(route, gold, extra)
    if json:
        print_json(
            {
                "route": route,
                "verifier": kind,
                "gold": gold,
                "gold_problem": list(problem) if problem else None,
                "extracted": verdict.parsed,
                "step": verdict.step,
                "score": verdict.score,
                "reason": verdict.reason,
            }
        )
        return
    lines = [
        ("route", f"{route} ({kind} verifier)"),
        ("gold", gold if problem is None else f"{gold} (cannot be decided: {problem[1]})"),
        ("extracted", verdict.parsed or "nothing"),
        ("decided by", verdict.step),
        ("score", f"{verdict.score:g}"),
        ("reason", verdict.reason),
    ]
    for name, value in lines:
        typer.echo(f"{name + ':':<12}{_writable(value)}")
