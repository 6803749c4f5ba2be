"""What run cards say of the layout of a trace: how much it should have, and where."""

from typing import Final, NamedTuple

import polars as pl

_PLACES: Final = ("pp_rank", "dp_rank")


class Layouts(NamedTuple):
    """What is known of the layout of runs beside their traces.

    Attributes:
        runs: Rows of Runs: run_id, pp and dp.
        gpus: Rows of Gpus: run_id, attempt, from_ns, rank, pp_rank and dp_rank.
    """

    runs: pl.LazyFrame
    gpus: pl.LazyFrame


class Layout(NamedTuple):
    """The layout of an attempt, as its run card has it.

    Attributes:
        stages: Pipeline stages; null where no card says.
        replicas: Data-parallel replicas; null where no card says.
        seats: Stage and replica of each rank: rank, pp_rank and dp_rank.
    """

    stages: int | None
    replicas: int | None
    seats: pl.DataFrame


#: Of a run that no card tells of.
UNKNOWN: Final = Layout(
    None, None, pl.DataFrame(schema=dict.fromkeys(("rank", *_PLACES), pl.Int32))
)


def layout_of(layouts: Layouts | None, run_id: str, attempt: int) -> Layout:
    """Return what is known of the layout of an attempt.

    Args:
        layouts: Those of runs, where they are known.
        run_id: Run.
        attempt: Attempt of the run.
    """
    if layouts is None:
        return UNKNOWN
    mine = pl.col("run_id") == run_id
    sizes = layouts.runs.filter(mine).select("pp", "dp").collect()
    stages, replicas = sizes.row(0) if sizes.height else (None, None)
    of_attempt = mine & (pl.col("attempt") == attempt)
    ranks = layouts.gpus.filter(of_attempt & pl.col("rank").is_not_null())
    known = ranks.select("rank", *_PLACES, "from_ns").sort("from_ns", "rank")
    seats = known.collect().unique("rank", keep="last", maintain_order=True)
    return Layout(stages, replicas, seats.drop("from_ns"))


def placed_by(layout: Layout, rows: pl.DataFrame) -> pl.DataFrame:
    """Fill the stage and the replica of ranks from the layout of the run.

    It counts where the trace tells no stage; and of the replica, where it tells none
    and its stages are those of the layout.

    Args:
        layout: Layout of the attempt.
        rows: Operations of a trace.
    """
    untold = [name for name in _PLACES if rows[name].null_count() == rows.height]
    if layout.seats.is_empty() or not untold or rows.is_empty():
        return rows
    joined = rows.join(layout.seats, on="rank", how="left", suffix="_card")
    differs = pl.col("pp_rank") != pl.col("pp_rank_card")
    if joined.select(differs.any()).item():
        return rows
    told = [pl.col(f"{name}_card").alias(name) for name in untold]
    return joined.with_columns(told).select(rows.columns)
