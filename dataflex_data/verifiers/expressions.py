r"""Reading one LaTeX or plain expression into an exact value.

Written for answers, not for LaTeX at large: what it does not know, or what people read in two ways
(``1/2x``, ``\sqrt23``, ``\sin 2x``), it refuses, and the answer is then compared as text.
"""

from __future__ import annotations

import math
import re
from fractions import Fraction

from dataflex_data.verifiers.angles import TRIGONOMETRIC, at_angle
from dataflex_data.verifiers.exact import (
    MAX_EXPONENT,
    Quotient,
    Unreadable,
    Value,
    add,
    divide,
    key,
    logarithm,
    multiply,
    negate,
    power,
    root,
    symbol,
)

_MAX_DEPTH = 24
_MAX_FACTORIAL = 3_000
_TOKEN = re.compile(
    r"\s*(?:(?P<number>(?:\d+(?:\.\d*)?|\.\d+)(?:[eE][+-]?\d+(?![\d.]))?)"
    r"|(?P<command>\\[a-zA-Z]+)|(?P<letter>[a-zA-Z])|(?P<sign>\*\*|[-+*/^_(){}\[\]!|°]))"
)
_LETTERS = re.compile(r"(?<![\\a-zA-Z])[a-zA-Z]{2,}")
_NUMBER = re.compile(r"(\d*)(?:\.(\d*))?(?:[eE]([+-]?\d+))?")
_REPEATING = re.compile(r"(\d*)\.(\d*)\\(?:overline|bar|dot)\s*\{?\s*(\d+)\s*\}?")
_GREEK = {
    "\\alpha", "\\beta", "\\gamma", "\\delta", "\\epsilon", "\\varepsilon", "\\zeta", "\\eta",
    "\\theta", "\\vartheta", "\\iota", "\\kappa", "\\lambda", "\\mu", "\\nu", "\\xi", "\\rho",
    "\\sigma", "\\tau", "\\upsilon", "\\phi", "\\varphi", "\\chi", "\\psi", "\\omega", "\\Gamma",
    "\\Delta", "\\Theta", "\\Lambda", "\\Xi", "\\Sigma", "\\Phi", "\\Psi", "\\Omega", "\\infty",
    "\\ell",
}  # fmt: skip
_FUNCTIONS = {
    "\\sin", "\\cos", "\\tan", "\\cot", "\\sec", "\\csc", "\\arcsin", "\\arccos", "\\arctan",
    "\\sinh", "\\cosh", "\\tanh", "\\ln", "\\log", "\\lg", "\\exp",
}  # fmt: skip
_PRODUCT = {"*", "\\cdot", "\\times", "\\ast"}
_NO_FACTOR = _PRODUCT | {"\\div", "\\rfloor", "\\rceil", "\\rvert"}
_STARTS = {"number", "letter"}
_AFTER_ATOM = {"!", "°", "^", "**"}
# Short words that would read as a product of variables, so that "no" would equal "on".
_SHORT_WORDS = {
    "no", "yes", "odd", "even", "or", "and", "not", "all", "any", "one", "two", "six", "ten", "the",
    "is", "of", "to", "in", "am", "pm", "on", "an", "if", "red", "sum", "max", "min", "gcd", "lcm",
    "mod", "inf", "sup", "dne", "nan", "sun", "mon", "tue", "wed", "thu", "fri", "sat", "day",
    "let",
}  # fmt: skip
_LONGEST_PRODUCT = 3
_CAPITALISED = re.compile("[A-Z][a-z]{2,}")


def read_expression(text: str) -> Value:
    """Return the exact value of ``text``.

    Raises:
        Unreadable: It is not an expression, reads two ways, or is beyond a bound.
    """
    refuse_words(text)
    if "\\overline" in text or "\\bar" in text or "\\dot" in text:
        text = _REPEATING.sub(_as_fraction, text)
    return _Reader(text.replace("sqrt", "\\sqrt").replace("\\\\sqrt", "\\sqrt")).whole()


def refuse_words(text: str) -> None:
    """Check that letters in a row can be meant as a product of variables.

    Raises:
        Unreadable: They are a word.
    """
    for word in _LETTERS.finditer(text):
        if (
            len(word.group()) > _LONGEST_PRODUCT
            or _CAPITALISED.fullmatch(word.group())
            or word.group().lower() in _SHORT_WORDS
        ):
            if word.group() in {"sqrt"}:
                continue
            raise Unreadable("prose", f"it holds the word {word.group()[:30]!r}")


def read_number(text: str) -> int | Fraction:
    """Return the value of an unsigned decimal or scientific number such as ``2.50e3``."""
    if text.isdigit():
        return int(text)
    match = _NUMBER.fullmatch(text)
    if match is None:
        raise Unreadable("not_a_number", f"{text[:30]!r} is not a number")
    whole, decimals, exponent = match.groups()
    decimals = decimals or ""
    shift = int(exponent or 0) - len(decimals)
    if abs(shift) > MAX_EXPONENT:
        raise Unreadable("tower", f"an exponent is above {MAX_EXPONENT:,}")
    digits = int((whole or "") + decimals or "0")
    return digits * 10**shift if shift >= 0 else Fraction(digits, 10**-shift)


def _as_fraction(match: re.Match[str]) -> str:
    whole, fixed, repeated = match.groups()
    top = int(whole + fixed + repeated or "0") - int(whole + fixed or "0")
    bottom = (10 ** len(repeated) - 1) * 10 ** len(fixed)
    return f"({{{top}}}/{{{bottom}}})"


_NOTHING = [""] * 5


class _Reader:
    """Recursive descent over the tokens of one expression."""

    def __init__(self, text: str) -> None:
        self.kinds: list[str] = []
        self.texts: list[str] = []
        self.spaced: list[bool] = []  # whether the token follows a space
        at, text = 0, text.rstrip()
        for match in _TOKEN.finditer(text):
            if match.start() != at:
                break
            kind = match.lastgroup or ""
            start, end = match.span(kind)
            self.kinds.append(kind)
            self.texts.append(text[start:end])
            self.spaced.append(start > at)
            at = end
        if at < len(text):
            raise Unreadable("symbols", f"it holds {text[at:].strip()[:1]!r}")
        self.length = len(self.texts)
        self.kinds += _NOTHING  # so that looking ahead needs no care
        self.texts += _NOTHING
        self.at = 0
        self.depth = 0
        self.angles = 0  # how many arguments of trigonometric functions are open

    def whole(self) -> Value:
        if not self.length:
            raise Unreadable("empty", "it is empty")
        value = self.sum()
        if self.at != self.length:
            kind = "symbols" if self.peek() in {"|", "°"} else "syntax"
            raise Unreadable(kind, f"it does not parse at {self.peek()!r}")
        return value

    def peek(self, ahead: int = 0) -> str:
        return self.texts[self.at + ahead]

    def kind(self, ahead: int = 0) -> str:
        return self.kinds[self.at + ahead]

    def take(self, wanted: str = "") -> str:
        token = self.peek()
        if not token or (wanted and token != wanted):
            kind = "symbols" if token in {"|", "°"} else "syntax"
            raise Unreadable(kind, f"it lacks {wanted or 'a value'!r}")
        self.at += 1
        return token

    def sum(self) -> Value:
        self.depth += 1
        if self.depth > _MAX_DEPTH:
            raise Unreadable("deep", "it is nested too deeply")
        total = self.product(self.signs())
        while self.peek() in {"+", "-"}:
            total = add(total, self.product(self.signs()))
        self.depth -= 1
        return total

    def signs(self) -> bool:
        negative = False
        while self.peek() in {"+", "-"}:
            negative ^= self.take() == "-"
        return negative

    def product(self, negative: bool) -> Value:
        value = self.mixed() or self.power()
        slashed = False
        while True:
            token = self.peek()
            if token in _PRODUCT:
                self.at += 1
                value = multiply(value, self.signed_power())
                slashed = False
            elif token in {"/", "\\div"}:
                self.at += 1
                value = divide(value, self.signed_power())
                slashed = True
            elif self.starts_a_factor():
                if slashed:
                    raise Unreadable("two_readings", "a product after a slash reads two ways")
                if self.kind() == "number" and self.kinds[self.at - 1] == "number":
                    raise Unreadable("syntax", "two numbers stand side by side")
                value = multiply(value, self.power())
            else:
                return negate(value) if negative else value

    def signed_power(self) -> Value:
        negative = self.signs()
        value = self.power()
        return negate(value) if negative else value

    def mixed(self) -> Value | None:
        r"""Read a mixed number, ``3\frac{1}{2}`` or ``3 1/2``; ``None`` where none stands here."""
        fraction_follows = self.peek(1) == "\\frac" or self.kind(1) == "number"
        if self.kind() != "number" or not fraction_follows or not self.peek().isdigit():
            return None
        whole, start = int(self.peek()), self.at
        if self.peek(1) == "\\frac":
            self.at += 2
            try:
                top, bottom = self.plain_argument(), self.plain_argument()
            except Unreadable:
                self.at = start
                return None
            if top is None or bottom is None:
                self.at = start
                return None
        elif (
            self.kind(1) == "number"
            and self.spaced[self.at + 1]
            and self.peek(2) == "/"
            and self.kind(3) == "number"
            and self.peek(1).isdigit()
            and self.peek(3).isdigit()
        ):
            top, bottom = int(self.peek(1)), int(self.peek(3))
            self.at += 4
        else:
            return None
        if not 0 < top < bottom:
            raise Unreadable("two_readings", "a number before a fraction reads two ways")
        follows = self.peek()
        in_product = follows in {"^", "!"} or self.starts_a_factor()
        if in_product and follows not in {"\\pi", "\\sqrt"}:
            raise Unreadable("two_readings", "a mixed number in a product reads two ways")
        return Fraction(whole * bottom + top, bottom)

    def plain_argument(self) -> int | None:
        """Return a digit string in braces, or one digit, as a number."""
        if self.peek() == "{" and self.kind(1) == "number" and self.peek(2) == "}":
            text = self.peek(1)
            self.at += 3
            return int(text) if text.isdigit() else None
        value = self.argument()
        return value if isinstance(value, int) else None

    def starts_a_factor(self) -> bool:
        token = self.texts[self.at]
        return (
            self.kinds[self.at] in _STARTS
            or token in {"(", "[", "{"}
            or (token.startswith("\\") and token not in _NO_FACTOR)
        )

    def power(self) -> Value:
        value = self.atom()
        if self.texts[self.at] not in _AFTER_ATOM:
            return value
        while self.peek() == "!":
            self.at += 1
            value = _factorial(value)
        if self.peek() == "°" and self.angles:
            value = self.in_degrees(value)
        if self.peek() in {"^", "**"}:
            self.at += 1
            value = power(value, self.exponent())
            if self.peek() in {"^", "**", "!"}:
                raise Unreadable("two_readings", "a power of a power without braces")
        return value

    def in_degrees(self, value: Value) -> Value:
        self.take("°")
        return multiply(value, divide(symbol("π"), 180))

    def exponent(self) -> Value:
        self.depth += 1
        if self.depth > _MAX_DEPTH:
            raise Unreadable("deep", "it is nested too deeply")
        value = self.signed_power() if self.peek() != "{" else self.group("{", "}")
        self.depth -= 1
        return value

    def group(self, opening: str, closing: str) -> Value:
        self.take(opening)
        value = self.sum()
        self.take(closing)
        return value

    def argument(self) -> Value:
        """Read what follows a command: a group, or one digit, letter or command."""
        if self.peek() == "{":
            return self.group("{", "}")
        if self.kind() == "number":
            text = self.peek()
            if not text.isdigit():
                raise Unreadable("two_readings", "a command's argument without braces")
            rest = text[1:]
            if rest:
                self.texts[self.at] = rest
            else:
                self.at += 1
            return int(text[0])
        return self.atom()

    def atom(self) -> Value:
        kind, token = self.kind(), self.peek()
        if kind == "number":
            self.at += 1
            return read_number(token)
        if token == "(":
            return self.group("(", ")")
        if token == "[":
            return self.group("[", "]")
        if token == "{":
            return self.group("{", "}")
        if kind == "letter":
            self.at += 1
            if token in {"f", "g"} and self.peek() == "(":
                return symbol(f"{token}({key(self.group('(', ')'))})")
            return symbol("e") if token == "e" and self.peek() != "_" else self.named(token)
        if token == "\\pi":
            self.at += 1
            return symbol("π")
        if token in _GREEK:
            self.at += 1
            return self.named(token[1:])
        if token == "\\frac":
            self.at += 1
            top = self.argument()
            bottom = self.argument()
            if self.kind() == "number" and self.texts[self.at - 1] != "}":
                raise Unreadable("two_readings", "a fraction without braces reads two ways")
            return divide(top, bottom)
        if token == "\\sqrt":
            return self.radical()
        if token in {"\\binom", "\\dbinom", "\\tbinom"}:
            self.at += 1
            return _binomial(self.argument(), self.argument())
        if token in _FUNCTIONS:
            return self.function()
        if token in {"|", "\\lvert"}:
            return self.absolute()
        if token in {"\\lfloor", "\\lceil"}:
            return self.rounded()
        if not token:
            raise Unreadable("syntax", "it ends too early")
        raise Unreadable("symbols", f"it holds {token!r}")

    def named(self, name: str) -> Value:
        """Return a variable, with its subscript where one follows."""
        if self.peek() != "_":
            return symbol(name)
        self.at += 1
        if self.peek() == "{":
            close = next((at for at in range(self.at, self.length) if self.texts[at] == "}"), None)
            if close is None:
                raise Unreadable("syntax", "it lacks '}'")
            subscript = "".join(self.texts[self.at + 1 : close])
            self.at = close + 1
        else:
            subscript = self.take()
        return symbol(f"{name}_{subscript}")

    def radical(self) -> Value:
        self.take("\\sqrt")
        degree = 2
        if self.peek() == "[":
            found = self.group("[", "]")
            if not isinstance(found, int):
                raise Unreadable("root", "a root's degree is not a whole number")
            degree = found
        if self.peek() == "(":
            return root(self.group("(", ")"), degree)
        if self.kind() == "number" and len(self.peek()) > 1:
            raise Unreadable("two_readings", "a root without braces reads two ways")
        return root(self.argument(), degree)

    def function(self) -> Value:
        name = self.take()[1:]
        base: Value | None = None
        if self.peek() == "_" and name == "log":
            self.at += 1
            base = self.argument()
        if self.peek() == "^":
            raise Unreadable("symbolic_only", "it holds a power of a function")
        bare = self.peek() not in {"(", "{"}
        angle = name in TRIGONOMETRIC
        self.angles += angle
        argument = self.atom()
        if bare and angle and self.peek() == "°":
            argument = self.in_degrees(argument)
        if angle and self.peek() == "°" and not bare:
            raise Unreadable("two_readings", f"degrees after the brackets of {name} read two ways")
        self.angles -= angle
        if bare and (self.starts_a_factor() or self.peek() in {"^", "!"}):
            raise Unreadable("two_readings", f"the argument of {name} reads two ways")
        if name == "ln" or (name == "log" and base is not None):
            top = logarithm(argument)
            return top if base is None else divide(top, logarithm(base))
        if name == "exp":
            return power(symbol("e"), argument)
        if angle and (known := at_angle(name, argument)) is not None:
            return known
        return symbol(f"{name}({key(argument)})")

    def absolute(self) -> Value:
        opening = self.take()
        value = self.sum()
        self.take("|" if opening == "|" else "\\rvert")
        if isinstance(value, Quotient) or self.kind() in _STARTS:
            raise Unreadable("symbols", "it holds an absolute value")
        return -value if value < 0 else value

    def rounded(self) -> Value:
        opening = self.take()
        value = self.sum()
        self.take(opening.replace("\\l", "\\r"))
        if isinstance(value, Quotient):
            raise Unreadable("symbols", f"it holds {opening!r}")
        below: int = math.floor(value)
        return below if opening == "\\lfloor" or below == value else below + 1


def _factorial(value: Value) -> Value:
    if isinstance(value, int) and 0 <= value <= _MAX_FACTORIAL:
        return math.factorial(value)
    if isinstance(value, Quotient):
        return symbol(f"({key(value)})!")
    raise Unreadable("tower", f"a factorial above {_MAX_FACTORIAL:,}")


def _binomial(top: Value, bottom: Value) -> Value:
    if isinstance(top, int) and isinstance(bottom, int) and 0 <= bottom <= top <= 4_000:
        return math.comb(top, bottom)
    return symbol(f"binom({key(top)},{key(bottom)})")
