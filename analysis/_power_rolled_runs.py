"""The energy of each device in each attempt, by the hours it was condensed to."""

from collections.abc import Iterator, Sequence
from typing import Final

import polars as pl

from analysis._analysis import Frames
from analysis._energy_parts import labels_of, of_devices, windows_of
from analysis._energy_run import RunEnergy
from analysis._power_rolled import Condensed
from analysis._power_rolled_energy import OF_ENERGY, integrate_hours
from analysis._power_rolled_fleet import fleet_power
from analysis._power_rolled_steps import in_steps

_ROW: Final = ("device", "window")


def condensed_parts(
    frames: Frames, run: RunEnergy, levels: Sequence[str]
) -> Iterator[pl.DataFrame]:
    """Yield the energy of each device in each attempt, a lot of devices at a time.

    Steps cut no hours: of them the fleet's power tells, attempt by attempt, in rows of
    no device.

    Args:
        frames: Hours and days of power, and the fleet's.
        run: What energy is held against.
        levels: Levels to measure, looked at together.
    """
    condensed = Condensed.of(frames, run.gpus, levels, OF_ENERGY)
    if condensed.is_empty:
        return
    held = run.held(condensed.devices, levels[0])
    if held.is_empty():
        return
    labels = labels_of(held)
    told = []
    for lot in condensed.lots(held):
        mine = held.join(lot.devices, on="device", how="semi")
        measured = integrate_hours(lot, windows_of(mine, labels), run.bridges)
        part = of_devices(measured, measured.head(0), levels).join(labels, on="window")
        yield part
        edges = measured.select(*_ROW, "method", "from_ns", "to_ns")
        told.append(part.join(edges, on=_ROW))
    fleet, grids = fleet_power(frames, condensed, held, run.bridges)
    kept = in_steps(fleet, grids, pl.concat(told), run.kept)
    nothing = part.clear().drop("productive_j", "productive_measured_ns")
    rows = pl.concat([nothing, kept], how="diagonal").with_columns(
        device=pl.lit(-1, pl.Int64), window=pl.lit(-1, pl.Int64)
    )
    yield rows.select(part.columns)
