"""Power of a run beside its steps: what it drew in each, and what the step did."""

from typing import Final

import polars as pl

from analysis._energy_steps import step_windows
from analysis.placing import place
from ingest.tables import StepTimings

_STEP: Final = ("run_id", "attempt", "step")

#: Parts of a step, as step logs name them.
PARTS: Final = ("compute", "communication", "wait", "data", "checkpoint")


def stepped(
    steps: pl.LazyFrame, attempts: pl.LazyFrame, spans: pl.LazyFrame | None = None
) -> pl.DataFrame:
    """Return when each step was, and the share of its time in each of its parts.

    Args:
        steps: Rows of StepTimings.
        attempts: Rows of Attempts.
        spans: The same rows, each as long as its step; those themselves where None.

    Returns:
        `run_id`, `attempt`, `step`, `start_ns`, `end_ns`, `is_kept` and for each part
        `<part>_ratio`, the mean over ranks, null where no source tells it.
    """
    windows = step_windows(steps if spans is None else spans, attempts)
    placed = place(steps, attempts, StepTimings.start_ns.name)
    shares = placed.group_by(_STEP).agg(_share(part) for part in PARTS)
    joined = windows.join(shares, on=list(_STEP), how="left").drop("tokens")
    return joined.sort(_STEP).collect()


def _share(part: str) -> pl.Expr:
    """Return the share of a part in the time of the ranks that tell it."""
    known = pl.col(f"{part}_ns").cast(pl.Int64)
    length = pl.col("duration_ns").cast(pl.Int64).filter(known.is_not_null()).sum()
    share = pl.when(length > 0).then(known.sum() / length)
    return share.clip(0, 1).alias(f"{part}_ratio")


def swings_of_steps(power: pl.DataFrame, steps: pl.DataFrame) -> pl.DataFrame:
    """Return what a run drew in each of its steps.

    Args:
        power: Rows of `cluster_power`.
        steps: Rows of `stepped`, of the same run.

    Returns:
        The steps with `mean_w`, `swing_w` (highest less lowest) and `duty_ratio`: the
        share of the step above the middle of the two. Null where power is not known
        throughout.
    """
    ordered = steps.sort("start_ns", "end_ns").with_row_index("_row")
    placed = power.lazy().join_asof(
        ordered.lazy().select("_row", "start_ns", "end_ns"),
        left_on="time_ns",
        right_on="start_ns",
        strategy="backward",
        check_sortedness=False,
    )
    inside = placed.filter(pl.col("time_ns") < pl.col("end_ns"))
    watts = pl.col("power_w")
    middle = (watts.max() + watts.min()) / 2
    told = (
        inside.sort("time_ns")
        .group_by("_row")
        .agg(
            _is_known=watts.null_count() == 0,
            mean_w=watts.mean(),
            swing_w=watts.max() - watts.min(),
            duty_ratio=(watts > middle).mean(),
        )
    )
    known = told.filter("_is_known").drop("_is_known").collect()
    return ordered.join(known, on="_row", how="left", maintain_order="left").drop(
        "_row"
    )


def phase() -> pl.Expr:
    """Return the part that took most of a step; compute where none is told."""
    shares = [pl.col(f"{part}_ratio").fill_null(0.0) for part in PARTS]
    most = pl.max_horizontal(shares)
    found: pl.Expr = pl.lit("compute")
    for part in reversed(PARTS):
        found = (
            pl.when(pl.col(f"{part}_ratio") == most).then(pl.lit(part)).otherwise(found)
        )
    return pl.when(most > 0).then(found).otherwise(pl.lit("not_told"))
