"""Each filter drops what it names and keeps its look-alikes."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from dataflex_data.builders.filters import (
    Filters,
    HFCounter,
    PlainCounter,
    filter_text,
    unwritable,
)
from dataflex_data.builders.source import Candidate
from dataflex_data.builders.textfix import broken_escape, repair_form_feed_frac, repair_text
from dataflex_data.core.errors import InputDataError
from tests.tokenizer import write_tokenizer

ALL = Filters()


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("求最大的正整数 $n$ such that it holds.", "language"),
        ("Сколько всего чисел?", "language"),
        ("Hallo Welt dies ist eine lange deutsche Aufgabe ohne englische Worte hier", "language"),
        ("How many rectangles are there? [asy] draw((0,0)--(1,1)); [/asy]", "figure_code"),
        ("Find the area.\n![](https://example.org/x.png)", "image_link"),
        ("In the diagram, $AB$ is a line segment. What is $x$?", "figure_mention"),
        ("Two tiles overlap as shown. What is their area?", "figure_mention"),
        ("What is the perimeter of the right triangle shown below?", "figure_mention"),
        (
            "The volume of the pyramid whose net is shown, if the base is a square?",
            "figure_mention",
        ),
        ("See Figure 2. What is the angle?", "figure_mention"),
        ("$\\frac{2020}{6063}$", "no_words"),
        ("What is 2 + 2?<br/>Give a number.", "html"),
        ("Fill the boxes $\\boxed{} + \\boxed{} = 3$ so that it holds.", "box_in_question"),
        ("What is it? " + "x" * 6000, "too_long"),
        (
            "The attached figure is a graph with 7 edges. How many paths are there?",
            "figure_mention",
        ),
        ("Which is odd? (A) $x$ (B) $2x$ (C) $4x$ (D) $8x$", "inline_options"),
        (
            "What is $n$?\n$\\textbf{(A) } 1 \\quad \\textbf{(B) } 2 \\quad \\textbf{(C) } 3$",
            "inline_options",
        ),
        (
            "For a triangle:\n(1) Find the angle $A$;\n(2) If $b=3$, find its area.",
            "several_questions",
        ),
        ("22. What is the sum of the digits?\n23. What is their product?", "several_questions"),
        ("Prove that the sum of two odd numbers is even.", "asks_for_proof"),
    ],
)
def test_dropped_with_its_reason(text: str, reason: str) -> None:
    drop = filter_text(text, ALL)
    assert drop is not None
    assert drop.reason == reason


@pytest.mark.parametrize(
    "text",
    [
        "Factor $t^2-121$.",
        "What organ creates bile?",
        "Let α, β and γ be the angles of a triangle; find α + β + γ.",
        "Where does the image of the point $A$ lie under a rotation by 90°?",
        "How many of the 3-digit figures are even, and how many are odd?",
        "It can be shown that the sum is finite; find it.",
        "The sales of three shops are shown in the table. Which is the largest?",
        "How many action figures does she have left if she gives 3 to a friend?",
        "Simplify ℝ-valued 𝑥 plus ５ and give the result.",
        "The caf\u00e9 sells 3 cakes for $2.50 each and Zoë buys 4; what does she pay?",
        "Let (1) $n$ be prime, (2) $n$ be odd, (3) $n < 10$. Find the sum of all $n$.",
        "The point $(3, 1)$ moves to $(a, b)$. What is $a + b$ if (2) holds twice as often?",
        "For sets with $n(A) + n(B) + n(C) = 8$ find the least value of $n(A)$.",
        "A рencil costs $2; how much do 7 cost?",  # one Cyrillic look-alike, as GSM8K has
    ],
)
def test_kept(text: str) -> None:
    assert filter_text(text, ALL) is None


def test_each_filter_can_be_switched_off() -> None:
    text = "求最大的正整数 [asy]<br/>"
    assert filter_text(text, ALL) is not None
    off = Filters(language="any", figures="keep", degenerate="keep")
    assert filter_text(text, off) is None


@pytest.mark.parametrize("field", ["question", "gold", "options", "support", "raw_answer"])
@pytest.mark.parametrize(
    ("bad", "reason"), [("a\ud800b", "lone_surrogate"), ("a\x00b", "nul_character")]
)
def test_what_cannot_be_written_goes_from_every_field(field: str, bad: str, reason: str) -> None:
    good = Candidate("Why?", "3", "Why?", "3", options=("3", "4"), support="so")
    assert unwritable(good) is None
    change: dict[str, Any] = {field: ("3", bad) if field == "options" else bad}
    drop = unwritable(replace(good, **change))
    assert drop is not None
    assert drop.reason == reason


def test_the_form_feed_of_frac_is_repaired_and_nothing_else() -> None:
    assert (
        repair_form_feed_frac("$\x0crac{1}{2}$ and $\x0crac 34$")
        == "$\\frac{1}{2}$ and $\\frac 34$"
    )
    assert repair_form_feed_frac("fi\x0cnd") == "fi\x0cnd"


def test_line_ends_become_one_line_feed() -> None:
    assert repair_text("a\r\nb\rc") == "a\nb\nc"
    assert repair_text("\rho") == "\rho", "the ruin of a macro stays for broken_escape to see"


@pytest.mark.parametrize(
    "text", ["fi\x0cnd", "2 \times 3", "a\rho b", "x \x08eta", "2 \nabla 3", "a \x14\\le b"]
)
def test_ruined_macros_and_control_characters_are_seen(text: str) -> None:
    assert broken_escape(text) is not None


@pytest.mark.parametrize("text", ["a\tb", "line\nnext", "$\\times$ \\rho", "\tThe end", "a\r\nb"])
def test_ordinary_white_space_is_not_damage(text: str) -> None:
    assert broken_escape(text) is None


def test_plain_count_is_words_and_symbols() -> None:
    counter = PlainCounter()
    assert counter.count(["What is 1+1?", ""]) == [6, 0]  # What, is, 1, +, 1, ?
    assert not counter.exact


def test_a_missing_tokenizer_is_named(tmp_path: Path) -> None:
    pytest.importorskip("transformers")
    with pytest.raises(InputDataError, match="no such folder"):
        HFCounter(tmp_path / "none")
    (tmp_path / "empty").mkdir()
    with pytest.raises(InputDataError, match="cannot be loaded"):
        HFCounter(tmp_path / "empty")


def test_a_tokenizer_counts_the_whole_chat(tmp_path: Path) -> None:
    pytest.importorskip("transformers")
    counter = HFCounter(Path(write_tokenizer(tmp_path)))
    # One token per byte, and one per special token:
    # <|im_start|> user\n abc é(2 bytes) <|im_end|> \n <|im_start|> assistant\n
    #      1     +   5  + 3 +   2      +     1    + 1 +     1     +    10      = 24
    assert counter.count(["abcé"]) == [24]
    assert counter.exact
    assert counter.note == ""
    assert counter.count([]) == []


def test_a_base_tokenizer_without_chat_template_counts_the_text_and_says_so(tmp_path: Path) -> None:
    # open-r1#85.
    pytest.importorskip("transformers")
    counter = HFCounter(Path(write_tokenizer(tmp_path, chat=False)))
    assert counter.count(["abcé", "x"]) == [5, 1]
    assert "has no chat template" in counter.note
