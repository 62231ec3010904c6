"""Configuration: all faults in one error, unknown keys answered, keys written twice refused."""

from __future__ import annotations

from pathlib import Path

import pytest
from pydantic import Field

from dataflex_data.core.config import Config, load_yaml, parse_config, parse_yaml
from dataflex_data.core.errors import ConfigError, InputDataError


class Inner(Config):
    temperature: float = Field(gt=0)
    names: tuple[str, ...] = ()


class Outer(Config):
    inner: Inner
    count: int
    table: dict[str, Inner] = Field(default_factory=dict)


def problems(data: dict[str, object]) -> tuple[str, ...]:
    with pytest.raises(ConfigError) as caught:
        parse_config(Outer, data, "test")
    return caught.value.problems


def test_a_right_mapping_becomes_a_frozen_model() -> None:
    model = parse_config(Outer, {"inner": {"temperature": 0.5, "names": ["a"]}, "count": 3}, "t")
    assert model.inner.names == ("a",)
    with pytest.raises(ValueError, match="frozen"):
        model.count = 4


def test_all_faults_are_reported_together() -> None:
    found = problems({"inner": {"temprature": 1.0}, "count": "3", "seed": 1})
    assert found == (
        "key `inner.temperature` is missing",
        "key `inner.temprature` is not known; did you mean 'temperature'? "
        "(known keys: names, temperature)",
        "key `count`: input should be a valid integer (got '3')",
        "key `seed` is not known (known keys: count, inner, table)",
    )


def test_unknown_keys_inside_mappings_are_answered_too() -> None:
    found = problems(
        {
            "inner": {"temperature": 1.0},
            "count": 1,
            "table": {"x": {"temperature": 2.0, "name": ["a"]}},
        }
    )
    assert found == (
        "key `table.x.name` is not known; did you mean 'names'? (known keys: names, temperature)",
    )


def test_a_non_mapping_is_refused_in_words() -> None:
    with pytest.raises(ConfigError, match="must be a mapping of keys to values, got list"):
        parse_config(Outer, [1], "test")  # type: ignore[arg-type]


def test_a_key_written_twice_is_an_error_with_both_lines() -> None:
    with pytest.raises(ConfigError, match="'a' is written twice, on lines 1 and 3"):
        parse_yaml("a: 1\nb: 2\na: 3\n", "r.yaml")


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"a: [1", "is not valid YAML"),
        (b"- a\n", "must hold a mapping"),
        (b"\xff\xfe", "cannot be read as UTF-8"),
        (b"", "must hold a mapping"),
    ],
)
def test_broken_files_are_named(tmp_path: Path, content: bytes, message: str) -> None:
    path = tmp_path / "r.yaml"
    path.write_bytes(content)
    with pytest.raises(InputDataError, match=message) as caught:
        load_yaml(path)
    assert str(path) in str(caught.value)


def test_a_missing_file_is_named(tmp_path: Path) -> None:
    with pytest.raises(InputDataError, match="no such file"):
        load_yaml(tmp_path / "none.yaml")
