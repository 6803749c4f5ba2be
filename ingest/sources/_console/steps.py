"""Rows of steps from console lines, as the reader of every framework makes them.

A line of a training log is written by one process and tells of the whole run: its time
is a mean, of the scope `run_mean`, which cannot tell ranks apart. The same line from
several processes is one row, that of the process that wrote first.
"""

from typing import Final

import polars as pl

from ingest.phrases import phrase
from ingest.sources._source import RAW_CHARACTERS, Batch, Reading, Refusal
from ingest.tables import StepTimings, Table, TrainingMetrics

#: Columns of TrainingMetrics that a line may tell; a line that tells none makes no row.
METRICS: Final = ("loss", "loss_is_finite", "grad_norm", "skipped")

#: Columns of a line that `batch` takes, beside those of METRICS.
COLUMNS: Final = {
    "number": pl.UInt32,
    "raw": pl.String,
    "rank": pl.Int32,
    "step": pl.Int64,
    "time_ns": pl.Int64,
    "start_ns": pl.Int64,
    "duration_ns": pl.Int64,
    "step_count": pl.Int64,
    "compute_ns": pl.Int64,
    "tokens": pl.Int64,
    "loss": pl.Float64,
    "grad_norm": pl.Float64,
    "skipped": pl.Boolean,
    "naive": pl.Boolean,
    "rule": pl.String,
}


def batch(lines: pl.DataFrame, reading: Reading, unit: str = "line") -> Batch:
    """Return the rows of lines, each with what it tells.

    Args:
        lines: Columns of COLUMNS; those that a format never tells may be missing. A
            `rule` is why a line is refused. Without a `duration_ns` a line makes no
            row of StepTimings. What is logged and no finite number becomes null.
        reading: What is known about the file.
        unit: What `number` counts.
    """
    missing = [
        pl.lit(None, dtype).alias(name)
        for name, dtype in COLUMNS.items()
        if name not in lines.columns
    ]
    lines = lines.with_columns(missing).with_columns(
        *(
            pl.when(pl.col(n).is_finite()).then(n).alias(n)
            for n in ("loss", "grad_norm")
        ),
        loss_is_finite=pl.col("loss").is_finite(),
    )
    good = lines.filter(pl.col("rule").is_null()).with_columns(
        run_id=pl.lit(reading.run_id), place=phrase(f"{unit} {{}}", "number")
    )
    timings = good.filter(pl.col("duration_ns").is_not_null()).select(
        *("run_id", "step", "start_ns", "duration_ns", "compute_ns", "tokens", "place"),
        clock=pl.lit("host"),
        scope=pl.lit("run_mean"),
        step_count=pl.col("step_count").fill_null(1),
    )
    tells = pl.any_horizontal(pl.col(METRICS).is_not_null())
    metrics = good.filter(tells).select("run_id", "step", "time_ns", *METRICS, "place")
    rows = {StepTimings: timings, TrainingMetrics: metrics}
    return Batch(
        rows={table: frame for table, frame in rows.items() if frame.height},
        refused=refusals(StepTimings, lines.filter(pl.col("rule").is_not_null()), unit),
        zone_used=bool(good["naive"].any()),
    )


def refusals(
    table: type[Table], lines: pl.DataFrame, unit: str = "line"
) -> tuple[Refusal, ...]:
    """Return the refusals of lines that have a `number`, a `rule` and are `raw`."""
    rows = lines.select(
        phrase(f"{unit} {{}}", "number"),
        "rule",
        pl.col("raw").str.head(RAW_CHARACTERS),
    )
    return tuple(Refusal(table, *row) for row in rows.iter_rows())


class Before:
    """Gives each line what the line before it told, over the blocks of a file."""

    def __init__(self, *names: str) -> None:
        """Remember columns of these names."""
        self._names = names
        self._last: pl.DataFrame | None = None

    def add(self, lines: pl.DataFrame) -> pl.DataFrame:
        """Return lines with columns `<name>_before`, null at the first of all."""
        kept = lines.select(self._names)
        last = self._last if self._last is not None else kept.clear(1)
        self._last = kept.tail(1) if kept.height else last
        before = pl.concat([last, kept]).head(lines.height)
        return lines.hstack(before.rename({n: f"{n}_before" for n in self._names}))


class Single:
    """Leaves out the copies of a line that other processes wrote."""

    def __init__(self) -> None:
        """Wait for the first process that says its rank."""
        self._rank: int | None = None
        self._step = Before("step")

    def of(self, lines: pl.DataFrame) -> pl.DataFrame:
        """Return the lines of the first rank, and of the others' only new steps.

        Args:
            lines: Columns `rank`, null where a line does not tell, and `step`.
        """
        ranks = lines["rank"].drop_nulls()
        if self._rank is None and len(ranks):
            self._rank = ranks[0]
        mine = lines.filter(pl.col("rank").eq_missing(self._rank))
        unsaid = mine if self._rank is not None else lines
        fresh = self._step.add(unsaid)
        return fresh.filter(pl.col("step").ne_missing(pl.col("step_before"))).drop(
            "step_before"
        )
