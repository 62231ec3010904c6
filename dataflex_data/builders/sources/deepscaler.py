"""DeepScaleR-Preview: 40,315 competition problems whose answers are LaTeX strings.

Source: Luo et al. 2025; hub repository ``agentica-org/DeepScaleR-Preview-Dataset``. More than
17,000 answers are not integers, and some are no answers that a rule can judge: the ``verifiable``
profile keeps what the exact ladder of the maths verifier decides and counts the rest by reason.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any, Literal

from dataflex_data.builders.source import SOURCES, Candidate, Drop, FileSource, SourceParams
from dataflex_data.builders.textfix import broken_escape, repair_form_feed_frac
from dataflex_data.core.fetch import HubDataset
from dataflex_data.verifiers.routes import gold_problem

_OPTION_LETTER = re.compile(r"\(?\s*(?:\\text\s*\{\s*)?\(?[A-E]\)?\s*\}?\s*\)?\.?")
_INLINE_OPTIONS = re.compile(r"\(?\bA\s*[.):].{1,400}?\(?\bB\s*[.):].{1,400}?\(?\bC\s*[.):]", re.S)


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
        if not isinstance(problem, str) or not problem.strip():
            return Drop("empty_question")
        if not isinstance(answer, str) or not answer.strip():
            return Drop("empty_gold", repr(answer))
        question = repair_form_feed_frac(problem).strip()
        gold = repair_form_feed_frac(answer).strip()
        broken = broken_escape(question) or broken_escape(gold)
        if broken:
            return Drop("broken_escape", broken)
        if _OPTION_LETTER.fullmatch(gold):
            return Drop("gold_is_an_option_letter", gold)
        if _INLINE_OPTIONS.search(question):
            return Drop("inline_options", question[-120:])
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
