"""The command as such: light to start, versioned, errors without tracebacks."""

from __future__ import annotations

import subprocess
import sys

import pytest

import dataflex_data
from dataflex_data import cli as cli_package
from tests.conftest import Cli

HEAVY = (
    "torch",
    "verl",
    "ray",
    "numpy",
    "scipy",
    "pyarrow",
    "polars",
    "pandas",
    "datasets",
    "huggingface_hub",
    "matplotlib",
    "numba",
    "jinja2",
    "transformers",
)


@pytest.mark.parametrize("module", ["dataflex_data", "dataflex_data.cli.main"])
def test_importing_pulls_in_nothing_heavy(module: str) -> None:
    code = f"import sys, {module}; print(*(m for m in {HEAVY!r} if m in sys.modules))"
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert run.stdout.strip() == ""


def test_the_public_door_is_sorted_and_whole() -> None:
    assert dataflex_data.__all__ == sorted(dataflex_data.__all__)
    for name in dataflex_data.__all__:
        assert getattr(dataflex_data, name) is not None


def test_version(cli: Cli) -> None:
    result = cli("--version")
    assert result.code == 0
    assert result.out.strip() == f"dataflex-data {dataflex_data.__version__}"
    run = subprocess.run(
        [sys.executable, "-m", "dataflex_data", "--version"],
        capture_output=True,
        text=True,
        check=True,
    )
    assert run.stdout == result.out


def test_help_lists_every_verb_with_a_sentence(cli: Cli) -> None:
    import pkgutil

    result = cli("--help")
    assert result.code == 0
    verbs = [
        module.name.replace("_", "-")
        for module in pkgutil.iter_modules(cli_package.__path__)
        if module.name != "main" and not module.name.startswith("_")
    ]
    assert {"build", "recipes", "show", "verify"} <= set(verbs)
    for verb in verbs:
        assert f" {verb} " in result.out


def test_an_unknown_verb_is_usage(cli: Cli) -> None:
    result = cli("biuld")
    assert result.code == 2
    assert "biuld" in result.err
    assert "Did you mean 'build'?" in result.err
    assert "Traceback" not in result.err


@pytest.mark.parametrize(
    ("words", "meant"),
    [
        (("audit", "x"), "Did you mean 'audit-contamination' or 'audit-duplicates'?"),
        (("recipes", "lok"), "Did you mean 'lock'?"),
    ],
)
def test_verbs_are_suggested_by_their_beginning_and_inside_a_group(
    cli: Cli, words: tuple[str, ...], meant: str
) -> None:
    assert meant in cli(*words).err


def test_a_default_that_is_made_is_listed_as_it_is(cli: Cli) -> None:
    assert "Pydantic" not in cli("recipes", "sources", "--json").out


def test_a_reader_that_goes_away_is_no_error() -> None:
    command = f"{sys.executable} -m dataflex_data recipes sources --json | head -n 1"
    run = subprocess.run(command, shell=True, capture_output=True, text=True, check=False)
    assert run.stderr == ""


def test_recipes_are_listed_shown_and_checked(cli: Cli) -> None:
    assert "three_domain_15k" in cli("recipes").out
    assert '"name": "logic_offline"' in cli("recipes", "--json").out
    assert cli("recipes", "show", "three_domain_15k").out.startswith("recipe: 1\n")
    assert '"seed": 42' in cli("recipes", "show", "three_domain_15k", "--json").out
    assert "math_dapo" in cli("recipes", "sources").out
    result = cli("recipes", "show", "three_domain_15")
    assert result.code == 2
    assert "did you mean 'three_domain_15k'" in result.err
