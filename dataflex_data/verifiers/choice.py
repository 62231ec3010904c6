r"""Multiple choice: exactly one letter, given where an answer is announced.

A letter counts in a box, directly after a marker (``answer is``, ``Answer:``, ``choose``), or as
the whole response; never a letter that merely stands in prose. The last announcement decides.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import lru_cache
from typing import NamedTuple

from dataflex_data.core.types import Verdict
from dataflex_data.verifiers.denials import (
    CORRECTED,
    LISTED,
    WITHDRAWAL,
    denied,
    taken_back,
)
from dataflex_data.verifiers.extraction import (
    after_thinking,
    last_boxes,
    lowered,
    plain_unicode,
)

LETTERS = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
_DEFAULT_OPTIONS = 10
_CLAUSE = 300  # characters read after a marker


class _Marker(NamedTuple):
    """What announces an answer: a pattern in lower case, and the words it can begin with."""

    words: tuple[str, ...]
    pattern: re.Pattern[str]


_STRONG = _Marker(
    ("answer", "option", "choice", "答案"),
    re.compile(
        r"(?:answer|choice|option)[\"'*_`]*[ \t]*"
        r"(?:[:：=>→]|(?:is|would be|should be|must be|has to be|ought to be|can only be)"
        r"(?![a-z]))"
        r"|答案[*_`]*\s*(?:[:：]|应该是|[是为選选])"
        # a heading over a letter, or over the last line with a letter and its option
        r"|answer[*_]*[ \t]*\n(?=\s*[*_(\[]*[a-z]"
        r"(?:[)\]]?[*_.)]*[ \t]*(?:\n|\Z)|[)\]]?[.:)][*_]*[ \t][^\n]*\s*\Z))"
    ),
)
_WEAK = _Marker(
    ("option", "choose", "chose", "pick", "select", "go with", "choice", "ans", "选"),
    re.compile(
        r"(?<![a-z])(?:option|choose|chose|pick|select|go with|choice)(?![a-z])"
        r"|(?<![a-z])ans\.?[*_]*\s*[:：=]"
        r"|(?<![不没误错可若别])选(?:择(?!题)|(?!项)|项(?<=正确选项|确的选项)\s*[是为:：])"
    ),
)
_TAIL = 400  # characters from the end where most answers stand; looked through first
_MAX_MARKERS = (
    200  # looked at from the end; a response that repeats one endlessly announces nothing
)
_UNSAID = re.compile(
    r"(?:(?<![a-z])(?:not|never|cannot|eliminated?|exclude|reject|discard|dismiss|rule out|"
    r"ruled out|ruling out|if(?: the)?(?: correct| right| final)?)|n['’]t)\s+(?:the\s+)?\Z"
    r"|(?:如果|假如|假设|若)(?:正确|最终)?\Z"
)
# "C is the correct answer", where a sentence starts with it; read in the response's own case.
_SAID_BEFORE = re.compile(
    r"(?:\A|[\n.!:;]|\b(?:[Ss]o|[Tt]hus|[Tt]herefore|[Hh]ence|[Cc]onsequently),?)[\s*_`>(\[$-]*"
    r"(?:(?:[Oo]ption|[Cc]hoice|[Aa]nswer)\s+)?[*_`(\[$]*([A-Z])[*_`)\]$.]*\s+is\s+"
    r"(?:therefore\s+|thus\s+|clearly\s+)?the\s+(?:only\s+)?(?:correct|right|best|final)?\s*\Z"
)
_SAID_AFTER = re.compile(
    r"(?:answer|choice|option)[*_`]*"
    r"(?=\s*(?:[.!\n]|\Z|,?\s*(?:(?:because|since|as)\b|not\s+[(*_]*[A-Z]\b)))"
)
_SAID_IN_CHINESE = re.compile(
    r"(?:\A|[\s。！；，,:：]|所以|因此|故)[\s*_`(]*(?:选项)?\s*([A-Z])[\s*_`)]*(?:选项)?\s*是(?:唯一)?(?:的)?正确(?:的)?\Z"
)
_SAID_END = re.compile(r"\s*(?:[。.！!\n]|\Z)")
# "Answer C" and "Answer - C" as the last words.
_LAST_WORDS = re.compile(r"answer[*_`]*[ \t]*[-–—]?[ \t]*(?=[*_`(\[$]*[A-Z][*_`)\]$.]*\s*\Z)")
_STRUCK_OUT = re.compile(r"~~[^~\n]*~~")
_MARKUP = re.compile(r"[*`_]+")
_LATEX_TEXT = re.compile(r"\\(?:text|textbf|mathrm|mathbf|mbox|textit|textrm|bf|rm)\s*\{([^{}]*)\}")
_FILLER = re.compile(
    r"(?:[\s:：=\-–—>→$\"'“”‘’]|\\[(\[]|(?:the|option|choice|letter|answer|therefore|thus|clearly|"
    r"definitely|correct|right|indeed|simply|just|hence|is|final|my|best|likely|most likely|"
    r"probably|not\s+\(?[a-z]\)?\s*,?\s*but(?:\s+rather)?)(?![a-zA-Z]))*",
    re.I,
)
_LETTER = re.compile(r"[(\[{]?\s*([A-Za-z])\s*[)\]}]?(?![A-Za-z0-9_^\\+=*/-]|['’][A-Za-z])")
_NEGATION = re.compile(
    r"(?:,|;|and|but|rather than|instead of)*\s*(?:not|rather than|instead of|never|isn['’]t)\s+"
    r"(?:the\s+|option\s+|choice\s+|letter\s+)*[(\[]?\s*[A-Za-z](?![A-Za-z])\s*[)\]]?"
    r"(?:\s*(?:or|nor|and|,)\s*[(\[]?[A-Z](?![A-Za-z])[)\]]?)*",
    re.I,
)
_DISMISSED = re.compile(
    r"(?:[\s,;.]|and|while|whereas|but|since|as|because)*(?<![A-Za-z])"
    r"(?:options?\s+|choices?\s+)?[(\[]?[A-Z](?![A-Za-z])[)\]]?"
    r"(?:\s*(?:,|/|and|or|,\s*and)\s*[(\[]?[A-Z](?![A-Za-z])[)\]]?)*\s+(?:is|are|was|were)\s+"
    r"(?:both\s+|all\s+|clearly\s+|simply\s+|just\s+)?"
    r"(?:wrong|incorrect|false|ruled out|eliminated|excluded|not\s+(?:correct|right|true))(?![a-z])"
)
_PARENTHESES = re.compile(r"\((?!\s*[A-Za-z]\s*\))[^()]*\)")
_MORE = re.compile(
    r"[\s.$)\]}]*(?:,|/|;|&|\||\+|(?:but\s+also|as\s+well\s+as|along\s+with|together\s+with|plus)(?![a-zA-Z])|或者?|还是|和|与|(?:or|and|versus|vs)(?![a-zA-Z])|(?:or|and)/(?:or|and))+"
    r"[\s,]*"
    r"(?:(?:or|and|maybe|perhaps|possibly|even|also|option|choice|letter|answer)(?![a-zA-Z])\s*)*"
    r"[(\[{]?\s*([A-Za-z])\s*[)\]}]?(?![A-Za-z0-9'’])",
    re.I,
)
_LATER_HEDGE = re.compile(
    r"[\s.,;)\]}*$]*(?:or|alternatively|maybe|perhaps|possibly|unless|though maybe|but maybe|"
    r"or maybe|if not)(?![a-zA-Z])[^.\n]{0,40}?(?<![A-Za-z'])[B-Z](?![A-Za-z'])",
    re.I,
)
_NO_ANSWER = re.compile(
    r"(?:not|none|neither|unclear|unknown|either|both|all of|any of|uncertain|undetermined|"
    r"ambiguous|impossible|n/a)(?![a-zA-Z])",
    re.I,
)
_ONLY_LETTER = re.compile(r"[ \t]*\(?([A-Z])[).]*\s*")
_NEGATION_HINTS = ("not", "rather", "instead", "never", "isn")
_DISMISSED_HINTS = ("wrong", "correct", "false", "out", "eliminated", "excluded", "not")
_JOINER = re.compile(
    r"\s+(?:because|since|as|for|and|or|not|but|which|due|based|given|rather|"
    r"instead|from|is|in|with|by|nor|versus|vs)(?![a-zA-Z])"
)
_OR_LETTER = re.compile(r"(?<![a-zA-Z])or(?![a-zA-Z])\s*\(?[A-Z](?![A-Za-z])")
_SAID_WRONG = re.compile(
    r"\s*(?:is|was|seems|looks|could be|might be)\s+(?:not\s+|in|un|wrong|false)"
)
_BOXED_LETTER = re.compile(r"(?:\\(?:text|textbf|mathrm|mathbf)\{)?\(?([A-Z])\)?\}?")
_BOX_LABEL = re.compile(
    r"(?:option|choice)?\s*[(\[]?\s*([A-Za-z])\s*(?:[)\].:]|$)\s*(.*)", re.S | re.I
)
_BOX_LETTERS = re.compile(r"(?:[(\[]?[A-Za-z][)\]]?\s*(?:,|/|or|and|;|\s)\s*)+[(\[]?[A-Za-z][)\]]?")
_END_OF_CLAUSE = re.compile(r"[.!?](?=\s|$|[*)\]\"'])|\n")
_ARTICLE = re.compile(r"\s+[a-z]")
_WHOLE = re.compile(r"[\s(\[{*`$]*([A-Za-z])[\s)\]}*`$.:]*")


def verify(
    response: str,
    ground_truth: str,
    *,
    options: Sequence[str] = (),
    n_options: int | None = None,
) -> Verdict:
    """Return whether ``response`` announces the option ``ground_truth``.

    Args:
        response: What the model wrote, without the prompt.
        ground_truth: The letter, with or without brackets, or the full text of an option.
        options: Texts in letter order; a boxed option text counts as its letter.
        n_options: How many letters are in range where ``options`` is empty; ten by default.
    """
    options = tuple(options)
    gold = gold_letter(ground_truth, options)
    if not ground_truth.strip():
        return Verdict(0.0, "", "the gold answer is empty, so nothing can equal it", "empty_gold")
    text = after_thinking(response)
    if text is None:
        return Verdict(0.0, "", "a <think> block is never closed", "open_thinking")
    if "~" in text and "~~" in text:  # one sign is looked for far faster than two
        text = _STRUCK_OUT.sub(" ", text)
    count = len(options) or n_options or _DEFAULT_OPTIONS
    found, step, problem = _announced(text, options, prefer_text=gold is None)
    if problem:
        return Verdict(0.0, found, problem, step)
    if gold is None or (len(found) > 1):
        right = _plain(found) == _plain(ground_truth)
        reason = "it is the gold option's text" if right else f"it is not {ground_truth}"
        return Verdict(float(right), found, reason, step)
    return _judged(found, gold, step, count)


@lru_cache(maxsize=16384)
def _judged(found: str, gold: str, step: str, count: int) -> Verdict:
    if LETTERS.index(found) >= count:
        reason = f"the letter {found} is not among the {count} options"
        return Verdict(0.0, found, reason, "out_of_range")
    if found == gold:
        return Verdict(1.0, found, f"it announces the gold option {gold}", step)
    return Verdict(0.0, found, f"it announces {found}, the gold option is {gold}", step)


@lru_cache(maxsize=65536)
def gold_letter(gold: str, options: tuple[str, ...] = ()) -> str | None:
    """Return the letter of a gold answer, ``None`` where it is a text that is no listed option."""
    if options:
        matches = _places(options).get(_plain(gold), ())
        bare = gold.strip().strip("()[]. ")
        if len(bare) == 1 and bare.upper() in LETTERS[: len(options)] and len(matches) != 1:
            return bare.upper()
        if len(matches) == 1:
            is_letter = len(bare) == 1 and bare in LETTERS[: len(options)]
            return bare if is_letter else LETTERS[matches[0]]
    bare = gold.strip().strip("()[]. ")
    if len(bare) == 1 and bare.upper() in LETTERS and bare.isascii():
        return bare.upper()
    return None


def _announced(text: str, options: tuple[str, ...], prefer_text: bool) -> tuple[str, str, str]:
    """Return ``(letter or text, step, problem)`` of the last announcement."""
    boxes = last_boxes(text)
    after = boxes[-1].end if boxes else 0
    if after + 2 < len(text):  # two characters announce nothing
        found = _last_clause(text, max(after, len(text) - _TAIL), len(text), _STRONG, options)
        if found is None and after < len(text) - _TAIL:
            found = _last_clause(text, after, len(text), _STRONG, options)
        if found:
            return found[0], "marker", found[1]
    if boxes:
        content = boxes[0].content
        if len(boxes) > 1 and any(box.content != content for box in boxes):
            contents = dict.fromkeys(box.content for box in boxes)
            return " / ".join(contents), "several_boxes", "several boxes are joined, not one answer"
        letter, problem = _read_box(content, options, prefer_text)
        if problem:
            return letter, "box", problem
        if letter:
            if taken_back(text, boxes[-1]):
                return letter, "taken_back", "the words beside the box take it back"
            if after < len(text) and _LATER_HEDGE.match(text[after : after + 60]):
                return letter, "hedged", "the box is followed by another option with or"
            return letter, "box", ""
    before = boxes[0].start if boxes else len(text)
    if boxes:
        found = _last_clause(text, 0, before, _STRONG, options)
        if found:
            return found[0], "marker", found[1]
    found = _last_clause(text, 0, before, _WEAK, options)
    if found:
        return found[0], "weak_marker", found[1]
    if boxes:
        return content, "box", "the box holds neither a letter nor the text of one option"
    if len(text) < _SHORT and (match := _WHOLE.fullmatch(plain_unicode(text))):
        return match.group(1).upper(), "bare_letter", ""
    longest = max(map(len, options), default=0) + len("(A) ")
    plain = _plain(text) if len(text.strip()) <= 2 * longest + _SHORT else ""
    matches = _places(options).get(plain, ()) if plain else ()
    if len(matches) == 1:
        return LETTERS[matches[0]], "option_text", ""
    if plain and (letter := _labelled_option(text.strip(), options)):
        return letter, "option_text", ""
    return "", "no_answer", "no option is announced"


_SHORT = 20


def _last_clause(
    text: str, start: int, end: int, marker: _Marker, options: tuple[str, ...]
) -> tuple[str, str] | None:
    """Return letter and problem of the last marker in ``text[start:end]`` that announces one."""
    if end <= start:
        return None
    lower = lowered(text[start:end])
    words = [(lower.rfind(word), word) for word in marker.words]
    places = [place for place in words if place[0] >= 0]
    for _ in range(_MAX_MARKERS):
        if not places:
            return None
        nearest = max(places) if len(places) > 1 else places[0]
        at, word = nearest
        match = marker.pattern.match(lower, at)
        if match and not _unsaid(lower, at) and not denied(lower, at):
            after = start + match.end()
            found = _read_clause(text[after : min(after + _CLAUSE, end)], options)
            if found[0] or found[1]:
                return found
        elif not match and marker is _STRONG and (clause := _said_around(text, start + at, end)):
            return _read_clause(clause, options)
        places.remove(nearest)
        if (at := lower.rfind(word, 0, at)) >= 0:
            places.append((at, word))
    return None


def _said_around(text: str, at: int, end: int) -> str:
    """Return letter and rest of a sentence that announces without a marker, ``""`` for others.

    Args:
        text: The response.
        at: Where ``answer``, ``option`` or ``choice`` stands.
        end: Where to stop.
    """
    after = _SAID_AFTER.match(text, at, end)
    if after and (before := _SAID_BEFORE.search(text, max(0, at - _BEFORE), at)):
        return before.group(1) + text[after.end() : min(after.end() + _CLAUSE, end)]
    if text.startswith("答案", at) and _SAID_END.match(text, at + 2, end):
        said = _SAID_IN_CHINESE.search(text, max(0, at - _BEFORE), at)
        return said.group(1) if said else ""
    last = _LAST_WORDS.match(text[at:end].lower()[:6] + text[at + 6 : end])
    if last and not _unsaid(text[:at].lower(), at):
        return text[at + last.end() : end]
    return ""


def _unsaid(lower: str, at: int) -> bool:
    """Return whether the words before a marker at ``at`` take back what it announces."""
    before = lower[max(0, at - 30) : at].rstrip()
    for word in ("the", "final", "right", "correct", "the"):
        if before.endswith(word):
            before = before[: -len(word)].rstrip()
    return before.endswith(_UNSAID_ENDS) and bool(_UNSAID.search(lower, max(0, at - 30), at))


_UNSAID_ENDS = (
    "not", "never", "cannot", "eliminate", "eliminated", "exclude", "reject", "discard", "dismiss",
    "out", "if", "n't", "n’t", "如果", "假如", "假设", "若", "正确", "最终",
)  # fmt: skip
_BEFORE = 60  # characters before "answer" in which its letter is looked for


@lru_cache(maxsize=16384)
def _read_clause(clause: str, options: tuple[str, ...]) -> tuple[str, str]:
    """Return the letter that follows a marker, or a problem; two empty texts where neither."""
    if "*" in clause or "_" in clause or "`" in clause:
        clause = _MARKUP.sub("", clause)
    if simple := _ONLY_LETTER.fullmatch(clause):  # most answers
        return simple.group(1), ""
    clause = plain_unicode(clause)
    if "\\" in clause:
        clause = _LATEX_TEXT.sub(r"\1", clause).replace("\\boxed", "").replace("\\(", " ")
        clause = clause.replace("\\)", " ").replace("\\ ", " ").replace("\\,", " ")
    if "$" in clause:
        clause = clause.replace("$", " ")
    filler = _FILLER.match(clause)
    start = filler.end() if filler else 0
    if negated := _NO_ANSWER.match(clause, start):
        if option := _option_in(clause, start, options):
            return option, ""
        return negated.group(), f"it announces no option: {negated.group()!r}"
    match = _LETTER.match(clause, start)
    if match is None:
        return _option_in(clause, start, options), ""
    letter = match.group(1)
    rest = clause[match.end() :]
    if not rest.strip(" .\n)"):  # most answers end here
        return letter.upper(), ""
    bracketed = clause[match.start()] in "([{" or clause[match.end() - 1] in ")]"
    if _ARTICLE.match(rest) and not bracketed:
        follows = _plain(_first_line(rest))
        named = (
            letter != "a"  # an article; the option's text is looked for below
            and len(options) > _index(letter)
            and follows.startswith(_plain(options[_index(letter)]))
        )
        if not named and (letter in "aAI" or letter.islower()) and not _JOINER.match(rest):
            return _option_in(clause, start, options), ""
        if letter == "a":
            return "", ""
    if WITHDRAWAL.match(rest):
        return letter.upper(), "it takes the option back"
    tail = _PARENTHESES.sub(" ", rest) if "(" in rest else rest
    lower = tail.lower()
    if any(map(lower.__contains__, _NEGATION_HINTS)):
        tail = _NEGATION.sub(" ", tail)
    if any(map(lower.__contains__, _DISMISSED_HINTS)) and (dismissed := _DISMISSED.match(tail)):
        tail = tail[dismissed.end() :]
    another = _MORE.match(tail)
    if another and another.group(1).upper() != letter.upper() and _is_letter(another.group(1)):
        return f"{letter.upper()}, {another.group(1).upper()}", "it announces more than one option"
    more = LISTED.match(tail) or CORRECTED.match(tail)
    if more and more.group(1).upper() != letter.upper():
        return f"{letter.upper()}, {more.group(1).upper()}", "it announces more than one option"
    if _LATER_HEDGE.match(tail):
        return letter.upper(), "it announces an option and then another with or"
    first = _END_OF_CLAUSE.split(tail, maxsplit=1)[0]
    if "or" in first and _OR_LETTER.search(first):
        return letter.upper(), "it announces an option and then another with or"
    if _SAID_WRONG.match(first):
        return letter.upper(), "it says that the option is wrong"
    return letter.upper(), ""


def _is_letter(sign: str) -> bool:
    return sign.isupper() or sign not in "ai"


def _index(letter: str) -> int:
    return LETTERS.index(letter.upper())


def _first_line(text: str) -> str:
    return text.strip().split("\n", 1)[0][:_CLAUSE]


def _option_in(clause: str, start: int, options: tuple[str, ...]) -> str:
    """Return the letter of the one option whose whole text follows the marker, else ``""``."""
    if not options:
        return ""
    candidates = set()
    for said in (clause[start:], clause.lstrip(_BEFORE_TEXT)):  # the filler may be its first words
        line = said.strip().split("\n", 1)[0]
        candidates |= {_plain(line), _plain(_END_OF_CLAUSE.split(line, maxsplit=1)[0])}
    places = _places(options)
    matches = {at for said in candidates for at in places.get(said, ())}
    return LETTERS[matches.pop()] if len(matches) == 1 else ""


_BEFORE_TEXT = " \t\n:：=-–—>→$\"'“”‘’("


@lru_cache(maxsize=16384)
def _read_box(content: str, options: tuple[str, ...], prefer_text: bool) -> tuple[str, str]:
    if not prefer_text and (boxed := _BOXED_LETTER.fullmatch(content)):
        return boxed.group(1), ""
    plain = plain_unicode(content)
    if "\\" in plain:
        plain = _LATEX_TEXT.sub(r"\1", plain).replace("\\ ", " ").replace("\\,", " ")
    plain = _MARKUP.sub("", plain).replace("$", "").strip()
    match = _WHOLE.fullmatch(plain)
    if match and not prefer_text:
        return match.group(1).upper(), ""
    wanted = _plain(plain)
    if not wanted:
        return "", ""
    matches = _places(options).get(wanted, ())
    if len(matches) == 1:
        return LETTERS[matches[0]], ""
    labelled = _BOX_LABEL.match(plain)
    if labelled:
        letter, rest = labelled.group(1).upper(), _plain(labelled.group(2))
        if not rest or (len(options) > _index(letter) and _plain(options[_index(letter)]) == rest):
            return letter, ""
        if len(options) > _index(letter) or not options:
            return plain, "the box holds more than one letter and its option"
    if prefer_text:
        return plain, ""
    if _BOX_LETTERS.fullmatch(plain):
        return plain, "the box holds more than one letter"
    return "", ""


@lru_cache(maxsize=16384)
def _places(options: tuple[str, ...]) -> dict[str, tuple[int, ...]]:
    """Return where each plain text stands among the options; twice where two read the same."""
    places: dict[str, tuple[int, ...]] = {}
    for at, option in enumerate(options):
        plain = _plain(option)
        places[plain] = (*places.get(plain, ()), at)
    return places


@lru_cache(maxsize=16384)
def _plain(text: str) -> str:
    """Return a text as options are compared: NFKC, no case, single spaces, no final period."""
    return " ".join(plain_unicode(_MARKUP.sub("", text)).casefold().split()).rstrip(". ")


def _labelled_option(text: str, options: tuple[str, ...]) -> str:
    """Return the letter of ``B. the text of option B``, ``""`` for anything else."""
    match = _LABELLED.fullmatch(_MARKUP.sub("", text))
    if match is None or len(options) <= _index(match.group(1)):
        return ""
    same = _plain(match.group(2)) == _plain(options[_index(match.group(1))])
    return match.group(1) if same else ""


_LABELLED = re.compile(r"[(\[]?([A-Z])[)\].:]+\s*(\S.*)")


def render(gold: str) -> str:
    """Return the shortest response that gives the option ``gold`` in the asked form."""
    return f"\\boxed{{{gold}}}"
