"""Samples without a time stamp: only the first scrape of a file has a time."""

import polars as pl

from ingest.sources._prometheus.registry import KNOWN_SERIES


class FirstScrape:
    """Remembers the values of series without a time stamp."""

    def __init__(self) -> None:
        """Start with no series."""
        self._first: pl.DataFrame | None = None

    def again(self, found: pl.DataFrame) -> pl.Series:
        """Return which samples are of another scrape than the first of their series.

        Args:
            found: `series`, `time_ns`, `real` and `count`.
        """
        is_blank = pl.col("real").is_null() & pl.col("count").is_null()
        untimed = found.filter(pl.col("time_ns").is_null() & ~is_blank)
        if untimed.is_empty():
            return pl.repeat(False, found.height, eager=True)
        values = untimed.select("series", "real", "count")
        if self._first is not None:
            values = pl.concat([self._first, values])
        first = values.unique("series", keep="first", maintain_order=True)
        self._first = first if first.height <= KNOWN_SERIES else None
        known = found.select("series", "time_ns", "real", "count").join(
            first, on="series", how="left", maintain_order="left", suffix="_first"
        )
        differs = pl.any_horizontal(
            (pl.col(name) != pl.col(f"{name}_first")).fill_null(value=False)
            for name in ("real", "count")
        )
        return known.select(differs & pl.col("time_ns").is_null()).to_series()
