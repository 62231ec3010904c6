"""Prompt templates: how a question becomes the text a model sees, one per kind of verifier.

The wording asks for exactly what the verifier reads. A recipe may bring its own text instead of a
name, with ``{question}`` in it (and ``{options}`` for multiple choice).
"""

from __future__ import annotations

from collections.abc import Sequence

LETTERS = "ABCDEFGHIJ"

TEMPLATES: dict[str, tuple[str, str]] = {
    # name: (kind of verifier, text)
    "boxed": (
        "math",
        "{question}\n\nReason step by step, and put your final answer within \\boxed{}.",
    ),
    "option_letter": (
        "choice",
        "{question}\n\n{options}\n\n"
        "Reason step by step, and put the letter of the right option within \\boxed{}.",
    ),
    "answer_tags": (
        "reasoning_gym",
        "{question}\n\nReason step by step, and put your final answer between <answer> and "
        "</answer>.",
    ),
    "assignment": (
        "logic",
        "{question}\n\nReason step by step. End with one line that says for every inhabitant what "
        "they are, in this form:\n"
        "Final answer: NAME is a knight, NAME is a knave, ...",
    ),
}


def template_problem(template: str, kind: str) -> str | None:
    """Return why ``template`` does not go with a verifier ``kind``, ``None`` where it does."""
    if template in TEMPLATES:
        made_for = TEMPLATES[template][0]
        if made_for != kind:
            return f"template {template!r} asks for a {made_for} answer, the verifier reads {kind}"
        return None
    if "{question}" not in template:
        return (
            f"template {template!r} is neither a known name ({', '.join(TEMPLATES)}) nor a text "
            "with {question} in it"
        )
    if (kind == "choice") != ("{options}" in template):
        return "a template has {options} exactly where the verifier is choice"
    return None


def render_prompt(template: str, question: str, options: Sequence[str] = ()) -> str:
    """Return the user message for a question.

    Args:
        template: A name of `TEMPLATES`, or a text of the user's own.
        question: Inserted as it is; braces in it mean nothing.
        options: Texts in letter order.
    """
    text = TEMPLATES[template][1] if template in TEMPLATES else template
    lines = "\n".join(f"{LETTERS[number]}. {option}" for number, option in enumerate(options))
    # One pass, so that a question that holds "{options}" stays as it is.
    before, _, after = text.partition("{question}")
    return before.replace("{options}", lines) + question + after.replace("{options}", lines)
