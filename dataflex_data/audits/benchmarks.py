"""The evaluation benchmarks: where each lies, and how its records become items.

Twelve are registered, those the evaluation contract averages over; a user adds an own one by a file
and a column mapping. GPQA's authors ask that its text never be published: it is read only from a
file that the user gives, and its items are marked ``gated`` so that no report prints them.
"""

from __future__ import annotations

import csv
import re
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from dataflex_data.core.errors import (
    InputDataError,
    SourceUnavailableError,
    UnknownNameError,
    did_you_mean,
)
from dataflex_data.core.fetch import HubDataset, Located, Lookup, locate_available, locate_path
from dataflex_data.core.records import check_columns, read_records
from dataflex_data.core.seeding import hex_id, keyed_hash
from dataflex_data.core.text import sha256_text

LETTERS = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
DB12 = (
    "math500",
    "aime_2024",
    "olympiadbench",
    "minerva_math",
    "gsm8k",
    "kk_hard",
    "bbh_logical_deduction",
    "bbh_tracking",
    "zebra_logic",
    "mmlu_pro_chemistry",
    "mmlu_pro_physics",
    "gpqa_diamond",
)
GROUPS = {"db12": DB12}

_QUESTION_COLUMNS = ("question", "problem", "prompt", "input", "quiz", "text")
_BBH_OPTION = re.compile(r"\(([A-Z])\)\s*(.*)")

Record = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class BenchmarkItem:
    """One evaluation item.

    Attributes:
        benchmark: Name of its benchmark.
        item_id: Id within it, as published where there is one.
        question: The question without its options.
        options: Option texts in letter order; empty where there are none.
        gold: The gold answer as our verifiers take it: a letter, an answer, or an assignment.
        gated: Its text must not appear in any output.
        n_people: Knights-and-Knaves only; -1 elsewhere.
    """

    benchmark: str
    item_id: str
    question: str
    options: tuple[str, ...] = ()
    gold: str = ""
    gated: bool = False
    n_people: int = -1


@dataclass(frozen=True, slots=True)
class Benchmark:
    """Where a benchmark lies and how it is read.

    Attributes:
        name: Registry name.
        title: As papers write it.
        domain: The unit of mixture it belongs to.
        kind: What its verifier reads: ``"math"``, ``"choice"`` or ``"logic"``.
        license: SPDX identifier or the terms in words.
        dataset: Where the hub has it; ``None``: only from the user's own file.
        columns: Columns that every record has.
        optional: Columns read where present.
        item: One record, its position from 0, to an item; ``None`` leaves it out.
        gated: See `BenchmarkItem`.
    """

    name: str
    title: str
    domain: str
    kind: str
    license: str
    dataset: HubDataset | None
    columns: tuple[str, ...]
    item: Callable[[Record, int], BenchmarkItem | None]
    optional: tuple[str, ...] = ()
    gated: bool = False


@dataclass(frozen=True, slots=True)
class LoadedBenchmark:
    """The items of one benchmark and the files they came from.

    Attributes:
        name: Its name.
        items: All items.
        files: Digest by file name.
        origin: ``"hub"``, ``"cache"`` or ``"local"``.
        revision: Commit on the hub; ``"local"`` for the user's files.
        license: Its licence.
        gated: Its text must not appear in any output.
    """

    name: str
    items: tuple[BenchmarkItem, ...]
    files: Mapping[str, str]
    origin: str
    revision: str
    license: str
    gated: bool = False


@dataclass(frozen=True, slots=True)
class BenchmarkSet:
    """What could be loaded of what was asked for.

    Attributes:
        loaded: In the order asked for.
        missing: Why, for each that could not be had.
    """

    loaded: tuple[LoadedBenchmark, ...]
    missing: Mapping[str, str] = field(default_factory=dict)

    @property
    def items(self) -> list[BenchmarkItem]:
        """All items, benchmark by benchmark."""
        return [item for benchmark in self.loaded for item in benchmark.items]


def expand_names(specs: Sequence[str]) -> list[str]:
    """Return benchmark names for ``--benchmarks`` values: groups spread out, each name once.

    Raises:
        UnknownNameError: A name is neither a group nor a registered benchmark.
    """
    known = (*GROUPS, *BENCHMARKS)
    names: dict[str, None] = {}
    for spec in specs:
        for name in filter(None, (part.strip() for part in spec.split(","))):
            if name not in known:
                raise UnknownNameError(
                    f"benchmark {name!r} is not known{did_you_mean(name, known)} "
                    f"(known: {', '.join(known)}); give a file of your own with "
                    f"--benchmark-file {name}=PATH"
                )
            names.update(dict.fromkeys(GROUPS.get(name, (name,))))
    return list(names)


def load_benchmarks(
    names: Sequence[str],
    *,
    folder: Path | None = None,
    files: Mapping[str, Path] | None = None,
    columns: Mapping[str, Mapping[str, str]] | None = None,
    offline: bool = False,
    missing: str = "refuse",
) -> BenchmarkSet:
    """Return the items of the benchmarks named.

    Args:
        names: Registered names or groups; benchmarks in ``files`` are added to them.
        folder: Holds a folder per benchmark, laid out like its repository.
        files: The user's own file (or folder) by benchmark; a name that is not registered makes a
            benchmark of its own.
        columns: Column mapping of own benchmarks, by name: keys question, id, options, answer.
        offline: Do not ask the hub; read its cache only.
        missing: ``"refuse"``: one that cannot be had is an error; ``"warn"``: it is listed, be
            it all of them.

    Raises:
        UnknownNameError: A name is not registered and no file is given for it.
        InputDataError: A file is given or found but cannot be used.
        SourceUnavailableError: Some benchmark could be read from nowhere, and must not be missing.
    """
    files = dict(files or {})
    columns = dict(columns or {})
    wanted = expand_names([name for name in names if name not in files])
    wanted += [name for name in files if name not in wanted]
    unused = [name for name in columns if name not in files]
    if unused:
        raise InputDataError(
            f"a column mapping is given for {', '.join(unused)}, but no --benchmark-file is"
        )
    chosen = {name: _benchmark(name, columns.get(name)) for name in wanted}
    absent = {
        name: "is read only from a file of yours, since its authors ask that it is not "
        f"redistributed: --benchmark-file {name}=PATH"
        for name, benchmark in chosen.items()
        if benchmark.dataset is None and name not in files
    }
    datasets = {
        name: benchmark.dataset
        for name, benchmark in chosen.items()
        if benchmark.dataset is not None and name not in files
    }
    # All at once: a hub that cannot be reached is then tried for the first one only.
    located, failures = locate_available(datasets, Lookup({}, folder, offline))
    absent |= failures
    loaded = [
        _load(benchmark, located.get(name), files.get(name))
        for name, benchmark in chosen.items()
        if name not in absent
    ]
    if absent and missing == "refuse":
        listed = "\n".join(f"  - {name}: {reason}" for name, reason in absent.items())
        raise SourceUnavailableError(
            f"{len(absent)} of {len(wanted)} benchmarks could not be loaded:\n{listed}\n"
            "Provide them with --benchmarks-dir DIR or --benchmark-file NAME=PATH, or go on "
            "without them by --allow-missing, which the report states"
        )
    return BenchmarkSet(tuple(loaded), absent)


def _benchmark(name: str, mapping: Mapping[str, str] | None) -> Benchmark:
    if name in BENCHMARKS and mapping is None:
        return BENCHMARKS[name]
    return _own_benchmark(name, mapping or {})


def _load(benchmark: Benchmark, located: Located | None, path: Path | None) -> LoadedBenchmark:
    """Return the items of a benchmark: of the user's own ``path``, else of where it was found."""
    if path is not None and path.name.casefold().endswith(".csv"):
        return _load_csv(benchmark, path)
    if path is not None:
        located = locate_path(benchmark.name, path, benchmark.dataset if path.is_dir() else None)
    if located is None:
        raise TypeError(f"benchmark {benchmark.name} was not located")
    return _collected(benchmark, located, _records(benchmark, located))


def _records(benchmark: Benchmark, located: Located) -> Iterator[Record]:
    for file in located.files:
        for chunk in read_records(file.path, benchmark.columns, benchmark.optional):
            yield from chunk.records


def _load_csv(benchmark: Benchmark, path: Path) -> LoadedBenchmark:
    path = path.expanduser()
    if "FORMAT_FIXTURE" in path.name:
        raise InputDataError(
            f"{path}: shows the format of {benchmark.name} only and holds none of its items; "
            "give the real file"
        )
    try:
        with path.open(encoding="utf-8-sig", newline="") as handle:
            rows = list(csv.DictReader(handle))
    except (OSError, UnicodeDecodeError, csv.Error) as error:
        raise InputDataError(f"{path}: cannot be read as CSV in UTF-8: {error}") from None
    if not rows:
        raise InputDataError(f"{path}: holds no rows")
    check_columns(path, benchmark.columns, list(rows[0]))
    from dataflex_data.core.fetch import LOCAL, source_file

    located = Located(benchmark.name, "", LOCAL, LOCAL, (source_file(path, path.name),))
    return _collected(benchmark, located, iter(rows))


def _collected(
    benchmark: Benchmark, located: Located, records: Iterator[Record]
) -> LoadedBenchmark:
    items = []
    seen: Counter[str] = Counter()
    for position, record in enumerate(records):
        try:
            item = benchmark.item(record, position)
        except InputDataError:
            raise
        except (KeyError, TypeError, ValueError, IndexError) as error:
            where = ", ".join(str(file.path) for file in located.files)
            raise InputDataError(
                f"{where}: record {position + 1} is not one of {benchmark.name} "
                f"({type(error).__name__}: {error}); give the published file"
            ) from None
        if item is None:
            continue
        seen[item.item_id] += 1
        if seen[item.item_id] > 1:  # ids that repeat, as in a file with 32 copies of each problem
            item = replace(item, item_id=f"{item.item_id}#{seen[item.item_id]}")
        items.append(item)
    if not items:
        where = ", ".join(str(file.path) for file in located.files)
        raise InputDataError(f"{where}: holds no item of {benchmark.name}")
    return LoadedBenchmark(
        name=benchmark.name,
        items=tuple(items),
        files={file.name: file.sha256 for file in located.files},
        origin=located.origin,
        revision=located.revision,
        license=benchmark.license,
        gated=benchmark.gated,
    )


def last_boxed(text: str) -> str:
    r"""Return what stands in the last complete ``\boxed{...}``, ``""`` where there is none."""
    at = text.rfind("\\boxed{")
    while at >= 0:
        depth, begin = 0, at + len("\\boxed{")
        for position in range(begin - 1, len(text)):
            depth += (text[position] == "{") - (text[position] == "}")
            if depth == 0:
                return text[begin:position]
        at = text.rfind("\\boxed{", 0, at)
    return ""


def _text(record: Record, name: str) -> str:
    value = record.get(name)
    return value if isinstance(value, str) else "" if value is None else str(value)


def _question(record: Record) -> str:
    return _text(record, "problem") or _text(record, "question")


def _math500(record: Record, position: int) -> BenchmarkItem:
    return BenchmarkItem(
        "math500",
        _text(record, "unique_id") or str(position),
        _text(record, "problem"),
        gold=_text(record, "answer"),
    )


def _aime(record: Record, position: int) -> BenchmarkItem:
    return BenchmarkItem(
        "aime_2024",
        _text(record, "id") or str(position),
        _text(record, "problem"),
        gold=_text(record, "answer"),
    )


def _olympiad(record: Record, position: int) -> BenchmarkItem:
    answer = record.get("final_answer")
    answers = answer if isinstance(answer, list) else [answer]
    gold = ", ".join(str(one).replace("$", "").strip() for one in answers if one is not None)
    context = _text(record, "context")
    question = _text(record, "question")
    return BenchmarkItem(
        "olympiadbench",
        _text(record, "id") or str(position),
        f"{context}\n{question}" if context else question,
        gold=gold,
    )


def _minerva(record: Record, position: int) -> BenchmarkItem:
    return BenchmarkItem(
        "minerva_math",
        _text(record, "idx") or str(position),
        _question(record),
        gold=_text(record, "answer") or last_boxed(_text(record, "solution")),
    )


def _gsm8k(record: Record, position: int) -> BenchmarkItem:
    _, _, final = _text(record, "answer").rpartition("####")
    return BenchmarkItem(
        "gsm8k", str(position), _text(record, "question"), gold=final.strip().replace(",", "")
    )


def _kk(record: Record, position: int) -> BenchmarkItem:
    names = [str(name) for name in record["names"]]
    roles = [bool(role) for role in record["solution"]]
    said = [
        f"{name} is a {'knight' if role else 'knave'}"
        for name, role in zip(names, roles, strict=True)
    ]
    gold = f"{', '.join(said[:-1])}, and {said[-1]}." if len(said) > 1 else f"{said[0]}."
    return BenchmarkItem(
        "kk_hard",
        f"people{len(names)}-{_text(record, 'index') or position}",
        _text(record, "quiz"),
        gold=gold,
        n_people=len(names),
    )


def _bbh(name: str) -> Callable[[Record, int], BenchmarkItem]:
    def item(record: Record, position: int) -> BenchmarkItem:
        question, _, listed = _text(record, "input").partition("\nOptions:\n")
        options = tuple(text.strip() for _, text in _BBH_OPTION.findall(listed))
        return BenchmarkItem(
            name, str(position), question, options, gold=_text(record, "target").strip("() ")
        )

    return item


def _zebra(record: Record, position: int) -> BenchmarkItem:
    options = tuple(str(choice) for choice in record["choices"])
    answer = _text(record, "answer")
    gold = LETTERS[options.index(answer)] if answer in options else answer
    puzzle, question = _text(record, "puzzle").rstrip(), _text(record, "question")
    return BenchmarkItem(
        "zebra_logic",
        _text(record, "id") or str(position),
        f"{puzzle}\n\n{question}",
        options,
        gold=gold,
    )


def _mmlu_pro(category: str) -> Callable[[Record, int], BenchmarkItem | None]:
    def item(record: Record, position: int) -> BenchmarkItem | None:
        if _text(record, "category") != category:
            return None
        return BenchmarkItem(
            f"mmlu_pro_{category}",
            _text(record, "question_id") or str(position),
            _text(record, "question"),
            tuple(str(option) for option in record["options"]),
            gold=_text(record, "answer"),
        )

    return item


def _gpqa(record: Record, position: int) -> BenchmarkItem:
    question = _text(record, "Question").strip()
    item_id = _text(record, "Record ID") or str(position)
    right = _text(record, "Correct Answer").strip()
    texts = [right, *(_text(record, f"Incorrect Answer {number}").strip() for number in (1, 2, 3))]
    # The published file lists the right answer first: letters by a key, the same in every run.
    order = sorted(range(4), key=lambda number: keyed_hash("gpqa/options", item_id, number))
    return BenchmarkItem(
        "gpqa_diamond",
        item_id,
        question,
        tuple(texts[number] for number in order),
        gold=LETTERS[order.index(0)],
        gated=True,
    )


def _own_benchmark(name: str, mapping: Mapping[str, str]) -> Benchmark:
    """Return a benchmark of the user's own file; without a mapping, of its usual column names."""
    unknown = [key for key in mapping if key not in {"question", "id", "options", "answer"}]
    if unknown:
        raise InputDataError(
            f"benchmark {name}: a column mapping has the keys question, id, options and answer, "
            f"not {', '.join(unknown)}"
        )
    chosen = mapping.get("question")
    optional = [*_QUESTION_COLUMNS] if chosen is None else []
    optional += [mapping.get(key, key) for key in ("id", "options", "answer") if key not in mapping]

    def item(record: Record, position: int) -> BenchmarkItem:
        column = chosen or next((c for c in _QUESTION_COLUMNS if c in record), None)
        if column is None:
            raise InputDataError(
                f"benchmark {name}: none of the columns {', '.join(_QUESTION_COLUMNS)} is there; "
                f"say which holds the question: --benchmark-columns {name}:question=COLUMN"
            )
        options = record.get(mapping.get("options", "options"))
        return BenchmarkItem(
            name,
            _text(record, mapping.get("id", "id")) or str(position),
            prompt_text(record[column]),
            tuple(str(option) for option in options) if isinstance(options, list) else (),
            gold=_text(record, mapping.get("answer", "answer")),
        )

    return Benchmark(
        name=name,
        title=name,
        domain="",
        kind="",
        license="unknown",
        dataset=None,
        columns=tuple(mapping.values()),
        optional=tuple(dict.fromkeys(optional)),
        item=item,
    )


def prompt_text(value: object) -> str:
    """Return a question's text: a string as it is, chat messages joined by a line feed."""
    if isinstance(value, list):
        return "\n".join(
            str(message.get("content") or "") if isinstance(message, Mapping) else str(message)
            for message in value
        )
    return "" if value is None else str(value)


def identity(item: BenchmarkItem) -> str:
    """Return a digest of an item's text: what a report shows of a gated item."""
    return hex_id("benchmark_item", sha256_text(item.question), *item.options, length=16)


def _hub(repo_id: str, *files: str, folders: Sequence[str] = ()) -> HubDataset:
    return HubDataset(repo_id=repo_id, files=files, folder_names=tuple(folders))


BENCHMARKS: dict[str, Benchmark] = {
    benchmark.name: benchmark
    for benchmark in (
        Benchmark(
            name="math500",
            title="MATH-500",
            domain="math",
            kind="math",
            license="MIT",
            dataset=_hub("HuggingFaceH4/MATH-500", "test.jsonl"),
            columns=("problem", "answer"),
            optional=("unique_id",),
            item=_math500,
        ),
        Benchmark(
            name="aime_2024",
            title="AIME 2024",
            domain="math",
            kind="math",
            license="problems (c) MAA",
            dataset=_hub("HuggingFaceH4/aime_2024", "data/train-*.parquet", "test.jsonl"),
            columns=("problem", "answer"),
            optional=("id",),
            item=_aime,
        ),
        Benchmark(
            name="olympiadbench",
            title="OlympiadBench",
            domain="math",
            kind="math",
            license="MIT",
            dataset=_hub(
                "Hothan/OlympiadBench",
                "OE_TO_maths_en_COMP/*.parquet",
                "OE_TO_maths_en_COMP.jsonl",
            ),
            columns=("question", "final_answer"),
            optional=("id", "context"),
            item=_olympiad,
        ),
        Benchmark(
            name="minerva_math",
            title="Minerva Math",
            domain="math",
            kind="math",
            license="CC-BY-NC-SA-4.0",
            dataset=_hub("math-ai/minervamath", "test.jsonl", "**/test-*.parquet"),
            columns=(),
            optional=("problem", "question", "solution", "answer", "idx"),
            item=_minerva,
        ),
        Benchmark(
            name="gsm8k",
            title="GSM8K",
            domain="math",
            kind="math",
            license="MIT",
            dataset=_hub("openai/gsm8k", "main/test-*.parquet", "test.jsonl"),
            columns=("question", "answer"),
            item=_gsm8k,
        ),
        Benchmark(
            name="kk_hard",
            title="Knights and Knaves, 7 and 8 people",
            domain="logic",
            kind="logic",
            license="CC-BY-NC-SA-4.0",
            dataset=_hub(
                "K-and-K/knights-and-knaves",
                "test/people[78]_num100.jsonl",
                folders=("knights_and_knaves",),
            ),
            columns=("quiz", "names", "solution"),
            optional=("index",),
            item=_kk,
        ),
        Benchmark(
            name="bbh_logical_deduction",
            title="BBH logical deduction",
            domain="logic",
            kind="choice",
            license="MIT",
            dataset=_hub(
                "lukaemon/bbh",
                "logical_deduction_*_objects/test-*.parquet",
                "logical_deduction_*_objects.json",
                folders=("bbh",),
            ),
            columns=("input", "target"),
            item=_bbh("bbh_logical_deduction"),
        ),
        Benchmark(
            name="bbh_tracking",
            title="BBH tracking shuffled objects",
            domain="logic",
            kind="choice",
            license="MIT",
            dataset=_hub(
                "lukaemon/bbh",
                "tracking_shuffled_objects_*_objects/test-*.parquet",
                "tracking_shuffled_objects_*_objects.json",
                folders=("bbh",),
            ),
            columns=("input", "target"),
            item=_bbh("bbh_tracking"),
        ),
        Benchmark(
            name="zebra_logic",
            title="ZebraLogic, multiple choice",
            domain="logic",
            kind="choice",
            license="not stated",
            dataset=_hub(
                "allenai/ZebraLogicBench",
                "mc_mode/test-*.parquet",
                "derived_mc_mode/test.jsonl.gz",
                folders=("zebralogic",),
            ),
            columns=("puzzle", "question", "choices", "answer"),
            optional=("id",),
            item=_zebra,
        ),
        Benchmark(
            name="mmlu_pro_chemistry",
            title="MMLU-Pro chemistry",
            domain="science",
            kind="choice",
            license="MIT",
            dataset=_hub("TIGER-Lab/MMLU-Pro", "data/test-*.parquet", folders=("mmlu_pro",)),
            columns=("question", "options", "answer", "category"),
            optional=("question_id",),
            item=_mmlu_pro("chemistry"),
        ),
        Benchmark(
            name="mmlu_pro_physics",
            title="MMLU-Pro physics",
            domain="science",
            kind="choice",
            license="MIT",
            dataset=_hub("TIGER-Lab/MMLU-Pro", "data/test-*.parquet", folders=("mmlu_pro",)),
            columns=("question", "options", "answer", "category"),
            optional=("question_id",),
            item=_mmlu_pro("physics"),
        ),
        Benchmark(
            name="gpqa_diamond",
            title="GPQA-Diamond",
            domain="science",
            kind="choice",
            license="CC-BY-4.0, not to be published in plain text",
            dataset=None,
            columns=(
                "Question",
                "Correct Answer",
                "Incorrect Answer 1",
                "Incorrect Answer 2",
                "Incorrect Answer 3",
            ),
            optional=("Record ID",),
            item=_gpqa,
            gated=True,
        ),
    )
}
