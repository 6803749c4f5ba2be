"""How passes differ: between micro-batches, in pauses, and between stages."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

import numpy as np
import numpy.typing as npt
import polars as pl

from analysis._replay_kinds import BACKWARD, FORWARD
from analysis._replay_scenarios import Mask, Scenarios
from analysis._replay_simulator import Times

Indices = npt.NDArray[np.int64]

#: A pause of the garbage collector takes hundreds of milliseconds (arXiv 2505.05713,
#: section 5.4). [ns]
PAUSE_NS: Final = 100_000_000

#: Part of such a pause that its pass backward would share if the cause were in the
#: micro-batch. [1]
_SHARED: Final = 0.25


@dataclass(frozen=True, slots=True)
class Block:
    """Passes of one chunk of a stage: forward and backward of each micro-batch.

    Attributes:
        stage: Stage.
        forward: Nodes of the passes forward.
        backward: Nodes of the passes backward of the same micro-batches.
    """

    stage: int
    forward: Indices
    backward: Indices


def blocks_of(scenarios: Scenarios) -> list[Block]:
    """Return the passes of every chunk of every stage.

    Where micro-batches are not told, passes are paired in their order.
    """
    replay = scenarios.replay
    named = replay.nodes().filter(pl.col("kind").is_in((FORWARD, BACKWARD)))
    place = pl.int_range(pl.len()).over("pp_rank", "chunk", "kind", order_by="sequence")
    batch = pl.coalesce(pl.col("microbatch").cast(pl.Int64), place)
    keyed = named.select(
        "node", "kind", "pp_rank", chunk=pl.col("chunk").fill_null(0), batch=batch
    )
    by = ["pp_rank", "chunk", "batch"]
    forward = keyed.filter(pl.col("kind") == FORWARD)
    backward = keyed.filter(pl.col("kind") == BACKWARD)
    pairs = forward.join(backward, on=by, suffix="_back").sort(by)
    return [
        Block(
            int(part["pp_rank"][0]),
            part["node"].to_numpy(),
            part["node_back"].to_numpy(),
        )
        for part in pairs.partition_by("pp_rank", "chunk", maintain_order=True)
    ]


def correlation(scenarios: Scenarios, blocks: list[Block]) -> float | None:
    """Return how passes forward and backward go together over micro-batches. [1]

    Pearson's coefficient of lengths relative to their mean over the micro-batches of a
    step on a worker: neither slow workers and stages nor slow steps count. Long
    sequences make both passes long (arXiv 2505.05713, section 5.3).
    """
    sums = np.zeros(3)
    for block in blocks:
        forward, backward = (
            _relative(scenarios.own[nodes]) for nodes in (block.forward, block.backward)
        )
        sums += [
            float((forward * backward).sum()),
            float((forward**2).sum()),
            float((backward**2).sum()),
        ]
    spread = np.sqrt(sums[1] * sums[2])
    return None if spread <= 0 else float(sums[0] / spread)


def _relative(lengths: Times) -> npt.NDArray[np.float64]:
    mean = lengths.mean(axis=0, keepdims=True)
    relative: npt.NDArray[np.float64] = lengths / np.maximum(mean, 1) - 1
    return relative


def _groups(blocks: list[Block]) -> Iterator[Indices]:
    for block in blocks:
        yield block.forward
        yield block.backward


def pass_nodes(scenarios: Scenarios, blocks: list[Block]) -> Mask:
    """Return where in the shape of a replay passes are."""
    mask = np.zeros((scenarios.own.shape[0], 1, 1, 1), dtype=bool)
    for nodes in _groups(blocks):
        mask[nodes] = True
    return mask


def balanced(scenarios: Scenarios, blocks: list[Block]) -> Times:
    """Return lengths with all micro-batches of a stage alike, at their mean. [ns]

    The mean is over replicas, too: sequences can be exchanged between them.
    """
    nodes_of_cell, _, _, lanes = scenarios.own.shape
    lengths = np.zeros((nodes_of_cell, 1, 1, lanes))
    for nodes in _groups(blocks):
        lengths[nodes] = scenarios.own[nodes].mean(axis=(0, 1, 2), keepdims=True)
    return lengths.round().astype(np.int64)


def without_pauses(scenarios: Scenarios, blocks: list[Block]) -> tuple[Times, Mask]:
    """Return lengths without pauses that hit passes forward alone, and where. [ns]

    A pass is hit that takes a pause longer than the worker's median, while the pass
    backward of the same micro-batch does not share in it.
    """
    lengths = np.zeros((scenarios.own.shape[0], 1, *scenarios.own.shape[2:]))
    hit = np.zeros(scenarios.own.shape, dtype=bool)
    for block in blocks:
        forward, backward = (
            scenarios.own[nodes] for nodes in (block.forward, block.backward)
        )
        usual, usual_back = (
            np.median(one, axis=(0, 1), keepdims=True) for one in (forward, backward)
        )
        over = forward - usual
        hit[block.forward] = (over >= PAUSE_NS) & (
            backward - usual_back < _SHARED * over
        )
        lengths[block.forward] = usual
    return lengths.round().astype(np.int64), hit


def stage_times(scenarios: Scenarios, blocks: list[Block]) -> pl.DataFrame:
    """Return per stage the mean length of its passes forward and backward. [ns]"""
    rows = [
        (
            block.stage,
            float(scenarios.own[block.forward].mean()),
            float(scenarios.own[block.backward].mean()),
        )
        for block in blocks
    ]
    schema = {"stage": pl.Int64, "forward_ns": pl.Float64, "backward_ns": pl.Float64}
    told = pl.DataFrame(rows, schema=schema, orient="row")
    return told.group_by("stage").mean().sort("stage")


def like_others(scenarios: Scenarios, blocks: list[Block], stage: int) -> Times:
    """Return lengths with the passes of a stage scaled to the mean of the others. [ns]

    Their scatter stays, in proportion.
    """
    times = stage_times(scenarios, blocks)
    mine = pl.col("stage") == stage
    lengths = scenarios.own.copy()
    for name in ("forward", "backward"):
        column = pl.col(f"{name}_ns")
        others, own = (
            times.select(column.filter(on).mean()).item() for on in (~mine, mine)
        )
        for block in blocks:
            if block.stage == stage and own:
                nodes = block.forward if name == "forward" else block.backward
                scaled = scenarios.own[nodes] * (others / own)
                lengths[nodes] = scaled.round().astype(np.int64)
    return lengths
