"""The process that compares two LaTeX answers with math-verify; see `symbolic` for its keeper.

One JSON object a line in, one out. It runs in its own process because sympy may neither end nor
stay small: the keeper kills it after its time limit, and the address space is limited here.
"""

from __future__ import annotations

import json
import logging
import sys
from typing import Any

_MEMORY_BYTES = 4 << 30


def main() -> None:
    """Answer requests until standard input ends."""
    out = sys.stdout
    sys.stdout = sys.stderr  # nothing that a library prints may mix with the answers
    logging.disable(logging.CRITICAL)
    try:
        from math_verify import ExprExtractionConfig, LatexExtractionConfig, parse
        from math_verify import verify as same
    except ImportError as error:
        send(out, {"ready": False, "missing": str(error)})
        return
    limit_memory()
    targets = [LatexExtractionConfig(), ExprExtractionConfig()]

    def read(text: str) -> list[Any]:
        # No limits of its own: they rest on signals, and the keeper has a harder one.
        return list(parse(f"${text}$", targets, parsing_timeout=None, raise_on_error=False))

    parse("$1+1$", targets, parsing_timeout=None)  # load the grammar before saying ready
    send(out, {"ready": True})
    for line in sys.stdin:
        request = json.loads(line)
        try:
            gold, answer = read(request["gold"]), read(request["answer"])
            if not gold or not answer:
                send(out, {"equal": False, "why": "math-verify cannot parse it"})
                continue
            equal = same(
                gold,
                answer,
                float_rounding=12,
                numeric_precision=30,
                strict=True,
                timeout_seconds=None,
                raise_on_error=False,
            )
            send(out, {"equal": bool(equal), "why": ""})
        except Exception as error:  # noqa: BLE001 - anything sympy raises is a verdict of unequal
            send(out, {"equal": False, "why": f"math-verify failed: {type(error).__name__}"})


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
    main()
