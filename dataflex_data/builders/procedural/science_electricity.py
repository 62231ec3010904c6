"""Electric circuits, charge and energy."""

from __future__ import annotations

from fractions import Fraction

from dataflex_data.builders.procedural.choices import numeric
from dataflex_data.builders.procedural.family import Draw, Families, Problem, listed
from dataflex_data.builders.procedural.wording import decimal

FAMILIES = Families()


@FAMILIES.add("circuits")
def ohms_law(d: Draw, level: int) -> Problem | None:
    """U = RI and P = UI in all directions, with milliamperes from level 3."""
    u, r = Fraction(d.integer(3, 240)), Fraction(d.integer(2, 500))
    current = u / r
    asked = d.pick(("current", "resistance", "voltage", "power", "power in resistor")[: 1 + level])
    milli = level >= 3
    i = Fraction(d.integer(12, 950), 1000) if milli else Fraction(d.integer(2, 90), 10)
    shown = f"{i * 1000} mA" if milli else f"{decimal(i)} A"
    if asked == "current":
        right, unit = (current * 1000, "mA") if milli else (current, "A")
        question = d.pick(
            (
                f"A voltage of {u} V is applied to a resistor of {r} Ω. What current flows?",
                f"How large is the current through a {r} Ω resistor with {u} V across it?",
            )
        )
        scale = 1000 if milli else 1
        mistakes = [r / u * scale, u * r, u * u / r, current]
        parameters: dict[str, object] = {"asked": asked, "U": u, "R": r, "milli": str(milli)}
    elif asked == "resistance":
        right, unit = u / i, "Ω"
        question = d.pick(
            (
                f"A current of {shown} flows through a resistor at a voltage of {u} V. What is its "
                "resistance?",
                f"Find the resistance of a component that draws {shown} at {u} V.",
            )
        )
        mistakes = [u * i, i / u * 1000, u / (i * 1000), u / i / i]
        parameters = {"asked": asked, "U": u, "I": i}
    elif asked == "voltage":
        right, unit = r * i, "V"
        question = d.pick(
            (
                f"What voltage drives a current of {shown} through a resistor of {r} Ω?",
                f"A current of {shown} flows in a {r} Ω resistor. How large is the voltage "
                "across it?",
            )
        )
        mistakes = [r / i, r * i * 1000, r * i * i, i / r * 1000]
        parameters = {"asked": asked, "I": i, "R": r}
    elif asked == "power":
        right, unit = u * i, "W"
        question = d.pick(
            (
                f"A device runs at {u} V and draws {shown}. What is its power?",
                f"Find the electrical power of a lamp through which {shown} flow at {u} V.",
            )
        )
        mistakes = [u / i, u * i * i, u * u * i, u * i / 2]
        parameters = {"asked": asked, "U": u, "I": i}
    else:
        right, unit = u * u / r, "W"
        question = d.pick(
            (
                f"What power is converted to heat in a resistor of {r} Ω at a voltage of {u} V?",
                f"A heating wire of {r} Ω is connected to {u} V. What is its heating power?",
            )
        )
        mistakes = [u / r, u * r, u * u * r, r * r / u]
        parameters = {"asked": asked, "U": u, "R": r}
    return numeric(d, question, right, unit, mistakes, parameters)


@FAMILIES.add("circuits")
def resistor_networks(d: Draw, level: int) -> Problem | None:
    """Series, parallel and mixed circuits; currents and voltages in them."""
    a, b, c = (Fraction(d.integer(1, 30 + 20 * level) * 2) for _ in range(3))
    u = Fraction(d.integer(3, 48))
    asked = d.pick(("series", "parallel", "divider", "mixed", "mixed current")[: 1 + level])
    if len({a, b, c}) < 3:
        return None
    parallel = a * b / (a + b)
    if asked == "series":
        right, unit = a + b + c, "Ω"
        question = d.pick(
            (
                f"Resistors of {listed((a, b, c))} Ω are connected in series. What is the total "
                "resistance?",
                f"Find the equivalent resistance of {listed((a, b, c))} Ω in series.",
            )
        )
        mistakes = [1 / (1 / a + 1 / b + 1 / c), (a + b + c) / 3, a + b, a * b * c / (a + b + c)]
        parameters: dict[str, object] = {"asked": asked, "R": tuple(sorted((a, b, c)))}
    elif asked == "parallel":
        right, unit = parallel, "Ω"
        question = d.pick(
            (
                f"Two resistors of {a} Ω and {b} Ω are connected in parallel. What is the total "
                "resistance?",
                f"Find the equivalent resistance of {a} Ω and {b} Ω in parallel.",
            )
        )
        mistakes = [a + b, (a + b) / 2, (a + b) / (a * b), abs(a - b)]
        parameters = {"asked": asked, "R": tuple(sorted((a, b)))}
    elif asked == "divider":
        right, unit = u * a / (a + b), "V"
        question = d.pick(
            (
                f"Two resistors, {a} Ω and {b} Ω, are connected in series to {u} V. What is the "
                f"voltage across the {a} Ω resistor?",
                f"A series circuit of {a} Ω and {b} Ω is supplied with {u} V. How large is the "
                f"voltage at the resistor of {a} Ω?",
            )
        )
        mistakes = [u * b / (a + b), u * a / b, u / 2, u * (a + b) / a]
        parameters = {"asked": asked, "U": u, "R": (a, b)}
    else:
        total = parallel + c
        circuit = f"a resistor of {c} Ω in series with a parallel pair of {a} Ω and {b} Ω"
        if asked == "mixed":
            right, unit = total, "Ω"
            question = d.pick(
                (
                    f"A circuit consists of {circuit}. What is its total resistance?",
                    f"Find the equivalent resistance of {circuit}.",
                )
            )
            mistakes = [a + b + c, parallel, 1 / (1 / a + 1 / b + 1 / c), (a + b) / 2 + c]
        else:
            right, unit = u / total * 1000, "mA"
            question = d.pick(
                (
                    f"A battery of {u} V (no internal resistance) feeds {circuit}. What current "
                    "does "
                    "the battery deliver?",
                    f"An ideal source of {u} V is connected to {circuit}. How large is the total "
                    "current?",
                )
            )
            mistakes = [u / (a + b + c) * 1000, u / parallel * 1000, u / c * 1000, u / total]
        parameters = {"asked": asked, "pair": tuple(sorted((a, b))), "single": c}
        if asked == "mixed current":
            parameters["U"] = u
    return numeric(d, question, right, unit, mistakes, parameters)


@FAMILIES.add("electrical energy")
def charge_and_energy(d: Draw, level: int) -> Problem | None:
    """Q = It, energy in kilowatt-hours, its cost, charging times."""
    i, minutes = Fraction(d.integer(2, 95), 10), Fraction(d.integer(2, 90))
    power, hours = Fraction(d.integer(2, 120) * 25), Fraction(d.integer(3, 48), 2)
    asked = d.pick(("charge", "kilowatt-hours", "cost", "joules", "battery")[: 1 + level])
    if asked == "charge":
        right, unit = i * minutes * 60, "C"
        question = d.pick(
            (
                f"A current of {decimal(i)} A flows for {minutes} minutes. How much charge passes?",
                f"What charge is carried by a steady {decimal(i)} A in {minutes} minutes?",
            )
        )
        mistakes = [i * minutes, i / minutes / 60, i * minutes / 60, minutes * 60 / i]
        parameters: dict[str, object] = {"asked": asked, "I": i, "minutes": minutes}
    elif asked == "kilowatt-hours":
        right, unit = power * hours / 1000, "kWh"
        question = d.pick(
            (
                f"A device of {power} W runs for {decimal(hours)} hours. How much electrical "
                "energy "
                "does it use?",
                f"How much energy does an appliance with {power} W need in {decimal(hours)} hours?",
            )
        )
        mistakes = [power * hours, power / hours / 1000, power * hours * 36 / 10, power / hours]
        parameters = {"asked": asked, "P": power, "hours": hours}
    elif asked == "cost":
        cents, days = Fraction(d.integer(18, 45)), Fraction(d.integer(5, 30))
        right, unit = power * hours * days * cents / 100_000, "euros"
        question = d.pick(
            (
                f"A heater of {power} W is on for {decimal(hours)} hours a day. One kilowatt-hour "
                f"costs {cents} cents. What does it cost to run for {days} days?",
                f"Electricity costs {cents} cents per kilowatt-hour. What is the bill for an "
                f"appliance of {power} W that runs {decimal(hours)} hours a day for {days} days?",
            )
        )
        mistakes = [
            power * hours * cents / 100_000,
            power * days * cents / 100_000,
            right / 24,
            right * 36 / 10,
        ]
        parameters = {"asked": asked, "P": power, "hours": hours, "cents": cents, "days": days}
    elif asked == "joules":
        right, unit = power * minutes * 60 / 1000, "kJ"
        question = d.pick(
            (
                f"An appliance of {power} W is on for {minutes} minutes. How much energy does it "
                "convert, in kilojoules?",
                f"How many kilojoules does a {power} W device use in {minutes} minutes?",
            )
        )
        mistakes = [
            power * minutes / 1000,
            power * minutes / 60,
            power / minutes,
            power * minutes * 60,
        ]
        parameters = {"asked": asked, "P": power, "minutes": minutes}
    else:
        capacity, draw = Fraction(d.integer(10, 100) * 100), Fraction(d.integer(5, 90) * 10)
        right, unit = capacity / draw, "h"
        question = d.pick(
            (
                f"A battery with a capacity of {capacity} mAh delivers a steady {draw} mA. For how "
                "long does it last?",
                f"How long can a fully charged battery of {capacity} mAh supply a constant current "
                f"of {draw} mA?",
            )
        )
        mistakes = [
            draw / capacity * 100,
            capacity / draw / 60,
            capacity * 60 / draw,
            (capacity - draw) / draw,
        ]
        parameters = {"asked": asked, "capacity": capacity, "I": draw}
    return numeric(d, question, right, unit, mistakes, parameters)


@FAMILIES.add("fields")
def coulombs_law(d: Draw, level: int) -> Problem | None:
    """The force between two point charges."""
    q1, q2 = Fraction(d.integer(1, 20)), Fraction(d.integer(1, 20))
    r = Fraction(d.integer(3, 40 + 20 * level))
    k = Fraction("8.99e9")
    right = k * q1 * q2 * Fraction("1e-12") / (r / 100) ** 2
    question = d.pick(
        (
            f"Two point charges of {q1} μC and {q2} μC are {r} cm apart in a vacuum. How large is "
            "the electric force between them? (Coulomb constant: 8.99 × 10^9 N m²/C²)",
            f"Find the magnitude of the electric force between charges of {q1} μC and {q2} μC at a "
            f"distance of {r} cm in empty space. Use k = 8.99 × 10^9 N m²/C².",
            f"What force do two small charged spheres ({q1} μC and {q2} μC), {r} cm apart in a "
            "vacuum, exert on each other? (k = 8.99 × 10^9 N m²/C²)",
        )
    )
    mistakes = [
        right * r / 100,
        k * (q1 + q2) * Fraction("1e-12") / (r / 100) ** 2,
        right / 4,
        right * 1000,
    ]
    return numeric(d, question, right, "N", mistakes, {"q": tuple(sorted((q1, q2))), "r": r})
