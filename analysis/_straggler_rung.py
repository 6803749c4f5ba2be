"""A rung of the ladder of causes, and the words that rungs are put in."""

from typing import Final, NamedTuple

import polars as pl

from ingest.phrases import phrase

#: Stands for the table that the steps of the run come from.
STEPS: Final = "steps"


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


def said_share(value: pl.Expr) -> pl.Expr:
    """Return a share in words: what is not above zero is no share of anything."""
    rounded = percent(value)
    said = pl.when(rounded > 0).then(phrase("{} %", rounded))
    return pl.when(value.is_not_null()).then(said.fill_null("none"))


def signed(value: pl.Expr) -> pl.Expr:
    """Return a number that may be negative, with a minus sign."""
    return value.cast(pl.String).str.replace("-", "\N{MINUS SIGN}", literal=True)


def whole(value: pl.Expr) -> pl.Expr:
    """Return a number as it is said, without decimals."""
    return value.round().cast(pl.Int64)
