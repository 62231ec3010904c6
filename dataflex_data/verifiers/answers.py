r"""Reading maths answers: the text of a box, or a gold answer, into one of the `forms`.

Text that no form fits raises `Unreadable`, and is compared as text.
"""

from __future__ import annotations

import math
import re
from functools import lru_cache
from typing import Literal

from dataflex_data.verifiers import exact
from dataflex_data.verifiers.exact import Quotient, Unreadable, Value
from dataflex_data.verifiers.expressions import read_expression
from dataflex_data.verifiers.extraction import MAX_ANSWER
from dataflex_data.verifiers.forms import (
    Answer,
    Either,
    Group,
    Matrix,
    Number,
    Numeral,
    Ratio,
    Relation,
    Thousands,
    Words,
    distinct,
    same_answer,
)
from dataflex_data.verifiers.notation import closes_early, split_list, tidy
from dataflex_data.verifiers.numbers import (
    INNER_THOUSANDS,
    SPACED_THOUSANDS,
    THOUSANDS,
    plain_number,
    read_signed,
)
from dataflex_data.verifiers.units import MULTIPLIERS, unit_of

_MAX_ITEMS = 60


_RELATION = re.compile(r"[<>≤≥=≠]")
_NAME = re.compile(
    r"(?:\\?[a-zA-Z]+(?:_\{?\w+\}?)?'?(?:\s*\(\s*\\?[a-zA-Z0-9, ]+\s*\))?|\|[A-Z]{2}\||"
    r"(?:\\angle|\\triangle)\s*[A-Z]+|\(\s*\\?[a-z](?:_\{?\w+\}?)?(?:\s*,\s*\\?[a-z](?:_\{?\w+\}?)?)+\s*\))"
)
_SHORT_NAME = re.compile(r"\\?[a-zA-Z](?:_\{?\w+\}?)?'?(?:\s*\(\s*\\?[a-zA-Z]\s*\))?|\\[a-zA-Z]+")
_NUMERAL = re.compile(r"([0-9A-Fa-f]+)\s*_\s*(?:\{\s*\(?|\()?\s*(\d{1,2})\s*\)?\s*\}?")
_MARKED_UNIT = re.compile(r"(.*?)\x02\s*([^\x02\x03]+?)\s*\x03\s*(?:\^\s*\{?\s*(\d)\s*\}?)?", re.S)
_PLAIN_UNIT = re.compile(
    r"(.*[\d)}!])\s*((?<=\s)[A-Za-z][A-Za-z.]*(?:[ /-][A-Za-z.]+){0,5}|[A-Za-z]{2,}(?:/[a-z]+)?"
    r"(?: [A-Za-z.]+){0,4}|[\u4e00-\u9fff]{1,6})\s*(?:\^\s*\{?\s*(\d)\s*\}?)?",
    re.S,
)
_TEMPERATURE = re.compile(r"(.*)°\s*\x02?\s*([CF])\s*\x03?", re.S)
_MATRIX = re.compile(
    r"\\begin\s*\{([pbvBV]?matrix|array)\}(?:\{[lcr|]*\})?(.*)\\end\s*\{\1\}", re.S
)
_CLOCK_LIKE = re.compile(r"([01]?\d|2[0-3]):([0-5]\d)")
_HYPHENED = re.compile(r"\d+(?:-\d+){2,}")
_LABELS = re.compile(r"(?:\(\d\)\s*){2,}")
_OR = re.compile(r"(?<![A-Za-z\\])(?:or|OR)(?![A-Za-z])")
_CLOCK = re.compile(r"(\d{1,2})(?::(\d{2}))?[\s\x02\x03]*([aApP])\.?\s?[mM]\.?[\x03\s]*")
_WORDY = re.compile(r"[^\W\d_][^\W\d_'.-]*(?:[\s-]+[^\W\d_'.-]+){0,5}")


@lru_cache(maxsize=65536)
def read_answer(text: str, lenient: bool = False) -> Answer:
    """Return the form of an answer's text.

    Args:
        text: The answer as written.
        lenient: Also read a bare letter after a number as a unit (``12 m``), as responses mean it.

    Raises:
        Unreadable: No form fits; ``kind`` says why in a word.
    """
    number = plain_number(text.replace("−", "-"))
    if number is not None:
        return Number(number)
    if len(text.strip()) > MAX_ANSWER:
        raise Unreadable("too_long", f"it has more than {MAX_ANSWER} characters")
    plain = tidy(text)
    if not plain:
        raise Unreadable("empty", "it is empty")
    return _Form(lenient).read(plain, 0)


class _Form:
    """The reading of one answer."""

    def __init__(self, lenient: bool) -> None:
        self.lenient = lenient

    def read(self, text: str, depth: int) -> Answer:
        text = text.strip()
        if not text:
            raise Unreadable("empty", "a part of it is empty")
        if depth > 6:
            raise Unreadable("deep", "it is nested too deeply")
        number = plain_number(text)
        if number is not None:
            return Number(number)
        if text.startswith("\x02") and text.endswith("\x03") and text.count("\x02") == 1:
            return self.read(text[1:-1], depth + 1)
        if text[:7] == "\\approx":
            if self.lenient:
                raise Unreadable("approximate", "it only says what it is about")
            return self.read(text[7:], depth + 1)
        if text[:1] == "=":
            return self.read(text[1:], depth + 1)
        if "," in text and THOUSANDS.fullmatch(text):
            return _thousands(text)
        if " " in text and SPACED_THOUSANDS.fullmatch(text):
            return Number(self.number(text))
        clock = _CLOCK.fullmatch(text) if text[-1:] in "mM.\x03" else None
        if clock:
            hour, minute, half = clock.groups()
            return Words(f"{int(hour)}:{minute or '00'} {half.lower()}m")
        if text in {"\\emptyset", "\\varnothing"}:
            return Words("∅")
        if text.startswith("\\boxed") and text.endswith("}") and "{" in text:
            inner = text[text.index("{") + 1 : -1]
            if not closes_early(inner):
                return self.read(inner, depth + 1)
        if text.startswith("\\begin") and (matrix := _MATRIX.fullmatch(text)):
            return self.matrix(matrix.group(2))
        if "\x04" in text and THOUSANDS.fullmatch(text.replace("\x04", "").strip()):
            return self.quantity(text)
        inside = None if "\\cup" in text else self.bracketed(text, depth)
        if inside is not None:
            return inside
        parts = split_list(text)
        if len(parts) > 1:
            if _OR.search(text) and sum("," in side for side in _OR.split(text)) > 1:
                raise Unreadable("alternatives", "it names several lists as alternatives")
            several = self.listing(parts, depth)
            if _OR.search(text) and len(distinct(several.items)) == 1:
                return several.items[0]  # one value in two notations
            return several
        if "\\cup" in text:
            pieces = [piece for piece in re.split(r"\\cup(?![a-zA-Z])", text) if piece.strip()]
            items = tuple(self.read(piece, depth + 1) for piece in pieces)
            return Group("union", items)
        if "\\in" in text:
            head, command, tail = text.partition("\\in")
            if _NAME.fullmatch(head.strip()) and command and not tail[:1].isalpha():
                return self.read(tail, depth + 1)
        if "\\equiv" in text and "mod" not in text:
            text = text.replace("\\equiv", "=")
        if _RELATION.search(text):
            return self.relation(text, depth)
        if ":" in text:
            return self.ratio(text)
        if "-" in text and _HYPHENED.fullmatch(text):
            raise Unreadable("two_readings", "numbers joined by hyphens read two ways")
        if text[0] == "(" and _LABELS.fullmatch(text):
            labels = self.listing(re.findall(r"\d", text), depth)
            return Either((labels, self.quantity(text))) if self.lenient else labels
        if "\\pm" in text or "\\mp" in text:
            if text.count("\\pm") != 1 or "\\mp" in text:
                raise Unreadable("signs", "it holds several plus-minus signs")
            both = [self.read(text.replace("\\pm", sign), depth + 1) for sign in ("+", "-")]
            return Group("list", tuple(both))
        numeral = _NUMERAL.fullmatch(text) if "_" in text else None
        if numeral:
            return _numeral(numeral.group(1), int(numeral.group(2)))
        return self.quantity(text)

    def listing(self, parts: list[str], depth: int) -> Group:
        if len(parts) > _MAX_ITEMS:
            raise Unreadable("too_many_items", f"it lists more than {_MAX_ITEMS} answers")
        items: list[Answer] = []
        for part in parts:
            item = self.read(part, depth + 1)
            items.extend(item.items if isinstance(item, Group) and item.kind == "list" else [item])
        return Group("list", tuple(items))

    def bracketed(self, text: str, depth: int) -> Answer | None:
        opening, closing = text[:1], text[-1:]
        if text.startswith("\\{") and text.endswith("\\}"):
            inner = text[2:-2]
            if closes_early(inner):
                return None
            if "|" in inner or "\\mid" in inner or ":" in inner:
                raise Unreadable("set_builder", "it is a set given by a condition")
            if not inner.strip():
                return Words("∅")
            return Group("{}", tuple(self.read(part, depth + 1) for part in split_list(inner)))
        if opening == "{" and closing == "}" and not closes_early(text[1:-1]):
            return self.read(text[1:-1], depth + 1)
        if opening not in {"(", "["} or closing not in {")", "]"} or closes_early(text[1:-1]):
            return None
        parts = split_list(text[1:-1])
        if len(parts) < 2:
            return None
        if len(parts) > _MAX_ITEMS:
            raise Unreadable("too_many_items", f"it lists more than {_MAX_ITEMS} answers")
        return Group(opening + closing, tuple(self.read(part, depth + 1) for part in parts))

    def relation(self, text: str, depth: int) -> Answer:
        sides = [side.strip() for side in _RELATION.split(text)]
        signs = _RELATION.findall(text)
        if "\\sum" in text or "\\prod" in text:
            raise Unreadable("symbols", "it holds a sum or product over an index")
        if len(sides) > 5 or not all(sides):
            raise Unreadable("relation", "it is a relation that is not understood")
        if all(sign == "=" for sign in signs):
            return self.equation(sides, depth)
        if len(signs) == 2 and _NAME.fullmatch(sides[1]):
            low, high = sides[0], sides[2]
            if set(signs) <= {">", "≥"}:
                low, high, signs = high, low, [signs[1], signs[0]]
            elif not set(signs) <= {"<", "≤"}:
                raise Unreadable("relation", "it is a chain of mixed relations")
            return self.interval(low, high, signs[0] in "≤≥", signs[1] in "≤≥")
        if len(signs) != 1:
            raise Unreadable("relation", "it is a chain of relations")
        sign, left, right = signs[0], sides[0], sides[1]
        if sign != "≠":
            name_left = bool(_SHORT_NAME.fullmatch(left)) and left not in {"\\pi", "e"}
            name_right = bool(_SHORT_NAME.fullmatch(right)) and right not in {"\\pi", "e"}
            if name_left != name_right:
                closed = sign in "≤≥"
                bound = right if name_left else left
                value = self.number(bound)
                if not exact.symbols(value):
                    if (sign in "<≤") == name_left:
                        return self.interval("-\\infty", bound, False, closed)
                    return self.interval(bound, "\\infty", closed, False)
        difference = exact.add(self.number(left), exact.negate(self.number(right)))
        if sign in ">≥":
            difference = exact.negate(difference)
        kind: Literal["<", "<=", "≠"] = "≠" if sign == "≠" else "<" if sign in "<>" else "<="
        return Relation(kind, difference)

    def equation(self, sides: list[str], depth: int) -> Answer:
        name = ""
        turned = (
            len(sides) == 2 and _SHORT_NAME.fullmatch(sides[1]) and sides[1] not in {"\\pi", "e"}
        )
        if turned and not _NAME.fullmatch(sides[0]):
            sides = sides[::-1]
        if _NAME.fullmatch(sides[0]) and sides[0] not in {"\\pi", "e"}:
            name, sides = sides[0], sides[1:]
        elif len(sides) == 2:
            left, right = self.number(sides[0]), self.number(sides[1])
            difference = exact.add(left, exact.negate(right))
            if isinstance(difference, Quotient):
                return Relation("=", difference)
            if not self.lenient or not exact.is_zero(difference):
                raise Unreadable("identity", "it is an equation without an unknown")
            return self.read(sides[1], depth + 1)  # 9·2 = 18 says 18
        answers = [self.read(side, depth + 1) for side in sides]
        if any(not same_answer(answers[0], other) for other in answers[1:]):
            raise Unreadable("relation", "it sets different values equal")
        answer = answers[0]
        if isinstance(answer, Number) and _SHORT_NAME.fullmatch(name):
            return Number(answer.value, answer.unit, _plain_name(name))
        return answer

    def interval(self, low: str, high: str, closed_low: bool, closed_high: bool) -> Group:
        kind = ("[" if closed_low else "(") + ("]" if closed_high else ")")
        return Group(kind, (Number(self.number(low)), Number(self.number(high))))

    def ratio(self, text: str) -> Answer:
        parts = text.split(":")
        if len(parts) > 8:
            raise Unreadable("ratio", "it is a ratio of many parts")
        values = tuple(self.number(part.strip().strip("\x02\x03")) for part in parts)
        clock = _CLOCK_LIKE.fullmatch(text)
        is_time = clock is not None and math.gcd(int(clock.group(1)), int(clock.group(2))) > 1
        return Ratio(values, is_time)

    def matrix(self, body: str) -> Matrix:
        rows = [row for row in re.split(r"\\\\(?:\[[^\]]*\])?", body) if row.strip()]
        if len(rows) > 10:
            raise Unreadable("matrix", "it is a large matrix")
        return Matrix(tuple(tuple(self.number(cell) for cell in row.split("&")) for row in rows))

    def number(self, text: str) -> Value:
        text = text.strip()
        plain = plain_number(text)
        if plain is not None:
            return plain
        if THOUSANDS.fullmatch(text) or SPACED_THOUSANDS.fullmatch(text):
            found = plain_number(text.replace(",", "").replace(" ", ""))
            if found is not None:
                return found
        answer = self.quantity(text)
        if isinstance(answer, Number) and not answer.unit:
            return answer.value
        raise Unreadable("units", "it holds a unit within")

    def quantity(self, text: str) -> Answer:
        """Read a number with what may stand around it, or words."""
        unit = ""
        if "\x04" in text:
            text, unit = text.replace("\x04", "").strip(), "usd^1"
        for sign, name in (("€", "eur^1"), ("£", "gbp^1"), ("¥", "cny^1")):
            if sign in text:
                text, unit = text.replace(sign, "").strip(), name
        factor = 1
        temperature = _TEMPERATURE.fullmatch(text)
        if temperature:
            text, unit = temperature.group(1), f"°{temperature.group(2).lower()}^1"
        elif text.endswith("%"):
            text, unit = text[:-1], "%"
        elif text.endswith("°"):
            text, unit = text[:-1], "°"
        else:
            text, trailing, factor = self.trailing_unit(text)
            unit = trailing or unit
        text = text.replace("\x02", " ").replace("\x03", " ").strip().strip("$").strip()
        if ("," in text or " " in text) and (
            THOUSANDS.fullmatch(text) or SPACED_THOUSANDS.fullmatch(text)
        ):
            text = text.replace(",", "").replace(" ", "")
        elif "," in text:
            text = INNER_THOUSANDS.sub(lambda run: run.group().replace(",", ""), text)
        plain = plain_number(text)
        if plain is not None:
            return Number(plain * factor, unit)
        if text[:1] == "-" and (numeral := _NUMERAL.fullmatch(text[1:].strip())):
            return _numeral(numeral.group(1), int(numeral.group(2)), negative=True)
        if not unit and _WORDY.fullmatch(text) and _is_wordy(text):
            return Words(" ".join(text.casefold().replace("-", " ").split()))
        if unit in {"°", "%"} and (function := _LAST_FUNCTION.search(text)):
            text, unit = _with_argument(text, unit, function), ""
        value = read_expression(text)
        return Number(exact.multiply(value, factor) if factor != 1 else value, unit)

    def trailing_unit(self, text: str) -> tuple[str, str, int]:
        """Return the text without its unit, the unit, and what a word such as million adds."""
        match = _MARKED_UNIT.fullmatch(text) if "\x02" in text else _PLAIN_UNIT.fullmatch(text)
        if match is None or not match.group(1).strip():
            return text, "", 1
        words, exponent = match.group(2), int(match.group(3) or 1)
        marked = "\x02" in text
        first, _, rest = words.partition(" ")
        factor = MULTIPLIERS.get(first.lower(), 1)
        if factor != 1:
            words = rest
            if not words:
                return match.group(1), "", factor
        unit = unit_of(words, exponent)
        if unit is None:
            return text, "", 1
        if not marked:
            short = len(words) < 4 and unit.startswith("?") and words.isascii()
            if short or (len(words) == 1 and words.isascii() and not self.lenient):
                return text, "", 1
        return match.group(1), unit, factor


def _with_argument(text: str, sign: str, function: re.Match[str]) -> str:
    """Return a text whose degrees or percent belong to its last function's argument.

    Raises:
        Unreadable: They may belong to the function's value as well.
    """
    if sign == "%":
        raise Unreadable("symbols", "a percent sign after a function reads two ways")
    if not function.group().startswith("\\"):
        raise Unreadable("prose", f"it holds the word {function.group()!r}")
    return f"{text}°"


_LAST_FUNCTION = re.compile(
    r"\\?(?:arc)?(?:sin|cos|tan|cot|sec|csc|ln|log|lg|exp)h?(?![a-zA-Z])(?=[^()+=]*\Z"
    r"|\s*\([^()]*\)\s*\Z)"
)


def _thousands(text: str) -> Thousands:
    plain = text.replace(" ", "")
    parts = tuple(map(read_signed, plain.split(",")))
    return Thousands(Number(read_signed(plain.replace(",", ""))), parts)


def _numeral(digits: str, base: int, *, negative: bool = False) -> Answer:
    if base == 10 and digits.isdigit():
        return Number(-int(digits) if negative else int(digits), base=10)
    if not 2 <= base <= 36 or any(int(digit, 36) >= base for digit in digits):
        raise Unreadable("numeral", f"{digits} is not a numeral of base {base}")
    return Numeral(("-" if negative else "") + digits.upper(), base)


def _plain_name(name: str) -> str:
    head = name.partition("(")[0].strip() if "(" in name else name
    return head.lstrip("\\").replace("{", "").replace("}", "")


def _is_wordy(text: str) -> bool:
    return any(len(word) > 1 for word in re.split(r"[\s-]+", text)) and not (
        len(text) <= 3 and text.lower() not in _SHORT_TEXTS
    )


_SHORT_TEXTS = {"yes", "no", "odd", "all", "sun", "mon", "tue", "wed", "thu", "fri", "sat", "one",
                "two", "six", "ten", "dne", "am", "pm", "max", "min", "red"}  # fmt: skip
