"""Console lines of MaxText (metric_logger.py).

    completed step: 10, seconds: 131.474, TFLOP/s/device: 314.530, Tokens/s/device:
    124.618, total_weights: 8388608, loss: 4.453

Process 0 prints the time between two of its steps. A stamp, where there is one, is that
of a launcher or of glog; it is the end of the step.
"""

from typing import Final

import polars as pl

from ingest.sources._console.format import EachLine, LineFormat
from ingest.sources._console.steps import batch
from ingest.sources._source import Batch, Reading
from ingest.sources._stamps import GLOG_STAMP, decimal_ns, glog_ns, is_naive, iso_ns
from ingest.tables import StepTimings, TrainingMetrics
from ingest.times import SECOND_NS

_TELLING: Final = (
    r"completed step: ([0-9]{1,18}), seconds: ([0-9]{1,9}\.?[0-9]*), TFLOP/s/device"
)


def _steps(found: pl.DataFrame, reading: Reading) -> Batch:
    line = pl.col("line")
    loss = line.str.extract(r", loss: ([-+0-9.eEnaif]{1,40})").cast(
        pl.Float64, strict=False
    )
    stamp = pl.coalesce(
        iso_ns(line, reading.zone),
        glog_ns(line, reading.zone, reading.modified_ns, reading.year),
    )
    duration = decimal_ns(line.str.extract(_TELLING, 2), SECOND_NS)
    steps = found.with_columns(
        step=line.str.extract(_TELLING, 1).cast(pl.Int64, strict=False),
        time_ns=stamp,
        duration_ns=duration,
        start_ns=stamp - duration,
        loss=loss,
        naive=is_naive(line) | line.str.contains(GLOG_STAMP),
    )
    return batch(steps, reading)


MAXTEXT: Final = LineFormat(
    name="maxtext",
    version=2,
    describes="console lines of MaxText: step time and loss",
    tables=(StepTimings, TrainingMetrics),
    telling=_TELLING,
    start=EachLine.reader(_TELLING, _steps),
)
