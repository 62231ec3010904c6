"""The process that compares two LaTeX answers with math-verify; see `symbolic` for its keeper.

One JSON object a line in, one out. It runs in its own process because sympy may neither end nor
stay small: the keeper kills it after its time limit, and the address space is limited here.
"""

from __future__ import annotations

import json
import logging
import sys
from collections.abc import Callable
from typing import Any, TypeAlias

_MEMORY_BYTES = 4 << 30


# Judges one request: whether the answer equals the gold answer, and why, where that is to be told.
Judge: TypeAlias = Callable[[dict[str, Any]], tuple[bool, str]]


def serve(load: Callable[[], Judge]) -> None:
    """Answer requests until standard input ends.

    Args:
        load: Loads what is heavy, before the worker says that it is ready.
    """
    out = sys.stdout
    sys.stdout = sys.stderr  # nothing that a library prints may mix with the answers
    logging.disable(logging.CRITICAL)
    try:
        judge = load()
    except ImportError as error:
        send(out, {"ready": False, "missing": str(error)})
        return
    limit_memory()
    send(out, {"ready": True})
    for line in sys.stdin:
        equal, why = judge(json.loads(line))
        send(out, {"equal": equal, "why": why})


def load() -> Judge:
    """Return what compares two formulas, with math-verify loaded."""
    from math_verify import ExprExtractionConfig, LatexExtractionConfig, parse
    from math_verify import verify as same
    from sympy import Expr

    targets = [LatexExtractionConfig(), ExprExtractionConfig()]

    def read(text: str) -> list[Any]:
        # No limits of its own: they rest on signals, and the keeper has a harder one.
        return list(parse(f"${text}$", targets, parsing_timeout=None, raise_on_error=False))

    def compare(gold: list[Any], answer: list[Any]) -> tuple[bool, str]:
        equal = same(
            gold,
            answer,
            float_rounding=12,
            numeric_precision=30,
            strict=True,
            timeout_seconds=None,
            raise_on_error=False,
        )
        first, second = gold[0], answer[0]
        if isinstance(first, Expr) and isinstance(second, Expr):
            if not equal:
                equal = is_zero(first - second, imaginary=True)
            elif not is_zero(first - second):
                return False, "it is only about equal to the gold answer"
        return bool(equal), ""

    def judge(request: dict[str, Any]) -> tuple[bool, str]:
        try:
            gold, answer = read(request["gold"]), read(request["answer"])
            if not gold or not answer:
                return False, "math-verify cannot parse it"
            return compare(gold, answer)
        except Exception as error:  # noqa: BLE001 - anything sympy raises is a verdict of unequal
            return False, f"math-verify failed: {type(error).__name__}"

    parse("$1+1$", targets, parsing_timeout=None)  # load the grammar before saying ready
    return judge


def is_zero(difference: Any, *, imaginary: bool = False) -> bool:  # noqa: ANN401 - a sympy expression
    """Return whether an expression is zero to forty digits, at whole values of its variables.

    math-verify compares rounded values too, so a decimal equals a constant that it is close to.

    Args:
        difference: What should be zero.
        imaginary: Take the variable ``i`` for the imaginary unit; other variables are refused.
    """
    from sympy import I, Integer

    names = sorted(difference.free_symbols, key=str)
    if imaginary:
        if {str(name) for name in names} - {"i"}:
            return False
        values = dict.fromkeys(names, I)
    else:
        values = {name: Integer(_PRIMES[at % len(_PRIMES)]) for at, name in enumerate(names)}
    value = difference.subs(values).doit().n(_DIGITS, maxn=400)
    return bool(value.is_number) and bool(abs(value) < 10 ** (10 - _DIGITS))


_DIGITS = 50
_PRIMES = (3, 5, 7, 11, 13, 17, 19, 23)


def send(out: Any, message: dict[str, object]) -> None:  # noqa: ANN401 - a text stream
    """Write one message as a line."""
    out.write(json.dumps(message) + "\n")
    out.flush()


def limit_memory() -> None:
    """Bound the address space, where the system can."""
    try:
        import resource
    except ImportError:  # not on Windows, where the time limit alone bounds the worker
        return
    resource.setrlimit(resource.RLIMIT_AS, (_MEMORY_BYTES, _MEMORY_BYTES))


if __name__ == "__main__":
    serve(load)
