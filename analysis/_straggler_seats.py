"""Where the ranks of a run sit: their GPU, host, rack, stage and replica."""

from typing import Final

import polars as pl

from analysis._straggler_work import varying
from analysis.gpus import Gpus

#: What is kept of a seat.
SEAT: Final = (
    "cluster",
    "host",
    "local_rank",
    "gpu_uuid",
    "pci_address",
    "serial",
    "nic",
    "rack",
    "pp_rank",
    "dp_rank",
)


def seats_of(gpus: pl.LazyFrame, told: pl.DataFrame | None = None) -> pl.DataFrame:
    """Return one row for each run, attempt and rank; where a rank moved, the last.

    Args:
        gpus: Rows of Gpus.
        told: Stage and replica of ranks, where a trace tells them and no card of the
            run does: `run_id`, `rank`, `pp_rank` and `dp_rank`.
    """
    by_rank = (Gpus.run_id.name, Gpus.attempt.name, Gpus.rank.name)
    ranks = gpus.filter(Gpus.rank.col.is_not_null())
    last = ranks.select(*by_rank, "from_ns", *SEAT).collect()
    seats = last.sort("from_ns", "gpu_uuid").unique(by_rank, keep="last")
    if told is None:
        return seats.drop("from_ns")
    places = ("pp_rank", "dp_rank")
    known = seats.join(told, on=["run_id", "rank"], how="left", suffix="_told")
    better = [pl.coalesce(name, f"{name}_told").alias(name) for name in places]
    return known.with_columns(better).select(seats.drop("from_ns").columns)


def seats_near(
    gpus: pl.LazyFrame, steps: pl.LazyFrame, plan: pl.DataFrame
) -> pl.LazyFrame:
    """Return the GPUs of attempts that have steps of ranks: a fleet's are many.

    Args:
        gpus: Rows of Gpus.
        steps: Steps of ranks.
        plan: What `plan_portions` returns for them.
    """
    runs = plan["run_id"].unique().sort()
    here = steps.filter(pl.col("run_id").is_in(runs.implode()))
    attempts = here.select("run_id", "attempt").unique()
    found = attempts.collect(engine="streaming").lazy()
    return gpus.join(found, on=["run_id", "attempt"], how="semi")


def seat(rows: pl.DataFrame, seats: pl.DataFrame) -> pl.DataFrame:
    """Tell of each rank its unit, the smallest set that its waits can separate.

    A source that sees only the waits of data parallelism shows all ranks of a replica
    alike, so there the replica is the unit, where the layout is known.

    Returns:
        The rows with `stage`, `unit_scope`, `unit` (rank or replica), `host`, `rack`.
    """
    if seats.is_empty():
        return _unseated(rows)
    members = pl.col("rank").count().over("run_id", "attempt", "dp_rank")
    told = seats.select(
        *("run_id", "attempt", "rank", "host", "rack"),
        stage="pp_rank",
        replica=pl.when(members > 1).then("dp_rank"),
    )
    seated = _seated(rows, told)
    sees_less = (pl.col("wait_scope") == "dp").fill_null(value=False)
    replica = pl.when(sees_less).then("replica")
    scope = pl.when(replica.is_not_null()).then(pl.lit("dp_rank"))
    return seated.with_columns(
        unit_scope=scope.otherwise(pl.lit("gpu")), unit=pl.coalesce(replica, "rank")
    ).drop("replica")


def _unseated(rows: pl.DataFrame) -> pl.DataFrame:
    """Return the rows of ranks of which nothing is known: each is a unit of its own."""
    names = {"host": pl.String, "rack": pl.String, "stage": pl.Int32}
    unknown = [pl.lit(None, dtype).alias(name) for name, dtype in names.items()]
    return rows.with_columns(*unknown, unit_scope=pl.lit("gpu"), unit="rank")


def _seated(rows: pl.DataFrame, seats: pl.DataFrame) -> pl.DataFrame:
    """Join seats, by the rank alone where the rows are of one attempt: it is faster."""
    by = varying(rows, ["rank", "attempt", "run_id"])
    fixed = [name for name in ("run_id", "attempt") if name not in by]
    if fixed:
        only = rows.select(fixed).head(1)
        seats = seats.join(only, on=fixed, how="semi").drop(fixed)
    return rows.join(seats, on=by, how="left")
