"""What traces tell about bytes and times of each kind of parallelism in a step."""

from types import MappingProxyType
from typing import Final

import polars as pl

from analysis._analysis import Frames
from analysis._collective_kinds import bus_factor, stem
from analysis.overlap_groups import OverlapGroups
from ingest.tables import Collectives
from ingest.times import SECOND_NS

#: Kinds of parallelism as traces name them, and as plans do.
_KINDS: Final = MappingProxyType(
    {"dp": "data", "tp": "tensor", "pp": "pipeline", "cp": "context", "ep": "expert"}
)

#: What tells one step of a rank from another.
_RANK_STEP: Final = ("run_id", "attempt", "trace_id", "rank", "device", "step")


def traffic(frames: Frames) -> pl.DataFrame:
    """Return bytes and time of each kind of parallelism in a step of a GPU.

    Args:
        frames: Collectives and OverlapGroups.

    Returns:
        run_id, name of the line, value in its unit, and where it is from.
    """
    found = pl.concat([_bytes(frames), _times(frames)])
    return found.sort("run_id", "name")


def _rank_steps(rows: pl.LazyFrame) -> pl.DataFrame:
    """Return how many steps of ranks were traced, by run."""
    seen = rows.select(_RANK_STEP).unique().group_by("run_id").agg(steps=pl.len())
    return seen.collect(engine="streaming")


def _bytes(frames: Frames) -> pl.DataFrame:
    """Return what leaves the port of a GPU; what it receives is another's. [B]"""
    rows = frames[Collectives].filter(pl.col("step").is_not_null())
    sent = (
        rows.filter(pl.col("parallel_kind").is_in(list(_KINDS)))
        .with_columns(stem=stem())
        .filter(~pl.col("stem").is_in(["recv", "barrier"]))
        .with_columns(wire=pl.col("bytes_total") * bus_factor(pl.col("group_size")))
        .group_by("run_id", "parallel_kind", "stem", "bytes_total", "group_size")
        .agg(pl.col("wire").first() * pl.len())
    )
    # few sizes: their order is that of the sum, whatever threads there are
    total = sent.collect(engine="streaming").sort("stem", "bytes_total", "group_size")
    return (
        total.group_by("run_id", "parallel_kind", maintain_order=True)
        .agg(pl.when(pl.col("wire").is_not_null().all()).then(pl.col("wire").sum()))
        .drop_nulls("wire")
        .join(_rank_steps(rows), on="run_id")
        .select(
            "run_id",
            name=pl.col("parallel_kind").replace_strict(dict(_KINDS)) + "_bytes",
            measured=pl.col("wire") / pl.col("steps"),
            measured_from=pl.lit("collectives, mean of traced GPUs and steps"),
        )
    )


def _times(frames: Frames) -> pl.DataFrame:
    """Return how long a GPU communicates in a step; waiting is in it. [s]"""
    rows = frames[OverlapGroups].filter(pl.col("step").is_not_null())
    split = rows.filter(pl.col("split") == "parallel")
    return (
        split.filter(pl.col("parallel_kind").is_in(list(_KINDS)))
        .group_by("run_id", "parallel_kind")
        .agg(pl.col("communication_ns").cast(pl.Int64).sum())
        .collect(engine="streaming")
        .join(_rank_steps(split), on="run_id")
        .select(
            "run_id",
            name=pl.col("parallel_kind").replace_strict(dict(_KINDS)) + "_time",
            measured=pl.col("communication_ns") / pl.col("steps") / SECOND_NS,
            measured_from=pl.lit(
                "overlap_groups, mean of traced GPUs and steps; waiting included"
            ),
        )
    )
