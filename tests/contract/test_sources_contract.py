"""What holds for every source in the registry; a newcomer is found here without new test code."""

from __future__ import annotations

import inspect

import pytest

from dataflex_data.builders.source import SOURCES, FileSource, GeneratedSource, Source
from dataflex_data.builders.templates import template_problem
from dataflex_data.core.schema import route_problem
from dataflex_data.verifiers.routes import ROUTES

WITH_DEFAULTS = [
    (name, source)
    for name, source in SOURCES.items()
    if all(not field.is_required() for field in source.Params.model_fields.values())
]


@pytest.mark.parametrize("name", SOURCES.names())
def test_it_is_registered_under_its_own_name_and_says_what_it_is(name: str) -> None:
    source = SOURCES.get(name)
    assert source.name == name
    assert not inspect.isabstract(source)
    assert issubclass(source, FileSource) != issubclass(source, GeneratedSource)
    assert (source.__doc__ or "").strip()
    assert source.Params.model_config.get("extra") == "forbid"
    assert source.Params.model_config.get("frozen")


@pytest.mark.parametrize(("name", "source_class"), WITH_DEFAULTS)
def test_route_template_and_licence_fit(name: str, source_class: type[Source]) -> None:
    source = source_class(source_class.Params())
    assert route_problem(source.route) is None
    assert source.route in ROUTES
    assert template_problem(source.template, ROUTES.get(source.route).kind) is None
    assert source.license
    assert source.ability
    if isinstance(source, FileSource):
        assert source.columns
        assert not set(source.columns) & set(source.optional_columns)
        assert source.dataset is not None
        assert source.dataset.files
    elif isinstance(source, GeneratedSource):
        assert source.repo_id
        assert source.revision


@pytest.mark.parametrize(("name", "source_class"), WITH_DEFAULTS)
def test_a_record_of_nulls_is_dropped_with_a_reason_not_raised(
    name: str, source_class: type[Source]
) -> None:
    source = source_class(source_class.Params())
    if isinstance(source, FileSource):
        drop = source.parse(dict.fromkeys(source.columns))
        assert hasattr(drop, "reason")
        assert drop.reason.replace("_", "").isalnum()
