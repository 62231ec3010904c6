"""``dfdata audit-duplicates``: rows of a corpus that are nearly the same."""

from __future__ import annotations

from enum import Enum
from pathlib import Path
from typing import Annotated, Any

import typer

from dataflex_data.cli._options import Json


class Keep(str, Enum):
    """Which row of a cluster stays."""

    first = "first"
    longest = "longest"


class JoinEngine(str, Enum):
    """What finds the pairs."""

    auto = "auto"
    exact = "exact"
    lsh = "lsh"


def register(app: typer.Typer) -> None:
    """Add the verb to ``app``."""
    app.command("audit-duplicates")(audit_duplicates)


def audit_duplicates(
    corpus: Annotated[
        str,
        typer.Argument(
            help="Built folder, .parquet or .jsonl(.gz) file, a folder or glob of such."
        ),
    ],
    out: Annotated[
        Path | None,
        typer.Option(help="Folder for pairs.parquet, drop.parquet and summary.json."),
    ] = None,
    text_column: Annotated[
        str | None, typer.Option(help="Column with the question or prompt (a.b steps into a.)")
    ] = None,
    id_column: Annotated[str | None, typer.Option(help="Column with the row ids.")] = None,
    n: Annotated[int, typer.Option(help="Words of a shingle.")] = 13,
    jaccard: Annotated[
        float, typer.Option(help="Least Jaccard similarity of near-duplicates.")
    ] = 0.8,
    keep: Annotated[Keep, typer.Option(help="Which row of a cluster stays.")] = Keep.first,
    prefer: Annotated[
        str | None, typer.Option(help="Sources whose rows stay before others, comma-separated.")
    ] = None,
    engine: Annotated[
        JoinEngine, typer.Option(help="auto: exact, or LSH for long documents.")
    ] = JoinEngine.auto,
    force: Annotated[bool, typer.Option(help="Replace an existing report at --out.")] = False,
    json: Json = False,
) -> None:
    """Find near-duplicates inside a corpus, across its files and sources; propose which to keep.

    Exits with 0 where there are none, 1 where there are some, 2 where it could not be done.
    """
    from dataflex_data.audits.corpus import open_corpus
    from dataflex_data.audits.near_duplicate import (
        DuplicateRule,
        drops_table,
        find_duplicates,
        pairs_table,
        summarise_duplicates,
    )
    from dataflex_data.core.config import parse_config
    from dataflex_data.core.parquet import (
        MANIFEST_NAME,
        check_output_folder,
        folder_digests,
        replace_folder,
        write_json,
        write_parquet,
    )
    from dataflex_data.reporting.terminal import print_json

    given: dict[str, Any] = {"n": n, "jaccard": jaccard, "keep": keep.value}
    given["engine"] = engine.value
    given["prefer"] = [name.strip() for name in (prefer or "").split(",") if name.strip()]
    rule = parse_config(DuplicateRule, given, "audit-duplicates")
    if out is not None:
        check_output_folder(out, force=force)
    opened = open_corpus(corpus, text_column=text_column, id_column=id_column)
    found = find_duplicates(opened, rule)
    summary = summarise_duplicates(opened, found, rule)
    if out is not None:
        with replace_folder(out, force=force) as folder:
            write_parquet(pairs_table(found), folder / "pairs.parquet")
            write_parquet(drops_table(found), folder / "drop.parquet")
            write_json(summary, folder / "summary.json")
            manifest = {"kind": "duplicate_audit", "files": folder_digests(folder)}
            write_json(manifest, folder / MANIFEST_NAME)
    if json:
        print_json(summary)
    else:
        _print(summary)
    raise typer.Exit(1 if summary["pairs"] else 0)


def _print(summary: dict[str, Any]) -> None:
    from dataflex_data.reporting.terminal import print_table

    rule = summary["rule"]
    typer.echo(
        f"{summary['pairs']:,} near-duplicate pairs (Jaccard of {rule['n']}-grams >= "
        f"{rule['jaccard']:g}, or the same words) among {summary['corpus']['rows']:,} rows; "
        f"{summary['rows_to_drop']:,} rows would go, {summary['clusters']:,} stay for them "
        f"(keep: {rule['keep']}). Engine: {summary['engine']['name']}, "
        + (
            "no pair missed."
            if summary["engine"]["lossless"]
            else "recall "
            f"{summary['engine']['recall']:.3f} at the threshold; every pair was verified."
        )
    )
    if summary["short_rows"] or summary["empty_rows"]:
        typer.echo(
            f"{summary['short_rows']:,} rows have fewer than {rule['n']} words and were compared "
            f"by equality only; {summary['empty_rows']:,} are empty and were not compared."
        )
    kinds = [[kind, count] for kind, count in summary["pairs_by_kind"].items()]
    kinds += [[f"across {name}", count] for name, count in summary["pairs_across_sources"].items()]
    kinds.append(["across files", summary["pairs_across_files"]])
    print_table("Pairs", ["kind", "pairs"], kinds)
    dropped = [[name or "-", count] for name, count in summary["dropped_by_source"].items()]
    if dropped:
        print_table("Rows that would go, by source", ["source", "rows"], dropped)
