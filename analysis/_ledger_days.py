"""Cells of time split at midnight (UTC), and summed."""

from collections.abc import Sequence
from typing import Final

import polars as pl

from ingest.times import DAY_NS

#: Days that a cell touches if it crosses one midnight.
_TWO: Final = 2


def sum_by_day(
    cells: pl.LazyFrame, accounts: Sequence[str], by: Sequence[str]
) -> pl.LazyFrame:
    """Sum the accounts of cells over each UTC day.

    A cell that crosses one midnight is split in proportion: of the first accounts
    together, C, the first day has floor(C x / L) where x of its length L is before
    midnight. So the parts of an account add up to the account, and those of a day to
    the time in that day. A cell that crosses more has its accounts laid out one after
    the other in time.

    Args:
        cells: Columns of by, start_ns, end_ns, and those of accounts, which add up to
            the length of the cell. [ns]
        accounts: Names of the accounts.
        by: Columns to keep apart.

    Returns:
        Columns of by, day (counted from the epoch) and those of accounts, as Int128.
        [ns]
    """
    first, last = pl.col("start_ns") // DAY_NS, (pl.col("end_ns") - 1) // DAY_NS
    dated = cells.filter(pl.col("start_ns") < pl.col("end_ns")).with_columns(
        day=first, days=last - first + 1
    )
    wide = [pl.col(account).cast(pl.Int128) for account in accounts]
    within = dated.filter(pl.col("days") == 1).with_columns(wide)
    across = _split(dated.filter(pl.col("days") > 1).with_columns(wide), accounts)
    columns = [*by, "day", *accounts]
    rows = pl.concat([within.select(columns), across.select(columns)])
    return rows.group_by(*by, "day").agg(pl.col(accounts).sum())


def _split(cells: pl.LazyFrame, accounts: Sequence[str]) -> pl.LazyFrame:
    """Return a row for each day that a cell touches, with that day's part of it."""
    start, end = pl.col("start_ns"), pl.col("end_ns")
    days = pl.int_ranges(pl.col("day"), pl.col("day") + pl.col("days"))
    opened = (pl.col("day") * DAY_NS - start).clip(0)
    closed = pl.min_horizontal((pl.col("day") + 1) * DAY_NS, end) - start
    parts = (
        cells.with_columns(day=days)
        .explode("day")
        .with_columns(
            opened=opened.cast(pl.Int128),
            closed=closed.cast(pl.Int128),
            length=(end - start).cast(pl.Int128),
        )
    )
    done, shares = pl.lit(0, pl.Int128), {}
    before = _of_day(done)
    for account in accounts:
        done = done + pl.col(account)
        reached = _of_day(done)
        shares[account] = reached - before
        before = reached
    return parts.with_columns(**shares)


def _of_day(done: pl.Expr) -> pl.Expr:
    """Return how much of the first accounts together, `done`, is in the day. [ns]"""
    opened, closed = pl.col("opened"), pl.col("closed")
    laid_out = done.clip(opened, closed) - opened
    shared = done * closed // pl.col("length") - done * opened // pl.col("length")
    return pl.when(pl.col("days") == _TWO).then(shared).otherwise(laid_out)
