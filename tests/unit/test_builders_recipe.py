"""Recipes: every fault at once, counts and fractions typed apart, shares that add up."""

from __future__ import annotations

from copy import deepcopy
from pathlib import Path
from typing import Any

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from dataflex_data.builders.recipe import (
    SourceEntry,
    load_recipe,
    parse_recipe,
    recipe_names,
    split_counts,
)
from dataflex_data.core.config import parse_yaml
from dataflex_data.core.errors import ConfigError, InputDataError, UnknownNameError

GOOD: dict[str, Any] = {
    "recipe": 1,
    "name": "mine",
    "seed": 1,
    "domains": {
        "math": {
            "count": 10,
            "sources": [
                {"source": "gsm8k", "count": 4},
                {"source": "math_dapo", "fraction": 0.6},
            ],
        }
    },
}


def faults(change: dict[str, Any] | None = None, **top: Any) -> tuple[str, ...]:
    data = deepcopy(GOOD)
    data.update(top)
    if change is not None:
        data["domains"]["math"] = change
    with pytest.raises(ConfigError) as caught:
        parse_recipe(data, "mine.yaml")
    return caught.value.problems


def test_a_good_recipe_passes() -> None:
    recipe = parse_recipe(GOOD, "mine.yaml")
    assert list(recipe.entries()) == ["gsm8k", "math_dapo"]
    assert recipe.filters.language == "en"


def test_every_shipped_recipe_passes_and_is_named_after_its_file() -> None:
    assert {"three_domain_15k", "three_domain_smoke", "logic_offline"} <= set(recipe_names())
    for name in recipe_names():
        assert load_recipe(name).name == name


def test_the_flagship_is_what_it_promises() -> None:
    recipe = load_recipe("three_domain_15k")
    assert {name: domain.count for name, domain in recipe.domains.items()} == {
        "math": 5000,
        "logic": 5000,
        "science": 5000,
    }
    math = recipe.domains["math"]
    assert split_counts(math.sources, math.count, math.count) == {
        "math_dapo": 2000,
        "deepscaler": 2000,
        "gsm8k": 1000,
    }
    smoke = load_recipe("three_domain_smoke")
    assert {domain.count for domain in smoke.domains.values()} == {30}


def test_all_faults_come_together_with_near_matches() -> None:
    found = faults(
        {
            "count": 10,
            "source": [],
            "sources": [
                {"source": "gsm8", "count": 4},
                {"source": "math_dapo", "fraction": 0.9, "params": {"already_striped": True}},
            ],
        },
        sed=3,
        filters={"langage": "en"},
    )
    text = "\n".join(found)
    assert "key `sed` is not known; did you mean 'seed'?" in text
    assert "key `filters.langage` is not known; did you mean 'language'?" in text
    assert "key `domains.math.source` is not known; did you mean 'sources'?" in text
    assert "source 'gsm8' is not known; did you mean 'gsm8k'?" in text
    assert "`already_striped` is not known; did you mean 'already_stripped'?" in text
    assert "counts (4) and fractions (0.9 x 10) add up to 13 rows, the domain wants 10" in text


@pytest.mark.parametrize(
    ("entry", "part"),
    [
        # open-instruct#1434: "1" means one row, "1.0" all of them.
        ({"source": "gsm8k", "count": 1.0}, "a count is a whole number of rows"),
        ({"source": "gsm8k", "fraction": 1}, "written with a decimal point"),
        ({"source": "gsm8k", "fraction": 1.5}, "less than or equal to 1"),
        ({"source": "gsm8k", "fraction": 0.0}, "greater than 0"),
        ({"source": "gsm8k", "fraction": float("nan")}, "less than or equal to 1"),
        ({"source": "gsm8k", "fraction": float("inf")}, "less than or equal to 1"),
        ({"source": "gsm8k", "count": 0}, "greater than or equal to 1"),
        ({"source": "gsm8k"}, "exactly one of `count` and `fraction`"),
        ({"source": "gsm8k", "count": 10, "fraction": 1.0}, "exactly one of"),
        ({"source": "gsm8k", "count": 10, "template": "option_letter"}, "asks for a choice answer"),
        ({"source": "gsm8k", "count": 10, "template": "Solve it."}, "with {question} in it"),
        (
            {
                "source": "jsonl",
                "count": 10,
                "params": {
                    "verifier": "math",
                    "license": "MIT",
                    "columns": {"question": "q", "gold": "a"},
                },
            },
            "`params.path` is missing",
        ),
        (
            {
                "source": "jsonl",
                "count": 10,
                "params": {
                    "path": "x.jsonl",
                    "verifier": "math",
                    "license": "MIT",
                    "route": "dataflex/mth",
                    "columns": {"question": "q", "gold": "a"},
                },
            },
            "'dataflex/mth' is not known",
        ),
    ],
)
def test_a_faulty_entry_is_named(entry: dict[str, Any], part: str) -> None:
    assert part in "\n".join(faults({"count": 10, "sources": [entry]}))


def test_a_faulty_entry_does_not_count_as_a_missing_one() -> None:
    found = faults({"count": 10, "sources": [{"source": "gsm8k", "fraction": 1}]})
    assert len(found) == 1, found
    assert "written with a decimal point" in found[0]


def test_what_refers_to_itself_or_nests_too_deeply_is_said_in_words() -> None:
    with pytest.raises(ConfigError, match="refers to itself"):
        parse_recipe(parse_yaml("a: &a [*a]\n", "r.yaml"), "r.yaml")
    with pytest.raises(InputDataError, match="nested too deeply"):
        parse_yaml("a: " + "[" * 5000, "r.yaml")


def test_domains_have_plain_names() -> None:
    domain = GOOD["domains"]["math"]
    assert "domains" in "\n".join(faults(domains={"../x|y": domain}))


def test_two_entries_need_two_names() -> None:
    twice = [{"source": "gsm8k", "count": 5}, {"source": "gsm8k", "count": 5}]
    assert "give this entry a `name` of its own" in "\n".join(
        faults({"count": 10, "sources": twice})
    )
    twice[1] = {**twice[1], "name": "gsm8k_b"}
    data = deepcopy(GOOD)
    data["domains"]["math"]["sources"] = twice
    assert list(parse_recipe(data, "r").entries()) == ["gsm8k", "gsm8k_b"]


@pytest.mark.parametrize(
    ("top", "part"),
    [
        ({"recipe": 2}, "key `recipe`"),
        ({"name": "two words"}, "key `name`"),
        ({"seed": -1}, "key `seed`"),
        ({"seed": "42"}, "key `seed`"),
        ({"domains": {}}, "give `domains` with at least one domain, or `evaluation`"),
        ({"validation": -1}, "key `validation`"),
        ({"lock": {"gsm9k": {"revision": "x", "sha256": {}}}}, "did you mean 'gsm8k'"),
    ],
)
def test_a_faulty_top_level_key_is_named(top: dict[str, Any], part: str) -> None:
    assert part in "\n".join(faults(**top))


def test_by_path_by_name_and_not_at_all(tmp_path: Path) -> None:
    path = tmp_path / "mine.yaml"
    path.write_text(yaml.safe_dump(GOOD))
    assert load_recipe(str(path)).name == "mine"
    with pytest.raises(UnknownNameError, match="did you mean 'three_domain_15k'"):
        load_recipe("three_domain_15")
    with pytest.raises(InputDataError, match="no such file"):
        load_recipe(str(tmp_path / "none.yaml"))


def test_shares_by_largest_remainder() -> None:
    # 100 x (0.4, 0.4, 0.2) is exact. 7 x: 2.8, 2.8, 1.4 -> 2, 2, 1, two left for the remainders .8.
    entries = (
        SourceEntry(source="math_dapo", fraction=0.4),
        SourceEntry(source="deepscaler", fraction=0.4),
        SourceEntry(source="gsm8k", fraction=0.2),
    )
    assert split_counts(entries, 5000, 100) == {"math_dapo": 40, "deepscaler": 40, "gsm8k": 20}
    assert split_counts(entries, 5000, 7) == {"math_dapo": 3, "deepscaler": 3, "gsm8k": 1}


@given(st.lists(st.integers(1, 500), min_size=1, max_size=6), st.integers(0, 1000))
def test_shares_always_add_up(counts: list[int], wanted: int) -> None:
    entries = tuple(
        SourceEntry(source="gsm8k", name=str(number), count=count)
        for number, count in enumerate(counts)
    )
    total = sum(counts)
    shared = split_counts(entries, total, wanted)
    assert sum(shared.values()) == wanted
    for entry in entries:
        assert entry.count is not None
        assert abs(shared[entry.label] - wanted * entry.count / total) < 1
