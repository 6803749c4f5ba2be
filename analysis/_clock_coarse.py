"""Clocks that are off by more than a spell, from collectives that carry numbers."""

from typing import Final

import polars as pl

from analysis._clock_fit import Ends, fit_clocks
from analysis._clock_windows import BIN_NS, SILENCE_NS
from ingest.times import SECOND_NS

#: Most that a clock is taken to be off: zones reach to 14 hours, and whoever takes the
#: time of its zone for UTC is off by that. What is further apart was not traced at
#: once: numbers begin anew with each attempt. [ns]
MOST_OFF_NS: Final = 14 * 3_600 * SECOND_NS

#: Ends of an attempt that far clocks are fitted to: seconds are enough. [1]
_MOST_ENDS: Final = 100_000

_ATTEMPT: Final = ("run_id", "attempt")

#: Clocks that are off by more than a spell of profiling is silent.
_FAR: Final = {
    "run_id": pl.String,
    "attempt": pl.Int32,
    "clock": pl.String,
    "coarse_ns": pl.Int64,
}


def far_clocks(ends: pl.DataFrame) -> pl.DataFrame:
    """Return the clocks that no spell holds together with the others.

    A collective that carries a number is known whatever the clocks say. Where its ends
    are further apart than a silence that ends a spell, all clocks of the attempt are
    fitted, once, to about a second.

    Args:
        ends: Rows of `common_ends`, with `moment` and `group` numbered.

    Returns:
        Columns run_id, attempt, clock and coarse_ns, ahead of the others: those only
        that are off by more than a silence. [ns]
    """
    numbered = ends.filter("is_numbered")
    wide = numbered.filter(~_is_near())
    attempts = wide.select(_ATTEMPT).unique().sort(_ATTEMPT)
    found = [
        _far(numbered.join(one, on=list(_ATTEMPT), how="semi"))
        for one in attempts.iter_slices(1)
    ]
    return pl.concat([pl.DataFrame(schema=_FAR), *found])


def _far(ends: pl.DataFrame) -> pl.DataFrame:
    share = -(-ends.height // _MOST_ENDS)
    moment = pl.col("moment").rank("dense").cast(pl.Int64) - 1
    rows = (
        ends.filter(pl.col("moment") % share == 0)
        .with_columns(
            moment=moment,
            group=pl.col("group").rank("dense").cast(pl.Int64) - 1,
            number=pl.col("clock").rank("dense").cast(pl.Int64) - 1,
            end_ns=pl.col("first_ns") - pl.col("first_ns").min() + pl.col("away_ns"),
        )
        .sort("moment", "number")
    )
    clocks = rows.select(*_ATTEMPT, "clock", "number").unique().sort("number")
    numbers = [rows[name].to_numpy() for name in ("moment", "number", "group")]
    end_ns = rows["end_ns"].cast(pl.Float64).to_numpy()
    fit = fit_clocks(Ends(numbers[0], numbers[1], numbers[2], end_ns, clocks.height))
    told = clocks.with_columns(
        coarse_ns=pl.Series(fit.offset_ns).round().cast(pl.Int64),
        residual_ns=pl.Series(fit.residual_ns),
    )
    is_far = pl.col("coarse_ns").abs().is_between(SILENCE_NS, MOST_OFF_NS)
    is_sure = pl.col("residual_ns") < SECOND_NS
    return told.filter(is_far & is_sure).select(list(_FAR))


def nearer(rows: pl.DataFrame, far: pl.DataFrame) -> pl.DataFrame:
    """Take out of sightings what far clocks are ahead by.

    Args:
        rows: Rows of `sightings`.
        far: What `far_clocks` returns.

    Returns:
        The rows, their times and bins those of the other clocks, and coarse_ns. [ns]
    """
    told = _with_coarse(rows, far)
    times = [pl.col(name) - pl.col("coarse_ns") for name in ("from_ns", "to_ns")]
    near = told.with_columns(times)
    is_far = pl.col("coarse_ns") != 0
    own = pl.when(is_far).then(pl.col("from_ns") // BIN_NS).otherwise("bin")
    return near.with_columns(bin=own)


def nearer_ends(ends: pl.DataFrame, far: pl.DataFrame) -> pl.DataFrame:
    """Take out of ends what far clocks are ahead by.

    Args:
        ends: Rows of `common_ends`, with `moment` numbered.
        far: What `far_clocks` returns.

    Returns:
        The rows, with is_near: whether the ends of their moment are in one spell now.
    """
    away = pl.col("away_ns") - pl.col("coarse_ns")
    told = _with_coarse(ends, far).with_columns(away_ns=away)
    first = pl.col("away_ns").min().over("moment").round().cast(pl.Int64)
    moved = told.with_columns(
        first_ns=pl.col("first_ns") + first, away_ns=pl.col("away_ns") - first
    )
    own = pl.col("first_ns") // BIN_NS
    return moved.with_columns(bin=own, is_near=_is_near()).drop("coarse_ns")


def lost_clocks(ends: pl.DataFrame) -> pl.DataFrame:
    """Return the clocks that share collectives with others, and none of them in time.

    Of clocks that all are lost the first is the reference.

    Args:
        ends: What `nearer_ends` returns.

    Returns:
        Columns run_id, attempt, clock and is_lost.
    """
    clocks = ends.group_by(*_ATTEMPT, "clock").agg(pl.col("is_near").any())
    others = pl.col("is_near").any() | (pl.col("clock") != pl.col("clock").min())
    lost = clocks.filter(~pl.col("is_near") & others.over(_ATTEMPT))
    return lost.select(*_ATTEMPT, "clock", is_lost=pl.lit(value=True))


def _is_near() -> pl.Expr:
    return (pl.col("away_ns").max() < SILENCE_NS).over("moment")


def _with_coarse(rows: pl.DataFrame, far: pl.DataFrame) -> pl.DataFrame:
    placed = rows.join(far, on=[*_ATTEMPT, "clock"], how="left")
    return placed.with_columns(pl.col("coarse_ns").fill_null(0))
