"""Folders and files are whole or as they were: replaced in one step, never half-written."""

from __future__ import annotations

import errno
import os
from pathlib import Path

import pyarrow as pa
import pytest

from dataflex_data.core import parquet
from dataflex_data.core.errors import InputDataError, OutputError
from dataflex_data.core.parquet import (
    check_output_file,
    check_output_folder,
    dump_json,
    folder_digests,
    read_manifest,
    replace_file,
    replace_folder,
    write_json,
    write_parquet,
)


def fill(folder: Path, text: str) -> None:
    (folder / "data.txt").write_text(text)
    write_json({"kind": "corpus", "files": folder_digests(folder)}, folder / "manifest.json")


def leftovers(folder: Path) -> list[str]:
    return [path.name for path in folder.iterdir() if path.name.startswith(".")]


def test_a_new_folder_appears_whole(tmp_path: Path) -> None:
    with replace_folder(tmp_path / "deep" / "out", force=False) as folder:
        fill(folder, "new")
        assert not (tmp_path / "deep" / "out").exists()
    assert (tmp_path / "deep" / "out" / "data.txt").read_text() == "new"
    assert leftovers(tmp_path / "deep") == []


def test_an_existing_folder_needs_force(tmp_path: Path) -> None:
    with replace_folder(tmp_path / "out", force=False) as folder:
        fill(folder, "old")
    with pytest.raises(OutputError, match="--force"), replace_folder(tmp_path / "out", force=False):
        pass
    with replace_folder(tmp_path / "out", force=True) as folder:
        fill(folder, "new")
    assert (tmp_path / "out" / "data.txt").read_text() == "new"
    assert leftovers(tmp_path) == []


@pytest.mark.parametrize("exchange", [True, False])
def test_a_failure_leaves_the_old_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, exchange: bool
) -> None:
    if not exchange:
        monkeypatch.setattr(parquet, "_exchange", lambda first, second: False)
    with replace_folder(tmp_path / "out", force=False) as folder:
        fill(folder, "old")
    with (
        pytest.raises(RuntimeError, match="boom"),
        replace_folder(tmp_path / "out", force=True) as folder,
    ):
        fill(folder, "half")
        raise RuntimeError("boom")
    assert (tmp_path / "out" / "data.txt").read_text() == "old"
    assert leftovers(tmp_path) == []


def test_without_the_exchange_call_two_renames_do(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(parquet, "_exchange", lambda first, second: False)
    for text in ("old", "new"):
        with replace_folder(tmp_path / "out", force=True) as folder:
            fill(folder, text)
    assert (tmp_path / "out" / "data.txt").read_text() == "new"
    assert leftovers(tmp_path) == []


def test_a_folder_stranded_between_two_renames_comes_back(tmp_path: Path) -> None:
    stranded = tmp_path / ".out.old-999999999"
    stranded.mkdir()
    fill(stranded, "old")
    with (
        pytest.raises(RuntimeError, match="boom"),
        replace_folder(tmp_path / "out", force=True),
    ):
        raise RuntimeError("boom")
    assert (tmp_path / "out" / "data.txt").read_text() == "old"


def test_partial_folders_of_dead_builds_are_swept(tmp_path: Path) -> None:
    dead = tmp_path / ".out.partial-999999999"
    alive = tmp_path / f".out.partial-{os.getppid()}"
    dead.mkdir()
    alive.mkdir()
    with replace_folder(tmp_path / "out", force=False) as folder:
        fill(folder, "new")
    assert not dead.exists()
    assert alive.exists(), "another build that still runs keeps its folder"


def test_a_full_disk_is_said_in_words(tmp_path: Path) -> None:
    with (
        pytest.raises(OutputError, match=r"No space left.*free some space.*Nothing was changed"),
        replace_folder(tmp_path / "out", force=False),
    ):
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
    assert not (tmp_path / "out").exists()
    assert leftovers(tmp_path) == []


def test_force_never_deletes_what_is_not_ours(tmp_path: Path) -> None:
    mine = tmp_path / "thesis"
    mine.mkdir()
    (mine / "chapter.txt").write_text("words")
    for manifest in (None, "{}", '{"name": "webapp"}', '{"kind": "corpus", "files": {}}'):
        if manifest is not None:
            (mine / "manifest.json").write_text(manifest)
        with pytest.raises(OutputError, match=r"dfdata did not write|not written by dfdata"):
            check_output_folder(mine, force=True)
    assert (mine / "chapter.txt").exists()


def test_notes_beside_our_files_are_not_deleted(tmp_path: Path) -> None:
    with replace_folder(tmp_path / "out", force=False) as folder:
        (folder / "sub").mkdir()
        (folder / "sub" / "data.txt").write_text("x")
        write_json({"kind": "corpus", "files": folder_digests(folder)}, folder / "manifest.json")
    check_output_folder(tmp_path / "out", force=True)
    (tmp_path / "out" / "notes.txt").write_text("mine")
    with pytest.raises(OutputError, match=r"notes\.txt"):
        check_output_folder(tmp_path / "out", force=True)


def test_of_two_builds_at_once_the_second_is_refused(tmp_path: Path) -> None:
    with (
        pytest.raises(OutputError, match="by another command meanwhile"),
        replace_folder(tmp_path / "out", force=False) as folder,
    ):
        fill(folder, "slow")
        (tmp_path / "out").mkdir()
        fill(tmp_path / "out", "fast")
    assert (tmp_path / "out" / "data.txt").read_text() == "fast"
    assert leftovers(tmp_path) == []


def test_a_file_is_replaced_only_when_asked_and_never_when_it_is_read(tmp_path: Path) -> None:
    path = tmp_path / "x.jsonl"
    assert check_output_file(path, force=False) == path
    path.write_text("old")
    with pytest.raises(OutputError, match="exists already"):
        check_output_file(path, force=False)
    assert check_output_file(path, force=True) == path
    with pytest.raises(OutputError, match="is read by this very command"):
        check_output_file(path, force=True, inputs=[tmp_path / "." / "x.jsonl"])
    with pytest.raises(OutputError, match="is a folder"):
        check_output_file(tmp_path, force=True)
    with pytest.raises(OutputError, match=r"x\.jsonl is a file"):
        check_output_file(path / "below", force=True)


def test_a_device_is_never_replaced(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")  # stands for /dev/null: neither a folder nor a regular file
    with pytest.raises(OutputError, match="is a device"):
        check_output_file(tmp_path / "pipe", force=True)
    with pytest.raises(OutputError, match="is a device"), replace_file(tmp_path / "pipe"):
        pass
    assert not (tmp_path / "pipe").is_file()


def test_a_file_or_a_link_in_the_way_is_refused(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("x")
    (tmp_path / "target").mkdir()
    (tmp_path / "link").symlink_to(tmp_path / "target")
    with pytest.raises(OutputError, match="is a file"):
        check_output_folder(tmp_path / "file", force=True)
    with pytest.raises(OutputError, match="symbolic link"):
        check_output_folder(tmp_path / "link", force=True)
    with pytest.raises(OutputError, match="is a file"):
        check_output_folder(tmp_path / "file" / "below", force=True)


def test_replace_file_is_all_or_nothing(tmp_path: Path) -> None:
    path = tmp_path / "sub" / "x.txt"
    with replace_file(path) as partial:
        partial.write_text("old")
    with pytest.raises(RuntimeError, match="boom"), replace_file(path) as partial:
        partial.write_text("half")
        raise RuntimeError("boom")
    assert path.read_text() == "old"
    assert leftovers(path.parent) == []
    with pytest.raises(OutputError, match="is a folder"), replace_file(tmp_path / "sub"):
        pass


def test_equal_tables_give_equal_bytes(tmp_path: Path) -> None:
    table = pa.table({"a": list(range(25_000)), "b": ["x"] * 25_000})
    write_parquet(table, tmp_path / "1.parquet")
    write_parquet(pa.concat_tables([table.slice(0, 7), table.slice(7)]), tmp_path / "2.parquet")
    assert (tmp_path / "1.parquet").read_bytes() == (tmp_path / "2.parquet").read_bytes()


def test_manifest_reading_names_what_is_wrong(tmp_path: Path) -> None:
    with pytest.raises(InputDataError, match=r"not a built corpus"):
        read_manifest(tmp_path)
    (tmp_path / "manifest.json").write_text("{")
    with pytest.raises(InputDataError, match="cannot be read as JSON"):
        read_manifest(tmp_path)
    (tmp_path / "manifest.json").write_text("{}")
    with pytest.raises(InputDataError, match="not a manifest"):
        read_manifest(tmp_path)


def test_digests_leave_the_manifest_out(tmp_path: Path) -> None:
    fill(tmp_path, "abc")
    # sha256("abc"), FIPS 180-2 appendix B.1
    assert folder_digests(tmp_path) == {
        "data.txt": {
            "bytes": 3,
            "sha256": "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad",
        }
    }


def test_json_is_sorted_and_refuses_nan() -> None:
    assert dump_json({"b": 1, "a": "é"}) == '{\n  "a": "é",\n  "b": 1\n}\n'
    with pytest.raises(ValueError, match="JSON"):
        dump_json(float("nan"))
