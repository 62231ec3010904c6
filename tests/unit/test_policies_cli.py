"""`dfdata policies`: what is listed, shown and checked, mixers and a user's own file included."""

from __future__ import annotations

import importlib.util
import json
import re
import sys
from pathlib import Path
from typing import Any

import pytest
import yaml

from dataflex_data.core.errors import ConfigError
from dataflex_data.core.parameters import parameters_of
from dataflex_data.policies.checks import ESTIMATORS, Host
from dataflex_data.policies.component import SCORERS
from dataflex_data.policies.presets import PRESETS
from dataflex_data.samplers.mixer import MIXERS
from dataflex_data.scheduling import entries, load_policies
from tests.conftest import Cli

ROOT = Path(__file__).resolve().parents[2]
CONFIGS = sorted((ROOT / "examples" / "configs").glob("*.yaml"))
SELECT = {
    "mechanism": "select",
    "scorer": {"name": "group_solve_rate"},
    "actuator": {"name": "dapo_dynamic"},
}
OWN = """
from dataflex_data.policies import Scorer, register_scorer

@register_scorer("{name}")
class Own(Scorer):
    requires = ("rewards", "lengths")
    granularity = "response"

    def __init__(self, power: float = 1.0, **rest):
        super().__init__(**rest)
        self.power = power

    def score(self, batch, step_id, **ctx):
        return batch.rewards_B / batch.lengths_B.clip(1) ** self.power
"""


def mix(name: str, scorer: str | None = None, **params: Any) -> dict[str, Any]:
    made: dict[str, Any] = {"mechanism": "mix", "actuator": {"name": name, "params": params}}
    return made if scorer is None else {**made, "scorer": {"name": scorer}}


def written(folder: Path, config: object) -> Path:
    path = folder / "run.yaml"
    path.write_text(yaml.safe_dump(config), encoding="utf-8")
    return path


class TestMixers:
    @pytest.mark.parametrize(
        ("block", "words"),
        [
            (mix("rewardgap"), "did you mean 'reward_gap'"),
            (mix("reward_gap", flor=1), "mixer reward_gap: key `flor` is not known"),
            (mix("reward_gap", floor=0.7), "floor 0.7 cannot hold for 2 domains"),
            (mix("static", weights={"math": -1, "logic": 2}), "math = -1"),
            (mix("static", weights={"math": 1, "logic": float("nan")}), "finite"),
            (mix("reward_gap", "response_length"), "does not measure"),
            (mix("reward_gap", "advantage_magnitude"), "write scorer 'reward_difficulty'"),
            (mix("reward_gap", "reward_difficult"), "did you mean 'reward_difficulty'"),
            ({**mix("reward_gap", window=3), "window": 4}, "keep one"),
            (
                {**mix("static", weights={"math": 1}), "domains": ["math", "logic"]},
                "nothing is given for 'logic'",
            ),
            (mix("softmax"), "'softmax' is a reweighter: write `mechanism: reweight`"),
            (mix("gfpo"), "'gfpo' is a selector: write `mechanism: select`"),
            (
                {"mechanism": "select", "actuator": {"name": "reward_gap"}},
                "'reward_gap' is a mixer: write `mechanism: mix`",
            ),
            (
                {"mechanism": "reweight", "actuator": {"name": "gfpo"}},
                "'gfpo' is a selector: write `mechanism: select`",
            ),
        ],
    )
    def test_what_cannot_work_is_refused(
        self, block: dict[str, Any], words: str, tmp_path: Path, cli: Cli
    ) -> None:
        with pytest.raises(ConfigError, match=re.escape(words)):
            load_policies(block)
        done = cli("policies", "check", written(tmp_path, {"dataflex": block}))
        assert (done.code, words in done.err) == (2, True)

    def test_the_policy_is_named(self) -> None:
        told = load_policies_error({"policies": [SELECT, mix("reward_gap", flor=1)]})
        assert "policies.1: mixer reward_gap: key `flor` is not known" in told

    def test_a_signal_that_never_comes(self) -> None:
        host = Host(fields=("rewards", "uid", "lengths"))
        assert "will not have" in load_policies_error(mix("dump_ucb"), host)
        load_policies(mix("reward_gap"), host)

    @pytest.mark.parametrize(
        "block",
        [
            mix("tscl"),
            mix("reward_gap", "reward_difficulty", floor=0.5),
            {**mix("reward_gap"), "window": 4},
            mix("static", weights={"math": 1, "logic": 0}),
            mix("adarft", difficulty={"a": 1.0, "b": 2.0, "c": 3.0}, floor=0.3),
            mix("schedule", points=[{"step": 0, "weights": {"a": 1.0, "b": 2.0}}]),
            {"policies": [mix("tscl"), {"mechanism": "select", "actuator": {"name": "greso"}}]},
        ],
    )
    def test_what_can_work_is_good(self, block: dict[str, Any]) -> None:
        assert load_policies(block).mix is not None

    def test_they_are_listed_and_shown(self, cli: Cli) -> None:
        listed = json.loads(cli("policies", "--json").out)["components"]
        told = [entry["name"] for entry in listed if entry["kind"] == "mixer"]
        assert told == MIXERS.names()
        assert "Mixers" in cli("policies").out
        shown = cli("policies", "show", "reward_gap").out
        assert "Preset reward_gap" in shown
        assert "Mixer reward_gap" in shown
        assert "temperature" in shown


def load_policies_error(block: dict[str, Any], host: Host | None = None) -> str:
    with pytest.raises(ConfigError) as caught:
        load_policies(block, host)
    return str(caught.value)


class TestFiles:
    @pytest.mark.parametrize(
        "path", [path for path in CONFIGS if path.stem in PRESETS], ids=lambda path: path.stem
    )
    def test_the_projects_own_configurations(self, path: Path, cli: Cli) -> None:
        done = cli("policies", "check", path, "--adv-estimator", "grpo", "--group-size", 5)
        assert (done.code, "good" in done.out) == (0, True)
        assert f"dfdata doctor --config {path}" in done.err

    def test_there_are_thirteen_of_them(self) -> None:
        assert {path.stem for path in CONFIGS} == {*PRESETS, "recipe"}

    @pytest.mark.parametrize("beside", [{"data": {}, "trainer": {"v1": 1}}, {"datafelx": SELECT}])
    def test_a_file_without_a_block(self, beside: Any, tmp_path: Path, cli: Cli) -> None:
        done = cli("policies", "check", written(tmp_path, beside))
        assert (done.code, "has no `dataflex` block" in done.err) == (2, True)
        assert ("'datafelx'" in done.err) == ("datafelx" in beside)

    @pytest.mark.parametrize("block", [None, [], 3, {}])
    def test_a_block_that_is_none(self, block: Any, tmp_path: Path, cli: Cli) -> None:
        assert cli("policies", "check", written(tmp_path, {"dataflex": block})).code == 2

    def test_what_the_file_says_of_the_run_is_taken(self, tmp_path: Path, cli: Cli) -> None:
        whole: dict[str, Any] = {
            "dataflex": SELECT,
            "algorithm": {"adv_estimator": "gae"},
            "actor_rollout_ref": {"rollout": {"n": 1}, "actor": {"loss_agg_mode": "token-mean"}},
        }
        done = cli("policies", "check", written(tmp_path, whole))
        assert (done.code, "'gae' has no groups" in done.err) == (2, True)
        assert "rollout.n is 1" in done.err
        again = ("--adv-estimator", "grpo", "--group-size", 5)
        assert cli("policies", "check", written(tmp_path, whole), *again).code == 0
        whole["actor_rollout_ref"]["actor"]["loss_agg_mode"] = "token-meen"
        done = cli("policies", "check", written(tmp_path, whole), *again)
        assert (done.code, "did you mean 'token-mean'" in done.err) == (2, True)

    @pytest.mark.parametrize(
        "keys",
        [
            {"preset": "difffilter"},
            {"preset": "difffilter", "on_empty": "keep_all", "mode": "mask", "ledger": "x.jsonl"},
            {"preset": "tscl", "max_epochs": 2, "on_inert": "error", "on_change": "adapt"},
            {**SELECT, "poll_interval_s": 0.5},
        ],
    )
    def test_all_keys_of_the_block(self, keys: dict[str, Any], tmp_path: Path, cli: Cli) -> None:
        done = cli("policies", "check", written(tmp_path, {"dataflex": keys}))
        assert (done.code, done.err) == (0, "")
        assert cli("policies", "check", written(tmp_path, keys)).code == 0

    @pytest.mark.parametrize(
        ("keys", "words"),
        [
            ({"preset": "diffilter"}, "did you mean 'difffilter'"),
            ({"preset": "difffilter", "mechanism": "mix"}, "sets mechanism already"),
            ({**SELECT, "mode": "drp"}, "did you mean 'drop'"),
            ({**SELECT, "modes": "drop"}, "did you mean 'mode'"),
            ({**SELECT, "mechanism": "selekt"}, "did you mean 'select'"),
            ({"mechanism": "select", "actuator": {"name": "random_matched"}}, "'matched_random'"),
            ({"policies": []}, "`policies` lists none"),
        ],
    )
    def test_what_is_wrong_with_them(
        self, keys: dict[str, Any], words: str, tmp_path: Path, cli: Cli
    ) -> None:
        done = cli("policies", "check", written(tmp_path, {"dataflex": keys}))
        assert (done.code, words in done.err) == (2, True)

    def test_keys_without_effect_are_refused(self, tmp_path: Path, cli: Cli) -> None:
        keys = {**SELECT, "max_epochs": 2, "domains": ["math"]}
        done = cli("policies", "check", written(tmp_path, keys))
        assert done.code == 2
        assert "`domains` and `max_epochs` have no effect: nothing here mixes" in done.err
        done = cli("policies", "check", written(tmp_path, {**mix("static"), "mode": "drop"}))
        assert done.code == 2
        assert "`mode` has no effect: nothing here selects" in done.err

    def test_one_domain_leaves_nothing_to_move(self, tmp_path: Path, cli: Cli) -> None:
        done = cli("policies", "check", written(tmp_path, {**mix("tscl"), "domains": ["math"]}))
        assert done.code == 2
        assert "moves proportions between domains, and there is but one, 'math'" in done.err
        alone = {**mix("static"), "domains": ["math"]}
        assert cli("policies", "check", written(tmp_path, alone)).code == 0


class TestEstimators:
    @pytest.mark.parametrize(
        ("name", "words"),
        [("grpoo", "mean 'grpo'"), ("gea", "mean 'gae'"), ("mine", "custom:mine")],
    )
    def test_what_verl_has_not(self, name: str, words: str, tmp_path: Path, cli: Cli) -> None:
        done = cli("policies", "check", written(tmp_path, SELECT), "--adv-estimator", name)
        assert (done.code, words in done.err) == (2, True)

    def test_one_of_their_own(self, tmp_path: Path, cli: Cli) -> None:
        done = cli("policies", "check", written(tmp_path, SELECT), "--adv-estimator", "custom:mine")
        assert done.code == 0
        assert "'mine' is none of verl 0.9.1's" in done.err

    def test_they_are_verls(self) -> None:
        """Read, not imported: verl brings torch and Ray with it."""
        found = importlib.util.find_spec("verl")
        if found is None or found.origin is None:
            pytest.skip("verl is not installed")
        source = Path(found.origin).parent / "trainer" / "ppo" / "core_algos.py"
        listed = source.read_text(encoding="utf-8").partition("class AdvantageEstimator(")[2]
        values = re.findall(r'^    [A-Z_]+ = "(\w+)"$', listed.partition("\n\n\n")[0], re.M)
        assert sorted(values) == sorted(ESTIMATORS)


@pytest.fixture
def own_registry(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let what a test registers be forgotten after it."""
    SCORERS.names()
    monkeypatch.setattr(SCORERS, "_items", dict(SCORERS.items()))


@pytest.mark.usefixtures("own_registry")
class TestOwnFile:
    def test_it_is_shown_and_checked(self, tmp_path: Path, cli: Cli) -> None:
        path = tmp_path / "own_shown.py"
        path.write_text(OWN.format(name="own_shown"), encoding="utf-8")
        shown = cli("policies", "show", "own_shown", "--import", path)
        assert shown.code == 0
        assert re.search(r"power +number +1\.0", shown.out)
        block = {
            "mechanism": "select",
            "scorer": {"name": "own_shown"},
            "actuator": {"name": "topk_fraction"},
        }
        file = written(tmp_path, block)
        assert cli("policies", "check", file, "--import", path).code == 0

    def test_the_block_names_it(self, tmp_path: Path, cli: Cli) -> None:
        """A key of the block, so that a verl run knows it in every process."""
        path = tmp_path / "own_named.py"
        path.write_text(OWN.format(name="own_named"), encoding="utf-8")
        block = {
            "mechanism": "select",
            "scorer": {"name": "own_named", "params": {"power": 0.5}},
            "actuator": {"name": "topk_fraction"},
        }
        refused = cli("policies", "check", written(tmp_path, block))
        assert (refused.code, "'own_named' is not known" in refused.err) == (2, True)
        block["imports"] = [str(path)]
        assert cli("policies", "check", written(tmp_path, block)).code == 0
        assert cli("policies", "check", written(tmp_path, block)).code == 0  # and once again

    def test_a_module_on_the_path(
        self, tmp_path: Path, cli: Cli, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        (tmp_path / "own_module.py").write_text(OWN.format(name="own_mod"), encoding="utf-8")
        monkeypatch.syspath_prepend(tmp_path)
        monkeypatch.delitem(sys.modules, "own_module", raising=False)
        block = {**SELECT, "imports": ["own_module"]}
        assert cli("policies", "check", written(tmp_path, block)).code == 0
        assert cli("policies", "show", "own_mod").code == 0

    @pytest.mark.parametrize(
        ("text", "words"),
        [
            (None, "there is no file"),
            ("import no_such_module_at_all", "ModuleNotFoundError"),
            ("this is no Python", "SyntaxError"),
            ("raise RuntimeError('stop')", "RuntimeError: stop"),
        ],
    )
    def test_a_file_that_fails(
        self, text: str | None, words: str, tmp_path: Path, cli: Cli
    ) -> None:
        path = tmp_path / "own_broken.py"
        if text is not None:
            path.write_text(text, encoding="utf-8")
        done = cli("policies", "check", written(tmp_path, SELECT), "--import", path)
        assert (done.code, words in done.err) == (2, True)
        done = cli("policies", "check", written(tmp_path, {**SELECT, "imports": [str(path)]}))
        assert (done.code, words in done.err) == (2, True)

    def test_a_module_that_is_not_there(self, tmp_path: Path, cli: Cli) -> None:
        done = cli("policies", "check", written(tmp_path, SELECT), "--import", "no_such.module")
        assert (done.code, "PYTHONPATH" in done.err) == (2, True)


class TestShown:
    def test_every_parameter_is_told(self) -> None:
        for entry in entries():
            for parameter in entry.parameters:
                assert parameter.meaning, f"{entry.kind} {entry.name}: {parameter.name}"
                assert parameter.values

    def test_values_defaults_and_meanings(self, cli: Cli) -> None:
        shown = json.loads(cli("policies", "show", "max_variance", "--json").out)
        told = {one["name"]: one for one in shown["components"][0]["parameters"]}
        assert list(told) == ["keep_fraction", "n", "rounding", "recompute"]
        assert told["keep_fraction"]["values"] == "number above 0 and at most 1"
        assert told["n"]["values"] == "whole number at least 2, null"
        assert told["rounding"]["values"] == "half_even, ceil"
        assert told["rounding"]["default"] == "half_even"
        assert "half of 5 is 2" in told["rounding"]["meaning"]
        text = cli("policies", "show", "threshold_band").out
        assert "neither, both, left, right" in text
        assert '"1/3"' in text

    def test_one_of_pair_and_ledger(self, cli: Cli) -> None:
        text = " ".join(cli("policies", "show", "matched_random").out.split())
        assert "this or `ledger`" in text
        assert "this or `pair`" in text
        assert "None" not in text

    @pytest.mark.parametrize("width", [50, 60, 80, 120])
    def test_names_stay_whole_on_narrow_terminals(
        self, width: int, cli: Cli, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setenv("COLUMNS", str(width))
        lines = cli("policies").out.splitlines()
        assert max(map(len, lines)) <= width
        text = "\n".join(lines)
        for entry in entries():
            assert re.search(rf"\b{entry.name}\b", text), entry.name
        for preset in PRESETS.values():
            for key in ("scorer", "actuator"):
                assert re.search(rf"\b{preset.config.get(key, {'name': 'none'})['name']}\b", text)

    def test_no_model_has_no_parameters(self) -> None:
        assert list(parameters_of(None)) == []
