"""Files that the user gives: paths, folders, locks, and what is said about wrong ones."""

from __future__ import annotations

import hashlib
from pathlib import Path

import pytest

from dataflex_data.core import fetch
from dataflex_data.core.errors import InputDataError, SourceUnavailableError
from dataflex_data.core.fetch import (
    HubDataset,
    Located,
    Lock,
    Lookup,
    SourceFile,
    locate,
    locate_available,
    locate_path,
    matching_in_folder,
)
from dataflex_data.core.patterns import matching, missing_parts

GSM8K = HubDataset("openai/gsm8k", ("main/train-*.parquet", "train.jsonl"), None, ("grade-school",))
LINE = b'{"question": "?", "answer": "1"}\n'
SHA = hashlib.sha256(LINE).hexdigest()
OTHER = "0" * 64


def put(root: Path, *names: str) -> Path:
    for name in names:
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_bytes(LINE)
    return root


def found(located: Located) -> list[str]:
    return [file.name for file in located.files]


def test_an_override_of_one_file_is_described_by_its_name_size_and_digest(tmp_path: Path) -> None:
    path = put(tmp_path, "a,b/mine.jsonl") / "a,b" / "mine.jsonl"
    located = locate({"gsm8k": GSM8K}, Lookup({"gsm8k": path}, None))["gsm8k"]
    file = SourceFile(path, "mine.jsonl", len(LINE), SHA)
    assert located == Located("gsm8k", "openai/gsm8k", "local", "local", (file,))


def test_a_tilde_is_expanded(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    put(tmp_path, "here/train.jsonl", "all/gsm8k/train.jsonl")
    by_file = locate({"gsm8k": GSM8K}, Lookup({"gsm8k": Path("~/here/train.jsonl")}, None))
    assert by_file["gsm8k"].files[0].path == tmp_path / "here/train.jsonl"
    by_folder = locate({"gsm8k": GSM8K}, Lookup({}, Path("~/all")))
    assert by_folder["gsm8k"].files[0].path == tmp_path / "all/gsm8k/train.jsonl"


def test_all_wrong_paths_are_told_at_once_with_the_expanded_path(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    csv = tmp_path / "table.csv"
    csv.write_text("a,b\n")
    lookup = Lookup({"gsm8": csv, "gsm8k": Path("~/gone.jsonl"), "other": csv}, Path("~/nowhere"))
    with pytest.raises(InputDataError) as caught:
        locate({"gsm8k": GSM8K, "other": GSM8K}, lookup)
    message = str(caught.value)
    assert "4 of the paths given cannot be used" in message
    assert "source gsm8 is not part of the recipe; did you mean 'gsm8k'?" in message
    assert f"source gsm8k: no such file or folder: {tmp_path}/gone.jsonl" in message
    assert f"{csv} cannot be read, its name does not end in any of .parquet, .jsonl" in message
    assert f"the folder {tmp_path}/nowhere does not exist" in message


def test_a_single_wrong_path_is_one_paragraph(tmp_path: Path) -> None:
    with pytest.raises(InputDataError) as caught:
        locate({"gsm8k": GSM8K}, Lookup({"gsm8k": tmp_path / "x.jsonl"}, None))
    assert str(caught.value) == f"source gsm8k: no such file or folder: {tmp_path}/x.jsonl"


def test_the_home_of_an_unknown_user_is_told() -> None:
    with pytest.raises(InputDataError, match="no home directory is known"):
        locate_path("gsm8k", Path("~no-such-user-here/x.jsonl"))


@pytest.mark.parametrize("folder", ["gsm8k", "openai/gsm8k", "openai--gsm8k", "grade-school"])
def test_a_sources_folder_may_name_a_dataset_in_several_ways(tmp_path: Path, folder: str) -> None:
    put(tmp_path, f"{folder}/main/train-00000-of-00001.parquet")
    located = locate({"gsm8k": GSM8K}, Lookup({}, tmp_path))["gsm8k"]
    assert found(located) == ["main/train-00000-of-00001.parquet"]


def test_the_last_part_of_the_repository_names_a_folder_too(tmp_path: Path) -> None:
    put(tmp_path, "gsm8k/train.jsonl")
    assert found(locate({"maths": GSM8K}, Lookup({}, tmp_path))["maths"]) == ["train.jsonl"]


def test_an_override_goes_before_the_sources_folder(tmp_path: Path) -> None:
    put(tmp_path, "gsm8k/train.jsonl", "mine/own.jsonl")
    lookup = Lookup({"gsm8k": tmp_path / "mine/own.jsonl"}, tmp_path)
    assert found(locate({"gsm8k": GSM8K}, lookup)["gsm8k"]) == ["own.jsonl"]


@pytest.mark.parametrize(
    ("names", "expected"),
    [
        pytest.param(
            ["main/train-00000-of-00001.parquet", "train.jsonl"],
            ["main/train-00000-of-00001.parquet"],
            id="the first pattern wins",
        ),
        pytest.param(
            ["main/train-00000-of-00002.parquet", "main/train-00001-of-00002.parquet"],
            ["main/train-00000-of-00002.parquet", "main/train-00001-of-00002.parquet"],
            id="all parts",
        ),
        pytest.param(
            ["sub/main/train-0.parquet", "train.jsonl"],
            ["train.jsonl"],
            id="a whole path before an end",
        ),
        pytest.param(
            ["x/main/train-0.parquet", "y/train.jsonl"], ["x/main/train-0.parquet"], id="end"
        ),
        pytest.param(["train-0.parquet", "test-0.parquet"], ["train-0.parquet"], id="name alone"),
        pytest.param(["train.jsonl", ".cache/main/train-0.parquet"], ["train.jsonl"], id="hidden"),
    ],
)
def test_which_files_of_a_folder_are_meant(
    tmp_path: Path, names: list[str], expected: list[str]
) -> None:
    assert matching_in_folder(put(tmp_path, *names), GSM8K.files) == expected


@pytest.mark.parametrize(
    ("names", "words"),
    [
        pytest.param([], "data files found there: none", id="empty"),
        pytest.param(
            ["test.jsonl", "notes.txt"],
            "holds no file main/train-*.parquet or train.jsonl; data files found there: test.jsonl",
            id="test split only",
        ),
        pytest.param(
            ["a/train-0.parquet", "b/train-0.parquet"],
            "several files could be main/train-*.parquet or train.jsonl: "
            "a/train-0.parquet, b/train-0.parquet",
            id="two folders",
        ),
        pytest.param(
            ["main/train-00001-of-00002.parquet"],
            "parts of a set are missing: main/train-00000-of-00002.parquet",
            id="a part is missing",
        ),
    ],
)
def test_a_folder_that_does_not_say_which_file(
    tmp_path: Path, names: list[str], words: str
) -> None:
    with pytest.raises(InputDataError) as caught:
        locate({"gsm8k": GSM8K}, Lookup({"gsm8k": put(tmp_path, *names)}, None))
    assert words in str(caught.value)
    assert str(tmp_path) in str(caught.value)


def test_candidates_of_different_kinds_are_listed(tmp_path: Path) -> None:
    put(tmp_path, "train.jsonl", "train.parquet")
    with pytest.raises(InputDataError, match=r"could be train\*: train.jsonl, train.parquet"):
        locate_path("x", tmp_path, HubDataset("o/x", ("train*",)))


def test_a_folder_without_a_dataset_gives_all_its_files_of_one_kind(tmp_path: Path) -> None:
    put(tmp_path, "b/2.jsonl", "a/1.jsonl")
    assert found(locate_path("own", tmp_path)) == ["a/1.jsonl", "b/2.jsonl"]
    put(tmp_path, "c.parquet")
    with pytest.raises(InputDataError, match="several files could be"):
        locate_path("own", tmp_path)


def test_a_folder_of_the_sources_folder_is_not_passed_over_for_the_hub(tmp_path: Path) -> None:
    put(tmp_path, "gsm8k/test.jsonl")
    with pytest.raises(InputDataError, match=r"gsm8k: holds no file main/train-\*\.parquet"):
        locate({"gsm8k": GSM8K}, Lookup({}, tmp_path))


def test_offline_without_files_lists_every_source_and_the_three_ways(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_CACHE", str(tmp_path / "cache"))
    put(tmp_path, "have/train.jsonl")
    wanted = {
        "have": GSM8K,
        "gsm8k": GSM8K,
        "sciq": HubDataset("allenai/sciq", ("data/train-*.parquet",), "2c94ad3"),
    }
    lookup = Lookup({"have": tmp_path / "have"}, tmp_path / "have", offline=True)
    with pytest.raises(SourceUnavailableError) as caught:
        locate(wanted, lookup)
    message = str(caught.value)
    assert message.startswith("2 sources could be read from nowhere:")
    for words in (
        "gsm8k: main/train-*.parquet or train.jsonl",
        "sciq: data/train-*.parquet",
        "allenai/sciq at revision 2c94ad3",
        "not asked (offline)",
        f"its cache {tmp_path}/cache does not hold the repository",
        "--source NAME=PATH",
        f"{tmp_path}/have/sciq/data/train-*.parquet",
    ):
        assert words in message
    assert "have:" not in message
    located, failures = locate_available(wanted, lookup)
    assert (list(located), list(failures)) == (["have"], ["gsm8k", "sciq"])
    assert all(f"{tmp_path}/cache" in reason for reason in failures.values())


@pytest.mark.parametrize(
    "names",
    [
        pytest.param({"main/train-00000-of-00001.parquet": SHA}, id="another name, same content"),
        pytest.param({"train.jsonl": SHA}, id="same name"),
    ],
)
def test_a_lock_accepts_a_local_file_of_the_locked_content(
    tmp_path: Path, names: dict[str, str]
) -> None:
    put(tmp_path, "train.jsonl")
    locks = {"gsm8k": Lock("f" * 40, names)}
    lookup = Lookup({"gsm8k": tmp_path / "train.jsonl"}, None)
    assert locate({"gsm8k": GSM8K}, lookup, locks)["gsm8k"].revision == "local"


@pytest.mark.parametrize(
    ("locked", "words"),
    [
        pytest.param(
            {"x/train.jsonl": OTHER},
            f"file train.jsonl has sha256 {SHA}, expected {OTHER}",
            id="other content",
        ),
        pytest.param(
            {"a.parquet": OTHER, "b.parquet": "1" * 64},
            f"file train.jsonl has sha256 {SHA}, which is not among the locked files "
            f"(a.parquet {OTHER}, b.parquet {'1' * 64})",
            id="unknown",
        ),
        pytest.param(
            {"train.jsonl": SHA, "more.jsonl": OTHER},
            f"file more.jsonl is missing, expected with sha256 {OTHER}",
            id="one is missing",
        ),
    ],
)
def test_a_lock_refuses_anything_else(tmp_path: Path, locked: dict[str, str], words: str) -> None:
    put(tmp_path, "train.jsonl")
    with pytest.raises(InputDataError) as caught:
        locate(
            {"gsm8k": GSM8K},
            Lookup({"gsm8k": tmp_path}, None),
            {"gsm8k": Lock("f" * 40, locked)},
        )
    assert words in str(caught.value)
    assert "dfdata recipes lock" in str(caught.value)


def test_an_unreadable_file_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = put(tmp_path, "train.jsonl") / "train.jsonl"

    def refuse(_: Path) -> str:
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(fetch, "file_sha256", refuse)
    with pytest.raises(InputDataError, match=r"train\.jsonl: cannot be read \(Permission denied\)"):
        locate_path("gsm8k", path)


@pytest.mark.parametrize(
    ("pattern", "expected"),
    [
        ("*.parquet", ["a.parquet"]),
        ("x/*.parquet", ["x/a.parquet"]),
        ("**/*.parquet", ["a.parquet", "x/a.parquet", "x/y/a.parquet"]),
        ("x/**/a.parquet", ["x/a.parquet", "x/y/a.parquet"]),
        ("A.parquet", []),
        ("a.parque", []),
    ],
)
def test_globs(pattern: str, expected: list[str]) -> None:
    assert matching(["x/y/a.parquet", "x/a.parquet", "a.parquet"], [pattern]) == expected


def test_missing_parts() -> None:
    assert missing_parts(["d/t-00001-of-00003.parquet", "plain.parquet"]) == [
        "d/t-00000-of-00003.parquet",
        "d/t-00002-of-00003.parquet",
    ]
    assert missing_parts(["t-00000-of-00001.parquet"]) == []
