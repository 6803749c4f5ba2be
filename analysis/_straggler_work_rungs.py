"""Rungs of the ladder of causes that are about work: pauses, lengths, input."""

from collections.abc import Iterator
from typing import Final

import polars as pl

from analysis._straggler_cause_limits import CauseLimits
from analysis._straggler_rung import (
    STEPS,
    Rung,
    percent,
    said_share,
    share,
    signed,
)
from ingest.phrases import phrase

_MS_NS: Final = 1_000_000

_STEPS: Final = (STEPS, "step_rows")
_PASSES: Final = ("operations", "operation_rows")


def of_work(limits: CauseLimits) -> Iterator[Rung]:
    """Go down the rungs that operations and steps tell."""
    yield _garbage(limits)
    yield _stage()
    yield _lengths(limits)
    yield _transfer(limits)
    yield _data_loading(limits)


def _garbage(limits: CauseLimits) -> Rung:
    forward, backward = pl.col("forward_pause_ns"), pl.col("backward_pause_ns")
    is_rare = pl.col("paused") < limits.paused_share
    is_pause = is_rare & (backward < (1 - limits.cause_share) * forward)
    told = pl.col("has_gc").fill_null(value=False)
    part = share(pl.when(told).then("gc_ns").otherwise(forward))
    holds = (part >= limits.cause_share) & (told | is_pause)
    pauses = f"pauses over {limits.pause_ns / _MS_NS:g} ms in forward passes alone"
    said = pl.when(told).then(pl.lit("garbage collection")).otherwise(pl.lit(pauses))
    evidence = phrase("{}: {} of the excess", said, said_share(part))
    missing = "no traced passes of it"
    return Rung("garbage_collection", holds, evidence, missing, *_PASSES)


def _stage() -> Rung:
    holds = pl.col("scope") == "stage"
    said = (
        pl.when(holds)
        .then(pl.lit("a whole stage"))
        .otherwise(pl.lit("its stage is not slow as a whole"))
    )
    # a stage is compared by the waits of all its ranks
    return Rung("stage_imbalance", holds, said, "", *_STEPS)


def _lengths(limits: CauseLimits) -> Rung:
    scattered = pl.col("slow_cells") < limits.slow_cells_share
    half = 1 + limits.cause_share * (pl.col("slowdown_ratio") - 1)
    holds = (
        (pl.col("correlation") >= limits.length_correlation)
        & (pl.col("spread") >= limits.length_spread)
        & scattered
        & (pl.col("shortest") <= half)
    )
    evidence = phrase(
        "forward and backward passes correlate at {} over micro-batches, {} % of them"
        " slow, the shortest at {} of the stage's",
        signed(pl.col("correlation").round(2)),
        percent(pl.col("slow_cells")),
        pl.col("shortest").round(2),
    )
    missing = "no traced micro-batches of it"
    return Rung("sequence_length", holds, evidence, missing, *_PASSES)


def _transfer(limits: CauseLimits) -> Rung:
    part = share(pl.col("excess_transfer_ns"))
    evidence = phrase("{} of the excess is transfer", said_share(part))
    missing = "its steps do not tell transfers apart"
    holds = part >= limits.cause_share
    return Rung("slow_link", holds, evidence, missing, *_STEPS)


def _data_loading(limits: CauseLimits) -> Rung:
    part = share(pl.col("excess_data_ns"))
    evidence = phrase("{} of the excess is waiting for input", said_share(part))
    missing = "its steps do not tell the wait for input"
    holds = part >= limits.cause_share
    return Rung("data_loading", holds, evidence, missing, *_STEPS)
