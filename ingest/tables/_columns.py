"""Column kinds of the lake: each fixes a type, a unit and a name suffix, once."""

from collections.abc import Sequence
from typing import Final

import dataframely as dy

#: Unit of a quantity, by the suffix that its column's name must end in, a statistic
#: (`_max`, `_total`) aside. The longest suffix wins; `bytes` alone is one, too.
UNIT_OF_SUFFIX: Final = {
    "_ns": "ns",
    "_s": "s",
    "_hz": "Hz",
    "_mhz": "MHz",
    "_c": "degC",
    "_bytes": "B",
    "_w": "W",
    "_w_per_s": "W/s",
    "_j": "J",
    "_mj": "mJ",
    "_gbs": "GB/s",
    "_usd": "USD",
    "_ratio": "1",
    "_count": "1",
}

#: Longest that one step or one piece of work takes: 366 days. No run was longer; what
#: is longer was written in another unit. [ns]
LONGEST_NS: Final = 366 * 86_400 * 1_000_000_000

#: Digits of a total of GPU time: 16,384 GPUs reach the end of Int64 in 6.5 days.
TOTAL_DIGITS: Final = 38


def identifier(doc: str, *, nullable: bool = False) -> dy.String:
    """Return a name that another system gave: never parsed, never empty."""
    return dy.String(min_length=1, nullable=nullable, description=doc)


def text(doc: str) -> dy.String:
    """Return free text as it was found, null where there is none."""
    return dy.String(nullable=True, description=doc)


def choice(doc: str, values: Sequence[str], *, nullable: bool = False) -> dy.String:
    """Return one word of a closed list, which ends up in the description."""
    words = tuple(values)
    return dy.String(
        nullable=nullable,
        check=lambda column: column.is_in(words),
        description=f"{doc} One of: {', '.join(words)}.",
    )


def index(doc: str, *, nullable: bool = False) -> dy.Int32:
    """Return a position counted from zero; signed, so that differences stay right."""
    return dy.Int32(min=0, nullable=nullable, description=doc)


def count(doc: str, *, nullable: bool = False) -> dy.Int64:
    """Return how many. [1]"""
    return dy.Int64(min=0, nullable=nullable, description=doc, metadata={"unit": "1"})


def tally(doc: str, *, nullable: bool = False) -> dy.Int64:
    """Return how many, for a name that says so without a suffix (rows_read)."""
    return dy.Int64(min=0, nullable=nullable, description=doc)


def number(doc: str, *, nullable: bool = False) -> dy.Int64:
    """Return an integer whose name carries no unit (a step, a number of tokens)."""
    return dy.Int64(nullable=nullable, description=doc)


def flag(doc: str, *, nullable: bool = False) -> dy.Bool:
    """Return yes or no."""
    return dy.Bool(nullable=nullable, description=doc)


def time_ns(doc: str, *, nullable: bool = False) -> dy.Int64:
    """Return an instant, since the Unix epoch in UTC. [ns]"""
    return dy.Int64(nullable=nullable, description=doc, metadata={"unit": "ns"})


def duration_ns(doc: str, *, nullable: bool = False) -> dy.Int64:
    """Return a length of time, never negative. [ns]"""
    return dy.Int64(min=0, nullable=nullable, description=doc, metadata={"unit": "ns"})


def length_ns(doc: str, *, nullable: bool = False) -> dy.Int64:
    """Return the length of one step or one piece of work, a year at most. [ns]"""
    return dy.Int64(
        min=0,
        max=LONGEST_NS,
        nullable=nullable,
        description=doc,
        metadata={"unit": "ns"},
    )


def gpu_time_ns(doc: str, *, nullable: bool = False) -> dy.Decimal:
    """Return a total of GPU time, exact at any size of fleet. [ns]"""
    return dy.Decimal(
        TOTAL_DIGITS, 0, nullable=nullable, description=doc, metadata={"unit": "ns"}
    )


def size_bytes(doc: str, *, nullable: bool = False) -> dy.Int64:
    """Return an amount of data. [B]"""
    return dy.Int64(min=0, nullable=nullable, description=doc, metadata={"unit": "B"})


def energy_mj(doc: str, *, nullable: bool = False) -> dy.Int64:
    """Return the state of an energy counter. [mJ]"""
    return dy.Int64(min=0, nullable=nullable, description=doc, metadata={"unit": "mJ"})


def quantity(
    doc: str, unit: str, *, minimum: float | None = 0, nullable: bool = False
) -> dy.Float64:
    """Return a measured quantity, finite, in the unit that its name ends in."""
    return dy.Float64(
        min=minimum, nullable=nullable, description=doc, metadata={"unit": unit}
    )


def watts(doc: str, *, nullable: bool = False) -> dy.Float64:
    """Return electric power. [W]"""
    return quantity(doc, "W", nullable=nullable)


def ratio(doc: str, *, minimum: float | None = 0, nullable: bool = False) -> dy.Float64:
    """Return a quotient, never a percentage. [1]"""
    return quantity(doc, "1", minimum=minimum, nullable=nullable)


def real(doc: str, *, nullable: bool = False) -> dy.Float64:
    """Return a number whose name carries no unit (a loss, a p-value)."""
    return dy.Float64(nullable=nullable, description=doc)
