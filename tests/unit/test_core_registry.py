"""Registries refuse duplicates and answer unknown names with near matches."""

from __future__ import annotations

import pytest

from dataflex_data.core.errors import DataflexError, UnknownNameError
from dataflex_data.core.registry import Registry


def test_names_are_sorted_and_items_come_back() -> None:
    registry: Registry[int] = Registry("number")
    registry.register("two")(2)
    registry.register("one")(1)
    assert registry.names() == ["one", "two"]
    assert list(registry.items()) == [("one", 1), ("two", 2)]
    assert registry.get("two") == 2
    assert "two" in registry
    assert "three" not in registry


def test_a_taken_name_is_refused_and_the_same_thing_twice_is_not() -> None:
    registry: Registry[object] = Registry("thing")
    thing = object()
    registry.register("a")(thing)
    registry.register("a")(thing)
    with pytest.raises(DataflexError, match="thing 'a' is registered already"):
        registry.register("a")(object())


def test_an_empty_name_is_refused() -> None:
    with pytest.raises(DataflexError, match="plain name"):
        Registry[int]("number").register(" x")


def test_an_unknown_name_is_answered() -> None:
    registry: Registry[int] = Registry("source")
    registry.register("deepscaler")(1)
    with pytest.raises(UnknownNameError) as caught:
        registry.get("deepscalr")
    assert str(caught.value) == (
        "source 'deepscalr' is not known; did you mean 'deepscaler'? (known: deepscaler)"
    )
