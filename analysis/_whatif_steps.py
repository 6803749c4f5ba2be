"""The steps of a run, as far as they are known: own work of ranks, and its parts."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

import polars as pl

from analysis._straggler_portions import Steps
from analysis._straggler_scores import score_stages, score_units
from analysis._straggler_seats import seat
from analysis._straggler_work import portion_of

#: Parts of own work that a repair can take away.
PARTS: Final = ("data_ns", "communication_ns", "checkpoint_ns")

#: What tells a row of a step apart.
ROW: Final = ("run_id", "step", "rank", "start_ns")

#: One peer is enough to compare with; how many there were is told.
_LEAST_PEERS: Final = 1


@dataclass(frozen=True, slots=True)
class RunSteps:
    """The steps of one run, not yet read.

    Attributes:
        run_id: The run.
        steps: Its steps, and the portions to take them in.
        parts: Parts of the work of its ranks: ROW, `communication_ns`,
            `checkpoint_ns` and `exposed_ns`, communication with the waits in it.
        seen: Seats of the ranks whose steps are known, and when: `from_ns`, `to_ns`.
            Of a run kept by day, of those alone that may be asked for.
        ranks: How many ranks of it have steps that are known. [1]
        peers: What `peers_of` returns for them.
        told: Which of PARTS are told of any rank.
        stalls: Steps that stood still for a checkpoint. [1]
        steps_seen: Steps of all attempts. [1]
        is_traced: Whether traces tell of the steps, and not a step log.
        sees_replicas: Whether the waits show all ranks of a replica alike.
    """

    run_id: str
    steps: Steps
    parts: pl.LazyFrame
    seen: pl.DataFrame
    ranks: int
    peers: pl.DataFrame
    told: frozenset[str]
    stalls: int
    steps_seen: int
    is_traced: bool
    sees_replicas: bool

    def portions(self) -> Iterator[pl.DataFrame]:
        """Yield the ranks of each portion of steps, compared with their peers.

        Columns, beside those of a step and a seat: `work_ns`, PARTS, `peers_ns` and
        `stage_ratio`.
        """
        for plan in self.steps.plan.partition_by("portion", maintain_order=True):
            rows = seat(portion_of(self.steps.steps, plan), self.steps.seats)
            if rows.height:
                yield compared(_with_parts(rows, self.parts))


def peers_of(seats: pl.LazyFrame, unit: str = "rank") -> pl.DataFrame:
    """Return with how many others the ranks or replicas of a stage are compared.

    Args:
        seats: `attempt`, `rank`, `pp_rank` and `dp_rank` of all ranks of a run.
        unit: The column that tells apart what is compared.

    Returns:
        `attempt`, `pp_rank` and `peers`, a row for each attempt and stage.
    """
    peers = pl.col(unit).n_unique().cast(pl.Int64) - 1
    counts = seats.group_by("attempt", "pp_rank").agg(peers=peers)
    return counts.collect(engine="streaming").sort("attempt", "pp_rank")


def compared(rows: pl.DataFrame) -> pl.DataFrame:
    """Hold each rank's work against that of its peers, and each stage's.

    Args:
        rows: Steps of ranks, seated.

    Returns:
        The rows with `peers_ns` and `stage_ratio`, null without a peer.
    """
    fresh = rows.drop("cell", "peers_ns", "ratio", "stage_ratio", strict=False)
    step = ["run_id", "attempt", "step", "stage"]
    stages = score_stages(fresh, _LEAST_PEERS).select(*step, stage_ratio="ratio")
    return score_units(fresh, _LEAST_PEERS).join(stages, on=step, how="left")


def _with_parts(rows: pl.DataFrame, parts: pl.LazyFrame) -> pl.DataFrame:
    """Add the parts of each row; exposed communication without the waits in it."""
    between = pl.col("step").is_between(rows["step"].min(), rows["step"].max())
    near = parts.filter(between).collect(engine="streaming")
    first = near.sort(*ROW, *PARTS[1:]).unique(ROW, keep="first")
    told = rows.join(first, on=list(ROW), how="left")
    transfer = (pl.col("exposed_ns") - pl.col("wait_ns")).clip(0)
    return told.with_columns(
        communication_ns=pl.coalesce("communication_ns", transfer)
    ).drop("exposed_ns")
