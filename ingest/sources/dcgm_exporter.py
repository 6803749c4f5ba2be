"""Text of the dcgm-exporter (Prometheus exposition 0.0.4), one scrape or many.

* The exporter writes no time stamps. Its text has the time at which the file was last
  written, and says `file_time`; a second scrape without time stamps in the same file
  cannot be told from the first by time and is refused. That time is not part of a
  file's content: the same content met again later is the same file, and stays as it
  was first read.
* Time stamps that something else has added are taken, and then a file may hold many
  scrapes, one after the other.
* Every line is read alone, so that a field that the exporter prints as text costs one
  line. Lines of metrics that are not stored only need a value.
* The gauge of Xid errors keeps the last one for ever; it makes no failure.
* Several series of a GPU make one row (see Scrapes); where they differ, each that does
  counts as a repair.
"""

import re
from collections.abc import Iterator
from typing import BinaryIO, Final

from ingest.sources._lines import TOO_LONG, TRUNCATED, Block, blocks, refuse
from ingest.sources._power_dcgm_scrapes import Scrapes
from ingest.sources._power_dcgm_series import (
    BrokenLineError,
    Series,
    cut,
    series_of,
    value_of,
)
from ingest.sources._source import Batch, Head, Reading, Refusal, Source
from ingest.tables import PowerSamples

#: Series whose labels are remembered: 40 metrics of 2,500 GPUs.
KNOWN_SERIES: Final = 100_000

_SERIES: Final = re.compile(r"^(?:DCGM_FI_|DCGM_EXP_|dcgm_)\w+\{", re.MULTILINE)


def recognizes(head: Head) -> bool:
    """Return whether a line is a series of DCGM."""
    return _SERIES.search(head.text) is not None


def read(stream: BinaryIO, reading: Reading) -> Iterator[Batch]:
    """Read scrapes, each line alone."""
    scrapes = Scrapes(reading)
    known: dict[str, Series] = {}
    for block in blocks(stream):
        refused: list[Refusal] = []
        records = 0
        for number, line in block.lines():
            if line.startswith(b"#"):
                continue
            records += 1
            try:
                _take(number, _text(block, number, line), scrapes, known)
            except BrokenLineError as error:
                refused.append(refuse(PowerSamples, number, str(error), line))
        yield _batch(scrapes, refused, records, block.repairs)
    yield _batch(scrapes, [], 0, 0, everything=True)


def _text(block: Block, number: int, line: bytes) -> str:
    if block.cut_short and number == block.last:
        raise BrokenLineError(TRUNCATED)
    try:
        return line.decode()
    except UnicodeDecodeError as error:
        raise BrokenLineError(TOO_LONG) from error


def _take(number: int, line: str, scrapes: Scrapes, known: dict[str, Series]) -> None:
    name, rest = cut(line)
    value, time_ns = value_of(rest)
    series = known.get(name)
    if series is None:
        series = series_of(name)
        if len(known) == KNOWN_SERIES:
            known.clear()
        known[name] = series
    scrapes.add(number, series, value, time_ns)


def _batch(
    scrapes: Scrapes,
    refused: list[Refusal],
    records: int,
    repairs: int,
    *,
    everything: bool = False,
) -> Batch:
    rows = scrapes.take(everything=everything)
    return Batch(
        rows={} if rows is None else {PowerSamples: rows},
        refused=tuple(refused),
        records=records,
        repairs=repairs + scrapes.take_conflicts(),
    )


SOURCE: Final = Source(
    name="dcgm-exporter",
    version=1,
    describes="text of the dcgm-exporter, one scrape or many with time stamps",
    tables=(PowerSamples,),
    options=frozenset({"cluster"}),
    recognizes=recognizes,
    read=read,
)
