"""What the sensors of a run can show: how often they say something new, and of what."""

from typing import Final

import polars as pl

from analysis._energy_chunks import samples_of
from analysis._energy_refresh import refresh
from analysis._energy_samples import one_per_time
from ingest.times import SECOND_NS

#: Devices whose sensors are looked at: those of one fleet are alike.
LOOKED_AT: Final = 64

#: Share of the averaged samples from which instant ones stand for all. [1]
ENOUGH_RATIO: Final = 0.95

#: Column of power by what it means.
COLUMN: Final = {"instant": "power_instant_w", "average": "power_average_w"}

#: What a grid may be spaced by: each divides the next, and the longer windows. Its
#: points are whole multiples since the epoch, so that those of days are one grid. [ns]
GRIDS_NS: Final = tuple(
    round(seconds * SECOND_NS) for seconds in (0.05, 0.1, 0.5, 1, 5, 10, 30, 60)
)

#: Points of a grid that are held at once: two days at 50 ms, and 54 days at 5 s.
MOST_POINTS: Final = 4_000_000


def sensors(
    samples: pl.LazyFrame, held: pl.DataFrame, devices: pl.DataFrame
) -> pl.DataFrame:
    """Return what the sensors of each run are like.

    Args:
        samples: Rows of PowerSamples.
        held: `run_id`, `device`, `from_ns` and `to_ns`.
        devices: Rows of `devices_of`.

    Returns:
        `run_id`, `semantics`, `interval_ns` (median time between two samples; the time
        held where no device has two),
        `refresh_ns` (median time between two changes, never below the interval),
        `origin_ns`, `last_ns` and `grid_ns`, sorted by run.
    """
    picked = picked_of(held)
    chosen = devices.join(picked.select("device").unique(), on="device", how="semi")
    read = one_per_time(samples_of(samples, chosen.sort("device")))
    told = [
        _of_column(read, column).with_columns(semantics=pl.lit(name))
        for name, column in COLUMN.items()
    ]
    return sensors_of(picked, pl.concat(told))


def picked_of(held: pl.DataFrame) -> pl.DataFrame:
    """Return the devices of each run whose sensors are looked at.

    Args:
        held: `run_id`, `device`, `from_ns` and `to_ns`.

    Returns:
        `run_id`, `origin_ns`, `last_ns` and `device`.
    """
    spans = held.group_by("run_id").agg(
        origin_ns=pl.col("from_ns").min(),
        last_ns=pl.col("to_ns").max(),
        device=pl.col("device").unique().sort(),
    )
    return spans.with_columns(
        device=pl.col("device").list.gather_every(
            (pl.col("device").list.len() // LOOKED_AT).clip(1)
        )
    ).explode("device")


def sensors_of(picked: pl.DataFrame, told: pl.DataFrame) -> pl.DataFrame:
    """Return what the sensors of runs are like by those of some devices.

    Args:
        picked: Rows of `picked_of`.
        told: `device`, `semantics`, `samples`, `interval_ns` and `refresh_ns`.
    """
    of_devices = picked.join(told, on="device")
    found = of_devices.group_by("run_id", "semantics", "origin_ns", "last_ns").agg(
        pl.col("samples").sum(),
        pl.col("interval_ns").median(),
        pl.col("refresh_ns").median(),
    )
    return _with_grid(_best(found.with_columns(_or_held("interval_ns", "refresh_ns"))))


def _or_held(*columns: str) -> list[pl.Expr]:
    """Say the time held where devices have one sample each, and no time between two."""
    held = (pl.col("last_ns") - pl.col("origin_ns")).cast(pl.Float64)
    return [pl.coalesce(name, held) for name in columns]


def _of_column(read: pl.DataFrame, column: str) -> pl.DataFrame:
    known = read.filter(pl.col(column) <= pl.col("ceiling_w"))
    interval = pl.col("time_ns").diff().median()
    span = pl.col("time_ns").max() - pl.col("time_ns").min()
    counted = known.group_by("device").agg(
        samples=pl.len(), interval_ns=interval, _span=span
    )
    joined = counted.join(refresh(known, column), on="device", how="left")
    # a reading that never changed said nothing new in all that time
    still = pl.coalesce("refresh_ns", pl.col("_span").cast(pl.Float64))
    return joined.with_columns(refresh_ns=still).drop("_span")


def _best(found: pl.DataFrame) -> pl.DataFrame:
    """Take instant power where there is enough of it: an average hides swings."""
    is_instant = pl.col("semantics") == "instant"
    most = pl.col("samples").max().over("run_id")
    fit = found.filter(~is_instant | (pl.col("samples") >= ENOUGH_RATIO * most))
    best = fit.sort("run_id", ~is_instant).unique(
        "run_id", keep="first", maintain_order=True
    )
    return best.with_columns(
        refresh_ns=pl.max_horizontal("refresh_ns", "interval_ns").cast(pl.Int64),
        interval_ns=pl.col("interval_ns").cast(pl.Int64),
    ).drop("samples")


def _with_grid(found: pl.DataFrame) -> pl.DataFrame:
    """Space the grid by half a refresh, wider where a run is too long for it."""
    length = pl.col("last_ns") - pl.col("origin_ns")
    grid = pl.lit(GRIDS_NS[0], pl.Int64)
    for wider, narrower in zip(GRIDS_NS[1:], GRIDS_NS, strict=False):
        is_fine = pl.col("refresh_ns") >= 2 * wider
        is_long = length // narrower > MOST_POINTS
        grid = pl.when(is_fine | is_long).then(wider).otherwise(grid)
    return found.with_columns(
        origin_ns=pl.col("origin_ns") // GRIDS_NS[-1] * GRIDS_NS[-1], grid_ns=grid
    ).sort("run_id")


def grid_of(samples: pl.DataFrame, column: str) -> int:
    """Return how a grid is spaced by what some devices show. [ns]

    Args:
        samples: Rows of PowerSamples with `device`, sorted by it and by time.
        column: Column of the value.
    """
    first = samples["device"].unique(maintain_order=True).head(LOOKED_AT).implode()
    some = samples.filter(pl.col("device").is_in(first))
    changes = refresh(some, column)["refresh_ns"].median()
    spaced = some.group_by("device").agg(apart=pl.col("time_ns").diff().median())
    usual = [changes or 0.0, spaced["apart"].median() or 0.0]
    refresh_ns = max(float(str(value)) for value in usual)
    fitting = [grid for grid in GRIDS_NS if refresh_ns >= 2 * grid]
    return max(fitting, default=GRIDS_NS[0])
