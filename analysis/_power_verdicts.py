"""Kept, broken, or not to be seen: what sensors let anyone say of a limit."""

from typing import Final

import polars as pl

from analysis._power_ramps import AVERAGED_NS
from ingest.phrases import phrase
from ingest.times import SECOND_NS

#: Limits by name, and what a run card calls each.
LIMITS: Final = {
    "ramp_up": "ramp_up_w_per_s",
    "ramp_down": "ramp_down_w_per_s",
    "dynamic_range": "dynamic_range_w",
    "band_energy": "band_energy_ratio",
}

#: Window that the range is taken in. [ns]
RANGE_NS: Final = 60 * SECOND_NS

#: A range is seen whole by a sensor that shows windows as short as this. [ns]
RANGE_SEEN_NS: Final = SECOND_NS

_ROW: Final = (
    "run_id",
    "limit_name",
    "window_ns",
    "measured",
    "at_least",
    "at_most",
    "unit",
    "observable",
    "reason",
)


def measured(
    swings: pl.DataFrame, bands: pl.DataFrame, shapes: pl.DataFrame
) -> pl.DataFrame:
    """Return what each limit is held against.

    A change that was seen within a window took at most the window, a refresh of the
    sensor and the time that it averages over: over all of that it is `at_least`
    the ramp there was, whatever the sensor hides. A mean over a second hides what
    happens within it: where such a swing could be beyond a limit, nothing is passed;
    `at_most` is what all that the GPUs can draw would make of it.

    Args:
        swings: Rows of PowerSwings.
        bands: Rows of PowerBands.
        shapes: Rows of PowerShapes.

    Returns:
        `run_id`, `limit_name`, `window_ns`, `measured`, `at_least`, `at_most` (null
        where nothing is hidden), `unit`, `observable` and `reason`.
    """
    sensors = shapes.select("run_id", "semantics", "refresh_ns", "ceiling_w")
    is_mean = pl.col("semantics") == "average"
    known = swings.join(sensors, on="run_id", how="left").with_columns(
        _slack=pl.col("refresh_ns") + pl.when(is_mean).then(AVERAGED_NS).otherwise(0),
        _hidden_w=pl.when(is_mean).then("ceiling_w"),
    )
    ramps = [_ramp(known, name, of) for name, of in _MOVES.items()]
    return pl.concat([*ramps, _range(swings), _band(bands)])


_MOVES: Final = {"ramp_up": "rise_w", "ramp_down": "fall_w"}


def _ramp(swings: pl.DataFrame, name: str, column: str) -> pl.DataFrame:
    rate = pl.col(column) * SECOND_NS
    return swings.with_columns(
        limit_name=pl.lit(name),
        measured=rate / pl.col("window_ns"),
        at_least=rate / (pl.col("window_ns") + pl.col("_slack")),
        at_most=pl.col("_hidden_w") * SECOND_NS / pl.col("window_ns"),
        unit=pl.lit("W/s"),
    ).select(_ROW)


def _range(swings: pl.DataFrame) -> pl.DataFrame:
    """Return the range in a minute; a sensor can only make it smaller."""
    shown = swings.filter(pl.col("window_ns") == RANGE_SEEN_NS).select(
        "run_id", _shows="observable", _why="reason"
    )
    minute = swings.filter(pl.col("window_ns") == RANGE_NS).join(shown, on="run_id")
    is_seen = pl.col("observable") & pl.col("_shows")
    return minute.with_columns(
        limit_name=pl.lit("dynamic_range"),
        measured="dynamic_range_w",
        at_least="dynamic_range_w",
        at_most=pl.lit(None, pl.Float64),
        unit=pl.lit("W"),
        observable=is_seen,
        reason=pl.coalesce("reason", "_why"),
    ).select(_ROW)


def _band(bands: pl.DataFrame) -> pl.DataFrame:
    """Return the share of the band; of a part of it nothing follows for the whole."""
    return (
        bands.filter("is_watched")
        .with_columns(
            limit_name=pl.lit("band_energy"),
            window_ns=pl.lit(None, pl.Int64),
            measured="band_energy_ratio",
            at_least=pl.lit(None, pl.Float64),
            at_most=pl.lit(None, pl.Float64),
            unit=pl.lit("1"),
        )
        .select(_ROW)
    )


def judged(rows: pl.DataFrame) -> pl.DataFrame:
    """Add the verdict on each limit.

    Args:
        rows: Rows of `measured` with `allowed`, null where there is no limit.
    """
    limit = pl.col("allowed")
    is_broken = (pl.col("measured") > limit).fill_null(value=False)
    is_surely = (pl.col("at_least") > limit).fill_null(value=False)
    is_seen = pl.col("observable") & pl.col("measured").is_not_null()
    is_hidden = (
        is_seen & ~is_broken & (pl.col("at_most") > limit).fill_null(value=False)
    )
    verdict = (
        pl.when(limit.is_null())
        .then(pl.lit("no_limit"))
        .when(is_surely | (is_seen & is_broken))
        .then(pl.lit("fail"))
        .when(is_seen & ~is_hidden)
        .then(pl.lit("pass"))
        .otherwise(pl.lit("not_observable"))
    )
    hidden = phrase(
        "the sensor's 1 s average hides swings within a second, which may be up to {}"
        " W/s over this window",
        pl.col("at_most").round(0).cast(pl.Int64),
    )
    why = _why(is_surely, is_broken & ~pl.col("observable"))
    return rows.with_columns(
        verdict=verdict, reason=pl.when(is_hidden).then(hidden).otherwise(why)
    )


def _why(is_surely: pl.Expr, is_above: pl.Expr) -> pl.Expr:
    """Return why a limit is not observable, and why what is beyond it is no breach."""
    even_so = phrase("{}; what it shows is beyond the limit even so", "reason")
    certain = pl.col("at_least").round(0).cast(pl.Int64)
    slower = phrase(
        "{}; with all the time that it may have taken, {} {} is certain",
        *("reason", certain, "unit"),
    )
    other = phrase("{}; with what is hidden, the share may be smaller", "reason")
    return (
        pl.when(~is_above)
        .then("reason")
        .when(is_surely)
        .then(even_so)
        .when(certain.is_not_null())
        .then(slower)
        .otherwise(other)
    )
