"""Sensors of runs and changes of their power, by samples of power."""

from collections.abc import Sequence
from typing import NamedTuple

import polars as pl

from analysis._analysis import Frames
from analysis._energy_bridges import Bridges
from analysis._energy_chunks import devices_of
from analysis._energy_holdings import Holdings
from analysis._power_grid import Changes, changes
from analysis._power_sensor import sensors
from ingest.tables import PowerSamples


class Seen(NamedTuple):
    """Rows of `sensors`, and when the power of these runs changes.

    Ages are told at points that are `aged_ns` apart.
    """

    sensors: pl.DataFrame
    changes: Changes


def sampled_changes(
    frames: Frames, holdings: Holdings, levels: Sequence[str], bridges: Bridges
) -> Seen | None:
    """Return the changes of runs whose samples are there, None where none are.

    Args:
        frames: Samples of power.
        holdings: Who held what.
        levels: Levels of one GPU.
        bridges: Which silences of a sensor are bridged.
    """
    samples = frames[PowerSamples].filter(PowerSamples.level.col.is_in(levels))
    devices = devices_of(samples, holdings.gpus)
    if devices.is_empty():
        return None
    held = holdings.of_gpus(holdings.fleet(devices), devices)
    if held.is_empty():
        return None
    told = sensors(samples, held, devices).with_columns(aged_ns="grid_ns")
    return Seen(told, changes(samples, held, devices, told, bridges))


def together(parts: Sequence[Seen]) -> Seen:
    """Return all parts as one.

    Args:
        parts: One at least; a run is in one of them.
    """
    found = [part.changes for part in parts]
    return Seen(
        pl.concat([part.sensors for part in parts]),
        Changes(
            pl.concat([one.events for one in found]),
            pl.concat([one.peaks for one in found]),
            pl.concat([one.ages for one in found], how="diagonal"),
        ),
    )
