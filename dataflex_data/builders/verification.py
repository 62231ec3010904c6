"""Is a corpus whole and right, to the last row: what `dfdata verify` checks, prints and writes."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from html import escape
from pathlib import Path
from typing import Any

from dataflex_data import __version__
from dataflex_data.builders.corpus import (
    corpus_manifest,
    manifest_sha256,
    read_split,
    rows_sha256,
    split_files,
)
from dataflex_data.builders.forms import FormReport, form_report
from dataflex_data.builders.knights.parse import parse_quiz, solve_by_joining
from dataflex_data.builders.knights.render import gold_text
from dataflex_data.builders.selfcheck import self_check
from dataflex_data.core.errors import InputDataError
from dataflex_data.core.parquet import (
    MANIFEST_NAME,
    file_sha256,
    folder_digests,
    replace_folder,
    summary_of_files,
    write_json,
)
from dataflex_data.core.schema import (
    SCHEMA_VERSION,
    SPLITS,
    prompt_sha256,
    record_problems,
    schema_problems,
)
from dataflex_data.core.text import excerpt, normalise
from dataflex_data.reporting.words import plural
from dataflex_data.verifiers import choice, logic, math, routes

KIND = "verification"
VERIFICATION_NAME = "verification.json"
VERIFICATION_VERSION = 1
_MOST_LISTED = 200


@dataclass(frozen=True, slots=True)
class Check:
    """Outcome of one check.

    Attributes:
        name: What was checked.
        problems: What was found, one sentence each; empty when it holds.
        unchecked: What could not be checked, and why; empty when all was.
    """

    name: str
    problems: tuple[str, ...]
    unchecked: tuple[str, ...] = ()

    @property
    def result(self) -> str:
        """The outcome in two words."""
        if self.problems:
            return plural(len(self.problems), "problem")
        return "not checked in full" if self.unchecked else "ok"


@dataclass(frozen=True, slots=True)
class Verification:
    """All checks of one corpus.

    Attributes:
        folder: The corpus.
        manifest: Its manifest.
        checks: In the order they were made; a broken corpus has fewer.
        forms: What is known about canonical forms.
    """

    folder: Path
    manifest: Mapping[str, Any]
    checks: Sequence[Check]
    forms: FormReport = field(default_factory=FormReport)

    @property
    def failed(self) -> bool:
        """Whether any check found a problem."""
        return any(check.problems for check in self.checks)

    def record(self, most: int | None = None) -> dict[str, Any]:
        """Return the outcome as plain JSON, with the first ``most`` problems of each check."""
        return {
            "verification_version": VERIFICATION_VERSION,
            "tool": f"dataflex-data {__version__}",
            "corpus": {
                "folder": self.folder.name,
                "name": self.manifest.get("name"),
                "corpus_sha256": self.manifest.get("corpus_sha256"),
                "manifest_sha256": self.manifest.get("manifest_sha256"),
            },
            "ok": not self.failed,
            "checks": [
                {
                    "name": check.name,
                    "result": check.result,
                    "problem_count": len(check.problems),
                    "problems": list(check.problems[:most]),
                    "unchecked": list(check.unchecked),
                }
                for check in self.checks
            ],
            "forms": {
                "rows": {name: dict(rows) for name, rows in sorted(self.forms.rows.items())},
                "published_test": {
                    str(people): count for people, count in sorted(self.forms.test_overlap.items())
                },
            },
        }


def verify_corpus(folder: Path) -> Verification:
    """Check a built corpus: digests, schema, rows, counts, splits, duplicates, forms, golds.

    Raises:
        InputDataError: It is not a built corpus, or cannot be read at all.
    """
    folder = Path(folder).expanduser()
    manifest = corpus_manifest(folder)
    checks = [Check("digests of all files", tuple(_digest_problems(folder, manifest)))]
    version = f"schema version {SCHEMA_VERSION}"
    if manifest["schema_version"] != SCHEMA_VERSION:
        problem = f"the manifest says version {manifest['schema_version']}"
        return Verification(folder, manifest, [*checks, Check(version, (problem,))])
    splits = [split for split in SPLITS if manifest["rows"][split]["total"]]
    missing = [split for split in splits if not split_files(folder, split)]
    if missing:
        problems = tuple(f"split {split} is missing" for split in missing)
        return Verification(folder, manifest, [*checks, Check("splits", problems)])
    try:
        tables = {split: read_split(folder, split) for split in splits}
    except InputDataError as error:
        return Verification(
            folder, manifest, [*checks, Check("parquet can be read", (str(error),))]
        )
    schema = [
        f"{split}: {problem}"
        for split, table in tables.items()
        for problem in schema_problems(table.schema)
    ]
    checks.append(Check(version, tuple(schema)))
    if schema:
        return Verification(folder, manifest, checks)
    records = {split: table.to_pylist() for split, table in tables.items()}
    checks.append(Check("rows", tuple(_row_problems(records))))
    checks.append(Check("counts against the manifest", tuple(_count_problems(records, manifest))))
    checks.append(Check("no two rows alike, splits apart", tuple(_twin_problems(records))))
    forms = FormReport()
    if not manifest.get("recipe", {}).get("evaluation"):
        forms = form_report(manifest, records)
        checks.extend(_form_checks(forms))
    # Evaluation sets ship what others publish, and count the golds that cannot be decided.
    shipped = bool(manifest.get("recipe", {}).get("evaluation"))
    golds = (*_gold_problems(records), *_answer_problems(records, evaluation=shipped))
    checks.append(Check("gold scores 1, a wrong answer 0", golds))
    return Verification(folder, manifest, checks, forms)


def _form_checks(forms: FormReport) -> Iterator[Check]:
    unchecked = tuple(f"{name}: {why}" for name, why in sorted(forms.unchecked.items()))
    if forms.rows or forms.unreadable or unchecked:
        yield Check(
            "no canonical form twice, splits apart",
            (*forms.unreadable, *forms.shared),
            unchecked,
        )
    if forms.puzzles:
        yield Check("no puzzle of the published K&K test (7, 8)", tuple(forms.hard_test))


def write_verification(verification: Verification, out: Path, *, force: bool) -> None:
    """Write ``verification.json`` and ``report.html`` to the folder ``out`` in one step.

    Raises:
        OutputError: It cannot be written; what stood there is untouched.
    """
    with replace_folder(out, force=force) as folder:
        write_json(verification.record(_MOST_LISTED), folder / VERIFICATION_NAME)
        (folder / "report.html").write_text(_page(verification), encoding="utf-8")
        manifest = {
            "kind": KIND,
            "corpus_sha256": verification.manifest.get("corpus_sha256"),
            "files": folder_digests(folder),
        }
        write_json(manifest, folder / MANIFEST_NAME)


def form_table(verification: Verification) -> tuple[list[str], list[list[object]]]:
    """Return columns and rows: how many rows of each source have a known form, all different."""
    rows: list[list[object]] = [
        [source, *(counts.get(split, 0) for split in SPLITS), sum(counts.values())]
        for source, counts in sorted(verification.forms.rows.items())
    ]
    return ["source", *SPLITS, "forms compared"], rows


def _page(verification: Verification) -> str:
    from dataflex_data.reporting.html import Section, html_table, render_page

    state = "bad" if verification.failed else "good"
    told = (
        "Problems were found; they are listed below."
        if verification.failed
        else "Every check holds."
    )
    checks = html_table(["check", "result"], [[c.name, c.result] for c in verification.checks])
    sections = [Section("Result", f'<p class="{state}"><b>{told}</b></p>{checks}')]
    if verification.forms.rows:
        sections.append(Section("Canonical forms", _forms_html(verification)))
    for check in verification.checks:
        listed = [*check.problems[:_MOST_LISTED], *check.unchecked]
        if listed:
            items = "".join(f"<li>{escape(text)}</li>" for text in listed)
            left = len(check.problems) - _MOST_LISTED
            more = f"<p>and {left:,} more</p>" if left > 0 else ""
            sections.append(Section(check.name, f"<ul>{items}</ul>{more}"))
    manifest = verification.manifest
    ids = [[key, str(manifest.get(key))] for key in ("corpus_sha256", "manifest_sha256", "command")]
    sections.append(Section("What was checked", html_table(["what", "value"], ids)))
    return render_page(
        f"Verification of {manifest.get('name')}",
        sections,
        subtitle=f"{verification.folder.name} · dataflex-data {__version__}",
    )


def _forms_html(verification: Verification) -> str:
    from dataflex_data.reporting.html import html_table

    overlap = verification.forms.test_overlap
    told = ", ".join(f"{people} people: {count}" for people, count in sorted(overlap.items()))
    note = (
        "<p>Rows of these sources share their wording and differ in numbers, names or facts, so "
        "texts are no measure of what was seen in training. Their canonical forms are: a puzzle's "
        "is read from its text; a computed problem's comes from its source, which made every row "
        "once more from the recipe.</p>"
    )
    if verification.forms.puzzles:
        note += (
            f"<p>Of {verification.forms.puzzles:,} puzzles, those of the published "
            f"Knights-and-Knaves test sets by number of people: {told or 'none'}. There are only "
            "a few different puzzles of 2 and 3 people; DB12 evaluates on 7 and 8, of which none "
            "may occur.</p>"
        )
    return note + html_table(*form_table(verification))


def _digest_problems(folder: Path, manifest: Mapping[str, Any]) -> Iterator[str]:
    listed = manifest["files"]
    for name, entry in sorted(listed.items()):
        path = folder / name
        if not path.is_file():
            yield f"{name}: is missing"
        elif file_sha256(path) != entry["sha256"]:
            yield f"{name}: differs from its digest in the manifest"
    for path in sorted(folder.rglob("*")):
        name = path.relative_to(folder).as_posix()
        if path.is_file() and name not in listed and name != MANIFEST_NAME:
            yield f"{name}: is not in the manifest"
    if manifest_sha256(manifest) != manifest.get("manifest_sha256"):
        yield f"{MANIFEST_NAME}: was changed after it was written"
    if summary_of_files(listed) != manifest.get("corpus_sha256"):
        yield f"{MANIFEST_NAME}: corpus_sha256 does not fit the files it lists"


def _row_problems(records: Mapping[str, list[dict[str, Any]]]) -> Iterator[str]:
    for split, rows in records.items():
        for number, record in enumerate(rows):
            extra = record["extra_info"]
            where = f"{split} row {number}"
            for problem in record_problems(record):
                yield f"{where}: {problem}"
            if extra["index"] != number or extra["split"] != split:
                yield f"{where}: extra_info says {extra['split']} row {extra['index']}"
            contents = [message["content"] for message in record["prompt"] or ()]
            if prompt_sha256(map(str, contents)) != extra["prompt_sha256"]:
                yield f"{where}: prompt_sha256 does not fit the prompt"
            if not extra["license"]:
                yield f"{where}: has no license"


def _count_problems(
    records: Mapping[str, list[dict[str, Any]]], manifest: Mapping[str, Any]
) -> Iterator[str]:
    for split, rows in records.items():
        expected = manifest["rows"][split]["by_domain"]
        found = dict(sorted(Counter(record["domain"] for record in rows).items()))
        if len(rows) != manifest["rows"][split]["total"]:
            total = manifest["rows"][split]["total"]
            yield f"{split}: {len(rows)} rows, the manifest says {total}"
        if found != expected:
            yield f"{split}: domains {found}, the manifest says {expected}"
        if rows_sha256(rows) != manifest["rows"][split]["sha256"]:
            yield f"{split}: the rows are not those that the manifest names (rows.{split}.sha256)"


def _twin_problems(records: Mapping[str, list[dict[str, Any]]]) -> Iterator[str]:
    seen: dict[str, str] = {}
    ids: dict[str, str] = {}
    for split, rows in records.items():
        for number, record in enumerate(rows):
            where = f"{split} row {number}"
            text = normalise("\n".join(message["content"] for message in record["prompt"]))
            if text in seen:
                yield f"{where}: its prompt equals that of {seen[text]} after normalisation"
            seen.setdefault(text, where)
            row_id = record["extra_info"]["row_id"]
            if row_id in ids:
                yield f"{where}: has the row_id of {ids[row_id]}"
            ids.setdefault(row_id, where)


def _gold_problems(records: Mapping[str, list[dict[str, Any]]]) -> Iterator[str]:
    for split, rows in records.items():
        by_route: dict[str, list[int]] = {}
        for number, record in enumerate(rows):
            by_route.setdefault(record["data_source"], []).append(number)
        for route, numbers in by_route.items():
            if route not in routes.ROUTES:
                yield f"{split}: {len(numbers)} rows have the unknown data_source {route!r}"
                continue
            golds = [rows[number]["reward_model"]["ground_truth"] for number in numbers]
            for position, number in enumerate(numbers):
                problem = self_check(route, golds, position, rows[number]["extra_info"])
                if problem:
                    yield f"{split} row {number}: {problem}"


# Golds that a recipe may ask for (deepscaler's profile ``all``, one's own tables): they
# are compared as text, or by the extra symbolic.
_AS_TEXT_OR_SYMBOLIC = {
    "symbolic_only", "symbols", "prose", "set_builder", "two_readings", "identity", "relation",
    "syntax", "root", "signs", "units", "alternatives", "matrix", "numeral", "large_radicand",
    "logarithm", "ratio", "unbalanced",
}  # fmt: skip


def _answer_problems(
    records: Mapping[str, list[dict[str, Any]]], *, evaluation: bool
) -> Iterator[str]:
    """Yield golds that no verifier decides, or that are not what the row's source says.

    A puzzle's answer is solved again from its text. Any other gold is compared with the answer as
    the source has it (``raw_answer``), as far as both can be read.
    """
    for split, rows in records.items():
        for number, record in enumerate(rows):
            route, extra = record["data_source"], record["extra_info"]
            gold = record["reward_model"]["ground_truth"]
            if route not in routes.ROUTES:
                continue  # told by the check of golds
            where = f"{split} row {number}"
            undecided = None if evaluation else routes.gold_problem(route, gold, extra)
            if undecided and undecided[0] not in _AS_TEXT_OR_SYMBOLIC:
                yield f"{where}: its gold {excerpt(gold)} cannot be used: {undecided[1]}"
            elif problem := _other_answer(route, gold, extra):
                yield f"{where}: {problem}"


def _other_answer(route: str, gold: str, extra: Mapping[str, Any]) -> str | None:
    kind = routes.ROUTES.get(route).kind
    raw = extra["raw_answer"]
    if kind == "logic":
        return _other_assignment(gold, extra)
    if kind == "choice":
        matches = [at for at, option in enumerate(extra["options"] or ()) if option == raw]
        letter = choice.gold_letter(gold, tuple(extra["options"] or ()))
        if len(matches) == 1 and len(raw) > 2 and letter != choice.LETTERS[matches[0]]:
            return f"its gold is {gold}, the source's answer {excerpt(raw)} is another option"
        return None
    if kind == "math":
        said = raw.rpartition("####")[2].strip()
        if not said or math.problem_of(said) or math.problem_of(gold):
            return None
        if not math.equivalent(gold, said):
            return f"its gold is {excerpt(gold)}, the source's answer is {excerpt(said)}"
    return None


def _other_assignment(gold: str, extra: Mapping[str, Any]) -> str | None:
    puzzle, people = logic.read_gold(gold), extra["n_people"]
    if puzzle is None:
        return f"its gold {excerpt(gold)} is not an assignment of roles"
    if people <= 0:
        return None
    if len(puzzle.assignment) != people:
        return f"its gold names {len(puzzle.assignment)} of {people} people"
    try:
        quiz = parse_quiz(extra["raw_question"])
        found = solve_by_joining(quiz.puzzle)
    except InputDataError:
        return None  # told by the check of forms
    golds = [logic.read_gold(gold_text(quiz.names, solution)) for solution in found]
    if len(found) != 1 or golds[0] is None or golds[0].assignment != puzzle.assignment:
        return f"its gold {excerpt(gold)} does not solve its puzzle"
    return None
