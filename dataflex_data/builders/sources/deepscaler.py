"""DeepScaleR-Preview: 40,315 competition problems whose answers are LaTeX strings.

Source: Luo et al. 2025; hub repository ``agentica-org/DeepScaleR-Preview-Dataset``. More than
17,000 answers are not integers, and some are no answers that a rule can judge: the ``verifiable``
profile keeps what the exact ladder of the maths verifier decides and counts the rest by reason.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any, Literal

from dataflex_data.builders.source import (
    SOURCES,
    Candidate,
    Drop,
    FileSource,
    SourceParams,
    text_problem,
)
from dataflex_data.builders.textfix import broken_escape, repair_text
from dataflex_data.core.fetch import HubDataset
from dataflex_data.verifiers.routes import gold_problem

_OPTION_LETTER = re.compile(r"\(?\s*(?:\\text\s*\{\s*)?\(?[A-E]\)?\s*\}?\s*\)?\.?")


class DeepScalerParams(SourceParams):
    """Parameters of `deepscaler`.

    Attributes:
        profile: ``verifiable`` keeps answers that the exact ladder of the maths verifier decides;
            ``all`` also keeps those that need the extra ``symbolic``.
    """

    profile: Literal["verifiable", "all"] = "verifiable"


@SOURCES.register("deepscaler")
class DeepScaler(FileSource):
    """DeepScaleR-Preview train. Difficulty: ``difficulty_level`` where the file has it, else -1."""

    name = "deepscaler"
    Params = DeepScalerParams
    params: DeepScalerParams
    ability = "math"
    template = "boxed"
    route = "dataflex/deepscaler"
    license = "MIT"
    columns = ("problem", "answer")
    optional_columns = ("difficulty_level",)
    dataset = HubDataset(
        repo_id="agentica-org/DeepScaleR-Preview-Dataset",
        files=("deepscaler.json", "train.jsonl", "train.jsonl.gz", "train-*.parquet"),
    )

    def parse(self, record: Mapping[str, Any]) -> Candidate | Drop:
        """Return the problem with its answer string, or why its answer cannot be judged."""
        problem, answer = record["problem"], record["answer"]
        unusable = text_problem(problem, "question") or text_problem(answer, "gold")
        if unusable:
            return unusable
        question, gold = repair_text(problem).strip(), repair_text(answer).strip()
        broken = broken_escape(question) or broken_escape(gold)
        if broken:
            return Drop("broken_escape", broken)
        if _OPTION_LETTER.fullmatch(gold):
            return Drop("gold_is_an_option_letter", gold)
        undecided = gold_problem(self.route, gold)
        if undecided and self.params.profile == "verifiable":
            return Drop(f"gold_{undecided[0]}", f"{undecided[1]}: {gold[:120]}")
        level = record.get("difficulty_level")
        return Candidate(
            question=question,
            gold=gold,
            raw_question=problem,
            raw_answer=answer,
            difficulty=float(level) if isinstance(level, int | float) else -1.0,
        )
