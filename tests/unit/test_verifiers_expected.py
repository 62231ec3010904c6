"""Every line of expected values of BUILDERS.md section 6, with its right value."""

from __future__ import annotations

import time

import pytest

from dataflex_data.verifiers import choice, logic, math, symbolic

BOXED = [
    (r"-\frac{1}{2}", r"\frac{-1}{2}", 1),
    (r"\frac{2}{4}", r"\frac{1}{2}", 1),
    (r"3\frac{1}{2}", r"\frac{7}{2}", 1),
    ("1,234", "1234", 1),
    ("1{,}234", "1234", 1),
    (r"1\,234", "1234", 1),
    ("(1,234)", "1234", 0),
    ("0,1", "01", 0),
    ("12.", "12", 1),
    (r"\$12", "12", 1),
    (r"12\text{cm}", "12", 1),
    (r"50\%", "50", 1),
    (r"90^\circ", "90", 1),
    ("f(x)=5", "5", 1),
    (r"\text{(A)}", "A", 1),
    ("2.5e3", "2500", 1),
    ("10^{3}", "1000", 1),
    (r"\{1,2\}", r"\{2,1\}", 1),
    ("[1,2]", "(1,2)", 0),
    ("1331", "1331, 1728", 0),
    ("1, 2, 3, 4, 5", "3", 0),
    (r"3 \text{ or } 4", "3", 0),
    ("0.333", r"\frac{1}{3}", 0),
    ("−3", "-3", 1),
    (r"\frac{1}{2^{99}}", r"\frac{1}{2^{98}}", 0),
    ("25", "025", 1),
    ("3" + " " * 120, "3", 1),
    (r"\boxed{3}", "3", 1),
    ("10²", "100", 1),
    ("3½", r"\frac{7}{2}", 1),
]

MATHS_RESPONSES = [
    (r"\boxed{4} wait, no: \boxed{3}", "3", 1),
    (r"<think>\boxed{3}</think> The answer is 4.", "3", 0),
    (r"Use \boxed{} format. The answer is 3", "3", 0),
    (r"\boxed{3", "3", 0),
    ("no idea", "3", 0),
]

EMMA = "Emma is a knight, and Liam is a knave."
KNIGHTS = [
    ("**Emma** is a **knight** and **Liam** is a **knave**.", 1),
    ("Emma: knight\nLiam: knave", 1),
    ("Emma is the knight and Liam is the knave.", 1),
    ("Emma is a knight. Liam is not a knight.", 1),
    ("Emma is a knight. Therefore Liam is a knave.", 1),
    ("Emma is a knave or Emma is a knight, Liam is a knave", 0),
    ("If Emma is a knight then Liam is a knave.", 0),
    ("Emma said that Liam is a knave. Liam said Emma is a knight. I do not know.", 0),
    ("<think>Emma is a knight, Liam is a knave", 0),
    ("Final answer: Emma is a knight, Liam is a knave, Bob is a knave.", 0),
]
ALL_FOUR = [
    f"Emma is a {emma}, Liam is a {liam}."
    for emma, liam in [
        ("knight", "knight"),
        ("knave", "knight"),
        ("knave", "knave"),
        ("knight", "knave"),
    ]
]

OPTIONS = [
    ("b", "B", 1),
    ("The answer is B, not A.", "B", 1),
    ("Answer: B (A is tempting)", "B", 1),
    ("The answer is B. A common mistake is C.", "B", 1),
    ("A good question; I am not sure.", "A", 0),
    ("Answer: A or B", "B", 0),
    ("A, B, C, D", "D", 0),
    ("Answer: vitamin C", "C", 0),
    ("The answer is not A", "A", 0),
    ("<think>Answer: B", "B", 0),
    (r"\boxed{4}", "D", 0),
    ("\\boxed{\\langle H\\rangle \\ll \\Delta E} as shown.\n**Answer: D**", "D", 1),
]


@pytest.mark.parametrize(("answer", "gold", "score"), BOXED)
def test_boxed_answers(answer: str, gold: str, score: int) -> None:
    assert math.verify(f"so \\boxed{{{answer}}}.", gold).score == score


@pytest.mark.parametrize(("response", "gold", "score"), MATHS_RESPONSES)
def test_maths_responses(response: str, gold: str, score: int) -> None:
    assert math.verify(response, gold).score == score


def test_a_tower_is_refused_at_once() -> None:
    started = time.perf_counter()
    verdict = math.verify(r"\boxed{9^{9^{9^9}}}", "3")
    assert verdict.score == 0.0
    assert verdict.step == "unread:tower"
    assert time.perf_counter() - started < 5.0  # the contract says 50 ms; see benchmarks


def test_a_square_and_its_expansion_are_equal() -> None:
    assert math.verify(r"\boxed{(x+1)^2}", "x^2+2x+1").score == 1.0


def test_the_same_with_symbolic_on() -> None:
    pytest.importorskip("math_verify")
    assert math.verify(r"\boxed{(x+1)^2}", "x^2+2x+1", symbolic=True).score == 1.0
    assert symbolic.TIME_LIMIT_S > 0


@pytest.mark.parametrize(("response", "score"), KNIGHTS)
def test_assignments(response: str, score: int) -> None:
    assert logic.verify(response, EMMA).score == score


@pytest.mark.parametrize("gap", [" ", "\n", "\n\n"])
def test_all_assignments_are_no_answer(gap: str) -> None:
    assert logic.verify(gap.join(ALL_FOUR), EMMA).score == 0.0


@pytest.mark.parametrize(("response", "gold", "score"), OPTIONS)
def test_options(response: str, gold: str, score: int) -> None:
    assert choice.verify(response, gold, n_options=4).score == score


@pytest.mark.parametrize("verify", [math.verify, choice.verify, logic.verify])
@pytest.mark.parametrize("gold", ["", "  \n"])
def test_an_empty_gold_equals_nothing(verify: object, gold: str) -> None:
    assert callable(verify)
    assert verify("\\boxed{}", gold).score == 0.0
    assert verify("", gold).step == "empty_gold"
