"""Templates insert text as it is and ask for what the verifier reads."""

from __future__ import annotations

import pytest

from dataflex_data.builders.templates import TEMPLATES, render_prompt, template_problem


def test_boxed() -> None:
    assert render_prompt("boxed", "What is {x} + {options}?") == (
        "What is {x} + {options}?\n\n"
        "Reason step by step, and put your final answer within \\boxed{}."
    )


def test_option_letter_lists_the_options_in_order() -> None:
    assert render_prompt("option_letter", "Which metal?", ["tin", "{question}"]) == (
        "Which metal?\n\nA. tin\nB. {question}\n\n"
        "Reason step by step, and put the letter of the right option within \\boxed{}."
    )


def test_assignment_asks_for_one_final_line() -> None:
    assert "Final answer: NAME is a knight" in render_prompt("assignment", "Who is who?")


def test_a_template_of_the_users_own() -> None:
    assert render_prompt("Q: {question}\n{options}\nA:", "Why?", ["x"]) == "Q: Why?\nA. x\nA:"


@pytest.mark.parametrize(
    ("template", "kind", "part"),
    [
        ("boxed", "choice", "asks for a math answer"),
        ("Solve.", "math", "{question}"),
        ("{question}", "choice", "{options}"),
        ("{question} {options}", "math", "{options}"),
    ],
)
def test_a_template_must_fit_its_verifier(template: str, kind: str, part: str) -> None:
    assert part in (template_problem(template, kind) or "")


@pytest.mark.parametrize("name", TEMPLATES)
def test_known_templates_fit_their_own_kind(name: str) -> None:
    assert template_problem(name, TEMPLATES[name][0]) is None
