"""GSM8K: grade-school word problems with integer answers.

Source: Cobbe et al. 2021, "Training Verifiers to Solve Math Word Problems" (arXiv 2110.14168);
hub repository ``openai/gsm8k``, config ``main``.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from dataflex_data.builders.source import SOURCES, Candidate, Drop, FileSource, text_problem
from dataflex_data.builders.textfix import repair_text
from dataflex_data.core.fetch import HubDataset

_FINAL = re.compile(r"####[ \t]*([^\n]*)\s*\Z")
_INTEGER = re.compile(r"-?(?:\d+|\d{1,3}(?:,\d{3})+)")


@SOURCES.register("gsm8k")
class Gsm8k(FileSource):
    """GSM8K train. Difficulty: the number of lines of the worked solution."""

    name = "gsm8k"
    ability = "math"
    template = "boxed"
    route = "dataflex/gsm8k"
    license = "MIT"
    columns = ("question", "answer")
    dataset = HubDataset(
        repo_id="openai/gsm8k",
        files=("main/train-*.parquet", "train.jsonl", "train.jsonl.gz", "train-*.parquet"),
    )

    def parse(self, record: Mapping[str, Any]) -> Candidate | Drop:
        """Return the question with the integer after ``####``, its thousands commas removed."""
        question, answer = record["question"], record["answer"]
        problem = text_problem(question, "question") or text_problem(answer, "gold")
        if problem:
            return problem
        final = _FINAL.search(answer)
        if final is None or not final[1].strip():
            return Drop("no_final_answer", answer[-80:])
        gold = final[1].strip()
        if not _INTEGER.fullmatch(gold):
            return Drop("gold_not_an_integer", gold)
        steps = [line for line in answer[: final.start()].splitlines() if line.strip()]
        return Candidate(
            question=repair_text(question).strip(),
            gold=gold.replace(",", ""),
            raw_question=question,
            raw_answer=answer,
            difficulty=float(len(steps)),
        )
