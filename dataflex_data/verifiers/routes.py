"""Which verifier judges which ``data_source``: the routes that recipes write and others' names.

Our names stand in the namespace ``dataflex/``, which stock verl refuses. With a public name such as
``openai/gsm8k`` a user who forgets our reward function would get zeros in silence, since stock verl
looks for another answer form than the prompt asks for; with ours verl stops at once. The public
names are known here too, for rows that others wrote.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Literal

from dataflex_data.core.errors import InputDataError
from dataflex_data.core.registry import Registry
from dataflex_data.core.text import excerpt
from dataflex_data.core.types import Verdict
from dataflex_data.verifiers import choice, logic, math, reasoning_gym

Kind = Literal["math", "choice", "logic", "reasoning_gym"]


@dataclass(frozen=True, slots=True)
class Route:
    """One ``data_source``.

    Attributes:
        name: The value of ``data_source``.
        kind: The verifier that judges its responses.
        stock_verl: What verl 0.9.1 does with it where no reward function is configured.
        description: What rows carry it.
    """

    name: str
    kind: Kind
    stock_verl: str
    description: str


ROUTES: Registry[Route] = Registry("verifier route", entry_point_group="dataflex_data.routes")

_REFUSES = "refuses: NotImplementedError at the first reward"
_HASHES = "grades the number after '####' in the last 300 characters: a boxed answer gets 0"
_BOX = "grades the last \\boxed{} by comparing strings, for example 1/2 and 0.5 differ"
_DAPO = (
    "compares, as text, what follows the last 'Answer:' in the last 300 characters, and only where "
    "there is none the last \\boxed{} in the last 100; returns -1 or 1"
)
_GEO = "grades the last \\boxed{} with mathruler and <think> tags, if mathruler is installed"
_PRIME = "grades with prime_math, which uses sympy without a limit in time"

_OURS: tuple[tuple[str, Kind, str], ...] = (
    ("gsm8k", "math", "GSM8K, train and test"),
    ("math_dapo", "math", "DAPO-Math-17k: integers"),
    ("deepscaler", "math", "DeepScaleR-Preview: LaTeX answers"),
    ("sciq", "choice", "SciQ: four options"),
    ("knights_and_knaves", "logic", "Knights and Knaves"),
    ("procedural_math", "math", "maths made here: rational answers"),
    ("procedural_science", "choice", "science made here: four options"),
    ("reasoning_gym", "reasoning_gym", "tasks of reasoning-gym, by their own scorers"),
    ("math", "math", "your own boxed maths"),
    ("choice", "choice", "your own multiple choice"),
    ("logic", "logic", "your own Knights and Knaves"),
    ("math500", "math", "MATH-500"),
    ("aime_2024", "math", "AIME 2024: integers with leading zeros"),
    ("aime_2025", "math", "AIME 2025: integers"),
    ("olympiadbench", "math", "OlympiadBench, maths in English; some golds list several answers"),
    ("minerva_math", "math", "Minerva Math"),
    ("kk_hard", "logic", "Knights and Knaves of 7 and 8 people"),
    ("bbh_logical_deduction", "choice", "BIG-Bench Hard, logical deduction: options (A) to (G)"),
    ("bbh_tracking", "choice", "BIG-Bench Hard, tracking shuffled objects: options (A) to (G)"),
    ("zebra_logic", "choice", "ZebraLogic, multiple choice over listed texts"),
    ("mmlu_pro_chemistry", "choice", "MMLU-Pro chemistry, up to option J"),
    ("mmlu_pro_physics", "choice", "MMLU-Pro physics, up to option J"),
    ("gpqa_diamond", "choice", "GPQA-Diamond: four options"),
)  # fmt: skip
_PUBLIC: tuple[tuple[str, Kind, str, str], ...] = (
    ("openai/gsm8k", "math", _HASHES, "rows of verl's GSM8K example"),
    ("math_dapo", "math", _DAPO, "rows of DAPO-Math-17k as published"),
    ("math_dapo_reasoning", "math", _DAPO, "rows of verl's DAPO examples"),
    ("math", "math", _DAPO, "maths rows of various origin"),
    ("aime", "math", _DAPO, "AIME rows of various origin"),
    ("aime24", "math", _DAPO, "AIME 2024 rows of various origin"),
    ("aime25", "math", _DAPO, "AIME 2025 rows of various origin"),
    ("aime_2024", "math", _DAPO, "AIME 2024 rows of various origin"),
    ("aime_2025", "math", _DAPO, "AIME 2025 rows of various origin"),
    ("lighteval/MATH", "math", _BOX, "rows of verl's MATH example"),
    ("DigitalLearningGmbH/MATH-lighteval", "math", _BOX, "rows of verl's MATH example"),
    ("HuggingFaceH4/MATH-500", "math", _BOX, "MATH-500 rows"),
    ("hiyouga/geometry3k", "math", _GEO, "rows of verl's Geometry3K example"),
    *((f"numina_{part}", "math", _PRIME, "rows of PRIME's NuminaMath mixture") for part in (
        "aops_forum", "synthetic_math", "amc_aime", "synthetic_amc", "cn_k12", "olympiads")),
)  # fmt: skip

for _name, _kind, _about in _OURS:
    _route = Route(f"dataflex/{_name}", _kind, _REFUSES, _about)
    ROUTES.register(_route.name)(_route)
for _name, _kind, _stock, _about in _PUBLIC:
    ROUTES.register(_name)(Route(_name, _kind, _stock, _about))


def verify(
    data_source: str,
    response: str,
    ground_truth: str,
    extra_info: Mapping[str, Any] | None = None,
    *,
    symbolic: bool = False,
) -> Verdict:
    """Return the verdict of the route's verifier.

    Args:
        data_source: A name of `ROUTES`.
        response: What the model wrote, without the prompt.
        ground_truth: The gold answer.
        extra_info: The row's; ``options`` is read for multiple choice.
        symbolic: For maths, ask math-verify where the exact ladder cannot decide.

    Raises:
        UnknownNameError: No such route.
        MissingExtraError: ``symbolic`` without the extra of that name.
        InputDataError: For multiple choice, ``options`` is no list of texts.
    """
    kind = _kinds.get(data_source) or _looked_up(data_source)
    if kind == "math":
        return math.verify(response, ground_truth, symbolic=symbolic)
    if kind == "choice":
        return choice.verify(response, ground_truth, options=_options(extra_info))
    if kind == "reasoning_gym":
        return reasoning_gym.verify(response, ground_truth)
    return logic.verify(response, ground_truth)


def equivalent(
    data_source: str, gold_a: str, gold_b: str, extra_info: Mapping[str, Any] | None = None
) -> bool:
    r"""Return whether two golds are the same answer, such as ``1/27`` and ``\frac{1}{27}``.

    Raises:
        UnknownNameError: No such route.
    """
    kind = ROUTES.get(data_source).kind
    if gold_a == gold_b:
        return True
    if kind == "math":
        return math.equivalent(gold_a, gold_b)
    if kind == "choice":
        options = _options(extra_info)
        letter = choice.gold_letter(gold_a, options)
        return letter is not None and letter == choice.gold_letter(gold_b, options)
    if kind == "reasoning_gym":
        return reasoning_gym.equivalent(gold_a, gold_b)
    puzzle = logic.read_gold(gold_a)
    return puzzle is not None and puzzle == logic.read_gold(gold_b)


def gold_problem(
    data_source: str, gold: str, extra_info: Mapping[str, Any] | None = None
) -> tuple[str, str] | None:
    """Return ``(reason, detail)`` where the verifier cannot decide this gold, else ``None``.

    Raises:
        UnknownNameError: No such route.
    """
    kind = ROUTES.get(data_source).kind
    if not gold.strip():
        return "empty", "the gold answer is empty"
    if kind == "math":
        return math.problem_of(gold)
    if kind == "reasoning_gym":
        return reasoning_gym.problem_of(gold)
    if kind == "logic":
        if logic.read_gold(gold) is None:
            return "not_an_assignment", "the gold answer is not a list of NAME is a ROLE"
        return None
    options = _options(extra_info)
    letter = choice.gold_letter(gold, options)
    if letter is None and options:
        return "not_an_option", "the gold answer is neither a letter in range nor one option's text"
    if letter is not None and options and choice.LETTERS.index(letter) >= len(options):
        return "out_of_range", f"{letter} is not among the {len(options)} options"
    return None


def render_gold(data_source: str, gold: str, extra_info: Mapping[str, Any] | None = None) -> str:
    """Return the shortest response that gives ``gold`` in the form the route's template asks for.

    Raises:
        UnknownNameError: No such route.
    """
    kind = ROUTES.get(data_source).kind
    if kind == "math":
        return math.render(gold)
    if kind == "choice":
        return choice.render(choice.gold_letter(gold, _options(extra_info)) or gold)
    if kind == "reasoning_gym":
        return reasoning_gym.render(gold)
    return logic.render(gold)


_kinds: dict[str, Kind] = {}  # a look-up in the registry costs as much as half a verdict


def _looked_up(data_source: str) -> Kind:
    _kinds[data_source] = ROUTES.get(data_source).kind
    return _kinds[data_source]


def _options(extra_info: Mapping[str, Any] | None) -> tuple[str, ...]:
    options = None if extra_info is None else extra_info.get("options")
    if options is None:
        return ()
    if type(options) not in _LISTS and (
        isinstance(options, str | bytes | Mapping) or not isinstance(options, Iterable)
    ):
        raise _bad_options(options, extra_info)
    try:
        texts = tuple(options)
        "".join(texts)  # the cheapest look at every type
    except TypeError:
        raise _bad_options(options, extra_info) from None
    return texts


_LISTS = (list, tuple)  # asked first: nearly all are, and the general look costs much more


def _bad_options(options: object, extra_info: Mapping[str, Any] | None) -> InputDataError:
    row = (extra_info or {}).get("row_id") or (extra_info or {}).get("index")
    return InputDataError(
        f"`extra_info.options`{f' of row {row!r}' if row not in (None, '') else ''} must be a list "
        f"of texts in letter order, got {excerpt(repr(options))}"
    )
