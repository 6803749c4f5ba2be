"""Evidence of a run that lies far apart, and traces outside all of its attempts."""

from typing import Final

import polars as pl

from analysis import Frames
from analysis.attempts import Attempts
from analysis.overlap import Overlap
from analysis.placing import CLOCKS_FROM_NS
from ingest.tables import Jobs, StepTimings
from reports._blind_spot import BlindSpot
from reports._numbers import THIN, duration, grouped, significant
from reports._runs import NS_PER_DAY
from reports._section import Scope
from reports._words import listed, name, plural

#: Days without any evidence from which sources are thought to tell of two runs: a run
#: is continued after a repair or a holiday, and hardly ever after a month.
FAR_APART_DAYS: Final = 30

_DAYS_PER_YEAR: Final = 365.25

#: Times before 2001 count from a start, and not from the epoch: they lie apart from
#: nothing. [ns]
_EARLIEST_NS: Final = 978_307_200 * 10**9

#: Runs that are named: the rest is a count.
_MOST_RUNS: Final = 3

_NEVER: Final = 2**63 - 1


def apart(
    frames: Frames, scope: Scope, far_days: int = FAR_APART_DAYS
) -> BlindSpot | None:
    """Return the runs whose evidence lies far apart.

    Args:
        frames: The tables.
        scope: Runs of the page.
        far_days: Days without evidence that are too many for one run. [d]
    """
    rows = _gaps(_days(frames, scope)).filter(pl.col("gap_days") > far_days).collect()
    if rows.is_empty():
        return None
    told = [
        f"{listed(sources)} of run {name(run_id, 30)} are {_length(days)} apart"
        for run_id, days, sources in rows.iter_rows()
    ]
    return BlindSpot(
        "Whether a run is one run",
        listed(told, _MOST_RUNS),
        "several runs in one folder? a folder or a run card for each",
    )


def outside(frames: Frames, scope: Scope) -> BlindSpot | None:
    """Return the traces that no attempt of their run covers: they are in no account."""
    traces = scope.of_runs(frames[Overlap]).select("run_id", "trace_id", *_span())
    attempts = frames[Attempts].select("run_id", _start="start_ns", _end="end_ns")
    both = traces.join(attempts, on="run_id", how="left")
    end = pl.col("_end").fill_null(_NEVER)
    meets = (pl.col("_start") <= pl.col("to_ns")) & (end >= pl.col("from_ns"))
    each = both.group_by("run_id", "trace_id").agg(
        met=meets.fill_null(value=False).any()
    )
    total, missed = each.select(pl.len(), (~pl.col("met")).sum()).collect().row(0)
    if not missed:
        return None
    return BlindSpot(
        "Which attempt traces belong to",
        f"{grouped(missed)} of {plural(total, 'trace')} outside the attempts of their"
        " run: in no account",
        "traces and jobs or step logs of the same time",
    )


def _span() -> tuple[pl.Expr, pl.Expr]:
    start = pl.col("start_ns")
    return start.alias("from_ns"), (start + pl.col("span_ns")).alias("to_ns")


def _days(frames: Frames, scope: Scope) -> pl.LazyFrame:
    """Return per run, source and day the first and the last time of evidence.

    Traces that count from a moment of their own have no day.
    """
    start = pl.col("start_ns")
    until = (start + pl.col("duration_ns")).alias("to_ns")
    ended = pl.coalesce("end_ns", "start_ns").alias("to_ns")
    rows = [
        ("traces", frames[Overlap].select("run_id", *_span())),
        (
            "step logs",
            frames[StepTimings].select("run_id", start.alias("from_ns"), until),
        ),
        ("jobs", frames[Jobs].select("run_id", start.alias("from_ns"), ended)),
    ]
    told = [
        scope.of_runs(some.drop_nulls())
        .filter(pl.col("from_ns") >= _EARLIEST_NS)
        .filter(pl.col("from_ns") >= CLOCKS_FROM_NS)
        .group_by("run_id", day=pl.col("from_ns") // NS_PER_DAY)
        .agg(pl.col("from_ns").min(), pl.col("to_ns").max())
        .with_columns(source=pl.lit(source))
        for source, some in rows
    ]
    return pl.concat(told)


def _gaps(days: pl.LazyFrame) -> pl.LazyFrame:
    """Return per run its longest time without evidence, and the sources around it."""
    until = pl.col("to_ns").cum_max().shift(1).over("run_id")
    return (
        days.sort("run_id", "from_ns", "to_ns", "source")
        .with_columns(gap_ns=pl.col("from_ns") - until)
        .group_by("run_id")
        .agg(
            gap_days=pl.col("gap_ns").max() // NS_PER_DAY,
            sources=pl.col("source").unique().sort(descending=True),
        )
        .sort("run_id")
    )


def _length(days: int) -> str:
    if days >= 2 * _DAYS_PER_YEAR:
        return f"{significant(days / _DAYS_PER_YEAR)}{THIN}years"
    return duration(days * NS_PER_DAY)
