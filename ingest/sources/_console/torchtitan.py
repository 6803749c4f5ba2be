"""Console lines of torchtitan (components/metrics.py, tools/utils.py, checkpoint.py).

    [titan] 2026-05-18 16:04:46,338 - root - INFO - step: 14  loss:  3.24405  grad_norm:
    0.8319  memory:  9.46GiB(64.99%)  tps: 7,282  tflops: 0.52  mfu: 0.17%
    [titan] ... - [GC] Performing periodic GC collection took 0.06 seconds
    [titan] ... - Finished saving the checkpoint in 2.35 seconds.

* A step took the time since the line before, over the steps between: what `tps` says
  divides by `log_freq` even where fewer steps were done. The first line of a file has
  none before it, and gives metrics only; `Training starts at step` counts as one.
* Every rank may print the same step: the first rank's lines are read.
* Such a time holds whatever came between the two lines, checkpoints included.
"""

from typing import Final

import polars as pl

from ingest.phrases import phrase
from ingest.sources._console.format import LineFormat
from ingest.sources._console.steps import Before, Single, batch
from ingest.sources._source import Batch, Reading
from ingest.sources._stamps import decimal_ns, is_naive, iso_ns
from ingest.tables import Checkpoints, StepTimings, Table, Timers, TrainingMetrics
from ingest.times import SECOND_NS

_STEP: Final = r"\bstep: +([0-9]{1,18}) .*\bloss: +\S+.*\bmemory: +[0-9.]+ ?GiB"
_BEGIN: Final = r"Training starts at step:? +([0-9]{1,18})"
_GC: Final = r"\[GC\] .*?([0-9]{1,9}\.[0-9]+) seconds"
_STATE: Final = (
    r"Finished (saving|loading) the checkpoint.*?in ([0-9]{1,9}\.[0-9]+) seconds"
)
_TELLING: Final = rf"{_STEP}|{_BEGIN}|{_GC}|{_STATE}"


def _real(key: str) -> pl.Expr:
    text = pl.col("line").str.extract(rf"\b{key}: +([-+0-9.eEnaif]{{1,40}})")
    return text.cast(pl.Float64, strict=False)


def _told(reading: Reading) -> dict[str, pl.Expr]:
    line = pl.col("line")
    step = line.str.extract(_STEP).cast(pl.Int64, strict=False)
    begin = line.str.extract(_BEGIN).cast(pl.Int64, strict=False) - 1
    return {
        "is_step": line.str.contains(_STEP),
        "step": pl.coalesce(step, begin),
        "time_ns": iso_ns(line, reading.zone),
        "naive": is_naive(line),
        "loss": _real("loss"),
        "grad_norm": _real("grad_norm"),
        "gc": line.str.extract(_GC),
        "done": line.str.extract(_STATE, 1),
        "took": line.str.extract(_STATE, 2),
    }


class _Console:
    """Times each step by the line before, over the blocks of a file."""

    def __init__(self, reading: Reading) -> None:
        self._reading = reading
        self._before = Before("step", "time_ns")
        self._single = Single()
        self._step = Before("last_step")

    def take(self, lines: pl.DataFrame) -> Batch:
        found = lines.filter(pl.col("line").str.contains(_TELLING))
        if found.is_empty():
            return Batch()
        told = found.with_columns(**_told(self._reading))
        steps = self._single.of(told.filter(pl.col("step").is_not_null()))
        known = self._before.add(steps).filter("is_step")
        count = pl.col("step") - pl.col("step_before")
        passed = pl.col("time_ns") - pl.col("time_ns_before")
        timed = (count > 0) & (passed >= 0)
        timings = known.with_columns(
            step_count=pl.when(timed).then(count),
            duration_ns=pl.when(timed).then(passed // count),
            start_ns=pl.when(timed).then("time_ns_before"),
        )
        given = batch(timings, self._reading)
        rows = dict(given.rows) | _others(self._with_step(told), self._reading)
        zone_used = bool(told["naive"].any())
        return Batch({t: f for t, f in rows.items() if f.height}, zone_used=zone_used)

    def _with_step(self, told: pl.DataFrame) -> pl.DataFrame:
        """Give every line the step that was logged last."""
        last = told.with_columns(last_step=pl.col("step").forward_fill())
        before = self._step.add(last)
        filled = pl.coalesce("last_step", pl.col("last_step_before").first())
        return before.with_columns(step=filled)

    def close(self) -> Batch:
        return Batch()


def _others(told: pl.DataFrame, reading: Reading) -> dict[type[Table], pl.DataFrame]:
    """Return pauses to collect garbage, and checkpoints; each ends at its line."""
    fixed = [pl.lit(reading.run_id).alias("run_id"), pl.col("step")]
    place = phrase("line {}", "number").alias("place")
    pauses = told.filter(pl.col("gc").is_not_null()).select(
        *fixed,
        place,
        "time_ns",
        "rank",
        name=pl.lit("gc_collect"),
        statistic=pl.lit("rank"),
        duration_ns=decimal_ns(pl.col("gc"), SECOND_NS),
        occurrence=pl.int_range(pl.len(), dtype=pl.Int32).over(
            "step", "rank", "time_ns"
        ),
    )
    took = decimal_ns(pl.col("took"), SECOND_NS)
    kind = pl.col("done").replace_strict(
        {"saving": "save", "loading": "load"}, default=None, return_dtype=pl.String
    )
    states = told.filter(pl.col("done").is_not_null() & pl.col("time_ns").is_not_null())
    checkpoints = states.select(
        *fixed,
        place,
        "rank",
        kind=kind,
        start_ns=pl.col("time_ns") - took,
        duration_ns=took,
        stall_ns=took,
    )
    return {Timers: pauses, Checkpoints: checkpoints}


TORCHTITAN: Final = LineFormat(
    name="torchtitan-lines",
    version=2,
    describes="console lines of torchtitan: steps, loss, garbage collection,"
    " checkpoints",
    tables=(StepTimings, TrainingMetrics, Timers, Checkpoints),
    telling=_TELLING,
    start=_Console,
)
