"""numba's ``njit``, without the import of scipy that its first use would bring.

When numba loads its array functions it imports ``scipy.linalg``, to learn whether there is a BLAS:
a third of what the second start of the compiled loops costs, and they use no linear algebra. Here
the question is put off. Linear algebra in other code of the process works as ever, since numba
asks again where it is compiled.
"""

from __future__ import annotations

import sys

from numba import njit

__all__ = ["njit"]


def _put_off_blas() -> None:
    from numba.np import linalg

    ask = getattr(linalg, "ensure_blas", None)
    if ask is None or "numba.np.arraymath" in sys.modules:
        return  # another numba, or it has been asked already

    def not_yet() -> None:
        raise ImportError("asked later")

    linalg.ensure_blas = not_yet
    try:
        from numba.np import arraymath
    finally:
        linalg.ensure_blas = ask
    arraymath.ensure_blas = ask
    arraymath._HAVE_BLAS = True  # scipy is among this package's dependencies


_put_off_blas()
