"""What the data files of a run say about it, where they are on this machine.

Files that are elsewhere (a store, another node) cannot be looked at, and nothing is said of them.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

from dataflex_data.core.errors import ConfigError

FILE_KEYS = ("data.train_files", "data.val_files")


@dataclass(frozen=True)
class DataFile:
    """A parquet file of a run.

    Attributes:
        key: The key of verl's configuration that names it.
        path: Where it is.
    """

    key: str
    path: Path

    @cached_property
    def schema(self) -> Any:  # noqa: ANN401 - pyarrow's, which is imported late
        """Its Arrow schema.

        Raises:
            ConfigError: It cannot be read.
        """
        import pyarrow as pa
        import pyarrow.parquet as pq

        try:
            return pq.read_schema(self.path)
        except (pa.ArrowException, OSError) as error:
            raise ConfigError(
                self.key, [f"{self.path} cannot be read as parquet: {error}"]
            ) from None

    @property
    def rows(self) -> int:
        """Its number of rows."""
        import pyarrow.parquet as pq

        return int(pq.read_metadata(self.path).num_rows)

    @property
    def columns(self) -> list[str]:
        """Names of its columns."""
        return list(self.schema.names)

    def counts(self, column: str) -> Counter[str | None]:
        """Return how many rows have which value; dots lead into structs. Empty without the column.

        Nothing and the empty text count as ``None``.
        """
        import pyarrow.compute as pc
        import pyarrow.parquet as pq

        outer, *inner = column.split(".")
        if outer not in self.columns:
            return Counter()
        values = pq.read_table(self.path, columns=[outer]).column(0)
        for name in inner:
            if name not in [field.name for field in getattr(values.type, "fields", [])]:
                return Counter()
            values = pc.struct_field(values, name)
        found: Counter[str | None] = Counter()
        for entry in pc.value_counts(values).to_pylist():
            value = entry["values"]
            found[None if value in (None, "") else str(value)] += entry["counts"]
        return found


def named_files(config: Mapping[str, Any], key: str) -> list[str]:
    """Return the files that a key of verl's configuration names, as they are written."""
    data = config.get("data")
    named = data.get(key.removeprefix("data.")) if isinstance(data, Mapping) else None
    files = [named] if isinstance(named, str) else named
    return [str(file) for file in files] if isinstance(files, list | tuple) else []


def local_files(config: Mapping[str, Any], key: str) -> Iterator[DataFile]:
    """Yield the parquet files that ``key`` names and this machine has."""
    for file in named_files(config, key):
        path = Path(file).expanduser()
        if path.suffix == ".parquet" and path.is_file():
            yield DataFile(key, path)


def domains_of(config: Mapping[str, Any], domain_key: str) -> tuple[str, ...]:
    """Return the domains of the training files, sorted; none where these cannot be looked at."""
    return tuple(sorted(rows_by_domain(config, domain_key)))


def rows_by_domain(config: Mapping[str, Any], domain_key: str) -> dict[str, int]:
    """Return the training rows of each domain; empty where not all files can be looked at."""
    files = list(local_files(config, FILE_KEYS[0]))
    if len(files) < len(named_files(config, FILE_KEYS[0])):
        return {}
    found: Counter[str | None] = Counter()
    for file in files:
        found.update(file.counts(domain_key))
    return {name: rows for name, rows in found.items() if name}


def numeric_extra_fields(config: Mapping[str, Any]) -> set[str] | None:
    """Return the numbers that ``extra_info`` holds; ``None`` where no file can be looked at."""
    import pyarrow as pa

    files = list(local_files(config, FILE_KEYS[0]))
    if not files:
        return None
    found: set[str] = set()
    for file in files:
        if "extra_info" in file.columns:
            kind = file.schema.field("extra_info").type
            found |= {
                inner.name
                for inner in (kind if pa.types.is_struct(kind) else ())
                if pa.types.is_floating(inner.type) or pa.types.is_integer(inner.type)
            }
    return found
