"""How fast and how far power moves inside windows of some length."""

from dataclasses import dataclass
from typing import Final

import polars as pl

from ingest.times import SECOND_NS

#: Windows over which ramps are taken. [ns]
WINDOWS_NS: Final = tuple(round(seconds * SECOND_NS) for seconds in (0.1, 1, 5, 10, 60))

#: Time over which an averaging sensor averages: nvidia-smi's help says one second. [ns]
AVERAGED_NS: Final = SECOND_NS

#: Refreshes (and times of averaging) that a window must hold to show a ramp. [1]
NEEDED: Final = 2


@dataclass(frozen=True, slots=True)
class Sensor:
    """What a sensor can show.

    Attributes:
        semantics: `instant` or `average`, the mean over a second.
        refresh_ns: Time between two changes of its value. [ns]
        grid_ns: Time between two points of the run's power. [ns]
    """

    semantics: str
    refresh_ns: int
    grid_ns: int

    def why_not(self, window_ns: int) -> str | None:
        """Return why a ramp over a window is not observable; None where it is."""
        slowest = max(self.refresh_ns, self.grid_ns)
        length = f"{window_ns / SECOND_NS:.3g} s"
        if NEEDED * slowest > window_ns:
            rate = f"a new value every {slowest / SECOND_NS:.3g} s"
            return f"{rate} is too rare for {length}"
        if self.semantics == "average" and window_ns < NEEDED * AVERAGED_NS:
            return f"the sensor's 1 s average hides what happens in {length}"
        return None

    def sees(self, window_ns: int) -> bool:
        """Return whether differences over a window are of different readings."""
        return max(self.refresh_ns, self.grid_ns) <= window_ns


def ramps(power: pl.DataFrame, sensor: Sensor) -> pl.DataFrame:
    """Return the ramps of power over each window.

    `(P(t) - P(t - w)) / w`, as in arXiv 2508.14318 the ramp-up and ramp-down rate; and
    the greatest rise, fall and range inside any window, which a swing cannot hide whose
    period divides it.

    Args:
        power: `time_ns` and `power_w` on an even grid, null where it is not known.
        sensor: What its sensor can show.

    Returns:
        `window_ns`, `ramp_up_w_per_s`, `ramp_up_p99_w_per_s`, `ramp_down_w_per_s`,
        `ramp_down_p99_w_per_s`, `rise_w`, `fall_w`, `dynamic_range_w`, `observable` and
        `reason`.
    """
    return pl.concat(_of_window(power, sensor, window) for window in WINDOWS_NS)


def _of_window(power: pl.DataFrame, sensor: Sensor, window_ns: int) -> pl.DataFrame:
    reason = sensor.why_not(window_ns)
    points = window_ns // sensor.grid_ns
    if sensor.sees(window_ns) and power.height > points:
        measures = _measured(points, window_ns)
    else:
        measures = [pl.lit(None, pl.Float64).alias(name) for name in _MEASURES]
    measured = power.lazy().select(measures).head(1)
    is_unknown = pl.col("ramp_up_w_per_s").is_null()
    never = "power of all devices is never known for so long"
    told = measured.with_columns(
        window_ns=pl.lit(window_ns, pl.Int64),
        observable=pl.lit(value=reason is None) & ~is_unknown,
        reason=pl.lit(reason, pl.String).fill_null(
            pl.when(is_unknown).then(pl.lit(never))
        ),
    )
    return told.select("window_ns", *_MEASURES, "observable", "reason").collect()


_MEASURES: Final = (
    "ramp_up_w_per_s",
    "ramp_up_p99_w_per_s",
    "ramp_down_w_per_s",
    "ramp_down_p99_w_per_s",
    "rise_w",
    "fall_w",
    "dynamic_range_w",
)


def _measured(points: int, window_ns: int) -> list[pl.Expr]:
    power = pl.col("power_w")
    ramp = (power - power.shift(points)) * SECOND_NS / window_ns
    low = power.rolling_min(points + 1, min_samples=1)
    high = power.rolling_max(points + 1, min_samples=1)
    return [
        ramp.max().clip(0).alias("ramp_up_w_per_s"),
        ramp.quantile(0.99, "linear").clip(0).alias("ramp_up_p99_w_per_s"),
        (0.0 - ramp.min()).clip(0).alias("ramp_down_w_per_s"),
        (0.0 - ramp.quantile(0.01, "linear")).clip(0).alias("ramp_down_p99_w_per_s"),
        (power - low).max().alias("rise_w"),
        (high - power).max().alias("fall_w"),
        (high - low).max().alias("dynamic_range_w"),
    ]
