"""Rates, percentages, mixtures, motion, work and units, as word problems."""

from __future__ import annotations

from fractions import Fraction

from dataflex_data.builders.procedural.family import Draw, Families, Problem
from dataflex_data.builders.procedural.wording import NAMES, article, decimal, money

FAMILIES = Families()


@FAMILIES.add("percentages")
def percent_change(d: Draw, level: int) -> Problem | None:
    """One or two changes by a percentage, forwards or backwards."""
    price = d.integer(20, 80 + 100 * level, 5 if level <= 2 else 1)
    first = d.integer(5, 45 + 5 * level, 5) * (1 if d.below(2) else -1)
    second = d.integer(5, 40, 5) * (1 if d.below(2) else -1) if level >= 3 else 0
    final = Fraction(price) * (100 + first) * (100 + second) / 10_000
    if 100 % final.denominator:
        return None
    backwards = level >= 2 and bool(d.below(2))
    item = d.pick(("jacket", "bicycle", "lamp", "camera", "tent", "printer", "guitar", "desk"))

    def change(percent: int) -> str:
        verb = "raised" if percent > 0 else "reduced"
        return f"{verb} by {abs(percent)}%"

    changes = change(first) + (f" and then {change(second)}" if second else "")
    steps = " (the second change refers to the price after the first)" if second else ""
    if backwards:
        question = d.pick(
            (
                f"The price of a {item} was {changes}{steps}. It now costs {money(final)} dollars. "
                "How many dollars did it cost before?",
                f"After its price was {changes}{steps}, a {item} costs {money(final)} dollars. "
                "Find the original price in dollars.",
                f"A {item} costs {money(final)} dollars after the price was {changes}{steps}. "
                "What was the price in dollars at the start?",
            )
        )
        answer, known = Fraction(price), final
    else:
        question = d.pick(
            (
                f"A {item} costs {price} dollars. Its price is {changes}{steps}. "
                "What does it cost now, in dollars?",
                f"The price of a {item} was {price} dollars before it was {changes}{steps}. "
                "What is the new price in dollars?",
                f"A shop sells a {item} for {price} dollars. The price is then {changes}{steps}. "
                "Find the final price in dollars.",
            )
        )
        answer, known = final, Fraction(price)
    parameters = {
        "changes": tuple(sorted((first, second))),
        "known": known,
        "direction": "back" if backwards else "forward",
    }
    return Problem(question, money(answer), parameters)


@FAMILIES.add("percentages")
def percent_of(d: Draw, level: int) -> Problem | None:
    """Parts of parts: which share, how many, of what."""
    percent = d.integer(5, 95, 5) if level <= 2 else d.integer(2, 98)
    inner = d.integer(5, 95, 5) if level >= 3 else 100
    total = d.integer(2, 40 * level) * (20 if level <= 2 else 50)
    part = Fraction(total * percent * inner, 10_000)
    if part.denominator > 1 or part < 2:
        return None
    asks_total = level >= 2 and bool(d.below(2))
    place = d.pick(("school", "club", "company", "choir", "village", "college"))
    group = {"school": "pupils", "club": "members", "company": "employees", "choir": "singers",
             "village": "inhabitants", "college": "students"}[place]  # fmt: skip
    verb = d.pick(("ride a bicycle every day", "play an instrument", "own a cat", "speak Spanish"))
    who = f"{percent}% of the {group} of a {place} {verb}"
    if inner < 100:
        who += f", and {inner}% of these are left-handed"
    kind = "both do so and are left-handed" if inner < 100 else verb
    if asks_total:
        question = d.pick(
            (
                f"{who}. If {part} {group} {kind}, how many {group} are there altogether?",
                f"It is known that {who}. Exactly {part} {group} {kind}. "
                f"How many {group} does the {place} have?",
            )
        )
        return Problem(
            question, Fraction(total), {"part": part, "percent": tuple(sorted((percent, inner)))}
        )
    question = d.pick(
        (
            f"A {place} has {total} {group}. {who.replace(f' of a {place}', '')}. "
            f"How many {group} {kind}?",
            f"Of the {total} {group} of a {place}, "
            f"{who.replace(f' of the {group} of a {place}', '')}. How many {group} {kind}?",
        )
    )
    return Problem(question, part, {"total": total, "percent": tuple(sorted((percent, inner)))})


@FAMILIES.add("percentages")
def interest(d: Draw, level: int) -> Problem | None:
    """Simple and compound interest with exact amounts."""
    capital = d.integer(4, 20 + 20 * level) * (100 if level <= 3 else 500)
    rate = d.integer(1, 5 + level) if level >= 2 else d.integer(1, 10)
    years = d.integer(2, 8) if level <= 2 else d.integer(2, 3 if level >= 4 else 2)
    compound = level >= 3
    if compound:
        value = capital * Fraction(100 + rate, 100) ** years - capital
        if (value * 100).denominator > 1:
            return None  # a bank pays whole cents
    else:
        value = Fraction(capital * rate * years, 100)
    asked = d.pick(("interest", "balance"))
    name = d.pick(NAMES)
    how = (
        f"{rate}% interest per year, added to the balance at the end of every year"
        if compound
        else f"simple interest of {rate}% per year (no interest on interest)"
    )
    wanted = {
        "interest": f"How many euros of interest does this give in {years} years altogether?",
        "balance": f"What is the balance in euros after {years} years?",
    }[asked]
    question = d.pick(
        (
            f"{name} puts {capital} euros into an account that pays {how}. {wanted} "
            "Give the exact amount.",
            f"An amount of {capital} euros earns {how}. {wanted} Do not round.",
            f"A bank offers {how}. {name} deposits {capital} euros. {wanted} Answer exactly.",
        )
    )
    answer = value + (capital if asked == "balance" else 0)
    parameters = {
        "capital": capital,
        "rate": rate,
        "years": years,
        "kind": "compound" if compound else "simple",
        "asked": asked,
    }
    return Problem(question, money(answer), parameters)


@FAMILIES.add("mixtures")
def mixture(d: Draw, level: int) -> Problem | None:
    """Two solutions, or two prices, mixed."""
    p, q = d.integer(5, 45, 5 if level < 3 else 1), d.integer(50, 95, 5 if level < 3 else 1)
    a, b = d.integer(2, 7 + 4 * level), d.integer(2, 7 + 4 * level)
    strength = Fraction(p * a + q * b, a + b)
    asks_amount = level >= 3 and bool(d.below(2))
    substance = d.pick(("salt", "acid", "alcohol", "sugar"))
    if asks_amount:
        if strength.denominator > 1:
            return None
        question = d.pick(
            (
                f"How many liters of {article(q)} {q}% {substance} solution must be added to {a} "
                "liters "
                f"of {article(p)} {p}% {substance} solution to obtain {article(int(strength))} "
                f"{strength}% solution?",
                f"To {a} liters of a solution with {p}% {substance}, a solution with {q}% "
                f"{substance} is added until the mixture has {strength}%. "
                "How many liters are added?",
                f"A chemist has {a} liters of {p}% {substance} solution and wants {strength}%. "
                f"How many liters of {article(q)} {q}% solution are to be mixed in?",
            )
        )
        parameters = {"have": (a, p), "add": q, "want": int(strength)}
        return Problem(question, Fraction(b), parameters)
    if level <= 2 and strength.denominator > 1:
        return None
    question = d.pick(
        (
            f"{a} liters of {article(p)} {p}% {substance} solution are mixed with {b} liters of "
            f"{article(q)} {q}% "
            f"{substance} solution. What percentage of {substance} does the mixture have, exactly?",
            f"Mixing {a} liters with {p}% {substance} and {b} liters with {q}% {substance} gives a "
            "solution of what percentage? Give the exact number.",
            f"A tank holds {a} liters of {p}% {substance} solution; {b} liters of {q}% solution "
            "are "
            f"poured in. Find the {substance} content of the mixture in percent, without rounding.",
        )
    )
    return Problem(question, strength, {"parts": ((a, p), (b, q))})


@FAMILIES.add("rates")
def work_together(d: Draw, level: int) -> Problem | None:
    """Joint work, one of them leaving or a drain open at higher levels."""
    a, b = d.integer(2, 20 + 4 * level), d.integer(2, 20 + 4 * level)
    c = d.integer(2, 20 + 4 * level)
    if a == b:
        return None
    first, second = d.sample(NAMES, 2)
    rate = Fraction(1, a) + Fraction(1, b)
    if level <= 2:
        key: tuple[object, ...] = ("together",)
        value = 1 / rate
        if level == 1 and value.denominator > 6:
            return None
        question = d.pick(
            (
                f"{first} can paint a fence in {a} hours and {second} in {b} hours. How many hours "
                "do they need if they work together?",
                f"One pump fills a pool in {a} hours, another in {b} hours. How many hours do both "
                "pumps take together?",
                f"Working alone, {first} finishes a job in {a} hours and {second} in {b} hours. In "
                "how many hours do they finish it together, exactly?",
            )
        )
    elif level <= 4:
        if c <= max(a, b) or rate <= Fraction(1, c):
            return None
        value, key = 1 / (rate - Fraction(1, c)), ("drain", c)
        question = d.pick(
            (
                f"Two pipes fill a tank in {a} and {b} hours, respectively; a drain empties the "
                "full "
                f"tank in {c} hours. With both pipes and the drain open, in how many hours is the "
                "empty tank full?",
                f"A basin is filled by one tap in {a} hours and by another in {b} hours, while an "
                f"outlet empties the full basin in {c} hours. How many hours does it take to fill "
                "the empty basin if all three are open?",
            )
        )
    else:
        alone = d.integer(1, a - 1)
        value, key = (1 - Fraction(alone, a)) / rate, ("late", alone)
        question = d.pick(
            (
                f"{first} can finish a job in {a} hours, {second} in {b} hours. {first} works "
                "alone "
                f"for {alone} hour{'s' if alone > 1 else ''}, then {second} joins in. "
                "How many more hours do they need together?",
                f"Alone, {first} needs {a} hours for a task and {second} needs {b} hours. {second} "
                f"joins {first} only after {alone} hour{'s' if alone > 1 else ''}. For how many "
                "hours do the two then work together until the task is done?",
            )
        )
    times = (a, b) if key[0] == "late" else tuple(sorted((a, b)))
    return Problem(question, value, {"hours": times, "case": key})


@FAMILIES.add("rates")
def motion(d: Draw, level: int) -> Problem | None:
    """Distance, speed and time; meeting, overtaking and mean speed at higher levels."""
    v, w = d.integer(30, 90, 5), d.integer(30, 90, 5)
    hours = Fraction(d.integer(2, 4 + 4 * level), 1 if level == 1 else 4)
    if level == 1:
        asked = d.pick(("distance", "time"))
        distance = v * hours
        vehicle = d.pick(("car", "bus", "train", "lorry"))
        if asked == "distance":
            question, value = (
                d.pick(
                    (
                        f"A {vehicle} travels at {v} km/h for {hours} hours. How many kilometers "
                        "does "
                        "it cover?",
                        f"How many kilometers does a {vehicle} go in {hours} hours at {v} km/h?",
                    )
                ),
                distance,
            )
        else:
            question, value = (
                d.pick(
                    (
                        f"A {vehicle} covers {distance} km at a steady {v} km/h. How many hours "
                        "does "
                        "that take?",
                        f"How many hours does a {vehicle} need for {distance} km at {v} km/h?",
                    )
                ),
                hours,
            )
        return Problem(question, value, {"asked": asked, "speed": v, "hours": hours})
    if v == w:
        return None
    case = d.pick(("meet", "overtake", "mean", "boat")[: (2, 3, 4, 4)[level - 2]])
    a, b = max(v, w), min(v, w)
    first, second = d.sample(NAMES, 2)
    parameters: dict[str, object]
    if case == "meet":
        distance = (a + b) * hours
        if distance.denominator > 1:
            return None
        question = d.pick(
            (
                f"Two towns are {distance} km apart. Two trains leave them at the same time "
                "toward "
                f"each other at {v} km/h and {w} km/h. After how many hours do they meet?",
                f"{first} and {second} start at the same moment from places {distance} km apart "
                "and "
                f"drive toward each other at {v} km/h and {w} km/h. How many hours pass until "
                "they "
                "meet?",
            )
        )
        value, parameters = hours, {"case": case, "speeds": (b, a), "distance": int(distance)}
    elif case == "overtake":
        lead = d.integer(1, 2 * level)
        value = Fraction(b * lead, a - b)
        question = d.pick(
            (
                f"A bus leaves a station at {b} km/h. A car leaves the same place {lead} "
                f"hour{'s' if lead > 1 else ''} later at {a} km/h on the same road. How many hours "
                "after its own start does the car catch up with the bus?",
                f"{first} sets out at {b} km/h. {lead} hour{'s' if lead > 1 else ''} later "
                f"{second} "
                f"follows on the same road at {a} km/h. For how many hours does {second} drive "
                f"until reaching {first}?",
            )
        )
        parameters = {"case": case, "speeds": (b, a), "lead": lead}
    elif case == "mean":
        value = Fraction(2 * a * b, a + b)
        question = d.pick(
            (
                f"{first} drives to a town at {v} km/h and back on the same road at {w} km/h. What "
                "is the average speed over the whole journey in km/h, exactly?",
                f"A courier covers the first half of a distance at {v} km/h and the second half at "
                f"{w} km/h. Find the mean speed over the whole distance in km/h, without rounding.",
            )
        )
        parameters = {"case": case, "speeds": (b, a)}
    else:
        boat, current = d.integer(8, 30), d.integer(1, 7)
        distance = Fraction(d.integer(10, 120))
        value = distance / (boat + current) + distance / (boat - current)
        question = d.pick(
            (
                f"A boat makes {boat} km/h in still water. On a river with a current of {current} "
                f"km/h it goes {distance} km downstream and the same way back. How many hours does "
                "the whole trip take, exactly?",
                f"The current of a river is {current} km/h, and a boat's speed in still water is "
                f"{boat} km/h. How many hours does it need to go {distance} km downstream and "
                "return?",
            )
        )
        parameters = {"case": case, "speeds": (current, boat), "distance": int(distance)}
    return Problem(question, value, parameters)


_UNITS: dict[str, dict[str, Fraction]] = {
    "length": {name: Fraction(value) for name, value in
               {"mm": "0.001", "cm": "0.01", "m": "1", "km": "1000"}.items()},
    "mass": {name: Fraction(value) for name, value in
             {"mg": "0.001", "g": "1", "kg": "1000", "t": "1000000"}.items()},
    "time": {name: Fraction(value) for name, value in
             {"seconds": "1", "minutes": "60", "hours": "3600", "days": "86400"}.items()},
    "area": {name: Fraction(value) for name, value in
             {"cm²": "0.0001", "dm²": "0.01", "m²": "1", "ha": "10000", "km²": "1000000"}.items()},
    "volume": {name: Fraction(value) for name, value in
               {"mL": "0.001", "cm³": "0.001", "L": "1", "dm³": "1", "m³": "1000"}.items()},
    "speed": {name: Fraction(value) for name, value in
              {"m/s": "1", "km/h": "5/18", "m/min": "1/60", "cm/s": "1/100"}.items()},
}  # fmt: skip


def terminates(value: Fraction) -> bool:
    """Return whether the value has a finite decimal form."""
    return 10**12 % value.denominator == 0


@FAMILIES.add("units")
def unit_conversion(d: Draw, level: int) -> Problem | None:
    """Exact conversions between metric units; areas, volumes and speeds at higher levels."""
    kind = d.pick(tuple(_UNITS)[: (2, 3, 4, 5, 6)[level - 1]][-4:])
    source, target = d.sample(tuple(_UNITS[kind]), 2)
    amount = Fraction(d.integer(2, 200 + 200 * level), d.pick((1, 2, 4, 5, 10)))
    value = amount * _UNITS[kind][source] / _UNITS[kind][target]
    ratio = _UNITS[kind][source] / _UNITS[kind][target]
    if ratio == 1 or not Fraction(1, 1000) <= value <= 10**7 or value.denominator > 10_000:
        return None
    question = d.pick(
        (
            f"Convert {decimal(amount)} {source} to {target} exactly.",
            f"How many {target} are {decimal(amount)} {source}?",
            f"Express {decimal(amount)} {source} in {target}.",
        )
    )
    return Problem(
        question,
        decimal(value) if terminates(value) else value,
        {"amount": amount, "from": source, "to": target},
    )


@FAMILIES.add("money")
def shopping_system(d: Draw, level: int) -> Problem | None:
    """Two purchases, two unknown prices."""
    items = d.sample(("notebook", "pencil", "eraser", "ruler", "folder", "marker", "stapler"), 2)
    top = 3 + level
    a, b, c, e = (d.integer(1, top) for _ in range(4))
    if a * e == b * c:
        return None
    cents = 100 if level <= 2 else 10 if level <= 4 else 5
    p, q = d.integer(1, 12 * (100 // cents)), d.integer(1, 12 * (100 // cents))
    if p == q:
        return None
    prices = Fraction(p * cents, 100), Fraction(q * cents, 100)
    totals = a * prices[0] + b * prices[1], c * prices[0] + e * prices[1]

    def goods(first: int, second: int) -> str:
        x, y = items
        return f"{first} {x}{'s' if first > 1 else ''} and {second} {y}{'s' if second > 1 else ''}"

    which = d.below(2)
    buys = (
        f"{goods(a, b)} cost {money(totals[0])} euros, while {goods(c, e)} cost "
        f"{money(totals[1])} euros"
    )
    question = d.pick(
        (
            f"In a shop, {buys}. How many euros does one {items[which]} cost?",
            f"{d.pick(NAMES)} notes that {buys}. What is the price of one {items[which]} in euros?",
            f"Suppose {buys}. Find the price, in euros, of a single {items[which]}.",
        )
    )
    rows = ((a, b, totals[0]), (c, e, totals[1]))
    if which:
        rows = ((b, a, totals[0]), (e, c, totals[1]))
    return Problem(question, money(prices[which]), {"purchases": tuple(sorted(rows))})
