"""Saves and loads of a run: one row for each, whatever ranks or steps tell of it."""

from collections.abc import Mapping
from typing import Final

import polars as pl

from analysis._checkpoint_elsewhere import told_elsewhere
from analysis._ledger_evidence import place_known
from ingest.tables import Checkpoints, StepTimings
from ingest.times import SECOND_NS

#: A step stood still for a save from this share of what such steps typically take:
#: some trainers look after a writer in each step, for a thousandth of it. [1]
LEAST_STALL_RATIO: Final = 0.02

#: Columns of a save.
SAVE: Final[Mapping[str, type[pl.DataType]]] = {
    "run_id": pl.String,
    "attempt": pl.Int32,
    "step": pl.Int64,
    "tier": pl.String,
    "start_ns": pl.Int64,
    "stall_ns": pl.Int64,
    "duration_ns": pl.Int64,
    "durable_ns": pl.Int64,
    "bytes": pl.Int64,
}
_SCHEMA: Final = pl.Schema(SAVE)

#: Ranks begin a step together, but for a few that fall into the next minute. [ns]
_MINUTE_NS: Final = 60 * SECOND_NS

_ATTEMPT: Final = ["run_id", "attempt"]


def told_saves(checkpoints: pl.LazyFrame, attempts: pl.LazyFrame) -> pl.DataFrame:
    """Return the saves that are told of as such, ranks together.

    A save stalls as long as its slowest rank and is safe when the last one is. Rows
    without a step are saves of their own.

    Args:
        checkpoints: Rows of Checkpoints.
        attempts: Attempts, for rows that do not tell theirs.

    Returns:
        Columns of SAVE and is_elsewhere, in the order of time.
    """
    saves = checkpoints.filter(Checkpoints.kind.col == "save")
    return _joined(told_elsewhere(place_known(saves, attempts), attempts))


def told_loads(checkpoints: pl.LazyFrame, attempts: pl.LazyFrame) -> pl.DataFrame:
    """Return the loads that are told of, ranks together, as saves are."""
    loads = checkpoints.filter(Checkpoints.kind.col == "load")
    own = pl.lit(value=False).alias("is_elsewhere")
    placed = place_known(loads, attempts).with_columns(own)
    return _joined(placed).drop("is_elsewhere")


def _joined(rows: pl.LazyFrame) -> pl.DataFrame:
    """Join the rows of all ranks of one save."""
    apart = pl.when(Checkpoints.step.col.is_null()).then(Checkpoints.start_ns.col)
    safe = Checkpoints.durable_ns.col
    sized = Checkpoints.bytes.col
    by = [*_ATTEMPT, "step", "tier", "is_elsewhere"]
    joined = rows.group_by(*by, apart=apart).agg(
        Checkpoints.start_ns.col.min(),
        Checkpoints.stall_ns.col.max(),
        Checkpoints.duration_ns.col.max(),
        pl.when(safe.is_not_null().all()).then(safe.max()).alias("durable_ns"),
        pl.when(sized.is_not_null().all()).then(sized.sum()).alias("bytes"),
    )
    ordered = joined.select(*SAVE, "is_elsewhere").sort(
        "run_id", "start_ns", "step", "tier"
    )
    schema = {**_SCHEMA, "is_elsewhere": pl.Boolean()}
    return ordered.cast(pl.Schema(schema)).collect(engine="streaming")


def stalled_steps(
    steps: pl.LazyFrame, attempts: pl.LazyFrame, least: float = LEAST_STALL_RATIO
) -> pl.DataFrame:
    """Return the steps that stood still for a save, as saves.

    Args:
        steps: Rows of StepTimings.
        attempts: Attempts, for rows that do not tell theirs.
        least: Share of a typical stall from which a step counts. [1]

    Returns:
        Columns of SAVE: the stall is that of the slowest rank.
    """
    stall = StepTimings.checkpoint_ns.col
    minute = StepTimings.start_ns.col // _MINUTE_NS
    # ranks together before they are placed: a tenth of a percent of the rows
    ranks = steps.filter(stall > 0).group_by(*_ATTEMPT, "step", minute=minute)
    joined = ranks.agg(StepTimings.start_ns.col.min(), stall.max())
    found = (
        place_known(joined, attempts)
        .group_by(*_ATTEMPT, "step")
        .agg(StepTimings.start_ns.col.min(), stall_ns=stall.max())
    )
    share = pl.col("stall_ns").cast(pl.Float64)
    typical = ((share**2).sum() / share.sum()).over("run_id", order_by="start_ns")
    kept = found.filter(share >= least * typical)
    rest = [
        pl.lit(None, kind).alias(name)
        for name, kind in SAVE.items()
        if name not in {*_ATTEMPT, "step", "start_ns", "stall_ns"}
    ]
    shaped = kept.with_columns(*rest).select(list(SAVE)).cast(_SCHEMA)
    ordered = shaped.sort("run_id", "start_ns", "step")
    return ordered.collect(engine="streaming")
