"""SciQ: science questions with one right answer and three distractors.

Source: Welbl, Liu and Gardner 2017, "Crowdsourcing Multiple Choice Science Questions"
(arXiv 1707.06209); hub repository ``allenai/sciq``. Its licence is non-commercial.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from dataflex_data.builders.source import SOURCES, Candidate, Drop, FileSource, text_problem
from dataflex_data.builders.textfix import repair_text
from dataflex_data.core.fetch import HubDataset

_OPTIONS = ("correct_answer", "distractor1", "distractor2", "distractor3")


@SOURCES.register("sciq")
class SciQ(FileSource):
    """SciQ train, four options. The source has no difficulty.

    ``support`` goes into ``extra_info.support`` and stays out of the prompt: it gives the answer
    away.
    """

    name = "sciq"
    ability = "science"
    template = "option_letter"
    route = "dataflex/sciq"
    license = "CC-BY-NC-3.0"
    columns = ("question", *_OPTIONS)
    optional_columns = ("support",)
    dataset = HubDataset(
        repo_id="allenai/sciq",
        files=("data/train-*.parquet", "train-*.parquet", "train.jsonl"),
        revision="2c94ad3e1aafab77146f384e23536f97a4849815",
    )

    def parse(self, record: Mapping[str, Any]) -> Candidate | Drop:
        """Return the question with its four options, the right one first."""
        question = record["question"]
        options = [record[column] for column in _OPTIONS]
        problem = text_problem(question, "question") or text_problem(options[0], "gold")
        for option in options[1:]:
            problem = problem or text_problem(option, "option")
        if problem:
            return problem
        stripped = tuple(option.strip() for option in options)
        if len({option.casefold() for option in stripped}) < len(stripped):
            return Drop("duplicate_options", " | ".join(stripped))
        support = record.get("support")
        return Candidate(
            question=repair_text(question).strip(),
            gold=stripped[0],
            raw_question=question,
            raw_answer=options[0],
            options=stripped,
            support=support if isinstance(support, str) else "",
        )
