"""How much electric energy each run took on each GPU."""

from typing import ClassVar, Final

import polars as pl

from analysis._analysis import Analysis, Frames, Results, Thresholds
from analysis._energy_bridges import THRESHOLDS, Bridges, bridges_of
from analysis._energy_choice import METHODS
from analysis._energy_chunks import chunks, devices_of, samples_of
from analysis._energy_fleet import Fleet
from analysis._energy_holdings import Holdings
from analysis._energy_measure import integrate
from analysis._energy_windows import free_windows, without_seams
from analysis._power_rolled import Condensed
from analysis._power_rolled_energy import OF_ENERGY, integrate_hours
from analysis.allocations import Allocations
from analysis.clock_offsets import ClockOffsets
from analysis.gpus import Gpus
from analysis.power_days import PowerDays
from analysis.power_hours import PowerHours
from ingest.tables import PowerSamples, Table
from ingest.tables import _columns as c
from ingest.times import SECOND_NS

#: Difference of the clocks of two nodes from which samples are in the wrong window:
#: sensors of power are averaged over a second. [ns]
SKEW_NS: Final = SECOND_NS

#: Levels that are power of one GPU. The rest (nodes, racks) would count it again.
LEVELS: Final = ("gpu_board", "module")


class Energy(Table):
    """One row per run, host and GPU; the run is null where no run held it."""

    key: ClassVar = ("run_id", "cluster", "host", "gpu_uuid")

    run_id = c.identifier("Run that held the GPU.", nullable=True)
    cluster = c.identifier("Cluster of the GPU.")
    host = c.identifier("Node of the GPU.", nullable=True)
    gpu_uuid = c.identifier("UUID of the GPU, or the best identity known.")
    level = c.choice("What was measured.", LEVELS)
    from_ns = c.time_ns("Start of the time held; of the samples where nobody held it.")
    to_ns = c.time_ns("End of the time held; of the samples where nobody held it.")
    energy_j = c.quantity("Energy measured in the time held.", "J", nullable=True)
    method = c.choice("How it was measured.", (*METHODS, "none"))
    coverage_ratio = c.ratio("Share of the time held that was measured.")
    mean_w = c.watts("Energy over the time measured.", nullable=True)
    peak_w = c.watts("Greatest power sampled.", nullable=True)
    samples_count = c.count("Samples used.")
    quality = c.text(
        "Reasons for doubt, separated by commas; empty where there are none."
    )


def measure_energy(frames: Frames, thresholds: Thresholds) -> Results:
    """Measure the energy of every sampled GPU, by the run that held it."""
    bridges = bridges_of(thresholds)
    found = pl.concat([_of_samples(frames, bridges), _of_hours(frames, bridges)])
    rows = _with_skew(found, frames[ClockOffsets])
    return {Energy: rows.sort(Energy.key)}


def _of_samples(frames: Frames, bridges: Bridges) -> pl.DataFrame:
    """Measure the devices whose samples are there."""
    samples = frames[PowerSamples].filter(PowerSamples.level.col.is_in(LEVELS))
    parts: list[pl.DataFrame] = [Energy.create_empty()]
    if samples.head(1).collect().is_empty():
        return parts[0]
    holdings = Holdings.of(frames)
    devices = devices_of(samples, holdings.gpus)
    fleet = holdings.fleet(devices)
    for some in holdings.lots(devices):
        wanted = _windows(holdings, fleet, some)
        for chunk in chunks(some):
            mine = wanted.join(chunk, on="device", how="semi")
            measured = integrate(samples_of(samples, chunk), mine, bridges)
            parts.append(_named(measured, chunk))
    return pl.concat(parts)


def _of_hours(frames: Frames, bridges: Bridges) -> pl.DataFrame:
    """Measure the devices whose samples were condensed."""
    parts: list[pl.DataFrame] = [Energy.create_empty()]
    if frames[PowerDays].head(1).collect().is_empty():
        return parts[0]
    holdings = Holdings.of(frames)
    condensed = Condensed.of(frames, holdings.gpus, LEVELS, OF_ENERGY)
    fleet = holdings.fleet(condensed.devices)
    for some in holdings.lots(condensed.devices):
        wanted = _windows(holdings, fleet, some)
        for lot in condensed.lots(some):
            mine = wanted.join(lot.devices, on="device", how="semi")
            parts.append(_named(integrate_hours(lot, mine, bridges), lot.devices))
    return pl.concat(parts)


def _windows(holdings: Holdings, fleet: Fleet, some: pl.DataFrame) -> pl.DataFrame:
    """Return when runs held some devices, and when nobody did."""
    held = holdings.windows(fleet, some)
    counting = without_seams(held).filter("counts").drop("counts")
    return pl.concat([counting, free_windows(held, some)])


def _named(measured: pl.DataFrame, devices: pl.DataFrame) -> pl.DataFrame:
    named = measured.rename({"window": "run_id"}).join(devices, on="device")
    return named.with_columns(level=level_of()).select(Energy.column_names())


def level_of() -> pl.Expr:
    """Return the level of a measured device."""
    is_module = pl.col("is_module").fill_null(value=False)
    return pl.when(is_module).then(pl.lit("module")).otherwise(pl.lit("gpu_board"))


def _with_skew(rows: pl.DataFrame, clocks: pl.LazyFrame) -> pl.DataFrame:
    """Say where the clock of a node is off from those of the others of its run."""
    is_off = pl.col("offset_ns").abs() > SKEW_NS
    off = clocks.filter(is_off).select("run_id", "host").drop_nulls().unique()
    told = off.with_columns(_skew=pl.lit("clock_skew")).collect()
    joined = rows.join(told, on=["run_id", "host"], how="left")
    doubts = pl.concat_str("quality", "_skew", separator=",", ignore_nulls=True)
    return joined.with_columns(quality=pl.when(doubts != "").then(doubts)).drop("_skew")


ANALYSIS: Final = Analysis(
    name="energy",
    version=7,
    describes="How much electric energy each run took on each GPU.",
    inputs=(PowerSamples, PowerHours, PowerDays, Allocations, Gpus, ClockOffsets),
    needs=(PowerSamples, PowerHours),
    outputs=(Energy,),
    compute=measure_energy,
    thresholds=THRESHOLDS,
)
