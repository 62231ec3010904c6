"""Multiple choice beyond the contract's table: how models announce an option."""

from __future__ import annotations

import pytest

from dataflex_data.verifiers import choice
from dataflex_data.verifiers.routes import verify

OPTIONS = ("mitochondria", "nucleus", "ribosome", "cell wall")


@pytest.mark.parametrize(
    ("response", "gold", "score"),
    [
        ("The answer is: **B) nucleus**", "B", 1),
        ("Therefore, the correct answer is:\n\n**B**", "B", 1),
        (r"The final answer is $\boxed{B}$. I hope it is correct.", "B", 1),
        ("The answer is not A but B", "B", 1),
        ("The answer is not A but B", "A", 0),
        ("The answer is most likely B", "B", 1),
        ("<answer>B</answer>", "B", 1),
        ("Answer:B", "B", 1),
        (r"\boxed{\textbf{(B)}}", "B", 1),
        (r"\boxed{\text{B) nucleus}}", "B", 1),
        (r"\boxed{B: ribosome}", "B", 0),
        ("\\boxed{B}\n\nOption A is wrong because it is small.", "B", 1),
        ("Answer: B\nAnswer: C", "C", 1),
        ("Answer: B\nAnswer: C", "B", 0),
        (r"$\boxed{D}$ is wrong; the answer is B", "B", 1),
        ("The answer is A because option B is wrong.", "A", 1),
        ("The answer is nucleus.", "B", 1),
        ("nucleus", "B", 1),
        ("Answer: All of the above", "A", 0),
        ("Is the answer B?", "B", 0),
        ("The answer is (A) or (B).", "A", 0),
        ("The answer is B. Or maybe C.", "B", 0),
        ("Answer: E", "E", 0),
        ("Answer：Ｂ", "B", 1),
        ("The answer is B\n\nThis answer is consistent with theory.", "B", 1),
    ],
)
def test_announcements(response: str, gold: str, score: int) -> None:
    assert choice.verify(response, gold, options=OPTIONS).score == score


@pytest.mark.parametrize(
    ("response", "letter"),
    [
        ("The answer is a mitochondria.", ""),
        ("The answer is a ribosome.", "C"),
        ("Answer: (a) mitochondria", "A"),
        ("Answer: a) mitochondria", "A"),
        ("The answer is A mitochondria", "A"),
        ("The answer is A nucleus", ""),
        ("The answer is A because mitochondria make it.", "A"),
    ],
)
def test_an_article_is_no_letter(response: str, letter: str) -> None:
    """Told in docs/verifiers.md: the small word before another is an article."""
    options = ("mitochondria", "nucleus", "a ribosome", "cell wall")
    won = [gold for gold in "ABCD" if choice.verify(response, gold, options=options).score]
    assert won == list(letter)


def test_a_gold_text_stands_for_its_letter() -> None:
    """ZebraLogic's golds are texts out of a list."""
    extra = {"options": ["stew", "grilled cheese", "pizza"]}
    for response in (r"\boxed{grilled cheese}", r"\boxed{B}", "Answer: Grilled Cheese"):
        assert verify("dataflex/zebra_logic", response, "grilled cheese", extra).score == 1.0
    for response in (r"\boxed{stew}", r"\boxed{A}", r"\boxed{cheese}"):
        assert verify("dataflex/zebra_logic", response, "grilled cheese", extra).score == 0.0


def test_ten_options() -> None:
    extra = {"options": [f"value {number}" for number in range(10)]}
    assert verify("dataflex/mmlu_pro_physics", r"\boxed{J}", "J", extra).score == 1.0
    assert verify("dataflex/mmlu_pro_physics", r"\boxed{K}", "K", extra).score == 0.0


def test_golds_in_brackets() -> None:
    assert verify("dataflex/bbh_tracking", "The answer is (C).", "(C)").score == 1.0
    assert verify("dataflex/bbh_tracking", "The answer is (D).", "(C)").score == 0.0
