"""Hours of devices by way of the measures that samples are otherwise given to."""

from typing import Final

import polars as pl

from analysis._energy_bridges import Bridges
from analysis._energy_choice import METHODS
from analysis._energy_measure import DOUBTS, of_method, place_samples, segments_of
from analysis._energy_samples import mark_doubts, one_per_time
from analysis._energy_segments import LEAST_LIMIT_W
from analysis._power_roll_columns import OF_COUNTER, OF_METHOD, OF_POWER, SHORT
from analysis._power_roll_days import days_of, xid_changes
from analysis._power_roll_fleet import Grids, fleet_of, readings_of
from analysis._power_roll_lots import Lot, Rolled
from analysis._power_roll_pieces import PIECE
from analysis._throttle_times import loads, placed_in, slowed
from ingest.tables import PowerSamples

#: Columns of a piece that the joule is kept in thousands of.
_MILLI: Final = {"energy_j": "mj", "credit_j": "credit_mj"}


def general(lot: Lot, bridges: Bridges, grids: Grids) -> Rolled:
    """Condense samples of any kind.

    Args:
        lot: Samples of some devices, whole.
        bridges: Which silences are bridged.
        grids: Points of time that the power of all is told at.
    """
    marked = mark_doubts(one_per_time(lot.samples))
    segments = segments_of(marked, bridges)
    boards = lot.samples.filter(PowerSamples.level.col == "gpu_board")
    placed = placed_in(boards, lot.held)
    hours = _hours(marked, segments, lot.pieces).join(
        _slowed(placed, lot.pieces, bridges), on=PIECE, how="left"
    )
    return Rolled(
        hours,
        days_of(lot.samples, marked, segments, placed),
        fleet_of(readings_of(marked, segments), lot.spans, grids),
        xid_changes(lot.samples),
    )


def _hours(
    marked: pl.DataFrame,
    segments: dict[str, pl.DataFrame],
    pieces: pl.DataFrame,
) -> pl.DataFrame:
    windows = pieces.select("device", "from_ns", "to_ns", window="piece")
    placed = place_samples(marked, _taken(pieces))
    found = pieces
    for method in METHODS:
        told = of_method(method, segments[method], (marked, placed), windows)
        found = found.join(_of(method, told, placed), on=PIECE, how="left")
    common = placed.group_by("device", piece="window").agg(
        pl.col(DOUBTS).any(),
        samples_count=pl.len().cast(pl.Int64),
        limit_w=_limit().max(),
        temperature_c=pl.col("temperature_c").max(),
    )
    joined = found.join(common, on=PIECE, how="left")
    return joined.with_columns(
        pl.col("samples_count").fill_null(0), doubts=_doubts()
    ).drop(DOUBTS, *(f"{SHORT[c]}_{m}" for c in SHORT for m in OF_METHOD.values()))


def _taken(pieces: pl.DataFrame) -> pl.DataFrame:
    """Return the pieces from the first time on whose samples are theirs."""
    return pieces.select("device", "to_ns", window="piece", from_ns="taken_from_ns")


def _limit() -> pl.Expr:
    limit = PowerSamples.power_limit_w.col
    return pl.when(limit >= LEAST_LIMIT_W).then(limit)


def _of(method: str, told: pl.DataFrame, placed: pl.DataFrame) -> pl.DataFrame:
    """Return the columns of one method; null where it tells nothing of the device."""
    short = SHORT[METHODS[method]]
    peaks = placed.group_by("device", "window").agg(
        peak_w=pl.lit(None, pl.Float64)
        if method == "counter"
        else pl.col(f"_{short}").max()
    )
    joined = told.join(peaks, on=["device", "window"], how="left").with_columns(
        (pl.col(joules) * 1_000).round().cast(pl.Int64).alias(name)
        for joules, name in _MILLI.items()
    )
    is_known = pl.col("reads") > 0
    names = OF_COUNTER if method == "counter" else OF_POWER
    return joined.select(
        "device",
        pl.col("window").alias("piece"),
        *(pl.when(is_known).then(name).alias(f"{short}_{name}") for name in names),
        *(pl.col(flag).alias(f"{short}_{mark}") for flag, mark in OF_METHOD.items()),
    )


def _doubts() -> pl.Expr:
    """Return the names of what is to be doubted of a piece, separated by commas."""
    names = {
        **{flag: flag.removeprefix("is_") for flag in DOUBTS},
        **{
            f"{short}_{mark}": f"{short}_{mark}"
            for short in SHORT.values()
            for mark in OF_METHOD.values()
        },
    }
    told = [pl.when(pl.col(flag)).then(pl.lit(name)) for flag, name in names.items()]
    joined = pl.concat_str(told, separator=",", ignore_nulls=True)
    return pl.when(joined != "").then(joined)


def _slowed(
    placed: pl.DataFrame, pieces: pl.DataFrame, bridges: Bridges
) -> pl.DataFrame:
    """Return the time slowed, and the load, of pieces that runs held."""
    starts = pieces.select("device", "piece", taken_from_ns="taken_from_ns")
    lettered = placed.sort("time_ns").join_asof(
        starts.sort("taken_from_ns"),
        left_on="time_ns",
        right_on="taken_from_ns",
        by="device",
        strategy="backward",
        check_sortedness=False,
    )
    ordered = lettered.sort("device", "from_ns", "time_ns")
    return slowed(ordered, PIECE, bridges).join(
        loads(ordered, PIECE), on=PIECE, how="full", coalesce=True
    )
