"""Warnings of NCCL (debug.cc), whatever NCCL_DEBUG is.

    [2026-09-11 23:05:42] node-01:2914395:2914395 [0] misc/ibvwrap.cc:185
    (wrap_ibv_alloc_pd) NCCL WARN lib wrapper not initialized.

The line before it is empty, and other processes may write into it. A warning that is
known to stop a job is an error; any other is kept for information. Stamps are there
only where NCCL_DEBUG_TIMESTAMP_LEVELS asks for them, in local time.
"""

from typing import Final

import polars as pl

from ingest.sources._console import messages
from ingest.sources._console.failures import batch, stamped
from ingest.sources._console.format import EachLine, LineFormat
from ingest.sources._source import Batch, Reading
from ingest.tables import Failures

_TELLING: Final = r"\S:[0-9]{1,10}:[0-9]{1,10} \[-?[0-9]{1,4}\] .*NCCL WARN "
_HOST: Final = r"([A-Za-z0-9._-]+):[0-9]{1,10}:[0-9]{1,10} \[-?[0-9]{1,4}\] "

#: Characters of a warning that serve as its name: addresses come later in it.
_NAME_CHARACTERS: Final = 80

_TEXT: Final = r"NCCL WARN (.*)$"


def _warnings(found: pl.DataFrame, reading: Reading) -> Batch:
    line = pl.col("line")
    events = found.with_columns(
        **messages.meaning(messages.NCCL),
        **stamped(reading),
        host=line.str.extract(_HOST),
        name=line.str.extract(_TEXT).str.head(_NAME_CHARACTERS),
        message=pl.col("line"),
        line_count=pl.lit(1, pl.Int64),
    )
    return batch(events, reading)


NCCL_WARNINGS: Final = LineFormat(
    name="nccl-warn",
    version=2,
    describes="NCCL WARN lines, with host",
    tables=(Failures,),
    telling=_TELLING,
    start=EachLine.reader(_TELLING, _warnings),
)
