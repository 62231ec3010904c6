"""Motion: acceleration, falls and throws, momentum, circles."""

from __future__ import annotations

from fractions import Fraction

from dataflex_data.builders.procedural.choices import GIVEN_GRAVITY, GRAVITY, numeric, root, tenths
from dataflex_data.builders.procedural.family import Draw, Families, Problem
from dataflex_data.builders.procedural.wording import decimal

FAMILIES = Families()


@FAMILIES.add("motion")
def uniform_acceleration(d: Draw, level: int) -> Problem | None:
    """Laws of motion: v = u + at, s = ut + at²/2, v² = u² + 2as."""
    u, a, t = Fraction(d.integer(2, 25)), tenths(d, 1, 6), Fraction(d.integer(3, 20))
    asked = d.pick(("speed", "distance", "rest", "from distance", "braking")[: 1 + level])
    thing = d.pick(("car", "train", "cyclist", "motorcycle"))
    speed, distance = u + a * t, u * t + a * t * t / 2
    if speed > 70 or (thing == "cyclist" and speed > 18):
        return None
    au, aa, at = decimal(u), decimal(a), decimal(t)
    if asked == "speed":
        question = d.pick(
            (
                f"A {thing} moving at {au} m/s accelerates at {aa} m/s² for {at} s. What is its "
                "final speed?",
                f"Starting with a speed of {au} m/s, a {thing} has a constant acceleration of "
                f"{aa} m/s² during {at} s. How fast is it at the end?",
            )
        )
        right, unit = speed, "m/s"
        mistakes = [a * t, u + a, u + a * t / 2, u * t + a, u + t / a]
        parameters: dict[str, object] = {"asked": asked, "u": u, "a": a, "t": t}
    elif asked == "distance":
        question = d.pick(
            (
                f"A {thing} moving at {au} m/s accelerates at {aa} m/s² for {at} s. How far does "
                "it "
                "travel in this time?",
                f"With an initial speed of {au} m/s and a constant acceleration of {aa} m/s², what "
                f"distance does a {thing} cover in {at} s?",
            )
        )
        right, unit = distance, "m"
        mistakes = [u * t, u * t + a * t * t, a * t * t / 2, u * t + a * t / 2, speed * t]
        parameters = {"asked": asked, "u": u, "a": a, "t": t}
    elif asked == "rest":
        question = d.pick(
            (
                f"A {thing} starts from rest with a constant acceleration of {aa} m/s². What "
                f"distance does it cover in the first {at} s?",
                f"How far does a {thing} get in {at} s if it accelerates from rest at {aa} m/s²?",
            )
        )
        right, unit = a * t * t / 2, "m"
        mistakes = [a * t * t, a * t, a * t / 2, a * a * t / 2]
        parameters = {"asked": asked, "a": a, "t": t}
    elif asked == "from distance":
        s = Fraction(d.integer(10, 200))
        right, unit = root(u * u + 2 * a * s), "m/s"
        if right > 70 or (thing == "cyclist" and right > 18):
            return None
        question = d.pick(
            (
                f"A {thing} moving at {au} m/s accelerates at {aa} m/s² over a distance of "
                f"{decimal(s)} m. What is its speed afterwards?",
                f"Find the speed of a {thing} that started at {au} m/s and accelerated at {aa} "
                "m/s² "
                f"along {decimal(s)} m.",
            )
        )
        mistakes = [root(u * u + a * s), root(2 * a * s), u + root(2 * a * s), u * u + 2 * a * s]
        parameters = {"asked": asked, "u": u, "a": a, "s": s}
    else:
        right, unit = u * u / (2 * a), "m"
        question = d.pick(
            (
                f"A {thing} moving at {au} m/s brakes with a constant deceleration of {aa} m/s². "
                "What is its stopping distance?",
                f"How many meters does a {thing} need to stop from {au} m/s if it slows down by "
                f"{aa} m/s every second?",
            )
        )
        mistakes = [u * u / a, u / a, u / (2 * a), u * u * a / 2]
        parameters = {"asked": asked, "u": u, "a": a}
    return numeric(d, question, right, unit, mistakes, parameters)


@FAMILIES.add("motion")
def free_fall(d: Draw, level: int) -> Problem | None:
    """Falls and throws without air resistance."""
    h, v, t = Fraction(d.integer(2, 60)), Fraction(d.integer(4, 30)), tenths(d, 1, 4)
    asked = d.pick(("fall time", "fall speed", "depth", "height", "range")[: 1 + level])
    no_air = "Air resistance is negligible."
    if asked == "fall time":
        question = d.pick(
            (
                f"A stone is dropped from a height of {h} m. How long does it fall? {no_air} "
                f"{GIVEN_GRAVITY}",
                f"How much time passes until a ball released from rest {h} m above the ground hits "
                f"it? {no_air} {GIVEN_GRAVITY}",
            )
        )
        right, unit = root(2 * h / GRAVITY), "s"
        mistakes = [
            root(h / GRAVITY),
            2 * h / GRAVITY,
            root(2 * h * GRAVITY),
            root(h / (2 * GRAVITY)),
        ]
        parameters: dict[str, object] = {"asked": asked, "h": h}
    elif asked == "fall speed":
        question = d.pick(
            (
                f"With what speed does a stone dropped from a height of {h} m hit the ground? "
                f"{no_air} {GIVEN_GRAVITY}",
                f"A ball is released from rest {h} m above the ground. How fast is it just before "
                f"the impact? {no_air} {GIVEN_GRAVITY}",
            )
        )
        right, unit = root(2 * GRAVITY * h), "m/s"
        mistakes = [root(GRAVITY * h), 2 * GRAVITY * h, root(2 * h / GRAVITY), GRAVITY * h / 2]
        parameters = {"asked": asked, "h": h}
    elif asked == "depth":
        question = d.pick(
            (
                f"A stone dropped into a well hits the water after {decimal(t)} s. How deep below "
                f"the edge is the water? Neglect air resistance and the travel time of sound. "
                f"{GIVEN_GRAVITY}",
                f"How far does a body fall from rest in {decimal(t)} s? {no_air} {GIVEN_GRAVITY}",
            )
        )
        right, unit = GRAVITY * t * t / 2, "m"
        mistakes = [GRAVITY * t * t, GRAVITY * t, GRAVITY * t / 2, t * t / 2]
        parameters = {"asked": asked, "t": t}
    elif asked == "height":
        question = d.pick(
            (
                f"A ball is thrown vertically upwards at {v} m/s. What height above the starting "
                f"point does it reach? {no_air} {GIVEN_GRAVITY}",
                f"How high does a stone rise that leaves the hand vertically upwards at {v} m/s? "
                f"{no_air} {GIVEN_GRAVITY}",
            )
        )
        right, unit = v * v / (2 * GRAVITY), "m"
        mistakes = [v * v / GRAVITY, v / GRAVITY, v / (2 * GRAVITY), v * v * GRAVITY / 2]
        parameters = {"asked": asked, "v": v}
    else:
        time = root(2 * h / GRAVITY)
        question = d.pick(
            (
                f"A ball leaves a table-top {h} m above the floor of a hall horizontally at {v} "
                "m/s. "
                f"At what horizontal distance does it land? {no_air} {GIVEN_GRAVITY}",
                f"A stone is thrown horizontally at {v} m/s from a cliff {h} m high. How far from "
                f"the foot of the cliff does it hit the level ground? {no_air} {GIVEN_GRAVITY}",
            )
        ).replace("a table-top", "a platform")
        right, unit = v * time, "m"
        mistakes = [
            v * root(h / GRAVITY),
            v * 2 * h / GRAVITY,
            root(v * v + 2 * GRAVITY * h),
            v * time / 2,
        ]
        parameters = {"asked": asked, "h": h, "v": v}
    return numeric(d, question, right, unit, mistakes, parameters)


@FAMILIES.add("momentum")
def momentum_collision(d: Draw, level: int) -> Problem | None:
    """Momentum, impulse and perfectly inelastic collisions."""
    m1, m2 = Fraction(d.integer(2, 40)), Fraction(d.integer(2, 40))
    u1, u2 = Fraction(d.integer(3, 20)), Fraction(d.integer(1, 12))
    t = Fraction(d.integer(5, 80), 100)
    asked = d.pick(("impulse", "stick to rest", "chase", "head-on", "energy loss")[: 1 + level])
    if asked == "impulse":
        question = d.pick(
            (
                f"A body of mass {m1} kg moving at {u1} m/s is brought to rest in {decimal(t)} s. "
                "How large is the average force on it?",
                f"What average force stops a mass of {m1} kg with a speed of {u1} m/s within "
                f"{decimal(t)} s?",
            )
        )
        right, unit = m1 * u1 / t, "N"
        mistakes = [m1 * u1 * t, m1 * u1, m1 * u1 * u1 / 2 / t, m1 / t]
        parameters: dict[str, object] = {"asked": asked, "m": m1, "v": u1, "t": t}
        return numeric(d, question, right, unit, mistakes, parameters)
    total = m1 + m2
    if asked == "stick to rest":
        right = m1 * u1 / total
        start = f"a trolley of {m1} kg moving at {u1} m/s hits a trolley of {m2} kg at rest"
        mistakes = [m2 * u1 / total, m1 * u1 / m2, u1 / 2, u1 * m2 / m1]
    elif asked == "chase":
        if u1 <= u2:
            return None
        right = (m1 * u1 + m2 * u2) / total
        start = (
            f"a trolley of {m1} kg moving at {u1} m/s runs into one of {m2} kg that moves in the "
            f"same direction at {u2} m/s"
        )
        mistakes = [
            abs(m1 * u1 - m2 * u2) / total,
            (u1 + u2) / 2,
            (m2 * u1 + m1 * u2) / total,
            u1 - u2,
        ]
    elif asked == "head-on":
        right = abs(m1 * u1 - m2 * u2) / total
        start = (
            f"a trolley of {m1} kg moving at {u1} m/s collides head-on with one of {m2} kg that "
            f"comes toward it at {u2} m/s"
        )
        mistakes = [
            (m1 * u1 + m2 * u2) / total,
            abs(u1 - u2) / 2,
            abs(m2 * u1 - m1 * u2) / total,
            (u1 + u2) / 2,
        ]
    else:
        before, common = m1 * u1 * u1 / 2, m1 * u1 / total
        right = before - total * common * common / 2
        question = d.pick(
            (
                f"A trolley of {m1} kg moving at {u1} m/s hits a trolley of {m2} kg at rest, and "
                "they move on coupled together. Friction is negligible. How much kinetic energy is "
                "lost in the collision?",
                f"Two trolleys couple when one of {m1} kg with a speed of {u1} m/s hits the other "
                f"one, of {m2} kg and at rest. By how much does the total kinetic energy decrease "
                "in the collision?",
            )
        )
        mistakes = [before - right, before, m2 * u1 * u1 / 2, before / 2]
        parameters = {"asked": asked, "m1": m1, "m2": m2, "u1": u1}
        return numeric(d, question, right, "J", mistakes, parameters)
    question = d.pick(
        (
            f"On a level track without friction, {start}. They stick together. How fast do they "
            "move "
            "afterwards?",
            f"In a perfectly inelastic collision, {start}, and both move on together. What is "
            "their "
            "common speed right after the collision?",
        )
    )
    parameters = {
        "asked": asked,
        "m1": m1,
        "m2": m2,
        "u1": u1,
        "u2": Fraction(0) if asked == "stick to rest" else u2,
    }
    return numeric(d, question, right, "m/s", mistakes, parameters)


_FASTEST_BEND = 8  # m/s²: what tires hold on a dry road


@FAMILIES.add("circular motion")
def circular_motion(d: Draw, level: int) -> Problem | None:
    """Centripetal acceleration and force, and how they scale."""
    v, r, m = (
        Fraction(d.integer(4, 35)),
        Fraction(d.integer(5, 120)),
        Fraction(d.integer(2, 90) * 20),
    )
    asked = d.pick(("acceleration", "force", "speed")[: 1 + (level + 1) // 2])
    if asked != "speed" and v * v / r > _FASTEST_BEND:
        return None
    if asked == "acceleration":
        right, unit = v * v / r, "m/s²"
        question = d.pick(
            (
                f"A car drives around a circular bend with a radius of {r} m at a constant {v} "
                "m/s. What is its centripetal acceleration?",
                f"How large is the acceleration of a body that moves at {v} m/s on a circle of "
                f"radius {r} m?",
            )
        )
        mistakes = [v / r, v * v * r, v * r, v * v / (2 * r)]
        parameters: dict[str, object] = {"asked": asked, "v": v, "r": r}
    elif asked == "force":
        right, unit = m * v * v / r, "N"
        question = d.pick(
            (
                f"A vehicle of {m} kg takes a bend with a radius of {r} m at {v} m/s. What "
                "centripetal force is needed?",
                f"Find the force toward the center that keeps {m} kg on a circle of radius {r} m "
                f"at a constant speed of {v} m/s.",
            )
        )
        mistakes = [m * v / r, m * v * v, m * v * v / (2 * r), m * v * v * r]
        parameters = {"asked": asked, "m": m, "v": v, "r": r}
    else:
        mu = Fraction(d.integer(20, 90), 100)
        right, unit = root(mu * GRAVITY * r), "m/s"
        question = d.pick(
            (
                f"What is the greatest constant speed at which a car can take a level bend with a "
                f"radius of {r} m if the coefficient of static friction is {decimal(mu)}? "
                f"{GIVEN_GRAVITY}",
                f"A level bend has a radius of {r} m; tires and road have a coefficient of static "
                f"friction of {decimal(mu)}. Above which speed does a car begin to slip? "
                f"{GIVEN_GRAVITY}",
            )
        )
        mistakes = [mu * GRAVITY * r, root(GRAVITY * r), root(mu * r), root(GRAVITY * r / mu)]
        parameters = {"asked": asked, "r": r, "mu": mu}
    return numeric(d, question, right, unit, mistakes, parameters)
