"""Iteration lines of Megatron-LM and its forks (training.py, training_log).

    [2025-05-09 06:22:43.120] iteration  20/  100 | consumed samples:  5120 | elapsed
    time per iteration (ms): 3156.5 | ... | lm loss: 2.1E+00 | grad norm: 1.2 | ...

* One rank, the last, prints the mean over the iterations since its line before.
* A line is written at the end of its last iteration, so they began `step_count` means
  before. Without a stamp the row has no start.
* The first line of a file covers the iterations since a checkpoint was loaded, where
  the log says so; else since iteration 0, unless the next line covers fewer.
* Keys and values are `key: value` or `key=value`, in any order; unknown ones are passed
  over. No loss is printed where an iteration was skipped.
"""

from typing import Final

import polars as pl

from ingest.sources._console.format import LineFormat
from ingest.sources._console.steps import Before, batch
from ingest.sources._source import Batch, Reading
from ingest.sources._stamps import decimal_ns, is_naive, iso_ns
from ingest.tables import StepTimings, TrainingMetrics
from ingest.times import SECOND_NS

#: What only such a line has.
TELLING: Final = (
    r"iteration[ =]+[0-9]+ ?/ *[0-9]+ ?\|.*elapsed[ _]time[ _]per[ _]iteration"
)

#: A checkpoint that was loaded tells from which iteration on the first line counts.
LOADED: Final = r"successfully loaded checkpoint from .* at iteration +([0-9]{1,18})"

#: Share of the time between two lines that their steps may take: stamps have whole
#: seconds in some versions, and step times a tenth of a millisecond.
_MOST: Final = 1.5

_MILLISECOND_NS: Final = 1_000_000
_NUMBER: Final = r"([-+0-9.eE]{1,40}|nan|inf)"
_ELAPSED: Final = (
    r"(?i)elapsed[ _]time[ _]per[ _]iteration[ _]\(?ms\)? *[:=] *"
    r"([0-9]{1,12}\.?[0-9]*)"
)
_EPOCH: Final = r"current time: ([0-9]{9,10}(?:\.[0-9]{0,9})?)"


def stamp_ns(reading: Reading) -> pl.Expr:
    """Return when a line was written; null where it does not tell. [ns]"""
    line = pl.col("line")
    epoch = decimal_ns(line.str.extract(_EPOCH), SECOND_NS)
    return pl.coalesce(iso_ns(line, reading.zone), epoch)


def iteration() -> pl.Expr:
    """Return the iteration that a line tells of."""
    return (
        pl.col("line")
        .str.extract(r"iteration[ =]+([0-9]{1,18}) ?/")
        .cast(pl.Int64, strict=False)
    )


def _real(key: str) -> pl.Expr:
    """Return a value by the regular expression of its key."""
    text = pl.col("line").str.extract(rf"(?i)\| *{key} *[:= ] *{_NUMBER}")
    return text.cast(pl.Float64, strict=False)


def _told(reading: Reading) -> dict[str, pl.Expr]:
    line = pl.col("line")
    elapsed = line.str.extract(_ELAPSED)
    loaded = line.str.extract(LOADED).cast(pl.Int64, strict=False)
    return {
        "is_step": line.str.contains(TELLING),
        "step": pl.coalesce(iteration(), loaded),
        "time_ns": stamp_ns(reading),
        "duration_ns": decimal_ns(elapsed, _MILLISECOND_NS),
        "loss": _real(r"(?:lm[ _])?loss"),
        "grad_norm": _real("grad[ _]norm"),
        "skipped": _real("number[ _]of[ _]skipped[ _]iterations") > 0,
        "naive": is_naive(line),
    }


class _Iterations:
    """Says how many iterations each line covers, over the blocks of a file."""

    def __init__(self, reading: Reading) -> None:
        self._reading = reading
        self._before = Before("step", "time_ns")
        self._held = pl.DataFrame()

    def take(self, lines: pl.DataFrame) -> Batch:
        found = lines.filter(pl.col("line").str.contains(f"{TELLING}|{LOADED}"))
        if found.is_empty():
            return Batch()
        told = found.with_columns(**_told(self._reading))
        since = pl.col("step") - pl.col("step_before")
        passed = pl.col("time_ns") - pl.col("time_ns_before")
        fits = (since.cast(pl.Float64) * pl.col("duration_ns") <= _MOST * passed) | (
            passed.is_null()
        )
        counted = (
            self._before.add(told)
            .filter("is_step")
            # where the step falls the run began anew, and where more steps are missing
            # than there was time for the log has a gap: nothing tells from where
            .with_columns(step_count=pl.when((since > 0) & fits).then(since))
        )
        steps = pl.concat([self._held, counted]) if self._held.height else counted
        next_count = pl.col("step_count").shift(-1)
        guess = pl.when(next_count.is_not_null()).then(
            pl.min_horizontal(next_count, "step")
        )
        waits = int(steps.height > 0 and steps["step_count"][-1] is None)
        self._held = steps.tail(waits)
        given = pl.coalesce("step_count", guess, pl.lit(1, pl.Int64)).clip(1)
        return self._batch(
            steps.with_columns(step_count=given).head(steps.height - waits)
        )

    def close(self) -> Batch:
        return self._batch(self._held.with_columns(step_count=pl.lit(1, pl.Int64)))

    def _batch(self, steps: pl.DataFrame) -> Batch:
        if steps.is_empty():
            return Batch()
        length = pl.col("duration_ns").cast(pl.Int128) * pl.col("step_count")
        start = (pl.col("time_ns") - length).cast(pl.Int64, strict=False)
        rule = (
            pl.when(pl.col("step").is_null())
            .then(pl.lit("step|required"))
            .when(pl.col("duration_ns").is_null())
            .then(pl.lit("duration_ns|required"))
        )
        return batch(steps.with_columns(start_ns=start, rule=rule), self._reading)


MEGATRON: Final = LineFormat(
    name="megatron",
    version=2,
    describes="iteration lines of Megatron-LM and its forks: mean step time, loss,"
    " gradient norm",
    tables=(StepTimings, TrainingMetrics),
    telling=TELLING,
    start=_Iterations,
)
