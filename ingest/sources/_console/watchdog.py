"""Lines of PyTorch's NCCL watchdog, and CUDA's errors (ProcessGroupNCCL.cpp).

    [rank0]:[E1218 20:27:21.426415540 ProcessGroupNCCL.cpp:629] [Rank 0] Watchdog caught
    collective operation timeout: WorkNCCL(SeqNum=1, OpType=BROADCAST, ...,
    Timeout(ms)=600000) ran for 600081 milliseconds before timing out.

* Every rank but the guilty one prints it when it has waited in vain: a symptom. The
  time is that of the line; the wait began as long before as it `ran for`.
* The stamp of glog has neither year nor zone; an error in a traceback has no stamp.
* A watchdog that ends by an error of CUDA tells that error, and is taken for it.
"""

from typing import Final

import polars as pl

from ingest.sources._console import messages
from ingest.sources._console.failures import batch, stamped
from ingest.sources._console.format import EachLine, LineFormat
from ingest.sources._source import Batch, Reading
from ingest.tables import Failures

_MESSAGES: Final = (*messages.CUDA, *messages.WATCHDOG)
_TELLING: Final = messages.telling(_MESSAGES)
_RANK: Final = r"(?:\[| )Rank ([0-9]{1,7})\]"
_OPERATION: Final = r"OpType=([A-Za-z0-9_]+)"


def _errors(found: pl.DataFrame, reading: Reading) -> Batch:
    line = pl.col("line")
    events = found.with_columns(
        **messages.meaning(_MESSAGES),
        **stamped(reading),
        rank=pl.coalesce(line.str.extract(_RANK).cast(pl.Int32, strict=False), "rank"),
        host=pl.lit(None, pl.String),
        name=line.str.extract(_OPERATION).str.to_lowercase(),
        message=pl.col("line"),
        line_count=pl.lit(1, pl.Int64),
    )
    return batch(events, reading)


WATCHDOG: Final = LineFormat(
    name="nccl-watchdog",
    version=2,
    describes="timeouts of PyTorch's NCCL watchdog, errors of CUDA",
    tables=(Failures,),
    telling=_TELLING,
    start=EachLine.reader(_TELLING, _errors),
)
