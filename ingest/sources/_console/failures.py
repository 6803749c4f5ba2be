"""Rows of failures from console lines."""

from typing import Final

import polars as pl

from ingest.phrases import phrase
from ingest.sources._source import Batch, Reading
from ingest.sources._stamps import glog_ns, is_naive, iso_ns
from ingest.tables import Failures

#: Columns by which events of one file are alike, besides how often they are repeated.
_ALIKE: Final = ("host", "code", "time_ns", "rank", "message")


def stamped(reading: Reading) -> dict[str, pl.Expr]:
    """Return `time_ns`, `time_quality` and `naive` of lines, by ISO or glog stamps.

    Args:
        reading: What is known about the file.
    """
    line = pl.col("line")
    iso = iso_ns(line, reading.zone)
    glog = glog_ns(line, reading.zone, reading.modified_ns, reading.year)
    by_glog = iso.is_null() & glog.is_not_null()
    naive = (iso.is_not_null() & is_naive(line)) | by_glog
    of_zone = "zone_assumed" if reading.zone_basis == "assumed" else "exact"
    return {
        "time_ns": pl.coalesce(iso, glog),
        "time_quality": pl.when(by_glog & (reading.year is None))
        .then(pl.lit("year_inferred"))
        .when(naive)
        .then(pl.lit(of_zone))
        .when(iso.is_not_null())
        .then(pl.lit("exact"))
        .otherwise(pl.lit("unknown")),
        "naive": naive,
    }


def batch(events: pl.DataFrame, reading: Reading) -> Batch:
    """Return the rows of events.

    Args:
        events: Columns `number`, `host`, `rank`, `code`, `name`, `component`,
            `severity`, `message`, `line_count`, `time_ns`, `time_quality`, `naive`.
        reading: What is known about the file.
    """
    if events.is_empty():
        return Batch()
    rows = events.select(
        *("host", "rank", "code", "name", "component", "severity", "message"),
        *("time_ns", "time_quality", "line_count"),
        cluster=pl.lit(reading.cluster),
        run_id=pl.lit(reading.run_id),
        source=pl.lit("application"),
        inferred=pl.lit(value=False),
        occurrence=pl.int_range(pl.len(), dtype=pl.Int32).over(_ALIKE),
        place=phrase("line {}", "number"),
    )
    return Batch({Failures: rows}, zone_used=bool(events["naive"].any()))
