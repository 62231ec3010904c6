"""Boxed maths beyond the contract's table: forms, boxes, golds as DeepScaleR writes them."""

from __future__ import annotations

import pytest

from dataflex_data.verifiers import math
from dataflex_data.verifiers.routes import equivalent, gold_problem

EQUAL = [
    (r"-\frac12", "-0.5"),
    (r"\dfrac34", "0.75"),
    (r"\frac{50}3", "50/3"),
    (r"5\sqrt{2}", r"\sqrt{50}"),
    (r"\frac{1}{\sqrt{3}}", r"\frac{\sqrt3}{3}"),
    (r"\frac{5\sqrt{21}}{21}", r"\frac{5}{\sqrt{21}}"),
    (r"\frac{2}{\sqrt{5}-1}", r"\frac{1+\sqrt{5}}{2}"),  # the golden ratio, rationalised
    (r"\sqrt[3]{36}", r"6^{2/3}"),
    (r"2\ln2-\ln3", r"\ln(4/3)"),
    (r"\frac{9}{4} \pi", r"2.25\pi"),
    ("(3,4)", r"\left( 3, 4 \right)"),
    (r"x \in [1,2]", "[1,2]"),
    (r"1 \le x \le 2", "[1,2]"),
    (r"x > 3", r"(3, \infty)"),
    (r"(-\infty,1)\cup(2,\infty)", r"(2,\infty) \cup (-\infty, 1)"),
    ("1:2", "2:4"),
    (r"10\%", "0.1"),
    (r"10\%", "10"),
    (r"180^\circ", r"\pi"),
    ("2^{10}", "1024"),
    (r"\text{Tuesday}", "tuesday"),
    (r"1,\!234", "1234"),
    ("5 000 000", "5,000,000"),
    ("1 or 5", "5, 1"),
    (r"\pm 3", "3, -3"),
    (r"1 \pm \sqrt{2}", r"1-\sqrt2, 1+\sqrt2"),
    (r"\begin{pmatrix} -3 \\ 4 \end{pmatrix}", "(-3,4)"),
    ("1300_5", "1300_{5}"),
    ("1300", "1300_5"),
    (r"p=\frac{q}{q-1}", r"\frac{-q}{1-q}"),
    ("3x + y = 10", "y=10-3x"),
    ("98,118,122,142", "98, 118, 122, 142"),
    ("60\\text{ inches}", "60"),
    ("100 cm", r"1 \text{ m}"),
    ("5 million", "5000000"),
    (r"8.\overline{3}", r"\frac{25}{3}"),
    ("３", "3"),
    ("١٢", "12"),
    ("３／４", "0.75"),
    (r"0.4 \text{ OR } \frac{2}{5}", "0.4"),
    (r"12 \text{ cm}^2", "12"),
    ("x=1, y=2", "y=2, x=1"),
    (r"\binom{5}{2}", "10"),
    ("4!", "24"),
    ("3:30 PM", r"3:30 \text{ p.m.}"),
    ("−½", "-0.5"),
    ("+7", "7"),
    ("3 = x", "3"),
    (r"\$1,234.50", "1234.5"),
    (r"1,200 \text{ miles}", "1200"),
    ("- 7", "-7"),
]
DIFFERENT = [
    ("5 cm", "5 m"),
    ("5 million", "5"),
    ("x=1, y=2", "x=2, y=1"),
    ("1, 2", "x=2, y=1"),
    ("14:24", "7:12"),  # times of day, though equal as ratios
    ("12 34", "1234"),
    ("3 4", "34"),
    ("12:30", "2:5"),
    ("15:40", r"\frac{3}{8}"),
    (r"3 \text{ feet/s}", r"3\text{ cm}"),
    ("3-4-5", "-6"),
    ("[0,1)", "(0,1)"),
    (r"\{1,2,2\}", r"\{1,2,3\}"),
    ("1, 2", "1, 2, 2"),
    (r"\sqrt{x^2}", "x"),
    ("ab c", "abd"),
    ("no", "on"),
    ("Bob", "obB"),
    ("1000000000000000000000001", "1000000000000000000000000"),
    ("0.0000000000000000001", "0"),
    ("1e-30", "2e-30"),
    ("22099999999999998951424", "22100000000000000000000"),
    ("3", "-3"),
    ("11011100_2", "11011100_3"),
    ("(4,1)", "(1,4)"),
    ("1331", "11"),
    (r"50\%", "0.05"),
    (r"0.5\%", r"50\%"),
    ("y=5", "x=5"),
    ("2x", "x^2"),
    (r"\frac{1}{3}", "0.3333333333"),
]


@pytest.mark.parametrize(("answer", "gold"), EQUAL)
def test_forms_of_one_answer(answer: str, gold: str) -> None:
    assert math.verify(f"\\boxed{{{answer}}}", gold).score == 1.0
    assert equivalent("dataflex/math", gold, answer)
    assert equivalent("dataflex/math", answer, gold)


@pytest.mark.parametrize(("answer", "gold"), DIFFERENT)
def test_different_answers(answer: str, gold: str) -> None:
    assert math.verify(f"\\boxed{{{answer}}}", gold).score == 0.0
    assert not equivalent("dataflex/math", gold, answer)


def test_a_bare_letter_is_a_unit_in_a_response_only() -> None:
    assert math.verify(r"\boxed{12 m}", "12").score == 1.0
    assert math.verify(r"\boxed{12}", "12m").score == 0.0


@pytest.mark.parametrize(
    ("response", "gold", "score"),
    [
        (r"\boxed{3} or \boxed{4}", "3", 0),
        (r"$\boxed{3}$ \text{ or } $\boxed{4}$", "4", 0),
        (r"\boxed{3} / \boxed{4}", "4", 0),
        (r"\boxed{3}, \boxed{4}", "4", 0),
        (r"\boxed{3} and \boxed{3}", "3", 1),
        (r"\boxed{3} or 4", "3", 0),
        (r"\boxed{1}, \boxed{2} and \boxed{3}", "3, 2, 1", 1),
        (r"\boxed{1} or \boxed{2}", "1, 2", 0),
        (r"\boxed{2, 70} and \boxed{97}", "2, 70, 97", 0),
        (r"\boxed{2, 70 \text{ or } 70, 97}", r"\{2, 70, 97\}", 0),
        (r"\boxed 4 and later \boxed{3}", "3", 1),
        (r"\boxed 4", "4", 1),
        (r"\fbox{4}", "4", 1),
        (r"\boxed{ 4 }", "4", 1),
        ("```\n\\boxed{4}\n```", "4", 1),
        (r"\boxed{4}. As asked, it stands in \boxed{}.", "4", 1),
        (r"\boxed{\{1,2\}}", r"\{1,2\}", 1),
        (r"\boxed{\boxed{3}, 4}", "3, 4", 1),
        (r"<think>a</think>\boxed{3}<think>", "3", 0),
        (r"<thinking>\boxed{4}</thinking> \boxed{3}", "3", 1),
        (r"<THINK> \boxed{3}", "3", 0),
        (r"◁think▷\boxed{4}◁/think▷\boxed{3}", "3", 1),
        (r"reasoning without its opening tag</think> \boxed{3}", "3", 1),
        ("the answer is 3", "3", 0),
    ],
)
def test_boxes_and_thinking(response: str, gold: str, score: int) -> None:
    assert math.verify(response, gold).score == score


@pytest.mark.parametrize(
    ("gold", "reason"),
    [
        ("", "empty"),
        ("1" * 401, "too_long"),
        ("2^{2^{2^{20}}}", "tower"),
        (r"3^{n} + \sin(n)", "symbolic_only"),
        (r"\lceil x \rceil", "symbols"),
        ("the set of all primes below 10", "prose"),
        (r"\{x \mid x > 3\}", "set_builder"),
        ("1/2x", "two_readings"),
        (r"2 \cdot 3 = 6", "identity"),
    ],
)
def test_golds_that_the_ladder_cannot_decide(gold: str, reason: str) -> None:
    problem = gold_problem("dataflex/deepscaler", gold)
    assert problem is not None
    assert problem[0] == reason


@pytest.mark.parametrize(
    "gold", ["7", "-3", r"\frac{1}{27}", r"2\sqrt{3}", "(1, 2)", "x^2+1", "No"]
)
def test_golds_that_it_decides(gold: str) -> None:
    assert gold_problem("dataflex/deepscaler", gold) is None


def test_identical_spelling_wins_even_where_nothing_is_understood() -> None:
    gold = r"\lceil \tfrac{n}{2} \rceil"
    verdict = math.verify(r"\boxed{\left\lceil\frac{n}{2} \right\rceil}", gold)
    assert (verdict.score, verdict.step) == (1.0, "spelling")


def test_the_reason_tells_what_was_wrong() -> None:
    verdict = math.verify(r"\boxed{3 \text{ or } 4}", "3")
    assert verdict.parsed == r"3 \text{ or } 4"
    assert verdict.reason == "it is several values, the gold answer 3 is one value"


@pytest.mark.shared
def test_real_golds_verify_themselves(shared_dir: object) -> None:
    import gzip
    import json
    from pathlib import Path

    assert isinstance(shared_dir, Path)
    path = shared_dir / "data" / "deepscaler" / "train.jsonl.gz"
    with gzip.open(path, "rt", encoding="utf-8") as handle:
        golds = sorted({json.loads(line)["answer"] for line in handle})
    undecided = [gold for gold in golds if gold_problem("dataflex/deepscaler", gold)]
    assert len(undecided) < 0.04 * len(golds)
    for gold in golds[::7]:
        if gold_problem("dataflex/deepscaler", gold) is None:
            assert math.verify(math.render(gold), gold).score == 1.0


def test_a_box_of_1598_characters_is_the_longest_that_is_read() -> None:
    # Beyond 1,599 characters after its brace a box counts as open.
    assert math.verify("\\boxed{" + " " * 1_597 + "5}", "5").score == 1.0
    assert math.verify("\\boxed{" + " " * 1_598 + "5}", "5").step == "no_box"
