"""Energy of runs in words: for a step and a token, of a facility, as carbon."""

from collections.abc import Iterable
from dataclasses import dataclass
from decimal import Decimal
from typing import Final

import polars as pl

from reports._numbers import THIN, compact, significant
from reports._words import listed, name
from reports.carbon import (
    Intensity,
    Overhead,
    carbon_kg,
    facility_kwh,
    intensity_of,
    overhead_of,
)
from reports.dollars import J_PER_KWH

#: Level of the supply of nodes, which holds their GPUs.
SUPPLY: Final = "node_ac"

#: Units of energy, from how many joules on. [J]
_UNITS: Final = ((3.6e6, "kWh"), (1e6, "MJ"), (1e3, "kJ"), (1.0, "J"), (1e-3, "mJ"))

#: Sentences of single runs; more are in the table.
_MOST_SAID: Final = 2


@dataclass(frozen=True, slots=True)
class Footprint:
    """What the energy of a run comes to beyond its machines.

    Attributes:
        kwh: Energy of the machines. [kWh]
        facility_kwh: Energy of the facility. [kWh]
        carbon_kg: Its carbon. [kg]
        overhead: What made the one of the other.
        intensity: Carbon of a kilowatt-hour.
    """

    kwh: Decimal
    facility_kwh: Decimal
    carbon_kg: Decimal
    overhead: Overhead
    intensity: Intensity


def joules(energy_j: float) -> str:
    """Return an amount of energy in the unit that a person would say."""
    size, unit = next((one for one in _UNITS if energy_j >= one[0]), _UNITS[-1])
    return f"{compact(energy_j / size)}{THIN}{unit}"


def whole_runs(rows: pl.DataFrame) -> pl.DataFrame:
    """Return the rows of whole runs with energy, that of their supply left out.

    Args:
        rows: Rows of EnergyRuns.
    """
    whole = rows.filter(pl.col("attempt").is_null() & pl.col("energy_j").is_not_null())
    return whole.sort("run_id", "level")


def footprint(energy_j: float, card: dict[str, object] | None) -> Footprint:
    """Return what energy comes to.

    Args:
        energy_j: Energy of the machines. [J]
        card: The run's row of RunCards; None without a card.
    """
    told = card or {}
    overhead = overhead_of(_number(told.get("pue")))
    region = told.get("region")
    intensity = intensity_of(
        None if region is None else str(region), _number(told.get("carbon_g_per_kwh"))
    )
    return Footprint(
        kwh=Decimal(energy_j) / J_PER_KWH,
        facility_kwh=facility_kwh(energy_j, overhead.pue),
        carbon_kg=carbon_kg(energy_j, overhead.pue, intensity),
        overhead=overhead,
        intensity=intensity,
    )


def per_work(runs: pl.DataFrame) -> str:
    """Return what a step and a token took, or why that is not told.

    Args:
        runs: Rows of `whole_runs`, of GPUs.
    """
    told = [_of_work(row, alone=runs.height == 1) for row in runs.to_dicts()]
    return " ".join(told[:_MOST_SAID])


def _of_work(row: dict[str, object], *, alone: bool) -> str:
    where = "" if alone else f" of {name(str(row['run_id']), 30)}"
    step, token = row["j_per_step"], row["j_per_token"]
    if isinstance(step, float):
        tokens = f", a token {joules(token)}" if isinstance(token, float) else ""
        return f"A kept step{where} took {joules(step)}{tokens}."
    if not row["steps"]:
        return f"No step{where} is known, so energy is not told for each."
    return (
        f"Energy of a step{where} is not told: less than 95{THIN}% of the GPU time in"
        " kept steps was measured."
    )


def carbon(runs: pl.DataFrame, cards: dict[str, dict[str, object]]) -> str:
    """Return the energy of the facility and its carbon, with where both come from.

    Args:
        runs: Rows of `whole_runs`, of GPUs.
        cards: Rows of RunCards by run.
    """
    found = [
        footprint(float(energy), cards.get(run_id))
        for run_id, energy in runs.select("run_id", "energy_j").iter_rows()
    ]
    if not found:
        return ""
    facility = sum((one.facility_kwh for one in found), Decimal())
    kilograms = sum((one.carbon_kg for one in found), Decimal())
    is_told = all(one.overhead.is_told for one in found)
    about = "" if is_told else "about "
    return (
        f"With what the facility adds, {about}{compact(facility)}{THIN}kWh and {about}"
        f"{significant(kilograms)}{THIN}kg of CO\N{SUBSCRIPT TWO}e:"
        f" {_overheads(found)}; {_intensities(found)}."
    )


def _overheads(found: Iterable[Footprint]) -> str:
    told = {f"PUE {one.overhead.pue} ({one.overhead.source})" for one in found}
    return listed(sorted(told))


def _intensities(found: Iterable[Footprint]) -> str:
    told = {
        f"{one.intensity.g_per_kwh}{THIN}g/kWh ({one.intensity.source})"
        for one in found
    }
    return listed(sorted(told))


def _number(value: object) -> float | None:
    return value if isinstance(value, float) else None
