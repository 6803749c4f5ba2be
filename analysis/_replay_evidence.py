"""How much of a slowdown each cause would explain, with what is said for it."""

from typing import NamedTuple

import numpy as np
import polars as pl

from analysis._replay_kinds import TRANSFERS
from analysis._replay_passes import (
    Block,
    balanced,
    like_others,
    pass_nodes,
    stage_times,
    without_pauses,
)
from analysis._replay_slowdowns import Slowdowns, workers_mask


class Evidence(NamedTuple):
    """What a cause explains.

    Attributes:
        share: Share of the slowdown that is gone without it. [1]
        text: In words.
    """

    share: float
    text: str


#: None where a cause cannot be.
Found = Evidence | None


def _evidence(share: float | None, text: str) -> Found:
    if share is None:
        return None
    return Evidence(share, f"{text}, {100 * share:.1f} % of the slowdown is gone")


def workers(slow: Slowdowns, blocks: list[Block]) -> Found:
    """Return what the slowest workers explain, where they are less than a stage."""
    seats = slow.slowest.group_by("pp_rank").agg(found=pl.len().cast(pl.Int64))
    replicas = slow.scenarios.own.shape[2]
    if (seats["found"] >= replicas).any():
        return None
    first = slow.slowest.row(0, named=True)
    who = f"dp {first['dp_rank']} stage {first['pp_rank']} (rank {first['rank']})"
    ratio = _passes_beside_others(slow, blocks)
    rest = slow.slowest.height - 1
    more = f" ({rest} more beside it)" if rest else ""
    text = f"passes of {who} take {ratio:.2f} times as long as those of others"
    return _evidence(slow.m_w, f"{text}; with the slowest 3 % of workers ideal{more}")


def _passes_beside_others(slow: Slowdowns, blocks: list[Block]) -> float:
    """Return how long passes of the slowest worker are beside others of its stage."""
    mask = workers_mask(slow.scenarios, slow.slowest.head(1))
    mine, others = 0.0, 0.0
    for block in blocks:
        nodes = np.concatenate([block.forward, block.backward])
        slowest = mask[nodes[0], 0, :, 0]
        if slowest.any():
            own = slow.scenarios.own[nodes]
            mine += float(own[:, :, slowest].mean())
            others += float(own[:, :, ~slowest].mean())
    return mine / others if others else 1.0


def sequence_lengths(slow: Slowdowns, blocks: list[Block]) -> Found:
    """Return what equal micro-batches explain, where that is more than a slow stage.

    A slow last stage makes what its micro-batches differ by cost more: it is compared
    with its passes scaled to those of the other stages, differences kept. Both count
    together, and the larger part names the cause.
    """
    scenarios = slow.scenarios
    lengths = scenarios.replace(
        balanced(scenarios, blocks), pass_nodes(scenarios, blocks)
    )
    share = slow.share(lengths)
    last = int(scenarios.stage.max())
    if share is None or not last:
        return _evidence(share, "with all micro-batches alike")
    scaled = scenarios.replay.step_times(like_others(scenarios, blocks, last))
    stage = max(slow.share(scaled) or 0.0, 0.0)
    if share < stage:
        return None
    text = (
        f"with all micro-batches alike, {100 * share:.1f} % of the slowdown is gone;"
        f" with a last stage as fast as others, {100 * stage:.1f} %"
    )
    return Evidence(share + stage, text)


def pauses(slow: Slowdowns, blocks: list[Block]) -> Found:
    """Return what pauses of passes forward explain."""
    lengths, hit = without_pauses(slow.scenarios, blocks)
    if not hit.any():
        return None
    share = slow.share(slow.scenarios.replace(lengths, hit))
    count = int(hit.sum())
    return _evidence(
        share, f"without {count} pauses of 100 ms or more that hit forward passes alone"
    )


def last_stage(slow: Slowdowns, blocks: list[Block]) -> Found:
    """Return what the last stage explains, where the trace has it."""
    if slow.scenarios.replay.doubts.stages:
        return None
    return _stage(slow, blocks, int(slow.scenarios.stage.max()), slow.m_s)


def some_stage(slow: Slowdowns, blocks: list[Block]) -> Found:
    """Return what the slowest stage explains."""
    stage = int(slow.of_scope("stage")["pp_rank"][0])
    if not slow.scenarios.stage.max():
        return None
    rest = slow.scenarios.keep_nodes(slow.scenarios.stage != stage)
    return _stage(slow, blocks, stage, slow.share(rest))


def _stage(
    slow: Slowdowns, blocks: list[Block], stage: int, share: float | None
) -> Found:
    times = stage_times(slow.scenarios, blocks)
    others = times.filter(pl.col("stage") != stage).mean()
    mine = times.filter(pl.col("stage") == stage)
    if not len(mine) or others["forward_ns"][0] is None:
        return None
    said = [
        f"{name} passes {mine[column][0] / others[column][0]:.2f} times"
        for name, column in (("forward", "forward_ns"), ("backward", "backward_ns"))
        if others[column][0]
    ]
    text = f"stage {stage} takes for its {' and its '.join(said)} as long as others"
    if slow.scenarios.own.shape[2] == 1:
        text += ", which with one replica a slow GPU there would make as well"
    return _evidence(share, f"{text}; with it ideal")


def communication(slow: Slowdowns, _: list[Block]) -> Found:
    """Return what transfers explain, where all that share in them is in the trace."""
    if slow.scenarios.replay.doubts.partial():
        return None
    kinds = np.array(slow.scenarios.replay.node_kinds())
    rest = slow.scenarios.keep_nodes(~np.isin(kinds, TRANSFERS))
    return _evidence(
        slow.share(rest), f"with all transfers ideal ({largest_kinds(slow)})"
    )


def largest_kinds(slow: Slowdowns) -> str:
    """Return the kinds that slow steps most, with their slowdowns, in words."""
    kinds = slow.of_scope("kind").head(3).select("kind", "slowdown_ratio")
    said = [f"{kind} {ratio:.3f}" for kind, ratio in kinds.iter_rows()]
    return f"slowdown by kind: {', '.join(said)}"
