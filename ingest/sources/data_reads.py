"""What the data loader gave to each rank: CSV, JSON lines or Parquet.

The columns are those of `data_reads`. It needs `step`, `rank` or `dp_rank`, and
either `sample_from` and `sample_to` (the sample after the last) or `batch_hash`. Other
names that training loops write are known, too: `iteration`, `global_rank`,
`dp`, `sample_start`, `sample_end` and more. Numbers are taken as they are written: a
rank of 1.5 or a sample `1e6` is refused, and so are numbers beyond 2**53. A time must
be in ns; without one, and without an attempt, only a run of a single attempt can place
a row.
"""

from collections.abc import Iterable, Iterator
from typing import BinaryIO, Final

from ingest.sources._source import Batch, Head, Reading, Source
from ingest.sources._typed.shape import Shape
from ingest.sources._typed.table import read_table, table_fits
from ingest.tables import DataReads, StepTimings

#: Other names of the columns, each with one meaning only: `start` may be a time, and
#: `last_sample` is inside the batch.
ALIASES: Final = {
    "iteration": "step",
    "global_step": "step",
    "global_rank": "rank",
    "dp": "dp_rank",
    "data_parallel_rank": "dp_rank",
    "dataset_name": "dataset",
    "sample_start": "sample_from",
    "start_sample": "sample_from",
    "first_sample": "sample_from",
    "sample_end": "sample_to",
    "end_sample": "sample_to",
    "hash": "batch_hash",
    "checksum": "batch_hash",
    "num_tokens": "tokens",
    "n_tokens": "tokens",
    "sum_squared_lengths": "tokens_squared",
    "max_document_length": "longest_document",
    "longest_doc": "longest_document",
    "timestamp_ns": "time_ns",
}

_SAMPLES: Final = (DataReads.sample_from.name, DataReads.sample_to.name)
_HASH: Final = (DataReads.batch_hash.name,)

#: What such a table is like.
READS: Final = Shape(
    table=DataReads,
    noun="a table of data reads",
    needs=tuple(
        (DataReads.step.name, who, *what)
        for what in (_SAMPLES, _HASH)
        for who in (DataReads.rank.name, DataReads.dp_rank.name)
    ),
    aliases=ALIASES,
)

#: Columns by which a table is one of steps that happens to have a hash.
_OF_STEPS: Final = frozenset({StepTimings.start_ns.name, StepTimings.duration_ns.name})


def recognizes(head: Head) -> bool:
    """Return whether the file has the columns, under any of their names."""
    return table_fits(head, _fits)


def _fits(names: Iterable[str]) -> bool:
    found = set(names)
    return not found.issuperset(_OF_STEPS) and READS.fits(found)


def read(stream: BinaryIO, reading: Reading) -> Iterator[Batch]:
    """Read a table of data reads.

    Raises:
        UnreadableFileError: If a required column is missing.
    """
    return read_table(stream, READS, reading)


SOURCE: Final = Source(
    name="data-reads",
    version=2,
    describes="CSV, JSON lines or Parquet with the columns of data_reads: what the"
    " loader gave to each rank",
    tables=(DataReads,),
    options=frozenset({"run_id"}),
    recognizes=recognizes,
    read=read,
    needs=(*_SAMPLES, DataReads.step.name, DataReads.rank.name),
)
