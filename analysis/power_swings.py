"""How the power of each run swings, and what of it the sensors can show."""

from typing import ClassVar, Final

import numpy as np
import polars as pl

from analysis._analysis import Analysis, Frames, Results, Thresholds
from analysis._energy_bridges import THRESHOLDS, bridges_of
from analysis._power_profile import profile
from analysis._power_ramps import ramps
from analysis._power_runs import Run, runs_sampled
from analysis._power_shape import seen_steps, shape, shape_of_steps
from analysis._power_spectrum import Spectrum, spectrum
from analysis._power_steps import swings_of_steps
from analysis.allocations import Allocations
from analysis.attempts import Attempts
from analysis.fleet_power import FleetPower, FleetReadings
from analysis.gpus import Gpus
from analysis.power_days import PowerDays
from analysis.power_hours import PowerHours
from analysis.power_profiles import PowerProfiles, PowerSteps
from analysis.power_shapes import PowerBands, PowerShapes
from analysis.step_rollups import StepRollups
from ingest.tables import PowerSamples, RunCards, StepTimings, Table
from ingest.tables import _columns as c

#: The band that power is watched in where no run card tells another: grids, generator
#: shafts and near sources respond in it (arXiv 2508.14318 gives it as an example). [Hz]
BAND_LOW_HZ: Final = 0.1
BAND_HIGH_HZ: Final = 20.0


#: Other bands that are told: slow swings between areas of a grid, those of steps, and
#: those of shafts and near sources. [Hz]
BANDS_HZ: Final = ((0.1, 0.2), (0.2, 3.0), (3.0, 20.0))

_TYPES: Final = {"band_energy_ratio": pl.Float64(), "reason": pl.String()}


class PowerSwings(Table):
    """One row per run and length of a window: how far power moves inside it."""

    key: ClassVar = ("run_id", "window_ns")

    run_id = c.identifier("Run.")
    window_ns = c.duration_ns("Length of the window, w.")
    ramp_up_w_per_s = c.quantity(
        "Greatest (P(t) - P(t - w)) / w; null where the sensor shows no such window.",
        "W/s",
        nullable=True,
    )
    ramp_up_p99_w_per_s = c.quantity("Its 99th percentile.", "W/s", nullable=True)
    ramp_down_w_per_s = c.quantity(
        "Steepest fall over w, as a positive number.", "W/s", nullable=True
    )
    ramp_down_p99_w_per_s = c.quantity("Its 99th percentile.", "W/s", nullable=True)
    rise_w = c.watts("Greatest rise within any w, whatever its length.", nullable=True)
    fall_w = c.watts("Greatest fall within any w.", nullable=True)
    dynamic_range_w = c.watts("Highest less lowest within any w.", nullable=True)
    band_low_hz = c.quantity("Lower end of the band that is watched.", "Hz")
    band_high_hz = c.quantity("Upper end of it.", "Hz")
    band_energy_ratio = c.ratio(
        "Share of the AC energy seen that is in the band; see power_bands.",
        nullable=True,
    )
    observable = c.flag(
        "Whether the sensor can show swings in such a window; where not, the numbers"
        " are what it showed, and true ramps may be steeper."
    )
    reason = c.text("Why not.")


OUTPUTS: Final = (PowerSwings, PowerBands, PowerShapes, PowerSteps, PowerProfiles)


def measure_swings(frames: Frames, thresholds: Thresholds) -> Results:
    """Measure the swings of every run whose GPUs were sampled."""
    band = (thresholds["power_band_low_hz"], thresholds["power_band_high_hz"])
    bridges = bridges_of(thresholds)
    found: dict[type[Table], list[pl.DataFrame]] = {
        table: [table.create_empty()] for table in OUTPUTS
    }
    for run in runs_sampled(frames, bridges, band):
        for table, rows in _answers(run).items():
            named = rows.with_columns(run_id=pl.lit(run.run_id))
            ordered = named.select(table.column_names())
            found[table].append(table.validate(ordered, cast=True))
    return {table: pl.concat(parts).sort(table.key) for table, parts in found.items()}


def _answers(run: Run) -> dict[type[Table], pl.DataFrame]:
    """Return the rows of each table about one run, but for its name."""
    power = run.power["power_w"].cast(pl.Float64).fill_null(np.nan).to_numpy()
    lowest = min(low for low, _ in (run.band_hz, *BANDS_HZ))
    seen = spectrum(power, run.sensor, run.hold, lowest)
    steps = seen_steps(swings_of_steps(run.power, run.steps), run.sensor)
    bands = _bands(seen, run.band_hz)
    watched = bands.filter("is_watched").select(
        "band_low_hz", "band_high_hz", "band_energy_ratio"
    )
    return {
        PowerSwings: ramps(run.power, run.sensor).join(watched, how="cross"),
        PowerBands: bands,
        PowerShapes: _shape(run, seen, steps),
        PowerSteps: steps,
        PowerProfiles: profile(run.power, run.steps, run.sensor.grid_ns),
    }


def _bands(seen: Spectrum, watched: tuple[float, float]) -> pl.DataFrame:
    bands = sorted({watched, *BANDS_HZ})
    rows = [
        {
            "band_low_hz": low,
            "band_high_hz": high,
            "is_watched": (low, high) == watched,
            "band_energy_ratio": seen.share(low, high),
            "seen_high_hz": seen.highest_hz,
            "observable": seen.why_not(low, high) is None,
            "reason": seen.why_not(low, high),
        }
        for low, high in bands
    ]
    return pl.DataFrame(rows, schema_overrides=_TYPES)


def _shape(run: Run, seen: Spectrum, steps: pl.DataFrame) -> pl.DataFrame:
    row = {
        "semantics": run.sensor.semantics,
        "interval_ns": run.hold.interval_ns,
        "refresh_ns": run.sensor.refresh_ns,
        "grid_ns": run.sensor.grid_ns,
        "devices_count": run.devices_count,
        "expected_count": run.expected_count,
        "peak_hz": seen.peak_hz(),
        "highest_hz": seen.highest_hz,
        "ceiling_w": run.ceiling_w,
        **shape(run.power, run.peaks_w),
        **shape_of_steps(steps, run.sensor),
    }
    return pl.DataFrame([row])


ANALYSIS: Final = Analysis(
    name="power_swings",
    version=6,
    describes="How the power of each run swings, and what of it the sensors can show",
    inputs=(
        PowerSamples,
        PowerHours,
        PowerDays,
        FleetPower,
        FleetReadings,
        Allocations,
        Gpus,
        Attempts,
        StepTimings,
        StepRollups,
        RunCards,
    ),
    needs=(PowerSamples, PowerHours),
    outputs=OUTPUTS,
    compute=measure_swings,
    thresholds=THRESHOLDS
    | {"power_band_low_hz": BAND_LOW_HZ, "power_band_high_hz": BAND_HIGH_HZ},
)
