"""Contracts: what is refused, what the lock seals, and rules that can never fire."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from dataflex_data.core.errors import ConfigError, InputDataError, OutputError
from dataflex_data.evaluation.contract import (
    Contract,
    contract_warnings,
    load_contract,
    parse_contract,
    template,
)
from dataflex_data.evaluation.lock import changed_keys, contract_sha256, lock_path, write_lock
from tests.evaluation_factory import contract_with, write_contract


def _refused(**changes: Any) -> str:
    with pytest.raises(ConfigError) as caught:
        parse_contract(contract_with(**changes), "contract.yaml")
    return str(caught.value)


def test_the_template_is_sound(tmp_path: Path) -> None:
    path = tmp_path / "contract.yaml"
    path.write_text(template(), encoding="utf-8")
    contract, _ = load_contract(path)
    assert len(contract.scores.benchmarks) == 12
    assert {b: len(m) for b, m in contract.baseline_families().items()} == {
        "baseline": 8,
        "static": 3,
    }


def test_unknown_keys_are_errors_with_near_matches() -> None:
    assert "did you mean 'minimum_pairs'" in _refused(seeds__minimum_pair=3)
    assert "did you mean 'meaningful_effect'" in _refused(meaningful_efect=1.0)


@pytest.mark.parametrize(
    ("changes", "told"),
    [
        ({"contract": 2}, "key `contract`"),
        ({"scale": "percents"}, "key `scale`"),
        ({"meaningful_effect": 0}, "key `meaningful_effect`"),
        ({"meaningful_effect": 100}, "no effect could ever reach it"),
        ({"seeds__minimum_pairs": 6}, "can never be reached with 5 seeds"),
        ({"seeds__minimum_pairs": 1}, "key `seeds.minimum_pairs`"),
        ({"seeds__list": [1, 1, 2, 3]}, "seed 1 is listed twice"),
        ({"scores__domains": {"a": ["x"], "b": ["x"]}}, "benchmark 'x' is listed twice"),
        ({"scores__items": {"algg": 3}}, "did you mean 'alg'"),
        ({"scores__items": {"alg": 3}}, "item_weighted needs the number of items"),
        (
            {"scores__primary": {"kind": "domain_balanced", "weights": {"math": 1}}},
            "no weight for logic, science",
        ),
        (
            {"scores__primary": {"kind": "benchmark_macro", "weights": {"math": 1}}},
            "has no effect on benchmark_macro",
        ),
        (
            {
                "scores__primary": {
                    "kind": "domain_balanced",
                    "weights": {"math": 0, "logic": 0, "science": 0},
                }
            },
            "at least one domain must count",
        ),
        ({"scores__sensitivity": [{"name": "x"}]}, "give either benchmarks"),
        ({"scores__sensitivity": [{"name": "math", "benchmarks": ["alg"]}]}, "is taken"),
        ({"scores__sensitivity": [{"name": "x", "benchmarks": ["ageo"]}]}, "did you mean 'geo'"),
        ({"methods__mix": {"baseline": "static", "methods": ["keep_few"]}}, "declared twice"),
        ({"methods__mix": {"baseline": "static", "methods": ["baseline"]}}, "is a baseline"),
        ({"same_configuration": [{"method": "statik", "reference": "baseline"}]}, "'static'"),
        ({"data__method": "alg"}, "column 'alg' has two roles"),
        ({"data__lm_eval": {"alg": "task/metric"}}, "no task is named for benchmark 'geo'"),
        ({"inference__bootstrap": {"resamples": 10}}, "resamples"),
        ({"inference__alpha": 0.7}, "key `inference.alpha`"),
    ],
)
def test_faults_are_named(changes: dict[str, Any], told: str) -> None:
    assert told in _refused(**changes)


def test_all_faults_come_at_once() -> None:
    message = _refused(seeds__minimum_pairs=9, meaningful_effect=400, scores__items={"x": 1})
    assert "4 problems" in message  # items: unknown x, and four missing for item_weighted


@pytest.mark.parametrize(("methods", "needed"), [(1, 6), (3, 7), (8, 9)])
def test_a_sign_flip_rule_that_cannot_fire_is_refused(methods: int, needed: int) -> None:
    """EVALUATION.md: Holm over 8 methods needs 9 seeds, over 3 needs 7, alone 6."""
    changes: dict[str, Any] = {
        "methods": {"all": {"baseline": "static", "methods": [f"m{i}" for i in range(methods)]}},
        "same_configuration": [],
        "inference": {"test": "sign_flip"},
        "seeds": {"list": list(range(1, 13)), "minimum_pairs": needed - 1},
    }
    message = _refused(**changes)
    assert "can never fire" in message
    assert f"at least {needed}" in message
    changes["seeds"] = {"list": list(range(1, 13)), "minimum_pairs": needed}
    assert isinstance(parse_contract(contract_with(**changes), "x"), Contract)


def test_weak_choices_are_warned_about() -> None:
    told = contract_warnings(
        parse_contract(
            contract_with(inference={"interval": "bootstrap_percentile", "correction": "none"}), "x"
        )
    )
    assert any("covers about 75 %" in warning for warning in told)
    assert any("correction none" in warning for warning in told)
    assert any("minimum_pairs 3" in warning for warning in told)


def test_the_lock_ignores_words_and_seals_values(tmp_path: Path) -> None:
    path = write_contract(tmp_path / "contract.yaml")
    _, raw = load_contract(path)
    assert changed_keys(path, raw) is None
    assert write_lock(path, raw, "tool", force=False)
    text = path.read_text(encoding="utf-8")
    path.write_text("# a comment\n" + text.replace("name: made-up", "name:   'made-up'"))
    _, again = load_contract(path)
    assert changed_keys(path, again) == []
    assert not write_lock(path, again, "tool", force=False)
    shuffled = dict(sorted(again.items(), reverse=True))
    assert contract_sha256(shuffled) == contract_sha256(raw)


def test_changes_are_named_and_not_resealed_in_silence(tmp_path: Path) -> None:
    path = write_contract(tmp_path / "contract.yaml")
    write_lock(path, load_contract(path)[1], "tool", force=False)
    write_contract(path, contract_with(meaningful_effect=0.5, seeds__missing="drop_pair"))
    _, raw = load_contract(path)
    assert changed_keys(path, raw) == ["meaningful_effect", "seeds.missing"]
    before = lock_path(path).read_bytes()
    with pytest.raises(OutputError, match=r"meaningful_effect, seeds\.missing"):
        write_lock(path, raw, "tool", force=False)
    assert lock_path(path).read_bytes() == before
    assert write_lock(path, raw, "tool", force=True)
    assert changed_keys(path, raw) == []


def test_an_edited_lock_is_refused(tmp_path: Path) -> None:
    path = write_contract(tmp_path / "contract.yaml")
    _, raw = load_contract(path)
    write_lock(path, raw, "tool", force=False)
    record = json.loads(lock_path(path).read_text())
    record["contract"]["meaningful_effect"] = 9.0
    lock_path(path).write_text(json.dumps(record))
    with pytest.raises(InputDataError, match="does not fit its own sha256"):
        changed_keys(path, raw)
