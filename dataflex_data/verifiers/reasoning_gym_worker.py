"""The process that asks reasoning-gym's scorers; see `reasoning_gym` for what it is asked.

What a model wrote must never run as a program. Some scorers of reasoning-gym call Python's ``eval``
on it: here that name means ``ast.literal_eval`` in their modules. Others hand it to sympy, which
evaluates too: those get an answer only if it holds nothing but numbers, operators, short names and
calls of known functions.
"""

from __future__ import annotations

import ast
import json
import re
import sys
from functools import lru_cache
from typing import Any

from dataflex_data.verifiers.symbolic_worker import Judge, serve

_FUNCTIONS = {
    "sin", "cos", "tan", "cot", "sec", "csc", "asin", "acos", "atan", "sinh", "cosh", "tanh",
    "exp", "log", "ln", "sqrt", "Abs", "abs", "Rational", "frac", "left", "right",
}  # fmt: skip
_NAME = re.compile(r"[A-Za-z_]\w*")
_FORMULA = re.compile(r"[\w\s.,+*/^()=\[\]{}\\|!<>:$-]*")


def is_plain_formula(text: str) -> bool:
    """Return whether a text can go to sympy: no attributes, quotes, underscores or odd names."""
    if not _FORMULA.fullmatch(text) or "_" in text or len(text) > 2_000:
        return False
    if re.search(r"[A-Za-z)\]]\s*\.|\.\s*[A-Za-z]", text):
        return False
    return all(len(name) <= 2 or name in _FUNCTIONS for name in _NAME.findall(text))


@lru_cache(maxsize=256)
def _dataset(task: str, config: str) -> Any:  # noqa: ANN401 - reasoning-gym has no types
    import reasoning_gym

    return reasoning_gym.create_dataset(task, **{**json.loads(config), "size": 1, "seed": 0})


def score(answer: str, entry: dict[str, Any]) -> tuple[float, str]:
    """Return the scorer's mark for an answer, and what was refused, if anything."""
    dataset = _dataset(entry["task"], json.dumps(entry["config"], sort_keys=True))
    module = sys.modules[type(dataset).__module__]
    vars(module)["eval"] = ast.literal_eval
    if _uses_sympy(module) and not is_plain_formula(answer):
        return 0.0, "the answer is no plain formula, so it was not evaluated"
    item = {"question": "", "answer": entry["answer"], "metadata": entry["metadata"]}
    return float(dataset.score_answer(answer, item)), ""


def _uses_sympy(module: Any) -> bool:  # noqa: ANN401 - a module
    return any(
        str(getattr(value, "__module__", None) or getattr(value, "__name__", "")).startswith(
            "sympy"
        )
        for value in list(vars(module).values())
    )


def load() -> Judge:
    """Return what judges a request, with reasoning-gym loaded."""
    import reasoning_gym  # noqa: F401 - loaded before saying ready

    def judge(request: dict[str, Any]) -> tuple[bool, str]:
        entry = json.loads(request["gold"])
        try:
            mark, refused = score(request["answer"], entry)
        except Exception as error:  # noqa: BLE001 - whatever a scorer raises is a wrong answer
            return False, f"the scorer of {entry['task']} failed: {type(error).__name__}"
        return mark >= 1.0, refused or f"the scorer of {entry['task']} gives it {mark:g}"

    return judge


if __name__ == "__main__":
    serve(load)
