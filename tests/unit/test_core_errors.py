"""Errors carry their whole message, survive pickling, and answer typos."""

from __future__ import annotations

import inspect
import pickle

import pytest

from dataflex_data.core import errors
from dataflex_data.core.errors import (
    ConfigError,
    DataflexError,
    MissingExtraError,
    did_you_mean,
    near_matches,
)

ALL = [
    value
    for _, value in inspect.getmembers(errors, inspect.isclass)
    if issubclass(value, DataflexError)
]


def make(error_class: type[DataflexError]) -> DataflexError:
    if error_class is ConfigError:
        return ConfigError("recipe.yaml", ["first", "second"])
    if error_class is MissingExtraError:
        return MissingExtraError("transformers", "tokenizer", "counting tokens")
    return error_class("what, where, what to do")


@pytest.mark.parametrize("error_class", ALL)
def test_every_error_survives_pickling(error_class: type[DataflexError]) -> None:
    error = make(error_class)
    again = pickle.loads(pickle.dumps(error))
    assert type(again) is error_class
    assert str(again) == str(error)


@pytest.mark.parametrize("error_class", [item for item in ALL if item is not DataflexError])
def test_every_error_is_also_a_standard_one(error_class: type[DataflexError]) -> None:
    standard = (ValueError, LookupError, OSError, ImportError, RuntimeError)
    assert issubclass(error_class, standard)
    assert error_class.__name__ in (errors.__doc__ or ""), "the tree in the docstring names it"


def test_config_error_lists_every_problem() -> None:
    message = str(ConfigError("r.yaml", ["a is wrong", "b is missing"]))
    assert message == "r.yaml: 2 problems\n  - a is wrong\n  - b is missing"


def test_missing_extra_names_the_pip_line() -> None:
    message = str(MissingExtraError("verl", "verl", "training"))
    assert 'pip install "dataflex-data[verl]"' in message


def test_near_matches_ignore_case_and_keep_the_known_spelling() -> None:
    assert near_matches("DeepScalr", ["gsm8k", "deepscaler"]) == ["deepscaler"]
    assert did_you_mean("temprature", ["temperature", "floor"]) == "; did you mean 'temperature'?"
    assert did_you_mean("zzz", ["temperature"]) == ""


def test_an_extra_is_spelled_as_in_the_wheel() -> None:
    assert "dataflex-data[reasoning-gym]" in str(MissingExtraError("x", "reasoning_gym", "y"))
