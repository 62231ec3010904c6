"""The compiled loops start without scipy, and leave numba's linear algebra to others as it is."""

import subprocess
import sys

SCRIPT = """
import sys
from dataflex_data.audits.word_streams import hashed

hashed(["a", "few", "words"])
assert "scipy.linalg" not in sys.modules, "the loops brought scipy"

import numba
import numpy as np

@numba.njit
def algebra(a, b):
    return np.dot(a, b), np.convolve(a[0], b[0]), np.linalg.inv(a)

a = np.array([[4.0, 1.0], [2.0, 3.0]])
b = np.array([[1.0, 2.0], [3.0, 5.0]])
dot, convolved, inverse = algebra(a, b)
# [[4+3, 8+5], [2+9, 4+15]]; (4 + x)(1 + 2x) = 4 + 9x + 2x^2; det a = 10
assert dot.tolist() == [[7.0, 13.0], [11.0, 19.0]]
assert convolved.tolist() == [4.0, 9.0, 2.0]
assert np.allclose(inverse, [[0.3, -0.1], [-0.2, 0.4]])
"""


def test_the_loops_bring_no_scipy_and_others_still_find_it() -> None:
    done = subprocess.run([sys.executable, "-c", SCRIPT], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
