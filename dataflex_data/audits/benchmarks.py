"""The evaluation benchmarks, found and loaded.

Twelve are registered (`benchmark_items`), those the evaluation contract averages over; a user adds
an own one by a file and a column mapping. GPQA's authors ask that its text never be published: it
is read only from a file that the user gives, and its items are marked ``gated`` so that no report
prints them.
"""

from __future__ import annotations

import csv
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from dataflex_data.audits.benchmark_items import (
    BENCHMARKS,
    GROUPS,
    Benchmark,
    BenchmarkItem,
    own_benchmark,
)
from dataflex_data.audits.record_fields import Record, RecordError
from dataflex_data.core.errors import (
    InputDataError,
    SourceUnavailableError,
    UnknownNameError,
    did_you_mean,
)
from dataflex_data.core.fetch import Located, Lookup, locate_available, locate_path
from dataflex_data.core.records import check_columns, read_records

__all__ = [
    "BENCHMARKS",
    "Benchmark",
    "BenchmarkItem",
    "BenchmarkSet",
    "LoadedBenchmark",
    "expand_names",
    "load_benchmarks",
]


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
    return own_benchmark(name, mapping or {})


def _load(benchmark: Benchmark, located: Located | None, path: Path | None) -> LoadedBenchmark:
    """Return the items of a benchmark: of the user's own ``path``, else of where it was found."""
    if path is not None and path.name.casefold().endswith(".csv"):
        return _load_csv(benchmark, path)
    if path is not None:
        located = locate_path(benchmark.name, path, benchmark.dataset if path.is_dir() else None)
    if located is None:
        raise TypeError(f"benchmark {benchmark.name} was not located")
    return _collected(benchmark, located, _records(benchmark, located))


def _records(benchmark: Benchmark, located: Located) -> Iterator[tuple[str, Record]]:
    """Yield each record and where it stands."""
    for file in located.files:
        unit = "line" if ".jsonl" in file.path.name.casefold() else "record"
        for chunk in read_records(file.path, benchmark.columns, benchmark.optional):
            for row, record in zip(chunk.rows, chunk.records, strict=True):
                yield f"{file.path}, {unit} {row}", record


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
    for number, row in enumerate(rows, start=1):
        if None in row:
            raise InputDataError(
                f"{path}, record {number}: has more cells than the header has names; is a comma or "
                "a quotation mark lost?"
            )
    check_columns(path, benchmark.columns, list(rows[0]))
    from dataflex_data.core.fetch import LOCAL, source_file

    located = Located(benchmark.name, "", LOCAL, LOCAL, (source_file(path, path.name),))
    numbered = enumerate(rows, start=1)
    return _collected(benchmark, located, ((f"{path}, record {n}", row) for n, row in numbered))


def _collected(
    benchmark: Benchmark, located: Located, records: Iterable[tuple[str, Record]]
) -> LoadedBenchmark:
    items = []
    seen: Counter[str] = Counter()
    for position, (where, record) in enumerate(records):
        try:
            item = benchmark.item(record, position)
        except RecordError as error:
            raise InputDataError(
                f"{where}: is not a record of {benchmark.name}: {error}; give the whole file as "
                "it was published, or one with these keys"
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
