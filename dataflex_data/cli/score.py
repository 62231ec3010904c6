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
    single = {"--route": route, "--gold": gold, "--response": response}
    if explain:
        missing = [f"{name} is needed with --explain" for name, held in single.items() if not held]
        missing += [
            f"{name} does not go with --explain"
            for name, held in {
                "RESPONSES": responses,
                "--corpus": corpus,
                "--out": out,
                "--force": force,
            }.items()
            if held
        ]
        missing += _without_effect(route, options=bool(options), symbolic=symbolic)
        if missing or route is None or gold is None or response is None:
            raise ConfigError("dfdata score", missing)
        _require(symbolic=symbolic)
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
    problems += ["--force needs --out"] if force and out is None else []
    if out is not None and out.suffix not in {".parquet", ".jsonl"}:
        problems.append(f"--out must end in .parquet or .jsonl, got {out.name!r}")
    if problems or responses is None or corpus is None:
        raise ConfigError("dfdata score", problems)
    if out is not None:
        check_output_file(out, force=force, inputs=[responses, corpus])
    _require(symbolic=symbolic)
    _score(responses, corpus, out, symbolic=symbolic, json=json)


def _require(*, symbolic: bool) -> None:
    if symbolic:
        from dataflex_data.verifiers.symbolic import require

        require()


def _without_effect(route: str | None, *, options: bool, symbolic: bool) -> list[str]:
    """Return what is wrong with options that the route's verifier would not look at."""
    from dataflex_data.verifiers.routes import ROUTES

    if route is None or route not in ROUTES:
        return []
    kind = ROUTES.get(route).kind
    problems = [f"--options has no effect on the {kind} route {route}"] if options else []
    problems = [] if kind == "choice" else problems
    if symbolic and kind != "math":
        problems.append(f"--symbolic has no effect on the {kind} route {route}")
    return problems


def _score(responses: Path, corpus: Path, out: Path | None, *, symbolic: bool, json: bool) -> None:
    from dataflex_data.builders.corpus import read_split, split_files
    from dataflex_data.core.parquet import read_manifest
    from dataflex_data.core.schema import SPLITS
    from dataflex_data.reporting.terminal import note
    from dataflex_data.reporting.words import plural
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
    if not joined.scored:
        raise InputDataError(f"{responses}: {_nothing_scored(joined, corpus)}")
    if out is not None:
        _write(joined, out)
    _report(joined, json=json)
    if out is not None:
        note(f"wrote {plural(len(joined.scored), 'verdict')} to {out}")
    raise typer.Exit(1 if joined.unjoined or joined.ambiguous or joined.empty else 0)


def _nothing_scored(joined: Joined, corpus: Path) -> str:
    """Return in words why no response of a file could be scored."""
    from dataflex_data.reporting.words import plural

    if not joined.records:
        return "it holds no records"
    lost, shared, empty = (
        sum(counts.values()) for counts in (joined.unjoined, joined.ambiguous, joined.empty)
    )
    if empty and not lost and not shared:
        return f"its {plural(empty, 'record')} hold no response: `response` is an empty list"
    examples = ", ".join(list({**joined.unjoined, **joined.ambiguous})[:_SHOWN])
    told = f"none of its {plural(joined.records, 'record')} can be scored: "
    parts = [
        (lost, f"{lost:,} belong to no row of {corpus}"),
        (shared, f"{shared:,} have a prompt that rows with different gold answers share"),
        (empty, f"{empty:,} hold no response"),
    ]
    told += ", ".join(part for count, part in parts if count)
    return f"{told} (keys such as {examples}); are they responses to another corpus?"


def _report(joined: Joined, *, json: bool) -> None:
    from dataflex_data.reporting.terminal import note, print_json, print_table
    from dataflex_data.reporting.words import plural
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
                "empty": sum(joined.empty.values()),
                "rows_without_responses": joined.silent,
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
        if joined.silent:
            note(f"{plural(joined.silent, 'row')} of the corpus without a response")
    for kind, counts in (
        ("belong to no row of the corpus", joined.unjoined),
        ("have a prompt that rows with different gold answers share", joined.ambiguous),
        ("hold no response", joined.empty),
    ):
        if counts:
            examples = ", ".join(list(counts)[:_SHOWN])
            note(f"{plural(sum(counts.values()), 'record')}: {kind}, for example {examples}")


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
