"""The registered benchmarks: where each lies, and how a record of it becomes an item.

Every field is checked here, so that a damaged or foreign file is told by row and key: an item
without its question would be one that no audit can find.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from dataflex_data.audits.record_fields import (
    LETTERS,
    Record,
    RecordError,
    answer_of,
    counted_options,
    gold_letter,
    holds,
    item_id_of,
    optional_text,
    options_of,
    text_of,
    texts_of,
)
from dataflex_data.core.errors import InputDataError
from dataflex_data.core.fetch import HubDataset
from dataflex_data.core.seeding import keyed_hash

DB12 = (
    "math500",
    "aime_2024",
    "olympiadbench",
    "minerva_math",
    "gsm8k",
    "kk_hard",
    "bbh_logical_deduction",
    "bbh_tracking",
    "zebra_logic",
    "mmlu_pro_chemistry",
    "mmlu_pro_physics",
    "gpqa_diamond",
)
GROUPS = {"db12": DB12}

_QUESTION_COLUMNS = ("question", "problem", "prompt", "input", "quiz", "text")
_BBH_OPTION = re.compile(r"\(([A-Z])\)\s*(.*)")


@dataclass(frozen=True, slots=True)
class BenchmarkItem:
    """One evaluation item.

    Attributes:
        benchmark: Name of its benchmark.
        item_id: Id within it, as published where there is one.
        question: The question without its options.
        options: Option texts in letter order; empty where there are none.
        gold: The gold answer as our verifiers take it: a letter, an answer, or an assignment.
        gated: Its text must not appear in any output.
        n_people: Knights-and-Knaves only; -1 elsewhere.
    """

    benchmark: str
    item_id: str
    question: str
    options: tuple[str, ...] = ()
    gold: str = ""
    gated: bool = False
    n_people: int = -1


@dataclass(frozen=True, slots=True)
class Benchmark:
    """Where a benchmark lies and how it is read.

    Attributes:
        name: Registry name.
        title: As papers write it.
        domain: The unit of mixture it belongs to.
        kind: What its verifier reads: ``"math"``, ``"choice"`` or ``"logic"``.
        license: SPDX identifier or the terms in words.
        dataset: Where the hub has it; ``None``: only from the user's own file.
        columns: Columns that every record has.
        optional: Columns read where present.
        item: One record, its position from 0, to an item; ``None`` leaves it out.
        gated: See `BenchmarkItem`.
    """

    name: str
    title: str
    domain: str
    kind: str
    license: str
    dataset: HubDataset | None
    columns: tuple[str, ...]
    item: Callable[[Record, int], BenchmarkItem | None]
    optional: tuple[str, ...] = ()
    gated: bool = False


def last_boxed(text: str) -> str:
    r"""Return what stands in the last complete ``\boxed{...}``, ``""`` where there is none."""
    at = text.rfind("\\boxed{")
    while at >= 0:
        depth, begin = 0, at + len("\\boxed{")
        for position in range(begin - 1, len(text)):
            depth += (text[position] == "{") - (text[position] == "}")
            if depth == 0:
                return text[begin:position]
        at = text.rfind("\\boxed{", 0, at)
    return ""


def _math500(record: Record, position: int) -> BenchmarkItem:
    return BenchmarkItem(
        "math500",
        item_id_of(record, "unique_id", position),
        text_of(record, "problem"),
        gold=answer_of(record, "answer"),
    )


def _aime(record: Record, position: int) -> BenchmarkItem:
    return BenchmarkItem(
        "aime_2024",
        item_id_of(record, "id", position),
        text_of(record, "problem"),
        gold=answer_of(record, "answer"),
    )


def _olympiad(record: Record, position: int) -> BenchmarkItem:
    answer = record.get("final_answer")
    answers = answer if isinstance(answer, list) else [answer]
    told = [answer_of({"final_answer": one}, "final_answer") for one in answers if one is not None]
    if not told:
        raise RecordError("key `final_answer` holds no answer")
    context, question = optional_text(record, "context"), text_of(record, "question")
    return BenchmarkItem(
        "olympiadbench",
        item_id_of(record, "id", position),
        f"{context}\n{question}" if context else question,
        gold=", ".join(one.replace("$", "").strip() for one in told),
    )


def _minerva(record: Record, position: int) -> BenchmarkItem:
    gold = last_boxed(optional_text(record, "solution"))
    if record.get("answer") is not None or not gold.strip():
        gold = answer_of(record, "answer")
    return BenchmarkItem(
        "minerva_math",
        item_id_of(record, "idx", position),
        text_of(record, "problem" if record.get("problem") is not None else "question"),
        gold=gold,
    )


def _gsm8k(record: Record, position: int) -> BenchmarkItem:
    _, mark, final = text_of(record, "answer").rpartition("####")
    if not mark or not final.strip():
        raise RecordError("key `answer` has no final answer behind ####")
    return BenchmarkItem(
        "gsm8k", str(position), text_of(record, "question"), gold=final.strip().replace(",", "")
    )


def _kk(record: Record, position: int) -> BenchmarkItem:
    names, roles = record.get("names"), record.get("solution")
    if not isinstance(names, list) or not all(isinstance(n, str) and n.strip() for n in names):
        raise RecordError(f"key `names` {holds(names)} instead of a list of names")
    if not names:
        raise RecordError("key `names` is an empty list; a puzzle has people")
    if not isinstance(roles, list) or not all(isinstance(role, bool) for role in roles):
        raise RecordError(f"key `solution` {holds(roles)} instead of a list of true and false")
    if len(roles) != len(names):
        raise RecordError(f"key `solution` has {len(roles)} values for {len(names)} `names`")
    said = [
        f"{name} is a {'knight' if role else 'knave'}"
        for name, role in zip(names, roles, strict=True)
    ]
    gold = f"{', '.join(said[:-1])}, and {said[-1]}." if len(said) > 1 else f"{said[0]}."
    return BenchmarkItem(
        "kk_hard",
        f"people{len(names)}-{item_id_of(record, 'index', position)}",
        text_of(record, "quiz"),
        gold=gold,
        n_people=len(names),
    )


def _bbh(name: str) -> Callable[[Record, int], BenchmarkItem]:
    def item(record: Record, position: int) -> BenchmarkItem:
        question, _, listed = text_of(record, "input").partition("\nOptions:\n")
        options = tuple(text.strip() for _, text in _BBH_OPTION.findall(listed))
        counted_options(options, "input")
        letter = gold_letter(text_of(record, "target").strip("() "), options, "target")
        return BenchmarkItem(name, str(position), question, options, gold=letter)

    return item


def _zebra(record: Record, position: int) -> BenchmarkItem:
    options = options_of(record, "choices")
    answer = text_of(record, "answer")
    gold = LETTERS[options.index(answer)] if answer in options else answer
    return BenchmarkItem(
        "zebra_logic",
        item_id_of(record, "id", position),
        f"{text_of(record, 'puzzle').rstrip()}\n\n{text_of(record, 'question')}",
        options,
        gold=gold_letter(gold, options, "answer"),
    )


def _mmlu_pro(category: str) -> Callable[[Record, int], BenchmarkItem | None]:
    def item(record: Record, position: int) -> BenchmarkItem | None:
        if text_of(record, "category") != category:
            return None
        options = options_of(record, "options")
        return BenchmarkItem(
            f"mmlu_pro_{category}",
            item_id_of(record, "question_id", position),
            text_of(record, "question"),
            options,
            gold=gold_letter(text_of(record, "answer"), options, "answer"),
        )

    return item


def _gpqa(record: Record, position: int) -> BenchmarkItem:
    item_id = item_id_of(record, "Record ID", position)
    columns = ("Correct Answer", *(f"Incorrect Answer {number}" for number in (1, 2, 3)))
    texts = [answer_of(record, column).strip() for column in columns]
    # The published file lists the right answer first: letters by a key, the same in every run.
    order = sorted(range(4), key=lambda number: keyed_hash("gpqa/options", item_id, number))
    return BenchmarkItem(
        "gpqa_diamond",
        item_id,
        text_of(record, "Question").strip(),
        tuple(texts[number] for number in order),
        gold=LETTERS[order.index(0)],
        gated=True,
    )


def own_benchmark(name: str, mapping: Mapping[str, str]) -> Benchmark:
    """Return a benchmark of the user's own file; without a mapping, of its usual column names."""
    unknown = [key for key in mapping if key not in {"question", "id", "options", "answer"}]
    if unknown:
        raise InputDataError(
            f"benchmark {name}: a column mapping has the keys question, id, options and answer, "
            f"not {', '.join(unknown)}"
        )
    chosen = mapping.get("question")
    optional = [*_QUESTION_COLUMNS] if chosen is None else []
    optional += [mapping.get(key, key) for key in ("id", "options", "answer") if key not in mapping]

    def item(record: Record, position: int) -> BenchmarkItem:
        column = chosen or next((c for c in _QUESTION_COLUMNS if c in record), None)
        if column is None:
            raise RecordError(
                f"none of the columns {', '.join(_QUESTION_COLUMNS)} is there; "
                f"say which holds the question: --benchmark-columns {name}:question=COLUMN"
            )
        options, answer = mapping.get("options", "options"), mapping.get("answer", "answer")
        return BenchmarkItem(
            name,
            item_id_of(record, mapping.get("id", "id"), position),
            _prompt(record, column),
            texts_of(record, options) if record.get(options) is not None else (),
            gold="" if record.get(answer) in (None, "") else answer_of(record, answer),
        )

    return Benchmark(
        name=name,
        title=name,
        domain="",
        kind="",
        license="unknown",
        dataset=None,
        columns=tuple(mapping.values()),
        optional=tuple(dict.fromkeys(optional)),
        item=item,
    )


def _prompt(record: Record, name: str) -> str:
    """Return a question, blank where the record has none: a string, or the messages of a chat."""
    value = record.get(name)
    if isinstance(value, list):
        contents = [one.get("content") if isinstance(one, Mapping) else None for one in value]
        if not all(isinstance(content, str) for content in contents):
            raise RecordError(f"key `{name}` {holds(value)} instead of text or chat messages")
        return "\n".join(str(content) for content in contents)
    return optional_text(record, name)


def _hub(repo_id: str, *files: str, folders: Sequence[str] = ()) -> HubDataset:
    return HubDataset(repo_id=repo_id, files=files, folder_names=tuple(folders))


BENCHMARKS: dict[str, Benchmark] = {
    benchmark.name: benchmark
    for benchmark in (
        Benchmark(
            name="math500",
            title="MATH-500",
            domain="math",
            kind="math",
            license="MIT",
            dataset=_hub("HuggingFaceH4/MATH-500", "test.jsonl"),
            columns=("problem", "answer"),
            optional=("unique_id",),
            item=_math500,
        ),
        Benchmark(
            name="aime_2024",
            title="AIME 2024",
            domain="math",
            kind="math",
            license="problems (c) MAA",
            dataset=_hub("HuggingFaceH4/aime_2024", "data/train-*.parquet", "test.jsonl"),
            columns=("problem", "answer"),
            optional=("id",),
            item=_aime,
        ),
        Benchmark(
            name="olympiadbench",
            title="OlympiadBench",
            domain="math",
            kind="math",
            license="MIT",
            dataset=_hub(
                "Hothan/OlympiadBench",
                "OE_TO_maths_en_COMP/*.parquet",
                "OE_TO_maths_en_COMP.jsonl",
            ),
            columns=("question", "final_answer"),
            optional=("id", "context"),
            item=_olympiad,
        ),
        Benchmark(
            name="minerva_math",
            title="Minerva Math",
            domain="math",
            kind="math",
            license="CC-BY-NC-SA-4.0",
            dataset=_hub("math-ai/minervamath", "test.jsonl", "**/test-*.parquet"),
            columns=(),
            optional=("problem", "question", "solution", "answer", "idx"),
            item=_minerva,
        ),
        Benchmark(
            name="gsm8k",
            title="GSM8K",
            domain="math",
            kind="math",
            license="MIT",
            dataset=_hub("openai/gsm8k", "main/test-*.parquet", "test.jsonl"),
            columns=("question", "answer"),
            item=_gsm8k,
        ),
        Benchmark(
            name="kk_hard",
            title="Knights and Knaves, 7 and 8 people",
            domain="logic",
            kind="logic",
            license="CC-BY-NC-SA-4.0",
            dataset=_hub(
                "K-and-K/knights-and-knaves",
                "test/people[78]_num100.jsonl",
                folders=("knights_and_knaves",),
            ),
            columns=("quiz", "names", "solution"),
            optional=("index",),
            item=_kk,
        ),
        Benchmark(
            name="bbh_logical_deduction",
            title="BBH logical deduction",
            domain="logic",
            kind="choice",
            license="MIT",
            dataset=_hub(
                "lukaemon/bbh",
                "logical_deduction_*_objects/test-*.parquet",
                "logical_deduction_*_objects.json",
                folders=("bbh",),
            ),
            columns=("input", "target"),
            item=_bbh("bbh_logical_deduction"),
        ),
        Benchmark(
            name="bbh_tracking",
            title="BBH tracking shuffled objects",
            domain="logic",
            kind="choice",
            license="MIT",
            dataset=_hub(
                "lukaemon/bbh",
                "tracking_shuffled_objects_*_objects/test-*.parquet",
                "tracking_shuffled_objects_*_objects.json",
                folders=("bbh",),
            ),
            columns=("input", "target"),
            item=_bbh("bbh_tracking"),
        ),
        Benchmark(
            name="zebra_logic",
            title="ZebraLogic, multiple choice",
            domain="logic",
            kind="choice",
            license="not stated",
            dataset=_hub(
                "allenai/ZebraLogicBench",
                "mc_mode/test-*.parquet",
                "derived_mc_mode/test.jsonl.gz",
                folders=("zebralogic",),
            ),
            columns=("puzzle", "question", "choices", "answer"),
            optional=("id",),
            item=_zebra,
        ),
        Benchmark(
            name="mmlu_pro_chemistry",
            title="MMLU-Pro chemistry",
            domain="science",
            kind="choice",
            license="MIT",
            dataset=_hub("TIGER-Lab/MMLU-Pro", "data/test-*.parquet", folders=("mmlu_pro",)),
            columns=("question", "options", "answer", "category"),
            optional=("question_id",),
            item=_mmlu_pro("chemistry"),
        ),
        Benchmark(
            name="mmlu_pro_physics",
            title="MMLU-Pro physics",
            domain="science",
            kind="choice",
            license="MIT",
            dataset=_hub("TIGER-Lab/MMLU-Pro", "data/test-*.parquet", folders=("mmlu_pro",)),
            columns=("question", "options", "answer", "category"),
            optional=("question_id",),
            item=_mmlu_pro("physics"),
        ),
        Benchmark(
            name="gpqa_diamond",
            title="GPQA-Diamond",
            domain="science",
            kind="choice",
            license="CC-BY-4.0, not to be published in plain text",
            dataset=None,
            columns=(
                "Question",
                "Correct Answer",
                "Incorrect Answer 1",
                "Incorrect Answer 2",
                "Incorrect Answer 3",
            ),
            optional=("Record ID",),
            item=_gpqa,
            gated=True,
        ),
    )
}
