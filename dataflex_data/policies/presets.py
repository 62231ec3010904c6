"""The paper's thirteen configurations by name, as their published job lists set them.

Defaults of the components follow their sources; where a job list sets another value, it stands
here. The algorithms are this package's, which do what they say.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from dataflex_data.core.errors import UnknownNameError, did_you_mean


@dataclass(frozen=True, slots=True)
class Preset:
    """A configuration by name.

    Attributes:
        name: Its name.
        about: One sentence.
        config: The ``dataflex`` block.
        note: What differs from the published run, where something does.
    """

    name: str
    about: str
    config: Mapping[str, Any]
    note: str = ""


def _policy(
    mechanism: str,
    scorer: str,
    scorer_params: Mapping[str, Any],
    actuator: str,
    params: Mapping[str, Any],
    **more: Any,  # noqa: ANN401 - plain values of the block
) -> dict[str, Any]:
    return {
        "mechanism": mechanism,
        "scorer": {"name": scorer, "params": dict(scorer_params)},
        "actuator": {"name": actuator, "params": dict(params)},
        "warmup_step": 0,
        **more,
    }


def _mix(scorer: str, mixer: str, params: Mapping[str, Any]) -> dict[str, Any]:
    return _policy("mix", scorer, {}, mixer, params, warmup_step=1, update_step=1)


_PRESETS = (
    Preset("baseline", "No data policy: GRPO as it is.", {"mechanism": "none"}),
    Preset(
        "ar",
        "Improbable tokens count less.",
        _policy("reweight", "token_prob", {}, "advantage_reweight", {"alpha": 0.5}),
    ),
    Preset(
        "per",
        "Responses count by the root of their advantage's size.",
        _policy("reweight", "advantage_magnitude", {}, "per_advantage", {"alpha": 0.5}),
        "prioritised replay with its correction is the reweighter `per`",
    ),
    Preset(
        "softmax",
        "Responses count by the softmax of their advantage's size.",
        _policy(
            "reweight", "advantage_magnitude", {"agg": "mean"}, "softmax", {"temperature": 1.0}
        ),
    ),
    Preset(
        "diffband",
        "Rewards between the quartiles count double.",
        _policy(
            "reweight",
            "reward_difficulty",
            {},
            "difficulty_band",
            {"by": "quantile", "low_q": 0.25, "high_q": 0.75, "focus_weight": 2.0},
        ),
        "with rewards of 0 and 1 nearly every response is in the band; "
        "`by: value` on group_solve_rate is not so",
    ),
    Preset(
        "difffilter",
        "Groups solved by more than a fifth and less than four fifths are kept.",
        _policy(
            "select",
            "group_solve_rate",
            {"success_threshold": 0.5},
            "threshold_band",
            {"low": 0.2, "high": 0.8},
        ),
        "the open interval keeps 2 and 3 solved of 5; `inclusive: both` keeps 1 to 4",
    ),
    Preset(
        "maxvar",
        "The half of each group whose rewards differ most is kept.",
        _policy("select", "reward_difficulty", {}, "max_variance", {"keep_fraction": 0.5}),
        "constant groups are dropped, and advantages made anew among those kept",
    ),
    Preset(
        "gfpo",
        "The three responses of each group with most reward per token are kept.",
        _policy("select", "reward_difficulty", {}, "gfpo", {"k": 3, "metric": "efficiency"}),
        "advantages are made anew among those kept",
    ),
    Preset(
        "topk",
        "The half of the batch with the largest advantages is kept.",
        _policy("select", "advantage_magnitude", {}, "topk_fraction", {"fraction": 0.5}),
    ),
    Preset(
        "static",
        "Equal shares of all domains.",
        _mix("reward_difficulty", "static", {"weights": "equal"}),
    ),
    Preset(
        "reward_gap",
        "More of the domains that are furthest below full reward.",
        _mix("reward_difficulty", "reward_gap", {"temperature": 1.0, "floor": 0.05, "window": 50}),
        "the window counts steps, not rollouts",
    ),
    Preset(
        "dump_ucb",
        "More of the domains with large advantages or few visits.",
        _mix(
            "advantage_magnitude",
            "dump_ucb",
            {"temperature": 1.0, "c": 1.0, "floor": 0.05, "window": 50},
        ),
        "reads the advantage's size, as its docs say; the job list gave it the reward",
    ),
    Preset(
        "tscl",
        "More of the domains whose reward moves.",
        _mix(
            "reward_difficulty",
            "tscl",
            {
                "variant": "window",
                "policy": "boltzmann",
                "abs": True,
                "temperature": 1.0,
                "floor": 0.05,
                "window": 50,
            },
        ),
        "reads the reward's slope; the public plugin's read its mean",
    ),
)
PRESETS: Mapping[str, Preset] = {preset.name: preset for preset in _PRESETS}


def preset(name: str) -> Preset:
    """Return a preset.

    Raises:
        UnknownNameError: There is none of that name.
    """
    try:
        return PRESETS[name]
    except KeyError:
        raise UnknownNameError(
            f"preset {name!r} is not known{did_you_mean(name, PRESETS)} "
            f"(known: {', '.join(sorted(PRESETS))})"
        ) from None
