"""Everything that says something of a run's checkpoints, in one row for each run."""

from typing import Final

import polars as pl

from analysis._analysis import Frames
from analysis._checkpoint_elsewhere import parted
from analysis._checkpoint_restarts import seen_restarts
from analysis._checkpoint_saves import (
    LEAST_STALL_RATIO,
    stalled_steps,
    told_loads,
    told_saves,
)
from analysis._checkpoint_seen import older_resumes, seen_loads, seen_saves, seen_tiers
from analysis._step_rollup_log import longest_steps
from analysis.attempts import Attempts
from analysis.interrupt_rates import InterruptRates
from analysis.interruptions import Interruptions
from analysis.runs import Runs
from analysis.spare_plans import SparePlans
from ingest.tables import Checkpoints, RunCards

#: Fields of a card that say that a run saves.
CARD: Final = (
    "checkpoint_interval_s",
    "checkpoint_stall_s",
    "checkpoint_restart_s",
    "checkpoint_downtime_s",
    "checkpoint_bytes",
    "checkpoint_store_gbs",
    "checkpoint_local_gbs",
)

#: Other fields of a card that are made use of.
_MORE: Final = (
    "parameters",
    "state_bytes_per_parameter",
    "step_s",
    "planned_steps",
    "network_gbs",
    "checkpoint_writers",
    "reliability_repair_h",
    "reliability_interruptions",
    "reliability_observed_days",
    "reliability_per_1000_node_days",
)


def gather(frames: Frames, least_stall: float = LEAST_STALL_RATIO) -> pl.DataFrame:
    """Return all that is known of the checkpoints of each run.

    Args:
        frames: What `find_evidence` is given.
        least_stall: Share of a typical stall from which a step stood still for a save.
            [1]

    Returns:
        A row for each run that saves or loads, or whose card says so: what
        `seen_saves` returns of told saves, and of steps with `steps_` before it, what
        the other functions return, fields of the card, and `own_` the rate.
    """
    attempts = frames[Attempts]
    seen = attempts.collect()
    bearing = told_saves(frames[Checkpoints], attempts)
    told, elsewhere = parted(bearing)
    loads = told_loads(frames[Checkpoints], attempts)
    stalled = stalled_steps(longest_steps(frames), attempts, least_stall)
    parts = (
        elsewhere,
        seen_saves(told),
        seen_saves(stalled).rename(_of_steps),
        seen_loads(loads),
        older_resumes(pl.concat([told, stalled]), seen),
        seen_tiers(told),
        seen_restarts(frames[Interruptions].collect()),
        _cards(frames),
        _own_rates(frames),
        _sizes(frames, seen),
        _returns(frames),
    )
    speaks = pl.any_horizontal(pl.col(name).is_not_null() for name in CARD)
    named = [one.select("run_id") for one in (bearing, stalled, loads)]
    runs = pl.concat([*named, _cards(frames).filter(speaks).select("run_id")]).unique()
    rows = runs.join(_steps(frames, runs), on="run_id", how="left")
    for part in parts:
        rows = rows.join(part, on="run_id", how="left")
    return rows.sort("run_id")


def _of_steps(name: str) -> str:
    return name if name == "run_id" else f"steps_{name}"


def _cards(frames: Frames) -> pl.DataFrame:
    return frames[RunCards].select("run_id", *CARD, *_MORE).collect()


def _own_rates(frames: Frames) -> pl.DataFrame:
    """Return the rate of each run's unplanned interruptions, with `own_` before it."""
    columns = ("count", "exposure_ns", "node_time_ns")
    ends = ("mtbf_ns", "mtbf_low_ns", "mtbf_high_ns")
    return (
        frames[InterruptRates]
        .filter(
            (InterruptRates.scope.col == "run")
            & (InterruptRates.level.col == "interruption")
            & (InterruptRates.category.col == "all")
            & (InterruptRates.component.col == "all")
        )
        .select(
            run_id="scope_id",
            **{f"own_{name}": pl.col(name) for name in (*columns, *ends)},
        )
        .collect()
    )


def _returns(frames: Frames) -> pl.DataFrame:
    """Return how long failed nodes of each run's cluster were seen to be away. [ns]"""
    seen = frames[SparePlans].filter(
        pl.col("repair_basis").is_in(["attempts", "failures"])
        & pl.col("withheld").is_null()
    )
    away = seen.group_by("cluster").agg(
        returns_ns=pl.col("repair_ns").first().cast(pl.Int64),
        returns_basis=pl.col("repair_basis").first(),
    )
    runs = frames[Runs].select("run_id", cluster=pl.col("cluster"))
    return runs.join(away, on="cluster").drop("cluster").collect()


def _sizes(frames: Frames, attempts: pl.DataFrame) -> pl.DataFrame:
    """Return GPUs and nodes of each run; of attempts where no card tells."""
    held = attempts.group_by("run_id").agg(
        seen_gpus=pl.col("gpu_count").max(),
        seen_nodes=pl.col("hosts").str.split(",").list.n_unique().max(),
    )
    runs = frames[Runs].select("run_id", "gpu_count", "gpus_per_node").collect()
    return runs.join(held, on="run_id", how="left")


def _steps(frames: Frames, runs: pl.DataFrame) -> pl.DataFrame:
    """Return the median step of each run, each step as long as its slowest rank."""
    rows = longest_steps(frames).join(runs.lazy(), on="run_id", how="semi")
    slowest = rows.group_by("run_id", "attempt", "step").agg(
        pl.col("duration_ns").max()
    )
    median = pl.col("duration_ns").median().round().cast(pl.Int64)
    return slowest.group_by("run_id").agg(step_ns=median).collect(engine="streaming")
