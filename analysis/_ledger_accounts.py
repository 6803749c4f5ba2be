"""How the time of a step is split into accounts, to the nanosecond."""

from collections.abc import Mapping
from typing import Final

import polars as pl

#: Accounts in the order in which they take what is left of a cell.
FILLED: Final = (
    "checkpoint_stall",
    "data_stall",
    "straggler_wait",
    "pipeline_bubble",
    "exposed_communication",
    "productive",
    "idle",
)

#: Accounts that take all the rest where the evidence is silent on them.
_THE_REST: Final = ("productive", "idle")

#: Every account. A cell has a column for each.
ACCOUNTS: Final = (
    *FILLED,
    "recompute",
    "restart",
    "unallocated",
    "unattributed",
)


def split_steps(cells: pl.LazyFrame) -> pl.LazyFrame:
    """Split the cells of steps into accounts that add up to their length.

    Evidence may be longer than its cell, or overlap. So each account takes what is
    wanted of it, at most what those before it left. Where nothing says how long the
    step computed, all the rest is productive: an upper bound. Where nothing says how
    long it was idle, the rest is idle, else unattributed. Stalls that the host logged
    are part of what a trace does not show as busy or waiting, and take no more than
    that. A discarded step is recompute as a whole.

    Args:
        cells: Columns start_ns, end_ns, is_redone, is_traced, and those of FILLED: what
            the evidence says, null where it is silent. [ns]

    Returns:
        The cells with a column for each of FILLED, unattributed and recompute. [ns]
    """
    length = pl.col("end_ns") - pl.col("start_ns")
    kept = pl.when("is_redone").then(0).otherwise(length)
    measured = cells.with_columns(
        recompute=pl.when("is_redone").then(length).otherwise(0), left=kept
    )
    limited = measured.with_columns(**_stalls_in_idle(pl.col("left")))
    for account in FILLED:
        taken = pl.min_horizontal(_wanted(account), "left")
        limited = limited.with_columns(taken.alias(account)).with_columns(
            left=pl.col("left") - pl.col(account)
        )
    return limited.rename({"left": "unattributed"})


def _wanted(account: str) -> pl.Expr:
    silent = pl.col("left") if account in _THE_REST else pl.lit(0)
    return pl.coalesce(pl.col(account), silent).clip(0)


def _stalls_in_idle(length: pl.Expr) -> Mapping[str, pl.Expr]:
    """Return stalls that take no more than what a trace leaves of a step."""
    idle = length
    for account in FILLED[2:-1]:
        idle = idle - pl.min_horizontal(pl.col(account).fill_null(0).clip(0), idle)
    limited = {}
    for stall in FILLED[:2]:
        most = pl.min_horizontal(pl.col(stall).fill_null(0).clip(0), idle)
        limited[stall] = pl.when("is_traced").then(most).otherwise(pl.col(stall))
        idle = idle - most
    return limited
