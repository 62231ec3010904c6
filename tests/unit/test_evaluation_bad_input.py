"""Every way a runs table can be wrong: refused with file, run, column, value and what to do."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from dataflex_data.core.errors import ConfigError, InputDataError
from dataflex_data.evaluation.contract import parse_contract
from dataflex_data.evaluation.evaluate import Evaluation, evaluate_table
from dataflex_data.evaluation.outputs import results
from dataflex_data.evaluation.tables import read_table
from tests.evaluation_factory import CONTRACT, contract_with, made_runs, write_runs


def _evaluate(path: Path, **changes: Any) -> Evaluation:
    contract = parse_contract(contract_with(**changes), "contract.yaml")
    return evaluate_table(read_table(path, contract), contract)


def _refused(path: Path, **changes: Any) -> str:
    with pytest.raises(InputDataError) as caught:
        _evaluate(path, **changes)
    message = str(caught.value)
    assert str(path) in message
    return message


@pytest.fixture
def rows() -> list[dict[str, Any]]:
    return made_runs()


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / "runs.csv"


@pytest.mark.parametrize(
    ("value", "told"),
    [
        ("", "no value in 'geo'"),
        ("nan", "no value in 'geo'"),
        ("5O.1", "'5O.1' is not a number"),
        ("1_0", "'1_0' is not a number"),
        ("-0.1", "column 'geo': -0.1"),
        ("100.5", "outside the declared scale (percent, 0 to 100)"),
        ("inf", "is not a number"),
        ("1e400", "column 'geo': '1e400' is too large a number"),
        ("٨٨", "'٨٨' is not a number"),
    ],
)
def test_cells(rows: list[dict[str, Any]], file: Path, value: str, told: str) -> None:
    rows[7]["geo"] = value
    message = _refused(write_runs(file, rows))
    assert told in message
    assert "line 9" in message  # the eighth run after the header


def test_zero_is_a_score(rows: list[dict[str, Any]], file: Path) -> None:
    for row in rows:
        row["log"] = 0
    found = _evaluate(write_runs(file, rows))
    assert (found.runs.values_RB[:, 2] == 0).all()
    assert len(found.runs.keys) == len(rows)


def test_missing_cells_may_drop_the_run_and_say_so(rows: list[dict[str, Any]], file: Path) -> None:
    rows[7]["geo"] = ""  # keep_some, seed 3, of "small"
    write_runs(file, rows)
    assert "seeds that do not match" in _refused(file, missing_cells="drop_run")
    found = _evaluate(file, missing_cells="drop_run", seeds__missing="drop_pair")
    [one] = [c for c in found.comparisons if c.group[0] == "small" and c.method == "keep_some"]
    assert one.seeds == (1, 2, 4, 5)
    kinds = {(flag.kind, flag.method, flag.seed) for flag in found.flags}
    assert ("dropped_run", "keep_some", 3) in kinds
    assert ("incomplete_seeds", "keep_some", None) in kinds


def test_a_column_on_another_scale(rows: list[dict[str, Any]], file: Path) -> None:
    for row in rows:
        row["sci"] = round(row["sci"] / 100, 4)
    write_runs(file, rows)
    message = _refused(file)
    assert "column 'sci'" in message
    assert "multiply them by 100" in message
    assert _evaluate(file, scores__may_be_tiny=["sci"]).runs.values_RB[:, 3].max() < 1


def test_a_run_on_another_scale(rows: list[dict[str, Any]], file: Path) -> None:
    for name in ("alg", "geo", "log", "sci"):
        rows[0][name] /= 100
    assert "runs that look like fractions" in _refused(write_runs(file, rows))


def test_percent_under_a_contract_of_fractions(rows: list[dict[str, Any]], file: Path) -> None:
    message = _refused(write_runs(file, rows), scale="fraction", meaningful_effect=0.01)
    assert "outside the declared scale (fraction, 0 to 1)" in message


@pytest.mark.parametrize(("change", "told"), [(0.0, "is a copy of"), (1.0, "contradicts")])
def test_duplicates(rows: list[dict[str, Any]], file: Path, change: float, told: str) -> None:
    rows.append({**rows[3], "alg": rows[3]["alg"] + change})
    message = _refused(write_runs(file, rows))
    assert told in message
    assert "line 5" in message
    assert "line 52" in message


def test_a_group_without_its_baseline(rows: list[dict[str, Any]], file: Path) -> None:
    kept = [r for r in rows if (r["model"], r["method"]) != ("small", "baseline")]
    message = _refused(write_runs(file, kept))
    assert "has keep_some, keep_few of family 'select' and no run of its baseline" in message


def test_a_group_without_a_family_is_fine(rows: list[dict[str, Any]], file: Path) -> None:
    kept = [r for r in rows if r["model"] == "large" or r["method"] in ("static", "adaptive")]
    found = _evaluate(write_runs(file, kept))
    assert {c.method for c in found.of_group(("small", "300"))} == {"adaptive"}


def test_seeds_that_do_not_match(rows: list[dict[str, Any]], file: Path) -> None:
    kept = [r for r in rows if (r["method"], r["seed"]) != ("keep_few", 5)]
    write_runs(file, kept)
    assert "keep_few: has no run of seeds [5]" in _refused(file)
    found = _evaluate(file, seeds__missing="drop_pair")
    sizes = {c.method: c.n for c in found.comparisons}
    assert sizes == {"keep_some": 5, "keep_few": 4, "adaptive": 5, "static": 5}


def test_seeds_that_the_contract_does_not_list(rows: list[dict[str, Any]], file: Path) -> None:
    write_runs(file, rows)
    assert "has seeds that the contract does not list: [4, 5]" in _refused(
        file, seeds__list=[1, 2, 3]
    )


def test_too_few_pairs_get_no_verdict(rows: list[dict[str, Any]], file: Path) -> None:
    kept = [r for r in rows if r["method"] != "keep_few" or r["seed"] == 1]
    found = _evaluate(write_runs(file, kept), seeds__missing="drop_pair")
    [one, *_] = [c for c in found.comparisons if c.method == "keep_few"]
    assert (one.n, one.verdict, one.tests) == (1, "too few pairs", None)
    results(found)


def test_an_unknown_method(rows: list[dict[str, Any]], file: Path) -> None:
    rows[7]["method"] = "keep_som"
    message = _refused(write_runs(file, rows))
    assert "did you mean 'keep_some'" in message
    assert "line 9" in message


@pytest.mark.parametrize("seed", ["one", "1.5", "", "0x1"])
def test_a_seed_that_is_no_integer(rows: list[dict[str, Any]], file: Path, seed: str) -> None:
    rows[0]["seed"] = seed
    assert "is not an integer" in _refused(write_runs(file, rows))


def test_a_missing_column(rows: list[dict[str, Any]], file: Path) -> None:
    columns = [name for name in rows[0] if name != "geo"]
    write_runs(file, [{k: r[k] for k in columns} | {"geo_": r["geo"]} for r in rows])
    message = _refused(file)
    assert "column 'geo' is missing; did you mean 'geo_'" in message


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("", "is empty"),
        ("\n", "line 1 must name the columns"),
        ("model,steps,method,seed,alg,geo,log,sci\n", "has a header and no run"),
        ("model,model\na,b\n", "'model' stands twice in the header"),
        ("model,steps\na,b\na\n", "line 3: has 1 cells where the header has 2"),
        ("model,steps\na,b,c\n", "line 2: has 3 cells"),
        ('model,steps\n"a,b\n', "is not valid csv"),
    ],
)
def test_malformed_files(file: Path, text: str, told: str) -> None:
    file.write_text(text)
    assert told in _refused(file)


def test_other_files(tmp_path: Path) -> None:
    assert "no such file" in _refused(tmp_path / "nothing.csv")
    odd = tmp_path / "runs.xlsx"
    odd.write_bytes(b"PK")
    assert "must be a .csv, .parquet, .jsonl file" in _refused(odd)
    binary = tmp_path / "runs.csv"
    binary.write_bytes(b"\xff\xfe\x00")
    assert "is UTF-16 text; save it as UTF-8" in _refused(binary)
    binary.write_bytes("model,method\nm,a\ncafé,b\n".encode("latin-1"))
    assert "line 3: is not UTF-8 text (byte 0xe9; Latin-1" in _refused(binary)
    binary.write_bytes(b"model,method\nm\0,a\n")
    assert "line 2: holds a NUL byte" in _refused(binary)
    broken = tmp_path / "runs.parquet"
    broken.write_bytes(b"PAR1")
    assert "cannot be read as parquet" in _refused(broken)


def test_order_extra_columns_bom_and_line_ends_change_nothing(
    rows: list[dict[str, Any]], tmp_path: Path
) -> None:
    plain = json.dumps(results(_evaluate(write_runs(tmp_path / "a.csv", rows))), sort_keys=True)
    columns = [*reversed(list(rows[0])), "note"]
    other = write_runs(tmp_path / "b.csv", [{**r, "note": "x, y"} for r in reversed(rows)], columns)
    text = other.read_text(encoding="utf-8").replace("\n", "\r\n")
    other.write_bytes(b"\xef\xbb\xbf" + text.encode())
    lines = tmp_path / "c.jsonl"
    lines.write_text("".join(json.dumps(r) + "\n" for r in rows[::-1]))
    table = tmp_path / "d.parquet"
    pq.write_table(pa.Table.from_pylist(rows[20:] + rows[:20]), table)
    folder = tmp_path / "e"
    for row in rows:
        path = folder / row["model"] / f"{row['method']}_s{row['seed']}.json"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(json.dumps({k: v for k, v in row.items() if k not in ("model", "seed")}))
    contract = parse_contract(CONTRACT, "x")
    from_folder = evaluate_table(read_table(folder, contract, "{model}/*_s{seed}.json"), contract)
    assert json.dumps(results(from_folder), sort_keys=True) == plain
    for path in (other, lines, table):
        assert json.dumps(results(_evaluate(path)), sort_keys=True) == plain, path


def test_lm_eval_results(rows: list[dict[str, Any]], tmp_path: Path) -> None:
    mapping = {name: f"task_{name}/exact_match,none" for name in ("alg", "geo", "log", "sci")}
    contract = parse_contract(contract_with(data__lm_eval=mapping), "x")
    for row in rows:
        path = tmp_path / row["model"] / row["method"] / f"{row['seed']}" / "results_1.json"
        path.parent.mkdir(parents=True, exist_ok=True)
        tasks = {
            f"task_{name}": {"alias": name, "exact_match,none": row[name] / 100} for name in mapping
        }
        path.write_text(json.dumps({"results": tasks, "lm_eval_version": "0.4.9"}))
    pattern = "{model}/{method}/{seed}/results_*.json"
    without_steps = contract.model_copy(
        update={"data": contract.data.model_copy(update={"id_columns": ("model",)})}
    )
    found = evaluate_table(read_table(tmp_path, without_steps, pattern), without_steps)
    [row] = [r for r in rows if (r["model"], r["method"], r["seed"]) == ("large", "adaptive", 2)]
    [at] = [
        at
        for at, key in enumerate(found.runs.keys)
        if (key.group, key.method, key.seed) == (("large",), "adaptive", 2)
    ]
    assert found.runs.values_RB[at] == pytest.approx([row[name] for name in mapping])
    plain = parse_contract(CONTRACT, "x")
    with pytest.raises(InputDataError, match=r"data\.lm_eval"):
        read_table(tmp_path, plain, pattern)
    wrong = {**mapping, "alg": "task_alg/acc,none"}
    with pytest.raises(InputDataError, match=r"no metric 'acc,none'.*it has: exact_match,none"):
        read_table(tmp_path, parse_contract(contract_with(data__lm_eval=wrong), "x"), pattern)


def test_patterns(tmp_path: Path) -> None:
    contract = parse_contract(CONTRACT, "x")
    (tmp_path / "a.json").write_text('{"seed": 3}')
    with pytest.raises(InputDataError, match="no file in it fits"):
        read_table(tmp_path, contract, "{method}/{seed}.json")
    with pytest.raises(ConfigError, match="braces"):
        read_table(tmp_path, contract, "{method.json")
    with pytest.raises(InputDataError, match="says seed 3, its path says 'a'"):
        read_table(tmp_path, contract, "{seed}.json")
