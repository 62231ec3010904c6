"""Text as every part of the package sees it: normal form, words, hashes, surrogates.

One normaliser, so that a builder's dedup, an audit's "normalised" channel and a split decided by
content agree on when two texts are the same.
"""

from __future__ import annotations

import hashlib
import re
import unicodedata

NORMALISER_VERSION = 2  # 2: invisible characters are dropped

# Runs of letters or digits, in Unicode's sense: \w without the underscore.
_WORD = re.compile(r"[^\W_]+")
# Characters that show nothing (soft hyphen, zero-width space and joiners, direction marks, tags):
# Unicode's general category Cf, without the signs of it that are seen.
INVISIBLE = re.compile(
    "[\u00ad\u061c\u180e\u200b-\u200f\u202a-\u202e\u2060-\u206f\ufeff\U000e0001"
    "\U000e0020-\U000e007f]"
)
_SURROGATE = re.compile("[\ud800-\udfff]")


def words(text: str) -> list[str]:
    """Return the words of ``text``: runs of letters or digits after NFKC and casefold.

    Invisible characters are dropped, so that they cut no word. NFKC runs once more after casefold,
    since casefolding may leave a text unnormalised; this makes the rule idempotent.
    """
    return _WORD.findall(fold(text))


def fold(text: str) -> str:
    """Return ``text`` after NFKC, casefold and NFKC: what `words` cuts into words.

    Invisible characters are dropped first, since they would cut words without being seen.
    """
    if text.isascii():
        return text.lower()
    text = INVISIBLE.sub("", text)
    return unicodedata.normalize("NFKC", unicodedata.normalize("NFKC", text).casefold())


def normalise(text: str) -> str:
    """Return the words joined by one space; two texts are "the same" when these are equal.

    Texts that have symbols only, such as ``"+"`` and ``"-"``, would all become empty: they keep
    their stripped NFKC form, so that they differ when they look different.
    """
    joined = " ".join(words(text))
    return joined or unicodedata.normalize("NFKC", text).strip()


def sha256_text(text: str) -> str:
    """Return the SHA-256 hex digest of the text's UTF-8 bytes (lone surrogates pass)."""
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()


def content_hash(text: str) -> str:
    """Return the SHA-256 hex digest of the normal form: equal for texts that are the same."""
    return sha256_text(normalise(text))


def has_lone_surrogate(text: str) -> bool:
    """Return whether the text cannot be written as UTF-8."""
    return _SURROGATE.search(text) is not None


def excerpt(text: str, limit: int = 60) -> str:
    """Return ``repr`` of the text's beginning, for messages; at most ``limit`` characters of it."""
    return repr(text if len(text) <= limit else text[: limit - 1] + "…")
