"""One rule for words, and what follows from it."""

from __future__ import annotations

import re
import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dataflex_data.core.text import content_hash, excerpt, has_lone_surrogate, normalise, words


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Find $x_1+x_2$!", ["find", "x", "1", "x", "2"]),
        ("don't", ["don", "t"]),
        ("ＡＢＣ １２", ["abc", "12"]),  # full-width forms fold under NFKC
        ("Straße", ["strasse"]),  # casefold, not lower
        ("so\u00adlve \ufeffth\u200bis \u202eon\u2060e\u202c", ["solve", "this", "one"]),
        ("ﬁve", ["five"]),  # ligature
        ("10²", ["102"]),
        ("", []),
        ("—…!", []),
    ],
)
def test_words(text: str, expected: list[str]) -> None:
    assert words(text) == expected


def test_symbol_only_texts_do_not_all_become_the_same() -> None:
    assert normalise("+") != normalise("-")
    assert normalise(" + ") == "+"


def test_content_hash_sees_through_case_spacing_and_punctuation() -> None:
    assert content_hash("Find  x.") == content_hash("find X")
    assert content_hash("find y") != content_hash("find x")


@given(st.text())
def test_normalise_is_idempotent_and_blind_to_nfkc_and_case(text: str) -> None:
    once = normalise(text)
    assert normalise(once) == once
    if words(text):
        assert normalise(unicodedata.normalize("NFKC", text)) == once


@given(st.text(alphabet=st.characters(max_codepoint=127)))
def test_the_ascii_shortcut_gives_what_the_full_rule_gives(text: str) -> None:
    folded = unicodedata.normalize("NFKC", text.casefold())
    assert words(text) == re.findall(r"[^\W_]+", folded)


def test_lone_surrogates_are_seen() -> None:
    assert has_lone_surrogate("a\ud800")
    assert not has_lone_surrogate("a😀")


def test_excerpt_is_short() -> None:
    assert excerpt("x" * 100, 10) == repr("x" * 9 + "…")
