"""Rows of kernels and of steps."""

from typing import Final

import polars as pl

from ingest.phrases import phrase
from ingest.sources._kineto.limits import FARTHEST_NS, Limits
from ingest.sources._kineto.losses import Losses
from ingest.sources._kineto.work import CATEGORIES
from ingest.sources._source import RAW_CHARACTERS, Reading
from ingest.tables import Kernels, StepTimings, Table

#: Characters of file_id that are a trace's own.
_TRACE_DIGITS: Final = 16

#: Greatest device.
_GREATEST_INDEX: Final = (1 << 31) - 1

#: Stream of work of which a trace tells neither stream nor thread.
NO_STREAM: Final = -1

#: Where a row is in its file.
PLACE: Final = phrase("event {}", "event")

#: What a refused event is shown by.
_SHOWN: Final = ("name", "start", "duration", "device", "stream", "step")


def sound(
    events: pl.DataFrame,
    rule: pl.Expr,
    table: type[Table],
    losses: Losses,
) -> pl.DataFrame:
    """Return the events that break no rule, and note the others."""
    judged = events.with_columns(rule=rule)
    if judged["rule"].null_count() == len(judged):
        return events
    broken = judged.filter(pl.col("rule").is_not_null())
    shown = pl.struct(name for name in _SHOWN if name in events.columns)
    text = shown.struct.json_encode().str.slice(0, RAW_CHARACTERS)
    for event, name, raw in broken.select("event", "rule", text).iter_rows():
        losses.refuse_event(table, name, event, raw)
    return judged.filter(pl.col("rule").is_null()).drop("rule")


def sound_work(work: pl.DataFrame, limits: Limits, losses: Losses) -> pl.DataFrame:
    """Return the work that can be rows: with a device, and times as they can be."""
    has_device = pl.col("device").is_between(0, _GREATEST_INDEX).fill_null(False)
    rule = pl.coalesce(
        limits.broken(limits.longest_ns),
        pl.when(~has_device).then(pl.lit("no_device")),
    )
    return sound(work, rule, Kernels, losses)


def kernel_rows(
    work: pl.DataFrame, limits: Limits, rank: int | None, reading: Reading
) -> pl.DataFrame:
    """Return rows of Kernels of linked work."""
    categories = dict(enumerate(CATEGORIES))
    category = pl.col("category").replace_strict(categories, return_dtype=pl.String)
    return work.select(
        run_id=pl.lit(reading.run_id),
        trace_id=pl.lit(trace_id(reading)),
        rank=pl.lit(rank, pl.Int32),
        device=pl.col("device").cast(pl.Int32),
        stream=pl.col("stream").fill_null(NO_STREAM),
        event="event",
        name="name",
        category=category,
        start_ns=pl.col("start") + limits.base_ns,
        duration_ns="duration",
        step="step",
        linked=pl.col("launch").is_not_null(),
        place=PLACE,
    )


def step_rows(
    steps: pl.DataFrame,
    limits: Limits,
    rank: int | None,
    reading: Reading,
    losses: Losses,
) -> pl.DataFrame:
    """Return rows of StepTimings: how long the host's annotation of each step was."""
    rule = limits.broken(FARTHEST_NS)
    return sound(steps, rule, StepTimings, losses).select(
        run_id=pl.lit(reading.run_id),
        step="step",
        rank=pl.lit(rank, pl.Int32),
        start_ns=pl.col("start") + limits.base_ns,
        duration_ns="duration",
        clock=pl.lit("host"),
        scope=pl.lit("rank"),
        step_count=pl.lit(1, pl.Int64),
        place=PLACE,
    )


def trace_id(reading: Reading) -> str:
    """Return the name of a trace."""
    return reading.file_id[:_TRACE_DIGITS]
