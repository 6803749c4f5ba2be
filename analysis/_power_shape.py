"""What a run's power looks like as a whole."""

from typing import Final

import polars as pl

from analysis._power_ramps import AVERAGED_NS, Sensor
from ingest.times import SECOND_NS

#: Readings that a step must hold before its swing is that of the step. [1]
READINGS_OF_A_STEP: Final = 4


def shape(power: pl.DataFrame, peaks_w: float) -> dict[str, float | None]:
    """Return levels of a run's power, over all points at which it is known.

    Args:
        power: Rows of `cluster_power`.
        peaks_w: Peaks of the devices, added up. [W]

    Returns:
        `coverage_ratio`, `mean_w`, `low_w`, `peak_w`, `range_w`, `typical_range_w`
        (99th less 1st percentile), `load_factor_ratio` (mean over peak) and
        `coincidence_ratio`: peak of the sum over sum of the peaks.
    """
    watts = pl.col("power_w")
    found = (
        power.lazy()
        .filter(pl.col("expected") > 0)
        .select(
            # a hold may lie between two points
            coverage_ratio=watts.count() / pl.max_horizontal(pl.len(), 1),
            mean_w=watts.mean(),
            low_w=watts.min(),
            peak_w=watts.max(),
            range_w=watts.max() - watts.min(),
            typical_range_w=watts.quantile(0.99, "linear")
            - watts.quantile(0.01, "linear"),
        )
    )
    peak = pl.when(pl.col("peak_w") > 0).then("peak_w")
    told = found.with_columns(
        load_factor_ratio=pl.col("mean_w") / peak,
        coincidence_ratio=(peak / pl.lit(peaks_w) if peaks_w > 0 else pl.lit(None)),
    ).collect()
    return dict(told.row(0, named=True))


def seen_steps(steps: pl.DataFrame, sensor: Sensor) -> pl.DataFrame:
    """Leave swings of steps blank that the sensor is too slow for.

    Args:
        steps: Rows of `swings_of_steps`.
        sensor: What the sensor can show.
    """
    slowest = max(sensor.refresh_ns, sensor.grid_ns)
    if sensor.semantics == "average":
        slowest = max(slowest, AVERAGED_NS)
    length = pl.col("end_ns") - pl.col("start_ns")
    is_seen = length >= READINGS_OF_A_STEP * slowest
    return steps.with_columns(pl.when(is_seen).then(pl.col("swing_w", "duty_ratio")))


def shape_of_steps(steps: pl.DataFrame, sensor: Sensor) -> dict[str, object]:
    """Return the usual step: its length, its swing and its duty cycle.

    Args:
        steps: Rows of `swings_of_steps`.
        sensor: What the sensor can show.

    Returns:
        `step_period_ns`, `step_swing_w`, `step_duty_ratio` (null where the sensor is
        too slow for a step) and `step_reason`.
    """
    lengths = steps.select((pl.col("end_ns") - pl.col("start_ns")).median()).item()
    period = None if lengths is None else round(lengths)
    reason = _why_not(period, sensor)
    usual = steps.select(pl.col("swing_w").median(), pl.col("duty_ratio").median())
    swing, duty = usual.row(0)
    if reason is None and swing is None:
        reason = "power of all devices is known throughout no step"
    return {
        "step_period_ns": period,
        "step_swing_w": None if reason else swing,
        "step_duty_ratio": None if reason else duty,
        "step_reason": reason,
    }


def _why_not(period: int | None, sensor: Sensor) -> str | None:
    if period is None:
        return "no step is known"
    slowest = max(sensor.refresh_ns, sensor.grid_ns)
    length = f"a step of {period / SECOND_NS:.3g} s"
    if READINGS_OF_A_STEP * slowest > period:
        return f"a new value every {slowest / SECOND_NS:.3g} s is too rare for {length}"
    if sensor.semantics == "average" and period < READINGS_OF_A_STEP * AVERAGED_NS:
        return f"the sensor's 1 s average hides what happens in {length}"
    return None
