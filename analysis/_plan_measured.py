"""What was measured of a run, by the names of the lines of its plan."""

from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Final

import polars as pl

from analysis._analysis import Frames
from analysis._plan_traffic_measured import traffic
from analysis.attempts import Attempts
from analysis.energy import Energy
from analysis.interrupt_rates import FEW_EVENTS, InterruptRates
from analysis.overlap import Overlap
from analysis.pipeline_bubbles import PipelineBubbles
from analysis.replays import ReplaySteps
from ingest.tables import Checkpoints, StepTimings
from ingest.times import SECOND_NS

#: Columns of everything measured.
COLUMNS: Final = MappingProxyType(
    {
        "run_id": pl.String,
        "name": pl.String,
        "measured": pl.Float64,
        "measured_from": pl.String,
    }
)

_STEP: Final = ("run_id", "attempt", "step")


def measured(frames: Frames) -> pl.DataFrame:
    """Return what tables tell about lines of plans.

    Args:
        frames: Tables of the lake and results of other analyses; what is not there
            tells nothing.

    Returns:
        run_id, name of the line, value in its unit, and where it is from: one row for
        each run and line, the first source that tells it.
    """
    parts = [source(frames) for source in _SOURCES]
    told = pl.concat([part.select(*COLUMNS).cast(dict(COLUMNS)) for part in parts])
    finite = told.filter(pl.col("measured").is_finite())
    return finite.unique(["run_id", "name"], keep="first", maintain_order=True)


def _told(rows: pl.LazyFrame, name: str, value: pl.Expr, source: str) -> pl.DataFrame:
    """Return one value of each run."""
    found = rows.group_by("run_id").agg(measured=value.cast(pl.Float64))
    named = found.with_columns(name=pl.lit(name), measured_from=pl.lit(source))
    return named.filter(pl.col("measured").is_not_null()).sort("run_id").collect()


def _steps(frames: Frames) -> pl.DataFrame:
    """Return the median length of a step: that of its slowest rank. [s]"""
    logged = frames[StepTimings].filter(StepTimings.scope.col == "rank")
    means = frames[StepTimings].filter(StepTimings.scope.col != "rank")
    whole = pl.col("duration_ns").max()
    traced = frames[Overlap].filter(Overlap.step.col.is_not_null())
    median = pl.col("length").median() / SECOND_NS
    sources = (
        (logged.group_by(_STEP).agg(length=whole), "step_timings, median of steps"),
        (means.with_columns(length="duration_ns"), "step_timings, median of means"),
        (
            frames[ReplaySteps].with_columns(length="actual_ns"),
            "replay_steps, median of traced steps",
        ),
        (
            traced.group_by(_STEP).agg(length=pl.col("span_ns").max()),
            "overlap, median of traced steps",
        ),
    )
    found = [_told(rows, "step_time", median, source) for rows, source in sources]
    return pl.concat(found, how="diagonal_relaxed")


def _gpus(frames: Frames) -> pl.DataFrame:
    most = pl.col("gpu_count").max()
    return _told(frames[Attempts], "layout_gpus", most, "attempts, most GPUs held")


def _bubbles(frames: Frames) -> pl.DataFrame:
    """Return the bubble over passes, and over steps, of all stages together. [1]"""
    total = {
        name: pl.col(f"{name}_ns").cast(pl.Float64).sum()
        for name in ("bubble", "compute", "step")
    }
    rows = frames[PipelineBubbles].filter(pl.col("bubble_ns").is_not_null())
    ordered = rows.sort(PipelineBubbles.key)
    found = [
        _told(
            *(ordered, f"bubble_of_{name}", total["bubble"] / total[over]),
            "pipeline_bubbles, all stages together",
        )
        for name, over in (("ideal", "compute"), ("step", "step"))
    ]
    return pl.concat(found)


def _exposed(frames: Frames) -> pl.DataFrame:
    rows = frames[Overlap].filter(Overlap.step.col.is_not_null())
    mean = pl.col("exposed_communication_ns").cast(pl.Int64).mean() / SECOND_NS
    source = "overlap, mean of traced GPUs and steps; waiting included"
    return _told(rows, "exposed_per_step", mean, source)


def _saves(frames: Frames) -> pl.DataFrame:
    """Return size, stall and distance of saves, each taken as that of all ranks."""
    saves = frames[Checkpoints].filter(Checkpoints.kind.col == "save")
    each = saves.group_by(_STEP).agg(
        size=pl.when(pl.col("bytes").is_not_null().any()).then(pl.col("bytes").sum()),
        stall=pl.col("stall_ns").max(),
        start=pl.col("start_ns").min(),
    )
    apart = pl.col("start").sort().diff().over("run_id", "attempt", order_by="start")
    logged = frames[StepTimings].filter(pl.col("checkpoint_ns") > 0)
    steps = logged.group_by(_STEP).agg(stall=pl.col("checkpoint_ns").max())
    stall = pl.col("stall").median() / SECOND_NS
    whole = each.with_columns(apart=apart)
    return pl.concat(
        [
            _told(each, "checkpoint_size", pl.col("size").median(), "checkpoints"),
            _told(each, "checkpoint_stall", stall, "checkpoints, median of saves"),
            _told(steps, "checkpoint_stall", stall, "step_timings, median of saves"),
            _told(
                *(whole, "checkpoint_interval"),
                *(pl.col("apart").median() / SECOND_NS, "checkpoints, median of saves"),
            ),
        ]
    )


def _stops(frames: Frames) -> pl.DataFrame:
    """Return the mean time between interruptions of runs that had enough of them. [s]

    Below that a rate would feign knowledge.
    """
    rates = frames[InterruptRates].filter(
        (pl.col("scope") == "run")
        & (pl.col("level") == "interruption")
        & (pl.col("category") == "all")
        & (pl.col("component") == "all")
        & (pl.col("count") >= FEW_EVENTS)
    )
    mean = pl.col("mtbf_ns").cast(pl.Float64).first() / SECOND_NS
    return _told(rates, "run_mtbf", mean, "interrupt_rates, unplanned ones")


def _power(frames: Frames) -> pl.DataFrame:
    """Return the power of a run of which every GPU was measured. [W]"""
    held = frames[Attempts].group_by("run_id").agg(pl.col("gpu_count").max())
    known = frames[Energy].filter(pl.col("mean_w").is_not_null())
    rows = known.join(held, on="run_id").sort(Energy.key)
    all_seen = pl.col("gpu_uuid").n_unique() == pl.col("gpu_count").first()
    total = pl.when(all_seen).then(pl.col("mean_w").sum())
    return _told(rows, "gpu_power", total, "energy, mean power of all GPUs")


#: Where lines are measured; the first that tells one is taken.
_SOURCES: Final[tuple[Callable[[Frames], pl.DataFrame], ...]] = (
    _steps,
    _gpus,
    _bubbles,
    _exposed,
    traffic,
    _saves,
    _stops,
    _power,
)

#: Fields of a card that measured lines stand in for where the card does not say.
STANDS_IN: Final[Mapping[str, str]] = MappingProxyType(
    {
        "step_time": "step_s",
        "layout_gpus": "gpus",
        "exposed_per_step": "exposed_communication_s",
        "checkpoint_stall": "checkpoint_stall_s",
        "checkpoint_interval": "checkpoint_interval_s",
    }
)
