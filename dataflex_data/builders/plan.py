"""A recipe with its sources built: who belongs where, and how an item becomes a row.

`assemble` runs the stages; this module answers their questions about one entry or one item.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from dataflex_data.builders.pool import Item
from dataflex_data.builders.recipe import Domain, Recipe, split_counts
from dataflex_data.builders.source import FileSource, GeneratedSource, Source
from dataflex_data.builders.templates import LETTERS, render_prompt
from dataflex_data.core.errors import ConfigError
from dataflex_data.core.fetch import HubDataset, Located, Lookup, locate
from dataflex_data.core.schema import Row
from dataflex_data.core.seeding import digest

_OWN_FILES = ("*.parquet", "*.jsonl", "*.jsonl.gz", "*.json", "*.json.gz")


@dataclass(slots=True)
class EntryReport:
    """What became of one source entry.

    Attributes:
        label: Name of the entry.
        domain: Its domain.
        license: SPDX identifier.
        origin: ``hub`` (or its cache), ``local`` or ``generated``.
        repo_id: Repository, or the entry's name.
        revision: Commit, ``"local"``, or the generator's version.
        files: Name, bytes and digest of every file read.
        raw: Records read or made.
        dropped: Records left out, by reason.
        eligible: Records that could have been drawn, per split.
        drawn: Records that were drawn, per split.
        wanted: Records the recipe asks for, per split.
        template: Prompt template of its rows.
    """

    label: str
    domain: str
    license: str
    template: str
    repo_id: str
    origin: str = "generated"
    revision: str = ""
    files: list[dict[str, object]] = field(default_factory=list)
    raw: int = 0
    dropped: dict[str, int] = field(default_factory=dict)
    eligible: dict[str, int] = field(default_factory=dict)
    drawn: dict[str, int] = field(default_factory=dict)
    wanted: dict[str, int] = field(default_factory=dict)


def own_files(recipe: Recipe, base: Path) -> list[Path]:
    """Return the files and folders that the recipe itself names."""
    sources = Plan(recipe, base).sources.values()
    paths = (source.own_path for source in sources if isinstance(source, FileSource))
    return [path for path in paths if path is not None]


class Plan:
    """The recipe with its sources built: who belongs where, and how an item becomes a row."""

    def __init__(self, recipe: Recipe, base: Path) -> None:
        self.recipe = recipe
        self.entries = recipe.entries()
        self.sources: dict[str, Source] = {
            label: entry.build() for label, entry in self.entries.items()
        }
        for source in self.sources.values():
            source.base = base
        self.domain_of = {
            entry.label: name for name, domain in recipe.domains.items() for entry in domain.sources
        }
        self.rank = {label: position for position, label in enumerate(self.entries)}

    def template(self, label: str) -> str:
        """Return the prompt template of an entry: the recipe's, else the source's own."""
        return self.entries[label].template or self.sources[label].template

    def wanted(self, domain: Domain) -> dict[str, dict[str, int]]:
        """Return rows wanted as {split: {label: count}}."""
        validation = self.recipe.validation if domain.validation is None else domain.validation
        return {
            "train": split_counts(domain.sources, domain.count, domain.count),
            "validation": split_counts(domain.sources, domain.count, validation),
        }

    def locate(self, lookup: Lookup) -> dict[str, Located]:
        """Return where each source that reads files has them, without reading any.

        Raises:
            ConfigError: Files are given for sources that are generated.
            SourceUnavailableError: Sources that can be read from nowhere, all of them together.
        """
        self._refuse_files_for_generated(lookup)
        wanted: dict[str, HubDataset] = {}
        own: dict[str, Path] = {}
        for label, source in self.sources.items():
            if not isinstance(source, FileSource):
                continue
            wanted[label] = source.dataset or HubDataset(repo_id=label, files=_OWN_FILES)
            if source.own_path is not None:
                own[label] = source.own_path
        overrides = {**own, **lookup.overrides}
        return locate(
            wanted,
            Lookup(overrides, lookup.sources_dir, lookup.offline),
            self.recipe.locks(),
        )

    def _refuse_files_for_generated(self, lookup: Lookup) -> None:
        """Refuse files that no source would read: what is given must have an effect."""
        generated = [n for n, s in self.sources.items() if isinstance(s, GeneratedSource)]
        all_made = len(generated) == len(self.sources)
        known = f"all sources of the recipe are generated ({', '.join(generated)})"
        problems = []
        for name in lookup.overrides:
            if name in generated:
                problems.append(f"--source {name}: {name} is generated and reads no files")
            elif all_made:
                problems.append(f"--source {name}: the recipe has no such source; {known}")
        if lookup.sources_dir is not None and all_made:
            problems.append(f"--sources-dir {lookup.sources_dir}: {known} and read no files")
        if problems:
            raise ConfigError("sources", [f"{problem}; leave it out" for problem in problems])

    def report(self, label: str, located: Located | None) -> EntryReport:
        """Return an entry's report with no counts yet."""
        source = self.sources[label]
        report = EntryReport(
            label=label,
            domain=self.domain_of[label],
            license=source.license,
            template=self.template(label),
            repo_id=self.origin(label),
        )
        if located is not None:
            # The cache holds what the hub gave at that commit: an offline rebuild is the same.
            report.origin = "local" if located.origin == "local" else "hub"
            report.revision = located.revision
            report.files = [
                {"name": file.name, "bytes": file.bytes, "sha256": file.sha256}
                for file in located.files
            ]
        elif isinstance(source, GeneratedSource):
            report.revision = source.revision
        return report

    def origin(self, label: str) -> str:
        """Return where the rows come from: a repository, a generator, or the entry's own name."""
        source = self.sources[label]
        if isinstance(source, GeneratedSource):
            return source.repo_id
        dataset = source.dataset if isinstance(source, FileSource) else None
        return dataset.repo_id if dataset is not None else label

    def ordered_options(self, item: Item) -> tuple[str, ...]:
        """Return the options in letter order, decided by the row's key and their own texts."""
        return tuple(
            sorted(item.candidate.options, key=lambda option: digest("option", item.key, option))
        )

    def gold(self, item: Item) -> str:
        """Return the ground truth: the gold, or the letter of the right option."""
        if not item.candidate.options:
            return item.candidate.gold
        return LETTERS[self.ordered_options(item).index(item.candidate.gold)]

    def prompt(self, item: Item) -> str:
        """Return the user message of an item."""
        template = self.template(item.label)
        return render_prompt(template, item.candidate.question, self.ordered_options(item))

    def row(self, item: Item, domain: str, tokens: Mapping[str, int]) -> Row:
        """Return an item as a row; ``tokens`` has exact counts by key, where there are any."""
        source, candidate = self.sources[item.label], item.candidate
        return Row(
            data_source=source.route,
            prompt=(("user", self.prompt(item)),),
            ability=source.ability,
            ground_truth=self.gold(item),
            domain=domain,
            row_id=item.key,
            source=self.origin(item.label),
            source_id=candidate.source_id,
            source_revision=item.revision,
            license=source.license,
            raw_question=candidate.raw_question,
            raw_answer=candidate.raw_answer,
            difficulty=candidate.difficulty,
            n_people=candidate.n_people,
            statement_depth=candidate.statement_depth,
            options=self.ordered_options(item),
            support=candidate.support,
            prompt_tokens=tokens.get(item.key, -1),
        )
