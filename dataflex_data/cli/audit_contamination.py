"""``dfdata audit-contamination``: does a corpus contain evaluation items?"""

from __future__ import annotations

from collections.abc import Mapping
from enum import Enum
from pathlib import Path
from typing import Annotated, Any

import typer

from dataflex_data.cli._audit_options import (
    Corpus,
    Force,
    IdColumn,
    ShingleWords,
    TextColumn,
    names,
    watcher,
)
from dataflex_data.cli._options import Json, parse_pairs
from dataflex_data.core.errors import ConfigError


class Engine(str, Enum):
    """What finds the candidates."""

    exact = "exact"
    minhash = "minhash"
    ray = "ray"


def register(app: typer.Typer) -> None:
    """Add the verb to ``app``."""
    app.command("audit-contamination")(audit_contamination)


def audit_contamination(
    corpus: Corpus,
    out: Annotated[Path, typer.Option(help="Folder for the report.")],
    benchmarks: Annotated[
        list[str] | None,
        typer.Option(help="Names or db12 for all twelve, comma-separated or repeated."),
    ] = None,
    benchmarks_dir: Annotated[
        Path | None,
        typer.Option(help="Folder with one folder per benchmark, laid out like its repository."),
    ] = None,
    benchmark_file: Annotated[
        list[str] | None,
        typer.Option(
            help="NAME=PATH: read this benchmark from a file; a NAME that is not registered makes "
            "a benchmark of your own; repeatable."
        ),
    ] = None,
    benchmark_columns: Annotated[
        list[str] | None,
        typer.Option(
            help="NAME:question=COL,id=COL,options=COL,answer=COL for a benchmark of your own."
        ),
    ] = None,
    allow_missing: Annotated[
        bool, typer.Option(help="Go on without benchmarks that cannot be loaded, and say so.")
    ] = False,
    text_column: TextColumn = None,
    id_column: IdColumn = None,
    n: ShingleWords = 13,
    containment: Annotated[
        float, typer.Option(help="Least share of an item's own n-grams that flags a row.")
    ] = 0.5,
    jaccard: Annotated[float, typer.Option(help="Jaccard similarity above which to flag.")] = 0.5,
    channels: Annotated[
        str | None, typer.Option(help="Channels whose hits flag, comma-separated; default all.")
    ] = None,
    boilerplate_items: Annotated[
        int, typer.Option(help="An n-gram in so many different items is template text.")
    ] = 5,
    near: Annotated[
        float, typer.Option(help="List pairs from this containment on, flagged or not.")
    ] = 0.25,
    engine: Annotated[Engine, typer.Option(help="What finds the candidates.")] = Engine.exact,
    workers: Annotated[
        int, typer.Option(min=1, help="Threads, or Ray tasks at once; changes no finding.")
    ] = 1,
    offline: Annotated[bool, typer.Option(help="Never ask the hub; use its cache.")] = False,
    show_gated: Annotated[
        bool, typer.Option(help="Print texts of gated benchmarks (GPQA) in the reports.")
    ] = False,
    force: Force = False,
    json: Json = False,
) -> None:
    """Audit a corpus for evaluation items: report.html, findings.parquet, summary.json.

    Exits with 0 where no row is flagged, 1 where some are, 2 where it could not be done.
    """
    from dataflex_data.audits.audit import AuditRequest, run_audit
    from dataflex_data.audits.comparison import Rule
    from dataflex_data.audits.report import print_summary
    from dataflex_data.core.config import parse_config
    from dataflex_data.reporting.terminal import note, print_json

    given: dict[str, Any] = {
        "n": n,
        "containment": containment,
        "jaccard": jaccard,
        "boilerplate_items": boilerplate_items,
        # A pair that is flagged is listed too.
        "near": min(near, containment) if 0 < near <= 1 and containment > 0 else near,
    }
    if channels is not None:
        given["channels"] = names(channels)
    request = AuditRequest(
        corpus=corpus,
        out=out,
        benchmarks=tuple(benchmarks or ()),
        benchmarks_dir=benchmarks_dir,
        benchmark_files=parse_pairs("--benchmark-file", benchmark_file or []),
        benchmark_columns=_parse_columns(benchmark_columns or []),
        allow_missing=allow_missing,
        text_column=text_column,
        id_column=id_column,
        rule=parse_config(Rule, given, "the audit's rule"),
        engine=engine.value,
        workers=workers,
        offline=offline,
        show_gated=show_gated,
        force=force,
    )
    runner = None
    if engine is Engine.ray:
        from dataflex_data.integrations.ray.audit import ray_runner

        runner = ray_runner(workers)
    summary = run_audit(request, runner=runner, track=watcher(), note=note)
    if json:
        print_json(summary)
    else:
        print_summary(summary)
        typer.echo(f"\n{out / 'report.html'}")
    raise typer.Exit(1 if summary["flagged_rows"] else 0)


def _parse_columns(values: list[str]) -> dict[str, Mapping[str, str]]:
    found: dict[str, Mapping[str, str]] = {}
    problems: list[str] = []
    for value in values:
        name, colon, listed = value.partition(":")
        pairs = [pair.partition("=") for pair in listed.split(",")]
        keys = [key.strip() for key, _, _ in pairs]
        if not colon or not name or not all(key and column for key, _, column in pairs):
            problems.append(f"{value!r} must have the form NAME:question=COLUMN,id=COLUMN")
        elif name in found:
            problems.append(f"{name!r} is given twice; give all its columns in one value")
        elif len(set(keys)) < len(keys):
            problems.append(f"{value!r} gives a key twice")
        else:
            found[name] = {key.strip(): column.strip() for key, _, column in pairs}
    if problems:
        raise ConfigError("--benchmark-columns", problems)
    return found
