"""Logs of Slurm's daemons: slurmctld.log, slurmd.log, and both in the journal.

Failures of nodes and of jobs by their nodes; a list of nodes gives a row for each.
What a node was set to is a failure unless its reason speaks of planned work; that it
was returned to service is a notice. The node of slurmd.log is told by the journal, or
by the name of the file (slurmd.gpu001.log).
"""

import re
from collections.abc import Iterator
from typing import BinaryIO, Final

import polars as pl

from ingest.sources._kernel.years import YearWalk
from ingest.sources._lines_frames import line_frames
from ingest.sources._slurm.ctld_events import (
    BRACKET,
    TAG,
    events_of,
    refusals_of,
    rows_of,
)
from ingest.sources._slurm.ctld_messages import CANDIDATE
from ingest.sources._source import Batch, Head, Reading, Source
from ingest.tables import Failures

#: Share of the head's lines that must be of Slurm's daemons; in a log of the whole
#: node they are few.
SHAPE_RATIO: Final = 0.6

#: Lines whose nodes are expanded at a time: each may give 100,000 rows.
EXPANDED_LINES: Final = 10

#: Telling lines at a time where no list of nodes is among them.
BATCH_LINES: Final = 100_000

_BRACKETED: Final = re.compile(BRACKET)
_TAGGED: Final = re.compile(TAG)

#: Words of Slurm's own log files.
_WORDS: Final = re.compile(
    r"\bJobId=|\b[Nn]odes? \S+ |_slurm_rpc|\bslurm|\bsched[:/]|\bbackfill|\bmunge"
    r"|\] (?:error|debug\d?|fatal|verbose): |\b[Pp]rolog|\b[Ee]pilog|\bStepId="
)


def recognizes(head: Head) -> bool:
    """Return whether most lines of the head are of Slurm's daemons."""
    if "slurm" not in head.text and "[" not in head.text:
        return False
    lines = [line for line in head.text.splitlines() if line.strip()]
    shaped = [line for line in lines if _BRACKETED.match(line)]
    others = (line for line in lines if not _BRACKETED.match(line))
    tagged = sum(1 for line in others if _TAGGED.match(line))
    is_ours = tagged or any(_WORDS.search(line) for line in shaped)
    return bool(is_ours) and len(shaped) + tagged >= SHAPE_RATIO * len(lines)


def read(stream: BinaryIO, reading: Reading) -> Iterator[Batch]:
    """Read the failures of a log; the telling lines are kept until its end."""
    years = YearWalk()
    kept: list[pl.DataFrame] = []
    for lines in line_frames(stream, Failures):
        turns = years.advance(lines.frame)
        hits = lines.frame.filter(pl.col("line").str.contains(CANDIDATE))
        kept.append(hits.join(turns, on="number", how="left", maintain_order="left"))
        yield lines.counted()
    if not kept:
        return
    first_years = years.first_years(reading.modified_ns, reading.zone, reading.year)
    dated = (
        pl.concat(kept)
        .join(first_years, on="host", how="left", maintain_order="left")
        .select("number", "line", year=pl.col("first_year") + pl.col("turn"))
    )
    yield from _batches(dated, reading)


def _batches(hits: pl.DataFrame, reading: Reading) -> Iterator[Batch]:
    """Yield the events and the refused lines among the lines kept."""
    events = events_of(hits, reading)
    refused = refusals_of(events)
    yield Batch(refused=refused, zone_used=bool(events["naive"].any()))
    bad = [int(refusal.place.removeprefix("line ")) for refusal in refused]
    good = events.filter(~pl.col("number").is_in(bad))
    is_list = pl.col("nodes").str.contains(r"[\[,]").fill_null(value=False)
    for part, size in (
        (good.filter(~is_list), BATCH_LINES),
        (good.filter(is_list), EXPANDED_LINES),
    ):
        for some in part.iter_slices(size):
            yield Batch({Failures: rows_of(some, reading)})


SOURCE: Final = Source(
    name="slurmctld",
    version=2,
    describes="logs of Slurm's daemons: slurmctld.log, slurmd.log, their journal",
    tables=(Failures,),
    options=frozenset({"zone", "year", "cluster", "name"}),
    recognizes=recognizes,
    read=read,
)
