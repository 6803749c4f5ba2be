"""CSV of `nvidia-smi stats`: one value of one metric on each line.

* Fields are GPU, metric, time in microseconds since the epoch, and value, without a
  header: `0, pwrDraw, 1772442910104312, 631`. Each metric has times of its own, so a
  row has one value, and its `series` is the metric.
* Power is in whole watts and what `power.draw` is; `violPwr` and `violThm` are counters
  of nanoseconds at a lowered clock.
* Metrics of no column (clocks of the memory, encoders, xidEvent) make no rows.
* A GPU is known by its index only, the host by the name of the file (_power.names).
"""

import re
from collections.abc import Iterator
from typing import BinaryIO, Final

import polars as pl

from ingest.phrases import phrase
from ingest.sources._lines import TRUNCATED
from ingest.sources._lines_frames import Lines, line_frames
from ingest.sources._power.fields import INDEX, REASONS
from ingest.sources._power.rows import QUALITY, TIME_NS, batch, samples
from ingest.sources._power.stamps import epoch_ns
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

_LINE: Final = (
    rf"^([0-9]+) *, *({'|'.join(_METRICS)}|{_OTHERS}) *, *([0-9]+) *, *(\S+)$"
)
_SURE: Final = re.compile(
    rf"^[0-9]+ *, *(?:{'|'.join(_METRICS)}) *, *[0-9]{{16}} *, *\S+\s*$", re.MULTILINE
)

_SERIES: Final = PowerSamples.series.name

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
        series = cells.select("place", pl.col("metric").alias(_SERIES))
        rows = found.join(series, on="place", how="left", maintain_order="left")
        yield batch(rows, cells.height, hints=_HINTS)


def _cells(lines: Lines) -> pl.DataFrame:
    """Return the lines of metrics that are stored, and those that are none."""
    last = pl.lit(lines.cut_short) & (pl.int_range(pl.len()) == pl.len() - 1)
    parts = pl.col("line").str.extract_groups(_LINE)
    told = lines.frame.select(
        "line",
        phrase("line {}", "number").alias("place"),
        pl.when(last)
        .then(pl.lit(TRUNCATED))
        .when(parts.struct[0].is_null())
        .then(pl.lit(_RULE))
        .alias("rule"),
        epoch_ns(parts.struct[2]).alias(TIME_NS),
        pl.lit("exact").alias(QUALITY),
        parts.struct[0].alias(INDEX),
        parts.struct[1].alias("metric"),
        parts.struct[3].alias("value"),
    ).filter(pl.col("rule").is_not_null() | pl.col("metric").is_in(list(_METRICS)))
    return told.with_columns(
        pl.when(pl.col("metric") == metric).then("value").alias(field)
        for metric, (field, _) in _METRICS.items()
    )


SOURCE: Final = Source(
    name="nvidia-smi-stats",
    version=2,
    describes="CSV of nvidia-smi stats",
    tables=(PowerSamples,),
    options=frozenset({"cluster", "name"}),
    recognizes=recognizes,
    read=read,
)
