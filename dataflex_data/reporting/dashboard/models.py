"""What the dashboard reads of each file: all of it must be there, and of the right type."""

from __future__ import annotations

from typing import Any

from pydantic import BaseModel, ConfigDict


class _Part(BaseModel):
    """What the page reads of a file; keys it does not read may come and go."""

    model_config = ConfigDict(extra="ignore", frozen=True)


class Source(_Part):
    """A source of a corpus."""

    domain: str
    repo_id: str
    origin: str
    revision: str
    license: str
    raw: int
    dropped: dict[str, int]
    drawn: dict[str, int]


class Split(_Part):
    """Rows of a split."""

    total: int
    by_domain: dict[str, int]


class Decontamination(_Part):
    """What the build says of evaluation sets."""

    rows_checked: int
    rows_flagged: int
    benchmarks: dict[str, Any]
    missing: tuple[str, ...]


class FileEntry(_Part):
    """A file of a folder."""

    sha256: str


class CorpusManifest(_Part):
    """``manifest.json`` of a corpus."""

    name: str
    description: str
    command: str
    corpus_sha256: str
    manifest_sha256: str
    domains: tuple[str, ...]
    licenses: tuple[str, ...]
    sources: dict[str, Source]
    rows: dict[str, Split]
    files: dict[str, FileEntry]
    recipe: dict[str, Any]
    histograms: dict[str, dict[str, dict[str, int]]]
    notes: tuple[str, ...] = ()
    decontamination: Decontamination | None = None

    @property
    def is_evaluation(self) -> bool:
        """Whether its rows are evaluation items, whose texts belong on no page."""
        return bool(self.recipe.get("evaluation"))


class VerifiedCorpus(_Part):
    """Which corpus was verified."""

    manifest_sha256: str


class Check(_Part):
    """One check of a corpus."""

    name: str
    result: str
    problem_count: int
    problems: tuple[str, ...]
    unchecked: tuple[str, ...]


class Verification(_Part):
    """``verification.json``."""

    ok: bool
    corpus: VerifiedCorpus
    checks: tuple[Check, ...]


class AuditedCorpus(_Part):
    """What was audited."""

    name: str
    rows: int
    files: dict[str, str]
    rows_not_utf8: int = 0


class WorstPair(_Part):
    """The nearest pair of a benchmark."""

    row_id: str
    item_id: str
    containment: float


class Benchmark(_Part):
    """One benchmark of an audit."""

    items: int
    gated: bool
    rows_flagged: int
    items_hit: int
    pairs_near: int
    best_containment: float
    worst: WorstPair | None


class Claim(_Part):
    """A claim that papers make."""

    claim: str
    holds: bool
    pairs: int
    rows: int


class Planted(_Part):
    """A disguise of planted leaks, and how many were found."""

    disguise: str
    what: str
    planted: int
    found: int
    planted_short: int
    found_short: int


class AuditSummary(_Part):
    """``summary.json`` of a contamination audit."""

    corpus: AuditedCorpus
    rule_in_words: str
    missing_benchmarks: dict[str, str]
    same_files: tuple[str, ...]
    flagged_rows: int
    flagged_texts: int
    flagged_items: int
    benchmarks: dict[str, Benchmark]
    claims: tuple[Claim, ...]
    planted: tuple[Planted, ...]


class Effect(_Part):
    """A paired difference with its interval."""

    mean: float | None
    t_interval: tuple[float, float] | None


class Tests(_Part):
    """Test results of a comparison."""

    minimal_detectable_effect: float | None


class Comparison(_Part):
    """A method against its baseline."""

    group: tuple[str, ...]
    method: str
    baseline: str
    n: int
    method_mean: float | None
    effects: dict[str, Effect]
    verdict: str
    wording: str
    tests: Tests | None


class Agreement(_Part):
    """How a score's order of methods agrees with the primary one."""

    group: tuple[str, ...]
    score: str
    spearman: float | None
    sign_flips: tuple[str, ...]


class Process(_Part):
    """What a method cost."""

    group: tuple[str, ...]
    method: str
    metric: str
    runs: int
    mean: float | None
    ratio: float | None


class Flagged(_Part):
    """Something of the runs that a reader must know."""

    kind: str
    group: tuple[str, ...]
    method: str
    seed: int | None
    detail: str


class Contract(_Part):
    """Which contract the evaluation is under."""

    name: str


class EvaluationSummary(_Part):
    """Counts of an evaluation."""

    runs: int
    groups: int
    comparisons: int
    verdicts: dict[str, int]


class EvaluationResults(_Part):
    """``results.json`` of an evaluation."""

    status: str
    contract: Contract
    scale: str
    meaningful_effect: float
    id_columns: tuple[str, ...]
    scores: tuple[str, ...]
    summary: EvaluationSummary
    comparisons: tuple[Comparison, ...]
    a_a: tuple[Comparison, ...]
    sensitivity: tuple[Agreement, ...]
    process: tuple[Process, ...]
    flags: tuple[Flagged, ...]
