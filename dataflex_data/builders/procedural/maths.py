"""All families of the source ``procedural_math``."""

from __future__ import annotations

from dataflex_data.builders.procedural import (
    maths_algebra,
    maths_arithmetic,
    maths_counting,
    maths_geometry,
    maths_numbers,
    maths_words,
)
from dataflex_data.builders.procedural.family import Families

FAMILIES = Families.of(
    maths_arithmetic.FAMILIES,
    maths_algebra.FAMILIES,
    maths_numbers.FAMILIES,
    maths_counting.FAMILIES,
    maths_geometry.FAMILIES,
    maths_words.FAMILIES,
)
