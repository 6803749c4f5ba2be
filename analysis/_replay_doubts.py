"""What a trace lacks that its replay would need, and what is not told then."""

from typing import Final, NamedTuple

import numpy as np
import polars as pl

from analysis._replay_kinds import CLIP, DP_KINDS, PASSES, PEERS

#: Kinds that wait for other replicas: what they took is not told without them.
_ACROSS: Final = (*DP_KINDS, CLIP)


class Doubts(NamedTuple):
    """What is wrong with a trace.

    Attributes:
        steps_outlasting: Steps left out, in which an operation outlasts what follows.
        replicas: Replicas that are missing or left out. [1]
        stages: Stages after the last one seen, which the run card has. [1]
        stages_seen: Stages of the trace up to the last one seen. [1]
        replicas_seen: Replicas that are replayed. [1]
        has_other_batches: Whether stages contradict each other on micro-batches.
    """

    steps_outlasting: tuple[int, ...]
    replicas: int
    stages: int
    stages_seen: int
    replicas_seen: int
    has_other_batches: bool

    def unknown_kinds(self) -> tuple[str, ...]:
        """Return the kinds whose transfers hold waits for what is not there."""
        across = _ACROSS if self.replicas else ()
        return (*across, *(PEERS if self.stages else ()))

    def partial(self) -> list[str]:
        """Return what is missing, in words: transfers are not told without it."""
        return [*self.without_replicas(), *self.without_stages()]

    def without_replicas(self) -> list[str]:
        """Return in words that replicas are missing."""
        if not self.replicas:
            return []
        whole = self.replicas + self.replicas_seen
        said = (
            f"{self.replicas} of {whole} replicas missing or left out: what transfers"
            " between replicas take by themselves is not told"
        )
        return [said]

    def without_stages(self) -> list[str]:
        """Return in words that the last stages are missing."""
        if not self.stages:
            return []
        whole = self.stages + self.stages_seen
        said = (
            f"the run card says {whole} stages, the trace has {self.stages_seen}: the"
            " last stage and transfers to it are not told"
        )
        return [said]

    def notes(self) -> list[str]:
        """Return what else limits an answer, in words."""
        said = []
        if self.steps_outlasting:
            count = len(self.steps_outlasting)
            said.append(
                f"{count} {'step' if count == 1 else 'steps'} left out for lengths that"
                " cannot be: an operation outlasts what begins after it"
            )
        if self.has_other_batches:
            said.append(
                "stages contradict each other on the micro-batch that is next: the"
                " order of operations counts"
            )
        return said


#: Of a trace that lacks nothing.
NONE: Final = Doubts((), 0, 0, 0, 0, has_other_batches=False)


def contradicts_batches(operations: pl.DataFrame, nodes: int) -> bool:
    """Whether stages name other micro-batches at the same place of their turn.

    Every stage of a pipeline takes the micro-batches of a chunk in one order.

    Args:
        operations: Operations of a replay, by node and cell.
        nodes: Operations of a cell. [1]
    """
    cells = operations.height // nodes
    first = operations.gather_every(cells).with_row_index("at")
    passes = first.filter(pl.col("kind").is_in(PASSES), pl.col("microbatch") >= 0)
    turn = pl.int_range(pl.len()).over("pp_rank", "kind", "chunk", order_by="sequence")
    placed = passes.with_columns(turn=turn)
    model = pl.col("at").first().over("kind", "chunk", "turn", order_by="pp_rank")
    pairs = placed.select("at", model=model)
    batches = operations["microbatch"].fill_null(-1).to_numpy().reshape(nodes, cells)
    mine, others = (batches[pairs[name].to_numpy()] for name in ("at", "model"))
    return bool(np.any((mine != others) & (mine >= 0) & (others >= 0)))
