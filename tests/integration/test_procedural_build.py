"""The recipe `three_domain_offline` and its procedural sources: quotas, splits, letters, errors."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from pathlib import Path

import pyarrow.parquet as pq
import pytest

from dataflex_data.builders.recipe import load_recipe
from dataflex_data.builders.source import SOURCES, GeneratedSource, GenerationRequest
from dataflex_data.core.config import parse_config
from dataflex_data.core.errors import ConfigError, ShortfallError
from dataflex_data.core.splits import split_of

SMALL = """
recipe: 1
name: small
seed: {seed}
validation: 20
domains:
  math:
    count: 300
    sources: [{{source: procedural_math, fraction: 1.0}}]
  science:
    count: 300
    sources: [{{source: procedural_science, fraction: 1.0}}]
"""


def source(name: str, **params: object) -> GeneratedSource:
    """Return a procedural source."""
    found = SOURCES.get(name)
    made = found(parse_config(found.Params, params, "test"))
    assert isinstance(made, GeneratedSource)
    return made


def build(tmp_path: Path, cli: Callable[..., int], seed: int, name: str) -> Path:
    """Build the small recipe and return its folder."""
    recipe = tmp_path / f"{seed}.yaml"
    recipe.write_text(SMALL.format(seed=seed))
    folder = tmp_path / name
    assert cli("build", "--recipe", str(recipe), "--out", str(folder)) == 0
    return folder


@pytest.fixture
def cli() -> Callable[..., int]:
    """Return the command as a function of its arguments."""
    from dataflex_data.cli.main import main

    def run(*arguments: str) -> int:
        try:
            main(list(arguments))
        except SystemExit as stop:
            return int(stop.code or 0)
        return 0

    return run


def test_a_build_passes_verify_repeats_itself_and_balances_letters(
    tmp_path: Path, cli: Callable[..., int]
) -> None:
    folder = build(tmp_path, cli, 1, "first")
    assert cli("verify", str(folder)) == 0
    again = build(tmp_path, cli, 1, "second")
    other = build(tmp_path, cli, 2, "third")
    for split in ("train", "validation"):
        name = f"{split}.parquet"
        assert (folder / name).read_bytes() == (again / name).read_bytes()
        assert (folder / name).read_bytes() != (other / name).read_bytes()
    rows = pq.read_table(folder / "train.parquet").to_pylist()
    assert Counter(row["domain"] for row in rows) == {"math": 300, "science": 300}
    letters = Counter(
        row["reward_model"]["ground_truth"] for row in rows if row["domain"] == "science"
    )
    # Four standard deviations of a binomial of 300 at 1/4: 75 +- 30.
    assert set(letters) == set("ABCD")
    assert all(45 <= count <= 105 for count in letters.values())


@pytest.mark.parametrize("name", ["procedural_math", "procedural_science"])
def test_quotas_shares_and_splits_are_exact(name: str) -> None:
    families = (
        ("common_divisor", "percent_of") if name.endswith("math") else ("ohms_law", "thin_lens")
    )
    made = source(name, families={families[0]: 3.0, families[1]: 1.0}, levels=(2, 3)).generate(
        GenerationRequest(seed=5, count_by_split={"train": 80, "validation": 8})
    )
    seen: set[str] = set()
    for split, candidates in made.candidates_by_split.items():
        shares = Counter(one.canonical.split(":")[0].split("/")[1] for one in candidates)
        assert shares == {families[0]: len(candidates) * 3 // 4, families[1]: len(candidates) // 4}
        assert Counter(one.difficulty for one in candidates).keys() <= {2.0, 3.0}
        for one in candidates:
            assert split_of(one.canonical) == split
            assert one.canonical not in seen
            seen.add(one.canonical)
            assert len(one.options) == (4 if name.endswith("science") else 0)


def test_held_out_forms_do_not_occur() -> None:
    request = GenerationRequest(seed=5, count_by_split={"train": 50})
    first = source("procedural_math").generate(request)
    forms = frozenset(one.canonical for one in first.candidates_by_split["train"])
    again = source("procedural_math").generate(
        GenerationRequest(seed=5, count_by_split={"train": 50}, exclude_identities=forms)
    )
    assert not forms & {one.canonical for one in again.candidates_by_split["train"]}
    assert again.dropped["excluded_form"] >= 1


def test_what_a_small_family_cannot_give_is_named_or_refused() -> None:
    small = {"families": ("age_puzzle", "interest"), "levels": (1,)}
    made = source("procedural_math", **small).generate(
        GenerationRequest(seed=1, count_by_split={"train": 600})
    )
    assert len(made.candidates_by_split["train"]) == 600
    assert len(made.notes) == 1
    assert "age_puzzle level 1 (" in made.notes[0]
    with pytest.raises(
        ShortfallError, match=r"5000 different problems wanted for train.*allow more"
    ):
        source("procedural_math", families=("age_puzzle",), levels=(1,)).generate(
            GenerationRequest(seed=1, count_by_split={"train": 5000})
        )


@pytest.mark.parametrize(
    ("params", "words"),
    [
        ({"families": ["ohms_lav"]}, "did you mean 'ohms_law'"),
        ({"levels": [0, 7]}, "0, 7 is outside 1 to 5"),
        ({"levels": []}, "needs at least one level"),
        ({"levels": [1, 1]}, "names one twice"),
        ({"families": {"ohms_law": 0.0}}, "must be a positive number"),
        ({"familys": []}, "familys"),
    ],
)
def test_wrong_parameters_are_named(params: dict[str, object], words: str) -> None:
    with pytest.raises(ConfigError, match=words):
        source("procedural_science", **params)


def test_the_offline_recipe_is_three_times_5000_and_says_what_it_is() -> None:
    recipe = load_recipe("three_domain_offline")
    assert {name: domain.count for name, domain in recipe.domains.items()} == {
        "math": 5000, "logic": 5000, "science": 5000,
    }  # fmt: skip
    assert recipe.validation == 100
    for words in ("smoke runs", "curricula", "contamination-free controls", "no replacement"):
        assert words in recipe.description
