"""Logs of `nvidia-smi --query-gpu=... --format=csv`, with or without `nounits`.

* Time stamps are local and name no zone: it comes from the run card or `--zone`, and
  without either the rows are `zone_assumed`.
* `power.draw` is a mean over a second on Ampere and newer, but instantaneous on GA100
  (A100) and on what came before. A log does not tell which GPU it is of, so
  `power.draw` is stored as `power_average_w` in either case; `power.draw.average` goes
  before it. `power.draw.instant` is `power_instant_w`.
* The identity of a GPU is its UUID, else its PCI address, else its index, else the name
  of the file. The host is the one that the name of the file gives: `<host>.smi.csv`,
  `smi-<host>.csv` or `nvidia-smi_<host>.csv`; with another name it is unknown.
* A log that was started again repeats its header; it may then ask for other fields.
* The last line is refused where its end is missing: it may stop inside a number.
"""

import re
from collections.abc import Iterator
from typing import BinaryIO, Final

import polars as pl

from ingest.errors import UnreadableFileError
from ingest.sources._lines import TRUNCATED, Block, blocks, refuse_all
from ingest.sources._lines_csv import split
from ingest.sources._lines_json import HEAD_LINES
from ingest.sources._power_address import PATTERN, PREFIX
from ingest.sources._power_smi_layout import (
    ADDRESS,
    INDEX,
    TIME,
    UUID,
    Layout,
    layout_of,
)
from ingest.sources._source import Batch, Head, Reading, Source
from ingest.tables import PowerSamples
from ingest.times import naive_to_ns

_HEADER: Final = rf"(?:^|,)\s*{TIME}\s*(?:,|$)"
_STAMP: Final = r"^20\d\d-\d\d-\d\d \d\d:\d\d:\d\d(?:\.\d{1,9})?$"
_FORMAT: Final = "%Y-%m-%d %H:%M:%S%.f"
_HOST: Final = r"([A-Za-z][A-Za-z0-9.-]*)"
_NAME_WITH_HOST: Final = re.compile(
    rf"(?:(?:nvidia-)?smi[-_]{_HOST}|{_HOST}\.smi)\.(?:csv|log|txt)"
)


def recognizes(head: Head) -> bool:
    """Return whether one of the first lines is a header with a field that is read."""
    lines = head.text.split("\n")[:HEAD_LINES]
    return any(TIME in line and layout_of(line.strip()) for line in lines)


def read(stream: BinaryIO, reading: Reading) -> Iterator[Batch]:
    """Read a log.

    Raises:
        UnreadableFileError: If it has no header, so that no cell can be told.
    """
    layout: Layout | None = None
    for block in blocks(stream):
        for layout, lines in _parts(_table(block), layout):  # noqa: B020 - carried on
            yield _batch(lines, layout, reading)
        if block.repairs:
            yield Batch(repairs=block.repairs)
    if layout is None:
        expected = f"a header with {TIME!r} and a field such as 'power.draw [W]'"
        mend = "log without `noheader`, or add the header as the first line"
        raise UnreadableFileError(reading.path, "all lines", expected, mend)


def host_of(name: str) -> str | None:
    """Return the host in the name of a file; None where it has none."""
    match = _NAME_WITH_HOST.fullmatch(name)
    return (match[1] or match[2]) if match else None


def _table(block: Block) -> pl.DataFrame:
    lines = block.table()
    if block.cut_short:
        last = pl.int_range(pl.len()) == pl.len() - 1
        lines = lines.with_columns(
            rule=pl.when(last).then(pl.lit(TRUNCATED)).otherwise("rule")
        )
    return lines


def _parts(
    lines: pl.DataFrame, layout: Layout | None
) -> Iterator[tuple[Layout | None, pl.DataFrame]]:
    """Cut lines where a header changes what they hold; headers are in no part."""
    headers = lines.with_row_index("row").filter(pl.col("line").str.contains(_HEADER))
    begin = 0
    for row, line in headers.select("row", "line").iter_rows():
        if layout and line == layout.header:
            continue
        if other := layout_of(line):
            yield layout, lines.slice(begin, row - begin)
            layout, begin = other, row + 1
    yield layout, lines.slice(begin)


def _batch(lines: pl.DataFrame, layout: Layout | None, reading: Reading) -> Batch:
    if layout is None:
        samples = lines.with_columns(rule=pl.lit("before_header"))
    else:
        lines = lines.filter(pl.col("line") != layout.header)
        samples = _samples(lines, layout, reading)
    rows = samples.filter(pl.col("rule").is_null()).drop("line", "rule")
    return Batch(
        rows={} if rows.is_empty() else {PowerSamples: rows},
        refused=refuse_all(PowerSamples, samples.filter(pl.col("rule").is_not_null())),
        records=samples.height,
        zone_used=not rows.is_empty(),
    )


def _samples(lines: pl.DataFrame, layout: Layout, reading: Reading) -> pl.DataFrame:
    cells = split(lines, layout.width, quotes=False).select(
        "place", "line", "rule", *layout.cells()
    )
    time_ns = PowerSamples.time_ns.name
    known = cells.with_columns(_time_ns(reading).alias(time_ns), *layout.numbers())
    columns = layout.columns()
    broken = {time_ns: pl.col(time_ns).is_null()}
    broken |= {name: is_broken for name, (_, is_broken) in columns.items()}
    rules = [
        pl.when(is_broken).then(pl.lit(f"{name}|value"))
        for name, is_broken in broken.items()
    ]
    assumed = reading.zone_basis == "assumed"
    return known.select(
        "place",
        "line",
        pl.coalesce("rule", *rules).alias("rule"),
        pl.lit(reading.cluster).alias(PowerSamples.cluster.name),
        pl.lit(host_of(reading.name), pl.String).alias(PowerSamples.host.name),
        _gpu(reading).alias(PowerSamples.gpu_uuid.name),
        pl.lit("gpu_board").alias(PowerSamples.level.name),
        time_ns,
        pl.lit("zone_assumed" if assumed else "exact").alias(
            PowerSamples.time_quality.name
        ),
        *(value.alias(name) for name, (value, _) in columns.items()),
    )


def _time_ns(reading: Reading) -> pl.Expr:
    stamp = pl.col(TIME).str.replace_all("/", "-", literal=True)
    stamp = stamp.str.replace("T", " ", literal=True)
    whole = pl.when(stamp.str.contains(_STAMP)).then(stamp)
    naive = whole.str.to_datetime(_FORMAT, strict=False, time_unit="ns")
    return naive_to_ns(naive, reading.zone)


def _gpu(reading: Reading) -> pl.Expr:
    address = pl.col(ADDRESS).str.to_lowercase().str.extract(PATTERN)
    return pl.coalesce(
        UUID,
        pl.concat_str(pl.lit(PREFIX), address),
        pl.concat_str(pl.lit("index:"), INDEX),
        pl.lit(f"file:{reading.name}"),
    )


SOURCE: Final = Source(
    name="nvidia-smi",
    version=1,
    describes="CSV of nvidia-smi --query-gpu",
    tables=(PowerSamples,),
    options=frozenset({"zone", "cluster", "name"}),
    recognizes=recognizes,
    read=read,
)
