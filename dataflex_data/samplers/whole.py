"""Whole numbers as users hold them: Python's, numpy's or torch's."""

from __future__ import annotations

import operator

from dataflex_data.core.errors import InputDataError


def check_whole(name: str, value: object, least: int) -> int:
    """Return ``value``, Python's, numpy's or torch's, as a whole number of at least ``least``.

    Raises:
        InputDataError: It is none.
    """
    try:
        if isinstance(value, bool) or str(getattr(value, "dtype", "")).endswith("bool"):
            raise TypeError("a truth value")
        number = operator.index(value)  # type: ignore[arg-type]
    except TypeError:
        number = least - 1
    if number < least:
        raise InputDataError(f"{name} must be a whole number of at least {least}, got {value!r}")
    return number
