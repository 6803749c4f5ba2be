"""Power of all devices of a run together, on one grid of time."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

import polars as pl

from analysis._energy_bridges import Bridges
from analysis._energy_chunks import chunks, samples_of
from analysis._power_held import MW, in_force
from analysis._power_hold import ages

_POINT: Final = ("run_id", "point")

_EVENTS: Final = {
    "run_id": pl.String(),
    "point": pl.Int64(),
    "power_mw": pl.Int64(),
    "covered": pl.Int64(),
    "expected": pl.Int64(),
}

_AGES: Final = {
    "run_id": pl.String(),
    "age_ns": pl.Int64(),
    "points": pl.Int64(),
    "readings": pl.Int64(),
}


_ONE: Final = pl.lit(1, pl.Int64)


@dataclass(frozen=True, slots=True)
class Changes:
    """When the power of runs changes, and what is known of it beside.

    Attributes:
        events: `run_id`, `point`, `power_mw`, `covered` and `expected` devices.
        peaks: For each run `peaks_w`, the peaks of its devices added up, `ceiling_w`,
            the most that they are believed, and `devices_count`.
        ages: For each run the rows of `ages`.
    """

    events: pl.DataFrame
    peaks: pl.DataFrame
    ages: pl.DataFrame


def changes(
    samples: pl.LazyFrame,
    held: pl.DataFrame,
    devices: pl.DataFrame,
    sensors: pl.DataFrame,
    bridges: Bridges,
) -> Changes:
    """Return at which points of its grid a run's power changes, and by how much.

    A device draws what its last sample said until the next, and is not covered in a
    silence that is too long. Devices are walked in lots; a change is one row for the
    whole run.

    Args:
        samples: Rows of PowerSamples.
        held: `run_id`, `device`, `from_ns` and `to_ns`.
        devices: Rows of `devices_of`.
        sensors: Rows of `sensors`.
        bridges: Which silences are bridged.
    """
    every, aged = pl.DataFrame(schema=_EVENTS), pl.DataFrame(schema=_AGES)
    peaks: list[pl.DataFrame] = []
    wanted = held.join(sensors, on="run_id").sort("device", "from_ns")
    mine = devices.join(wanted, on="device", how="semi").sort("device")
    for chunk in chunks(mine):
        pieces = wanted.join(chunk.select("device"), on="device", how="semi")
        placed = in_force(samples_of(samples, chunk), pieces, bridges)
        events = pl.concat([every, *_of_samples(placed), *expected_changes(pieces)])
        every = events.group_by(_POINT).agg(pl.all().sum())
        both = pl.concat([aged, ages(placed.with_columns(devices=_ONE))])
        aged = both.group_by("run_id", "age_ns", "points").agg(pl.all().sum())
        peaks.append(
            placed.group_by("run_id", "device").agg(
                pl.col("power_mw", "ceiling_mw").max()
            )
        )
    return Changes(every.sort(_POINT), _peaks(peaks), aged)


def _peaks(parts: list[pl.DataFrame]) -> pl.DataFrame:
    if not parts:
        schema = {
            "run_id": pl.String(),
            "peaks_w": pl.Float64(),
            "ceiling_w": pl.Float64(),
            "devices_count": pl.Int64(),
        }
        return pl.DataFrame(schema=schema)
    return (
        pl.concat(parts)
        .group_by("run_id")
        .agg(
            peaks_w=pl.col("power_mw").sum() / MW,
            ceiling_w=pl.col("ceiling_mw").sum() / MW,
            devices_count=pl.col("device").n_unique().cast(pl.Int64),
        )
    )


def _of_samples(placed: pl.DataFrame) -> Iterator[pl.DataFrame]:
    for column, sign in (("time_ns", 1), ("until_ns", -1)):
        events = placed.select(
            "run_id",
            point=_point(column),
            power_mw=sign * pl.col("power_mw"),
            covered=pl.lit(sign, pl.Int64),
            expected=pl.lit(0, pl.Int64),
        )
        yield events.group_by(_POINT).agg(pl.all().sum())


def expected_changes(pieces: pl.DataFrame) -> Iterator[pl.DataFrame]:
    """Yield at which points a run begins and ends to hold devices.

    Args:
        pieces: `run_id`, `from_ns`, `to_ns`, `origin_ns` and `grid_ns`.
    """
    for column, sign in (("from_ns", 1), ("to_ns", -1)):
        yield pieces.select(
            "run_id",
            point=_point(column),
            power_mw=pl.lit(0, pl.Int64),
            covered=pl.lit(0, pl.Int64),
            expected=pl.lit(sign, pl.Int64),
        )


def _point(column: str) -> pl.Expr:
    """Return the first point of the grid from a time on."""
    since = pl.col(column) - pl.col("origin_ns")
    return -(-since // pl.col("grid_ns"))


def cluster_power(events: pl.DataFrame, origin_ns: int, grid_ns: int) -> pl.DataFrame:
    """Return the power of a run at each point of its grid.

    Args:
        events: Changes of one run, sorted.
        origin_ns: Time of its first point. [ns]
        grid_ns: Time between two points. [ns]

    Returns:
        `time_ns`, `power_w` (null where any device that is sampled at all is not
        covered, and while the run held none), `covered` and `expected` devices.
    """
    last = int(events["point"][-1])
    every = pl.int_range(0, last + 1, eager=True, dtype=pl.Int64).alias("point")
    dense = every.to_frame().join(events, on="point", how="left", maintain_order="left")
    summed = dense.select(
        "point",
        pl.col("power_mw", "covered", "expected").fill_null(0).cum_sum(),
    )
    is_whole = (pl.col("covered") >= pl.col("expected")) & (pl.col("expected") > 0)
    return summed.select(
        time_ns=origin_ns + pl.col("point") * grid_ns,
        power_w=pl.when(is_whole).then(pl.col("power_mw") / MW),
        covered="covered",
        expected="expected",
    )
