"""The reward function for verl, without verl: shape, errors, async and batch forms."""

from __future__ import annotations

import asyncio

import numpy as np
import pytest

from dataflex_data.core.errors import ConfigError, InputDataError, UnknownNameError
from dataflex_data.integrations.verl.reward import (
    compute_score,
    compute_score_async,
    compute_score_batch,
)


def test_one_response() -> None:
    assert compute_score("dataflex/gsm8k", "\\boxed{1,234}", "1234") == {
        "score": 1.0,
        "acc": 1.0,
        "pred": "1,234",
    }


def test_an_integer_gold_of_other_peoples_rows() -> None:
    assert compute_score("openai/gsm8k", "\\boxed{72}", 72)["score"] == 1.0


def test_options_come_from_the_row() -> None:
    extra = {"options": ["gas", "liquid"]}
    assert compute_score("dataflex/sciq", "\\boxed{liquid}", "B", extra)["score"] == 1.0


def test_an_unknown_route_names_route_source_and_neighbours() -> None:
    with pytest.raises(UnknownNameError) as caught:
        compute_score(
            "dataflex/gsm8", "x", "3", {"source": "openai/gsm8k@abc", "row_id": "r1", "index": 7}
        )
    message = str(caught.value)
    assert "'dataflex/gsm8'" in message
    assert "source 'openai/gsm8k@abc'" in message
    assert "row_id 'r1'" in message
    assert "did you mean 'dataflex/gsm8k'" in message
    assert message.index("did you mean") < message.index("knights_and_knaves")


@pytest.mark.parametrize("route", ["", "/data/train.parquet", None])
def test_a_route_that_is_none(route: str) -> None:
    """verl#3450 and verl#6156: an empty route, a path, nothing."""
    with pytest.raises(UnknownNameError, match="is no verifier route"):
        compute_score(route, "x", "3")


@pytest.mark.parametrize("gold", [None, 3.0, ["3"], True])
def test_a_gold_that_is_no_text(gold: object) -> None:
    with pytest.raises(InputDataError, match=r"ground_truth.*source 'mine'"):
        compute_score("dataflex/math", "x", gold, {"source": "mine"})  # type: ignore[arg-type]


def test_a_response_that_is_no_text() -> None:
    with pytest.raises(InputDataError, match="NoneType, not text"):
        compute_score("dataflex/math", None, "3")  # type: ignore[arg-type]


def test_a_mistyped_keyword_does_not_vanish() -> None:
    with pytest.raises(ConfigError, match="'symbolc' is not known; did you mean 'symbolic'"):
        compute_score("dataflex/math", "\\boxed{3}", "3", symbolc=True)
    with pytest.raises(ConfigError, match="must be true or false"):
        compute_score("dataflex/math", "\\boxed{3}", "3", symbolic="yes")


def test_keywords_of_verl_pass() -> None:
    reward = compute_score(
        "dataflex/math", "\\boxed{3}", "3", reward_router_address="x", reward_model_tokenizer=None
    )
    assert reward["score"] == 1.0


def test_the_async_form_says_the_same() -> None:
    async def run() -> list[float]:
        calls = [
            compute_score_async("dataflex/math", f"\\boxed{{{number}}}", "3") for number in range(5)
        ]
        return [reward["score"] for reward in await asyncio.gather(*calls)]

    assert asyncio.run(run()) == [0.0, 0.0, 0.0, 1.0, 0.0]


def test_symbolic_by_keyword() -> None:
    pytest.importorskip("math_verify")
    call = ("dataflex/math", r"\boxed{2^{n+1}}", r"2 \cdot 2^n")
    assert compute_score(*call)["score"] == 0.0
    assert compute_score(*call, symbolic=True)["score"] == 1.0
    assert asyncio.run(compute_score_async(*call, symbolic=True))["score"] == 1.0


def test_the_batch_form() -> None:
    rewards = compute_score_batch(
        ["dataflex/math", "dataflex/sciq"], ["\\boxed{3}", "\\boxed{A}"], ["3", "B"], [None, {}]
    )
    assert [reward["score"] for reward in rewards] == [1.0, 0.0]
    assert compute_score_batch(["dataflex/math"], ["\\boxed{3}"], ["3"])[0]["score"] == 1.0


def test_a_ragged_batch_is_refused() -> None:
    with pytest.raises(InputDataError, match="differ in length"):
        compute_score_batch(["dataflex/math"], ["a", "b"], ["3", "4"])


@pytest.mark.parametrize(
    "options", [{"A": "iron", "B": "lead"}, '["iron", "lead"]', [1, 2], ["iron", None], 5]
)
def test_options_of_another_shape(options: object) -> None:
    with pytest.raises(InputDataError, match=r"`extra_info.options` of row 'r1' must be a list"):
        compute_score("dataflex/choice", "Answer: B", "B", {"options": options, "row_id": "r1"})


def test_options_as_an_array() -> None:
    extra = {"options": np.array(["iron", "lead"], dtype=object)}
    assert compute_score("dataflex/choice", "\\boxed{lead}", "B", extra)["score"] == 1.0


@pytest.mark.parametrize("extra", [[1], "x"])
def test_an_extra_info_that_is_no_mapping(extra: object) -> None:
    with pytest.raises(InputDataError, match="`extra_info` of a row of route 'dataflex/choice' is"):
        compute_score("dataflex/choice", "Answer: B", "B", extra)  # type: ignore[arg-type]


def test_an_integer_of_numpy_as_gold() -> None:
    assert compute_score("dataflex/math", "\\boxed{5}", np.int64(5))["score"] == 1.0


@pytest.mark.parametrize("gold", ["", " \n"])
def test_an_empty_gold(gold: str) -> None:
    with pytest.raises(InputDataError, match=r"source 'mine'.*is empty"):
        compute_score("dataflex/math", "\\boxed{5}", gold, {"source": "mine"})


def test_a_ragged_batch_names_only_what_was_given() -> None:
    with pytest.raises(InputDataError) as caught:
        compute_score_batch(["dataflex/math"], ["a", "b"], ["3", "4"])
    assert "extra_infos" not in str(caught.value)
