"""Power of a run over time, in as many points as a page can show."""

from typing import Final

import polars as pl

from analysis._power_steps import phase

#: Bins that a run's power is kept in. [1]
MOST_BINS: Final = 480


def profile(power: pl.DataFrame, steps: pl.DataFrame, grid_ns: int) -> pl.DataFrame:
    """Return the lowest, mean and highest power of a run in bins of time.

    Args:
        power: Rows of `cluster_power`.
        steps: Rows of `stepped`, of the same run.
        grid_ns: Time between two points of power. [ns]

    Returns:
        `from_ns`, `width_ns`, `low_w`, `mean_w`, `high_w`, `coverage_ratio` (of the
        bin) and `phase`: what the step at its middle did most, `none` outside steps.
        Bins in which the run held nothing are left out.
    """
    first = int(power["time_ns"][0])
    points = -(-power.height // MOST_BINS)
    width = points * grid_ns
    watts = pl.col("power_w")
    bins = (
        power.lazy()
        .filter(pl.col("expected") > 0)
        .group_by(from_ns=first + (pl.col("time_ns") - first) // width * width)
        .agg(
            low_w=watts.min(),
            mean_w=watts.mean(),
            high_w=watts.max(),
            coverage_ratio=watts.count() / pl.len(),
        )
        .sort("from_ns")
        .with_columns(
            width_ns=pl.lit(width, pl.Int64), _middle=pl.col("from_ns") + width // 2
        )
    )
    working = steps.lazy().sort("start_ns", "end_ns")
    named = bins.join_asof(
        working.select("start_ns", "end_ns", phase=phase()),
        left_on="_middle",
        right_on="start_ns",
        strategy="backward",
        check_sortedness=False,
    )
    is_inside = (pl.col("_middle") < pl.col("end_ns")).fill_null(value=False)
    return (
        named.with_columns(
            phase=pl.when(is_inside).then("phase").otherwise(pl.lit("none"))
        )
        .drop("_middle", "start_ns", "end_ns")
        .collect()
    )
