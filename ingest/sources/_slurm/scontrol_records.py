"""Records of `scontrol show`: Key=Value pairs, in one line or in several."""

from collections.abc import Iterable, Iterator
from typing import Final

import polars as pl

from ingest.sources._lines_frames import Lines

#: Starts of records.
START: Final = (
    r"^(?:JobId|NodeName|PartitionName|ReservationName|StepId|FrontendName|Topology"
    r"|SwitchName|BurstBuffer|LicenseName|Configuration data)\b"
)

#: Lines that a record may take; those of jobs and nodes take some thirty.
RECORD_LINES: Final = 200


def records_of(blocks: Iterable[Lines]) -> Iterator[tuple[pl.DataFrame, Lines]]:
    """Yield the records that end in each block, and the block.

    Their columns are `number` (the first line) and `text`, lines joined by line feeds.
    What stands before the first start is a record, too.
    """
    waiting = pl.DataFrame(schema={"number": pl.UInt32, "line": pl.String})
    for lines in blocks:
        rows = pl.concat([waiting, lines.frame.cast({"number": pl.UInt32})])
        starts = rows["line"].str.contains(START).arg_true()
        end = int(starts[-1]) if len(starts) else 0
        if len(rows) - end > RECORD_LINES:
            end = len(rows)
        waiting = rows.slice(end)
        yield _joined(rows.head(end)), lines
    if len(waiting):
        yield _joined(waiting), Lines(waiting.clear(), (), 0, cut_short=False)


def _joined(rows: pl.DataFrame) -> pl.DataFrame:
    is_start = pl.col("line").str.contains(START).cast(pl.Int64)
    return (
        rows.with_columns(record=is_start.cum_sum())
        .group_by("record", maintain_order=True)
        .agg(pl.col("number").first(), text=pl.col("line").str.join("\n"))
        .drop("record")
    )


def value(key: str) -> pl.Expr:
    """Return the value of a key, null where it is not there.

    A value goes up to the next key in its line: names and reasons hold blanks.
    """
    pattern = rf"(?:^|[ \n]){key}=([^\n]*?)(?: [A-Z][A-Za-z:/_]{{0,40}}=|\n|$)"
    return pl.col("text").str.extract(pattern).str.strip_chars()
