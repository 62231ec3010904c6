"""`dfdata build` from end to end on made-up sources: what a user types, what then lies there."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections import Counter
from pathlib import Path
from typing import Any

import polars as pl
import pyarrow.parquet as pq
import pytest
import yaml

from dataflex_data.builders.corpus import read_split
from dataflex_data.core.schema import ROW_SCHEMA
from dataflex_data.core.text import normalise
from dataflex_data.verifiers import routes
from tests.conftest import Cli
from tests.factories import dapo_records, gsm8k_records, write_jsonl, write_parquet, write_sources


def manifest(folder: Path) -> dict[str, Any]:
    data: dict[str, Any] = json.loads((folder / "manifest.json").read_text())
    return data


def files(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in sorted(folder.iterdir())}


@pytest.fixture(scope="session")
def smoke(made_sources: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A corpus of three_domain_smoke."""
    from dataflex_data.pipeline import build

    out = tmp_path_factory.mktemp("built") / "smoke"
    build("three_domain_smoke", out, sources_dir=made_sources)
    return out


def test_quotas_are_exact_and_every_row_is_whole(smoke: Path) -> None:
    assert sorted(files(smoke)) == [
        "README.md",
        "manifest.json",
        "train.parquet",
        "validation.parquet",
    ]
    for split, per_domain in (("train", 30), ("validation", 6)):
        table = read_split(smoke, split)
        assert table.schema.equals(ROW_SCHEMA, check_metadata=True)
        rows = table.to_pylist()
        assert Counter(row["domain"] for row in rows) == dict.fromkeys(
            ("math", "logic", "science"), per_domain
        )
        assert [row["extra_info"]["index"] for row in rows] == list(range(3 * per_domain))
    sources = Counter(row["data_source"] for row in read_split(smoke, "train").to_pylist())
    assert sources == {
        "dataflex/math_dapo": 12,
        "dataflex/deepscaler": 12,
        "dataflex/gsm8k": 6,
        "dataflex/knights_and_knaves": 30,
        "dataflex/sciq": 30,
    }


def test_no_two_prompts_are_the_same_over_both_splits(smoke: Path) -> None:
    prompts = [
        normalise(row["prompt"][0]["content"])
        for split in ("train", "validation")
        for row in read_split(smoke, split).to_pylist()
    ]
    assert len(prompts) == len(set(prompts)) == 108


def test_golds_score_and_letters_point_at_the_right_option(smoke: Path) -> None:
    for row in read_split(smoke, "train").to_pylist():
        extra, gold = row["extra_info"], row["reward_model"]["ground_truth"]
        response = routes.render_gold(row["data_source"], gold, extra)
        assert routes.verify(row["data_source"], response, gold, extra).score == 1.0
        if extra["options"]:
            position = ord(gold) - ord("A")
            assert extra["options"][position] == extra["raw_answer"]
            assert f"{gold}. {extra['raw_answer']}\n" in row["prompt"][0]["content"]


def test_licences_sources_and_revisions_stand_in_every_row(smoke: Path) -> None:
    digests = {
        file["sha256"] for source in manifest(smoke)["sources"].values() for file in source["files"]
    }
    for row in read_split(smoke, "train").to_pylist():
        extra = row["extra_info"]
        assert extra["license"]
        if row["domain"] != "logic":
            assert extra["source_revision"].removeprefix("sha256:") in digests
    assert manifest(smoke)["licenses"] == ["Apache-2.0", "CC-BY-NC-3.0", "MIT"]
    card = (smoke / "README.md").read_text()
    front = yaml.safe_load(card.split("---")[1])
    assert front["license"] == "other"
    assert front["configs"][0]["data_files"][0] == {"split": "train", "path": "train*.parquet"}
    assert "**Non-commercial.** Rows of sciq" in card


@pytest.mark.parametrize("variation", ["hash seed", "workers", "order of rows"])
def test_a_rebuild_gives_the_same_bytes(
    smoke: Path, made_sources: Path, tmp_path: Path, variation: str
) -> None:
    sources, environment, extra = made_sources, dict(os.environ), []
    if variation == "hash seed":
        environment["PYTHONHASHSEED"] = "12345"
    elif variation == "workers":
        extra = ["--workers", "2"]
    else:
        sources = write_sources(tmp_path / "reversed")
        write_jsonl(sources / "gsm8k" / "train.jsonl", gsm8k_records(400)[::-1])
    command = [sys.executable, "-m", "dataflex_data", "build", "--recipe", "three_domain_smoke"]
    command += ["--sources-dir", str(sources), "--out", str(tmp_path / "again"), *extra]
    subprocess.run(command, env=environment, check=True, capture_output=True)
    if variation == "order of rows":
        # Another file, another digest in revision and manifest; but the very same rows, in order.
        for split in ("train", "validation"):
            before, after = (
                [row["extra_info"]["row_id"] for row in read_split(folder, split).to_pylist()]
                for folder in (smoke, tmp_path / "again")
            )
            assert before == after
    else:
        assert files(tmp_path / "again") == files(smoke)


def test_a_neighbours_absence_moves_nothing(
    smoke: Path, made_sources: Path, tmp_path: Path
) -> None:
    # One RNG stream for everything re-lettered one source when another changed.
    from dataflex_data.pipeline import build

    sources = write_sources(tmp_path / "fewer")
    write_parquet(sources / "math_dapo" / "data" / "dapo-math-17k.parquet", dapo_records(390))
    build("three_domain_smoke", tmp_path / "out", sources_dir=sources)

    def science(folder: Path) -> list[Any]:
        return [
            (row["extra_info"]["row_id"], row["prompt"], row["reward_model"])
            for row in read_split(folder, "train").to_pylist()
            if row["domain"] == "science"
        ]

    assert science(tmp_path / "out") == science(smoke)


def test_another_seed_draws_other_rows_and_keeps_the_splits(
    smoke: Path, made_sources: Path, tmp_path: Path
) -> None:
    from dataflex_data.pipeline import build

    build("three_domain_smoke", tmp_path / "out", sources_dir=made_sources, seed=7)

    def questions(folder: Path, split: str) -> set[str]:
        return {row["extra_info"]["raw_question"] for row in read_split(folder, split).to_pylist()}

    assert questions(tmp_path / "out", "train") != questions(smoke, "train")
    assert not questions(tmp_path / "out", "train") & questions(smoke, "validation")
    assert not questions(smoke, "train") & questions(tmp_path / "out", "validation")


def test_the_hundredfold_copies_are_dropped_and_counted(
    made_sources: Path, tmp_path: Path, cli: Cli
) -> None:
    # DAPO#36.
    path = write_parquet(tmp_path / "dapo.parquet", dapo_records(400, copies=30))
    result = cli(
        *("build", "--recipe", "three_domain_smoke", "--sources-dir", made_sources),
        *("--source", f"math_dapo={path}", "--out", tmp_path / "out", "--json"),
    )
    assert result.code == 0, result.err
    entry = json.loads(result.out)["manifest"]["sources"]["math_dapo"]
    assert entry["raw"] == 12_000
    assert entry["dropped"]["exact_duplicate"] == 11_600


def test_shards_hold_the_same_rows(smoke: Path, made_sources: Path, tmp_path: Path) -> None:
    from dataflex_data.pipeline import build

    build("three_domain_smoke", tmp_path / "out", sources_dir=made_sources, shard_rows=40)
    names = sorted(path.name for path in (tmp_path / "out").glob("train*"))
    assert names == [f"train-0000{n}-of-00003.parquet" for n in range(3)]
    assert read_split(tmp_path / "out", "train").equals(read_split(smoke, "train"))


def test_dropped_rows_are_written_with_reasons(
    made_sources: Path, tmp_path: Path, cli: Cli
) -> None:
    records = [
        *gsm8k_records(400),
        {"question": "In the diagram, how many dots are there?", "answer": "#### 4"},
        {"question": "How many?", "answer": "none"},
    ]
    path = write_jsonl(tmp_path / "g.jsonl", records)
    dropped = tmp_path / "dropped.jsonl"
    result = cli(
        *("build", "--recipe", "three_domain_smoke", "--sources-dir", made_sources),
        *("--source", f"gsm8k={path}", "--out", tmp_path / "out", "--keep-dropped", dropped),
    )
    assert result.code == 0, result.err
    rows = [json.loads(line) for line in dropped.read_text().splitlines()]
    mine = {row["reason"]: row for row in rows if row["label"] == "gsm8k"}
    assert mine["figure_mention"]["row"] == 401
    assert mine["no_final_answer"]["row"] == 402
    assert mine["no_final_answer"]["file"] == "g.jsonl"
    assert "figure_mention" in result.out, "and counted in the closing table"


def test_conflicting_golds_leave_and_are_listed(
    made_sources: Path, tmp_path: Path, cli: Cli
) -> None:
    same = {"question": "How many legs do seven spiders have together?"}
    records = [*gsm8k_records(400), {**same, "answer": "#### 56"}, {**same, "answer": "#### 42"}]
    path = write_jsonl(tmp_path / "g.jsonl", records)
    result = cli(
        *("build", "--recipe", "three_domain_smoke", "--sources-dir", made_sources),
        *("--source", f"gsm8k={path}", "--out", tmp_path / "out"),
    )
    assert result.code == 0, result.err
    data = manifest(tmp_path / "out")
    assert data["sources"]["gsm8k"]["dropped"] == {"conflicting_gold": 2}
    (conflict,) = data["conflicts"]
    assert sorted(member["gold"] for member in conflict["members"]) == ["42", "56"]
    assert "1 texts have golds that contradict each other" in result.out


def test_a_shortfall_is_refused_with_its_table(
    made_sources: Path, tmp_path: Path, cli: Cli
) -> None:
    # verl-omni#411: a silent shortfall.
    path = write_jsonl(tmp_path / "g.jsonl", gsm8k_records(5))
    result = cli(
        *("build", "--recipe", "three_domain_smoke", "--sources-dir", made_sources),
        *("--source", f"gsm8k={path}", "--out", tmp_path / "out"),
    )
    assert result.code == 2
    assert "gsm8k/train: wanted 6, got" in result.err
    assert "raw 5" in result.err
    assert not (tmp_path / "out").exists()


def test_a_shortfall_may_be_redistributed_by_name(
    made_sources: Path, tmp_path: Path, cli: Cli
) -> None:
    recipe = {
        "recipe": 1,
        "name": "short",
        "seed": 3,
        "domains": {
            "math": {
                "count": 40,
                "on_shortfall": "redistribute",
                "sources": [
                    {"source": "gsm8k", "count": 20},
                    {"source": "deepscaler", "count": 20},
                ],
            }
        },
    }
    (tmp_path / "r.yaml").write_text(yaml.safe_dump(recipe))
    path = write_jsonl(tmp_path / "g.jsonl", gsm8k_records(8))
    result = cli(
        *("build", "--recipe", tmp_path / "r.yaml", "--sources-dir", made_sources),
        *("--source", f"gsm8k={path}", "--out", tmp_path / "out", "--json"),
    )
    assert result.code == 0, result.err
    data = json.loads(result.out)["manifest"]
    assert data["rows"]["train"]["total"] == 40
    assert "rows that gsm8k could not give come from deepscaler" in data["notes"][0]


def test_a_domain_of_the_users_own_needs_no_code(tmp_path: Path, cli: Cli) -> None:
    records = [
        {
            "q": f"Which of these weighs {n} grams exactly?",
            "right": f"w{n}",
            "wrong": [f"x{n}", f"y{n}"],
        }
        for n in range(60)
    ]
    write_jsonl(
        tmp_path / "physics.jsonl",
        [{**record, "all": [record["right"], *record["wrong"]]} for record in records],
    )
    recipe = {
        "recipe": 1,
        "name": "own",
        "seed": 3,
        "domains": {
            "physics": {
                "count": 30,
                "sources": [
                    {
                        "source": "jsonl",
                        "name": "my_physics",
                        "fraction": 1.0,
                        "template": "{question}\n{options}\nAnswer with a letter in \\boxed{}.",
                        "params": {
                            "path": str(tmp_path / "physics.jsonl"),
                            "verifier": "choice",
                            "license": "CC-BY-4.0",
                            "columns": {"question": "q", "gold": "right", "options": "all"},
                        },
                    }
                ],
            }
        },
    }
    (tmp_path / "own.yaml").write_text(yaml.safe_dump(recipe))
    result = cli("build", "--recipe", tmp_path / "own.yaml", "--out", tmp_path / "out")
    assert result.code == 0, result.err
    row = read_split(tmp_path / "out", "train").to_pylist()[0]
    assert row["domain"] == "physics"
    assert row["data_source"] == "dataflex/choice"
    assert row["extra_info"]["source"] == "my_physics"
    assert cli("verify", tmp_path / "out").code == 0


def test_a_locked_recipe_refuses_other_files(made_sources: Path, tmp_path: Path, cli: Cli) -> None:
    locked = tmp_path / "locked.yaml"
    result = cli(
        "recipes", "lock", "three_domain_smoke", "--sources-dir", made_sources, "--out", locked
    )
    assert result.code == 0, result.err
    assert "gsm8k: local, 1 file(s)" in result.out
    build = ("build", "--recipe", locked, "--out", tmp_path / "out", "--sources-dir")
    assert cli(*build, made_sources).code == 0
    other = write_sources(tmp_path / "other", count=401)
    result = cli(*build, other, "--force")
    assert result.code == 2
    assert "gsm8k" in result.err
    assert "sha256" in result.err


def test_existing_output_needs_force_and_is_then_replaced(
    made_sources: Path, tmp_path: Path, cli: Cli
) -> None:
    recipe = {
        "recipe": 1,
        "name": "logic_offline_test",
        "seed": 1,
        "domains": {
            "logic": {
                "count": 20,
                "sources": [
                    {"source": "knights_and_knaves", "fraction": 1.0, "params": {"people": [3]}}
                ],
            }
        },
    }
    path = tmp_path / "logic.yaml"
    path.write_text(yaml.safe_dump(recipe))
    build = ("build", "--recipe", path, "--out", tmp_path / "out")
    assert cli(*build).code == 0
    before = files(tmp_path / "out")
    result = cli(*build, "--seed", 9)
    assert result.code == 2
    assert "--force" in result.err
    assert files(tmp_path / "out") == before
    assert cli(*build, "--seed", 9, "--force").code == 0
    assert files(tmp_path / "out") != before


_KILLED = """
import os, signal, sys
from pathlib import Path
from dataflex_data.core import parquet
moment = sys.argv[1]
def die(*args, **kwargs):
    os.kill(os.getpid(), signal.SIGKILL)
if moment == "writing":
    original = parquet.write_parquet
    def write(table, path):
        original(table, path); die()
    import dataflex_data.builders.corpus as corpus
    corpus.write_parquet = write
elif moment == "before the swap":
    parquet._swap_in = die
else:
    swap = parquet._swap_in
    def swap_and_die(partial, out, *, force):
        swap(partial, out, force=force); die()
    parquet._swap_in = swap_and_die
from dataflex_data.pipeline import build
build("three_domain_smoke", sys.argv[2], sources_dir=Path(sys.argv[3]), seed=5, force=True)
"""


@pytest.mark.parametrize("moment", ["writing", "before the swap", "after the swap"])
def test_a_killed_build_leaves_a_whole_corpus(
    smoke: Path, made_sources: Path, tmp_path: Path, cli: Cli, moment: str
) -> None:
    from dataflex_data.pipeline import build

    out = tmp_path / "out"
    build("three_domain_smoke", out, sources_dir=made_sources)
    command = [sys.executable, "-c", _KILLED, moment, str(out), str(made_sources)]
    assert subprocess.run(command, check=False).returncode == -signal.SIGKILL
    assert (files(out) == files(smoke)) == (moment != "after the swap")
    assert cli("verify", out).code == 0
    build("three_domain_smoke", out, sources_dir=made_sources, force=True)
    assert files(out) == files(smoke)
    assert [path.name for path in tmp_path.iterdir()] == ["out"], "leftovers are swept"


def test_a_build_killed_at_a_random_moment_leaves_a_whole_corpus(
    smoke: Path, made_sources: Path, tmp_path: Path, cli: Cli
) -> None:
    from dataflex_data.pipeline import build

    out = tmp_path / "out"
    build("three_domain_smoke", out, sources_dir=made_sources)
    command = [sys.executable, "-m", "dataflex_data", "build", "--recipe", "three_domain_smoke"]
    command += ["--sources-dir", str(made_sources), "--out", str(out), "--force", "--seed", "5"]
    for wait_s in (0.5, 1.0, 1.6):
        process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        time.sleep(wait_s)
        process.kill()
        process.wait()
        assert cli("verify", out).code == 0


def test_a_disk_that_fills_up_loses_nothing(
    smoke: Path, made_sources: Path, tmp_path: Path
) -> None:
    out = tmp_path / "out"
    code = (
        "import resource, signal, sys\n"
        "signal.signal(signal.SIGXFSZ, signal.SIG_IGN)\n"
        "resource.setrlimit(resource.RLIMIT_FSIZE, (4096, 4096))\n"
        "from dataflex_data.cli.main import main\n"
        "main(sys.argv[1:])\n"
    )
    command = [sys.executable, "-c", code, "build", "--recipe", "three_domain_smoke"]
    command += ["--sources-dir", str(made_sources), "--out", str(out)]
    result = subprocess.run(command, capture_output=True, text=True, check=False)
    assert result.returncode == 2, result.stderr
    assert "cannot be written" in result.stderr
    assert "Traceback" not in result.stderr
    assert list(tmp_path.iterdir()) == []


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write everywhere")
def test_an_unwritable_place_is_refused_before_any_work(tmp_path: Path, cli: Cli) -> None:
    locked = tmp_path / "locked"
    locked.mkdir(mode=0o500)
    result = cli("build", "--recipe", "logic_offline", "--out", locked / "out")
    assert result.code == 2
    assert "not writable" in result.err


@pytest.mark.parametrize(
    ("arguments", "part"),
    [
        (("--recipe", "three_domain_15"), "did you mean 'three_domain_15k'"),
        (("--recipe", "/none/r.yaml"), "no such file"),
        (("--recipe", "logic_offline", "--source", "gsm8k"), "NAME=PATH"),
        (("--recipe", "three_domain_smoke", "--source", "gsm9k=x"), "did you mean 'gsm8k'"),
        (("--recipe", "three_domain_smoke", "--source", "gsm8k=/none/x"), "/none/x"),
        (("--recipe", "logic_offline", "--workers", "0"), "--workers must be at least 1"),
        (("--recipe", "logic_offline", "--tokenizer", "/none/t"), "no such folder"),
        (("--nonsense",), "nonsense"),
        ((), "recipe"),
    ],
)
def test_usage_errors_are_one_paragraph_and_exit_2(
    tmp_path: Path, cli: Cli, arguments: tuple[str, ...], part: str
) -> None:
    result = cli("build", *arguments, "--out", tmp_path / "out")
    assert result.code == 2
    assert part in result.err
    assert "Traceback" not in result.err
    assert not (tmp_path / "out").exists()


# Looking and verifying -------------------------------------------------------------------------


def test_show_prints_rows_by_domain(smoke: Path, cli: Cli) -> None:
    result = cli("show", smoke, "--n", 2)
    assert result.code == 0
    assert result.out.count("  dataflex/knights_and_knaves  train row") == 2
    assert result.out.count("train row") == 6
    rows = json.loads(cli("show", smoke, "--where", "domain=logic", "--n", 3, "--json").out)
    assert [row["domain"] for row in rows] == ["logic"] * 3
    rows = json.loads(cli("show", smoke, "--where", "n_people>=7", "--n", 2, "--json").out)
    assert rows
    assert all(row["extra_info"]["n_people"] >= 7 for row in rows)
    rows = json.loads(cli("show", smoke, "--where", "source~GSM8K", "--n", 9, "--json").out)
    assert {row["extra_info"]["source"] for row in rows} == {"openai/gsm8k"}


@pytest.mark.parametrize(
    ("where", "part"),
    [("domian=logic", "did you mean 'domain'"), ("logic", "FIELD=VALUE"), ("n_people>x", "number")],
)
def test_show_answers_a_wrong_condition(smoke: Path, cli: Cli, where: str, part: str) -> None:
    result = cli("show", smoke, "--where", where)
    assert result.code == 2
    assert part in result.err


def test_show_says_which_values_there_are(smoke: Path, cli: Cli) -> None:
    result = cli("show", smoke, "--where", "source=gsm8k")
    assert result.code == 0
    assert "openai/gsm8k" in result.out


def test_show_and_verify_refuse_what_is_no_corpus(tmp_path: Path, cli: Cli) -> None:
    for verb in ("show", "verify"):
        result = cli(verb, tmp_path)
        assert result.code == 2
        assert "not a built corpus" in result.err


def test_verify_passes_a_whole_corpus(smoke: Path, cli: Cli) -> None:
    result = cli("verify", smoke)
    assert result.code == 0
    assert "problems" not in result.out
    assert json.loads(cli("verify", smoke, "--json").out)["ok"] is True


@pytest.mark.parametrize(
    ("path", "value"),
    [
        (("rows", "train", "total"), 41),
        (("licenses",), ["MIT"]),
        (("sources",), {}),
        (("recipe", "seed"), 99),
        (("name",), 5),
        (("schema_version",), 2),
    ],
)
def test_verify_finds_a_manifest_edited_by_hand(
    smoke: Path, tmp_path: Path, cli: Cli, path: tuple[str, ...], value: Any
) -> None:
    import shutil

    out = tmp_path / "out"
    shutil.copytree(smoke, out)
    data = manifest(out)
    place = data
    for key in path[:-1]:
        place = place[key]
    place[path[-1]] = value
    (out / "manifest.json").write_text(json.dumps(data))
    result = cli("verify", out)
    assert result.code == 1
    assert "manifest.json: was changed after it was written" in result.out


@pytest.mark.parametrize(
    ("key", "value"), [("rows", None), ("files", None), ("rows", {"train": 3}), ("domains", 1)]
)
def test_verify_and_show_refuse_a_garbled_manifest(
    smoke: Path, tmp_path: Path, cli: Cli, key: str, value: Any
) -> None:
    import shutil

    out = tmp_path / "out"
    shutil.copytree(smoke, out)
    (out / "manifest.json").write_text(json.dumps({**manifest(out), key: value}))
    for verb in ("verify", "show"):
        result = cli(verb, out)
        assert result.code == 2
        assert "manifest" in result.err


@pytest.mark.parametrize("content", [b"", b"PAR1 cut", None])
def test_verify_reports_a_broken_or_missing_parquet_as_a_finding(
    smoke: Path, tmp_path: Path, cli: Cli, content: bytes | None
) -> None:
    import shutil

    out = tmp_path / "out"
    shutil.copytree(smoke, out)
    if content is None:
        (out / "train.parquet").unlink()
    else:
        (out / "train.parquet").write_bytes(content)
    assert cli("verify", out).code == 1


def _break_route(row: dict[str, Any]) -> None:
    row["data_source"] = "dataflex/unknown"


def _break_gold(row: dict[str, Any]) -> None:
    row["reward_model"]["ground_truth"] = ""


def _break_twin(row: dict[str, Any]) -> None:
    row["prompt"][0]["content"] = "What is the same?"


def _break_letter(row: dict[str, Any]) -> None:
    if row["extra_info"]["options"]:
        row["reward_model"]["ground_truth"] = "Z"


def _break_domain(row: dict[str, Any]) -> None:
    row["domain"] = "other"


@pytest.mark.parametrize(
    ("change", "check"),
    [
        (_break_gold, "rows"),
        (_break_twin, "no two rows alike, splits apart"),
        (_break_letter, "gold scores 1, a wrong answer 0"),
        (_break_domain, "counts against the manifest"),
        (_break_route, "gold scores 1, a wrong answer 0"),
    ],
)
def test_verify_finds_what_was_changed(
    smoke: Path, tmp_path: Path, cli: Cli, change: Any, check: str
) -> None:
    import shutil

    import pyarrow as pa

    out = tmp_path / "out"
    shutil.copytree(smoke, out)
    rows = read_split(out, "train").to_pylist()
    for row in rows[:12]:
        change(row)
    pq.write_table(pa.Table.from_pylist(rows, schema=ROW_SCHEMA), out / "train.parquet")
    result = cli("verify", out, "--json")
    assert result.code == 1
    failed = {item["name"] for item in json.loads(result.out)["checks"] if item["problems"]}
    assert {"digests of all files", check} <= failed


# Loading ---------------------------------------------------------------------------------------


@pytest.mark.filterwarnings("ignore::DeprecationWarning")
def test_the_parquet_loads_everywhere(smoke: Path, tmp_path: Path) -> None:
    datasets = pytest.importorskip("datasets")
    pandas = pytest.importorskip("pandas")
    loaded = datasets.load_dataset(str(smoke), cache_dir=str(tmp_path))
    assert loaded["train"].num_rows == 90
    assert loaded["validation"].num_rows == 18
    assert loaded["train"].features == loaded["validation"].features
    assert pl.read_parquet(smoke / "train.parquet").height == 90
    frame = pandas.read_parquet(smoke / "train.parquet")
    assert len(frame) == 90
    assert frame["extra_info"][0]["n_people"] == int(frame["extra_info"][0]["n_people"])


@pytest.mark.verl
def test_verls_own_dataset_yields_the_prompts(smoke: Path, tmp_path: Path) -> None:
    code = """
import sys
from omegaconf import OmegaConf
from tests.tokenizer import write_tokenizer
from transformers import AutoTokenizer
from verl.utils.dataset.rl_dataset import RLHFDataset
tokenizer = AutoTokenizer.from_pretrained(write_tokenizer(sys.argv[2]))
config = OmegaConf.create({"cache_dir": sys.argv[2], "max_prompt_length": 8192,
    "filter_overlong_prompts": True, "filter_overlong_prompts_workers": 1})
for split, rows in (("train", 90), ("validation", 18)):
    path = f"{sys.argv[1]}/{split}.parquet"
    data = RLHFDataset(data_files=path, tokenizer=tokenizer, config=config)
    assert len(data) == rows, len(data)
    item = data[0]
    assert item["data_source"].startswith("dataflex/"), item["data_source"]
    assert isinstance(item["reward_model"]["ground_truth"], str)
    assert item["extra_info"]["domain"] if "domain" in item["extra_info"] else item["domain"]
    assert item["raw_prompt"][0]["role"] == "user"
    assert isinstance(item["raw_prompt"][0]["content"], str)
print("fine")
"""
    result = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", code, str(smoke), str(tmp_path)],
        capture_output=True,
        text=True,
        check=False,
        cwd=Path(__file__).resolve().parents[2],
    )
    assert result.returncode == 0, result.stderr[-3000:]
    assert result.stdout.strip().endswith("fine")
