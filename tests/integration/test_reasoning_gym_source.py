"""The source `reasoning_gym` and its route: seeds, drops, verdicts, hostile answers, no extra."""

from __future__ import annotations

import json
import sys
from typing import Any

import pytest

from dataflex_data.builders.source import SOURCES, Generation, GenerationRequest
from dataflex_data.builders.sources.reasoning_gym import ReasoningGym, ReasoningGymParams
from dataflex_data.core.errors import (
    ConfigError,
    MissingExtraError,
    ShortfallError,
    UnknownNameError,
)
from dataflex_data.integrations.verl.reward import compute_score
from dataflex_data.verifiers import reasoning_gym as verifier
from dataflex_data.verifiers import routes

pytest.importorskip("reasoning_gym", reason="needs the extra reasoning_gym")
ROUTE = "dataflex/reasoning_gym"


def made(task: str, seed: int = 1, train: int = 30, **config: object) -> Generation:
    """Return generated items of a task."""
    source = ReasoningGym(ReasoningGymParams(task=task, config=config))
    return source.generate(GenerationRequest(seed=seed, count_by_split={"train": train}))


def test_neighbouring_seeds_do_not_repeat_each_other_shifted() -> None:
    import reasoning_gym

    # The library itself: item i + 1 of seed 42 is item i of seed 43.
    first = reasoning_gym.create_dataset("gcd", size=3, seed=42)
    assert (
        first[1]["question"] == reasoning_gym.create_dataset("gcd", size=3, seed=43)[0]["question"]
    )
    questions = [
        {one.question for one in made("basic_arithmetic", seed, 60).candidates_by_split["train"]}
        for seed in (42, 43)
    ]
    assert not questions[0] & questions[1]
    assert len(questions[0]) == 60


def test_the_same_seed_gives_the_same_items() -> None:
    assert made("gcd").candidates_by_split == made("gcd").candidates_by_split


@pytest.mark.parametrize(
    "task", ["countdown", "spiral_matrix", "family_relationships", "complex_arithmetic", "lcm"]
)
def test_golds_score_one_through_our_reward_function_and_others_zero(task: str) -> None:
    golds = [one.gold for one in made(task, train=6).candidates_by_split["train"]]
    for gold in golds:
        answer = json.loads(gold)["answer"]
        right = f"<think>hm</think> so <answer>{answer}</answer>"
        assert compute_score(ROUTE, right, gold)["score"] == 1.0
        assert compute_score(ROUTE, f"the answer is {answer}", gold)["score"] == 0.0
        assert compute_score(ROUTE, "<answer>gibberish</answer>", gold)["score"] == 0.0


def test_another_right_answer_is_found_by_the_tasks_own_scorer() -> None:
    # Any expression of the numbers that makes the target is right, not only the stored one.
    gold = verifier.gold("countdown", {}, "2*(3+4)", {"numbers": [2, 3, 4], "target": 14})
    verdict = routes.verify(ROUTE, "<answer>(4+3)*2</answer>", gold)
    assert (verdict.score, verdict.step) == (1.0, "scorer")
    assert routes.verify(ROUTE, "<answer>(4+3)*3</answer>", gold).score == 0.0


def test_partial_credit_is_no_reward_and_is_named() -> None:
    gold = verifier.gold("gcd", {}, "12", {})
    verdict = routes.verify(ROUTE, "<answer>it is 12</answer>", gold)
    assert verdict.score == 0.0
    assert "gives it 0.25" in verdict.reason  # the library pays 2 of 8 characters


@pytest.mark.parametrize(
    ("task", "answer", "metadata"),
    [
        ("spiral_matrix", "1 2", {"matrix": [[1, 2]], "solution": [1, 2]}),
        ("countdown", "2*(3+4)", {"numbers": [2, 3, 4], "target": 14}),
    ],
)
def test_what_a_model_wrote_is_never_run(
    task: str, answer: str, metadata: dict[str, Any], tmp_path: Any
) -> None:
    target = tmp_path / "written"
    gold = verifier.gold(task, {}, answer, metadata)
    for code in (
        f"[__import__('pathlib').Path({str(target)!r}).touch()]",
        f"[open({str(target)!r}, 'w')]",
        f"open({str(target)!r},'w')",
    ):
        assert routes.verify(ROUTE, f"<answer>{code}</answer>", gold).score == 0.0
    assert not target.exists()


def test_null_answers_are_skipped_and_counted(monkeypatch: pytest.MonkeyPatch) -> None:
    # rush_hour stores no answer at all: nothing usable, and the message says why.
    monkeypatch.setattr("dataflex_data.builders.sources.reasoning_gym._FRUITLESS_BLOCKS", 2)
    with pytest.raises(ShortfallError, match=r"answer_missing 200.*choose another task"):
        made("rush_hour", train=1)


def test_faults_are_named() -> None:
    with pytest.raises(UnknownNameError, match="did you mean 'countdown'"):
        made("countdwn")
    with pytest.raises(ConfigError, match="task gcd"):
        made("gcd", min_numbers=0)
    assert routes.gold_problem(ROUTE, "12") is not None
    assert routes.verify(ROUTE, "<answer>12</answer>", "12").step == "unread_gold"


@pytest.fixture
def without_the_extra(monkeypatch: pytest.MonkeyPatch) -> None:
    """Hide the package."""
    monkeypatch.setitem(sys.modules, "reasoning_gym", None)
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    monkeypatch.setattr(verifier, "_workers", {})


@pytest.mark.usefixtures("without_the_extra")
def test_without_the_extra_the_error_names_it() -> None:
    with pytest.raises(MissingExtraError, match=r"dataflex-data\[reasoning-gym\]"):
        made("gcd")
    gold = verifier.gold("gcd", {}, "12", {})
    assert routes.verify(ROUTE, "<answer>12</answer>", gold).score == 1.0
    with pytest.raises(MissingExtraError):
        routes.verify(ROUTE, "<answer>13</answer>", gold)


def test_it_is_a_registered_source() -> None:
    assert SOURCES.get("reasoning_gym") is ReasoningGym
