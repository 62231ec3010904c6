"""Filters on a question's text: language, figures, degenerate texts, length in tokens.

All rules read the text alone and name the reason of a drop. They are rules of thumb, written to
lose a good row rather than keep a bad one; ``--keep-dropped`` shows what they cost.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Literal, Protocol

from pydantic import Field

from dataflex_data.builders.source import Candidate, Drop
from dataflex_data.core.config import Config
from dataflex_data.core.errors import InputDataError, MissingExtraError
from dataflex_data.core.text import excerpt, has_lone_surrogate

_FIGURE_CODE = re.compile(r"\[/?asy\]|\\begin\{(?:tikzpicture|picture|asy)\}|\\draw\b")
_IMAGE_LINK = re.compile(r"!\[[^\]]*\]\(|<img\b|\\includegraphics|https?://\S+", re.I)
_HTML = re.compile(r"</?(?:br|table|tr|td|th|div|span|p|sub|sup|b|i|u|em|strong)\b[^<>]*>", re.I)
_PICTURE = r"(?:figure|diagram|picture|image|drawing|sketch|illustration|photograph)"
_FIGURE_MENTION = re.compile(
    rf"\b(?:the|this|these|following|each|above|below|accompanying|adjacent|given|right|left|a)\s+"
    rf"(?:\w+\s+)?{_PICTURE}s?\s+(?:above|below|shows?|shown|is shown|depicts|illustrates|at|on|to)"
    rf"|\b(?:in|from|see)\s+(?:the|this|following|above|adjacent|given|right|left)\s+"
    rf"(?:\w+\s+)?{_PICTURE}s?\b(?!\s+of\b)"
    rf"|\b(?:the|this)\s+(?:following\s+)?(?:diagram|sketch)s?\b"
    rf"|\b(?:this|attached|accompanying)\s+{_PICTURE}s?\b"
    rf"|\b{_PICTURE}s?\s+(?:shows|below|above)\b|\bfigure\s+\d"
    rf"|\b(?!(?:be|been|has|have|had|are|were)\s)[a-z]+\s+shown\b"
    rf"(?!\s+(?:that|to|by|in\s+(?:the|this)\s+(?:\w+\s+)?(?:table|chart|list)))"
    rf"|\b[Ff]ig\.\s*\d"
    rf"|\b(?:as|is|are|was|were|and|pattern|grid|figure)?\s*"
    rf"(?:shown|pictured|depicted|illustrated|drawn)\s+"
    rf"(?:below|above|here|at\s+(?:the\s+)?(?:right|left)|on\s+the\s+(?:right|left)|to\s+the\s+"
    rf"(?:right|left)|in\s+(?:the\s+)?{_PICTURE})"
    rf"|\bas\s+(?:is\s+)?(?:shown|pictured|depicted|illustrated)\b",
    re.I,
)
_FIGURE_STEMS = (
    "figure",
    "fig.",
    "diagram",
    "picture",
    "image",
    "drawing",
    "sketch",
    "illustrat",
    "photograph",
    "shown",
    "depict",
    "drawn",
    "asy",
    "tikz",
    "draw",
    "http",
    "![",
    "<img",
    "includegraphics",
)
_MAX_CHARACTERS = 6_000
_OPTION = r"(?:^|[\s{{*~])\(?{letter}(?:\)|[.:](?=\s))"  # "A) ", "(A)", "\textbf{{(A)", "A. "
_INLINE_OPTIONS = re.compile(
    ".{1,400}?".join(_OPTION.format(letter=letter) for letter in "ABC"), re.S | re.M
)
# Two numbered parts, or two numbered problems that ran together: one gold cannot answer both.
_PART = r"(?:(?:^|\s)\({mark}\)\s*\S|^\s*{mark}\)\s*\S)"
_FIRST_PART = re.compile(_PART.format(mark="(?:1|i|a)"), re.M)
_SECOND_PART = re.compile(_PART.format(mark="(?:2|ii|b)"), re.M)
_ASKS = re.compile(
    r"\b(?:find|determine|compute|calculate|what|how|prove|show|solve|evaluate)\b|\?", re.I
)
_NEXT_PROBLEM = re.compile(r"^\s*(\d{1,3})\s*[.．]\s.*?\n\s*(\d{1,3})\s*[.．]\s", re.S)
_PROOF = re.compile(r"\bprove\s+(?:that|the\s+following)\b|^\s*(?:\d+[.)]\s*)?prove\b", re.I)
_MAX_FOREIGN_LETTERS = 1  # one look-alike letter is a typing slip, two are another language
_OTHER_LETTER = re.compile(r"[^\W\d_\x00-\u024f]")  # letters beyond Latin, in Unicode's sense
_FORMULA = re.compile(r"\$[^$]*\$|\\[\[(].*?\\[\])]|\\[A-Za-z]+|[{}_^&]", re.S)
_PLAIN_WORD = re.compile(r"[^\W\d_]{3,}")
_COMMON_ENGLISH = re.compile(
    r"(?<![a-z])(?:the|are|what|how|and|for|find|compute|determine|let|with|that|which|who|from|"
    r"each|all|was|when|where|why|does|have|has|into|two|can|not|than|then|there|this|"
    r"these|will|suppose|given|calculate|evaluate|solve|simplify|expand|factor|express|"
    r"write|many|use|used|one)(?![a-z])",
    re.I,
)
_ENGLISH_NEEDED_FROM_WORDS = 8
_PLAIN_TOKEN = re.compile(r"\w+|[^\w\s]")


class Filters(Config):
    """Which filters a recipe applies.

    Attributes:
        language: ``en`` drops texts in another script, and longer ones without a common English
            word; ``any`` keeps all.
        figures: ``drop`` removes drawing code, image links and texts that lean on a picture.
        degenerate: ``drop`` removes texts with no word, html, a box, or over 6,000 characters.
        max_prompt_tokens: Limit on the rendered prompt, ``None`` for none.
    """

    language: Literal["en", "any"] = "en"
    figures: Literal["drop", "keep"] = "drop"
    degenerate: Literal["drop", "keep"] = "drop"
    max_prompt_tokens: int | None = Field(default=None, ge=1)


def filter_text(text: str, filters: Filters) -> Drop | None:
    """Return why ``text`` is dropped, or ``None`` where it stays; length in tokens apart."""
    checks: list[Callable[[str], Drop | None]] = []
    if filters.language == "en":
        checks.append(_not_english)
    if filters.degenerate == "drop":
        checks.append(_degenerate)
    if filters.figures == "drop":
        checks.append(_needs_figure)
    for check in checks:
        drop = check(text)
        if drop is not None:
            return drop
    return None


def unwritable(candidate: Candidate) -> Drop | None:
    """Return why a candidate cannot be written at all: what UTF-8 cannot hold, or NUL."""
    texts = (
        candidate.question,
        candidate.gold,
        candidate.raw_question,
        candidate.raw_answer,
        candidate.support,
        *candidate.options,
    )
    for text in texts:
        if has_lone_surrogate(text):
            return Drop("lone_surrogate", excerpt(text))
        if "\x00" in text:
            return Drop("nul_character", excerpt(text))
    return None


def _degenerate(text: str) -> Drop | None:
    if len(text) > _MAX_CHARACTERS:
        return Drop("too_long", f"{len(text)} characters")
    if not _PLAIN_WORD.search(_FORMULA.sub(" ", text)):
        return Drop("no_words", text[:80])
    if "\\boxed" in text:
        return Drop("box_in_question", "the answer goes into a box: one in the question misleads")
    if hit := _INLINE_OPTIONS.search(text):
        return Drop("inline_options", hit[0][:120])
    if _is_several_questions(text):
        return Drop("several_questions", text[:160])
    if hit := _PROOF.search(text):
        return Drop("asks_for_proof", text[hit.start() : hit.end() + 60])
    html = _HTML.search(text)
    return Drop("html", html[0]) if html else None


def _is_several_questions(text: str) -> bool:
    """Return whether the text holds two parts that each ask, or two numbered problems."""
    if (hit := _NEXT_PROBLEM.match(text)) and int(hit[2]) == int(hit[1]) + 1:
        return True
    first = _FIRST_PART.search(text)
    second = _SECOND_PART.search(text, first.end()) if first else None
    return (
        first is not None
        and second is not None
        and _ASKS.search(text, first.start(), second.start()) is not None
        and _ASKS.search(text, second.start()) is not None
    )


def _not_english(text: str) -> Drop | None:
    if not text.isascii():
        foreign = [
            letter
            for letter in _OTHER_LETTER.findall(text)
            if not unicodedata.name(letter, "").startswith(("GREEK", "LATIN", "MATHEMATICAL"))
            and not unicodedata.normalize("NFKC", letter).isascii()
        ]
        if len(foreign) > _MAX_FOREIGN_LETTERS:
            return Drop("language", "".join(foreign[:20]))
    prose = _PLAIN_WORD.findall(_FORMULA.sub(" ", text))
    if len(prose) >= _ENGLISH_NEEDED_FROM_WORDS and not _COMMON_ENGLISH.search(text):
        return Drop("language", text[:80])
    return None


def _needs_figure(text: str) -> Drop | None:
    folded = text.lower()
    if not any(stem in folded for stem in _FIGURE_STEMS):
        return None  # nine of ten texts; the patterns below cost far more than these look-ups
    for reason, pattern in (
        ("figure_code", _FIGURE_CODE),
        ("image_link", _IMAGE_LINK),
        ("figure_mention", _FIGURE_MENTION),
    ):
        hit = pattern.search(text)
        if hit:
            return Drop(reason, text[max(0, hit.start() - 20) : hit.end() + 20])
    return None


class TokenCounter(Protocol):
    """Counts the tokens of rendered prompts."""

    exact: bool

    def count(self, prompts: Sequence[str]) -> list[int]:
        """Return the number of tokens of each user message as a model would be given it."""


class PlainCounter:
    """Counts words and symbols: an estimate, used where no tokenizer is given."""

    exact = False

    def count(self, prompts: Sequence[str]) -> list[int]:
        """Return the number of word and symbol pieces of each prompt."""
        return [len(_PLAIN_TOKEN.findall(prompt)) for prompt in prompts]


class HFCounter:
    """Counts with a Hugging Face tokenizer from a local folder.

    With a chat template the whole chat with its generation prompt is counted; a base tokenizer
    without one counts the bare text, and ``note`` says so.

    Raises:
        MissingExtraError: The extra ``tokenizer`` is not installed.
        InputDataError: The folder is missing or holds no tokenizer.
    """

    exact = True

    def __init__(self, path: Path) -> None:
        try:
            from transformers import AutoTokenizer
        except ImportError:
            raise MissingExtraError(
                "transformers", "tokenizer", "counting tokens with --tokenizer"
            ) from None
        path = path.expanduser()
        if not path.exists():
            raise InputDataError(f"tokenizer {path.absolute()}: no such folder")
        try:
            self._tokenizer = AutoTokenizer.from_pretrained(str(path), local_files_only=True)
        except (OSError, ValueError, KeyError, TypeError) as error:
            raise InputDataError(
                f"tokenizer {path.absolute()}: cannot be loaded ({error}); give a folder with "
                "tokenizer.json or what save_pretrained() writes"
            ) from None
        self.note = (
            ""
            if self._tokenizer.chat_template
            else f"tokenizer {path.name} has no chat template: tokens are counted on the bare text"
        )

    def count(self, prompts: Sequence[str]) -> list[int]:
        """Return the exact number of tokens of each prompt."""
        if not prompts:
            return []
        texts = list(prompts)
        special = True
        if self._tokenizer.chat_template:
            chats = [[{"role": "user", "content": prompt}] for prompt in texts]
            texts = self._tokenizer.apply_chat_template(
                chats, tokenize=False, add_generation_prompt=True
            )
            special = False  # the chat template writes them itself
        encoded = self._tokenizer(texts, add_special_tokens=special, return_attention_mask=False)
        return [len(ids) for ids in encoded["input_ids"]]
