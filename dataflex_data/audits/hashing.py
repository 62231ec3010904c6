"""The pinned hash of words and word runs, and the LaTeX canonical form, in plain Python.

The kernels compute exactly this over Arrow buffers; here it is written to be read, and used for
the benchmark side, for rows the kernels hand back, and as the reference in tests. Python's own
``hash`` changes with PYTHONHASHSEED and polars' with its version, so neither can be used.

A word's hash takes its folded UTF-8 bytes in blocks of eight, multiplies and mixes. A run of words
is a polynomial in ``BASE`` of its word hashes modulo 2**64, so that any run's hash follows from
prefix sums. Two different runs may collide; every pair that is reported is therefore confirmed on
its text.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from dataflex_data.core.text import fold, words

HASH_VERSION = 1
MASK = 2**64 - 1
WORD_SEED = 0xCBF29CE484222325
WORD_FACTOR = 0xFF51AFD7ED558CCD
MIX_1 = 0xBF58476D1CE4E5B9
MIX_2 = 0x94D049BB133111EB
BASE = 0x9E3779B97F4A7C15
SPREAD = 0xD6E8FEB86659FD93

# Spellings that change nothing on paper: {command: (what stands for it, arguments it takes)}.
# An argument may be glued on, as in \frac12. None: the command only changes size, font or space.
LATEX_COMMANDS: dict[str, tuple[str | None, int]] = {
    **dict.fromkeys(("frac", "dfrac", "tfrac", "cfrac"), ("frac", 2)),
    **dict.fromkeys(("binom", "dbinom", "tbinom"), ("binom", 2)),
    "sqrt": ("sqrt", 1),
    **dict.fromkeys(("leq", "leqslant", "le"), ("le", 0)),
    **dict.fromkeys(("geq", "geqslant", "ge"), ("ge", 0)),
    **dict.fromkeys(("neq", "ne"), ("ne", 0)),
    **dict.fromkeys(("ldots", "cdots", "dots", "dotsc", "dotsb", "hdots"), ("dots", 0)),
    **dict.fromkeys(("cdot", "times"), ("times", 0)),
    **dict.fromkeys(("to", "rightarrow", "longrightarrow"), ("to", 0)),
    **dict.fromkeys(("emptyset", "varnothing"), ("emptyset", 0)),
    **dict.fromkeys(("epsilon", "varepsilon"), ("epsilon", 0)),
    **dict.fromkeys(("phi", "varphi"), ("phi", 0)),
    **dict.fromkeys(
        (
            *("left", "right", "middle", "big", "bigg", "bigl", "bigr", "biggl", "biggr"),
            *("displaystyle", "textstyle", "scriptstyle", "limits", "nolimits"),
            *("quad", "qquad", "hspace", "hskip", "mskip", "enspace", "thinspace"),
            *("text", "textrm", "textbf", "textit", "textnormal", "mbox", "hbox", "emph"),
            *("mathrm", "mathbf", "mathit", "mathsf", "boldsymbol", "bm", "operatorname"),
            *("rm", "bf", "it", "tt", "sf"),
            *("lvert", "rvert", "vert", "mid", "lbrace", "rbrace", "colon"),
            *("lparen", "rparen", "lbrack", "rbrack", "dollar", "ensuremath"),
        ),
        (None, 0),
    ),
}

_PIECE = re.compile(r"(\\?)([^\W_]+)")
_COMMAND = re.compile(r"[a-z]+")


def mix(value: int) -> int:
    """Return the splitmix64 finaliser of an integer in ``[0, 2**64)``."""
    value = ((value ^ (value >> 30)) * MIX_1) & MASK
    value = ((value ^ (value >> 27)) * MIX_2) & MASK
    return value ^ (value >> 31)


def word_hash(word: str) -> int:
    """Return the 64-bit hash of one folded word."""
    value = WORD_SEED
    data = word.encode("utf-8", "surrogatepass")
    for at in range(0, len(data), 8):
        value = ((value ^ int.from_bytes(data[at : at + 8], "big")) * WORD_FACTOR) & MASK
        value ^= value >> 32
    return mix(value)


def run_hash(run: Sequence[str]) -> int:
    """Return the 64-bit hash of a run of folded words."""
    value = 0
    for word in run:
        value = (value * BASE + word_hash(word)) & MASK
    return value


def text_hash(all_words: Sequence[str]) -> int:
    """Return the hash of a whole text: its run and its number of words."""
    return mix(run_hash(all_words) ^ len(all_words))


def latex_words(text: str) -> list[str]:
    r"""Return the words of ``text`` in LaTeX canonical form.

    As `core.text.words`, but a backslash command is cut from what is glued to it, takes its
    canonical spelling or vanishes (see `LATEX_COMMANDS`): ``\dfrac12``, ``\frac{1}{2}`` and
    ``\left.\tfrac 1 2\right.`` all give ``frac 1 2``.
    """
    if "\\" not in text and text.isascii():
        return words(text)
    out: list[str] = []
    for backslash, word in _PIECE.findall(fold(text)):
        command = _COMMAND.match(word) if backslash else None
        if command is None:
            out.append(word)
            continue
        spelled, arguments = LATEX_COMMANDS.get(command[0], (command[0], 0))
        if spelled is not None:
            out.append(spelled)
        rest = word[command.end() :]
        out.extend(rest[:arguments])
        if rest[arguments:]:
            out.append(rest[arguments:])
    return out
