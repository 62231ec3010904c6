"""Each source: the published quirks one by one, each drop under its name."""

from __future__ import annotations

from typing import Any

import pytest

from dataflex_data.builders.source import SOURCES, Candidate, Drop, FileSource
from dataflex_data.builders.sources.math_dapo import PREFIX, SUFFIX
from dataflex_data.core.config import parse_config
from dataflex_data.core.errors import ConfigError


def source(name: str, **params: Any) -> FileSource:
    found = SOURCES.get(name)
    built = found(parse_config(found.Params, params, name))
    assert isinstance(built, FileSource)
    return built


def parsed(name: str, record: dict[str, Any], **params: Any) -> Candidate:
    result = source(name, **params).parse(record)
    assert isinstance(result, Candidate), result
    return result


def reason(name: str, record: dict[str, Any], **params: Any) -> str:
    result = source(name, **params).parse(record)
    assert isinstance(result, Drop), result
    return result.reason


# GSM8K -----------------------------------------------------------------------------------------


def gsm8k(answer: Any, question: Any = "How many eggs are left?") -> dict[str, Any]:
    return {"question": question, "answer": answer}


def test_gsm8k_gold_is_the_integer_after_the_marks_without_commas() -> None:
    candidate = parsed("gsm8k", gsm8k("She has 48/2=<<48/2=24>>24 left.\nThen 1.\n#### 1,024"))
    assert candidate.gold == "1024"
    assert candidate.raw_answer.endswith("#### 1,024"), "the source's own text is kept"
    assert "<<" not in candidate.question
    assert candidate.difficulty == 2.0  # two lines of working


@pytest.mark.parametrize(("final", "gold"), [("-5", "-5"), ("12,345,678", "12345678"), ("0", "0")])
def test_gsm8k_negative_and_large_golds(final: str, gold: str) -> None:
    assert parsed("gsm8k", gsm8k(f"x\n#### {final}")).gold == gold


@pytest.mark.parametrize(
    ("record", "expected"),
    [
        (gsm8k("no marks here 5"), "no_final_answer"),
        (gsm8k("x\n#### "), "no_final_answer"),
        (gsm8k("x\n#### 1,00"), "gold_not_an_integer"),
        (gsm8k("x\n#### five"), "gold_not_an_integer"),
        (gsm8k(None), "empty_gold"),
        (gsm8k("x\n#### 5", "  "), "empty_question"),
        (gsm8k("x\n#### 5", None), "empty_question"),
        (gsm8k("x\n#### 5", 5), "question_not_text"),
    ],
)
def test_gsm8k_drops(record: dict[str, Any], expected: str) -> None:
    assert reason("gsm8k", record) == expected


# DAPO ------------------------------------------------------------------------------------------


def dapo(content: Any, gold: Any = "7", role: str = "user") -> dict[str, Any]:
    return {
        "prompt": [{"role": role, "content": content}],
        "reward_model": {"ground_truth": gold, "style": "rule"},
    }


def test_dapo_wrapper_is_taken_off_by_its_exact_text() -> None:
    # Trinity-RFT#566: the `Answer:` wrapper kept under a boxed verifier.
    candidate = parsed("math_dapo", dapo(PREFIX + "Find $x$." + SUFFIX))
    assert candidate.question == candidate.raw_question == "Find $x$."
    assert "Answer:" not in candidate.question


def test_dapo_a_problem_that_quotes_the_wrapper_is_not_cut() -> None:
    # The public builder searched for the phrase; here it stands inside the problem.
    inner = "He wrote: Remember to put your answer on its own line. What did he write?"
    assert parsed("math_dapo", dapo(PREFIX + inner + SUFFIX)).question == inner


def test_dapo_golds_of_23_digits_stay_exact_text() -> None:
    gold = "22099999999999998951424"
    assert parsed("math_dapo", dapo(PREFIX + "Find $x$." + SUFFIX, gold)).gold == gold


def test_dapo_integer_golds_of_other_copies_are_taken() -> None:
    assert parsed("math_dapo", dapo(PREFIX + "Find $x$." + SUFFIX, 7)).gold == "7"


def test_dapo_form_feed_becomes_frac_again() -> None:
    content = PREFIX + "Find $\x0crac{1}{2} + 1$." + SUFFIX
    candidate = parsed("math_dapo", dapo(content, "3"))
    assert candidate.question == "Find $\\frac{1}{2} + 1$."
    assert candidate.raw_question == "Find $\x0crac{1}{2} + 1$."


def test_dapo_bare_prompts_only_where_the_recipe_says_so() -> None:
    record = dapo("Find $x$.")
    assert reason("math_dapo", record) == "wrapper_missing"
    assert parsed("math_dapo", record, already_stripped=True).question == "Find $x$."
    half = dapo(PREFIX + "Find $x$.")
    assert reason("math_dapo", half, already_stripped=True) == "wrapper_missing"


@pytest.mark.parametrize(
    ("record", "expected"),
    [
        (dapo(PREFIX + "fi\x0cnd x" + SUFFIX), "broken_escape"),
        (dapo(PREFIX + "  " + SUFFIX), "empty_question"),
        (dapo(PREFIX + "Find $x$." + SUFFIX, ""), "empty_gold"),
        (dapo(PREFIX + "Find $x$." + SUFFIX, None), "empty_gold"),
        (dapo(PREFIX + "Find $x$." + SUFFIX, "7.5"), "gold_not_an_integer"),
        (dapo(PREFIX + "Find $x$." + SUFFIX, 7.0), "gold_not_text"),
        (dapo(None), "prompt_not_one_message"),
        (dapo("x", role="system"), "prompt_not_one_message"),
        ({**dapo("x"), "prompt": "[{'role': 'user'}]"}, "prompt_not_one_message"),
        ({**dapo("x"), "prompt": []}, "prompt_not_one_message"),
        ({**dapo(PREFIX + "x" + SUFFIX), "reward_model": None}, "empty_gold"),
    ],
)
def test_dapo_drops(record: dict[str, Any], expected: str) -> None:
    assert reason("math_dapo", record) == expected


# DeepScaleR ------------------------------------------------------------------------------------


def deep(answer: Any, problem: Any = "What is $x$?", **more: Any) -> dict[str, Any]:
    return {"problem": problem, "answer": answer, **more}


@pytest.mark.parametrize("answer", ["3", "-7", "0.25", "\\frac{1}{27}", "\\dfrac{5}{6}", " 12 "])
def test_deepscaler_keeps_what_the_exact_ladder_decides(answer: str) -> None:
    assert parsed("deepscaler", deep(answer)).gold == answer.strip()


def test_deepscaler_level_is_the_difficulty_where_there_is_one() -> None:
    assert parsed("deepscaler", deep("3", difficulty_level=4)).difficulty == 4.0
    assert parsed("deepscaler", deep("3")).difficulty == -1.0


@pytest.mark.parametrize(
    ("record", "expected"),
    [
        (deep(""), "empty_gold"),
        (deep(None), "empty_gold"),
        (deep("3", ""), "empty_question"),
        (deep("\\text{(C)}"), "gold_is_an_option_letter"),
        (deep("B"), "gold_is_an_option_letter"),
        (deep(24), "gold_not_text"),
        (deep("3", "fi\x0cnd x"), "broken_escape"),
    ],
)
def test_deepscaler_drops(record: dict[str, Any], expected: str) -> None:
    assert reason("deepscaler", record) == expected


def test_deepscaler_profile_counts_undecidable_answers_by_reason() -> None:
    record = deep("the first player wins with perfect play in every position")
    assert reason("deepscaler", record).startswith("gold_")
    assert parsed("deepscaler", record, profile="all").gold.startswith("the first player")


# SciQ ------------------------------------------------------------------------------------------


def sciq(answer: Any = "iron", **changes: Any) -> dict[str, Any]:
    return {
        "question": "Which metal rusts?",
        "correct_answer": answer,
        "distractor1": "gold",
        "distractor2": "tin",
        "distractor3": "zinc",
        "support": "Iron rusts.",
        **changes,
    }


def test_sciq_support_stays_out_of_the_question() -> None:
    candidate = parsed("sciq", sciq())
    assert candidate.support == "Iron rusts."
    assert "Iron rusts" not in candidate.question
    assert candidate.options == ("iron", "gold", "tin", "zinc")


def test_sciq_support_may_be_missing() -> None:
    record = sciq()
    del record["support"]
    assert parsed("sciq", record).support == ""


@pytest.mark.parametrize(
    ("record", "expected"),
    [
        (sciq(distractor1=" Iron "), "duplicate_options"),
        (sciq(distractor1="TIN"), "duplicate_options"),
        (sciq(answer=" "), "empty_gold"),
        (sciq(answer=None), "empty_gold"),
        (sciq(distractor2=""), "empty_option"),
        (sciq(distractor2=7), "option_not_text"),
        (sciq(question=[1]), "question_not_text"),
        (sciq(question=None), "empty_question"),
    ],
)
def test_sciq_drops(record: dict[str, Any], expected: str) -> None:
    # medmcqa#5: duplicated options.
    assert reason("sciq", record) == expected


# The user's own --------------------------------------------------------------------------------


def own(**changes: Any) -> dict[str, Any]:
    base: dict[str, Any] = {
        "path": "x.jsonl",
        "verifier": "math",
        "license": "MIT",
        "columns": {"question": "q", "gold": "a"},
    }
    return {**base, **changes}


def test_a_table_maps_columns_and_keeps_integers_exact() -> None:
    candidate = parsed(
        "jsonl",
        {"q": "How many?", "a": 10**22 + 1, "d": 2},
        **own(columns={"question": "q", "gold": "a", "difficulty": "d"}),
    )
    assert candidate.gold == "10000000000000000000001"
    assert candidate.difficulty == 2.0


def test_a_table_takes_the_last_user_message_of_a_chat() -> None:
    chat = [
        {"role": "system", "content": "Be brief."},
        {"role": "user", "content": "How many?"},
    ]
    assert parsed("jsonl", {"q": chat, "a": "3"}, **own()).question == "How many?"


CHOICE = own(verifier="choice", columns={"question": "q", "gold": "a", "options": "o"})


@pytest.mark.parametrize("gold", ["tin", "B", "b", 1])
def test_a_choice_gold_is_text_letter_or_position(gold: object) -> None:
    record = {"q": "Which?", "a": gold, "o": ["iron", "tin", "zinc"]}
    assert parsed("parquet", record, **CHOICE).options == ("tin", "iron", "zinc")


@pytest.mark.parametrize(
    ("record", "expected"),
    [
        ({"q": "Which?", "a": "lead", "o": ["iron", "tin"]}, "gold_not_among_options"),
        ({"q": "Which?", "a": 5, "o": ["iron", "tin"]}, "gold_not_among_options"),
        ({"q": "Which?", "a": True, "o": ["iron", "tin"]}, "empty_gold"),
        ({"q": "Which?", "a": float("nan"), "o": ["iron"]}, "empty_gold"),
        ({"q": "Which?", "a": "tin", "o": []}, "empty_option"),
        ({"q": "Which?", "a": "tin", "o": ["tin", None]}, "empty_option"),
        ({"q": "Which?", "a": "tin", "o": ["tin", "Tin"]}, "duplicate_options"),
        ({"q": None, "a": "tin", "o": ["tin", "iron"]}, "empty_question"),
    ],
)
def test_a_table_drops(record: dict[str, Any], expected: str) -> None:
    assert reason("jsonl", record, **CHOICE) == expected


@pytest.mark.parametrize(
    ("params", "part"),
    [
        (own(route=""), "`data_source` is empty"),
        (own(route="/data/x.parquet"), "is a path"),
        (own(verifier="choice"), "`columns.options` goes with `verifier: choice`"),
        (own(verifier="regex"), "verifier"),
        (own(licence="MIT"), "did you mean 'license'"),
        (own(license="MIT |\n"), "license"),
        (own(columns={"question": "q"}), "`columns.gold` is missing"),
    ],
)
def test_table_parameters_are_checked(params: dict[str, Any], part: str) -> None:
    with pytest.raises(ConfigError) as caught:
        source("jsonl", **params)
    assert part in str(caught.value)
