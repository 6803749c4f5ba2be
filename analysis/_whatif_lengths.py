"""Micro-batches of unlike sequence lengths: how much of the passes comes from them.

The cost of a micro-batch grows with the squares of its sequences' lengths, forward and
backward, in every stage (arXiv 2505.05713, section 5.3). What a micro-batch has in
common in all its stages is taken for that; what one worker does slowly all the time
is not.
"""

from typing import Final

import polars as pl

from analysis._replay_causes import CORRELATES_FROM
from analysis._replay_kinds import PASSES
from analysis._replay_passes import blocks_of, correlation
from analysis._replay_scenarios import Scenarios
from analysis._replay_steps import Replay

_PASS: Final = ("step", "kind", "pp_rank", "chunk")
_MICROBATCH: Final = ("step", "dp_rank", "lane", "microbatch")


def balanced(operations: pl.DataFrame) -> pl.Series | str:
    """Return the length of every operation if micro-batches were alike. [ns]

    In each step, stage and direction the total stays what it was.

    Args:
        operations: Operations of a replay.
    """
    is_pass = pl.col("kind").cast(pl.String).is_in(PASSES)
    own = pl.col("own_ns").cast(pl.Float64)
    if not operations.select(
        (is_pass & pl.col("microbatch").is_not_null()).any()
    ).item():
        return "the trace does not tell the micro-batches of its passes"
    relative = pl.when(is_pass).then(own / own.mean().over(_PASS))
    told = operations.with_columns(relative=relative)
    common = pl.col("relative").median().over(_MICROBATCH)
    factored = told.with_columns(common=pl.when(is_pass & (common > 0)).then(common))
    steady = pl.col("common").mean().over("dp_rank", "lane")
    even = own / (pl.col("common") / steady)
    kept = even * own.sum().over(_PASS) / even.sum().over(_PASS)
    lengths = pl.coalesce(pl.when(kept.is_finite()).then(kept), own)
    return factored.select(lengths.round().cast(pl.Int64).alias("own")).to_series()


def why_not_lengths(replay: Replay) -> str:
    """Return why lengths of sequences may explain nothing; empty where they may.

    Args:
        replay: A trace.
    """
    scenarios = Scenarios.of(replay)
    found = correlation(scenarios, blocks_of(scenarios))
    if found is not None and found >= CORRELATES_FROM:
        return ""
    told = "not known" if found is None else f"{found:.2f}"
    return (
        "passes forward and backward of a micro-batch do not vary together (correlation"
        f" {told})"
    )
