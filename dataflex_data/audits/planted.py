"""Leaks planted on purpose: the recall that an audit's "nothing found" is worth.

Items of the very benchmarks are disguised in the ways leaks look in practice and judged by the very
index and rule of the run. What is not caught here would not have been caught in the corpus either.
"""

from __future__ import annotations

import re
import string
from collections.abc import Callable, Mapping
from dataclasses import dataclass

from dataflex_data.audits.benchmarks import BenchmarkItem
from dataflex_data.audits.comparison import with_options
from dataflex_data.audits.contamination import Auditor
from dataflex_data.audits.corpus import Shard
from dataflex_data.audits.rows import Batch
from dataflex_data.audits.word_streams import byte_array
from dataflex_data.core.seeding import keyed_hash
from dataflex_data.core.text import words

PER_BENCHMARK = 20

_UPPER = str.maketrans(string.ascii_lowercase, string.ascii_uppercase)
_WORD = re.compile(r"[^\W_]+")
_PREFIX = (
    "You are a careful assistant. Below is a task; work through it slowly, say what you know and "
    "what you look for, check each step before you go on, and only then write down the result.\n\n"
)
_SUFFIX = (
    "\n\nWhen you are done, look back over your work once more, and put nothing but the final "
    "result on the last line, so that it can be read by a program without any further help."
)


def _shouted(item: BenchmarkItem) -> str:
    text = _full(item).translate(_UPPER).replace("\n", "  \n ")
    return f"  {text.replace('. ', ' ... ')} !"


def _wrapped(item: BenchmarkItem) -> str:
    return _PREFIX + _full(item) + _SUFFIX


def _edited(item: BenchmarkItem) -> str:
    text = _full(item)
    found = list(_WORD.finditer(text))
    if len(found) < 3:
        return ""
    middle = found[len(found) // 2]
    return f"{text[: middle.start()]}replaced{text[middle.end() :]}"


def _reordered(item: BenchmarkItem) -> str:
    if len(item.options) < 2:
        return ""
    return with_options(item.question, item.options[::-1])


def _respelled(item: BenchmarkItem) -> str:
    text = _full(item)
    changed = re.sub(r"\\frac(?![a-zA-Z])", lambda _: r"\dfrac", text)
    changed = re.sub(r"\\left\s*(?=[(\[|])|\\right\s*(?=[)\]|])", "", changed)
    changed = re.sub(r"\\(leq|geq)(?![a-zA-Z])", lambda m: "\\" + m[1][:2], changed)
    return changed if words(changed) != words(text) else ""


def _cut(item: BenchmarkItem) -> str:
    found = list(_WORD.finditer(item.question))
    if len(found) < 20:
        return ""
    return item.question[: found[len(found) * 4 // 5].start()]


def _bare(item: BenchmarkItem) -> str:
    return _PREFIX + item.question + _SUFFIX if item.options else ""


def _full(item: BenchmarkItem) -> str:
    return with_options(item.question, item.options) if item.options else item.question


DISGUISES: Mapping[str, tuple[str, Callable[[BenchmarkItem], str]]] = {
    # name: (in words, what makes it; "" where the item cannot be disguised so)
    "verbatim": ("copied as it is", _full),
    "respaced": ("capitals, spaces and punctuation changed", _shouted),
    "wrapped": ("inside a longer prompt", _wrapped),
    "bare": ("inside a longer prompt, the options left out", _bare),
    "edited": ("one word in the middle replaced", _edited),
    "reordered": ("options in another order", _reordered),
    "respelled": ("LaTeX spelled otherwise", _respelled),
    "cut": ("the last fifth of the question left out, options too", _cut),
}


@dataclass(frozen=True, slots=True)
class Recall:
    """How many planted leaks of one kind were flagged, by the item that they were made of.

    Attributes:
        disguise: Name of the kind.
        planted: Of items (or of questions, where only they leak) with enough words for an n-gram.
        found: Of those.
        planted_short: Of shorter items.
        found_short: Of those.
    """

    disguise: str
    planted: int
    found: int
    planted_short: int
    found_short: int


def planted_recall(auditor: Auditor, per_benchmark: int = PER_BENCHMARK) -> list[Recall]:
    """Return the recall of each disguise over some items of every benchmark, chosen by hash."""
    by_benchmark: dict[str, list[int]] = {}
    for number, item in enumerate(auditor.items):
        by_benchmark.setdefault(item.benchmark, []).append(number)
    chosen = [
        number
        for numbers in by_benchmark.values()
        for number in sorted(
            numbers,
            key=lambda n: keyed_hash(
                "planted", auditor.items[n].benchmark, auditor.items[n].item_id
            ),
        )[:per_benchmark]
    ]
    counts = {name: [0, 0, 0, 0] for name in DISGUISES}
    leaks = [
        (name, number, text)
        for name, (_, disguise) in DISGUISES.items()
        for number in chosen
        if (text := disguise(auditor.items[number]))
    ]
    texts = byte_array([text.encode("utf-8", "replace") for _, _, text in leaks])
    batch = Batch(0, texts, texts, None, None, None)
    result = auditor.audit_batch(auditor.finder(), batch, Shard(0, "", 0, len(leaks), (0, 0)))
    flagged: dict[int, set[str]] = {}
    for one in result.findings:
        if one.flagged:
            flagged.setdefault(one.row, set()).add(f"{one.benchmark}/{one.item_id}")
    for row, (name, number, _) in enumerate(leaks):
        item = auditor.items[number]
        leaked = item.question if name == "bare" else _full(item)
        short = len(words(leaked)) < auditor.rule.n
        hit = f"{item.benchmark}/{item.item_id}" in flagged.get(row, ())
        counts[name][2 * short] += 1
        counts[name][2 * short + 1] += hit
    return [Recall(name, *counted) for name, counted in counts.items()]
