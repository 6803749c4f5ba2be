"""Failures that DCGM's gauge of the last Xid tells of."""

import polars as pl

from ingest.phrases import phrase
from ingest.tables import Failures, PowerSamples
from ingest.xids import UNKNOWN_NAME, XIDS

#: What tells one GPU from another.
_GPU = ("cluster", "host", "gpu_uuid")


def edges_of_gauge(samples: pl.LazyFrame) -> pl.LazyFrame:
    """Return the changes of DCGM's gauge of the last Xid, as failures.

    The gauge keeps its value until the driver is loaded again, so that only a change
    is an event, dated to the sample that first shows it. What it showed first is of
    before, and a code that comes twice in a row is not seen: the number is at least
    what it tells (DCGM's issue 162, dcgm-exporter's issue 190).

    Args:
        samples: Rows of PowerSamples.

    Returns:
        Rows of Failures, marked as inferred: an Xid of the driver's own log within
        five minutes is the same event.
    """
    code = PowerSamples.last_xid.col
    told = samples.filter(code.is_not_null()).select(*_GPU, "time_ns", "last_xid")
    once = told.group_by(*_GPU, "time_ns").agg(code.max())
    before = code.shift(1).over(_GPU, order_by="time_ns")
    return _failures(once.with_columns(_before=before))


def edges_of_days(changes: pl.LazyFrame, days: pl.LazyFrame) -> pl.LazyFrame:
    """Return the same where samples were condensed.

    Args:
        changes: Rows of XidChanges: those within days.
        days: Rows of PowerDays: between two of them lies what both ends tell.
    """
    inside = changes.select(*_GPU, "time_ns", "last_xid", _before="before_xid")
    known = days.filter(pl.col("xid_first_ns").is_not_null())
    before = pl.col("xid_last").shift(1).over(_GPU, order_by="xid_first_ns")
    between = known.select(
        *_GPU, time_ns="xid_first_ns", last_xid="xid_first", _before=before
    )
    return _failures(pl.concat([inside, between]))


def _failures(told: pl.LazyFrame) -> pl.LazyFrame:
    """Return changes of the gauge to a code as failures."""
    code = pl.col("last_xid")
    changed = told.filter(
        pl.col("_before").is_not_null(), code != pl.col("_before"), code != 0
    )
    meanings = {
        field: {number: str(getattr(xid, field)) for number, xid in XIDS.items()}
        for field in ("name", "component", "severity", "action")
    }
    known = [
        code.replace_strict(of, default=None, return_dtype=pl.String).alias(field)
        for field, of in meanings.items()
    ]
    message = phrase(
        "DCGM_FI_DEV_XID_ERRORS went from {} to {}",
        pl.col("_before").cast(pl.String),
        code.cast(pl.String),
    )
    rows = changed.with_columns(*known).select(
        "cluster",
        "host",
        "time_ns",
        pl.col("name").fill_null(UNKNOWN_NAME),
        "component",
        "severity",
        "action",
        gpu_key="gpu_uuid",
        code=code.cast(pl.String),
        source=pl.lit("xid"),
        time_quality=pl.lit("exact"),
        message=message,
        inferred=pl.lit(value=True),
        line_count=pl.lit(1, pl.Int64),
        occurrence=pl.lit(0, pl.Int32),
    )
    return _filled(rows)


def _filled(rows: pl.LazyFrame) -> pl.LazyFrame:
    """Add the columns of Failures that the gauge does not tell."""
    schema = Failures.create_empty().schema
    named = set(rows.collect_schema().names())
    blank = [
        pl.lit(None, dtype).alias(name)
        for name, dtype in schema.items()
        if name not in named
    ]
    return rows.with_columns(*blank).select(list(schema))
