"""What must end before an operation starts: edges between the operations of a step.

Each worker has one stream of passes, one of collectives over replicas and four of
transfers between stages (arXiv 2505.05713, section 3.2). Operations of a stream take
turns; others wait for what they need.
"""

from collections.abc import Sequence
from typing import Final

import polars as pl

from analysis._replay_kinds import BACKWARD, FORWARD, GARBAGE, PASSES, PEERS

#: Columns of an edge.
EDGE: Final = ("before", "after")

_START: Final = ("start_ns", "position")

#: Order of kinds of one start: a pass forward has no other before it.
_TIES: Final = pl.col("kind") != FORWARD


def chain(nodes: pl.DataFrame, streams: Sequence[str]) -> pl.DataFrame:
    """Let the operations of each stream take turns, in the order of their start.

    Args:
        nodes: Operations of the graph, with the times of one cell.
        streams: Columns that tell streams apart.
    """
    ordered = nodes.sort(*_START, _TIES, "node")
    before = pl.col("node").shift(1).over(streams)
    edges = ordered.select(before=before, after="node")
    return edges.drop_nulls()


def compute_edges(nodes: pl.DataFrame) -> pl.DataFrame:
    """Let passes take turns, and pauses of the garbage collector between them.

    A single pause stands after the last pass, where the published traces have theirs.
    """
    pauses = pl.len().over("pp_rank", "kind") > 1
    is_between = (pl.col("kind") == GARBAGE) & pauses
    return chain(nodes.filter(pl.col("kind").is_in(PASSES) | is_between), ["pp_rank"])


def transfer_edges(nodes: pl.DataFrame, matches: pl.DataFrame) -> pl.DataFrame:
    """Order sends and receives: each way in turn, before or after the pass it serves.

    A send waits for its pass. A pass waits for its receive, which is launched when the
    pass of its kind before that one has ended.
    """
    transfers = nodes.filter(pl.col("kind").is_in(PEERS))
    sends = matches.filter(pl.col("way") == "send")
    receives = matches.filter(pl.col("way") == "recv")
    passes = nodes.filter(pl.col("kind").is_in(PASSES)).select(
        "pp_rank", "position", served="node", served_kind="kind"
    )
    previous = passes.with_columns(pl.col("position") + 1).rename({"served": "before"})
    launches = receives.join(passes, on="served").join(
        previous, on=["pp_rank", "position", "served_kind"]
    )
    return pl.concat(
        [
            chain(transfers, ["pp_rank", "kind"]),
            sends.select(before="served", after="node"),
            receives.select(before="node", after="served"),
            launches.select("before", after="node"),
            _first_backward(nodes),
        ]
    )


def _first_backward(nodes: pl.DataFrame) -> pl.DataFrame:
    """Launch the first backward transfers with the pass before the last of warm-up.

    The schedule posts them one pass ahead, however late they are needed.
    """
    passes = nodes.filter(pl.col("kind").is_in(PASSES)).sort(*_START, _TIES, "node")
    is_backward = pl.col("kind") == BACKWARD
    place = pl.int_range(pl.len(), dtype=pl.Int64).over("pp_rank")
    first = pl.col("place").filter(is_backward).min().over("pp_rank")
    numbered = passes.with_columns(place=place).with_columns(first=first)
    launchers = numbered.filter(pl.col("place") == pl.col("first") - 2)
    firsts = nodes.filter(
        pl.col("kind").is_in(("backward-send", "backward-recv")),
        pl.col("position") == 0,
    )
    joined = firsts.join(launchers.select("pp_rank", before="node"), on="pp_rank")
    return joined.select("before", after="node")


def model_edges(nodes: pl.DataFrame, stages: int) -> pl.DataFrame:
    """Order passes by the chunks of the model, where no transfer is recorded.

    A micro-batch goes forward from chunk to chunk, which round over the stages, and
    backward the same way. Transfers then cost nothing.
    """
    place = pl.int_range(pl.len(), dtype=pl.Int64).over("pp_rank", "kind", "chunk")
    passes = nodes.filter(pl.col("kind").is_in(PASSES)).sort(*_START, "node")
    part = pl.col("chunk") * stages + pl.col("pp_rank")
    batch = pl.coalesce("microbatch", place)
    named = passes.select("node", "kind", part=part, batch=batch)
    delta = pl.when(pl.col("kind") == FORWARD).then(1).otherwise(-1)
    following = named.select(
        "kind", "batch", before="node", part=pl.col("part") + delta
    )
    joined = named.join(following, on=["kind", "part", "batch"])
    return joined.select("before", after="node")
