"""`dfdata doctor` without starting a process: findings, exit codes, bad input."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Iterable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from dataflex_data.core.errors import ConfigError
from dataflex_data.integrations.verl import command_line, doctor
from tests.conftest import Cli
from tests.verl_cpu.assets import toy_rows

WHOLE = """
trainer: {v1: {trainer_mode: dataflex_sync}}
algorithm: {adv_estimator: grpo}
data: {train_files: %s, val_files: [], train_batch_size: 4, dataloader_num_workers: 0}
actor_rollout_ref: {rollout: {n: 4}, actor: {ppo_mini_batch_size: 4}}
dataflex: {mechanism: mix, actuator: {name: reward_gap}}
"""


@pytest.fixture
def data(tmp_path: Path) -> Path:
    """A training file of two domains."""
    return write(tmp_path / "train.parquet", toy_rows(8, "train"))


def write(path: Path, rows: Iterable[dict[str, Any]]) -> Path:
    pq.write_table(pa.Table.from_pylist(list(rows)), path)
    return path


def examined(cli: Cli, folder: Path, text: str) -> tuple[int, list[dict[str, str]]]:
    """Return the exit code, and the findings about this configuration and its data."""
    path = folder / "config.yaml"
    path.write_text(text, encoding="utf-8")
    result = cli("doctor", "--quick", "--json", "--config", path)
    found = json.loads(result.out)
    return result.code, [f for f in found if f["area"] in ("configuration", "data")]


def test_a_run_that_can_be_carried_out(cli: Cli, tmp_path: Path, data: Path) -> None:
    _, (run, file) = examined(cli, tmp_path, WHOLE % data)
    assert (run["state"], run["detail"]) == ("ok", "can be carried out as written")
    assert (file["what"], file["state"]) == (str(data), "ok")
    assert file["detail"] == "8 rows; domain: easy 4, hard 4"


def test_what_has_no_effect_is_told_and_is_no_problem(cli: Cli, tmp_path: Path, data: Path) -> None:
    block = (
        "dataflex: {mechanism: select, scorer: {name: reward_difficulty}, "
        "actuator: {name: gfpo, params: {k: 2, metric: short}}}"
    )
    text = (WHOLE % data).replace(WHOLE.splitlines()[-1], block)
    code, (run, remark, _) = examined(cli, tmp_path, text)
    assert (code, run["state"]) == (0, "ok")
    assert remark["state"] == "note"
    assert "'reward_difficulty' has no effect" in remark["detail"]


def test_a_saved_configuration_is_read_with_what_it_refers_to(
    cli: Cli, tmp_path: Path, data: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pytest.importorskip("omegaconf", reason="needs the extra 'verl'")
    monkeypatch.setenv("DATAFLEX_DATA", str(data.parent))
    text = (WHOLE % "'${oc.env:DATAFLEX_DATA}/train.parquet'").replace("{n: 4}", "{n: '${n}'}")
    _, (run, file) = examined(cli, tmp_path, f"{text}\nn: 4\n")
    assert (run["state"], file["what"]) == ("ok", str(data))
    monkeypatch.delenv("DATAFLEX_DATA")
    told = cli("doctor", "--quick", "--config", tmp_path / "config.yaml")
    assert (told.code, "export DATAFLEX_DATA=FOLDER" in told.err) == (2, True)


def test_a_configuration_that_cannot_work_is_a_finding(
    cli: Cli, tmp_path: Path, data: Path
) -> None:
    text = (WHOLE % data).replace("dataflex_sync", "sync")
    code, (run, _) = examined(cli, tmp_path, text)
    assert code == 1
    assert run["state"] == "problem"
    assert "Set trainer.v1.trainer_mode=dataflex_sync" in run["detail"]


def test_a_missing_file_is_a_finding_and_one_elsewhere_is_not(cli: Cli, tmp_path: Path) -> None:
    text = WHOLE % "[nowhere/train.parquet, hdfs://store/train.parquet]"
    _, (run, missing, elsewhere) = examined(cli, tmp_path, text)
    assert run["state"] == "ok"
    assert (missing["state"], "no such file" in missing["detail"]) == ("problem", True)
    assert (elsewhere["state"], "not on this machine" in elsewhere["detail"]) == ("skipped", True)


def test_columns_that_verl_reads_and_rows_for_a_batch(cli: Cli, tmp_path: Path) -> None:
    bare = write(tmp_path / "bare.parquet", [{"prompt": "a", "domain": "x"}])
    _, findings = examined(cli, tmp_path, WHOLE % bare)
    assert "has no column data_source, reward_model" in findings[-1]["detail"]
    few = write(tmp_path / "few.parquet", toy_rows(3, "train"))
    _, findings = examined(cli, tmp_path, WHOLE % few)
    assert findings[-1]["detail"] == "3 rows are no batch of data.train_batch_size=4"


def test_a_damaged_file_is_told_and_not_fallen_over(cli: Cli, tmp_path: Path) -> None:
    damaged = tmp_path / "train.parquet"
    damaged.write_bytes(b"not parquet")
    code, findings = examined(cli, tmp_path, WHOLE % damaged)
    assert code == 1
    assert all("cannot be read as parquet" in finding["detail"] for finding in findings)


BLOCK = "{mechanism: mix, actuator: {name: reward_gap}}"


@pytest.mark.parametrize(
    ("right", "wrong", "words"),
    [
        (BLOCK, "5", "dataflex: must be a mapping of keys to values, got int"),
        (BLOCK, "[a]", "dataflex: must be a mapping of keys to values, got list"),
        (BLOCK, "{mechanism: mix, actuator: reward_gap}", "actuator"),
        ("n: 4}", "n: five}", "actor_rollout_ref.rollout.n must be a whole number, got 'five'"),
        ("train_batch_size: 4", "train_batch_size: many", "data.train_batch_size must be a whole"),
        ("{ppo_mini_batch_size: 4}", "3", "actor_rollout_ref.actor must be a mapping"),
        ("val_files: []", "val_files: 7", "data.val_files must be a path or a list of paths"),
        (BLOCK, "{mechanism: mix, actuater: {name: x}}", "policies, poll_interval_s, preset, scor"),
        (BLOCK, "{prest: ar}", "did you mean 'preset'"),
        ("gap}", "gap, params: {temprature: 1}}", "mixer reward_gap: key `temprature` is not kn"),
    ],
)
def test_wrong_values_are_answered_as_findings(
    cli: Cli, tmp_path: Path, data: Path, right: str, wrong: str, words: str
) -> None:
    text = WHOLE % data
    assert right in text
    code, (run, *_) = examined(cli, tmp_path, text.replace(right, wrong))
    assert code == 1
    assert words in run["detail"]


def test_what_is_no_configuration_of_verl_is_not_called_one(cli: Cli, tmp_path: Path) -> None:
    path = tmp_path / "config.yaml"
    path.write_text("trainer: {project_name: x}", encoding="utf-8")
    result = cli("doctor", "--quick", "--config", path)
    assert result.code == 2
    assert "is not verl's whole configuration" in result.err
    assert "trainer.v1.trainer_mode, algorithm.adv_estimator" in result.err


def test_bad_input_is_answered_in_words(cli: Cli, tmp_path: Path, data: Path) -> None:
    missing = cli("doctor", "--quick", "--config", tmp_path / "nothing.yaml")
    assert (missing.code, "no such file" in missing.err) == (2, True)
    word = cli("doctor", "--quick", "--", "hello")
    assert (word.code, "'hello' is no override KEY=VALUE" in word.err) == (2, True)
    path = tmp_path / "config.yaml"
    path.write_text(WHOLE % data)
    both = cli("doctor", "--quick", "--config", path, "--", "a.b=1")
    assert (both.code, "give no overrides with it" in both.err) == (2, True)


def test_command_lines_are_read_as_they_are_typed() -> None:
    start = ["python", "-m", "verl.trainer.main_ppo", "--config-path=/a/b", "--config-name", "ar"]
    keys = ["data.seed=1", "hydra.run.dir=/x", "~trainer.logger", "+dataflex.seed=2"]
    line = command_line._command_line([*start, *keys])
    assert (line.folder, line.name) == ("/a/b", "ar")
    assert line.overrides == ("data.seed=1", "~trainer.logger", "+dataflex.seed=2")
    with pytest.raises(ConfigError, match="relative to verl's own files"):
        command_line._command_line(["--config-path", "examples/configs"])
    with pytest.raises(ConfigError, match="--config-name needs a value"):
        command_line._command_line(["--config-name"])


def test_versions_and_entry_points_are_judged(monkeypatch: pytest.MonkeyPatch) -> None:
    def found(verl: str | None, policy: str = "auto") -> dict[str, doctor.Finding]:
        held = {"verl": verl, "torch": "2", "ray": "2", "TransferQueue": "0"}
        monkeypatch.setattr(doctor, "_version", held.get)
        monkeypatch.setenv("VERL_USE_EXTERNAL_PLUGINS", policy)
        return {f.what: f for f in doctor.examine(None, processes=False, ray=False)}

    assert found("0.9.1")["verl"].state == "ok"
    assert "0.9.1 is the one that is tested" in found("0.9.0")["verl"].detail
    assert 'pip install "verl==0.9.1"' in found("0.8.0")["verl"].detail
    assert "mixing only" in found("0.7.1")["verl"].detail
    assert 'pip install "dataflex-data[verl]"' in found(None)["verl"].detail
    assert found("0.9.1")["tensordict"].state == "problem"
    hidden = found("0.9.1", "other")["VERL_USE_EXTERNAL_PLUGINS"]
    assert (hidden.state, "add dataflex" in hidden.detail) == ("problem", True)


def test_a_process_without_our_trainers_is_a_problem(monkeypatch: pytest.MonkeyPatch) -> None:
    def told(out: str, err: str = "") -> doctor.Finding:
        done = SimpleNamespace(stdout=out, stderr=err)
        monkeypatch.setattr(subprocess, "run", lambda *_, **__: done)
        return doctor._registration("fresh process", "")

    assert told('x\nDOCTOR["dataflex_mix_sync", "dataflex_sync", "sync"]').state == "ok"
    missing = told('DOCTOR["sync"]', "ERROR dataflex-data could not register\n")
    assert missing.state == "problem"
    assert "dataflex_sync, dataflex_mix_sync is not registered there" in missing.detail
    assert "could not register" in missing.detail
    assert "failed: ImportError: x" in told("", "Traceback\nImportError: x").detail


def test_it_says_what_is_waited_for(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(doctor, "_version", lambda _: "0.9.1")
    done = SimpleNamespace(stdout="DOCTOR[]", stderr="")
    monkeypatch.setattr(subprocess, "run", lambda *_, **__: done)
    said: list[str] = []
    list(doctor.examine(None, processes=True, ray=True, say=said.append))
    assert [line.split(" to see")[0] for line in said] == [
        "starting a fresh process",
        "starting a Ray worker",
    ]
