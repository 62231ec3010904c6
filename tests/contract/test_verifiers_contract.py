"""What every route promises: gold 1, empty 0, score 0 or 1, never raises, one reward shape."""

from __future__ import annotations

from typing import Any

import pytest

from dataflex_data.core.types import Verdict
from dataflex_data.integrations.verl.reward import compute_score
from dataflex_data.verifiers import routes

OPTIONS = {"options": [f"option text {letter}" for letter in "ABCDEFGHIJ"]}
GOLDS: dict[str, list[tuple[str, str, dict[str, Any]]]] = {
    # verifier: (gold, another answer, extra_info)
    "math": [
        ("72", "73", {}),
        (r"\frac{3}{4}", r"\frac{4}{3}", {}),
        ("1,234", "12,34", {}),
        ("$69$,$84$", "$69$", {}),
        ("025", "250", {}),
        (r"(1,8,19), (2,7,13)", "(1,8,19)", {}),
    ],
    "choice": [
        ("B", "C", OPTIONS),
        ("J", "A", OPTIONS),
        ("(C)", "(D)", {}),
        ("option text D", "option text E", OPTIONS),
    ],
    "reasoning_gym": [
        (
            '{"answer": "4", "config": {}, "metadata": {}, "task": "gcd"}',
            '{"answer": "6", "config": {}, "metadata": {}, "task": "gcd"}',
            {},
        )
    ],
    "logic": [
        (
            "Emma is a knight, Liam is a knave, and Zoë is a knight.",
            "Emma is a knight, Liam is a knight, and Zoë is a knight.",
            {},
        )
    ],
}
HOSTILE = [
    "",
    " ",
    "\\boxed{",
    "\\boxed{}",
    "}{" * 500,
    "\\boxed{" * 300,
    "\\boxed{" + "{" * 300 + "}" * 300 + "}",
    "\\boxed{" + "9^" * 300 + "9}",
    "\\boxed{" + "9" * 5000 + "}",
    "\\boxed{\\frac{1}{0}}",
    "\\boxed{1e999999}",
    "\\boxed{9" + "!" * 50 + "}",
    "\x00\ud800\udfff\\boxed{\ud800}",
    "<think>" * 50,
    "Answer: " * 200,
    "Final answer: " * 200,
    "((((" * 200 + "\\boxed{(((((((((1)}",
    "\\boxed{\\sqrt{\\sqrt{\\sqrt{2}}}}",
    "\\boxed{" + "x+" * 150 + "x}",
    "\\boxed{(a+b+c+d+e+f)^{40}}",
]
ROUTES = list(routes.ROUTES.items())
CASES = [(name, *case) for name, route in ROUTES for case in GOLDS[route.kind]]


@pytest.mark.parametrize(("name", "gold", "other", "extra"), CASES)
def test_gold_scores_one_and_another_answer_zero(
    name: str, gold: str, other: str, extra: dict[str, Any]
) -> None:
    if name == "dataflex/reasoning_gym":
        pytest.importorskip("reasoning_gym", reason="its scorer comes with the extra reasoning_gym")
    assert routes.gold_problem(name, gold, extra) is None
    assert routes.verify(name, routes.render_gold(name, gold, extra), gold, extra).score == 1.0
    assert routes.verify(name, routes.render_gold(name, other, extra), gold, extra).score == 0.0
    assert routes.equivalent(name, gold, gold, extra)
    assert not routes.equivalent(name, gold, other, extra)


@pytest.mark.parametrize(("name", "gold", "other", "extra"), CASES)
def test_hostile_responses_lose_and_never_raise(
    name: str, gold: str, other: str, extra: dict[str, Any]
) -> None:
    for response in HOSTILE:
        verdict = routes.verify(name, response, gold, extra)
        assert isinstance(verdict, Verdict)
        assert verdict.score == 0.0
        assert verdict.reason
        assert verdict.step


@pytest.mark.parametrize(("name", "gold", "other", "extra"), CASES)
def test_one_reward_shape(name: str, gold: str, other: str, extra: dict[str, Any]) -> None:
    for response in (routes.render_gold(name, gold, extra), "", "no answer"):
        reward = compute_score(name, response, gold, extra)
        assert {key: type(value) for key, value in reward.items()} == {
            "score": float,
            "acc": float,
            "pred": str,
        }
        assert reward["score"] in {0.0, 1.0}
        assert reward["acc"] == reward["score"]


@pytest.mark.parametrize(("name", "route"), ROUTES)
def test_every_route_describes_itself(name: str, route: routes.Route) -> None:
    assert route.name == name
    assert route.kind in GOLDS
    assert route.description
    assert route.stock_verl
    assert routes.gold_problem(name, " ") == ("empty", "the gold answer is empty")


@pytest.mark.verl
@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize(("name", "route"), ROUTES)
def test_stock_verl_refuses_what_we_say_it_refuses(name: str, route: routes.Route) -> None:
    pytest.importorskip("verl")
    from verl.utils.reward_score import default_compute_score

    refused = False
    try:
        default_compute_score(name, "\\boxed{3}", "3")
    except NotImplementedError:
        refused = True
    except ImportError:  # a grader of its own that is not installed: known, hence not refused
        refused = False
    assert refused == route.stock_verl.startswith("refuses")


@pytest.mark.verl
@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize(
    ("name", "response", "score"),
    [
        ("openai/gsm8k", "so \\boxed{3}", 0.0),  # asks for ####
        ("math_dapo", "so \\boxed{3}" + " " * 100, -1.0),  # looks at 100 characters only
        ("math_dapo", "Answer: three, that is \\boxed{3}", -1.0),  # prefers Answer:
        ("aime_2024", "so \\boxed{3.0}", -1.0),  # compares strings
        ("lighteval/MATH", "so \\boxed{3.0}", 0.0),  # compares strings
    ],
)
def test_stock_verl_loses_right_answers(name: str, response: str, score: float) -> None:
    """What `Route.stock_verl` warns of."""
    pytest.importorskip("verl")
    from verl.utils.reward_score import default_compute_score

    result = default_compute_score(name, response, "3")
    assert (result["score"] if isinstance(result, dict) else result) == score
    assert compute_score(name, response, "3")["score"] == 1.0


@pytest.mark.verl
@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize(
    ("name", "response"),
    [
        ("openai/gsm8k", "#### 3" + " " * 290),
        ("math_dapo", "Answer: 3" + "\n" * 290),
        ("math_dapo", "so \\boxed{3}" + " " * 90),  # falls back to a box
        ("lighteval/MATH", "so \\boxed{3}" + " " * 400),
    ],
)
def test_stock_verl_finds_answers_where_we_say_it_looks(name: str, response: str) -> None:
    pytest.importorskip("verl")
    from verl.utils.reward_score import default_compute_score

    result = default_compute_score(name, response, "3")
    assert (result["score"] if isinstance(result, dict) else result) == 1.0
