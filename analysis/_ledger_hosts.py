"""Which GPU of the host map each rank of an attempt had."""

from typing import Final

import polars as pl

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
    nodes in another way, and is believed.

    Returns:
        Columns run_id, attempt, rank (null: a spare) and PLACE.
    """
    once = host_map.sort("run_id", "rank", *PLACE)
    ranks = once.filter(pl.col("rank").is_not_null()).unique(
        ["run_id", "rank"], keep="first", maintain_order=True
    )
    spares = once.filter(pl.col("rank").is_null())
    rows = pl.concat([ranks, spares]).join(
        attempts.select(_ATTEMPT), on="run_id", how="inner"
    )
    checked = rows.join(_held(attempts), on=[*_ATTEMPT, "host"], how="left")
    is_held = pl.col("is_held").fill_null(value=False)
    is_there = is_held | ~is_held.any().over(_ATTEMPT)
    known = checked.with_columns(is_there=is_there).filter(
        pl.col("is_there") | pl.col("rank").is_not_null()
    )
    place = pl.when("is_there").then(pl.col(PLACE))
    return known.select(*_ATTEMPT, "rank", place)


def _held(attempts: pl.LazyFrame) -> pl.LazyFrame:
    """Return a row for each node that the job of an attempt held."""
    nodes = attempts.select(*_ATTEMPT, host=pl.col("hosts").str.split(",")).explode(
        "host"
    )
    named = nodes.with_columns(pl.col("host").str.strip_chars()).unique()
    return named.filter(pl.col("host") != "").with_columns(is_held=pl.lit(value=True))
