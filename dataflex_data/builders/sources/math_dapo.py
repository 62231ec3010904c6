"""DAPO-Math-17k: competition problems with integer answers, published about 100 times over.

Source: Yu et al. 2025, "DAPO" (arXiv 2503.14476); hub repository
``BytedTsinghua-SIA/DAPO-Math-17k``. The copies are dropped as they stream by; the prompt's wrapper,
which asks for ``Answer:``, is taken off by its exact text and never searched for.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from types import MappingProxyType
from typing import Any

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

PREFIX = (
    "Solve the following math problem step by step. The last line of your response should be of "
    "the form Answer: $Answer (without quotes) where $Answer is the answer to the problem.\n\n"
)
SUFFIX = '\n\nRemember to put your answer on its own line after "Answer:".'
_INTEGER = re.compile(r"-?\d+")


class MathDapoParams(SourceParams):
    """Parameters of `math_dapo`.

    Attributes:
        already_stripped: Accept prompts that lack the published wrapper as bare problems. Off, such
            a row is dropped as ``wrapper_missing``.
    """

    already_stripped: bool = False


@SOURCES.register("math_dapo")
class MathDapo(FileSource):
    """DAPO-Math-17k train. The source has no difficulty."""

    name = "math_dapo"
    Params = MathDapoParams
    params: MathDapoParams
    ability = "math"
    template = "boxed"
    route = "dataflex/math_dapo"
    license = "Apache-2.0"
    columns = ("prompt", "reward_model")
    hints = MappingProxyType(
        {
            "wrapper_missing": "set `already_stripped: true` in its params if these are bare "
            "problems",
            "prompt_not_one_message": "`prompt` must be a list with one {role: user, content} "
            "message, as published; read bare texts with the source `jsonl` or `parquet`",
        }
    )
    dataset = HubDataset(
        repo_id="BytedTsinghua-SIA/DAPO-Math-17k",
        files=("data/dapo-math-17k.parquet", "dapo-math-17k.parquet"),
        folder_names=("dapo_math_17k",),
    )

    def parse(self, record: Mapping[str, Any]) -> Candidate | Drop:
        """Return the bare problem and its integer gold, kept as text (up to 23 digits)."""
        text = _only_user_message(record["prompt"])
        if text is None:
            return Drop("prompt_not_one_message", repr(record["prompt"])[:200])
        reward_model = record["reward_model"]
        gold = reward_model.get("ground_truth") if isinstance(reward_model, dict) else None
        if isinstance(gold, int) and not isinstance(gold, bool):
            gold = str(gold)  # other people's copies hold integers; a float has lost digits already
        problem = text_problem(gold, "gold")
        if problem:
            return problem
        gold = str(gold).strip()
        if not _INTEGER.fullmatch(gold):
            return Drop("gold_not_an_integer", gold)
        if text.startswith(PREFIX) and text.endswith(SUFFIX):
            question = text[len(PREFIX) : -len(SUFFIX)]
        elif self.params.already_stripped and PREFIX not in text and SUFFIX not in text:
            question = text
        else:
            return Drop("wrapper_missing", text[:120])
        fixed = repair_text(question).strip()
        if not fixed:
            return Drop("empty_question")
        broken = broken_escape(fixed)
        if broken:
            return Drop("broken_escape", broken)
        return Candidate(question=fixed, gold=gold, raw_question=question, raw_answer=gold)


def _only_user_message(prompt: object) -> str | None:
    """Return the content of a prompt that is one user message, or ``None``."""
    if not isinstance(prompt, list) or len(prompt) != 1 or not isinstance(prompt[0], dict):
        return None
    content = prompt[0].get("content")
    return content if prompt[0].get("role") == "user" and isinstance(content, str) else None
