"""Edges of collectives over replicas, and of what follows the last pass of a step."""

from typing import Final

import polars as pl

from analysis._replay_edges import EDGE, chain
from analysis._replay_kinds import (
    BACKWARD,
    CLIP,
    EMBEDDING,
    FORWARD,
    GARBAGE,
    GATHER,
    LAYERNORM,
    OPTIMIZER,
    PASSES,
    SCATTER,
    SEPARATE,
)

#: What follows the passes, in turn: where reduce-scatters overlap with passes, and
#: where they begin after the last.
_OVERLAPPED: Final = (GARBAGE, LAYERNORM, EMBEDDING, SEPARATE, CLIP, OPTIMIZER)
_AFTER: Final = (GARBAGE, LAYERNORM, EMBEDDING, SCATTER, CLIP, OPTIMIZER)


def replica_edges(nodes: pl.DataFrame) -> pl.DataFrame:
    """Order gathers of parameters, reduce-scatters of gradients and the step's end.

    The first pass forward of a model chunk waits for its parameters. Gradients that
    are reduced separately tell that reduce-scatters overlap with passes: then that of
    a chunk waits for the last pass backward of the chunk only.
    """
    is_overlapped = nodes.filter(pl.col("kind") == SEPARATE).height > 0
    stream = nodes.filter(pl.col("kind").is_in((GATHER, SCATTER)))
    edges = [chain(stream, ["pp_rank"]), _gathers(nodes)]
    if is_overlapped:
        edges.append(_scatters(nodes))
    return pl.concat([*edges, _ends(nodes, is_overlapped=is_overlapped)])


def _gathers(nodes: pl.DataFrame) -> pl.DataFrame:
    """Let the first pass forward of a chunk wait for the last gather of it."""
    last = _collective_of_chunk(nodes, GATHER, last=True)
    passes = nodes.filter(pl.col("kind") == FORWARD).sort("start_ns", "position")
    firsts = passes.group_by("pp_rank", "chunk").agg(pl.col("node").first())
    joined = last.join(firsts, on=["pp_rank", "chunk"])
    return joined.select(before="collective", after="node")


def _scatters(nodes: pl.DataFrame) -> pl.DataFrame:
    """Let the first reduce-scatter of a chunk wait for its last pass backward."""
    first = _collective_of_chunk(nodes, SCATTER, last=False)
    passes = nodes.filter(pl.col("kind") == BACKWARD).sort("end_ns", "position")
    lasts = passes.group_by("pp_rank", "chunk").agg(pl.col("node").last())
    joined = first.join(lasts, on=["pp_rank", "chunk"])
    return joined.select(before="node", after="collective")


def _collective_of_chunk(nodes: pl.DataFrame, kind: str, *, last: bool) -> pl.DataFrame:
    ordered = nodes.filter(pl.col("kind") == kind).sort("position")
    node = pl.col("node").last() if last else pl.col("node").first()
    return ordered.group_by("pp_rank", "chunk").agg(collective=node)


def _ends(nodes: pl.DataFrame, *, is_overlapped: bool) -> pl.DataFrame:
    """Order what follows the last pass of each stage."""
    kinds = _OVERLAPPED if is_overlapped else _AFTER
    turn = pl.col("kind").replace_strict(
        list(kinds), range(len(kinds)), default=None, return_dtype=pl.Int64
    )
    is_between = (pl.col("kind") == GARBAGE) & (pl.len().over("pp_rank", "kind") > 1)
    ending = (
        nodes.filter(~is_between)
        .with_columns(turn=turn)
        .drop_nulls("turn")
        .sort("turn", "position")
    )
    before = pl.col("node").shift(1).over("pp_rank")
    edges = ending.select(before=before, after="node").drop_nulls()
    is_pass = pl.col("kind").is_in(PASSES)
    passes = nodes.filter(is_pass).sort("end_ns", "position", "node")
    last = passes.group_by("pp_rank").agg(before=pl.col("node").last())
    heads = ending.group_by("pp_rank", maintain_order=True).first()
    first = last.join(heads.select("pp_rank", after="node"), on="pp_rank")
    found = [edges, first.select(EDGE)]
    if is_overlapped:
        found.append(_after_scatters(nodes, ending))
    return pl.concat(found)


def _after_scatters(nodes: pl.DataFrame, ending: pl.DataFrame) -> pl.DataFrame:
    """Let what follows the passes wait for the last reduce-scatter of the stage."""
    scatters = nodes.filter(pl.col("kind") == SCATTER).sort("position")
    last = scatters.group_by("pp_rank").agg(before=pl.col("node").last())
    later = ending.filter(pl.col("kind") != GARBAGE)
    heads = later.group_by("pp_rank", maintain_order=True).first()
    joined = last.join(heads.select("pp_rank", after="node"), on="pp_rank")
    return joined.select(EDGE)
