"""``dfdata build``: a recipe and its sources into a corpus folder."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any, Literal

import typer

from dataflex_data.cli._options import Json, parse_pairs
from dataflex_data.core.errors import ConfigError


def register(app: typer.Typer) -> None:
    """Add the verb to ``app``."""
    app.command("build")(build)


def build(
    recipe: Annotated[
        str, typer.Option(help="Name of a recipe (see `dfdata recipes`) or path of a YAML file.")
    ],
    out: Annotated[
        Path | None, typer.Option(help="Corpus folder to write; by default out/RECIPE.")
    ] = None,
    source: Annotated[
        list[str] | None,
        typer.Option(
            help="NAME=PATH: read this source from a file or folder (json, jsonl, jsonl.gz, "
            "parquet) instead of the hub; repeatable."
        ),
    ] = None,
    sources_dir: Annotated[
        Path | None,
        typer.Option(help="Folder with one folder per source, laid out like its hub repository."),
    ] = None,
    offline: Annotated[bool, typer.Option(help="Never ask the hub; use its cache.")] = False,
    seed: Annotated[int | None, typer.Option(help="Takes the place of the recipe's seed.")] = None,
    tokenizer: Annotated[
        Path | None,
        typer.Option(help="Local folder of a Hugging Face tokenizer, for exact token counts."),
    ] = None,
    keep_dropped: Annotated[
        Path | None,
        typer.Option(help="Write the records left out, with their reasons, to this jsonl file."),
    ] = None,
    shard_rows: Annotated[
        int | None, typer.Option(help="Rows per parquet file; by default one file per split.")
    ] = None,
    workers: Annotated[
        int, typer.Option(help="Processes that read sources at once; changes no byte.")
    ] = 1,
    decontaminate: Annotated[
        list[str] | None,
        typer.Option(
            help="Benchmark or group (db12) whose items must not be in the corpus; repeatable; "
            "takes the place of the recipe's. `none` switches the check off."
        ),
    ] = None,
    benchmarks_dir: Annotated[
        Path | None, typer.Option(help="Folder with one folder per benchmark.")
    ] = None,
    benchmark_file: Annotated[
        list[str] | None,
        typer.Option(help="NAME=PATH of a benchmark file of yours, such as gpqa_diamond=x.csv."),
    ] = None,
    require_benchmarks: Annotated[
        bool, typer.Option(help="Refuse to build when a benchmark cannot be loaded.")
    ] = False,
    allow_missing: Annotated[
        bool, typer.Option(help="Go on without benchmarks that cannot be loaded, and say so.")
    ] = False,
    force: Annotated[bool, typer.Option(help="Replace an existing corpus at --out.")] = False,
    json: Json = False,
) -> None:
    """Build a corpus: train.parquet, validation.parquet, manifest.json and a dataset card."""
    from dataflex_data import pipeline
    from dataflex_data.reporting.terminal import note, print_json

    result = pipeline.build(
        recipe,
        out if out is not None else Path("out") / Path(recipe).stem,
        sources=parse_pairs("--source", source or []),
        sources_dir=sources_dir,
        offline=offline,
        tokenizer=tokenizer,
        seed=seed,
        workers=workers,
        shard_rows=shard_rows,
        keep_dropped=keep_dropped,
        force=force,
        decontaminate=[] if decontaminate == ["none"] else decontaminate,
        benchmarks_dir=benchmarks_dir,
        benchmark_files=parse_pairs("--benchmark-file", benchmark_file or []),
        missing_benchmarks=_missing(allow=allow_missing, require=require_benchmarks),
        note=note,
    )
    for warning in result.warnings:
        note(f"note: {warning}")
    if json:
        print_json({"out": str(result.out), "manifest": result.manifest})
    else:
        _print_tables(result.manifest)
        typer.echo(f"\n{result.out}: corpus {result.manifest['corpus_sha256'][:16]}")


def _missing(*, allow: bool, require: bool) -> Literal["warn", "refuse"] | None:
    if allow and require:
        raise ConfigError("build", ["--allow-missing and --require-benchmarks exclude each other"])
    if require:
        return "refuse"
    return "warn" if allow else None


def _print_tables(manifest: dict[str, Any]) -> None:
    from dataflex_data.reporting.terminal import print_table

    rows: list[list[object]] = []
    reasons: list[list[object]] = []
    for name, entry in manifest["sources"].items():
        dropped = sum(entry["dropped"].values())
        rows.append(
            [
                entry["domain"],
                name,
                entry["origin"],
                entry["raw"],
                dropped,
                sum(entry["eligible"].values()),
                entry["drawn"]["train"],
                entry["drawn"]["validation"],
            ]
        )
        reasons.extend(
            [entry["domain"], name, reason, count]
            for reason, count in sorted(entry["dropped"].items(), key=lambda pair: -pair[1])
        )
    total = manifest["rows"]
    rows.append(
        ["all", "", ""]
        + [sum(row[column] for row in rows) for column in (3, 4, 5)]  # type: ignore[misc]
        + [total["train"]["total"], total["validation"]["total"]]
    )
    columns = ["domain", "source", "from", "raw", "dropped", "eligible", "train", "validation"]
    print_table(f"Corpus {manifest['name']}", columns, rows)
    if reasons:
        print_table("Dropped, by reason", ["domain", "source", "reason", "records"], reasons)
    checked = manifest.get("decontamination")
    if checked:
        headline = (
            f"{checked['rows_flagged']:,} of {checked['rows_checked']:,} records held an "
            "evaluation item and were dropped"
            if checked["benchmarks"]
            else "NOT CHECKED, no benchmark could be loaded"
        )
        print_table(
            f"Decontamination: {headline}",
            ["benchmark", "items", "items hit", "records dropped"],
            [
                [name, entry["items"], entry["items_hit"], entry["rows_flagged"]]
                for name, entry in checked["benchmarks"].items()
            ]
            + [[name, "MISSING", "-", "-"] for name in checked["missing"]],
        )
    if manifest["conflicts"]:
        typer.echo(
            f"{len(manifest['conflicts'])} texts have golds that contradict each other; all their "
            "records were dropped (`conflicts` in manifest.json)"
        )
