"""CSV of `nvidia-smi stats`: one value of one metric on each line.

* Fields are GPU, metric, time in microseconds since the epoch, and value, without a
  header: `0, pwrDraw, 1772442910104312, 631`. Each metric has times of its own, so a
  row has mostly one value; what shares a time shares a row.
* Power is in whole watts and what `power.draw` is; `violPwr` and `violThm` are counters
  of nanoseconds at a lowered clock.
* Metrics of no column (clocks of the memory, encoders, xidEvent) make no rows.
* A GPU is known by its index only, the host by the name of the file (_power_names).
"""

import re
from collections.abc import Iterator
from typing import BinaryIO, Final

import polars as pl

from ingest.sources._lines import TRUNCATED
from ingest.sources._lines_frames import Lines, line_frames
from ingest.sources._power_fields import INDEX, REASONS
from ingest.sources._power_rows import QUALITY, TIME_NS, batch, samples
from ingest.sources._power_stamps import epoch_ns
from ingest.sources._source import Batch, Head, Reading, Source
from ingest.tables import PowerSamples

#: Fields by metric, and the unit of their values.
_METRICS: Final = {
    "pwrDraw": ("power.draw", "W"),
    "temp": ("temperature.gpu", "C"),
    "procClk": ("clocks.current.sm", "MHz"),
    "gpuUtil": ("utilization.gpu", "%"),
    "violPwr": (f"{REASONS}_counters.sw_power_cap", "ns"),
    "violThm": (f"{REASONS}_counters.sw_thermal_slowdown", "ns"),
}

#: Metrics that are of no column.
_OTHERS: Final = (
    "memUtil|encUtil|decUtil|ppuUtil|memClk|xidEvent|sbEcc|dbEcc|pState|clkChg|pwrChg"
    "|migChg"
)
_UNITS: Final = {INDEX: ""} | dict(_METRICS.values())

_LINE: Final = rf"^(\d+) *, *({'|'.join(_METRICS)}|{_OTHERS}) *, *(\d+) *, *(\S+)$"
_SURE: Final = re.compile(
    rf"^\d+ *, *(?:{'|'.join(_METRICS)}) *, *\d{{16}} *, *\S+\s*$", re.MULTILINE
)

_RULE: Final = "metric_line"
_HINTS: Final = {_RULE: "a line with GPU, metric, time [us] and value was expected"}


def recognizes(head: Head) -> bool:
    """Return whether a line of the head is a sample."""
    return _SURE.search(head.text) is not None


def read(stream: BinaryIO, reading: Reading) -> Iterator[Batch]:
    """Read samples."""
    for lines in line_frames(stream, PowerSamples):
        yield Batch(
            refused=lines.refused, records=len(lines.refused), repairs=lines.repairs
        )
        cells = _cells(lines)
        found = samples(cells, _UNITS, reading)
        yield batch(found, cells.height, hints=_HINTS)


def _cells(lines: Lines) -> pl.DataFrame:
    """Return the samples of each GPU and time, and the lines that are none."""
    last = pl.lit(lines.cut_short) & (pl.int_range(pl.len()) == pl.len() - 1)
    parts = pl.col("line").str.extract_groups(_LINE)
    told = lines.frame.with_columns(
        index=parts.struct[0],
        metric=parts.struct[1],
        time_ns=epoch_ns(parts.struct[2]),
        value=parts.struct[3],
        rule=pl.when(last)
        .then(pl.lit(TRUNCATED))
        .when(parts.struct[0].is_null())
        .then(pl.lit(_RULE)),
    ).filter(pl.col("rule").is_not_null() | pl.col("metric").is_in(list(_METRICS)))
    alone = pl.when(pl.col("rule").is_not_null() | pl.col("time_ns").is_null())
    grouped = told.group_by(
        "index", "time_ns", alone.then("number").alias("_alone"), maintain_order=True
    )
    return grouped.agg(
        pl.format("line {}", pl.col("number").first()).alias("place"),
        pl.col("line").first(),
        pl.col("rule").first(),
        *[
            pl.col("value").filter(pl.col("metric") == metric).first().alias(field)
            for metric, (field, _) in _METRICS.items()
        ],
    ).select(
        "place",
        "line",
        "rule",
        pl.col("time_ns").alias(TIME_NS),
        pl.lit("exact").alias(QUALITY),
        pl.col("index").alias(INDEX),
        *[field for field, _ in _METRICS.values()],
    )


SOURCE: Final = Source(
    name="nvidia-smi-stats",
    version=1,
    describes="CSV of nvidia-smi stats",
    tables=(PowerSamples,),
    options=frozenset({"cluster", "name"}),
    recognizes=recognizes,
    read=read,
)
