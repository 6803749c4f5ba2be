"""Rows of operations from columns of numbers, for every source of such traces."""

from typing import Final

import polars as pl

from ingest.sources._source import RAW_CHARACTERS, Batch, Reading, Refusal
from ingest.tables import Operations
from ingest.times import SECOND_NS

#: Longest time that an operation can take or be away from its step: 30 years. Above
#: it nanoseconds would leave 64 bits. [s]
MOST_SECONDS: Final = 1e9


#: Columns that count positions, which are small.
INDICES: Final = ("rank", "dp_rank", "pp_rank", "tp_rank", "microbatch", "chunk")


def seconds_to_ns(seconds: pl.Expr) -> pl.Expr:
    """Return floating seconds to the nearest nanosecond; null where not finite. [ns]"""
    fits = seconds.is_finite() & (seconds.abs() <= MOST_SECONDS)
    nanoseconds = seconds.cast(pl.Float64) * SECOND_NS
    return pl.when(fits).then(nanoseconds).round().cast(pl.Int64)


def index_or_null(column: str) -> pl.Expr:
    """Return an index, null where the source writes -1 for none."""
    return pl.when(pl.col(column) != -1).then(pl.col(column))


def batch(
    rows: pl.DataFrame, rules: dict[str, pl.Expr], reading: Reading, records: int
) -> Batch:
    """Return operations, and refuse those that break a rule.

    Args:
        rows: Columns of Operations, `place`, and `raw` of every record.
        rules: By the name of a rule, whether a row breaks it; the first one counts.
        reading: What is known about the file.
        records: Records seen. [1]
    """
    indices = [name for name in INDICES if name in rows.columns]
    fits = {name: pl.col(name).cast(pl.Int32, strict=False) for name in indices}
    ranges = {
        f"{name}|range": fit.is_null() & pl.col(name).is_not_null()
        for name, fit in fits.items()
    }
    broken = pl.coalesce(
        pl.when(breaks.fill_null(value=True)).then(pl.lit(name))
        for name, breaks in (*rules.items(), *ranges.items())
    )
    judged = rows.with_columns(rule=broken).with_columns(**fits)
    bad = judged.filter(pl.col("rule").is_not_null())
    good = judged.filter(pl.col("rule").is_null()).select(
        pl.exclude("raw", "rule"),
        run_id=pl.lit(reading.run_id),
        trace_id=pl.lit(reading.file_id[:16]),
    )
    refused = bad.select("place", "rule", pl.col("raw").str.head(RAW_CHARACTERS))
    return Batch(
        rows={Operations: good} if good.height else {},
        refused=tuple(Refusal(Operations, *row) for row in refused.iter_rows()),
        records=records,
    )
