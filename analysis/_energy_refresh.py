"""How often a sensor says something new."""

import polars as pl


def refresh(samples: pl.DataFrame, column: str) -> pl.DataFrame:
    """Return the median time between two changes of a value.

    Reading more often than a sensor is refreshed gives repeats, not information.
    Source: arXiv 2312.02741, section 3.

    Args:
        samples: `device`, `time_ns` and the column, sorted by device and time.
        column: Column of the value.

    Returns:
        `device` and `refresh_ns`, null where the value changed less than twice.
    """
    changes = samples.select("device", "time_ns", column).drop_nulls()
    is_new = pl.any_horizontal(
        pl.col(name).ne_missing(pl.col(name).shift(1)) for name in ("device", column)
    )
    changed = changes.filter(is_new)
    # the first value of a device was there before it was read
    later = pl.col("time_ns").diff().slice(1).median()
    return changed.group_by("device").agg(refresh_ns=later)
