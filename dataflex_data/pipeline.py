"""The whole path as functions that a Python user calls; the command line adds nothing but words."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Literal

import yaml

from dataflex_data.audits.benchmarks import (
    BENCHMARKS,
    BenchmarkSet,
    LoadedBenchmark,
    load_benchmarks,
)
from dataflex_data.audits.contamination import Decontaminator
from dataflex_data.audits.watching import Note, compile_notice, quiet
from dataflex_data.builders.assemble import Assembly, BuildOptions, assemble
from dataflex_data.builders.corpus import write_corpus
from dataflex_data.builders.evaluation_set import EvaluationBenchmark, assemble_evaluation
from dataflex_data.builders.filters import HFCounter, PlainCounter, TokenCounter
from dataflex_data.builders.knights.exclude import forms_of
from dataflex_data.builders.knights.parse import parse_quiz
from dataflex_data.builders.plan import Plan, own_files
from dataflex_data.builders.pool import DroppedRow
from dataflex_data.builders.recipe import (
    Benchmarks,
    Recipe,
    load_recipe,
    parse_recipe,
    recipe_folder,
)
from dataflex_data.core.errors import ConfigError
from dataflex_data.core.fetch import Lookup
from dataflex_data.core.parquet import check_output_file, check_output_folder, replace_file


@dataclass(frozen=True, slots=True)
class BuildResult:
    """What `build` gives back.

    Attributes:
        out: The corpus folder.
        manifest: Its manifest.
        warnings: Sentences a user must see.
    """

    out: Path
    manifest: dict[str, Any]
    warnings: Sequence[str]


def build(
    recipe: str | Mapping[str, Any],
    out: str | Path,
    *,
    sources: dict[str, Path] | None = None,
    sources_dir: Path | None = None,
    offline: bool = False,
    tokenizer: Path | None = None,
    seed: int | None = None,
    workers: int = 1,
    shard_rows: int | None = None,
    keep_dropped: Path | None = None,
    force: bool = False,
    decontaminate: Sequence[str] | None = None,
    benchmarks_dir: Path | None = None,
    benchmark_files: dict[str, Path] | None = None,
    missing_benchmarks: Literal["warn", "refuse"] | None = None,
    note: Note = quiet,
) -> BuildResult:
    """Build a corpus folder from a recipe.

    Args:
        recipe: Name of a shipped recipe, path of a YAML file, or a recipe as a mapping.
        out: Destination folder; must not exist unless ``force``.
        sources: Files or folders by source name, in place of the hub.
        sources_dir: Folder with one folder per source, laid out like its repository.
        offline: Never ask the hub; use its cache.
        tokenizer: Local folder of a Hugging Face tokenizer for exact token counts.
        seed: Takes the place of the recipe's seed.
        workers: Processes that read sources at the same time; changes no byte.
        shard_rows: Rows per parquet file; ``None`` writes one per split.
        keep_dropped: File (jsonl) for the records left out, with their reasons.
        force: Replace an existing corpus.
        decontaminate: Benchmarks or groups whose items must not be in the corpus; takes the place
            of the recipe's, and ``()`` switches it off.
        benchmarks_dir: Folder with one folder per benchmark.
        benchmark_files: The user's own files by benchmark, such as ``gpqa_diamond``.
        missing_benchmarks: Takes the place of the recipe's ``missing``.
        note: Told why a build takes long, in sentences, while it runs.

    Raises:
        ConfigError: Every fault of the recipe, together; or an option that is out of range.
        SourceUnavailableError: Sources that can be read from nowhere.
        InputDataError: A file or row that cannot be used.
        ShortfallError: A quota that cannot be filled.
        OutputError: ``out`` or ``keep_dropped`` cannot be written.
    """
    problems = [
        f"{name} must be at least 1, got {value}"
        for name, value in (("--workers", workers), ("--shard-rows", shard_rows))
        if value is not None and value < 1
    ]
    if seed is not None and not 0 <= seed < 2**63:
        problems.append(f"--seed must be at least 0 and below 2**63, got {seed}")
    if problems:
        raise ConfigError("build", problems)
    checked = (
        load_recipe(recipe) if isinstance(recipe, str) else parse_recipe(recipe, "recipe mapping")
    )
    if seed is not None:
        checked = checked.model_copy(update={"seed": seed})
    folder = check_output_folder(Path(out), force=force)
    base = recipe_folder(recipe) if isinstance(recipe, str) else Path()
    if keep_dropped is not None:
        keep_dropped = _check_keep_dropped(
            keep_dropped,
            folder,
            inputs=[
                *(sources or {}).values(),
                *(benchmark_files or {}).values(),
                *([Path(recipe)] if isinstance(recipe, str) else []),
                *own_files(checked, base),
            ],
            force=force,
        )
    counter, warnings = _counter(checked, tokenizer)
    if decontaminate is not None:
        wanted = Benchmarks(benchmarks=tuple(decontaminate)) if decontaminate else None
        checked = checked.model_copy(update={"decontaminate": wanted})
    if checked.evaluation is not None and (sources or sources_dir is not None):
        raise ConfigError(
            "sources",
            [
                "the recipe writes evaluation sets and has no sources; give --benchmarks-dir or "
                "--benchmark-file instead of --source and --sources-dir"
            ],
        )
    lookup = Lookup(overrides=sources or {}, sources_dir=sources_dir, offline=offline)
    benchmarks = _benchmarks(
        checked, benchmarks_dir, benchmark_files or {}, offline, missing_benchmarks
    )
    if checked.evaluation is not None and benchmarks is not None:
        assembly = assemble_evaluation(map(_to_write, benchmarks.loaded))
        manifest = write_corpus(assembly, checked, folder, force=force, shard_rows=shard_rows)
        return BuildResult(folder, manifest, [*_absent(benchmarks), *assembly.notes])
    options = BuildOptions(lookup, counter, workers=workers, base=base)
    if benchmarks and benchmarks.loaded:
        with compile_notice(note):
            guard = _Guard(benchmarks)
            guarded = replace(options, decontaminate=guard.reasons, held_out=guard.held_out)
            assembly = assemble(checked, guarded)
    else:
        guard = None
        assembly = assemble(checked, options)
    if keep_dropped is not None:
        write_dropped(assembly, keep_dropped)
    manifest = write_corpus(
        assembly,
        checked,
        folder,
        force=force,
        shard_rows=shard_rows,
        extra_manifest={"decontamination": _summary(guard, benchmarks)},
    )
    if benchmarks:
        warnings += _absent(benchmarks)
    return BuildResult(folder, manifest, [*warnings, *assembly.notes])


def _check_keep_dropped(path: Path, folder: Path, *, inputs: Sequence[Path], force: bool) -> Path:
    """Return where the dropped records go, after checking that nothing else is lost for them."""
    path = check_output_file(path, force=force, inputs=inputs)
    if folder == path or folder in path.parents:
        raise ConfigError(
            "--keep-dropped",
            [f"{path} lies in the corpus folder, which is replaced as a whole; write it elsewhere"],
        )
    return path


class _Guard:
    """Evaluation items as a builder sees them: texts that must not occur, puzzles likewise."""

    def __init__(self, benchmarks: BenchmarkSet) -> None:
        self.decontaminator = Decontaminator(benchmarks)
        quizzes = [item.question for item in benchmarks.items if item.n_people > 0]
        self.held_out = frozenset(forms_of([parse_quiz(quiz).puzzle for quiz in quizzes]))

    def reasons(
        self, questions: Sequence[str], options: Sequence[Sequence[str]]
    ) -> list[str | None]:
        """Return, per question, which item it holds and by which channel, or ``None``."""
        return [
            None
            if finding is None
            else f"{finding.benchmark} {finding.item_id} ({finding.channel}, containment "
            f"{finding.best_containment:.2f}, Jaccard {finding.best_jaccard:.2f})"
            for finding in self.decontaminator.flag(questions, options)
        ]


def _benchmarks(
    recipe: Recipe,
    folder: Path | None,
    files: dict[str, Path],
    offline: bool,
    missing: Literal["warn", "refuse"] | None,
) -> BenchmarkSet | None:
    """Return the evaluation sets that the recipe names; ``None`` where it names none.

    Raises:
        ConfigError: Benchmarks are given for a recipe that has no use for them.
        SourceUnavailableError: A benchmark is missing that must not be.
    """
    wanted = recipe.evaluation or recipe.decontaminate
    if wanted is None:
        if folder is not None or files or missing:
            raise ConfigError(
                f"recipe {recipe.name}",
                [
                    "benchmarks are given, but nothing is checked against them: the recipe has no "
                    "`decontaminate`, or `--decontaminate none` switched it off"
                ],
            )
        return None
    return load_benchmarks(
        wanted.names, folder=folder, files=files, offline=offline, missing=missing or wanted.missing
    )


def _summary(guard: _Guard | None, benchmarks: BenchmarkSet | None) -> dict[str, Any] | None:
    """Return what the manifest says of the check: ``None`` where none was asked for."""
    if benchmarks is None:
        return None
    counts = (
        guard.decontaminator.summary()
        if guard is not None
        else {"benchmarks": {}, "rows_checked": 0, "rows_flagged": 0}
    )
    # Names alone: why one is missing (no network, offline) differs between equal corpora.
    return {**counts, "missing": sorted(benchmarks.missing)}


def _absent(benchmarks: BenchmarkSet) -> list[str]:
    """Return a note per reason why benchmarks are missing, each with what to do about it."""
    named: dict[str, list[str]] = {}
    for name, why in benchmarks.missing.items():
        named.setdefault(why, []).append(name)
    return [
        f"benchmark{'s' if len(names) > 1 else ''} {', '.join(names)} "
        f"{'are' if len(names) > 1 else 'is'} MISSING: {why}"
        + ("" if "--benchmark-file" in why else "; give --benchmarks-dir DIR with their files")
        for why, names in named.items()
    ]


def _to_write(loaded: LoadedBenchmark) -> EvaluationBenchmark:
    known = BENCHMARKS.get(loaded.name)
    if known is None:
        raise ConfigError(
            "evaluation",
            [f"benchmark {loaded.name!r} has no verifier route; known: {', '.join(BENCHMARKS)}"],
        )
    return EvaluationBenchmark(
        name=loaded.name,
        domain=known.domain,
        license=loaded.license,
        repo_id=known.dataset.repo_id if known.dataset else loaded.name,
        origin="local" if loaded.origin == "local" else "hub",
        revision=loaded.revision,
        files=loaded.files,
        items=loaded.items,
    )


def lock_recipe(
    name: str,
    out: Path,
    *,
    sources: dict[str, Path] | None = None,
    sources_dir: Path | None = None,
    offline: bool = False,
    force: bool = False,
) -> dict[str, dict[str, Any]]:
    """Write a recipe with the revision and digests of every file its sources have now.

    Args:
        name: Recipe by name or path.
        out: YAML file to write.
        sources: See `build`.
        sources_dir: See `build`.
        offline: See `build`.
        force: Replace an existing file.

    Returns:
        The lock, ``{source: {revision, sha256: {file: digest}}}``.

    Raises:
        SourceUnavailableError: Sources that can be read from nowhere.
        OutputError: ``out`` exists, or cannot be written.
    """
    recipe = load_recipe(name)
    out = check_output_file(out, force=force, inputs=list((sources or {}).values()))
    unlocked = recipe.model_copy(update={"lock": None})
    lookup = Lookup(sources or {}, sources_dir, offline)
    located = Plan(unlocked, recipe_folder(name)).locate(lookup)
    lock: dict[str, dict[str, Any]] = {
        label: {
            "revision": place.revision,
            "sha256": {file.name: file.sha256 for file in place.files},
        }
        for label, place in located.items()
    }
    data = recipe.model_dump(mode="json", exclude_defaults=True)
    with replace_file(out) as partial:
        partial.write_text(
            yaml.safe_dump({**data, "lock": lock}, sort_keys=False, allow_unicode=True),
            encoding="utf-8",
        )
    return lock


def write_dropped(assembly: Assembly, path: Path) -> None:
    """Write every record left out, with its reason, as jsonl.

    Identical copies of one record are one line with ``copies``.
    """
    rows: Sequence[DroppedRow] = assembly.dropped
    with replace_file(path) as partial, partial.open("w", encoding="utf-8") as handle:
        for row in rows:
            # ascii: a record may be here because it holds what UTF-8 cannot.
            handle.write(json.dumps(row.to_record(), ensure_ascii=True) + "\n")


def _counter(recipe: Recipe, tokenizer: Path | None) -> tuple[TokenCounter | None, list[str]]:
    if tokenizer is not None:
        counter = HFCounter(tokenizer)
        return counter, [counter.note] if counter.note else []
    limit = recipe.filters.max_prompt_tokens
    if limit is None:
        return None, []
    return PlainCounter(), [
        f"no --tokenizer given: the limit of {limit} prompt tokens is applied to a plain count of "
        "words and symbols, and extra_info.prompt_tokens stays -1"
    ]
