"""What both audits show of a pair: two texts side by side, and how similarities are spread."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from html import escape
from math import log10

from dataflex_data.core.text import words

MOST_PAIRS = 200
MARK_WORDS = 5

_WORD = re.compile(r"[^\W_]+")


@dataclass(frozen=True, slots=True)
class Side:
    """One text of a pair: what it is, where it stands, and the text."""

    title: str
    where: str
    text: str


def pair_article(number: int, title: str, sides: tuple[Side, Side], told: str = "") -> str:
    """Return both texts of a pair, what they share marked; ``title`` is HTML."""
    columns = "".join(
        f"<div><h4>{escape(side.title)}<br><span class='note'>{escape(side.where)}</span></h4>"
        f"<p class='text'>{text}</p></div>"
        for side, text in zip(sides, marked(sides[0].text, sides[1].text), strict=True)
    )
    note = f"<p class='note'>{escape(told)}.</p>" if told else ""
    return (
        f"<article id='pair-{number}'><h3>{number}. {title}</h3>{note}"
        f"<div class='sides'>{columns}</div></article>"
    )


def pairs_title(count: int) -> str:
    """Return the heading over the pairs shown."""
    more = f", the {MOST_PAIRS} strongest of {count:,}" if count > MOST_PAIRS else ""
    return f"Pairs side by side{more}"


def histogram(name: str, counts: Sequence[int], threshold: float, unit: str) -> str:
    """Return a bar chart over [0, 1], bars growing by the logarithm of the count.

    Bars from ``threshold`` on, which a dashed line marks, have a colour of their own.
    """
    width, height, base = 240, 90, 70
    top = max(1.0, *(log10(count + 1) for count in counts))
    step = width / len(counts)
    bars = "".join(
        f"<rect class='{'over' if bin_ / len(counts) >= threshold else 'under'}' "
        f"x='{bin_ * step:.1f}' "
        f"y='{base - base * log10(count + 1) / top:.1f}' width='{step - 1:.1f}' "
        f"height='{base * log10(count + 1) / top:.1f}'><title>{bin_ / len(counts):.2f} to "
        f"{(bin_ + 1) / len(counts):.2f}: {count:,} {unit}</title></rect>"
        for bin_, count in enumerate(counts)
        if count
    )
    at = threshold * width
    return (
        f"<figure><svg viewBox='0 0 {width} {height}' role='img' "
        f"aria-label='similarity distribution of {escape(name)}'>{bars}"
        f"<line x1='0' y1='{base}' x2='{width}' y2='{base}'/>"
        f"<line class='rule' x1='{at:.1f}' y1='0' x2='{at:.1f}' y2='{base}'/>"
        f"<text x='0' y='{height - 6}'>0</text>"
        f"<text x='{width}' y='{height - 6}' text-anchor='end'>1</text></svg>"
        f"<figcaption>{escape(name)} ({sum(counts):,} {unit})</figcaption></figure>"
    )


def marked(first: str, second: str) -> tuple[str, str]:
    """Return both texts as HTML, the runs of `MARK_WORDS` and more words they share marked."""
    spans = [list(_WORD.finditer(text)) for text in (first, second)]
    folded = [["".join(words(match[0])) for match in found] for found in spans]
    runs = [
        {tuple(side[at : at + MARK_WORDS]) for at in range(len(side) - MARK_WORDS + 1)}
        for side in folded
    ]
    both = runs[0] & runs[1]
    pages = []
    for text, found, side in zip((first, second), spans, folded, strict=True):
        inside = [False] * len(side)
        for at in range(len(side) - MARK_WORDS + 1):
            if tuple(side[at : at + MARK_WORDS]) in both:
                inside[at : at + MARK_WORDS] = [True] * MARK_WORDS
        pages.append(_with_marks(text, found, inside))
    return pages[0], pages[1]


def _with_marks(text: str, found: Sequence[re.Match[str]], inside: Sequence[bool]) -> str:
    parts: list[str] = []
    done, at = 0, 0
    while at < len(found):
        if not inside[at]:
            at += 1
            continue
        end = at
        while end + 1 < len(found) and inside[end + 1]:
            end += 1
        parts.append(escape(text[done : found[at].start()]))
        parts.append(f"<mark>{escape(text[found[at].start() : found[end].end()])}</mark>")
        done, at = found[end].end(), end + 1
    parts.append(escape(text[done:]))
    return "".join(parts)


PAIR_STYLE = """<style>
.headline { font-size: 1.15rem; border-left: 4px solid; padding: .5rem 1rem; }
.headline.bad { border-color: var(--bad); } .headline.good { border-color: var(--good); }
.sides { display: grid; grid-template-columns: 1fr 1fr; gap: 1rem; }
.sides h4 { margin: .2rem 0; font-size: .9rem; }
.text {
  white-space: pre-wrap; overflow-wrap: anywhere; font-size: .88rem; margin: 0; padding: .6rem;
  background: var(--panel); border-radius: 4px;
}
mark { background: #ffd54a; color: #1b1f24; border-radius: 2px; }
.charts { display: grid; grid-template-columns: repeat(auto-fill, minmax(13rem, 1fr)); gap: 1rem; }
.charts figure { margin: 0; }
.charts svg { width: 100%; height: auto; }
.charts text { font-size: 10px; fill: currentColor; }
.charts line { stroke: currentColor; stroke-width: .7; }
.charts line.rule { stroke-dasharray: 3 2; }
.charts rect.under { fill: #0072b2; }
.charts rect.over { fill: #d55e00; }
@media (max-width: 40rem) { .sides { grid-template-columns: 1fr; } }
</style>"""
