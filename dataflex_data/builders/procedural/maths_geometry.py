"""Plane and solid geometry with rational answers."""

from __future__ import annotations

from fractions import Fraction
from math import gcd, isqrt

from dataflex_data.builders.procedural.family import Draw, Families, Problem
from dataflex_data.builders.procedural.wording import decimal

FAMILIES = Families()


@FAMILIES.add("geometry")
def right_triangle(d: Draw, level: int) -> Problem | None:
    """The third side, the area, the perimeter or a height of a right triangle."""
    m, n, k = d.integer(2, 3 + level), d.integer(1, 2 + level), d.integer(1, 2 + 4 * level)
    if m <= n or gcd(m, n) > 1 or (m - n) % 2 == 0:
        return None
    legs = sorted((k * (m * m - n * n), 2 * k * m * n))
    a, b, c = *legs, k * (m * m + n * n)
    if d.below(2):
        a, b = b, a
    asked = d.pick(("hypotenuse", "leg", "area", "perimeter", "height")[: 1 + level])
    two_legs = f"legs of {a} cm and {b} cm"
    leg_and_hypotenuse = f"a leg of {a} cm and a hypotenuse of {c} cm"
    value, given, wanted = {
        "hypotenuse": (Fraction(c), two_legs, "length of the hypotenuse in centimeters"),
        "leg": (Fraction(b), leg_and_hypotenuse, "length of the other leg in centimeters"),
        "area": (Fraction(a * b, 2), leg_and_hypotenuse, "area in square centimeters"),
        "perimeter": (Fraction(a + b + c), leg_and_hypotenuse, "perimeter in centimeters"),
        "height": (
            Fraction(a * b, c),
            two_legs,
            "length of the height onto the hypotenuse in centimeters, as an exact number",
        ),
    }[asked]
    question = d.pick(
        (
            f"A right triangle has {given}. What is the {wanted}?",
            f"In a right-angled triangle with {given}, find the {wanted}.",
            f"Given a right triangle with {given}, calculate the {wanted}.",
        )
    )
    sides = tuple(sorted((a, b))) if given == two_legs else (a, c)
    return Problem(question, value, {"sides": sides, "asked": asked})


@FAMILIES.add("geometry")
def polygon_area(d: Draw, level: int) -> Problem | None:
    """The area of a polygon from its corners."""
    size = 4 + 3 * level
    count = 3 if level <= 2 else 4 if level <= 4 else 5
    corners = d.sample([(x, y) for x in range(-size, size + 1) for y in range(-3, size)], count)
    # Around their center by angle, corners make a polygon that does not cross itself.
    center = (
        Fraction(sum(x for x, _ in corners), count),
        Fraction(sum(y for _, y in corners), count),
    )
    corners.sort(key=lambda corner: _turn(corner[0] - center[0], corner[1] - center[1]))
    twice = sum(
        x1 * y2 - x2 * y1
        for (x1, y1), (x2, y2) in zip(corners, [*corners[1:], corners[0]], strict=True)
    )
    if not is_convex(corners):
        return None
    texts = [f"$({x}, {y})$" for x, y in corners]
    points = f"{', '.join(texts[:-1])} and {texts[-1]}"
    name = {3: "triangle", 4: "quadrilateral", 5: "pentagon"}[count]
    question = d.pick(
        (
            f"What is the area of the {name} with vertices {points}"
            f"{', taken in this order' if count > 3 else ''}?",
            f"The points {points} are the {'consecutive ' if count > 3 else ''}vertices of a "
            f"{name}. Find its area.",
            f"Compute the area enclosed by the {name} whose vertices are, in order, {points}.",
        )
    )
    # All turns of one polygon have the same corners as a set, and convex ones are fixed by it.
    return Problem(question, Fraction(abs(twice), 2), {"corners": tuple(sorted(corners))})


def _turn(x: Fraction, y: Fraction) -> tuple[int, Fraction]:
    """Return a key that grows with the angle of a point, exactly."""
    if x == 0 and y == 0:
        return 4, Fraction(0)
    quadrant = 0 if x > 0 and y >= 0 else 1 if x <= 0 and y > 0 else 2 if x < 0 else 3
    for _ in range(quadrant):
        x, y = y, -x
    return quadrant, y / (x + y)


def is_convex(corners: list[tuple[int, int]]) -> bool:
    """Return whether the polygon turns strictly left at every corner."""
    count = len(corners)
    for i in range(count):
        (x0, y0), (x1, y1), (x2, y2) = (corners[(i + k) % count] for k in range(3))
        if (x1 - x0) * (y2 - y1) - (y1 - y0) * (x2 - x1) <= 0:
            return False
    return True


@FAMILIES.add("geometry")
def polygon_angles(d: Draw, level: int) -> Problem | None:
    """Angles in triangles and polygons, in degrees."""
    if level <= 2:
        parts = [d.integer(1, 4 + 5 * level) for _ in range(3)]
        if 180 % sum(parts) or gcd(*parts) > 1:
            return None
        which = d.pick(("largest", "smallest"))
        value = Fraction(180 * (max(parts) if which == "largest" else min(parts)), sum(parts))
        ratio = ":".join(map(str, parts))
        question = d.pick(
            (
                f"The angles of a triangle are in the ratio {ratio}. How many degrees does the "
                f"{which} angle measure?",
                f"A triangle's three angles have the ratio {ratio}. Find the {which} one in "
                "degrees.",
                f"If the angles of a triangle are proportional to {', '.join(map(str, parts))}, "
                f"what is the {which} angle in degrees?",
            )
        )
        return Problem(question, value, {"ratio": tuple(sorted(parts)), "asked": which})
    sides = d.integer(5, 8 + 8 * level)
    asked = d.pick(("interior", "sum", "exterior", "missing", "sides")[: level + (level == 4)])
    total = 180 * (sides - 2)
    if asked == "missing":
        sides = d.integer(5, 7)
        total = 180 * (sides - 2)
        known = [d.integer(85, 150) for _ in range(sides - 1)]
        rest = total - sum(known)
        if not 30 <= rest < 180:
            return None
        question = d.pick(
            (
                f"A convex polygon with {sides} sides has interior angles of "
                f"{', '.join(f'{angle}°' for angle in known)} and one more. "
                "How many degrees is the remaining angle?",
                f"All but one of the interior angles of a convex {sides}-sided polygon measure "
                f"{', '.join(f'{angle}°' for angle in known)}. Find the last angle in degrees.",
            )
        )
        return Problem(
            question,
            Fraction(rest),
            {"known": tuple(sorted(known)), "sides": sides, "asked": asked},
        )
    value, wanted = {
        "interior": (Fraction(total, sides), "each interior angle"),
        "exterior": (Fraction(360, sides), "each exterior angle"),
        "sum": (Fraction(total), "the sum of all interior angles"),
        "sides": (Fraction(sides), ""),
    }[asked]
    if asked == "sides":
        if 360 % sides:
            return None
        angle = 180 - 360 // sides
        question = d.pick(
            (
                f"Each interior angle of a regular polygon measures {angle}°. "
                "How many sides does it have?",
                f"A regular polygon has interior angles of {angle}°. Find its number of sides.",
            )
        )
        return Problem(question, value, {"sides": sides, "asked": asked})
    question = d.pick(
        (
            f"A regular polygon has {sides} sides. How many degrees is {wanted}?",
            f"In a regular polygon with {sides} sides, find {wanted} in degrees (exactly).",
            f"Calculate {wanted}, in degrees, of a regular {sides}-sided polygon.",
        )
    )
    return Problem(question, value, {"sides": sides, "asked": asked})


@FAMILIES.add("geometry")
def circle_in_pi(d: Draw, level: int) -> Problem | None:
    r"""Length and area in circles, asked as the multiple of pi."""
    radius = d.integer(2, 60 + 10 * level)
    inner = d.integer(1, radius - 1)
    angle = d.integer(10, 350, 10) if level < 5 else d.integer(5, 355, 5)
    asked = d.pick(("circumference", "area", "sector", "arc", "ring")[: 1 + level])
    if asked in ("circumference", "area") and level >= 4:
        return None
    value, shape, wanted = {
        "circumference": (Fraction(2 * radius), f"a circle of radius {radius} cm", "circumference"),
        "area": (Fraction(radius**2), f"a circle of radius {radius} cm", "area"),
        "sector": (
            Fraction(angle * radius**2, 360),
            f"a sector with radius {radius} cm and central angle {angle}°",
            "area",
        ),
        "arc": (
            Fraction(angle * 2 * radius, 360),
            f"a circular arc with radius {radius} cm and central angle {angle}°",
            "length",
        ),
        "ring": (
            Fraction(radius**2 - inner**2),
            f"the ring between two concentric circles of radius {inner} cm and {radius} cm",
            "area",
        ),
    }[asked]
    unit = "\\text{cm}^2" if wanted == "area" else "\\text{cm}"
    question = d.pick(
        (
            f"The {wanted} of {shape} is $k\\pi\\,{unit}$. What is $k$?",
            f"Consider {shape}. Its {wanted} can be written as $k\\pi\\,{unit}$. Find the exact "
            "value of $k$.",
            f"By what number must $\\pi\\,{unit}$ be multiplied to give the {wanted} of {shape}?",
        )
    )
    parameters = {
        "asked": asked,
        "radius": radius,
        "inner": inner if asked == "ring" else 0,
        "angle": angle if asked in ("sector", "arc") else 0,
    }
    return Problem(question, value, parameters)


@FAMILIES.add("geometry")
def similar_figures(d: Draw, level: int) -> Problem | None:
    """Lengths, areas and volumes of similar figures."""
    a, b = d.integer(2, 6 + 4 * level), d.integer(2, 6 + 4 * level)
    if a == b or gcd(a, b) > 1:
        return None
    power = 1 if level == 1 else 2 if level <= 3 else d.integer(2, 3)
    # The other two sides of a triangle are longer than the third, and no figure is a needle.
    low, high = (2 * a + 1, 5 * a) if power == 1 else (max(2, a**power // 4), 2 * a**power)
    known = d.integer(1, 4) * a**power if 1 < level < 5 else d.integer(low, high)
    value = Fraction(known * b**power, a**power)
    quantity, unit, shapes = {
        1: ("perimeter", "cm", "triangles"),
        2: ("area", "square centimeters", "triangles"),
        3: ("volume", "cubic centimeters", "pyramids"),
    }[power]
    side = "side" if power < 3 else "edge"
    question = d.pick(
        (
            f"Two similar {shapes} have corresponding {side}s of {a} cm and {b} cm. The {quantity} "
            f"of the first is {known} {unit}. What is the {quantity} of the second, in {unit}?",
            f"Corresponding {side}s of two similar {shapes} measure {a} cm and {b} cm. If the "
            f"{quantity} of the first is {known} {unit}, find that of the second in {unit}.",
            f"A {shapes[:-1]} with a {side} of {a} cm has {'an' if power == 2 else 'a'} "
            f"{quantity} of {known} {unit}. In a "
            f"similar {shapes[:-1]} the corresponding {side} is {b} cm long. "
            f"What is its {quantity} in {unit}?",
        )
    )
    return Problem(question, value, {"sides": (a, b), "power": power, "known": known})


@FAMILIES.add("geometry")
def solid_measures(d: Draw, level: int) -> Problem | None:
    """Volume, surface or an edge of boxes, prisms and pyramids."""
    size = 5 + 4 * level
    a, b, c = (d.integer(2, size) for _ in range(3))
    asked = d.pick(("volume", "surface", "edge", "pyramid", "water")[: min(5, 1 + level)])
    box = tuple(sorted((a, b, c)))
    if asked == "volume":
        value = Fraction(a * b * c)
        body = f"A box is {a} cm long, {b} cm wide and {c} cm high."
        wanted = "What is its volume in cubic centimeters?"
        parameters: dict[str, object] = {"asked": asked, "edges": box}
    elif asked == "surface":
        value = Fraction(2 * (a * b + b * c + a * c))
        body = f"A closed box is {a} cm long, {b} cm wide and {c} cm high."
        wanted = "What is its total surface area in square centimeters?"
        parameters = {"asked": asked, "edges": box}
    elif asked == "edge":
        surface = 2 * (a * b + b * c + a * c)
        value = Fraction(c)
        body = (
            f"A box has a base of {a} cm by {b} cm and a total surface area of {surface} square "
            "centimeters."
        )
        wanted = "How many centimeters high is it?"
        parameters = {"asked": asked, "base": tuple(sorted((a, b))), "surface": surface}
    elif asked == "pyramid":
        value = Fraction(a * b * c, 3)
        body = f"A pyramid has a rectangular base of {a} cm by {b} cm and a height of {c} cm."
        wanted = "What is its exact volume in cubic centimeters?"
        parameters = {"asked": asked, "base": tuple(sorted((a, b))), "height": c}
    else:
        cube = d.integer(2, min(a, b))
        if cube > c or cube**3 % 2:
            return None
        value = Fraction(cube**3, a * b)
        body = (
            f"A tank with a base of {a} cm by {b} cm holds enough water to cover a metal cube with "
            f"edges of {cube} cm, which lies fully under water. The cube is taken out."
        )
        wanted = "By how many centimeters does the water level fall (exactly)?"
        parameters = {"asked": asked, "base": tuple(sorted((a, b))), "cube": cube}
    question = d.pick(
        (
            f"{body} {wanted}",
            f"{body} {wanted} Give the exact number.",
            f"Consider the following. {body} {wanted}",
        )
    )
    return Problem(question, value, parameters)


@FAMILIES.add("geometry")
def rectangle_puzzle(d: Draw, level: int) -> Problem | None:
    """A rectangle known by its perimeter and a relation between its sides."""
    a, b = d.integer(3, 10 + 10 * level), d.integer(3, 10 + 10 * level)
    if level == 5:
        m, n, k = d.integer(2, 9), d.integer(1, 8), d.integer(1, 9)
        a, b = k * max(m * m - n * n, 2 * m * n), k * min(m * m - n * n, 2 * m * n)
    if a <= b or b <= 0:
        return None
    asked = d.pick(("area", "longer", "shorter"))
    if level <= 2:
        given = f"a perimeter of {2 * (a + b)} cm, and its length exceeds its width by {a - b} cm"
        known = ("perimeter", 2 * (a + b), "difference", a - b)
    elif level <= 4:
        given = f"a perimeter of {2 * (a + b)} cm and an area of {a * b} square centimeters"
        known = ("perimeter", 2 * (a + b), "area", a * b)
        asked = d.pick(("longer", "shorter", "diagonal squared"))
    else:
        root = isqrt(a * a + b * b)
        given = f"a diagonal of {root} cm and a perimeter of {2 * (a + b)} cm"
        known = ("diagonal", root, "perimeter", 2 * (a + b))
    value, wanted = {
        "area": (a * b, "its area in square centimeters"),
        "longer": (a, "the length of its longer side in centimeters"),
        "shorter": (b, "the length of its shorter side in centimeters"),
        "diagonal squared": (
            a * a + b * b,
            "the area, in square centimeters, of a square whose side is the rectangle's diagonal",
        ),
    }[asked]
    question = d.pick(
        (
            f"A rectangle has {given}. What is {wanted}?",
            f"You are told that a rectangle has {given}. Find {wanted}.",
            f"The following is known about a rectangle: it has {given}. Determine {wanted}.",
        )
    )
    return Problem(question, Fraction(value), {"known": known, "asked": asked})


@FAMILIES.add("geometry")
def scale_drawing(d: Draw, level: int) -> Problem | None:
    """Lengths and areas on maps and plans."""
    scale = d.pick(
        (50, 100, 200, 250, 500) if level <= 2 else (1_000, 2_500, 5_000, 10_000, 25_000)
    )
    tenths = d.integer(5 if level == 1 else 8, 60 * level + 60)
    length = Fraction(tenths, 10) if level > 1 else Fraction(tenths)
    real_m = length * scale / 100
    if real_m.denominator > 100 or 100 % real_m.denominator:
        return None
    asked = d.pick(("real", "drawn", "area")[: 2 if level <= 3 else 3])
    if asked == "real":
        value, given = real_m, f"{decimal(length)} cm long"
        wanted = "How many meters is that in reality?"
        body = f"On a plan with scale 1:{scale}, a path is {given}."
        known = length
    elif asked == "drawn":
        value, known = length, real_m
        body = f"A path is {decimal(real_m)} m long."
        wanted = f"How many centimeters long is it on a plan with scale 1:{scale}?"
    else:
        value, known = length * scale * scale / 10_000, length
        body = (
            f"On a plan with scale 1:{scale}, a field covers {decimal(length)} square centimeters."
        )
        wanted = "How many square meters is the field in reality?"
    question = d.pick(
        (
            f"{body} {wanted}",
            f"{body} {wanted} Give the exact number.",
            f"{body} {wanted} Do not round.",
        )
    )
    return Problem(question, decimal(value), {"scale": scale, "known": known, "asked": asked})
