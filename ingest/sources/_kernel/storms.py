"""Notices that the kernel repeats: those of one minute are one event, with their count.

A PCIe link or a memory module that corrects errors can write millions of equal lines.
Only notices are brought together: an error is a row of its own each time.
"""

from typing import Final

import polars as pl

from ingest.sources._kernel import messages
from ingest.sources._kernel.envelopes import host
from ingest.sources._kernel.evidence import EVIDENCE

#: What hardware corrected, or logged elsewhere.
_NOTICE: Final = "|".join(one.pattern for one in EVIDENCE if one.severity == "info")

#: A stamp up to its minutes, and the whole seconds since boot.
_MINUTE: Final = r"^(.{0,40}?[T ][0-9]{2}:[0-9]{2}):[0-9]{2}"
_BOOT_S: Final = r"\[ *([0-9]{1,9})\.[0-9]"
_KMSG_US: Final = r"^[0-9]{1,3},[0-9]{1,20},([0-9]{1,15}),"

#: Seconds in which equal notices are one. [s]
SAME_S: Final = 60

_SAME: Final = ("minute", "host", "message")


def thin_lines(hits: pl.DataFrame) -> pl.DataFrame:
    """Keep the first of equal notices of a minute, with their `count`.

    Doing so for parts of a file and then for all of them gives the same as at once.

    Args:
        hits: Columns `number` and `line`, and `count` where it was done before.
    """
    line = pl.col("line").str
    seconds = pl.coalesce(
        line.extract(_BOOT_S).cast(pl.Int64),
        line.extract(_KMSG_US).cast(pl.Int64) // 1_000_000,
    )
    minute = pl.coalesce(line.extract(_MINUTE), (seconds // SAME_S).cast(pl.String))
    counted = _counted(hits)
    found = counted.filter(line.contains(_NOTICE))
    if found.is_empty():
        return counted
    notices = found.select(
        "number",
        "count",
        minute=minute,
        message=messages.message(),
        prefix=messages.prefix(),
    ).with_columns(host())
    return _thin(counted, notices)


def thin_entries(entries: pl.DataFrame) -> pl.DataFrame:
    """Keep the first of equal notices of a minute, with their `count`.

    Args:
        entries: Columns `number`, `message`, `host`, `time_ns` and `boot_offset_ns`,
            and `count` where it was done before.
    """
    counted = _counted(entries)
    notices = counted.filter(pl.col("message").str.contains(_NOTICE)).select(
        "number",
        "count",
        "message",
        "host",
        minute=pl.coalesce("time_ns", "boot_offset_ns") // (SAME_S * 1_000_000_000),
    )
    return _thin(counted, notices)


def _counted(frame: pl.DataFrame) -> pl.DataFrame:
    if "count" in frame.columns:
        return frame
    return frame.with_columns(count=pl.lit(1, pl.Int64))


def _thin(frame: pl.DataFrame, notices: pl.DataFrame) -> pl.DataFrame:
    grouped = (
        notices.drop_nulls("minute")
        .with_columns(
            first=pl.col("number").min().over(_SAME),
            total=pl.col("count").sum().over(_SAME),
        )
        .select("number", "first", "total")
    )
    if grouped.is_empty():
        return frame
    return (
        frame.join(grouped, on="number", how="left", maintain_order="left")
        .filter(pl.col("first").is_null() | (pl.col("first") == pl.col("number")))
        .with_columns(count=pl.coalesce("total", "count"))
        .drop("first", "total")
    )
