"""Every example of README and docs is run, and prints what the page says."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest
import yaml

from tests.docs_blocks import RUN, Block, blocks_of, english_pages, lines_of, run_block, shows

# Pages about a corpus show the one that the quickstart builds.
QUICKSTART = "docs/quickstart.md"
BY_PAGE = {str(path): blocks_of(path) for path in english_pages()}
NOT_RUN_AT_MOST = 16


def runnable(blocks: list[Block]) -> list[Block]:
    return [
        block for block in blocks if not block.no_run and (block.language in RUN or block.title)
    ]


PAGES = [
    page for page, blocks in BY_PAGE.items() if any(b.language in RUN for b in runnable(blocks))
]


@pytest.fixture(scope="session")
def corpus(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder in which the quickstart has built its corpus."""
    folder = tmp_path_factory.mktemp("docs")
    page = next(page for page in BY_PAGE if page.endswith(QUICKSTART))
    recipe, build = runnable(BY_PAGE[page])[:2]
    assert recipe.title == "first.yaml"
    assert "dfdata build" in build.text
    for block in (recipe, build):
        assert run_block(block, folder) == []
    return folder


@pytest.mark.timeout(900)
@pytest.mark.parametrize("page", PAGES, ids=lambda page: "/".join(Path(page).parts[-2:]))
def test_the_examples_of_the_page_run(
    page: str, corpus: Path, tmp_path: Path, request: pytest.FixtureRequest
) -> None:
    renew = bool(request.config.getoption("--renew-golden"))
    folder = tmp_path / "reader"
    begins_here = page.endswith(QUICKSTART)
    shutil.copytree(corpus, folder, ignore=(lambda *_: ["out"]) if begins_here else None)
    problems = []
    for block in runnable(BY_PAGE[page]):
        found = run_block(block, folder, renew=renew)
        problems += [f"{block.page}:{block.line}: {problem}" for problem in found]
    assert not problems, "\n\n".join(problems)


def test_what_is_not_run_is_little_and_has_a_reason() -> None:
    left_out = [b for blocks in BY_PAGE.values() for b in blocks if b.no_run and b.language in RUN]
    assert len(left_out) <= NOT_RUN_AT_MOST, [f"{b.page}:{b.line}: {b.no_run}" for b in left_out]
    for block in left_out:
        assert len(block.no_run.split()) > 2, f"{block.page}:{block.line}"


def test_a_transcript_begins_with_a_command() -> None:
    for blocks in BY_PAGE.values():
        for block in blocks:
            if block.language == "console":
                assert block.text.startswith("$ "), f"{block.page}:{block.line}"


def test_every_block_says_its_language() -> None:
    unknown = [
        f"{b.page}:{b.line}: {b.language!r}"
        for blocks in BY_PAGE.values()
        for b in blocks
        if b.language not in (*RUN, "yaml", "json", "text")
    ]
    assert not unknown


def test_no_command_hides_in_an_indented_block() -> None:
    hidden = [
        f"{page}:{number}"
        for page in BY_PAGE
        for number, line in enumerate(Path(page).read_text(encoding="utf-8").splitlines(), 1)
        if line.startswith(
            ("    dfdata ", "    pip ", "    make ", "    python ", "    from ", "    data.")
        )
        and not any(b.line < number <= b.line + b.text.count("\n") for b in BY_PAGE[page])
    ]
    assert not hidden


def test_yaml_examples_are_yaml() -> None:
    for blocks in BY_PAGE.values():
        for block in blocks:
            if block.language == "yaml":
                assert list(yaml.safe_load_all(block.text)), f"{block.page}:{block.line}"


def test_the_comparison_of_transcripts_tells_right_from_wrong() -> None:
    assert lines_of("a \n\n b") == ["a", " b"]
    assert shows("a\n...\nd\n", "a\nb\nc\n\nd\n")
    assert shows("", "")
    assert not shows("a\n", "a\nb\n")
    assert not shows("a\n...\nd\n", "a\nb\n")
    assert not shows("a.c\n", "abc\n")
