"""Multiple-choice science made here from facts and laws (docs/procedural.md)."""

from __future__ import annotations

from dataflex_data.builders.procedural.params import ProceduralParams, ProceduralSource
from dataflex_data.builders.procedural.science import FAMILIES
from dataflex_data.builders.source import SOURCES


class ProceduralScienceParams(ProceduralParams):
    """Parameters, see `ProceduralParams`; the families are those of science."""

    known_families = FAMILIES


@SOURCES.register("procedural_science")
class ProceduralScience(ProceduralSource):
    """Four options, computed from facts and laws of science. Difficulty: the level, 1 to 5."""

    name = "procedural_science"
    Params = ProceduralScienceParams
    ability = "science"
    template = "option_letter"
    route = "dataflex/procedural_science"
    repo_id = "dataflex-data/procedural_science"
