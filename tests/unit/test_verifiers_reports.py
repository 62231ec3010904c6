"""Reports from users of other tools that touch verifiers (BUILDERS.md section 7), each a test."""

from __future__ import annotations

import subprocess
import sys
import threading

import pytest

from dataflex_data.integrations.verl.reward import compute_score
from dataflex_data.verifiers import choice, math


def test_float_from_one_grader_and_dict_from_another() -> None:
    """verl#1031, verl#7151: the shape never varies."""
    rewards = [
        compute_score("dataflex/gsm8k", "\\boxed{3}", "3"),
        compute_score("dataflex/sciq", "nothing", "B"),
        compute_score("dataflex/logic", "", "Emma is a knight."),
    ]
    assert {tuple(reward) for reward in rewards} == {("score", "acc", "pred")}


def test_no_none_in_numeric_keys() -> None:
    """verl#6830."""
    reward = compute_score("dataflex/gsm8k", "", "3")
    assert reward == {"score": 0.0, "acc": 0.0, "pred": ""}


def test_an_answer_line_is_no_box() -> None:
    """Trinity-RFT#566: the DAPO wrapper asks for ``Answer:``, our template for a box."""
    assert math.verify("Answer: 3", "3").score == 0.0


def test_the_prompt_is_not_graded() -> None:
    r"""EasyR1#26: a prompt that mentions \boxed{} earns nothing."""
    assert math.verify("put your final answer within \\boxed{}. no idea", "3").score == 0.0


@pytest.mark.parametrize("padding", [0, 300, 10_000, 1_000_000])
def test_no_tail_window(padding: int) -> None:
    """verl#7440, verl#7274: what follows the answer does not hide it."""
    assert math.verify("\\boxed{3}" + " \n" * padding, "3").score == 1.0
    tail = " So much for that." * (padding // 18)
    assert math.verify("\\boxed{3}." + tail, "3").score == 1.0
    assert choice.verify("\\boxed{B}." + tail, "B").score == 1.0


def test_no_signal_is_needed() -> None:
    """verl#5635, Math-Verify#50: all zeros off the main thread."""
    scores: list[float] = []
    thread = threading.Thread(
        target=lambda: scores.append(compute_score("dataflex/math", "\\boxed{3}", "3")["score"])
    )
    thread.start()
    thread.join()
    assert scores == [1.0]


def test_tiny_numbers_are_not_equal() -> None:
    """Math-Verify#14."""
    assert math.verify("\\boxed{10^{-20}}", "10^{-21}").score == 0.0
    assert math.verify("\\boxed{0.00000000001}", "0").score == 0.0


@pytest.mark.parametrize(
    ("answer", "gold"),
    [("1", "1, 2"), (r"\{1\}", r"\{1,2\}"), ("1, 2, 3", "1, 2"), ("[1,2]", "[1,3]")],
)
def test_a_subset_is_not_the_set(answer: str, gold: str) -> None:
    """Math-Verify#47."""
    assert math.verify(f"\\boxed{{{answer}}}", gold).score == 0.0


@pytest.mark.parametrize(
    ("answer", "gold"), [("(1,234)", "1234"), ("(1,2)", "12"), ("1,2", "12"), ("(12,345)", "12345")]
)
def test_commas_do_not_fuse_tuples(answer: str, gold: str) -> None:
    """lm-eval#4039."""
    assert math.verify(f"\\boxed{{{answer}}}", gold).score == 0.0


def test_an_early_bare_box_does_not_override_a_later_one() -> None:
    """open-instruct#1764."""
    assert math.verify("\\boxed 4 is wrong, \\boxed{3}", "3").score == 1.0
    assert math.verify("\\boxed 4 is wrong, \\boxed{3}", "4").score == 0.0


@pytest.mark.parametrize("answer", ["-3", "−3", "- 3", "{-3}", r"-\frac{6}{2}", r"\left(-3\right)"])
def test_the_sign_is_kept(answer: str) -> None:
    """open-instruct#1530."""
    assert math.verify(f"\\boxed{{{answer}}}", "-3").score == 1.0
    assert math.verify(f"\\boxed{{{answer}}}", "3").score == 0.0


@pytest.mark.parametrize(
    "response", ["A good question; B and C differ.", "I think that A is tempting.", "As in case D"]
)
def test_no_letter_is_read_from_prose(response: str) -> None:
    """MMLU-Pro#7."""
    for letter in "ABCD":
        assert choice.verify(response, letter).score == 0.0


def test_an_unused_option_count_does_not_shift_letters() -> None:
    """evalscope#1602: the letter is judged against the row's own options."""
    options = ("red", "green", "blue")
    assert choice.verify("\\boxed{C}", "C", options=options).score == 1.0
    assert choice.verify("\\boxed{D}", "D", options=options).score == 0.0


def test_duplicated_options_never_pass_by_text() -> None:
    """medmcqa#5: a text that two options share names neither."""
    assert choice.verify("\\boxed{red}", "A", options=("red", "Red ", "blue")).score == 0.0


def test_the_verifiers_are_light() -> None:
    code = (
        "import sys, dataflex_data.verifiers.routes, dataflex_data.integrations.verl.reward\n"
        "heavy = {'numpy', 'torch', 'verl', 'sympy', 'pyarrow', 'ray', 'math_verify'}\n"
        "print(sorted(heavy & set(sys.modules)))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
