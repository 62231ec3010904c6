"""What could never change anything, or never leave anything, is refused before training."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import pytest

from dataflex_data.core.errors import ConfigError
from dataflex_data.policies.bands import Band
from dataflex_data.policies.checks import Host
from dataflex_data.policies.component import SCORERS, build
from dataflex_data.policies.engine import load_policies
from dataflex_data.policies.presets import PRESETS

FIVE = Host("grpo", group_size=5)
REWARD, RATE, SIZE = "reward_difficulty", "group_solve_rate", "advantage_magnitude"


def block(mechanism: str, scorer: str | None, actuator: str, **params: Any) -> dict[str, Any]:
    made: dict[str, Any] = {
        "mechanism": mechanism,
        "actuator": {"name": actuator, "params": params},
    }
    return made if scorer is None else {**made, "scorer": {"name": scorer}}


def refusal(config: dict[str, Any], host: Host | None = None) -> str:
    with pytest.raises(ConfigError) as caught:
        load_policies(config, host)
    return str(caught.value)


@pytest.mark.parametrize(
    ("config", "words"),
    [
        # Of 5 responses the 8 shortest are all 5; so are the 5.
        (block("select", REWARD, "gfpo"), "`k: 8` keeps all 5 responses"),
        (block("select", REWARD, "gfpo", k=5), "set k below 5"),
        (block("select", REWARD, "max_variance", n=9), "`n: 9` keeps a group of 5 whole"),
        (block("select", REWARD, "max_variance", n=5), "keeps a group of 5 whole"),
        # .9 of 5 is 4.5: 4 by half-even, 5 by ceil.
        (
            block("select", REWARD, "max_variance", keep_fraction=0.9, rounding="ceil"),
            "keeps a group of 5 whole",
        ),
        # .95 of 5 is 4.75, rounded 5.
        (block("select", SIZE, "topk_fraction", fraction=0.95, per="group"), "rounded to all"),
        # The rates of 5 are 0, .2, .4, .6, .8, 1.
        (
            block("select", RATE, "threshold_band", low=0.41, high=0.59),
            "with 5 responses per prompt (0, 1/5, 2/5, 3/5, 4/5, 1)",
        ),
        (block("select", RATE, "threshold_band", low=0.2, high=0.4), "nothing would ever be kept"),
        (
            block("select", RATE, "threshold_band", low=0.0, high=1.0, inclusive="both"),
            "everything would always be kept",
        ),
        (
            block("reweight", RATE, "difficulty_band", low=0.41, high=0.59),
            "all would weigh the same",
        ),
        (
            block("select", REWARD, "matched_random", pair={"name": "gfpo"}),
            "its pair: `k: 8` keeps all 5",
        ),
        (
            block("select", REWARD, "matched_update_token", pair={"name": "gfpo"}),
            "its pair: `k: 8` keeps all 5",
        ),
    ],
)
def test_with_five_responses_per_prompt(config: dict[str, Any], words: str) -> None:
    assert words in refusal(config, FIVE)


@pytest.mark.parametrize(
    ("config", "words"),
    [
        (block("select", SIZE, "topk_fraction", fraction=1.0), "keeps everything"),
        (block("select", REWARD, "max_variance", keep_fraction=1.0), "every group whole"),
        (block("select", RATE, "threshold_band", low=2, high=3), "from 0 to 1, lies in (2, 3)"),
        (block("select", RATE, "threshold_band", low=1, high=2), "lies in (1, 2)"),
        (block("select", RATE, "threshold_band", low=-1, high=2), "lie in (-1, 2)"),
        (block("select", RATE, "threshold_band", low=0.5, high=0.5), "`both` keeps that score"),
        (
            block("select", "response_length", "threshold_band", low=-9, high=0, unit="response"),
            "from 0 to inf, lies in (-9, 0)",
        ),
        (block("reweight", SIZE, "per_advantage", alpha=0), "all weigh the same"),
        (block("reweight", SIZE, "per", alpha=0), "all weigh the same"),
        (block("reweight", SIZE, "per", beta=1), "all weigh the same"),
        (block("reweight", "token_prob", "advantage_reweight", alpha=0), "all weigh the same"),
        (block("reweight", SIZE, "softmax", cap=1), "all weigh the same"),
        (block("reweight", RATE, "difficulty_band", focus_weight=1), "set another"),
        (block("reweight", RATE, "difficulty_band", low=-1, high=2), "all would weigh the same"),
        (
            block("reweight", REWARD, "difficulty_band", by="quantile", low_q=0, high_q=1),
            "all would weigh the same",
        ),
        (block("select", None, "greso", floor=1), "sends every prompt"),
        (block("select", None, "greso", p_easy=1, p_hard=1), "send every prompt"),
    ],
)
def test_whatever_the_group_size(config: dict[str, Any], words: str) -> None:
    assert words in refusal(config)


@pytest.mark.parametrize(
    ("config", "words"),
    [
        (
            block("select", REWARD, "max_variance", keep_fraction=0.8, n=2),
            "keep_fraction has no effect beside `n: 2`",
        ),
        (block("select", REWARD, "max_variance", rounding="ceil", n=2), "rounding has no effect"),
        (block("select", SIZE, "topk_fraction", recompute=False), "recompute has no effect"),
        (block("select", None, "greso", adjust=0.1), "adjust has no effect"),
        (
            {**block("reweight", SIZE, "softmax"), "on_empty": "error"},
            "`on_empty` has no effect: nothing here selects",
        ),
        (
            {**block("select", RATE, "dapo_dynamic"), "domains": ["math", "logic"]},
            "`domains` has no effect: nothing here mixes",
        ),
        (
            {"mechanism": "none", "on_empty": "skip_step"},
            "`on_empty` has no effect: nothing here selects",
        ),
        ({"policies": []}, "`policies` lists none"),
        ({"seed": 3}, "neither `mechanism` nor `policies` is given"),
    ],
)
def test_parameters_without_effect(config: dict[str, Any], words: str) -> None:
    assert words in refusal(config)


@pytest.mark.parametrize(
    "config",
    [
        block("select", REWARD, "gfpo", k=4),
        block("select", REWARD, "max_variance", n=4),
        block("select", REWARD, "max_variance", keep_fraction=0.9),
        block("select", SIZE, "topk_fraction", fraction=0.95),
        block("select", RATE, "threshold_band", low=0.39, high=0.41),
        block("select", RATE, "threshold_band", low=0.5, high=1.0, inclusive="both"),
        block("select", RATE, "dapo_dynamic"),
        block("reweight", SIZE, "per", beta=1, draw="sample"),
        block("reweight", RATE, "difficulty_band", focus_weight=0),
        block("select", None, "greso", p_easy=1, p_hard=1, target_easy=0.1),
        {**block("select", RATE, "dapo_dynamic"), "on_empty": "error"},
    ],
)
def test_what_can_change_something_may_stand(config: dict[str, Any]) -> None:
    assert load_policies(config, FIVE).remarks == []


@pytest.mark.parametrize("name", PRESETS)
def test_the_presets_may_stand_with_the_papers_five(name: str) -> None:
    assert load_policies(PRESETS[name].config, FIVE).remarks == []


def test_what_may_stand_without_effect_is_said() -> None:
    short = load_policies(block("select", REWARD, "gfpo", metric="short", k=2))
    assert short.remarks == [
        "selector 'gfpo' with these parameters reads no scorer: 'reward_difficulty' has no effect"
    ]
    assert load_policies(block("select", None, "gfpo", metric="short", k=2)).remarks == []
    (unknown,) = load_policies(block("reweight", SIZE, "softmax"), Host("grpoo")).remarks
    assert "'grpoo' is none of verl 0.9.1's; did you mean 'grpo'" in unknown
    (unknown,) = load_policies(block("reweight", SIZE, "softmax"), Host("zzz")).remarks
    assert "'zzz' is none of verl 0.9.1's. If it is your own" in unknown


def test_a_band_holds_what_lies_in_it() -> None:
    band = Band(Fraction(1, 5), Fraction(4, 5), left=False)
    assert [Fraction(k, 5) in band for k in range(6)] == [False, False, True, True, True, False]
    assert (band.words, band.empty) == ("(1/5, 4/5]", False)
    assert Band(Fraction(1, 2), Fraction(1, 2), right=False).empty
    assert Fraction(1, 2) in Band(Fraction(1, 2), Fraction(1, 2))
    rate, column = build(SCORERS, RATE), build(SCORERS, "column", {"column": "x"})
    third = Band(Fraction(3, 10), Fraction(7, 20))
    # 1/3 lies between .3 and .35, k/4 and k/5 do not; of a column nothing is known.
    assert third.emptiness(rate, 3) is None
    assert third.emptiness(rate, 4) is not None
    assert third.emptiness(rate, None) is None
    assert Band(Fraction(-9), Fraction(9)).fullness(column, 5) is None
