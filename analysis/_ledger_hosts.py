"""Which GPU of the host map each rank of an attempt had."""

from typing import Final

import polars as pl

from analysis._host_names import host_names, spelled_alike

#: Columns of the host map that say where a GPU is.
PLACE: Final = (
    "host",
    "local_rank",
    "gpu_uuid",
    "pci_address",
    "nic",
    "rail",
    "switch",
    "rack",
    "pod",
)

_ATTEMPT: Final = ("run_id", "attempt")


def mapped_gpus(host_map: pl.LazyFrame, attempts: pl.LazyFrame) -> pl.LazyFrame:
    """Return the rows of the host map for each attempt of its run.

    A map knows nothing of restarts. Where the job's nodes are known, a rank whose node
    is not among them has moved: it keeps its row, without a place. A spare on such a
    node was not held and has no row. A map none of whose nodes is among them names
    nodes in another way, and is believed. Nodes are spelled as jobs do.

    Returns:
        Columns run_id, attempt, rank (null: a spare) and PLACE.
    """
    listed = _listed(attempts)
    told = [one.select("host", cluster="run_id") for one in (listed, host_map)]
    names = host_names(told)
    once = _respelled(host_map, names).sort("run_id", "rank", *PLACE)
    ranks = once.filter(pl.col("rank").is_not_null()).unique(
        ["run_id", "rank"], keep="first", maintain_order=True
    )
    spares = once.filter(pl.col("rank").is_null())
    rows = pl.concat([ranks, spares]).join(
        attempts.select(_ATTEMPT), on="run_id", how="inner"
    )
    held = _respelled(listed, names).unique().with_columns(is_held=pl.lit(value=True))
    checked = rows.join(held, on=[*_ATTEMPT, "host"], how="left")
    is_held = pl.col("is_held").fill_null(value=False)
    is_there = is_held | ~is_held.any().over(_ATTEMPT)
    known = checked.with_columns(is_there=is_there).filter(
        pl.col("is_there") | pl.col("rank").is_not_null()
    )
    place = pl.when("is_there").then(pl.col(PLACE))
    return known.select(*_ATTEMPT, "rank", place)


def _respelled(rows: pl.LazyFrame, names: pl.LazyFrame) -> pl.LazyFrame:
    """Return rows of runs with one name for each node of a run."""
    placed = rows.with_columns(cluster="run_id")
    return spelled_alike(placed, names).drop("cluster")


def _listed(attempts: pl.LazyFrame) -> pl.LazyFrame:
    """Return the nodes that the jobs of attempts list."""
    nodes = attempts.select(*_ATTEMPT, host=pl.col("hosts").str.split(",")).explode(
        "host"
    )
    named = nodes.with_columns(pl.col("host").str.strip_chars()).unique()
    return named.filter(pl.col("host") != "")
