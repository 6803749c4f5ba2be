"""Windows in which clocks are compared: profiling comes in spells."""

from typing import Final

import polars as pl

from ingest.times import SECOND_NS

#: Silence that ends a window. Clocks of a cluster are rarely that far apart. [ns]
SILENCE_NS: Final = 60 * SECOND_NS

#: Length of a window. A drift changes with temperature, and clocks are set. [ns]
MOST_WINDOW_NS: Final = 600 * SECOND_NS

#: Length of time that sightings are counted in. [ns]
BIN_NS: Final = 10 * SECOND_NS

_ATTEMPT: Final = ("run_id", "attempt")


def sightings(rows: pl.LazyFrame) -> pl.LazyFrame:
    """Return when each clock was read: one row a clock and ten seconds.

    Args:
        rows: Rows with `run_id`, `attempt`, `clock`, `host`, `trace_id`, `start_ns`
            and `end_ns`.
    """
    by = (*_ATTEMPT, "clock", pl.col("start_ns").floordiv(BIN_NS).alias("bin"))
    return rows.group_by(by).agg(
        host=pl.col("host").min(),
        trace_id=pl.col("trace_id").min(),
        from_ns=pl.col("start_ns").min(),
        to_ns=pl.max_horizontal("start_ns", "end_ns").max(),
    )


def number_windows(seen: pl.DataFrame) -> pl.DataFrame:
    """Return the windows of each attempt, parted by silence and of bounded length.

    Args:
        seen: Rows of `sightings`.

    Returns:
        Columns run_id, attempt, bin and window: each bin with its window.
    """
    bins = seen.select(*_ATTEMPT, "bin").unique().sort(*_ATTEMPT, "bin")
    silence = pl.col("bin").diff().over(_ATTEMPT) > SILENCE_NS // BIN_NS
    spells = bins.with_columns(spell=silence.fill_null(value=True).cum_sum())
    since = (pl.col("bin") - pl.col("bin").min()).over("spell")
    length = (pl.col("bin").max() - pl.col("bin").min() + 1).over("spell")
    most = MOST_WINDOW_NS // BIN_NS
    parts = (length + most - 1) // most
    part = since * parts // length
    window = pl.struct("spell", part.alias("part")).rank("dense").over(_ATTEMPT) - 1
    return spells.select(*_ATTEMPT, "bin", window=window.cast(pl.Int32))


def clocks_in_windows(seen: pl.DataFrame, windows: pl.DataFrame) -> pl.DataFrame:
    """Return the clocks of each window, in order, with the times they were read."""
    placed = seen.join(windows, on=[*_ATTEMPT, "bin"])
    return (
        placed.group_by(*_ATTEMPT, "window", "clock")
        .agg(
            pl.col("host", "trace_id").min(),
            pl.col("from_ns").min(),
            pl.col("to_ns").max(),
            pl.col("coarse_ns").first(),
        )
        .sort(*_ATTEMPT, "window", "clock")
    )
