"""Each mixer against hand-worked numbers (POLICIES.md section 7; the arithmetic stands beside)."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

from dataflex_data.core.config import parse_config
from dataflex_data.core.errors import ConfigError, DataflexError, InputDataError, UnknownNameError
from dataflex_data.core.registry import Registry
from dataflex_data.samplers.domain_tracker import DomainStats, Window
from dataflex_data.samplers.mixer import MIXERS, Mixer, MixerParams, build_mixer
from dataflex_data.samplers.mixers.adarft import Adarft
from dataflex_data.samplers.mixers.plr import rank_shares
from dataflex_data.samplers.mixers.tscl import Tscl, slope
from dataflex_data.samplers.signals import relative_variance

NAN = math.nan


def window(values: list[float], steps: list[int] | None = None) -> Window:
    places = list(range(len(values))) if steps is None else steps
    return Window(np.array(places), np.array(values, float), np.ones(len(values), dtype=np.int64))


def stats_of(
    values: list[float],
    *,
    step: int = 1,
    counts: list[int] | None = None,
    rollouts: list[int] | None = None,
    drawn_by: list[float] | None = None,
    windows: list[Window] | None = None,
    staleness: list[int] | None = None,
    unused: list[int] | None = None,
    batch_size: int = 16,
) -> DomainStats:
    """Statistics whose latest report and whole window hold ``values``."""
    n = len(values)
    latest = np.array(values, dtype=np.float64)
    seen = (~np.isnan(latest)).astype(np.int64)
    units = np.array(counts) if counts is not None else seen
    empty = Window(np.array([], int), np.array([]), np.array([], int))
    return DomainStats(
        domains=tuple(f"d{i}" for i in range(n)),
        step=step,
        batch_size=batch_size,
        windows=tuple(windows or [empty if np.isnan(v) else window([v]) for v in values]),
        latest_step=step - 1,
        latest_D=latest,
        latest_counts_D=units,
        latest_proportions_D=np.array(drawn_by if drawn_by is not None else [1 / n] * n),
        latest_groups_D=units,
        groups_D=units,
        rollouts_D=np.array(rollouts if rollouts is not None else units),
        staleness_D=np.array(staleness if staleness is not None else [0] * n),
        unused_D=np.array(unused if unused is not None else [1000] * n),
        sizes_D=np.array([1000] * n),
    )


def mixer_of(name: str, n: int, seed: int = 0, **params: Any) -> Mixer:
    return build_mixer(name, params, [f"d{i}" for i in range(n)], seed)


def proportions(name: str, values: list[float], **params: Any) -> npt.NDArray[np.float64]:
    """Proportions after one report of ``values``."""
    mixer = mixer_of(name, len(values), **params)
    mixer.observe(stats_of(values))
    return mixer.proportions(stats_of(values))


def close(result: npt.ArrayLike, expected: list[float], tolerance: float = 1e-9) -> None:
    assert np.asarray(result).tolist() == pytest.approx(expected, abs=tolerance, rel=0)


def test_static() -> None:
    close(proportions("static", [NAN] * 3, weights={"d0": 2, "d1": 1, "d2": 1}), [0.5, 0.25, 0.25])
    close(proportions("static", [NAN] * 4), [0.25] * 4)


def test_static_by_size() -> None:
    close(proportions("static", [NAN] * 2, weights="size"), [0.5, 0.5])


@pytest.mark.parametrize(
    ("weights", "message"),
    [
        ({"d0": 1.0}, "nothing is given for 'd1'"),
        ({"d0": 1.0, "d1": 1.0, "d11": 1.0}, "'d11' is not a domain; did you mean 'd1'"),
        ({"d0": 1.0, "d1": -0.5}, "d1 = -0.5"),
        ({"d0": 0.0, "d1": 0.0}, "zero for all 2 domains"),
        ({"d0": 1.0, "d1": math.nan}, r"`weights.d1`: input should be a finite number \(got nan\)"),
        ({"d0": 1.0, "d1": math.inf}, r"`weights.d1`: .* finite number \(got inf\)"),
    ],
)
def test_static_weights_that_do_not_fit(weights: dict[str, float], message: str) -> None:
    with pytest.raises(DataflexError, match=message):
        mixer_of("static", 2, weights=weights)


@pytest.mark.parametrize("value", [math.nan, math.inf])
@pytest.mark.parametrize("name", MIXERS.names())
def test_no_parameter_of_any_mixer_takes_what_is_not_finite(name: str, value: float) -> None:
    params = MIXERS.get(name).Params
    numbers = [
        key for key, field in params.model_fields.items() if "float" in str(field.annotation)
    ]
    assert "floor" in numbers
    for key in numbers:
        given = (
            {"d0": value, "d1": 1.0}
            if "dict" in str(params.model_fields[key].annotation)
            else value
        )
        with pytest.raises(ConfigError, match=f"`{key}"):
            parse_config(params, {key: given}, name)


def test_reward_gap() -> None:
    close(
        proportions("reward_gap", [0.9, 0.5, 0.1], temperature=0.5),
        [0.122270713589, 0.272118477449, 0.605610808962],
    )


def test_reward_gap_above_its_target_has_no_gap() -> None:
    # gaps 0, 0 and .5: 1, 1 and e^.5 over their sum
    e = math.exp(0.5)
    close(
        proportions("reward_gap", [0.6, 0.9, 0.0], target=0.5, temperature=1.0),
        [1 / (2 + e), 1 / (2 + e), e / (2 + e)],
    )


@pytest.mark.parametrize("name", ["reward_gap", "dads", "sec", "vcrl"])
def test_an_unseen_domain_has_an_equal_share_and_is_not_reward_zero(name: str) -> None:
    p = proportions(name, [0.9, 0.5, NAN])
    assert p[2] == pytest.approx(1 / 3)
    assert p.sum() == pytest.approx(1)


def test_dump_ucb() -> None:
    mixer = mixer_of("dump_ucb", 3)
    close(
        mixer.proportions(stats_of([0.5, 0.2, 0.0], rollouts=[100, 100, 100])),
        [0.946499122553, 0.0471234165247, 0.00637746092244],
    )
    close(
        mixer_of("dump_ucb", 2).proportions(stats_of([0.8, 0.4], rollouts=[320, 640])),
        [0.99009478015, 0.00990521984966],
    )


def test_dump_ucb_of_nothing_is_uniform_and_the_unseen_get_the_largest_bonus() -> None:
    mixer = mixer_of("dump_ucb", 2, temperature=1.0)
    close(mixer.proportions(stats_of([NAN, NAN], rollouts=[0, 0])), [0.5, 0.5])
    # N = 3: bonuses sqrt(2 ln 4 / 4) = .8326 and sqrt(2 ln 4) = 1.6651; means .5 and 0
    first, second = math.exp(0.5 + 0.83255461), math.exp(1.66510922)
    close(
        mixer.proportions(stats_of([0.5, NAN], rollouts=[3, 0])),
        [first / (first + second), second / (first + second)],
        1e-7,
    )


def test_dump_ucb_and_tscl_do_not_give_the_same_numbers() -> None:
    # In the reference both are fed mean reward, and agree.
    assert not np.allclose(
        mixer_of("dump_ucb", 2).proportions(stats_of([0.8, 0.2], rollouts=[10, 90])),
        mixer_of("tscl", 2).proportions(
            stats_of([0.8, 0.2], windows=[window([0.7, 0.8]), window([0.5, 0.2])])
        ),
    )


def test_tscl_online() -> None:
    mixer = mixer_of("tscl", 2, variant="online")
    assert isinstance(mixer, Tscl)
    for x, q in ((0.2, 0.02), (0.5, 0.048), (0.4, 0.0332)):
        mixer.observe(stats_of([x, NAN]))
        assert mixer.progress(stats_of([x, NAN]))[0] == pytest.approx(q, abs=1e-12)


def test_tscl_online_is_not_poisoned_by_a_missing_step() -> None:
    mixer = mixer_of("tscl", 2, variant="online")
    assert isinstance(mixer, Tscl)
    for x in (0.2, NAN, 0.5, NAN, NAN, 0.4):
        mixer.observe(stats_of([x, 0.1]))
    assert mixer.progress(stats_of([0.4, 0.1]))[0] == pytest.approx(0.0332, abs=1e-12)


def test_tscl_naive() -> None:
    # slope over 0..3: sum (x - 1.5)(y - .3) / 5 = (.3 + .05 + .05 + .3) / 5
    y = [0.1, 0.2, 0.4, 0.5]
    assert slope(range(4), y) == pytest.approx(0.14)
    mixer = mixer_of("tscl", 1, variant="naive")
    assert isinstance(mixer, Tscl)
    mixer.observe(stats_of([0.5], windows=[window(y)]))
    assert mixer.progress(stats_of([0.5]))[0] == pytest.approx(0.014)


def test_tscl_window_is_over_steps_not_observations() -> None:
    assert slope([0, 2, 5], [0.1, 0.3, 0.2]) == pytest.approx(0.0157894736842, abs=1e-12)
    mixer = mixer_of("tscl", 1, variant="window")
    assert isinstance(mixer, Tscl)
    stats = stats_of([0.2], windows=[window([0.1, 0.3, 0.2], [0, 2, 5])])
    assert mixer.progress(stats)[0] == pytest.approx(0.0157894736842, abs=1e-12)


def test_tscl_sampling_draws_one_of_the_recent_changes() -> None:
    stats = stats_of([0.2] * 3, step=7, windows=[window([0.1, 0.3, 0.2])] * 3)
    drawn = [mixer_of("tscl", 3, seed, variant="sampling") for seed in range(20)]
    values = {
        round(float(q), 12)
        for mixer in drawn
        if isinstance(mixer, Tscl)
        for q in mixer.progress(stats)
    }
    assert values == {0.2, -0.1}
    same = [mixer.proportions(stats).tolist() for mixer in (drawn[3], drawn[3])]
    assert same[0] == same[1]


def with_progress(progress: list[float], **params: Any) -> npt.NDArray[np.float64]:
    """Proportions for slopes given as two rewards, one step apart."""
    windows = [window([0.0, q]) for q in progress]
    mixer = mixer_of("tscl", len(progress), **params)
    return mixer.proportions(stats_of(progress, windows=windows))


def test_tscl_boltzmann_on_the_size_of_progress() -> None:
    close(
        with_progress([0.01, 0.02, -0.03], policy="boltzmann", temperature=0.01),
        [0.0900305731704, 0.244728471055, 0.665240955775],
    )
    signed = with_progress([0.01, 0.02, -0.03], policy="boltzmann", temperature=0.01, abs=False)
    assert signed.argmin() == 2


def test_tscl_egreedy() -> None:
    close(with_progress([0.01, 0.02, -0.03]), [0.1 / 3, 0.1 / 3, 0.9 + 0.1 / 3])
    close(with_progress([0.01, 0.02, -0.03], abs=False), [0.1 / 3, 0.9 + 0.1 / 3, 0.1 / 3])


def test_tscl_with_one_observation_keeps_an_equal_share() -> None:
    stats = stats_of([0.2, 0.3], windows=[window([0.1, 0.2]), window([0.3])])
    assert mixer_of("tscl", 2).proportions(stats)[1] == pytest.approx(0.5)


def test_odm() -> None:
    mixer = mixer_of("odm", 3, initial={"d0": 0.5, "d1": 0.3, "d2": 0.2})
    close(mixer.initial_proportions(stats_of([NAN] * 3)), [0.5, 0.3, 0.2])
    mixer.observe(stats_of([2.0, NAN, NAN], step=1, drawn_by=[0.5, 0.3, 0.2]))
    close(mixer.proportions(stats_of([NAN] * 3)), [1 / 3] * 3)
    mixer.observe(stats_of([NAN, 4.0, NAN], step=10, drawn_by=[1 / 3] * 3))
    close(mixer.proportions(stats_of([NAN] * 3)), [0.325264587361, 0.366185116446, 0.308550296192])


def test_exp3() -> None:
    # rhat = .8 / (1/3) = 2.4, w = exp(.1 x 2.4 / 3)
    close(
        proportions("exp3", [NAN, 0.8, NAN]),
        [0.325229605152, 0.349540789697, 0.325229605152],
    )


def test_exp3_averages_the_draws_of_a_batch() -> None:
    # Half of the draws from each of two domains, drawn by 1/2 each: rhat = r (1/2) / (1/2) = r.
    p = proportions("exp3", [0.8, 0.2], gamma=0.5)
    first, second = math.exp(0.5 * 0.8 / 2), math.exp(0.5 * 0.2 / 2)
    assert p[0] == pytest.approx(0.5 * first / (first + second) + 0.25)


@pytest.mark.parametrize("reward", [-0.1, 1.1])
def test_exp3_refuses_rewards_outside_its_range(reward: float) -> None:
    with pytest.raises(InputDataError, match=r"rewards in \[0, 1\]"):
        proportions("exp3", [reward, 0.5])


def test_sec() -> None:
    close(
        proportions("sec", [0.8, 0.4, 0.1]),
        [0.396287759701, 0.324452975936, 0.279259264363],
    )


def test_sec_moves_only_the_domains_drawn() -> None:
    mixer = mixer_of("sec", 2)
    mixer.observe(stats_of([0.8, 0.4]))
    mixer.observe(stats_of([NAN, 0.4]))
    # Q = .4 and .5 x .4 + .5 x .2 = .3
    close(
        mixer.proportions(stats_of([NAN, NAN])), [1 / (1 + math.exp(-0.1)), 1 / (1 + math.exp(0.1))]
    )


def test_dads() -> None:
    close(
        proportions("dads", [0.9, 0.5, 0.1]),
        [0.0521224686478, 0.197735335901, 0.750142195451],
    )


def test_dads_takes_zero_for_a_value_and_keeps_absent_domains() -> None:
    mixer = mixer_of("dads", 2)
    for values in ([0.0, 0.5], [1.0, NAN]):
        mixer.observe(stats_of(values))
    # .5 x 1 + .5 x 0 = .5: were 0.0 "no history", it would be 1.
    close(mixer.proportions(stats_of([NAN, NAN])), [0.5, 0.5])


@pytest.mark.parametrize(("size", "solved", "share"), [(8, 2, 0.75), (5, 2, 1.0), (8, 4, 1.0)])
def test_group_variance_over_its_maximum(size: int, solved: int, share: float) -> None:
    # squares: k (1 - k/G)^2 + (G - k) (k/G)^2 = k (G - k) / G
    squares = np.array([solved * (size - solved) / size])
    close(relative_variance(squares, np.array([size])), [share])


def test_vcrl() -> None:
    close(proportions("vcrl", [0.75, 0.25]), [0.75, 0.25])
    close(proportions("vcrl", [0.0, 0.0]), [0.5, 0.5])


def test_thompson_mean() -> None:
    mixer = mixer_of("thompson", 2, sample=False, discount=1.0)
    mixer.observe(stats_of([0.8, 0.2], counts=[10, 10]))
    close(mixer.proportions(stats_of([NAN, NAN])), [0.75, 0.25])


def test_thompson_draws_are_keyed_by_the_step() -> None:
    mixer = mixer_of("thompson", 2, seed=3)
    one, again, other = (mixer.proportions(stats_of([NAN, NAN], step=s)) for s in (5, 5, 6))
    assert one.tolist() == again.tolist()
    assert one.tolist() != other.tolist()


def test_thompson_draws_have_the_beta_mean() -> None:
    # 19 solved and 9 failed with the prior: 20 / 30. Standard error of 400 draws: .0043.
    mixer = mixer_of("thompson", 2, discount=1.0)
    mixer.observe(stats_of([19 / 28, 19 / 28], counts=[28, 28]))
    drawn = [np.asarray(mixer.raw_proportions(stats_of([NAN, NAN], step=s))) for s in range(200)]
    assert np.mean(drawn) == pytest.approx(2 / 3, abs=0.02)


def test_thompson_favours() -> None:
    for favour, expected in (("failure", [0.25, 0.75]), ("learnable", [0.5, 0.5])):
        mixer = mixer_of("thompson", 2, sample=False, discount=1.0, favour=favour)
        mixer.observe(stats_of([0.8, 0.2], counts=[10, 10]))
        close(mixer.proportions(stats_of([NAN, NAN])), expected)


def test_doremi() -> None:
    mixer = mixer_of("doremi", 3, initial={"d0": 0.5, "d1": 0.3, "d2": 0.2})
    mixer.observe(stats_of([0.2, 0.0, 0.5]))
    close(
        mixer.proportions(stats_of([NAN] * 3)),
        [0.492165189049, 0.241940052704, 0.265894758247],
    )


def test_plr() -> None:
    scores, stale = np.array([0.3, 0.1, 0.6]), np.array([2, 0, 1])
    close(
        0.9 * rank_shares(scores, 0.1) + 0.1 * stale / stale.sum(),
        [0.0675447005921, 1.52264515847e-5, 0.932440072956],
    )
    mixer = mixer_of(
        "plr", 3, inner={"name": "static", "params": {"weights": {"d0": 3, "d1": 1, "d2": 6}}}
    )
    close(
        mixer.proportions(stats_of([NAN] * 3, staleness=[2, 0, 1])),
        [0.0675447005921, 1.52264515847e-5, 0.932440072956],
    )


def test_plr_without_staleness_is_the_score_alone() -> None:
    mixer = mixer_of("plr", 2, inner={"name": "static"}, prioritise="inner")
    close(mixer.proportions(stats_of([NAN] * 2)), [0.5, 0.5])
    close(mixer.proportions(stats_of([NAN] * 2, staleness=[1, 3])), [0.475, 0.525])


def test_plr_gives_equal_scores_equal_shares() -> None:
    close(rank_shares([0.5, 0.5], 0.1), [0.5, 0.5])


def test_plr_over_itself_is_refused() -> None:
    with pytest.raises(InputDataError, match="another mixer"):
        mixer_of("plr", 2, inner={"name": "plr", "params": {"inner": {"name": "static"}}})


def test_adarft_moves_its_target() -> None:
    mixer = mixer_of("adarft", 2, difficulty={"d0": 10.0, "d1": 90.0})
    assert isinstance(mixer, Adarft)
    mixer.observe(stats_of([0.9, NAN]))
    assert mixer.target == pytest.approx(33.2018385134, abs=1e-9)
    mixer.observe(stats_of([0.2, NAN]))
    assert mixer.target == pytest.approx(6.34936016349, abs=1e-9)


def test_adarft_fills_from_the_nearest_bin_with_unused_rows() -> None:
    mixer = mixer_of("adarft", 3, difficulty={"d0": 0.0, "d1": 50.0, "d2": 100.0})
    # target 0: 10 unused of the first, then 6 of the second
    close(
        mixer.proportions(stats_of([NAN] * 3, unused=[10, 100, 100])),
        [10 / 16, 6 / 16, 0.0],
    )
    # All used up but 3 + 2 + 1: the nearest gives the other 10 once more.
    close(
        mixer.proportions(stats_of([NAN] * 3, unused=[3, 2, 1])),
        [13 / 16, 2 / 16, 1 / 16],
    )


def test_schedule_holds_and_anneals() -> None:
    points = [
        {"step": 0, "weights": {"d0": 1.0, "d1": 0.0}},
        {"step": 10, "weights": "equal"},
    ]
    hold, linear = (mixer_of("schedule", 2, points=points, between=b) for b in ("hold", "linear"))
    expected: dict[int, tuple[list[float], list[float]]] = {
        0: ([1, 0], [1, 0]),
        5: ([1, 0], [0.75, 0.25]),
        10: ([0.5] * 2, [0.5] * 2),
    }
    for step, (held, annealed) in expected.items():
        close(hold.proportions(stats_of([NAN] * 2, step=step)), held)
        close(linear.proportions(stats_of([NAN] * 2, step=step)), annealed)
    close(linear.proportions(stats_of([NAN] * 2, step=99)), [0.5, 0.5])


@pytest.mark.parametrize("steps", [[1, 5], [0, 5, 5], [0, 9, 3]])
def test_a_schedule_out_of_order_is_refused(steps: list[int]) -> None:
    points = [{"step": step, "weights": "equal"} for step in steps]
    with pytest.raises(InputDataError, match="begin at step 0 and ascend"):
        mixer_of("schedule", 2, points=points)


def test_a_mistyped_parameter_does_not_vanish() -> None:
    with pytest.raises(ConfigError, match="did you mean 'temperature'"):
        mixer_of("reward_gap", 2, temprature=0.5)
    with pytest.raises(UnknownNameError, match="did you mean 'reward_gap'"):
        mixer_of("reward_gapp", 2)


@pytest.mark.parametrize(
    ("name", "params"),
    [
        ("static", {}),
        ("reward_gap", {"temperature": 1.0, "floor": 0.05, "window": 50}),
        ("dump_ucb", {"temperature": 1.0, "c": 1.0, "floor": 0.05, "window": 50}),
        (
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
    ],
)
def test_the_published_mix_presets_can_be_written(name: str, params: dict[str, Any]) -> None:
    mixer = mixer_of(name, 3, **params)
    assert (mixer.window, mixer.window_unit) == ((50, "steps") if params else (1, "steps"))


class Broken(Mixer):
    """A third party's mixer that gives what are no proportions; never registered."""

    name = "broken"
    signal = "none"
    cold_start = "none"
    answer: list[float]

    def raw_proportions(self, stats: DomainStats) -> list[float]:
        del stats
        return self.answer


@pytest.mark.parametrize(
    ("answer", "message"),
    [
        ([0.5, NAN], "d1 = nan"),
        ([0.5, math.inf], "d1 = inf"),
        ([1.5, -0.5], "d1 = -0.5"),
        ([0.0, 0.0], "zero for all 2 domains"),
        ([1.0], "one number per domain"),
    ],
)
def test_a_mixer_of_a_third_party_cannot_give_what_are_no_proportions(
    answer: list[float], message: str
) -> None:
    mixer = Broken(MixerParams(), ["d0", "d1"])
    mixer.answer = answer
    with pytest.raises(InputDataError, match=message):
        mixer.proportions(stats_of([NAN, NAN]))


def test_a_third_party_s_mixer_registers_in_one_class() -> None:
    registry: Registry[type[Mixer]] = Registry("mixer")
    registry.register("broken")(Broken)
    assert registry.get("broken") is Broken


@pytest.mark.parametrize("name", ["reward_gap", "tscl", "exp3", "odm", "doremi", "vcrl"])
def test_one_domain_has_it_all(name: str) -> None:
    assert proportions(name, [0.5]).tolist() == pytest.approx([1.0])
