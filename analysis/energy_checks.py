"""Energy that programs measured themselves, beside what samples of power say."""

from collections.abc import Iterator
from functools import partial
from typing import ClassVar, Final

import polars as pl

from analysis._analysis import Analysis, Frames, Results, Thresholds
from analysis._energy_beside import FOUND, sampled_windows, windows_of_nodes
from analysis._energy_beside_hours import condensed_windows
from analysis._energy_bridges import THRESHOLDS, Bridges, bridges_of
from analysis._energy_choice import METHODS
from analysis.power_days import PowerDays
from analysis.power_hours import PowerHours
from ingest.tables import EnergyWindows, PowerSamples, Table
from ingest.tables import _columns as c
from ingest.times import SECOND_NS

#: Windows that are looked at together: their samples are copied, since windows lie in
#: each other.
CHUNK_WINDOWS: Final = 2_000

#: Levels of windows that one sampled device is the same as.
ONE_DEVICE: Final = ("gpu_board", "module", "node_ac")

#: Level of all GPUs of a node together, as CodeCarbon tells it.
GPUS: Final = ("gpus",)

#: Difference from which two measures of one window disagree: sound ones are within 1 %,
#: samples a second apart within some percent of a short window. [1]
APART_RATIO: Final = 0.05


class EnergyChecks(Table):
    """One row per device and window that a program measured the energy of itself.

    Where samples were condensed by day, hours tell of it: one that the window begins or
    ends in is parted by time (`by_hours`), and the verdict is that of all energies that
    its greatest power allows.
    """

    key: ClassVar = (*EnergyWindows.key,)

    cluster = c.identifier("Cluster of the node.")
    host = c.identifier("Node; null where the source does not tell.", nullable=True)
    gpu_uuid = c.identifier("Device, as the source names it.")
    level = c.choice(
        "What was measured.",
        (
            *("gpu_board", "module", "gpus", "cpus", "memory", "tracked"),
            *("node_ac", "rack", "facility"),
        ),
    )
    window = c.text("Name that the program gave the window.")
    start_ns = c.time_ns("Start; null where its clock has no date.", nullable=True)
    end_ns = c.time_ns("End; null where its clock has no date.", nullable=True)
    boot_offset_ns = c.duration_ns("Start since the node started.", nullable=True)
    duration_ns = c.duration_ns("Length of the window.")
    told_j = c.quantity("Energy that the program told.", "J")
    told_mean_w = c.watts("That energy over the window.", nullable=True)
    energy_j = c.quantity(
        "Energy of the same device and window by its samples.", "J", nullable=True
    )
    method = c.choice("How the samples were summed up.", (*METHODS, "none"))
    coverage_ratio = c.ratio("Share of the window that was sampled.", nullable=True)
    difference_ratio = c.ratio(
        "What the program told over what samples say, less one; null unless all of the"
        " window was sampled, and where hours of samples are too coarse for it.",
        minimum=None,
        nullable=True,
    )
    verdict = c.choice(
        "Whether the two agree within 5 %.",
        ("agrees", "differs", "not_comparable"),
    )
    quality = c.text("Reasons for doubt; why nothing can be compared.")


def check(frames: Frames, thresholds: Thresholds) -> Results:
    """Hold each window against the samples of its device."""
    windows = frames[EnergyWindows].collect().sort(EnergyChecks.key).with_row_index("w")
    found = _found(frames, windows, bridges_of(thresholds))
    joined = windows.join(found, on="w", how="left")
    told = joined.with_columns(
        told_j=EnergyWindows.energy_mj.col / 1_000,
        method=pl.col("method").fill_null("none"),
        quality=_quality(),
    ).with_columns(**_compared(thresholds["energy_apart_ratio"]))
    rows = told.select(EnergyChecks.column_names()).sort(EnergyChecks.key)
    return {EnergyChecks: EnergyChecks.validate(rows, cast=True)}


def _found(frames: Frames, windows: pl.DataFrame, bridges: Bridges) -> pl.DataFrame:
    """Measure windows by samples, else by the hours that these were condensed to."""
    samples, days, hours = (frames[t] for t in (PowerSamples, PowerDays, PowerHours))
    boards = [rows.filter(pl.col("level") == "gpu_board") for rows in (samples, days)]
    ways = [
        (boards[0], partial(sampled_windows, samples, bridges=bridges)),
        (boards[1], partial(condensed_windows, days, hours, bridges=bridges)),
    ]
    parts = [pl.DataFrame(schema=FOUND)]
    for seen, measure in ways:
        parts += map(measure, _lots(windows, ONE_DEVICE))
        parts += (windows_of_nodes(seen, o, measure) for o in _lots(windows, GPUS))
    return pl.concat(parts).unique("w", keep="first", maintain_order=True)


def _lots(windows: pl.DataFrame, levels: tuple[str, ...]) -> Iterator[pl.DataFrame]:
    dated = windows.drop_nulls(["start_ns", "end_ns"])
    ours = dated.filter(pl.col("level").is_in(levels))
    yield from ours.iter_slices(CHUNK_WINDOWS)


def _quality() -> pl.Expr:
    """Return the reasons of the samples, or why there are none to hold against."""
    is_known = pl.col("energy_j").is_not_null()
    reasons = [
        pl.when(pl.col("duration_ns") == 0).then(pl.lit("no_length")),
        pl.when((EnergyWindows.energy_mj.col == 0) & (pl.col("duration_ns") > 0)).then(
            pl.lit("refresh_slower_than_window")
        ),
        pl.when(pl.col("start_ns").is_null())
        .then(pl.lit("clock_without_date"))
        .when(~pl.col("level").is_in((*ONE_DEVICE, *GPUS)))
        .then(pl.lit("no_sampled_level"))
        .when(~is_known)
        .then(pl.lit("no_samples")),
        pl.when(pl.col("time_quality") == "zone_assumed").then(pl.lit("zone_assumed")),
        pl.when(is_known).then("quality"),
        pl.when(pl.col("least_j") < pl.col("most_j")).then(pl.lit("by_hours")),
    ]
    joined = pl.concat_str(reasons, separator=",", ignore_nulls=True)
    return pl.when(joined != "").then(joined)


def _compared(apart: float) -> dict[str, pl.Expr]:
    """Return how the two differ; by hours, only where that is sure."""
    is_whole = pl.col("coverage_ratio") >= 1 - 1e-9
    is_fit = is_whole & (pl.col("least_j") > 0) & (pl.col("told_j") > 0)
    names = ("energy_j", "least_j", "most_j")
    ratio, most, least = (pl.col("told_j") / pl.col(name) - 1 for name in names)
    agrees = (most <= apart) & (least >= -apart)
    differs = (least > apart) | (most < -apart)
    is_sure = is_fit & (agrees | differs)
    seconds = pl.col("duration_ns") / SECOND_NS
    return {
        "told_mean_w": pl.when(seconds > 0).then(pl.col("told_j") / seconds),
        "difference_ratio": pl.when(is_sure).then(ratio),
        "verdict": pl.when(~is_sure.fill_null(value=False))
        .then(pl.lit("not_comparable"))
        .when(agrees)
        .then(pl.lit("agrees"))
        .otherwise(pl.lit("differs")),
    }


ANALYSIS: Final = Analysis(
    name="energy_checks",
    version=4,
    describes="Energy that programs measured, beside what samples of power say",
    inputs=(PowerSamples, PowerHours, PowerDays, EnergyWindows),
    needs=(EnergyWindows,),
    outputs=(EnergyChecks,),
    compute=check,
    thresholds=THRESHOLDS | {"energy_apart_ratio": APART_RATIO},
)
