"""Heat, gases and radioactive decay."""

from __future__ import annotations

from fractions import Fraction

from dataflex_data.builders.procedural.choices import numeric
from dataflex_data.builders.procedural.family import Draw, Families, Problem
from dataflex_data.builders.procedural.wording import decimal

FAMILIES = Families()

# Specific heat capacities in J/(kg K), as questions state them.
SPECIFIC_HEAT = {"water": 4190, "aluminum": 897, "iron": 449, "copper": 385, "lead": 129,
                 "ethanol": 2440, "olive oil": 1970, "glass": 840, "granite": 790}  # fmt: skip
# Isotopes with well-known half-lives; every question states the one it uses.
HALF_LIVES = {
    "iodine-131": ("8.02", "days"), "carbon-14": ("5730", "years"), "cobalt-60": ("5.27", "years"),
    "cesium-137": ("30.1", "years"), "technetium-99m": ("6.01", "hours"),
    "radon-222": ("3.82", "days"), "strontium-90": ("28.8", "years"),
    "phosphorus-32": ("14.3", "days"), "tritium": ("12.3", "years"),
    "fluorine-18": ("110", "minutes"), "sodium-24": ("15.0", "hours"),
    "polonium-210": ("138", "days"), "radium-226": ("1600", "years"),
    "gold-198": ("2.69", "days"), "iridium-192": ("73.8", "days"),
}  # fmt: skip


@FAMILIES.add("heat")
def specific_heat(d: Draw, level: int) -> Problem | None:
    """Q = mcΔT in all directions, and heating times."""
    substance = d.pick(tuple(SPECIFIC_HEAT))
    c = Fraction(SPECIFIC_HEAT[substance])
    m = Fraction(d.integer(10, 400), 100)
    low, rise = Fraction(d.integer(8, 30)), Fraction(d.integer(5, 45))
    high = low + rise
    given = f"(Specific heat capacity of {substance}: {c} J/(kg K))"
    asked = d.pick(("heat", "rise", "mass", "time")[: min(4, 1 + level)])
    q = m * c * rise
    if asked == "heat":
        right, unit = q / 1000, "kJ"
        question = d.pick(
            (
                f"How much heat is needed to warm {decimal(m)} kg of {substance} from {low} °C to "
                f"{high} °C? {given}",
                f"{decimal(m)} kg of {substance} cool from {high} °C to {low} °C. How much heat is "
                f"given off? {given}",
            )
        )
        mistakes = [m * c * high / 1000, m * c / 1000, c * rise / 1000, m * c * (rise + 273) / 1000]
        parameters: dict[str, object] = {"asked": asked, "c": c, "m": m, "low": low, "high": high}
    elif asked == "rise":
        heat = Fraction(d.integer(10, 400))
        right, unit = heat * 1000 / (m * c), "K"
        if right > 60:
            return None
        question = d.pick(
            (
                f"{heat} kJ of heat are supplied to {decimal(m)} kg of {substance}. By how much "
                "does "
                f"its temperature rise? {given}",
                f"Find the temperature rise of {decimal(m)} kg of {substance} that takes up {heat} "
                f"kJ of heat without changing its state. {given}",
            )
        )
        mistakes = [heat / (m * c), heat * m * 1000 / c, m * c / heat, heat * 1000 / c]
        parameters = {"asked": asked, "c": c, "m": m, "Q": heat}
    elif asked == "mass":
        heat = Fraction(d.integer(10, 400))
        right, unit = heat * 1000 / (c * rise), "kg"
        question = d.pick(
            (
                f"What mass of {substance} can be heated from {low} °C to {high} °C with {heat} "
                "kJ? "
                f"{given}",
                f"{heat} kJ warm a piece or portion of {substance} from {low} °C to {high} °C. "
                f"What is its mass? {given}",
            )
        ).replace("a piece or portion", "a sample")
        mistakes = [heat * 1000 / (c * high), heat / (c * rise), c * rise / heat, heat * 1000 / c]
        parameters = {"asked": asked, "c": c, "Q": heat, "low": low, "high": high}
    else:
        power = Fraction(d.integer(4, 50) * 50)
        right, unit = q / power, "s"
        question = d.pick(
            (
                f"A heater of {power} W warms {decimal(m)} kg of {substance} from {low} °C to "
                f"{high} °C. How long does this take without losses? {given}",
                f"How long must {power} W of heat be supplied to bring {decimal(m)} kg of "
                f"{substance} from {low} °C to {high} °C, if nothing is lost? {given}",
            )
        )
        mistakes = [q / power / 60, m * c * high / power, power / (m * c), q / power * 2]
        parameters = {"asked": asked, "c": c, "m": m, "P": power, "low": low, "high": high}
    return numeric(d, question, right, unit, mistakes, parameters)


@FAMILIES.add("heat")
def mixing_temperatures(d: Draw, level: int) -> Problem | None:
    """The common temperature of two portions of water, or of a hot metal in water."""
    m1, m2 = Fraction(d.integer(50, 900)), Fraction(d.integer(50, 900))
    cold, hot = Fraction(d.integer(5, 30)), Fraction(d.integer(45, 95))
    if abs(m1 - m2) < 40:
        return None
    if level <= 2:
        right = (m1 * cold + m2 * hot) / (m1 + m2)
        question = d.pick(
            (
                f"{m1} g of water at {cold} °C are mixed with {m2} g of water at {hot} °C. What is "
                "the temperature of the mixture if no heat is lost?",
                f"Find the common temperature after {m2} g of water at {hot} °C have been poured "
                f"into {m1} g of water at {cold} °C (no heat losses).",
            )
        )
        mistakes = [
            (cold + hot) / 2,
            (m2 * cold + m1 * hot) / (m1 + m2),
            hot - cold,
            hot * m2 / (m1 + m2),
        ]
        parameters: dict[str, object] = {"cold": (m1, cold), "hot": (m2, hot)}
        return numeric(d, question, right, "°C", mistakes, parameters)
    metal = d.pick(("aluminum", "iron", "copper", "lead"))
    c, hot = Fraction(SPECIFIC_HEAT[metal]), Fraction(d.integer(80, 300))
    water = Fraction(4190)
    right = (m1 * water * cold + m2 * c * hot) / (m1 * water + m2 * c)
    if not cold + 1 < right < 90:
        return None
    question = d.pick(
        (
            f"A piece of {metal} of {m2} g at {hot} °C is put into {m1} g of water at {cold} °C. "
            "What is the final temperature if no heat is lost and no water evaporates? "
            f"(Specific heat capacities: {metal} {c} J/(kg K), water 4190 J/(kg K))",
            f"{m2} g of {metal} with a temperature of {hot} °C are lowered into {m1} g of water at "
            f"{cold} °C in an insulated vessel that takes up no heat. Find the common temperature. "
            f"(Specific heat capacities: {metal} {c} J/(kg K), water 4190 J/(kg K); nothing "
            "evaporates.)",
        )
    )
    mistakes = [
        (cold + hot) / 2,
        (m1 * cold + m2 * hot) / (m1 + m2),
        (m1 * c * cold + m2 * water * hot) / (m1 * c + m2 * water),
        right - cold,
    ]
    parameters = {"water": (m1, cold), "metal": (m2, hot), "c": c}
    return numeric(d, question, right, "°C", mistakes, parameters)


@FAMILIES.add("heat")
def latent_heat(d: Draw, level: int) -> Problem | None:
    """Melting and boiling, with warming before or after at higher levels."""
    m = Fraction(d.integer(20, 900))
    fusion, vapour, water, ice = Fraction(334), Fraction(2260), Fraction("4.19"), Fraction("2.10")
    asked = d.pick(("melt", "boil", "melt and warm", "warm and boil", "from ice")[: 1 + level])
    t = Fraction(d.integer(5, 80))
    below = Fraction(d.integer(2, 25))
    values = {
        "melt": (
            m * fusion,
            f"to melt {m} g of ice at 0 °C",
            "(Latent heat of fusion: 334 J/g)",
            [m * vapour, m * water, fusion / m * 1000],
        ),
        "boil": (
            m * vapour,
            f"to turn {m} g of water at 100 °C into steam at 100 °C",
            "(Latent heat of vaporization: 2260 J/g)",
            [m * fusion, m * water * 100, m * water],
        ),
        "melt and warm": (
            m * (fusion + water * t),
            f"to turn {m} g of ice at 0 °C into water at {t} °C",
            "(Latent heat of fusion: 334 J/g; specific heat capacity of water: 4.19 J/(g K))",
            [m * fusion, m * water * t, m * abs(fusion - water * t)],
        ),
        "warm and boil": (
            m * (water * (100 - t) + vapour),
            f"to turn {m} g of water at {t} °C into steam at 100 °C",
            "(Specific heat capacity of water: 4.19 J/(g K); latent heat of vaporization: 2260 "
            "J/g)",
            [m * vapour, m * water * (100 - t), m * (water * t + vapour)],
        ),
        "from ice": (
            m * (ice * below + fusion + water * t),
            f"to turn {m} g of ice at -{below} °C into water at {t} °C",
            "(Specific heat capacities: ice 2.10 J/(g K), water 4.19 J/(g K); latent heat of "
            "fusion: 334 J/g)",
            [m * (fusion + water * t), m * (ice * below + water * t), m * water * (t + below)],
        ),
    }
    joules, process, given, mistakes = values[asked]
    question = d.pick(
        (
            f"How much heat is needed {process}? {given}",
            f"What amount of heat must be supplied {process}, without losses? {given}",
            f"Find the heat required {process} at normal pressure. {given}",
        )
    )
    parameters: dict[str, object] = {"asked": asked, "m": m}
    if asked not in ("melt", "boil"):
        parameters["t"] = t
    if asked == "from ice":
        parameters["below"] = below
    return numeric(
        d, question, joules / 1000, "kJ", [value / 1000 for value in mistakes], parameters
    )


@FAMILIES.add("gases")
def ideal_gas(d: Draw, level: int) -> Problem | None:
    """The law pV = nRT, solved for each quantity."""
    gas_constant = Fraction("8.314")
    n, volume = Fraction(d.integer(5, 600), 100), Fraction(d.integer(5, 250))
    celsius = Fraction(d.integer(-10, 90))
    kelvin = celsius + 273
    p = Fraction(d.integer(80, 600))
    given = "(R = 8.314 J/(mol K); 0 °C = 273 K)"
    asked = d.pick(("volume", "pressure", "amount", "temperature")[: min(4, 1 + level)])
    if asked == "volume":
        right, unit = n * gas_constant * kelvin / p, "L"
        question = d.pick(
            (
                f"What volume do {decimal(n)} mol of an ideal gas take up at {celsius} °C and {p} "
                f"kPa? {given}",
                f"Find the volume of {decimal(n)} mol of ideal gas at a pressure of {p} kPa and a "
                f"temperature of {celsius} °C. {given}",
            )
        )
        mistakes = [
            n * gas_constant * abs(celsius) / p,
            p / (n * gas_constant * kelvin) * 1000,
            n * gas_constant * kelvin * p / 10_000,
            n * kelvin / p,
        ]
        parameters: dict[str, object] = {"asked": asked, "n": n, "t": celsius, "p": p}
    elif asked == "pressure":
        right, unit = n * gas_constant * kelvin / volume, "kPa"
        question = d.pick(
            (
                f"{decimal(n)} mol of an ideal gas are in a vessel of {volume} L at {celsius} °C. "
                f"What is the pressure? {given}",
                f"How large is the pressure of {decimal(n)} mol of ideal gas in {volume} L at "
                f"{celsius} °C? {given}",
            )
        )
        mistakes = [
            n * gas_constant * abs(celsius) / volume,
            n * kelvin / volume,
            volume / (n * gas_constant * kelvin) * 1000,
            n * gas_constant / volume,
        ]
        parameters = {"asked": asked, "n": n, "t": celsius, "V": volume}
    elif asked == "amount":
        right, unit = p * volume / (gas_constant * kelvin), "mol"
        question = d.pick(
            (
                f"How many moles of an ideal gas are in {volume} L at {p} kPa and {celsius} °C? "
                f"{given}",
                f"A cylinder of {volume} L holds an ideal gas at {celsius} °C and {p} kPa. What "
                f"amount of gas is that? {given}",
            )
        )
        mistakes = [
            p * volume / (gas_constant * max(Fraction(1), abs(celsius))),
            p * volume / kelvin,
            gas_constant * kelvin / (p * volume),
            right * 2,
        ]
        parameters = {"asked": asked, "V": volume, "t": celsius, "p": p}
    else:
        right, unit = p * volume / (n * gas_constant), "K"
        if not 200 < right < 900:
            return None
        question = d.pick(
            (
                f"{decimal(n)} mol of an ideal gas in {volume} L have a pressure of {p} kPa. "
                "What is "
                f"the absolute temperature? (R = 8.314 J/(mol K))",
                f"At which absolute temperature do {decimal(n)} mol of ideal gas in a volume of "
                f"{volume} L exert {p} kPa? (R = 8.314 J/(mol K))",
            )
        )
        mistakes = [right + 273, right - 273, p * volume / n, n * gas_constant * p / volume]
        parameters = {"asked": asked, "n": n, "V": volume, "p": p}
    return numeric(d, question, right, unit, mistakes, parameters)


@FAMILIES.add("gases")
def gas_changes(d: Draw, level: int) -> Problem | None:
    """A fixed amount of gas between two states; Celsius is the trap."""
    p1, p2 = Fraction(d.integer(80, 400)), Fraction(d.integer(80, 400))
    v1, t1, t2 = Fraction(d.integer(2, 90)), d.integer(0, 60), d.integer(70, 220)
    k1, k2 = Fraction(t1 + 273), Fraction(t2 + 273)
    asked = d.pick(("boyle", "charles", "gay-lussac", "combined")[: min(4, 1 + level)])
    zero = "(0 °C = 273 K)"
    if abs(p1 - p2) < 15 or t1 == 0:
        return None
    if asked == "boyle":
        right, unit = v1 * p1 / p2, "L"
        question = d.pick(
            (
                f"A gas takes up {v1} L at {p1} kPa. What is its volume at {p2} kPa and the same "
                "temperature (ideal gas)?",
                f"The pressure of {v1} L of an ideal gas is changed from {p1} kPa to {p2} kPa at "
                "constant temperature. Find the new volume.",
            )
        )
        mistakes = [v1 * p2 / p1, v1 * (p1 / p2) ** 2, v1 * p1 / (p1 + p2), v1]
        parameters: dict[str, object] = {"asked": asked, "V": v1, "p": (p1, p2)}
    elif asked == "charles":
        right, unit = v1 * k2 / k1, "L"
        question = d.pick(
            (
                f"{v1} L of an ideal gas are heated from {t1} °C to {t2} °C at constant pressure. "
                f"What is the new volume? {zero}",
                f"At {t1} °C a gas has a volume of {v1} L. What volume does it have at {t2} °C and "
                f"the same pressure (ideal gas)? {zero}",
            )
        )
        mistakes = [v1 * t2 / t1, v1 * k1 / k2, v1 * (t2 - t1) / t1, v1 * (k2 / k1) ** 2]
        parameters = {"asked": asked, "V": v1, "t": (t1, t2)}
    elif asked == "gay-lussac":
        right, unit = p1 * k2 / k1, "kPa"
        question = d.pick(
            (
                f"A sealed rigid vessel contains an ideal gas at {p1} kPa and {t1} °C. What is the "
                f"pressure after heating to {t2} °C? {zero}",
                f"An ideal gas of fixed volume has a pressure of {p1} kPa at {t1} °C. How large is "
                f"its pressure at {t2} °C? {zero}",
            )
        )
        mistakes = [p1 * t2 / t1, p1 * k1 / k2, p1 * (k2 / k1) ** 2, p1 + t2 - t1]
        parameters = {"asked": asked, "p": p1, "t": (t1, t2)}
    else:
        right, unit = v1 * p1 / p2 * k2 / k1, "L"
        question = d.pick(
            (
                f"An ideal gas has a volume of {v1} L at {p1} kPa and {t1} °C. What is its "
                "volume at "
                f"{p2} kPa and {t2} °C? {zero}",
                f"{v1} L of an ideal gas at {t1} °C and {p1} kPa are brought to {t2} °C and {p2} "
                f"kPa. Find the final volume. {zero}",
            )
        )
        mistakes = [
            v1 * p1 / p2 * t2 / t1,
            v1 * p2 / p1 * k2 / k1,
            v1 * p1 / p2 * k1 / k2,
            v1 * p2 / p1 * k1 / k2,
        ]
        parameters = {"asked": asked, "V": v1, "p": (p1, p2), "t": (t1, t2)}
    return numeric(d, question, right, unit, mistakes, parameters)


@FAMILIES.add("radioactivity")
def half_life(d: Draw, level: int) -> Problem | None:
    """What is left after whole half-lives, what has decayed, and how long it takes."""
    isotope = d.pick(tuple(HALF_LIVES))
    text, unit_of_time = HALF_LIVES[isotope]
    period, n = Fraction(text), d.integer(2, 3 + level)
    start = Fraction(d.integer(16, 960))
    time = period * n
    asked = d.pick(("left", "decayed", "time", "original", "period")[: 1 + level])
    half = f"The half-life of {isotope} is {text} {unit_of_time}."
    left = start / 2**n
    if asked == "left":
        right, unit = left, "mg"
        question = d.pick(
            (
                f"{half} How much of a sample of {start} mg is left after {decimal(time)} "
                f"{unit_of_time}?",
                f"{half} A source contains {start} mg of it. What mass remains after "
                f"{decimal(time)} {unit_of_time}?",
            )
        )
        mistakes = [start / n, start - left, start / (2 * n), start / 2 ** (n - 1)]
        parameters: dict[str, object] = {"asked": asked, "isotope": isotope, "n": n, "start": start}
    elif asked == "decayed":
        right, unit = start - left, "mg"
        question = d.pick(
            (
                f"{half} How much of {start} mg has decayed after {decimal(time)} {unit_of_time}?",
                f"{half} Of {start} mg at the beginning, what mass has decayed within "
                f"{decimal(time)} {unit_of_time}?",
            )
        )
        mistakes = [left, start / n, start - start / n, start / 2]
        parameters = {"asked": asked, "isotope": isotope, "n": n, "start": start}
    elif asked == "time":
        right, unit = time, unit_of_time
        question = d.pick(
            (
                f"{half} After what time is 1/{2**n} of the original nuclei left?",
                f"{half} How long does it take until the activity of a pure sample has fallen to "
                f"1/{2**n} of its first value?",
            )
        )
        mistakes = [period * 2**n, period * (n - 1), period * 2 * n, period * (n + 1)]
        parameters = {"asked": asked, "isotope": isotope, "n": n}
    elif asked == "original":
        right, unit = start * 2**n, "mg"
        question = d.pick(
            (
                f"{half} After {decimal(time)} {unit_of_time}, {start} mg of a sample are left. "
                "How "
                "much was there at the beginning?",
                f"{half} A sample still contains {start} mg of it. How much did it contain "
                f"{decimal(time)} {unit_of_time} earlier?",
            )
        )
        mistakes = [start * n, start * 2 * n, start / 2**n, start * 2 ** (n - 1)]
        parameters = {"asked": asked, "isotope": isotope, "n": n, "start": start}
    else:
        days = Fraction(d.integer(3, 60) * n)
        right, unit = days / n, "days"
        question = d.pick(
            (
                f"After {days} days, 1/{2**n} of the nuclei of a radioactive isotope are left. "
                "What "
                "is its half-life?",
                f"The activity of a pure radioactive isotope falls to 1/{2**n} of its value within "
                f"{days} days. Find its half-life.",
            )
        )
        mistakes = [days / 2**n, days / (n - 1), days / (n + 1), days * n]
        parameters = {"asked": asked, "days": days, "n": n}
    return numeric(d, question, right, unit, mistakes, parameters)
