"""Which pass each send and receive serves, and which operation is its peer.

Profilers record sends and receives that move nothing: at the ends of a step, and, with
several model chunks per stage, at the first and the last chunk of the model. They have
no peer. The rules are those of the published analysis (arXiv 2505.05713); a trace may
also leave out all that moves nothing.
"""

from typing import Final

import polars as pl

from analysis._replay_kinds import BACKWARD, FORWARD, PASSES, PEERS
from analysis._replay_rows import UnfitTraceError

#: Error of clocks that the order of a transfer and a pass may have. [ns]
CLOCK_NS: Final = 50_000

#: Direction and way of a transfer, and how many chunks of the model further its peer
#: is.
_WAYS: Final = (
    (FORWARD, "forward", "send", 1),
    (FORWARD, "forward", "recv", -1),
    (BACKWARD, "backward", "send", -1),
    (BACKWARD, "backward", "recv", 1),
)

#: Columns of a match.
MATCH: Final = ("node", "kind", "way", "served", "is_idle")


def match_passes(nodes: pl.DataFrame, stages: int) -> pl.DataFrame:
    """Return for each send and receive the pass that it serves.

    Args:
        nodes: Operations of the graph, with the times of one cell.
        stages: Pipeline stages. [1]

    Returns:
        `node` and `kind` of a transfer, its `way` (send or recv), the node of the pass
        `served` and whether it moves nothing there (`is_idle`).

    Raises:
        UnfitTraceError: If a stage has too few transfers for its passes.
    """
    passes = nodes.filter(pl.col("kind").is_in(PASSES))
    last = stages * (int(passes["chunk"].max() or 0) + 1) - 1  # type: ignore[arg-type]
    found = []
    for pass_kind, direction, way, delta in _WAYS:
        peer = pl.col("chunk") * stages + pl.col("pp_rank") + delta
        served = passes.filter(pl.col("kind") == pass_kind).with_columns(
            is_idle=~peer.is_between(0, last)
        )
        named = pl.col("kind").str.contains(f"{direction}-{way}", literal=True)
        launched = nodes.filter(named & pl.col("kind").is_in(PEERS))
        matched = _matched(launched, served, way, stages)
        found.append(matched.with_columns(way=pl.lit(way)).select(MATCH))
    return pl.concat(found)


def _matched(
    launched: pl.DataFrame, served: pl.DataFrame, way: str, stages: int
) -> pl.DataFrame:
    """Match transfers that can belong to a pass with passes, in the order of both."""
    kept = _kept(launched, served, way)
    _refuse_missing(kept, stages, way)
    # the first receive of the first chunk may not be recorded
    skipped = pl.col("passes") - pl.len() if way == "recv" else pl.lit(0)
    skipped = pl.when(pl.col("only_moving")).then(0).otherwise(skipped)
    place = pl.int_range(pl.len(), dtype=pl.Int64).over("pp_rank")
    ordered = kept.sort("pp_rank", "start_ns", "position", "kind")
    numbered = ordered.select(
        "node", "kind", "pp_rank", "only_moving", number=place + skipped.over("pp_rank")
    )
    moving = pl.int_range(pl.len(), dtype=pl.Int64).over("pp_rank")
    passes = served.sort("pp_rank", "position").select(
        "pp_rank", "is_idle", number=pl.col("position").cast(pl.Int64), served="node"
    )
    alone = passes.filter(~pl.col("is_idle")).with_columns(number=moving)
    told = pl.concat(
        [
            passes.with_columns(only_moving=pl.lit(value=False)),
            alone.with_columns(only_moving=pl.lit(value=True)),
        ]
    )
    return numbered.join(told, on=["pp_rank", "only_moving", "number"])


def _kept(launched: pl.DataFrame, served: pl.DataFrame, way: str) -> pl.DataFrame:
    """Keep transfers that can belong to a pass, with what is known of their stage.

    `only_moving` tells that a stage records no transfers that move nothing.
    """
    bounds = served.group_by("pp_rank").agg(
        passes=pl.len().cast(pl.Int64),
        moving=(~pl.col("is_idle")).sum().cast(pl.Int64),
        first_end=pl.col("end_ns").min(),
        last_start=pl.col("start_ns").max(),
    )
    belongs = (
        pl.col("start_ns") <= pl.col("last_start") + CLOCK_NS
        if way == "recv"
        else pl.col("end_ns") >= pl.col("first_end") - CLOCK_NS
    )
    kept = launched.join(bounds, on="pp_rank").filter(belongs)
    found = pl.len().cast(pl.Int64).over("pp_rank")
    is_short = found < pl.col("passes") - 1
    return kept.with_columns(
        found=found, only_moving=is_short & (found == pl.col("moving"))
    )


def _refuse_missing(kept: pl.DataFrame, stages: int, way: str) -> None:
    is_end = pl.col("pp_rank").is_in([0, stages - 1])
    short = pl.col("passes") - pl.col("found")
    fits = (short == 0) | pl.col("only_moving") | (is_end & (short == 1))
    wrong = kept.filter(~fits).sort("pp_rank")
    if wrong.height:
        stage, passes, found = wrong.select("pp_rank", "passes", "found").row(0)
        reason = f"stage {stage} has {found} {way}s for {passes} passes"
        raise UnfitTraceError(reason)


def pairs_of(nodes: pl.DataFrame, matches: pl.DataFrame, stages: int) -> pl.DataFrame:
    """Bring sends and receives together: the first with the first, and so on.

    Args:
        nodes: Operations of the graph.
        matches: What `match_passes` returns.
        stages: Pipeline stages. [1]

    Returns:
        `node` and `peer` of every transfer that moves something.

    Raises:
        UnfitTraceError: If the peer of a transfer is missing.
    """
    moving = matches.filter(~pl.col("is_idle")).select("node").unique()
    place = pl.int_range(pl.len(), dtype=pl.Int64).over("pp_rank", "kind")
    moved = (
        nodes.join(moving, on="node", how="semi")
        .sort("pp_rank", "kind", "start_ns", "position")
        .select("node", "kind", "pp_rank", number=place)
    )
    kinds = {kind: peer for kind, (peer, _) in PEERS.items()}
    deltas = {kind: delta for kind, (_, delta) in PEERS.items()}
    further = pl.col("kind").replace_strict(deltas, return_dtype=pl.Int64)
    paired = moved.with_columns(
        peer_kind=pl.col("kind").replace_strict(kinds, return_dtype=pl.String),
        peer_stage=(pl.col("pp_rank") + further) % stages,
    ).join(
        moved.select("kind", "pp_rank", "number", peer="node"),
        left_on=["peer_kind", "peer_stage", "number"],
        right_on=["kind", "pp_rank", "number"],
        how="left",
    )
    lonely = paired.filter(pl.col("peer").is_null()).sort("node")
    if lonely.height:
        kind, stage = lonely.select("kind", "pp_rank").row(0)
        reason = f"the peer of {kind} of stage {stage} is missing"
        raise UnfitTraceError(reason)
    return paired.select("node", "peer")
