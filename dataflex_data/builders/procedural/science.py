"""All families of the source ``procedural_science``."""

from __future__ import annotations

from dataflex_data.builders.procedural import (
    science_chemistry,
    science_electricity,
    science_elements,
    science_forces,
    science_matter,
    science_motion,
    science_waves,
)
from dataflex_data.builders.procedural.family import Families

FAMILIES = Families.of(
    science_elements.FAMILIES,
    science_chemistry.FAMILIES,
    science_motion.FAMILIES,
    science_forces.FAMILIES,
    science_electricity.FAMILIES,
    science_matter.FAMILIES,
    science_waves.FAMILIES,
)
