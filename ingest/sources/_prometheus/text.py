"""Samples in lines of text, of any exporter: the one reader of every text format.

* Every line is read alone, so that a field that the exporter prints as text costs one
  line. Lines of metrics that are not stored only need a value.
* Exporters write no time stamps. Such a text has the time at which the file was last
  written, and says `file_time`; a second scrape without time stamps in the same file
  cannot be told from the first by time and is refused.
* Time stamps that something else has added are taken, and then a file may hold many
  scrapes, one after the other.
* Several series of a device make one row (see Maker); where they differ, each that does
  counts as a repair.
"""

from collections.abc import Iterator
from typing import BinaryIO, Final

import polars as pl

from ingest.sources._lines import Block, blocks
from ingest.sources._prometheus.gather import Gathering
from ingest.sources._prometheus.hosts import Hosts
from ingest.sources._prometheus.lines import samples
from ingest.sources._prometheus.registry import Registry
from ingest.sources._prometheus.rows import Maker, Rows
from ingest.sources._prometheus.sift import refusals, sift
from ingest.sources._prometheus.untimed import FirstScrape
from ingest.sources._source import Batch, Reading, Refusal
from ingest.tables import LinkSamples, PowerSamples, Table

#: Tables that samples fill.
TABLES: Final[tuple[type[Table], ...]] = (PowerSamples, LinkSamples)


def read_text(
    stream: BinaryIO, reading: Reading, *, alone: bool = False
) -> Iterator[Batch]:
    """Read samples line by line.

    Args:
        stream: The text.
        reading: What is told of it.
        alone: Whether each metric has rows of its own.
    """
    hosts = Hosts(reading.name)
    gathering = Gathering(Maker(reading, hosts, "line"), alone=alone)
    registry, scrape = Registry(hosts), FirstScrape()
    for block in blocks(stream):
        lines = samples(block)
        kept, refused = sift(_known(lines, registry), scrape)
        late = gathering.take(kept)
        told = refusals(_with_lines(refused, block), "line")
        yield batch_of(late, told, records=lines.height, repairs=block.repairs)
        yield batch_of(gathering.whole(everything=False))
    yield batch_of(gathering.whole(everything=True))


def _known(lines: pl.DataFrame, registry: Registry) -> pl.DataFrame:
    """Add what is known of the series of lines."""
    is_sound = pl.col("rule").is_null()
    texts = lines.filter(is_sound)["series"].unique(maintain_order=True)
    table = registry.table(texts)
    known = lines.join(
        table, on="series", how="left", maintain_order="left", suffix="_of_series"
    )
    rule = pl.coalesce("rule", "rule_of_series")
    no_line = pl.lit(None, pl.String)
    return known.with_columns(rule=rule, quality=pl.lit("exact"), line=no_line)


def _with_lines(refused: pl.DataFrame, block: Block) -> pl.DataFrame:
    """Add the lines that are refused: hardly ever any, so nobody else has them."""
    if refused.is_empty():
        return refused
    lines = block.texts()
    return refused.drop("line").join(lines, "number", "left", maintain_order="left")


def batch_of(
    rows: Rows,
    refused: tuple[Refusal, ...] = (),
    *,
    records: int = 0,
    repairs: int = 0,
) -> Batch:
    """Return rows as a batch, with what else is told of them."""
    return Batch(
        rows=rows.frames,
        refused=(*refused, *rows.refused),
        records=records,
        repairs=rows.conflicts + repairs,
    )
