"""One measured value of each run, and where it is from."""

import polars as pl


def told(rows: pl.LazyFrame, name: str, value: pl.Expr, source: str) -> pl.DataFrame:
    """Return one value of each run, as a line of its plan.

    Args:
        rows: Rows with a `run_id`.
        name: Name of the line.
        value: What of the rows of a run is the value, in the unit of the line.
        source: Table and how the value was taken.
    """
    found = rows.group_by("run_id").agg(measured=value.cast(pl.Float64))
    named = found.with_columns(name=pl.lit(name), measured_from=pl.lit(source))
    return named.filter(pl.col("measured").is_not_null()).sort("run_id").collect()
