"""Small pieces of HTML that the sections of the dashboard share."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from html import escape


def listed(items: Sequence[str]) -> str:
    """Return items, HTML already, as a list."""
    return f"<ul>{''.join(f'<li>{item}</li>' for item in items)}</ul>"


def details(title: str, body: str) -> str:
    """Return HTML that opens by a click on its title."""
    return f"<details><summary>{escape(title)}</summary>{body}</details>"


def note(text: str) -> str:
    """Return a plain text as a remark."""
    return f'<p class="note">{escape(text)}</p>'


def damage_html(damage: Mapping[str, str]) -> str:
    """Return what is wrong with files of a folder, ``""`` where nothing is."""
    return "".join(
        f'<p class="bad">{escape(name)}: {escape(problem)}.</p>' for name, problem in damage.items()
    )


def known(value: float | None) -> float | None:
    """Return the value, ``None`` where it is not finite."""
    return value if value is not None and math.isfinite(value) else None
