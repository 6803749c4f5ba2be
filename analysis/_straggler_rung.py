"""A rung of the ladder of causes, and the words that rungs are put in."""

from typing import Final, NamedTuple

import polars as pl

#: Stands for the table that the steps of the run come from.
STEPS: Final = "steps"

#: Share of the excess that something must make up to be its cause. [1]
MOST_OF_IT: Final = 0.5


class Rung(NamedTuple):
    """A cause, when it holds (null: no data), what is said, and what was read."""

    cause: str
    holds: pl.Expr
    said: pl.Expr
    missing: str
    table: str
    rows: str


def share(part: pl.Expr) -> pl.Expr:
    """Return the share of the excess that a part of it makes up. [1]"""
    return pl.when(pl.col("excess_ns") > 0).then(part / pl.col("excess_ns"))


def percent(value: pl.Expr) -> pl.Expr:
    """Return a share as it is said. [%]"""
    return (value * 100).round(1)


def whole(value: pl.Expr) -> pl.Expr:
    """Return a number as it is said, without decimals."""
    return value.round().cast(pl.Int64)
