"""When a node that stopped a run was back, by the nodes of later attempts."""

from collections.abc import Iterator
from typing import Any, Final, NamedTuple

import polars as pl

from analysis._analysis import Frames
from analysis._checkpoint_restarts import TAKING
from analysis._held_nodes import held_nodes
from analysis.attempts import Attempts
from analysis.gpus import Gpus
from analysis.incidents import Incidents
from analysis.interrupt_rates import FEW_EVENTS
from analysis.interruptions import Interruptions

_ATTEMPT: Final = ["run_id", "attempt"]
_NODE: Final = ["cluster", "host"]

#: Why times of return are an upper bound alone.
_ALIKE: Final = (
    f"nodes that failed were back when their run went on, and fewer than {FEW_EVENTS}"
    " stops without a node tell how long a run waits anyway"
)


class Returns(NamedTuple):
    """When failed nodes of a cluster were back.

    Attributes:
        away_ns: Mean time that a run lacked a failed node, beyond what stops without
            one wait anyway; with `doubt` the whole time. [ns]
        failed: Failed nodes after which an attempt of the cluster was seen.
        at_once: Those of them that the very next attempt of their run held.
        doubt: Why the mean is no more than an upper bound; empty where it is not.
    """

    away_ns: int
    failed: int
    at_once: int
    doubt: str


def returns(frames: Frames) -> dict[str, Returns]:
    """Return when failed nodes were back, by cluster; of five returns or more.

    A node that a stop took is away until an attempt holds it again; one that no
    attempt held again counts as away until the last attempt of the cluster ends. As a
    repaired node may lie idle before it is held, the time is an upper bound. A node
    that is there as the run goes on was not waited for, unless that took longer than
    after any stop without a node.

    Args:
        frames: Attempts, GPUs, interruptions and incidents.
    """
    held = held_nodes(frames[Attempts], frames[Gpus]).collect()
    stopped = _stops(frames, held)
    if stopped.is_empty():
        return {}
    waits = _waits(stopped)
    failed = _failed(stopped, held, waits)
    return {row["cluster"]: told for row in failed for told in _told(row)}


def _stops(frames: Frames, held: pl.DataFrame) -> pl.DataFrame:
    """Return unplanned stops: what ended when, the next start, and the node taken."""
    attempts = frames[Attempts].sort("run_id", "start_ns", "attempt").collect()
    following = attempts.select(
        *_ATTEMPT,
        "end_ns",
        next_ns=pl.col("start_ns").shift(-1).over("run_id"),
    )
    hosts = frames[Incidents].select("incident_id", "host").collect()
    unplanned = frames[Interruptions].filter(~pl.col("planned")).collect()
    clusters = held.select("cluster", *_ATTEMPT).unique()
    return (
        unplanned.select(*_ATTEMPT, "stop", "incident_id", "category")
        .join(hosts, on="incident_id", how="left")
        .join(following, on=_ATTEMPT)
        .join(clusters, on=_ATTEMPT)
        .sort("run_id", "attempt", "stop")
        .unique([*_ATTEMPT, "host"], keep="first", maintain_order=True)
    )


def _waits(stopped: pl.DataFrame) -> pl.DataFrame:
    """Return how long runs of each cluster wait after stops that took no node. [ns]"""
    wait = pl.col("next_ns") - pl.col("end_ns")
    others = stopped.filter(pl.col("host").is_null() & (wait >= 0))
    return others.group_by("cluster").agg(
        usual=wait.cast(pl.Int128).sum() // pl.len(),
        longest=wait.max(),
        others=pl.len().cast(pl.Int64),
    )


def _failed(
    stopped: pl.DataFrame, held: pl.DataFrame, waits: pl.DataFrame
) -> list[dict[str, Any]]:
    """Return the sums of each cluster over the nodes that stops took."""
    lasts = held.group_by("cluster").agg(last_ns=pl.col("end_ns").max())
    starts = held.select(*_NODE, back_ns="start_ns").sort("back_ns")
    taken = stopped.filter(
        pl.col("host").is_not_null() & pl.col("category").is_in(TAKING)
    ).join(held.select(*_NODE, *_ATTEMPT).unique(), on=[*_NODE, *_ATTEMPT], how="semi")
    back = (
        taken.sort("end_ns")
        .join_asof(
            starts,
            left_on="end_ns",
            right_on="back_ns",
            by=_NODE,
            strategy="forward",
            check_sortedness=False,
        )
        .join(lasts, on="cluster")
        .join(waits, on="cluster", how="left")
        .with_columns(
            away=pl.coalesce("back_ns", "last_ns") - pl.col("end_ns"),
            at_once=(pl.col("back_ns") == pl.col("next_ns")).fill_null(value=False),
        )
    )
    is_usual = pl.col("at_once") & (pl.col("away") <= pl.col("longest"))
    beyond = pl.when(is_usual).then(0).otherwise(pl.col("away") - pl.col("usual"))
    sums = back.filter(pl.col("away") > 0).group_by("cluster")
    found = sums.agg(
        pl.col("others").first().fill_null(0),
        away=pl.col("away").cast(pl.Int128).sum(),
        beyond=beyond.clip(0).cast(pl.Int128).sum(),
        failed=pl.len().cast(pl.Int64),
        returned=pl.col("back_ns").count().cast(pl.Int64),
        at_once=pl.col("at_once").sum().cast(pl.Int64),
    )
    return found.to_dicts()


def _told(row: dict[str, Any]) -> Iterator[Returns]:
    """Yield what a cluster tells: time away over returns, for those not back yet."""
    if row["returned"] < FEW_EVENTS:
        return
    few = row["others"] < FEW_EVENTS
    total = row["away"] if few else row["beyond"]
    doubt = _ALIKE if few and 2 * row["at_once"] > row["failed"] else ""
    mean = int(total) // row["returned"]
    yield Returns(mean, row["failed"], row["at_once"], doubt)
