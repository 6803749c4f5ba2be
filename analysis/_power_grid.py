"""Power of all devices of a run together, on one grid of time."""

from collections.abc import Iterator
from typing import Final

import polars as pl

from analysis._energy_chunks import chunks, samples_of
from analysis._energy_samples import one_per_time
from analysis._energy_segments import Bridges
from analysis._power_sensor import COLUMN

#: Whole milliwatts: sums of them are exact, in whatever order.
_MW: Final = 1_000

_POINT: Final = ("run_id", "point")

_EVENTS: Final = {
    "run_id": pl.String(),
    "point": pl.Int64(),
    "power_mw": pl.Int64(),
    "covered": pl.Int64(),
    "expected": pl.Int64(),
}


def changes(
    samples: pl.LazyFrame,
    held: pl.DataFrame,
    devices: pl.DataFrame,
    sensors: pl.DataFrame,
    bridges: Bridges,
) -> tuple[pl.DataFrame, pl.DataFrame]:
    """Return at which points of its grid a run's power changes, and by how much.

    A device draws what its last sample said until the next, or until a silence is too
    long. Devices are walked in lots; a change is one row for the whole run.

    Args:
        samples: Rows of PowerSamples.
        held: `run_id`, `device`, `from_ns` and `to_ns`.
        devices: Rows of `devices_of`.
        sensors: Rows of `sensors`.
        bridges: Which silences are bridged.

    Returns:
        Changes: `run_id`, `point`, `power_mw`, `covered` and `expected` devices; and
        for each run `peaks_w`, the peaks of its devices added up, and `devices_count`.
    """
    every = pl.DataFrame(schema=_EVENTS)
    peaks: list[pl.DataFrame] = []
    wanted = held.join(sensors, on="run_id").sort("device", "from_ns")
    mine = devices.join(wanted, on="device", how="semi").sort("device")
    for chunk in chunks(mine):
        pieces = wanted.join(chunk.select("device"), on="device", how="semi")
        placed = _placed(samples_of(samples, chunk), pieces, bridges)
        events = pl.concat([every, *_of_samples(placed), *_of_pieces(pieces)])
        every = events.group_by(_POINT).agg(pl.all().sum())
        peaks.append(
            placed.group_by("run_id", "device").agg(peak_mw=pl.col("power_mw").max())
        )
    return every.sort(_POINT), _peaks(peaks)


def _peaks(parts: list[pl.DataFrame]) -> pl.DataFrame:
    if not parts:
        schema = {
            "run_id": pl.String(),
            "peaks_w": pl.Float64(),
            "devices_count": pl.Int64(),
        }
        return pl.DataFrame(schema=schema)
    return (
        pl.concat(parts)
        .group_by("run_id")
        .agg(
            peaks_w=pl.col("peak_mw").sum() / _MW,
            devices_count=pl.col("device").n_unique().cast(pl.Int64),
        )
    )


def _placed(read: pl.DataFrame, pieces: pl.DataFrame, bridges: Bridges) -> pl.DataFrame:
    """Give samples the run that held their device, and until when they hold."""
    joined = (
        one_per_time(read)
        .sort("time_ns")
        .join_asof(
            pieces.sort("from_ns"),
            left_on="time_ns",
            right_on="from_ns",
            by="device",
            strategy="backward",
            check_sortedness=False,
        )
    )
    power = pl.when(pl.col("semantics") == "instant").then(COLUMN["instant"])
    inside = joined.filter(pl.col("time_ns") < pl.col("to_ns")).with_columns(
        _power=power.otherwise(COLUMN["average"])
    )
    believed = inside.filter(pl.col("_power") <= pl.col("ceiling_w"))
    ordered = believed.sort("device", "time_ns")
    length = (pl.col("time_ns").shift(-1) - pl.col("time_ns")).over("device")
    return ordered.with_columns(
        power_mw=(pl.col("_power") * _MW).round().cast(pl.Int64),
        _until=pl.col("time_ns")
        + pl.when(length.is_not_null())
        .then(pl.min_horizontal(length, bridges.allowed(length).cast(pl.Int64)))
        .otherwise("interval_ns"),
    ).with_columns(until_ns=pl.min_horizontal("_until", "to_ns"))


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


def _of_pieces(pieces: pl.DataFrame) -> Iterator[pl.DataFrame]:
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
        power_w=pl.when(is_whole).then(pl.col("power_mw") / _MW),
        covered="covered",
        expected="expected",
    )
