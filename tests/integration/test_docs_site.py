"""The documentation as a whole: generated pages, both languages, commands, the built site."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import typer
import yaml

from dataflex_data.audits.comparison import CHANNELS
from dataflex_data.builders.filters import Filters
from dataflex_data.builders.source import SOURCES
from dataflex_data.cli.main import app
from dataflex_data.policies.component import REWEIGHTERS, SCORERS, SELECTORS
from dataflex_data.policies.presets import PRESETS
from dataflex_data.samplers.mixer import MIXERS
from dataflex_data.verifiers.routes import ROUTES
from tests.docs_blocks import ROOT, blocks_of, chinese_pages, english_pages, environment

FIRST_LEVEL = ["index", "quickstart", "corpora", "checking", "scheduling", "training", "evaluating",
               "extending", "moving"]  # fmt: skip
NAMES: dict[str, list[str]] = {
    "scorers": SCORERS.names(),
    "selectors": SELECTORS.names(),
    "reweighters": REWEIGHTERS.names(),
    "mixers": MIXERS.names(),
    "sources": SOURCES.names(),
    "presets": list(PRESETS),
    "channels": list(CHANNELS),
    "filters": list(Filters.model_fields),
    "verdicts": ROUTES.names(),
}
_COMMAND = re.compile(r"dfdata((?: [a-z][a-z-]*)+)([^`\n|]*)")


def headings(path: Path) -> list[int]:
    """Levels of the headings, code left aside."""
    text = re.sub(r"^```.*?^```$", "", path.read_text(encoding="utf-8"), flags=re.S | re.M)
    return [len(line.split(" ")[0]) for line in text.splitlines() if re.match(r"#{1,6} ", line)]


def test_the_reference_is_what_the_registries_say() -> None:
    command = [sys.executable, str(ROOT / "scripts/render_docs.py"), "--check"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120, check=False)
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.parametrize("kind", NAMES)
def test_every_registered_name_is_on_its_page(kind: str) -> None:
    text = (ROOT / f"docs/components/{kind}.md").read_text(encoding="utf-8")
    assert [name for name in NAMES[kind] if f"`{name}`" not in text] == []


@pytest.mark.parametrize("kind", ["scorers", "selectors", "reweighters", "mixers", "sources"])
def test_every_component_has_its_line_in_the_table_by_hand(kind: str) -> None:
    head = (ROOT / f"docs/components/{kind}.md").read_text(encoding="utf-8")
    head = head.partition("<!-- reference:")[0]
    assert [name for name in NAMES[kind] if f"`{name}`" not in head] == []


def test_pages_of_the_first_level_are_in_both_languages() -> None:
    wanted = {ROOT / "README.zh.md", *(ROOT / f"docs/{name}.zh.md" for name in FIRST_LEVEL)}
    assert set(chinese_pages()) == wanted
    assert [path for path in wanted if not path.exists()] == []


@pytest.mark.parametrize("path", chinese_pages(), ids=lambda path: path.name)
def test_a_translation_has_the_same_headings_and_code(path: Path) -> None:
    original = path.with_name(path.name.replace(".zh.md", ".md"))
    assert headings(path) == headings(original)
    assert [b.code for b in blocks_of(path)] == [b.code for b in blocks_of(original)]
    assert [b.no_run for b in blocks_of(path)] == [b.no_run for b in blocks_of(original)]
    chinese = len(re.findall(r"[\u4e00-\u9fff]", path.read_text(encoding="utf-8")))
    assert chinese > 100


@pytest.mark.parametrize("name", ["README.md", "README.zh.md", "CONTRIBUTING.md"])
def test_links_outside_the_site_lead_somewhere(name: str) -> None:
    text = (ROOT / name).read_text(encoding="utf-8")
    targets = [link for link in re.findall(r"\]\(([^)\s]+)\)", text) if "://" not in link]
    assert targets
    for target in targets:
        path, _, anchor = target.partition("#")
        assert (ROOT / path).exists(), target
        if anchor:
            titles = re.findall(r"^#+ (.+)$", (ROOT / path).read_text(encoding="utf-8"), re.M)
            slugs = {re.sub(r"[^\w -]", "", t.lower()).replace(" ", "-") for t in titles}
            assert anchor in slugs, target


def all_commands() -> list[tuple[str, list[str], set[str]]]:
    found = []
    for path in [*english_pages(), *chinese_pages()]:
        text = path.read_text(encoding="utf-8").replace("\\\n", " ")
        for words, rest in _COMMAND.findall(text):
            ours = rest.partition(" -- ")[0].partition(" | ")[0]  # after -- come verl's own
            options = set(re.findall(r"(?<!\S)(--?[a-z][a-z-]*)", ours))
            found.append((path.name, words.split(), options))
    return found


def test_commands_and_options_exist() -> None:
    root: Any = typer.main.get_command(app)
    problems = []
    assert len(all_commands()) > 100
    for page, words, options in all_commands():
        command: Any = root
        for word in words:
            if not hasattr(command, "commands"):
                break  # an argument
            command = command.commands.get(word)
            if command is None:
                problems.append(f"{page}: dfdata {' '.join(words)}: no such command")
                break
        if command is not None:
            known = {name for p in command.params for name in (*p.opts, *p.secondary_opts)}
            unknown = options - known - {"--help", "-h"}
            problems += [f"{page}: dfdata {' '.join(words)} has no {o}" for o in unknown]
    assert not problems


def test_the_readme_shows_what_the_build_prints(tmp_path: Path) -> None:
    done = subprocess.run(
        ["dfdata", "build", "--recipe", "three_domain_offline", "--out", str(tmp_path / "out")],
        env=environment(),
        capture_output=True,
        text=True,
        timeout=240,
        check=True,
    )
    printed = {" ".join(line.split()) for line in done.stdout.splitlines()}
    shown = blocks_of(ROOT / "README.md")[0].text
    rows = [line for line in shown.splitlines() if re.match(r" (math|logic|science|all) ", line)]
    assert len(rows) == 4
    assert [row for row in rows if " ".join(row.split()) not in printed] == []


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("site")
    done = subprocess.run(
        [sys.executable, "-m", "mkdocs", "build", "--strict", "--quiet", "--site-dir", str(folder)],
        cwd=ROOT,
        env={**environment(), "NO_MKDOCS_2_WARNING": "1"},
        capture_output=True,
        text=True,
        timeout=240,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return folder


def test_the_site_has_every_page_in_both_languages(site: Path) -> None:
    for path in (ROOT / "docs").glob("**/*.md"):
        if not path.name.endswith(".zh.md"):
            name = path.relative_to(ROOT / "docs").with_suffix(".html")
            assert (site / name).exists(), name
            assert (site / "zh" / name).exists(), name


def test_the_site_asks_no_other_server_for_anything(site: Path) -> None:
    asks = re.compile(
        r"<(?:script|img|iframe|source)[^>]+src=\"(?:https?:)?//[^\"]+|"
        r"<link[^>]+rel=\"(?:stylesheet|preconnect|preload)\"[^>]*href=\"(?:https?:)?//[^\"]+"
    )
    found = {
        hit for page in site.glob("**/*.html") for hit in asks.findall(page.read_text("utf-8"))
    }
    assert not found


def test_every_page_is_in_the_navigation() -> None:
    text = (ROOT / "mkdocs.yml").read_text(encoding="utf-8")
    nav = yaml.safe_load(text)["nav"]
    listed = {page for part in nav for entry in part.values() for e in entry for page in e.values()}
    pages = {
        str(path.relative_to(ROOT / "docs")) for path in english_pages() if "docs" in path.parts
    }
    assert listed == pages
