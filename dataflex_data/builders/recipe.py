"""Recipes: which domains, how many rows, from which sources, filtered how. YAML, validated.

A recipe is all that decides a corpus, apart from the sources' bytes. ``count`` (a whole number of
rows) and ``fraction`` (a share of the domain) are two keys, never one number that could be either.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from fractions import Fraction
from importlib import resources
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import Field, field_validator, model_validator

from dataflex_data.builders.filters import Filters
from dataflex_data.builders.source import SOURCES, FileSource, Source
from dataflex_data.builders.templates import template_problem
from dataflex_data.core.config import Config, load_yaml, parse_config, parse_yaml
from dataflex_data.core.errors import (
    ConfigError,
    DataflexError,
    InputDataError,
    UnknownNameError,
    did_you_mean,
)
from dataflex_data.core.fetch import Lock
from dataflex_data.verifiers.routes import ROUTES

_SUFFIXES = (".yaml", ".yml")
NAME = r"^[A-Za-z0-9][A-Za-z0-9_.-]*$"


class SourceEntry(Config):
    """One source of a domain.

    Attributes:
        source: Name of a source (`dfdata recipes sources`).
        name: Name of this entry, for ``--source NAME=PATH`` and the tables; by default ``source``.
        count: Training rows from it; either this or ``fraction``.
        fraction: Its share of the domain's rows, in (0, 1].
        template: Prompt template; by default the source's own.
        params: Parameters of the source.
    """

    source: str
    name: str | None = Field(default=None, pattern=NAME)
    count: int | None = Field(default=None, ge=1)
    fraction: float | None = Field(default=None, gt=0, le=1)
    template: str | None = None
    params: dict[str, Any] = Field(default_factory=dict)

    @field_validator("count", mode="before")
    @classmethod
    def _count_is_whole(cls, value: object) -> object:
        if isinstance(value, float):
            raise ValueError("a count is a whole number of rows; for a share write `fraction`")
        return value

    @field_validator("fraction", mode="before")
    @classmethod
    def _fraction_is_a_share(cls, value: object) -> object:
        if isinstance(value, int) and not isinstance(value, bool):
            raise ValueError(
                "a fraction is written with a decimal point, as in 0.4 or 1.0; for a number of "
                "rows write `count`"
            )
        return value

    @model_validator(mode="after")
    def _one_of_count_and_fraction(self) -> SourceEntry:
        if (self.count is None) == (self.fraction is None):
            raise ValueError("give exactly one of `count` and `fraction`")
        return self

    @property
    def label(self) -> str:
        """Name of this entry in tables, manifest and ``--source``."""
        return self.name or self.source

    def build(self) -> Source:
        """Return the source with its parameters.

        Raises:
            UnknownNameError: No such source.
            ConfigError: A parameter is unknown or wrong.
        """
        source_class = SOURCES.get(self.source)
        params = parse_config(source_class.Params, self.params, f"source {self.label}: params")
        return source_class(params)


class Domain(Config):
    """One domain of the corpus.

    Attributes:
        count: Training rows of the domain.
        validation: Validation rows; by default the recipe's.
        sources: In order of preference: of two rows that are the same, the first source keeps its.
        on_shortfall: ``refuse`` stops when a source cannot fill its share; ``redistribute`` lets
            the domain's other sources fill it, and says so.
    """

    count: int = Field(ge=1)
    validation: int | None = Field(default=None, ge=0)
    sources: tuple[SourceEntry, ...] = Field(min_length=1)
    on_shortfall: Literal["refuse", "redistribute"] = "refuse"


class Benchmarks(Config):
    """Evaluation sets: to keep out of a corpus (``decontaminate``), or to write (``evaluation``).

    Attributes:
        benchmarks: Names or groups, such as ``db12`` (`dfdata audit-contamination`).
        missing: What happens when a benchmark cannot be loaded: ``warn`` names it in the closing
            table, manifest and card; ``refuse`` stops.
    """

    benchmarks: tuple[str, ...] | str
    missing: Literal["warn", "refuse"] = "refuse"

    @property
    def names(self) -> tuple[str, ...]:
        """The names or groups as written, always as a tuple."""
        return (self.benchmarks,) if isinstance(self.benchmarks, str) else self.benchmarks


class LockEntry(Config):
    """Revision and digests that a locked source must have."""

    revision: str
    sha256: dict[str, str]


class Recipe(Config):
    """A whole recipe.

    Attributes:
        recipe: Version of the recipe format.
        name: Name of the corpus.
        description: One or two sentences for the dataset card.
        seed: Decides which rows are drawn, the order of options and rows.
        validation: Validation rows per domain, where the domain does not say.
        filters: See `Filters`.
        decontaminate: Evaluation items to leave out; ``None`` checks nothing.
        evaluation: Evaluation sets to write as validation rows; takes the place of ``domains``.
        domains: By name, in the order of preference for rows that are the same.
        lock: Written by ``dfdata recipes lock``: anything else is refused.
    """

    recipe: Literal[1]
    name: str = Field(pattern=NAME)
    description: str = ""
    seed: int = Field(ge=0, lt=2**63)
    validation: int = Field(default=0, ge=0)
    filters: Filters = Filters()
    decontaminate: Benchmarks | None = None
    evaluation: Benchmarks | None = None
    domains: dict[Annotated[str, Field(pattern=NAME)], Domain] = Field(default_factory=dict)
    lock: dict[str, LockEntry] | None = None

    @model_validator(mode="after")
    def _domains_or_evaluation(self) -> Recipe:
        if bool(self.domains) == (self.evaluation is not None):
            raise ValueError("give `domains` with at least one domain, or `evaluation`; not both")
        return self

    def locks(self) -> dict[str, Lock]:
        """Return the lock entries in the form that `core.fetch.locate` takes."""
        entries = self.lock or {}
        return {
            name: Lock(revision=entry.revision, sha256=dict(entry.sha256))
            for name, entry in entries.items()
        }

    def entries(self) -> dict[str, SourceEntry]:
        """Return all source entries by label, in recipe order."""
        return {entry.label: entry for domain in self.domains.values() for entry in domain.sources}


def split_counts(entries: tuple[SourceEntry, ...], total: int, wanted: int) -> dict[str, int]:
    """Return how many of ``wanted`` rows each entry gives, by largest remainder.

    Args:
        entries: Sources of a domain, whose counts and fractions make up ``total``.
        total: The domain's training rows.
        wanted: Rows to share out in the same proportions: ``total``, or the validation rows.
    """
    shares = {
        entry.label: Fraction(entry.count, total)
        if entry.count is not None
        else Fraction(str(entry.fraction))
        for entry in entries
    }
    exact = {label: share * wanted for label, share in shares.items()}
    counts = {label: int(value) for label, value in exact.items()}
    missing = wanted - sum(counts.values())
    by_remainder = sorted(exact, key=lambda label: (counts[label] - exact[label], label))
    for label in by_remainder[:missing]:
        counts[label] += 1
    return counts


def recipe_names() -> list[str]:
    """Return the names of the recipes that ship with the package, sorted."""
    folder = resources.files("dataflex_data.builders") / "recipes"
    return sorted(
        entry.name.removesuffix(".yaml")
        for entry in folder.iterdir()
        if entry.name.endswith(".yaml")
    )


def recipe_text(name_or_path: str) -> tuple[str, str]:
    """Return ``(where, YAML text)`` of a recipe by name or by path.

    Raises:
        UnknownNameError: Neither a shipped recipe nor a file.
        InputDataError: The file cannot be read.
    """
    if name_or_path in recipe_names():
        folder = resources.files("dataflex_data.builders") / "recipes"
        return f"recipe {name_or_path}", (folder / f"{name_or_path}.yaml").read_text("utf-8")
    path = Path(name_or_path).expanduser()
    beside = [f"{name_or_path}{end}" for end in _SUFFIXES if Path(f"{path}{end}").is_file()]
    if path.is_file():
        load_yaml(path)  # says in words what is wrong with the file
        return str(path), path.read_text(encoding="utf-8")
    if path.suffix in _SUFFIXES or len(path.parts) > 1:
        raise InputDataError(f"recipe {path.absolute()}: no such file")
    names = recipe_names()
    raise UnknownNameError(
        f"recipe {name_or_path!r} is not known{did_you_mean(name_or_path, names)} "
        f"(known: {', '.join(names)}; or give a file's path"
        + (f", such as {beside[0]})" if beside else ")")
    )


def recipe_folder(name_or_path: str) -> Path:
    """Return the folder that relative paths in a recipe start from: the file's own.

    A recipe that ships with the package has no paths; for it, and for any other, the current one.
    """
    path = Path(name_or_path).expanduser()
    is_file = name_or_path not in recipe_names() and path.is_file()
    return path.absolute().parent if is_file else Path.cwd()


def load_recipe(name_or_path: str) -> Recipe:
    """Return a recipe by name or by path, checked as a whole.

    Raises:
        UnknownNameError: Neither a shipped recipe nor a file.
        InputDataError: The file cannot be read, or is not YAML.
        ConfigError: Every fault of the recipe, together.
    """
    where, text = recipe_text(name_or_path)
    return parse_recipe(parse_yaml(text, where), where)


def parse_recipe(data: Mapping[str, Any], where: str) -> Recipe:
    """Return a mapping as a recipe; see `load_recipe`."""
    problems: list[str] = []
    recipe: Recipe | None = None
    try:
        recipe = parse_config(Recipe, data, where)
    except ConfigError as error:
        problems.extend(error.problems)
    problems.extend(_entry_problems(data))
    problems.extend(_share_problems(data))
    if problems or recipe is None:
        raise ConfigError(where, list(dict.fromkeys(problems)))
    return recipe


def _mapping(value: object) -> Mapping[str, Any]:
    return value if isinstance(value, Mapping) else {}


def _raw_entries(data: Mapping[str, Any]) -> list[tuple[str, Mapping[str, Any]]]:
    """Return ``(key, entry)`` of everything that looks like a source entry, faulty or not."""
    found = []
    for domain_name, domain in _mapping(data.get("domains")).items():
        sources = _mapping(domain).get("sources")
        for number, entry in enumerate(sources if isinstance(sources, list | tuple) else ()):
            found.append((f"domains.{domain_name}.sources.{number}", _mapping(entry)))
    return found


def _entry_problems(data: Mapping[str, Any]) -> list[str]:
    """Check source names, parameters, templates and labels, whatever else is wrong."""
    problems: list[str] = []
    seen: dict[str, str] = {}
    for key, entry in _raw_entries(data):
        name = entry.get("source")
        label = entry.get("name") or name
        if isinstance(label, str):
            if label in seen:
                problems.append(
                    f"key `{key}`: the name {label!r} is used by `{seen[label]}` already; give "
                    "this entry a `name` of its own"
                )
            seen.setdefault(label, key)
        if not isinstance(name, str):
            continue
        try:
            source_class = SOURCES.get(name)
        except UnknownNameError as error:
            problems.append(f"key `{key}.source`: {error}")
            continue
        try:
            params = _mapping(entry.get("params") or {})
            source = source_class(parse_config(source_class.Params, params, key))
        except ConfigError as error:
            problems.extend(f"in `{key}.params`: {problem}" for problem in error.problems)
            continue
        except DataflexError as error:
            problems.append(f"in `{key}.params`: {error}")
            continue
        problems.extend(f"key `{key}`: {text}" for text in _route_problems(source, entry))
    locked = _mapping(data.get("lock"))
    problems.extend(
        f"key `lock.{name}`: the recipe has no source of that name{did_you_mean(str(name), seen)}"
        for name in locked
        if name not in seen
    )
    return problems


def _route_problems(source: Source, entry: Mapping[str, Any]) -> list[str]:
    try:
        route = ROUTES.get(source.route)
    except UnknownNameError as error:
        return [str(error)]
    template = entry.get("template") or source.template
    problem = template_problem(str(template), route.kind)
    if problem:
        return [problem]
    if isinstance(source, FileSource) and source.dataset is None and source.own_path is None:
        return ["`params.path` is missing: this source reads a file of yours"]
    return []


def _share_problems(data: Mapping[str, Any]) -> list[str]:
    """Check that each domain's counts and fractions make up its count, whatever else is wrong."""
    problems = []
    for name, raw in _mapping(data.get("domains")).items():
        domain = _mapping(raw)
        total, sources = domain.get("count"), domain.get("sources")
        if not isinstance(total, int) or isinstance(total, bool) or total < 1:
            continue
        if not isinstance(sources, list | tuple) or not sources:
            continue
        counted, shared = 0, Fraction(0)
        for entry in map(_mapping, sources):
            count, fraction = entry.get("count"), entry.get("fraction")
            if isinstance(count, int):
                counted += count
            elif isinstance(fraction, int | float) and math.isfinite(fraction):
                shared += Fraction(str(fraction))
        asked = counted + shared * total
        if abs(asked - total) >= Fraction(1, 2):
            problems.append(
                f"key `domains.{name}.sources`: counts ({counted}) and fractions ({float(shared):g}"
                f" x {total}) add up to {float(asked):g} rows, the domain wants {total}"
            )
    return problems
