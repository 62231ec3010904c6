"""Which row is in which domain, in as little memory as the data allow.

Where every domain is one contiguous range of rows, nothing is kept per row. Otherwise it is the
row's number (4 bytes up to 2**31 rows) and its domain's (1 or 2 bytes).
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from dataflex_data.core.errors import InputDataError, did_you_mean
from dataflex_data.core.parquet import file_sha256
from dataflex_data.core.simplex import IntArray

DomainLabels: TypeAlias = Any
"""A parquet file's path; a polars, pandas or Arrow table, or a Hugging Face dataset, with a column
of domains; a sequence of one label per row; or ``{domain: number of rows}`` for contiguous ranges
in that order."""

RowArray: TypeAlias = npt.NDArray[np.integer[Any]]
ROW_ID = "extra_info.row_id"


@dataclass(frozen=True, slots=True)
class DomainIndex:
    """Rows by domain. Domains are sorted by name, so that the order of the rows decides nothing.

    Attributes:
        names: Domain names, sorted.
        sizes_D: Rows per domain, all above 0.
        digest_by_domain: What the domain's rows are, as far as the data say it: their ids in order
            where there are any, else their number.
        digest: Of all the above, the assignment of rows to domains, and the content given.
        starts_D: First row of each domain's range; ``None`` unless all are contiguous.
        rows_N: Row numbers grouped by domain; ``None`` where all are contiguous.
        codes_N: Domain number of each row; ``None`` where all are contiguous.
    """

    names: tuple[str, ...]
    sizes_D: IntArray  # noqa: N815 - shape suffix
    digest_by_domain: tuple[str, ...]
    digest: str
    starts_D: IntArray | None  # noqa: N815
    rows_N: npt.NDArray[np.signedinteger[Any]] | None  # noqa: N815
    codes_N: npt.NDArray[np.unsignedinteger[Any]] | None  # noqa: N815

    @classmethod
    def build(
        cls,
        data: DomainLabels,
        *,
        domain_key: str = "domain",
        domains: Sequence[str] | None = None,
        id_key: str = ROW_ID,
        content_digest: str = "",
    ) -> DomainIndex:
        """Return the index of ``data``.

        Args:
            data: See `DomainLabels`.
            domain_key: Column that holds the domain; dots lead into structs.
            domains: The domains there must be, no more and no fewer; ``None`` takes those found.
            id_key: Column of row ids, used for the digests where it exists.
            content_digest: Anything that changes when the data do; made part of the digest.

        Raises:
            InputDataError: No rows, no such column, a row without a domain, or domains that are
                not those in ``domains``.
        """
        texts = {"domain_key": domain_key, "id_key": id_key, "content_digest": content_digest}
        for key, text in texts.items():
            if not isinstance(text, str):
                raise InputDataError(f"{key} must be text, got {_short(text)}")
        if domains is not None and (
            isinstance(domains, str)
            or not isinstance(domains, Iterable)
            or not all(isinstance(name, str) for name in domains)
        ):
            raise InputDataError(f"domains must be a list of names, got {_short(domains)}")
        if isinstance(data, Mapping):
            _refuse_keys(domain_key, id_key, "a mapping of domains to numbers of rows")
            return _from_ranges(data, domains, content_digest)
        labels, ids, content = _columns(data, domain_key, id_key, bool(content_digest))
        names, sizes, codes = _encode(labels, domain_key)
        _check_names(names, domains)
        changes = codes[1:] != codes[:-1]
        starts: IntArray | None = None
        rows: npt.NDArray[np.signedinteger[Any]] | None = None
        assignment = hashlib.sha256()
        if np.count_nonzero(changes) == len(names) - 1:
            firsts = np.concatenate([[0], np.flatnonzero(changes) + 1])
            starts = np.empty(len(names), dtype=np.int64)
            starts[codes[firsts]] = firsts
            assignment.update(starts.astype("<i8").tobytes())
        else:
            narrow = np.int32 if codes.size < 1 << 31 else np.int64
            rows = _grouped(codes, len(names)).astype(narrow, copy=False)
            assignment.update(codes.data)
        digests = _domain_digests(ids, sizes, starts, rows)
        return cls(
            names=names,
            sizes_D=sizes,
            digest_by_domain=digests,
            digest=_digest(names, digests, assignment.digest(), content_digest or content),
            starts_D=starts,
            rows_N=rows,
            codes_N=None if rows is None else codes,
        )

    @property
    def n_rows(self) -> int:
        """Rows in all domains together."""
        return int(self.sizes_D.sum())

    def number(self, name: str) -> int:
        """Return the domain's number.

        Raises:
            InputDataError: There is no such domain; near matches are given.
        """
        try:
            return self.names.index(name)
        except ValueError:
            raise InputDataError(
                f"domain {name!r} is not in the data{did_you_mean(str(name), self.names)} "
                f"(domains: {', '.join(self.names[:12])})"
            ) from None

    def rows(
        self, domain: int, places: npt.NDArray[np.integer[Any]], out: RowArray | None = None
    ) -> RowArray:
        """Return the row numbers of a domain's ``places``, counted within the domain.

        Args:
            domain: Its number.
            places: Of any whole type.
            out: Filled and returned where given; of any whole type that holds the row numbers.
        """
        found: RowArray = np.empty(places.size, dtype=np.int64) if out is None else out
        if self.starts_D is not None:
            found[:] = places
            found += found.dtype.type(self.starts_D[domain])
        elif self.rows_N is not None:
            end = int(self.sizes_D[: domain + 1].sum())
            found[:] = self.rows_N[end - int(self.sizes_D[domain]) : end].take(places)
        return found

    def all_in(self, domain: int, rows: RowArray) -> bool:
        """Return whether the data put all of ``rows`` into the domain of that number."""
        if not rows.size:
            return True
        if self.starts_D is not None:
            first = int(self.starts_D[domain])
            return first <= int(rows.min()) and int(rows.max()) < first + int(self.sizes_D[domain])
        return self.codes_N is not None and bool(np.all(self.codes_N.take(rows) == domain))

    def domains_of(self, rows: npt.ArrayLike) -> IntArray:
        """Return the domain numbers of ``rows``.

        Raises:
            InputDataError: A row is not in the data.
        """
        wanted = np.asarray(rows, dtype=np.int64)
        outside = (wanted < 0) | (wanted >= self.n_rows)
        if outside.any():
            raise InputDataError(
                f"row {int(wanted[outside][0])} is not in the data, which has {self.n_rows:,} rows"
            )
        if self.codes_N is not None:
            return self.codes_N[wanted].astype(np.int64)
        if self.starts_D is None:
            raise InputDataError("an index needs either ranges or row numbers")
        order = np.argsort(self.starts_D)
        return np.asarray(order[np.searchsorted(self.starts_D[order], wanted, side="right") - 1])


def _from_ranges(
    size_by_domain: Mapping[str, int], domains: Sequence[str] | None, content: str
) -> DomainIndex:
    if not size_by_domain:
        raise InputDataError("there are no domains: the mapping of rows per domain is empty")
    for name, size in size_by_domain.items():
        if not isinstance(name, str) or not name.strip():
            raise InputDataError(f"a domain needs a name, got {name!r}")
        if isinstance(size, bool) or not isinstance(size, int | np.integer):
            raise InputDataError(
                f"rows of domain {name!r} must be a whole number, got {_short(size)}: a mapping "
                "gives the number of rows of each domain"
            )
        if size < 1:
            raise InputDataError(
                f"domain {name!r} has {size!r} rows; a domain without rows cannot be sampled: "
                "leave it out"
            )
    given = list(size_by_domain)
    given_sizes = np.array(list(size_by_domain.values()), dtype=np.int64)
    starts = dict(zip(given, (np.cumsum(given_sizes) - given_sizes).tolist(), strict=True))
    names = tuple(sorted(given))
    _check_names(names, domains)
    sizes = np.array([size_by_domain[name] for name in names], dtype=np.int64)
    starts_D = np.array([starts[name] for name in names], dtype=np.int64)
    digests = tuple(f"{size} rows" for size in sizes.tolist())
    assignment = hashlib.sha256(starts_D.astype("<i8").tobytes()).digest()
    return DomainIndex(
        names, sizes, digests, _digest(names, digests, assignment, content), starts_D, None, None
    )


def _check_names(names: Sequence[str], wanted: Sequence[str] | None) -> None:
    if wanted is None:
        return
    twice = sorted({name for name in wanted if list(wanted).count(name) > 1})
    if twice:
        raise InputDataError(f"domains are listed twice: {', '.join(twice)}")
    unknown = [name for name in names if name not in wanted]
    empty = [name for name in wanted if name not in names]
    problems = []
    if empty:
        hints = "".join(did_you_mean(name, names) for name in empty[:1])
        problems.append(f"no row is in the domain {', '.join(map(repr, empty))}{hints}")
    if unknown:
        problems.append(f"the data hold domains not asked for: {', '.join(map(repr, unknown))}")
    if problems:
        raise InputDataError(f"{'; '.join(problems)} (domains found: {', '.join(names)})")


def _columns(
    data: DomainLabels, domain_key: str, id_key: str, has_content: bool
) -> tuple[pa.ChunkedArray, pa.ChunkedArray | None, str]:
    """Return the domain labels, the row ids where there are any, and a digest of the content."""
    if isinstance(data, str | Path):
        path = Path(data).expanduser()
        if path.is_dir():
            raise InputDataError(f"{path}: is a folder; give one parquet file of it")
        try:
            with pq.ParquetFile(path, read_dictionary=[domain_key]) as file:
                names = {file.schema.column(i).path for i in range(len(file.schema))}
                if domain_key not in names:
                    raise _no_column(str(path), domain_key, sorted(names))
                if id_key not in names and id_key != ROW_ID:
                    raise _no_ids(str(path), id_key, sorted(names))
                wanted = [key for key in (domain_key, id_key) if key in names]
                table = file.read(columns=wanted)
        except FileNotFoundError:
            raise InputDataError(f"{path}: no such file") from None
        except (pa.ArrowException, OSError) as error:
            raise InputDataError(f"{path}: cannot be read as parquet: {error}") from None
        ids = _column(table, id_key)
        content = "" if ids is not None or has_content else file_sha256(path)
        labels = _column(table, domain_key)
    else:
        frame = _as_arrow(data, domain_key, id_key)
        if not isinstance(frame, pa.Table):
            _refuse_keys(domain_key, id_key, "labels without columns")
            return frame, None, ""
        labels = _column(frame, domain_key)
        if labels is None:
            raise _no_column("the data", domain_key, frame.column_names)
        ids, content = _ids(frame, id_key), ""
    if labels is None:
        raise _no_column("the data", domain_key, [])
    return labels, ids, content


def _as_arrow(data: DomainLabels, domain_key: str, id_key: str) -> pa.Table | pa.ChunkedArray:
    library = type(data).__module__.partition(".")[0]
    if isinstance(data, pa.Table | pa.ChunkedArray):
        return data
    if isinstance(data, pa.Array):
        return pa.chunked_array([data])
    if library == "polars":
        if not hasattr(data, "to_arrow"):
            raise InputDataError(
                f"domains cannot be read from a polars {type(data).__name__}; collect() it first"
            )
        frame = data.to_arrow()
        return frame if isinstance(frame, pa.Table) else pa.chunked_array([frame])
    if library == "pandas":
        if data.ndim == 1:
            return pa.chunked_array([pa.Array.from_pandas(data)])
        wanted = {key.partition(".")[0] for key in (domain_key, id_key)}
        return pa.Table.from_pandas(
            data[[name for name in data.columns if name in wanted]], preserve_index=False
        )
    if library == "datasets" and hasattr(data, "select_columns"):
        wanted = {key.partition(".")[0] for key in (domain_key, id_key)}
        kept = [name for name in data.column_names if name in wanted]
        if not kept:
            raise _no_column("the dataset", domain_key, data.column_names)
        return data.select_columns(kept).with_format("arrow")[:]
    if isinstance(data, np.ndarray) or (
        isinstance(data, Sequence) and not isinstance(data, str | bytes)
    ):
        try:
            return pa.chunked_array([pa.array(data)])
        except (pa.ArrowException, TypeError, ValueError) as error:
            first = type(data[0])
            row = next((i for i, label in enumerate(data) if type(label) is not first), None)
            told = (
                str(error)
                if row is None
                else f"row 0 holds {_short(data[0])}, row {row} {_short(data[row])}"
            )
            raise InputDataError(f"the domain labels are not all of one type: {told}") from None
    raise InputDataError(
        f"domains cannot be read from a {type(data).__module__}.{type(data).__name__}; give a "
        "parquet file, a polars, pandas or Arrow table, a Hugging Face dataset, a list of labels, "
        "or a mapping of domain to number of rows"
    )


def _column(table: pa.Table, key: str) -> pa.ChunkedArray | None:
    first, *rest = key.split(".")
    if first not in table.column_names:
        return None
    column = table.column(first)
    for name in rest:
        if not pa.types.is_struct(column.type) or column.type.get_field_index(name) < 0:
            return None
        column = pc.struct_field(column, name)
    return column


def _ids(table: pa.Table, id_key: str) -> pa.ChunkedArray | None:
    ids = _column(table, id_key)
    if ids is None and id_key != ROW_ID:
        raise _no_ids("the data", id_key, table.column_names)
    return ids


def _no_ids(where: str, id_key: str, names: Sequence[str]) -> InputDataError:
    return InputDataError(
        f"{where}: has no column `{id_key}`{did_you_mean(id_key, names)} for the ids of rows; "
        "correct id_key, or drop it"
    )


def _refuse_keys(domain_key: str, id_key: str, what: str) -> None:
    for name, given, default in (
        ("domain_key", domain_key, "domain"),
        ("id_key", id_key, ROW_ID),
    ):
        if given != default:
            raise InputDataError(f"{name}={given!r} is without effect on {what}; drop it")


def _short(value: object) -> str:
    shown = repr(value)
    return shown if len(shown) <= 60 else f"{shown[:57]}..."


def _no_column(where: str, key: str, names: Sequence[str]) -> InputDataError:
    return InputDataError(
        f"{where}: has no column `{key}`{did_you_mean(key, names)} "
        f"(columns: {', '.join(names[:20])}); name the one that holds the domain as domain_key"
    )


def _encode(
    labels: pa.ChunkedArray, domain_key: str
) -> tuple[tuple[str, ...], IntArray, npt.NDArray[np.unsignedinteger[Any]]]:
    """Return the names that occur, sorted, the rows of each, and each row's domain number."""
    if len(labels) == 0:
        raise InputDataError("the data hold no rows")
    is_coded = pa.types.is_dictionary(labels.type)
    held = labels.type.value_type if is_coded else labels.type
    if not (
        pa.types.is_string(held)
        or pa.types.is_large_string(held)
        or pa.types.is_string_view(held)
        or pa.types.is_integer(held)
    ):
        raise InputDataError(
            f"column `{domain_key}` has type {held}; a domain is a name or a whole number"
        )
    if is_coded and any(_ambiguous(chunk.dictionary) for chunk in labels.chunks):
        labels, is_coded = labels.cast(held), False
    if labels.null_count:
        row = pc.index(pc.is_null(labels), value=True).as_py()
        raise InputDataError(f"row {row} has no domain (column `{domain_key}` is null there)")
    encoded = labels if is_coded else labels.dictionary_encode()
    encoded = encoded.unify_dictionaries().combine_chunks()
    if isinstance(encoded, pa.ChunkedArray):
        encoded = encoded.chunk(0)
    indices = encoded.indices.to_numpy(zero_copy_only=False)
    found = [str(value) for value in encoded.dictionary.to_pylist()]
    rows_by_code = np.bincount(indices, minlength=len(found))
    used = np.flatnonzero(rows_by_code).tolist()
    blank = [i for i in used if not found[i].strip()]
    if blank:
        row = int(np.flatnonzero(indices == blank[0])[0])
        raise InputDataError(f"row {row} has no domain (column `{domain_key}` is blank there)")
    order = sorted(used, key=found.__getitem__)
    if len(order) > 1 << 16:
        raise InputDataError(
            f"column `{domain_key}` has {len(order):,} different values; at most 65,536 domains "
            "are supported. Is it a column of ids?"
        )
    number = np.zeros(len(found), dtype=np.uint8 if len(order) <= 1 << 8 else np.uint16)
    number[order] = np.arange(len(order), dtype=number.dtype)
    sizes = rows_by_code[order].astype(np.int64)
    return tuple(found[i] for i in order), sizes, number.take(indices)


def _ambiguous(dictionary: pa.Array) -> bool:
    """Return whether a column's dictionary holds nothing as a value, or a value twice."""
    return bool(dictionary.null_count) or len(dictionary.unique()) < len(dictionary)


def _grouped(
    codes: npt.NDArray[np.unsignedinteger[Any]], n_domains: int
) -> npt.NDArray[np.signedinteger[Any]]:
    """Return the row numbers by domain, ascending within each."""
    if n_domains > 16:  # measured: up to here a pass per domain is faster than a radix sort
        return np.argsort(codes, kind="stable")
    narrow = np.int32 if codes.size < 1 << 31 else np.int64
    return np.concatenate([np.flatnonzero(codes == d).astype(narrow) for d in range(n_domains)])


def _domain_digests(
    ids: pa.ChunkedArray | None,
    sizes: IntArray,
    starts: IntArray | None,
    rows: npt.NDArray[np.signedinteger[Any]] | None,
) -> tuple[str, ...]:
    if ids is None:
        return tuple(f"{size} rows" for size in sizes.tolist())
    digests = []
    offset = 0
    for domain, size in enumerate(sizes.tolist()):
        if starts is not None:
            part = ids.slice(int(starts[domain]), size)
        else:
            part = ids.take(pa.array(rows[offset : offset + size]) if rows is not None else [])
        offset += size
        sha = hashlib.sha256()
        for chunk in part.chunks:
            for value in chunk.to_pylist():
                sha.update(f"{value}\n".encode("utf-8", "surrogatepass"))
        digests.append(f"{size} rows {sha.hexdigest()[:16]}")
    return tuple(digests)


def _digest(names: Sequence[str], digests: Sequence[str], assignment: bytes, content: str) -> str:
    sha = hashlib.sha256()
    for name, digest in zip(names, digests, strict=True):
        sha.update(f"{len(name)} {name} {digest}\n".encode("utf-8", "surrogatepass"))
    sha.update(assignment)
    sha.update(content.encode())
    return sha.hexdigest()[:16]
