"""What was measured of a run, by the names of the lines of its plan."""

from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Final

import polars as pl

from analysis._analysis import Frames
from analysis._plan_stops_measured import accounts, power, saves, stops
from analysis._plan_told import told
from analysis._plan_traffic_measured import traffic
from analysis._step_rollup_log import longest_steps
from analysis.attempts import Attempts
from analysis.goodput import Goodput
from analysis.overlap import Overlap
from analysis.pipeline_bubbles import PipelineBubbles
from analysis.replays import ReplaySteps
from ingest.tables import StepTimings
from ingest.times import SECOND_NS

#: Columns of everything measured.
COLUMNS: Final = pl.Schema(
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
    found = pl.concat([part.select(COLUMNS.names()).cast(COLUMNS) for part in parts])
    finite = found.filter(pl.col("measured").is_finite())
    return finite.unique(["run_id", "name"], keep="first", maintain_order=True)


def _steps(frames: Frames) -> pl.DataFrame:
    """Return the median length of a step: that of its slowest rank. [s]"""
    steps = longest_steps(frames)
    logged = steps.filter(StepTimings.scope.col == "rank")
    means = steps.filter(StepTimings.scope.col != "rank")
    whole = pl.col("duration_ns").max()
    traced = frames[Overlap].filter(Overlap.step.col.is_not_null())
    median = pl.col("length").median() / SECOND_NS
    sources = (
        (_each(logged, whole), "step_timings, median of steps"),
        (means.with_columns(length="duration_ns"), "step_timings, median of means"),
        (
            frames[ReplaySteps].with_columns(length="actual_ns"),
            "replay_steps, median of traced steps",
        ),
        (
            _each(traced, pl.col("span_ns").max()),
            "overlap, median of traced steps",
        ),
    )
    found = [told(rows, "step_time", median, source) for rows, source in sources]
    return pl.concat(found, how="diagonal_relaxed")


def _each(rows: pl.LazyFrame, length: pl.Expr) -> pl.LazyFrame:
    """Return the length of each step; there are fewer of them than of ranks."""
    steps = rows.group_by(_STEP).agg(length=length)
    return steps.collect(engine="streaming").lazy()


def _gpus(frames: Frames) -> pl.DataFrame:
    most = pl.col("gpu_count").max()
    return told(frames[Attempts], "layout_gpus", most, "attempts, most GPUs held")


def _mfu(frames: Frames) -> pl.DataFrame:
    """Return the share of the peak over all steps that counted, as goodput has it."""
    ratio = pl.col("mfu_ratio").first()
    return told(frames[Goodput], "mfu", ratio, "goodput, all steps that counted")


def _bubbles(frames: Frames) -> pl.DataFrame:
    """Return the bubble over passes, and over steps, of all stages together. [1]"""
    total = {
        name: pl.col(f"{name}_ns").cast(pl.Float64).sum()
        for name in ("bubble", "compute", "step")
    }
    rows = frames[PipelineBubbles].filter(pl.col("bubble_ns").is_not_null())
    ordered = rows.sort(PipelineBubbles.key)
    found = [
        told(
            *(ordered, f"bubble_of_{name}", total["bubble"] / total[over]),
            "pipeline_bubbles, all stages together",
        )
        for name, over in (("ideal", "compute"), ("step", "step"))
    ]
    return pl.concat(found)


def _exposed(frames: Frames) -> pl.DataFrame:
    rows = frames[Overlap].filter(Overlap.step.col.is_not_null())
    total = pl.col("exposed_communication_ns").cast(pl.Int64).sum()
    mean = total / pl.len() / SECOND_NS
    source = "overlap, mean of traced GPUs and steps; waiting included"
    return told(rows, "exposed_per_step", mean, source)


#: Where lines are measured; the first that tells one is taken.
_SOURCES: Final[tuple[Callable[[Frames], pl.DataFrame], ...]] = (
    _steps,
    _gpus,
    _mfu,
    _bubbles,
    _exposed,
    traffic,
    saves,
    stops,
    accounts,
    power,
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
