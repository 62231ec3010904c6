"""Mathematics problems made here, with exact rational answers (docs/procedural.md)."""

from __future__ import annotations

from dataflex_data.builders.procedural.maths import FAMILIES
from dataflex_data.builders.procedural.params import ProceduralParams, ProceduralSource
from dataflex_data.builders.source import SOURCES


class ProceduralMathParams(ProceduralParams):
    """Parameters, see `ProceduralParams`; the families are those of mathematics."""

    known_families = FAMILIES


@SOURCES.register("procedural_math")
class ProceduralMath(ProceduralSource):
    """Problems of 54 families with rational answers. Difficulty: the level, 1 to 5."""

    name = "procedural_math"
    Params = ProceduralMathParams
    ability = "math"
    template = "boxed"
    route = "dataflex/procedural_math"
    repo_id = "dataflex-data/procedural_math"
