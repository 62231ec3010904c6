"""Waves, light, photons and units."""

from __future__ import annotations

from fractions import Fraction

from dataflex_data.builders.procedural.choices import numeric, power_of_ten
from dataflex_data.builders.procedural.family import Draw, Families, Problem
from dataflex_data.builders.procedural.wording import decimal

FAMILIES = Families()
LIGHT = Fraction("3.00e8")
PLANCK = Fraction("6.63e-34")


@FAMILIES.add("waves")
def wave_equation(d: Draw, level: int) -> Problem | None:
    """The law v = fλ, periods, echoes, and radio waves at higher levels."""
    medium, speed = d.pick((("air", 343), ("water", 1480), ("steel", 5960), ("helium", 1010)))
    v, f = Fraction(speed), Fraction(d.integer(5, 400) * 10)
    asked = d.pick(("wavelength", "frequency", "period", "echo", "radio")[: 1 + level])
    if asked == "wavelength":
        right, unit = v / f * 100, "cm"
        question = d.pick(
            (
                f"Sound travels at {v} m/s in {medium}. What is the wavelength of a tone of {f} "
                "Hz?",
                f"Find the wavelength in {medium} of sound with a frequency of {f} Hz (speed of "
                f"sound: {v} m/s).",
            )
        )
        mistakes = [f / v * 100, v / f, v * f / 1000, v / (2 * f) * 100]
        parameters: dict[str, object] = {"asked": asked, "v": v, "f": f}
    elif asked == "frequency":
        wavelength = Fraction(d.integer(5, 400))
        right, unit = v / wavelength * 100, "Hz"
        question = d.pick(
            (
                f"A sound wave in {medium} has a wavelength of {wavelength} cm. Its speed is {v} "
                "m/s. "
                "What is its frequency?",
                f"Find the frequency of sound in {medium} ({v} m/s) whose wavelength is "
                f"{wavelength} cm.",
            )
        )
        mistakes = [v / wavelength, v * wavelength / 100, wavelength / v * 100, right / 2]
        parameters = {"asked": asked, "v": v, "wavelength": wavelength}
    elif asked == "period":
        right, unit = 1000 / f, "ms"
        question = d.pick(
            (
                f"What is the period of a vibration with a frequency of {f} Hz?",
                f"A string vibrates at {f} Hz. How long does one full vibration take?",
            )
        )
        mistakes = [f, 1 / f, f / 1000, 500 / f]
        parameters = {"asked": asked, "f": f}
    elif asked == "echo":
        time = Fraction(d.integer(8, 90), 20)
        right, unit = v * time / 2, "m"
        what = {"air": "cliff", "water": "sea bed"}.get(medium)
        if what is None:
            return None
        question = d.pick(
            (
                f"The echo from a {what} arrives {decimal(time)} s after the sound was sent. Sound "
                f"travels at {v} m/s in {medium}. How far away is the {what}?",
                f"A pulse of sound in {medium} ({v} m/s) returns from a {what} after "
                f"{decimal(time)} "
                f"s. Find the distance to the {what}.",
            )
        )
        mistakes = [v * time, v / time, v * time / 4, v / (2 * time)]
        parameters = {"asked": asked, "v": v, "t": time}
    else:
        mega = Fraction(d.integer(880, 1080), 10) if d.below(2) else Fraction(d.integer(400, 3000))
        right, unit = LIGHT / (mega * 10**6) * 100, "cm"
        question = d.pick(
            (
                f"A transmitter sends at {decimal(mega)} MHz. What is the wavelength of its waves? "
                "(Speed of light: 3.00 × 10^8 m/s)",
                f"Find the wavelength of radio waves of {decimal(mega)} MHz, which travel at "
                "3.00 × 10^8 m/s.",
            )
        )
        mistakes = [right / 100, right * 1000, mega, right / 2]
        parameters = {"asked": asked, "f": mega}
    return numeric(d, question, right, unit, mistakes, parameters)


@FAMILIES.add("optics")
def thin_lens(d: Draw, level: int) -> Problem | None:
    """Images of a converging lens: distance, magnification, focal length, diopters."""
    f, u = Fraction(d.integer(2, 40)), Fraction(d.integer(5, 150))
    size = Fraction(d.integer(10, 90), 10)
    asked = d.pick(("image", "focal", "diopter", "size", "virtual")[: 1 + level])
    if asked == "diopter":
        f = Fraction(d.integer(5, 200))
        right, unit = 100 / f, "dpt"
        question = d.pick(
            (
                f"A converging lens has a focal length of {f} cm. What is its optical power in "
                "diopters (1 dpt = 1/m)?",
                f"Find the power, in diopters (1 dpt = 1/m), of a lens with a focal length of {f} "
                "cm.",
            )
        )
        mistakes = [f / 100, 1 / f, f, 10 / f]
        return numeric(d, question, right, unit, mistakes, {"asked": asked, "f": f})
    if (asked == "virtual") != (u < f) or u == f:
        return None
    image = abs(f * u / (u - f))
    if asked == "image":
        right, unit = image, "cm"
        question = d.pick(
            (
                f"An object stands {u} cm in front of a thin converging lens with a focal length "
                "of "
                f"{f} cm. At what distance from the lens is its real image?",
                f"A thin converging lens (focal length {f} cm) forms a real image of an object {u} "
                "cm away from it. How far behind the lens is the image?",
            )
        )
        mistakes = [f * u / (u + f), u - f, u + f, (u - f) / (f * u) * 100]
        parameters: dict[str, object] = {"asked": asked, "f": f, "u": u}
    elif asked == "focal":
        v = Fraction(d.integer(5, 150))
        if v == u:
            return None
        right, unit = u * v / (u + v), "cm"
        question = d.pick(
            (
                f"An object {u} cm in front of a thin converging lens has a sharp image on a "
                "screen "
                f"{v} cm behind it. What is the focal length of the lens?",
                f"A thin lens throws a sharp real image on a screen {v} cm away from it; the "
                "object "
                f"is {u} cm from the lens. Find the focal length.",
            )
        )
        mistakes = [abs(u * v / (u - v)), (u + v) / 2, u + v, (u + v) / (u * v) * 100]
        parameters = {"asked": asked, "distances": tuple(sorted((u, v)))}
    elif asked == "size":
        right, unit = size * image / u, "cm"
        question = d.pick(
            (
                f"An object {decimal(size)} cm high stands {u} cm in front of a thin converging "
                "lens "
                f"with a focal length of {f} cm. How high is its real image?",
                f"How large is the real image of an object of height {decimal(size)} cm at a "
                f"distance of {u} cm from a thin converging lens (focal length {f} cm)?",
            )
        )
        mistakes = [size * u / image, size * f / u, size * image / f, size * u / f]
        parameters = {"asked": asked, "f": f, "u": u, "h": size}
    else:
        right, unit = f / (f - u), ""
        question = d.pick(
            (
                f"A thin converging lens with a focal length of {f} cm is used as a magnifying "
                "glass; "
                f"the object is {u} cm from the lens. How many times as high as the object is the "
                "virtual image?",
                f"An object is {u} cm from a thin converging lens of focal length {f} cm. By what "
                "factor is its upright virtual image magnified?",
            )
        )
        mistakes = [f / u, u / (f - u), f / (f + u), (f + u) / f]
        parameters = {"asked": asked, "f": f, "u": u}
    return numeric(d, question, right, unit, mistakes, parameters)


MATERIALS = {"water": "1.33", "glass": "1.52", "diamond": "2.42", "ethanol": "1.36",
             "sapphire": "1.77", "ice": "1.31", "quartz": "1.46", "acrylic": "1.49"}  # fmt: skip
_POOLS = ("water", "ice", "ethanol")  # clear to a depth of meters


@FAMILIES.add("optics")
def refractive_index(d: Draw, level: int) -> Problem | None:
    """Speed, wavelength and travel time of light in a medium; apparent depth."""
    material = d.pick(tuple(MATERIALS))
    n = Fraction(MATERIALS[material])
    asked = d.pick(("speed", "wavelength", "index", "depth", "time")[: 1 + level])
    index = f"(Refractive index of {material}: {MATERIALS[material]})"
    if asked == "speed":
        length = Fraction(d.integer(2, 90))
        right, unit = length / 1000 * n / LIGHT * 10**12, "ps"
        question = d.pick(
            (
                f"How long does light take to travel {length} mm through {material}? {index} "
                "(Speed of light in a vacuum: 3.00 × 10^8 m/s)",
                f"Light passes through {length} mm of {material}. What time does it need? {index} "
                "(Speed of light in a vacuum: 3.00 × 10^8 m/s)",
            )
        )
        mistakes = [
            length / LIGHT * 10**9,
            length / n / LIGHT * 10**9,
            right * 1000,
            right * n,
        ]
        parameters: dict[str, object] = {"asked": asked, "n": n, "length": length}
    elif asked == "wavelength":
        vacuum = Fraction(d.integer(380, 750))
        right, unit = vacuum / n, "nm"
        question = d.pick(
            (
                f"Light has a wavelength of {vacuum} nm in a vacuum. What is its wavelength in "
                f"{material}? {index}",
                f"Light with a vacuum wavelength of {vacuum} nm enters {material}. Find its "
                f"wavelength there. {index}",
            )
        )
        mistakes = [vacuum * n, vacuum, vacuum / n / n, vacuum / 2]
        parameters = {"asked": asked, "n": n, "wavelength": vacuum}
    elif asked == "index":
        speed = Fraction(d.integer(124, 240), 100)
        right, unit = 3 / speed, ""
        question = d.pick(
            (
                f"Light travels at {decimal(speed)} × 10^8 m/s in a transparent material. What is "
                "its refractive index? (Speed of light in a vacuum: 3.00 × 10^8 m/s)",
                f"In a certain liquid the speed of light is {decimal(speed)} × 10^8 m/s, in a "
                "vacuum "
                "3.00 × 10^8 m/s. Find the refractive index of the liquid.",
            )
        )
        mistakes = [speed / 3, speed, 9 / (speed * speed), 3 - speed]
        parameters = {"asked": asked, "v": speed}
    elif asked == "depth":
        depth = Fraction(d.integer(20, 400), 1 if material in _POOLS else 10)
        right, unit = depth / n, "cm"
        question = d.pick(
            (
                f"An object lies {decimal(depth)} cm below the surface of {material}. At "
                "what apparent depth is it seen from straight above, in air? "
                f"{index}",
                f"Seen from straight above in air, how deep does a speck {decimal(depth)} cm below "
                f"the flat surface of {material} seem to be? {index}",
            )
        )
        mistakes = [depth * n, depth - depth / n, depth, depth / n / n]
        parameters = {"asked": asked, "n": n, "depth": depth}
    else:
        other = d.pick([name for name in MATERIALS if name != material])
        m = Fraction(MATERIALS[other])
        x, y = Fraction(d.integer(5, 95)), Fraction(d.integer(5, 95))
        right, unit = (x * n + y * m) / 1000 / LIGHT * 10**12, "ps"
        question = d.pick(
            (
                f"Light passes straight through {x} mm of {material} (refractive index "
                f"{MATERIALS[material]}) and then {y} mm of {other} ({MATERIALS[other]}). How long "
                "does it take in all? (Speed of light in a vacuum: 3.00 × 10^8 m/s)",
                f"A ray crosses {x} mm of {material} and {y} mm of {other} at right angles to "
                "their "
                f"faces. Their refractive indices are {MATERIALS[material]} and "
                f"{MATERIALS[other]}. "
                "What time does this take? (Speed of light in a vacuum: 3.00 × 10^8 m/s)",
            )
        )
        mistakes = [
            (x + y) / 1000 / LIGHT * 10**12,
            (x / n + y / m) / 1000 / LIGHT * 10**12,
            right * 10,
            (x * m + y * n) / 1000 / LIGHT * 10**12,
        ]
        parameters = {"asked": asked, "layers": tuple(sorted(((material, x), (other, y))))}
    return numeric(d, question, right, unit, mistakes, parameters)


@FAMILIES.add("quanta")
def photon_energy(d: Draw, level: int) -> Problem | None:
    """E = hf = hc/λ, photons per second, in joules and electronvolts."""
    wavelength = Fraction(d.integer(200, 900))
    energy = PLANCK * LIGHT / (wavelength * Fraction("1e-9"))
    charge = Fraction("1.60e-19")
    given = "(h = 6.63 × 10^-34 J s, c = 3.00 × 10^8 m/s)"
    asked = d.pick(("joules", "electronvolts", "from frequency", "rate", "wavelength")[: 1 + level])
    if asked == "joules":
        right, unit = energy, "J"
        question = d.pick(
            (
                f"What is the energy of a photon of light with a wavelength of {wavelength} nm? "
                f"{given}",
                f"Find the photon energy at a wavelength of {wavelength} nm, in joules. {given}",
            )
        )
        mistakes = [energy * Fraction("1e-9"), energy / LIGHT * 10**8, energy * 2, energy * 1000]
        parameters: dict[str, object] = {"asked": asked, "wavelength": wavelength}
    elif asked == "electronvolts":
        right, unit = energy / charge, "eV"
        question = d.pick(
            (
                f"What is the energy, in electronvolts, of a photon with a wavelength of "
                f"{wavelength} nm? {given} (1 eV = 1.60 × 10^-19 J)",
                f"Light of {wavelength} nm consists of photons of what energy in eV? {given} "
                "(1 eV = 1.60 × 10^-19 J)",
            )
        )
        mistakes = [1 / right, right * Fraction(16, 10), right / 2, wavelength / 100]
        parameters = {"asked": asked, "wavelength": wavelength}
    elif asked == "from frequency":
        f = Fraction(d.integer(100, 990)) * 10**12
        right, unit = PLANCK * f, "J"
        question = d.pick(
            (
                f"What energy does a photon of frequency {power_of_ten(f)} Hz have? "
                "(h = 6.63 × 10^-34 J s)",
                f"Find the energy of one light quantum of frequency {power_of_ten(f)} Hz. "
                "(h = 6.63 × 10^-34 J s)",
            )
        )
        mistakes = [PLANCK / f, right * 1000, right / 2, PLANCK * f * f / 10**14]
        parameters = {"asked": asked, "f": f}
    elif asked == "rate":
        milliwatts = Fraction(d.integer(1, 200))
        right, unit = milliwatts / 1000 / energy, ""
        question = d.pick(
            (
                f"A laser of {milliwatts} mW emits light with a wavelength of {wavelength} nm. How "
                f"many photons does it emit per second? {given}",
                f"How many photons per second leave a {milliwatts} mW laser of wavelength "
                f"{wavelength} nm? {given}",
            )
        )
        mistakes = [right * 1000, right / 1000, milliwatts * energy * Fraction("1e40"), right / 2]
        parameters = {"asked": asked, "P": milliwatts, "wavelength": wavelength}
    else:
        volts = Fraction(d.integer(120, 600), 100)
        right, unit = PLANCK * LIGHT / (volts * charge) * 10**9, "nm"
        question = d.pick(
            (
                f"What wavelength has light whose photons have an energy of {decimal(volts)} eV? "
                f"{given} (1 eV = 1.60 × 10^-19 J)",
                f"An atom emits a photon of {decimal(volts)} eV. Find its wavelength. {given} "
                "(1 eV = 1.60 × 10^-19 J)",
            )
        )
        mistakes = [right * volts, right / volts, right * 2, volts * 100]
        parameters = {"asked": asked, "E": volts}
    return numeric(d, question, right, unit, mistakes, parameters)


# Name: (kind, value in the SI unit); exact by definition.
UNITS = {
    "km/h": ("speed", Fraction(5, 18)), "m/s": ("speed", Fraction(1)),
    "cm/s": ("speed", Fraction(1, 100)), "m/min": ("speed", Fraction(1, 60)),
    "mm²": ("area", Fraction(1, 10**6)), "cm²": ("area", Fraction(1, 10**4)),
    "m²": ("area", Fraction(1)), "ha": ("area", Fraction(10**4)), "km²": ("area", Fraction(10**6)),
    "mL": ("volume", Fraction(1, 10**6)), "L": ("volume", Fraction(1, 1000)),
    "m³": ("volume", Fraction(1)), "mm³": ("volume", Fraction(1, 10**9)),
    "J": ("energy", Fraction(1)), "kJ": ("energy", Fraction(1000)),
    "kWh": ("energy", Fraction(3_600_000)), "MJ": ("energy", Fraction(10**6)),
    "g/cm³": ("density", Fraction(1000)), "kg/m³": ("density", Fraction(1)),
    "g/L": ("density", Fraction(1)), "kg/L": ("density", Fraction(1000)),
    "Pa": ("pressure", Fraction(1)), "hPa": ("pressure", Fraction(100)),
    "kPa": ("pressure", Fraction(1000)), "bar": ("pressure", Fraction(10**5)),
    "atm": ("pressure", Fraction(101_325)),
    "W": ("power", Fraction(1)), "kW": ("power", Fraction(1000)),
    "J/min": ("power", Fraction(1, 60)), "kJ/h": ("power", Fraction(1000, 3600)),
}  # fmt: skip


@FAMILIES.add("units")
def unit_conversions(d: Draw, level: int) -> Problem | None:
    """Derived units; the wrong options invert the factor or forget the square or the cube."""
    kinds = ("speed", "area", "volume", "density", "energy", "pressure", "power")
    kind = d.pick(kinds[: 2 + level])
    source, target = d.sample([name for name, (k, _) in UNITS.items() if k == kind], 2)
    factor = UNITS[source][1] / UNITS[target][1]
    amount = Fraction(d.integer(11, 990), d.pick((1, 10)))
    right = amount * factor
    if factor == 1 or not Fraction(1, 10**4) <= right <= 10**8:
        return None
    question = d.pick(
        (
            f"Convert {decimal(amount)} {source} to {target}.",
            f"How much is {decimal(amount)} {source} in {target}?",
            f"Which value in {target} is the same as {decimal(amount)} {source}?",
        )
    )
    if "atm" in (source, target):
        question += " (1 atm = 101325 Pa)"
    mistakes = [amount / factor, right * 10, right / 10, right * 60, right / 1000]
    parameters = {"amount": amount, "from": source, "to": target}
    return numeric(d, question, right, target, mistakes, parameters)
