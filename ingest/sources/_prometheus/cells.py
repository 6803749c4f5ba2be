"""Cells of rows: one sample of each field of a device and a time."""

import polars as pl

from ingest.sources._prometheus.values import FACTS


def cells_of(samples: pl.DataFrame, keys: list[str]) -> pl.DataFrame:
    """Make one of the samples of a field, a device and a time.

    Args:
        samples: `number`, `quality`, `field`, `real`, `count` and the keys.
        keys: What makes one row.
    """
    cells = samples.group_by(*keys, "field").agg(
        pl.col("number").min(),
        pl.col("quality").first(),
        pl.col("real", "count").max(),
        copies=pl.len(),
    )
    return cells.hstack(FACTS.select("column", "order", "table")[cells["field"]])


def count_conflicts(samples: pl.DataFrame, cells: pl.DataFrame, keys: list[str]) -> int:
    """Count the samples that differ from the first of their cell. [1]"""
    cell = [*keys, "field"]
    again = cells.filter(pl.col("copies") > 1).select(cell)
    if again.is_empty():
        return 0
    several = samples.join(again, on=cell, how="semi", maintain_order="left")
    differ = [
        (pl.col(name) != pl.col(name).first()).sum().alias(name)
        for name in ("real", "count")
    ]
    counted = several.group_by(cell).agg(differ)
    return int(counted.select(pl.sum_horizontal(pl.all().exclude(cell).sum())).item())
