"""The configuration: the public plugin's form, the composed one, presets, and what is refused."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from dataflex_data.core.errors import ConfigError, DataflexError, UnknownNameError
from dataflex_data.core.registry import Registry
from dataflex_data.core.rollout import RolloutBatch
from dataflex_data.policies import component, padded
from dataflex_data.policies.checks import Host, mix_problems
from dataflex_data.policies.component import build
from dataflex_data.policies.config import old_key_answer
from dataflex_data.policies.engine import load_policies
from dataflex_data.policies.presets import PRESETS, preset
from dataflex_data.samplers.mixer import build_mixer
from dataflex_data.samplers.signals import NEEDS
from tests.conftest import Cli
from tests.policies_batch import batch_of, columns

THIRTEEN = (
    "ar baseline diffband difffilter dump_ucb gfpo maxvar per reward_gap softmax static topk tscl"
)


def block(scorer: str | None, actuator: str, mechanism: str = "select", **params: Any) -> Any:
    made: dict[str, Any] = {
        "mechanism": mechanism,
        "actuator": {"name": actuator, "params": params},
    }
    if scorer is not None:
        made["scorer"] = {"name": scorer}
    return made


def refusal(config: Any, host: Host | None = None) -> str:
    with pytest.raises(ConfigError) as caught:
        load_policies(config, host)
    return str(caught.value)


class TestPresets:
    def test_they_are_the_papers_thirteen(self) -> None:
        assert " ".join(sorted(PRESETS)) == THIRTEEN
        with pytest.raises(UnknownNameError, match="did you mean 'maxvar'"):
            preset("max_var")

    @pytest.mark.parametrize("name", sorted(PRESETS))
    def test_each_loads_and_decides(self, name: str) -> None:
        batch = batch_of(columns(), group_size=5)
        host = Host("grpo", group_size=5, fields=batch.fields)
        decision = load_policies(PRESETS[name].config, host).apply(batch, 1)
        assert not decision.skip_update
        mechanism = PRESETS[name].config["mechanism"]
        assert (decision.weights is not None) == (mechanism == "reweight")
        assert (not decision.kept_B.all()) == (mechanism == "select")

    @pytest.mark.parametrize(
        "name", [name for name in PRESETS if PRESETS[name].config["mechanism"] == "mix"]
    )
    def test_mix_presets_fit_their_mixers(self, name: str) -> None:
        policies = load_policies(PRESETS[name].config)
        assert policies.mix is not None
        spec = policies.mix
        mixer = build_mixer(spec.actuator.name, spec.actuator.params, ["math", "logic", "science"])
        assert (spec.warmup_step, spec.update_step) == (1, 1)
        if name != "static":
            assert (mixer.window, mixer.params.floor) == (50, 0.05)
            assert mixer.window_unit == "steps"
        assert spec.scorer is not None
        signal = mixer.wanted_signal
        batch = batch_of(columns())
        assert not mix_problems(
            mixer.name, signal, spec.scorer.name, NEEDS.get(signal), batch.fields
        )

    def test_difffilter_is_the_open_interval(self) -> None:
        rewards = [float(place < solved) for solved in range(6) for place in range(5)]
        batch = RolloutBatch(rewards=rewards, uids=np.repeat(np.arange(6), 5), lengths=[1] * 30)
        kept_B = load_policies(PRESETS["difffilter"].config).apply(batch, 0).kept_B
        assert set(np.flatnonzero(kept_B) // 5) == {2, 3}


class TestRefusals:
    def test_unknown_keys_with_near_matches_all_at_once(self) -> None:
        text = refusal(
            {**block("group_solve_rate", "threshold_band"), "warmup_steps": 1, "sead": 2}
        )
        assert "did you mean 'warmup_step'" in text
        assert "did you mean 'seed'" in text

    def test_unknown_names_and_parameters_all_at_once(self) -> None:
        config = block("group_solved_rate", "softmax", "reweight", temprature=1.0)
        text = refusal(config)
        assert "did you mean 'group_solve_rate'" in text
        assert "did you mean 'temperature'" in text

    def test_a_group_scorer_on_gae(self) -> None:
        config = block("group_solve_rate", "threshold_band")
        assert "'gae' has no groups" in refusal(config, Host("gae"))
        assert "rollout.n is 1" in refusal(config, Host("grpo", group_size=1))

    def test_a_token_scorer_into_a_group_selector(self) -> None:
        text = refusal(block("token_prob", "threshold_band"))
        assert "needs one number per group; scorer 'token_prob' gives one number per token" in text

    @pytest.mark.parametrize(
        ("scorer", "actuator", "mechanism", "remedy"),
        [
            ("token_prob", "topk_fraction", "select", "agg: mean"),
            ("reward_difficulty", "threshold_band", "select", "unit: response"),
            ("token_prob", "threshold_band", "select", "agg: mean"),
            ("reward_difficulty", "difficulty_band", "reweight", "by: quantile"),
            ("group_solve_rate", "max_variance", "select", "one number per response"),
            ("advantage_magnitude", "advantage_reweight", "reweight", "one number per token"),
        ],
    )
    def test_scores_of_the_wrong_kind(
        self, scorer: str, actuator: str, mechanism: str, remedy: str
    ) -> None:
        assert remedy in refusal(block(scorer, actuator, mechanism))

    def test_the_remedies_work(self) -> None:
        token = {"name": "token_prob", "params": {"agg": "mean"}}
        load_policies({**block(None, "topk_fraction"), "scorer": token})
        load_policies({**block(None, "threshold_band", unit="response"), "scorer": token})
        load_policies(block("reward_difficulty", "threshold_band", unit="response"))
        load_policies(block("reward_difficulty", "difficulty_band", "reweight", by="quantile"))

    def test_advantages_cannot_be_made_anew_for_other_estimators(self) -> None:
        config = block("reward_difficulty", "gfpo")
        assert "recompute: false" in refusal(config, Host("rloo"))
        load_policies(block("reward_difficulty", "gfpo", recompute=False), Host("rloo"))
        assert "'gae' has no groups" in refusal(config, Host("gae"))

    def test_fields_the_batch_will_not_have(self) -> None:
        config = block("token_entropy", "per_advantage", "reweight")
        assert "reads entropy, which the batch will not have" in refusal(
            config, Host(fields=("rewards", "uid", "lengths"))
        )

    def test_a_scorer_that_is_missing_or_idle(self) -> None:
        assert "needs the key `scorer`" in refusal(block(None, "topk_fraction"))
        assert "reads no scorer" in refusal(block("reward_difficulty", "greso"))

    def test_update_step_and_window_are_for_mix(self) -> None:
        config = {**block("group_solve_rate", "threshold_band"), "update_step": 2, "window": 9}
        text = refusal(config)
        assert "`update_step: 2` has a meaning for mix only" in text
        assert "`window` has a meaning for mix only" in text

    def test_two_mixers_or_two_forms(self) -> None:
        mix = block(None, "static", "mix")
        assert "one mixer" in refusal({"policies": [mix, mix]})
        assert "inside `policies`" in refusal({"policies": [mix], "mechanism": "mix"})
        assert "`mechanism` is missing" in refusal({"actuator": {"name": "static"}})
        assert "needs the key `actuator`" in refusal({"mechanism": "mix"})

    def test_a_composed_fault_names_its_policy(self) -> None:
        text = refusal({"policies": [block(None, "static", "mix"), block("token_prob", "gfpo")]})
        assert "policies.1: selector 'gfpo'" in text

    def test_a_mixer_without_its_signal(self) -> None:
        (wrong,) = mix_problems("dump_ucb", "mean_abs_advantage", "reward_difficulty", None, None)
        assert "write scorer 'advantage_magnitude' or leave it out" in wrong
        (lacking,) = mix_problems("tscl", "reward_slope", None, "rewards", ("uid",))
        assert "reads rewards" in lacking
        assert not mix_problems("static", "none", "reward_difficulty", None, ())

    def test_a_control_needs_exactly_one_pair(self) -> None:
        assert "exactly one of" in refusal(block("group_solve_rate", "matched_random"))
        nested = {"name": "threshold_bend"}
        text = refusal(block("group_solve_rate", "matched_random", pair=nested))
        assert "did you mean 'threshold_band'" in text
        assert "acts before the rollout" in refusal(
            block("group_solve_rate", "matched_random", pair={"name": "greso"})
        )

    @pytest.mark.parametrize(
        ("name", "params", "words"),
        [
            ("threshold_band", {"low": 0.8, "high": 0.2}, "above"),
            ("threshold_band", {"low": "a third"}, 'such as 0.2, or a share written "1/5"'),
            ("threshold_band", {"low": "0.2"}, "key `low`: must be a finite number"),
            ("threshold_band", {"high": True}, "key `high`: must be a finite number"),
            ("threshold_band", {"low": float("nan")}, "must be a finite number"),
            ("threshold_band", {"low": None}, "must be a finite number"),
            ("threshold_band", {"low": "1/0"}, "must be a finite number"),
            ("topk_fraction", {"fraction": 0.0}, "greater than 0"),
            ("max_variance", {"keep_fraction": 1.5}, "less than or equal to 1"),
            ("gfpo", {"k": 0}, "greater than or equal to 1"),
        ],
    )
    def test_parameters_that_cannot_be(self, name: str, params: dict[str, Any], words: str) -> None:
        with pytest.raises(ConfigError, match=words):
            build(component.SELECTORS, name, params)

    def test_a_parameter_without_effect(self) -> None:
        config = block("group_solve_rate", "difficulty_band", "reweight", low_q=0.1)
        assert "low_q has no effect with `by: value`" in refusal(config)
        config = block("token_prob", "advantage_reweight", "reweight", cap=2.0)
        assert "needs `normalize: true`" in refusal(config)

    @pytest.mark.parametrize(
        ("key", "value", "words"),
        [
            (
                "trainer.v1.sampler.custom_sampler.path",
                "pkg://dataflex_verl.replay_buffer",
                "dataflex.mechanism=mix",
            ),
        ],
    )
    def test_old_keys_are_answered(self, key: str, value: str, words: str) -> None:
        answer = old_key_answer(f"+{key}", value)
        assert answer is not None
        assert words in answer

    def test_other_keys_are_not(self) -> None:
        assert old_key_answer("trainer.v1.trainer_mode", "sync") is None
        assert old_key_answer("trainer.v1.sampler.custom_sampler.path", "pkg://mine") is None


@pytest.fixture
def own_registries(monkeypatch: pytest.MonkeyPatch) -> None:
    """Give the decorators copies of the registries, so that a test leaves nothing behind."""
    for name in ("SCORERS", "SELECTORS", "REWEIGHTERS"):
        held = getattr(component, name)
        copy: Registry[Any] = Registry(held.kind)
        for key, item in held.items():
            copy.register(key)(item)
        monkeypatch.setattr(component, name, copy)
        monkeypatch.setattr(f"dataflex_data.policies.engine.{name}", copy)


@pytest.mark.usefixtures("own_registries")
class TestOwnComponents:
    def test_a_scorer_in_one_file(self) -> None:
        @component.register_scorer("spread")
        class Spread(component.Scorer):
            requires = ("rewards", "lengths")
            timing = "post_reward"
            granularity = "response"

            def __init__(self, power: float = 1.0, **rest: Any) -> None:
                super().__init__(**rest)
                self.power = power

            def score(self, batch: RolloutBatch, step_id: int, **ctx: Any) -> Any:
                return batch.lengths_B**self.power * step_id

        own = {"name": "spread", "params": {"power": 2.0}}
        config = {**block(None, "topk_fraction", fraction=0.5), "scorer": own}
        batch = RolloutBatch(rewards=[0, 0], uids=["a", "a"], lengths=[3, 5])
        assert load_policies(config).apply(batch, 1).kept_B.tolist() == [False, True]
        own["params"] = {"powr": 2.0}
        assert "did you mean 'power'" in refusal(config)

    @pytest.mark.parametrize("kind", ["scorer", "selector", "reweighter"])
    def test_other_distributions_register_through_entry_points(
        self, kind: str, tmp_path: Path
    ) -> None:
        """A real distribution on the path, in a process of its own."""
        import subprocess

        method = {"scorer": "score", "selector": "keep", "reweighter": "weights"}[kind]
        (tmp_path / "their_plugin.py").write_text(
            f"from dataflex_data.policies import {kind.capitalize()}, register_{kind}\n"
            f"@register_{kind}('theirs')\n"
            f"class Theirs({kind.capitalize()}):\n"
            f"    def {method}(self, *given, **more): return None\n"
        )
        info = tmp_path / "theirs-1.0.dist-info"
        info.mkdir()
        (info / "METADATA").write_text("Metadata-Version: 2.1\nName: theirs\nVersion: 1.0\n")
        (info / "entry_points.txt").write_text(f"[dataflex_data.{kind}s]\ntheirs = their_plugin\n")
        script = (
            f"import sys; sys.path.insert(0, {str(tmp_path)!r})\n"
            "from dataflex_data.policies import component\n"
            f"component.build(component.{kind.upper()}S, 'theirs')\n"
        )
        done = subprocess.run(
            [sys.executable, "-c", script], capture_output=True, text=True, check=False
        )
        assert (done.returncode, done.stderr) == (0, "")

    def test_a_wrong_declaration_is_refused_where_it_is_written(self) -> None:
        with pytest.raises(ConfigError, match="granularity 'promt' is not one of"):
            type("Bad", (component.Scorer,), {"granularity": "promt"})
        with pytest.raises(ConfigError, match="must be a subclass of Scorer"):
            component.register_scorer("x")(int)
        with pytest.raises(DataflexError, match="registered already"):
            component.register_scorer("token_prob")(
                type("Other", (component.Scorer,), {"score": lambda self, batch, step_id: None})
            )

    def test_results_of_the_wrong_shape_are_refused(self) -> None:
        @component.register_scorer("short")
        class Short(component.Scorer):
            granularity = "response"

            def score(self, batch: RolloutBatch, step_id: int, **ctx: Any) -> Any:
                return [1.0]

        batch = RolloutBatch(rewards=[0, 0], uids=["a", "a"], lengths=[3, 5])
        with pytest.raises(DataflexError, match=r"returned shape \(1,\)"):
            load_policies(block("short", "topk_fraction")).apply(batch, 0)

    def test_the_public_plugins_components_move_over_with_an_import_changed(self) -> None:
        import torch

        @padded.register_scorer("own_advantage")
        class OwnAdvantage(padded.Scorer):
            requires = ["advantages", "response_mask", "uid"]  # noqa: RUF012 - as users write it
            timing = "post_advantage"
            granularity = "prompt"
            needs_groups = False

            def __init__(self, agg: str = "mean", **kwargs: Any) -> None:
                super().__init__(**kwargs)
                self.agg = agg

            def score(self, batch: Any, step_id: int, **ctx: Any) -> Any:
                mask = batch.batch["response_mask"].to(torch.float32)
                size = batch.batch["advantages"].abs() * mask
                assert len(batch.non_tensor_batch["uid"]) == mask.shape[0]
                if self.agg == "sum":
                    return size.sum(dim=-1)
                return size.sum(dim=-1) / mask.sum(dim=-1).clamp(min=1.0)

        @padded.register_selector("own_top")
        class OwnTop(padded.Selector):
            def __init__(self, k: int = 1, **kwargs: Any) -> None:
                super().__init__(**kwargs)
                self.k = k

            def act(self, scores: Any, batch: Any, **ctx: Any) -> Any:
                return torch.topk(scores, self.k).indices.tolist()

        @padded.register_reweighter("own_weight")
        class OwnWeight(padded.Reweighter):
            def act(self, scores: Any, batch: Any, **ctx: Any) -> Any:
                return scores + batch.batch["rm_scores"].sum(-1)

        batch = RolloutBatch(
            rewards=[0, 1, 0],
            uids=["a", "a", "a"],
            lengths=[2, 1, 3],
            advantages=[1.0, -2, -4, 0.5, 0.5, 0.5],
        )
        own = {"name": "own_advantage"}
        select = {**block(None, "own_top", k=2), "scorer": own}
        assert load_policies(select).apply(batch, 0).kept_B.tolist() == [True, True, False]
        weigh = {**block(None, "own_weight", "reweight"), "scorer": own}
        found = load_policies(weigh, loss_agg_mode="seq-mean-token-mean").apply(batch, 0).weights
        # 1.5, 4 + 1, .5 over their mean 7/3
        assert found == pytest.approx(np.array([1.5, 5, 0.5]) * 3 / 7)
        own_sum = {"name": "own_advantage", "params": {"agg": "sum"}}
        load_policies({**select, "scorer": own_sum})
        assert "did you mean 'agg'" in refusal(
            {**select, "scorer": {"name": "own_advantage", "params": {"ag": "sum"}}}
        )


class TestCli:
    def test_list_and_json(self, cli: Cli) -> None:
        listed = cli("policies")
        assert listed.code == 0
        for name in ("difffilter", "matched_update_token", "token_entropy", "advantage_reweight"):
            assert name in listed.out
        import json

        data = json.loads(cli("policies", "--json").out)
        assert [entry["name"] for entry in data["presets"]] == list(PRESETS)
        assert {entry["kind"] for entry in data["components"]} == {
            "scorer",
            "selector",
            "reweighter",
            "mixer",
        }

    def test_show(self, cli: Cli) -> None:
        shown = cli("policies", "show", "gfpo").out
        assert "metric: efficiency" in shown
        assert "arXiv 2508.09726" in shown
        missing = cli("policies", "show", "greoso")
        assert (missing.code, "did you mean 'greso'" in missing.err) == (2, True)

    def test_what_is_shown_can_be_checked(self, cli: Cli, tmp_path: Path) -> None:
        import json

        data = json.loads(cli("policies", "--json").out)
        for entry in data["presets"]:
            file = tmp_path / f"{entry['name']}.yaml"
            file.write_text(json.dumps({"dataflex": entry["config"]}))
            assert cli("policies", "check", file, "--adv-estimator", "grpo").code == 0
        refused = cli("policies", "check", tmp_path / "difffilter.yaml", "--adv-estimator", "gae")
        assert refused.code == 2
        assert "has no groups" in refused.err

    def test_importing_policies_stays_light(self) -> None:
        import subprocess

        script = (
            "import sys, dataflex_data.policies, dataflex_data.policies.engine;"
            "import dataflex_data.scheduling, dataflex_data.integrations.verl.settings;"
            "from dataflex_data.policies import SCORERS, SELECTORS, REWEIGHTERS;"
            "SCORERS.names(); SELECTORS.names(); REWEIGHTERS.names();"
            "heavy = {'torch', 'verl', 'ray', 'scipy', 'polars', 'matplotlib', 'numba'};"
            "sys.exit(', '.join(sorted(heavy & set(sys.modules))) or 0)"
        )
        done = subprocess.run(
            [sys.executable, "-c", script], capture_output=True, text=True, check=False
        )
        assert (done.returncode, done.stderr) == (0, "")


def test_the_quickstart_runs_and_its_control_keeps_as_many_groups(
    capsys: pytest.CaptureFixture[str],
) -> None:
    import runpy

    example = Path(__file__).resolve().parents[2] / "examples" / "policies_quickstart.py"
    runpy.run_path(str(example), run_name="__main__")
    lines = capsys.readouterr().out.splitlines()
    kept = [line.split("groups kept: ")[1].split(";")[0] for line in lines]
    assert len(lines) == 6
    assert kept[:3] == kept[3:]
