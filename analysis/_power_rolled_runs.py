"""The energy of each device in each attempt, by the hours it was condensed to."""

from collections.abc import Iterator, Sequence
from typing import Final

import polars as pl

from analysis._analysis import Frames
from analysis._energy_parts import labels_of, of_devices, windows_of
from analysis._energy_run import RunEnergy
from analysis._power_roll_fleet import NOTHING
from analysis._power_rolled import Condensed
from analysis._power_rolled_energy import OF_ENERGY, integrate_hours
from analysis._power_rolled_fleet import days_together, grids_kept, nights_together
from analysis._power_rolled_steps import by_method, in_steps

_ROW: Final = ("device", "window")

#: What of a device the energy in kept steps is told by.
_LOOKED_AT: Final = (*_ROW, "run_id", "attempt", "level", "timed_j", "measured_ns")


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
    condensed = Condensed.of(frames, run.holdings.gpus, levels, OF_ENERGY)
    if condensed.is_empty:
        return
    grids, nights = grids_kept(frames), NOTHING
    every = run.holdings.fleet(condensed.devices)
    told = []
    for some in run.holdings.lots(condensed.devices):
        held = run.held(every, some, levels[0])
        labels = labels_of(held)
        for lot in condensed.lots(some, held):
            mine = held.join(lot.devices, on="device", how="semi")
            measured = integrate_hours(lot, windows_of(mine, labels), run.bridges)
            part = of_devices(measured, measured.head(0), levels)
            part = part.join(labels, on="window")
            yield part
            edges = measured.select(*_ROW, "method", "from_ns", "to_ns")
            told.append(by_method(part.select(_LOOKED_AT).join(edges, on=_ROW)))
            nights = nights.plus(nights_together(lot.days, mine, run.bridges, grids))
    if not told:
        return
    fleet = days_together(frames).plus(nights)
    kept = in_steps(fleet, grids, pl.concat(told), run.kept)
    nothing = part.clear().drop("productive_j", "productive_measured_ns")
    rows = pl.concat([nothing, kept], how="diagonal").with_columns(
        device=pl.lit(-1, pl.Int64), window=pl.lit(-1, pl.Int64)
    )
    yield rows.select(part.columns)
