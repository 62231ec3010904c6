"""Any task of reasoning-gym by name, with its own scorer (extra ``reasoning_gym``).

reasoning-gym makes item ``i`` of a data set from ``seed + i``: with the recipe's seeds as they are,
the corpus of seed 43 would be that of seed 42 moved by one. Here items come in blocks whose seeds
are keyed hashes of (recipe seed, task, block), so two seeds share nothing but by chance, and what
they share is found as the same question.
"""

from __future__ import annotations

import importlib.metadata
import json
from collections import Counter
from collections.abc import Mapping
from types import MappingProxyType
from typing import Any, cast

from pydantic import Field

from dataflex_data.builders.source import (
    SOURCES,
    Candidate,
    Drop,
    GeneratedSource,
    Generation,
    GenerationRequest,
    SourceParams,
)
from dataflex_data.core.errors import (
    ConfigError,
    InputDataError,
    ShortfallError,
    UnknownNameError,
    did_you_mean,
)
from dataflex_data.core.schema import UNKNOWN_FLOAT
from dataflex_data.core.seeding import keyed_hash
from dataflex_data.core.splits import split_of
from dataflex_data.core.text import has_lone_surrogate, normalise
from dataflex_data.verifiers import reasoning_gym as verifier

VERSION = "0.1.25"
_BLOCK = 100
_FRUITLESS_BLOCKS = 20  # blocks in a row that give nothing wanted before a task counts as empty
_PURPOSE = "the source reasoning_gym"


class ReasoningGymParams(SourceParams):
    """Parameters of the source.

    Attributes:
        task: Name of a task, such as ``basic_arithmetic``.
        config: The task's own parameters, by the names that reasoning-gym has for them.
    """

    task: str
    config: dict[str, Any] = Field(default_factory=dict)


@SOURCES.register("reasoning_gym")
class ReasoningGym(GeneratedSource):
    """Items of one task. Difficulty: -1; a task's own figures are in the gold's metadata."""

    name = "reasoning_gym"
    Params = ReasoningGymParams
    ability = "reasoning"
    template = "answer_tags"
    route = "dataflex/reasoning_gym"
    license = "Apache-2.0"
    repo_id = "open-thought/reasoning-gym"
    revision = f"reasoning-gym-{VERSION}"
    hints = MappingProxyType(
        {
            "answer_missing": "this task has no single gold answer; choose another task",
            "own_scorer_refuses": "the task's scorer refuses its own answer; choose another task",
            "same_question": "widen the task's `config`, or ask for fewer rows",
        }
    )

    def generate(self, request: GenerationRequest) -> Generation:
        """Return the items asked for; those without an answer are skipped and counted.

        Raises:
            MissingExtraError: reasoning-gym is not installed.
            UnknownNameError: There is no such task.
            ConfigError: The task refuses its configuration.
            InputDataError: Another version is installed, whose items would differ.
            ShortfallError: The task gives too few different usable items.
        """
        params = cast(ReasoningGymParams, self.params)
        _require(params.task)
        found: dict[str, list[Candidate]] = {split: [] for split in request.count_by_split}
        dropped: Counter[str] = Counter()
        seen = set(request.exclude_identities)
        block = fruitless = 0
        while any(len(found[split]) < count for split, count in request.count_by_split.items()):
            if fruitless >= _FRUITLESS_BLOCKS:
                raise ShortfallError(_refusal(params.task, request, found, dropped, self.hints))
            seed = keyed_hash("reasoning_gym/seed", request.seed, params.task, block) % 2**31
            block, fruitless = block + 1, fruitless + 1
            for candidate in _items(params, seed):
                if isinstance(candidate, Drop):
                    dropped[candidate.reason] += 1
                    continue
                identity = normalise(candidate.question)
                if identity in seen:
                    dropped["same_question"] += 1
                    continue
                seen.add(identity)
                split = split_of(identity)
                if len(found.get(split, ())) < request.count_by_split.get(split, 0):
                    found[split].append(candidate)
                    fruitless = 0
                else:
                    dropped["not_needed"] += 1
        return Generation(found, dict(sorted(dropped.items())))


def _require(task: str) -> None:
    verifier.require(_PURPOSE)
    installed = importlib.metadata.version("reasoning-gym")
    if installed != VERSION:
        raise InputDataError(
            f"reasoning-gym {installed} is installed, whose items may differ; this source is made "
            f"for {VERSION}: pip install reasoning-gym=={VERSION}"
        )
    from reasoning_gym.factory import DATASETS

    if task not in DATASETS:
        raise UnknownNameError(
            f"reasoning-gym has no task {task!r}{did_you_mean(task, DATASETS)} "
            f"(known: {', '.join(sorted(DATASETS))})"
        )


def _items(params: ReasoningGymParams, seed: int) -> list[Candidate | Drop]:
    """Return the items of one block."""
    import reasoning_gym

    where = f"source reasoning_gym: params.config of task {params.task}"
    try:
        dataset = reasoning_gym.create_dataset(
            params.task, **{**params.config, "size": _BLOCK, "seed": seed}
        )
    except (AssertionError, TypeError, ValueError) as error:
        raise ConfigError(where, [str(error) or type(error).__name__]) from None
    items: list[Candidate | Drop] = []
    for position in range(_BLOCK):
        try:
            entry = dataset[position]
        except Exception as error:  # noqa: BLE001 - tasks fail in many ways; each is counted
            items.append(Drop("generation_failed", f"{type(error).__name__}: {error}"))
            continue
        items.append(_candidate(params, dataset, entry))
    return items


def _candidate(
    params: ReasoningGymParams,
    dataset: Any,  # noqa: ANN401 - reasoning-gym has no types
    entry: Mapping[str, Any],
) -> Candidate | Drop:
    question, answer = entry.get("question"), entry.get("answer")
    if not isinstance(question, str) or not question.strip():
        return Drop("empty_question")
    if not isinstance(answer, str) or not answer.strip():
        return Drop("answer_missing", repr(answer))
    answer = answer.strip()
    if verifier.CLOSE in answer or verifier.OPEN in answer:
        return Drop("answer_holds_tag", answer)
    if has_lone_surrogate(question + answer):
        return Drop("lone_surrogate")
    try:
        gold = verifier.gold(params.task, params.config, answer, entry["metadata"])
    except (TypeError, ValueError) as error:
        return Drop("metadata_not_json", str(error))
    # As the reward function will see it: JSON turns tuples into lists and number keys into text.
    read = json.loads(gold)
    try:
        mark = float(dataset.score_answer(answer, {**entry, "metadata": read["metadata"]}))
    except Exception as error:  # noqa: BLE001 - scorers fail in many ways; each is counted
        return Drop("own_scorer_refuses", f"{type(error).__name__}: {error}")
    if mark < 1.0:
        return Drop("own_scorer_refuses", f"{answer} scores {mark:g}")
    return Candidate(
        question=question.strip(),
        gold=gold,
        raw_question=question,
        raw_answer=answer,
        difficulty=UNKNOWN_FLOAT,
    )


def _refusal(
    task: str,
    request: GenerationRequest,
    found: Mapping[str, list[Candidate]],
    dropped: Mapping[str, int],
    hints: Mapping[str, str],
) -> str:
    wanted = ", ".join(
        f"{count} for {split} ({len(found[split])} there)"
        for split, count in request.count_by_split.items()
    )
    reasons = ", ".join(f"{reason} {count}" for reason, count in sorted(dropped.items()))
    told = "; ".join(hint for reason, hint in hints.items() if reason in dropped)
    return (
        f"reasoning_gym, task {task}: {wanted}; {_FRUITLESS_BLOCKS * _BLOCK} items in a row gave "
        f"nothing new (dropped: {reasons or 'none'}). {told or 'Ask for fewer rows'}"
    )
