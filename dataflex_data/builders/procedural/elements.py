"""Elements, compounds and reactions that questions of chemistry use.

Names, symbols, numbers, standard atomic masses and natural isotopes come from the package
``periodictable`` (NIST; public domain). Group and period follow from the atomic number. Masses are
used rounded to two decimals, and every question that needs them says them, so that a later revision
of a standard value changes no answer. Compounds and reactions are few and common; the tests parse
them with other packages and balance every reaction.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from math import floor

NOBLE = (2, 10, 18, 36, 54, 86, 118)
_LARGEST = 103


@dataclass(frozen=True, slots=True)
class Element:
    """One element.

    Attributes:
        number: Atomic number.
        symbol: Chemical symbol.
        name: English name, lower case.
        mass: Standard molar mass in g/mol, two decimals.
        period: Row of the periodic table.
        group: Column 1 to 18; 0 for lanthanides and actinides.
        isotopes: Mass numbers of the isotopes found in nature.
    """

    number: int
    symbol: str
    name: str
    mass: Fraction
    period: int
    group: int
    isotopes: tuple[int, ...]

    @property
    def is_main_group(self) -> bool:
        """Whether the element is of groups 1, 2 and 13 to 18."""
        return self.group in (1, 2, 13, 14, 15, 16, 17, 18)

    @property
    def valence_electrons(self) -> int:
        """Electrons in the outermost shell of a main-group element."""
        if self.number == 2:
            return 2
        return self.group if self.group <= 2 else self.group - 10


@lru_cache(maxsize=1)
def elements() -> tuple[Element, ...]:
    """Return the elements up to lawrencium; entry ``n - 1`` has atomic number ``n``."""
    import periodictable

    found = []
    for number in range(1, _LARGEST + 1):
        entry = periodictable.elements[number]
        mass = Fraction(str(entry.mass))
        period, group = place(number)
        isotopes = tuple(
            mass_number for mass_number in entry.isotopes if entry[mass_number].abundance > 0
        )
        found.append(
            Element(
                number,
                entry.symbol,
                entry.name,
                Fraction(floor(mass * 100 + Fraction(1, 2)), 100),
                period,
                group,
                isotopes,
            )
        )
    return tuple(found)


def place(number: int) -> tuple[int, int]:
    """Return (period, group) of an atomic number; group 0 for the f-block."""
    period = next(row for row, last in enumerate(NOBLE, start=1) if number <= last)
    before = NOBLE[period - 2] if period > 1 else 0
    position, length = number - before, NOBLE[period - 1] - before
    if position <= 2 and number != 2:
        return period, position
    if length == 32:
        if position <= 16:
            return period, 0
        return period, position - 14
    return period, position + 18 - length


@lru_cache(maxsize=1)
def by_symbol() -> Mapping[str, Element]:
    """Return the elements by symbol."""
    return {element.symbol: element for element in elements()}


_ATOMS = re.compile(r"([A-Z][a-z]?)(\d*)|\(([^()]*)\)(\d*)")


@lru_cache(maxsize=512)
def composition(formula: str) -> Mapping[str, int]:
    """Return the number of atoms by symbol, in order of appearance."""
    counts: Counter[str] = Counter()
    for symbol, times, inner, group_times in _ATOMS.findall(formula):
        if symbol:
            counts[symbol] += int(times or 1)
        else:
            for part, count in composition(inner).items():
                counts[part] += count * int(group_times or 1)
    return dict(counts)


def molar_mass(formula: str) -> Fraction:
    """Return the molar mass in g/mol from masses rounded to two decimals."""
    table = by_symbol()
    return sum(
        (table[symbol].mass * count for symbol, count in composition(formula).items()), Fraction(0)
    )


def given_masses(*formulas: str) -> str:
    """Return ``(Molar masses in g/mol: H 1.01, O 16.00.)`` for all elements of the formulas."""
    table = by_symbol()
    symbols = dict.fromkeys(symbol for formula in formulas for symbol in composition(formula))
    listed = ", ".join(f"{symbol} {_two_decimals(table[symbol].mass)}" for symbol in symbols)
    return f"(Molar masses in g/mol: {listed}.)"


def _two_decimals(mass: Fraction) -> str:
    digits = f"{int(mass * 100):03}"
    return f"{digits[:-2]}.{digits[-2:]}"


# In the order of use: lower levels take the first ones only.
COMPOUNDS: Mapping[str, str] = {
    "water": "H2O", "carbon dioxide": "CO2", "ammonia": "NH3", "methane": "CH4",
    "sodium chloride": "NaCl", "carbon monoxide": "CO", "sulfur dioxide": "SO2",
    "magnesium oxide": "MgO", "calcium oxide": "CaO", "potassium chloride": "KCl",
    "hydrogen peroxide": "H2O2", "nitrogen dioxide": "NO2", "dinitrogen oxide": "N2O",
    "silicon dioxide": "SiO2", "titanium dioxide": "TiO2", "zinc sulfide": "ZnS",
    "sodium hydroxide": "NaOH", "potassium hydroxide": "KOH", "lithium hydroxide": "LiOH",
    "propane": "C3H8", "butane": "C4H10", "benzene": "C6H6", "octane": "C8H18",
    "calcium chloride": "CaCl2", "iron(III) oxide": "Fe2O3", "aluminum oxide": "Al2O3",
    "nitric acid": "HNO3", "calcium carbonate": "CaCO3", "sulfuric acid": "H2SO4",
    "silver nitrate": "AgNO3", "copper(II) sulfate": "CuSO4", "magnesium sulfate": "MgSO4",
    "sodium carbonate": "Na2CO3", "sodium hydrogen carbonate": "NaHCO3",
    "barium sulfate": "BaSO4", "potassium permanganate": "KMnO4", "phosphoric acid": "H3PO4",
    "glucose": "C6H12O6", "ethanol": "C2H5OH", "acetic acid": "CH3COOH", "urea": "CO(NH2)2",
    "ammonium nitrate": "NH4NO3", "calcium hydroxide": "Ca(OH)2", "lead(II) nitrate": "Pb(NO3)2",
    "sucrose": "C12H22O11", "aluminum sulfate": "Al2(SO4)3", "calcium phosphate": "Ca3(PO4)2",
    "potassium dichromate": "K2Cr2O7", "ammonium sulfate": "(NH4)2SO4",
}  # fmt: skip

REACTIONS = (
    "2 H2 + O2 → 2 H2O",
    "N2 + 3 H2 → 2 NH3",
    "2 Mg + O2 → 2 MgO",
    "CaCO3 → CaO + CO2",
    "C + O2 → CO2",
    "2 Na + Cl2 → 2 NaCl",
    "CH4 + 2 O2 → CO2 + 2 H2O",
    "Zn + 2 HCl → ZnCl2 + H2",
    "2 KClO3 → 2 KCl + 3 O2",
    "4 Al + 3 O2 → 2 Al2O3",
    "C3H8 + 5 O2 → 3 CO2 + 4 H2O",
    "4 Fe + 3 O2 → 2 Fe2O3",
    "Fe2O3 + 3 CO → 2 Fe + 3 CO2",
    "2 H2O2 → 2 H2O + O2",
    "2 C2H6 + 7 O2 → 4 CO2 + 6 H2O",
    "4 NH3 + 5 O2 → 4 NO + 6 H2O",
    "2 C8H18 + 25 O2 → 16 CO2 + 18 H2O",
    "C6H12O6 → 2 C2H5OH + 2 CO2",
    "2 NaHCO3 → Na2CO3 + H2O + CO2",
    "2 Al + 3 CuSO4 → Al2(SO4)3 + 3 Cu",
    "Fe2O3 + 2 Al → Al2O3 + 2 Fe",
    "H3PO4 + 3 NaOH → Na3PO4 + 3 H2O",
    "2 SO2 + O2 → 2 SO3",
    "2 CO + O2 → 2 CO2",
    "Mg + 2 HCl → MgCl2 + H2",
    "2 Al + 6 HCl → 2 AlCl3 + 3 H2",
    "2 K + 2 H2O → 2 KOH + H2",
    "Ca + 2 H2O → Ca(OH)2 + H2",
    "2 NaOH + H2SO4 → Na2SO4 + 2 H2O",
    "Na2CO3 + 2 HCl → 2 NaCl + H2O + CO2",
    "CaCO3 + 2 HCl → CaCl2 + H2O + CO2",
    "2 H2S + 3 O2 → 2 H2O + 2 SO2",
    "CS2 + 3 O2 → CO2 + 2 SO2",
    "2 C4H10 + 13 O2 → 8 CO2 + 10 H2O",
    "C2H5OH + 3 O2 → 2 CO2 + 3 H2O",
    "2 CH3OH + 3 O2 → 2 CO2 + 4 H2O",
    "C6H12O6 + 6 O2 → 6 CO2 + 6 H2O",
    "C5H12 + 8 O2 → 5 CO2 + 6 H2O",
    "2 C6H6 + 15 O2 → 12 CO2 + 6 H2O",
    "2 NO + O2 → 2 NO2",
    "3 Fe + 4 H2O → Fe3O4 + 4 H2",
    "WO3 + 3 H2 → W + 3 H2O",
    "2 Fe + 3 Cl2 → 2 FeCl3",
    "TiCl4 + 2 Mg → Ti + 2 MgCl2",
    "4 FeS2 + 11 O2 → 2 Fe2O3 + 8 SO2",
    "2 AgNO3 + Cu → Cu(NO3)2 + 2 Ag",
    "Pb(NO3)2 + 2 KI → PbI2 + 2 KNO3",
    "3 Ca(OH)2 + 2 H3PO4 → Ca3(PO4)2 + 6 H2O",
    "Al2(SO4)3 + 6 NaOH → 2 Al(OH)3 + 3 Na2SO4",
    "4 Li + O2 → 2 Li2O",
    "6 Li + N2 → 2 Li3N",
    "3 NO2 + H2O → 2 HNO3 + NO",
    "2 Pb(NO3)2 → 2 PbO + 4 NO2 + O2",
    "(NH4)2Cr2O7 → N2 + Cr2O3 + 4 H2O",
    "SiO2 + 2 C → Si + 2 CO",
    "2 H2 + CO → CH3OH",
    "2 KMnO4 + 16 HCl → 2 KCl + 2 MnCl2 + 5 Cl2 + 8 H2O",
)


@lru_cache(maxsize=64)
def sides(reaction: str) -> tuple[tuple[tuple[int, str], ...], tuple[tuple[int, str], ...]]:
    """Return (coefficient, formula) of the reactants and of the products."""

    def read(side: str) -> tuple[tuple[int, str], ...]:
        terms = [term.split(" ") for term in side.strip().split(" + ")]
        return tuple((int(term[0]) if len(term) > 1 else 1, term[-1]) for term in terms)

    left, right = reaction.split("→")
    return read(left), read(right)
