"""The corpus folder: train and validation parquet, manifest, dataset card; written, read, verified.

The folder holds nothing that depends on when, where or by how many workers it was built, so that a
rebuild from the same inputs gives the same bytes.
"""

from __future__ import annotations

import hashlib
import json
import platform
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from dataflex_data import __version__
from dataflex_data.builders.assemble import Assembly
from dataflex_data.builders.card import dataset_card
from dataflex_data.builders.recipe import Recipe
from dataflex_data.core.errors import InputDataError
from dataflex_data.core.parquet import (
    MANIFEST_NAME,
    dump_json,
    folder_digests,
    read_manifest,
    replace_folder,
    summary_of_files,
    write_json,
    write_parquet,
)
from dataflex_data.core.schema import (
    SCHEMA_VERSION,
    SPLITS,
    Row,
    record_problems,
    rows_to_table,
)
from dataflex_data.core.text import NORMALISER_VERSION, sha256_text

KIND = "corpus"
MANIFEST_VERSION = 1
_LENGTH_BINS = (1, 2, 4, 8, 16, 32, 64)
_TOKEN_BINS = (32, 64, 128, 256, 512, 1024, 2048)
_SHOWN_PER_CHECK = 5


def write_corpus(
    assembly: Assembly,
    recipe: Recipe,
    out: Path,
    *,
    force: bool,
    shard_rows: int | None = None,
    extra_manifest: Mapping[str, Any] | None = None,
) -> dict[str, Any]:
    """Write the folder in one step and return its manifest.

    Args:
        assembly: The corpus.
        recipe: Its recipe, recorded whole.
        out: Destination folder.
        force: Replace an existing corpus.
        shard_rows: Rows per file; ``None`` writes one file per split.
        extra_manifest: Further keys, such as the audit's summary.

    Raises:
        InputDataError: A row that breaks the schema, named by domain, source and id.
        OutputError: The folder cannot be written; the old one is untouched.
    """
    for split in SPLITS:
        _refuse_broken_rows(assembly.rows[split], split)
    tables = {split: rows_to_table(assembly.rows[split], split) for split in SPLITS}
    with replace_folder(out, force=force) as folder:
        for split, table in tables.items():
            if not table.num_rows:
                continue  # an evaluation set has no training rows, and no file that says so
            for name, part in _parts(split, table, shard_rows):
                write_parquet(part, folder / name)
        manifest = _manifest(assembly, recipe, tables, shard_rows, extra_manifest or {})
        (folder / "README.md").write_text(dataset_card(manifest), encoding="utf-8")
        manifest["files"] = folder_digests(folder)
        manifest["corpus_sha256"] = summary_of_files(manifest["files"])
        manifest["manifest_sha256"] = manifest_sha256(manifest)
        write_json(manifest, folder / MANIFEST_NAME)
    return manifest


def manifest_sha256(manifest: Mapping[str, Any]) -> str:
    """Return the SHA-256 of a manifest's content without this very key."""
    content = {key: value for key, value in manifest.items() if key != "manifest_sha256"}
    return sha256_text(dump_json(content))


def rows_sha256(records: Iterable[Mapping[str, Any]]) -> str:
    """Return the SHA-256 of the rows' content in order.

    It is the same whatever wrote the parquet file, whose bytes name the version of the writer.
    """
    sha = hashlib.sha256()
    for record in records:
        sha.update(json.dumps(record, sort_keys=True, ensure_ascii=True).encode() + b"\n")
    return sha.hexdigest()


def corpus_manifest(folder: Path) -> dict[str, Any]:
    """Return the manifest of a folder that `dfdata build` wrote, with the keys that it must have.

    Raises:
        InputDataError: The folder is something else, or its manifest lacks or garbles a key.
    """
    manifest = read_manifest(folder)
    if manifest["kind"] != KIND:
        raise InputDataError(
            f"{folder}: is a {manifest['kind']!r} folder, not a corpus of `dfdata build`"
        )
    rows = manifest.get("rows")
    whole = isinstance(rows, dict) and all(
        isinstance(rows.get(split), dict)
        and isinstance(rows[split].get("total"), int)
        and isinstance(rows[split].get("by_domain"), dict)
        and isinstance(rows[split].get("sha256"), str)
        for split in SPLITS
    )
    if (
        not whole
        or not isinstance(manifest.get("domains"), list)
        or not isinstance(manifest.get("schema_version"), int)
    ):
        raise InputDataError(
            f"{folder / MANIFEST_NAME}: lacks or garbles `rows`, `domains` or `schema_version`; it "
            "was changed by hand, or written by another version: build the corpus again"
        )
    return manifest


def split_files(folder: Path, split: str) -> list[Path]:
    """Return the parquet files of one split in order: one, or its shards."""
    whole = folder / f"{split}.parquet"
    return [whole] if whole.is_file() else sorted(folder.glob(f"{split}-*-of-*.parquet"))


def read_split(folder: Path, split: str) -> pa.Table:
    """Return one split of a built corpus.

    Raises:
        InputDataError: It has no such split, or the file is broken.
    """
    files = split_files(folder, split)
    if not files:
        raise InputDataError(f"{folder}: has no {split} split ({split}.parquet)")
    try:
        return pa.concat_tables([pq.read_table(file) for file in files])
    except (OSError, pa.ArrowInvalid) as error:
        raise InputDataError(f"{files[0]}: cannot be read as parquet: {error}") from None


def _parts(split: str, table: pa.Table, shard_rows: int | None) -> Iterator[tuple[str, pa.Table]]:
    if shard_rows is None or table.num_rows <= shard_rows:
        yield f"{split}.parquet", table
        return
    count = -(-table.num_rows // shard_rows)
    for number in range(count):
        name = f"{split}-{number:05d}-of-{count:05d}.parquet"
        yield name, table.slice(number * shard_rows, shard_rows)


def _refuse_broken_rows(rows: Sequence[Row], split: str) -> None:
    problems: list[str] = []
    for number, row in enumerate(rows):
        problems.extend(
            f"{split} row {number} ({row.domain}, {row.source}, {row.row_id}): {problem}"
            for problem in record_problems(row.to_record(number, split))
        )
    if problems:
        shown = "\n".join(f"  - {problem}" for problem in problems[:_SHOWN_PER_CHECK])
        raise InputDataError(f"{len(problems)} rows break the schema; nothing was written\n{shown}")


def _manifest(
    assembly: Assembly,
    recipe: Recipe,
    tables: Mapping[str, pa.Table],
    shard_rows: int | None,
    extra: Mapping[str, Any],
) -> dict[str, Any]:
    sources = {
        entry.label: {
            "domain": entry.domain,
            "license": entry.license,
            "origin": entry.origin,
            "repo_id": entry.repo_id,
            "revision": entry.revision,
            "template": entry.template,
            "files": entry.files,
            "raw": entry.raw,
            "dropped": entry.dropped,
            "eligible": entry.eligible,
            "drawn": entry.drawn,
        }
        for entry in assembly.entries
    }
    return {
        "kind": KIND,
        "manifest_version": MANIFEST_VERSION,
        "schema_version": SCHEMA_VERSION,
        "name": recipe.name,
        "description": recipe.description,
        "command": _command(assembly, recipe, shard_rows),
        # In order: JSON keys are sorted, preference is not.
        "domains": list(dict.fromkeys(entry.domain for entry in assembly.entries)),
        "recipe": recipe.model_dump(mode="json"),
        "versions": {
            "dataflex-data": __version__,
            "normaliser": NORMALISER_VERSION,
            "pyarrow": pa.__version__,
            "python": platform.python_version(),
        },
        "licenses": sorted({entry.license for entry in assembly.entries}),
        "sources": sources,
        "rows": {
            split: {**_row_counts(assembly.rows[split]), "sha256": rows_sha256(table.to_pylist())}
            for split, table in tables.items()
        },
        "histograms": {split: _histograms(assembly.rows[split]) for split in SPLITS},
        "conflicts": [conflict.to_record() for conflict in assembly.conflicts],
        "notes": list(assembly.notes),
        **extra,
    }


def _command(assembly: Assembly, recipe: Recipe, shard_rows: int | None) -> str:
    """Return the command that builds this corpus again, with files by name but not by place."""
    parts = [f"dfdata build --recipe {recipe.name} --seed {recipe.seed}"]
    if recipe.evaluation is None:
        parts += [
            f"--source {entry.label}={entry.files[0]['name']}"
            for entry in assembly.entries
            if entry.origin == "local"
        ]
    if recipe.evaluation or recipe.decontaminate:
        parts.append("--benchmarks-dir DIR")
    if shard_rows is not None:
        parts.append(f"--shard-rows {shard_rows}")
    return " ".join(parts)


def _row_counts(rows: Sequence[Row]) -> dict[str, Any]:
    return {
        "total": len(rows),
        "by_domain": dict(sorted(Counter(row.domain for row in rows).items())),
        "by_data_source": dict(sorted(Counter(row.data_source for row in rows).items())),
    }


def _histograms(rows: Sequence[Row]) -> dict[str, dict[str, int]]:
    """Return counts by gold letter, answer length, people and prompt tokens."""
    return {
        "gold_letter": dict(sorted(Counter(r.ground_truth for r in rows if r.options).items())),
        "answer_characters": _binned(
            (len(row.ground_truth) for row in rows if not row.options), _LENGTH_BINS
        ),
        "n_people": {
            str(people): count
            for people, count in sorted(Counter(r.n_people for r in rows if r.n_people > 0).items())
        },
        "prompt_tokens": _binned(
            (r.prompt_tokens for r in rows if r.prompt_tokens >= 0), _TOKEN_BINS
        ),
    }


def _binned(values: Iterator[int], edges: Sequence[int]) -> dict[str, int]:
    counts: Counter[str] = Counter()
    for value in values:
        edge = next((edge for edge in edges if value <= edge), None)
        counts[f"<={edge}" if edge is not None else f">{edges[-1]}"] += 1
    order = [*(f"<={edge}" for edge in edges), f">{edges[-1]}"]
    return {name: counts[name] for name in order if counts[name]}
