"""Rungs of the ladder of causes that are about work: pauses, lengths, input."""

from collections.abc import Iterator
from typing import Final

import polars as pl

from analysis._straggler_rung import MOST_OF_IT, STEPS, Rung, percent, share
from ingest.phrases import phrase

#: Correlation of forward with backward passes from which lengths of sequences speak.
#: Source: arXiv 2505.05713, section 5.3.
MOST_ALIKE: Final = 0.9

#: Sd of a stage's micro-batches below which they are all as long. [1]
LEAST_SPREAD: Final = 0.05

#: Share of slow micro-batches from which they are not scattered, but all. [1]
ALL_CELLS: Final = 0.9

#: Share of forward passes with a pause above which it is no pause. [1]
MOST_PAUSED: Final = 0.5

_STEPS: Final = (STEPS, "step_rows")
_PASSES: Final = ("operations", "operation_rows")


def of_work() -> Iterator[Rung]:
    """Go down the rungs that operations and steps tell."""
    yield _garbage()
    yield _stage()
    yield _lengths()
    yield _transfer()
    yield _data_loading()


def _garbage() -> Rung:
    forward, backward = pl.col("forward_pause_ns"), pl.col("backward_pause_ns")
    is_pause = (pl.col("paused") < MOST_PAUSED) & (
        backward < (1 - MOST_OF_IT) * forward
    )
    told = pl.col("has_gc").fill_null(value=False)
    part = share(pl.when(told).then("gc_ns").otherwise(forward))
    holds = (part >= MOST_OF_IT) & (told | is_pause)
    said = (
        pl.when(told)
        .then(pl.lit("garbage collection"))
        .otherwise(pl.lit("pauses over 100 ms in forward passes alone"))
    )
    evidence = phrase("{}: {} % of the excess", said, percent(part))
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


def _lengths() -> Rung:
    scattered = pl.col("slow_cells") < ALL_CELLS
    half = 1 + MOST_OF_IT * (pl.col("slowdown_ratio") - 1)
    holds = (
        (pl.col("correlation") >= MOST_ALIKE)
        & (pl.col("spread") >= LEAST_SPREAD)
        & scattered
        & (pl.col("shortest") <= half)
    )
    evidence = phrase(
        "forward and backward passes correlate at {} over micro-batches, {} % of them"
        " slow, the shortest at {} of the stage's",
        pl.col("correlation").round(2),
        percent(pl.col("slow_cells")),
        pl.col("shortest").round(2),
    )
    missing = "no traced micro-batches of it"
    return Rung("sequence_length", holds, evidence, missing, *_PASSES)


def _transfer() -> Rung:
    part = share(pl.col("excess_transfer_ns"))
    evidence = phrase("{} % of the excess is transfer, not work", percent(part))
    missing = "its steps do not tell transfers apart"
    holds = part >= MOST_OF_IT
    return Rung("slow_link", holds, evidence, missing, *_STEPS)


def _data_loading() -> Rung:
    part = share(pl.col("excess_data_ns"))
    evidence = phrase("{} % of the excess is waiting for input", percent(part))
    missing = "its steps do not tell the wait for input"
    holds = part >= MOST_OF_IT
    return Rung("data_loading", holds, evidence, missing, *_STEPS)
