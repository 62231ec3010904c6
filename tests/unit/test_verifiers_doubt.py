r"""Answers that are taken back, denied, reported, approximate or doubled, and plain ones like them.

Found by readers who had not seen the code; each group names a kind, with right answers that look
much the same beside it.
"""

from __future__ import annotations

import importlib.util

import pytest

from dataflex_data.verifiers import math, routes, symbolic

OPTIONS = {"options": ["iron", "lead", "tin", "gold"]}
KNIGHTS = "Emma is a knight, and Liam is a knight, and Noor is a knight."
needs_symbolic = pytest.mark.skipif(
    importlib.util.find_spec("math_verify") is None, reason="needs the extra 'symbolic'"
)

# (gold, box): wrong with and without the extra
NOT_EQUAL: list[tuple[str, str]] = [
    ("18", "18 \\text{ is wrong}"),
    ("18", "\\geq 18"),
    ("18", "\\le 18"),
    ("18", "17=18"),
    ("18", "18|19"),
    ("18", "18?"),
    ("18", "18 \\text{ (maybe)}"),
    ("18", "\\sim 18"),
    ("18", "18 \\text{ per hour or } 19 \\text{ per day}"),
    ("18", "19 = |18|"),
    ("18", "\\approx 18"),
    ("18", "18|"),
    ("18", "|18|19"),
    ("18", "(18)?"),
    ("5", "5 \\text{ apples and } 3 \\text{ pears}"),
    ("5", "x \\approx 5"),
    ("5", "5 \\text{ (not 6)}"),
    ("\\sin 1 \\text{ cm}", "\\sin 1 \\text{ m}"),
    ("\\sqrt{2+\\sqrt3}\\text{ cm}", "\\sqrt{2+\\sqrt3}\\text{ m}"),
    ("\\cos 1", "0.5403023058681"),
    ("\\cos 1", "\\frac{54030230586813971740}{10^{20}}"),
    ("\\cos(60)", "\\cos(60^\\circ)"),
    ("\\sin 1", "\\sin(1^\\circ)"),
    ("\\sin 1", "\\sin 1\\%"),
    ("(\\cos 1,2)", "(0.5403023058681,2)"),
    ("\\sin 30", "\\sin 30^\\circ"),
    ("\\sin 30^\\circ", "\\sin 30"),
    ("\\sin 2", "\\sin 2^\\circ"),
    ("\\sin 2^\\circ", "\\sin 2"),
    ("\\cos 60", "\\cos 60^\\circ"),
    ("\\cos 60^\\circ", "\\cos 60"),
    ("\\sin 1", "\\sin 1 \\text{ degrees}"),
    ("\\sin 1 \\text{ degrees}", "\\sin 1"),
    ("\\sin 30", "\\sin(30)^\\circ"),
    ("\\sin(30)^\\circ", "\\sin 30"),
]

# (gold, box): equal; the first group is read by the exact ladder
EQUAL: list[tuple[str, str]] = [
    ("18", "9\\cdot 2=18"),
    ("18", "|-18|"),
    ("5", "\\lfloor 5.7\\rfloor"),
    ("1/2", "\\sin(\\pi/6)"),
    ("1", "\\tan 45^\\circ"),
    ("\\tan 45^\\circ", "1"),
    ("\\sin 30^\\circ", "1/2"),
    ("1/2", "\\sin 30^\\circ"),
    ("1/2", "\\cos 60^\\circ"),
    ("1", "\\sin 90^\\circ"),
    ("8", "2^3 = 8"),
    ("5", "|−5|"),
    ("5", "\\color{red}{5}"),
    ("5", "{\\color{red}5}"),
    ("5", "\\textcolor{red}{5}"),
    ("\\sin 1 \\text{ cm}", "\\sin 1"),
    ("2-\\sqrt3", "\\tan 15^\\circ"),
    ("2+\\sqrt3", "\\tan(5\\pi/12)"),
]
EQUAL_WITH_SYMBOLIC: list[tuple[str, str]] = [
    ("1", "\\lim_{x\\to 0}\\frac{\\sin x}{x}"),
    ("55", "\\sum_{k=1}^{10} k"),
    ("-1", "e^{i\\pi}"),
    ("i", "\\sqrt{-1}"),
    ("\\frac18", "\\cos 20^\\circ\\cos 40^\\circ\\cos 80^\\circ"),
    ("\\sin x", "\\cos(\\pi/2-x)"),
    ("\\frac{n(n+1)}{2}", "\\sum_{k=1}^{n} k"),
    ("\\sin 2x", "2\\sin x\\cos x"),
    ("\\sin 20^\\circ", "\\cos 70^\\circ"),
    ("|x-1|", "|1-x|"),
]
BOXES_TAKEN_BACK: list[str] = [
    "\\boxed{17} (or \\boxed{18})",
    "\\boxed{17}或\\boxed{18}",
    "\\boxed{17} \\quad \\boxed{18}",
    "Either \\boxed{17} else \\boxed{18}",
    "The answer is not \\boxed{18}",
    "The answer cannot be \\boxed{18}.",
    "\\boxed{\\approx 18}",
    "\\boxed{18} is wrong",
    "\\boxed{18} (incorrect)",
    "~~\\boxed{18}~~",
    "\\boxed{18}?",
    "\\boxed{17} (\\boxed{18})",
    "It isn't \\boxed{18}",
    "x \\neq \\boxed{18}",
    "The answer isn't \\boxed{18}",
    "\\boxed{18} is not the answer",
    "cannot be equal to $\\boxed{18}$",
    "It can never be \\boxed{18}",
]
BOXES_MEANT: list[str] = [
    "\\boxed{17}\n\nWait, \\boxed{18}",
    "not 17 but \\boxed{18}",
    "\\boxed{18} is the answer",
    "$\\boxed{18}$ (correct)",
    "\\boxed{18}\n\nAny questions?",
    "\\boxed{17} is wrong; \\boxed{18}",
    "\\boxed{18} is not 17",
    "Don't forget the unit. \\boxed{18}",
    "So the total is not 17 but $\\boxed{18}$.",
    "Answer: \\boxed{18} (not 17)",
    "so x can be \\boxed{18}",
    "I'm not sure, but \\boxed{18}",
    "n \\neq 3, n = \\boxed{18}",
    "\\boxed{18}\n\n(That's right, since 9*2=18)",
]
B_IS_NOT_SAID: list[str] = [
    "I don't think the answer is B.",
    "It is not true that the answer is B.",
    "It is false that the answer is B.",
    "I doubt the answer is B.",
    "There is no way the answer is B.",
    "Nobody would say the answer is B.",
    "The student says the answer is B, but the student is wrong.",
    "The answer would be B if lead were light; it is not.",
    "我不认为答案是B",
    "答案是B不对",
    "答案是B吗？",
    "Answer: B (incorrect)",
    "Answer: B isn't right, so C",
    "The answer is B? No.",
    "Answer: B, no wait, C",
    "Answer: B; actually C",
    "Answer: B (or C)",
    "Answer: B C D",
    "<answer>B C</answer>",
    '{"answer": "B C"}',
    "<answer>B\nC</answer>",
    "Answer: B but also C",
    "The answer is B as well as C",
    "Answer: B is incorrect",
    "\\boxed{B C}",
    "\\boxed{B, C}",
    "\\boxed{B} (incorrect)",
    "\\boxed{B}? No.",
    "The answer is not \\boxed{B}",
    "I can't agree that the answer is B.",
    "Some would say that the answer is B.",
    "~~Answer: B~~",
    "It's unlikely that the correct answer is B",
    "Answer: B. No wait, it's C.",
    "有人说答案是B",
    "I do not believe that the correct answer is B",
    "Suppose the answer is B.",
    "Answer: B\nC",
    "不选B",
    "如果选B",
    "选项B是错的",
    "选B还是C",
    "不应该选B",
    "B 是正确答案吗",
    "我认为A是正确答案",
    "选择题B",
    "trans: B",
    "Ans: B or C",
    "我不选 B",
    "学生选B",
]
B_IS_SAID: list[str] = [
    "There is no doubt that the answer is B.",
    "I think the answer is B.",
    "I would say the answer is B.",
    "It cannot be A, so the answer is B.",
    "Since nothing else fits, the answer is B.",
    "This means the answer is B.",
    "No other option fits, so the answer is B.",
    "Answer: B\n\nA. iron is too heavy",
    "The answer is B. No, A is not correct because it rusts.",
    "Answer: B (not A)",
    "I believe the answer is B",
    "Not A. The answer is B.",
    "If lead is heavy, the answer is B.",
    "Answer: B I checked it twice.",
    "选B",
    "故选：B",
    "因此选择 B",
    "正确选项是 B",
    "B 是正确答案",
    "Ans: B",
    "The answer has to be B",
    "It is not hard to see that the answer is B.",
    "Answer: B. Actually, A is close but wrong.",
    "The data suggests the answer is B.",
    "The answer is B, if you check the table.",
    "Answer: B\nA is wrong",
    "We conclude that the answer is B",
    "The answer cannot be A. The answer is B",
    "I'm confident the answer is B",
    "Answer: B, lead",
    "Therefore, I'd say that the answer is B",
    "答案：B",
    "所以答案是B。",
    "综上所述，答案是B",
    "\\boxed{B}\n\nWas this helpful?",
    "The correct option is not A; the answer is B",
    "Since it is not A the answer is B",
]
NOT_ALL_KNIGHTS: list[str] = [
    "Final answer: Emma is a knight, Noor is a knight. Everyone except Liam is a knight.",
    "Final answer: Emma is a knight, Noor is a knight, all but Liam are knights",
    "Everyone but Liam is a knight (Emma is a knight, Noor is a knight).",
    "Final answer: I doubt that Emma is a knight, Liam is a knight and Noor is a knight",
    "Final answer: I deny that Emma is a knight and Liam is a knight and Noor is a knight",
    "Final answer: Nobody believes Emma is a knight and Liam is a knight and Noor is a knight",
    "Final answer: ~~Emma is a knight, Liam is a knight, Noor is a knight.~~",
    "All but Liam are knights. Emma, Noor are knights.",
    "~~Emma is a knight, Liam is a knight, Noor is a knight.~~",
    "Final answer: I don't think Emma is a knight and Liam is a knight and Noor is a knight",
]
ALL_KNIGHTS: list[str] = [
    "Emma | Liam | Noor\n---|---|---\nknight | knight | knight",
    "Final answer:\n\n| Emma | Liam | Noor |\n|---|---|---|\n| knight | knight | knight |",
    "Emma is a knight.\n\nLiam is a knight.\n\nNoor is a knight.",
    "Final answer:\n\nEmma is a knight.\n\nLiam is a knight.\n\nNoor is a knight.",
    "Everyone is a knight.",
]


@pytest.mark.parametrize(("gold", "answer"), NOT_EQUAL)
def test_not_equal(gold: str, answer: str) -> None:
    assert math.verify(f"\\boxed{{{answer}}}", gold).score == 0.0


@needs_symbolic
@pytest.mark.parametrize(("gold", "answer"), NOT_EQUAL)
def test_math_verify_is_not_asked_about_what_the_ladder_refused(gold: str, answer: str) -> None:
    assert math.verify(f"\\boxed{{{answer}}}", gold, symbolic=True).score == 0.0


@pytest.mark.parametrize(("gold", "answer"), EQUAL)
def test_equal(gold: str, answer: str) -> None:
    assert math.verify(f"\\boxed{{{answer}}}", gold).score == 1.0


@needs_symbolic
@pytest.mark.parametrize(("gold", "answer"), EQUAL_WITH_SYMBOLIC)
def test_equal_with_symbolic(gold: str, answer: str, monkeypatch: pytest.MonkeyPatch) -> None:
    # The machine that tests may be busy; the limit itself is tested elsewhere.
    monkeypatch.setattr(symbolic._worker(), "time_limit_s", 90.0)
    assert math.verify(f"\\boxed{{{answer}}}", gold).score == 0.0
    assert math.verify(f"\\boxed{{{answer}}}", gold, symbolic=True).score == 1.0


def test_what_the_ladder_cannot_decide_is_not_called_unequal() -> None:
    verdict = math.verify(r"\boxed{\cos(\pi/2-x)}", r"\sin x")
    assert (verdict.score, verdict.step) == (0.0, "undecided")
    assert "only the extra symbolic can tell" in verdict.reason


@pytest.mark.parametrize("response", BOXES_TAKEN_BACK)
def test_boxes_that_claim_nothing(response: str) -> None:
    assert math.verify(response, "18").score == 0.0


@pytest.mark.parametrize("response", BOXES_MEANT)
def test_boxes_that_are_meant(response: str) -> None:
    assert math.verify(response, "18").score == 1.0


@pytest.mark.parametrize("response", B_IS_NOT_SAID)
def test_option_b_is_not_announced(response: str) -> None:
    assert routes.verify("dataflex/choice", response, "B", OPTIONS).score == 0.0


@pytest.mark.parametrize("response", B_IS_SAID)
def test_option_b_is_announced(response: str) -> None:
    assert routes.verify("dataflex/choice", response, "B", OPTIONS).score == 1.0


@pytest.mark.parametrize("response", NOT_ALL_KNIGHTS)
def test_no_plain_assignment(response: str) -> None:
    assert routes.verify("dataflex/logic", response, KNIGHTS).score == 0.0


@pytest.mark.parametrize("response", ALL_KNIGHTS)
def test_plain_assignment(response: str) -> None:
    assert routes.verify("dataflex/logic", response, KNIGHTS).score == 1.0
