"""The compiled loops against `core.text.words` and `latex_words`, over all of Unicode."""

from __future__ import annotations

import sys
import unicodedata

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import dataflex_data.audits.word_streams as word_streams_module
from dataflex_data.audits.folding import UNKNOWN, UNSAFE, FoldTable, shared_fold_table
from dataflex_data.audits.hashing import latex_words, run_hash, text_hash, word_hash
from dataflex_data.audits.word_streams import Reading, TextHasher, word_streams
from dataflex_data.core.text import words


def _streams(texts: list[str]) -> list[tuple[list[int], list[int]]]:
    encoded = [text.encode("utf-8", "surrogatepass") for text in texts]
    found = word_streams(pa.array(encoded, type=pa.large_binary()))
    return [([int(w) for w in plain], [int(w) for w in latex]) for plain, latex in found]


def _expected(text: str) -> tuple[list[int], list[int]]:
    plain, latex = [word_hash(w) for w in words(text)], [word_hash(w) for w in latex_words(text)]
    return plain, latex if latex != plain else []


def test_every_code_point_folds_as_in_python_whatever_stands_beside_it() -> None:
    table = shared_fold_table()
    # All assigned code points, and some of those (three in four) that mean nothing yet.
    codes = [
        code
        for code in range(sys.maxunicode + 1)
        if code % 997 == 0 or unicodedata.category(chr(code)) not in {"Cn", "Co", "Cs"}
    ]
    for code in codes:
        if code >= 128 and table.index[code] == UNKNOWN:
            table.learn(code)
    safe = [
        chr(code)
        for code in codes
        if code < 128 or (table.index[code] != UNSAFE and not 0xD800 <= code <= 0xDFFF)
    ]
    texts = [
        "".join(f"x{c}\u1100{c}e{c} {c}\\{c}7" for c in safe[at : at + 500])
        for at in range(0, len(safe), 500)
    ]
    for text, (plain, _) in zip(texts, _streams(texts), strict=True):
        assert plain == [word_hash(word) for word in words(text)], text[:40]


def test_code_points_that_touch_their_neighbours_are_left_to_python() -> None:
    table = FoldTable()
    for code in (0x0301, 0x1161, 0x11A8, 0x3099, 0xFF3C, 0x00AD, 0x200B, 0xFEFF, 0xE0061):
        table.learn(code)
        assert table.index[code] == UNSAFE
    # e + acute is one letter, and so are a Hangul consonant and vowel.
    for text in ("cafe\u0301s", "\u1100\u1161\u11a8 x", "a\uff3cfrac12", "so\u00adlve th\u200bis"):
        assert _streams([text]) == [_expected(text)]


_PIECES = st.sampled_from(
    [
        *"abzAZ09_ .\\${}()^é",
        "\\frac12",
        "\\dfrac{1}{2}",
        "\\left(",
        "\\sqrt3x",
        "\\alpha1",
        "\\FRAC12",
        "\\fracé2",
        "ﬁ",
        "½",
        "ß",
        "İ",
        "e\u0301",
        "\u1100\u1161",
        "ſ",
        "漢字",
        "\u200b",
        "𝐱",
        "①",
        "\ud800",
        "x" * 20,
        "\\" + "y" * 9,
    ]
)


@settings(max_examples=300, deadline=None)
@given(st.lists(st.one_of(st.text(max_size=12), st.lists(_PIECES, max_size=20).map("".join))))
def test_words_and_latex_words_of_any_text(texts: list[str]) -> None:
    expected = [_expected(text) for text in texts]
    # A text with a lone surrogate is read as bytes that are not UTF-8: surrogates separate words.
    assert _streams(texts) == expected


@settings(max_examples=150, deadline=None)
@given(st.lists(st.binary(max_size=40), max_size=8))
def test_any_bytes_are_read_as_python_reads_them_with_replacement(raws: list[bytes]) -> None:
    found = word_streams(pa.array(raws, type=pa.binary()))
    for raw, (plain, _) in zip(raws, found, strict=True):
        text = raw.decode("utf-8", "replace")
        assert plain.tolist() == [word_hash(word) for word in words(text)]


def test_words_of_every_length_and_sign_end_where_they_end() -> None:
    # Words are read eight bytes at a time, but the last seven bytes of all one at a time.
    letters = "aZ09Mq7Bx" * 3
    words_of_all_lengths = [letters[:length] for length in range(len(letters))]
    texts = [f"{w}{chr(code)}{w[:3]}" for w in words_of_all_lengths for code in range(128)]
    for some in (texts, words_of_all_lengths, ["ab"], ["é", "abcdefgh"]):
        assert _streams(some) == [_expected(text) for text in some]


def test_texts_that_fill_the_room_are_read_whole(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(word_streams_module, "_ROOM", 16)
    # The LaTeX form of the first has more words than the plain one; others fold to several.
    texts = [
        "\\x1" * 9_000,
        "a " * 30_000,
        "\\frac12 " * 7_000,
        "\ufdfa" * 300,
        "½" * 5_000,
        "x",
    ] * 3
    assert _streams(texts) == [_expected(text) for text in texts]


def test_signs_that_fold_to_several_words_are_counted_and_not_slow() -> None:
    told = Reading()
    texts = ["½ ½", "㏂㏂㏂", "\ufdfa\ufdfa"]  # 1 2 1 2; a m a m a m; 4 + 4 - 1 words
    for _ in TextHasher().read(pa.array(texts), told):
        pass
    assert [len(words(text)) for text in texts] == [4, 6, 7]
    assert (told.words, told.slow) == (17, 0)


def test_a_command_longer_than_the_buffer_is_read_whole() -> None:
    text = "\\" + "q" * 10_000 + "7 end"
    assert _streams([text]) == [_expected(text)]


def test_the_hash_is_pinned() -> None:
    # By the rule in hashing.py: one block 0x61, times the factor, folded, then splitmix64.
    mask = 2**64 - 1
    value = ((0xCBF29CE484222325 ^ 0x61) * 0xFF51AFD7ED558CCD) & mask
    value ^= value >> 32
    value = ((value ^ (value >> 30)) * 0xBF58476D1CE4E5B9) & mask
    value = ((value ^ (value >> 27)) * 0x94D049BB133111EB) & mask
    value ^= value >> 31
    assert word_hash("a") == value
    assert run_hash(["a", "b"]) == (value * 0x9E3779B97F4A7C15 + word_hash("b")) & mask
    assert text_hash(["a"]) != word_hash("a")


def test_streams_of_sliced_null_and_typed_arrays_are_the_same() -> None:
    texts = ["zero", "One two", None, "", "three É four"]
    wanted = [[word_hash(w) for w in words(t or "")] for t in texts[1:]]
    for kind in (
        pa.string(),
        pa.large_string(),
        pa.string_view(),
        pa.dictionary(pa.int32(), pa.string()),
    ):
        array = pa.array(texts, type=pa.string()).cast(kind).slice(1)
        assert [plain.tolist() for plain, _ in word_streams(array)] == wanted
    assert word_streams(pa.array([], type=pa.string())) == []
    assert np.array_equal(word_streams(pa.array([None], type=pa.string()))[0][0], [])
