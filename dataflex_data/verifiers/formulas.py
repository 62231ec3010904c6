r"""Which texts may be put before math-verify: formulas, and nothing that is said about them.

math-verify looks for something it can read and passes over the rest: ``18 \text{ is wrong}``,
``\geq 18`` and ``18?`` are all 18 to it, metres are centimetres and degrees are radians. So it is
asked about a text only where every sign of it is known to belong to a formula; degrees and decimals
are spelled as what they mean, so that it can neither drop them nor round them.
"""

from __future__ import annotations

import re

from dataflex_data.verifiers.exact import Unreadable
from dataflex_data.verifiers.expressions import refuse_words
from dataflex_data.verifiers.notation import tidy
from dataflex_data.verifiers.units import is_known, unit_of

# Why the ladder may fail to read a formula that is one all the same.
_KINDS = {"symbols", "symbolic_only", "root", "large_radicand", "two_readings"}
_ARGUMENT = "the argument of"  # of the texts that read two ways, math-verify may judge these
_COMMANDS = (
    "frac|sqrt|binom|dbinom|tbinom|cdot|times|ast|div|pi|infty|to|rightarrow|sin|cos|tan|cot|sec|"
    "csc|arcsin|arccos|arctan|sinh|cosh|tanh|ln|log|lg|exp|lim|sum|prod|int|lfloor|rfloor|lceil|"
    "rceil|lvert|rvert|vert|gcd|lcm|max|min|alpha|beta|gamma|delta|epsilon|varepsilon|zeta|eta|"
    "theta|vartheta|kappa|lambda|mu|nu|xi|rho|sigma|tau|phi|varphi|chi|psi|omega|Gamma|Delta|"
    "Theta|Lambda|Xi|Sigma|Phi|Psi|Omega|ell|cup|overline|pm|mp"
)
_FORMULA = re.compile(
    rf"(?:\\(?:{_COMMANDS})(?![a-zA-Z])|\\[{{}}]|_\s*\{{\s*[a-z]\s*=|\d+(?:\.\d+)?|[a-zA-Z]"
    r"|[-+*/^_(){}\[\]!,'|\s])+"
)
_WORD = re.compile(r"(?<![\\a-zA-Z])[a-zA-Z]{2,}")
# An absolute value starts where a value is due and ends after one; other bars mean something else.
_ABSOLUTE = re.compile(
    r"(?:(?<![\s\w)}\]!'])|(?<=cdot )|(?<=times )|(?<=[-+*/=(,] ))\|[^|]*[^|\s+*/^(\[{,-]\s*\|"
)
_DEGREES = re.compile(r"(\d+(?:\.\d+)?|(?<![a-zA-Z\\])[a-zA-Z](?![a-zA-Z]))\s*°")
_DECIMAL = re.compile(r"(\d+)\.(\d+)")


def may_be_formula(why: Unreadable) -> bool:
    """Return whether a text that the ladder cannot read may be a formula all the same."""
    if why.kind == "two_readings":
        return why.detail.startswith(_ARGUMENT)
    return why.kind in _KINDS


def as_formula(text: str) -> str | None:
    """Return a text as math-verify may read it, ``None`` where it is more than a formula."""
    plain = _DEGREES.sub(r"(\1\\cdot\\frac{\\pi}{180})", tidy(text))
    if not _FORMULA.fullmatch(plain) or not _bars_match(plain):
        return None
    try:
        refuse_words(plain)
    except Unreadable:
        return None
    if any(is_known(unit_of(word.group()) or "") for word in _WORD.finditer(plain)):
        return None
    return _DECIMAL.sub(_spelled_decimal, plain)


def holds_decimal(text: str) -> bool:
    """Return whether a decimal stands in a text, or digits enough to be one in disguise."""
    return _ROUNDED.search(text) is not None


_ROUNDED = re.compile(r"\d\.\d|\d{7}")


def _bars_match(text: str) -> bool:
    return "|" not in _ABSOLUTE.sub("1", text)


def _spelled_decimal(match: re.Match[str]) -> str:
    whole, decimals = match.groups()
    return rf"\frac{{{int(whole + decimals)}}}{{{10 ** len(decimals)}}}"
