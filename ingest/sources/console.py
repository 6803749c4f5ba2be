"""Console log of a training job: what several tools write into one stream.

A launcher's output holds the lines of the training framework, of NCCL, of PyTorch's
watchdog and of the launcher itself, from many processes. Each format takes its own
lines; a line that is of none is a record without a row. Colours are dropped.
"""

import re
from collections.abc import Iterator
from typing import BinaryIO, Final

import polars as pl

from ingest.sources._console.deepspeed import DEEPSPEED
from ingest.sources._console.format import LineFormat, LineReader
from ingest.sources._console.maxtext import MAXTEXT
from ingest.sources._console.megatron import MEGATRON
from ingest.sources._console.nccl import NCCL_WARNINGS
from ingest.sources._console.nccl_calls import NCCL_CALLS
from ingest.sources._console.slurm import SLURM
from ingest.sources._console.timers import MEGATRON_TIMERS
from ingest.sources._console.torchelastic import TORCHELASTIC
from ingest.sources._console.torchtitan import TORCHTITAN
from ingest.sources._console.trainer import TRAINER
from ingest.sources._console.watchdog import WATCHDOG
from ingest.sources._lines_frames import line_frames
from ingest.sources._source import Batch, Head, Reading, Source
from ingest.tables import Failures, Table

#: Formats of lines, in the order of their names.
LINE_FORMATS: Final[tuple[LineFormat, ...]] = (
    DEEPSPEED,
    TRAINER,
    MAXTEXT,
    MEGATRON,
    MEGATRON_TIMERS,
    NCCL_CALLS,
    NCCL_WARNINGS,
    WATCHDOG,
    SLURM,
    TORCHELASTIC,
    TORCHTITAN,
)

#: What launchers put before a line: the label of srun, the role and local rank of
#: torchrun, the global rank that PyTorch writes.
_PREFIX: Final = r"^(?: *[0-9]{1,6}: ?|\[default[0-9]{1,6}\]: ?|\[rank[0-9]{1,6}\]: ?)+"

_COLOURS: Final = r"\x1b\[[0-9;]*[A-Za-z]"
_COLOUR: Final = re.compile(_COLOURS)


def recognizes(head: Head) -> bool:
    """Return whether a line at the head or at the end is of one of the formats."""
    text = _COLOUR.sub("", f"{head.text}\n{head.tail_text}")
    if text.lstrip().startswith(('{"', "{\n", "{\r", "{}", "[{", "<?xml", "<!")):
        return False
    return any(re.search(one.telling, text, re.MULTILINE) for one in LINE_FORMATS)


def read(stream: BinaryIO, reading: Reading) -> Iterator[Batch]:
    """Read the lines of every format, block by block."""
    readers: list[LineReader] = [one.start(reading) for one in LINE_FORMATS]
    for lines in line_frames(stream, Failures):
        yield lines.counted()
        plain = _plain(lines.frame)
        for reader in readers:
            yield reader.take(plain)
    for reader in readers:
        yield reader.close()


def _plain(lines: pl.DataFrame) -> pl.DataFrame:
    """Return lines without colours, and without what a launcher put before them."""
    bare = pl.col("line").str.replace_all(_COLOURS, "")
    return lines.select(
        "number",
        bare.str.replace(_PREFIX, "").str.strip_chars_start().alias("line"),
        bare.str.extract(r"^(?: *[0-9]{1,6}: ?)?\[rank([0-9]{1,6})\]:")
        .cast(pl.Int32)
        .alias("rank"),
        pl.col("line").alias("raw"),
    )


def _tables() -> tuple[type[Table], ...]:
    return tuple(dict.fromkeys(table for one in LINE_FORMATS for table in one.tables))


SOURCE: Final = Source(
    name="console",
    version=1 + sum(one.version for one in LINE_FORMATS),
    describes="console log of a training job",
    tables=_tables(),
    options=frozenset({"zone", "year", "run_id", "cluster"}),
    recognizes=recognizes,
    read=read,
    mixed=tuple(one.listed for one in LINE_FORMATS),
)
