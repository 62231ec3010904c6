"""`dfdata verify` compares every gold with what its row's source says, or solves the puzzle."""

from __future__ import annotations

import copy
from typing import Any

import pytest

from dataflex_data.builders.verification import Check, _answer_problems

QUIZ = (
    "A very special island is inhabited only by knights and knaves. Knights always tell the truth, "
    'and knaves always lie. You meet 2 inhabitants: Emma, and Liam. Emma noted, "Liam is a '
    'knave". Liam told you that Emma is a knave and Liam is a knave. So who is a knight and who is '
    "a knave?"
)


def record(route: str, gold: str, raw: str, **extra: Any) -> dict[str, Any]:
    known = {"raw_answer": raw, "options": [], "n_people": -1, "raw_question": ""}
    return {
        "data_source": route,
        "reward_model": {"ground_truth": gold},
        "extra_info": known | extra,
    }


MATHS = record("dataflex/gsm8k", "18", "9 * 2 = <<9*2=18>>18\n#### 18")
SCIENCE = record("dataflex/sciq", "B", "lead", options=["iron", "lead", "tin", "gold"])
LOGIC = record(
    "dataflex/knights_and_knaves", "Emma is a knight, and Liam is a knave.", "", n_people=2,
    raw_question=QUIZ,
)  # fmt: skip


def problems(base: dict[str, Any], gold: str, *, evaluation: bool = False) -> list[str]:
    changed = copy.deepcopy(base)
    changed["reward_model"]["ground_truth"] = gold
    return list(_answer_problems({"train": [changed]}, evaluation=evaluation))


@pytest.mark.parametrize("base", [MATHS, SCIENCE, LOGIC])
def test_what_the_source_says_is_no_problem(base: dict[str, Any]) -> None:
    assert problems(base, base["reward_model"]["ground_truth"]) == []


@pytest.mark.parametrize(
    ("base", "gold", "told"),
    [
        (MATHS, "999", "its gold is '999', the source's answer is '18'"),
        (MATHS, "I like it", "the source's answer is '18'"),
        (MATHS, "9^{9^{9^9}}", "cannot be used: an exponent is above 10,000"),
        (SCIENCE, "C", "its gold is C, the source's answer 'lead' is another option"),
        # Emma truthful: Liam is a knave, and his claim that both are knaves is false. Emma lying:
        # Liam is a knight and says he is a knave. So only knight, knave solves it.
        (LOGIC, "Emma is a knave, and Liam is a knave.", "does not solve its puzzle"),
        (LOGIC, "Emma is a knight.", "its gold names 1 of 2 people"),
    ],
)
def test_another_gold_is_told(base: dict[str, Any], gold: str, told: str) -> None:
    (problem,) = problems(base, gold)
    assert problem.startswith("train row 0: ")
    assert told in problem


def test_evaluation_sets_keep_golds_that_cannot_be_decided() -> None:
    assert problems(MATHS, "9^{9^{9^9}}", evaluation=True) == []


def test_golds_for_the_extra_symbolic_are_no_problem() -> None:
    base = record("dataflex/deepscaler", r"\sqrt{98 - 14\sqrt{33}}", r"\sqrt{98 - 14\sqrt{33}}")
    assert problems(base, base["reward_model"]["ground_truth"]) == []


def test_one_problem_is_no_plural() -> None:
    assert Check("rows", ("a",)).result == "1 problem"
    assert Check("rows", ("a", "b")).result == "2 problems"
