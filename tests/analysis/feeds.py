"""Feeds as frames, and what is found of them."""

from collections.abc import Iterable
from typing import Any, NamedTuple

import polars as pl

from analysis import Frames
from analysis.data_feed import (
    DataFeed,
    DataFeedViolations,
    audit_feeds,
)
from analysis.data_feed_steps import DataFeedSteps
from ingest.synthetic.data_feed import Feed, rows
from ingest.tables import DataReads, Table

Row = dict[str, Any]

SCHEMA = DataReads.create_empty().schema


class Audit(NamedTuple):
    """What an audit returns, and its faults in a few words."""

    faults: pl.DataFrame
    steps: pl.DataFrame
    runs: pl.DataFrame

    @property
    def told(self) -> list[tuple[Any, ...]]:
        """Kind, attempt, step, ranks and samples of each fault."""
        names = ["kind", "attempt", "step", "ranks", "sample_from", "sample_to"]
        return self.faults.select(names).rows()

    @property
    def verdict(self) -> str:
        """What is said of the only feed."""
        return str(self.runs["verdict"].item())

    @property
    def blind(self) -> str:
        """What cannot be told of the only feed."""
        return str(self.runs["blind_spots"].item() or "")


def framed(reads: Iterable[Row]) -> pl.DataFrame:
    """Rows of data_reads; what a row leaves out is null."""
    listed = [[row.get(name) for name in SCHEMA] for row in reads]
    return pl.DataFrame(listed, schema=SCHEMA, orient="row")


def audit(
    reads: pl.DataFrame | Feed | Iterable[Row],
    portion_rows: int = 2_000_000,
    **others: pl.DataFrame,
) -> Audit:
    """Audit reads beside frames of other tables, by the name of the table."""
    told = rows(reads) if isinstance(reads, Feed) else reads
    frame = told if isinstance(told, pl.DataFrame) else framed(told)
    frames: dict[type[Table], pl.LazyFrame] = {DataReads: frame.lazy()}
    tables = {one.__name__: one for one in Table.__subclasses__()}
    frames |= {tables[name]: rows.lazy() for name, rows in others.items()}
    found = audit_feeds(Frames(frames), portion_rows)
    return Audit(found[DataFeedViolations], found[DataFeedSteps], found[DataFeed])


def in_order(replicas: int, steps: int, batch: int) -> pl.DataFrame:
    """A clean feed of any size, in order, of one rank for each replica."""
    grid = pl.DataFrame({"step": range(steps)}).join(
        pl.DataFrame({"rank": range(replicas)}), how="cross"
    )
    first = (pl.col("step") * replicas + pl.col("rank")) * batch
    told = grid.with_columns(
        run_id=pl.lit("feed"),
        file_id=pl.lit("f"),
        attempt=pl.lit(0),
        dp_rank=pl.col("rank"),
        dataset=pl.lit("web"),
        epoch=pl.lit(0),
        sample_from=first,
        sample_to=first + batch,
    )
    missing = [pl.lit(None, t).alias(n) for n, t in SCHEMA.items() if n not in told]
    whole = told.with_columns(missing)
    return whole.select(pl.col(name).cast(dtype) for name, dtype in SCHEMA.items())
