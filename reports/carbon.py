"""Carbon of electricity: which intensity holds where, and what energy comes to."""

import csv
from collections.abc import Mapping
from dataclasses import dataclass
from decimal import Decimal
from functools import cache
from importlib.resources import files
from typing import Final

from reports.dollars import J_PER_KWH

#: Mean of the world, where no region is known. [g/kWh]
#: Source: IEA, Global Energy & CO2 Status Report 2019.
WORLD_G_PER_KWH: Final = Decimal(475)

#: Power of a facility over that of its machines where no run card tells it: what is
#: said with it is said to be an estimate, and no sum of money holds it. [1]
#: Source: Uptime Institute, Global Data Center Survey 2025, weighted average.
USUAL_PUE: Final = Decimal("1.54")

_WORLD: Final = "world mean of 2018, IEA 2019: no region on the run card"

_TABLE: Final = "carbon.csv"

_G_PER_KG: Final = 1000


@dataclass(frozen=True, slots=True)
class Intensity:
    """Carbon of a kilowatt-hour, and who said so.

    Attributes:
        g_per_kwh: Carbon dioxide, or what warms as much. [g/kWh]
        source: Who said so, of when.
    """

    g_per_kwh: Decimal
    source: str


@dataclass(frozen=True, slots=True)
class Overhead:
    """Power of a facility over that of its machines, and who said so.

    Attributes:
        pue: The quotient. [1]
        source: Who said so.
        is_told: Whether the run card did.
    """

    pue: Decimal
    source: str
    is_told: bool


def intensity_of(region: str | None, g_per_kwh: float | None) -> Intensity:
    """Return the intensity for a run: its card's, its region's, else the world's.

    Args:
        region: Region on the run card: a country by its three letters, or a cloud's.
        g_per_kwh: Intensity on the run card. [g/kWh]
    """
    if g_per_kwh is not None:
        return Intensity(Decimal(str(g_per_kwh)), "run card")
    if region is None:
        return Intensity(WORLD_G_PER_KWH, _WORLD)
    found = _regions().get(region.casefold())
    if found is None:
        source = f"world mean of 2018, IEA 2019: no table knows region {region!r}"
        return Intensity(WORLD_G_PER_KWH, source)
    return found


def overhead_of(pue: float | None) -> Overhead:
    """Return the overhead of the facility of a run: its card's, else the usual one.

    Args:
        pue: That of the run card. [1]
    """
    if pue is not None:
        return Overhead(Decimal(str(pue)), "run card", is_told=True)
    source = "Uptime Institute's weighted average of 2025"
    return Overhead(USUAL_PUE, source, is_told=False)


def facility_kwh(energy_j: float, pue: Decimal) -> Decimal:
    """Return the energy of the facility for that of its machines. [kWh]

    Args:
        energy_j: Energy of the machines. [J]
        pue: Power of the facility over theirs. [1]
    """
    return Decimal(energy_j) / J_PER_KWH * pue


def carbon_kg(energy_j: float, pue: Decimal, intensity: Intensity) -> Decimal:
    """Return the carbon of energy: kWh of the machines x PUE x intensity. [kg]

    Args:
        energy_j: Energy of the machines. [J]
        pue: Power of the facility over theirs. [1]
        intensity: Carbon of a kilowatt-hour.
    """
    return facility_kwh(energy_j, pue) * intensity.g_per_kwh / _G_PER_KG


@cache
def _regions() -> Mapping[str, Intensity]:
    """Return the intensity of each region by its name, in small letters."""
    text = files("reports").joinpath(_TABLE).read_text(encoding="utf-8")
    lines = [line for line in text.splitlines() if not line.startswith("#")]
    return {
        row["region"].casefold(): Intensity(Decimal(row["g_per_kwh"]), _said(row))
        for row in csv.DictReader(lines)
    }


def _said(row: Mapping[str, str]) -> str:
    year = f"of {row['year']}" if row["year"] else "of a year that is not told"
    return f"{row['name']} {year}, in CodeCarbon's table"
