"""Transfers between two stages or two hosts of a trace."""

from typing import Final

import polars as pl

from analysis._replay_kinds import PEERS
from analysis._whatif_places import listed

_SEAT: Final = ("dp_rank", "lane", "pp_rank")
_PEER: Final = ("dp_rank", "lane", "peer_stage")


def of_link(name: str, operations: pl.DataFrame, seen: pl.DataFrame) -> pl.Series | str:
    """Return the rows of the transfers of a link, or which links there are.

    Args:
        name: Two stages or two hosts with a dash between, in any order.
        operations: Operations of a replay.
        seen: Seats of their ranks.
    """
    ends = _with_ends(operations, seen)
    for first, second in (("pp_rank", "peer_stage"), ("host", "peer_host")):
        one, other = (pl.col(end).cast(pl.String) for end in (first, second))
        pair = pl.concat_str([one, other], separator="-")
        back = pl.concat_str([other, one], separator="-")
        found = ends.filter((pair == name) | (back == name))["row"]
        if len(found):
            return found
    return _links(ends)


def _with_ends(operations: pl.DataFrame, seen: pl.DataFrame) -> pl.DataFrame:
    """Add the stage and the host of the peer of each send and receive."""
    stages = operations["pp_rank"].n_unique()
    kinds = {kind: step for kind, (_, step) in PEERS.items()}
    step = (
        pl.col("kind")
        .cast(pl.String)
        .replace_strict(
            list(kinds), list(kinds.values()), default=None, return_dtype=pl.Int64
        )
    )
    peer = (pl.col("pp_rank").cast(pl.Int64) + step) % stages
    rows = operations.select("row", *_SEAT, "rank", peer_stage=peer)
    seats = rows.select(*_SEAT, "rank").unique()
    hosts = seats.join(seen.select("rank", "host"), on="rank", how="left")
    own = hosts.select("rank", "host")
    peers = hosts.select(
        "dp_rank",
        "lane",
        peer_stage=pl.col("pp_rank").cast(pl.Int64),
        peer_host="host",
    )
    return rows.join(own, on="rank", how="left", maintain_order="left").join(
        peers, on=list(_PEER), how="left", maintain_order="left"
    )


def _links(ends: pl.DataFrame) -> str:
    pairs = ends.drop_nulls("peer_stage").select(
        first=pl.min_horizontal(pl.col("pp_rank").cast(pl.Int64), "peer_stage"),
        second=pl.max_horizontal(pl.col("pp_rank").cast(pl.Int64), "peer_stage"),
    )
    told = [f"{a}-{b}" for a, b in pairs.unique().sort("first", "second").iter_rows()]
    if not told:
        return "the trace has no transfers between stages"
    return f"the trace has transfers between stages {listed(told)}"
