"""Forces, energy, springs, levers, fluids, and how laws scale."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from fractions import Fraction

from dataflex_data.builders.procedural.choices import GIVEN_GRAVITY, GRAVITY, numeric, root, tenths
from dataflex_data.builders.procedural.family import Draw, Families, Problem, listed
from dataflex_data.builders.procedural.wording import decimal

FAMILIES = Families()


@FAMILIES.add("forces")
def newton_and_friction(d: Draw, level: int) -> Problem | None:
    """F = ma, weight, and pulls against friction."""
    m, force = tenths(d, 2, 60), Fraction(d.integer(20, 400))
    mu = Fraction(d.integer(10, 60), 100)
    asked = d.pick(("acceleration", "force", "weight", "friction", "pull")[: 1 + level])
    am = decimal(m)
    if asked == "acceleration":
        question = d.pick(
            (
                f"A net force of {force} N acts on a body of mass {am} kg. What is its "
                "acceleration?",
                f"Find the acceleration of a {am} kg crate on which the resultant force is "
                f"{force} N.",
            )
        )
        right, unit = force / m, "m/s²"
        mistakes = [m / force, force * m, force / (m * GRAVITY), force - m * GRAVITY]
        parameters: dict[str, object] = {"asked": asked, "m": m, "F": force}
    elif asked == "force":
        a = tenths(d, 1, 8)
        question = d.pick(
            (
                f"What net force gives a body of mass {am} kg an acceleration of {decimal(a)} "
                "m/s²?",
                f"A {am} kg trolley accelerates at {decimal(a)} m/s². How large is the resultant "
                "force on it?",
            )
        )
        right, unit = m * a, "N"
        mistakes = [m / a, m * (a + GRAVITY), m * a / 2, m * GRAVITY]
        parameters = {"asked": asked, "m": m, "a": a}
    elif asked == "weight":
        planet, g = d.pick(
            (("Earth", GRAVITY), ("the Moon", Fraction("1.62")), ("Mars", Fraction("3.71")))
        )
        question = d.pick(
            (
                f"What is the weight (gravitational force) of a {am} kg body on {planet}, where "
                f"g = {decimal(g)} m/s²?",
                f"How large is the gravitational force on a mass of {am} kg on {planet} "
                f"(g = {decimal(g)} m/s²)?",
            )
        )
        right, unit = m * g, "N"
        mistakes = [m / g, m, m * g * g, m * g / 2]
        parameters = {"asked": asked, "m": m, "g": g}
    elif asked == "friction":
        question = d.pick(
            (
                f"A crate of mass {am} kg slides on a level floor with a coefficient of kinetic "
                f"friction of {decimal(mu)}. How large is the friction force? {GIVEN_GRAVITY}",
                f"Find the kinetic friction force on a {am} kg box that slides over horizontal "
                f"ground; the coefficient of friction is {decimal(mu)}. {GIVEN_GRAVITY}",
            )
        )
        right, unit = mu * m * GRAVITY, "N"
        mistakes = [m * GRAVITY, mu * m, m * GRAVITY / mu, mu * GRAVITY]
        parameters = {"asked": asked, "m": m, "mu": mu}
    else:
        if force <= mu * m * GRAVITY:
            return None
        question = d.pick(
            (
                f"A {am} kg crate on a level floor is pulled horizontally with {force} N; the "
                f"coefficient of kinetic friction is {decimal(mu)}. What is the acceleration of "
                "the "
                f"sliding crate? {GIVEN_GRAVITY}",
                f"A horizontal force of {force} N moves a box of {am} kg over horizontal ground "
                "with "
                f"a coefficient of kinetic friction of {decimal(mu)}. Find the acceleration. "
                f"{GIVEN_GRAVITY}",
            )
        )
        right, unit = force / m - mu * GRAVITY, "m/s²"
        mistakes = [force / m, force / m + mu * GRAVITY, force / m - mu, (force - mu * m) / m]
        parameters = {"asked": asked, "m": m, "F": force, "mu": mu}
    return numeric(d, question, right, unit, mistakes, parameters)


@FAMILIES.add("energy")
def energy_and_power(d: Draw, level: int) -> Problem | None:
    """Kinetic and potential energy, work, power, efficiency."""
    m, v, h = Fraction(d.integer(2, 90)), Fraction(d.integer(2, 30)), tenths(d, 1, 30)
    t = Fraction(d.integer(4, 60))
    asked = d.pick(("kinetic", "potential", "power", "speed from energy", "motor")[: 1 + level])
    ah = decimal(h)
    if asked == "kinetic":
        question = d.pick(
            (
                f"What is the kinetic energy of a body of mass {m} kg that moves at {v} m/s?",
                f"A mass of {m} kg has a speed of {v} m/s. How large is its kinetic energy?",
            )
        )
        right, unit = m * v * v / 2, "J"
        mistakes = [m * v * v, m * v / 2, m * v, m * m * v / 2]
        parameters: dict[str, object] = {"asked": asked, "m": m, "v": v}
    elif asked == "potential":
        question = d.pick(
            (
                f"A mass of {m} kg is lifted by {ah} m. By how much does its potential energy "
                f"increase? {GIVEN_GRAVITY}",
                f"How much work is done against gravity to raise {m} kg by {ah} m? {GIVEN_GRAVITY}",
            )
        )
        right, unit = m * GRAVITY * h, "J"
        mistakes = [m * h, m * GRAVITY, m * GRAVITY * h / 2, m * h / GRAVITY]
        parameters = {"asked": asked, "m": m, "h": h}
    elif asked == "power":
        question = d.pick(
            (
                f"A winch lifts {m} kg by {ah} m in {t} s at constant speed. What is its useful "
                f"power? {GIVEN_GRAVITY}",
                f"What power is needed to raise {m} kg through {ah} m in {t} s at a steady speed? "
                f"{GIVEN_GRAVITY}",
            )
        )
        right, unit = m * GRAVITY * h / t, "W"
        mistakes = [m * h / t, m * GRAVITY * h, m * GRAVITY * h * t, m * GRAVITY / t]
        parameters = {"asked": asked, "m": m, "h": h, "t": t}
    elif asked == "speed from energy":
        energy = Fraction(d.integer(10, 90) * 10)
        question = d.pick(
            (
                f"A body of mass {m} kg has a kinetic energy of {energy} J. How fast does it move?",
                f"Find the speed at which a mass of {m} kg has a kinetic energy of {energy} J.",
            )
        )
        right, unit = root(2 * energy / m), "m/s"
        mistakes = [root(energy / m), 2 * energy / m, root(energy / (2 * m)), energy / m]
        parameters = {"asked": asked, "m": m, "E": energy}
    else:
        percent = Fraction(d.integer(55, 95))
        useful = m * GRAVITY * h / t
        question = d.pick(
            (
                f"A motor with an efficiency of {percent}% lifts {m} kg by {ah} m in {t} s at "
                f"constant speed. What electrical power does it draw? {GIVEN_GRAVITY}",
                f"An electric hoist raises {m} kg by {ah} m in {t} s at constant speed. Its "
                f"efficiency is {percent}%. Find the power it takes in. {GIVEN_GRAVITY}",
            )
        )
        right, unit = useful * 100 / percent, "W"
        mistakes = [useful * percent / 100, useful, m * h / t * 100 / percent, right * t]
        parameters = {"asked": asked, "m": m, "h": h, "t": t, "percent": percent}
    return numeric(d, question, right, unit, mistakes, parameters)


@FAMILIES.add("forces")
def springs_and_levers(d: Draw, level: int) -> Problem | None:
    """Hooke's law, spring energy, balance of a lever."""
    k, x = Fraction(d.integer(4, 90) * 10), Fraction(d.integer(2, 30))
    f, a, b = Fraction(d.integer(10, 200)), tenths(d, 1, 4), tenths(d, 1, 4)
    asked = d.pick(("extension", "force", "lever", "spring energy", "series")[: 1 + level])
    if asked == "extension":
        right, unit = f / k * 100, "cm"
        question = d.pick(
            (
                f"A spring with a stiffness of {k} N/m is pulled with {f} N. By how much does it "
                "stretch?",
                f"How far does a force of {f} N extend a spring whose spring constant is {k} N/m?",
            )
        )
        mistakes = [k / f, f / k, f * k / 100, f / (2 * k) * 100]
        parameters: dict[str, object] = {"asked": asked, "k": k, "F": f}
    elif asked == "force":
        right, unit = k * x / 100, "N"
        question = d.pick(
            (
                f"What force stretches a spring with spring constant {k} N/m by {x} cm?",
                f"A spring ({k} N/m) is extended by {x} cm. How large is the force it exerts?",
            )
        )
        mistakes = [k * x, k / x * 100, k * x / 200, k * x * x / 10_000]
        parameters = {"asked": asked, "k": k, "x": x}
    elif asked == "lever":
        if a == b:
            return None
        right, unit = f * a / b, "N"
        question = d.pick(
            (
                f"A light lever is in balance. On one side {f} N act at right angles "
                f"{decimal(a)} m "
                f"from the pivot. What force acts at right angles {decimal(b)} m from the pivot on "
                "the other side?",
                f"A force of {f} N pulls vertically on a horizontal light beam {decimal(a)} m to "
                "the "
                f"left of its pivot. Which vertical force, {decimal(b)} m to the right of the "
                "pivot, "
                "keeps the beam in balance?",
            )
        )
        mistakes = [f * b / a, f * a * b, f * a / (a + b), f]
        parameters = {"asked": asked, "F": f, "arms": (a, b)}
    elif asked == "spring energy":
        right, unit = k * x * x / 20_000, "J"
        question = d.pick(
            (
                f"How much energy is stored in a spring with spring constant {k} N/m that is "
                f"compressed by {x} cm?",
                f"A spring ({k} N/m) is stretched by {x} cm from its relaxed length. What is its "
                "elastic energy?",
            )
        )
        mistakes = [k * x * x / 10_000, k * x / 200, k * x * x / 2, k * x / 100]
        parameters = {"asked": asked, "k": k, "x": x}
    else:
        k2 = Fraction(d.integer(4, 90) * 10)
        if k == k2:
            return None
        in_series = bool(d.below(2))
        right, unit = (k * k2 / (k + k2) if in_series else k + k2), "N/m"
        how = (
            "hung one below the other (in series)"
            if in_series
            else "placed side by side (parallel)"
        )
        question = d.pick(
            (
                f"Two springs with spring constants {k} N/m and {k2} N/m are {how}. What is the "
                "spring constant of the combination?",
                f"Find the total stiffness of two springs of {k} N/m and {k2} N/m that are {how}.",
            )
        )
        mistakes = [k + k2 if in_series else k * k2 / (k + k2), (k + k2) / 2, abs(k - k2), k * k2]
        parameters = {
            "asked": "in series" if in_series else "parallel",
            "k": tuple(sorted((k, k2))),
        }
    return numeric(d, question, right, unit, mistakes, parameters)


@FAMILIES.add("fluids")
def density_and_pressure(d: Draw, level: int) -> Problem | None:
    """Density, pressure of a force and of a liquid, buoyancy, hydraulic press."""
    liquids = (
        ("water", 1000),
        ("sea water", 1025),
        ("olive oil", 915),
        ("ethanol", 789),
        ("glycerol", 1260),
    )
    liquid, rho_int = d.pick(liquids)
    rho, depth = Fraction(rho_int), tenths(d, 1, 40)
    asked = d.pick(("density", "depth", "pressure", "buoyancy", "press")[: 1 + level])
    if asked == "density":
        mass, volume = Fraction(d.integer(50, 950)), Fraction(d.integer(20, 300))
        right, unit = mass / volume, "g/cm³"
        if not Fraction(1, 2) < right < 20:
            return None
        question = d.pick(
            (
                f"A solid body has a mass of {mass} g and a volume of {volume} cm³. What is its "
                "density?",
                f"Find the density of a material of which {volume} cm³ weigh {mass} g.",
            )
        )
        mistakes = [volume / mass, mass * volume, mass / volume / 10, right + 1]
        parameters: dict[str, object] = {"asked": asked, "m": mass, "V": volume}
    elif asked == "depth":
        right, unit = rho * GRAVITY * depth / 1000, "kPa"
        question = d.pick(
            (
                f"What pressure does {liquid} (density {rho} kg/m³) exert at a depth of "
                f"{decimal(depth)} m, apart from the air pressure above it? {GIVEN_GRAVITY}",
                f"By how much is the pressure {decimal(depth)} m below the surface of {liquid} "
                f"({rho} kg/m³) higher than at the surface? {GIVEN_GRAVITY}",
            )
        )
        mistakes = [
            rho * depth / 1000,
            rho * GRAVITY / 1000,
            rho * GRAVITY * depth / 2000,
            depth * GRAVITY,
        ]
        parameters = {"asked": asked, "rho": rho, "h": depth}
    elif asked == "pressure":
        mass, area = Fraction(d.integer(20, 400)), Fraction(d.integer(20, 900))
        right, unit = mass * GRAVITY / area * 10, "kPa"
        question = d.pick(
            (
                f"A box of {mass} kg stands on a level floor on an area of {area} cm². What "
                f"pressure does its weight exert on the floor? {GIVEN_GRAVITY}",
                f"Find the pressure under a {mass} kg load that rests on {area} cm² of level "
                "ground. "
                f"{GIVEN_GRAVITY}",
            )
        )
        mistakes = [
            mass / area * 10,
            mass * GRAVITY * area / 10_000,
            mass * GRAVITY / area,
            area / mass * GRAVITY,
        ]
        parameters = {"asked": asked, "m": mass, "A": area}
    elif asked == "buoyancy":
        volume = Fraction(d.integer(2, 90))
        right, unit = rho * GRAVITY * volume / 1000, "N"
        question = d.pick(
            (
                f"A body with a volume of {volume} dm³ is completely under {liquid} (density {rho} "
                f"kg/m³). How large is the buoyant force on it? {GIVEN_GRAVITY}",
                f"What buoyant force does {liquid} ({rho} kg/m³) exert on a fully immersed body of "
                f"{volume} dm³? {GIVEN_GRAVITY}",
            )
        )
        mistakes = [
            rho * volume / 1000,
            rho * GRAVITY * volume / 10_000,
            volume * GRAVITY / rho * 1000,
            rho * GRAVITY * volume / 2000,
        ]
        parameters = {"asked": asked, "rho": rho, "V": volume}
    else:
        f, small, large = (
            Fraction(d.integer(20, 300)),
            Fraction(d.integer(2, 20)),
            Fraction(d.integer(30, 400)),
        )
        right, unit = f * large / small, "N"
        question = d.pick(
            (
                f"In a hydraulic press, {f} N act on a piston of {small} cm². What force does the "
                f"other piston, of {large} cm², exert (same height, no friction)?",
                f"The pistons of a hydraulic jack have areas of {small} cm² and {large} cm². If "
                f"{f} N act on the small one, what load can the large one hold at the same height, "
                "without friction?",
            )
        )
        mistakes = [
            f * small / large,
            f * large,
            f * (large - small) / small,
            f * (large / small) ** 2,
        ]
        parameters = {"asked": asked, "F": f, "areas": (small, large)}
    return numeric(d, question, right, unit, mistakes, parameters)


@dataclass(frozen=True, slots=True)
class Law:
    """A quantity as a product of powers of others.

    Attributes:
        name: The quantity.
        factors: What it depends on and may change, with the exponents.
        constants: What it depends on besides, which is always held fixed.
    """

    name: str
    factors: tuple[tuple[str, int], ...]
    constants: tuple[str, ...] = ()

    def kept(self, changed: Collection[str]) -> str:
        """Return what is held fixed in words, ``""`` where all that it depends on changes.

        A resistor's power is divided by R at a fixed voltage and multiplied by R at a fixed
        current: which of them holds must be said, or a question has two right answers.
        """
        fixed = [name for name, _ in self.factors if name not in changed] + [*self.constants]
        if not fixed:
            return ""
        names = listed(f"the {name}" for name in fixed)
        return f"{names} {'stays' if len(fixed) == 1 else 'stay'} the same"


LAWS: tuple[Law, ...] = (
    Law("kinetic energy of a body", (("mass", 1), ("speed", 2))),
    Law(
        "gravitational force between two small bodies",
        (("mass of the first body", 1), ("distance between the bodies", -2)),
        ("mass of the second body",),
    ),
    Law(
        "electric force between two point charges",
        (("first charge", 1), ("distance between the charges", -2)),
        ("second charge",),
    ),
    Law(
        "electrical power converted in a resistor",
        (("voltage across the resistor", 2), ("resistance", -1)),
    ),
    Law("heat given off per second by a wire", (("current in the wire", 2), ("resistance", 1))),
    Law(
        "resistance of a round wire",
        (("length of the wire", 1), ("diameter of the wire", -2)),
        ("resistivity of its material",),
    ),
    Law(
        "pressure of an ideal gas",
        (("absolute temperature", 1), ("volume", -1)),
        ("amount of gas",),
    ),
    Law(
        "centripetal force on a body on a circular path",
        (("speed of the body", 2), ("radius of the path", -1)),
        ("mass of the body",),
    ),
    Law("elastic energy of a spring", (("spring constant", 1), ("extension", 2))),
    Law(
        "intensity of light from a small lamp",
        (("power of the lamp", 1), ("distance from the lamp", -2)),
    ),
)


@FAMILIES.add("laws")
def proportional_changes(d: Draw, level: int) -> Problem | None:
    """By what factor does one quantity change when others do: laws with squares and inverses."""
    law = d.pick(LAWS)
    top = 6 + level
    chosen = list(law.factors) if level >= 3 else [d.pick(law.factors)]
    right = Fraction(1)
    phrases, mistakes, key = [], [Fraction(1)], []
    for quantity, power in chosen:
        factor = Fraction(d.integer(2, top))
        if level >= 2 and d.below(2):
            factor = 1 / factor
        verb = f"is multiplied by {factor}" if factor > 1 else f"is divided by {factor.denominator}"
        phrases.append(f"the {quantity} {verb}")
        right *= factor**power
        inverse = -power
        mistakes = [
            *(value * factor**inverse for value in mistakes),
            *(value * factor ** (1 if power > 0 else -1) for value in mistakes),
            *(value * factor**power for value in mistakes),
            *(value * factor ** (-2 if abs(power) == 1 else -1) for value in mistakes),
            *(value * factor**2 for value in mistakes),
        ]
        key.append((quantity, factor))
    if right == 1:
        return None
    change = " and ".join(phrases)
    kept = law.kept([quantity for quantity, _ in chosen])
    while_ = f", while {kept}" if kept else ""
    and_ = f", and {kept}" if kept else ""
    question = d.pick(
        (
            f"By what factor does the {law.name} change if {change}{while_}?",
            f"Consider the {law.name}. If {change}{and_}, by what factor is it multiplied?",
            f"The {law.name} is compared before and after a change: {change}{and_}. By what "
            "factor must the old value be multiplied to get the new one?",
        )
    )
    # Where one quantity changes, the inverse would be right if another one were held fixed.
    barred = {Fraction(1), right} | ({1 / right} if len(chosen) == 1 else set())
    possible = [*mistakes, right * 2, right / 2, 1 / right, right * 4, right / 4]
    wrong = d.sample([v for v in dict.fromkeys(possible) if v not in barred][:5], 3)
    parameters = {"law": law.name, "changes": tuple(sorted(key))}
    return Problem(question, str(right), parameters, tuple(map(str, wrong)))
