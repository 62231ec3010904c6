"""`dfdata dashboard`: what is there is shown, what is not is named, and nothing hostile acts."""

from __future__ import annotations

import csv
import json
import re
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from dataflex_data.audits import summary as audit_summary
from dataflex_data.builders import corpus as corpus_folder
from dataflex_data.builders import verification
from dataflex_data.builders.corpus import read_split
from dataflex_data.core.ledger import Ledger
from dataflex_data.evaluation.evaluate import evaluate
from dataflex_data.pipeline import build
from dataflex_data.reporting.dashboard import files
from tests.browser import look
from tests.conftest import Cli
from tests.evaluation_factory import contract_with, made_runs, write_contract, write_runs

HOSTILE = "<script>document.title='owned'</script><img src=x onerror=alert(1)>&\"'"
RECIPE: dict[str, Any] = {
    "recipe": 1,
    "name": "little",
    "seed": 5,
    "validation": 6,
    "domains": {
        "math": {"count": 30, "sources": [{"source": "procedural_math", "fraction": 1.0}]},
        "logic": {
            "count": 30,
            "sources": [
                {"source": "knights_and_knaves", "fraction": 1.0, "params": {"people": [4, 5]}}
            ],
        },
        "science": {"count": 30, "sources": [{"source": "procedural_science", "fraction": 1.0}]},
    },
}


def write_ledger(path: Path, label: str, domains: tuple[str, ...] = ("easy", "hard")) -> None:
    """Write eight steps of a made-up run, with a gap in one column."""
    with Ledger(path, {"experiment": label}) as ledger:
        for step in range(8):
            ledger.append(
                step,
                proportion=dict.fromkeys(domains, 1 / len(domains)),
                quota={name: 8 + (step % 2) * number for number, name in enumerate(domains)},
                reward={name: 0.1 * step / (number + 1) for number, name in enumerate(domains)},
                reward_mean=None if step == 3 else 0.1 * step,
                kept_fraction=0.5 + 0.05 * step,
                generated_tokens=1_000 + step,
                kept_tokens=500 + step,
                updated_tokens=500 + step,
            )


def run_cli(*arguments: object) -> int:
    from dataflex_data.cli.main import main

    with pytest.raises(SystemExit) as stop:
        main([str(argument) for argument in arguments])
    return int(stop.value.code or 0)


@pytest.fixture(scope="module")
def everything(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with all four: corpus with verification, audit, two ledgers, evaluation."""
    import dataflex_data.policies.record  # noqa: F401 - declares the columns that are written

    home = tmp_path_factory.mktemp("dashboard")
    root = home / "work"
    build(RECIPE, root / "little")
    assert run_cli("verify", root / "little", "--out", root / "little_verified") == 0
    items = home / "items.jsonl"
    held = read_split(root / "little", "train").to_pylist()
    questions = [row["extra_info"]["raw_question"] for row in held if row["domain"] == "logic"][:2]
    items.write_text("".join(json.dumps({"question": text}) + "\n" for text in questions))
    assert (
        run_cli(
            *("audit-contamination", root / "little", "--benchmark-file", f"own={items}"),
            *("--out", root / "little_audit"),
        )
        == 1
    )
    write_ledger(root / "runs" / "policy" / "ledger.jsonl", "policy")
    write_ledger(root / "runs" / "control" / "ledger.jsonl", "control")
    contract = write_contract(home / "contract.yaml")
    runs = write_runs(home / "runs.csv", made_runs())
    evaluate(runs, contract, root / "evaluation", exploratory=True, plots=False)
    return root


@pytest.fixture(scope="module")
def page(everything: Path) -> Path:
    """The page of everything."""
    out = everything.parent / "page.html"
    assert run_cli("dashboard", everything, "--out", out) == 0
    return out


def test_all_four_stand_on_one_page_that_loads_nothing(page: Path) -> None:
    text = page.read_text()
    titles = re.findall(r"<h2>(.*?)</h2>", text)
    assert titles == [
        "What is here",
        "Corpus little",
        "Audit little_audit",
        "Runs",
        "Evaluation",
    ]
    assert not re.search(r"https?:", text)
    assert not re.search(r"""(?:src|href)=["'](?!#|data:)""", text)
    assert "Not here, and what makes it" not in text
    assert "little_verified: every check holds" in text
    assert "2 of 108 rows flagged" in text
    assert "It audited the very files of little." in text
    assert "exploratory: contract not locked" in text
    assert "control/ledger" in text
    assert "better" in text  # keep_few is six points better in the made-up runs


def test_equal_files_give_an_equal_page_wherever_they_lie(
    everything: Path, page: Path, tmp_path: Path, cli: Cli
) -> None:
    copied = tmp_path / "elsewhere" / "work"
    shutil.copytree(everything, copied)
    cli("dashboard", copied, "--out", tmp_path / "again.html")
    assert (tmp_path / "again.html").read_bytes() == page.read_bytes()


@pytest.mark.parametrize(
    ("part", "title", "lacking"),
    [
        ("little", "Corpus little", "a verification of part, an audit, a ledger, an evaluation"),
        ("little_audit", "Audit", "a corpus, a ledger, an evaluation"),
        ("runs", "Runs", "a corpus, an audit, an evaluation"),
        ("evaluation", "Evaluation", "a corpus, an audit, a ledger"),
    ],
)
def test_each_of_the_four_is_enough(
    everything: Path, tmp_path: Path, cli: Cli, part: str, title: str, lacking: str
) -> None:
    shutil.copytree(everything / part, tmp_path / "part")
    result = cli("dashboard", tmp_path / "part", "--out", tmp_path / "page.html")
    assert result.code == 0
    text = (tmp_path / "page.html").read_text()
    assert f"<h2>{title.split()[0]}" in text
    missing = text.split("Not here, and what makes it:")[1].split("</ul>")[0]
    named = [item.split(":")[0] for item in re.findall(r"<li>(.*?)</li>", missing)]
    assert ", ".join(named) == lacking
    # Each is told with its command, the ledger with two ways.
    assert missing.count("<code>") >= len(named)
    assert "the page says what makes them" in result.err


def test_nothing_found_is_an_error_in_words(tmp_path: Path, cli: Cli) -> None:
    (tmp_path / "empty").mkdir()
    result = cli("dashboard", tmp_path / "empty", "--out", tmp_path / "page.html")
    assert result.code == 2
    assert "no corpus, verification, audit, ledger or evaluation is there" in result.err
    assert "dfdata build" in result.err
    assert not (tmp_path / "page.html").exists()
    result = cli("dashboard", tmp_path / "absent", "--out", tmp_path / "page.html")
    assert result.code == 2
    assert "no such folder" in result.err


def _json(path: str, change: Callable[[dict[str, Any]], None]) -> Callable[[Path], None]:
    def apply(root: Path) -> None:
        data = json.loads((root / path).read_text())
        change(data)
        (root / path).write_text(json.dumps(data))

    return apply


def _write(path: str, content: str) -> Callable[[Path], None]:
    def apply(root: Path) -> None:
        (root / path).parent.mkdir(parents=True, exist_ok=True)
        (root / path).write_text(content)

    return apply


LEDGER = '{"kind":"dataflex_data/ledger","version":1'
FAULTS = {
    "no json": (_write("little/manifest.json", "{"), "little/manifest.json: cannot be read as"),
    "no mapping": (_write("little/manifest.json", "[1]"), "little/manifest.json: holds no mapping"),
    "newer corpus": (
        _json("little/manifest.json", lambda data: data.update(manifest_version=2)),
        "`manifest_version` is 2, this release reads 1; upgrade dataflex-data",
    ),
    "a key less": (
        _json("little/manifest.json", lambda data: data.pop("sources")),
        "key `sources` is missing",
    ),
    "newer audit": (
        _json("little_audit/summary.json", lambda data: data.update(summary_version=7)),
        "`summary_version` is 7",
    ),
    "garbled audit": (
        _json("little_audit/summary.json", lambda data: data.update(benchmarks=[1])),
        "little_audit/summary.json: 1 problem",
    ),
    "no summary": (
        lambda root: (root / "little_audit/summary.json").unlink(),
        "summary.json: is missing, though manifest.json is there",
    ),
    "older results": (
        _json("evaluation/results.json", lambda data: data.update(schema=None)),
        "`schema` is None, this release reads 1; make it again",
    ),
    "newer verification": (
        _json("little_verified/verification.json", lambda d: d.update(verification_version=2)),
        "`verification_version` is 2",
    ),
    "foreign manifest": (
        _write("other/manifest.json", '{"name": "a web app"}'),
        "is of another tool, or of a newer dataflex-data",
    ),
    "newer ledger": (
        _write("runs/policy/ledger.jsonl", LEDGER.replace(":1", ":9") + ',"run":{}}\n'),
        "is a ledger of version 9",
    ),
    "garbled ledger": (
        _write("runs/policy/ledger.jsonl", LEDGER + ',"run":{}}\n{"step":0}\nhm\n'),
        "line 3: is not JSON",
    ),
    "ledger that is garbled from its first byte": (
        lambda root: (root / "runs/policy/ledger.jsonl").write_bytes(b'\xff\xfe{"a"') and None,
        "runs/policy/ledger.jsonl: its first line is not JSON; if this is a ledger, it is damaged",
    ),
    "ledger of no run": (
        _write("runs/policy/ledger.jsonl", LEDGER + '}\n{"step":0}\n'),
        "does not say what run it is",
    ),
    "infinite ledger": (
        _write("runs/policy/ledger.jsonl", LEDGER + ',"run":{}}\n{"step":0,"x":Infinity}\n'),
        "holds a number that is not finite",
    ),
    "ledger without steps": (
        _write("runs/policy/ledger.jsonl", LEDGER + ',"run":{}}\n'),
        "is a ledger without a step yet",
    ),
}


@pytest.mark.parametrize("fault", FAULTS)
def test_what_cannot_be_used_is_named_and_the_rest_is_shown(
    everything: Path, tmp_path: Path, cli: Cli, fault: str
) -> None:
    spoil, words = FAULTS[fault]
    root = tmp_path / "work"
    shutil.copytree(everything, root)
    spoil(root)
    result = cli("dashboard", root, "--out", tmp_path / "page.html")
    assert result.code == 0
    assert "Traceback" not in result.err
    assert words in result.err
    text = (tmp_path / "page.html").read_text()
    assert words.replace("'", "&#x27;") in " ".join(text.split())
    assert "<h2>Runs</h2>" in text


def test_parquet_that_is_not_the_manifests_is_named(
    everything: Path, tmp_path: Path, cli: Cli
) -> None:
    root = tmp_path / "work"
    shutil.copytree(everything, root)
    (root / "little" / "train.parquet").write_bytes(b"PAR1")
    assert cli("dashboard", root, "--out", tmp_path / "page.html").code == 0
    text = (tmp_path / "page.html").read_text()
    assert "train.parquet: is not the file that the manifest names" in text
    assert "<pre class='row'>" not in text


def test_a_verification_of_files_that_changed_since_is_not_green(
    everything: Path, tmp_path: Path, cli: Cli
) -> None:
    root = tmp_path / "work"
    shutil.copytree(everything, root)
    (root / "little" / "validation.parquet").write_bytes(b"PAR1")
    result = cli("dashboard", root, "--out", tmp_path / "page.html")
    assert result.code == 0
    assert "validation.parquet: is not the file that the manifest names" in result.err
    assert "verification little_verified is not about these files" in result.err
    text = (tmp_path / "page.html").read_text()
    assert "every check holds" not in text
    assert "little_verified: not about these files: validation.parquet is not as" in text
    assert ">of files that have changed since</td>" in text
    assert "It audited little, whose files have changed since." in text


@pytest.mark.parametrize(
    "name", ["little_audit/findings.parquet", "evaluation/report.html", "little/validation.parquet"]
)
def test_a_file_that_a_manifest_names_and_is_gone_is_told(
    everything: Path, tmp_path: Path, cli: Cli, name: str
) -> None:
    root = tmp_path / "work"
    shutil.copytree(everything, root)
    (root / name).unlink()
    result = cli("dashboard", root, "--out", tmp_path / "page.html")
    assert result.code == 0
    words = f"{name}: is missing, though manifest.json names it"
    assert f"not whole: {root}/{words}" in " ".join(result.err.split())
    assert words in (tmp_path / "page.html").read_text()


def test_a_ledger_of_a_simulation_that_is_gone_is_told(tmp_path: Path, cli: Cli) -> None:
    out = tmp_path / "sim"
    done = cli(
        "simulate", "--mixer", "static", "--mixer", "reward_gap", "--steps", 20, "--out", out
    )
    assert done.code == 0, done.err
    (out / "static.jsonl").unlink()
    result = cli("dashboard", out, "--out", tmp_path / "page.html")
    assert "static.jsonl: is missing, though manifest.json names it" in result.err


def test_a_folder_given_twice_is_shown_once(everything: Path, tmp_path: Path, cli: Cli) -> None:
    root = tmp_path / "work"
    shutil.copytree(everything, root)
    little, verified = root / "little", root / "little_verified"
    link = tmp_path / "link"
    link.symlink_to(little)
    twice = [little, little, link, verified, root / "little" / ".." / "little_verified"]
    result = cli("dashboard", *twice, "--out", tmp_path / "page.html")
    assert "1 corpus, 1 verification\n" in result.out
    result = cli("dashboard", root, root, root / "runs", "--out", tmp_path / "page.html")
    assert result.code == 0, result.err
    told = "1 corpus, 1 verification, 1 audit, 2 ledgers, 1 evaluation\n"
    assert told in result.out
    assert "<h2>Corpus little</h2>" in (tmp_path / "page.html").read_text()


def test_the_evaluations_words_and_numbers_are_those_of_its_report(
    tmp_path: Path, cli: Cli
) -> None:
    """One statistic and one sentence: the dashboard read 5.09 where the report read 4.96."""
    # Few seeds and much noise: most comparisons of the made-up runs stay open, an even number.
    contract = write_contract(tmp_path / "contract.yaml", contract_with(meaningful_effect=0.05))
    runs = write_runs(tmp_path / "runs.csv", made_runs())
    evaluate(runs, contract, tmp_path / "evaluation", exploratory=True, plots=False)
    comparisons = json.loads((tmp_path / "evaluation" / "results.json").read_text())["comparisons"]
    open_ = sorted(
        one["tests"]["minimal_detectable_effect"]
        for one in comparisons
        if one["verdict"] == "inconclusive"
    )
    # Of an even number the median lies between the middle two.
    assert len(open_) == 4
    median = (open_[1] + open_[2]) / 2
    assert cli("dashboard", tmp_path, "--out", tmp_path / "page.html").code == 0
    sentence = re.compile(
        r"the median inconclusive comparison could have shown, with .*? power, a difference of "
        r"([\d.]+)[^;]* or more; the effect that matters was set at ([\d.]+\d)"
    )
    report = sentence.search((tmp_path / "evaluation" / "report.html").read_text())
    shown = sentence.search((tmp_path / "page.html").read_text())
    assert report is not None
    assert shown is not None
    assert shown.groups() == report.groups()
    assert float(shown[1]) == pytest.approx(median, abs=0.0051)


def test_an_evaluation_is_no_success_or_failure_by_color(page: Path) -> None:
    section = page.read_text().split("<h2>Evaluation</h2>")[1]
    assert not re.search(r"headline[^\"]*good", section)


def test_texts_and_names_from_data_are_escaped(tmp_path: Path, cli: Cli) -> None:
    import dataflex_data.policies.record  # noqa: F401 - declares the columns that are written

    root = tmp_path / "work"
    rows = tmp_path / "own.jsonl"
    rows.write_text(
        "".join(
            json.dumps({"q": f"{HOSTILE} What is {n} plus {n * n}?", "a": str(n + n * n)}) + "\n"
            for n in range(400)
        )
    )
    recipe = {
        "recipe": 1,
        "name": "hostile",
        "seed": 1,
        "validation": 0,
        "filters": {"figures": "keep", "degenerate": "keep"},
        "domains": {
            "math": {
                "count": 100,
                "sources": [
                    {
                        "source": "jsonl",
                        "name": "own",
                        "fraction": 1.0,
                        "params": {
                            "path": str(rows),
                            "columns": {"question": "q", "gold": "a"},
                            "verifier": "math",
                            "license": "MIT",
                        },
                    }
                ],
            }
        },
    }
    build(recipe, root / "corpus")
    write_ledger(root / "ledger.jsonl", HOSTILE, (HOSTILE, "plain"))
    hostile_runs = [{**row, "model": HOSTILE} for row in made_runs(("one",))]
    evaluate(
        write_runs(tmp_path / "runs.csv", hostile_runs),
        write_contract(tmp_path / "contract.yaml"),
        root / "evaluation",
        exploratory=True,
        plots=False,
    )
    out = tmp_path / "page.html"
    assert cli("dashboard", root, "--out", out, "--title", HOSTILE).code == 0
    text = out.read_text()
    assert "<script>document" not in text
    assert "<img" not in text
    assert "<pre class='row'>&lt;script&gt;document" in text
    assert text.count("&lt;script&gt;document") > 10
    assert text.count("<script>") == 1  # the page's own


def _first(everything: Path, domain: str) -> dict[str, Any]:
    rows: list[dict[str, Any]] = read_split(everything / "little", "train").to_pylist()
    return next(row for row in rows if row["domain"] == domain)


def _shown(row: dict[str, Any]) -> str:
    """A piece of the row's text as the page has it."""
    import html

    return html.escape(row["extra_info"]["raw_question"])[:60]


def test_a_row_near_a_gated_item_is_not_shown(
    everything: Path, page: Path, tmp_path: Path, cli: Cli
) -> None:
    first = _first(everything, "logic")
    assert _shown(first) in page.read_text()
    root = tmp_path / "work"
    shutil.copytree(everything / "little", root / "little")
    gated = tmp_path / "gpqa.csv"
    names = ["Record ID", "Question", "Correct Answer"]
    names += [f"Incorrect Answer {number}" for number in (1, 2, 3)]
    with gated.open("w", newline="") as handle:
        writer = csv.writer(handle)
        writer.writerow(names)
        writer.writerow(["rec1", first["extra_info"]["raw_question"], "a", "b", "c", "d"])
    for show in ((), ("--show-gated",)):
        result = cli(
            *("audit-contamination", root / "little", "--out", root / "audit", "--force"),
            *("--benchmark-file", f"gpqa_diamond={gated}", *show),
        )
        assert result.code == 1
        assert cli("dashboard", root, "--out", tmp_path / "page.html").code == 0
        text = (tmp_path / "page.html").read_text()
        assert _shown(first) not in text
        assert re.search(r"\d+ rows are near an item of a gated benchmark", text)


def test_texts_of_evaluation_sets_are_not_shown(everything: Path, tmp_path: Path, cli: Cli) -> None:
    root = tmp_path / "work"
    shutil.copytree(everything / "little", root / "little")
    _json("little/manifest.json", lambda data: data["recipe"].update(evaluation={"a": 1}))(root)
    assert cli("dashboard", root, "--out", tmp_path / "page.html").code == 0
    text = (tmp_path / "page.html").read_text()
    assert "These are evaluation items" in text
    assert "<pre class='row'>" not in text
    assert not any(_shown(_first(everything, name)) in text for name in ("math", "logic"))


def test_many_runs_are_all_listed_and_the_first_are_drawn(tmp_path: Path, cli: Cli) -> None:
    import dataflex_data.policies.record  # noqa: F401 - declares the columns that are written

    for number in range(15):
        write_ledger(tmp_path / "work" / f"run{number:02}.jsonl", str(number))
    assert cli("dashboard", tmp_path / "work", "--out", tmp_path / "page.html").code == 0
    text = (tmp_path / "page.html").read_text()
    assert "Charts show the first 12 of 15 runs" in text
    assert "<td>run14</td>" in text
    assert "run11</li>" in text
    assert "run12</li>" not in text


def test_an_input_is_never_overwritten(everything: Path, tmp_path: Path, cli: Cli) -> None:
    shutil.copytree(everything / "runs", tmp_path / "runs")
    ledger = tmp_path / "runs" / "policy" / "ledger.jsonl"
    before = ledger.read_bytes()
    result = cli("dashboard", tmp_path / "runs", "--out", ledger)
    assert result.code == 2
    assert "is read by this very command" in result.err
    assert ledger.read_bytes() == before


def test_versions_are_those_that_the_writers_write(everything: Path) -> None:
    assert {
        "manifest_version": corpus_folder.MANIFEST_VERSION,
        "verification_version": verification.VERIFICATION_VERSION,
        "summary_version": audit_summary.SUMMARY_VERSION,
        "schema": json.loads((everything / "evaluation" / "results.json").read_text())["schema"],
    } == files.VERSIONS


# In a browser ------------------------------------------------------------------------------------

LOOK = """
const charts = [...document.querySelectorAll(".charts svg")].map((svg) => {
  const box = svg.getBoundingClientRect();
  return [box.width, box.height, svg.querySelectorAll("polyline, rect.bar, circle").length];
});
const broken = [];
let clicked = 0;
for (const table of document.querySelectorAll("table[data-sortable]")) {
  const body = table.tBodies[0];
  const key = (row, at) => {
    const raw = row.cells[at].dataset.value ?? row.cells[at].textContent.trim();
    return raw === "" ? null : Number.isNaN(Number(raw)) ? raw : Number(raw);
  };
  [...table.tHead.rows[0].cells].forEach((head, at) => {
    for (const up of [true, false]) {
      head.querySelector("button").click();
      clicked += 1;
      const all = [...body.rows].map((row) => key(row, at));
      const keys = all.filter((value) => value !== null);
      if (all.slice(0, keys.length).includes(null)) broken.push(["null", head.textContent]);
      for (let n = 1; n < keys.length; n += 1) {
        const numbers = typeof keys[n - 1] === "number" && typeof keys[n] === "number";
        const order = numbers ? keys[n - 1] - keys[n]
          : String(keys[n - 1]).localeCompare(String(keys[n]));
        if (up ? order > 0 : order < 0) broken.push([head.textContent, keys[n - 1], keys[n]]);
      }
      if (head.getAttribute("aria-sort") !== (up ? "ascending" : "descending"))
        broken.push(["aria", head.textContent]);
    }
  });
}
for (const details of document.querySelectorAll("details")) details.open = true;
const luminance = (color) => {
  const [r, g, b] = color.match(/[\\d.]+/g).map(Number).slice(0, 3).map((part) => {
    const share = part / 255;
    return share <= 0.04045 ? share / 12.92 : ((share + 0.055) / 1.055) ** 2.4;
  });
  return 0.2126 * r + 0.7152 * g + 0.0722 * b;
};
const contrast = (a, b) => {
  const [high, low] = [luminance(a), luminance(b)].sort((x, y) => y - x);
  return (high + 0.05) / (low + 0.05);
};
const ground = page.getComputedStyle(document.body).backgroundColor;
const contrasts = ["p", "td", ".note", "h4", "svg text"].map((name) => {
  const element = document.querySelector(name);
  const style = page.getComputedStyle(element);
  return [name, contrast(name === "svg text" ? style.fill : style.color, ground)];
});
return {
  charts, broken, clicked, contrasts,
  inner: page.innerWidth,
  scroll: document.documentElement.scrollWidth,
  title: document.title,
  font: parseFloat(page.getComputedStyle(document.body).fontSize),
  letters: Math.min(...[...document.querySelectorAll(".charts svg")].map(
    (svg) => 11 * svg.getBoundingClientRect().width / 360)),
};
"""


@pytest.mark.browser
@pytest.mark.parametrize(("width", "dark"), [(390, False), (390, True), (1280, False)])
def test_the_page_works_in_a_browser(page: Path, tmp_path: Path, width: int, dark: bool) -> None:
    looked = look(page, LOOK, tmp_path, width=width, dark=dark)
    assert looked.console == []
    seen = looked.value
    assert seen["inner"] == width
    assert seen["scroll"] <= width
    assert len(seen["charts"]) >= 15
    assert all(w > 200 and h > 100 and marks for w, h, marks in seen["charts"])
    assert seen["broken"] == []
    assert seen["clicked"] > 100
    # WCAG AA for text of ordinary size.
    assert all(ratio >= 4.5 for _, ratio in seen["contrasts"]), seen["contrasts"]
    assert seen["font"] >= 15
    assert seen["letters"] >= 8


@pytest.mark.browser
def test_hostile_texts_do_nothing_in_a_browser(everything: Path, tmp_path: Path, cli: Cli) -> None:
    import dataflex_data.policies.record  # noqa: F401 - declares the columns that are written

    write_ledger(tmp_path / "work" / "ledger.jsonl", HOSTILE, (HOSTILE, "plain"))
    out = tmp_path / "page.html"
    assert cli("dashboard", tmp_path / "work", "--out", out, "--title", HOSTILE).code == 0
    looked = look(out, "return [document.title, document.images.length]", tmp_path)
    assert looked.value == [HOSTILE, 0]
    assert looked.console == []
