"""Kernel log of a node: syslog, journal text, dmesg or /dev/kmsg, as it was saved.

Messages are searched for anywhere in a line. Only the few lines that may matter are
kept until the end of the file: the years of syslog stamps and the identity of a GPU
are known only then.
"""

import re
from collections.abc import Iterable, Iterator
from itertools import chain, islice
from typing import BinaryIO, Final

import polars as pl

from ingest.sources._kernel.events import events_of, parse, refusals_of
from ingest.sources._kernel.patterns import CANDIDATE, TELLING
from ingest.sources._kernel.storms import thin_lines
from ingest.sources._kernel.years import SYSLOG_START, YearWalk
from ingest.sources._lines import Block, blocks
from ingest.sources._lines_frames import frames_of
from ingest.sources._source import Batch, Head, Reading, Source
from ingest.tables import Failures

#: Rows of a batch.
BATCH_ROWS: Final = 100_000

#: Blocks of a file that is not short: what lacks the end of a line is one, too. [1]
_FEW_BLOCKS: Final = 3

#: Share of the head's lines that must look like a kernel log's when none speaks of a
#: GPU: a message may run over lines without a stamp of their own.
SHAPE_RATIO: Final = 0.6

#: Lines that speak of NVIDIA hardware: enough to know the format by.
_TELLING: Final = re.compile(r"NVRM: |SXid \(PCI:|mlx5_core [0-9a-f]{4}:")

#: Lines that go with the one before: keys of a record of /dev/kmsg, header of pstore.
_GOES_ON: Final = re.compile(r"^ [A-Z_]+=|^(?:Panic|Oops)#\d+ Part\d+$|^-- .* --$")

#: Starts of lines of the envelopes that are read.
_SHAPES: Final = re.compile(
    rf"{SYSLOG_START} \S+?: "
    r"|^(?:<\d{1,3}>)?\[ *\d{1,9}\.\d{6}\] "
    r"|^\[\w{3} \w{3} +\d{1,2} \d{2}:\d{2}:\d{2} \d{4}\] "
    r"|^kern *:\w+ *: "
    r"|^\d{9,10}\.\d{6} \S+ [\w./-]+(?:\[\d+\])?: "
    r"|^\w{3} \d{4}-\d{2}-\d{2} \d{2}:\d{2}:\d{2} [A-Z]{3,5} \S+ \S+: "
    r"|^\d{1,3},\d{1,20},\d{1,15},[^;]{1,200};"
    r"|^(?:<\d{1,3}>1? ?)?\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}(?:[.,]\d+)?"
    r"(?:Z|[+-]\d{2}:?\d{2}) (?!INFO|WARN|ERROR|DEBUG|CRITICAL)\S+ "
    r"[\w./-]+(?:\[\d+\])?: "
)


def recognizes(head: Head) -> bool:
    """Return whether the head speaks of NVIDIA hardware or is shaped like a log."""
    text = head.text
    if text.lstrip().startswith(("{", "[{", "<?xml", "<!")):
        return False
    if _TELLING.search(text):
        return True
    lines = [
        line for line in text.splitlines() if line.strip() and not _GOES_ON.match(line)
    ]
    shaped = sum(1 for line in lines if _SHAPES.match(line))
    return bool(lines) and shaped >= SHAPE_RATIO * len(lines)


def read(stream: BinaryIO, reading: Reading) -> Iterator[Batch]:
    """Read the failures of a kernel log."""
    parts = blocks(stream)
    # nearly all logs of healthy nodes are short and tell of nothing
    start = list(islice(parts, _FEW_BLOCKS))
    if len(start) < _FEW_BLOCKS and not any(_may_tell(block) for block in start):
        yield from map(_counted, start)
        return
    yield from _read(chain(start, parts), reading)


def _may_tell(block: Block) -> bool:
    return block.cut or any(word in block.data for word in TELLING)


def _counted(block: Block) -> Batch:
    """Return a batch without rows, in which each line is a record."""
    return Batch(records=sum(1 for _ in block.lines()), repairs=block.repairs)


def _read(parts: Iterable[Block], reading: Reading) -> Iterator[Batch]:
    years = YearWalk()
    kept: list[pl.DataFrame] = []
    for lines in frames_of(parts, Failures):
        turns = years.advance(lines.frame)
        hits = thin_lines(lines.frame.filter(pl.col("line").str.contains(CANDIDATE)))
        kept.append(hits.join(turns, on="number", how="left", maintain_order="left"))
        yield Batch(
            refused=lines.refused,
            records=len(lines.frame) + len(lines.refused),
            repairs=lines.repairs,
        )
    if not any(len(part) for part in kept):
        return
    first_years = years.first_years(reading.modified_ns, reading.zone, reading.year)
    dated = (
        thin_lines(pl.concat(kept))
        .join(first_years, on="host", how="left", maintain_order="left")
        .select("number", "line", "count", year=pl.col("first_year") + pl.col("turn"))
    )
    yield from _batches(dated, reading)


def _batches(hits: pl.DataFrame, reading: Reading) -> Iterator[Batch]:
    """Yield the events and the refused lines among the lines kept."""
    events = events_of(parse(hits, reading), reading)
    yield Batch(refused=refusals_of(events))
    rows = events.filter(pl.col("rule").is_null())
    for part in rows.iter_slices(BATCH_ROWS):
        yield Batch(
            rows={Failures: part.drop("rule", "naive")},
            zone_used=bool(part["naive"].any()),
        )


SOURCE: Final = Source(
    name="kernel-log",
    version=4,
    describes="kernel log (syslog, journal text, dmesg, kmsg, pstore): NVIDIA Xid and"
    " SXid, network cards, amdgpu, memory, PCIe, disks, CPUs, out of memory, panics",
    tables=(Failures,),
    options=frozenset({"zone", "year", "cluster"}),
    recognizes=recognizes,
    read=read,
)
