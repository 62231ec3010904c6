"""Answers to the families of `procedural_science` by other formulas and other tables, in floats.

Elements come from ``molmass`` instead of ``periodictable``; it parses compounds; reactions are
balanced by linear algebra; motion is stepped through time; energies come from conservation.
"""

# The parameters of each family have their own types.
# mypy: disable-error-code="no-any-return"
from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from functools import cache
from math import sqrt
from typing import Any

Params = Mapping[str, Any]
Route = Callable[[Params, str], float | str | set[str]]
ROUTES: dict[str, Route] = {}
G, R, C, H, E = 9.81, 8.314, 3.00e8, 6.63e-34, 1.60e-19


def route(check: Route) -> Route:
    """Enter a function as the route of the family of its name."""
    ROUTES[check.__name__] = check
    return check


def _numbers(p: Params) -> dict[str, Any]:
    return {key: float(value) if not isinstance(value, str | tuple) else value
            for key, value in p.items()}  # fmt: skip


@cache
def mass(formula: str) -> float:
    """Return a molar mass from molmass' table, with elements rounded to two decimals."""
    import molmass

    parts = molmass.Formula(formula).composition().values()
    return sum(round(molmass.ELEMENTS[part.symbol].mass, 2) * part.count for part in parts)


@cache
def atoms(formula: str) -> dict[str, int]:
    """Return numbers of atoms as molmass counts them."""
    import molmass

    return {part.symbol: part.count for part in molmass.Formula(formula).composition().values()}


@cache
def balanced(reactants: tuple[str, ...], products: tuple[str, ...]) -> tuple[int, ...]:
    """Return the smallest whole coefficients, from the null space of the matrix of atoms."""
    import sympy

    formulas = [*reactants, *products]
    symbols = sorted({symbol for formula in formulas for symbol in atoms(formula)})
    sign = [1] * len(reactants) + [-1] * len(products)
    matrix = sympy.Matrix(
        [[s * atoms(f).get(symbol, 0) for s, f in zip(sign, formulas, strict=True)]
         for symbol in symbols]
    )  # fmt: skip
    space = matrix.nullspace()
    assert len(space) == 1, "more than one way to balance"
    vector = space[0] * sympy.ilcm(*(value.q for value in space[0]))
    vector = vector / sympy.igcd(*vector)
    return tuple(int(value) for value in vector)


def coefficients(reaction: str) -> dict[str, int]:
    """Return our own coefficients of a reaction by formula."""
    bare = re.sub(r"(?<![A-Za-z0-9)(])\d+ ", "", reaction)
    left, right = (tuple(side.strip().split(" + ")) for side in bare.split("→"))
    return dict(zip([*left, *right], balanced(left, right), strict=True))


@route
def element_facts(p: Params, q: str) -> str:
    import molmass

    element = molmass.ELEMENTS[p["element"]]
    names = {"Aluminium": "aluminum", "Caesium": "cesium", "Sulphur": "sulfur"}
    name = names.get(element.name, element.name.lower())
    shells = element.eleconfig_dict
    outermost = max(shell for shell, _ in shells)
    return {
        "symbol": element.symbol,
        "name": name,
        "element": name,
        "number": str(element.number),
        "period": str(element.period),
        "group": str(element.group),
        "valence": str(sum(n for (shell, _), n in shells.items() if shell == outermost)),
    }[p["asked"]]


@route
def same_group(p: Params, q: str) -> set[str]:
    import molmass

    first, second = (molmass.ELEMENTS[symbol] for symbol in p["pair"])
    assert getattr(first, p["asked"]) == getattr(second, p["asked"])
    names = {"Aluminium": "aluminum", "Caesium": "cesium", "Sulphur": "sulfur"}
    return {names.get(e.name, e.name.lower()) for e in (first, second)}


@route
def subatomic_particles(p: Params, q: str) -> str:
    import molmass

    symbol, mass_number = p["isotope"]
    element = molmass.ELEMENTS[symbol]
    assert mass_number in element.isotopes
    states = {int(state) for state in re.findall(r"-?\d+", element.oxistates)}
    assert p["charge"] == 0 or p["charge"] in states
    sign = re.search(r"\^(2?)([+-])", q)
    shown = 0 if sign is None else int(sign[1] or 1) * (1 if sign[2] == "+" else -1)
    assert shown == p["charge"]
    if p["asked"] == "neutrons":
        return str(mass_number - element.number)
    return str(element.number - p["charge"])


@route
def mass_and_moles(p: Params, q: str) -> float:
    m = mass(p["formula"])
    if p["asked"] == "mass":
        return float(p["amount"]) * m
    moles = float(p["mass"]) / m
    return moles if p["asked"] == "moles" else moles * 6.022e23


@route
def mass_percentage(p: Params, q: str) -> float:
    rest = sum(mass(s) * n for s, n in atoms(p["formula"]).items() if s != p["element"])
    share = 1 - rest / mass(p["formula"])
    return share * float(p["sample"]) if "sample" in p else share * 100


@route
def reaction_masses(p: Params, q: str) -> float:
    found = coefficients(p["reaction"])
    extent = float(p["mass"]) / (found[p["known"]] * mass(p["known"]))
    return extent * found[p["asked"]] * mass(p["asked"]) * p["yield"] / 100


@route
def limiting_reactant(p: Params, q: str) -> float:
    found = coefficients(p["reaction"])
    left = p["reaction"].split("→")[0]
    first, second = (re.sub(r"^\d+ ", "", term.strip()) for term in left.split(" + "))
    x, y = map(float, p["amounts"])
    extent = 0.0
    step = 1e-4  # use up both, little by little
    while x >= found[first] * step * 0.999 and y >= found[second] * step * 0.999:
        x, y, extent = x - found[first] * step, y - found[second] * step, extent + step
    return extent * found[p["product"]]


@route
def solution_dilution(p: Params, q: str) -> float:
    if "mass" in p:
        return float(p["mass"]) / mass(p["formula"]) * 1000 / float(p["volume"])
    moles = float(p["strong"]) * float(p["volume"]) if "volume" in p else 0.0
    if moles:
        return moles / float(p["final"])
    return float(p["weak"]) * float(p["final"]) / float(p["strong"])


@route
def balancing(p: Params, q: str) -> str:
    found = coefficients(p["reaction"])
    return str(sum(found.values()) if p["asked"] == "sum" else found[p["asked"]])


@route
def uniform_acceleration(p: Params, q: str) -> float:
    p = _numbers(p)
    u, a, asked = p.get("u", 0.0), p["a"], p["asked"]
    if asked == "braking":
        return u * (u / a) / 2  # mean speed u/2 for the time u/a
    if asked == "from distance":
        time = (-u + sqrt(u * u + 2 * a * p["s"])) / a
        return u + a * time
    if asked == "speed":
        return u + a * p["t"]
    return (u + (u + a * p["t"])) / 2 * p["t"]


@route
def free_fall(p: Params, q: str) -> float:
    p = _numbers(p)
    asked = p["asked"]
    if asked in ("fall time", "range"):
        low, high = 0.0, 100.0
        for _ in range(200):
            middle = (low + high) / 2
            low, high = (middle, high) if G / 2 * middle**2 < p["h"] else (low, middle)
        return low if asked == "fall time" else low * p["v"]
    if asked == "fall speed":  # energy: m g h = m v² / 2
        return sqrt(2 * G * p["h"])
    if asked == "depth":
        return (0 + G * p["t"]) / 2 * p["t"]
    return p["v"] / 2 * (p["v"] / G)


@route
def momentum_collision(p: Params, q: str) -> float:
    p = _numbers(p)
    if p["asked"] == "impulse":
        return p["m"] * (p["v"] / p["t"])
    m1, m2, u1, u2 = p["m1"], p["m2"], p["u1"], p.get("u2", 0.0)
    if p["asked"] == "energy loss":  # reduced mass
        return m1 * m2 / (m1 + m2) * u1**2 / 2
    u2 = -u2 if p["asked"] == "head-on" else u2
    return abs(u2 + (u1 - u2) * m1 / (m1 + m2))


@route
def circular_motion(p: Params, q: str) -> float:
    p = _numbers(p)
    if p["asked"] == "speed":
        return sqrt(p["mu"] * G * p["r"])
    omega = p["v"] / p["r"]
    return omega**2 * p["r"] * p.get("m", 1.0)


@route
def newton_and_friction(p: Params, q: str) -> float:
    p = _numbers(p)
    return {
        "acceleration": lambda: p["F"] / p["m"],
        "force": lambda: p["m"] * p["a"],
        "weight": lambda: p["m"] * p["g"],
        "friction": lambda: p["mu"] * (p["m"] * G),
        "pull": lambda: (p["F"] - p["mu"] * p["m"] * G) / p["m"],
    }[p["asked"]]()


@route
def energy_and_power(p: Params, q: str) -> float:
    p = _numbers(p)
    asked, m = p["asked"], p["m"]
    if asked == "kinetic":  # work of a force m over the time v
        return m * (p["v"] / 2 * p["v"])
    if asked == "speed from energy":
        return sqrt(p["E"] / m * 2)
    work = m * G * p["h"]
    if asked == "potential":
        return work
    return work / p["t"] / (p["percent"] / 100 if asked == "motor" else 1)


@route
def springs_and_levers(p: Params, q: str) -> float:
    asked = p["asked"]
    if asked in ("in series", "parallel"):
        first, second = map(float, p["k"])
        return first + second if asked == "parallel" else 1 / (1 / first + 1 / second)
    if asked == "lever":
        a, b = map(float, p["arms"])
        return float(p["F"]) * a / b
    p = _numbers(p)
    if asked == "extension":
        return 100 * p["F"] / p["k"]
    x = p["x"] / 100
    if asked == "force":
        return p["k"] * x
    return sum(p["k"] * (i + 0.5) * x / 1000 * x / 1000 for i in range(1000))  # sum of F dx


@route
def density_and_pressure(p: Params, q: str) -> float:
    asked = p["asked"]
    if asked == "press":
        small, large = map(float, p["areas"])
        return float(p["F"]) / (small * 1e-4) * (large * 1e-4)
    p = _numbers(p)
    if asked == "density":
        return p["m"] / 1000 / (p["V"] * 1e-6) / 1000
    if asked == "depth":
        return p["rho"] * G * p["h"] / 1e3
    if asked == "pressure":
        return p["m"] * G / (p["A"] * 1e-4) / 1e3
    return p["rho"] * (p["V"] * 1e-3) * G


_FORMULAS: dict[str, Callable[[Mapping[str, float]], float]] = {
    "kinetic energy of a body": lambda x: x["mass"] * x["speed"] ** 2 / 2,
    "gravitational force between two small bodies": lambda x: (
        x["mass of the first body"] / x["distance between the bodies"] ** 2
    ),
    "electric force between two point charges": lambda x: (
        x["first charge"] / x["distance between the charges"] ** 2
    ),
    "electrical power converted in a resistor": lambda x: (
        x["voltage across the resistor"] * (x["voltage across the resistor"] / x["resistance"])
    ),
    "heat given off per second by a wire": lambda x: (
        x["current in the wire"] ** 2 * x["resistance"]
    ),
    "resistance of a round wire": lambda x: (
        x["length of the wire"] / (x["diameter of the wire"] / 2) ** 2
    ),
    "pressure of an ideal gas": lambda x: x["absolute temperature"] / x["volume"],
    "centripetal force on a body on a circular path": lambda x: (
        x["speed of the body"] ** 2 / x["radius of the path"]
    ),
    "elastic energy of a spring": lambda x: x["spring constant"] * x["extension"] ** 2 / 2,
    "intensity of light from a small lamp": lambda x: (
        x["power of the lamp"] / (4 * x["distance from the lamp"] ** 2)
    ),
}


@route
def proportional_changes(p: Params, q: str) -> float:
    class Start(dict[str, float]):
        def __missing__(self, key: str) -> float:
            return 1.7

    changed = Start({quantity: 1.7 * float(factor) for quantity, factor in p["changes"]})
    formula = _FORMULAS[p["law"]]
    return formula(changed) / formula(Start())


@route
def ohms_law(p: Params, q: str) -> float:
    p = _numbers(p)
    asked = p["asked"]
    if asked == "current":
        return p["U"] / p["R"] * (1000 if p["milli"] == "True" else 1)
    if asked == "power in resistor":
        current = p["U"] / p["R"]
        return current**2 * p["R"]
    if asked == "resistance":
        return p["U"] / p["I"]
    return p["I"] * (p["R"] if asked == "voltage" else p["U"])


@route
def resistor_networks(p: Params, q: str) -> float:
    asked = p["asked"]
    if asked == "series":
        return float(sum(p["R"]))
    if asked == "parallel":
        return 1 / sum(1 / float(r) for r in p["R"])
    if asked == "divider":
        a, b = map(float, p["R"])
        return float(p["U"]) - float(p["U"]) / (a + b) * b
    total = float(p["single"]) + 1 / sum(1 / float(r) for r in p["pair"])
    return total if asked == "mixed" else float(p["U"]) / total * 1000


@route
def charge_and_energy(p: Params, q: str) -> float:
    p = _numbers(p)
    return {
        "charge": lambda: p["I"] * p["minutes"] * 60,
        "kilowatt-hours": lambda: p["P"] * p["hours"] * 3600 / 3.6e6,
        "cost": lambda: p["P"] * p["hours"] * p["days"] * 3600 / 3.6e6 * p["cents"] / 100,
        "joules": lambda: p["P"] * p["minutes"] * 60 / 1000,
        "battery": lambda: p["capacity"] / p["I"],
    }[p["asked"]]()


@route
def coulombs_law(p: Params, q: str) -> float:
    first, second = map(float, p["q"])
    return 8.99e9 * first * 1e-6 * second * 1e-6 / (float(p["r"]) * 1e-2) ** 2


@route
def specific_heat(p: Params, q: str) -> float:
    p = _numbers(p)
    asked, c = p["asked"], p["c"]
    if asked == "rise":
        return p["Q"] / (p["m"] * c / 1000)
    rise = p["high"] - p["low"]
    if asked == "mass":
        return p["Q"] / (c / 1000 * rise)
    heat = p["m"] * c * rise
    return heat / 1000 if asked == "heat" else heat / p["P"]


@route
def mixing_temperatures(p: Params, q: str) -> float:
    """Bisection on the heat balance."""
    if "metal" in p:
        (m1, cold), (m2, hot), c1, c2 = p["water"], p["metal"], 4190.0, float(p["c"])
    else:
        (m1, cold), (m2, hot), c1, c2 = p["cold"], p["hot"], 1.0, 1.0
    low, high = float(cold), float(hot)
    for _ in range(100):
        t = (low + high) / 2
        gained = float(m1) * c1 * (t - float(cold)) - float(m2) * c2 * (float(hot) - t)
        low, high = (t, high) if gained < 0 else (low, t)
    return low


@route
def latent_heat(p: Params, q: str) -> float:
    p = _numbers(p)
    m, t = p["m"], p.get("t", 0.0)
    steps = {
        "melt": [334.0],
        "boil": [2260.0],
        "melt and warm": [334.0, 4.19 * t],
        "warm and boil": [4.19 * (100 - t), 2260.0],
        "from ice": [2.10 * p.get("below", 0.0), 334.0, 4.19 * t],
    }[p["asked"]]
    return sum(m * step for step in steps) / 1000


@route
def ideal_gas(p: Params, q: str) -> float:
    p = _numbers(p)
    asked = p["asked"]
    kelvin = p.get("t", 0.0) + 273
    if asked == "volume":
        return p["n"] * R * kelvin / (p["p"] * 1e3) * 1e3
    if asked == "pressure":
        return p["n"] * R * kelvin / (p["V"] * 1e-3) / 1e3
    if asked == "amount":
        return p["p"] * 1e3 * p["V"] * 1e-3 / R / kelvin
    return p["p"] * 1e3 * p["V"] * 1e-3 / R / p["n"]


@route
def gas_changes(p: Params, q: str) -> float:
    """The amount of gas from the first state, then the ideal gas law for the second."""
    t1, t2 = (float(t) + 273 for t in p.get("t", (20, 20)))
    asked = p["asked"]
    if asked == "gay-lussac":
        moles = float(p["p"]) * 5.0 / (R * t1)
        return moles * R * t2 / 5.0
    p1, p2 = map(float, p.get("p", (100, 100)))
    moles = p1 * float(p["V"]) / (R * t1)
    return moles * R * t2 / p2


@route
def half_life(p: Params, q: str) -> float:
    asked, n = p["asked"], p["n"]
    if asked == "period":
        return float(p["days"]) / n
    period = float(re.search(r"is ([\d.]+) (days|years|hours|minutes)", q)[1])  # type: ignore[index]
    if asked == "time":
        left, time = 1.0, 0.0
        while left > 1 / 2**n:
            left, time = left / 2, time + period
        return time
    left = float(p["start"])
    shown = [float(x) for x in re.findall(rf"([\d.]+) (?:{'days|years|hours|minutes'})", q)]
    assert any(abs(x - n * period) < 1e-9 * x for x in shown[1:])
    for _ in range(n):
        left = left * 2 if asked == "original" else left / 2
    return float(p["start"]) - left if asked == "decayed" else left


@route
def wave_equation(p: Params, q: str) -> float:
    p = _numbers(p)
    asked = p["asked"]
    if asked == "period":
        return 1e3 / p["f"]
    if asked == "wavelength":
        return p["v"] * (1 / p["f"]) * 100
    if asked == "frequency":
        return p["v"] / (p["wavelength"] / 100)
    if asked == "echo":
        return p["v"] * p["t"] / 2
    return C / (p["f"] * 1e6) * 100


@route
def thin_lens(p: Params, q: str) -> float:
    asked = p["asked"]
    if asked == "diopter":
        return 1 / (float(p["f"]) / 100)
    if asked == "focal":
        return 1 / sum(1 / float(x) for x in p["distances"])
    image = 1 / (1 / float(p["f"]) - 1 / float(p["u"]))  # negative: virtual
    if asked == "image":
        return image
    if asked == "virtual":
        return -image / float(p["u"])
    return float(p["h"]) * image / float(p["u"])


_INDICES = {"water": 1.33, "glass": 1.52, "diamond": 2.42, "ethanol": 1.36, "sapphire": 1.77,
            "ice": 1.31, "quartz": 1.46, "acrylic": 1.49}  # fmt: skip


@route
def refractive_index(p: Params, q: str) -> float:
    asked = p["asked"]
    if asked == "time":
        return sum(float(x) / 1000 / (C / _INDICES[name]) for name, x in p["layers"]) * 1e12
    if asked == "index":
        return C / (float(p["v"]) * 1e8)
    n = float(p["n"])
    if asked == "speed":
        return float(p["length"]) / 1000 / (C / n) * 1e12
    return float(p["wavelength" if asked == "wavelength" else "depth"]) / n


@route
def photon_energy(p: Params, q: str) -> float:
    p = _numbers(p)
    asked = p["asked"]
    if asked == "wavelength":
        return C / (p["E"] * E / H) * 1e9
    if asked == "from frequency":
        return H * p["f"]
    frequency = C / (p["wavelength"] * 1e-9)
    if asked == "rate":
        return p["P"] * 1e-3 / (H * frequency)
    return H * frequency / (E if asked == "electronvolts" else 1)


_SI = {"km/h": 1 / 3.6, "m/s": 1, "cm/s": 0.01, "m/min": 1 / 60, "mm²": 1e-6, "cm²": 1e-4, "m²": 1,
       "ha": 1e4, "km²": 1e6, "mL": 1e-6, "L": 1e-3, "m³": 1, "mm³": 1e-9, "J": 1, "kJ": 1e3,
       "kWh": 3.6e6, "MJ": 1e6, "g/cm³": 1e3, "kg/m³": 1, "g/L": 1, "kg/L": 1e3, "Pa": 1,
       "hPa": 100, "kPa": 1e3, "bar": 1e5, "atm": 101325, "W": 1, "kW": 1e3, "J/min": 1 / 60,
       "kJ/h": 1e3 / 3600}  # fmt: skip


@route
def unit_conversions(p: Params, q: str) -> float:
    return float(p["amount"]) * _SI[p["from"]] / _SI[p["to"]]
