"""Console lines of DeepSpeed (runtime/engine.py, utils/timer.py, utils/logging.py).

    [2023-05-01 10:00:00,123] [INFO] [logging.py:107:log_dist] [Rank 0] step=10,
    skipped=0, lr=[0.0001], mom=[(0.9, 0.95)]
    [2023-05-01 10:00:00,223] [INFO] [logging.py:107:log_dist] [Rank 0] time (ms) |
    fwd: 715.4 | bwd: 2402.9 | bwd_inner: 1223.71 | bwd_allreduce: 1178.40 | step: 9.7

* With `wall_clock_breakdown` rank 0 prints a line of these totals after every step. The
  step's number stands only in every `steps_per_print`-th `step=` line, which comes
  before the totals of that step: the others are counted from it.
* Every timer of such a line is a row of `timers`, those of micro-batches too; old
  Megatron-LM wrote its own in the same form. Where no line tells a number, there are
  timers and no steps.
* A step took `fwd + bwd + step`, what its timers saw; loading data is not in it.
* Of `bwd`, `bwd_inner` is computing; `bwd_allreduce` also waits for other ranks, so it
  is neither communication nor wait. Parts are nested and are not added up.
* `CurrSamplesPerSec` is of the micro-batch in some versions, and is not read.
"""

from dataclasses import replace
from typing import Final

import polars as pl

from ingest.sources._console.format import LineFormat
from ingest.sources._console.steps import batch
from ingest.sources._console.time_lines import TIME_LINE, timers
from ingest.sources._source import Batch, Reading
from ingest.sources._stamps import decimal_ns, is_naive, iso_ns
from ingest.tables import StepTimings, Table, Timers

_TOTALS: Final = r"time \(ms\) \| (?:fwd|forward): "
_NUMBERED: Final = r"\[Rank 0\] step=([0-9]{1,18}), skipped="
_TELLING: Final = rf"{TIME_LINE}|{_NUMBERED}"

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
        # a line that is no total belongs to the total that comes next
        order = done + (~pl.col("is_totals")).cast(pl.Int64)
        told = told.with_columns(order=order, offset=pl.col("told") - order)
        self._seen += int(told["is_totals"].sum())
        known = pl.concat([*self._waiting, told])
        numbered = known.with_columns(step=pl.col("order") + self._offsets())
        latest = told["offset"].drop_nulls()
        self._offset = latest[-1] if len(latest) else self._offset
        is_open = self._offset is None and known.height < _MOST_WAITING
        self._waiting = [known] if is_open else []
        return Batch() if is_open else self._batch(numbered)

    def close(self) -> Batch:
        """Return the timers of steps that nothing numbered."""
        waiting, self._waiting = self._waiting, []
        if not waiting:
            return Batch()
        return self._batch(pl.concat(waiting).with_columns(step=pl.lit(None, pl.Int64)))

    def _offsets(self) -> pl.Expr:
        """Return what is to be added to the order of a line to give its step."""
        before = pl.col("offset").forward_fill()
        return pl.coalesce(
            before.fill_null(pl.lit(self._offset, pl.Int64)),
            pl.col("offset").backward_fill(),
        )

    def _batch(self, numbered: pl.DataFrame) -> Batch:
        known = pl.col("is_totals") & (pl.col("step") >= 0)
        no_length = pl.col("duration_ns").is_null()
        totals = numbered.filter(known).with_columns(
            start_ns=pl.col("time_ns") - pl.col("duration_ns"),
            rule=pl.when(no_length).then(pl.lit("duration_ns|required")),
        )
        steps = batch(totals, self._reading)
        tables: dict[type[Table], pl.DataFrame] = dict(steps.rows)
        rows = timers(numbered, self._reading)
        if rows.height:
            tables[Timers] = rows
        return replace(steps, rows=tables, zone_used=bool(numbered["naive"].any()))


DEEPSPEED: Final = LineFormat(
    name="deepspeed",
    version=3,
    describes="wall_clock_breakdown of DeepSpeed, timers of old Megatron-LM",
    tables=(StepTimings, Timers),
    telling=_TELLING,
    start=_Totals,
)
