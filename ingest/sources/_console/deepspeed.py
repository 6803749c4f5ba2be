"""Console lines of DeepSpeed (runtime/engine.py, utils/timer.py, utils/logging.py).

    [2023-05-01 10:00:00,123] [INFO] [logging.py:107:log_dist] [Rank 0] step=10,
    skipped=0, lr=[0.0001], mom=[(0.9, 0.95)]
    [2023-05-01 10:00:00,223] [INFO] [logging.py:107:log_dist] [Rank 0] time (ms) |
    fwd: 715.4 | bwd: 2402.9 | bwd_inner: 1223.71 | bwd_allreduce: 1178.40 | step: 9.7

* With `wall_clock_breakdown` rank 0 prints a line of these totals after every step. The
  step's number stands only in every `steps_per_print`-th `step=` line, which comes
  before the totals of that step: the others are counted from it.
* A step took `fwd + bwd + step`, what its timers saw; loading data is not in it.
* Of `bwd`, `bwd_inner` is computing; `bwd_allreduce` also waits for other ranks, so it
  is neither communication nor wait. Parts are nested and are not added up.
* `CurrSamplesPerSec` is of the micro-batch in some versions, and is not read.
"""

from typing import Final

import polars as pl

from ingest.sources._console.format import LineFormat
from ingest.sources._console.steps import batch
from ingest.sources._source import Batch, Reading
from ingest.sources._stamps import decimal_ns, is_naive, iso_ns
from ingest.tables import StepTimings

_TOTALS: Final = r"time \(ms\) \| (?:fwd|forward): "
_NUMBERED: Final = r"\[Rank 0\] step=([0-9]{1,18}), skipped="
_TELLING: Final = rf"{_TOTALS}|{_NUMBERED}"

_MILLISECOND_NS: Final = 1_000_000

#: Lines of totals that wait for a number, those before the first `step=` line: a run
#: that never prints one gives none of its steps a number. [1]
_MOST_WAITING: Final = 100_000


def _timer(*names: str) -> pl.Expr:
    text = pl.col("line").str.extract(
        rf"\| (?:{'|'.join(names)}): ([0-9]{{1,12}}\.?[0-9]*)"
    )
    return decimal_ns(text, _MILLISECOND_NS)


def _told(reading: Reading) -> dict[str, pl.Expr]:
    line = pl.col("line")
    backward = _timer("bwd", "backward")
    inner = pl.coalesce(_timer("bwd_inner", "backward_inner"), pl.lit(0))
    return {
        "is_totals": line.str.contains(_TOTALS),
        "told": line.str.extract(_NUMBERED).cast(pl.Int64, strict=False),
        "time_ns": iso_ns(line, reading.zone),
        "naive": is_naive(line),
        "duration_ns": _timer("fwd", "forward") + backward + _timer("step"),
        "compute_ns": pl.when(inner <= backward).then(
            _timer("fwd", "forward") + inner + _timer("step")
        ),
    }


class _Totals:
    """Numbers the steps of a file by the few numbers that are printed."""

    def __init__(self, reading: Reading) -> None:
        self._reading = reading
        self._seen = 0
        self._offset: int | None = None
        self._waiting: list[pl.DataFrame] = []

    def take(self, lines: pl.DataFrame) -> Batch:
        found = lines.filter(pl.col("line").str.contains(_TELLING))
        if found.is_empty():
            return Batch()
        told = found.with_columns(**_told(self._reading))
        done = pl.col("is_totals").cast(pl.Int64).cum_sum() + self._seen
        # the totals that come next are those of the step that is told
        told = told.with_columns(order=done, offset=pl.col("told") - done - 1)
        self._seen = int(told["order"][-1])
        known = pl.concat([*self._waiting, told])
        self._waiting = []
        offset = pl.coalesce(
            pl.col("offset").forward_fill().fill_null(pl.lit(self._offset, pl.Int64)),
            pl.col("offset").backward_fill(),
        )
        numbered = known.with_columns(step=pl.col("order") + offset)
        latest = told["offset"].drop_nulls()
        self._offset = latest[-1] if len(latest) else self._offset
        if self._offset is None and known.height < _MOST_WAITING:
            self._waiting = [known]
            return Batch()
        return self._batch(numbered)

    def close(self) -> Batch:
        waiting, self._waiting = self._waiting, []
        if not waiting:
            return Batch()
        return self._batch(pl.concat(waiting).with_columns(step=pl.lit(None, pl.Int64)))

    def _batch(self, numbered: pl.DataFrame) -> Batch:
        end = pl.col("time_ns")
        rule = (
            pl.when(pl.col("step").is_null() | (pl.col("step") < 0))
            .then(pl.lit("step|required"))
            .when(pl.col("duration_ns").is_null())
            .then(pl.lit("duration_ns|required"))
        )
        totals = numbered.filter("is_totals").with_columns(
            start_ns=end - pl.col("duration_ns"), rule=rule
        )
        return batch(totals, self._reading)


DEEPSPEED: Final = LineFormat(
    name="deepspeed",
    version=1,
    describes="wall_clock_breakdown of DeepSpeed: the parts of a step on rank 0",
    tables=(StepTimings,),
    telling=_TELLING,
    start=_Totals,
)
