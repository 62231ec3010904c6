"""Open a page of ours in headless Chromium, run a script in it, and bring back what it found.

The page stands in a frame of the width asked for: a window cannot be as narrow as a phone. What the
page writes to the console comes back too.
"""

from __future__ import annotations

import html
import json
import os
import re
import shutil
import subprocess
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

_NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
_CONSOLE = re.compile(r"CONSOLE[:(]\d+\)?\] (.*)")
_FRAME = """<!doctype html>
<iframe id="page" style="border: 0; width: {width}px; height: 2000px" src="{source}"></iframe>
<pre id="found"></pre>
<script>
document.getElementById("page").addEventListener("load", (event) => {{
  const page = event.target.contentWindow;
  let found;
  try {{ found = {{ value: ((page, document) => {{ {script} }})(page, page.document) }}; }}
  catch (error) {{ found = {{ error: String(error) }}; }}
  document.getElementById("found").textContent = JSON.stringify(found);
}});
</script>
"""


@dataclass(frozen=True)
class Looked:
    """What came back.

    Attributes:
        value: What the script returned.
        console: Lines that the page wrote to the console.
    """

    value: Any
    console: list[str]


def find_browser() -> str:
    """Return Chromium's path; skip the test where there is none."""
    given = os.environ.get("DFDATA_BROWSER")
    for name in (given,) if given else _NAMES:
        if found := shutil.which(name):
            return found
    pytest.skip("no Chromium: install one, or set DFDATA_BROWSER to its path")


def look(page: Path, script: str, scratch: Path, *, width: int = 390, dark: bool = False) -> Looked:
    """Return what ``script``, the body of a function of ``page`` and ``document``, returns.

    Args:
        page: HTML file.
        script: It returns plain JSON.
        scratch: Folder for the frame and the browser's profile.
        width: CSS pixels of the page's window.
        dark: Prefer dark colours.
    """
    browser = find_browser()
    frame = scratch / "frame.html"
    frame.write_text(
        _FRAME.format(width=width, source=page.resolve().as_uri(), script=script), encoding="utf-8"
    )
    done = subprocess.run(
        [
            *(browser, "--headless=new", "--no-sandbox", "--disable-gpu", "--no-first-run"),
            *("--disable-dev-shm-usage", "--disable-background-networking"),
            *("--allow-file-access-from-files", "--disable-web-security"),
            *("--enable-logging=stderr", "--virtual-time-budget=10000"),
            f"--blink-settings=preferredColorScheme={0 if dark else 1}",
            f"--user-data-dir={scratch / 'profile'}",
            *("--dump-dom", frame.as_uri()),
        ],
        capture_output=True,
        text=True,
        timeout=120,
        check=True,
    )
    match = re.search(r'<pre id="found">(.*?)</pre>', done.stdout, re.DOTALL)
    assert match is not None, done.stderr[-2000:]
    found = json.loads(html.unescape(match[1]))
    assert "error" not in found, found
    return Looked(found["value"], _CONSOLE.findall(done.stderr))
