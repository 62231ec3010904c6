"""Reads the fenced blocks of the documentation and runs them, as a reader would by hand.

A block is run by its language: ``python`` as a script, ``bash`` as one, ``console`` line by line
with its output compared (a line ``...`` stands for any lines). ``title="FILE"`` writes the block to
that file. A comment ``<!-- no-run: REASON -->`` on the line before leaves a block out.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
WIDTH = "100"
RUN = ("python", "bash", "console")
_NO_RUN = re.compile(r"<!-- no-run: (.+?) -->\s*$")
_FENCE = re.compile(r"^(`{3,})([A-Za-z]*)(?:\s+title=\"([^\"]+)\")?\s*$")


@dataclass(frozen=True)
class Block:
    page: str
    line: int
    language: str
    title: str
    text: str
    no_run: str

    @property
    def code(self) -> tuple[str, str, str]:
        """What must be the same in every language version."""
        return self.language, self.title, self.text


def english_pages() -> list[Path]:
    found = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted(ROOT.glob("docs/**/*.md"))]
    return [path for path in found if not path.name.endswith(".zh.md")]


def chinese_pages() -> list[Path]:
    return [ROOT / "README.zh.md", *sorted(ROOT.glob("docs/**/*.zh.md"))]


def blocks_of(path: Path) -> list[Block]:
    lines = path.read_text(encoding="utf-8").splitlines()
    page = str(path.relative_to(ROOT))
    found: list[Block] = []
    at = 0
    while at < len(lines):
        opening = _FENCE.match(lines[at])
        if not opening:
            at += 1
            continue
        end = next(i for i in range(at + 1, len(lines)) if lines[i].rstrip() == opening[1])
        skip = _NO_RUN.search(lines[at - 1]) if at else None
        text = "\n".join(lines[at + 1 : end]) + "\n"
        reason = skip[1] if skip else ""
        found.append(Block(page, at + 1, opening[2], opening[3] or "", text, reason))
        at = end + 1
    return found


def environment() -> dict[str, str]:
    """The reader's environment: our commands, a fixed width, and no way to the hub."""
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    kept = {key: value for key, value in os.environ.items() if not key.startswith("PYTEST")}
    return {
        **kept,
        "PATH": path,
        "COLUMNS": WIDTH,
        "NO_COLOR": "1",
        "TERM": "dumb",
        "HF_HUB_OFFLINE": "1",
        "PYTHONWARNINGS": "ignore",
    }


def run(command: list[str], folder: Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        command,
        cwd=folder,
        env=environment(),
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        timeout=300,
        check=False,
    )


def steps_of(text: str) -> list[tuple[str, str]]:
    """The commands of a transcript, each with the output shown."""
    steps: list[tuple[str, str]] = []
    for line in text.splitlines():
        if line.startswith("$ "):
            steps.append((line[2:], ""))
        elif steps and steps[-1][0].endswith("\\") and not steps[-1][1]:
            steps[-1] = (f"{steps[-1][0]}\n{line}", "")
        elif steps:
            steps[-1] = (steps[-1][0], f"{steps[-1][1]}{line}\n")
    return steps


def lines_of(output: str) -> list[str]:
    return [line.rstrip() for line in output.splitlines() if line.strip()]


def shows(shown: str, output: str) -> bool:
    """Whether ``shown`` is the output, with ``...`` for any lines and spaces at ends left aside."""
    parts: list[str] = []
    for line in lines_of(shown):
        if line.strip() == "...":
            parts.append(r"(?:.*\n)*?")
        else:
            parts.append(re.escape(line).replace(r"\.\.\.", ".*") + r"\n")
    text = "".join(f"{line}\n" for line in lines_of(output))
    return re.fullmatch("".join(parts), text) is not None


def run_block(block: Block, folder: Path, *, renew: bool = False) -> list[str]:
    """Run one block in ``folder``; what went wrong, if anything."""
    if block.title:
        target = folder / block.title
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_text(block.text, encoding="utf-8")
        return []
    if block.language == "python":
        return _failed(run([sys.executable, "-c", block.text], folder))
    if block.language == "bash":
        return _failed(run(["bash", "-euo", "pipefail", "-c", block.text], folder))
    problems: list[str] = []
    for command, shown in steps_of(block.text):
        done = run(["bash", "-uo", "pipefail", "-c", command], folder)
        problems += [f"$ {command}\n{problem}" for problem in _failed(done)]
        if not shows(shown, done.stdout):
            problems.append(f"$ {command}\nprints\n{done.stdout}\nbut the page shows\n{shown}")
            if renew:
                printed = "".join(f"{line}\n" for line in lines_of(done.stdout))
                _renew(block, f"$ {command}\n{shown}", f"$ {command}\n{printed}")
    return problems


def _renew(block: Block, shown: str, printed: str) -> None:
    """Write what a command prints into the page and its translation, nothing left out."""
    page = ROOT / block.page
    for path in (page, page.with_name(page.name.replace(".md", ".zh.md"))):
        if path.exists():
            text = path.read_text(encoding="utf-8")
            path.write_text(text.replace(shown, printed, 1), encoding="utf-8")


def _failed(done: subprocess.CompletedProcess[str]) -> list[str]:
    return [f"exit {done.returncode}:\n{done.stdout}"] if done.returncode else []
