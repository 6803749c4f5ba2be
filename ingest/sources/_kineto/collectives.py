"""Rows of collectives, from the arguments of their kernels or from their names.

Traces from before 2024 tell only the name of a kernel. Then its kind is what the name
says, and its group is the world. A SendRecv kernel of such a trace may be a send, a
receive or an all-to-all, which NCCL builds of them: its kind is `sendrecv`.

The group is named by the name and the members that all its ranks print alike. The
`Comms Id` is no part of it: it tells one operation from another (pytorch #177405).
"""

from typing import Final

import polars as pl

from ingest.communication import (
    POINT_TO_POINT,
    collective_kind,
    element_bytes,
    message_size,
    parallel_kind,
)
from ingest.sources._kineto.columns import collective_columns
from ingest.sources._kineto.events import CollectiveArgs
from ingest.sources._kineto.groups import WORLD, Group
from ingest.sources._kineto.limits import Limits
from ingest.sources._kineto.rows import NO_STREAM, PLACE, trace_id
from ingest.sources._kineto.work import CATEGORIES
from ingest.sources._source import Reading

_ALGORITHM: Final = (
    r"((?:RING|TREE|COLLNET(?:_DIRECT|_CHAIN)?|NVLS(?:_TREE)?|PAT)_(?:LL128|LL|SIMPLE))"
)

#: Elements whose bytes surely fit into Int64. [1]
_MOST_ELEMENTS: Final = 1 << 58

#: Greatest rank.
_GREATEST_RANK: Final = (1 << 31) - 1


def with_requests(rows: pl.DataFrame, requests: pl.DataFrame) -> pl.DataFrame:
    """Fill the arguments that kernels lack from the host's request around their launch.

    Args:
        rows: Kernels with `launch` and the arguments of collectives. [ns]
        requests: What the host asked for, by `start`. [ns]
    """
    lacking = rows.filter(
        pl.col("collective").is_null() & pl.col("launch").is_not_null()
    )
    if requests.is_empty() or lacking.is_empty():
        return rows
    arguments = [name for name in requests.columns if name not in {"start", "end"}]
    asked = (
        lacking.select("event", "launch")
        .sort("launch")
        .join_asof(requests, left_on="launch", right_on="start", strategy="backward")
        .filter(pl.col("launch") <= pl.col("end"))
        .select("event", *arguments)
    )
    found = rows.join(asked, on="event", how="left", suffix="_asked")
    filled = {name: pl.coalesce(name, f"{name}_asked") for name in arguments}
    return found.with_columns(**filled).select(rows.columns)


def collective_rows(
    rows: pl.DataFrame,
    limits: Limits,
    rank: int | None,
    fallback: Group,
    reading: Reading,
) -> pl.DataFrame:
    """Return rows of Collectives of linked kernels with their arguments.

    Args:
        rows: Kernels with `launch`, `step` and the arguments of collectives. [ns]
        limits: What to add to times.
        rank: Global rank.
        fallback: Group of those that tell none.
        reading: The file.
    """
    told = _with_kind(rows).with_columns(
        is_p2p=pl.col("kind").is_in(POINT_TO_POINT), **fallback.columns()
    )
    return told.select(
        pl.lit(reading.run_id).alias("run_id"),
        pl.lit(trace_id(reading)).alias("trace_id"),
        "event",
        "step",
        pl.lit(rank, pl.Int32).alias("rank"),
        pl.col("device").cast(pl.Int32),
        pl.col("stream").fill_null(NO_STREAM),
        *_operation(),
        *_message(),
        *_times(limits),
        PLACE.alias("place"),
    )


def named_collectives(
    work: pl.DataFrame, limits: Limits, rank: int | None, reading: Reading
) -> pl.DataFrame:
    """Return rows of Collectives of linked work of which only names tell what it was.

    Their group is the world, of which nothing tells how many ranks it has.
    """
    talks = pl.col("category") == CATEGORIES.index("communication")
    talking = work.filter(talks)
    told = collective_columns([CollectiveArgs()] * len(talking))
    asked = talking.with_columns(**told)
    return collective_rows(asked, limits, rank, Group(WORLD, None, None), reading)


def _operation() -> list[pl.Expr]:
    """Return the columns that say what was done by whom, and how ranks are matched."""
    is_p2p = pl.col("is_p2p")
    method = (
        pl.when(pl.col("sequence").is_not_null())
        .then(pl.lit("sequence"))
        .otherwise(pl.lit("order"))
    )
    return [
        pl.col("group_id"),
        parallel_kind(pl.col("group_purpose")).alias("parallel_kind"),
        pl.col("group_size"),
        pl.col("kind"),
        is_p2p,
        _peer().alias("peer_rank"),
        pl.when(~is_p2p).then("sequence").alias("sequence"),
        pl.when(is_p2p).then("sequence").alias("p2p_sequence"),
        method.alias("match_method"),
    ]


def _message() -> list[pl.Expr]:
    """Return the columns that say what was sent, and by which algorithm."""
    name = pl.col("name").str.to_uppercase()
    return [
        _bytes_total().alias("bytes_total"),
        pl.col("dtype"),
        name.str.extract(_ALGORITHM).alias("algorithm"),
    ]


def _times(limits: Limits) -> list[pl.Expr]:
    """Return the columns of times: those of the GPU, all of kernels that ended. [ns]"""
    start = pl.col("start") + limits.base_ns
    return [
        (pl.col("launch") + limits.base_ns).alias("enqueue_ns"),
        start.alias("start_ns"),
        (start + pl.col("duration")).alias("end_ns"),
        pl.col("duration").alias("duration_ns"),
        pl.lit("gpu").alias("time_basis"),
        pl.lit("completed").alias("state"),
    ]


def _with_kind(rows: pl.DataFrame) -> pl.DataFrame:
    kind = pl.coalesce(
        collective_kind(pl.col("collective")),
        collective_kind(pl.col("name")),
        pl.col("collective").str.to_lowercase(),
        pl.lit("unknown"),
    )
    return rows.with_columns(kind=kind)


def _peer() -> pl.Expr:
    kind = pl.col("kind")
    peer = pl.when(kind == "send").then("target").when(kind == "recv").then("source")
    return pl.when(peer.is_between(0, _GREATEST_RANK)).then(peer).cast(pl.Int32)


def _bytes_total() -> pl.Expr:
    """Return the size of the whole message, as nccl-tests count it. [B]"""
    elements = message_size(pl.col("in_elements"), pl.col("out_elements"))
    fits = elements.is_between(0, _MOST_ELEMENTS)
    return pl.when(fits).then(elements * element_bytes(pl.col("dtype")))
